#include "journal.h"
#include "input/input.h"
#include "output/report.h"
#include "input/waiting.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* Everything in a journal is a little-endian word of 64 bits. */
enum { IDENTITY = 4, MOST = 1 << 16, VERSION = 1 };

static const uint64_t magic = 0x6C616E72756F6A8F; /* 8F and "journal" */

struct head {
    uint64_t magic, version;
    uint64_t identity[IDENTITY]; /* the first bytes of the file, with the checksum of all others */
    uint64_t checksum;           /* of the words before */
    uint64_t owner;              /* the process that has it, if it is locked */
};

struct journal_block {
    uint64_t count, time;
    uint64_t checksum; /* of all other words, and of all blocks before */
    uint64_t digests[MOST];
};

enum { HEAD = sizeof(struct head), BLOCK_HEAD = offsetof(struct journal_block, digests) };

struct journal {
    char *path;
    const char *file;
    int fd;
    struct head head;           /* that was found, or written since */
    uint64_t length;            /* of head and whole blocks; 0 = there is no head */
    uint64_t chain;             /* the last checksum */
    bool failed;                /* writing did */
    struct journal_block block; /* the next one, which has `count` digests so far */
};

/* ---- words ---- */

/* On a big-endian machine the words are turned around in place, both ways. */
static void to_or_from_file(void *words, size_t bytes) {
    uint64_t *at = words;
    for (size_t i = 0; htole64(1) != 1 && i < bytes / sizeof *at; i++) at[i] = htole64(at[i]);
}

/* Each step is a bijection of the sum and of the word, so that a change of one word is always
 * found; what a torn write leaves, old words or zeros, is missed once in 2^64. It is no protection
 * against forgery. */
static uint64_t add_to_checksum(uint64_t sum, const uint64_t *words, size_t n) {
    for (size_t i = 0; i < n; i++) {
        sum = (sum ^ words[i]) * 0x9E3779B97F4A7C15;
        sum ^= sum >> 32;
    }
    return sum;
}

static uint64_t head_checksum(const struct head *head) {
    return add_to_checksum(1, (const uint64_t *)head, offsetof(struct head, checksum) / sizeof(uint64_t));
}

/* Goes on from the block before, so that blocks from before a restart do not fit after it. */
static uint64_t block_checksum(const struct journal *j, const struct journal_block *block) {
    uint64_t sum = add_to_checksum(j->chain, (const uint64_t[]){block->count, block->time}, 2);
    return add_to_checksum(sum, block->digests, (size_t)block->count);
}

/* ---- files ---- */

/* A link to a file means that file, as for perhaps_save. */
static char *path_beside(const char *file) {
    static const char ending[] = ".journal";
    struct stat status;
    char *target = lstat(file, &status) == 0 && S_ISLNK(status.st_mode) ? realpath(file, NULL) : NULL;
    const char *base = target ? target : file;
    char *path = malloc(strlen(base) + sizeof ending);
    if (path) strcat(strcpy(path, base), ending);
    free(target);
    return path;
}

int64_t journal_beside(const char *file) {
    struct stat status;
    char *path = path_beside(file);
    bool there = path && stat(path, &status) == 0 && S_ISREG(status.st_mode);
    free(path);
    return !there ? -1 : status.st_size > HEAD ? (int64_t)status.st_size - HEAD : 0;
}

bool is_journal(const char *file, const struct stat *status) {
    char *path = path_beside(file);
    bool yes = is_same_file(path, status);
    free(path);
    return yes;
}

static int cannot_be_read(const struct journal *j) {
    return failure(j->path, "cannot be read: %s; check its permissions and the disk", strerror(errno));
}

static int cannot_be_written(struct journal *j) {
    j->failed = true;
    return failure(j->path, "cannot be written: %s; check its permissions and the room on the disk", strerror(errno));
}

/* All of it or, as far as that is possible, nothing. */
static int write_at(struct journal *j, const void *bytes, size_t length, uint64_t offset) {
    if (lseek(j->fd, (off_t)offset, SEEK_SET) >= 0 && write_all(j->fd, bytes, length) == 0) return FINE;
    int status = cannot_be_written(j);
    bool cut = ftruncate(j->fd, (off_t)j->length) == 0;
    (void)cut; /* what is torn is found when it is read */
    return status;
}

