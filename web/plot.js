// Curves and bars as SVG, drawn anew for the width there is, so that text keeps its size.
import { digits, kindColour, svg } from './common.js';

const FONT = 12.5;

/** An axis: from numbers to pixels. log: a logarithmic one. */
export function scale({ from, to, start, end, log = false }) {
    const of = log ? Math.log : (x) => x;
    const slope = (end - start) / (of(to) - of(from) || 1);
    const at = (x) => start + (of(x) - of(from)) * slope;
    at.invert = (pixel) => {
        const x = of(from) + (pixel - start) / slope;
        return log ? Math.exp(x) : x;
    };
    return at;
}

/** Round numbers between two, about `n` of them: 0, 5, 10 ... */
export function ticks(from, to, n = 6) {
    const rough = (to - from) / n;
    const power = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 5, 10].find((factor) => factor * power >= rough) * power;
    const marks = [];
    for (let i = Math.ceil(from / step - 1e-9); i * step <= to + 1e-9 * step; i++) marks.push(Number((i * step).toPrecision(12)));
    return marks;
}

/** Powers of ten between two, at most `n` of them. */
export function logTicks(a, b, n = 8) {
    const first = Math.ceil(Math.log10(Math.min(a, b)) - 1e-9);
    const last = Math.floor(Math.log10(Math.max(a, b)) + 1e-9);
    const step = Math.max(1, Math.ceil((last - first + 1) / n));
    const marks = [];
    for (let i = last; i >= first; i -= step) marks.push(10 ** i);
    return marks;
}

/**
 * Heights that differ by at least `gap`, as near to the wanted ones as the order from above
 * allows.
 */
export function spread(wanted, gap, bottom) {
    const order = wanted.map((y, i) => ({ y, i })).sort((a, b) => a.y - b.y);
    let least = -Infinity;
    for (const one of order) least = (one.y = Math.max(one.y, least)) + gap;
    let most = bottom;
    for (const one of order.reverse()) most = (one.y = Math.min(one.y, most)) - gap;
    const heights = [];
    for (const { y, i } of order) heights[i] = y;
    return heights;
}

/** 'M1,2L3,4': a line through points, with gaps where a value is missing or beyond `most`. */
export function path(points, x, y, most = Infinity) {
    let line = '';
    let drawing = false;
    for (const [a, b] of points) {
        const there = b !== null && b <= most;
        if (there) line += `${drawing ? 'L' : 'M'}${x(a).toFixed(1)},${y(b).toFixed(1)}`;
        drawing = there;
    }
    return line;
}

/** Draws anew whenever the width of `host` changes. Returns { draw, stop }. */
export function drawn(host, draw) {
    let width = 0;
    const again = () => width && host.replaceChildren(draw(width, host.clientHeight));
    const observer = new ResizeObserver(() => {
        if (host.clientWidth === width) return;
        width = host.clientWidth;
        again();
    });
    observer.observe(host);
    return {
        draw() {
            width = host.clientWidth;
            again();
        },
        stop: () => observer.disconnect(),
    };
}

/**
 * Grid, marks and names of both axes, as a group; `frame` has left, right, top, bottom in
 * pixels.
 */
export function axes({ frame, x, y, xTicks, yTicks, xName, yName, xText = digits, yText = digits }) {
    const { left, right, top, bottom } = frame;
    return svg('g', { class: 'axes', 'font-size': FONT },
        yTicks.map((value) => [
            svg('line', { class: 'grid', x1: left, x2: right, y1: y(value), y2: y(value) }),
            svg('text', { x: left - 7, y: y(value) + 4, 'text-anchor': 'end' }, yText(value)),
        ]),
        xTicks.map((value) => [
            svg('line', { class: 'grid', x1: x(value), x2: x(value), y1: top, y2: bottom }),
            svg('text', { x: x(value), y: bottom + 18, 'text-anchor': 'middle' }, xText(value)),
        ]),
        svg('line', { class: 'edge', x1: left, x2: right, y1: bottom, y2: bottom }),
        yName && svg('text', { class: 'axis-name', x: 0, y: top - 14 }, yName),
        xName && svg('text', { class: 'axis-name', x: right, y: bottom + 38, 'text-anchor': 'end' }, xName),
    );
}

/**
 * The name of a curve, with its colour as a dot: text in the colour itself would be hard to
 * read.
 */
export function label(x, y, text, kind, strong = false) {
    return svg('g', { 'font-size': FONT, class: strong ? 'strong' : null },
        svg('circle', { cx: x + 4, cy: y, r: 4, style: `fill: ${kindColour(kind)}` }),
        svg('text', { x: x + 13, y: y + 4.2 }, text),
    );
}
