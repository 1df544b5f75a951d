// SPDX-License-Identifier: MIT
// Reads CARDLESS_STEP.
#include "ptx_step_request.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "config.h"
#include "mutex.h"
#include "number.h"

static struct em_step_request request = {
    .kernel = "*", .launch = 1, .last_line = UINT32_MAX, .in = {.fd = -1}, .note = {.fd = -1}};
static bool requested;
static pthread_once_t request_once = PTHREAD_ONCE_INIT;

static bool parse_file(const char *text, struct dm_fd_identity *out)
{
    uint32_t n;
    return dm_parse_u32(&text, &n) && !*text && n <= INT32_MAX && !dm_fd_remember((int)n, out);
}

static bool parse_block(const char *text, uint32_t block[3])
{
    for (int i = 0; i < 3; i++) {
        if (!dm_parse_u32(&text, &block[i]) || *text != (i < 2 ? ':' : 0))
            return false;
        text++;
    }
    return true;
}

static bool parse_lines(const char *text, unsigned *first, unsigned *last)
{
    if (!dm_parse_u32(&text, first))
        return false;
    *last = *first;
    if (*text == '-') {
        text++;
        if (!dm_parse_u32(&text, last))
            return false;
    }
    return !*text && *first <= *last;
}

static bool parse_item(const char *name, const char *value)
{
    uint32_t n = 0;
    const char *number = value;
    if (!strcmp(name, "kernel"))
        return snprintf(request.kernel, sizeof request.kernel, "%s", value) <
               (int)sizeof request.kernel;
    if (!strcmp(name, "block"))
        return parse_block(value, request.block);
    if (!strcmp(name, "warp"))
        return dm_parse_u32(&number, &request.warp) && !*number;
    if (!strcmp(name, "lines"))
        return parse_lines(value, &request.first_line, &request.last_line);
    if (!strcmp(name, "launch")) {
        const bool good = dm_parse_u32(&number, &n) && !*number && n;
        request.launch = n;
        return good;
    }
    return (!strcmp(name, "in") && parse_file(value, &request.in)) ||
           (!strcmp(name, "out") && parse_file(value, &request.out)) ||
           (!strcmp(name, "note") && parse_file(value, &request.note));
}

static void read_request(void)
{
    const char *value = em_config()->step;
    char item[320] = "";
    if (!value)
        return;
    requested = true;
    if (dm_fd_remember(STDERR_FILENO, &request.out))
        request.out.fd = -1; // closed: nothing is printed
    for (const char *at = value; *at && requested;) {
        const size_t length = strcspn(at, ",");
        snprintf(item, sizeof item, "%.*s", (int)length, at);
        char *equals = strchr(item, '=');
        if (equals)
            *equals = 0;
        requested = equals && length < sizeof item && parse_item(item, equals + 1);
        at += length;
        at += *at == ',';
    }
    request.interactive = request.in.fd >= 0;
    if (!requested)
        fprintf(stderr,
                "cardless: CARDLESS_STEP=%s is ignored, because %s is unknown; use a list of "
                "kernel=NAME, launch=N, block=X:Y:Z, warp=N and lines=A-B\n",
                value, item);
}

const struct em_step_request *em_step_request(void)
{
    pthread_once(&request_once, read_request);
    return requested ? &request : NULL;
}
