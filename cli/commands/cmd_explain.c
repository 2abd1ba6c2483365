/* perhaps explain: why a filter answers as it does. All that is said comes from the library's
 * trace, and with --keys from the traces of the keys in that file. */
#include "backend/backend.h"
#include "commands.h"
#include "holders.h"
#include "input/encode.h"
#include "output/numbers.h"
#include "output/report.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A key and its trace, which is kept until the keys of --keys are read. */
struct explained {
    char *text;     /* as it stands in the input, fit for a terminal */
    char *record;   /* what it is a part of; NULL = nothing more */
    char *made;     /* what the filter takes for the key, in words */
    uint8_t *bytes; /* of the key, to be compared with those of --keys */
    size_t length;
    bool member; /* it is in the file of --keys */
    perhaps_step *steps;
    size_t count;
    struct holders *holders; /* one for each step; NULL without --keys */
};

struct explaining {
    const struct target *target;
    const char *keys; /* the file of --keys, or NULL */
    struct json json;
    struct explained *list; /* those that wait, for --keys or for the end of JSON */
    size_t n, room;
    struct explained **by_bytes;
    struct watches watches;
    perhaps_step *steps; /* of a key of --keys */
    size_t steps_room;
    uint64_t checked, present;
};

static int no_memory(void) {
    return failure(NULL, "not enough memory to explain keys; give fewer at a time");
}

/* ---- what a key is ---- */

static char *shown_copy(const char *text, size_t length) {
    char *copy = malloc(length + 1);
    if (copy) *shown_text(text, length, copy) = 0;
    return copy;
}

/* What becomes of the text: "5 bytes, as they are", "the number 42", ... */
static char *made_text(const struct batch *batch, size_t i) {
    char *text = NULL;
    size_t size, length = batch->numbers ? 0 : batch->lengths[i];
    FILE *stream = open_memstream(&text, &size);
    if (!stream) return NULL;
    if (batch->numbers) {
        fprintf(stream, "the number %llu", (unsigned long long)batch->numbers[i]);
    } else {
        const uint8_t *bytes = batch->keys[i];
        bool as_is = length == batch->key_text_lengths[i] && memcmp(bytes, batch->key_texts[i], length) == 0;
        char *shown = shown_copy((const char *)bytes, length);
        bool printable = shown && strlen(shown) == length && memcmp(shown, bytes, length) == 0;
        if (as_is && printable)
            fprintf(stream, "%zu byte%s", length, length == 1 ? ", as it is" : "s, as they are");
        else if (printable)
            fprintf(stream, "\"%s\", %zu byte%s", shown, length, length == 1 ? "" : "s");
        for (size_t j = 0; j < length && !printable; j++) fprintf(stream, "%02x", bytes[j]);
        if (!printable) fprintf(stream, ", %zu byte%s in hexadecimal", length, length == 1 ? "" : "s");
        free(shown);
    }
    return fclose(stream) == 0 ? text : NULL;
}

/* Numbers and bytes never meet in one filter. */
static const void *key_bytes(const struct batch *batch, size_t i, size_t *length) {
    *length = batch->numbers ? sizeof *batch->numbers : batch->lengths[i];
    return batch->numbers ? (const void *)&batch->numbers[i] : batch->keys[i];
}

static void explained_free(struct explained *x) {
    for (size_t i = 0; i < x->count && x->holders; i++)
        for (size_t j = 0; j < NAMED_HOLDERS; j++) free(x->holders[i].names[j]);
    free(x->text);
    free(x->record);
    free(x->made);
    free(x->bytes);
    free(x->steps);
    free(x->holders);
}

static int trace_into(const struct explaining *e, const struct batch *batch, size_t i, perhaps_step **steps,
                      size_t *room, size_t *count) {
    for (;;) {
        if (e->target->backend->trace(e->target, batch, i, *steps, *room, count) != FINE) return TROUBLE;
        if (*count <= *room) return FINE;
        perhaps_step *larger = realloc(*steps, *count * sizeof *larger);
        if (!larger) return no_memory();
        *steps = larger;
        *room = *count;
    }
}

