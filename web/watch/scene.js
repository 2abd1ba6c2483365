// What is to be drawn after some of the steps of an act: the array as it is then, what is lit, and
// where lines and arrows go. All values are the library's: of the trace, or of the cells before and
// after.

// What a key's cells look like. yes: it speaks for "perhaps"; no: it does not; set: it was changed.
function light(part, index, state, now) {
    part.lit.set(index, { state, now });
}

function partOf(scene, step) {
    return scene.parts.find(({ child }) => child === step.child) ?? scene.parts[0];
}

function freshParts(picture) {
    return picture.parts.map((part) => ({ ...part, values: [...part.values], lit: new Map(), verdict: null, gone: false }));
}

function pointAt(scene, part, index, state, now) {
    light(part, index, state, now);
    scene.lines.push({ child: part.child, index, state, now });
}

// ---- whose a cell is ----

/** The words that are in a cell. */
export function wordsIn(scene, part, index) {
    const place = `${part.child}/${part.name}/${index}`;
    return scene.named.get(place) ?? scene.holders.of(place);
}

// While keys move, they take their names along.
function name(scene, part, index, words) {
    scene.named.set(`${part.child}/${part.name}/${index}`, words);
}

// ---- one step ----

const show = {
    digest(scene) {
        scene.hashed = true;
    },
    child(scene, step) {
        scene.active = step.child;
        scene.lines = [];
    },
    position(scene, step, now, after) {
        const part = partOf(scene, step);
        if (step.name !== part.name) return; // a home, a cache line, a part
        if (step.adding) part.values[step.index] = after.find(({ child }) => child === part.child)?.values[step.index] ?? part.values[step.index];
        pointAt(scene, part, step.index, step.adding ? (step.holds ? 'yes' : 'set') : step.holds ? 'yes' : 'no', now);
    },
    slot(scene, step, now) {
        const part = partOf(scene, step);
        if (step.name === part.name) pointAt(scene, part, step.index, step.holds ? 'yes' : 'no', now);
        else scene.sum = step; // the exclusive or
    },
    move(scene, step, now) {
        const part = partOf(scene, step);
        part.values[step.to] = step.wanted;
        part.values[step.index] = 0n;
        name(scene, part, step.to, wordsIn(scene, part, step.index));
        name(scene, part, step.index, []);
        scene.moves.push({ child: part.child, from: step.index, to: step.to, now, value: step.wanted });
        light(part, step.to, 'moved', now);
        light(part, step.index, 'no', false);
    },
    store(scene, step, now) {
        const part = partOf(scene, step);
        part.values[step.index] = step.wanted;
        const key = scene.peeled.find(({ slot }) => slot === step.index);
        if (key) pointAtKey(scene, part, key, 'set', now);
        if (key) key.stored = step.wanted;
        else name(scene, part, step.index, [scene.word]);
        light(part, step.index, 'set', now);
    },
    stash(scene, step, now) {
        scene.stash = { ...scene.stash, state: step.holds ? 'yes' : step.adding && step.wanted > step.value ? 'set' : 'no', now };
    },
    room(scene, step, now, after) {
        if (step.name === 'layer') scene.parts.push({ ...freshParts({ parts: [after.at(-1)] })[0], values: after.at(-1).values.map(() => 0n), items: 0, begun: now });
        if (step.name === 'forgotten generation') scene.parts[step.index].gone = true;
    },
    change(scene, step, now) {
        if (step.name === 'stash') return void (scene.stash = { ...scene.stash, state: 'set', now });
        const part = partOf(scene, step);
        part.values[step.index] = step.wanted;
        if (part.name === 'slot') name(scene, part, step.index, []);
        light(part, step.index, 'cleared', now);
    },
    peel(scene, step, now) {
        const { word, slots } = scene.keys.get(step.value);
        const key = { word, slots, slot: step.index, now, print: step.wanted };
        scene.peeled.push(key);
        pointAtKey(scene, scene.parts[0], key, 'set', now);
        for (const slot of slots) scene.left[slot]--;
    },
    answer(scene, step) {
        if (step.depth) partOf(scene, step).verdict = step.adding ? null : step.holds;
    },
};

// A key of those that are sealed: lines to its slots, of which one is its own.
function pointAtKey(scene, part, key, state, now) {
    if (now) scene.word = key.word;
    scene.lines = [];
    part.lit.clear();
    for (const slot of key.slots) pointAt(scene, part, slot, slot === key.slot ? state : 'other', now && slot === key.slot);
}

// ---- the whole ----

// A generation that has begun: all others are one older. Their light moves with them.
function shift(scene, parts) {
    const lit = scene.parts.map((part) => part.lit);
    parts.forEach((part, i) => (part.lit = lit[i + 1] ?? new Map()));
}

/** Whether the act made the oldest generation the newest. */
export function isShifted({ before, after }) {
    const [old, now] = [before.parts, after.parts];
    return before.info.kind === 'window' && old.at(-1).items > 0 && now.at(-1).items === 1 && now.at(-2).items === old.at(-1).items;
}

// At the end the array is what the library says; what has changed unseen is lit.
function settle(scene, frame) {
    const parts = freshParts(frame.after);
    if (isShifted(frame)) shift(scene, parts);
    else parts.forEach((part, i) => Object.assign(part, { lit: scene.parts[i]?.lit ?? new Map(), verdict: scene.parts[i]?.verdict ?? null }));
    const begun = isShifted(frame) || parts.length > frame.before.parts.length;
    if (begun) scene.lines = [];
    const shown = isShifted(frame) ? [...scene.parts.slice(1), null] : scene.parts;
    parts.forEach((part, i) =>
        part.values.forEach((value, index) => {
            const was = shown[i]?.values[index] ?? 0n;
            if (value === was || frame.before.info.collecting) return;
            if (begun) pointAt(scene, part, index, 'set', true);
            else light(part, index, 'set', true);
        }),
    );
    scene.parts = parts;
    scene.stash.count = frame.after.info.stashed;
    scene.holders = frame.after.holders;
    scene.named.clear();
}

/** The picture after the first `n` steps of a frame. */
export function sceneOf(frame, n) {
    const { act, before, after, steps, keys } = frame;
    const scene = {
        act,
        word: act.word,
        hashed: false,
        parts: freshParts(before),
        active: -1,
        lines: [],
        moves: [],
        stash: { count: before.info.stashed, state: null, now: false },
        sum: null,
        holders: before.holders,
        named: new Map(),
        waiting: before.info.collecting ? before.words : null,
        keys,
        peeled: [],
        left: keys.size ? leftIn(before.parts[0].values.length, keys) : null,
        done: n === steps.length,
    };
    steps.slice(0, n).forEach((step, i) => show[step.step]?.(scene, step, i === n - 1, after.parts));
    if (scene.done && steps.length) settle(scene, frame);
    if (scene.done) scene.waiting = after.info.collecting ? after.words : null;
    if (scene.done && act.verb === 'seal') {
        Object.assign(scene, { left: null, lines: [] });
        scene.parts[0].lit.clear();
    }
    return scene;
}

/** Before the first act. */
export function emptyScene(picture) {
    return sceneOf({ act: { verb: 'none' }, before: picture, after: picture, steps: [], keys: new Map() }, 0);
}

// How many keys each slot has.
function leftIn(n, keys) {
    const left = Array(n).fill(0);
    for (const { slots } of keys.values()) for (const slot of slots) left[slot]++;
    return left;
}
