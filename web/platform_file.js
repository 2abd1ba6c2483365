// platform.js of the page in one file: its parts are in elements of the page.

function textOf(id) {
    return document.getElementById(id).textContent;
}

/** The bytes of the WebAssembly module. */
export async function moduleBytes() {
    const packed = Uint8Array.from(atob(textOf('module')), (letter) => letter.charCodeAt(0));
    const unpacked = new Blob([packed]).stream().pipeThrough(new DecompressionStream('gzip'));
    return new Response(unpacked).arrayBuffer();
}

/** Starts the worker of the view Compare. */
export function startWorker() {
    const url = URL.createObjectURL(new Blob([textOf('worker')], { type: 'text/javascript' }));
    const worker = new Worker(url);
    URL.revokeObjectURL(url);
    return worker;
}
