// The committed images of tests/golden: each opens, answers, and is saved as the same bytes; and
// what their recipe (see tests/golden/recipes.c) makes here is the same file.
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { golden, isForQueries, layouts, perhaps, query, sameBytes } from './support.mjs';

const { Filter } = perhaps;
const KEYS = 60;
const hashKey = new TextEncoder().encode('golden key of 16');

// The members of tests/support: integers that never repeat.
function member(i) {
    const word = (x) => BigInt.asUintN(64, x);
    let x = word(2n * BigInt(i) + 0x632be59bd9b4e019n);
    x = word((x ^ (x >> 30n)) * 0xbf58476d1ce4e5b9n);
    x = word((x ^ (x >> 27n)) * 0x94d049bb133111ebn);
    return x ^ (x >> 31n);
}

// Golden key i: text, an integer or a digest in turn. Digests are no keys of the package: here
// they are for the module's calls.
function withKey(filter, verb, i) {
    const { module, pointer } = filter;
    const takesBytes = filter.info().traits.includes('takesBytes') || filter.info().base;
    if (!takesBytes) return filter[verb](i);
    if (i % 3 === 0) return filter[verb](`golden key ${i}`);
    if (i % 3 === 1) return filter[verb](i * i);
    const call = { has: 'contains', add: 'add', remove: 'remove' }[verb];
    return module.must(module.calls[`perhaps_${call}_digest`](pointer, member(i))) === 1;
}

function addKeys(filter, first, n) {
    for (let i = first; i < first + n; i++) withKey(filter, 'add', i);
}

function removeKeys(filter, first, n) {
    for (let i = first; i < first + n; i++) withKey(filter, 'remove', i);
}

// What needs no transformation of text: their recipes have other golden keys than text in the
// package's sense.
function plain(filter) {
    return filter.recipe === null;
}

function openOptions(name) {
    return name.endsWith('-siphash.ph') ? { hashKey } : {};
}

const files = readdirSync(golden).filter((name) => name.endsWith('.ph'));
assert.ok(files.length > 100);

for (const name of files) {
    const bytes = readFileSync(join(golden, name));
    test(`${name} opens, answers and is saved as it was`, () => {
        if (name.endsWith('-siphash.ph')) assert.throws(() => Filter.from(bytes), perhaps.SecretKeyError);
        for (const readOnly of [false, true]) {
            const filter = Filter.from(bytes, { ...openOptions(name), readOnly });
            if (plain(filter)) for (let i = 0; i < KEYS; i++) assert.ok(withKey(filter, 'has', i), `key ${i}`);
            else assert.throws(() => filter.has('text'), perhaps.InvalidError);
            assert.ok(sameBytes(filter.toBytes(), bytes), 'other bytes');
            filter.free();
        }
    });

    test(`${name} in the query-only module`, () => {
        const full = Filter.from(bytes, openOptions(name));
        const info = full.info();
        if (!isForQueries({ kind: info.base ?? info.kind }) || (info.base && info.kind !== 'growing')) {
            assert.throws(() => query.Filter.from(bytes, openOptions(name)), query.PerhapsError);
        } else {
            const small = query.Filter.from(bytes, openOptions(name));
            const keys = Array.from({ length: 3000 }, (_, i) => `golden key ${i}`);
            if (plain(full)) assert.ok(sameBytes(small.hasMany(keys), full.hasMany(keys)));
            const numbers = Array.from({ length: 3000 }, (_, i) => i * i);
            assert.ok(sameBytes(small.hasMany(numbers), full.hasMany(numbers)));
            small.free();
        }
        full.free();
    });
}

function expectFile(name, filter) {
    const bytes = readFileSync(join(golden, name));
    filter.seal();
    assert.ok(sameBytes(filter.toBytes(), bytes), `${name}: other bytes`);
    filter.free();
}

// make_timed_image of recipes.c
function addTimed(filter, want) {
    for (let tenth = 0; tenth < 10; tenth++) {
        if (want.period) filter.advance(1000000 + Math.floor((tenth * want.period) / 10));
        addKeys(filter, (tenth * KEYS) / 10, KEYS / 10);
    }
}

// make_changed_image of recipes.c
function addChanged(filter) {
    addKeys(filter, 0, KEYS);
    removeKeys(filter, 0, KEYS / 2);
    addKeys(filter, KEYS / 4, KEYS / 4);
    addKeys(filter, 0, KEYS / 4);
    removeKeys(filter, 11, 1);
    for (let i = 0; i < 10; i++) addKeys(filter, 11, 1);
}

let made = 0;
const seen = new Set();
for (const { name, want, removes } of layouts(KEYS)) {
    test(`${name} is made as the same bytes`, () => {
        made++;
        const filter = new Filter(want);
        addTimed(filter, want);
        expectFile(`${name}.ph`, filter);
        if (removes) {
            const changed = new Filter(want);
            addChanged(changed);
            expectFile(`${name}-changed.ph`, changed);
        }
    });
    const composite = want.generations || want.clearAt || want.shards || want.grow === 'layers';
    const secret = `${composite ? name : want.kind}-siphash.ph`;
    if (!existsSync(join(golden, secret)) || seen.has(secret)) continue;
    seen.add(secret);
    test(`${secret} is made as the same bytes`, () => {
        const filter = new Filter({ ...want, seed: 0, hash: 'siphash', hashKey });
        addKeys(filter, 0, KEYS);
        expectFile(secret, filter);
    });
}

test('layouts that were made', () => assert.ok(made > 50, `only ${made}`));
