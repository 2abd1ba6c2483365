#include "item_batch.h"
#include "bit_positions.h"
#include "equal_items.h"
#include "output/report.h"

#include <stdlib.h>
#include <string.h>

/* Limits of a command: the server must soon be free for others. */
enum { MOST_ITEMS = 1000, MOST_BITS = 8000, MOST_BYTES = 256 << 10 };

/* Limits of a batch: it has many items for each shard. */
enum { ITEMS_TO_A_SHARD = 256, FEWEST_OF_A_BATCH = 64 << 10, MOST_OF_A_BATCH = 2 << 20, BYTES_OF_A_BATCH = 64 << 20 };

static const char *const command_names[SET_KINDS][VERBS] = {
    [SET_BLOOM] = {[ADD_ITEMS] = "BF.INSERT", [ADD_ABSENT] = "BF.INSERT", [CHECK_ITEMS] = "BF.MEXISTS"},
    [SET_CUCKOO] = {"CF.INSERT", "CF.INSERTNX", "CF.DEL", "CF.MEXISTS"},
    [SET_BITS] = {[ADD_ITEMS] = "BITFIELD", [ADD_ABSENT] = "BITFIELD", [CHECK_ITEMS] = "BITFIELD_RO"},
};

/* What is known of an item while a batch of ADD_ABSENT is sent. The first answer holds: to a server
 * that was restarted, what was known before may be new. */
enum { NEW = 1, KNOWN = 2, IN_DOUBT = 4 };

static bool is_adding(const struct item_batch *r) {
    return r->verb == ADD_ITEMS || r->verb == ADD_ABSENT;
}

/* Does adding make copies? */
static bool is_copying(const struct item_batch *r) {
    return r->verb == ADD_ITEMS && r->set->kind == SET_CUCKOO;
}

/* ---- requests ---- */

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

static void put_command(struct item_batch *r, const char *key, unsigned shard, size_t first, size_t n) {
    const struct set *set = r->set;
    bool bits = set->kind == SET_BITS;
    size_t adding = is_adding(r), words = bits ? n * set->hashes * (3 + adding) : 2 * adding + n;
    struct request *request = request_begin(&r->requests, command_names[set->kind][r->verb], key, 2 + words);
    if (!request) return;
    request->shard = shard;
    request->first = first;
    request->count = n;
    request->once = r->verb == REMOVE_ITEMS;
    if (adding && !bits) text_words(&r->requests.text, "NOCREATE ITEMS");
    for (size_t i = first; i < first + n; i++) {
        const struct server_item *item = &r->items[r->order[i]];
        const char *bytes = r->bytes.bytes + item->at;
        if (bits)
            put_bits(r, bytes, item->length);
        else
            text_word(&r->requests.text, bytes, item->length);
    }
    request_end(&r->requests);
}

/* Servers work on the first commands while the others are being made. */
static void send_commands(struct item_batch *r, struct dispatch *run) {
    char key[KEY_TEXT];
    size_t most = r->verb == REMOVE_ITEMS ? 1 : r->set->kind == SET_BITS ? MOST_BITS / r->set->hashes : MOST_ITEMS;
    requests_clear(&r->requests);
    /* Each command, except the last of its shard, has `most` items or MOST_BYTES bytes. */
    requests_reserve(&r->requests, r->set->shards + r->n / most + r->bytes.length / MOST_BYTES);
    for (unsigned shard = 0; shard < r->set->shards; shard++) {
        set_key(r->set, shard, key);
        for (size_t first = r->starts[shard], end = r->starts[shard + 1], n; first < end; first += n) {
            size_t bytes = 0;
            for (n = 0; first + n < end && n < most && bytes < MOST_BYTES; n++)
                bytes += r->items[r->order[first + n]].length;
            put_command(r, key, shard, first, n);
            if (r->requests.text.broken) return;
            dispatch_push(run, &r->requests.list[r->requests.n - 1]);
        }
    }
}

/* ---- are the shards there? ---- */

static int take_shard(void *context, const struct request *request, const redisReply *reply) {
    struct set *set = ((struct item_batch *)context)->set;
    set->seen[request->shard] = set->cluster.restarts + 1;
    return set_check_shard(set, request->shard, reply);
}

