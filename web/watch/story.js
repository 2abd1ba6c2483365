// What happens in a filter, act by act: for each act the library's trace, and what is in the array
// before and after. Filters are so small that each is made anew from the acts before.
import { sentence } from '../common.js';
import { kinds, wantOf } from './kinds.js';

// Integers: words are other keys.
const NON_MEMBERS = BigUint64Array.from({ length: 16384 }, (_, i) => BigInt(i));
export const MOST_ACTS = 200;

const cellNames = ['bit', 'counter', 'slot', 'stash cell'];

/** Where a step is: '-1/slot/7', and in which child. */
export function placeOf(step, child) {
    return `${child}/${step.name}/${step.index}`;
}

// Calls visit(step, child, inside) for each step; inside: its child answers "perhaps".
function walk(steps, visit) {
    let child = -1;
    let inside = true;
    for (const step of steps) {
        if (step.step === 'child') {
            child = step.index;
            inside = step.holds;
        }
        visit(step, child, inside);
    }
}

// A cell that one key can hold; those of static filters are of all keys together.
const isHeld = (step) => cellNames.includes(step.name) && step.holds && step.wanted > 0n;

// The stash tells a key by its cell, a slot by what it contains.
const heldKey = (step, child) => `${placeOf(step, child)}/${step.step === 'slot' ? step.wanted : ''}`;

/** Which words hold what: { by(step, child) -> words, of(place) -> words }. */
function holdersOf(filter, words) {
    const exact = new Map();
    const cells = new Map();
    const note = (map, key, word) => {
        if (!map.has(key)) map.set(key, new Set());
        map.get(key).add(word);
    };
    for (const word of words) {
        walk(filter.explain(word), (step, child, inside) => {
            if (!inside || !isHeld(step)) return;
            note(exact, heldKey(step, child), word);
            note(cells, placeOf(step, child), word);
        });
    }
    return {
        by: (step, child) => (isHeld(step) ? [...(exact.get(heldKey(step, child)) ?? [])] : []),
        of: (place) => [...(cells.get(place) ?? [])],
        stash: [...cells].filter(([place]) => place.includes('/stash cell/')).map(([, held]) => [...held].join(' or ')),
    };
}

// ---- what is there between two acts ----

function partsOf(filter, info) {
    if (!info.children) return [{ ...filter.cells(), child: -1, items: info.items, capacity: info.capacity, hashes: info.hashes }];
    return filter.children().map(({ items, capacity, hashes }, child) => ({ ...filter.cells({ child }), child, items, capacity, hashes }));
}

// `sealed`: of a filter that still collects, what it will be; its array is unknown until then.
function pictureOf(filter, words, sealed) {
    const info = filter.info();
    if (info.collecting) {
        const parts = partsOf(sealed, sealed.info()).map((part) => ({ ...part, values: new BigUint64Array(part.length) }));
        return { info, parts, words, holders: { by: () => [], of: () => [], stash: [] } };
    }
    return { info, parts: partsOf(filter, info), words, holders: holdersOf(filter, words) };
}

// ---- acts ----

function apply(filter, { verb, word }) {
    if (verb === 'add') return filter.add(word);
    if (verb === 'remove') return filter.remove(word);
    if (verb === 'seal') return filter.seal();
    return filter.has(word);
}

// What an array shows of a change that has no trace: a remove.
function changesBetween(before, after) {
    const changes = [];
    for (const { child, name, values } of before.parts) {
        const now = after.parts.find((part) => part.child === child)?.values ?? [];
        values.forEach((value, index) => {
            if (now[index] !== undefined && now[index] !== value)
                changes.push({ step: 'change', depth: child < 0 ? 0 : 1, name, index, value, wanted: now[index], child });
        });
    }
    const [stashed, left] = [before.info.stashed, after.info.stashed];
    if (left < stashed) changes.push({ step: 'change', depth: 0, name: 'stash', index: 0, value: BigInt(stashed), wanted: BigInt(left), child: -1 });
    return changes;
}

function removeSteps(query, changes, done) {
    const kept = changes.length ? 'One copy is removed.' : 'One copy is removed, but nothing shows it: full counters stay as they are.';
    const why = done ? kept : 'It is not there, and nothing changes.';
    return [...query.slice(0, -1), ...changes, { step: 'answer', depth: 0, name: 'answer', value: done ? 1n : 0n, holds: false, why }];
}

const collected = { step: 'collect', depth: 0, name: 'key', index: 0, why: 'waits: a fuse filter is built from all its keys at once.' };

export class Story {
    /** `acts`: [{ verb: 'add' | 'remove' | 'query' | 'seal', word }]. */
    constructor(lib, kind, size, acts) {
        Object.assign(this, { lib, kind, size, acts, frames: new Map() });
        this.points = this.#measure();
    }

    make() {
        return new this.lib.Filter(wantOf(this.kind, this.size));
    }

    // Calls use(filter, words) with the filter after the first n acts; words: the members.
    with(n, use) {
        const filter = this.make();
        try {
            const copies = new Map();
            for (const act of this.acts.slice(0, n)) this.#try(filter, act, copies);
            return use(filter, [...copies.keys()]);
        } finally {
            filter.free();
        }
    }

