// The JavaScript of bindings/wasm: keys in every form, batches, errors, memory, loading, and the
// sizes of the package.
import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { Worker } from 'node:worker_threads';
import { gzipSync } from 'node:zlib';
import { folder, golden, perhaps, query, sameBytes, size } from './support.mjs';

const { Filter, plan, kinds } = perhaps;

function filterOf(want, use) {
    const filter = new Filter(want);
    try {
        return use(filter);
    } finally {
        filter.free();
    }
}

test('a filter finds what was added', () => {
    filterOf({ items: 1000, fpr: 0.001 }, (filter) => {
        assert.equal(filter.add('13800138000'), true);
        assert.equal(filter.add('13800138000'), false);
        assert.equal(filter.has('13800138000'), true);
        assert.equal(filter.has('13900139000'), false);
        assert.equal(filter.info().items, 1);
        assert.equal(filter.info().kind, 'blocked');
        assert.equal(filter.info().isa, 'wasm');
    });
});

// Text of every length around the limits of its ways into memory, and of every width in UTF-8.
const texts = ['', 'a', 'a\0b', 'é', '鍵🔑', '\u{10ffff}', 'x'.repeat(31), 'x'.repeat(32), 'x'.repeat(33), `${'x'.repeat(31)}é`, 'ü'.repeat(5000), 'long '.repeat(100000)];

test('text is its UTF-8, alone and in batches', () => {
    filterOf({ kind: 'table', items: 1000 }, (filter) => {
        const utf8 = texts.map((text) => new TextEncoder().encode(text));
        for (const text of texts) assert.equal(filter.add(text), true);
        for (const bytes of utf8) assert.equal(filter.has(bytes), true);
        for (const bytes of utf8) assert.equal(filter.has(bytes.buffer), true);
        assert.deepEqual([...filter.hasMany(texts)], texts.map(() => 1));
        assert.deepEqual([...filter.hasMany(utf8)], texts.map(() => 1));
        assert.equal(filter.addMany(new Set([...texts, ...utf8, 'another'])), 1);
        const data = Buffer.concat(utf8);
        const offsets = [0];
        for (const bytes of utf8) offsets.push(offsets.at(-1) + bytes.length);
        assert.deepEqual([...filter.hasMany({ data, offsets })], texts.map(() => 1));
        assert.deepEqual([...filter.hasMany({ data, offsets: Uint32Array.from(offsets) })], texts.map(() => 1));
    });
});

test('integers are the same key as number, BigInt and in every batch', () => {
    filterOf({ kind: 'table', items: 1000 }, (filter) => {
        const numbers = [0, 1, 255, 2 ** 31, 2 ** 32 - 1, 2 ** 32, 2 ** 53 - 1];
        const all = [...numbers.map(BigInt), 2n ** 53n, 2n ** 63n, 2n ** 64n - 1n];
        assert.equal(filter.addMany(BigUint64Array.from(all)), all.length);
        for (const key of [...numbers, ...all]) assert.equal(filter.has(key), true, `${key}`);
        assert.equal(filter.addMany(numbers), 0);
        assert.equal(filter.addMany([...all, 2]), 1);
        assert.equal(filter.addMany(Uint32Array.of(1, 2, 3, 255)), 1);
        assert.equal(filter.has('1'), false);
        assert.deepEqual([...filter.members()].length, all.length + 2);
    });
});

test('bytes of equal width', () => {
    filterOf({ kind: 'table', items: 1000 }, (filter) => {
        const data = Uint8Array.from({ length: 60 }, (_, i) => i);
        assert.equal(filter.addMany({ data, width: 6 }), 10);
        assert.equal(filter.has(data.subarray(6, 12)), true);
        assert.equal(filter.addMany({ data, width: 4, stride: 6 }), 10);
        assert.equal(filter.has(data.subarray(12, 16)), true);
        assert.equal(filter.addMany({ data: data.subarray(0, 3), width: 4 }), 0);
        assert.equal(filter.addMany({ data: data.buffer, width: 5 }), 12);
        assert.equal(filter.has(data.subarray(5, 10)), true);
    });
});

