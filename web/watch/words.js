// Words to begin with. A list's words are added in this order; those of the others are non-members.
export const lists = {
    Fruit: 'apple pear plum fig kiwi lemon mango cherry peach grape melon lime quince date guava papaya banana orange apricot currant lychee olive pomelo raisin sloe medlar mulberry cranberry coconut nectarine',
    Animals: 'otter badger heron lynx newt raven stoat toad vole wren bison camel dingo eland ferret gecko hare ibex jackal koala lemur marmot ocelot panda quail rabbit seal tapir urchin walrus',
    Cities: 'Oslo Lima Cairo Delhi Quito Accra Tunis Seoul Perth Paris Turin Porto Ghent Basel Leeds Malmö Sofia Minsk Tokyo Osaka Hanoi Dakar Lagos Nairobi Bogotá Havana Boston Austin Denver Fargo',
    Colours: 'red orange amber yellow lime green teal cyan azure blue indigo violet purple magenta pink rose brown ochre tan beige ivory white silver grey slate black crimson coral khaki olive',
};

for (const [name, words] of Object.entries(lists)) lists[name] = words.split(' ');

const listed = new Set(Object.values(lists).flat());

/** Whether a word is of a list, or made: 'apple', 'apple 2', 'guess 7'. */
export function isListed(word) {
    const plain = word.replace(/ \d+$/, '');
    return listed.has(plain) || plain === 'guess';
}

/** Words that are in none of `added`: those of all lists, then made ones. */
export function* nonMembersOf(added, most = 20_000) {
    const known = new Set(added);
    for (const word of Object.values(lists).flat()) {
        if (known.has(word)) continue;
        known.add(word);
        yield word;
    }
    for (let i = 1; i <= most; i++) if (!known.has(`guess ${i}`)) yield `guess ${i}`;
}
