// The view Plan: its numbers are those of `perhaps plan --json`, and the lines to copy make filters
// of the sizes it shows, in the shell, in C, in Python, in JavaScript and on a server.
import assert from 'node:assert/strict';
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { browserForTests, build, folder, goTo, perhaps, program, root, scratchFolder, settled, size, testInFull } from './support.mjs';

const browser = browserForTests();
const scratch = scratchFolder();

// The state in the URL, and the same as options of the command line.
const states = [
    ['', ['-n', '5e6', '-p', '0.01']],
    ['items=1e6&bytes=1048576', ['-n', '1e6', '--bytes', '1MiB']],
    ['fpr=0.01&bytes=1048576', ['--bytes', '1MiB', '-p', '0.01']],
    ['items=1e6&fpr=0.01&needs=remove', ['-n', '1e6', '-p', '0.01', '--needs', 'remove']],
    ['items=1e6&fpr=0.01&needs=remove,merge,list', ['-n', '1e6', '-p', '0.01', '--needs', 'remove,merge,list']],
    ['items=2e5&fpr=0.01&grow=layers', ['-n', '2e5', '-p', '0.01', '--grow']],
    ['items=25e8&fpr=0.01&needs=count', ['-n', '25e8', '-p', '0.01', '--needs', 'count']],
];
if (size === 'long')
    states.push(
        ['items=1e6&fpr=0.001', ['-n', '1e6', '-p', '0.001']],
        ['items=2e5&fpr=0.001&static=1', ['-n', '2e5', '-p', '0.001', '--static']],
        ['items=10&fpr=0.1', ['-n', '10', '-p', '0.1']],
        ['items=1e4&fpr=0.01&needs=intersect', ['-n', '1e4', '-p', '0.01', '--needs', 'intersect']],
    );

// What the page shows, with exact numbers beside the rounded text.
function readTable(page) {
    return page.$$eval('.plan tbody tr', (rows) =>
        rows.map((row) => ({
            kind: row.dataset.kind,
            recommended: 'recommended' in row.dataset,
            error: row.classList.contains('cannot') ? row.querySelector('td').textContent : null,
            values: Object.fromEntries([...row.querySelectorAll('td[data-column]')].map((cell) => [cell.dataset.column, { exact: Number(cell.dataset.value), text: cell.innerText.trim() }])),
        })),
    );
}

function readLines(page) {
    return page.$$eval('.copyable', (blocks) => Object.fromEntries(blocks.map((block) => [block.dataset.language, block.querySelector('code').textContent])));
}

async function assertTable(page, query, options) {
    const told = JSON.parse(perhaps('plan', ...options, '--json'));
    const rows = await readTable(page);
    assert.deepEqual(rows.map(({ kind }) => kind).sort(), told.kinds.map(({ kind }) => kind).sort());
    for (const want of told.kinds) {
        const row = rows.find(({ kind }) => kind === want.kind);
        assert.equal(row.recommended, want.recommended, `${want.kind} is recommended`);
        assert.equal(row.error, want.error ?? null);
        if (want.error) continue;
        const { bits, bytes, items, fpr, lines } = row.values;
        assert.deepEqual([bits.exact, bytes.exact, items.exact, fpr.exact, lines.exact], [want.bits_per_key, want.bytes, want.items, want.fpr, want.cache_lines], want.kind);
        assert.equal(bits.text, want.bits_per_key.toFixed(2));
        assert.equal(items.text, want.items.toLocaleString('en-US'));
    }
    const remarks = await page.textContent('.remarks');
    assert.match(remarks, new RegExp(`fewer than ${told.limit_bits_per_key.toFixed(2)} bits per key`));
    assert.match(remarks, new RegExp(`k = ${told.classic.hashes}, ${told.classic.bits.toLocaleString('en-US')} bits`));
    const best = told.kinds.find(({ recommended }) => recommended);
    assert.equal(await page.textContent('.answer h2 .kind'), best.kind);
    assert.ok((await page.textContent('.answer .why')).length > 30);
    const made = rows.filter(({ error }) => !error);
    const column = query.includes('items') && query.includes('bytes') ? 'fpr' : query.includes('bytes') ? null : 'bits';
    if (column) assert.deepEqual(made.map(({ values }) => values[column].exact), made.map(({ values }) => values[column].exact).sort((a, b) => a - b));
}

