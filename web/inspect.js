// The view Inspect: what is in a file, and what it answers. Nothing is sent anywhere.
import { bytes, count, digits, download, el, field, fixed, inNextFrame, kindName } from './common.js';
import { childrenName, factsOf, innerKind, isForeign, usedShare } from './facts.js';
import { fillPicture } from './fill_picture.js';
import { formOf, forms, keyMaker } from './keys.js';
import { isImage, parseSecretKey, readFile, whyRefused } from './opening.js';

const formats = { guava: 'Guava', dcso: 'DCSO', parquet: 'Parquet', spark: 'Spark' };
const MOST_LINES = 1000; // of queries, at a time
const MOST_CHILDREN = 40;

// Filters for those who have no file at hand, made when they are asked for.
const examples = {
    blocked: { want: { kind: 'blocked', items: 2000, fpr: 0.01 }, keys: 1500 },
    cuckoo: { want: { kind: 'cuckoo', items: 2000, fpr: 0.001 }, keys: 1800 },
    growing: { want: { kind: 'bloom', items: 500, fpr: 0.01, grow: 'layers' }, keys: 4000 },
};

function makeExample(lib, name) {
    const { want, keys } = examples[name];
    const filter = new lib.Filter(want);
    filter.addMany(Array.from({ length: keys }, (_, i) => `user-${i + 1}`));
    const data = filter.toBytes();
    filter.free();
    return { data, name: `${name}.ph` };
}

// ---- choosing a file ----

function chooser(open, example) {
    const input = el('input', { type: 'file', class: 'hidden', id: 'file', onchange: () => input.files[0] && open(input.files[0]) });
    return el('div', { class: 'drop' },
        el('p', { class: 'big' }, 'Drop a filter file here'),
        el('p', {}, 'or ', el('label', { for: 'file', class: 'button' }, 'choose one'), input),
        el('p', { class: 'note' }, 'Files of perhaps (.ph), Guava, DCSO’s bloom, Spark and Parquet, also compressed with gzip. Nothing leaves this machine.'),
        el('p', { class: 'note row examples' }, 'No file at hand? An example:', Object.keys(examples).map((name) => el('button', { type: 'button', onclick: () => example(name) }, kindName(name === 'growing' ? 'bloom' : name), name === 'growing' && ', growing'))));
}

// Anywhere on the page; gives what takes the listeners away again.
function listenForDrops(zone, open) {
    const over = (event) => {
        if (!event.dataTransfer?.types.includes('Files')) return;
        event.preventDefault();
        zone.classList.add('over');
    };
    const leave = (event) => !event.relatedTarget && zone.classList.remove('over');
    const drop = (event) => {
        event.preventDefault();
        zone.classList.remove('over');
        if (event.dataTransfer?.files[0]) open(event.dataTransfer.files[0]);
    };
    const listeners = [['dragover', over], ['dragleave', leave], ['drop', drop]];
    for (const [name, listener] of listeners) addEventListener(name, listener);
    return () => listeners.forEach(([name, listener]) => removeEventListener(name, listener));
}

// ---- what is asked where the bytes do not tell ----

function askForKey(name, again) {
    const box = el('input', { type: 'text', autocomplete: 'off', spellcheck: 'false', placeholder: '000102030405060708090a0b0c0d0e0f' });
    const note = el('p', { class: 'hint', role: 'alert' });
    const send = (event) => {
        event.preventDefault();
        const key = parseSecretKey(box.value);
        if (key) again({ hashKey: key });
        else note.textContent = 'The secret key is 16 bytes: give 32 hexadecimal digits.';
    };
    return el('form', { class: 'card ask', onsubmit: send }, el('h2', {}, `${name} has a secret key`),
        el('p', {}, 'Its keys are hashed with SipHash, and the file does not hold the secret. Give it, as 32 hexadecimal digits; it stays on this page.'),
        field('Secret key', box), note, el('div', { class: 'row' }, el('button', { class: 'main' }, 'Open')));
}

