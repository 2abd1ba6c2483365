#include "input.h"
#include "encode.h"
#include "filter.h"
#include "report.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Large enough to make system calls rare, small enough to stay in the second-level cache. */
enum { BLOCK = 256 << 10 };

volatile sig_atomic_t input_interrupted;

/* One file being read. buffer[start..end) is not handed on yet; buffer[start..scanned) holds no line end. One byte
 * after the block is kept free for the terminator that a last line may lack. */
struct reader {
    const struct input *input;
    batch_function *function;
    void *context;
    const char *path;
    int fd;
    bool ended;
    char *buffer;
    size_t size, start, scanned, end;
    uint64_t line;        /* number of the next line */
    uint64_t bytes, keys; /* read so far, of all files */
    uint8_t *scratch;     /* decoded keys of one batch */
    size_t scratch_size;
    size_t n; /* lines waiting in the arrays below */
    const char *lines[BATCH];
    size_t line_lengths[BATCH];
    const void *keys_of[BATCH];
    size_t lengths[BATCH];
    uint64_t numbers[BATCH];
};

/* ------------------------------------------------------------------------------------------ lines to keys --- */

static int line_failure(const struct reader *r, size_t i, const char *why) {
    char shown[44];
    size_t length = r->line_lengths[i] < 40 ? r->line_lengths[i] : 40;
    for (size_t c = 0; c < length; c++) {
        char byte = r->lines[i][c];
        shown[c] = byte < ' ' || byte > '~' ? '?' : byte;
    }
    strcpy(shown + length, r->line_lengths[i] > 40 ? "..." : "");
    bool carriage = r->line_lengths[i] && r->lines[i][r->line_lengths[i] - 1] == '\r';
    return failure(input_name(r->path), "line %llu %s: '%s'; %s", (unsigned long long)(r->line + i), why, shown,
                   carriage             ? "it ends in a carriage return: take those out first (tr -d '\\r')"
                   : r->input->integers ? "correct it, or choose another kind of filter: a bitmap holds integers only"
                                        : "correct it, or choose another --key");
}

/* Finds the wanted field of line i. */
static int cut_field(struct reader *r, size_t i) {
    const char *at = r->lines[i], *end = at + r->line_lengths[i], *stop;
    for (uint64_t field = 1;; field++) {
        stop = memchr(at, r->input->delimiter, (size_t)(end - at));
        if (field == r->input->field) break;
        if (!stop)
            return failure(input_name(r->path),
                           "line %llu has only %llu field%s; correct it, or choose another --field or --delimiter",
                           (unsigned long long)(r->line + i), (unsigned long long)field, field == 1 ? "" : "s");
        at = stop + 1;
    }
    r->keys_of[i] = at;
    r->lengths[i] = (size_t)((stop ? stop : end) - at);
    return FINE;
}

static int reserve_scratch(struct reader *r) {
    size_t needed = 0;
    for (size_t i = 0; i < r->n; i++) needed += 2 * r->lengths[i] + 8;
    if (needed <= r->scratch_size) return FINE;
    free(r->scratch);
    r->scratch = malloc(needed);
    r->scratch_size = r->scratch ? needed : 0;
    return r->scratch ? FINE : failure(input_name(r->path), "lines too long for the memory there is");
}

/* An int32 or int64; for a kind of integers as a number too. */
static const char *make_integer(struct reader *r, size_t i, size_t size, uint8_t *key) {
    const char *why = encode_int(r->keys_of[i], r->lengths[i], size, key);
    if (why || !r->input->integers) return why;
    return encode_u64(r->keys_of[i], r->lengths[i], &r->numbers[i]) ? "is below 0, where a bitmap begins" : NULL;
}

/* Turns the texts in keys_of into keys, in place of them. */
static int encode_keys(struct reader *r) {
    if (reserve_scratch(r) != FINE) return TROUBLE;
    uint8_t *out = r->scratch;
    for (size_t i = 0; i < r->n; i++) {
        const char *text = r->keys_of[i], *why = NULL;
        size_t length = r->lengths[i], made = 0;
        switch (r->input->encoding) {
        case ENCODING_U64:
            why = encode_u64(text, length, &r->numbers[i]);
            break;
        case ENCODING_HEX:
            why = encode_hex(text, length, out);
            made = length / 2;
            break;
        case ENCODING_UTF16:
            why = encode_utf16(text, length, out, &made);
            break;
        default:
            made = r->input->encoding == ENCODING_INT32 ? 4 : 8;
            why = make_integer(r, i, made, out);
        }
        if (why) return line_failure(r, i, why);
        r->keys_of[i] = out;
        r->lengths[i] = made;
        out += made;
    }
    return FINE;
}

