// The view Compare: it measures every kind that is chosen at every size, beside a Set, shows how
// far it is, can be stopped, and keeps its settings in the URL. How fast anything is, is not
// tested.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { browserForTests, settled, size, testInFull } from './support.mjs';

const browser = browserForTests();
const measureButton = (page) => page.getByRole('button', { name: 'Measure' });
const isDone = (page) => page.waitForSelector('.status:text-is("Done.")', { timeout: 60_000 });

function readNumbers(page) {
    return page.$$eval('.numbers tbody tr', (rows) =>
        rows.map((row) => ({ kind: row.dataset.kind, size: Number(row.dataset.size), ns: [...row.querySelectorAll('[data-measure]')].map((cell) => Number(cell.textContent.replaceAll(',', ''))), memory: row.cells[row.cells.length - 1].textContent })),
    );
}

for (const form of size === 'long' ? ['u64', 'text'] : ['text'])
    test(`every kind is measured, with keys of ${form}`, () =>
        browser.open(`#compare?sizes=1e3,5e3&kinds=blocked,cuckoo,ribbon&keys=${form}`, async (page) => {
            await measureButton(page).click();
            assert.equal(await measureButton(page).isDisabled(), true);
            await isDone(page);
            const rows = await readNumbers(page);
            assert.deepEqual(rows.map(({ kind, size }) => `${kind} ${size}`), [1000, 5000].flatMap((size) => ['Set', 'blocked', 'cuckoo', 'ribbon'].map((kind) => `${kind} ${size}`)));
            for (const { kind, ns, memory } of rows) {
                assert.equal(ns.length, 3);
                assert.ok(ns.every((value) => value > 0), `${kind}: ${ns}`);
                assert.match(memory, kind === 'Set' ? /unknown/ : /KiB|bytes/);
            }
            assert.equal(await page.getByRole('progressbar').getAttribute('aria-valuenow'), '100');
            assert.match(await page.textContent('.verdict-line'), /With 5,000 keys, \w+ answers batches [\d.]+ times as (fast|slow) as a Set, from/);
            assert.equal(await page.locator('.race').count(), 2);
            assert.equal(await page.locator('.race li').count(), 8);
            await page.getByRole('radio', { name: 'Add' }).check();
            assert.match(await page.evaluate(() => location.hash), /show=add/);
        }));

testInFull('it stops when it is told to, and starts again', () =>
    browser.open('#compare?sizes=1e3,1e5,1e6,5e6', async (page) => {
        await measureButton(page).click();
        await page.waitForSelector('.race li');
        await page.getByRole('button', { name: 'Stop' }).click();
        assert.equal(await page.textContent('.status'), 'Stopped.');
        const n = (await readNumbers(page)).length;
        assert.ok(n > 0 && n < 28);
        await page.waitForTimeout(500);
        assert.equal((await readNumbers(page)).length, n, 'it went on');
        await page.getByRole('textbox', { name: 'Numbers of keys' }).fill('100');
        await measureButton(page).click();
        await isDone(page);
        assert.equal((await readNumbers(page)).length, 7);
    }));

testInFull('leaving the view ends the work', () =>
    browser.open('#compare?sizes=1e6', async (page) => {
        await measureButton(page).click();
        await page.waitForSelector('.status:has-text("keys")');
        assert.equal(page.workers().length, 1);
        await page.getByRole('link', { name: 'Plan' }).click();
        await page.waitForSelector('html[data-shown="plan"]');
        for (let i = 0; i < 500 && page.workers().length; i++) await page.waitForTimeout(20);
        assert.equal(page.workers().length, 0);
    }));

test('settings are in the URL, and wrong sizes are refused', () =>
    browser.open('#compare?sizes=2e3,7e4&kinds=fuse,bloom&keys=text&fpr=0.001&show=single', async (page) => {
        const box = page.getByRole('textbox', { name: 'Numbers of keys' });
        assert.equal(await box.inputValue(), '2e3 7e4');
        assert.equal(await page.getByRole('checkbox', { name: 'fuse' }).isChecked(), true);
        assert.equal(await page.getByRole('checkbox', { name: 'cuckoo' }).isChecked(), false);
        assert.equal(await page.getByRole('combobox', { name: 'Keys' }).inputValue(), 'text');
        assert.equal(await page.getByRole('combobox', { name: 'False-positive rate' }).inputValue(), '0.001');
        for (const text of ['', 'x', '5', '1e8', '100 200 300 400 500 600 700']) {
            await box.fill(text);
            assert.equal(await box.getAttribute('aria-invalid'), 'true', text);
            assert.equal(await measureButton(page).isDisabled(), true, text);
        }
        await box.fill('10k, 20,000');
        await settled(page);
        assert.match(await page.evaluate(() => location.hash), /sizes=1e4,2e4&/);
        await page.getByRole('checkbox', { name: 'fuse' }).uncheck();
        await page.getByRole('checkbox', { name: 'bloom' }).uncheck();
        assert.equal(await measureButton(page).isDisabled(), true, 'without a kind');
    }));
