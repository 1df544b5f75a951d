// SPDX-License-Identifier: MIT
// Writes diagnostics to the file of CARDLESS_FINDINGS, one JSON line each. A line names the file
// that holds the call site, and the place in that file, so that a reader can find the source line
// after the process has ended. Takes no lock of the dynamic loader, which dladdr would.
#include "findings.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "config.h"
#include "json_text.h"
#include "sink.h"
#include "startup.h"

enum { COUNTERS = 1024, SITES = 256, PATH_MOST_B = 1024, ALL_UP_TO = 10000 };

// A call site in a file. Kept for the life of the process: if a library is unloaded and another one
// takes its place, a site at the same address keeps the first name.
struct site {
    const void *address;
    uint64_t offset; // in the file
    char *path;      // NULL: no file is mapped there
};

static struct em_sink_file file;
static struct {
    const void *origin, *site;
    unsigned long count;
} counters[COUNTERS];
static struct site sites[SITES];

bool em_findings_wanted(void)
{
    return em_config()->findings_path != NULL;
}

// Counts the finding, and returns its number from 1; or 1 if there are too many to count.
static unsigned long count(const void *origin, const void *site)
{
    size_t at = (((uintptr_t)origin >> 3) ^ ((uintptr_t)site * 31)) % COUNTERS;
    for (unsigned i = 0; i < COUNTERS; i++, at = (at + 1) % COUNTERS) {
        if (!counters[at].count) {
            counters[at].origin = origin;
            counters[at].site = site;
        }
        if (counters[at].origin == origin && counters[at].site == site)
            return ++counters[at].count;
    }
    return 1;
}

// Reads one line of /proc/self/maps. Returns true if the site is in it.
static bool is_in_mapping(struct site *site, const char *line)
{
    unsigned long start, end, offset;
    int path = 0;
    if (sscanf(line, "%lx-%lx %*s %lx %*s %*s %n", &start, &end, &offset, &path) != 3)
        return false;
    const uintptr_t call = (uintptr_t)site->address - 1; // the last byte of the call instruction
    if (call < start || call >= end)
        return false;
    site->offset = call - start + offset;
    if (line[path] == '/')
        site->path = strndup(line + path, PATH_MOST_B);
    return true;
}

// Finds the mapping of an address. A buffer of its own, because stdio would allocate it, and only
// whole lines are looked at.
static void find_mapping(struct site *site)
{
    char text[2 * PATH_MOST_B + 256];
    size_t used = 0;
    ssize_t n = 1;
    const int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return;
    bool found = false;
    while (!found && n > 0) {
        n = read(fd, text + used, sizeof text - 1 - used);
        used += n > 0 ? (size_t)n : 0;
        text[used] = 0;
        char *line = text;
        for (char *end = strchr(line, '\n'); end && !found; end = strchr(line, '\n')) {
            *end = 0;
            found = is_in_mapping(site, line);
            line = end + 1;
        }
        used -= (size_t)(line - text);
        memmove(text, line, used);
        if (used == sizeof text - 1)
            used = 0; // a line that is longer than any path
    }
    close(fd);
}

static const struct site *find_site(const void *address)
{
    struct site *site = &sites[((uintptr_t)address >> 2) % SITES];
    if (site->address != address) {
        free(site->path);
        *site = (struct site){.address = address};
        find_mapping(site);
    }
    return site;
}

static bool write_line(char *line, size_t used)
{
    line[used++] = '}';
    line[used++] = '\n';
    return em_sink_write(&file, "CARDLESS_FINDINGS", em_config()->findings_path, line, used);
}

DM_STARTUP void em_findings_start(void)
{
    char line[256] = "{";
    size_t used = 1;
    if (!em_findings_wanted())
        return;
    em_json_number(line, sizeof line - 2, &used, "start", (unsigned long long)getpid());
    write_line(line, used);
}

void em_finding_head(const struct em_finding *f, char *out, size_t size, size_t *used)
{
    em_json_member(out, size, used, "id", f->id);
    em_json_member(out, size, used, "severity", f->severity);
    em_json_member(out, size, used, "entry", f->entry);
    em_json_member(out, size, used, "call", f->call);
    em_json_member(out, size, used, "result", f->result);
}

bool em_finding_write(const struct em_finding *f)
{
    char line[8192] = "{";
    size_t used = 1, size = sizeof line - 2;
    const unsigned long number = count(f->origin, f->site);
    if (number > ALL_UP_TO && (number & (number - 1)))
        return true;
    em_json_number(line, size, &used, "finding", number);
    em_json_number(line, size, &used, "pid", (unsigned long long)getpid());
    em_json_number(line, size, &used, "before", f->before);
    em_finding_head(f, line, size, &used);
    em_json_member(line, size, &used, "title", f->title);
    em_json_member(line, size, &used, "advice", f->advice);
    if (em_config()->test)
        em_json_member(line, 4096, &used, "test", em_config()->test);
    const struct site *site = f->site ? find_site(f->site) : NULL;
    if (site && site->path) {
        em_json_number(line, size, &used, "offset", site->offset);
        em_json_member(line, size - 2200, &used, "object", site->path);
    }
    em_json_member(line, size, &used, "text", f->text);
    return write_line(line, used);
}
