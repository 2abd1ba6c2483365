// Uses of the package as its types have them; wasm_types compiles this. After each ts-expect-error
// is what must be refused.
import { load, version, plan, kinds, Filter, PerhapsError, FullError, type Info, type Step, type Want } from 'perhaps';
import * as query from 'perhaps/query';

await load();
await load(new URL('file:///perhaps.wasm'));
const text: string = version();
const want: Want = { items: 1000n, fpr: 0.01, kind: 'cuckoo', needs: ['remove'] };
const bits: number = plan(want).bitsPerKey;
const names: string[] = kinds().map(({ name }) => name);

const filter = new Filter(want);
const added: boolean = filter.add('text') || filter.add(new Uint8Array(3)) || filter.add(7) || filter.add(7n);
const fresh: number = filter.addMany(['a', new Uint8Array(2)]);
filter.addMany(BigUint64Array.of(1n), new Uint8Array(1));
filter.addMany(new Set([1, 2n]));
filter.addMany({ data: new Uint8Array(8), offsets: [0, 4, 8] });
filter.addMany({ data: new Uint8Array(8), width: 4 });
const answers: Uint8Array = filter.hasMany(Uint32Array.of(1, 2));
const info: Info = filter.seal().clear().merge(filter.clone()).info();
const seed: bigint = info.seed;
const steps: Step[] = filter.explain('text', 'add').concat(filter.explainSeal());
const cells: { name: string; length: number; values: BigUint64Array } = filter.cells({ child: 0, from: 8, most: 8 });
const members: bigint[] = [...filter.members()];
const both: number = filter.overlap(Filter.from(filter.toBytes(), { readOnly: true })).both;

const small = query.Filter.from(filter.toBytes());
const found: boolean = small.has('text') && small.info().kind === 'cuckoo';

try {
    filter.remove('text');
} catch (error) {
    if (error instanceof FullError || error instanceof PerhapsError) console.log(error.code, error.message);
}

// @ts-expect-error
filter.add({});
// @ts-expect-error
filter.addMany(new Float64Array(2).buffer);
// @ts-expect-error
new Filter({ items: 10, kind: 'no such kind' });
// @ts-expect-error
new Filter({ item: 10 });
// @ts-expect-error
filter.explain('text', 'remove');
// @ts-expect-error
small.add('text');
// @ts-expect-error
new query.Filter();

filter.free();
console.log(text, bits, names, added, fresh, answers, seed, steps, cells, members, both, found);
