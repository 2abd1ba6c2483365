// What the tests of the page share: the page on a server and in one file, a real browser, the
// command line.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
export const root = join(here, '../..');
export const build = process.env.PERHAPS_BUILD ?? join(root, 'build/release');
export const folder = process.env.PERHAPS_PAGE ?? join(root, 'build/page');
export const oneFile = `${folder}.html`;
export const golden = join(root, 'tests/golden');
export const size = process.env.PERHAPS_TEST_SIZE || 'normal';

/** A test that only `script/test full` runs. */
export const testInFull = size === 'long' ? test : () => {};
export const program = join(build, 'cli/perhaps');
const packages = process.env.PERHAPS_NPM_PAGE_FOLDER ?? join(root, 'build/npm-page');

const { chromium } = await import(pathToFileURL(join(packages, 'node_modules/playwright-core/index.mjs')).href);
const { serve } = await import(pathToFileURL(join(root, 'web/tools/serve.mjs')).href);
const axe = readFileSync(join(packages, 'node_modules/axe-core/axe.min.js'), 'utf8');

// As root there is no sandbox; and a browser that calls nobody.
const flags = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
    '--disable-component-update', '--disable-sync', '--disable-dev-shm-usage'];

export function perhaps(...given) {
    const { status, stdout, stderr } = spawnSync(program, given.map(String), { encoding: 'utf8', maxBuffer: 1 << 26, env: { ...process.env, LC_ALL: 'C' } });
    assert.equal(status, 0, `perhaps ${given.join(' ')}: ${stderr}`);
    return stdout;
}

/** A folder for this test file, with what a test writes into it. */
export function scratchFolder() {
    const path = mkdtempSync(join(tmpdir(), 'perhaps-page-'));
    after(() => rmSync(path, { recursive: true, force: true }));
    return {
        path: (name) => join(path, name),
        write(name, data) {
            writeFileSync(join(path, name), data);
            return join(path, name);
        },
    };
}

/**
 * The browser of a test file: it is started before its tests and ended after them. Every page
 * that it opens may only reach this machine, and must say nothing on the console.
 */
export function browserForTests() {
    const state = { url: null, browser: null };
    let server;
    before(async () => {
        const served = await serve(folder);
        server = served.server;
        state.url = served.url;
        state.browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', headless: true, args: flags });
    });
    after(async () => {
        await state.browser?.close();
        server?.close();
        server?.closeAllConnections();
    });

    /** Opens '#plan?...'; `use` gets the page of the browser. */
    state.open = async (hash, use, { file = false, offline = false, ...options } = {}) => {
        const context = await state.browser.newContext({ viewport: { width: 1280, height: 900 }, acceptDownloads: true, reducedMotion: 'reduce', ...options });
        const said = [];
        const elsewhere = [];
        try {
            const page = await context.newPage();
            page.setDefaultTimeout(15_000);
            page.on('console', (message) => ['error', 'warning'].includes(message.type()) && said.push(message.text()));
            page.on('pageerror', (error) => said.push(error.stack));
            const own = new RegExp(`^(blob:|data:|${file ? 'file:' : state.url})`);
            page.on('request', (request) => own.test(request.url()) || elsewhere.push(request.url()));
            if (offline) await context.setOffline(true);
            await page.goto((file ? pathToFileURL(oneFile).href : state.url) + hash);
            await shown(page, hash);
            await use(page, context);
            assert.deepEqual(said, [], 'the console is not empty');
            assert.deepEqual(elsewhere, [], 'requests that are not for the page');
        } finally {
            await context.close();
        }
    };
    return state;
}

/** Waits until the view of this address is there. */
export async function shown(page, hash) {
    const name = /^#(\w+)/.exec(hash)?.[1] ?? 'plan';
    await page.waitForSelector(`html[data-shown="${name}"]`, { timeout: 20_000 });
}

/** Goes to another address of the same page, which it does not load again. */
export async function goTo(page, hash) {
    await page.evaluate((to) => (location.hash = to), hash);
    await shown(page, hash);
    await settled(page);
}

/** Waits for something that comes; the page's policy forbids waitForFunction. */
export async function until(what, isSo) {
    for (const end = Date.now() + 15_000; !(await isSo()); await new Promise((resolve) => setTimeout(resolve, 25)))
        assert.ok(Date.now() < end, `${what} does not come`);
}

/** Waits until what changed has been drawn. */
export function settled(page) {
    return page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(resolve, 20)))));
}

/** Fails with what axe-core finds, for people to read. */
export async function assertAccessible(page, what) {
    await page.evaluate(axe); // not as a script of the page, which its policy would refuse
    const { violations } = await page.evaluate(() => window.axe.run(document, { resultTypes: ['violations'] }));
    const found = violations.map(({ id, help, nodes }) => `${id}: ${help}\n${nodes.slice(0, 3).map((node) => `    ${node.html.slice(0, 160)} ${node.failureSummary?.replaceAll('\n', ' ')}`).join('\n')}`);
    assert.equal(found.length, 0, `${what}:\n${found.join('\n')}`);
}

/** The bytes that a click saves. */
export async function savedBy(page, click) {
    const [download] = await Promise.all([page.waitForEvent('download'), click()]);
    return { name: download.suggestedFilename(), data: readFileSync(await download.path()) };
}

/** Those of the lines that the command line takes for members. */
export function foundBy(filter, lines, ...options) {
    // Its exit status says whether there is one.
    const { status, stdout, stderr } = spawnSync(program, ['check', ...options, filter], { input: lines.map((line) => `${line}\n`).join(''), encoding: 'utf8', maxBuffer: 1 << 26 });
    assert.ok(status === 0 || status === 1, stderr);
    return stdout.split('\n').filter(Boolean);
}