static int explain_key(const struct explaining *e, const struct batch *batch, size_t i, struct explained *x) {
    size_t room = 0, length;
    const char *text = batch->key_texts[i], *line = batch->lines[i];
    bool record = !batch->terminator_length, part = !record && batch->line_lengths[i] != batch->key_text_lengths[i];
    const void *bytes = key_bytes(batch, i, &length);
    char number[NUMBER_TEXT];
    snprintf(number, sizeof number, "%llu", batch->numbers ? (unsigned long long)batch->numbers[i] : 0);
    *x = (struct explained){.length = length};
    x->text = record ? strdup(number) : shown_copy(text, batch->key_text_lengths[i]);
    x->record = part ? shown_copy(line, batch->line_lengths[i]) : NULL;
    x->made = made_text(batch, i);
    x->bytes = malloc(length + 1);
    if (!x->text || (part && !x->record) || !x->made || !x->bytes) return no_memory();
    memcpy(x->bytes, bytes, length);
    if (trace_into(e, batch, i, &x->steps, &room, &x->count) != FINE) return TROUBLE;
    x->holders = e->keys ? calloc(x->count, sizeof *x->holders) : NULL;
    return e->keys && !x->holders ? no_memory() : FINE;
}

static const perhaps_step *answer_of(const struct explained *x) {
    return &x->steps[x->count - 1];
}

/* ---- text ---- */

static void print_holders(const struct holders *holders) {
    char more[NUMBER_TEXT];
    for (uint64_t i = 0; i < holders->count && i < NAMED_HOLDERS; i++)
        printf("%s%s", i ? ", " : "  held by ", holders->names[i]);
    if (holders->count > NAMED_HOLDERS) printf(" and %s more", group_digits(holders->count - NAMED_HOLDERS, more));
}

static const char *answer_word(const perhaps_step *answer) {
    return answer->holds ? "perhaps" : "definitely not";
}

static void print_label(const perhaps_step *s) {
    char label[60];
    snprintf(label, sizeof label, "%s %llu", s->name, (unsigned long long)s->index);
    printf("%-13s", label);
}

/* A cell, or what the next cells are in. */
static void print_position(const perhaps_step *s) {
    bool bit = strcmp(s->name, "bit") == 0, column = strcmp(s->name, "column") == 0;
    if (!bit && !column && strcmp(s->name, "counter") != 0) {
        printf("%s %llu", s->name, (unsigned long long)s->index);
        return;
    }
    print_label(s);
    printf(" %llu", (unsigned long long)s->value);
    if (s->holds) return;
    if (column)
        printf("  not %llu, which the key has", (unsigned long long)s->wanted);
    else
        printf("  a member has %s", bit ? "1" : "1 or more");
}

/* What slots hold are fingerprints or digests, and stashes have copies or digests. Slots that count
 * only together are wanted at nothing. */
static void print_slot(const perhaps_step *s) {
    if (s->step == PERHAPS_STEP_SLOT && strcmp(s->name, "slot") != 0)
        printf("%s:", s->name);
    else
        print_label(s);
    if (!s->value && s->wanted && !s->holds)
        printf(" empty");
    else
        printf(" %llx", (unsigned long long)s->value);
    if (s->step == PERHAPS_STEP_STASH)
        printf("%s", s->holds ? ", has the key" : "");
    else if (s->wanted)
        printf(s->holds ? ", as the key has" : ", not %llx", (unsigned long long)s->wanted);
}

static void print_step(const perhaps_step *s, const struct holders *holders) {
    char keys[NUMBER_TEXT], capacity[NUMBER_TEXT];
    printf("  %*s", (int)(2 * s->depth), "");
    switch (s->step) {
    case PERHAPS_STEP_DIGEST:
        printf("digest %016llx", (unsigned long long)s->value);
        break;
    case PERHAPS_STEP_CHILD: /* numbered as by info */
        printf("%s %llu, %s of %s keys", s->name, (unsigned long long)s->index + 1, group_digits(s->value, keys),
               group_digits(s->wanted, capacity));
        break;
    case PERHAPS_STEP_SLOT:
    case PERHAPS_STEP_STASH:
        print_slot(s);
        break;
    case PERHAPS_STEP_ANSWER:
        printf("%s: %s", answer_word(s), s->why);
        break;
    default:
        print_position(s);
    }
    if (holders) print_holders(holders);
    putchar('\n');
}

/* What is known beyond the filter's answer. */
static void print_truth(const struct explaining *e, const struct explained *x) {
    bool holds = answer_of(x)->holds, named = false;
    for (size_t i = 0; i < x->count && x->holders; i++) named |= x->holders[i].count > 0;
    if (x->member)
        printf("  It is in %s%s.\n", e->keys, holds ? "" : ", and the filter was not made from that file");
    else if (!holds)
        printf("  It is not in %s.\n", e->keys);
    else
        printf("  It is not in %s: a false positive.%s\n", e->keys, named ? " Its cells were set by other keys." : "");
}

