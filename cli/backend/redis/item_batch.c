#include "item_batch.h"
#include "bit_places.h"
#include "equal_items.h"
#include "output/report.h"

#include <stdlib.h>
#include <string.h>

/* Of a command: so many items or bits, and so many bytes, that the server is soon free for others. Of a batch: enough
 * for many items to a shard. */
enum {
    MOST_ITEMS = 1000,
    MOST_BITS = 8000,
    MOST_BYTES = 256 << 10,
    ITEMS_TO_A_SHARD = 256,
    FEWEST_OF_A_BATCH = 64 << 10,
    MOST_OF_A_BATCH = 2 << 20,
    BYTES_OF_A_BATCH = 64 << 20
};

static const char *const asking_commands[SET_KINDS] = {"BF.MEXISTS", "CF.MEXISTS", "BITFIELD_RO"};
static const char *const adding_commands[SET_KINDS] = {"BF.INSERT", "CF.INSERT", "BITFIELD"};

/* What is known of an item while a batch of ADD_ABSENT is on its way. The first answer holds: to a server that was started anew,
 * what was known before may be new. */
enum { NEW = 1, KNOWN = 2, IN_DOUBT = 4 };

static bool is_adding(const struct item_batch *r) {
    return r->verb == ADD_ITEMS || r->verb == ADD_ABSENT;
}

/* Does adding make copies? */
static bool is_copying(const struct item_batch *r) {
    return r->verb == ADD_ITEMS && r->set->kind == SET_CUCKOO;
}

/* ------------------------------------------------------------------------------------------------- requests --- */

static unsigned bits_of_item(const struct set *set) {
    return set->kind == SET_BITS ? set->hashes : 1;
}

/* How many items from order[first] to `end` go into one command. */
static size_t items_of_command(const struct item_batch *r, size_t first, size_t end) {
    size_t most = r->set->kind == SET_BITS ? MOST_BITS / r->set->hashes : MOST_ITEMS, bytes = 0, n = 0;
    if (r->verb == REMOVE_ITEMS) return 1;
    while (first + n < end && n < most && bytes < MOST_BYTES) bytes += r->items[r->order[first + n++]].length;
    return n;
}

/* SET u1 BIT 1, or GET u1 BIT, for each bit. */
static void put_bits(struct item_batch *r, const void *item, size_t length) {
    static const char set[] = "$3\r\nSET\r\n$2\r\nu1\r\n", get[] = "$3\r\nGET\r\n$2\r\nu1\r\n", one[] = "$1\r\n1\r\n";
    struct text *text = &r->requests.text;
    bool adding = is_adding(r);
    uint64_t bits[MOST_HASHES];
    bits_of(r->set, item, length, bits);
    for (unsigned i = 0; i < r->set->hashes; i++) {
        text_put(text, adding ? set : get, sizeof set - 1);
        text_number(text, bits[i]);
        if (adding) text_put(text, one, sizeof one - 1);
    }
}

static void put_item(struct item_batch *r, const struct server_item *item) {
    const char *bytes = r->bytes.bytes + item->at;
    if (r->set->kind == SET_BITS)
        put_bits(r, bytes, item->length);
    else
        text_word(&r->requests.text, bytes, item->length);
}

/* How many words a command has, its name and key included. */
static size_t words_of_command(const struct item_batch *r, size_t items) {
    size_t adding = is_adding(r);
    if (r->set->kind == SET_BITS) return 2 + items * r->set->hashes * (3 + adding);
    return 2 + 2 * adding + items;
}

static const char *name_of_command(const struct item_batch *r) {
    enum set_kind kind = r->set->kind;
    if (r->verb == REMOVE_ITEMS) return "CF.DEL";
    if (r->verb == ADD_ABSENT && kind == SET_CUCKOO) return "CF.INSERTNX";
    return is_adding(r) ? adding_commands[kind] : asking_commands[kind];
}

