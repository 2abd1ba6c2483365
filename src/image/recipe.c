#include "image/recipe.h"

#include "base/endian.h"
#include "base/memory.h"
#include "base/sized.h"
#include "base/error.h"

#include <string.h>

/* In files: never renumber. */
enum step_number {
    STEP_END = 0,         /* padding */
    STEP_IGNORE_CASE = 1, /* no value */
    STEP_FORM = 2,        /* one byte: enum perhaps_key_form, not 0 */
    STEP_RECORDS = 128,   /* one byte: enum perhaps_records, not 0 */
    STEP_FIELD = 129,     /* four bytes: 1, 2, ... */
    STEP_DELIMITER = 130, /* the byte between fields */
    STEP_WHERE = 131,     /* 1 to 255 bytes of text, no control characters */
    STEP_HEADER = 132,    /* no value */
    STEP_TRIM = 133,      /* no value */
    STEP_NGRAM = 144,     /* four bytes: 1, 2, ... */
    FIRST_EXTRACTION = 128
};

struct step {
    unsigned number, length;
    const uint8_t *value;
};

/* The step at *at, which moves past it; STEP_END after the last step, or for an incomplete one. */
static struct step next_step(struct recipe recipe, size_t *at) {
    struct step none = {STEP_END, 0, NULL};
    if (recipe.length < 2 || *at > recipe.length - 2) return none;
    struct step step = {recipe.bytes[*at], recipe.bytes[*at + 1], recipe.bytes + *at + 2};
    if (step.number == STEP_END || step.length > recipe.length - *at - 2) return none;
    *at += 2 + step.length;
    return step;
}

/* ---- writing ---- */

static void put_step(uint8_t *room, size_t *at, unsigned number, const void *value, size_t length) {
    room[*at] = (uint8_t)number;
    room[*at + 1] = (uint8_t)length;
    if (length) memcpy(room + *at + 2, value, length);
    *at += 2 + length;
}

static bool is_text(const void *bytes, size_t length) {
    const uint8_t *at = bytes, *end = at + length;
    while (at < end && *at >= ' ' && *at != 127) at++;
    return at == end;
}

static bool is_delimited(const perhaps_recipe *r) {
    return r->records == PERHAPS_CSV || (r->records <= PERHAPS_ZERO_TERMINATED && (r->field || *r->where));
}

/* An extraction step that contradicts another one, or STEP_END. */
static int invalid_step(const perhaps_recipe *r) {
    bool raw = r->records == PERHAPS_RAW, json = r->records == PERHAPS_JSON_LINES, named = r->field || *r->where;
    if (raw && (r->form != PERHAPS_KEY_U64 || named || r->header || r->trim)) return STEP_RECORDS;
    if (json && (!*r->where || r->header)) return STEP_RECORDS;
    if (r->ngram && r->form != PERHAPS_KEY_BYTES) return STEP_NGRAM;
    if (r->field && (json || *r->where)) return STEP_FIELD;
    if (r->delimiter && !is_delimited(r)) return STEP_DELIMITER;
    if (r->records == PERHAPS_CSV && r->delimiter && strchr("\"\r\n", r->delimiter)) return STEP_DELIMITER;
    return STEP_END;
}

/* As it is written: the usual delimiter is named, too. */
static int delimiter_of(const perhaps_recipe *r) {
    return !is_delimited(r) ? 0 : r->delimiter ? r->delimiter : r->records == PERHAPS_CSV ? ',' : '\t';
}

