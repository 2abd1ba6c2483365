// The view Plan: what every kind of filter costs.
import { bytes, checkbox, copyable, count, digits, el, field, inNextFrame, kindName, parseCount, parseRate, percent, rate, short } from './common.js';
import { curves } from './plan_curves.js';
import { languages, linesOf, redisNote } from './plan_lines.js';
import { abilityName, compare, isStatic, whyRecommended } from './planner.js';

// The three quantities: how they are read, written and spread along a slider.
const quantities = {
    items: {
        label: 'Items', hint: 'distinct keys, such as 5e6, 5M or 2^20', parse: (text) => parseCount(text), text: count, url: short,
        least: 1, most: 2 ** 40, slide: [10, 1e10], bad: 'Give a number of keys from 1 on, such as 5e6, 5M or 2^20.',
    },
    fpr: {
        label: 'False-positive rate', hint: '“perhaps” for a key that was never added, such as 0.01, 1% or 1 in 1000', parse: parseRate, text: (p) => digits(p, 6), url: String,
        least: 1e-18, most: 0.999, slide: [0.5, 1e-9], bad: 'Give a rate between 0 and 1, such as 0.01, 1% or 1 in 1000.',
    },
    bytes: {
        label: 'Memory', hint: 'such as 64 MiB or 6000000', parse: (text) => parseCount(text, true), text: bytesText, url: String,
        least: 1, most: 2 ** 44, slide: [64, 2 ** 36], bad: 'Give a size, such as 64 MiB or 6000000.',
    },
};
const names = Object.keys(quantities);
const STEPS = 400; // of a slider

// What a filter can be asked to do, beyond being added to and queried.
const abilities = {
    remove: 'remove keys',
    count: 'count how often a key was added',
    merge: 'be merged with another',
    intersect: 'be intersected with another',
    list: 'list its keys',
};

const defaults = { items: 5e6, fpr: 0.01, bytes: 6 * 2 ** 20 };

function bytesText(n) {
    for (const [unit, size] of [['GiB', 2 ** 30], ['MiB', 2 ** 20], ['KiB', 2 ** 10]])
        if (n >= size && Number.isInteger((n / size) * 100)) return `${n / size} ${unit}`;
    return n >= 1e5 ? `${count(n)} bytes` : `${n} bytes`;
}

// ---- the state, and its URL ----

function stateOf(params) {
    const given = {};
    for (const name of names) {
        const { parse, least, most } = quantities[name];
        const value = params.has(name) ? parse(params.get(name)) : NaN;
        if (value >= least && value <= most) given[name] = value;
    }
    const follows = names.findLast((name) => !(name in given)) ?? 'bytes';
    const needs = (params.get('needs') ?? '').split(',').filter((name) => name in abilities);
    return {
        values: { ...defaults, ...given },
        follows,
        needs,
        grow: params.get('grow') === 'layers',
        fixed: params.get('static') === '1',
        kind: params.get('kind') ?? '',
        sort: params.get('sort') ?? '',
    };
}

function paramsOf(state) {
    const params = {};
    for (const name of names) if (name !== state.follows) params[name] = quantities[name].url(state.values[name]);
    const { needs, grow, fixed, kind, sort } = state;
    return { ...params, needs: needs.join(','), grow: grow && 'layers', static: fixed && '1', kind, sort };
}

function wantOf({ values, follows, needs, grow, fixed }) {
    const want = {};
    for (const name of names) if (name !== follows) want[name] = values[name];
    if (needs.length) want.needs = needs;
    if (grow) want.grow = 'layers';
    if (fixed) want.kind = 'fuse';
    return want;
}

// ---- controls ----

function toSlider({ slide: [from, to] }, value) {
    return Math.round((STEPS * Math.log(value / from)) / Math.log(to / from));
}

// Two digits are enough for a slider; of sizes they are binary.
function fromSlider(name, step) {
    const [from, to] = quantities[name].slide;
    const value = from * (to / from) ** (step / STEPS);
    if (name === 'bytes') {
        const unit = 2 ** Math.floor(Math.log2(value) - 3);
        return Math.max(64, Math.round(value / unit) * unit);
    }
    return Number(value.toPrecision(2));
}

