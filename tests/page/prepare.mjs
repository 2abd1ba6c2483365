// Fetches what drives the browser from npm, as npm/package-lock.json says, unless it is there.
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const packages = process.env.PERHAPS_NPM_PAGE_FOLDER ?? join(here, '../../build/npm-page');
const lock = readFileSync(join(here, 'npm/package-lock.json'), 'utf8');
const known = join(packages, 'package-lock.json');

if (!existsSync(join(packages, 'node_modules/playwright-core')) || !existsSync(known) || readFileSync(known, 'utf8') !== lock) {
    mkdirSync(packages, { recursive: true });
    cpSync(join(here, 'npm'), packages, { recursive: true });
    execFileSync('npm', ['ci', '--no-audit', '--no-fund'], { cwd: packages, timeout: 120_000, stdio: ['ignore', 'ignore', 'inherit'] });
}
