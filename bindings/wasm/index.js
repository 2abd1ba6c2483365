// Membership filters: the whole library. index.d.ts is the manual.
import { abilities, Handle, loader, namesOf, traits } from './core.js';
import { bytesOf, checkHashKey } from './keys.js';

export * from './errors.js';

const loading = loader(new URL('./perhaps.wasm', import.meta.url));

export async function load(source) {
    await loading.load(source);
}

// enum perhaps_hash and enum perhaps_growth, as far as a want names them
const hashes = { default: 0, xxh3: 1, siphash: 2, identity: 3 };
const growths = { default: 0, never: 1, layers: 2 };
const verbs = { query: 1, add: 2 };
const SEAL = 3;
const steps = [null, 'digest', 'child', 'position', 'slot', 'move', 'store', 'stash', 'room', 'peel', 'answer'];

// ---- kinds ----

// Rows of a table of kinds, which a call gives one by one.
function rowsOf(module, call) {
    const rows = [];
    for (let i = 0, at; (at = module.calls[call](i) >>> 0); i++) {
        const { kind, can, name, summary } = module.readStruct('kindRow', at);
        rows.push({ number: kind, name, summary, can: namesOf(can, abilities), file: call === 'perhaps_file_kind' });
    }
    return rows;
}

function tableOf(module) {
    module.kinds ??= [...rowsOf(module, 'perhaps_kind'), ...rowsOf(module, 'perhaps_file_kind')];
    return module.kinds;
}

function kindNumber(module, name) {
    const row = tableOf(module).find((row) => row.name === name);
    if (!row) throw new TypeError(`there is no kind ${name}; kinds() lists them`);
    return row.number;
}

// Of enum perhaps_kind, what is in no table since it is not made by its name.
const composites = { 7: 'growing', 8: 'window', 9: 'sharded' };

function kindName(module, number) {
    return tableOf(module).find((row) => row.number === number)?.name ?? composites[number] ?? null;
}

export function kinds() {
    return tableOf(loading.loaded()).map(({ number, ...row }) => ({ ...row, can: [...row.can] }));
}

export function version() {
    const module = loading.loaded();
    return module.text(module.calls.perhaps_version());
}

// ---- wants ----

function numberOf(name, names, what) {
    if (!(name in names)) throw new TypeError(`there is no ${what} ${name}, only ${Object.keys(names).join(', ')}`);
    return names[name];
}

function needsOf(needs) {
    return needs.reduce((set, name) => {
        if (!abilities.includes(name)) throw new TypeError(`no kind can ${name}, only ${abilities.join(', ')}`);
        return set | (1 << abilities.indexOf(name));
    }, 0);
}

// What an option becomes in the struct; the others are numbers.
const converted = {
    kind: (value, module) => kindNumber(module, value),
    needs: needsOf,
    grow: (value) => numberOf(value === true ? 'layers' : value === false ? 'never' : value, growths, 'way to grow'),
    hash: (value) => numberOf(value, hashes, 'hash'),
    seed: (value) => BigInt.asUintN(64, BigInt(value)),
    keyInFile: Number,
    hashKey: (value, module, address) => address,
};

// Calls `use` with a struct perhaps_want of these options.
function withWant(module, options, use) {
    return module.withBytes(checkHashKey(options.hashKey), (address) => {
        const values = {};
        for (const [name, value] of Object.entries(options)) {
            if (value === undefined) continue;
            if (name === 'size' || !(name in module.structs.want.fields))
                throw new TypeError(`a filter has no option ${name}, only ${Object.keys(module.structs.want.fields).filter((field) => field !== 'size').join(', ')}`);
            if (!converted[name] && !(typeof value === 'bigint' || Number.isFinite(value)))
                throw new TypeError(`${name} is ${value}, not a number`);
            if ('nb'.includes(module.structs.want.fields[name].type) && name !== 'seed' && !(value >= 0 && Math.floor(Number(value)) === Number(value)))
                throw new TypeError(`${name} is ${value}, not a whole number from 0 on`);
            values[name] = converted[name] ? converted[name](value, module, address) : value;
        }
        return module.withStruct('want', values, use);
    });
}

// For a machine with this much memory; 0 is the module's own.
function planFor(module, memory, want, at) {
    module.calls.module_plan_for(BigInt.asUintN(64, BigInt(memory)));
    try {
        module.must(module.calls.perhaps_plan(want, at));
    } finally {
        module.calls.module_plan_for(0n);
    }
}

export function plan(options, { memory = 0 } = {}) {
    const module = loading.loaded();
    return withWant(module, options, (want) =>
        module.withStruct('plan', {}, (at) => {
            planFor(module, memory, want, at);
            const { kind, can, traits: set, ...plan } = module.readStruct('plan', at);
            return { kind: kindName(module, kind), ...plan, can: namesOf(can, abilities), traits: namesOf(set, traits) };
        }),
    );
}

// ---- filters ----

const made = Symbol('made');

function infoOf(module, call, ...given) {
    return module.withStruct('info', {}, (at) => {
        module.must(module.calls[call](...given, at));
        const { kind, kindName: name, can, traits: set, hashName, base, grow, ...info } = module.readStruct('info', at);
        return {
            kind: name,
            ...info,
            hash: hashName,
            base: base ? kindName(module, base) : null,
            grow: Object.keys(growths)[grow],
            can: namesOf(can, abilities),
            traits: namesOf(set, traits),
        };
    });
}

