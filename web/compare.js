// The view Compare: how fast the kinds are in this browser, beside JavaScript's Set.
import { bytes, checkbox, count, digits, el, field, kindColour, kindName, parseCount, parseRate, short } from './common.js';
import { startWorker } from './platform.js';

const usualSizes = [1e4, 1e5, 1e6];
const MOST = 1e7; // a Set has at most 2^24 members
const MOST_SIZES = 6;
const measures = {
    batch: { title: 'Query, in batches', note: 'Nanoseconds per key of hasMany(); a Set has no batches.' },
    single: { title: 'Query, one by one', note: 'Nanoseconds per call of has().' },
    add: { title: 'Add', note: 'Nanoseconds per key to make the filter: new Filter(), addMany(), seal(); of a Set, its constructor.' },
};
const keyForms = { u64: 'integers', text: 'text' };

// ---- the state, and its URL ----

function parseSizes(text) {
    const sizes = text.split(/[\s;]+|,(?!\d{3}\b)/).filter(Boolean).map((part) => parseCount(part));
    const good = sizes.length > 0 && sizes.length <= MOST_SIZES && sizes.every((n) => n >= 10 && n <= MOST);
    return good ? [...new Set(sizes)].sort((a, b) => a - b) : null;
}

function stateOf(params, kinds) {
    const wanted = (params.get('kinds') ?? '').split(',').filter((kind) => kinds.includes(kind));
    const fpr = parseRate(params.get('fpr') ?? '');
    return {
        sizes: parseSizes((params.get('sizes') ?? '').replaceAll(',', ' ')) ?? usualSizes,
        kinds: wanted.length ? wanted : kinds.filter((kind) => kind !== 'counting'),
        form: params.get('keys') in keyForms ? params.get('keys') : 'u64',
        fpr: fpr > 0 && fpr < 1 ? fpr : 0.01,
        show: params.get('show') in measures ? params.get('show') : 'batch',
    };
}

// ---- what is shown ----

function nanoseconds(ns) {
    return ns >= 100 ? count(ns) : digits(ns, ns >= 10 ? 3 : 2);
}

function barRow(result, show, most) {
    const value = result[show];
    const name = result.kind === 'Set' ? el('span', { class: 'kind' }, el('i', { class: 'swatch', style: 'background: var(--edge)' }), 'Set') : kindName(result.kind);
    const colour = result.kind === 'Set' ? 'var(--edge)' : kindColour(result.kind);
    if (result.error) return el('li', {}, name, el('span', { class: 'note' }, result.error));
    return el('li', {}, name, el('span', { class: 'track' }, el('i', { style: `width: ${((100 * value) / most).toFixed(1)}%; background: ${colour}` })), el('span', { class: 'number' }, `${nanoseconds(value)} ns`));
}

function picture(results, sizes, show) {
    return sizes.map((size) => {
        const rows = results.filter((result) => result.size === size).sort((a, b) => (a[show] ?? Infinity) - (b[show] ?? Infinity));
        const most = Math.max(...rows.map((result) => result[show] ?? 0), 1e-9);
        return rows.length ? el('section', { class: 'card race' }, el('h2', {}, `${count(size)} keys`), el('ul', {}, rows.map((result) => barRow(result, show, most)))) : null;
    });
}

