/**
 * Queries only, in a quarter of the size: opens what others have made. It knows bloom, blocked, cuckoo, fuse, ribbon, and growing
 * filters of these.
 *
 *     import { load, Filter } from 'perhaps/query';
 *     await load();
 *     const blocked = Filter.from(bytes);
 *     if (blocked.has('example.org')) askTheServer();
 */
import type { Extraction, Key, Keys, Recipe, Source, Trait } from './index.js';

export type { Extraction, Key, Keys, Recipe, Source, Trait } from './index.js';
export {
    PerhapsError, InvalidError, MemoryError, ForeignError, VersionError, DamagedError, SecretKeyError, CannotError,
    MismatchError, ReadOnlyError, DirtyError, LayoutError, FullError, SealedError, UnsealedError,
} from './index.js';

export interface OpenOptions {
    hashKey?: Uint8Array;
    verify?: boolean;
}

export interface Facts {
    kind: string;
    capacity: number;
    items: number;
    fprTarget: number;
    bytes: number;
    imageBytes: number;
    hash: string;
    seed: bigint;
    formatVersion: number;
    children: number;
    traits: Trait[];
}

export function load(source?: Source): Promise<void>;

export class Filter {
    private constructor();
    static from(bytes: Uint8Array | ArrayBuffer, options?: OpenOptions): Filter;
    has(key: Key): boolean;
    hasMany(keys: Keys, answers?: Uint8Array): Uint8Array;
    info(): Facts;
    readonly recipe: Recipe | null;
    readonly extraction: Extraction | null;
    free(): void;
}
