// What the tests of bindings/wasm share: where things are, and the native side.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
export const root = join(here, '../..');
export const build = process.env.PERHAPS_BUILD ?? join(root, 'build/release');
export const folder = process.env.PERHAPS_WASM ?? join(root, 'build/wasm');
export const golden = join(root, 'tests/golden');
export const size = process.env.PERHAPS_TEST_SIZE || 'normal';

export const perhaps = await import(join(folder, 'index.js'));
export const query = await import(join(folder, 'query.js'));
await perhaps.load();
await query.load();

// The program tests/wasm/reference.c.
export function reference(...given) {
    return execFileSync(join(build, 'tests/wasm/wasm_reference'), given.map(String), {
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'ignore'],
        maxBuffer: 1 << 26,
    });
}

export function layouts(items) {
    return reference('layouts', items)
        .split('\n')
        .filter((line) => line.startsWith('{'))
        .map((line) => JSON.parse(line));
}

// What it makes of a layout: keys, answers and the file.
export function madeBy(verb, name, items) {
    const scratch = mkdtempSync(join(tmpdir(), 'perhaps-wasm-'));
    try {
        const path = join(scratch, 'made');
        reference(verb, name, items, path);
        const keys = readFileSync(`${path}.keys`);
        return {
            keys: new BigUint64Array(keys.buffer, keys.byteOffset, keys.length / 8),
            answers: readFileSync(`${path}.answers`),
            file: readFileSync(`${path}.ph`),
        };
    } finally {
        rmSync(scratch, { recursive: true });
    }
}

// The kinds of the query-only package.
export function isForQueries(want) {
    const plain = !want.generations && !want.period && !want.clearAt && !want.shards;
    return plain && ['bloom', 'blocked', 'cuckoo', 'fuse', 'ribbon'].includes(want.kind);
}

export function sameBytes(a, b) {
    return Buffer.compare(Buffer.from(a.buffer, a.byteOffset, a.length), Buffer.from(b.buffer, b.byteOffset, b.length)) === 0;
}
