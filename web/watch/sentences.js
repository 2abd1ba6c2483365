// Each step in a sentence. Answers are the library's own.

const hex = (value) => value.toString(16);
const many = (n, word) => `${n} ${word}${Number(n) === 1 ? '' : 's'}`;

export function quotes(word) {
    return `“${word}”`;
}

/** What a child is called: 'layer 1', 'newest generation'. */
export function childName(kind, child, count) {
    if (kind === 'growing') return `layer ${child + 1}`;
    const age = count - 1 - child;
    if (age === 0) return 'newest generation';
    return child === 0 ? 'oldest generation' : `generation ${age} older`;
}

function heldBy({ holders }) {
    if (!holders?.length) return '';
    const shown = holders.slice(0, 3).map(quotes).join(', ');
    return `, held by ${shown}${holders.length > 3 ? ` and ${holders.length - 3} more` : ''}`;
}

function ofPosition(step, { after }) {
    const name = `${step.name[0].toUpperCase()}${step.name.slice(1)} ${step.index}`;
    if (step.name === 'home') return `Slot ${step.index} is a home of the key: it may be there, or just after it.`;
    if (step.name === 'cache line') return `The key is in cache line ${step.index}, and looks at no other.`;
    if (step.name === 'part') return `The key is in part ${step.index}.`;
    if (!step.adding) return step.holds ? `${name} is ${step.value}${heldBy(step)}.` : `${name} is 0${step.depth ? '' : ': the key is not in it'}.`;
    const now = after.parts.find(({ child }) => child === step.child)?.values[step.index];
    if (now === step.value) return `${name} is ${step.value} already${heldBy(step)}${step.value === 15n ? ': it is full, and stays' : ''}.`;
    return `${name} is ${step.value} and becomes ${now}.`;
}

function ofSlot(step) {
    if (step.name !== 'slot') return `Together they make ${hex(step.value)}; the key's fingerprint is ${hex(step.wanted)}.`;
    if (!step.wanted) return `Slot ${step.index} has ${hex(step.value)}.`;
    if (!step.value) return `Slot ${step.index} is empty.`;
    if (step.holds) return `Slot ${step.index} has ${hex(step.value)}, just as the key would${heldBy(step)}.`;
    return `Slot ${step.index} has ${hex(step.value)}; the key would be ${hex(step.wanted)} there.`;
}

const rooms = {
    array: (step) => `The array of ${many(step.value, 'byte')} becomes one of ${many(step.wanted, 'byte')}.`,
    layer: (step) => `Layer ${step.index + 1} is appended, with an array of ${many(step.wanted, 'byte')}.`,
    generation: () => 'A generation begins.',
    'forgotten generation': (step) => `The oldest generation is forgotten, with its ${many(step.value, 'key')}.`,
};

function ofStash(step) {
    if (!step.adding) return step.holds ? `The stash has it${heldBy(step)}.` : 'It is not in the stash.';
    return step.value ? `The stash has ${many(step.value, 'copy').replace('copys', 'copies')} of it and takes one more.` : 'The stash takes it.';
}

function ofStore(step, frame) {
    if (frame.act.verb !== 'seal') return `Slot ${step.index} takes the key, as ${hex(step.wanted)}.`;
    const peeled = frame.steps.find((other) => other.step === 'peel' && other.index === step.index);
    const { word } = frame.keys.get(peeled.value);
    return `Slot ${step.index} becomes ${hex(step.wanted)}: the slots of ${quotes(word)} now make its fingerprint, ${hex(peeled.wanted)}.`;
}

function ofChange(step) {
    if (step.name === 'stash') return `The stash has ${many(step.wanted, 'key')} instead of ${step.value}.`;
    if (step.name === 'slot') return step.wanted ? `Slot ${step.index} becomes ${hex(step.wanted)}.` : `Slot ${step.index} is empty again.`;
    return `${step.name[0].toUpperCase()}${step.name.slice(1)} ${step.index} becomes ${step.wanted}.`;
}

function verdict(frame, step) {
    if (step.depth) return '';
    if (frame.act.verb === 'query') return step.holds ? 'Perhaps. ' : 'Definitely not. ';
    if (frame.act.verb !== 'add') return '';
    if (step.value === 1n) return 'New. ';
    return step.value === 0n ? 'Perhaps there already. ' : 'Refused. ';
}

const sentences = {
    digest: (step, { act }) => `${quotes(act.word)} is hashed, once: ${hex(step.value).padStart(16, '0')}.`,
    child: (step, { before }) =>
        `The ${childName(before.info.kind, step.index, before.parts.length)} has ${step.value} of ${many(step.wanted, 'key')}.`,
    position: ofPosition,
    slot: ofSlot,
    move: (step) => `What is in slot ${step.index} moves to slot ${step.to}, as ${hex(step.wanted)}.`,
    store: ofStore,
    stash: ofStash,
    room: (step) => rooms[step.name](step),
    change: ofChange,
    peel: (step, { keys }) => `Slot ${step.index} has only ${quotes(keys.get(step.value).word)} left: the key is taken away.`,
    collect: (step, { act }) => `${quotes(act.word)} ${step.why}`,
    refused: (step) => step.why,
    answer: (step, frame) => `${verdict(frame, step)}${step.why}`,
};

/** Step i of a frame. */
export function sentenceOf(frame, i) {
    const step = frame.steps[i];
    return sentences[step.step](step, frame);
}

/** What is asked of the filter. */
export function titleOf({ verb, word }) {
    if (verb === 'add') return `Add ${quotes(word)}`;
    if (verb === 'remove') return `Remove ${quotes(word)}`;
    if (verb === 'query') return `Is ${quotes(word)} in it?`;
    return 'Seal the filter';
}

/** Of a query that answers "perhaps" for a word that was never added: why. NULL for others. */
export function falsePositiveText(frame) {
    if (!frame.perhaps || frame.member) return null;
    const words = [...new Set(frame.steps.flatMap((step) => (step.step !== 'child' ? step.holders ?? [] : [])))];
    if (!words.length) return `A false positive: ${quotes(frame.act.word)} was never added. Its slots happen to make its fingerprint.`;
    const shown = words.slice(0, 6).map(quotes).join(', ');
    return `A false positive: ${quotes(frame.act.word)} was never added. What it looks at was set by ${shown}${words.length > 6 ? ` and ${words.length - 6} more` : ''}.`;
}