test('keys of no form are refused, and nothing is added', () => {
    filterOf({ kind: 'table', items: 1000 }, (filter) => {
        for (const key of [null, undefined, {}, [1], true, new Float64Array(1), new DataView(new ArrayBuffer(8))])
            assert.throws(() => filter.add(key), TypeError);
        for (const key of [-1, 1.5, NaN, Infinity, 2 ** 53, -1n, 2n ** 64n]) {
            assert.throws(() => filter.add(key), perhaps.InvalidError);
            assert.throws(() => filter.addMany([1, key]), perhaps.InvalidError);
        }
        for (const keys of ['text', 7, null, undefined, {}, new Uint8Array(8), new Float64Array(8), [1, 'a'], ['a', 1], ['a', null]])
            assert.throws(() => filter.addMany(keys), TypeError);
        assert.throws(() => filter.addMany({ data: new Uint8Array(4), offsets: [0, 5] }), perhaps.InvalidError);
        for (const offsets of [[0, 2, 1], [-1, 2, 4], [0, NaN, 4]])
            assert.throws(() => filter.addMany({ data: new Uint8Array(4), offsets }), perhaps.InvalidError);
        assert.throws(() => filter.hasMany(['a', 'b'], new Uint8Array(1)), perhaps.InvalidError);
        assert.equal(filter.info().items, 0);
        assert.deepEqual([...filter.hasMany([])], []);
        assert.equal(filter.addMany([]), 0);
    });
});

test('remove, count, clear, answers of batches', () => {
    filterOf({ needs: ['remove', 'count'], items: 1000, fpr: 0.0001 }, (filter) => {
        for (let i = 0; i < 3; i++) filter.add('a');
        assert.equal(filter.count('a'), 3);
        assert.equal(filter.addAbsent('a'), false);
        assert.equal(filter.remove('a'), true);
        assert.equal(filter.count('a'), 2);
        const answers = new Uint8Array(3);
        assert.equal(filter.removeMany(['a', 'b', 'a'], answers), 2);
        assert.deepEqual([...answers], [1, 0, 1]);
        assert.equal(filter.has('a'), false);
        filter.addMany(['c', 'd']);
        assert.equal(filter.clear().info().items, 0);
    });
});

test('a full filter refuses a batch as a whole', () => {
    filterOf({ kind: 'cuckoo', items: 1000, fpr: 0.01 }, (filter) => {
        filter.addMany(Array.from({ length: 900 }, (_, i) => i));
        assert.throws(() => filter.addMany(Array.from({ length: 100000 }, (_, i) => 1000 + i)), perhaps.FullError);
        assert.equal(filter.info().items, 900);
        for (let i = 0; i < 900; i++) assert.equal(filter.has(i), true);
    });
});

test('static filters', () => {
    for (const kind of ['fuse', 'ribbon']) {
        const filter = new Filter({ kind, fpr: 0.01 });
        filter.addMany(texts);
        assert.throws(() => filter.has('a'), perhaps.UnsealedError);
        assert.throws(() => filter.toBytes(), perhaps.UnsealedError);
        filter.seal();
        for (const text of texts) assert.equal(filter.has(text), true);
        assert.throws(() => filter.add('b'), perhaps.SealedError);
        filter.free();
    }
});

test('growing filters, windows and shards', () => {
    const numbers = Array.from({ length: 30000 }, (_, i) => i);
    filterOf({ grow: 'layers', fpr: 0.01 }, (filter) => {
        filter.addMany(numbers);
        assert.ok(filter.hasMany(numbers).every((answer) => answer === 1));
        assert.equal(filter.children().length, filter.info().children);
        assert.ok(filter.info().children > 2);
        assert.equal(filter.info().base, 'blocked');
    });
    filterOf({ generations: 4, items: 1000, fpr: 0.01, period: 60 }, (filter) => {
        filter.advance(1000);
        filter.add('a');
        assert.equal(filter.has('a'), true);
        assert.equal(filter.advance(2000), 1);
        assert.equal(filter.has('a'), false);
    });
    filterOf({ shards: 8, kind: 'table', items: 30000 }, (filter) => {
        filter.addMany(numbers);
        assert.ok(filter.hasMany(numbers).every((answer) => answer === 1));
    });
});

