/* What a file is, by how it begins. */
#ifndef CLI_BACKEND_FILE_FORMAT_H
#define CLI_BACKEND_FILE_FORMAT_H

enum file_format {
    FORMAT_OTHER, /* a filter, or no file at all: opening it tells more */
    FORMAT_GZIP,
    FORMAT_ROARING /* a Roaring bitmap of 32-bit ids; those of 64-bit ids begin like nothing else */
};

/* Only plain files are looked into: what a pipe brings can be read once. */
enum file_format file_format_of(const char *path);

#endif
