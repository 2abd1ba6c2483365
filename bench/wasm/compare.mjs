// Queries of a blocked filter of 1 MiB in batches: the WebAssembly module in Node beside the
// native library, with AVX2 and in plain C. All three take turns, slice by slice; medians of the
// slices. bench/wasm/run starts it.
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { load, Filter } from '../../build/wasm/index.js';

const KEYS = 1 << 20;
const ROUNDS = 4;
const SLICES = 31;
await load();

const filter = new Filter({ kind: 'blocked', items: 830000, fpr: 0.01 });
const keys = new BigUint64Array(KEYS);
for (let i = 0, x = 1n; i < KEYS; i++) keys[i] = x = BigInt.asUintN(64, x * 6364136223846793005n + 1442695040888963407n);
filter.addMany(keys.subarray(0, KEYS / 2));
const answers = new Uint8Array(KEYS);

function slice() {
    const start = process.hrtime.bigint();
    for (let i = 0; i < ROUNDS; i++) filter.hasMany(keys, answers);
    return { ns: Number(process.hrtime.bigint() - start) / ROUNDS / KEYS, found: answers.reduce((sum, x) => sum + x, 0) };
}

function native(isa) {
    const child = spawn(process.argv[2], { env: { ...process.env, PERHAPS_ISA: isa }, stdio: ['pipe', 'pipe', 'inherit'] });
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    return async () => {
        child.stdin.write('\n');
        const [ns, found] = (await lines.next()).value.split(' ').map(Number);
        return { ns, found };
    };
}

const runs = { wasm: slice, avx2: native('avx2'), scalar: native('scalar') };
const times = { wasm: [], avx2: [], scalar: [] };
const found = {};
for (let i = 0; i < SLICES; i++)
    for (const [name, run] of Object.entries(runs)) {
        const answer = await run();
        times[name].push(answer.ns);
        found[name] = answer.found;
    }
const median = (list) => list.sort((a, b) => a - b)[list.length >> 1];
const ns = Object.fromEntries(Object.entries(times).map(([name, list]) => [name, median(list)]));
if (found.wasm !== found.avx2 || found.wasm !== found.scalar) throw new Error(`other answers: ${JSON.stringify(found)}`);
for (const [name, time] of Object.entries(ns)) console.log(`${name.padEnd(8)} ${time.toFixed(2)} ns a key`);
console.log(`wasm / avx2 ${(ns.wasm / ns.avx2).toFixed(2)}   wasm / plain C ${(ns.wasm / ns.scalar).toFixed(2)}`);
process.exit(0);