test('merge, intersect, subtract, differ, equals, overlap', () => {
    const want = { kind: 'bitmap', items: 100 };
    const make = (keys) => {
        const filter = new Filter(want);
        filter.addMany(keys);
        return filter;
    };
    const members = (filter) => [...filter.members()].map(Number);
    const b = make([2, 3]);
    assert.deepEqual(members(make([1, 2]).merge(b)), [1, 2, 3]);
    assert.deepEqual(members(make([1, 2]).intersect(b)), [2]);
    assert.deepEqual(members(make([1, 2]).subtract(b)), [1]);
    assert.deepEqual(members(make([1, 2]).differ(b)), [1, 3]);
    assert.equal(make([2, 3]).equals(b), true);
    assert.equal(make([2]).equals(b), false);
    assert.equal(make([1, 2]).overlap(b).both, 1);
    assert.throws(() => make([1]).merge({}), TypeError);
    filterOf({ kind: 'bloom', items: 100, fpr: 0.1 }, (bloom) => assert.throws(() => b.merge(bloom), perhaps.MismatchError));
    const copy = b.clone();
    copy.add(9);
    assert.equal(b.has(9), false);
});

test('plans and wants', () => {
    const five = plan({ items: 5e6, fpr: 0.01 });
    assert.equal(five.kind, 'blocked');
    filterOf({ items: 5e6, fpr: 0.01 }, (filter) => assert.equal(filter.info().bytes, five.bytes));
    assert.ok(kinds().length >= 12);
    assert.throws(() => plan({ items: 1000, fpr: 5 }), /fpr is 5, but a false-positive rate lies between 0 and 1/);
    assert.throws(() => plan({ items: 1000, fpr: 1e-30 }), perhaps.LayoutError);
    for (const wrong of [{ kind: 'no such' }, { needs: ['fly'] }, { item: 5 }, { size: 5 }, { items: 'many' }, { items: -1 }, { fpr: NaN }, { grow: 'up' }, { hash: 'md5' }])
        assert.throws(() => plan({ items: 1000, fpr: 0.01, ...wrong }), TypeError);
    assert.throws(() => plan({ items: 10, fpr: 0.1, hash: 'siphash', hashKey: new Uint8Array(5) }), perhaps.InvalidError);
    assert.throws(() => new Filter({ items: 1e15, fpr: 0.01 }), perhaps.MemoryError);
});

test('a secret key', () => {
    const hashKey = crypto.getRandomValues(new Uint8Array(16));
    filterOf({ items: 100, fpr: 0.001, hash: 'siphash', hashKey }, (filter) => {
        filter.add('a');
        const bytes = filter.toBytes();
        assert.throws(() => Filter.from(bytes), perhaps.SecretKeyError);
        assert.equal(Filter.from(bytes, { hashKey }).has('a'), true);
    });
});

test('plans for another machine', () => {
    const want = { kind: 'bloom', items: 5e9, fpr: 0.01 };
    assert.throws(() => plan(want), perhaps.MemoryError);
    assert.throws(() => plan(want, { memory: 2 ** 32 }), perhaps.MemoryError);
    const { bytes, bitsPerKey } = plan(want, { memory: 2 ** 40 });
    assert.ok(bytes > 2 ** 32 && Math.abs(bitsPerKey - 9.59) < 0.01);
    assert.throws(() => plan(want), perhaps.MemoryError);
    assert.throws(() => new Filter(want), perhaps.MemoryError);
});

test('where keys stood in records', () => {
    const open = (name) => Filter.from(readFileSync(join(golden, name)));
    const plain = open('bloom-8x8.ph');
    assert.equal(plain.extraction, null);
    const csv = open('bloom-csv.ph');
    assert.equal(csv.extraction.records, 'csv');
    assert.ok(csv.extraction.field > 0 || csv.extraction.where);
    for (const filter of [plain, csv]) filter.free();
});

test('composite filters are named', () => {
    assert.equal(plan({ items: 100, fpr: 0.01, grow: 'layers' }).kind, 'growing');
    assert.equal(plan({ items: 100, fpr: 0.01, generations: 4 }).kind, 'window');
    filterOf({ kind: 'cuckoo', items: 1000, fpr: 0.01, grow: 'layers', shards: 2 }, (filter) => {
        assert.deepEqual([filter.info().kind, filter.info().base], ['sharded', 'growing']);
        assert.deepEqual([filter.children()[0].kind, filter.children()[0].base], ['growing', 'cuckoo']);
    });
});