static void put_command(struct item_batch *r, const char *key, unsigned shard, size_t first, size_t n) {
    struct request *request = request_begin(&r->requests, name_of_command(r), key, words_of_command(r, n));
    if (!request) return;
    request->shard = shard;
    request->first = first;
    request->count = n;
    request->once = r->verb == REMOVE_ITEMS;
    if (is_adding(r) && r->set->kind != SET_BITS) text_words(&r->requests.text, "NOCREATE ITEMS");
    for (size_t i = 0; i < n; i++) put_item(r, &r->items[r->order[first + i]]);
    request_end(&r->requests);
}

static size_t count_commands(const struct item_batch *r) {
    size_t n = 0;
    for (unsigned shard = 0; shard < r->set->shards; shard++)
        for (size_t first = r->starts[shard], end = r->starts[shard + 1]; first < end; n++)
            first += items_of_command(r, first, end);
    return n;
}

/* Servers work on the first commands while the others are being made. */
static void send_commands(struct item_batch *r, struct dispatch *run) {
    char key[KEY_TEXT];
    requests_clear(&r->requests);
    requests_reserve(&r->requests, count_commands(r));
    for (unsigned shard = 0; shard < r->set->shards; shard++) {
        set_key(r->set, shard, key);
        for (size_t first = r->starts[shard], end = r->starts[shard + 1]; first < end;) {
            size_t n = items_of_command(r, first, end);
            put_command(r, key, shard, first, n);
            if (r->requests.text.broken) return;
            dispatch_push(run, &r->requests.list[r->requests.n - 1]);
            first += n;
        }
    }
}

/* ------------------------------------------------------------------------------------------------- looking --- */

static int take_look(void *context, const struct request *request, const redisReply *reply) {
    struct item_batch *r = context;
    struct set *set = r->set;
    char key[KEY_TEXT];
    uint64_t bytes = (set->bits + 7) / 8;
    set_key(set, request->shard, key);
    if (reply->type == REDIS_REPLY_ERROR) return set_refused(set, key, reply);
    bool there =
        set->kind == SET_BITS ? (uint64_t)reply->integer >= bytes : reply->str && strcmp(reply->str, "none") != 0;
    set->seen[request->shard] = set->cluster.restarts + 1;
    if (there) return FINE;
    return failure(set->url.shown,
                   "%s is missing, so that the set is not complete; if the server lost it, have it save its data "
                   "(appendonly yes), and build the set again with -f",
                   key);
}

/* A server that has no such key says 'absent' to every question, and makes it when a bit is set. Whether it is there is
 * asked before the first item goes to a shard, and again when a server was started anew. */
static int look(struct item_batch *r) {
    const struct set *set = r->set;
    char key[KEY_TEXT];
    if (is_adding(r) && set->kind != SET_BITS) return FINE; /* NOCREATE does it */
    requests_clear(&r->requests);
    for (unsigned shard = 0; shard < set->shards; shard++) {
        bool asked = r->starts[shard] < r->starts[shard + 1];
        if (!asked || set->seen[shard] == set->cluster.restarts + 1) continue;
        set_key(set, shard, key);
        struct request *request = request_begin(&r->requests, set->kind == SET_BITS ? "STRLEN" : "TYPE", key, 2);
        if (!request) break;
        request->shard = shard;
        request_end(&r->requests);
    }
    return r->requests.n ? cluster_run(&r->set->cluster, &r->requests, take_look, r) : FINE;
}

/* -------------------------------------------------------------------------------------------------- answers --- */

/* What the server says about one item: one number, or one for each of its bits. -1 = there was no room for it. */
static int judge(const struct item_batch *r, redisReply *const *elements) {
    unsigned n = bits_of_item(r->set), ones = 0;
    for (unsigned i = 0; i < n; i++) {
        if (elements[i]->type != REDIS_REPLY_INTEGER || elements[i]->integer < 0) return -1;
        ones += elements[i]->integer != 0;
    }
    bool all = ones == n;
    return r->set->kind == SET_BITS && is_adding(r) ? !all : all;
}