test('the table is what perhaps plan --json says', () =>
    browser.open('#plan', async (page) => {
        for (const [query, options] of states) {
            await goTo(page, `#plan?${query}`);
            await assertTable(page, query, options);
        }
    }));

test('what no kind can is said in a sentence', () =>
    browser.open('#plan?items=1e6&bytes=100', async (page) => {
        assert.match(await page.textContent('.answer'), /No kind will do.*(memory|layout|too small)/s);
        await goTo(page, '#plan?items=1e6&fpr=0.01&static=1&needs=remove');
        assert.match(await page.textContent('.answer'), /cannot/);
    }));

// ---- controls ----

test('boxes, sliders and checks change the numbers and the URL, and the URL brings them back', () =>
    browser.open('#plan', async (page) => {
        await page.getByRole('textbox', { name: 'Items' }).fill('2.5M');
        await page.getByRole('textbox', { name: 'False-positive rate' }).fill('1 in 1000');
        await page.getByLabel('remove keys').check();
        await settled(page);
        assert.equal(await page.evaluate(() => location.hash), '#plan?items=2.5e6&fpr=0.001&needs=remove');
        assert.equal(await page.textContent('.answer h2 .kind'), 'cuckoo');

        await page.getByLabel('Items, slider').focus();
        await page.keyboard.press('ArrowRight');
        await settled(page);
        assert.notEqual(await page.evaluate(() => new URLSearchParams(location.hash.split('?')[1]).get('items')), '2.5e6');

        await page.getByRole('radio', { name: 'Rate' }).check();
        await settled(page);
        assert.match(await page.evaluate(() => location.hash), /bytes=\d+/);
        assert.doesNotMatch(await page.evaluate(() => location.hash), /fpr=/);
        assert.equal(await page.getByRole('textbox', { name: 'False-positive rate' }).evaluate((box) => box.readOnly), true);

        await page.getByRole('button', { name: 'counting' }).click();
        await settled(page);
        assert.match((await readLines(page)).Shell, /-k counting/);

        const before = [await page.evaluate(() => location.hash), await readTable(page), await readLines(page)];
        await page.reload();
        await page.waitForSelector('.plan tbody tr');
        assert.deepEqual([await page.evaluate(() => location.hash), await readTable(page), await readLines(page)], before);
    }));

test('a box with nonsense says what it takes, and nothing breaks', () =>
    browser.open('#plan', async (page) => {
        const box = page.getByRole('textbox', { name: 'Items' });
        for (const text of ['many', '-5', '0', '1e99', '']) {
            await box.fill(text);
            assert.equal(await box.getAttribute('aria-invalid'), 'true', text);
        }
        assert.match(await page.textContent('#hint-items'), /Give a number of keys/);
        assert.equal((await readTable(page)).length, 7);
        await box.fill('2^20');
        await settled(page);
        assert.equal(await box.getAttribute('aria-invalid'), 'false');
        assert.match(await page.evaluate(() => location.hash), /items=1048576/);
    }));

testInFull('headings sort, buttons copy', () =>
    browser.open('#plan', async (page, context) => {
        await context.grantPermissions(['clipboard-read', 'clipboard-write']);
        await page.getByRole('button', { name: 'cache lines' }).click();
        await settled(page);
        assert.equal((await readTable(page))[0].kind, 'blocked');
        assert.match(await page.evaluate(() => location.hash), /sort=lines/);
        await page.getByRole('button', { name: 'Copy: Shell' }).click();
        assert.equal(await page.evaluate(() => navigator.clipboard.readText()), (await readLines(page)).Shell);
    }));

testInFull('the curves are drawn, and the limit', () =>
    browser.open('#plan', async (page) => {
        await page.waitForSelector('.curve.chosen', { timeout: 30_000 });
        assert.equal(await page.locator('.plot .curve').count(), 7);
        assert.equal(await page.locator('.plot .limit').count(), 1);
        assert.equal(await page.locator('.plot .dot').count() >= 5, true);
    }));

