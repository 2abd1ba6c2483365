// The view Watch: what it draws is what the command line says of the same file, step by step; the
// file that it saves is the one that the command line builds; the URL has every state.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { test } from 'node:test';
import { assertAccessible, browserForTests, goTo, perhaps, program, savedBy, scratchFolder, size as tier, testInFull, until } from './support.mjs';

const browser = browserForTests();
const scratch = scratchFolder();
const cellNames = ['bit', 'counter', 'slot'];
const fruit = 'apple pear plum fig kiwi lemon mango cherry peach grape melon lime quince date guava papaya banana orange apricot currant'.split(' ');

// ---- what the page shows ----

// Every cell: { child, index, value, lit }.
const cellsOf = (page) =>
    page.$$eval('.array .cell', (cells) => cells.map(({ dataset: { child, index, value, lit } }) => ({ child: Number(child), index: Number(index), value, lit: lit ?? null })));
const litOf = async (page) => (await cellsOf(page)).filter(({ lit }) => lit);
const textsOf = (page, list) => page.$$eval(`${list} button`, (buttons) => buttons.map((button) => button.textContent));
const sentenceOf = (page) => page.textContent('.answer-text');
const press = (page, name) => page.getByRole('button', { name, exact: true }).click();
const linesOf = (page) => page.$$eval('.watch .copyable code', (lines) => lines.map((line) => line.textContent));

function addressOf(params) {
    return `#watch?${new URLSearchParams(params)}`;
}

// ---- the command line ----

// Runs a line in a shell, in the folder of this test. Its status may say that a key is not there.
function inShell(line) {
    const { status, stdout, stderr } = spawnSync('sh', ['-c', line], {
        cwd: dirname(scratch.path('x')),
        encoding: 'utf8',
        env: { ...process.env, PATH: `${dirname(program)}:${process.env.PATH}` },
    });
    assert.ok(status === 0 || status === 1, `${line}: ${stderr}`);
    return stdout;
}

/** Saves the filter, and builds watch.ph with the line that the page shows: the same bytes. */
async function saved(page) {
    const { name, data } = await savedBy(page, () => press(page, 'Save the filter'));
    assert.equal(name, 'watch.ph');
    rmSync(scratch.path('watch.ph'), { force: true });
    const [build, explain] = await linesOf(page);
    inShell(build);
    assert.deepEqual(readFileSync(scratch.path('watch.ph')), data, build);
    inShell(explain);
    return scratch.path('watch.ph');
}

function explained(path, word, members) {
    writeFileSync(scratch.path('members.txt'), members.map((member) => `${member}\n`).join(''));
    const { stdout, stderr } = spawnSync(program, ['explain', '--json', '--keys', scratch.path('members.txt'), path, '--', word], { encoding: 'utf8' });
    assert.equal(stderr, '');
    return JSON.parse(stdout).keys[0];
}

// The cells of an array as `perhaps info --bits` has them: hexadecimal, child by child.
function cellsTold(path, composite = false) {
    const told = JSON.parse(perhaps('info', '--bits', '--json', path)).cells;
    return told.flatMap(({ name, values }, child) =>
        values.map((value, index) => ({ child: composite ? child : -1, index, value: name === 'slot' ? value : value.toString(16) })));
}

// The steps that are cells, with the child that they are in.
function cellSteps(steps) {
    let child = -1;
    return steps.flatMap((step) => {
        if (step.step === 'child') child = step.index;
        return cellNames.includes(step.name) ? [{ child, ...step }] : [];
    });
}

const place = ({ child, index }) => `${child}/${index}`;

/** The query that the page shows at its end is that of `perhaps explain`. */
async function assertQuery(page, path, word, members) {
    const told = explained(path, word, members);
    const steps = cellSteps(told.steps);
    assert.ok(steps.length >= 2, 'a query of no cells');
    const lit = new Map((await litOf(page)).map((cell) => [place(cell), cell]));
    assert.deepEqual(new Set(lit.keys()), new Set(steps.map(place)), 'what is lit');
    for (const step of steps) {
        const cell = lit.get(place(step));
        assert.equal(cell.value, step.name === 'slot' ? step.value : Number(step.value).toString(16), `cell ${place(step)}`);
        assert.equal(cell.lit, step.holds ? 'yes' : 'no', `cell ${place(step)}`);
    }
    const texts = await textsOf(page, '.steps');
    assert.equal((await textsOf(page, '.steps:not(.acts)')).length, told.steps.length, 'as many steps');
    told.steps.forEach(({ held_by: names = [], why }, i) => {
        for (const name of names) assert.ok(texts[i].includes(`“${name}”`), `step ${i} names ${name}: ${texts[i]}`);
        if (why) assert.ok(texts[i].endsWith(why), texts[i]);
    });
    const sentence = await sentenceOf(page);
    assert.ok(sentence.startsWith(told.present ? 'Perhaps. ' : 'Definitely not. '), sentence);
    return told;
}

