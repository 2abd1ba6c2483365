// The view Watch: a small filter bit by bit, with one's own words. What is drawn is the library's
// trace (explain, explainSeal) and its cells; nothing of a filter's arithmetic is here.
import { copyable, download, el, field, kindColour, prefersLessMotion, svg } from './common.js';
import { drawn } from './plot.js';
import { actsOf, add, kinds, query, remove, seal, shellLine } from './watch/kinds.js';
import { pictureOf } from './watch/picture.js';
import { back, forward, player } from './watch/player.js';
import { rateCard } from './watch/rate.js';
import { emptyScene, sceneOf } from './watch/scene.js';
import { falsePositiveText, sentenceOf, titleOf } from './watch/sentences.js';
import { MOST_ACTS, Story, canRemove, isKind, measured } from './watch/story.js';
import { actsOfText, textOfActs } from './watch/url.js';
import { isListed, lists } from './watch/words.js';

const BEGINNING = { act: -1, step: 0 };
const MOST_WORD = 200; // letters
const WRITE_EVERY = 350; // milliseconds

// The colour of what a composite filter is made of.
const colour = (kind) => ({ growing: 'cuckoo', window: 'bloom' })[kind] ?? kind;

// ---- the state, which the URL has ----

function readState(params) {
    const kind = isKind(params.get('kind')) ? params.get('kind') : 'bloom';
    const size = params.get('size') === 'large' ? 'large' : 'small';
    const list = Object.hasOwn(lists, params.get('list')) ? params.get('list') : 'Fruit';
    const text = params.get('do');
    const acts = text === null ? null : actsOfText(text).slice(0, MOST_ACTS);
    const [act, step] = (params.get('at') ?? '').split('.').map(Number);
    return { kind, size, list, acts, at: Number.isInteger(act) && Number.isInteger(step) ? { act: act - 1, step } : null };
}

class Watch {
    constructor(root, { lib, params, setParams, announce }) {
        Object.assign(this, { root, lib, setParams, announce });
        this.player = player((how) => this.go(how));
        this.rate = rateCard(colour);
        this.build();
        this.picture = drawn(this.host, (width) => this.draw(width));
        this.keys = (event) => this.onKey(event);
        document.addEventListener('keydown', this.keys);
        this.update(params);
    }

    // ---- what happens ----

    update(params) {
        this.player.stop();
        clearTimeout(this.writing);
        this.writing = 0;
        const { kind, size, list, acts, at } = readState(params);
        this.list.value = list;
        this.tell(kind, size, acts ?? this.actsOf(kind, size, 0), at);
    }

    /** Tells another story, from `at` on; its end if that is null. */
    tell(kind, size, acts, at = null) {
        const story = new Story(this.lib, kind, size, acts);
        const other = this.story?.kind !== kind || this.story?.size !== size;
        this.story = story;
        this.blank = story.with(0, (filter) => measured(filter, 0));
        this.at = this.placeOf(at);
        this.listed = null;
        if (other) this.showKind();
        this.show();
    }

    // A place there is.
    placeOf(at) {
        const { acts } = this.story;
        if (!acts.length || (at && at.act < 0)) return BEGINNING;
        if (!at || at.act >= acts.length) return this.endOf(acts.length - 1);
        return { act: at.act, step: Math.min(Math.max(1, at.step), this.endOf(at.act).step) };
    }

    endOf(act) {
        return act < 0 ? BEGINNING : { act, step: this.story.frame(act).steps.length };
    }

    isAtEnd() {
        const end = this.endOf(this.story.acts.length - 1);
        return this.at.act === end.act && this.at.step === end.step;
    }

    actsOf(kind, size, number) {
        const maker = new Story(this.lib, kind, size, []);
        return actsOf(kinds[kind].stories[number], () => maker.make(), lists[this.list.value], kind, size);
    }

    /** Moves in the story. False where that is not possible. */
    go(how) {
        const { acts } = this.story;
        if (how === 'again') {
            if (!this.isAtEnd()) return true;
            return acts.length > 0 && this.goTo(this.at.step > 1 || this.at.act > 0 ? { act: this.at.act, step: 1 } : BEGINNING, true);
        }
        const place = { start: () => BEGINNING, end: () => this.endOf(acts.length - 1), step: () => forward(this.at, this.story), back: () => back(this.at, this.story) }[how]();
        return this.goTo(place);
    }

    goTo(place) {
        if (place.act === this.at.act && place.step === this.at.step) return false;
        this.at = place;
        this.show();
        this.announce(this.sentence());
        return true;
    }