test('cells are the bits, counters and slots that explain names', () => {
    for (const [kind, name, holds] of [['bloom', 'bit', (value) => value === 1n], ['counting', 'counter', (value) => value > 0n], ['cuckoo', 'slot', (value) => value > 0n]]) {
        filterOf({ kind, items: 100, fpr: 0.01 }, (filter) => {
            for (let i = 0; i < 20; i++) filter.add(i);
            const { name: cell, length, values } = filter.cells();
            assert.equal(cell, name);
            assert.equal(values.length, length);
            for (let i = 0; i < 20; i++) {
                const steps = filter.explain(i).filter((step) => step.holds && step.name === name);
                assert.ok(steps.length, `${kind}: no step holds`);
                for (const { index, value } of steps) assert.equal(values[index], value);
                for (const { index } of steps) assert.ok(holds(values[index]));
            }
            assert.deepEqual(filter.cells({ from: 3, most: 5 }).values, values.slice(3, 8));
            assert.equal(filter.cells({ from: length + 1 }).values.length, 0);
            assert.throws(() => filter.cells({ child: 0 }), perhaps.PerhapsError);
        });
    }
    filterOf({ kind: 'blocked', items: 100, fpr: 0.01, grow: 'layers' }, (filter) => {
        assert.equal(filter.info().kind, 'growing');
        assert.throws(() => filter.cells(), perhaps.CannotError);
        assert.equal(filter.cells({ child: 0 }).name, 'bit');
    });
});

test('explain tells the answer and changes nothing', () => {
    filterOf({ kind: 'bloom', items: 100, fpr: 0.01 }, (filter) => {
        const before = filter.toBytes();
        const add = filter.explain('key', 'add');
        assert.equal(add.at(-1).step, 'answer');
        assert.equal(add.at(-1).value, 1n);
        assert.ok(sameBytes(filter.toBytes(), before));
        filter.add('key');
        const steps = filter.explain('key');
        const bits = steps.filter(({ step }) => step === 'position');
        assert.equal(bits.length, filter.info().hashes);
        assert.ok(bits.every(({ holds, value }) => holds && value === 1n));
        assert.match(steps.at(-1).why, /\.$/);
        assert.throws(() => filter.explain('key', 'remove'), TypeError);
    });
});

test('sealing is explained before it is done', () => {
    const words = ['apple', 'pear', 'plum', 'fig', 'kiwi'];
    filterOf({ kind: 'fuse', items: 5, fpr: 1 / 256 }, (filter) => {
        filter.addMany(words);
        assert.throws(() => filter.cells(), perhaps.UnsealedError);
        const steps = filter.explainSeal();
        const of = (kind) => steps.filter(({ step }) => step === kind);
        assert.equal(filter.info().collecting, true);
        filter.seal();
        assert.deepEqual(new Set(of('peel').map(({ value }) => value)), new Set(words.map((word) => filter.explain(word)[0].value)));
        assert.deepEqual(of('store').map(({ index }) => index), of('peel').map(({ index }) => index).reverse());
        const values = new BigUint64Array(filter.cells().values.length);
        for (const { index, wanted } of of('store')) values[index] = wanted;
        assert.deepEqual(filter.cells().values, values);
        assert.deepEqual(filter.explainSeal().map(({ step }) => step), ['answer']);
    });
    filterOf({ kind: 'ribbon', items: 5, fpr: 0.01 }, (filter) => assert.throws(() => filter.explainSeal(), perhaps.CannotError));
});

test('damaged images are refused with the sentence, and borrowed ones answer', () => {
    for (const name of readdirSync(golden).filter((file) => file.endsWith('.ph') && !file.includes('siphash'))) {
        const bytes = readFileSync(join(golden, name));
        const step = Math.max(1, Math.floor(bytes.length / (size === 'long' ? 2000 : 40)));
        for (let at = 0; at < bytes.length; at += step) {
            const damaged = Uint8Array.from(bytes);
            damaged[at] ^= 1 << at % 8;
            for (const from of [Filter.from, query.Filter.from]) {
                let opened;
                try {
                    opened = from(damaged);
                } catch (error) {
                    assert.match(error.constructor.name, /^(Damaged|Foreign|Version)Error$/, `${name}, byte ${at}: ${error.message}`);
                    assert.ok(error.message.length > 20 && error.code < 0);
                }
                assert.equal(opened, undefined, `${name}, byte ${at}`);
            }
        }
        for (const length of [0, 1, 63, bytes.length - 1]) assert.throws(() => Filter.from(bytes.subarray(0, length)), perhaps.PerhapsError);
    }
    assert.throws(() => Filter.from('text'), TypeError);
});

test('after free() there is a sentence', () => {
    const filter = new Filter({ items: 10, fpr: 0.1 });
    filter.free();
    filter.free();
    for (const call of [() => filter.has('a'), () => filter.addMany([1]), () => filter.info(), () => filter.toBytes()])
        assert.throws(call, /the filter was freed/);
});