/** Backwards through a query: after each step, what `perhaps explain` has listed is lit. */
async function assertLights(page, told) {
    const lit = await page.evaluate((n) => {
        const seen = [];
        for (let i = 0; i < n; i++) {
            seen.unshift([...document.querySelectorAll('.array .cell[data-lit]')].map(({ dataset: { child, index } }) => `${child}/${index}`));
            document.body.dispatchEvent(new KeyboardEvent('keydown', { key: 'ArrowLeft', bubbles: true }));
        }
        return seen;
    }, told.steps.length);
    const steps = cellSteps(told.steps.map((step, at) => ({ ...step, at })));
    lit.forEach((places, i) => assert.deepEqual(new Set(places), new Set(steps.filter(({ at }) => at <= i).map(place)), `after step ${i + 1}`));
}

// ---- every kind ----

// Where words go in, are asked for, and are removed where the kind can.
const kinds = {
    bloom: [], counting: ['-fig'], blocked: [], cuckoo: ['-fig'], growing: ['-fig', ...fruit.slice(12)], window: fruit.slice(12), fuse: ['.'],
};

for (const [kind, more] of Object.entries(kinds)) {
    test(`${kind}: cells, lights and file are those of the command line`, async () => {
        const acts = [...fruit.slice(0, kind === 'fuse' ? 8 : 12), ...more];
        const members = acts.filter((act) => /^\w/.test(act) && !(act === 'fig' && more.includes('-fig')));
        const address = (size) => addressOf({ kind, size, do: [...acts, '*melon plain', '*apple'].join(',') });
        const composite = kind === 'growing' || kind === 'window';
        await browser.open(address('small'), async (page) => {
            await assertAccessible(page, kind);
            for (const size of tier === 'long' ? ['small', 'large'] : ['small']) {
                if (size === 'large') await goTo(page, address(size));
                const path = await saved(page);
                assert.deepEqual((await cellsOf(page)).map(({ child, index, value }) => ({ child, index, value })).sort(byPlace), cellsTold(path, composite).sort(byPlace));
                await assertLights(page, await assertQuery(page, path, 'apple', members));
                await page.locator('.acts button').nth(acts.length).click();
                await assertQuery(page, path, 'melon plain', members);
            }
        });
    });
}

function byPlace(a, b) {
    return a.child - b.child || a.index - b.index;
}

// Presses a key until a button says that there is nothing further; what was shown each time.
function walk(page, key, button) {
    return page.evaluate(([pressed, name]) => {
        const seen = [];
        while (document.querySelector(`.player .${name}`).getAttribute('aria-disabled') === 'false' && seen.length < 300) {
            document.body.dispatchEvent(new KeyboardEvent('keydown', { key: pressed, bubbles: true }));
            seen.push({
                sentence: document.querySelector('.answer-text').textContent,
                cells: [...document.querySelectorAll('.array .cell')].map(({ dataset: { value, lit } }) => `${value} ${lit ?? ''}`).join(),
                top: document.querySelector('.player').getBoundingClientRect().top + scrollY,
            });
        }
        return seen;
    }, [key, button]);
}