/* So that the journal's name lasts, too, where folders can be synced. */
static void sync_folder(const struct journal *j) {
    char *copy = strdup(j->path);
    int fd = copy ? open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    if (fd >= 0) {
        fsync(fd);
        close(fd);
    }
    free(copy);
}

/* ---- opening ---- */

static int is_busy(const struct journal *j) {
    struct head head = {0};
    char owner[40] = "";
    if (read_at(j->fd, &head, sizeof head, 0) != HEAD) head.owner = 0;
    to_or_from_file(&head, sizeof head);
    if (head.owner) snprintf(owner, sizeof owner, ", process %llu", (unsigned long long)head.owner);
    return failure(j->file, "is in use by another dedup%s; wait until it has ended, or give another --state", owner);
}

/* Whoever may read the file, and nobody else, may read its journal. A journal that the last process
 * removed while this one waited is none any more: then once again. */
static int lock(struct journal *j, struct waiting *waiting) {
    struct stat file, mine;
    for (;;) {
        bool there = stat(j->file, &file) == 0;
        mode_t mode = there ? (file.st_mode & 0666) | 0600 : 0666;
        j->fd = open(j->path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, mode);
        if (j->fd < 0)
            return failure(j->path, "cannot be created: %s; a state needs a writable folder", strerror(errno));
        bool locked = flock(j->fd, LOCK_EX | LOCK_NB) == 0;
        if (!locked && errno != EWOULDBLOCK)
            return failure(j->path, "cannot be locked: %s; give a --state on another disk", strerror(errno));
        if (!locked && !keep_waiting(waiting)) return input_was_interrupted() ? TROUBLE : is_busy(j);
        if (locked && fstat(j->fd, &mine) == 0 && is_same_file(j->path, &mine)) {
            j->length = (uint64_t)mine.st_size;
            /* The file's owner must be able to go on after root was killed. */
            bool kept = there && fchown(j->fd, file.st_uid, file.st_gid) == 0;
            (void)kept; /* others than root make the journal theirs, as they make the file */
            return FINE;
        }
        close(j->fd);
    }
}

/* A journal begins with its head, as much of it as was written, or the zeros that a crash of the
 * machine leaves. Nothing else may be overwritten. */
static int read_head(struct journal *j) {
    static const struct head nothing;
    uint64_t expected[2] = {magic, VERSION};
    ssize_t got = read_at(j->fd, &j->head, sizeof j->head, 0);
    if (got < 0) return cannot_be_read(j);
    to_or_from_file(expected, sizeof expected);
    if (memcmp(&j->head, &nothing, sizeof nothing) == 0) return FINE;
    if (memcmp(&j->head, expected, (size_t)got < sizeof *expected ? (size_t)got : sizeof *expected) != 0)
        return failure(j->path, "is not a journal of perhaps; move it away, or give another --state");
    if ((size_t)got >= sizeof expected && memcmp(&j->head, expected, sizeof expected) != 0)
        return failure(j->path, "is of a newer format; update perhaps");
    to_or_from_file(&j->head, sizeof j->head);
    return FINE;
}

int journal_open(struct journal **journal, const char *file, struct waiting *waiting) {
    struct journal *j = calloc(1, sizeof *j);
    *journal = NULL;
    if (j) j->path = path_beside(file);
    if (!j || !j->path) {
        free(j);
        return failure(file, "not enough memory for its journal");
    }
    j->file = file;
    int status = lock(j, waiting);
    if (status == FINE) status = read_head(j);
    if (status != FINE) {
        journal_close(j, false);
        return status;
    }
    if (!j->length) sync_folder(j);
    *journal = j;
    return FINE;
}

void journal_close(struct journal *j, bool done) {
    if (!j) return;
    if (done) unlink(j->path);
    if (j->fd >= 0) close(j->fd);
    free(j->path);
    free(j);
}

/* ---- reading ---- */

static int read_identity(const char *file, uint64_t identity[IDENTITY]) {
    enum { BYTES = IDENTITY * sizeof(uint64_t) };
    int fd = open(file, O_RDONLY | O_CLOEXEC);
    bool fine = fd >= 0 && read_at(fd, identity, BYTES, 0) == BYTES;
    if (!fine) failure(file, "cannot be read: %s; check its permissions", strerror(errno));
    if (fd >= 0) close(fd);
    to_or_from_file(identity, BYTES);
    return fine ? FINE : TROUBLE;
}

