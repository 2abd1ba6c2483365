// A scene as SVG: the key on top, the array beneath it, lines from the key to its cells.
import { svg } from '../common.js';
import { wordsIn } from './scene.js';
import { childName } from './sentences.js';

const TOP = 84; // the key, and room for lines
const GAP = 2;
const LABEL = 24; // above each child

// ---- where things are ----

// Columns for a number of cells, by what they are and how wide the picture is.
function columnsFor({ name, values }, width, layered) {
    const n = values.length;
    if (name === 'slot') {
        const most = Math.max(1, Math.floor(width / (n > 30 ? 36 : 42)));
        return Math.ceil(n / Math.ceil(n / most));
    }
    if (n >= 512 || layered) return width >= 700 ? 64 : 32;
    if (name === 'counter') return width >= 700 && n > 64 ? 32 : 16;
    return width >= 560 ? 32 : 16;
}

/** Where the cells of a part are: { columns, w, h, x(i), y(i), width, height } from `top` on. */
function gridOf(part, width, top, layered) {
    const columns = columnsFor(part, width, layered);
    const lanes = part.values.length >= 512 ? 64 : 0; // a gap after each lane of 64 bits
    const most = { slot: 64, counter: 34, bit: 26 }[part.name];
    const margin = marginFor(part);
    const w = Math.min(most, (width - margin - GAP * (columns - 1)) / columns);
    const h = part.name === 'slot' ? 44 : Math.min(w, 26);
    const rows = Math.ceil(part.values.length / columns);
    const gapAfter = (row) => (lanes ? Math.floor((row * columns) / lanes) * 5 + Math.floor((row * columns) / 512) * 12 : 0);
    const left = margin + (width - margin - columns * w - (columns - 1) * GAP) / 2;
    return {
        w,
        columns,
        rows,
        h,
        x: (i) => left + (i % columns) * (w + GAP),
        y: (i) => top + Math.floor(i / columns) * (h + GAP) + gapAfter(Math.floor(i / columns)),
        left,
        height: rows * (h + GAP) + gapAfter(rows - 1),
    };
}

// What row numbers take, at the left.
const marginFor = ({ name }) => (name === 'slot' ? 0 : 26);

// Layers from the first on, so that nothing moves when one is appended; generations from the
// newest on.
function placed(parts, width, kind, reserved) {
    const layered = parts[0].child >= 0;
    const order = kind === 'window' ? [...parts].reverse() : parts;
    let top = TOP;
    const grids = new Map();
    for (const part of [...order, ...reserved.slice(parts.length)]) {
        if (layered) top += LABEL;
        const grid = gridOf(part, width, top, layered);
        grids.set(part.child, grid);
        top += grid.height + (layered ? 8 : 0);
    }
    return { grids, bottom: top, layered };
}

// ---- text ----

const short = (word, most = 16) => (word.length > most ? `${word.slice(0, most - 1)}…` : word);
const hex = (value) => value.toString(16);

function textIn(value, name) {
    if (name === 'bit') return '';
    return value ? (name === 'counter' ? String(value) : hex(value)) : '';
}

// ---- parts of the picture ----

function cellOf(part, grid, i, scene) {
    const value = part.values[i];
    const { state, now } = part.lit.get(i) ?? {};
    const words = wordsIn(scene, part, i);
    const left = scene.left?.[i];
    const classes = ['cell', part.name, value > 0n && 'on', value === 15n && part.name === 'counter' && 'full', state, now && 'now'];
    const [x, y] = [grid.x(i), grid.y(i)];
    const middle = x + grid.w / 2;
    return svg('g', { class: classes.filter(Boolean).join(' '), 'data-child': part.child, 'data-index': i, 'data-value': hex(value), 'data-lit': state },
        svg('title', {}, `${part.name} ${i}: ${part.name === 'slot' ? hex(value) : value}${words.length ? `, held by ${words.join(', ')}` : ''}`),
        svg('rect', { x, y, width: grid.w, height: grid.h, rx: part.name === 'slot' ? 6 : Math.min(4, grid.w / 4) }),
        part.name === 'counter' && value > 0n && svg('text', { x: middle, y: y + grid.h / 2 + 4, 'font-size': grid.w < 22 ? 10 : 12 }, textIn(value, part.name)),
        part.name === 'slot' && slotText(grid, i, value, words, left),
    );
}

function slotText(grid, i, value, words, left) {
    const middle = grid.x(i) + grid.w / 2;
    const y = grid.y(i);
    if (left) return Array.from({ length: left }, (_, k) => svg('circle', { class: 'left', cx: middle + (k - (left - 1) / 2) * 9, cy: y + 24, r: 3 }));
    return [
        svg('text', { class: 'number', x: grid.x(i) + 4, y: y + 11 }, i),
        value > 0n && svg('text', { class: 'value', x: middle, y: y + 26 }, textIn(value, 'slot')),
        words.length > 0 && svg('text', { class: 'word', x: middle, y: y + 39 }, short(words.join(' '), Math.floor(grid.w / 6))),
    ];
}

function keyOf(scene, width) {
    if (!scene.word) return null;
    const word = short(scene.word, 28);
    const w = Math.max(70, 8.6 * word.length + 34);
    return svg('g', { class: 'key' },
        svg('rect', { x: width / 2 - w / 2, y: 2, width: w, height: 30, rx: 15 }),
        svg('text', { x: width / 2, y: 22 }, word),
    );
}

function lineTo(grid, { index, state, now }, width) {
    const [x, y] = [grid.x(index) + grid.w / 2, grid.y(index) + 1];
    return svg('path', {
        class: `line ${state}${now ? ' now' : ''}`,
        d: `M${width / 2},32 C${width / 2},${(32 + y) / 2 + 8} ${x},${Math.max(40, y - 44)} ${x},${y}`,
        pathLength: 1,
    });
}

