// The lines to copy that make the filter of a plan: for C, the shell, Python, JavaScript and a
// server. tests/page runs them and compares sizes.
import { abilityName, isStatic, shortRate } from './planner.js';
import { short } from './common.js';

const constants = { inPlace: 'IN_PLACE' };

// What has to be said to get this row: the want, and the kind where it is not the recommended one.
// The size of a static filter follows from its keys, so that items and a rate say all.
function saidOf(lib, { want }, row) {
    const said = { ...want };
    delete said.kind;
    if (isStatic(row)) {
        const rate = want.bytes && !want.fpr ? shortRate(lib, row) : String(want.fpr);
        return { items: row.plan.items, fpr: rate, kind: row.kind };
    }
    if (!row.recommended) said.kind = row.kind;
    if (!said.needs?.length || said.kind) delete said.needs;
    return said;
}

function digitGroups(n) {
    return n < 2 ** 53 ? String(n).replace(/\B(?=(\d{3})+$)/g, '_') : String(n);
}

// The fields of a want in a language: each as `name` and value are joined there.
function fieldsOf(said, join, notation) {
    return Object.entries(said).map(([name, value]) => join(name, notation[name]?.(value) ?? value)).join(', ');
}

// What Python and JavaScript write alike, except quotes and the word for yes.
function scripted(quote, yes) {
    const quoted = (word) => `${quote}${word}${quote}`;
    return {
        items: digitGroups,
        bytes: digitGroups,
        kind: quoted,
        needs: (needs) => `[${needs.map((name) => quoted(abilityName(name))).join(', ')}]`,
        grow: () => yes,
    };
}

const notations = {
    c(said) {
        const notation = {
            kind: (kind) => `PERHAPS_${kind.toUpperCase()}`,
            needs: (needs) => needs.map((name) => `PERHAPS_${constants[name] ?? name.toUpperCase()}`).join(' | '),
            grow: () => 'PERHAPS_GROW_LAYERS',
        };
        const given = fieldsOf(said, (name, value) => `.${name} = ${value}`, notation);
        return `perhaps_want want = PERHAPS_WANT(${given});\nint rc = perhaps_create(&filter, &want);`;
    },
    shell(said) {
        const parts = [
            said.kind === 'ribbon' && '--smallest',
            said.kind === 'fuse' && '--static',
            said.kind && said.kind !== 'ribbon' && said.kind !== 'fuse' && `-k ${said.kind}`,
            said.grow && '--grow',
            said.items && `-n ${short(said.items)}`,
            said.fpr && `-p ${said.fpr}`,
            said.bytes && `--bytes ${said.bytes}`,
            said.needs && `--needs ${said.needs.map(abilityName).join(',')}`,
        ];
        return `perhaps build ${parts.filter(Boolean).join(' ')} -o keys.ph keys.txt`;
    },
    python(said) {
        return `filter = perhaps.Filter(${fieldsOf(said, (name, value) => `${name}=${value}`, scripted('"', 'True'))})`;
    },
    javascript(said) {
        return `const filter = new Filter({ ${fieldsOf(said, (name, value) => `${name}: ${value}`, scripted("'", 'true'))} });`;
    },
};

const MOST_ON_SERVER = 2 ** 30; // capacity of BF.RESERVE and CF.RESERVE

// What the server makes itself has these kinds; everything else is built here and loaded there.
function redisLine(lib, comparison, row) {
    const { want } = comparison;
    const { items } = row.plan;
    if (items <= MOST_ON_SERVER) {
        const rate = () => (want.fpr && !want.bytes ? String(want.fpr) : shortRate(lib, row, want.grow && { grow: want.grow }));
        if (row.kind === 'bloom' && !want.grow) return `BF.RESERVE keys ${rate()} ${items} NONSCALING`;
        if (row.kind === 'blocked') return `BF.RESERVE keys ${rate()} ${items}`;
        if (row.kind === 'cuckoo' && items >= 4) return `CF.RESERVE keys ${items} ERROR ${rate()}`;
    }
    return 'redis-cli -x PERHAPS.LOAD keys 0 $(stat -c %s keys.ph) < keys.ph';
}

/** What is to be said about a line for a server; '' where nothing is. */
export function redisNote(line) {
    if (line.startsWith('BF.RESERVE') && !line.endsWith('NONSCALING')) return 'The server chooses between blocked and bloom itself, and the filter grows if more keys come.';
    if (line.startsWith('CF.RESERVE')) return 'On the server the filter grows if more keys come.';
    if (line.startsWith('redis-cli')) return 'The server makes no such filter itself: it loads the file of the shell line.';
    return '';
}

export const languages = ['C', 'Shell', 'Python', 'Redis', 'JavaScript'];

/** The lines for a row of a comparison, by language. */
export function linesOf(lib, comparison, row) {
    const said = saidOf(lib, comparison, row);
    return {
        C: notations.c(said),
        Shell: notations.shell(said),
        Python: notations.python(said),
        Redis: redisLine(lib, comparison, row),
        JavaScript: notations.javascript(said),
    };
}