static int no_room(const struct item_batch *r, const char *key, const redisReply *element) {
    if (element && element->type != REDIS_REPLY_INTEGER) return set_refused(r->set, key, element);
    return failure(r->set->url.shown, "%s is full; build it again with a larger -n, or without --no-grow", key);
}

/* What may be done already, before the server is asked once more. */
static void doubt(struct item_batch *r, const struct request *request) {
    for (size_t i = 0; i < request->count; i++) {
        uint8_t *known = &r->answers[r->order[request->first + i]];
        if (!*known) *known = IN_DOUBT;
    }
}

static void note(struct item_batch *r, size_t item, uint8_t answer) {
    uint8_t *to = &r->answers[item];
    if (r->verb != ADD_ABSENT)
        *to = is_adding(r) ? *to | answer : answer;
    else if (!(*to & (NEW | KNOWN)))
        *to |= answer ? NEW : KNOWN;
}

static int take_answers(void *context, const struct request *request, const redisReply *reply) {
    struct item_batch *r = context;
    char key[KEY_TEXT];
    redisReply *only = (redisReply *)reply, *const *elements = &only;
    size_t n = 1, width = bits_of_item(r->set);
    set_key(r->set, request->shard, key);
    if (reply->type == REDIS_REPLY_ERROR) return set_refused(r->set, key, reply);
    if (reply->type == REDIS_REPLY_ARRAY) {
        elements = reply->element;
        n = reply->elements;
    }
    if (is_copying(r) && request->repeated) r->doubled += request->count;
    if (r->verb == ADD_ABSENT && request->repeated) doubt(r, request);
    bool room = true;
    for (size_t i = 0; i < request->count; i++) {
        int answer = (i + 1) * width <= n ? judge(r, elements + i * width) : -1;
        if (answer >= 0) note(r, r->order[request->first + i], (uint8_t)answer);
        room &= answer >= 0;
    }
    return room ? FINE : no_room(r, key, n ? elements[n - 1] : NULL);
}

/* --------------------------------------------------------------------------------------------------- batches --- */

/* Items of the same shard go together, in their order. */
static void sort_items(struct item_batch *r) {
    size_t shards = r->set->shards;
    memset(r->starts, 0, (shards + 2) * sizeof *r->starts);
    for (size_t i = 0; i < r->n; i++) r->starts[r->items[i].shard + 2] += r->items[i].first_equal == i;
    for (size_t s = 2; s < shards + 2; s++) r->starts[s] += r->starts[s - 1];
    for (size_t i = 0; i < r->n; i++)
        if (r->items[i].first_equal == i) r->order[r->starts[r->items[i].shard + 1]++] = i;
}

/* From what is known to answers. */
static void settle_answers(struct item_batch *r) {
    for (size_t i = 0; i < r->n; i++) {
        size_t first_equal = r->items[i].first_equal;
        uint8_t known = r->answers[i];
        r->doubted += known & IN_DOUBT && !(known & NEW);
        r->answers[i] = known & (NEW | IN_DOUBT) ? 1 : known ? 0 : UNANSWERED;
        if (first_equal != i) r->answers[i] = r->answers[first_equal] == UNANSWERED ? UNANSWERED : 0;
    }
}

static void doubt_unfinished(struct item_batch *r) {
    for (size_t i = 0; i < r->requests.n; i++)
        if (r->requests.list[i].repeated) doubt(r, &r->requests.list[i]);
}

/* If a server was started anew meanwhile, all of the batch is asked or added again: it may have forgotten what it had
 * just learnt. Copies in cuckoo filters would become two, so that these go without. */
static int send_batch(struct item_batch *r) {
    struct cluster *cluster = &r->set->cluster;
    struct dispatch run;
    int status;
    cluster->careful = r->verb == CHECK_ITEMS || (is_adding(r) && !is_copying(r));
    do {
        status = look(r);
        if (status != FINE) continue;
        dispatch_begin(&run, cluster, &r->requests, take_answers, r);
        send_commands(r, &run);
        status = dispatch_end(&run);
        if (status != FINE && r->verb == ADD_ABSENT) doubt_unfinished(r);
    } while (status == STOP);
    cluster->careful = false;
    return status;
}

