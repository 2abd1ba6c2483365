/**
 * Membership filters: is the key in the set? Definitely not, or perhaps.
 *
 *     import { load, Filter } from 'perhaps';
 *     await load();
 *     const phones = new Filter({ items: 5_000_000, fpr: 0.01 });
 *     phones.add('13800138000');
 *     if (phones.has('13900139000')) lookItUp();
 *
 * The library is the C library, as WebAssembly: the same calls make the same bytes, which `perhaps` on the command line and
 * every other program of the library opens. A call that fails throws a PerhapsError and changes nothing.
 */

/** A key: text (its UTF-8), bytes, or an integer from 0 to 2^64 - 1. Query a filter in the form in which it was filled. */
export type Key = string | Uint8Array | ArrayBuffer | number | bigint;

/**
 * Many keys: integers in a typed array; integers, or text and bytes, in anything that can be iterated; bytes in one buffer,
 * with n + 1 offsets; or bytes of equal `width`, `stride` apart. Batches are much faster than single calls.
 */
export type Keys =
    | BigUint64Array
    | Uint32Array
    | Iterable<number | bigint>
    | Iterable<string | Uint8Array | ArrayBuffer>
    | { data: Uint8Array | ArrayBuffer; offsets: ArrayLike<number> }
    | { data: Uint8Array | ArrayBuffer; width: number; stride?: number };

export type Kind =
    | 'bloom' | 'blocked' | 'counting' | 'cuckoo' | 'table' | 'bitmap' | 'fuse' | 'ribbon'
    | 'guava' | 'dcso' | 'parquet' | 'spark';
export type Composite = 'growing' | 'window' | 'sharded';
export type Ability = 'add' | 'remove' | 'count' | 'merge' | 'intersect' | 'subtract' | 'grow' | 'list' | 'inPlace';
export type Trait = 'takesBytes' | 'takesDigests' | 'exact' | 'static' | 'multiset' | 'parallel';

/** What is wanted; what is left out is chosen. Fix two of items, fpr and memory (bitsPerKey or bytes). */
export interface Want {
    kind?: Kind;
    needs?: Ability[];
    /** Keys it is for. */
    items?: number | bigint;
    /** The false-positive rate with that many keys, between 0 and 1. */
    fpr?: number;
    bitsPerKey?: number;
    bytes?: number | bigint;
    /** 'layers' or true: for sets of unknown size. 'never' or false: a full table or bitmap refuses keys. */
    grow?: 'default' | 'never' | 'layers' | boolean;
    growth?: number;
    maxBytes?: number | bigint;
    /** A window: finds the last `items` keys. */
    generations?: number;
    /** A window by time: how long keys are remembered, in the units of advance(). */
    period?: number | bigint;
    clearAt?: number;
    shards?: number;
    hashes?: number;
    lines?: number;
    hash?: 'default' | 'xxh3' | 'siphash' | 'identity';
    seed?: number | bigint;
    /** 16 secret bytes, for siphash. */
    hashKey?: Uint8Array;
    keyInFile?: boolean;
}

export interface Plan {
    kind: Kind | Composite;
    items: number;
    fpr: number;
    bytes: number;
    imageBytes: number;
    bitsPerKey: number;
    limitBitsPerKey: number;
    loss: number;
    hashes: number;
    lines: number;
    can: Ability[];
    traits: Trait[];
}

/** Everything about a filter, as perhaps_info of the C library has it. */
export interface Info {
    kind: Kind | Composite | 'redis_bloom' | 'redis_cuckoo';
    /** The kind of the children of a growing filter, a window or shards; else null. */
    base: Kind | Composite | null;
    can: Ability[];
    traits: Trait[];
    capacity: number;
    items: number;
    distinct: number;
    fill: number;
    fprTarget: number;
    fprNow: number;
    loss: number;
    stuck: number;
    stashed: number;
    bytes: number;
    imageBytes: number;
    bitsPerKey: number;
    hashes: number;
    lines: number;
    hash: string;
    seed: bigint;
    formatVersion: number;
    isa: string;
    readOnly: boolean;
    grow: 'default' | 'never' | 'layers';
    children: number;
    maxBytes: number;
    period: number;
    growth: number;
    clearAt: number;
    generations: number;
    since: number;
    flooded: boolean;
    collecting: boolean;
    guessed: boolean;
}

/** A step of a query, an add or sealing, as perhaps_trace.h of the C library has it. */
export interface Step {
    step: 'digest' | 'child' | 'position' | 'slot' | 'move' | 'store' | 'stash' | 'room' | 'peel' | 'answer';
    depth: number;
    /** It speaks for "perhaps". */
    holds: boolean;
    index: number;
    value: bigint;
    wanted: bigint;
    to: number;
    name: string;
    /** Of answers: a sentence. */
    why?: string;
}

/** Keys of two filters, with standard errors. */
export interface Overlap {
    a: number;
    b: number;
    both: number;
    either: number;
    jaccard: number;
    aError: number;
    bError: number;
    bothError: number;
    eitherError: number;
    jaccardError: number;
    exact: boolean;
}

export interface OpenOptions {
    /** A foreign format that its bytes do not tell. */
    kind?: Kind;
    /** For a siphash filter whose file does not hold its secret key. */
    hashKey?: Uint8Array;
    /** False: skip the checksums of the payload. Damage then makes answers wrong, never a call unsafe. */
    verify?: boolean;
    /** True: half the memory, and nothing can be added. */
    readOnly?: boolean;
}

