// The memory of a WebAssembly module of the library, and the calls into it: keys, batches, structs,
// errors.
// index.js and query.js make their Filter of these.
import errorOf from './errors.js';
import { batchOf, bytesOf, checkHashKey, invalid, u64, writeText } from './keys.js';

const decoder = new TextDecoder();

// ---- names of numbers ----

// By bit: enum perhaps_ability, enum perhaps_trait.
export const abilities = ['add', 'remove', 'count', 'merge', 'intersect', 'subtract', 'grow', 'list', 'inPlace'];
export const traits = ['takesBytes', 'takesDigests', 'exact', 'static', 'multiset', 'parallel'];

export function namesOf(set, names) {
    return names.filter((_, bit) => set & (1 << bit));
}

// enum perhaps_open_flag
const OPEN_COPY = 1;
const OPEN_NO_VERIFY = 4;

// enum perhaps_key_form, of recipes
const forms = ['bytes', 'hex', 'u64', 'int32', 'int64', 'utf16'];

// enum perhaps_records, of recipes
const records = ['lines', 'zero-terminated', 'raw', 'csv', 'tsv', 'whitespace', 'jsonl'];

// ---- the module ----

const CHUNK = 65536; // keys of a batch query that are in the module's memory at a time

function camel(name) {
    return name.replace(/_([a-z])/g, (_, letter) => letter.toUpperCase());
}

export class Module {
    constructor(instance) {
        this.calls = instance.exports;
        this.memory = instance.exports.memory;
        this.room = 0;
        this.at = 0;
        this.structs = this.readStructs();
        this.keys = this.allocate(this.structs.keys.size);
        this.spare = this.allocate(64); // for results of a few words
        this.reserve(4096);
    }

    // Views of the memory; it is another buffer after it has grown.
    get view() {
        this.refresh();
        return this.currentView;
    }

    get bytes() {
        this.refresh();
        return this.currentBytes;
    }

    refresh() {
        if (this.buffer === this.memory.buffer) return;
        this.buffer = this.memory.buffer;
        this.currentView = new DataView(this.buffer);
        this.currentBytes = new Uint8Array(this.buffer);
    }

    allocate(size) {
        const at = this.calls.malloc(size || 1) >>> 0;
        if (!at) throw errorOf(-2, `no memory for ${size} bytes: a WebAssembly module has at most 4 GiB`);
        return at;
    }

    release(at) {
        if (at) this.calls.free(at);
    }

    // Memory for the keys and answers of one call: the same for all calls. Large memory is kept
    // only until the next call.
    reserve(size) {
        const usual = 1 << 20;
        if (size <= this.room && (this.room <= usual || size > usual)) return this.at;
        this.release(this.at);
        this.at = this.room = 0;
        const room = Math.max(4096, size > usual ? size : Math.min(usual, 2 * size));
        this.at = this.allocate(room);
        this.room = room;
        return this.at;
    }

    text(at) {
        at >>>= 0;
        if (!at) return null;
        return decoder.decode(this.bytes.subarray(at, this.bytes.indexOf(0, at)));
    }

    // Throws if the answer of a call is an error; gives it otherwise.
    must(answer) {
        if (answer < 0) throw errorOf(Number(answer), this.text(this.calls.perhaps_why()));
        return answer;
    }

    // ---- structs ----

    // The descriptions that module.c has of structs.
    readStructs() {
        const structs = {};
        const word = (at) => this.view.getUint32(at, true);
        for (let at = this.calls.module_structs() >>> 0; word(at); at += 12) {
            const fields = {};
            for (let field = word(at + 8); word(field + 4); field += 12)
                fields[camel(this.text(word(field + 4)))] = {
                    type: String.fromCharCode(this.view.getUint8(field)),
                    offset: word(field + 8),
                };
            structs[this.text(word(at))] = { size: word(at + 4), fields };
        }
        return structs;
    }

    // A struct at this address with these values; all else in it is zero.
    writeStruct(name, at, values) {
        const { size, fields } = this.structs[name];
        const view = this.view;
        this.bytes.fill(0, at, at + size);
        if (fields.size) view.setUint32(at + fields.size.offset, size, true);
        for (const [key, value] of Object.entries(values)) {
            const { type, offset } = fields[key];
            if (type === 'd') view.setFloat64(at + offset, value, true);
            else if (type === 'n' || type === 'b') view.setBigUint64(at + offset, BigInt(value), true);
            else view.setUint32(at + offset, Number(value), true);
        }
        return at;
    }

