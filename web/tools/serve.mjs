// web/tools/serve.mjs FOLDER PORT: serves the folder on the loopback interface and says where.
// Port 0 is any that is free.
import { createReadStream, existsSync, realpathSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import { extname, join, sep } from 'node:path';

const types = { '.html': 'text/html; charset=utf-8', '.js': 'text/javascript; charset=utf-8', '.css': 'text/css; charset=utf-8', '.wasm': 'application/wasm' };

function fileOf(folder, address) {
    try {
        const path = decodeURIComponent(new URL(address, 'http://localhost').pathname);
        const file = realpathSync(join(folder, path.endsWith('/') ? `${path}index.html` : path));
        return file.startsWith(folder + sep) && statSync(file).isFile() ? file : null;
    } catch {
        return null;
    }
}

export function serve(given, port = 0) {
    const folder = realpathSync(given);
    const server = createServer((request, response) => {
        const file = request.method === 'GET' || request.method === 'HEAD' ? fileOf(folder, request.url) : null;
        const headers = { 'Cache-Control': 'no-cache', 'X-Content-Type-Options': 'nosniff' };
        if (!file) return void response.writeHead(404, { ...headers, 'Content-Type': 'text/plain' }).end('not found\n');
        response.writeHead(200, { ...headers, 'Content-Type': types[extname(file)] ?? 'application/octet-stream', 'Content-Length': statSync(file).size });
        if (request.method === 'HEAD') return void response.end();
        createReadStream(file).pipe(response);
    });
    return new Promise((resolve, reject) => {
        server.once('error', reject);
        server.listen(port, '127.0.0.1', () => resolve({ server, url: new URL(`http:127.0.0.1:${server.address().port}`).href }));
    });
}

if (process.argv[1]?.endsWith('/tools/serve.mjs')) {
    const [folder, port = '0'] = process.argv.slice(2);
    if (!existsSync(join(folder, 'index.html'))) throw new Error(`${folder}: no page is there`);
    try {
        const { url } = await serve(folder, Number(port));
        console.log(`The page is at ${url}  (Ctrl+C ends it)`);
    } catch (error) {
        console.error(error.code === 'EADDRINUSE' ? `script/page: port ${port} is in use; give another, or none for any that is free` : `script/page: ${error.message}`);
        process.exitCode = 1;
    }
}
