// What `perhaps info` says about a filter, in the same words. No DOM here.
import { bytes, count, digits, fixed, rate } from './common.js';
import { formOf } from './keys.js';
import { abilityName } from './planner.js';

const composites = { growing: 'layers', window: 'generations', sharded: 'shards' };

/** 'layers', 'generations' or 'shards'; undefined for a filter without children. */
export function childrenName(info) {
    return composites[info.kind];
}

// What the array is made of, and what a key has there.
const parts = {
    counting: ['counters', 'counters per key'],
    cuckoo: ['slots', 'slots that a key can be in'],
    table: ['slots', 'buckets that a key can be in'],
    bitmap: ['bits', 'bit for each integer'],
    fuse: ['bits are the theoretical minimum', 'places that a key looks at'],
    ribbon: ['bits are the theoretical minimum', 'stretch of 64 rows that a key looks at'],
};
const otherParts = ['bits', 'bits set per key'];

export function innerKind(info) {
    return info.base ?? info.kind;
}

export function partsOf(info) {
    return (parts[innerKind(info)] ?? otherParts)[0];
}

export function isForeign(info) {
    return ['guava', 'dcso', 'parquet', 'spark', 'redis_bloom', 'redis_cuckoo'].includes(info.kind);
}

/** '1d12h', '500 ms' */
export function duration(milliseconds) {
    if (milliseconds % 1000) return `${milliseconds} ms`;
    let left = milliseconds / 1000;
    let text = '';
    for (const [letter, seconds] of [['d', 86400], ['h', 3600], ['m', 60], ['s', 1]]) {
        if (left >= seconds) text += `${Math.floor(left / seconds)}${letter}`;
        left %= seconds;
    }
    return text || '0s';
}

function heading(lib, info) {
    const n = info.children;
    if (n) return `${info.kind}, ${count(n)} ${childrenName(info).slice(0, n === 1 ? -1 : undefined)} of ${info.base}`;
    if (info.grow === 'never' && info.can.includes('grow')) return `${info.kind}, of a fixed size`;
    return [info.kind, lib.kinds().find(({ name }) => name === info.kind)?.summary].filter(Boolean).join(', ');
}

function keysText(info) {
    const items = count(info.items);
    const capacity = count(info.capacity);
    const distinct = count(info.distinct);
    if (info.guessed) return `about ${distinct} distinct, from the bits; the file does not say how many it was made for`;
    if (isForeign(info) && !info.items) return `about ${distinct} distinct, from the bits (room for ${capacity})`;
    if (innerKind(info) === 'bitmap') return `${items} of the integers below ${capacity}`;
    if (innerKind(info) === 'table') return `${items} (made for ${capacity})`;
    if (info.traits.includes('static')) return `${items} distinct; static, so no more can be added`;
    if (info.traits.includes('multiset')) return `${items} copies (made for ${capacity}), of about ${distinct} distinct keys`;
    return `${items} (made for ${capacity}); about ${distinct} distinct, from the bits`;
}

// A share of the room for keys; null where there is no fixed room.
export function usedShare(info) {
    const grows = info.can.includes('grow') && info.grow !== 'never';
    const estimated = isForeign(info) && !info.items;
    if (innerKind(info) === 'bitmap' || info.kind === 'window' || info.guessed || (grows && info.items > info.capacity) || !info.capacity) return null;
    return (estimated ? Math.round(info.distinct) : info.items) / info.capacity;
}

function special(info) {
    const kind = innerKind(info);
    const lines = [];
    if (kind === 'table') lines.push(['loss', `${rate(info.loss)}: the chance that any two keys in it are taken for one`]);
    if (kind === 'table' && info.stashed) lines.push(['stashed', `${count(info.stashed)} keys share their buckets with too many others`]);
    if (kind === 'counting') lines.push(['stuck', `${count(info.stuck)} counters have reached 15 and stay there`]);
    if (kind === 'cuckoo') lines.push(['stashed', `${count(info.stashed)} copies are kept outside the slots`]);
    if (info.maxBytes) lines.push(['grow', `with its keys, up to ${bytes(info.maxBytes)}`]);
    else if (info.can.includes('grow'))
        lines.push(['grow', info.grow === 'never' ? 'never: more than it was made for is refused' : 'with its keys, as long as memory lasts']);
    if (info.kind !== 'window') return lines;
    if (info.period) lines.push(['forgets', `what is older than ${duration(info.period)}`]);
    if (info.flooded) lines.push(['flooded', 'more keys came in that time than it is made for; build it again with a larger -n']);
    if (info.clearAt > 0) lines.push(['forgets', `the oldest generation, when the newest is filled to ${digits(Math.round(info.clearAt * 1e11) / 1e9)} %`]);
    if (!info.period && info.clearAt === 0) lines.push(['forgets', `all but the last ${count(info.capacity)} keys`]);
    return lines;
}