function quantityField(name, change) {
    const { label, hint, bad, parse, text, least, most } = quantities[name];
    const box = el('input', { type: 'text', inputmode: 'text', autocomplete: 'off', spellcheck: 'false', 'aria-describedby': `hint-${name}` });
    const slider = el('input', { type: 'range', min: 0, max: STEPS, step: 1, 'aria-label': `${label}, slider` });
    const note = el('span', { class: 'hint', id: `hint-${name}` }, hint);
    const say = (wrong) => {
        box.setAttribute('aria-invalid', wrong);
        note.textContent = wrong ? bad : hint;
        note.classList.toggle('wrong', wrong);
    };
    box.addEventListener('input', () => {
        const value = parse(box.value);
        const good = value >= least && value <= most;
        say(!good);
        if (good) change(name, value, box);
    });
    slider.addEventListener('input', () => change(name, fromSlider(name, Number(slider.value)), slider));
    const show = (value, derived, by) => {
        box.readOnly = slider.disabled = derived;
        if (by !== box) {
            box.value = Number.isFinite(value) ? text(value) : '';
            say(false);
        }
        if (by !== slider && value > 0) slider.value = toSlider(quantities[name], value);
        slider.setAttribute('aria-valuetext', box.value);
    };
    const element = field(label, box, slider, note);
    return { element, show: (value, derived, by) => (element.classList.toggle('derived', derived), show(value, derived, by)) };
}

function followsField(choose) {
    const inputs = {};
    const labels = [['bytes', 'Memory'], ['fpr', 'Rate'], ['items', 'Items']].map(([name, label]) => {
        inputs[name] = el('input', { type: 'radio', name: 'follows', value: name, onchange: () => choose(name) });
        return el('label', {}, inputs[name], el('span', {}, label));
    });
    const element = el('fieldset', { class: 'choice' }, el('legend', {}, 'Work out'), el('div', { class: 'segments' }, labels));
    return { element, show: (name) => (inputs[name].checked = true) };
}

// ---- the table ----

const columns = [
    { name: 'kind', title: 'kind', of: (row) => row.kind },
    { name: 'bits', title: 'bits per key', number: true, of: ({ plan }) => plan.bitsPerKey, text: (bits) => bits.toFixed(2) },
    { name: 'bytes', title: 'memory', number: true, of: ({ plan }) => plan.bytes, text: bytes, exact: (n) => `${count(n)} bytes` },
    { name: 'items', title: 'keys', number: true, of: ({ plan }) => -plan.items, text: (n) => count(-n) },
    { name: 'fpr', title: 'rate', number: true, of: ({ plan }) => plan.fpr, text: (p) => digits(p), exact: rate },
    { name: 'lines', title: 'cache lines', number: true, of: ({ plan }) => plan.lines, text: String },
];
const usualSort = { bytes: 'bits', fpr: 'fpr', items: 'items' };

function sorted(rows, name) {
    const { of } = columns.find((column) => column.name === name);
    const order = (a, b) => (of(a) < of(b) ? -1 : of(a) > of(b) ? 1 : 0);
    return [...rows.filter((row) => row.plan).sort(order), ...rows.filter((row) => !row.plan)];
}

function canText(row) {
    if (isStatic(row)) return 'static';
    return row.can.filter((name) => name !== 'inPlace').map(abilityName).join(' ');
}

function bodyRow(row, { chosen, limit, widest, choose }) {
    const button = el('button', { type: 'button', class: 'pick', 'aria-pressed': String(row === chosen), disabled: !row.plan, onclick: () => choose(row) }, kindName(row.kind));
    const first = el('th', { scope: 'row' }, button, row.recommended && el('span', { class: 'tag good' }, 'recommended'));
    if (!row.plan) return el('tr', { class: 'cannot', 'data-kind': row.kind }, first, el('td', { colspan: columns.length }, row.error));
    const cells = columns.slice(1).map((column) => {
        const value = column.of(row);
        return el('td', { class: 'number', 'data-column': column.name, 'data-value': Math.abs(value), title: column.exact?.(value) }, column.text(value));
    });
    const bar = el('i', { class: 'bar', style: `width: ${(100 * Math.min(1, row.plan.bitsPerKey / widest)).toFixed(1)}%; background: var(--kind-${row.kind})` });
    cells[0].append(el('span', { class: 'bars', 'aria-hidden': 'true' }, bar, limit > 0 && el('i', { class: 'least', style: `left: ${Math.min(100, (100 * limit) / widest).toFixed(1)}%` })));
    return el('tr', { class: row === chosen ? 'chosen' : null, 'data-kind': row.kind, 'data-recommended': row.recommended }, first, cells, el('td', { class: 'can' }, canText(row)));
}

