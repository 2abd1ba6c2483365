// Where the page finds its parts: beside it, on the server that served it. The page in one file has
// platform_file.js in the place of this.

export const pageURL = import.meta.url;

/** The bytes of the WebAssembly module. */
export async function moduleBytes() {
    const response = await fetch(new URL('./perhaps/perhaps.wasm', pageURL));
    if (!response.ok) throw new Error(`${response.url}: the server answers ${response.status}`);
    return response.arrayBuffer();
}

/** Starts the worker of the view Compare. */
export function startWorker() {
    return new Worker(new URL('./compare_worker.js', pageURL), { type: 'module' });
}
