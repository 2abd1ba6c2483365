// A picture of an array: small ones cell by cell, large ones as squares whose colour is as full as
// the share of cells in use there, of which some are looked at.
import { colourOf, count, el, fixed, kindColour } from './common.js';
import { childrenName, innerKind, partsOf } from './facts.js';

const SAMPLE = 256; // cells that are looked at for a square
const MOST_STRIPS = 12; // children that are drawn

// The share of each square in use: { shares, cells of a square, length, name }.
function look(filter, child, squares) {
    const { length, name } = filter.cells({ child, most: 0 });
    const step = Math.max(1, Math.ceil(length / squares));
    const n = Math.ceil(length / step);
    const shares = new Float32Array(n);
    for (let i = 0; i < n; i++) {
        const { values } = filter.cells({ child, from: i * step, most: Math.min(SAMPLE, step) });
        let used = 0;
        for (const value of values) used += value !== 0n;
        shares[i] = values.length ? used / values.length : 0;
    }
    return { shares, each: step, length, name };
}

function paint(canvas, { shares }, columns, colour) {
    const width = canvas.parentNode.clientWidth;
    const ratio = Math.min(devicePixelRatio || 1, 2);
    const rows = Math.ceil(shares.length / columns);
    // Of a square, in pixels of the screen.
    const size = Math.max(2, Math.floor((width * ratio) / columns));
    canvas.width = columns * size;
    canvas.height = rows * size;
    canvas.style.width = `${width}px`;
    const context = canvas.getContext('2d');
    const empty = colourOf('var(--line)');
    const full = colourOf(colour);
    const side = size - (size > 4 ? Math.max(1, Math.round(size / 8)) : 1);
    for (let i = 0; i < shares.length; i++) {
        const x = (i % columns) * size;
        const y = Math.floor(i / columns) * size;
        context.globalAlpha = 1;
        context.fillStyle = empty;
        context.fillRect(x, y, side, side);
        context.globalAlpha = shares[i];
        context.fillStyle = full;
        context.fillRect(x, y, side, side);
    }
}

function strip(filter, child, info, squares, columns, title) {
    const seen = look(filter, child, squares);
    const canvas = el('canvas', { role: 'img', 'aria-label': `${title}: ${fixed(100 * info.fill, 1)} % in use` });
    const frame = el('div', { class: 'cells' }, canvas);
    const note = seen.each === 1 ? `${count(seen.length)} ${seen.name}s, each a square` : `${count(seen.length)} ${seen.name}s; each square stands for ${count(seen.each)}`;
    return { frame, note, draw: () => paint(canvas, seen, columns, kindColour(innerKind(info))) };
}

/** { element, draw, stop } for an open filter. */
export function fillPicture(filter, info) {
    const element = el('div', { class: 'fill' });
    const columns = 56;
    const strips = [];
    const say = (...parts) => element.append(...parts);
    if (!info.children) {
        const one = strip(filter, -1, info, columns * 28, columns, 'The array');
        strips.push(one);
        say(one.frame, el('p', { class: 'note' }, `${fixed(100 * info.fill, 1)} % of the ${partsOf(info)}: ${one.note}. The fuller the colour, the more of it is in use.`));
    } else {
        const name = childrenName(info).slice(0, -1);
        filter.children().slice(0, MOST_STRIPS).forEach((child, i) => {
            const title = `${name} ${i + 1}`;
            try {
                const one = strip(filter, i, { ...child, base: innerKind(info) }, columns * 4, columns, title);
                strips.push(one);
                say(el('h3', {}, `${title}: ${fixed(100 * child.fill, 1)} % · ${one.note}`), one.frame);
            } catch {
                // Shards that are composite themselves have no cells of their own.
                say(el('h3', {}, `${title}: ${fixed(100 * child.fill, 1)} %`));
            }
        });
        if (info.children > MOST_STRIPS) say(el('p', { class: 'note' }, `and ${count(info.children - MOST_STRIPS)} more`));
    }
    const draw = () => strips.forEach((one) => one.draw());
    addEventListener('themechange', draw);
    return { element, draw, stop: () => removeEventListener('themechange', draw) };
}
