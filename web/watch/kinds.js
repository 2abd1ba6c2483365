// The filters that can be watched: of each kind a small one, which fits a phone, and a larger one;
// and what there is to see in it.
import { nonMembersOf } from './words.js';

// ---- what a story consists of ----

export const add = (word) => ({ verb: 'add', word });
export const remove = (word) => ({ verb: 'remove', word });
export const query = (word) => ({ verb: 'query', word });
export const seal = { verb: 'seal' };

// Adds words until one, that one included, of which found(steps, filter) is true: its trace, and
// the filter before it.
function until(make, words, found) {
    const filter = make();
    const acts = [];
    for (const word of words) {
        acts.push(add(word));
        if (found(filter.explain(word, 'add'), filter)) break;
        try {
            filter.add(word);
        } catch {
            break; // full
        }
    }
    filter.free();
    return acts;
}

/** A word that is perhaps in the filter and was never added, or null. */
export function falsePositive(filter, added) {
    const words = [...nonMembersOf(added)];
    const at = filter.hasMany(words).indexOf(1);
    return at < 0 ? null : words[at];
}

function withFalsePositive(make, acts) {
    const filter = make();
    for (const { verb, word } of acts) verb === 'add' ? filter.add(word) : filter.seal();
    const found = falsePositive(filter, acts.map(({ word }) => word));
    filter.free();
    return found === null ? acts : [...acts, query(found)];
}

const endless = function* (words) {
    yield* words;
    for (let i = 2; ; i++) yield* words.map((word) => `${word} ${i}`);
};

const newestIsFull = (steps, filter) => filter.children().at(-1).items >= filter.children().at(-1).capacity;
const has = (kind, name) => (steps) => steps.some((step) => step.step === kind && (!name || step.name === name));
const some = (words, n) => [...take(endless(words), n)].map(add);

function* take(words, n) {
    for (const word of words) {
        if (n-- <= 0) return;
        yield word;
    }
}

const threeKeys = { title: 'Three keys', whole: true, acts: (make, words) => [...some(words, 3), query(words[1])] };
const fooled = { title: 'A false positive', acts: (make, words, n) => withFalsePositive(make, some(words, n)) };

// ---- the kinds ----

