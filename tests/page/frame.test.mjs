// The page as a whole, for every view: from a server, without a network and as one file; for screen
// readers, keyboards and phones; light and dark; how much the first paint takes.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { assertAccessible, browserForTests, folder, goTo, golden, oneFile, root, scratchFolder, settled, shown, size, until, testInFull } from './support.mjs';

const browser = browserForTests();
const scratch = scratchFolder();
const views = ['plan', 'watch', 'inspect', 'compare'];
const states = ['#plan', '#watch', '#inspect?example=cuckoo', '#compare'];
if (size === 'long') states.push('#plan?items=1e6&bytes=100', '#inspect', '#inspect?example=growing');

// ---- accessibility ----

for (const colorScheme of ['light', 'dark'])
    test(`axe-core finds nothing in any view, ${colorScheme}`, () =>
        browser.open('#plan', async (page) => {
            for (const hash of states) {
                await goTo(page, hash);
                await assertAccessible(page, hash);
            }
        }, { colorScheme }));

testInFull('axe-core finds nothing in what appears later', () =>
    browser.open('#compare?sizes=100&kinds=blocked', async (page) => {
        await page.getByRole('button', { name: 'Measure' }).click();
        await page.waitForSelector('.status:text-is("Done.")');
        await assertAccessible(page, 'results of Compare');
        await goTo(page, '#inspect');
        await page.setInputFiles('#file', scratch.write('text.ph', 'text\n'));
        await page.waitForSelector('.inspect .message.bad');
        await assertAccessible(page, 'a refused file');
        await page.setInputFiles('#file', join(golden, 'blocked-siphash.ph'));
        await page.waitForSelector('.inspect .ask');
        await assertAccessible(page, 'the question for a secret key');
    }));

test('all is reached by keyboard, and the focus is seen', () =>
    browser.open('#plan', async (page) => {
        await page.keyboard.press('Tab');
        assert.equal(await page.evaluate(() => document.activeElement.className), 'skip');
        await page.keyboard.press('Enter');
        assert.equal(await page.evaluate(() => document.activeElement.id), 'view');
        let reached = 0;
        for (let i = 0; i < 60; i++) {
            await page.keyboard.press('Tab');
            const at = await page.evaluate(() => {
                const { activeElement: element } = document;
                const mark = element.closest('label') ?? element;
                return [element.id || element.textContent.slice(0, 30) || element.value, getComputedStyle(mark).outlineStyle !== 'none' || getComputedStyle(element).outlineStyle !== 'none', element === document.body];
            });
            if (at[2]) break;
            assert.ok(at[1], `no focus is seen at ${at[0]}`);
            reached++;
        }
        assert.ok(reached > 30, `only ${reached}`);
    }));

test('screen readers hear of another view, and of a result', () =>
    browser.open('#plan', async (page) => {
        const hears = (what) => until(what, async () => what.test(await page.textContent('#live')));
        await page.getByRole('textbox', { name: 'Items' }).fill('1e7');
        await hears(/blocked: 12\.0 MiB/);
        await page.getByRole('link', { name: 'Inspect' }).click();
        await shown(page, '#inspect');
        await hears(/Inspect/);
        assert.equal(await page.evaluate(() => document.activeElement.id), 'view');
        assert.equal(await page.getByRole('link', { name: 'Inspect' }).getAttribute('aria-current'), 'page');
    }));

// ---- colours, sizes, motion ----

testInFull('colours follow the system, and a choice stays', () =>
    browser.open('#plan', async (page) => {
        const paper = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
        const dark = await paper();
        await page.getByRole('radio', { name: 'Light' }).check();
        const light = await paper();
        assert.notEqual(light, dark);
        await page.reload();
        await shown(page, '#plan');
        assert.equal(await paper(), light);
        await page.getByRole('radio', { name: 'System' }).check();
        assert.equal(await paper(), dark);
    }, { colorScheme: 'dark' }));