function askForFormat(again) {
    return el('div', { class: 'row' }, el('span', {}, 'Read it as a file of'),
        Object.entries(formats).map(([kind, title]) => el('button', { type: 'button', onclick: () => again({ kind }) }, title)));
}

// ---- what is said about it ----

function meter(share, text, alarm) {
    return el('span', { class: 'meter' }, el('span', { class: 'track' }, el('i', { class: alarm ? 'over' : null, style: `width: ${Math.min(100, 100 * share).toFixed(1)}%` })), el('span', {}, text));
}

function factList(lines, info) {
    const shares = { fill: info.fill, used: usedShare(info) };
    return el('dl', { class: 'facts' }, lines.map(([label, text]) => [
        el('dt', {}, label),
        el('dd', {}, label in shares ? meter(shares[label], text, label === 'used' && shares.used > 1) : text),
    ]));
}

function childTable(info, children) {
    const name = childrenName(info);
    const rows = children.slice(0, MOST_CHILDREN).map((child, i) => el('tr', {},
        el('th', { scope: 'row' }, count(i + 1)), el('td', { class: 'number' }, count(child.items)), el('td', { class: 'number' }, count(child.capacity)),
        el('td', { class: 'number' }, `${fixed(100 * child.fill, 1)} %`), el('td', { class: 'number' }, digits(child.fprNow)), el('td', { class: 'number' }, count(child.bytes))));
    return el('section', { class: 'card' }, el('h2', {}, name.charAt(0).toUpperCase() + name.slice(1)),
        el('div', { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': name },
            el('table', { class: 'children' }, el('thead', {}, el('tr', {}, [name.slice(0, -1), 'keys', 'made for', 'fill', 'fpr now', 'bytes'].map((title, i) => el('th', { scope: 'col', class: i ? 'number' : null }, title)))), el('tbody', {}, rows))),
        children.length > MOST_CHILDREN && el('p', { class: 'note' }, `and ${count(children.length - MOST_CHILDREN)} more`));
}

// ---- queries ----

function resultRow(filter, text, maker) {
    let key;
    try {
        key = maker.key(text);
    } catch (error) {
        return el('tr', {}, el('th', { scope: 'row' }, text), el('td', { class: 'bad', colspan: 2 }, `“${text}” ${error.message}`));
    }
    const found = filter.has(key);
    const why = filter.explain(key).at(-1)?.why ?? '';
    return el('tr', {}, el('th', { scope: 'row' }, text), el('td', {}, el('span', { class: `verdict ${found ? 'yes' : 'no'}` }, found ? 'perhaps' : 'definitely not')), el('td', { class: 'note' }, why));
}

function keyHint(filter, info, foreign) {
    const { recipe, extraction } = filter;
    const parts = [];
    if (recipe?.ngram) parts.push(`Its keys are runs of ${recipe.ngram} words: each line is cut into them.`);
    else if (recipe?.ignoreCase) parts.push('Its keys are text in lower case: A to Z are folded.');
    else if (!foreign) parts.push(`Its keys are ${forms[formOf(filter, info, foreign)] ?? 'of a newer version'}.`);
    if (extraction?.where.includes(',')) parts.push('They are several fields, as netstrings: 5:Smith,4:Rome,');
    else if (extraction && !recipe?.ngram && (extraction.field || extraction.where)) parts.push('Write what stood in the field alone.');
    return parts.join(' ');
}

// ---- an open file ----

function opened(context, file, options, refresh) {
    const { lib, announce } = context;
    const foreign = !isImage(file.data);
    let filter = lib.Filter.from(file.data, { ...options, readOnly: true });
    let writable = false;
    let info = filter.info();
    let picture = null;
    const root = el('div', { class: 'stack' });
    const facts = el('div');
    const parts = el('div');
    const results = el('tbody');
    const summary = el('p', { class: 'summary', role: 'status' });
    const area = el('textarea', { rows: 4, spellcheck: 'false', autocomplete: 'off', placeholder: 'user-1', value: file.keys ?? '' });
    const form = el('select', { onchange: () => query() }, Object.entries(forms).map(([value, title]) => el('option', { value }, title)));
    const saveNote = el('p', { class: 'note', role: 'status' });

    function describe() {
        info = filter.info();
        const { heading, lines } = factsOf(lib, filter, info);
        picture?.stop();
        picture = fillPicture(filter, info);
        facts.replaceChildren(el('div', { class: 'halves' },
            el('section', { class: 'card' },
                el('div', { class: 'row head' }, el('h2', {}, file.name), el('span', { class: 'tag good' }, isForeign(info) ? 'no checksums to verify' : 'intact: all checksums are right'), el('span', { class: 'tag' }, bytes(file.data.length))),
                el('p', { class: 'heading' }, el('i', { class: 'swatch', style: `background: var(--kind-${innerKind(info)}, var(--edge))` }), heading),
                factList(lines, info)),
            el('section', { class: 'card' }, el('h2', {}, 'Its fill'), picture.element)));
        parts.replaceChildren(info.children ? childTable(info, filter.children()) : '');
        picture.draw();
    }

    function makerOr(say) {
        try {
            return keyMaker(filter, info, foreign, form.value);
        } catch (error) {
            say(error.message);
            return null;
        }
    }

    function query() {
        const maker = makerOr((text) => (summary.textContent = text));
        if (!maker) return void results.replaceChildren();
        const lines = maker.lines(area.value);
        results.replaceChildren(...lines.slice(0, MOST_LINES).map((text) => resultRow(filter, text, maker)));
        const found = results.querySelectorAll('.yes').length;
        summary.textContent = lines.length
            ? `${count(found)} of ${count(Math.min(lines.length, MOST_LINES))} perhaps there${lines.length > MOST_LINES ? `; the first ${count(MOST_LINES)} lines are looked up` : ''}`
            : '';
        refresh(area.value);
    }

    // Changes the filter in memory; what is read-only becomes a copy first.
    function change(verb) {
        const maker = makerOr((text) => (saveNote.textContent = text));
        if (!maker) return;
        const lines = maker.lines(area.value);
        try {
            const keys = lines.map((text) => maker.key(text));
            if (!keys.length) throw new Error('write keys first, one on each line');
            if (!writable) {
                const copy = lib.Filter.from(filter.toBytes(), options);
                filter.free();
                [filter, writable] = [copy, true];
            }
            const done = verb === 'add' ? filter.addMany(keys) : filter.removeMany(keys);
            saveNote.textContent = verb === 'add' ? `${count(keys.length)} added, ${count(done)} of them new. Save the file to keep them.` : `${count(done)} of ${count(keys.length)} removed. Save the file to keep that.`;
        } catch (error) {
            saveNote.textContent = error.message.charAt(0).toUpperCase() + error.message.slice(1);
        }
        describe();
        query();
    }

    function save() {
        const data = filter.toBytes();
        download(data, file.name.replace(/\.gz$/, ''));
        saveNote.textContent = `${file.name.replace(/\.gz$/, '')} is saved, ${count(data.length)} bytes: the same as the command line makes.`;
    }

    const canChange = info.can.includes('add') && !info.traits.includes('static');
    root.append(facts, el('section', { class: 'card query' }, el('h2', {}, 'Query it'),
        el('div', { class: 'halves' },
            el('div', { class: 'stack' },
                field('Keys, one on each line', area, el('span', { class: 'hint' }, keyHint(filter, info, foreign))),
                foreign && field('The file does not tell how its keys are made. They are', form),
                el('div', { class: 'row' },
                    canChange && el('button', { type: 'button', onclick: () => change('add') }, 'Add these'),
                    info.can.includes('remove') && el('button', { type: 'button', onclick: () => change('remove') }, 'Remove these'),
                    el('button', { type: 'button', class: 'save', onclick: save }, 'Save the file')),
                saveNote),
            el('div', {}, summary, el('div', { class: 'scroll results', tabindex: '0', role: 'region', 'aria-label': 'Answers' },
                el('table', {}, el('caption', { class: 'hidden' }, 'Answers'), el('thead', { class: 'hidden' }, el('tr', {}, ['key', 'answer', 'why'].map((title) => el('th', { scope: 'col' }, title)))), results))))), parts);
    const later = inNextFrame(query);
    area.addEventListener('input', later);
    return {
        root,
        start() {
            describe();
            query();
            announce(`${file.name} is open: ${info.kind}, ${count(info.items)} keys`);
        },
        setKeys(text) {
            if (text === area.value) return;
            area.value = text;
            query();
        },
        redraw: () => describe(),
        close() {
            later.cancel();
            picture?.stop();
            filter.free();
        },
    };
}

// ---- the view ----

function mount(root, context) {
    const { lib, setParams, announce } = context;
    let current = null; // what is open
    let example = '';
    let turn = 0;
    const place = el('div', { class: 'stack' });
    const zone = chooser((file) => openFile(file), (name) => openExample(name, ''));
    const forget = listenForDrops(zone, (file) => openFile(file));
    root.append(el('h1', {}, 'What is in the file?'), el('p', { class: 'lead' }, 'Everything that ', el('code', {}, 'perhaps info'), ' says, a picture of the fill, and answers to your queries.'), el('div', { class: 'stack' }, zone, place));

    function refresh(keys) {
        setParams({ example, keys: keys.length <= 2000 ? keys.split('\n').filter(Boolean).join('\n') : '' });
    }

    function close() {
        current?.close();
        current = null;
        place.replaceChildren();
    }

    function refuse(file, error, options) {
        const again = (more) => show(file, { ...options, ...more });
        if (error.name === 'SecretKeyError' && file.data) {
            const wrong = options.hashKey && el('p', { class: 'message bad', role: 'alert' }, whyRefused(file.name, error));
            place.replaceChildren(...[wrong, askForKey(file.name, again)].filter(Boolean));
            place.querySelector('input').focus();
            return;
        }
        const text = whyRefused(file.name, error);
        const foreign = error.name === 'ForeignError' || (options.kind && file.data);
        place.replaceChildren(el('div', { class: 'message bad', role: 'alert' }, el('p', {}, text)), ...(foreign ? [askForFormat(again)] : []));
        announce(text);
    }

    function show(file, options = {}) {
        close();
        try {
            current = opened(context, file, options, refresh);
        } catch (error) {
            refuse(file, error, options);
            return;
        }
        place.replaceChildren(current.root);
        current.start();
    }

    async function openFile(blob) {
        const mine = ++turn;
        close();
        example = '';
        setParams({});
        place.replaceChildren(el('p', { class: 'waiting' }, `Reading ${blob.name} …`));
        try {
            const data = await readFile(blob, blob.name);
            if (mine === turn) show({ name: blob.name, data });
        } catch (error) {
            if (mine === turn) refuse({ name: blob.name }, error, {});
        }
    }

    function openExample(name, keys) {
        turn++;
        example = name;
        show({ ...makeExample(lib, name), keys: keys || 'user-1\nuser-2\nnobody' });
    }

    function update(params) {
        const name = params.get('example') ?? '';
        const keys = params.get('keys') ?? '';
        if (name in examples && name !== example) openExample(name, keys);
        else if (current && keys) current.setKeys(keys);
    }

    update(context.params);
    const resized = inNextFrame(() => current?.redraw());
    addEventListener('resize', resized);
    return {
        update,
        unmount() {
            turn++;
            removeEventListener('resize', resized);
            resized.cancel();
            forget();
            close();
        },
    };
}

export const view = { name: 'inspect', title: 'Inspect', mount };