// ---- the lines to copy ----

const seq = (n) => Array.from({ length: n }, (_, i) => `${i}\n`).join('');

// The lines of each kind in some states, of which static kinds need as many keys as they are for.
const lineStates = ['items=20000&fpr=0.01&needs=remove', 'items=20000&bytes=30000', 'items=20000&fpr=0.005&grow=layers'];
if (size === 'long') lineStates.push('fpr=0.001&bytes=50000', 'items=20000&fpr=0.01', 'items=20000&fpr=0.001&static=1');

async function collectLines() {
    const found = [];
    await browser.open('#plan', async (page) => {
        for (const query of lineStates) {
            await goTo(page, `#plan?${query}`);
            for (const { kind, error, values } of await readTable(page)) {
                if (error) continue;
                const button = page.locator(`tr[data-kind="${kind}"] .pick`);
                await button.click();
                await settled(page);
                assert.equal(await page.textContent('.answer h2 .kind'), kind);
                found.push({ query, kind, grows: query.includes('grow=') && kind !== 'table', bytes: values.bytes.exact, items: values.items.exact, fpr: values.fpr.exact, lines: await readLines(page) });
            }
        }
    });
    return found;
}

// The size of a ribbon filter depends a little on its keys.
function assertSize(kind, size, planned, what) {
    if (kind === 'ribbon') assert.ok(Math.abs(size / planned - 1) < 0.02, `${what}: ${size} bytes, planned ${planned}`);
    else assert.equal(size, planned, what);
}

let collected;
const all = () => (collected ??= collectLines());

test('the shell lines make filters of these sizes', async () => {
    const cases = await all();
    assert.ok(cases.length > 12, `only ${cases.length}`);
    for (const { query, kind, items, bytes, lines } of cases) {
        scratch.write('keys.txt', seq(['fuse', 'ribbon'].includes(kind) ? items : 100));
        const line = lines.Shell.replace('-o keys.ph', '-f -o keys.ph');
        const { status, stderr } = spawnSync('sh', ['-c', line], { cwd: scratch.path('.'), encoding: 'utf8', env: { ...process.env, PATH: `${join(build, 'cli')}:${process.env.PATH}` } });
        assert.equal(status, 0, `${line}: ${stderr}`);
        const info = JSON.parse(perhaps('info', '--json', scratch.path('keys.ph')));
        assertSize(kind, info.bytes, bytes, `${query}: ${line}`);
        assert.equal(info.base ?? info.kind, kind);
    }
});

test('the C lines compile, and plan filters of these sizes', async () => {
    const cases = await all();
    const blocks = cases.map(({ lines }) => `    {\n        ${lines.C.replaceAll('\n', '\n        ')}\n        if (rc < 0) return puts(perhaps_why()), 1;\n        struct perhaps_plan plan = {.size = sizeof plan};\n        if (perhaps_plan(&want, &plan) < 0) return puts(perhaps_why()), 1;\n        printf("%llu\\n", (unsigned long long)plan.bytes);\n        perhaps_free(filter);\n    }\n`);
    const source = scratch.write('lines.c', `#include <perhaps.h>\n#include <stdio.h>\n\nint main(void) {\n    perhaps *filter;\n${blocks.join('')}    return 0;\n}\n`);
    execFileSync('gcc', ['-std=c11', '-Wall', '-Wextra', '-Werror', '-I', join(root, 'include'), source, join(build, 'libperhaps.a'), '-lm', '-pthread', '-o', scratch.path('lines')]);
    const sizes = execFileSync(scratch.path('lines'), { encoding: 'utf8' }).trim().split('\n').map(Number);
    assert.deepEqual(sizes, cases.map(({ bytes }) => bytes));
});

