/* The database: a table of users in SQLite, in a temporary file. */
#ifndef GUARD_DATABASE_H
#define GUARD_DATABASE_H

#include "user.h"

struct database;

/* An empty table. Whatever the database refuses, here and below, ends the program. */
struct database *database_open(void);
void database_close(struct database *database);

/* Many inserts between these two are one transaction. */
void database_begin(struct database *database);
void database_commit(struct database *database);

void database_insert(struct database *database, const struct user *user);

/* 1 if there is a user of this id, and then in *user, else 0. */
int database_select(struct database *database, uint32_t id, struct user *user);

/* How often database_select was called. */
unsigned database_selects(const struct database *database);

#endif
