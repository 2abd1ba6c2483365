/* A WebAssembly module has no files: whoever has bytes hands them over. Each call on a name fails
 * with that sentence; calls on open files are never made. */
#include "base/error.h"
#include "base/replacement.h"
#include "base/temp_file.h"

static int no_files(const char *path) {
    return fail(PERHAPS_EIO, "%s: WebAssembly has no files; read or write the bytes of an image instead", path);
}

/* ---- base/file.h ---- */

int file_open(struct file *file, const char *path, bool writable) {
    (void)writable;
    *file = (struct file){.path = path, .fd = -1};
    return no_files(path);
}

int file_map(struct file *file, bool writable) {
    (void)writable;
    return no_files(file->path);
}

void file_use_huge_pages(const struct file *file) {
    (void)file;
}

void file_keep_sparse(const struct file *file) {
    (void)file;
}

int file_reserve(const struct file *file) {
    return no_files(file->path);
}

int file_read(const struct file *file, uint8_t *bytes, uint64_t offset, uint64_t length) {
    (void)bytes, (void)offset, (void)length;
    return no_files(file->path);
}

int file_read_part(const struct file *file, uint8_t *bytes, uint64_t offset, uint64_t length) {
    return file_read(file, bytes, offset, length);
}

bool file_is_hole(const struct file *file, const uint8_t *bytes, uint64_t length) {
    (void)file, (void)bytes, (void)length;
    return false;
}

int file_sync(const struct file *file, uint64_t offset, uint64_t length) {
    (void)offset, (void)length;
    return no_files(file->path);
}

void file_close(struct file *file) {
    file->fd = -1;
}

int file_refused(const char *path, const char *what) {
    (void)what;
    return no_files(path);
}

/* ---- base/replacement.h ---- */

int file_lock(struct file_lock *lock, const char *path, enum file_sharing sharing) {
    lock->sharing = sharing;
    lock->fd = -1;
    return no_files(path);
}

void file_unlock(struct file_lock *lock) {
    lock->fd = -1;
}

int replacement_begin(struct replacement *r, struct file_lock *lock) {
    r->lock = lock;
    return no_files(lock->path);
}

int replacement_write(struct replacement *r, uint64_t offset, const void *bytes, uint64_t length) {
    (void)offset, (void)bytes, (void)length;
    return no_files(r->lock->path);
}

int replacement_set_length(struct replacement *r, uint64_t length) {
    (void)length;
    return no_files(r->lock->path);
}

int replacement_commit(struct replacement *r) {
    return no_files(r->lock->path);
}

void replacement_abandon(struct replacement *r) {
    (void)r;
}

/* ---- base/temp_file.h ---- */

int scratch_open(const char *folder, int *fd) {
    (void)folder;
    *fd = -1;
    return fail(PERHAPS_EIO, "WebAssembly has no temporary files; leave max_scratch at 0, no limit");
}

int scratch_write(int fd, const char *folder, uint64_t offset, const void *bytes, uint64_t length) {
    (void)fd, (void)offset, (void)bytes, (void)length;
    return no_files(folder);
}

int scratch_read(int fd, const char *folder, uint64_t offset, void *bytes, uint64_t length) {
    (void)fd, (void)offset, (void)bytes, (void)length;
    return no_files(folder);
}

void scratch_empty(int fd) {
    (void)fd;
}

void scratch_close(int fd) {
    (void)fd;
}
