// What `perhaps plan` computes, from the same calls of the library: every kind's answer to a want,
// the kind that is recommended, the limit and the formula of the textbooks. No DOM here.

/** Plans are for other machines than this page has. */
export const anyMachine = { memory: 2 ** 50 };

// As the command line names them.
const shown = { inPlace: 'in-place' };

export function abilityName(name) {
    return shown[name] ?? name;
}

function ask(lib, want, row) {
    const { needs = [], ...one } = want;
    let plan = null;
    let error = null;
    try {
        plan = lib.plan({ ...one, kind: row.name }, anyMachine);
    } catch (reason) {
        error = reason.message;
    }
    const can = plan ? plan.can : row.can;
    const lacking = needs.filter((name) => !can.includes(name));
    if (lacking.length) error = `cannot ${lacking.map(abilityName).join(', ')}`;
    return { kind: row.name, can, plan: error ? null : plan, error, recommended: false };
}

// The formula of the textbooks: m bits and k hashes for n keys at rate p.
function classicFormula(want) {
    const ln2 = Math.LN2;
    let keys = want.items ?? 0;
    let bits = want.bytes ? want.bytes * 8 : Math.floor((-keys * Math.log(want.fpr)) / (ln2 * ln2));
    if (!keys) keys = Math.floor((bits * ln2 * ln2) / -Math.log(want.fpr));
    bits = Math.min(bits, 2 ** 63);
    keys = Math.min(Math.max(keys, 1), 2 ** 63);
    const hashes = Math.min(Math.max(Math.round((bits / keys) * ln2), 1), 1e6);
    const fpr = want.fpr || (1 - Math.exp((-hashes * keys) / bits)) ** hashes;
    return { keys, bits: Math.floor(bits), hashes, fpr };
}

function sameFilter(a, b) {
    return a.kind === b.kind && a.bytes === b.bytes && a.hashes === b.hashes && a.lines === b.lines && a.items === b.items;
}

/**
 * The want is that of lib.plan(), with two of items, fpr and bytes. If nothing will do,
 * `error` is the library's sentence.
 */
export function compare(lib, want) {
    const rows = lib.kinds().filter((row) => !row.file && row.name !== 'bitmap').map((row) => ask(lib, want, row));
    let best;
    try {
        best = lib.plan(want, anyMachine);
    } catch (reason) {
        return { want, rows, error: reason.message };
    }
    const found = rows.find((row) => row.plan && (!want.kind || row.kind === want.kind) && sameFilter(row.plan, best));
    if (found) found.recommended = true;
    const rate = want.fpr > 0 && best.fpr > 0 ? want.fpr : best.fpr;
    return { want, best, rows, recommended: found, rate, limit: rate > 0 ? Math.log2(1 / rate) : best.limitBitsPerKey, classic: classicFormula(want) };
}

export const isStatic = ({ plan }) => plan.traits.includes('static');

// Those among which the library chooses: static kinds are chosen by name, and those that keep
// copies only where that is needed.
function choices({ rows, want }) {
    const copies = (want.needs ?? []).some((name) => name === 'remove' || name === 'count');
    return rows.filter((row) => row.plan && !isStatic(row) && (copies || !row.can.includes('count')));
}

function cost(want, { plan }) {
    if (want.bytes) return want.fpr ? 1 / plan.items : plan.fpr;
    return plan.imageBytes;
}

function list(words) {
    return words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`;
}

function linesText(n) {
    return n === 1 ? 'one cache line' : `${n} cache lines`;
}

/** One sentence why the recommended kind is that. */
export function whyRecommended(comparison) {
    const { want, rows, recommended: best } = comparison;
    if (!best) return '';
    const needs = (want.needs ?? []).filter((name) => name !== 'add').map(abilityName);
    const lines = linesText(best.plan.lines);
    if (isStatic(best)) {
        const bloom = rows.find(({ kind }) => kind === 'bloom');
        const saved = bloom?.plan && !want.bytes ? Math.round(100 * (1 - best.plan.bytes / bloom.plan.bytes)) : 0;
        const smaller = saved > 0 ? `${saved} % smaller than a Bloom filter` : 'quick to build and to query';
        return `All keys are known now, so it need not change: built once, it is ${smaller}.`;
    }
    const rivals = choices(comparison);
    const to = needs.length ? ` that can ${list(needs)}` : '';
    if (rivals.length === 1) return `It is the only kind${to || ' that will do'}.`;
    const smallest = rivals.reduce((least, row) => (cost(want, row) < cost(want, least) ? row : least));
    if (smallest === best) {
        const what = !want.bytes ? 'the smallest' : want.fpr ? 'the kind with room for most keys' : 'the kind with the lowest rate';
        return `It is ${what}${to}, and a query touches at most ${lines}.`;
    }
    const ratio = cost(want, best) / cost(want, smallest);
    const price = !want.bytes
        ? `is ${Math.max(1, Math.round(100 * (1 - 1 / ratio)))} % smaller`
        : want.fpr
          ? `has room for ${Math.max(1, Math.round(100 * (ratio - 1)))} % more keys`
          : 'has a lower rate';
    return `A query touches ${best.plan.lines === 1 ? 'only' : 'at most'} ${lines}, which makes it the fastest${to}; ${smallest.kind} ${price}, but touches up to ${smallest.plan.lines}.`;
}

// The next number that has that many digits: roundedUp(0.0314159, 2) is '0.032'.
function roundedUp(value, most) {
    const [mantissa, power] = value.toExponential(most - 1).split('e');
    const near = Number(`${mantissa}e${power}`);
    if (near > value) return String(near);
    const step = 10 ** (1 - most);
    return String(Number(`${(Number(mantissa) + step).toFixed(most - 1)}e${power}`));
}

/**
 * A rate with few digits that gives the filter of this row, for commands that take rates only. A
 * larger rate than the filter has does, as long as no smaller filter has it.
 */
export function shortRate(lib, row, extra = {}) {
    const { items, fpr, bytes } = row.plan;
    for (let most = 1; most <= 15; most++) {
        const text = roundedUp(fpr, most);
        try {
            if (Number(text) > 0 && lib.plan({ kind: row.kind, items, fpr: Number(text), ...extra }, anyMachine).bytes === bytes) return text;
        } catch {
            // It is 1 or more: another digit.
        }
    }
    return String(fpr);
}
