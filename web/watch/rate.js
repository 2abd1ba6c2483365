// The false-positive rate while the filter fills: the textbook's formula with its numbers, what the
// library says, and what non-members measure.
import { count, el, kindColour, percent, svg } from '../common.js';
import { axes, drawn, path, scale, ticks } from '../plot.js';
import { measuredKeys } from './story.js';

// The textbook's rate of n keys with k cells each in an array of m.
const textbook = (k, n, m) => (1 - Math.exp((-k * n) / m)) ** k;

// That of several arrays, any of which may say "perhaps"; null where the textbook has none.
function textbookOf(parts) {
    if (!parts.length || parts[0].name === 'slot') return null;
    return 1 - parts.reduce((none, { hashes, items, values }) => none * (1 - textbook(hashes, items, values.length)), 1);
}

const sup = (...text) => el('sup', {}, text);
const symbol = (name) => el('var', {}, name);

function plainFormula({ hashes: k, items: n, values }) {
    const m = values.length;
    return [
        el('p', { class: 'formula' }, '(1 − e', sup('−', symbol('kn'), '/', symbol('m')), ')', sup(symbol('k'))),
        el('p', { class: 'formula' }, `= (1 − e`, sup(`−${k}·${n}/${m}`), ')', sup(String(k)), ` = ${percent(textbook(k, n, m))}`),
    ];
}

const notes = {
    bloom: (part) => `${part.hashes} bits for each of ${part.items} keys, in ${part.values.length} bits.`,
    counting: (part) => `${part.hashes} counters for each of ${part.items} keys, in ${part.values.length} counters.`,
    blocked: (part) => `${part.hashes} bits for each of ${part.items} keys, in ${part.values.length} bits. The formula is for bits anywhere; a bit in each lane is a little different.`,
    window: (part) => `The newest generation: ${part.hashes} bits for each of ${part.items} keys, in ${part.values.length} bits. A query asks all generations, so their rates add up.`,
    cuckoo: () => 'A query compares the fingerprints in a handful of slots, and one may be equal by chance. The rate grows with the share of slots in use, and not with the number of bits set.',
    growing: () => 'Each layer adds its own rate. Later layers are stricter, so that the sum stays below the planned rate however many there are.',
    fuse: () => 'A query compares the exclusive or of three slots with a fingerprint, whatever is in them: one chance in 2 to the power of its bits, from the first key on.',
};

function formulaOf(kind, part, target) {
    if (kind === 'fuse') {
        const bits = String(-Math.log2(target));
        return [el('p', { class: 'formula' }, '2', sup('−', symbol('bits'))), el('p', { class: 'formula' }, '= 2', sup(`−${bits}`), ` = ${percent(target)}`)];
    }
    if (!part || part.name === 'slot') return [el('p', { class: 'formula' }, 'fingerprints compared ÷ fingerprints possible')];
    return plainFormula(part);
}

// ---- the curve ----

const SHOWN = 60; // points of the formula

function curveOf({ points, at, kind, blank }, stroke, width, height) {
    const last = Math.max(0, ...points.map(({ keys }) => keys));
    const most = Math.max(12, last, blank.info.capacity);
    const measured = points.map(({ keys, rate }) => [keys, rate]);
    const parts = points.findLast(({ parts }) => parts.length)?.parts ?? [];
    const smooth = parts.length === 1 && textbookOf(parts) !== null;
    const theory = smooth
        ? Array.from({ length: SHOWN + 1 }, (_, i) => [(most * i) / SHOWN, textbook(parts[0].hashes, (most * i) / SHOWN, parts[0].values.length)])
        : points.map(({ keys, own, parts }) => [keys, textbookOf(parts) ?? own]);
    if (kind === 'fuse') theory.splice(0, theory.length, ...[0, most].map((n) => [n, blank.info.fprTarget]));
    const highest = Math.max(0.001, ...theory.map(([, y]) => y ?? 0), ...measured.map(([, y]) => y ?? 0));
    const frame = { left: 52, right: width - 8, top: 22, bottom: height - 44 };
    const x = scale({ from: 0, to: most, start: frame.left, end: frame.right });
    const y = scale({ from: 0, to: highest * 1.08, start: frame.bottom, end: frame.top });
    const here = points[at];
    return svg('svg', { width, height, role: 'img', 'aria-label': 'The false-positive rate while keys are added' },
        axes({ frame, x, y, xTicks: ticks(0, most, Math.max(2, Math.floor(width / 90))).filter(Number.isInteger), yTicks: ticks(0, highest * 1.08, 4), xName: 'keys', yName: 'false-positive rate', yText: (value) => percent(value) }),
        svg('path', { class: 'curve theory', d: path(theory, x, y) }),
        svg('path', { class: 'curve', style: `stroke: ${stroke}`, d: path(measured, x, y) }),
        measured.filter(([, rate]) => rate !== null).map(([keys, rate]) => svg('circle', { cx: x(keys), cy: y(rate), r: 2.2, style: `fill: ${stroke}` })),
        here && here.rate !== null && svg('circle', { class: 'at', cx: x(here.keys), cy: y(here.rate), r: 5.5, style: `stroke: ${stroke}` }),
    );
}

/**
 * The card. show(kind, points, at, blank): the points of a story, which of them is to be marked
 * (-1: none), and the point before all acts. colour(kind) is that of the curve.
 */
export function rateCard(colour) {
    const host = el('div', { class: 'plot small' });
    const formula = el('div', { class: 'formulas' });
    const note = el('p', { class: 'note' });
    const figures = ['Textbook', 'The library says', 'Measured'].map((name) => {
        const value = el('strong', {}, '–');
        return { value, element: el('div', { class: 'figure' }, value, el('span', {}, name)) };
    });
    const legend = el('span', {});
    let now = null;
    const plot = drawn(host, (width, height) => (now ? curveOf(now, kindColour(colour(now.kind)), width, height) : ''));
    const element = el('section', { class: 'card rate', 'aria-labelledby': 'rate-title' },
        el('h2', { id: 'rate-title' }, 'How often it is wrong'),
        el('div', { class: 'halves' },
            el('div', {}, el('div', { class: 'figures' }, figures.map((figure) => figure.element)), formula, note),
            el('div', {}, host, el('p', { class: 'note legend' }, el('span', {}, el('i', { class: 'line' }), `measured with ${count(measuredKeys)} non-members`), el('span', {}, el('i', { class: 'line theory' }), legend))),
        ),
    );
    return {
        element,
        stop: plot.stop,
        show(kind, points, at, blank) {
            now = { kind, points, at, blank };
            const point = points[at] ?? blank;
            const part = point.parts.at(-1);
            const rates = [kind === 'fuse' ? point.info.fprTarget : textbookOf(point.parts), point.own, point.rate];
            figures.forEach(({ value }, i) => (value.textContent = rates[i] === null ? '–' : percent(rates[i])));
            formula.replaceChildren(...formulaOf(kind, part, point.info.fprTarget));
            legend.textContent = textbookOf(point.parts) === null && kind !== 'fuse' ? 'what the library says' : 'the formula';
            note.textContent = notes[kind](part);
            plot.draw();
        },
    };
}