function checkFilter(other) {
    if (!(other instanceof Filter)) throw new TypeError('the other is not a Filter');
}

export class Filter extends Handle {
    constructor(options = {}, given) {
        const module = loading.loaded();
        if (options === made) {
            super(module, given.filter, given.image);
            return;
        }
        const filter = withWant(module, options, (want) => {
            module.must(module.calls.perhaps_create(module.spare, want));
            return module.view.getUint32(module.spare, true);
        });
        super(module, filter, 0);
    }

    static from(bytes, options = {}) {
        const module = loading.loaded();
        const kind = options.kind ? kindNumber(module, options.kind) : 0;
        return new Filter(made, module.open(bytesOf(bytes, 'an image'), { ...options, kind }));
    }

    clone() {
        const { module } = this;
        module.must(module.calls.perhaps_clone(this.pointer, module.spare));
        return new Filter(made, { filter: module.view.getUint32(module.spare, true), image: 0 });
    }

    toBytes() {
        const { module } = this;
        module.must(module.calls.module_file(this.pointer, module.spare, module.spare + 4));
        const at = module.view.getUint32(module.spare, true);
        const bytes = module.bytes.slice(at, at + module.view.getUint32(module.spare + 4, true));
        module.release(at);
        return bytes;
    }

    add(key) {
        return this.module.one('perhaps_add', this.pointer, this.check(key)) === 1;
    }

    addAbsent(key) {
        return this.module.one('perhaps_add_absent', this.pointer, this.check(key)) === 1;
    }

    remove(key) {
        return this.module.one('perhaps_remove', this.pointer, this.check(key)) === 1;
    }

    count(key) {
        return Number(this.module.one('perhaps_count', this.pointer, this.check(key)));
    }

    addMany(keys, answers) {
        return this.module.batch('perhaps_add_many', this.pointer, this.checkMany(keys), answers);
    }

    removeMany(keys, answers) {
        return this.module.batch('perhaps_remove_many', this.pointer, this.checkMany(keys), answers);
    }

    seal() {
        this.module.must(this.module.calls.perhaps_seal(this.pointer, 0));
        return this;
    }

    clear() {
        this.module.must(this.module.calls.perhaps_clear(this.pointer));
        return this;
    }

    advance(now) {
        return this.module.must(this.module.calls.perhaps_advance(this.pointer, BigInt(now)));
    }

    #combine(call, other) {
        checkFilter(other);
        this.module.must(this.module.calls[call](this.pointer, other.pointer));
        return this;
    }

    merge(other) {
        return this.#combine('perhaps_merge', other);
    }

    intersect(other) {
        return this.#combine('perhaps_intersect', other);
    }

    subtract(other) {
        return this.#combine('perhaps_subtract', other);
    }

    differ(other) {
        return this.#combine('perhaps_differ', other);
    }

    equals(other) {
        checkFilter(other);
        return this.module.must(this.module.calls.perhaps_equal(this.pointer, other.pointer)) === 1;
    }

    overlap(other) {
        const { module } = this;
        checkFilter(other);
        return module.withStruct('overlap', {}, (at) => {
            module.must(module.calls.perhaps_overlap(this.pointer, other.pointer, at));
            return module.readStruct('overlap', at);
        });
    }

    *members() {
        const { module } = this;
        for (let at = 0n; ; ) {
            module.view.setBigUint64(module.spare, at, true);
            if (!module.must(module.calls.perhaps_next(this.pointer, module.spare, module.spare + 8))) return;
            at = module.view.getBigUint64(module.spare, true);
            yield module.view.getBigUint64(module.spare + 8, true);
        }
    }

    info() {
        return infoOf(this.module, 'perhaps_info', this.pointer);
    }

    children() {
        return Array.from({ length: this.info().children }, (_, i) => infoOf(this.module, 'perhaps_child', this.pointer, i));
    }

    cells({ child = -1, from = 0, most = Infinity } = {}) {
        const { module, pointer } = this;
        const call = (at, room) =>
            Number(module.must(module.calls.perhaps_cells(pointer, child, BigInt(from), at, room, module.spare)));
        const length = call(0, 0);
        const room = Math.max(0, Math.min(length - from, most));
        const at = module.allocate(8 * room);
        try {
            call(at, room);
            const name = module.text(module.view.getUint32(module.spare, true));
            return { name, length, values: new BigUint64Array(module.bytes.slice(at, at + 8 * room).buffer) };
        } finally {
            module.release(at);
        }
    }

    explain(key, verb = 'query') {
        return this.#trace(numberOf(verb, verbs, 'verb'), key);
    }

    explainSeal() {
        return this.#trace(SEAL);
    }

    #trace(verb, key) {
        const { module, pointer } = this;
        const { size } = module.structs.step;
        const call = (at, room) => {
            if (verb !== SEAL) module.writeOneKey(this.check(key));
            return Number(module.must(module.calls.perhaps_trace(pointer, verb, verb === SEAL ? 0 : module.keys, at, room)));
        };
        const room = call(0, 0);
        const at = module.allocate(room * size);
        try {
            call(at, room);
            return Array.from({ length: room }, (_, i) => {
                const { step, why, ...rest } = module.readStruct('step', at + i * size);
                return { step: steps[step], ...rest, ...(why && { why }) };
            });
        } finally {
            module.release(at);
        }
    }
}
