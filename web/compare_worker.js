// What the view Compare measures, in a worker: nanoseconds per query and per add of each kind
// beside JavaScript's Set. It is told what by one message, and answers with one for each step.
import { Filter, load } from './perhaps/index.js';

const MOST_QUERIES = 2 ** 18;
const ROUND_MS = 25;
const ROUNDS = 5;

// The generator "mulberry32": the same keys in every run.
function generator(state) {
    return () => {
        state = (state + 0x6d2b79f5) | 0;
        let t = Math.imul(state ^ (state >>> 15), 1 | state);
        t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
        return (t ^ (t >>> 14)) >>> 0;
    };
}

// Members are below 2^51, and non-members from there to 2^52.
function numbers(n, seed, from) {
    const next = generator(seed);
    return Float64Array.from({ length: n }, () => from + (next() & 0x7ffff) * 2 ** 32 + next());
}

function inForm(form, values) {
    if (form === 'text') return Array.from(values, (value) => `user-${value.toString(36)}`);
    return values;
}

// For batches, integers are in the array that goes through fastest.
function batchOf(form, keys) {
    return form === 'text' ? keys : BigUint64Array.from(keys, BigInt);
}

// Half members, half not, in random order.
function queriesOf(members, n) {
    const next = generator(77);
    const nonMembers = numbers(n / 2, 99, 2 ** 51);
    return Float64Array.from({ length: n }, (_, i) => (i % 2 ? nonMembers[i >> 1] : members[next() % members.length]));
}

function median(values) {
    return values.sort((a, b) => a - b)[values.length >> 1];
}

// Nanoseconds per key of act(), which handles n keys. Clocks of browsers are coarse: a round is
// long. What is slow anyway is done in one round.
function measure(n, act, rounds = ROUNDS) {
    let times = 1;
    const round = () => {
        const start = performance.now();
        for (let i = 0; i < times; i++) act();
        return performance.now() - start;
    };
    let spent = round();
    for (; spent < ROUND_MS; spent = round()) times *= spent < ROUND_MS / 10 ? 8 : 2;
    if (rounds > 1) spent = median(Array.from({ length: rounds }, round));
    return (1e6 * spent) / (times * n);
}

let sink = 0; // so that no loop is without effect

function measureSet({ members, queries }) {
    let set;
    const add = measure(members.length, () => (set = new Set(members)), 1);
    const single = measure(queries.length, () => {
        for (let i = 0; i < queries.length; i++) sink += set.has(queries[i]);
    });
    return { single, batch: single, add, bytes: null };
}

function measureKind(kind, fpr, { members, queries, memberBatch, queryBatch }) {
    let filter = null;
    const make = () => {
        filter?.free();
        filter = new Filter({ kind, items: members.length, fpr });
        filter.addMany(memberBatch);
        filter.seal();
    };
    try {
        const add = measure(members.length, make, 1);
        const answers = new Uint8Array(queries.length);
        const batch = measure(queries.length, () => filter.hasMany(queryBatch, answers));
        if (answers.some((answer, i) => i % 2 === 0 && !answer)) throw new Error(`${kind} missed a key: report this`);
        const single = measure(queries.length, () => {
            for (let i = 0; i < queries.length; i++) sink += filter.has(queries[i]);
        });
        return { single, batch, add, bytes: filter.info().bytes };
    } finally {
        filter?.free();
    }
}

async function run({ code, sizes, kinds, form, fpr }) {
    await load(code);
    const total = sizes.length * (kinds.length + 1);
    let done = 0;
    for (const size of sizes) {
        postMessage({ step: 'keys', size, done, total });
        const plain = numbers(size, size, 0);
        const plainQueries = queriesOf(plain, Math.min(2 * size, MOST_QUERIES));
        const members = inForm(form, plain);
        const queries = inForm(form, plainQueries);
        const keys = { members, queries, memberBatch: batchOf(form, members), queryBatch: batchOf(form, queries) };
        for (const kind of ['Set', ...kinds]) {
            postMessage({ step: 'measure', kind, size, done, total });
            try {
                const found = kind === 'Set' ? measureSet(keys) : measureKind(kind, fpr, keys);
                postMessage({ step: 'result', kind, size, done: ++done, total, ...found });
            } catch (error) {
                postMessage({ step: 'result', kind, size, done: ++done, total, error: error.message });
            }
        }
    }
    postMessage({ step: 'end', sink });
}

addEventListener('message', ({ data }) => {
    run(data).catch((error) => postMessage({ step: 'failed', error: error.message }));
});
