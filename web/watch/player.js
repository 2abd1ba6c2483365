// Steps back and forth, by hand and by a clock.
import { el, prefersLessMotion } from '../common.js';

const speeds = { slow: 1500, normal: 750, fast: 250 };

/** From a place in a story, { act, step }, to the next step. Act -1 is before the first. */
export function forward(at, story) {
    if (at.act >= 0 && at.step < story.frame(at.act).steps.length) return { act: at.act, step: at.step + 1 };
    return at.act + 1 < story.acts.length ? { act: at.act + 1, step: 1 } : at;
}

export function back(at, story) {
    if (at.step > 1) return { act: at.act, step: at.step - 1 };
    return at.act > 0 ? { act: at.act - 1, step: story.frame(at.act - 1).steps.length } : { act: -1, step: 0 };
}

function icon(d) {
    const element = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
    element.setAttribute('viewBox', '0 0 16 16');
    element.setAttribute('aria-hidden', 'true');
    const path = document.createElementNS('http://www.w3.org/2000/svg', 'path');
    path.setAttribute('d', d);
    element.append(path);
    return element;
}

const icons = {
    start: 'M2 3h2v10H2zM14 3v10L5 8z',
    back: 'M12 3v10L4 8z',
    play: 'M4 2.5v11l9-5.5z',
    pause: 'M3.5 3h3v10h-3zM9.5 3h3v10h-3z',
    step: 'M4 3v10l8-5z',
    end: 'M12 3h2v10h-2zM2 3v10l9-5z',
};

function button(name, label, onclick) {
    return el('button', { type: 'button', class: `icon ${name}`, 'aria-label': label, title: label, onclick }, icon(icons[name]));
}

/**
 * The buttons. `go(how)` moves: 'start', 'back', 'step', 'end', or 'again' before it plays; it
 * gives false where there is nothing further.
 */
export function player(go) {
    let timer = 0;
    let span = Infinity;
    const speed = el('select', { 'aria-label': 'Speed' }, Object.keys(speeds).map((name) => el('option', { value: name }, name)));
    speed.value = 'normal';
    const stop = () => {
        clearInterval(timer);
        timer = 0;
        shown();
    };
    const tick = () => {
        if (!go('step') || --span <= 0) stop();
    };
    const play = (most = Infinity) => {
        clearInterval(timer);
        span = most;
        timer = setInterval(tick, speeds[speed.value]);
        shown();
    };
    const by = (how) => () => {
        stop();
        go(how);
    };
    const toggle = button('play', 'Play', () => (timer ? stop() : go('again') && play()));
    function shown() {
        const name = timer ? 'pause' : 'play';
        toggle.setAttribute('aria-label', timer ? 'Pause' : 'Play');
        toggle.title = timer ? 'Pause' : 'Play';
        toggle.replaceChildren(icon(icons[name]));
    }
    speed.addEventListener('change', () => timer && play(span));
    const buttons = {
        start: button('start', 'Back to the start', by('start')),
        back: button('back', 'One step back', by('back')),
        step: button('step', 'One step on', by('step')),
        end: button('end', 'To the end', by('end')),
    };
    return {
        element: el('div', { class: 'player', role: 'group', 'aria-label': 'Step by step' }, buttons.start, buttons.back, toggle, buttons.step, buttons.end, speed),
        stop,
        isPlaying: () => timer !== 0,
        /** Plays `n` steps, or goes there at once where motion is not wanted. */
        playSteps(n) {
            if (prefersLessMotion()) return false;
            if (n > 0) play(n);
            return true;
        },
        key(name) {
            const how = { ArrowRight: 'step', ArrowLeft: 'back', Home: 'start', End: 'end' }[name];
            if (how) by(how)();
            return Boolean(how);
        },
        show(atStart, atEnd) {
            // Not disabled: a button that has the focus would lose it.
            for (const [name, there] of Object.entries({ start: atStart, back: atStart, step: atEnd, end: atEnd })) buttons[name].setAttribute('aria-disabled', there);
        },
    };
}