test('the JavaScript lines make filters of these sizes', async () => {
    const { Filter, load } = await import(join(folder, 'perhaps/index.js'));
    await load();
    for (const { kind, bytes, items, lines } of await all()) {
        const filter = new Function('Filter', `${lines.JavaScript} return filter;`)(Filter);
        if (['fuse', 'ribbon'].includes(kind)) filter.addMany(Array.from({ length: items }, (_, i) => String(i)));
        filter.seal();
        assertSize(kind, filter.info().bytes, bytes, lines.JavaScript);
        filter.free();
    }
});

const python = join(build, 'bindings/python');
test('the Python lines make filters of these sizes', { skip: !existsSync(join(python, 'perhaps')) && 'the package is not built' }, async () => {
    const cases = await all();
    const body = cases.map(({ kind, items, lines }) => `${lines.Python}\n${['fuse', 'ribbon'].includes(kind) ? `filter.update(str(i) for i in range(${items}))\n` : ''}filter.seal()\nprint(filter.info.bytes)\n`);
    const source = scratch.write('lines.py', `import perhaps\n${body.join('')}`);
    const { status, stdout, stderr } = spawnSync('/usr/bin/python3', [source], { encoding: 'utf8', env: { ...process.env, PYTHONPATH: python } });
    assert.equal(status, 0, stderr);
    stdout.trim().split('\n').forEach((line, i) => assertSize(cases[i].kind, Number(line), cases[i].bytes, cases[i].lines.Python));
});

async function withServer(use) {
    const socket = scratch.path('redis.sock');
    const server = spawn('redis-server', ['--port', '0', '--unixsocket', socket, '--save', '', '--dir', scratch.path('.'), '--loadmodule', join(build, 'server/perhaps.so')], { stdio: 'ignore' });
    const say = (...words) => spawnSync('redis-cli', ['-s', socket, ...words], { encoding: 'utf8' }).stdout.trim();
    try {
        for (let i = 0; i < 100 && say('PING') !== 'PONG'; i++) await sleep(50);
        await use(say, socket);
    } finally {
        server.kill();
        await new Promise((resolve) => server.once('exit', resolve));
    }
}

const serverWords = (text) => {
    const lines = text.split('\n');
    const pairs = lines.map((line, i) => [line, lines[i + 1]]).filter((_, i) => i % 2 === 0);
    return Object.fromEntries(pairs.slice(0, pairs.findIndex(([name]) => name === 'can')));
};

test('the Redis lines make these filters on a server', { skip: !existsSync(join(build, 'server/perhaps.so')) && 'the module is not built' }, async () => {
    const cases = await all();
    await withServer((say, socket) => {
        for (const { kind, items, bytes, fpr, grows, lines } of cases) {
            say('DEL', 'keys');
            if (lines.Redis.startsWith('redis-cli')) {
                scratch.write('keys.txt', seq(['fuse', 'ribbon'].includes(kind) ? items : 100));
                spawnSync('sh', ['-c', lines.Shell.replace('-o keys.ph', '-f -o keys.ph')], { cwd: scratch.path('.'), env: { ...process.env, PATH: `${join(build, 'cli')}:${process.env.PATH}` } });
                const { stdout } = spawnSync('sh', ['-c', lines.Redis.replace('redis-cli', `redis-cli -s ${socket}`)], { cwd: scratch.path('.'), encoding: 'utf8' });
                assert.equal(stdout.trim(), 'OK', lines.Redis);
            } else {
                assert.equal(say(...lines.Redis.split(' ')), 'OK', lines.Redis);
            }
            const info = serverWords(say('PERHAPS.INFO', 'keys'));
            const made = info.base ?? info.kind;
            assert.ok(made === kind || (kind === 'blocked' && made === 'bloom'), `${lines.Redis} makes ${made}`);
            assert.equal(Number(info.capacity) >= items, true);
            assert.ok(Number(info.fpr_target) <= fpr * 1.2, `${lines.Redis}: ${info.fpr_target} where ${fpr} is shown`);
            if (kind === 'bloom' || lines.Redis.startsWith('redis-cli')) assertSize(kind, Number(info.bytes), bytes, `${lines.Redis}, ${grows}`);
        }
    });
});

test('the program of these tests is there', () => assert.ok(existsSync(program)));