test('step by step, forwards and backwards, with the arrow keys, and nothing jumps', async () => {
    await browser.open('#watch', async (page) => {
        for (const kind of tier === 'long' ? Object.keys(kinds) : ['bloom', 'cuckoo', 'fuse']) {
            const acts = kind === 'fuse' ? [...fruit.slice(0, 6), '.'] : [...fruit.slice(0, 2), '*kiwi'];
            await goTo(page, addressOf({ kind, do: acts.join(','), at: '0.0' }));
            assert.ok((await cellsOf(page)).every(({ value, lit }) => value === '0' && !lit), `${kind} is not empty at first`);
            const on = await walk(page, 'ArrowRight', 'step');
            assert.ok(on.length > 12 && on.length < 300, `${kind} has ${on.length} steps`);
            assert.ok(on.some(({ cells }) => /[1-9a-f] /.test(cells)), `${kind}: nothing is set`);
            await until('what is announced', async () => (await page.textContent('#live')) === on.at(-1).sentence);
            const back = await walk(page, 'ArrowLeft', 'back');
            assert.deepEqual(back.slice(0, -1).reverse(), on.slice(0, -1), `${kind} backwards`);
            assert.equal(new Set([...on, ...back].map(({ top }) => top)).size, 1, `${kind}: the buttons jump`);
            await page.locator('.player .step').focus();
            await page.keyboard.press('End');
            assert.equal(await sentenceOf(page), on.at(-1).sentence);
            await page.keyboard.press('ArrowLeft');
            assert.equal(await sentenceOf(page), on.at(-2).sentence);
            await page.keyboard.press('Home');
            assert.equal(await sentenceOf(page), back.at(-1).sentence);
        }
    });
});

// ---- what each kind is there to show ----

test('a false positive names the keys that set its bits', async () => {
    await browser.open(addressOf({ kind: 'bloom' }), async (page) => {
        for (const kind of ['bloom', 'counting', 'blocked', 'cuckoo']) {
            await page.getByRole('radio', { name: kind, exact: true }).check();
            await press(page, 'A false positive');
            const acts = await textsOf(page, '.acts');
            const members = acts.slice(0, -1).map((text) => /“(.*)”/.exec(text)[1]);
            const word = /“(.*)”/.exec(acts.at(-1))[1];
            assert.ok(!members.includes(word));
            const told = await assertQuery(page, await saved(page), word, members);
            assert.equal(told.present, true);
            assert.equal(told.member, false);
            const sentence = await sentenceOf(page);
            assert.match(sentence, /A false positive: “.*” was never added\./);
            const named = new Set(told.steps.flatMap(({ held_by: names = [] }) => names));
            const shown = [...sentence.slice(sentence.indexOf('set by')).matchAll(/“(.*?)”/g)].map(([, name]) => name);
            assert.ok(shown.length >= 1 && shown.length <= 6);
            if (told.steps.every(({ holders = 0 }) => holders <= 3)) for (const name of shown) assert.ok(named.has(name), `${name} holds nothing`);
        }
    });
});

// The steps of an add make the array that there is after it: the answer changes nothing more.
async function assertStepsMakeTheArray(page) {
    const values = async () => (await cellsOf(page)).map(({ value }) => value);
    const after = await values();
    await page.keyboard.press('ArrowLeft');
    assert.deepEqual(await values(), after);
    await page.keyboard.press('ArrowRight');
}

test('cuckoo: keys move, the stash takes some, and then it is full', async () => {
    await browser.open(addressOf({ kind: 'cuckoo' }), async (page) => {
        await press(page, 'Another key moves');
        assert.ok((await page.locator('.array .move').count()) >= 1, 'no arrow');
        assert.ok((await textsOf(page, '.steps:not(.acts)')).some((text) => /moves to slot/.test(text)));
        await assertStepsMakeTheArray(page);
        await press(page, 'The stash');
        assert.match(await sentenceOf(page), /stash/);
        assert.equal(await page.getAttribute('.stash', 'data-stashed'), '1');
        await assertStepsMakeTheArray(page);
        await press(page, 'Full');
        assert.equal(await sentenceOf(page), 'Refused. The filter is full.');
        const path = await saved(page);
        const { stashed } = JSON.parse(perhaps('info', '--json', path));
        assert.ok(stashed >= 2);
        assert.equal(await page.getAttribute('.stash', 'data-stashed'), String(stashed));
        const refused = /“(.*)”/.exec((await textsOf(page, '.acts')).at(-1))[1];
        const { status, stderr } = spawnSync(program, ['add', path], { input: `${refused}\n`, encoding: 'utf8' });
        assert.equal(status, 2, stderr);
        assert.match(stderr, /full/);
    });
});

