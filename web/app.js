// The page: its four views, and the URL that says which one and what it shows.
//
// A view is a module web/NAME.js that is loaded when it is first shown:
//
//     export const view = { name: 'watch', title: 'Watch', mount(root, context) { ... } };
//
// mount() fills `root`, an empty element, and returns { update(params), unmount() }. In context:
//
//     lib           the module bindings/wasm/index.js, after load()
//     code          its WebAssembly.Module, for workers
//     params        URLSearchParams: the state in the URL, as in #plan?items=5e6&fpr=0.01
//     setParams     setParams({name: value, ...}): puts the state of the view into the URL, without
//                   a new entry in the history; what is undefined or '' is left out
//     announce      announce(text): says it to screen readers when they are free
//
// update(params) is called when the URL changes and the view stays: "Back", or another address. So
// every state that can be seen can be shared. unmount() stops timers and workers and frees filters.
// The page may not load, run or send anything that is not its own (the policy in index.html): no
// inline scripts, no style="..." in markup; element.style.x and classes are fine.
import { el } from './common.js';
import { moduleBytes } from './platform.js';

const loaders = {
    plan: () => import('./plan.js'),
    watch: () => import('./watch.js'),
    inspect: () => import('./inspect.js'),
    compare: () => import('./compare.js'),
};

const main = document.getElementById('view');
const live = document.getElementById('live');
let shown = null; // { name, handle }
let turn = 0; // of route(): a slow view must not replace a later one

// ---- the library ----

let library = null;

function loadLibrary() {
    library ??= Promise.all([import('./perhaps/index.js'), moduleBytes().then((bytes) => WebAssembly.compile(bytes))]).then(
        async ([lib, code]) => {
            await lib.load(code);
            document.getElementById('version').textContent = `Version ${lib.version()}.`;
            return { lib, code };
        },
    );
    return library;
}

// ---- the URL ----

/** '#plan?items=5e6' -> ['plan', URLSearchParams] */
function readURL() {
    const [, name, query] = /^#?([^?]*)\??(.*)$/.exec(location.hash);
    return [name in loaders ? name : 'plan', new URLSearchParams(query)];
}

// Characters that need no escape in a fragment stay legible.
function queryOf(values) {
    const given = Object.entries(values).filter(([, value]) => value !== undefined && value !== null && value !== false && value !== '');
    return new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString().replaceAll('%2C', ',').replaceAll('%3A', ':');
}

function writeURL(name, values) {
    const query = queryOf(values);
    history.replaceState(null, '', `#${name}${query && `?${query}`}`);
}

// ---- views ----

let quiet = 0;

function announce(text) {
    clearTimeout(quiet);
    // Changes in quick succession are said once.
    quiet = setTimeout(() => (live.textContent = text), 150);
}

function contextOf(name, params, { lib, code }) {
    return { lib, code, params, announce, setParams: (values) => shown?.name === name && writeURL(name, values) };
}

function say(title, error) {
    main.replaceChildren(el('section', { class: 'card trouble' }, el('h1', {}, title), el('p', {}, error.message)));
}

function whyNoLibrary(error) {
    if (typeof WebAssembly === 'object' && !(error instanceof WebAssembly.CompileError)) return error;
    return new Error('This browser does not run the library, which needs WebAssembly with vectors (SIMD): Chrome 91, Firefox 89 or Safari 16.4.');
}

function mark(name) {
    for (const link of document.querySelectorAll('nav.views a')) {
        if (link.hash === `#${name}`) link.setAttribute('aria-current', 'page');
        else link.removeAttribute('aria-current');
    }
}

async function show(name, params, mine) {
    let found, view;
    try {
        [found, { view }] = await Promise.all([loadLibrary(), loaders[name]()]);
    } catch (error) {
        library = null;
        if (mine === turn) say('This view could not be loaded', whyNoLibrary(error));
        return;
    }
    if (mine !== turn) return;
    const root = el('div', { class: `view ${name}` });
    shown = { name, handle: null };
    main.replaceChildren(root);
    document.title = `${view.title} · perhaps`;
    shown.handle = view.mount(root, contextOf(name, params, found));
    document.documentElement.dataset.shown = name; // for tests
}

async function route(event) {
    if (location.hash === '#view') return; // the skip link
    const [name, params] = readURL();
    mark(name);
    if (shown?.name === name && shown.handle) {
        shown.handle.update(params);
        return;
    }
    const mine = ++turn;
    shown?.handle?.unmount();
    shown = null;
    delete document.documentElement.dataset.shown;
    await show(name, params, mine);
    if (event && mine === turn) {
        main.focus({ preventScroll: true });
        scrollTo(0, 0);
        announce(document.title);
    }
}

// ---- colours ----

function startTheme() {
    const chosen = document.documentElement.dataset.theme ?? 'auto';
    for (const input of document.querySelectorAll('.theme input')) {
        input.checked = input.value === chosen;
        input.addEventListener('change', () => {
            if (input.value === 'auto') delete document.documentElement.dataset.theme;
            else document.documentElement.dataset.theme = input.value;
            try {
                localStorage.setItem('perhaps-theme', input.value);
            } catch {
                // It holds until the page is closed.
            }
            dispatchEvent(new Event('themechange')); // for what is drawn on a canvas
        });
    }
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => dispatchEvent(new Event('themechange')));
}

document.querySelector('.skip').addEventListener('click', (event) => {
    event.preventDefault();
    main.focus();
});
addEventListener('hashchange', route);
startTheme();
route();