/* Fills keys_of and lengths (or numbers) from the lines. */
static int make_keys(struct reader *r) {
    if (r->input->field) {
        for (size_t i = 0; i < r->n; i++)
            if (cut_field(r, i) != FINE) return TROUBLE;
    } else {
        memcpy(r->keys_of, r->lines, r->n * sizeof *r->lines);
        memcpy(r->lengths, r->line_lengths, r->n * sizeof *r->lengths);
    }
    return r->input->encoding == ENCODING_BYTES ? FINE : encode_keys(r);
}

/* Hands the waiting lines on as keys. */
static int hand_on(struct reader *r) {
    bool records = r->input->encoding == ENCODING_U64LE;
    bool as_is = r->input->encoding == ENCODING_BYTES && !r->input->field;
    if (r->n == 0) return FINE;
    if (!records && !as_is && make_keys(r) != FINE) return TROUBLE;
    struct batch batch = {
        .n = r->n,
        .lines = r->lines,
        .line_lengths = r->line_lengths,
        .terminator_length = !records,
        .path = r->path,
        .first_line = r->line,
    };
    if (input_of_numbers(r->input)) {
        batch.numbers = r->numbers;
    } else {
        batch.keys = as_is ? (const void *const *)r->lines : r->keys_of;
        batch.lengths = as_is ? r->line_lengths : r->lengths;
    }
    r->line += r->n;
    r->keys += r->n;
    r->n = 0;
    return r->function(r->context, &batch);
}

/* ---------------------------------------------------------------------------------------- blocks to lines --- */

/* Hands on every whole line in the buffer. */
static int split_lines(struct reader *r) {
    const char *at = r->buffer + r->start, *from = r->buffer + r->scanned, *end = r->buffer + r->end, *stop;
    while (from < end && (stop = memchr(from, r->input->terminator, (size_t)(end - from)))) {
        r->lines[r->n] = at;
        r->line_lengths[r->n] = (size_t)(stop - at);
        at = from = stop + 1;
        if (++r->n == BATCH) {
            int status = hand_on(r);
            if (status != FINE) return status;
        }
    }
    r->start = (size_t)(at - r->buffer);
    r->scanned = r->end;
    return hand_on(r);
}

/* The same for raw records of 8 bytes. */
static int split_records(struct reader *r) {
    while (r->end - r->start >= 8) {
        const uint8_t *record = (const uint8_t *)r->buffer + r->start;
        uint64_t number = 0;
        for (int i = 7; i >= 0; i--) number = number << 8 | record[i];
        r->lines[r->n] = (const char *)record;
        r->line_lengths[r->n] = 8;
        r->numbers[r->n] = number;
        r->start += 8;
        if (++r->n == BATCH) {
            int status = hand_on(r);
            if (status != FINE) return status;
        }
    }
    return hand_on(r);
}

/* Moves the unfinished line to the front, and doubles the buffer when that line takes half of it. */
static int make_room(struct reader *r) {
    size_t kept = r->end - r->start;
    memmove(r->buffer, r->buffer + r->start, kept);
    r->scanned -= r->start;
    r->start = 0;
    r->end = kept;
    if (kept < r->size / 2) return FINE;
    char *larger = r->size > SIZE_MAX / 4 ? NULL : realloc(r->buffer, 2 * r->size + 1);
    if (!larger)
        return failure(input_name(r->path),
                       "line %llu is too long for the memory there is; is -0 missing or one too many?",
                       (unsigned long long)r->line);
    r->buffer = larger;
    r->size *= 2;
    return FINE;
}

static int end_of_file(struct reader *r) {
    size_t kept = r->end - r->start;
    r->ended = true;
    if (r->input->encoding == ENCODING_U64LE && kept)
        return failure(input_name(r->path),
                       "ends %zu byte%s after its last record of 8 bytes; it is cut off or is not --key u64le", kept,
                       kept == 1 ? "" : "s");
    if (kept) r->buffer[r->end++] = r->input->terminator;
    return FINE;
}

static int read_block(struct reader *r) {
    if (make_room(r) != FINE) return TROUBLE;
    for (;;) {
        if (input_interrupted) return STOP;
        ssize_t got = read(r->fd, r->buffer + r->end, r->size - r->end);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0)
            return failure(input_name(r->path), "cannot be read: %s; %s", strerror(errno),
                           errno == EISDIR ? "give the files in it"
                                           : "give a readable file, or keys on standard input");
        if (got == 0) return end_of_file(r);
        r->end += (size_t)got;
        r->bytes += (uint64_t)got;
        return FINE;
    }
}