function table(sortBy) {
    const buttons = {};
    const heads = columns.map(({ name, title, number }) => {
        buttons[name] = el('th', { scope: 'col', class: number ? 'number' : null }, el('button', { type: 'button', class: 'sort', onclick: () => sortBy(name) }, title));
        return buttons[name];
    });
    const body = el('tbody');
    const element = el('div', { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': 'What each kind takes' },
        el('table', {}, el('caption', { class: 'hidden' }, 'Each kind of filter: bits per key, memory, keys, rate, cache lines of a query and abilities'),
            el('thead', {}, el('tr', {}, heads, el('th', { scope: 'col' }, 'can'))), body));
    const show = (comparison, name, chosen, choose) => {
        for (const column of columns) buttons[column.name].setAttribute('aria-sort', column.name === name ? 'ascending' : 'none');
        const made = comparison.rows.filter((row) => row.plan).map(({ plan }) => plan.bitsPerKey);
        // A kind several times as large as the others would make their bars too short to tell
        // apart.
        const widest = Math.max(...made.filter((bits) => bits <= 3 * Math.min(...made)), 1) * 1.1;
        const focused = document.activeElement?.closest?.('tr')?.dataset.kind;
        body.replaceChildren(...sorted(comparison.rows, name).map((row) => bodyRow(row, { chosen, limit: comparison.limit, widest, choose })));
        if (focused) body.querySelector(`tr[data-kind="${focused}"] button`)?.focus();
    };
    return { element, show };
}

// ---- the recommendation ----

function figure(value, what) {
    return el('div', { class: 'figure' }, el('strong', {}, value), el('span', {}, what));
}

function answer() {
    const element = el('section', { class: 'card answer', 'aria-labelledby': 'answer' });
    const show = (comparison, row) => {
        if (!row) {
            element.replaceChildren(el('h2', { id: 'answer' }, 'No kind will do'), el('p', { class: 'message bad' }, comparison.error ?? 'ask for less'));
            return;
        }
        const { plan } = row;
        const why = row.recommended ? whyRecommended(comparison) : `You chose it. Recommended is ${comparison.recommended?.kind ?? 'another'}: ${whyRecommended(comparison)}`;
        const overhead = plan.bitsPerKey / Math.log2(1 / plan.fpr) - 1;
        element.replaceChildren(
            el('h2', { id: 'answer' }, row.recommended ? 'Take ' : 'With ', kindName(row.kind)),
            el('div', { class: 'figures' },
                figure(bytes(plan.bytes), comparison.want.grow ? 'of memory, the first layer' : 'of memory'),
                figure(plan.bitsPerKey.toFixed(2), overhead < 9.99 ? `bits per key, ${percent(overhead, 2)} above the minimum` : 'bits per key'),
                figure(plan.fpr < 0.2 ? `1 in ${count(1 / plan.fpr)}` : percent(plan.fpr), 'false positives'),
                figure(count(plan.items), 'keys')),
            el('p', { class: 'why' }, why),
        );
    };
    return { element, show };
}

function remarks(comparison) {
    const { classic, rate: wanted, limit, want } = comparison;
    const sentences = [];
    if (limit > 0) sentences.push(`No filter can do with fewer than ${limit.toFixed(2)} bits per key at a rate of ${rate(wanted)}.`);
    sentences.push(`The textbook’s Bloom filter: k = ${classic.hashes}, ${count(classic.bits)} bits before rounding.`);
    if (want.grow) sentences.push('Layers: this is the first; more are appended as it fills, and the rate holds.');
    sentences.push('Static kinds are built from all keys at once, and never change. For integers below N, a bitmap is exact in N / 8 bytes.');
    return sentences.join(' ');
}

function lineBlocks(announce) {
    const blocks = languages.map((language) => [language, copyable(language, announce)]);
    return {
        elements: blocks.map(([, block]) => block.element),
        show: (lines) => blocks.forEach(([language, block]) => block.set(lines?.[language] ?? '')),
    };
}

// ---- the view ----

function mount(root, { lib, params, setParams, announce }) {
    let state = stateOf(params);
    const again = inNextFrame(() => render());
    let by = null; // the control that changed

    const change = (name, value, control) => {
        state.values[name] = value;
        by = control;
        again();
    };
    const set = (values) => {
        Object.assign(state, values);
        again();
    };
    const fields = Object.fromEntries(names.map((name) => [name, quantityField(name, change)]));
    const follows = followsField((name) => {
        state.values = { ...state.values, ...Object.fromEntries(names.filter((other) => state.shown?.[other]).map((other) => [other, rounded(other, state.shown[other])])) };
        set({ follows: name });
    });
    const checks = Object.entries(abilities).map(([name, text]) => {
        const [label, input] = checkbox(text, { onchange: () => set({ needs: Object.keys(abilities).filter((one) => boxes[one].checked) }) });
        return { name, label, input };
    });
    const boxes = Object.fromEntries(checks.map(({ name, input }) => [name, input]));
    const [growLabel, growBox] = checkbox('take more keys than planned, in layers', { onchange: () => set({ grow: growBox.checked }) });
    const [staticLabel, staticBox] = checkbox('nothing: all keys are known now', { onchange: () => set({ fixed: staticBox.checked }) });
    const tableOf = table((name) => set({ sort: name }));
    const recommended = answer();
    const note = el('p', { class: 'note remarks' });
    const serverNote = el('p', { class: 'note server-note' });
    const blocks = lineBlocks(announce);
    const curve = curves(lib);

    root.append(
        el('h1', {}, 'What does it take?'),
        el('p', { class: 'lead' }, 'Fix two of items, rate and memory; the third follows. The numbers are those of ', el('code', {}, 'perhaps plan'), '.'),
        el('div', { class: 'beside' },
            el('form', { class: 'card controls', onsubmit: (event) => event.preventDefault() },
                follows.element, names.map((name) => fields[name].element),
                el('fieldset', { class: 'needs' }, el('legend', {}, 'Once it is made, it must'), checks.map(({ label }) => label), growLabel, staticLabel)),
            el('div', { class: 'stack' }, recommended.element,
                el('section', { class: 'card' }, el('h2', {}, 'Bits per key against the rate'), curve.element))),
        el('div', { class: 'stack below' },
            el('section', { class: 'card', 'aria-label': 'All kinds' }, tableOf.element, note),
            el('section', { class: 'card' }, el('h2', {}, 'To copy'), el('div', { class: 'lines' }, blocks.elements, serverNote))),
    );

    function rounded(name, value) {
        return name === 'fpr' ? Number(value.toPrecision(3)) : Math.round(value);
    }

    function chosenRow(comparison) {
        return comparison.rows.find((row) => row.plan && row.kind === state.kind) ?? comparison.recommended ?? null;
    }

    function render() {
        const comparison = compare(lib, wantOf(state));
        const row = comparison.error ? null : chosenRow(comparison);
        const derived = row && { items: row.plan.items, fpr: row.plan.fpr, bytes: row.plan.bytes }[state.follows];
        state.shown = { ...state.values, ...(row && { [state.follows]: derived }) };
        follows.show(state.follows);
        for (const name of names) fields[name].show(name === state.follows ? (derived ?? NaN) : state.values[name], name === state.follows, by);
        by = null;
        for (const { name, input } of checks) input.checked = state.needs.includes(name);
        growBox.checked = state.grow;
        staticBox.checked = state.fixed;
        recommended.show(comparison, row);
        const sort = columns.some(({ name }) => name === state.sort) ? state.sort : usualSort[state.follows];
        tableOf.show(comparison, sort, row, (picked) => set({ kind: picked.recommended ? '' : picked.kind }));
        note.textContent = comparison.error ? '' : remarks(comparison);
        const lines = row && linesOf(lib, comparison, row);
        blocks.show(lines);
        serverNote.textContent = lines ? redisNote(lines.Redis) : '';
        curve.show(comparison, row, state.shown.items);
        setParams(paramsOf(state));
        if (row) announce(`${row.kind}: ${bytes(row.plan.bytes)}, ${digits(row.plan.bitsPerKey)} bits per key, ${rate(row.plan.fpr)}`);
    }

    render();
    return {
        update(next) {
            state = stateOf(next);
            again();
        },
        unmount() {
            again.cancel();
            curve.stop();
        },
    };
}

export const view = { name: 'plan', title: 'Plan', mount };
