#include "url.h"
#include "input/encode.h"
#include "output/report.h"

#include <stdlib.h>
#include <string.h>

enum { USUAL_PORT = 6379, LAST_PORT = 65535 };

static const char form[] = "write redis://[user:password@]HOST[:PORT]/NAME";

/* The byte that "%41" stands for; 0 if it stands for none. */
static char decode_one(const char *text, const char *end) {
    if (end - text < 3) return 0;
    int high = hex_digit(text[1]), low = hex_digit(text[2]);
    if (high < 0 || low < 0) return 0;
    return (char)(high << 4 | low);
}

/* Copies text up to `end`, percent signs decoded; false if it is too long or they are wrong. */
static bool decode(const char *text, const char *end, char out[URL_TEXT]) {
    size_t n = 0;
    while (text < end) {
        bool coded = *text == '%';
        char c = coded ? decode_one(text, end) : *text;
        if (!c || n + 1 == URL_TEXT) return false;
        out[n++] = c;
        text += coded ? 3 : 1;
    }
    out[n] = 0;
    return true;
}

/* "user:password", ":password", or a password alone, as redis-cli has it. */
static bool parse_login(struct url *url, const char *text, const char *end) {
    const char *colon = memchr(text, ':', (size_t)(end - text));
    if (colon && !decode(text, colon, url->user)) return false;
    return decode(colon ? colon + 1 : text, end, url->password);
}

static bool parse_port(struct url *url, const char *text, const char *end) {
    char *stop;
    if (text == end || *text < '0' || *text > '9') return false;
    unsigned long port = strtoul(text, &stop, 10);
    url->port = (int)port;
    return stop == end && port >= 1 && port <= LAST_PORT;
}

/* "host", "host:port", "[::1]:port" */
static bool parse_host(struct url *url, const char *text, const char *end) {
    bool bracket = *text == '[';
    const char *stop = memchr(text, bracket ? ']' : ':', (size_t)(end - text));
    if (bracket && !stop) return false;
    if (!stop) stop = end;
    if (!decode(text + bracket, stop, url->host) || !*url->host) return false;
    if (bracket) stop++;
    url->port = USUAL_PORT;
    return stop == end || (*stop == ':' && parse_port(url, stop + 1, end));
}

static const char *after(const char *text, const char *start) {
    size_t length = strlen(start);
    return strncmp(text, start, length) == 0 ? text + length : NULL;
}

static void show(struct url *url) {
    bool colons = strchr(url->host, ':');
    snprintf(url->shown, sizeof url->shown, "%s%s%s%s:%d/%s", url->bits ? "redis+bits://" : "redis://",
             colons ? "[" : "", url->host, colons ? "]" : "", url->port, url->name);
}

static void password_from_environment(struct url *url) {
    const char *password = getenv("REDISCLI_AUTH");
    if (*url->password || !password) return;
    snprintf(url->password, sizeof url->password, "%s", password);
}

/* No message repeats the text: there may be a password in it. */
int url_parse(struct url *url, const char *text) {
    *url = (struct url){0};
    const char *rest = after(text, "redis://");
    url->bits = !rest;
    if (url->bits) rest = after(text, "redis+bits://");
    if (after(text, "rediss"))
        return failure("--at", "this perhaps was built with a hiredis that cannot encrypt (TLS); use redis:// through "
                               "a tunnel, such as stunnel or ssh -L");
    if (!rest) return failure("--at", "is not a URL of a server; %s", form);
    const char *slash = strchr(rest, '/');
    const char *end = slash ? slash : rest + strlen(rest);
    if (slash && strchr(slash, '@'))
        return failure("--at", "there is an @ after the first /; special characters of user, password and name must be "
                               "written as %%XX, such as %%2F for / and %%40 for @");
    const char *at = memrchr(rest, '@', (size_t)(end - rest));
    if (at && !parse_login(url, rest, at)) return failure("--at", "user or password cannot be read; %s", form);
    if (!parse_host(url, at ? at + 1 : rest, end)) return failure("--at", "host or port cannot be read; %s", form);
    if (!slash || !decode(slash + 1, slash + strlen(slash), url->name) || !*url->name)
        return failure("--at", "the name of the set is missing; %s", form);
    password_from_environment(url);
    show(url);
    return FINE;
}