static int read_file(struct reader *r) {
    bool records = r->input->encoding == ENCODING_U64LE;
    r->start = r->scanned = r->end = 0;
    r->line = 1;
    r->ended = false;
    while (!r->ended) {
        int status = read_block(r);
        if (status == FINE) status = records ? split_records(r) : split_lines(r);
        if (status != FINE) return status;
        progress_at(r->bytes, r->keys);
    }
    return FINE;
}

/* ------------------------------------------------------------------------------------------------- files --- */

static int open_path(const char *path, int *fd) {
    *fd = strcmp(path, "-") == 0 ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    if (*fd < 0 && errno == EINTR && input_interrupted) return STOP;
    if (*fd < 0) return failure(path, "cannot be opened: %s; check the name and its permissions", strerror(errno));
    if (isatty(*fd) && isatty(STDERR_FILENO)) remark(input_name(path), "type keys, one a line; Ctrl-D ends");
    return FINE;
}

static void close_path(int fd) {
    if (fd != STDIN_FILENO) close(fd);
}

/* Are all inputs plain files, which can be read twice? Then *total is their size. */
static bool plain_files(const struct input *input, uint64_t *total) {
    *total = 0;
    for (size_t i = 0; i < input->path_count; i++) {
        struct stat status;
        bool standard = strcmp(input->paths[i], "-") == 0;
        if ((standard ? fstat(STDIN_FILENO, &status) : stat(input->paths[i], &status)) != 0) return false;
        if (!S_ISREG(status.st_mode)) return false;
        *total += (uint64_t)status.st_size;
    }
    return true;
}

static int read_files(struct reader *r) {
    int status = FINE;
    for (size_t i = 0; i < r->input->path_count && status == FINE; i++) {
        r->path = r->input->paths[i];
        status = open_path(r->path, &r->fd);
        if (status != FINE) return status;
        posix_fadvise(r->fd, 0, 0, POSIX_FADV_SEQUENTIAL);
        status = read_file(r);
        close_path(r->fd);
    }
    return status;
}

int input_read(const struct input *input, batch_function *function, void *context) {
    struct reader *r = calloc(1, sizeof *r);
    char *buffer = malloc(BLOCK + 1);
    if (!r || !buffer) {
        free(r);
        free(buffer);
        return failure(NULL, "not enough memory to read keys");
    }
    r->input = input;
    r->function = function;
    r->context = context;
    r->buffer = buffer;
    r->size = BLOCK;
    uint64_t total;
    if (!input->silent) progress_start(plain_files(input, &total) ? total : 0);
    int status = read_files(r);
    progress_end();
    free(r->buffer);
    free(r->scratch);
    free(r);
    return status;
}

/* ------------------------------------------------------------------------------------------------ counting --- */

/* Counts line ends, and the last line if it has none; for raw records the bytes. */
static int count_file(int fd, const char *path, char terminator, char *buffer, uint64_t *lines, uint64_t *bytes) {
    char last = terminator;
    for (;;) {
        ssize_t got = read(fd, buffer, BLOCK);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return failure(input_name(path), "cannot be read: %s; give a readable file", strerror(errno));
        if (got == 0) break;
        uint64_t found = 0;
        for (ssize_t i = 0; i < got; i++) found += buffer[i] == terminator;
        *lines += found;
        *bytes += (uint64_t)got;
        last = buffer[got - 1];
    }
    *lines += last != terminator;
    return FINE;
}

static int count_path(const struct input *input, const char *path, char *buffer, uint64_t *keys) {
    int fd;
    uint64_t lines = 0, bytes = 0;
    if (open_path(path, &fd) != FINE) return TROUBLE;
    off_t began = lseek(fd, 0, SEEK_CUR);
    int status = count_file(fd, path, input->terminator, buffer, &lines, &bytes);
    if (status == FINE && lseek(fd, began, SEEK_SET) < 0)
        status = failure(input_name(path), "cannot be read twice: %s; give -n", strerror(errno));
    close_path(fd);
    *keys += input->encoding == ENCODING_U64LE ? bytes / 8 : lines;
    return status;
}

int input_count(const struct input *input, bool *countable, uint64_t *lines) {
    uint64_t total;
    *lines = 0;
    *countable = plain_files(input, &total);
    if (!*countable) return FINE;
    char *buffer = malloc(BLOCK);
    if (!buffer) return failure(NULL, "not enough memory to count keys");
    int status = FINE;
    for (size_t i = 0; i < input->path_count && status == FINE; i++)
        status = count_path(input, input->paths[i], buffer, lines);
    free(buffer);
    return status;
}

