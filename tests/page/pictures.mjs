// tests/page/pictures.mjs FOLDER: writes a picture of each view, as PNG. script/pictures calls it.
import { join } from 'node:path';
import { test } from 'node:test';
import { browserForTests, settled } from './support.mjs';

const folder = process.env.PERHAPS_PICTURES;
const browser = browserForTests();

async function ready(page, name) {
    if (name === 'plan') await page.waitForSelector('.curve.chosen');
    if (name === 'compare') {
        await page.getByRole('button', { name: 'Measure' }).click();
        await page.waitForSelector('.status:text-is("Done.")', { timeout: 120_000 });
    }
    await page.evaluate(() => (document.activeElement.blur(), scrollTo(0, 0)));
    await settled(page);
}

// Name, address, colours, height.
const pictures = [
    ['plan', '#plan?items=5e6&fpr=0.01', 'light', 700],
    ['watch', '#watch?kind=cuckoo', 'dark', 700],
    ['inspect', '#inspect?example=cuckoo', 'light', 760],
    ['compare', '#compare?sizes=1e4,1e6&kinds=bloom,blocked,cuckoo,fuse,ribbon', 'dark', 620],
];

for (const [name, hash, colorScheme, height] of pictures)
    test(`a picture of ${name}`, () =>
        browser.open(hash, async (page) => {
            await ready(page, name);
            await page.screenshot({ path: join(folder, `page-${name}.png`) });
        }, { colorScheme, viewport: { width: 1040, height } }));