/** How text becomes the keys of a filter that the command line made; see docs/input.md. */
export interface Recipe {
    form: 'bytes' | 'hex' | 'u64' | 'int32' | 'int64' | 'utf16' | 'unknown';
    ignoreCase: boolean;
    /** Keys are runs of this many words; 0: they are not. */
    ngram: number;
}

/** Where the command line found the text of a key in a record; see docs/FORMAT.md, "The recipe of keys". */
export interface Extraction {
    records: 'lines' | 'zero-terminated' | 'raw' | 'csv' | 'tsv' | 'whitespace' | 'jsonl' | 'unknown';
    /** The key is field 1, 2 ... of a record; 0: the record, or what `where` says. */
    field: number;
    /** The byte between fields; '': the usual one. */
    delimiter: string;
    header: boolean;
    trim: boolean;
    /** Several fields or names, of which the key is the netstrings; or the path in a JSON line; or ''. */
    where: string;
    ngram: number;
}

/** Where perhaps.wasm is, or its bytes. Left out, it is beside this module. */
export type Source = string | URL | Response | ArrayBuffer | ArrayBufferView | WebAssembly.Module;

/** Compiles and starts the WebAssembly module. Once is enough; everything else needs it. */
export function load(source?: Source): Promise<void>;

/** The version of the C library. */
export function version(): string;

/**
 * What a filter would be; makes nothing. It must fit into the memory of the module, 2 GiB, or of the machine that it is for:
 * `memory` bytes.
 */
export function plan(want: Want, machine?: { memory?: number | bigint }): Plan;

/** The kinds, with what each can. `file`: a foreign format. */
export function kinds(): { name: Kind; summary: string; can: Ability[]; file: boolean }[];

export class Filter {
    constructor(want: Want);

    /** Opens the bytes of a file: a copy, which can be changed. */
    static from(bytes: Uint8Array | ArrayBuffer, options?: OpenOptions): Filter;

    /** The bytes of a file. */
    toBytes(): Uint8Array;
    clone(): Filter;

    /** Adds a key. True: it is new. False: it was perhaps there already. */
    add(key: Key): boolean;
    /** Of kinds that count: adds a key unless it is perhaps there. */
    addAbsent(key: Key): boolean;
    /** Is it in the set? False: definitely not. True: perhaps. */
    has(key: Key): boolean;
    /** Removes a key, or one copy of it. Remove only what was added. */
    remove(key: Key): boolean;
    /** How often it was added. */
    count(key: Key): number;

    /** Adds all keys, or none of them. How many are new; `answers` gets a 1 or 0 for each. */
    addMany(keys: Keys, answers?: Uint8Array): number;
    /** A 1 or 0 for each key, in `answers` if it is given. */
    hasMany(keys: Keys, answers?: Uint8Array): Uint8Array;
    removeMany(keys: Keys, answers?: Uint8Array): number;

    /** Ends the collecting of keys in a fuse or ribbon filter, which answers from then on. */
    seal(): this;
    /** Removes every key. */
    clear(): this;
    /** Tells a window with a period the time. How many generations with keys were forgotten. */
    advance(now: number | bigint): number;

    /** This filter becomes the union, the intersection; of bitmaps the difference, the symmetric difference. */
    merge(other: Filter): this;
    intersect(other: Filter): this;
    subtract(other: Filter): this;
    differ(other: Filter): this;
    equals(other: Filter): boolean;
    overlap(other: Filter): Overlap;

    /** The members of a table (digests) or a bitmap (integers). */
    members(): Generator<bigint, void, void>;

    info(): Info;
    children(): Info[];

    /** Why it answers as it does: the steps of a query or an add, which is not made. */
    explain(key: Key, verb?: 'query' | 'add'): Step[];

    /** What seal() would do: of a fuse filter of few keys, the order in which they are peeled, and what each slot becomes. */
    explainSeal(): Step[];

    /**
     * The array as cells, for pictures: what a cell is, how many there are, and the values of those from `from` on, at most
     * `most`. Of a composite filter give the number of a child.
     */
    cells(options?: { child?: number; from?: number; most?: number }): {
        name: 'bit' | 'counter' | 'slot';
        length: number;
        values: BigUint64Array;
    };

    /** How text becomes its keys; null: as it is. Where it is not null, give bytes or integers. */
    readonly recipe: Recipe | null;

    /** Where the text of its keys was found; null: keys were whole lines. */
    readonly extraction: Extraction | null;

    /** Gives the memory back. Without it, that happens some time after the last use. */
    free(): void;
}

/** A call that failed: `message` is the library's sentence, `code` its number (enum perhaps_error of perhaps.h). */
export class PerhapsError extends Error {
    readonly code: number;
}
export class InvalidError extends PerhapsError {}
export class MemoryError extends PerhapsError {}
export class ForeignError extends PerhapsError {}
export class VersionError extends PerhapsError {}
export class DamagedError extends PerhapsError {}
export class SecretKeyError extends PerhapsError {}
export class CannotError extends PerhapsError {}
export class MismatchError extends PerhapsError {}
export class ReadOnlyError extends PerhapsError {}
export class DirtyError extends PerhapsError {}
export class LayoutError extends PerhapsError {}
export class FullError extends PerhapsError {}
export class SealedError extends PerhapsError {}
export class UnsealedError extends PerhapsError {}