/* A server that has no such key answers 'absent' to every query, and makes the key when a bit is
 * set. So its existence is checked before the first item goes to a shard, and again when a server
 * was restarted. */
static int check_shards(struct item_batch *r) {
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
    return r->requests.n ? cluster_run(&r->set->cluster, &r->requests, take_shard, r) : FINE;
}

/* ---- answers ---- */

/* What the server says about one item: one number, or one for each of its bits. -1 = there was no
 * room for it. */
static int judge(const struct item_batch *r, redisReply *const *elements, size_t n) {
    size_t ones = 0;
    for (size_t i = 0; i < n; i++) {
        if (elements[i]->type != REDIS_REPLY_INTEGER || elements[i]->integer < 0) return -1;
        ones += elements[i]->integer != 0;
    }
    bool all = ones == n;
    return r->set->kind == SET_BITS && is_adding(r) ? !all : all;
}

/* Items of a command that is sent once more, and may be done already. */
static void doubt(struct item_batch *r, const struct request *request) {
    for (size_t i = 0; i < request->count; i++) {
        uint8_t *known = &r->answers[r->order[request->first + i]];
        if (!*known) *known = IN_DOUBT;
    }
}

static int take_replies(void *context, const struct request *request, const redisReply *reply) {
    struct item_batch *r = context;
    char key[KEY_TEXT];
    bool array = reply->type == REDIS_REPLY_ARRAY, room = true;
    redisReply *only = (redisReply *)reply, *const *elements = array ? reply->element : &only;
    size_t n = array ? reply->elements : 1, width = r->set->kind == SET_BITS ? r->set->hashes : 1;
    set_key(r->set, request->shard, key);
    if (reply->type == REDIS_REPLY_ERROR) return set_refused(r->set, key, reply);
    if (is_copying(r) && request->repeated) r->doubled += request->count;
    if (r->verb == ADD_ABSENT && request->repeated) doubt(r, request);
    for (size_t i = 0; i < request->count; i++) {
        int answer = (i + 1) * width <= n ? judge(r, elements + i * width, width) : -1;
        uint8_t *to = &r->answers[r->order[request->first + i]];
        if (answer < 0)
            room = false;
        else if (r->verb != ADD_ABSENT)
            *to = is_adding(r) ? *to | (uint8_t)answer : (uint8_t)answer;
        else if (!(*to & (NEW | KNOWN)))
            *to |= answer ? NEW : KNOWN;
    }
    if (room) return FINE;
    if (n && elements[n - 1]->type != REDIS_REPLY_INTEGER) return set_refused(r->set, key, elements[n - 1]);
    return failure(r->set->url.shown, "%s is full; build it again with a larger -n, or without --no-grow", key);
}

/* ---- batches ---- */