test('memory is given back: a thousand filters of a megabyte take no more than some', () => {
    const want = { kind: 'blocked', bytes: 1 << 20, items: 800000 };
    const keys = BigUint64Array.from({ length: 1000 }, (_, i) => BigInt(i));
    for (let i = 0; i < 10; i++) filterOf(want, (filter) => filter.addMany(keys));
    const { memory } = filterOf(want, (filter) => filter.module);
    const before = memory.buffer.byteLength;
    for (let i = 0; i < 1000; i++)
        filterOf(want, (filter) => {
            filter.addMany(keys);
            Filter.from(filter.toBytes()).free();
            assert.throws(() => Filter.from(new Uint8Array(1 << 20)), perhaps.ForeignError);
        });
    assert.ok(memory.buffer.byteLength <= before + (8 << 20), `${memory.buffer.byteLength} bytes after ${before}`);
});

test('memory grows while filters live, and all of them answer', () => {
    const filters = [];
    for (let i = 0; i < 40; i++) {
        const filter = new Filter({ kind: 'blocked', bytes: 4 << 20, items: 3000000 });
        filter.add(`filter ${i}`);
        filters.push(filter);
    }
    filters.forEach((filter, i) => assert.equal(filter.has(`filter ${i}`), true));
    filters.forEach((filter) => filter.free());
});

test('a big filter, and one that is too big', () => {
    const bytes = size === 'long' ? 1.9e9 : 3e8;
    filterOf({ kind: 'bloom', bytes, items: 1e8 }, (filter) => {
        const keys = BigUint64Array.from({ length: 10000 }, (_, i) => BigInt(i) << 40n);
        filter.addMany(keys);
        assert.ok(filter.hasMany(keys).every((answer) => answer === 1));
        assert.equal(filter.info().bytes, bytes);
    });
    assert.throws(() => new Filter({ kind: 'bloom', bytes: 3e9, items: 1e9 }), perhaps.MemoryError);
    filterOf({ items: 10, fpr: 0.1 }, (filter) => assert.equal(filter.add('a'), true));
});

test('a worker loads its own module, from bytes', async () => {
    const code = `
        import { parentPort, workerData } from 'node:worker_threads';
        const { load, Filter } = await import(workerData.query);
        await load(workerData.wasm);
        parentPort.postMessage([...Filter.from(workerData.image).hasMany(['a', 'b'])]);`;
    const image = filterOf({ items: 100, fpr: 0.0001 }, (filter) => {
        filter.add('a');
        return filter.toBytes();
    });
    const wasm = readFileSync(join(folder, 'perhaps-query.wasm'));
    const worker = new Worker(new URL(`data:text/javascript,${encodeURIComponent(code)}`), { workerData: { query: pathToFileURL(join(folder, 'query.js')).href, wasm, image } });
    const answer = await new Promise((resolve, reject) => worker.once('message', resolve).once('error', reject));
    assert.deepEqual(answer, [1, 0]);
});

test('a filter of transformed keys refuses text, wherever it stands in a batch', () => {
    const filter = Filter.from(readFileSync(join(golden, 'bloom-recipe.ph')));
    const bytes = new Uint8Array(3);
    assert.ok(filter.recipe);
    for (const keys of [['Word'], [bytes, 'Word'], new Set(['Word']), new Set([bytes, 'Word'])])
        assert.throws(() => filter.hasMany(keys), perhaps.InvalidError);
    assert.equal(filter.hasMany([bytes]).length, 1);
    filter.free();
});

test('the package has every file that its modules import', () => {
    const { files } = JSON.parse(readFileSync(join(folder, 'package.json')));
    for (const file of files.filter((name) => name.endsWith('.js'))) {
        const text = readFileSync(join(folder, file), 'utf8');
        for (const [, name] of text.matchAll(/from '\.\/(.*?)'/g)) assert.ok(files.includes(name), `${file} imports ${name}`);
    }
});

test('modules import nothing and are small', () => {
    for (const [name, most] of [['perhaps', 150 * 1024], ['perhaps-query', 40 * 1024]]) {
        const wasm = readFileSync(join(folder, `${name}.wasm`));
        assert.deepEqual(WebAssembly.Module.imports(new WebAssembly.Module(wasm)), []);
        const small = gzipSync(wasm, { level: 9 }).length;
        assert.ok(small <= most, `${name}.wasm has ${small} bytes gzipped`);
    }
});
