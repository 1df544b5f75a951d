// SPDX-License-Identifier: MIT
// Reads findings, and keeps one of each kind.
#include "findings.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <uthash.h>

#include "line_json.h"

// The findings by their keys, the call sites by their places, and the tests by their processes.
struct entry {
    char *key;
    struct finding *finding; // of the first table
    struct call_site site;   // of the second
    char *test;              // of the third
    UT_hash_handle hh;
};

struct table {
    struct entry *findings, *sites, *tests;
};

static struct entry *entry_find(struct entry *table, const char *key)
{
    struct entry *e;
    HASH_FIND_STR(table, key, e);
    return e;
}

static struct entry *entry_add(struct entry **table, const char *key)
{
    struct entry *e = calloc(1, sizeof *e);
    char *copy = strdup(key);
    if (!e || !copy) {
        free(e);
        free(copy);
        return NULL;
    }
    e->key = copy;
    HASH_ADD_KEYPTR(hh, *table, e->key, strlen(e->key), e);
    return e;
}

// The folder above the working folder that has .git, or the working folder.
static void find_root(char *out, size_t size)
{
    char folder[PATH_MAX], mark[PATH_MAX + 8];
    if (!getcwd(folder, sizeof folder))
        snprintf(folder, sizeof folder, "/");
    snprintf(out, size, "%s", folder);
    while (folder[1]) {
        snprintf(mark, sizeof mark, "%s/.git", folder);
        if (!access(mark, F_OK)) {
            snprintf(out, size, "%s", folder);
            return;
        }
        char *slash = strrchr(folder, '/');
        slash[slash == folder] = 0;
    }
}

void findings_init(struct findings *f, int fd)
{
    memset(f, 0, sizeof *f);
    f->fd = fd;
    find_root(f->root, sizeof f->root);
    f->table = calloc(1, sizeof *f->table);
}

// Removes "." and "name/.." from a path in place.
static void simplify(char *path)
{
    char *out = path;
    for (char *at = path; *at;) {
        const size_t slashes = strspn(at, "/"), length = strcspn(at + slashes, "/");
        const char *name = at + slashes;
        const bool is_dot = length == 1 && name[0] == '.',
                   is_up = length == 2 && name[0] == '.' && name[1] == '.';
        if (is_up && *path == '/') {
            while (out > path && *--out != '/')
                ;
        } else if (!is_dot || at == path) {
            if (slashes)
                *out++ = '/';
            memmove(out, name, length);
            out += length;
        }
        at += slashes + length;
    }
    *out = 0;
}

// The file of a site as reports should name it.
static char *report_file(const struct findings *f, const struct call_site *site)
{
    char full[PATH_MAX], resolved[PATH_MAX];
    const size_t length = strlen(f->root);
    if (!site->file)
        return NULL;
    snprintf(full, sizeof full, "%s", site->file);
    if (realpath(full, resolved)) // also a name that is relative to the working folder
        snprintf(full, sizeof full, "%s", resolved);
    else
        simplify(full);
    if (length > 1 && !strncmp(full, f->root, length) && full[length] == '/')
        return strdup(full + length + 1);
    return strdup(full);
}

static const struct call_site *find_site(struct findings *f, const char *object, uint64_t offset)
{
    char key[PATH_MAX + 32];
    snprintf(key, sizeof key, "%llx %s", (unsigned long long)offset, object);
    struct entry *e = entry_find(f->table->sites, key);
    if (!e) {
        e = entry_add(&f->table->sites, key);
        if (e && *object)
            call_site_find(object, offset, &e->site);
    }
    return e ? &e->site : NULL;
}

static enum level level_of(const char *id, const char *severity)
{
    if (!strcmp(id, "GENERAL"))
        return LEVEL_NOTE;
    return strcmp(severity, "portability") ? LEVEL_ERROR : LEVEL_WARNING;
}

