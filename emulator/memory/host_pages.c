// SPDX-License-Identifier: MIT
// Reads /proc/self/maps without allocating.
#include "host_pages.h"

#include <fcntl.h>
#include <unistd.h>

struct reader {
    int fd;
    char buffer[4096];
    int at, end;
};

// The next character, or -1 at the end.
static int next(struct reader *r)
{
    if (r->at == r->end) {
        ssize_t n = read(r->fd, r->buffer, sizeof r->buffer);
        if (n <= 0)
            return -1;
        r->at = 0;
        r->end = (int)n;
    }
    return (unsigned char)r->buffer[r->at++];
}

// A hexadecimal number and the character behind it. False at the end of the file.
static bool number(struct reader *r, uint64_t *out, int *behind)
{
    int c;
    *out = 0;
    while ((c = next(r)) >= 0) {
        if (c >= '0' && c <= '9')
            *out = *out << 4 | (uint64_t)(c - '0');
        else if (c >= 'a' && c <= 'f')
            *out = *out << 4 | (uint64_t)(c - 'a' + 10);
        else
            break;
    }
    *behind = c;
    return c >= 0;
}

bool em_host_pages(uint64_t address, uint64_t size, struct em_host_pages *out)
{
    struct reader r = {.fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC)};
    uint64_t from, to, end = address + size, reached = address;
    int c;
    if (r.fd < 0)
        return false;
    out->all_writable = true;
    // A line: "7f…000-7f…000 rw-p offset …"; in ascending order.
    while (reached < end && number(&r, &from, &c) && number(&r, &to, &c)) {
        int readable = next(&r), writable = next(&r);
        while ((c = next(&r)) >= 0 && c != '\n')
            ;
        if (to <= reached)
            continue;
        if (from > reached || readable != 'r')
            break;
        out->all_writable &= writable == 'w';
        reached = to;
    }
    close(r.fd);
    out->mapped = (reached < end ? reached : end) - address;
    return true;
}