static int write_head(struct journal *j) {
    struct head head = j->head;
    j->chain = head.checksum;
    head.owner = (uint64_t)getpid();
    to_or_from_file(&head, sizeof head);
    return write_at(j, &head, sizeof head, 0);
}

int journal_restart(struct journal *j) {
    j->head = (struct head){.magic = magic, .version = VERSION};
    j->block.count = 0;
    if (read_identity(j->file, j->head.identity) != FINE) return TROUBLE;
    if (ftruncate(j->fd, 0) != 0) return cannot_be_written(j);
    j->length = 0;
    j->head.checksum = head_checksum(&j->head);
    if (write_head(j) != FINE) return TROUBLE;
    j->length = HEAD;
    return FINE;
}

/* 1 = there is another block; 0 = that was all, except what is torn or damaged; -1 = errno. */
static int read_block(struct journal *j, uint64_t lines) {
    struct journal_block *b = &j->block;
    ssize_t got = read_at(j->fd, b, BLOCK_HEAD, j->length);
    if (got < BLOCK_HEAD) return got < 0 ? -1 : 0;
    to_or_from_file(b, BLOCK_HEAD);
    if (b->count <= MOST) {
        size_t bytes = (size_t)b->count * sizeof *b->digests;
        got = read_at(j->fd, b->digests, bytes, j->length + BLOCK_HEAD);
        if (got < (ssize_t)bytes) return got < 0 ? -1 : 0;
        to_or_from_file(b->digests, bytes);
        if (b->checksum == block_checksum(j, b)) return 1;
    }
    warning(j->path, "is damaged after %llu lines; the rest of it is lost, and its lines will be new again",
            (unsigned long long)lines);
    return 0;
}

int journal_replay(struct journal *j, journal_function *take, void *context) {
    struct journal_block *b = &j->block;
    uint64_t identity[IDENTITY], lines = 0;
    if (read_identity(j->file, identity) != FINE) return TROUBLE;
    if (j->head.checksum != head_checksum(&j->head) || memcmp(j->head.identity, identity, sizeof identity) != 0) {
        if (j->length > HEAD) remark(j->path, "does not belong to %s as it is now, and is discarded", j->file);
        return journal_restart(j);
    }
    int status = write_head(j), more = 1;
    if (status != FINE) return status;
    j->length = HEAD;
    while (status == FINE && (more = read_block(j, lines)) == 1) {
        status = take(context, b->time, b->digests, (size_t)b->count);
        j->chain = b->checksum;
        j->length += BLOCK_HEAD + b->count * sizeof *b->digests;
        lines += b->count;
    }
    b->count = 0;
    if (more < 0) return cannot_be_read(j);
    if (status == FINE && ftruncate(j->fd, (off_t)j->length) != 0) return cannot_be_written(j);
    return status;
}

/* ---- writing ---- */

int journal_write(struct journal *j) {
    struct journal_block *b = &j->block;
    size_t bytes = BLOCK_HEAD + (size_t)b->count * sizeof *b->digests;
    if (j->failed) return TROUBLE;
    if (!b->count) return FINE;
    uint64_t checksum = b->checksum = block_checksum(j, b);
    to_or_from_file(b, bytes);
    int status = write_at(j, b, bytes, j->length);
    b->count = 0;
    if (status != FINE) return status;
    j->chain = checksum;
    j->length += bytes;
    return FINE;
}

int journal_save(struct journal *j) {
    if (journal_write(j) != FINE) return TROUBLE;
    return fdatasync(j->fd) == 0 ? FINE : cannot_be_written(j);
}

int journal_note(struct journal *j, uint64_t time, const uint64_t *digests, const uint8_t *answers, size_t n) {
    struct journal_block *b = &j->block;
    if (b->count && b->time != time && journal_write(j) != FINE) return TROUBLE;
    b->time = time;
    for (size_t i = 0; i < n;) {
        if (b->count == MOST && journal_write(j) != FINE) return TROUBLE;
        size_t count = (size_t)b->count, room = MOST - count, end = n - i < room ? n : i + room;
        for (; i < end; i++) { /* without a branch that depends on an answer */
            b->digests[count] = digests[i];
            count += answers ? answers[i] : 1;
        }
        b->count = count;
    }
    return FINE;
}

uint64_t journal_bytes(const struct journal *j) {
    uint64_t written = j->length > HEAD ? j->length - HEAD : 0;
    return written + (j->block.count ? BLOCK_HEAD + j->block.count * sizeof *j->block.digests : 0);
}