static bool finding_fill(struct findings *f, struct finding *x, const struct json_member *m, int n)
{
    char **const texts[] = {&x->id,    &x->severity, &x->entry, &x->call,   &x->result,
                            &x->title, &x->advice,   &x->text,  &x->object, &x->test};
    static const char *const keys[] = {"id",    "severity", "entry", "call",   "result",
                                       "title", "advice",   "text",  "object", "test"};
    bool complete = true;
    for (unsigned i = 0; i < sizeof keys / sizeof *keys; i++) {
        if (!*texts[i])
            *texts[i] = strdup(json_value(m, n, keys[i]));
        complete &= *texts[i] != NULL;
    }
    if (!complete)
        return false;
    x->offset = strtoull(json_value(m, n, "offset"), NULL, 10);
    x->pid = strtol(json_value(m, n, "pid"), NULL, 10);
    x->level = level_of(x->id, x->severity);
    const struct call_site *site = find_site(f, x->object, x->offset);
    if (site)
        x->site = *site; // the table's: not for finding_free
    x->file = report_file(f, &x->site);
    return true;
}

static void finding_free(struct finding *x)
{
    char *const texts[] = {x->id,     x->severity, x->entry,  x->call, x->result, x->title,
                           x->advice, x->text,     x->object, x->test, x->file};
    for (unsigned i = 0; i < sizeof texts / sizeof *texts; i++)
        free(texts[i]);
    free(x);
}

static bool list_append(struct findings *f, struct finding *x)
{
    if (!(f->count & (f->count - 1))) { // it grows when the count is a power of two
        const size_t capacity = f->count ? 2 * f->count : 1;
        struct finding **more = realloc(f->list, capacity * sizeof *more);
        if (!more)
            return false;
        f->list = more;
    }
    f->list[f->count++] = x;
    return true;
}

// The test that a process is in, as the plugin for pytest has written; or as the environment of the
// process said when its driver started.
static const char *test_of(const struct findings *f, const struct json_member *m, int n)
{
    const struct entry *e = entry_find(f->table->tests, json_value(m, n, "pid"));
    return e ? e->test : json_value(m, n, "test");
}

static bool set_test(struct findings *f, const struct json_member *m, int n)
{
    const char *process = json_value(m, n, "pid");
    struct entry *e = entry_find(f->table->tests, process);
    if (!e)
        e = entry_add(&f->table->tests, process);
    if (!e)
        return false;
    free(e->test);
    e->test = strdup(json_value(m, n, "now in test"));
    return e->test != NULL;
}

static struct finding *finding_get(struct findings *f, const struct json_member *m, int n)
{
    char key[8192];
    const char *test = test_of(f, m, n);
    snprintf(key, sizeof key, "%s|%s|%s|%s|%s|%s", json_value(m, n, "id"),
             json_value(m, n, "entry"), json_value(m, n, "result"), json_value(m, n, "offset"),
             json_value(m, n, "object"), test);
    struct entry *e = entry_find(f->table->findings, key);
    if (e)
        return e->finding;
    struct finding *x = calloc(1, sizeof *x);
    if (!x)
        return NULL;
    x->test = strdup(test);
    e = x->test && finding_fill(f, x, m, n) ? entry_add(&f->table->findings, key) : NULL;
    if (!e || !list_append(f, x)) {
        finding_free(x);
        return NULL;
    }
    e->finding = x;
    x->key = e->key;
    return x;
}

// Of a message that came too often, only some lines were written; each has its number.
static void count_line(struct finding *x, const char *number)
{
    const unsigned long n = strtoul(number, NULL, 10);
    x->count++;
    if (x->count < n && n > 10000)
        x->count = n;
}

static bool read_line(struct findings *f, char *line, findings_listener *listener, void *argument)
{
    struct json_member m[JSON_MEMBERS_MOST];
    const int n = json_split(line, m);
    if (n <= 0)
        return true; // another program has written it
    if (!strcmp(m[0].key, "start"))
        f->started++;
    if (!strcmp(m[0].key, "now in test"))
        return set_test(f, m, n);
    if (strcmp(m[0].key, "finding"))
        return true;
    struct finding *x = finding_get(f, m, n);
    if (!x)
        return false;
    count_line(x, m[0].value);
    const struct occurrence occurrence = {
        .call = json_value(m, n, "call"),
        .text = json_value(m, n, "text"),
        .before = strtoul(json_value(m, n, "before"), NULL, 10),
    };
    if (listener)
        listener(argument, x, &occurrence);
    return true;
}