static int check_wanted(const perhaps_recipe *r) {
    if (r->form < PERHAPS_KEY_BYTES || r->form > PERHAPS_KEY_UTF16)
        return fail(PERHAPS_EINVAL, "recipe.form is %d; see enum perhaps_key_form", r->form);
    if (r->records < PERHAPS_LINES || r->records > PERHAPS_JSON_LINES)
        return fail(PERHAPS_EINVAL, "recipe.records is %d; see enum perhaps_records", r->records);
    if (r->ignore_case && r->form != PERHAPS_KEY_BYTES)
        return fail(PERHAPS_EINVAL, "recipe.ignore_case goes with PERHAPS_KEY_BYTES only");
    if (r->delimiter < 0 || r->delimiter > 255)
        return fail(PERHAPS_EINVAL, "recipe.delimiter is %d; it is a byte", r->delimiter);
    if (r->header < 0 || r->header > 1 || r->trim < 0 || r->trim > 1)
        return fail(PERHAPS_EINVAL, "recipe.header and recipe.trim are 0 or 1");
    if (!memchr(r->where, 0, sizeof r->where)) return fail(PERHAPS_EINVAL, "recipe.where does not end in a zero byte");
    if (!is_text(r->where, strlen(r->where))) return fail(PERHAPS_EINVAL, "recipe.where has a control character");
    switch (invalid_step(r)) {
    case STEP_NGRAM:
        return fail(PERHAPS_EINVAL, "recipe.ngram goes with PERHAPS_KEY_BYTES only");
    case STEP_RECORDS:
        return fail(PERHAPS_EINVAL, r->records == PERHAPS_RAW
                                        ? "raw records are integers of 64 bits, and have no fields, header or blanks"
                                        : "JSON lines have a path to the key in recipe.where, and no header");
    case STEP_FIELD:
        return fail(PERHAPS_EINVAL, "recipe.field is %u; leave it 0 where recipe.where says it", (unsigned)r->field);
    case STEP_DELIMITER:
        return fail(PERHAPS_EINVAL,
                    "recipe.delimiter goes with a field, or with CSV, where it is no quote and no line end");
    default:
        break;
    }
    if (r->unknown) return fail(PERHAPS_EINVAL, "recipe.unknown is told, not wanted; leave it 0");
    return PERHAPS_OK;
}

int recipe_encode(const perhaps_recipe *wanted, uint8_t room[RECIPE_MAX], struct recipe *recipe) {
    perhaps_recipe r;
    size_t at = 0;
    *recipe = (struct recipe){NULL, 0};
    if (!wanted) return PERHAPS_OK;
    int rc = take_sized(&r, sizeof r, wanted, "recipe");
    if (rc == PERHAPS_OK) rc = check_wanted(&r);
    if (rc < 0) return rc;
    uint8_t form = (uint8_t)r.form, records = (uint8_t)r.records, delimiter = (uint8_t)delimiter_of(&r);
    uint8_t field[4], ngram[4];
    store32(field, r.field);
    store32(ngram, r.ngram);
    memset(room, 0, RECIPE_MAX);
    if (r.ignore_case) put_step(room, &at, STEP_IGNORE_CASE, NULL, 0);
    if (form) put_step(room, &at, STEP_FORM, &form, 1);
    if (records) put_step(room, &at, STEP_RECORDS, &records, 1);
    if (r.field) put_step(room, &at, STEP_FIELD, field, sizeof field);
    if (delimiter) put_step(room, &at, STEP_DELIMITER, &delimiter, 1);
    if (*r.where) put_step(room, &at, STEP_WHERE, r.where, strlen(r.where));
    if (r.header) put_step(room, &at, STEP_HEADER, NULL, 0);
    if (r.trim) put_step(room, &at, STEP_TRIM, NULL, 0);
    if (r.ngram) put_step(room, &at, STEP_NGRAM, ngram, sizeof ngram);
    if (at) *recipe = (struct recipe){room, (uint32_t)((at + RECIPE_WORD - 1) / RECIPE_WORD * RECIPE_WORD)};
    return PERHAPS_OK;
}

/* ---- reading ---- */

static bool is_byte(const struct step *step, unsigned most) {
    return step->length == 1 && step->value[0] >= 1 && step->value[0] <= most;
}

