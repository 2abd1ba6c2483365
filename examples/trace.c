/*
 * Trace: why a filter answers as it does.
 *
 * perhaps_trace lists the steps of a query or an add as data. This program prints them: a query of
 * a Bloom filter that finds a bit that is 0, an add to a growing filter, and an add to a nearly
 * full cuckoo filter that moves other keys.
 */
#include <inttypes.h>
#include <perhaps_trace.h>
#include <stdio.h>

static void print_step(const perhaps_step *s) {
    printf("  %*s", (int)(2 * s->depth), "");
    switch (s->step) {
    case PERHAPS_STEP_DIGEST:
        printf("digest %016" PRIx64 "\n", s->value);
        break;
    case PERHAPS_STEP_CHILD:
        printf("%s %" PRIu64 ", %" PRIu64 " of %" PRIu64 " keys\n", s->name, s->index, s->value, s->wanted);
        break;
    case PERHAPS_STEP_MOVE:
        printf("move from slot %" PRIu64 " to %" PRIu64 "\n", s->index, s->to);
        break;
    case PERHAPS_STEP_STORE:
        printf("store in slot %" PRIu64 "\n", s->index);
        break;
    case PERHAPS_STEP_ANSWER:
        printf("answer %" PRId64 ": %s\n", (int64_t)s->value, s->why);
        break;
    case PERHAPS_STEP_ROOM:
        printf("room is made: %s %" PRIu64 "\n", s->name, s->index);
        break;
    case PERHAPS_STEP_SLOT:
        printf("slot %" PRIu64 " has %" PRIu64 ", the key would be %" PRIu64 "\n", s->index, s->value, s->wanted);
        break;
    default:
        printf("%s %" PRIu64, s->name, s->index);
        if (s->wanted) printf(" is %" PRIu64, s->value);
        printf("\n");
    }
}

/* Prints the trace; the number of moves in it, or a negative error. */
static int explain(const perhaps *f, int verb, uint64_t key, int print) {
    perhaps_step steps[128];
    int64_t n = perhaps_trace(f, verb, &PERHAPS_KEYS_U64(&key, 0, 1), steps, 128);
    int moves = 0;
    if (n < 0) return (int)n;
    if (print) printf("%s %" PRIu64 "\n", verb == PERHAPS_VERB_QUERY ? "query" : "add", key);
    for (int64_t i = 0; i < n && i < 128; i++) {
        moves += steps[i].step == PERHAPS_STEP_MOVE;
        if (print) print_step(&steps[i]);
    }
    return moves;
}

static int fail(const char *what) {
    fprintf(stderr, "trace: %s: %s\n", what, perhaps_why());
    return 1;
}

/* Adds keys 1 to n. */
static int add_keys(perhaps *f, uint64_t n) {
    for (uint64_t key = 1; key <= n; key++)
        if (perhaps_add_u64(f, key) < 0) return -1;
    return 0;
}

static int explain_bloom(void) {
    perhaps *f;
    if (perhaps_create(&f, &PERHAPS_WANT(.kind = PERHAPS_BLOOM, .items = 100, .fpr = 0.1)) < 0) return fail("bloom");
    printf("A Bloom filter with the keys 1 to 100\n");
    int rc = add_keys(f, 100);
    if (rc == 0) rc = explain(f, PERHAPS_VERB_QUERY, 100, 1);
    if (rc == 0) rc = explain(f, PERHAPS_VERB_QUERY, 102, 1);
    perhaps_free(f);
    return rc < 0 ? fail("bloom") : 0;
}

static int explain_growing(void) {
    perhaps_want want = PERHAPS_WANT(.kind = PERHAPS_CUCKOO, .items = 50, .fpr = 0.5, .grow = PERHAPS_GROW_LAYERS);
    perhaps *f;
    if (perhaps_create(&f, &want) < 0) return fail("growing");
    printf("\nA growing filter whose first layer is full\n");
    int rc = 0;
    for (uint64_t key = 1; rc == 0 && key <= 1000; key++) { /* until an add would append a layer */
        struct perhaps_info info = {.size = sizeof info};
        perhaps_info(f, &info);
        if (info.items == info.capacity && perhaps_contains_u64(f, key) == 0) {
            rc = explain(f, PERHAPS_VERB_ADD, key, 1);
            break;
        }
        rc = perhaps_add_u64(f, key) < 0 ? -1 : 0;
    }
    perhaps_free(f);
    return rc < 0 ? fail("growing") : 0;
}

static int explain_cuckoo(void) {
    perhaps *f;
    if (perhaps_create(&f, &PERHAPS_WANT(.kind = PERHAPS_CUCKOO, .items = 1000, .fpr = 0.01)) < 0)
        return fail("cuckoo");
    printf("\nA cuckoo filter, nearly full: the first add that moves two keys\n");
    uint64_t key = 1;
    int moves = 0;
    while (moves >= 0 && moves < 2 && perhaps_add_u64(f, key++) == 1) moves = explain(f, PERHAPS_VERB_ADD, key, 0);
    if (moves >= 2) explain(f, PERHAPS_VERB_ADD, key, 1);
    perhaps_free(f);
    return moves < 2 ? fail("cuckoo") : 0;
}

int main(void) {
    return explain_bloom() || explain_growing() || explain_cuckoo();
}