testInFull('counting: a counter stays at 15, and what is removed is gone', async () => {
    await browser.open(addressOf({ kind: 'counting' }), async (page) => {
        await press(page, 'Add one');
        await assertStepsMakeTheArray(page);
        await press(page, 'A counter is full');
        assert.equal((await cellsOf(page)).filter(({ value }) => value === 'f').length, 3);
        assert.match(await sentenceOf(page), /full counters stay/);
        await press(page, 'Add and remove');
        assert.match(await sentenceOf(page), /^Definitely not/);
    });
});

testInFull('growing and window: a layer is appended, a generation forgotten', async () => {
    await browser.open(addressOf({ kind: 'growing' }), async (page) => {
        await press(page, 'Three layers');
        assert.deepEqual(new Set((await cellsOf(page)).map(({ child }) => child)), new Set([0, 1, 2]));
        await page.getByRole('radio', { name: 'window' }).check();
        await press(page, 'The oldest is forgotten');
        assert.match(await sentenceOf(page), /^Definitely not/);
        await page.locator('.player .back').press('Home');
        assert.ok((await cellsOf(page)).every(({ value }) => value === '0'));
    });
});

test('fuse: every key is peeled once, and what is stored is the array', async () => {
    await browser.open('#watch', async (page) => {
        for (const [size, n] of [['small', 8], ['large', 19]]) {
            await goTo(page, addressOf({ kind: 'fuse', size, do: [...fruit.slice(0, n), '.'].join(',') }));
            const steps = await textsOf(page, '.steps:not(.acts)');
            const peeled = steps.flatMap((text) => /^Slot (\d+) has only “(.*)” left/.exec(text)?.[2] ?? []);
            assert.deepEqual([...peeled].sort(), fruit.slice(0, n).sort());
            const stored = steps.flatMap((text) => /^Slot \d+ becomes .* slots of “(.*)” now/.exec(text)?.[1] ?? []);
            assert.deepEqual(stored, [...peeled].reverse());
            const path = await saved(page);
            await page.keyboard.press('ArrowLeft'); // before the answer: what the stores made
            assert.deepEqual((await cellsOf(page)).map(({ child, index, value }) => ({ child, index, value })), cellsTold(path));
        }
    });
});

// ---- the page ----

test('words of one’s own: add, query, remove, take back, start over', async () => {
    await browser.open('#watch?kind=counting&size=large&do=-', async (page) => {
        const words = ['a,b', '-x', '*y', '?z', '+', '.', '=', "it's", 'Größe', ' two  words ', '100%', '%2C'];
        for (const word of words) {
            await page.getByLabel('A word of yours').fill(word);
            await page.keyboard.press('Enter');
        }
        await page.getByLabel('A word of yours').fill("it's");
        await press(page, 'Remove');
        await press(page, 'Query');
        assert.match(await sentenceOf(page), /^Definitely not/);
        const path = await saved(page);
        assert.deepEqual((await cellsOf(page)).map(({ value }) => value), cellsTold(path).map(({ value }) => value));
        for (const word of words) assert.equal(explained(path, word, []).present, word !== "it's", word);
        // Words of one's own go along to another kind.
        await page.getByRole('radio', { name: 'bloom' }).check();
        assert.equal((await textsOf(page, '.acts')).length, words.length + 2 - 1);
        await until('the kind in the URL', () => /kind=bloom/.test(page.url()));
        await page.getByRole('radio', { name: 'counting' }).check();
        const cells = await cellsOf(page);
        await until('the kind in the URL', () => /kind=counting/.test(page.url()));
        await page.reload();
        await page.waitForSelector('html[data-shown="watch"]');
        assert.deepEqual(await cellsOf(page), cells, 'the URL does not have it all');
        await press(page, 'Take back');
        assert.equal((await textsOf(page, '.acts')).length, words.length);
        await press(page, 'Start over');
        assert.ok((await cellsOf(page)).every(({ value }) => value === '0'));
        await press(page, 'Add');
        assert.equal(await page.textContent('.word .hint'), 'Type a word first.');
        await press(page, 'Add five');
        assert.equal((await textsOf(page, '.acts')).length, 5);
    });
});

