/* Where a set lives: redis://[user:password@]HOST[:PORT]/NAME. */
#ifndef CLI_BACKEND_REDIS_URL_H
#define CLI_BACKEND_REDIS_URL_H

#include <stdbool.h>

enum { URL_TEXT = 512 };

/* A URL taken apart, percent signs decoded. */
struct url {
    bool bits;           /* redis+bits: plain strings, for servers without the module */
    char user[URL_TEXT]; /* "" = none */
    char password[URL_TEXT];
    char host[URL_TEXT];
    int port;
    char name[URL_TEXT];
    char shown[3 * URL_TEXT]; /* the URL without user and password, for messages */
};

/* FINE, or TROUBLE after having said what is wrong. A URL without a password takes the one in
 * REDISCLI_AUTH, if there is one: other users of the machine can see a command line, but not its
 * environment. */
int url_parse(struct url *url, const char *text);

#endif
