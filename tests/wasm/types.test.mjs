// tsc accepts types.ts, which uses every declaration, and so the declarations are right as far as
// types can be; and every export and method of the JavaScript is declared. TypeScript comes from
// npm, as npm/package-lock.json says.
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { folder, perhaps, query, root } from './support.mjs';

const here = join(root, 'tests/wasm');
const packages = process.env.PERHAPS_NPM_TYPES_FOLDER ?? join(root, 'build/npm-types');

function fetchCompiler() {
    const compiler = join(packages, 'node_modules/typescript/bin/tsc');
    const lock = readFileSync(join(here, 'npm/package-lock.json'), 'utf8');
    const known = join(packages, 'package-lock.json');
    if (existsSync(compiler) && existsSync(known) && readFileSync(known, 'utf8') === lock) return compiler;
    mkdirSync(packages, { recursive: true });
    cpSync(join(here, 'npm'), packages, { recursive: true });
    execFileSync('npm', ['ci', '--no-audit', '--no-fund'], { cwd: packages, timeout: 120_000, stdio: ['ignore', 'ignore', 'inherit'] });
    return compiler;
}

test('tsc accepts the declarations and what uses them', () => {
    const compiler = fetchCompiler();
    const scratch = mkdtempSync(join(tmpdir(), 'perhaps-types-'));
    try {
        mkdirSync(join(scratch, 'node_modules'));
        symlinkSync(folder, join(scratch, 'node_modules/perhaps'));
        cpSync(join(here, 'types.ts'), join(scratch, 'types.ts'));
        writeFileSync(join(scratch, 'package.json'), '{"type": "module"}');
        const options = ['--noEmit', '--strict', '--target', 'es2022', '--module', 'nodenext', '--lib', 'es2022,dom'];
        const { status, stdout } = spawnSync('node', [compiler, ...options, 'types.ts'], { cwd: scratch, encoding: 'utf8' });
        assert.equal(status, 0, stdout);
    } finally {
        rmSync(scratch, { recursive: true });
    }
});

function declared(name) {
    return readFileSync(join(folder, name), 'utf8');
}

test('every export and every method is declared', () => {
    for (const [module, name] of [[perhaps, 'index.d.ts'], [query, 'query.d.ts']]) {
        const types = declared(name);
        for (const exported of Object.keys(module)) assert.match(types, new RegExp(`\\b${exported}\\b`), `${name}: ${exported}`);
        for (const method of Object.getOwnPropertyNames(module.Filter.prototype))
            assert.match(types, new RegExp(`\\b${method}\\b`), `${name}: ${method}`);
    }
});

test('every field of a plan, an info and a want is declared', async () => {
    const types = declared('index.d.ts');
    const filter = new perhaps.Filter({ items: 10, fpr: 0.1 });
    const names = [...Object.keys(filter.info()), ...Object.keys(perhaps.plan({ items: 10, fpr: 0.1 })), ...Object.keys(filter.overlap(filter))];
    for (const name of [...names, ...Object.keys(filter.module.structs.want.fields)]) {
        if (name !== 'size') assert.match(types, new RegExp(`\\b${name}\\??:`), name);
    }
});
