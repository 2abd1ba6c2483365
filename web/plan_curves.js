// The curves of the view Plan: bits per key of each kind against the false-positive rate, with the
// theoretical minimum, as `perhaps plan --plot` draws them.
import { digits, el, kindColour, svg } from './common.js';
import { anyMachine } from './planner.js';
import { axes, drawn, label, logTicks, path, scale, spread, ticks } from './plot.js';

const POINTS = 49;
const FIRST = 0.1;
const LAST = 1e-6;

function ratesBetween(first, last) {
    return Array.from({ length: POINTS }, (_, i) => first * (last / first) ** (i / (POINTS - 1)));
}

// The wanted filter, but of one kind and with the rate given instead of the size.
function bitsAt(lib, want, kind, items, fpr) {
    try {
        return lib.plan({ kind, items, fpr, ...(want.grow && { grow: want.grow }) }, anyMachine).bitsPerKey;
    } catch {
        return null;
    }
}

// As high as the curves that are not several times as high as the lowest: a table may leave above.
function topOf(lines) {
    const most = lines.map(({ points }) => Math.max(...points.map(([, bits]) => bits ?? 0)));
    const least = Math.min(...most.filter((bits) => bits > 0));
    return 1.15 * Math.max(...most.filter((bits) => bits <= 2 * least));
}

export function curves(lib) {
    const host = el('div', { class: 'plot' });
    const caption = el('p', { class: 'note', role: 'note' }, 'Dots are the filters of the table. The dashed line is the least that any filter can do with.');
    const element = el('div', {}, host, caption);
    let now = null; // { lines, comparison, row, first, last }
    let key = '';
    let timer = 0;

    // A few kinds take milliseconds a point: one curve at a time, so that sliders stay smooth.
    function compute(comparison, items, first, last) {
        clearTimeout(timer);
        const rates = ratesBetween(first, last);
        const kinds = comparison.rows.map(({ kind }) => kind);
        const lines = [];
        const next = () => {
            const kind = kinds[lines.length];
            lines.push({ kind, points: rates.map((fpr) => [fpr, bitsAt(lib, comparison.want, kind, items, fpr)]) });
            if (lines.length < kinds.length) {
                timer = setTimeout(next, 0);
            } else {
                now = { ...now, lines: lines.filter(({ points }) => points.some(([, bits]) => bits !== null)), first, last };
                element.dataset.drawn = key;
                picture.draw();
            }
        };
        timer = setTimeout(next, 60);
    }

    function draw(width, height) {
        const { lines, comparison, row, first, last } = now ?? {};
        const narrow = width < 480;
        const frame = { left: 34, right: width - (narrow ? 84 : 104), top: 30, bottom: height - 46 };
        const root = svg('svg', { width, height, viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': 'Bits per key of each kind against the false-positive rate' });
        if (!lines?.length) return root;
        const top = topOf(lines);
        const x = scale({ from: first, to: last, start: frame.left, end: frame.right, log: true });
        const y = scale({ from: 0, to: top, start: frame.bottom, end: frame.top });
        const limit = (p) => Math.log2(1 / p);
        root.append(
            axes({ frame, x, y, xTicks: logTicks(first, last, narrow ? 5 : 8), yTicks: ticks(0, top), xName: 'false-positive rate', yName: 'bits per key', xText: (p) => (p < 1e-3 ? p.toExponential(0) : digits(p)) }),
            svg('path', { class: 'limit', d: path([[first, limit(first)], [last, limit(last)]], x, y) }),
        );
        const wanted = comparison.rate;
        if (wanted <= first && wanted >= last) root.append(svg('line', { class: 'here', x1: x(wanted), x2: x(wanted), y1: frame.top, y2: frame.bottom }));
        for (const { kind, points } of lines) {
            const chosen = kind === row?.kind;
            root.append(svg('path', { class: `curve${chosen ? ' chosen' : ''}`, d: path(points, x, y, top), style: `stroke: ${kindColour(kind)}` }));
        }
        for (const { kind, plan } of comparison.rows) {
            if (!plan || plan.bitsPerKey > top || plan.fpr > first || plan.fpr < last) continue;
            root.append(svg('circle', { class: 'dot', cx: x(plan.fpr), cy: y(plan.bitsPerKey), r: kind === row?.kind ? 6 : 4, style: `fill: ${kindColour(kind)}` }));
        }
        root.append(...names(lines, { frame, y, top, last, limit, row }));
        return root;
    }

    // In the margin, at the height where a curve ends; above, if it is beyond the upper edge.
    function names(lines, { frame, y, top, last, limit, row }) {
        const ends = lines.map(({ kind, points }) => {
            const bits = points.at(-1)[1] ?? points.findLast(([, value]) => value !== null)[1];
            return bits > top ? { kind, text: `↑ ${kind}`, at: frame.top } : { kind, text: kind, at: y(bits) };
        });
        ends.push({ kind: 'limit', text: 'minimum', at: y(limit(last)) });
        const heights = spread(ends.map(({ at }) => at), 18, frame.bottom);
        return ends.map(({ kind, text }, i) => label(frame.right + 8, heights[i], text, kind, kind === row?.kind));
    }

    const picture = drawn(host, draw);
    return {
        element,
        show(comparison, row, items) {
            now = { ...now, comparison, row };
            if (comparison.error) return;
            const first = Math.max(FIRST, Math.min(0.9, comparison.rate));
            const last = Math.min(LAST, comparison.rate || LAST);
            const wanted = [items, first, last, comparison.want.grow].join();
            if (wanted !== key) {
                key = wanted;
                compute(comparison, items, first, last);
            }
            picture.draw();
        },
        stop() {
            clearTimeout(timer);
            picture.stop();
        },
    };
}