/* ------------------------------------------------------------------------------------------------- options --- */

const char *encoding_name(enum encoding encoding) {
    static char name[16];
    return word_at(option_table[OPT_KEY].words, (int)encoding, name, sizeof name);
}

static int delimiter_from(const char *text, char *delimiter) {
    if (strcmp(text, "\\t") == 0)
        *delimiter = '\t';
    else if (strlen(text) == 1)
        *delimiter = *text;
    else
        return failure("--delimiter", "'%s' is not one byte; give one such as ',' or '\\t'", text);
    return FINE;
}

int input_from_options(struct input *input, const struct options *options, char *const *paths, size_t path_count) {
    static char standard_input[] = "-";
    static char *const standard[] = {standard_input};
    *input = (struct input){
        .encoding = given(options, OPT_U64)   ? ENCODING_U64
                    : given(options, OPT_HEX) ? ENCODING_HEX
                                              : (enum encoding)options->encoding,
        .terminator = given(options, OPT_NULL) ? 0 : '\n',
        .field = options->field,
        .delimiter = '\t',
        .paths = path_count ? paths : standard,
        .path_count = path_count ? path_count : 1,
    };
    if (given(options, OPT_KEY) + given(options, OPT_U64) + given(options, OPT_HEX) > 1)
        return failure("--key", "given more than once; choose one of --key, --u64 and --hex");
    if (given(options, OPT_FIELD) && options->field == 0)
        return failure("--field", "fields are numbered from 1; leave it out to take the whole line");
    if (given(options, OPT_DELIMITER) && !given(options, OPT_FIELD))
        return failure("--delimiter", "means nothing without --field; say which field is the key");
    if (input->encoding == ENCODING_U64LE && (given(options, OPT_FIELD) || given(options, OPT_NULL)))
        return failure("--key", "u64le reads raw records, which have no lines or fields; leave out -0 and --field");
    return given(options, OPT_DELIMITER) ? delimiter_from(options->delimiter, &input->delimiter) : FINE;
}

bool input_of_numbers(const struct input *input) {
    return input->integers || input->encoding == ENCODING_U64 || input->encoding == ENCODING_U64LE;
}

static bool is_integer(unsigned encoding) {
    return encoding >= ENCODING_U64 && encoding <= ENCODING_INT64;
}

/* u64 and u64le are two ways to write the same 64-bit keys. */
bool same_keys(unsigned tag, unsigned other) {
    return tag == other || (tag == ENCODING_U64 && other == ENCODING_U64LE) ||
           (tag == ENCODING_U64LE && other == ENCODING_U64);
}

static bool encoding_given(const struct options *options) {
    return given(options, OPT_KEY) || given(options, OPT_U64) || given(options, OPT_HEX);
}

int input_for_integers(struct input *input, const struct options *options) {
    input->integers = true;
    if (!encoding_given(options)) input->encoding = ENCODING_U64;
    if (is_integer(input->encoding)) return FINE;
    return failure("--key", "a bitmap holds integers, not %s; give u64, u64le, int32 or int64, or another -k",
                   encoding_name(input->encoding));
}

/* Raw records are read only where no option speaks of lines. */
static enum encoding encoding_from_tag(unsigned tag, const struct options *options) {
    bool lines = given(options, OPT_FIELD) || given(options, OPT_NULL);
    return tag == ENCODING_U64LE && lines ? ENCODING_U64 : (enum encoding)tag;
}

static int contradicts_tag(const char *filter_path, unsigned tag, enum encoding asked) {
    char name[16];
    snprintf(name, sizeof name, "%s", encoding_name(asked));
    return failure(filter_path, "was made with --key %s, so --key %s would find nothing; leave it out",
                   encoding_name((enum encoding)tag), name);
}

int input_match(struct input *input, const struct options *options, const char *filter_path, const perhaps *filter) {
    unsigned tag = perhaps_tag(filter);
    bool chosen = encoding_given(options);
    input->integers = filter_of_integers(filter);
    if (input->integers && !is_integer(tag)) tag = ENCODING_U64; /* another program's: numbers, whatever it says */
    if (tag >= ENCODINGS) {
        if (chosen) return FINE;
        return failure(filter_path, "does not say how its keys are written (tag %u is another program's); give --key",
                       tag);
    }
    if (!chosen) input->encoding = encoding_from_tag(tag, options);
    bool same = input->integers ? is_integer(input->encoding) : same_keys(input->encoding, tag);
    return !chosen || same ? FINE : contradicts_tag(filter_path, tag, input->encoding);
}