// Handles the complete lines of `rest`.
static bool read_lines(struct findings *f, findings_listener *listener, void *argument)
{
    char *line = f->rest;
    size_t left = f->rest_size;
    bool fine = true;
    for (char *end = memchr(line, '\n', left); end && fine; end = memchr(line, '\n', left)) {
        *end = 0;
        left -= (size_t)(end + 1 - line);
        fine = read_line(f, line, listener, argument);
        line = end + 1;
    }
    memmove(f->rest, line, left);
    f->rest_size = left;
    return fine;
}

bool findings_read(struct findings *f, findings_listener *listener, void *argument)
{
    enum { BLOCK = 1 << 16, LINE_MOST = 1 << 20 };
    bool fine = f->table != NULL;
    ssize_t n = 1;
    while (fine && n > 0) {
        if (f->rest_size > LINE_MOST)
            f->rest_size = 0; // no line of ours is so long
        char *rest = realloc(f->rest, f->rest_size + BLOCK);
        if (!rest) {
            fine = false;
            break;
        }
        f->rest = rest;
        n = pread(f->fd, f->rest + f->rest_size, BLOCK, f->at);
        if (n < 0 && errno == EINTR) {
            n = 1;
            continue;
        }
        f->at += n > 0 ? n : 0;
        f->rest_size += n > 0 ? (size_t)n : 0;
        fine = n >= 0 && read_lines(f, listener, argument);
    }
    if (!fine)
        fprintf(stderr, "cardless: cannot read the diagnostics of the run: %s\n", strerror(errno));
    return fine;
}

static uint64_t hash(uint64_t h, const char *text)
{
    for (; *text; text++)
        h = (h ^ (unsigned char)*text) * UINT64_C(0x100000001b3); // FNV-1a
    return (h ^ 0xff) * UINT64_C(0x100000001b3);
}

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

void findings_fingerprint(struct findings *f)
{
    struct entry *seen = NULL, *e, *next;
    for (size_t i = 0; i < f->count; i++) {
        struct finding *x = f->list[i];
        uint64_t h = hash(UINT64_C(0xcbf29ce484222325), x->id);
        h = hash(h, x->entry);
        h = hash(h, x->result);
        h = hash(h, x->file ? x->file : last_part(x->object));
        h = hash(h, x->site.function ? x->site.function : "");
        h = hash(h, x->test);
        // Several call sites of one function differ by their order.
        snprintf(x->fingerprint, sizeof x->fingerprint, "%016llx", (unsigned long long)h);
        e = entry_find(seen, x->fingerprint);
        if (!e)
            e = entry_add(&seen, x->fingerprint);
        const unsigned long long number = e ? ++e->site.line : 1;
        snprintf(x->fingerprint, sizeof x->fingerprint, "%016llx:%llu", (unsigned long long)h,
                 number);
    }
    HASH_ITER(hh, seen, e, next)
    {
        HASH_DEL(seen, e);
        free(e->key);
        free(e);
    }
}

static void table_free(struct entry *table)
{
    struct entry *e, *next;
    HASH_ITER(hh, table, e, next)
    {
        HASH_DEL(table, e);
        call_site_finish(&e->site);
        if (e->finding)
            finding_free(e->finding);
        free(e->test);
        free(e->key);
        free(e);
    }
}

void findings_finish(struct findings *f)
{
    if (f->table) {
        table_free(f->table->findings);
        table_free(f->table->sites);
        table_free(f->table->tests);
    }
    free(f->table);
    free(f->list);
    free(f->rest);
}

void finding_print(const struct finding *f, const struct occurrence *occurrence, FILE *to)
{
    const bool failed = strcmp(f->result, "CUDA_SUCCESS") != 0;
    const char *call = occurrence ? occurrence->call : f->call;
    const char *text = occurrence ? occurrence->text : f->text;
    if (f->level == LEVEL_NOTE)
        fprintf(to, "cardless: %s (%s): %s: %s\n", f->entry, call, f->result, text);
    else
        fprintf(to, "cardless: [%s %s] %s (%s)%s%s: %s\n    %s; %s\n", f->id, f->severity, f->entry,
                call, failed ? ": " : "", failed ? f->result : "", text, f->title, f->advice);
    if (f->file)
        fprintf(to, "    called from %s:%u%s%s\n", f->file, f->site.line,
                f->site.function ? " in " : "", f->site.function ? f->site.function : "");
    else if (f->site.function)
        fprintf(to, "    called from %s in %s\n", f->site.function, f->object);
    else if (*f->object)
        fprintf(to, "    called from %s\n", f->object);
}