static int run_batch(struct item_batch *r) {
    if (!r->n) return FINE;
    if (r->bytes.broken || r->lines.broken) return failure(NULL, "not enough memory for so many keys at a time");
    if (r->equal_items) equal_items_find(r->equal_items, r);
    sort_items(r);
    memset(r->answers, 0, r->n);
    int sent = send_batch(r);
    if (sent != FINE && r->verb != ADD_ABSENT) return TROUBLE;
    if (r->verb == ADD_ABSENT) settle_answers(r);
    r->keys += r->n;
    int status = r->done(r);
    r->n = r->bytes.length = r->lines.length = 0;
    return sent == FINE ? status : TROUBLE;
}

static int make_item_batch(struct item_batch *r) {
    size_t room = (size_t)r->set->shards * ITEMS_TO_A_SHARD;
    if (room < FEWEST_OF_A_BATCH) room = FEWEST_OF_A_BATCH;
    if (room > MOST_OF_A_BATCH) room = MOST_OF_A_BATCH;
    r->room = room;
    r->items = malloc(room * sizeof *r->items);
    r->answers = malloc(room);
    r->order = malloc(room * sizeof *r->order);
    r->starts = malloc((r->set->shards + (size_t)2) * sizeof *r->starts);
    text_put(&r->bytes, "", 1); /* so that keys of no bytes stand somewhere, too */
    r->bytes.length = 0;
    if (r->verb == ADD_ABSENT) r->equal_items = equal_items_make(room);
    bool made = r->items && r->answers && r->order && r->starts && (r->equal_items || r->verb != ADD_ABSENT);
    return made ? FINE : failure(NULL, "not enough memory for so many keys at a time");
}

void item_batch_free(struct item_batch *r) {
    free(r->items);
    free(r->answers);
    free(r->order);
    free(r->starts);
    equal_items_free(r->equal_items);
    free(r->bytes.bytes);
    free(r->lines.bytes);
    requests_free(&r->requests);
}

/* --------------------------------------------------------------------------------------------------- keys --- */

/* Numbers travel as decimal text, which every client can write; all others as the bytes that they are. */
static void take_key(struct item_batch *r, const struct batch *batch, size_t i) {
    struct server_item *item = &r->items[r->n];
    char digits[24];
    const char *key = batch->numbers ? digits : batch->keys[i];
    size_t length = batch->numbers
                        ? (size_t)snprintf(digits, sizeof digits, "%llu", (unsigned long long)batch->numbers[i])
                        : batch->lengths[i];
    *item = (struct server_item){
        .at = r->bytes.length, .length = length, .shard = set_shard(r->set, key, length), .first_equal = r->n++};
    text_put(&r->bytes, key, length);
    if (!r->keep_lines) return;
    item->line_length = batch->line_lengths[i] + batch->terminator_length;
    text_put(&r->lines, batch->lines[i], item->line_length);
}

static int take_batch(void *context, const struct batch *batch) {
    struct item_batch *r = context;
    for (size_t i = 0; i < batch->n; i++) {
        take_key(r, batch, i);
        bool enough = r->n == r->room || r->bytes.length + r->lines.length > BYTES_OF_A_BATCH;
        int status = enough ? run_batch(r) : FINE;
        if (status != FINE) return status;
    }
    return FINE;
}

static int take_pause(void *context, const char *path, uint64_t first_line) {
    struct item_batch *r = context;
    (void)path;
    (void)first_line;
    return r->eager ? run_batch(r) : FINE;
}

int item_batch_read(struct item_batch *r, const struct input *input) {
    void *contexts[1] = {r};
    if (make_item_batch(r) != FINE) return TROUBLE;
    int status = input_work(
        input, &(struct key_work){.threads = 1, .in_thread = take_batch, .in_order = take_pause, .contexts = contexts});
    return status == FINE ? run_batch(r) : status;
}