/** '6.0 MiB (6,312,128 bytes)', '312 bytes' */
function sizeText(size) {
    const exact = `${count(size)} bytes`;
    return size < 1024 ? exact : `${bytes(size)} (${exact})`;
}

function hashText(info) {
    if (info.hash === 'identity') return 'none: integers as they are';
    if (isForeign(info)) return info.hash;
    return `${info.hash}, ${info.hash === 'siphash' ? 'check of the key' : 'seed'} ${info.seed}`;
}

function keyText(filter, info) {
    if (isForeign(info)) return 'the file does not tell; say below how its keys are made';
    if (filter.recipe?.ignoreCase) return 'bytes, ignoring case';
    return formOf(filter, info, false);
}

const delimiters = { lines: '\t', 'zero-terminated': '\t', csv: ',', tsv: '\t', whitespace: ' ' };

/** As the command line's options say it: "--csv --header --field 'id'". */
export function recordsText({ records, field, delimiter, header, trim, where, ngram }) {
    if (records === 'unknown') return 'of a newer version of perhaps';
    const mark = where.includes("'") ? '"' : "'";
    const printable = delimiter > ' ' && delimiter <= '~' && delimiter !== "'";
    const words = [
        records === 'raw' && '--key u64le',
        records === 'zero-terminated' && '-0',
        ['csv', 'tsv', 'whitespace', 'jsonl'].includes(records) && `--${records}`,
        records === 'jsonl' && `${mark}${where}${mark}`,
        header && '--header',
        field && `--field ${field}`,
        where && records !== 'jsonl' && `--field ${mark}${where}${mark}`,
        delimiter && delimiter !== delimiters[records] && (printable ? `--delimiter '${delimiter}'` : `--delimiter $'\\x${delimiter.charCodeAt(0).toString(16).padStart(2, '0')}'`),
        trim && '--trim',
        ngram && `--ngram ${ngram}`,
    ];
    return `as ${words.filter(Boolean).join(' ') || 'whole lines'} says`;
}

/** { heading, lines: [[label, text]] } of an open filter. */
export function factsOf(lib, filter, info) {
    const used = usedShare(info);
    const [, ofKey] = parts[innerKind(info)] ?? otherParts;
    const can = info.can.filter((name) => !(name === 'grow' && info.grow === 'never')).map(abilityName);
    const lines = [
        ['keys', keysText(info)],
        used !== null && ['used', `${fixed(100 * used, 1)} % of the keys it was made for${used > 1 ? ': overfull' : ''}`],
        ['fill', `${fixed(100 * info.fill, 1)} % of the ${partsOf(info)}`],
        ['fpr', `now ${rate(info.fprNow)}; ${info.guessed ? 'with half of the bits set ' : 'planned '}${rate(info.fprTarget)}`],
        ...special(info),
        ['size', `${sizeText(info.bytes)}, ${fixed(info.bitsPerKey, 2)} bits per key; the file ${count(info.imageBytes)} bytes`],
        ['layout', `${info.hashes} ${ofKey}, in at most ${info.lines} cache line${info.lines === 1 ? '' : 's'}`],
        ['hash', hashText(info)],
        ['key', keyText(filter, info)],
        filter.extraction && ['records', recordsText(filter.extraction)],
        ['can', can.length ? can.join(', ') : 'nothing but answer: it is static'],
        ['format', `${isForeign(info) ? `${info.kind}, without checksums` : `version ${info.formatVersion}`}; code for ${info.isa}`],
    ];
    return { heading: heading(lib, info), lines: lines.filter(Boolean) };
}