    /** Adds acts to the story, and plays the last one. */
    does(...acts) {
        this.player.stop();
        if (this.story.acts.length + acts.length > MOST_ACTS) {
            this.complain(`The list has room for ${MOST_ACTS} entries. Start over, or take one back.`);
            return;
        }
        this.complain('');
        this.tell(this.story.kind, this.story.size, [...this.story.acts, ...acts]);
        this.playLast(acts.length === 1);
    }

    playLast(play) {
        const last = this.story.acts.length - 1;
        const { step } = this.endOf(last);
        if (play && step > 1 && this.player.playSteps(step - 1)) this.at = { act: last, step: 1 };
        this.show();
        this.reveal();
        this.announce(this.sentence());
    }

    // On a phone the words stand below the picture: what they do must be seen.
    reveal() {
        const { top } = this.host.getBoundingClientRect();
        if (top < 0 || top > innerHeight - 120) this.title.scrollIntoView({ block: 'start', behavior: prefersLessMotion() ? 'auto' : 'smooth' });
    }

    startStory(number) {
        const { kind, size } = this.story;
        this.player.stop();
        this.complain('');
        const acts = this.actsOf(kind, size, number);
        this.tell(kind, size, acts);
        if (kinds[kind].stories[number].whole && this.player.playSteps(Infinity)) {
            this.at = BEGINNING;
            this.show();
            this.reveal();
        } else {
            this.playLast(true);
        }
    }

    // The words stay if they are one's own; else another kind begins with what is to be seen there.
    chooseKind(kind, size) {
        this.player.stop();
        this.complain('');
        const own = this.story.acts.some(({ word }) => word && !isListed(word)) && this.story.acts.filter(({ verb }) => verb !== 'seal' && (verb !== 'remove' || canRemove(kind)));
        if (own && kind === 'fuse') {
            const adds = own.filter(({ verb }) => verb === 'add');
            own.splice(0, own.length, ...adds, seal, ...own.filter(({ verb }) => verb === 'query'));
        }
        this.tell(kind, size, own || this.actsOf(kind, size, 0));
    }

    complain(text) {
        this.trouble.textContent = text;
        if (text) this.announce(text);
    }

    submit(make) {
        const word = this.word.value;
        if (!word || word.length > MOST_WORD) {
            this.complain(word ? `A word has at most ${MOST_WORD} letters here.` : 'Type a word first.');
            this.word.focus();
            return;
        }
        if (make !== query) this.word.select();
        this.does(make(word));
    }

    addNext(n) {
        const added = new Set(this.story.acts.filter(({ verb }) => verb === 'add').map(({ word }) => word));
        const next = [];
        for (let round = 1; next.length < n; round++)
            next.push(...lists[this.list.value].map((word) => (round > 1 ? `${word} ${round}` : word)).filter((word) => !added.has(word)));
        this.does(...next.slice(0, n).map(add));
    }

