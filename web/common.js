// What the views share: elements, numbers as people read and write them, files, copying.

// ---- elements ----

function fill(element, props, children) {
    for (const [name, value] of Object.entries(props)) {
        if (value === undefined || value === null || value === false) continue;
        if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
        else if (name === 'class') element.setAttribute('class', value);
        else if (name === 'style') element.style.cssText = value; // an attribute is forbidden
        else if (name === 'value' || name === 'checked' || name === 'disabled') element[name] = value;
        else element.setAttribute(name, value === true ? '' : value);
    }
    element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
    return element;
}

/** An element of HTML: el('p', { class: 'note', onclick: act }, 'text', child). */
export function el(tag, props = {}, ...children) {
    return fill(document.createElement(tag), props, children);
}

/** An element of SVG. */
export function svg(tag, props = {}, ...children) {
    return fill(document.createElementNS('http://www.w3.org/2000/svg', tag), props, children);
}

/** The colour of a kind; of something else, the colour of text. */
export function kindColour(kind) {
    return `var(--kind-${kind}, var(--ink))`;
}

/** A coloured square beside the name of a kind. */
export function kindName(kind) {
    return el('span', { class: 'kind' }, el('i', { class: 'swatch', style: `background: ${kindColour(kind)}` }), kind);
}

/** The value of a colour, for a canvas: colourOf('var(--accent)') is 'rgb(11, 95, 165)'. */
export function colourOf(css) {
    const probe = el('i', { style: `color: ${css}; display: none` });
    document.body.append(probe);
    const value = getComputedStyle(probe).color;
    probe.remove();
    return value;
}

export function prefersLessMotion() {
    return matchMedia('(prefers-reduced-motion: reduce)').matches;
}

let ids = 0;

/** A label and its control, one beneath the other. */
export function field(label, control, ...more) {
    control.id ||= `field-${++ids}`;
    return el('div', { class: 'field' }, el('label', { for: control.id }, label), control, more);
}

export function checkbox(label, props = {}) {
    const input = el('input', { type: 'checkbox', ...props });
    return [el('label', { class: 'check' }, input, el('span', {}, label)), input];
}

/** A message of the library as a sentence. */
export function sentence(text) {
    const first = text.charAt(0).toUpperCase() + text.slice(1);
    return /[.!?]$/.test(first) ? first : `${first}.`;
}

// ---- numbers, as people read them ----

/** 5000000 -> '5,000,000' */
export function count(n) {
    return BigInt(Math.floor(n + 0.5)).toLocaleString('en-US');
}

/** As %.1f of C has it: a number half-way between two goes to the even one. */
export function fixed(value, places) {
    const scaled = value * 10 ** places;
    const below = Math.floor(scaled);
    const tie = scaled - below === 0.5 && scaled / 10 ** places === value;
    return tie ? ((below + (below % 2)) / 10 ** places).toFixed(places) : value.toFixed(places);
}

/** As %.4g of C has it: 0.0099997 -> '0.01', 1e-7 -> '1e-07'. */
export function digits(value, most = 4) {
    if (value === 0 || !Number.isFinite(value)) return String(value);
    const exponent = Number(value.toExponential(most - 1).split('e')[1]);
    if (exponent < -4 || exponent >= most) {
        const [mantissa, power] = value.toExponential(most - 1).split('e');
        const sign = power[0] === '-' ? '-' : '+';
        return `${Number(mantissa)}e${sign}${power.slice(1).padStart(2, '0')}`;
    }
    return String(Number(value.toPrecision(most)));
}

/** 5990400 -> '5.7 MiB' */
export function bytes(n) {
    const units = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'];
    let unit = 0;
    for (; n >= 1024 && unit + 1 < units.length; unit++) n /= 1024;
    return unit ? `${fixed(n, 1)} ${units[unit]}` : `${count(n)} bytes`;
}

