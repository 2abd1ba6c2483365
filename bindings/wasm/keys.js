// Keys and batches of them: what is accepted, and how they are written into a module's memory.
import errorOf from './errors.js';

const encoder = new TextEncoder();

// enum perhaps_keys_form
const PACKED = 1;
const FIXED = 2;
const U64 = 3;

const U64_MAX = 0xffffffffffffffffn;
const TWO_32 = 0x100000000;

export function invalid(message) {
    return errorOf(-1, message);
}

export function u64(key) {
    if (typeof key === 'number') {
        if (!Number.isSafeInteger(key) || key < 0)
            throw invalid(`the key ${key} is not a whole number from 0 to 2^53 - 1; give larger ones as a BigInt`);
        return BigInt(key);
    }
    if (key < 0n || key > U64_MAX) throw invalid(`the key ${key} is not between 0 and 2^64 - 1`);
    return key;
}

export function bytesOf(value, what = 'a key') {
    if (value instanceof Uint8Array) return value;
    if (value instanceof ArrayBuffer) return new Uint8Array(value);
    if (ArrayBuffer.isView(value) && !(value instanceof DataView) && value.BYTES_PER_ELEMENT === 1)
        return new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
    throw new TypeError(`${what} is a string, a Uint8Array, a number or a BigInt`);
}

export function checkHashKey(key) {
    if (key === undefined || key === null) return null;
    if (!(key instanceof Uint8Array) || key.length !== 16) throw invalid('hashKey is not a Uint8Array of 16 bytes');
    return key;
}

// Keys that stand in a typed array or in `data`, side by side.
function fixed(array, form, width, stride, length) {
    const all = new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
    return {
        length,
        write(module, from, n, more) {
            const bytes = n ? (n - 1) * stride + width : 0;
            const at = module.reserve(bytes + 8 + more);
            module.bytes.set(all.subarray(from * stride, from * stride + bytes), at);
            return { values: { form, data: at, width, stride }, size: at + bytes };
        },
    };
}

function packed(data, offsets) {
    const length = offsets.length - 1;
    if (length >= 0 && !(offsets[0] >= 0)) throw invalid('the first offset is below 0');
    for (let i = 0; i < length; i++)
        if (!(offsets[i + 1] >= offsets[i])) throw invalid(`offset ${i + 1} is below the one before it`);
    if (length >= 0 && offsets[length] > data.length) throw invalid('the last offset is beyond the data');
    return {
        length: Math.max(0, length),
        write(module, from, n, more) {
            const first = n ? offsets[from] : 0;
            const bytes = n ? offsets[from + n] - first : 0;
            const at = module.reserve(4 * (n + 1) + bytes + more);
            const view = module.view;
            for (let i = 0; i <= n; i++) view.setUint32(at + 4 * i, n ? offsets[from + i] - first : 0, true);
            const start = at + 4 * (n + 1);
            module.bytes.set(data.subarray(first, first + bytes), start);
            return { values: { form: PACKED, data: start, lengths: at, width: 4 }, size: start + bytes };
        },
    };
}

function texts(keys) {
    return {
        length: keys.length,
        write(module, from, n, more) {
            let most = 0;
            for (let i = from; i < from + n; i++) most += typeof keys[i] === 'string' ? 3 * keys[i].length : bytesOf(keys[i]).length;
            const at = module.reserve(4 * (n + 1) + most + more);
            const { view, bytes } = module;
            const start = at + 4 * (n + 1);
            let end = start;
            view.setUint32(at, 0, true);
            for (let i = 0; i < n; i++) {
                end += writeText(bytes, end, keys[from + i]);
                view.setUint32(at + 4 * (i + 1), end - start, true);
            }
            return { values: { form: PACKED, data: start, lengths: at, width: 4 }, size: end };
        },
    };
}

export function writeText(bytes, at, key) {
    if (typeof key !== 'string') {
        bytes.set(bytesOf(key), at);
        return bytesOf(key).length;
    }
    let i = 0;
    if (key.length <= 32) {
        for (; i < key.length; i++) {
            const unit = key.charCodeAt(i);
            if (unit > 127) break;
            bytes[at + i] = unit;
        }
        if (i === key.length) return i;
    }
    return encoder.encodeInto(key, bytes.subarray(at, at + 3 * key.length)).written;
}

function integers(keys) {
    return {
        length: keys.length,
        write(module, from, n, more) {
            const at = module.reserve(8 * n + more);
            const view = module.view;
            for (let i = 0; i < n; i++) {
                const key = keys[from + i];
                if (typeof key === 'number' && Number.isSafeInteger(key) && key >= 0) {
                    view.setUint32(at + 8 * i, key >>> 0, true);
                    view.setUint32(at + 8 * i + 4, Math.floor(key / TWO_32), true);
                } else {
                    if (typeof key !== 'number' && typeof key !== 'bigint') throw mixed(from + i);
                    view.setBigUint64(at + 8 * i, u64(key), true);
                }
            }
            return { values: { form: U64, data: at, width: 8, stride: 8 }, size: at + 8 * n };
        },
    };
}

function mixed(i) {
    return new TypeError(`key ${i} is of another type than the first: a batch has integers, or strings and bytes`);
}

// A batch of keys in any of the forms that index.d.ts names.
export function batchOf(keys) {
    if (keys instanceof BigUint64Array) return fixed(keys, U64, 8, 8, keys.length);
    if (keys instanceof Uint32Array) return integers(keys);
    if (keys?.data && keys.offsets) return packed(bytesOf(keys.data, 'data'), keys.offsets);
    if (keys?.data && keys.width) {
        const { width, stride = width } = keys;
        const data = bytesOf(keys.data, 'data');
        if (!(stride >= width) || width < 1) throw invalid(`keys of ${width} bytes cannot begin ${stride} bytes apart`);
        return fixed(data, FIXED, width, stride, data.length < width ? 0 : Math.floor((data.length - width) / stride) + 1);
    }
    if (typeof keys === 'string' || ArrayBuffer.isView(keys) || typeof keys?.[Symbol.iterator] !== 'function')
        throw new TypeError(
            'a batch is an array of keys, a BigUint64Array, a Uint32Array, {data, offsets} or {data, width}',
        );
    const array = Array.isArray(keys) ? keys : Array.from(keys);
    if (typeof array[0] === 'number' || typeof array[0] === 'bigint') return integers(array);
    array.forEach((key, i) => {
        if (typeof key === 'number' || typeof key === 'bigint') throw mixed(i);
    });
    return texts(array);
}
