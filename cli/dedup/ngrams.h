/* N-grams: all runs of N words of a text, each a key, with a space between two words. Words stand
 * between white space of ASCII; any other bytes, of UTF-8 or not, are parts of words. A text of
 * fewer words is one N-gram of all of them, also of none. */
#ifndef CLI_DEDUP_NGRAMS_H
#define CLI_DEDUP_NGRAMS_H

#include <perhaps_embed.h>

#include <stdbool.h>

/* More words than a sentence of any use has. */
enum { NGRAM_MOST = 1000 };

/* The digests of the N-grams of some texts, one after the other. Zeros begin; ngrams_free ends. */
struct ngrams {
    uint64_t *digests;
    size_t *first; /* text i has digests [first[i], first[i + 1]) */
    size_t texts, n;
    size_t room, first_room, text_room, word_room;
    char *text;    /* the words of one text, each followed by a space */
    size_t *words; /* where in it each begins */
};

/* How its N-grams are made. */
struct ngram_maker {
    const perhaps_hasher *hasher;
    unsigned words; /* N */
    bool fold;      /* letters of ASCII become small */
};

/* Adds those of a text. False if there is not enough memory. */
bool ngrams_add(struct ngrams *ngrams, const struct ngram_maker *maker, const char *text, size_t length);

/* Forgets all texts, and keeps the memory. */
void ngrams_clear(struct ngrams *ngrams);

void ngrams_free(struct ngrams *ngrams);

#endif
