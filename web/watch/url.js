// Acts as text for the URL: apple,-apple,*pear,. adds, removes, queries, seals. A word that begins
// with one of these signs has a + before it; '-' is the empty list.

const signs = { remove: '-', query: '*', add: '' };

export function textOfActs(acts) {
    if (!acts.length) return '-';
    return acts
        .map(({ verb, word }) => {
            if (verb === 'seal') return '.';
            const plain = word.replaceAll('%', '%25').replaceAll(',', '%2C');
            return `${signs[verb] || (/^[-*+.]/.test(plain) ? '+' : '')}${plain}`;
        })
        .join(',');
}

export function actsOfText(text) {
    if (text === '-') return [];
    return text.split(',').filter(Boolean).map((token) => {
        if (token === '.') return { verb: 'seal' };
        const verb = { '-': 'remove', '*': 'query' }[token[0]] ?? 'add';
        const rest = /^[-*+]/.test(token) ? token.slice(1) : token;
        return { verb, word: rest.replaceAll(/%2C/gi, ',').replaceAll('%25', '%') };
    });
}
