#include "database.h"
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>

struct database {
    sqlite3 *handle;
    sqlite3_stmt *insert, *select;
    unsigned selects;
};

static void must(const struct database *database, int is_right) {
    if (is_right) return;
    fprintf(stderr, "guard: the database says: %s\n", sqlite3_errmsg(database->handle));
    exit(1);
}

static void run(struct database *database, const char *sql) {
    must(database, sqlite3_exec(database->handle, sql, NULL, NULL, NULL) == SQLITE_OK);
}

static sqlite3_stmt *prepare(struct database *database, const char *sql) {
    sqlite3_stmt *statement;
    must(database, sqlite3_prepare_v2(database->handle, sql, -1, &statement, NULL) == SQLITE_OK);
    return statement;
}

/* A database without a name is a temporary file. */
struct database *database_open(void) {
    struct database *database = calloc(1, sizeof *database);
    if (!database) abort();
    must(database, sqlite3_open("", &database->handle) == SQLITE_OK);
    run(database, "CREATE TABLE users (id INTEGER PRIMARY KEY, name TEXT NOT NULL)");
    database->insert = prepare(database, "INSERT INTO users VALUES (?, ?)");
    database->select = prepare(database, "SELECT name FROM users WHERE id = ?");
    return database;
}

void database_close(struct database *database) {
    sqlite3_finalize(database->insert);
    sqlite3_finalize(database->select);
    sqlite3_close(database->handle);
    free(database);
}

void database_begin(struct database *database) {
    run(database, "BEGIN");
}

void database_commit(struct database *database) {
    run(database, "COMMIT");
}

void database_insert(struct database *database, const struct user *user) {
    sqlite3_bind_int64(database->insert, 1, user->id);
    sqlite3_bind_text(database->insert, 2, user->name, -1, SQLITE_STATIC);
    must(database, sqlite3_step(database->insert) == SQLITE_DONE);
    sqlite3_reset(database->insert);
}

int database_select(struct database *database, uint32_t id, struct user *user) {
    database->selects++;
    sqlite3_bind_int64(database->select, 1, id);
    int result = sqlite3_step(database->select);
    must(database, result == SQLITE_ROW || result == SQLITE_DONE);
    if (result == SQLITE_ROW) {
        user->id = id;
        snprintf(user->name, sizeof user->name, "%s", (const char *)sqlite3_column_text(database->select, 0));
    }
    sqlite3_reset(database->select);
    return result == SQLITE_ROW;
}

unsigned database_selects(const struct database *database) {
    return database->selects;
}