    onKey(event) {
        if (event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
        if (event.target.closest?.('input, select, textarea, pre, nav, .theme')) return;
        // Elsewhere Home and End are the page's.
        if (!event.key.startsWith('Arrow') && !event.target.closest?.('.show')) return;
        if (this.player.key(event.key)) event.preventDefault();
    }

    // ---- what is shown ----

    frame() {
        return this.at.act < 0 ? null : this.story.frame(this.at.act);
    }

    isActDone() {
        return this.at.act >= 0 && this.at.step === this.frame().steps.length;
    }

    sentence() {
        const frame = this.frame();
        if (!frame) return this.story.acts.length ? 'Nothing is in it. Step on, or play.' : 'Nothing is in it. Type a word and add it.';
        const wrong = this.isActDone() && falsePositiveText(frame);
        return `${sentenceOf(frame, this.at.step - 1)}${wrong ? ` ${wrong}` : ''}`;
    }

    /** How many acts are done in the filter that is shown. */
    doneActs() {
        return Math.max(0, this.at.act + (this.isActDone() ? 1 : 0));
    }

    show() {
        const { kind, size, points } = this.story;
        const frame = this.frame();
        const end = this.isAtEnd();
        this.title.textContent = frame ? titleOf(frame.act) : 'An empty filter';
        this.answer.textContent = this.sentence();
        this.answer.className = `answer-text ${this.mood()}`;
        this.picture.draw();
        this.player.show(this.at.act < 0, end);
        this.showSteps(frame);
        this.showActs();
        this.rate.show(kind, points, this.doneActs() - 1, this.blank);
        const applied = this.story.applied(this.doneActs());
        this.shell.set(shellLine(kind, size, applied));
        this.explain.set(frame?.act.word === undefined ? 'perhaps info --bits watch.ph' : `perhaps explain watch.ph ${shellWord(frame.act.word)}`);
        this.writeSoon();
    }

    // What the sentence says at the end of an act: 'yes', 'no', 'bad', or nothing of these.
    mood() {
        if (!this.isActDone()) return '';
        const { act, steps, perhaps } = this.frame();
        const { step, value } = steps.at(-1);
        if (step === 'refused' || value > 1n << 63n) return 'bad'; // an error as an answer
        if (act.verb !== 'query' || step !== 'answer') return '';
        return perhaps ? 'yes' : 'no';
    }

    // Browsers take no more than some changes of the URL in a second.
    writeSoon() {
        const wait = (this.written ?? -Infinity) + WRITE_EVERY - performance.now();
        if (wait <= 0) this.write();
        else this.writing ||= setTimeout(() => this.write(), wait);
    }

    write() {
        clearTimeout(this.writing);
        this.writing = 0;
        this.written = performance.now();
        const { kind, size, acts } = this.story;
        this.setParams({
            kind,
            size: size === 'large' ? size : '',
            list: this.list.value === 'Fruit' ? '' : this.list.value,
            do: textOfActs(acts),
            at: this.isAtEnd() ? '' : `${this.at.act + 1}.${this.at.step}`,
        });
    }

    draw(width) {
        if (!this.story) return svg('svg');
        const { kind, acts, points } = this.story;
        const frame = this.frame();
        const scene = frame ? sceneOf(frame, this.at.step) : emptyScene(this.story.empty());
        const words = [...new Set(acts.filter(({ verb }) => verb === 'add').map(({ word }) => word))];
        return pictureOf(scene, { kind, width, reserved: points.at(-1)?.parts ?? [], words });
    }

    showSteps(frame) {
        if (this.listed !== frame || !frame) {
            this.listed = frame;
            this.steps.replaceChildren(...(frame?.steps ?? []).map((step, i) =>
                el('li', { class: step.depth ? 'inner' : '' }, el('button', { type: 'button', onclick: () => this.jump({ act: this.at.act, step: i + 1 }) }, sentenceOf(frame, i)))));
        }
        this.markCurrent(this.steps, this.at.step - 1, 'step');
    }

    showActs() {
        if (this.shownActs !== this.story) {
            this.shownActs = this.story;
            this.acts.replaceChildren(...this.story.acts.map((act, i) =>
                el('li', { class: this.story.points[i].refused ? 'refused' : '' }, el('button', { type: 'button', onclick: () => this.jump(this.endOf(i)) }, el('i', { class: `sign ${act.verb}` }), titleOf(act)))));
        }
        this.markCurrent(this.acts, this.at.act, 'true');
    }

    // The current one of a list, which scrolls by itself and never the page.
    markCurrent(list, at, value) {
        [...list.children].forEach((item, i) => {
            const button = item.firstChild;
            item.classList.toggle('done', i < at);
            if (i === at) button.setAttribute('aria-current', value);
            else button.removeAttribute('aria-current');
        });
        const item = list.children[at];
        list.scrollTop = item ? item.offsetTop - list.clientHeight / 2 + item.offsetHeight / 2 : 0;
    }

    jump(place) {
        this.player.stop();
        this.goTo(place);
    }

    showKind() {
        const { kind, size } = this.story;
        this.about.textContent = kinds[kind].about;
        this.removeButton.hidden = !canRemove(kind);
        this.sealButton.hidden = kind !== 'fuse';
        this.root.style.setProperty('--kind', kindColour(colour(kind)));
        for (const input of this.root.querySelectorAll('input[name="watch-kind"]')) input.checked = input.value === kind;
        for (const input of this.root.querySelectorAll('input[name="watch-size"]')) input.checked = input.value === size;
        this.stories.replaceChildren(...kinds[kind].stories.map(({ title }, i) => el('button', { type: 'button', onclick: () => this.startStory(i) }, title)));
    }

    // ---- the page ----

    build() {
        this.host = el('div', { class: 'stage' });
        this.title = el('h2', {});
        this.answer = el('p', { class: 'answer-text' });
        this.steps = el('ol', { class: 'steps', 'aria-label': 'Steps' });
        this.acts = el('ol', { class: 'steps acts', 'aria-label': 'What was done' });
        this.shell = copyable('The same file on the command line', this.announce);
        this.explain = copyable('What it says there', this.announce);
        this.root.append(
            el('h1', {}, 'Watch'),
            el('p', { class: 'lead' }, 'A filter small enough to see every bit, and your own words. The arrow keys go step by step.'),
            el('div', { class: 'beside' },
                el('div', { class: 'stack' }, this.buildFilter(), this.buildWords()),
                el('div', { class: 'stack' },
                    el('section', { class: 'card show', 'aria-label': 'The filter' },
                        this.title, this.answer, this.host, this.buildLegend(), this.player.element,
                        el('div', { class: 'halves lists' }, el('div', {}, el('h3', {}, 'Steps'), this.steps), el('div', {}, el('h3', {}, 'What was done'), this.acts)),
                    ),
                    this.rate.element,
                    this.buildFile(),
                ),
            ),
        );
    }

    buildFilter() {
        const kindInput = (name) => el('label', { style: `--kind: ${kindColour(colour(name))}` },
            el('input', { type: 'radio', name: 'watch-kind', value: name, onchange: () => this.chooseKind(name, this.story.size) }), el('span', {}, name));
        const sizeInput = (name) => el('label', {},
            el('input', { type: 'radio', name: 'watch-size', value: name, onchange: () => this.chooseKind(this.story.kind, name) }), name);
        this.about = el('p', { class: 'note about' });
        return el('section', { class: 'card controls', 'aria-label': 'Kind of filter' },
            el('fieldset', { class: 'kinds' }, el('legend', {}, 'Kind'), Object.keys(kinds).map(kindInput)),
            this.about,
            el('fieldset', {}, el('legend', {}, 'Size'), el('div', { class: 'segments' }, sizeInput('small'), sizeInput('large'))),
        );
    }

    buildWords() {
        this.word = el('input', { type: 'text', autocomplete: 'off', autocapitalize: 'off', spellcheck: 'false' });
        this.trouble = el('p', { class: 'hint wrong' });
        this.removeButton = el('button', { type: 'button', onclick: () => this.submit(remove) }, 'Remove');
        this.sealButton = el('button', { type: 'button', onclick: () => this.does(seal) }, 'Seal');
        this.list = el('select', { id: 'watch-list' }, Object.keys(lists).map((name) => el('option', { value: name }, name)));
        this.list.addEventListener('change', () => this.show());
        this.stories = el('div', { class: 'row' });
        const form = el('form', { class: 'word', onsubmit: (event) => (event.preventDefault(), this.submit(add)) },
            field('A word of yours', this.word),
            el('div', { class: 'row' },
                el('button', { class: 'main', type: 'submit' }, 'Add'),
                el('button', { type: 'button', onclick: () => this.submit(query) }, 'Query'),
                this.removeButton,
                this.sealButton,
            ),
            this.trouble,
        );
        return el('section', { class: 'card controls words', 'aria-label': 'Words' },
            form,
            el('div', { class: 'preset' },
                el('label', { for: 'watch-list' }, 'Or words from a list'),
                this.list,
                el('button', { type: 'button', onclick: () => this.addNext(1) }, 'Add one'),
                el('button', { type: 'button', onclick: () => this.addNext(5) }, 'Add five'),
            ),
            el('div', { role: 'group', 'aria-labelledby': 'stories-title' }, el('p', { class: 'label', id: 'stories-title' }, 'Show me'), this.stories),
            el('div', { class: 'row' },
                el('button', { type: 'button', onclick: () => this.takeBack() }, 'Take back'),
                el('button', { type: 'button', onclick: () => this.startOver() }, 'Start over'),
            ),
        );
    }

    buildLegend() {
        const marks = { yes: 'perhaps', no: 'definitely not', set: 'changed' };
        return el('p', { class: 'legend marks' }, Object.entries(marks).map(([name, text]) => el('span', {}, el('i', { class: name }), text)));
    }

    takeBack() {
        this.player.stop();
        this.complain('');
        this.tell(this.story.kind, this.story.size, this.story.acts.slice(0, -1));
        this.announce(this.sentence());
    }

    startOver() {
        this.player.stop();
        this.complain('');
        this.tell(this.story.kind, this.story.size, []);
        this.announce(this.sentence());
    }

    buildFile() {
        const save = () => download(this.story.with(this.doneActs(), (filter) => filter.toBytes()), 'watch.ph');
        return el('section', { class: 'card', 'aria-labelledby': 'file-title' },
            el('h2', { id: 'file-title' }, 'Take it along'),
            el('p', { class: 'row' }, el('button', { type: 'button', class: 'save', onclick: save }, 'Save the filter'), el('span', { class: 'note' }, 'A file as the command line makes it, byte for byte.')),
            this.shell.element,
            this.explain.element,
        );
    }

    unmount() {
        this.player.stop();
        this.picture.stop();
        this.rate.stop();
        clearTimeout(this.writing);
        document.removeEventListener('keydown', this.keys);
    }
}

function shellWord(word) {
    return /^[\w.][\w.-]*$/.test(word) ? word : `-- '${word.replaceAll("'", String.raw`'\''`)}'`;
}

export const view = {
    name: 'watch',
    title: 'Watch',
    mount(root, context) {
        const watch = new Watch(root, context);
        return { update: (params) => watch.update(params), unmount: () => watch.unmount() };
    },
};
