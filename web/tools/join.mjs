// web/tools/join.mjs FOLDER OUT: the page of FOLDER as one HTML file that works from file://, where
// browsers load no module scripts. The modules become functions in one classic script, the
// worker's in another, which the page starts from its text; the WebAssembly module is compressed
// and in base64.
//
// Of the language's ways to import and export it knows those that our sources have, each on a line
// of its own, and refuses files with others.
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { gzipSync } from 'node:zlib';

// What in one file is another module than on a server.
const replaced = { 'platform.js': 'platform_file.js' };

const names = String.raw`\{([^}]*)\}`;
const from = String.raw`\s*from\s*'(\.[^']+)';`;
const importing = new RegExp(String.raw`^import\s+(?:(\w+)|\*\s+as\s+(\w+))?\s*,?\s*(?:${names})?${from}$`, 'gms');

class Joiner {
    constructor(folder) {
        this.folder = folder;
        this.modules = new Map(); // path -> text of a function
    }

    pathFrom(path, to) {
        const found = posix.join(posix.dirname(path), to);
        return replaced[found] ?? found;
    }

    add(path) {
        if (this.modules.has(path)) return;
        const file = join(this.folder, path);
        if (!existsSync(file)) throw new Error(`${file}: there is no such module`);
        this.modules.set(path, ''); // before its imports, which may lead back here
        const text = this.rewrite(path, readFileSync(file, 'utf8'));
        this.modules.set(path, text);
    }

    // The source of a module as the body of a function (require, exports).
    rewrite(path, source) {
        const exported = [];
        const require = (to) => {
            const found = this.pathFrom(path, to);
            this.add(found);
            return `require(${JSON.stringify(found)})`;
        };
        const text = source
            .replaceAll(importing, (_, whole, all, some, to) => {
                const module = require(to);
                const parts = [];
                if (all) parts.push(`const ${all} = ${module};`);
                if (whole) parts.push(`const { default: ${whole} } = ${module};`);
                if (some) parts.push(`const {${some.replaceAll(/\s+as\s+/g, ': ')}} = ${module};`);
                return parts.join(' ');
            })
            .replaceAll(/^import\s*'(\.[^']+)';$/gm, (_, to) => `${require(to)};`)
            .replaceAll(/^export\s+\*\s+from\s*'(\.[^']+)';$/gm, (_, to) => `Object.assign(exports, ${require(to)});`)
            .replaceAll(/^export\s+default\s+function\s+(\w+)/gm, (_, name) => {
                exported.push(`default: ${name}`);
                return `function ${name}`;
            })
            .replaceAll(/^export\s+((?:async\s+)?function\*?|class|const)\s+(\w+)/gm, (_, what, name) => {
                exported.push(name);
                return `${what} ${name}`;
            })
            .replaceAll(new RegExp(String.raw`^export\s+${names};$`, 'gm'), (_, some) => {
                exported.push(some.replaceAll(/(\w+)\s+as\s+(\w+)/g, '$2: $1'));
                return '';
            })
            .replaceAll(/\bimport\('(\.[^']+)'\)/g, (_, to) => `Promise.resolve().then(() => ${require(to)})`)
            .replaceAll('import.meta.url', "'file:///'");
        const other = /^(?:import\s[^(].*from|import\s*'|export\s).*$/m.exec(text) ?? /\bimport\((?!\/\*)[^)]*\)|import\.meta/.exec(text);
        if (other) throw new Error(`${join(this.folder, path)}: this is not understood: ${other[0]}`);
        return `${text}\nObject.assign(exports, { ${exported.join(', ')} });`;
    }

    // One classic script, which runs the module `first`.
    script(first) {
        this.add(first);
        const table = [...this.modules].map(([path, text]) => `${JSON.stringify(path)}(require, exports) {\n${text}\n}`).join(',\n');
        return `'use strict';
(() => {
const modules = {
${table}
};
const made = {};
function require(path) {
    if (!made[path]) modules[path](require, (made[path] = {}));
    return made[path];
}
require(${JSON.stringify(first)});
})();
`;
    }
}

// Text that ends no element it stands in.
function inside(script) {
    return script.replaceAll('</', '<\\/').replaceAll('<!--', '<\\!--');
}

function hash(text) {
    return `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
}

function page(folder) {
    const read = (name) => readFileSync(join(folder, name), 'utf8');
    const script = inside(new Joiner(folder).script('app.js'));
    const worker = inside(new Joiner(folder).script('compare_worker.js'));
    const theme = inside(read('theme.js'));
    const module = gzipSync(readFileSync(join(folder, 'perhaps/perhaps.wasm')), { level: 9 }).toString('base64');
    const style = read('style.css');
    // Nothing but these scripts may run, and nothing may be loaded or sent.
    const policy = `default-src 'none'; script-src ${hash(script)} ${hash(theme)} 'wasm-unsafe-eval'; style-src ${hash(style)}; img-src data:; worker-src blob:`;
    const parts = [
        [/(<meta http-equiv="Content-Security-Policy" content=")[^"]*/, `$1${policy}`],
        ['<link rel="stylesheet" href="style.css">', `<style>${style}</style>`],
        ['<script src="theme.js"></script>', `<script>${theme}</script>`],
        ['<script type="module" src="app.js"></script>', `<script type="text/plain" id="module">${module}</script>
<script type="text/plain" id="worker">${worker}</script>
<script>${script}</script>`],
    ];
    return parts.reduce((html, [what, by]) => {
        const joined = html.replace(what, typeof what === 'string' ? () => by : by);
        if (joined === html) throw new Error(`index.html has no ${what}`);
        return joined;
    }, read('index.html'));
}

const [folder, out] = process.argv.slice(2);
try {
    const html = page(folder);
    writeFileSync(`${out}.new`, html);
    renameSync(`${out}.new`, out);
    console.log(`The page is in ${out} (${Math.round(html.length / 1024)} KiB)`);
} catch (error) {
    console.error(`script/page: ${error.message}`);
    process.exitCode = 1;
}
