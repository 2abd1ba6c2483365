#include "blocks.h"
#include "output/numbers.h"
#include "output/report.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BLOCK = 256 << 10 }; /* bytes whose lines are counted together */

/* Are all inputs plain files, compressed or not? Then *total is their size. */
static bool all_files(const struct input *input, bool compressed, uint64_t *total) {
    *total = 0;
    for (size_t i = 0; i < input->path_count; i++) {
        struct stat status;
        bool standard = strcmp(input->paths[i], "-") == 0;
        if ((standard ? fstat(STDIN_FILENO, &status) : stat(input->paths[i], &status)) != 0) return false;
        if (!S_ISREG(status.st_mode)) return false;
        if (!compressed && decompressor_of(input->paths[i])) return false;
        *total += (uint64_t)status.st_size;
    }
    return true;
}

/* Those that can be read twice. */
static bool plain_files(const struct input *input, uint64_t *total) {
    return all_files(input, false, total);
}

bool input_repeatable(const struct input *input) {
    uint64_t total;
    return plain_files(input, &total);
}

uint64_t input_bytes(const struct input *input) {
    uint64_t total;
    return plain_files(input, &total) ? total : 0;
}

void input_start_progress(const struct input *input) {
    uint64_t total;
    if (!input->silent) progress_start(all_files(input, true, &total) ? total : 0, false);
}

void input_tell_missing(const struct input *input, uint64_t missing, uint64_t invalid) {
    char count[NUMBER_TEXT], what[COLUMNS_TEXT + 40];
    const char *name = input->path_count == 1 ? input_name(input->paths[0]) : NULL;
    if (input->quiet) return;
    bool one = missing == 1, skipped = input->missing == MISSING_SKIP;
    if (missing)
        remark(name, "%s record%s %s%s", group_digits(missing, count), one ? " has" : "s have",
               missing_text(input, what, sizeof what),
               skipped               ? one ? " and was skipped" : " and were skipped"
               : input->fields.n < 2 ? one ? "; its key is empty" : "; their keys are empty"
               : one                 ? "; those it lacks are empty"
                                     : "; those they lack are empty");
    if (invalid)
        remark(name, "%s invalid record%s skipped", group_digits(invalid, count), invalid == 1 ? " was" : "s were");
}

/* ---- counting ---- */

/* Adds the keys of a plain file: the ends of its records, and the last one if it has none, less the
 * header; or its raw records. Blank lines and records without a key are counted, too. With
 * `roughly`, about how many there are, by its first bytes and its size. The file stays where it
 * is. */
static int count_path(const struct input *input, const char *path, bool roughly, char *buffer, uint64_t *keys) {
    struct input_source source;
    struct stat file;
    struct record_search search = record_search_in(input, NULL, NULL);
    uint64_t ends = 0, bytes = 0;
    char last = input->terminator;
    ssize_t got;
    if (source_open(&source, path, NULL) != FINE) return TROUBLE;
    off_t began = source_position(&source);
    do {
        got = pread(source.fd, buffer, BLOCK, began + (off_t)bytes);
        if (got > 0) {
            ends += count_records(&search, buffer, buffer + got);
            bytes += (uint64_t)got;
            last = buffer[got - 1];
        }
    } while ((got > 0 && !roughly) || (got < 0 && errno == EINTR));
    if (got < 0 || fstat(source.fd, &file) != 0) {
        int error = errno;
        source_close(&source);
        return failure(input_name(path), "cannot be read: %s; give a readable file", strerror(error));
    }
    source_close(&source);
    if (input->records == PERHAPS_RAW)
        *keys += bytes / 8;
    else if (!roughly)
        *keys += ends + (last != input->terminator) - (input->header && ends);
    else if (bytes)
        *keys += (uint64_t)((double)(ends ? ends : 1) * (double)file.st_size / (double)bytes);
    return FINE;
}

static int count_paths(const struct input *input, bool roughly, uint64_t *keys) {
    int status = FINE;
    char *buffer = malloc(BLOCK);
    if (!buffer) return failure(NULL, "not enough memory to count keys");
    for (size_t i = 0; i < input->path_count && status == FINE; i++)
        status = count_path(input, input->paths[i], roughly, buffer, keys);
    free(buffer);
    return status;
}

int input_count(const struct input *input, bool *countable, uint64_t *lines) {
    *lines = 0;
    *countable = input_repeatable(input);
    return *countable ? count_paths(input, false, lines) : FINE;
}

int input_estimate(const struct input *input, uint64_t *keys) {
    uint64_t total, about = 0;
    *keys = 0;
    if (!plain_files(input, &total)) return FINE;
    if (input->records != PERHAPS_RAW && count_paths(input, true, &about) != FINE) return TROUBLE;
    *keys = input->records == PERHAPS_RAW ? total / 8 + 1 : (uint64_t)((double)about * 1.02) + 1000;
    return FINE;
}
