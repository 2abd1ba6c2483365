// Queries only: the same files, in a quarter of the size. query.d.ts is the manual.
import { Handle, loader, namesOf, traits } from './core.js';
import { bytesOf } from './keys.js';

export * from './errors.js';

const loading = loader(new URL('./perhaps-query.wasm', import.meta.url));
const made = Symbol('made');

export async function load(source) {
    await loading.load(source);
}

export class Filter extends Handle {
    constructor(mark, module, given) {
        if (mark !== made) throw new TypeError('a filter for queries is not made, but opened: Filter.from(bytes)');
        super(module, given.filter, given.image);
    }

    static from(bytes, options = {}) {
        const module = loading.loaded();
        return new Filter(made, module, module.open(bytesOf(bytes, 'an image'), { ...options, readOnly: true, kind: 0 }));
    }

    info() {
        const { module } = this;
        return module.withStruct('info', {}, (at) => {
            module.must(module.calls.perhaps_facts(this.pointer, at));
            const { kindName: kind, capacity, items, fprTarget, bytes, imageBytes, hashName: hash, seed, formatVersion, children, traits: set } =
                module.readStruct('info', at);
            return { kind, capacity, items, fprTarget, bytes, imageBytes, hash, seed, formatVersion, children, traits: namesOf(set, traits) };
        });
    }
}