    // Does an act, and counts the members: { refused, done }.
    #try(filter, act, copies) {
        try {
            const done = apply(filter, act);
            const now = copies.get(act.word) ?? 0;
            if (act.verb === 'add') copies.set(act.word, now + 1);
            if (act.verb === 'remove' && done && now > 1) copies.set(act.word, now - 1);
            if (act.verb === 'remove' && done && now <= 1) copies.delete(act.word);
            return { refused: null, done };
        } catch (refused) {
            return { refused, done: false };
        }
    }

    // The filter that collects, as it will be.
    #sealed(words, use) {
        const sealed = this.make();
        try {
            sealed.addMany(words);
            return use(sealed.seal());
        } finally {
            sealed.free();
        }
    }

    #picture(filter, words) {
        if (!filter.info().collecting) return pictureOf(filter, words);
        // With all words that will come, so that it has one size from the first step to the last.
        const all = this.acts.filter(({ verb }) => verb === 'add').map(({ word }) => word);
        return this.#sealed([...new Set([...words, ...all])], (sealed) => pictureOf(filter, words, sealed));
    }

    /** Before the first act. */
    empty() {
        return this.with(0, (filter, words) => this.#picture(filter, words));
    }

    /** Act i: { act, steps, before, after, error, answer }. */
    frame(i) {
        if (!this.frames.has(i)) this.frames.set(i, this.#frame(i));
        return this.frames.get(i);
    }

    #frame(i) {
        const act = this.acts[i];
        const { before, steps, refused } = this.with(i, (filter, words) => ({ before: this.#picture(filter, words), ...this.#trace(filter, act) }));
        return this.with(i + 1, (filter, words) => {
            const after = this.#picture(filter, words);
            const frame = { act, before, after, steps, keys: keysOf(filter, after, act) };
            if (refused) frame.steps = [{ step: 'refused', depth: 0, name: 'answer', index: 0, value: 0n, why: sentence(refused.message) }];
            else if (act.verb === 'remove') frame.steps = removeSteps(steps, changesBetween(before, after), this.points[i].done);
            return finish(frame);
        });
    }

    // The library's steps, or why it refuses the act.
    #trace(filter, { verb, word }) {
        try {
            if (verb === 'seal') return { steps: filter.explainSeal() };
            if (verb !== 'add') return { steps: filter.explain(word) };
            return { steps: filter.info().collecting ? [{ ...collected }] : filter.explain(word, 'add') };
        } catch (refused) {
            return { steps: [], refused };
        }
    }

    /** The acts, of the first n, that changed the filter: what a file of it is made from. */
    applied(n) {
        return this.points.slice(0, n).filter(({ refused }) => !refused).map(({ act }) => act);
    }

    // After each act: how many keys are in it, and the rates.
    #measure() {
        const filter = this.make();
        const copies = new Map();
        const points = this.acts.map((act) => {
            const { refused, done } = this.#try(filter, act, copies);
            return { act, refused, done, keys: copies.size, ...measured(filter, copies.size) };
        });
        filter.free();
        return points;
    }
}

// Says of each step in which child it is, and who holds it; of a query, whether it is right.
function finish(frame) {
    const { act, before, steps } = frame;
    let child = -1;
    for (const step of steps) {
        if (step.step === 'child') child = step.index;
        step.child ??= step.depth || step.step === 'child' ? child : -1;
        step.holders = before.holders.by(step, step.child);
    }
    if (act.verb === 'add') markAdding(steps);
    const answer = steps.at(-1);
    frame.perhaps = act.verb === 'query' && answer.step === 'answer' && answer.holds;
    frame.member = before.words.includes(act.word);
    return frame;
}

/** The rates of a filter of that many keys: the library's own, and what non-members find. */
export function measured(filter, keys) {
    const info = filter.info();
    if (info.collecting) return { keys, rate: null, own: null, info, parts: [] };
    const found = filter.hasMany(NON_MEMBERS).reduce((sum, answer) => sum + answer, 0);
    const parts = partsOf(filter, info);
    return { keys, rate: found / NON_MEMBERS.length, own: info.fprNow, info, parts: parts.length > 1 ? parts : [{ ...parts[0], items: keys }] };
}

export const measuredKeys = NON_MEMBERS.length;

// Of sealing: what each key is, by its digest: { word, slots }.
function keysOf(filter, after, act) {
    const keys = new Map();
    if (act.verb !== 'seal' || filter.info().collecting) return keys;
    for (const word of after.words) {
        const steps = filter.explain(word);
        const slots = steps.filter((step) => step.step === 'slot' && step.name === 'slot').map(({ index }) => index);
        keys.set(steps[0].value, { word, slots });
    }
    return keys;
}

// An add to a composite filter first asks its children whether they have the key. The steps that
// change something are those before an answer that counts as an add's.
function markAdding(steps) {
    const from = [0, 0, 0];
    steps.forEach((step, i) => {
        if (step.step !== 'answer') return;
        const adding = step.value !== 0n && step.value !== 1n ? true : (step.value === 1n) !== Boolean(step.holds);
        for (let j = from[step.depth]; j <= i; j++) if (steps[j].depth === step.depth) steps[j].adding = adding;
        from[step.depth] = i + 1;
    });
}

export function canRemove(kind) {
    return ['counting', 'cuckoo', 'growing'].includes(kind);
}

export function isKind(name) {
    return Object.hasOwn(kinds, name);
}
