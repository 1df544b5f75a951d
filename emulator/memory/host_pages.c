// SPDX-License-Identifier: MIT
// Asks the kernel for the mappings of a range, without allocating. Linux 6.11 looks a mapping up by
// its address; older kernels only print all of them.
#include "host_pages.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

// The part of a range that mappings cover so far. The mappings come in ascending order.
struct cover {
    uint64_t reached, end;
    bool all_writable, all_anonymous;
};

// Takes in the next mapping. Returns false at a gap, at memory that cannot be read, and when the
// range is covered.
static bool cover_mapping(struct cover *c, uint64_t from, uint64_t to, bool readable, bool writable)
{
    if (to <= c->reached)
        return true;
    if (from > c->reached || !readable)
        return false;
    c->all_writable &= writable;
    c->reached = to < c->end ? to : c->end;
    return c->reached < c->end;
}

// ---- Linux 6.11: PROCMAP_QUERY, from linux/fs.h, which may be older than the kernel

struct mapping_query {
    uint64_t size, flags, address;
    uint64_t start, end, rights, page_size, offset, inode;
    uint32_t device_major, device_minor, name_size, build_id_size;
    uint64_t name, build_id;
};
enum { MAPPING_READABLE = 1, MAPPING_WRITABLE = 2, COVERING_OR_NEXT = 0x10 };
#define QUERY_MAPPING _IOWR('f', 17, struct mapping_query)

static bool query(int fd, struct cover *c)
{
    struct mapping_query q;
    do {
        q = (struct mapping_query){
            .size = sizeof q, .flags = COVERING_OR_NEXT, .address = c->reached};
        if (ioctl(fd, QUERY_MAPPING, &q)) // ENOENT: nothing is mapped there or above
            return errno == ENOENT;
        c->all_anonymous &= !q.inode;
    } while (
        cover_mapping(c, q.start, q.end, q.rights & MAPPING_READABLE, q.rights & MAPPING_WRITABLE));
    return true;
}

// ---- the text

struct reader {
    int fd;
    char buffer[4096]; // the kernel prints no more at a time
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

// Reads a hexadecimal number and the character after it. Returns false at the end of the file.
static bool number(struct reader *r, uint64_t *out)
{
    int c;
    *out = 0;
    while ((c = next(r)) >= 0) {
        if (c >= '0' && c <= '9')
            *out = *out << 4 | (uint64_t)(c - '0');
        else if (c >= 'a' && c <= 'f')
            *out = *out << 4 | (uint64_t)(c - 'a' + 10);
        else
            return true;
    }
    return false;
}

// A line: "7f…000-7f…000 rw-p offset …".
static void read_text(int fd, struct cover *c)
{
    struct reader r = {.fd = fd};
    uint64_t from, to;
    int readable, writable, end;
    do {
        if (!number(&r, &from) || !number(&r, &to))
            return;
        readable = next(&r);
        writable = next(&r);
        do
            end = next(&r);
        while (end >= 0 && end != '\n');
    } while (cover_mapping(c, from, to, readable == 'r', writable == 'w'));
}

static bool look(uint64_t address, uint64_t size, bool text, struct em_host_pages *out)
{
    struct cover c = {.reached = address, .end = address + size, .all_writable = true};
    int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    if (text || !query(fd, &c))
        read_text(fd, &c);
    close(fd);
    *out = (struct em_host_pages){.mapped = c.reached - address, .all_writable = c.all_writable};
    return true;
}

bool em_host_pages_are_anonymous(uint64_t address, uint64_t size)
{
    struct cover c = {.reached = address, .end = address + size, .all_anonymous = true};
    int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
    bool known = fd >= 0 && query(fd, &c);
    if (fd >= 0)
        close(fd);
    return known && c.reached == c.end && c.all_anonymous;
}

bool em_host_pages(uint64_t address, uint64_t size, struct em_host_pages *out)
{
    return look(address, size, false, out);
}

bool em_host_pages_from_text(uint64_t address, uint64_t size, struct em_host_pages *out)
{
    return look(address, size, true, out);
}
