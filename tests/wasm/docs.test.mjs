// docs/javascript.md and the package's README.md tell the truth: their blocks of JavaScript run,
// in order and in one folder.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { folder, root } from './support.mjs';

for (const [page, least] of [['docs/javascript.md', 4], ['bindings/wasm/README.md', 1]])
    test(page, () => {
        const blocks = [...readFileSync(join(root, page), 'utf8').matchAll(/^```js\n(.*?)^```$/gms)].map((match) => match[1]);
        assert.ok(blocks.length >= least, `only ${blocks.length} blocks`);
        const scratch = mkdtempSync(join(tmpdir(), 'perhaps-docs-'));
        try {
            mkdirSync(join(scratch, 'node_modules'));
            symlinkSync(folder, join(scratch, 'node_modules/perhaps'));
            blocks.forEach((block, i) => {
                writeFileSync(join(scratch, `${i}.mjs`), block);
                const { status, stdout, stderr } = spawnSync('node', [`${i}.mjs`], { cwd: scratch, encoding: 'utf8' });
                assert.equal(status, 0, `${block}\n${stderr}`);
                // A comment after a call says what it prints: true, false or a word.
                const said = [...block.matchAll(/console\.log\(.*\);\s*\/\/ (true|false|cuckoo)/g)].map((match) => match[1]);
                const printed = stdout.split('\n').map((line) => line.split(' ')[0]).filter((word) => said.includes(word));
                assert.deepEqual(printed.slice(0, said.length), said, stdout);
            });
        } finally {
            rmSync(scratch, { recursive: true });
        }
    });
