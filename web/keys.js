// How text becomes the keys of a filter: what its recipe says, or for a file that does not tell,
// what its reader chooses. As cli/input does it. No DOM here.

const encoder = new TextEncoder();

export const forms = {
    bytes: 'text, as UTF-8',
    hex: 'bytes, as hexadecimal digits',
    u64: 'integers from 0 to 2^64 - 1',
    int32: 'integers of 32 bits',
    int64: 'integers of 64 bits',
    utf16: 'text, as UTF-16',
};

/** The form of a filter's keys, or null if the file does not tell. */
export function formOf(filter, info, foreign) {
    if (foreign) return null;
    if (!info.traits.includes('takesBytes') || info.hash === 'identity') {
        const form = filter.recipe?.form;
        return form === 'int32' || form === 'int64' ? form : 'u64';
    }
    return filter.recipe?.form ?? 'bytes';
}

function integer(text, bits) {
    const [least, most] = bits === 64n ? [-(2n ** 63n), 2n ** 63n - 1n] : [-(2n ** 31n), 2n ** 31n - 1n];
    const value = /^-?\d+$/.test(text) ? BigInt(text) : null;
    if (value === null || value < least || value > most) throw new Error(`is not a decimal number from -2^${bits - 1n} to 2^${bits - 1n}-1`);
    return value;
}

function littleEndian(value, length) {
    return Uint8Array.from({ length }, (_, i) => Number((value >> BigInt(8 * i)) & 255n));
}

const makers = {
    bytes: (text) => text,
    hex(text) {
        if (text.length % 2) throw new Error('has an odd number of hexadecimal digits');
        if (!/^[0-9a-f]*$/i.test(text)) throw new Error('is not hexadecimal');
        return Uint8Array.from({ length: text.length / 2 }, (_, i) => parseInt(text.slice(2 * i, 2 * i + 2), 16));
    },
    u64(text) {
        const value = /^\d+$/.test(text) ? BigInt(text) : 2n ** 64n;
        if (value >= 2n ** 64n) throw new Error('is not a decimal number from 0 to 2^64-1');
        return value;
    },
    int32: (text) => littleEndian(BigInt.asUintN(32, integer(text, 32n)), 4),
    int64: (text) => littleEndian(BigInt.asUintN(64, integer(text, 64n)), 8),
    utf16(text) {
        const bytes = new Uint8Array(2 * text.length);
        const view = new DataView(bytes.buffer);
        for (let i = 0; i < text.length; i++) view.setUint16(2 * i, text.charCodeAt(i), true);
        return bytes;
    },
};

// Only the letters A to Z, as the command line has it.
function inLowerCase(text) {
    return text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
}

// All runs of n words, with one space between two; of fewer words, all of them.
function runs(text, n) {
    const words = text.split(/[\t\n\v\f\r ]+/).filter(Boolean);
    if (!words.length) return [];
    return Array.from({ length: Math.max(1, words.length - n + 1) }, (_, i) => words.slice(i, i + n).join(' '));
}

/**
 * How lines become keys: { lines(text) gives the texts of keys, key(text) the key of one, or
 * throws why it is none }. `chosen` is the form for files that do not tell.
 */
export function keyMaker(filter, info, foreign, chosen) {
    const form = formOf(filter, info, foreign) ?? chosen;
    const integers = info.hash === 'identity' || !info.traits.includes('takesBytes');
    const ngram = filter.recipe?.ngram ?? 0;
    if (form === 'unknown') throw new Error('A newer version of perhaps made the keys of this filter, in a way that this one does not know: nothing could be found. Update perhaps.');
    const make = (text) => {
        if (integers && form !== 'u64') return BigInt.asUintN(64, integer(text, form === 'int32' ? 32n : 64n));
        return makers[form](filter.recipe?.ignoreCase ? inLowerCase(text) : text);
    };
    return {
        form,
        lines: (text) => text.split('\n').filter((line) => line !== '').flatMap((line) => (ngram ? runs(line, ngram) : [line])),
        // Text goes in as bytes: a filter with a recipe takes no strings.
        key(text) {
            const key = make(text);
            return typeof key === 'string' ? encoder.encode(key) : key;
        },
    };
}