test('every view fits on a phone', () =>
    browser.open('#plan', async (page) => {
        for (const hash of states) {
            await goTo(page, hash);
            const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
            assert.ok(wide <= 0, `${hash} is ${wide} pixels too wide`);
        }
    }, { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true }));

test('nothing jumps while the page is loaded or used', () =>
    browser.open('#plan', async (page) => {
        await page.evaluate(() => {
            window.jumps = 0;
            new PerformanceObserver((list) => list.getEntries().forEach(({ value, hadRecentInput }) => (window.jumps += hadRecentInput ? 0 : value))).observe({ type: 'layout-shift', buffered: true });
        });
        await page.waitForSelector('.curve');
        for (const name of ['Items, slider', 'False-positive rate, slider']) {
            await page.getByLabel(name).focus();
            for (let i = 0; i < 20; i++) await page.keyboard.press('ArrowRight');
        }
        await settled(page);
        const jumps = await page.evaluate(() => window.jumps);
        assert.ok(jumps < 0.1, `layout shifts of ${jumps}`);
    }));

// ---- weight, network, one file ----

test('the first paint takes less than 100 KB', () => {
    const total = ['index.html', 'theme.js', 'style.css', 'app.js', 'common.js', 'platform.js', 'plan.js', 'plan_curves.js', 'plan_lines.js', 'planner.js', 'plot.js', 'perhaps/index.js', 'perhaps/core.js', 'perhaps/keys.js', 'perhaps/errors.js']
        .map((name) => gzipSync(readFileSync(join(folder, name))).length)
        .reduce((sum, length) => sum + length, 0);
    assert.ok(total < 100_000, `${total} bytes`);
});

test('the browser paints before the module is there, and loads no more than that', () =>
    browser.open('#plan', async (page) => {
        const loaded = await page.evaluate(() => performance.getEntriesByType('resource').map(({ name }) => name.replace(/.*\/(?=[^/]+$)/, '')));
        assert.ok(!loaded.includes('inspect.js') && !loaded.includes('watch.js') && !loaded.includes('compare.js'), loaded.join());
        const context = page.context();
        const slow = await context.newPage();
        await context.route('**/perhaps.wasm', async (route) => {
            await new Promise((resolve) => setTimeout(resolve, 1500));
            await route.continue();
        });
        await slow.goto(`${browser.url}#plan`);
        const [paint] = await slow.evaluate(() => new Promise((resolve) => new PerformanceObserver((list) => resolve(list.getEntriesByName('first-contentful-paint').map(({ startTime }) => startTime))).observe({ type: 'paint', buffered: true })));
        assert.ok(paint < 1500, `${paint} ms`);
        assert.match(await slow.textContent('main'), /Loading/);
        await shown(slow, '#plan');
    }));

testInFull('once it is loaded it needs no network', () =>
    browser.open('#plan', async (page, context) => {
        for (const view of views) await goTo(page, `#${view}`);
        await context.setOffline(true);
        for (const view of views) await goTo(page, `#${view}`);
    }));

test('the page in one file has every view, without a network', () =>
    browser.open('#plan?items=1e3&fpr=0.1', async (page) => {
        assert.equal(await page.getByRole('textbox', { name: 'Items' }).inputValue(), '1,000');
        for (const hash of states) {
            await goTo(page, hash);
            assert.ok((await page.textContent('h1')).length > 4);
        }
        assert.match(await page.textContent('#version'), /\d+\.\d+/);
    }, { file: true, offline: true }));

testInFull('the page in one file opens files and measures', () =>
    browser.open('#inspect', async (page) => {
        await page.setInputFiles('#file', join(golden, 'cuckoo-4x2.ph'));
        await page.waitForSelector('.inspect .facts');
        await page.getByRole('link', { name: 'Compare' }).click();
        await shown(page, '#compare');
        await page.getByRole('textbox', { name: 'Numbers of keys' }).fill('500');
        await page.getByRole('button', { name: 'Measure' }).click();
        await page.waitForSelector('.status:text-is("Done.")', { timeout: 60_000 });
        assert.equal(await page.locator('.race li').count(), 7);
    }, { file: true, offline: true }));

