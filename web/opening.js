// Opening a file: what its size and first bytes say before it is read, and the sentences for what
// is no filter. No DOM here.
import { bytes, sentence } from './common.js';

/** More is not read: the module has 4 GiB in all, and the file is in memory twice for a moment. */
export const MOST_BYTES = 512 * 2 ** 20;

const MAGIC = [0x8f, 0x70, 0x65, 0x72, 0x68, 0x61, 0x70, 0x73]; // "\x8fperhaps"

export class Refusal extends Error {}

function startsWith(head, magic) {
    return magic.every((byte, i) => head[i] === byte);
}

// Text has no control characters but white space, and is UTF-8 as far as it goes.
function isText(head) {
    if (head.some((byte) => byte < 9 || (byte > 13 && byte < 32) || byte === 127)) return false;
    try {
        new TextDecoder('utf-8', { fatal: true }).decode(head, { stream: true });
        return true;
    } catch {
        return false;
    }
}

/** Throws a Refusal with a sentence, or gives { gzip, foreign }: what the first bytes say. */
export function judge(name, size, head) {
    if (!size) throw new Refusal(`${name} is empty, and no filter is: the smallest has 120 bytes. Was it saved to its end?`);
    const own = startsWith(head, MAGIC);
    const gzip = startsWith(head, [0x1f, 0x8b]);
    if (!own && !gzip && isText(head))
        throw new Refusal(`${name} is text, not a filter. “perhaps build -o keys.ph ${name}” makes a filter of its lines.`);
    if (size > MOST_BYTES)
        throw new Refusal(`${name} has ${bytes(size)}, and the page opens files of up to ${bytes(MOST_BYTES)}. On the command line “perhaps info ${name}” says everything about files of any size.`);
    return { gzip, foreign: !own };
}

async function decompressed(name, blob) {
    const parts = [];
    let length = 0;
    try {
        for (const reader = blob.stream().pipeThrough(new DecompressionStream('gzip')).getReader(); ; ) {
            const { done, value } = await reader.read();
            if (done) break;
            length += value.length;
            if (length > MOST_BYTES) {
                reader.cancel();
                throw new Refusal(`${name} decompresses to more than the ${bytes(MOST_BYTES)} that the page opens. Decompress it, and use “perhaps info” on the command line.`);
            }
            parts.push(value);
        }
    } catch (error) {
        if (error instanceof Refusal) throw error;
        throw new Refusal(`${name} is compressed with gzip, and damaged. Get the file again.`);
    }
    return new Uint8Array(await new Blob(parts).arrayBuffer());
}

/** The bytes of a File or Blob that may be a filter; throws a Refusal. */
export async function readFile(file, name) {
    const head = new Uint8Array(await file.slice(0, 4096).arrayBuffer());
    const { gzip } = judge(name, file.size, head);
    try {
        if (!gzip) return new Uint8Array(await file.arrayBuffer());
    } catch {
        throw new Refusal(`${name} could not be read: the browser was refused, or has too little memory for ${bytes(file.size)}.`);
    }
    const inner = await decompressed(name, file);
    judge(name, inner.length, inner.subarray(0, 4096));
    return inner;
}

/** Is it one of ours? Then its bytes tell the format. */
export function isImage(data) {
    return startsWith(data, MAGIC);
}

const remedies = {
    DamagedError: 'Restore it from a copy, or build it again.',
    ForeignError: 'If it is a filter of another program, say below which.',
    VersionError: 'Update perhaps.',
    MemoryError: 'Close other tabs, or use the command line.',
    DirtyError: 'Let the command that writes it end, or repair it with “perhaps info --recover”.',
};

/** What to tell about a file that the library refused. */
export function whyRefused(name, error) {
    if (error instanceof Refusal) return error.message;
    if (error.name === 'RangeError') return `${name} is too large for this browser’s memory. Use “perhaps info ${name}” on the command line.`;
    const said = error.message.replace(/^image: /, ''); // the library was given bytes, not a file
    // After a semicolon it says one itself.
    const remedy = said.includes(';') ? '' : (remedies[error.name] ?? '');
    return `${name}: ${sentence(said)} ${remedy}`.trim();
}

/** 32 hexadecimal digits as 16 bytes; null if they are something else. */
export function parseSecretKey(text) {
    const plain = text.replaceAll(/[\s:]/g, '');
    if (!/^[0-9a-f]{32}$/i.test(plain)) return null;
    return Uint8Array.from({ length: 16 }, (_, i) => parseInt(plain.slice(2 * i, 2 * i + 2), 16));
}
