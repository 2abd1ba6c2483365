#include "ngrams.h"
#include "input/encode.h"

#include <stdlib.h>
#include <string.h>

static bool enlarge(void *array, size_t *room, size_t needed, size_t size) {
    if (needed <= *room) return true;
    size_t more = needed + needed / 2 + 64;
    void *larger = more < needed || more > SIZE_MAX / size ? NULL : realloc(*(void **)array, more * size);
    if (!larger) return false;
    *(void **)array = larger;
    *room = more;
    return true;
}

/* Copies the words, each followed by a space; how many. words[i] is where word i begins, up to the
 * end of the last one. */
static size_t find_words(struct ngrams *g, const char *at, const char *end) {
    char *out = g->text;
    size_t n = 0;
    for (;;) {
        while (at < end && is_space(*at)) at++;
        g->words[n] = (size_t)(out - g->text);
        if (at == end) return n;
        const char *word = at;
        while (at < end && !is_space(*at)) at++;
        memcpy(out, word, (size_t)(at - word));
        out += at - word;
        *out++ = ' ';
        n++;
    }
}

/* All n N-grams, of `words` words each. */
static void hash_all(const struct ngrams *g, const struct ngram_maker *maker, size_t n, size_t words,
                     uint64_t *digests) {
    enum { SOME = 256 };
    const void *keys[SOME];
    size_t lengths[SOME];
    for (size_t done = 0; done < n; done += SOME) {
        size_t some = n - done < SOME ? n - done : SOME;
        for (size_t i = 0; i < some; i++) {
            const size_t *first = g->words + done + i;
            keys[i] = g->text + first[0];
            lengths[i] = words ? first[words] - first[0] - 1 : 0;
        }
        perhaps_digest_many(maker->hasher, &PERHAPS_KEYS_BYTES(keys, lengths, some), digests + done);
    }
}

bool ngrams_add(struct ngrams *g, const struct ngram_maker *maker, const char *text, size_t length) {
    if (!enlarge(&g->text, &g->text_room, length + 1, 1)) return false;
    if (!enlarge(&g->words, &g->word_room, length / 2 + 2, sizeof *g->words)) return false;
    size_t words = find_words(g, text, text + length);
    size_t each = words < maker->words ? words : maker->words, n = words - each + 1;
    if (!enlarge(&g->digests, &g->room, g->n + n, sizeof *g->digests)) return false;
    if (!enlarge(&g->first, &g->first_room, g->texts + 2, sizeof *g->first)) return false;
    if (maker->fold) fold_case(g->text, g->words[words], (uint8_t *)g->text);
    hash_all(g, maker, n, each, g->digests + g->n);
    g->first[g->texts++] = g->n;
    g->n += n;
    g->first[g->texts] = g->n;
    return true;
}

void ngrams_clear(struct ngrams *g) {
    g->texts = g->n = 0;
}

void ngrams_free(struct ngrams *g) {
    free(g->digests);
    free(g->first);
    free(g->text);
    free(g->words);
}