test('a URL is a state: kind, size, words and step', async () => {
    const address = addressOf({ kind: 'bloom', size: 'large', do: 'apple,pear,*fig', at: '2.3' });
    await browser.open(address, async (page) => {
        const state = { cells: await cellsOf(page), sentence: await sentenceOf(page) };
        assert.equal(state.cells.length, 256);
        await page.keyboard.press('ArrowRight');
        await until('the step in the URL', () => /at=2\.4/.test(page.url()));
        const isWhatIsShown = async () => assert.deepEqual((await cellsOf(page)).map(({ value }) => value), cellsTold(await saved(page)).map(({ value }) => value));
        await page.locator('.acts button').nth(0).click();
        await isWhatIsShown();
        await page.locator('.player .back').press('Home');
        await isWhatIsShown();
        await goTo(page, address);
        assert.equal(await sentenceOf(page), state.sentence);
        assert.deepEqual(await cellsOf(page), state.cells);
    });
    const odd = ['kind=nothing', 'kind=__proto__&size=huge&list=__proto__', 'do=,,,&at=9.9', 'at=-5.x&do=%25,%252,%25zz', 'kind=fuse&do=*a,a,.,b,.,-', 'kind=bloom&do=-a,.'];
    await browser.open(`#watch?${odd[0]}`, async (page) => {
        for (const state of odd) {
            await goTo(page, `#watch?${state}`);
            assert.ok((await cellsOf(page)).length >= 8, state);
        }
    });
});

testInFull('a word after sealing, and a query before it, get the library’s sentence', async () => {
    await browser.open(addressOf({ kind: 'fuse', do: 'apple,.,pear' }), async (page) => {
        assert.match(await sentenceOf(page), /sealed/i);
        await goTo(page, '#watch?kind=fuse&do=apple,*apple');
        assert.match(await sentenceOf(page), /seal/i);
    });
});

testInFull('it plays, pauses and plays on; without motion it is at the end at once', async () => {
    await browser.open(addressOf({ kind: 'bloom', do: 'apple,pear', at: '0.0' }), async (page) => {
        await page.getByLabel('Speed').selectOption('fast');
        await press(page, 'Play');
        await until('two lines', async () => (await page.locator('.array .line').count()) >= 2);
        await press(page, 'Pause');
        await until('a step in the URL', () => /at=\d/.test(page.url()));
        await press(page, 'Play');
        await until('the end', () => !/at=/.test(page.url()));
        await page.getByRole('button', { name: 'Play', exact: true }).waitFor();
    }, { reducedMotion: 'no-preference' });
    await browser.open(addressOf({ kind: 'bloom', do: 'apple' }), async (page) => {
        await page.getByLabel('A word of yours').fill('pear');
        await page.keyboard.press('Enter');
        assert.match(await sentenceOf(page), /^New\./);
        assert.equal(await page.evaluate(() => document.getAnimations().length), 0);
    });
});

testInFull('the rates: the formula, the library and 16,384 non-members agree', async () => {
    await browser.open(addressOf({ kind: 'bloom', size: 'large', do: Array.from({ length: 40 }, (_, i) => `key ${i}`).join(',') }), async (page) => {
        const [book, library, measured] = await page.$$eval('.rate .figure strong', (all) => all.map(({ textContent }) => parseFloat(textContent)));
        const expected = 100 * (1 - Math.exp((-4 * 40) / 256)) ** 4;
        assert.ok(Math.abs(book - expected) < 0.01, `${book} instead of ${expected}`);
        for (const rate of [library, measured]) assert.ok(Math.abs(rate - expected) < 0.4 * expected, `${rate} and ${expected}`);
        assert.match(await page.textContent('.rate'), /4·40\/256/);
    });
});

test('on a phone nothing is wider than it, and it is accessible in the dark', async () => {
    await browser.open(addressOf({ size: 'large' }), async (page) => {
        for (const kind of Object.keys(kinds)) {
            await page.getByRole('radio', { name: kind, exact: true }).check();
            assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 390, `${kind} is too wide`);
            const [stage, picture] = await page.evaluate(() => ['.stage', '.stage svg'].map((name) => document.querySelector(name).getBoundingClientRect().right));
            assert.ok(picture <= stage + 0.5, `${kind}: the picture is cut off`);
        }
        await page.getByLabel('A word of yours').fill('something');
        await page.keyboard.press('Enter');
        assert.ok(await page.$eval('.stage', (stage) => stage.getBoundingClientRect().top >= 0 && stage.getBoundingClientRect().top < innerHeight - 120), 'what was done is not seen');
        await assertAccessible(page, 'dark, 390 px');
    }, { viewport: { width: 390, height: 844 }, colorScheme: 'dark' });
});
