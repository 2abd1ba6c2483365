/*
 * Saving and mapping: one program builds a filter, others open it at once.
 *
 * The bytes in memory are the bytes in the file. Opening maps the file: nothing is copied or
 * parsed, and all processes that open it share the same memory.
 */
#include <perhaps.h>
#include <stdio.h>

static int complain(const char *what) {
    fprintf(stderr, "%s: %s\n", what, perhaps_why());
    return 1;
}

static int build(const char *path) {
    perhaps_want want = PERHAPS_WANT(.items = 100000, .fpr = 0.001);
    perhaps *squares;
    if (perhaps_create(&squares, &want) < 0) return complain("create");
    for (uint64_t i = 1; i <= 100000; i++) perhaps_add_u64(squares, i * i);

    /* After a crash at any moment there is the old file or the new one, never half of one. */
    int rc = perhaps_save(squares, path);
    perhaps_free(squares);
    if (rc < 0) return complain("save");
    printf("saved 100000 squares\n");
    return 0;
}

static int query(const char *path) {
    perhaps *squares;
    if (perhaps_open(&squares, path, NULL) < 0) return complain("open");
    printf("144 is %s\n", perhaps_contains_u64(squares, 144) ? "perhaps a square" : "not a square");
    printf("145 is %s\n", perhaps_contains_u64(squares, 145) ? "perhaps a square" : "not a square");

    /* A map is read-only. To change it, open a copy (PERHAPS_OPEN_COPY) or map for writing. */
    if (perhaps_add_u64(squares, 145) == PERHAPS_EREADONLY) printf("the map is read-only\n");
    perhaps_free(squares);
    return 0;
}

static int change_in_place(const char *path) {
    perhaps *squares;
    perhaps_open_options options = PERHAPS_OPEN(.flags = PERHAPS_OPEN_WRITE);
    if (perhaps_open(&squares, path, &options) < 0) return complain("open");
    uint64_t next = UINT64_C(100001) * 100001;
    perhaps_add_u64(squares, next);
    int rc = perhaps_sync(squares); /* from here on the change survives a crash */
    printf("added %llu in place\n", (unsigned long long)next);
    perhaps_free(squares);
    return rc < 0 ? complain("sync") : 0;
}

int main(void) {
    const char *path = "squares.ph";
    int failed = build(path) || query(path) || change_in_place(path);
    remove(path);
    return failed;
}
