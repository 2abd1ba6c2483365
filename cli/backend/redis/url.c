#include "url.h"
#include "input/encode.h"
#include "output/report.h"

#include <stdlib.h>
#include <string.h>

enum { USUAL_PORT = 6379, LAST_PORT = 65535 };

static const char form[] = "write redis://[user:password@]HOST[:PORT]/NAME";

/* Copies text up to `end`, %41 decoded to A; false if it is too long or a percent sign is wrong. */
static bool decode(const char *text, const char *end, char out[URL_TEXT]) {
    size_t n = 0;
    for (; text < end; text++) {
        int byte = (unsigned char)*text;
        if (byte == '%') {
            int high = end - text > 2 ? hex_digit(text[1]) : -1, low = high < 0 ? -1 : hex_digit(text[2]);
            byte = low < 0 ? 0 : high << 4 | low;
            text += 2;
        }
        if (!byte || n + 1 == URL_TEXT) return false;
        out[n++] = (char)byte;
    }
    out[n] = 0;
    return true;
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
    if (stop == end) return true;
    if (*stop != ':' || stop[1] < '0' || stop[1] > '9') return false;
    char *digits_end;
    unsigned long port = strtoul(stop + 1, &digits_end, 10);
    url->port = (int)port;
    return digits_end == end && port >= 1 && port <= LAST_PORT;
}

static const char *after(const char *text, const char *start) {
    size_t length = strlen(start);
    return strncmp(text, start, length) == 0 ? text + length : NULL;
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
    if (!rest) return failure("--at", "is not the URL of a set; %s", form);
    const char *slash = strchr(rest, '/'), *end = slash ? slash : rest + strlen(rest);
    if (slash && strchr(slash, '@'))
        return failure("--at", "there is an @ after the first /; special characters of user, password and name must be "
                               "written as %%XX, such as %%2F for / and %%40 for @");

    /* "user:password", ":password", or a password alone, as redis-cli has it */
    const char *at = memrchr(rest, '@', (size_t)(end - rest));
    const char *colon = at ? memchr(rest, ':', (size_t)(at - rest)) : NULL;
    if ((colon && !decode(rest, colon, url->user)) || (at && !decode(colon ? colon + 1 : rest, at, url->password)))
        return failure("--at", "user or password cannot be read; %s", form);
    if (!parse_host(url, at ? at + 1 : rest, end)) return failure("--at", "host or port cannot be read; %s", form);
    if (!slash || !decode(slash + 1, slash + strlen(slash), url->name) || !*url->name)
        return failure("--at", "the name of the set is missing; %s", form);

    const char *password = getenv("REDISCLI_AUTH");
    if (!*url->password && password) snprintf(url->password, sizeof url->password, "%s", password);
    bool colons = strchr(url->host, ':');
    snprintf(url->shown, sizeof url->shown, "%s%s%s%s:%d/%s", url->bits ? "redis+bits://" : "redis://",
             colons ? "[" : "", url->host, colons ? "]" : "", url->port, url->name);
    return FINE;
}