function arrow(grid, { from, to, now }) {
    const [a, b] = [grid.x(from) + grid.w / 2, grid.x(to) + grid.w / 2];
    const [ya, yb] = [grid.y(from), grid.y(to)];
    const high = Math.min(ya, yb) - Math.min(34, 14 + Math.abs(a - b) / 8);
    return svg('path', { class: `move${now ? ' now' : ''}`, d: `M${a},${ya} C${a},${high} ${b},${high} ${b},${yb - 2}`, pathLength: 1, 'marker-end': 'url(#watch-arrow)' });
}

// Words in rows: { element, height }.
function pills(words, top, width) {
    let [x, y] = [0, top];
    const drawn = words.map(({ text, state }) => {
        const w = 7.3 * text.length + 18;
        if (x + w > width && x > 0) [x, y] = [0, y + 28];
        const at = x;
        x += w + 6;
        return svg('g', { class: `pill ${state ?? ''}` },
            svg('rect', { x: at + 0.5, y: y + 0.5, width: w - 1, height: 23, rx: 11.5 }),
            svg('text', { x: at + w / 2, y: y + 16 }, text),
        );
    });
    return { element: drawn, height: y - top + 24 };
}

function stashOf(scene, top, width) {
    const { count, state, now } = scene.stash;
    const words = scene.holders.stash.map((text) => ({ text: short(text, 24) }));
    return svg('g', { class: ['stash', state, now && 'now'].filter(Boolean).join(' '), 'data-stashed': count },
        svg('rect', { x: 0.5, y: top + 0.5, width: width - 1, height: 61, rx: 8 }),
        svg('text', { class: 'caption', x: 12, y: top + 21 }, `Stash: ${count || 'empty'}`),
        svg('g', { transform: `translate(12 0)` }, pills(words, top + 30, width - 24).element),
    );
}

// Of a static filter: the keys that wait, or the order in which they were peeled.
function trayOf(scene, top, width, most) {
    const stored = ({ stored: value }) => (value === undefined ? '' : ' stored');
    const words = scene.waiting && !scene.peeled.length
        ? scene.waiting.map((text) => ({ text: short(text) }))
        : scene.peeled.map((key, i) => ({ text: `${i + 1} ${short(key.word)}`, state: `${key.now || key.word === scene.word ? 'now' : ''}${stored(key)}` }));
    const caption = scene.waiting && !scene.peeled.length ? 'Keys that wait' : scene.left ? 'Peeled in this order; dots are keys left' : 'Peeled in this order';
    const room = pills(most.map((text, i) => ({ text: `${i + 1} ${short(text)}` })), top + 30, width).height;
    return {
        element: svg('g', { class: 'tray' }, svg('text', { class: 'caption', x: 0, y: top + 18 }, words.length ? caption : ''), pills(words, top + 30, width).element),
        height: 42 + room,
    };
}

// The number of the first cell of each row.
function rowNumbers(part, grid) {
    if (!marginFor(part)) return null;
    return Array.from({ length: grid.rows }, (_, row) => row * grid.columns).map((i) =>
        svg('text', { class: 'row-number', x: grid.left - 6, y: grid.y(i) + grid.h / 2 + 3.5 }, i));
}

function captionOf(part, grid, kind, count, scene) {
    const name = childName(kind, part.child, count);
    const classes = ['caption', scene.active === part.child && 'active', part.gone && 'gone'];
    return svg('text', { class: classes.filter(Boolean).join(' '), x: grid.left, y: grid.y(0) - 8 },
        `${name[0].toUpperCase()}${name.slice(1)}: ${part.items} of ${part.capacity} keys${part.gone ? ', forgotten' : ''}`);
}

/** What is in the picture, in words. */
function inWords(scene) {
    const parts = scene.parts.map(({ name, values }) => `${values.filter((value) => value > 0n).length} of ${values.length} ${name}s are in use`);
    return `The array: ${parts.join('; ')}.`;
}

/**
 * Draws a scene. `reserved`: the parts that there will be in the end, and `words` those that will
 * wait: so the picture has one height from the first step to the last.
 */
export function pictureOf(scene, { kind, width, reserved, words }) {
    const { grids, bottom, layered } = placed(scene.parts, width, kind, reserved);
    const tray = kind === 'fuse' ? trayOf(scene, bottom + 4, width, words) : null;
    const height = Math.ceil(bottom + (tray ? tray.height : kind === 'cuckoo' ? 76 : 4));
    const gridAt = (child) => grids.get(child) ?? grids.get(scene.parts[0].child);
    return svg('svg', { class: `array ${kind}`, viewBox: `0 0 ${width} ${height}`, width, height, role: 'img', 'aria-label': inWords(scene) },
        svg('defs', {}, svg('marker', { id: 'watch-arrow', viewBox: '0 0 8 8', refX: 6, refY: 4, markerWidth: 7, markerHeight: 7, orient: 'auto' }, svg('path', { class: 'head', d: 'M0,0L8,4L0,8z' }))),
        scene.parts.map((part) => svg('g', { class: part.gone ? 'part gone' : 'part' },
            layered && captionOf(part, gridAt(part.child), kind, scene.parts.length, scene),
            rowNumbers(part, gridAt(part.child)),
            part.values.map((_, i) => cellOf(part, gridAt(part.child), i, scene)),
        )),
        scene.lines.map((line) => lineTo(gridAt(line.child), line, width)),
        scene.moves.map((move) => arrow(gridAt(move.child), move)),
        keyOf(scene, width),
        kind === 'cuckoo' && stashOf(scene, bottom + 8, width),
        tray?.element,
    );
}