    readStruct(name, at) {
        const { fields } = this.structs[name];
        const view = this.view;
        const values = {};
        for (const [key, { type, offset }] of Object.entries(fields)) {
            if (key === 'size') continue;
            if (type === 'd') values[key] = view.getFloat64(at + offset, true);
            else if (type === 'b') values[key] = view.getBigUint64(at + offset, true);
            else if (type === 'n') values[key] = Number(view.getBigUint64(at + offset, true));
            else if (type === 's') values[key] = this.text(view.getUint32(at + offset, true));
            else if (type === 't') values[key] = this.text(at + offset);
            else if (type === 'f') values[key] = view.getUint32(at + offset, true) !== 0;
            else if (type === 'i') values[key] = view.getInt32(at + offset, true);
            else values[key] = view.getUint32(at + offset, true);
        }
        return values;
    }

    // Calls `use` with memory for a struct.
    withStruct(name, values, use) {
        const at = this.allocate(this.structs[name].size);
        try {
            return use(this.writeStruct(name, at, values));
        } finally {
            this.release(at);
        }
    }

    // Calls `use` with a copy of the bytes in the module's memory.
    withBytes(bytes, use) {
        const at = bytes ? this.allocate(bytes.length) : 0;
        try {
            if (bytes) this.bytes.set(bytes, at);
            return use(at);
        } finally {
            this.release(at);
        }
    }

    // ---- keys ----

    // Puts text into reserved memory; gives its length.
    writeText(text) {
        const at = this.reserve(3 * text.length);
        return writeText(this.bytes, at, text);
    }

    // The answer of a call for one key: the name is that for bytes, and with _u64 that for
    // integers.
    one(name, filter, key) {
        if (typeof key === 'string') return this.oneText(name, filter, key);
        if (typeof key === 'number' || typeof key === 'bigint') return this.must(this.calls[`${name}_u64`](filter, u64(key)));
        const bytes = bytesOf(key);
        const at = this.reserve(bytes.length);
        this.bytes.set(bytes, at);
        return this.must(this.calls[name](filter, at, bytes.length));
    }

    oneText(name, filter, text) {
        const length = this.writeText(text); // may move this.at
        return this.must(this.calls[name](filter, this.at, length));
    }

    // Puts `n` keys from number `from` on into reserved memory, with `more` bytes beside them;
    // gives where these are.
    writeKeys(batch, from, n, more) {
        const { values, size } = batch.write(this, from, n, more);
        this.writeStruct('keys', this.keys, { n, ...values });
        return size;
    }

    // A batch of one key, for calls that take no other form.
    writeOneKey(key) {
        this.writeKeys(batchOf([key]), 0, 1, 0);
    }

    // A batch call, whole: what it changes, it changes for all keys or for none. Gives the number
    // of answers that are not 0.
    batch(name, filter, keys, answers) {
        const batch = batchOf(keys);
        const at = this.writeKeys(batch, 0, batch.length, batch.length);
        const count = this.must(this.calls[name](filter, this.keys, at));
        answers?.set(this.bytes.subarray(at, at + batch.length));
        return Number(count);
    }

    // A batch query, in chunks.
    query(filter, keys, answers) {
        const batch = batchOf(keys);
        answers ??= new Uint8Array(batch.length);
        if (answers.length < batch.length)
            throw invalid(`there is room for ${answers.length} answers, and there are ${batch.length} keys`);
        for (let from = 0; from < batch.length; from += CHUNK) {
            const n = Math.min(CHUNK, batch.length - from);
            const at = this.writeKeys(batch, from, n, n);
            this.must(this.calls.perhaps_contains_many(filter, this.keys, at));
            answers.set(this.bytes.subarray(at, at + n), from);
        }
        return answers;
    }

    // ---- images ----

    // Opens the bytes of an image. Gives the filter, and the bytes that it borrows or 0.
    open(bytes, { kind = 0, hashKey, verify = true, readOnly = false }) {
        const image = this.allocate(bytes.length);
        let filter = 0;
        try {
            this.bytes.set(bytes, image);
            const flags = (readOnly ? 0 : OPEN_COPY) | (verify ? 0 : OPEN_NO_VERIFY);
            filter = this.withBytes(checkHashKey(hashKey), (hash_key) =>
                this.withStruct('openOptions', { kind, flags, hashKey: hash_key }, (options) => {
                    this.must(this.calls.perhaps_open_memory(this.spare, image, BigInt(bytes.length), options));
                    return this.view.getUint32(this.spare, true);
                }),
            );
            return { filter, image: readOnly ? image : 0 };
        } finally {
            if (!readOnly || !filter) this.release(image);
        }
    }