/** 0.01 -> '0.01 (1 in 100)' */
export function rate(exact) {
    const p = exact * (1 + 1e-12); // 1/128, half-way between two of four digits, goes up
    if (!(p > 1e-18 && p < 0.1)) return digits(p);
    return `${digits(p)} (1 in ${count(1 / p)})`;
}

/** 0.0123 -> '1.23 %' */
export function percent(share, most = 3) {
    return `${digits(100 * share, most)} %`;
}

// ---- numbers, as people write them ----

const suffixes = { '': 1, k: 1e3, m: 1e6, g: 1e9, t: 1e12, kib: 2 ** 10, mib: 2 ** 20, gib: 2 ** 30, tib: 2 ** 40 };

/** '5e6', '5M', '5,000,000', '2^20', of sizes also '6 MiB' -> a number; NaN if it is none. */
export function parseCount(text, sizes = false) {
    const plain = text.trim().replaceAll(/[,_\s]/g, '').toLowerCase();
    const power = /^2\^(\d{1,3})$/.exec(plain);
    if (power) return 2 ** Number(power[1]);
    const found = /^(\d+\.?\d*(?:e\+?\d+)?|\.\d+(?:e\+?\d+)?)([a-z]*)$/.exec(plain);
    if (!found) return NaN;
    const suffix = sizes ? found[2].replace(/^bytes?$|^b$/, '').replace(/^([kmgt])b$/, '$1') : found[2];
    if (!(suffix in suffixes) || (!sizes && suffix.endsWith('ib'))) return NaN;
    return Math.round(Number(found[1]) * suffixes[suffix]);
}

/** '0.01', '1%', '1e-3', '1 in 100' -> a number; NaN if it is none. */
export function parseRate(text) {
    const plain = text.trim().toLowerCase();
    const odds = /^1\s*(?:in|\/|:)\s*(.+)$/.exec(plain);
    if (odds) return 1 / parseCount(odds[1]);
    const found = /^(\d*\.?\d*(?:e[+-]?\d+)?)\s*(%?)$/.exec(plain);
    if (!found || !/\d/.test(found[1])) return NaN;
    return Number(found[1]) / (found[2] ? 100 : 1);
}

/** As short as it can be, for a URL or a command: 5000000 -> '5e6', 123456 -> '123456' */
export function short(n) {
    const exponential = n.toExponential().replace('e+', 'e');
    const plain = String(n);
    return exponential.length < plain.length && Number(exponential) === n ? exponential : plain;
}

// ---- files and copying ----

/** Offers bytes as a file. */
export function download(data, name) {
    const url = URL.createObjectURL(new Blob([data], { type: 'application/octet-stream' }));
    const link = el('a', { href: url, download: name });
    link.click();
    setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

async function copyText(text, area) {
    try {
        await navigator.clipboard.writeText(text);
        return true;
    } catch {
        // Without permission, or from file:// in some browsers: the way from before there was one.
        getSelection().selectAllChildren(area);
        return document.execCommand('copy');
    }
}

/** A line of code with a button that copies it: { element, set(text) }. */
export function copyable(title, announce) {
    const code = el('code');
    const area = el('pre', {}, code);
    const button = el('button', { class: 'copy', type: 'button', 'aria-label': `Copy: ${title}` }, 'Copy');
    button.addEventListener('click', async () => {
        const done = await copyText(code.textContent, code);
        button.textContent = done ? 'Copied' : 'Press Ctrl+C';
        announce(done ? `${title} is copied` : 'the line is selected: copy it');
        setTimeout(() => (button.textContent = 'Copy'), 1500);
    });
    return { element: el('div', { class: 'copyable', 'data-language': title }, el('h3', {}, title), area, button), set: (text) => (code.textContent = text) };
}

/** Calls `act` once in the next frame, however often it is asked to. */
export function inNextFrame(act) {
    let waiting = 0;
    const ask = () => {
        waiting ||= requestAnimationFrame(() => {
            waiting = 0;
            act();
        });
    };
    ask.cancel = () => {
        cancelAnimationFrame(waiting);
        waiting = 0;
    };
    return ask;
}
