// SPDX-License-Identifier: MIT
// Reads CARDLESS_STEP.
#include "ptx_step_wish.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "config.h"

static struct em_step_wish wish = {
    .kernel = "*", .launch = 1, .last_line = UINT32_MAX, .in = {.fd = -1}, .note = {.fd = -1}};
static bool wished;
static pthread_once_t wish_once = PTHREAD_ONCE_INIT;

static bool parse_u32(const char **at, uint32_t *out)
{
    char *end;
    errno = 0;
    const unsigned long n = strtoul(*at, &end, 10);
    if (errno || **at < '0' || **at > '9' || n > UINT32_MAX)
        return false;
    *out = (uint32_t)n;
    *at = end;
    return true;
}

static bool parse_file(const char *text, struct dm_fd_identity *out)
{
    uint32_t n;
    return parse_u32(&text, &n) && !*text && n <= INT32_MAX && !dm_fd_remember((int)n, out);
}

static bool parse_block(const char *text, uint32_t block[3])
{
    for (int i = 0; i < 3; i++) {
        if (!parse_u32(&text, &block[i]) || *text != (i < 2 ? ':' : 0))
            return false;
        text++;
    }
    return true;
}

static bool parse_lines(const char *text, unsigned *first, unsigned *last)
{
    if (!parse_u32(&text, first))
        return false;
    *last = *first;
    if (*text == '-') {
        text++;
        if (!parse_u32(&text, last))
            return false;
    }
    return !*text && *first <= *last;
}

static bool parse_item(const char *name, const char *value)
{
    uint32_t n = 0;
    const char *number = value;
    if (!strcmp(name, "kernel"))
        return snprintf(wish.kernel, sizeof wish.kernel, "%s", value) < (int)sizeof wish.kernel;
    if (!strcmp(name, "block"))
        return parse_block(value, wish.block);
    if (!strcmp(name, "warp"))
        return parse_u32(&number, &wish.warp) && !*number;
    if (!strcmp(name, "lines"))
        return parse_lines(value, &wish.first_line, &wish.last_line);
    if (!strcmp(name, "launch")) {
        const bool good = parse_u32(&number, &n) && !*number && n;
        wish.launch = n;
        return good;
    }
    return (!strcmp(name, "in") && parse_file(value, &wish.in)) ||
           (!strcmp(name, "out") && parse_file(value, &wish.out)) ||
           (!strcmp(name, "note") && parse_file(value, &wish.note));
}

static void read_wish(void)
{
    const char *value = em_config()->step;
    char item[320] = "";
    if (!value)
        return;
    wished = true;
    if (dm_fd_remember(STDERR_FILENO, &wish.out))
        wish.out.fd = -1; // closed: nothing is printed
    for (const char *at = value; *at && wished;) {
        const size_t length = strcspn(at, ",");
        snprintf(item, sizeof item, "%.*s", (int)length, at);
        char *equals = strchr(item, '=');
        if (equals)
            *equals = 0;
        wished = equals && length < sizeof item && parse_item(item, equals + 1);
        at += length;
        at += *at == ',';
    }
    wish.interactive = wish.in.fd >= 0;
    if (!wished)
        fprintf(stderr,
                "cardless: CARDLESS_STEP=%s is ignored, because %s is unknown; use a list of "
                "kernel=NAME, launch=N, block=X:Y:Z, warp=N and lines=A-B\n",
                value, item);
}

const struct em_step_wish *em_step_wish(void)
{
    pthread_once(&wish_once, read_wish);
    return wished ? &wish : NULL;
}