    // How the keys of a filter were made from records: the text of each, and the key of that text.
    // Null where nothing is to be said.
    recipe(filter) {
        return this.withStruct('recipe', {}, (at) => {
            this.must(this.calls.perhaps_recipe_of(filter, at));
            const { form, ignoreCase, ngram, unknown, records: format, ...place } = this.readStruct('recipe', at);
            const { field, delimiter, header, trim, where } = place;
            const plain = !form && !ignoreCase && !ngram && !unknown;
            const found = format || field || header || trim || where || ngram || unknown;
            return {
                recipe: plain ? null : { form: unknown ? 'unknown' : (forms[form] ?? 'unknown'), ignoreCase, ngram },
                extraction: found ? { records: unknown ? 'unknown' : (records[format] ?? 'unknown'), field, delimiter: delimiter ? String.fromCharCode(delimiter) : '', header, trim, where, ngram } : null,
            };
        });
    }
}

// ---- loading ----

async function compiled(source) {
    if (source instanceof WebAssembly.Module) return source;
    if (typeof Response !== 'undefined' && source instanceof Response) return WebAssembly.compile(await source.arrayBuffer());
    if (source instanceof ArrayBuffer || ArrayBuffer.isView(source)) return WebAssembly.compile(source);
    const url = new URL(source);
    if (url.protocol === 'file:' && typeof process !== 'undefined' && process.versions?.node) {
        // A variable, so that bundlers for browsers leave it alone.
        const files = 'node:fs/promises';
        const { readFile } = await import(/* @vite-ignore */ /* webpackIgnore: true */ files);
        return WebAssembly.compile(await readFile(url));
    }
    const response = await fetch(url);
    if (!response.ok) throw new Error(`${url}: the server answers ${response.status}`);
    return WebAssembly.compile(await response.arrayBuffer());
}

/**
 * A loader: its first call compiles and starts the module, later calls give the same. A failure
 * can be tried again.
 */
export function loader(url) {
    const state = { module: null, started: null };
    state.load = (source = url) => {
        state.started ??= compiled(source)
            .then((code) => WebAssembly.instantiate(code, {}))
            .then((instance) => (state.module = new Module(instance)))
            .catch((error) => {
                state.started = null;
                throw error;
            });
        return state.started;
    };
    state.loaded = () => {
        if (!state.module) throw new Error('perhaps is not loaded: await load() first');
        return state.module;
    };
    return state;
}

// ---- filters ----

const forgotten = new FinalizationRegistry(({ module, filter, image }) => {
    module.calls.perhaps_free(filter);
    module.release(image);
});

/** A filter in the memory of a module: what index.js and query.js share. */
export class Handle {
    #module;
    #filter;
    #image;
    #recipe;
    #extraction;

    constructor(module, filter, image) {
        this.#module = module;
        this.#filter = filter;
        this.#image = image;
        ({ recipe: this.#recipe, extraction: this.#extraction } = module.recipe(filter));
        forgotten.register(this, { module, filter, image }, this);
    }

    get module() {
        return this.#module;
    }

    get pointer() {
        if (!this.#filter) throw invalid('the filter was freed');
        return this.#filter;
    }

    get recipe() {
        return this.#recipe;
    }

    get extraction() {
        return this.#extraction;
    }

    // Text is not the key of a filter whose keys were made from text.
    check(key) {
        if (typeof key !== 'string' || !this.#recipe) return key;
        const { form, ignoreCase, ngram } = this.#recipe;
        throw invalid(
            `the keys of this filter are not text as it is (${ngram ? 'runs of words' : ignoreCase ? 'letters are in lower case' : form}); see filter.recipe, and give bytes or integers`,
        );
    }

    checkMany(keys) {
        if (!this.#recipe || typeof keys === 'string' || ArrayBuffer.isView(keys) || typeof keys?.[Symbol.iterator] !== 'function') return keys;
        const array = Array.isArray(keys) ? keys : Array.from(keys);
        array.forEach((key) => this.check(key));
        return array;
    }

    has(key) {
        return this.#module.one('perhaps_contains', this.pointer, this.check(key)) === 1;
    }

    hasMany(keys, answers) {
        return this.#module.query(this.pointer, this.checkMany(keys), answers);
    }

    free() {
        if (!this.#filter) return;
        forgotten.unregister(this);
        this.#module.calls.perhaps_free(this.#filter);
        this.#module.release(this.#image);
        this.#filter = this.#image = 0;
    }
}
