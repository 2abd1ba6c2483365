// The view Inspect: it says what `perhaps info` says, answers as `perhaps check` does, saves the
// bytes that the command line saves, follows recipes, and has a sentence for what is no filter.
import assert from 'node:assert/strict';
import { closeSync, ftruncateSync, openSync, readFileSync, readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { browserForTests, foundBy, golden, perhaps, savedBy, scratchFolder, settled, size, testInFull } from './support.mjs';

const browser = browserForTests();
const scratch = scratchFolder();

async function openFile(page, path, wait = `.inspect .head h2:text-is("${basename(path)}")`) {
    await page.setInputFiles('#file', path);
    await page.waitForSelector(wait);
}

function readFacts(page) {
    return page.$$eval('.facts dt', (terms) => terms.map((term) => [term.textContent, term.nextElementSibling.textContent]));
}

// The answers to lines, as the lines that are perhaps there.
async function query(page, lines) {
    await page.locator('.query textarea').fill(lines.join('\n'));
    await settled(page);
    assert.equal(await page.locator('.results tbody tr').count(), lines.length);
    return page.$$eval('.results tbody tr', (rows) => rows.filter((row) => row.querySelector('.yes')).map((row) => row.querySelector('th').textContent));
}

const message = (page) => page.textContent('.inspect .message.bad');

// ---- info ----

// As the command line prints them, without what depends on where: bars and instruction set.
function toldFacts(path, ...options) {
    const [first, ...rest] = perhaps('info', ...options, path).split('\n');
    const end = rest.findIndex((line) => !line);
    const lines = rest.slice(0, end < 0 ? undefined : end).map((line) => [line.slice(2, 12).trim(), line.slice(12).replace(/^\[[#.]*\] /, '').replace(/code for \w+/, 'code for wasm')]);
    return { heading: first.slice(path.length + 2), lines };
}

async function assertFacts(page, path, ...options) {
    const told = toldFacts(path, ...options);
    assert.equal(await page.textContent('.inspect .heading'), told.heading, path);
    assert.deepEqual(await readFacts(page), told.lines, path);
}

test('every kind is described as perhaps info describes it', () =>
    browser.open('#inspect', async (page) => {
        const files = readdirSync(golden).filter((name) => name.endsWith('.ph') && !name.endsWith('-siphash.ph'));
        const chosen = files.filter((name, i) => size === 'long' || i % 10 === 0 || /^(growing|window|sharded-g)|csv/.test(name));
        assert.ok(chosen.length > 15, `only ${chosen.length}`);
        for (const name of chosen) {
            await openFile(page, join(golden, name));
            await assertFacts(page, join(golden, name));
            assert.match(await page.textContent('.inspect .head'), /intact/);
        }
    }));

test('children are listed, and the fill is drawn', () =>
    browser.open('#inspect', async (page) => {
        await openFile(page, join(golden, 'growing-bloom.ph'));
        const told = JSON.parse(perhaps('info', '--json', join(golden, 'growing-bloom.ph')));
        const rows = await page.$$eval('table.children tbody tr', (all) => all.map((row) => [...row.cells].map((cell) => cell.textContent)));
        assert.deepEqual(rows.map(([, items, capacity]) => [items, capacity]), told.children.map(({ items, capacity }) => [items.toLocaleString('en-US'), capacity.toLocaleString('en-US')]));
        assert.equal(await page.locator('.cells canvas').count(), told.children.length);
        // Squares are as full as the filter: the mean of what is drawn lies between empty and full.
        const painted = await page.$eval('.cells canvas', (canvas) => new Set(canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data).size);
        assert.ok(painted > 5, 'nothing is drawn');
    }));

// ---- answers ----

const members = Array.from({ length: 300 }, (_, i) => `key ${i * 7}`);
const asked = Array.from({ length: 200 }, (_, i) => `key ${i * 11}`);
const lined = (keys) => keys.map((key) => `${key}\n`).join('');

test('filters of the command line answer alike', () =>
    browser.open('#inspect', async (page) => {
        scratch.write('keys', lined(members));
        for (const kind of ['bloom', 'blocked', 'counting', 'cuckoo', 'table', 'fuse', 'ribbon']) {
            const file = scratch.path(`${kind}.ph`);
            perhaps('build', '-f', '-k', kind, '-p', '0.05', '-o', file, scratch.path('keys'));
            await openFile(page, file);
            const found = await query(page, asked);
            assert.ok(found.length > 20);
            assert.deepEqual(found, foundBy(file, asked), kind);
        }
    }));

// Options of build, lines to build of, lines to ask; the last is no key, or absent.
const recipes = [
    [['--hex'], ['00ff', 'ABCD', '', '0102030405060708090a'].filter(Boolean), ['abcd', '00FF', '11'], 'xyz'],
    [['--u64'], ['1', '18446744073709551615', '77'], ['77', '78', '18446744073709551615'], '18446744073709551616'],
    [['--key', 'int32'], ['-1', '5', '2147483647'], ['5', '-1', '6'], '2147483648'],
    [['--key', 'int64'], ['-9223372036854775808', '12'], ['12', '-9223372036854775808', '13'], 'twelve'],
    [['--key', 'utf16'], ['Grüße', '🔑', 'plain'], ['plain', '🔑', 'Grüße', 'grüße']],
    [['-i'], ['Straße', 'ÄRGER', 'Hello'], ['HELLO', 'hello', 'ärger', 'ÄRGER', 'Ärger', 'STRAßE']],
    [['-k', 'bitmap', '-n', '1000'], ['1', '500', '999'], ['500', '501', '999'], 'five'],
];

test('keys are made as the recipe says', () =>
    browser.open('#inspect', async (page) => {
        for (const [options, of, ask, wrong] of recipes) {
            const file = scratch.path(`recipe${options.join('')}.ph`);
            perhaps('build', '-f', ...(options.includes('-n') ? [] : ['-p', '1e-6']), ...options, '-o', file, scratch.write('of', lined(of)));
            await openFile(page, file);
            await assertFacts(page, file);
            assert.deepEqual(await query(page, ask), foundBy(file, ask), options.join(' '));
            assert.equal((await query(page, of)).length, of.length, 'a member is missing');
            if (!wrong) continue;
            await query(page, [wrong]);
            assert.match(await page.textContent('.results td.bad'), /is not|has an odd number/);
        }
    }));

testInFull('N-grams are made of a line', () =>
    browser.open('#inspect', async (page) => {
        const file = scratch.path('ngrams.ph');
        perhaps('dedup', '--ngram', '3', '--fpr', '1e-6', '--state', file, '-o', scratch.path('out'), '-f', scratch.write('text', 'the quick brown fox jumps\n'));
        await openFile(page, file);
        await page.locator('.query textarea').fill('saw the  quick brown fox');
        await settled(page);
        assert.deepEqual(await page.$$eval('.results tbody tr', (rows) => rows.map((row) => [row.querySelector('th').textContent, row.querySelector('.verdict').textContent])),
            [['saw the quick', 'definitely not'], ['the quick brown', 'perhaps'], ['quick brown fox', 'perhaps']]);
    }));

test('files of other programs are read', () =>
    browser.open('#inspect', async (page) => {
        for (const [kind, key] of [['guava', 'utf16'], ['dcso', 'bytes'], ['spark', 'int64'], ['parquet', 'bytes']]) {
            const of = key === 'int64' ? members.map((_, i) => String(i * 3)) : members;
            const ask = key === 'int64' ? asked.map((_, i) => String(i)) : asked;
            const file = scratch.path(`file.${kind}`);
            perhaps('build', '-f', '-k', kind, '-n', '300', '-p', '0.02', '--key', key, '-o', file, scratch.write('of', lined(of)));
            await openFile(page, file, `.inspect .head h2:text-is("file.${kind}"), .inspect .message.bad:has-text("file.${kind}")`);
            const guessed = (await page.locator('.inspect .facts').count()) > 0;
            if (!guessed) await page.locator('.inspect').getByRole('button', { name: new RegExp(kind, 'i') }).click();
            await page.waitForSelector('.inspect .facts');
            const told = toldFacts(file, ...(guessed ? [] : ['-k', kind]));
            assert.deepEqual((await readFacts(page)).filter(([label]) => label !== 'key'), told.lines.filter(([label]) => label !== 'key'));
            await page.locator('.query select').selectOption(key);
            assert.deepEqual(await query(page, ask), foundBy(file, ask, ...(guessed ? [] : ['-k', kind]), '--key', key));
        }
    }));

// ---- saving ----

test('a changed filter is saved as the command line saves it', () =>
    browser.open('#inspect', async (page) => {
        for (const kind of ['blocked', 'cuckoo', 'counting', 'table']) {
            const more = Array.from({ length: 50 }, (_, i) => `more ${i}`);
            const file = scratch.path(`saved-${kind}.ph`);
            perhaps('build', '-f', '-k', kind, '-n', '1000', '-p', '0.01', '-o', file, scratch.write('keys', lined(members)));
            await openFile(page, file);
            const save = () => page.getByRole('button', { name: 'Save the file' }).click();
            assert.deepEqual((await savedBy(page, save)).data, readFileSync(file), 'the file as it is');

            await query(page, more);
            await page.getByRole('button', { name: 'Add these' }).click();
            assert.equal((await query(page, more)).length, more.length);
            perhaps('add', file, scratch.write('more', lined(more)));
            const added = await savedBy(page, save);
            assert.equal(added.name, `saved-${kind}.ph`);
            assert.deepEqual(added.data, readFileSync(file), 'after an add');
            if (kind === 'blocked') continue;

            await query(page, members.slice(0, 100));
            await page.getByRole('button', { name: 'Remove these' }).click();
            perhaps('remove', file, scratch.write('fewer', lined(members.slice(0, 100))));
            assert.deepEqual((await savedBy(page, save)).data, readFileSync(file), 'after a remove');
        }
    }));

// ---- secrets ----

test('a secret key is asked for, and a wrong one refused', () =>
    browser.open('#inspect', async (page) => {
        const hashKey = '000102030405060708090a0b0c0d0e0f';
        const file = scratch.path('secret.ph');
        perhaps('build', '-f', '--hash', 'siphash', '--hash-key', scratch.write('secret', Buffer.from(hashKey, 'hex')), '-p', '0.001', '-o', file, scratch.write('keys', lined(members)));
        await openFile(page, file, '.inspect .ask');
        const box = page.getByLabel('Secret key');
        const open = () => page.getByRole('button', { name: 'Open' }).click();
        await box.fill('12 34');
        await open();
        assert.match(await page.textContent('.inspect .ask [role=alert]'), /32 hexadecimal digits/);
        await box.fill('ff'.repeat(16));
        await open();
        assert.match(await message(page), /key/);
        await box.fill(hashKey);
        await open();
        await page.waitForSelector('.inspect .facts');
        assert.deepEqual(await query(page, asked), foundBy(file, asked, '--hash-key', scratch.path('secret')));
    }));

// ---- what is no filter ----

function damaged(change) {
    const bytes = readFileSync(join(golden, 'blocked-8x1.ph'));
    return change(bytes);
}

const refused = [
    ['empty.ph', () => Buffer.alloc(0), /empty\.ph is empty/],
    ['list.ph', () => Buffer.from('one\ntwo\nthree\n'), /list\.ph is text, not a filter.*perhaps build/],
    ['flipped.ph', () => damaged((bytes) => ((bytes[bytes.length - 3] ^= 4), bytes)), /flipped\.ph: .*checksum.*restore/i],
    ['header.ph', () => damaged((bytes) => ((bytes[20] ^= 1), bytes)), /header\.ph: .*(checksum|header).*(changed|damaged)/],
    ['short.ph', () => damaged((bytes) => bytes.subarray(0, bytes.length - 100)), /short\.ph: .*100 bytes short.*Restore it/],
    ['noise.bin', () => Buffer.from(Array.from({ length: 5000 }, (_, i) => (i * i * 31) & 255)), /noise\.bin: .*which/],
    ['broken.ph.gz', () => gzipSync(readFileSync(join(golden, 'blocked-8x1.ph'))).subarray(0, 90), /broken\.ph\.gz is compressed with gzip, and damaged/],
];

test('what is no filter gets a sentence', () =>
    browser.open('#inspect', async (page) => {
        for (const [name, make, sentence] of refused) {
            await openFile(page, scratch.write(name, make()), `.inspect .message.bad:has-text("${name}")`);
            assert.match(await message(page), sentence);
            assert.equal(await page.locator('.inspect .facts').count(), 0);
        }
        // And the page goes on.
        await openFile(page, join(golden, 'blocked-8x1.ph'));
    }));

for (const head of [[], readFileSync(join(golden, 'blocked-8x1.ph')).subarray(0, 4096)])
    test(`a file of 2 GB gets a sentence at once${head.length ? ', though it begins like a filter' : ''}`, () =>
        browser.open('#inspect', async (page) => {
            const path = scratch.write('huge.ph', Buffer.from(head));
            const handle = openSync(path, 'r+');
            ftruncateSync(handle, 2 ** 31);
            closeSync(handle);
            await openFile(page, path, '.inspect .message.bad');
            assert.match(await message(page), /huge\.ph has 2\.0 GiB, and the page opens files of up to 512\.0 MiB.*perhaps info huge\.ph/);
        }));

testInFull('files compressed with gzip open', () =>
    browser.open('#inspect', async (page) => {
        await openFile(page, scratch.write('packed.ph.gz', gzipSync(readFileSync(join(golden, 'cuckoo-4x2.ph')))));
        assert.deepEqual(await readFacts(page), toldFacts(join(golden, 'cuckoo-4x2.ph')).lines);
    }));

testInFull('a file is dropped', () =>
    browser.open('#inspect', async (page) => {
        const bytes = [...readFileSync(join(golden, 'bloom-8x8.ph'))];
        await page.evaluate((data) => {
            const transfer = new DataTransfer();
            transfer.items.add(new File([Uint8Array.from(data)], 'dropped.ph'));
            document.querySelector('.drop').dispatchEvent(new DragEvent('drop', { bubbles: true, cancelable: true, dataTransfer: transfer }));
        }, bytes);
        await page.waitForSelector('.inspect .head h2:text-is("dropped.ph")');
    }));

testInFull('an example and its keys are in the URL', () =>
    browser.open('#inspect?example=cuckoo&keys=user-3%0Anobody', async (page) => {
        assert.deepEqual(await page.$$eval('.results tbody tr', (rows) => rows.map((row) => row.querySelector('.verdict').textContent)), ['perhaps', 'definitely not']);
        await page.getByRole('button', { name: /growing/ }).click();
        assert.match(await page.evaluate(() => location.hash), /example=growing/);
    }));