// ---- addresses ----

test('"Back" and other addresses show what they say', () =>
    browser.open('#plan?items=1e3&fpr=0.1', async (page) => {
        await page.getByRole('link', { name: 'Compare' }).click();
        await shown(page, '#compare');
        await page.goBack();
        await shown(page, '#plan');
        assert.equal(await page.getByRole('textbox', { name: 'Items' }).inputValue(), '1,000');
        await goTo(page, '#plan?items=7e6&fpr=0.1');
        assert.equal(await page.getByRole('textbox', { name: 'Items' }).inputValue(), '7,000,000');
        await page.goto(`${browser.url}#nowhere?x=1`);
        await shown(page, '#plan');
        await goTo(page, '#plan?items=nonsense&fpr=9&kind=none&sort=x&needs=fly');
        assert.equal(await page.textContent('.answer h2 .kind'), 'blocked');
    }));

test('a module that does not arrive is said in a sentence', async () => {
    const context = await browser.browser.newContext();
    try {
        const page = await context.newPage();
        await context.route('**/perhaps.wasm', (route) => route.fulfill({ status: 404, body: 'no' }));
        await page.goto(`${browser.url}#plan`);
        await page.waitForSelector('.trouble');
        assert.match(await page.textContent('.trouble'), /could not be loaded.*404/);
    } finally {
        await context.close();
    }
});

// ---- script/page ----

const script = (...given) => spawnSync(join(root, 'script/page'), given, { encoding: 'utf8' });

test('script/page explains itself, and refuses what makes no sense', () => {
    const help = script('-h');
    assert.equal(help.status, 0);
    for (const option of ['--port', '--file', '--folder']) assert.ok(help.stdout.includes(option));
    for (const given of [['--port', 'x'], ['--port', '70000'], ['--port'], ['--file', '/'], ['--file', '/nowhere/at/all.html'], ['more']]) {
        const { status, stderr } = script(...given);
        assert.equal(status, 2, given.join(' '));
        assert.match(stderr, /script\/page: /);
    }
});

test('script/page serves the page, and says where', async () => {
    const child = spawn(join(root, 'script/page'), { stdio: ['ignore', 'pipe', 'inherit'] });
    const ended = new Promise((resolve) => child.once('exit', resolve));
    try {
        let said = '';
        for await (const chunk of child.stdout) if (/http\S+/.test((said += chunk))) break;
        const [url] = /http:\/\/127\.0\.0\.1:\d+\//.exec(said);
        assert.match(await (await fetch(url)).text(), /<title>perhaps/);
        const again = script('--port', new URL(url).port);
        assert.equal(again.status, 1);
        assert.match(again.stderr, /port \d+ is in use/);
    } finally {
        child.kill();
        await ended;
    }
});

test('the server serves the page, and nothing else', async () => {
    for (const [path, status] of [['', 200], ['app.js', 200], ['perhaps/perhaps.wasm', 200], ['nothing', 404], ['..%2f..%2fetc/passwd', 404], ['%', 404]])
        assert.equal((await fetch(browser.url + path)).status, status, path);
    assert.equal((await fetch(`${browser.url}perhaps/perhaps.wasm`)).headers.get('content-type'), 'application/wasm');
    assert.match(browser.url, /^http:\/\/127\.0\.0\.1:/);
});

test('the one file is one file', () => {
    assert.ok(existsSync(oneFile));
    const html = readFileSync(oneFile, 'utf8');
    assert.doesNotMatch(html, /<script[^>]* src=|<link[^>]* href="(?!data:)/);
    assert.ok(statSync(oneFile).size < 800_000);
});