static void print_text(const struct explaining *e, const struct explained *x) {
    printf("%s%s: %s\n", e->checked > 1 ? "\n" : "", x->text, answer_word(answer_of(x)));
    if (x->record) printf("  record %s\n", x->record);
    printf("  key    %s\n", x->made);
    for (size_t i = 0; i < x->count; i++) print_step(&x->steps[i], x->holders ? &x->holders[i] : NULL);
    if (e->keys) print_truth(e, x);
}

/* ---- JSON ---- */

/* As text prints it: numbers of 64 bits are beyond what most readers of JSON can hold. */
static void json_hex(struct json *json, const char *name, uint64_t value, int digits) {
    char text[20];
    snprintf(text, sizeof text, "%0*llx", digits, (unsigned long long)value);
    json_text(json, name, text);
}

static void print_step_json(struct json *json, const perhaps_step *s, const struct holders *holders) {
    static const char *const types[] = {
        [PERHAPS_STEP_DIGEST] = "digest", [PERHAPS_STEP_CHILD] = "child", [PERHAPS_STEP_POSITION] = "position",
        [PERHAPS_STEP_SLOT] = "slot",     [PERHAPS_STEP_STASH] = "stash", [PERHAPS_STEP_ANSWER] = "answer"};
    bool hex = s->step == PERHAPS_STEP_SLOT || s->step == PERHAPS_STEP_STASH;
    json_open(json, NULL, '{');
    json_text(json, "step", types[s->step]);
    json_count(json, "depth", s->depth);
    json_text(json, "name", s->name);
    if (s->step != PERHAPS_STEP_ANSWER) json_count(json, "index", s->index);
    if (s->step == PERHAPS_STEP_DIGEST) {
        json_hex(json, "value", s->value, 16);
    } else if (hex) {
        json_hex(json, "value", s->value, 1);
        json_hex(json, "wanted", s->wanted, 1);
    } else if (s->step != PERHAPS_STEP_ANSWER) {
        json_count(json, "value", s->value);
        json_count(json, "wanted", s->wanted);
    }
    if (s->step != PERHAPS_STEP_DIGEST) json_flag(json, "holds", s->holds);
    if (s->why) json_text(json, "why", s->why);
    if (holders && holders->count) {
        json_count(json, "holders", holders->count);
        json_open(json, "held_by", '[');
        for (uint64_t i = 0; i < holders->count && i < NAMED_HOLDERS; i++) json_text(json, NULL, holders->names[i]);
        json_close(json, ']');
    }
    json_close(json, '}');
}

static void print_json(struct explaining *e, const struct explained *x) {
    struct json *json = &e->json;
    const perhaps_step *answer = answer_of(x);
    json_open(json, NULL, '{');
    json_text(json, "key", x->text);
    if (x->record) json_text(json, "record", x->record);
    json_text(json, "made", x->made);
    json_flag(json, "present", answer->holds);
    json_text(json, "why", answer->why);
    if (e->keys) json_flag(json, "member", x->member);
    json_open(json, "steps", '[');
    for (size_t i = 0; i < x->count; i++) print_step_json(json, &x->steps[i], x->holders ? &x->holders[i] : NULL);
    json_close(json, ']');
    json_close(json, '}');
}

static void print_explained(struct explaining *e, const struct explained *x) {
    e->checked++;
    e->present += (uint64_t)answer_of(x)->holds;
    if (given(e->target->options, OPT_JSON))
        print_json(e, x);
    else
        print_text(e, x);
}

/* ---- the keys to be explained ---- */

static int keep(struct explaining *e, struct explained *x) {
    if (e->n == e->room) {
        size_t room = 2 * e->room + 16;
        struct explained *larger = realloc(e->list, room * sizeof *larger);
        if (!larger) return no_memory();
        e->list = larger;
        e->room = room;
    }
    e->list[e->n++] = *x;
    *x = (struct explained){0};
    return FINE;
}

static int explain_batch(void *context, const struct batch *batch) {
    struct explaining *e = context;
    int status = FINE;
    for (size_t i = 0; i < batch->n && status == FINE; i++) {
        struct explained x;
        status = explain_key(e, batch, i, &x);
        if (status == FINE && (e->keys || given(e->target->options, OPT_JSON)))
            status = keep(e, &x);
        else if (status == FINE)
            print_explained(e, &x);
        explained_free(&x);
    }
    if (!e->n) fflush(stdout); /* answers come as keys do; main tells of a full disk */
    return status == FINE && ferror(stdout) ? TROUBLE : status;
}

/* ---- the keys of --keys ---- */

static int compare_bytes(const void *a, size_t n, const void *b, size_t m) {
    int order = memcmp(a, b, n < m ? n : m);
    return order ? order : (n > m) - (n < m);
}

