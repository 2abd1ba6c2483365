// Filters made here and natively, of the same keys: the same bytes, and the same answer to every
// query. 20,000 keys, or with PERHAPS_TEST_SIZE=long ten million for the first layout of each
// kind and each composite filter.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isForQueries, layouts, madeBy, perhaps, query, sameBytes, size } from './support.mjs';

const few = { small: 2000, normal: 20000, long: 20000 }[size];
const many = 10_000_000;

// The first layout of each kind, and every composite filter.
function isChosen({ want }, i, all) {
    const composite = want.generations || want.clearAt || want.shards || want.grow === 'layers';
    return composite || i === 0 || all[i - 1].want.kind !== want.kind;
}

function compare(layout, items, verb) {
    const native = madeBy(verb, layout.name, items);
    const filter = new perhaps.Filter(layout.want);
    const members = native.keys.subarray(0, items);
    filter.addMany(members);
    if (verb === 'change') filter.removeMany(members.subarray(0, items / 4));
    filter.seal();
    assert.ok(sameBytes(filter.hasMany(native.keys), native.answers), 'other answers than natively');
    const file = filter.toBytes();
    assert.ok(sameBytes(file, native.file), 'another file than natively');
    filter.free();

    const opened = perhaps.Filter.from(native.file, { readOnly: true });
    assert.ok(sameBytes(opened.hasMany(native.keys), native.answers), 'the native file answers otherwise');
    opened.free();
    if (!isForQueries(layout.want)) return;
    const small = query.Filter.from(native.file);
    assert.ok(sameBytes(small.hasMany(native.keys), native.answers), 'the native file answers otherwise in the query-only module');
    small.free();
}

function compareAll(items, which) {
    const all = layouts(items).filter(which);
    assert.ok(all.length >= 10, `only ${all.length} layouts`);
    for (const layout of all) {
        test(`${layout.name}, ${items} keys`, () => compare(layout, items, 'make'));
        if (layout.removes) test(`${layout.name}, ${items} keys, a quarter removed`, () => compare(layout, items, 'change'));
    }
}

compareAll(few, size === 'long' ? () => true : isChosen);
if (size === 'long') compareAll(many, isChosen);