export const kinds = {
    bloom: {
        about: 'A key is a few bits, anywhere in the array. Adding sets them; a query asks whether all of them are set. Nothing can be removed: a bit may be of several keys.',
        sizes: { small: { items: 12, bytes: 8, hashes: 3 }, large: { items: 40, bytes: 32, hashes: 4 } },
        stories: [threeKeys, fooled],
    },
    counting: {
        about: 'A Bloom filter of counters, so that keys can be removed. A counter that has reached 15 stays there: it no longer knows how many keys it has.',
        sizes: { small: { items: 12, bytes: 32, hashes: 3 }, large: { items: 40, bytes: 128, hashes: 4 } },
        stories: [
            { title: 'Add and remove', acts: (make, words) => [...some(words, 4), remove(words[1]), query(words[1])] },
            { title: 'A counter is full', acts: (make, words) => [add(words[1]), ...Array(16).fill(add(words[0])), remove(words[0])] },
            fooled,
        ],
    },
    blocked: {
        about: 'A Bloom filter whose key looks at one cache line of 512 bits: a bit in each of its eight lanes of 64. One access to memory answers a query.',
        sizes: { small: { items: 60, bytes: 64, hashes: 8 }, large: { items: 120, bytes: 128, hashes: 8 } },
        stories: [threeKeys, fooled],
    },
    cuckoo: {
        about: 'A slot holds the fingerprint of one key. A key has two homes, with two or three slots each; if all are taken, another key moves. What finds no place goes to the stash.',
        sizes: { small: { items: 12, fpr: 0.03 }, large: { items: 30, fpr: 0.1 } },
        stories: [
            { title: 'Another key moves', acts: (make, words) => until(make, endless(words), has('move')) },
            { title: 'The stash', acts: (make, words) => until(make, endless(words), has('stash')) },
            { title: 'Full', acts: (make, words) => until(make, endless(words), () => false) },
            fooled,
        ],
    },
    growing: {
        about: 'For sets of unknown size: when a layer is full, a larger and stricter one is appended. New keys go to the newest; a query asks the newest first. Here the layers are cuckoo filters.',
        sizes: {
            small: { kind: 'cuckoo', items: 12, fpr: 0.1, grow: 'layers', growth: 2 },
            large: { kind: 'cuckoo', items: 24, fpr: 0.1, grow: 'layers', growth: 2 },
        },
        stories: [
            { title: 'A second layer', acts: (make, words) => until(make, endless(words), has('room', 'layer')) },
            { title: 'Three layers', acts: (make, words) => [...some(words, 29), query(words[0])] },
            { title: 'Remove from an old layer', acts: (make, words) => [...some(words, 14), remove(words[0])] },
        ],
    },
    window: {
        about: 'Remembers the newest keys. Its generations are Bloom filters: the newest takes the keys, and when it is full, the oldest is forgotten as a whole.',
        sizes: { small: { kind: 'bloom', items: 12, fpr: 0.1, generations: 4 }, large: { kind: 'bloom', items: 24, fpr: 0.1, generations: 6 } },
        stories: [
            { title: 'A generation begins', acts: (make, words) => until(make, endless(words), newestIsFull) },
            {
                title: 'The oldest is forgotten',
                acts: (make, words) => [...until(make, endless(words), has('room', 'forgotten generation')), query(words[0])],
            },
        ],
    },
    fuse: {
        about: 'Built once, from all keys together. The exclusive or of a key’s three slots is its fingerprint. To find the values, keys are peeled: a slot that only one key is left to have is set last for that key.',
        sizes: { small: { items: 8, fpr: 1 / 16 }, large: { items: 20, fpr: 1 / 256 } },
        stories: [
            { title: 'Seal it', acts: (make, words, n) => [...some(words, n), seal] },
            { title: 'A false positive', acts: (make, words, n) => withFalsePositive(make, [...some(words, n), seal]) },
        ],
    },
};

/** The acts of a story. */
export function actsOf(story, make, words, kind, size) {
    const fairlyFull = Math.round(kinds[kind].sizes[size].items * 0.75);
    return story.acts(make, words, fairlyFull);
}

/** What new Filter() takes. */
export function wantOf(kind, size) {
    return { kind, ...kinds[kind].sizes[size] };
}

// ---- the same on the command line ----

const options = { kind: '-k', items: '-n', fpr: '-p', bytes: '--bytes', hashes: '--hashes', growth: '--growth', generations: '--generations' };

function quoted(word) {
    return /^[\p{L}\p{N}_.,:+@%/][\p{L}\p{N}_.,:+@%/-]*$/u.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`;
}

const lines = (words) => `printf '%s\\n' ${words.map(quoted).join(' ')}`;

/** The shell line that makes the same file, byte for byte. */
export function shellLine(kind, size, acts) {
    const want = wantOf(kind, size);
    const given = Object.entries(options).map(([name, option]) => {
        if (name === 'items' && want.generations) return `--window ${want.items}`;
        return name in want ? `${option} ${want[name]}` : '';
    });
    const build = `perhaps build ${given.filter(Boolean).join(' ')} -o watch.ph`;
    const changes = [['build', []]];
    for (const { verb, word } of acts) {
        if (verb === 'query' || verb === 'seal') continue;
        const command = verb === 'remove' ? 'remove' : changes.length === 1 ? 'build' : 'add';
        if (changes.at(-1)[0] !== command) changes.push([command, []]);
        changes.at(-1)[1].push(word);
    }
    return changes
        .map(([command, words], i) => `${words.length ? lines(words) : 'printf \'\''} | ${i ? `perhaps ${command} watch.ph` : build}`)
        .join(' && ');
}