/* Items of the same shard go together, in their order. */
static void sort_by_shard(struct item_batch *r) {
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

/* If a server was restarted meanwhile, all of the batch is sent again: the server may have lost
 * what it was just told. But copies in cuckoo filters, which would become two, are sent once. */
static int send_batch(struct item_batch *r) {
    struct cluster *cluster = &r->set->cluster;
    struct dispatch run;
    int status;
    cluster->careful = r->verb == CHECK_ITEMS || (is_adding(r) && !is_copying(r));
    do {
        status = check_shards(r);
        if (status != FINE) continue;
        dispatch_begin(&run, cluster, &r->requests, take_replies, r);
        send_commands(r, &run);
        status = dispatch_end(&run);
        for (size_t i = 0; i < r->requests.n && status != FINE && r->verb == ADD_ABSENT; i++)
            if (r->requests.list[i].repeated) doubt(r, &r->requests.list[i]);
    } while (status == STOP);
    cluster->careful = false;
    return status;
}

/* Hands the answers on, with the lines, in batches as the input has them. */
static int hand_on_answers(const struct item_batch *r) {
    const struct query *query = r->query;
    const char *lines[BATCH], *line = r->lines.bytes;
    size_t lengths[BATCH];
    struct batch batch = {.lines = lines, .line_lengths = lengths, .terminator_length = r->terminator_length};
    for (size_t first = 0; first < r->n; first += batch.n) {
        uint64_t present = 0;
        batch.n = r->n - first < BATCH ? r->n - first : BATCH;
        for (size_t i = 0; i < batch.n; i++) {
            size_t length = r->items[first + i].line_length;
            present += r->answers[first + i] == 1;
            if (!query->records) continue;
            lines[i] = line;
            lengths[i] = length - r->terminator_length;
            line += length;
        }
        int status = query->answered(query->contexts[0], &batch, r->answers + first, present);
        if (status != FINE) return status;
    }
    return query->in_order ? query->in_order(query->contexts[0]) : FINE;
}

static int run_batch(struct item_batch *r) {
    if (!r->n) return FINE;
    if (r->bytes.broken || r->lines.broken) return failure(NULL, "not enough memory for a batch of keys");
    if (r->equal_items) equal_items_find(r->equal_items, r);
    sort_by_shard(r);
    memset(r->answers, 0, r->n);
    int sent = send_batch(r);
    if (sent != FINE && r->verb != ADD_ABSENT) return TROUBLE;
    if (r->verb == ADD_ABSENT) settle_answers(r);
    r->keys += r->n;
    int status = hand_on_answers(r);
    r->n = r->bytes.length = r->lines.length = 0;
    return sent == FINE ? status : TROUBLE;
}

/* ---- keys ---- */

/* Numbers travel as decimal text, which every client can write; all others as the bytes that they
 * are. */
static int take_batch(void *context, const struct batch *batch) {
    struct item_batch *r = context;
    for (size_t i = 0; i < batch->n; i++) {
        struct server_item *item = &r->items[r->n];
        char digits[24];
        const char *key = batch->numbers ? digits : batch->keys[i];
        size_t length = batch->numbers
                            ? (size_t)snprintf(digits, sizeof digits, "%llu", (unsigned long long)batch->numbers[i])
                            : batch->lengths[i];
        *item = (struct server_item){.at = r->bytes.length,
                                     .length = length,
                                     .shard = shard_of_item(r->set, key, length),
                                     .first_equal = r->n++};
        text_put(&r->bytes, key, length);
        if (r->query->records) {
            r->terminator_length = batch->terminator_length;
            item->line_length = batch->line_lengths[i] + batch->terminator_length;
            text_put(&r->lines, batch->lines[i], item->line_length);
        }
        bool enough = r->n == r->room || r->bytes.length + r->lines.length > BYTES_OF_A_BATCH;
        int status = enough ? run_batch(r) : FINE;
        if (status != FINE) return status;
    }
    return FINE;
}

static int take_pause(void *context, const char *path, uint64_t first_line) {
    struct item_batch *r = context;
    (void)path, (void)first_line;
    return r->query->prompt ? run_batch(r) : FINE;
}

int item_batch_read(struct item_batch *r, const struct input *input) {
    void *contexts[1] = {r};
    struct key_work work = {.threads = 1, .in_thread = take_batch, .in_order = take_pause, .contexts = contexts};
    size_t room = (size_t)r->set->shards * ITEMS_TO_A_SHARD;
    if (room < FEWEST_OF_A_BATCH) room = FEWEST_OF_A_BATCH;
    if (room > MOST_OF_A_BATCH) room = MOST_OF_A_BATCH;
    r->room = room;
    r->items = malloc(room * sizeof *r->items);
    r->answers = malloc(room);
    r->order = malloc(room * sizeof *r->order);
    r->starts = malloc((r->set->shards + (size_t)2) * sizeof *r->starts);
    text_put(&r->bytes, "", 1); /* so that empty keys have an address, too */
    r->bytes.length = 0;
    if (r->verb == ADD_ABSENT) r->equal_items = equal_items_make(room);
    bool made = r->items && r->answers && r->order && r->starts && (r->equal_items || r->verb != ADD_ABSENT);
    int status = made ? input_work(input, &work) : failure(NULL, "not enough memory for a batch of keys");
    if (status == FINE) status = run_batch(r);
    free(r->items);
    free(r->answers);
    free(r->order);
    free(r->starts);
    equal_items_free(r->equal_items);
    free(r->bytes.bytes);
    free(r->lines.bytes);
    requests_free(&r->requests);
    return status;
}