/* False if the step or its value is unknown. */
static bool take_step(const struct step *step, perhaps_recipe *told) {
    bool known = false;
    switch (step->number) {
    case STEP_IGNORE_CASE:
        if ((known = step->length == 0)) told->ignore_case = 1;
        break;
    case STEP_FORM:
        if ((known = is_byte(step, PERHAPS_KEY_UTF16))) told->form = step->value[0];
        break;
    case STEP_RECORDS:
        if ((known = is_byte(step, PERHAPS_JSON_LINES))) told->records = step->value[0];
        break;
    case STEP_FIELD:
        if ((known = step->length == 4 && load32(step->value))) told->field = load32(step->value);
        break;
    case STEP_DELIMITER:
        if ((known = is_byte(step, 255))) told->delimiter = step->value[0];
        break;
    case STEP_WHERE:
        if ((known = step->length && is_text(step->value, step->length)))
            memcpy(told->where, step->value, step->length);
        break;
    case STEP_HEADER:
        if ((known = step->length == 0)) told->header = 1;
        break;
    case STEP_TRIM:
        if ((known = step->length == 0)) told->trim = 1;
        break;
    case STEP_NGRAM:
        if ((known = step->length == 4 && load32(step->value))) told->ngram = load32(step->value);
        break;
    default:
        break;
    }
    return known;
}

void recipe_decode(struct recipe recipe, perhaps_recipe *told) {
    size_t at = 0;
    *told = (perhaps_recipe){.size = sizeof *told};
    for (struct step step; (step = next_step(recipe, &at)).number != STEP_END;)
        if (!take_step(&step, told) && !told->unknown) told->unknown = (int)step.number;
    if (told->unknown) return;
    told->unknown = invalid_step(told);
    if (!told->unknown && delimiter_of(told) && !told->delimiter)
        told->unknown = told->field ? STEP_FIELD : *told->where ? STEP_WHERE : STEP_RECORDS;
}

/* Whether it is a list of steps with the least padding: NULL, or the reason. */
static const char *check_list(struct recipe recipe) {
    size_t at = 0;
    unsigned last = 0;
    for (struct step step; (step = next_step(recipe, &at)).number != STEP_END; last = step.number)
        if (step.number <= last) return "steps out of order, or twice";
    if (at == 0) return "no steps";
    if (!memory_is_zero(recipe.bytes + at, recipe.length - at))
        return "a step that is not whole, or padding that is not zero";
    return recipe.length - at >= RECIPE_WORD ? "too much padding" : NULL;
}

int recipe_check(const char *name, struct recipe recipe) {
    if (!recipe.length) return PERHAPS_OK;
    const char *reason = check_list(recipe);
    if (reason) return fail(PERHAPS_EDAMAGED, "%s: the recipe of its keys has %s", name, reason);
    size_t at = 0;
    perhaps_recipe told = {.size = sizeof told};
    for (struct step step; (step = next_step(recipe, &at)).number != STEP_END && step.number < FIRST_EXTRACTION;)
        if (!take_step(&step, &told))
            return fail(
                PERHAPS_EVERSION,
                "%s: its keys are made with transformation %u, which this library does not know; update perhaps", name,
                step.number);
    if (told.ignore_case && told.form)
        return fail(PERHAPS_EDAMAGED, "%s: the recipe of its keys ignores the case of what is not text", name);
    return PERHAPS_OK;
}

/* Bytes of the transformations, which come first. */
static size_t transformations(struct recipe recipe) {
    size_t at = 0, end = 0;
    for (struct step step; (step = next_step(recipe, &at)).number != STEP_END && step.number < FIRST_EXTRACTION;)
        end = at;
    return end;
}

bool recipe_transforms(struct recipe recipe) {
    return transformations(recipe) > 0;
}

int recipe_copy(const perhaps_allocator *allocator, struct recipe recipe, struct recipe *copy) {
    *copy = (struct recipe){NULL, 0};
    if (!recipe.length) return PERHAPS_OK;
    uint8_t *bytes = memory_get(allocator, recipe.length);
    if (!bytes) return fail(PERHAPS_ENOMEM, "no memory for a filter's recipe");
    memcpy(bytes, recipe.bytes, recipe.length);
    *copy = (struct recipe){bytes, recipe.length};
    return PERHAPS_OK;
}

bool recipe_same_keys(struct recipe a, struct recipe b) {
    size_t length = transformations(a);
    return length == transformations(b) && (!length || memcmp(a.bytes, b.bytes, length) == 0);
}