function resultTable(results) {
    const rows = results.map((result) => el('tr', { 'data-kind': result.kind, 'data-size': result.size },
        el('th', { scope: 'row' }, result.kind === 'Set' ? 'Set' : kindName(result.kind)), el('td', { class: 'number' }, count(result.size)),
        result.error
            ? el('td', { colspan: 4 }, result.error)
            : [...Object.keys(measures).map((name) => el('td', { class: 'number', 'data-measure': name }, nanoseconds(result[name]))), el('td', { class: 'number' }, result.bytes === null ? 'unknown' : bytes(result.bytes))]));
    const heads = ['kind', 'keys', 'query in batches, ns', 'query one by one, ns', 'add, ns', 'memory'];
    return el('section', { class: 'card' }, el('h2', {}, 'All numbers'),
        el('div', { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': 'All numbers' },
            el('table', { class: 'numbers' }, el('thead', {}, el('tr', {}, heads.map((title, i) => el('th', { scope: 'col', class: i ? 'number' : null }, title)))), el('tbody', {}, rows))));
}

// How much faster, and smaller, than a Set: one sentence for the largest size.
function verdict(results) {
    const largest = Math.max(...results.map(({ size }) => size));
    const [set, ...rest] = results.filter(({ size, error }) => size === largest && !error);
    if (set?.kind !== 'Set' || !rest.length) return '';
    const best = rest.reduce((least, result) => (result.batch < least.batch ? result : least));
    const ratio = set.batch / best.batch;
    const than = ratio >= 1 ? `${digits(ratio, 2)} times as fast as a Set` : `${digits(1 / ratio, 2)} times as slow as a Set`;
    return `With ${count(largest)} keys, ${best.kind} answers batches ${than}, from ${bytes(best.bytes)}.`;
}

// ---- the view ----

function mount(root, { lib, code, params, setParams, announce }) {
    const kinds = lib.kinds().filter(({ file, name }) => !file && name !== 'bitmap').map(({ name }) => name);
    let state = stateOf(params, kinds);
    let worker = null;
    let results = [];
    let measured = null; // the sizes of the results

    const sizesBox = el('input', { type: 'text', autocomplete: 'off', spellcheck: 'false', 'aria-describedby': 'sizes-hint' });
    const sizesHint = el('span', { class: 'hint', id: 'sizes-hint' });
    const formBox = el('select', { onchange: () => change({ form: formBox.value }) }, Object.entries(keyForms).map(([value, title]) => el('option', { value }, title)));
    const fprBox = el('select', { onchange: () => change({ fpr: Number(fprBox.value) }) }, [0.1, 0.01, 0.001, 1e-4, 1e-6].map((p) => el('option', { value: p }, p < 1e-3 ? p.toExponential() : String(p))));
    const checks = kinds.map((kind) => {
        const [label, input] = checkbox(kindName(kind), { value: kind, onchange: () => change({ kinds: kinds.filter((one) => boxes[one].checked) }) });
        return { kind, label, input };
    });
    const boxes = Object.fromEntries(checks.map(({ kind, input }) => [kind, input]));
    const startButton = el('button', { type: 'submit', class: 'main' }, 'Measure');
    const stopButton = el('button', { type: 'button', disabled: true, onclick: () => stop('Stopped.') }, 'Stop');
    const bar = el('i');
    const progress = el('div', { class: 'progress', role: 'progressbar', 'aria-label': 'Progress', 'aria-valuemin': 0, 'aria-valuemax': 100, 'aria-valuenow': 0 }, bar);
    const status = el('p', { class: 'note status', role: 'status' }, 'Nothing is measured yet.');
    const tabs = Object.entries(measures).map(([name, { title }]) => {
        const input = el('input', { type: 'radio', name: 'measure', value: name, onchange: () => change({ show: name }) });
        return { name, input, label: el('label', {}, input, el('span', {}, title)) };
    });
    const note = el('p', { class: 'note' });
    const races = el('div', { class: 'races' });
    const numbers = el('div');
    const sentence = el('p', { class: 'verdict-line' });
    const shown = el('div', { class: 'stack', hidden: true }, sentence, el('fieldset', { class: 'choice' }, el('legend', { class: 'hidden' }, 'What is shown'), el('div', { class: 'segments' }, tabs.map(({ label }) => label))), note, races, numbers);
    const placeholder = el('div', { class: 'empty card' }, el('p', {}, 'Choose sizes and kinds, and press ', el('strong', {}, 'Measure'), '. It takes about ten seconds, in a worker: the page stays free.'));

    sizesBox.addEventListener('input', () => {
        const sizes = parseSizes(sizesBox.value);
        sizesBox.setAttribute('aria-invalid', !sizes);
        sayHint(!sizes);
        startButton.disabled = !sizes || worker !== null;
        if (sizes) change({ sizes }, sizesBox);
    });

    function sayHint(wrong) {
        sizesHint.textContent = `${wrong ? `Give 1 to ${MOST_SIZES} numbers` : 'Numbers of keys'} from 10 to ${count(MOST)}, with blanks between`;
        sizesHint.classList.toggle('wrong', wrong);
    }

    function change(values, by) {
        Object.assign(state, values);
        show(by);
    }

    function show(by) {
        if (by !== sizesBox) {
            sizesBox.value = state.sizes.map(short).join(' ');
            sizesBox.setAttribute('aria-invalid', false);
            sayHint(false);
        }
        formBox.value = state.form;
        if (![...fprBox.options].some(({ value }) => Number(value) === state.fpr)) fprBox.append(el('option', { value: state.fpr }, String(state.fpr)));
        fprBox.value = String(state.fpr);
        for (const { kind, input } of checks) input.checked = state.kinds.includes(kind);
        for (const { name, input } of tabs) input.checked = name === state.show;
        startButton.disabled = worker !== null || !state.kinds.length;
        stopButton.disabled = worker === null;
        setParams({ sizes: state.sizes.map(short).join(','), kinds: state.kinds.join(','), keys: state.form, fpr: state.fpr, show: state.show });
        showResults();
    }

    function showResults() {
        shown.hidden = !results.length;
        placeholder.hidden = results.length > 0;
        if (!results.length) return;
        note.textContent = measures[state.show].note;
        sentence.textContent = verdict(results);
        races.replaceChildren(...picture(results, measured, state.show).filter(Boolean));
        numbers.replaceChildren(resultTable(results));
    }

    function sayProgress(done, total) {
        const share = Math.round((100 * done) / total);
        bar.style.width = `${share}%`;
        progress.setAttribute('aria-valuenow', share);
    }

    function take({ step, ...data }) {
        if (step === 'keys') status.textContent = `Making ${count(data.size)} keys …`;
        if (step === 'measure') status.textContent = `${data.kind}, ${count(data.size)} keys …`;
        if (step === 'result') {
            results.push(data);
            showResults();
        }
        if (data.total) sayProgress(data.done, data.total);
        if (step === 'failed') stop(`It failed: ${data.error}.`);
        if (step === 'end') stop('Done.');
    }

    function start(event) {
        event.preventDefault();
        if (worker || !state.kinds.length || sizesBox.getAttribute('aria-invalid') === 'true') return;
        results = [];
        measured = state.sizes;
        worker = startWorker();
        worker.addEventListener('message', ({ data }) => take(data));
        worker.addEventListener('error', (error) => stop(`The worker failed: ${error.message}.`));
        worker.postMessage({ code, sizes: state.sizes, kinds: state.kinds, form: state.form, fpr: state.fpr });
        status.textContent = 'Starting …';
        sayProgress(0, 1);
        show();
    }

    function stop(text) {
        worker?.terminate();
        worker = null;
        status.textContent = text;
        if (text === 'Done.') announce(sentence.textContent);
        show();
    }

    root.append(
        el('h1', {}, 'How fast is it here?'),
        el('p', { class: 'lead' }, 'Each kind beside JavaScript’s own ', el('code', {}, 'Set'), ', measured in this browser, on this machine. Half of the queries are for keys that were added.'),
        el('div', { class: 'beside' },
            el('form', { class: 'card controls', onsubmit: start }, field('Numbers of keys', sizesBox, sizesHint), field('Keys', formBox), field('False-positive rate', fprBox),
                el('fieldset', { class: 'needs' }, el('legend', {}, 'Kinds'), el('div', { class: 'two' }, checks.map(({ label }) => label))),
                el('div', { class: 'row' }, startButton, stopButton), el('div', {}, progress, status)),
            el('div', { class: 'stack' }, placeholder, shown)),
    );
    show();
    return {
        update(next) {
            state = stateOf(next, kinds);
            show();
        },
        unmount() {
            worker?.terminate();
            worker = null;
        },
    };
}

export const view = { name: 'compare', title: 'Compare', mount };