static int by_bytes(const void *a, const void *b) {
    const struct explained *x = *(struct explained *const *)a, *y = *(struct explained *const *)b;
    return compare_bytes(x->bytes, x->length, y->bytes, y->length);
}

static void mark_members(struct explaining *e, const void *bytes, size_t length) {
    size_t low = 0, high = e->n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct explained *x = e->by_bytes[middle];
        if (compare_bytes(x->bytes, x->length, bytes, length) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < e->n; low++) {
        struct explained *x = e->by_bytes[low];
        if (compare_bytes(x->bytes, x->length, bytes, length) != 0) return;
        x->member = true;
    }
}

static int note_batch(void *context, const struct batch *batch) {
    struct explaining *e = context;
    char number[NUMBER_TEXT];
    for (size_t i = 0; i < batch->n; i++) {
        size_t length, count;
        const void *bytes = key_bytes(batch, i, &length);
        mark_members(e, bytes, length);
        if (trace_into(e, batch, i, &e->steps, &e->steps_room, &count) != FINE) return TROUBLE;
        snprintf(number, sizeof number, "%llu", batch->numbers ? (unsigned long long)batch->numbers[i] : 0);
        bool record = !batch->terminator_length;
        char *name = record ? strdup(number) : shown_copy(batch->key_texts[i], batch->key_text_lengths[i]);
        bool noted = name && watches_note(&e->watches, name, e->steps, count);
        free(name);
        if (!noted) return no_memory();
    }
    return FINE;
}

static int note_keys(struct explaining *e) {
    struct input input;
    char *paths[] = {(char *)(uintptr_t)e->keys};
    e->by_bytes = malloc((e->n + 1) * sizeof(struct explained *));
    if (!e->by_bytes) return no_memory();
    for (size_t i = 0; i < e->n; i++) {
        struct explained *x = &e->list[i];
        e->by_bytes[i] = x;
        if (!watch_steps(&e->watches, x->steps, x->count, x->holders)) return no_memory();
    }
    watches_sort(&e->watches);
    if (e->n) qsort(e->by_bytes, e->n, sizeof(struct explained *), by_bytes);
    if (target_input_of(e->target, &input, paths, 1) != FINE) return TROUBLE;
    return input_read(&input, note_batch, e) == FINE ? FINE : TROUBLE;
}

/* ---- the command ---- */

/* Other commands take names of files there. */
static void remark_on_files(char *const *keys, size_t n) {
    struct stat status;
    for (size_t i = 0; i < n; i++)
        if (stat(keys[i], &status) == 0 && S_ISREG(status.st_mode))
            remark(keys[i], "is explained as a key; to explain the lines of that file, give it on standard input");
}

/* Keys on the command line, or records on standard input. */
static int read_keys(struct explaining *e) {
    const struct options *options = e->target->options;
    char *const *keys = options->operands + 1;
    size_t n = options->operand_count - 1;
    struct input input;
    if (target_input_of(e->target, &input, keys, 0) != FINE) return TROUBLE;
    remark_on_files(keys, n);
    if (n) return input_read_texts(&input, e->target->name, keys, n, explain_batch, e);
    if (e->keys && strcmp(e->keys, "-") == 0)
        return failure("--keys", "standard input has the keys to be explained; give these as arguments, or a file");
    input.silent = isatty(STDOUT_FILENO);
    return input_read(&input, explain_batch, e);
}

/* Those that have waited. */
static void print_list(struct explaining *e) {
    bool as_json = given(e->target->options, OPT_JSON);
    if (as_json) {
        json_open(&e->json, NULL, '{');
        json_text(&e->json, "file", e->target->name);
        json_open(&e->json, "keys", '[');
    }
    for (size_t i = 0; i < e->n; i++) print_explained(e, &e->list[i]);
    if (!as_json) return;
    json_close(&e->json, ']');
    json_count(&e->json, "checked", e->checked);
    json_count(&e->json, "present", e->present);
    json_end(&e->json);
}

static int explain(struct target *target) {
    struct explaining e = {.target = target, .keys = target->options->keys};
    int status = read_keys(&e);
    if (status == FINE && e.keys) status = note_keys(&e);
    if (status == FINE) print_list(&e);
    for (size_t i = 0; i < e.n; i++) explained_free(&e.list[i]);
    free(e.list);
    free(e.by_bytes);
    free(e.watches.list);
    free(e.steps);
    if (status != FINE) return TROUBLE;
    return e.present ? FINE : NOT_FOUND;
}

int cmd_explain(const struct options *options) {
    return with_target(options, TO_QUERY, 0, explain);
}
