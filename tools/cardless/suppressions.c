// SPDX-License-Identifier: MIT
// Reads the rules, and matches their patterns as the shell does for names of files, except that `*`
// also matches slashes.
#include "suppressions.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

enum { PATTERN_FUNCTION, PATTERN_FILE, PATTERN_OBJECT, PATTERN_ENTRY, PATTERNS };
static const char *const names[PATTERNS] = {"function", "file", "object", "entry"};

struct suppression {
    char *where, *id, *text;  // where: "FILE:LINE"; text: the line
    char *patterns[PATTERNS]; // NULL: anything
    unsigned long used;
};

static bool refuse(const char *path, unsigned number, const char *word, const char *why)
{
    fprintf(stderr, "cardless: %s:%u: %s%s%s\n", path, number, word, *word ? ": " : "", why);
    return false;
}

static bool read_pattern(struct suppression *rule, const char *word)
{
    for (unsigned i = 0; i < PATTERNS; i++) {
        const size_t length = strlen(names[i]);
        if (strncmp(word, names[i], length) || word[length] != ':' || !word[length + 1] ||
            rule->patterns[i])
            continue;
        rule->patterns[i] = strdup(word + length + 1);
        return rule->patterns[i] != NULL;
    }
    return false;
}

static bool is_known_id(const char *pattern)
{
    static const char *const ids[] = {
#define EM_DIAGNOSTIC(id, severity, title, advice) #id,
#include "../../emulator/core/diagnostics.def"
#undef EM_DIAGNOSTIC
    };
    for (unsigned i = 0; i < sizeof ids / sizeof *ids; i++)
        if (!fnmatch(pattern, ids[i], 0))
            return true;
    return false;
}

static bool read_rule(struct suppression *rule, char *line, const char *path, unsigned number)
{
    char *state, *word = strtok_r(line, " \t", &state);
    if (!is_known_id(word))
        return refuse(path, number, word, "no diagnostic has this id");
    rule->id = strdup(word);
    for (word = strtok_r(NULL, " \t", &state); word; word = strtok_r(NULL, " \t", &state))
        if (!read_pattern(rule, word))
            return refuse(path, number, word,
                          "after the id come function:PATTERN, file:PATTERN, object:PATTERN and "
                          "entry:PATTERN, each at most once");
    return rule->id || refuse(path, number, "", "out of memory");
}

static struct suppression *append(struct suppressions *s)
{
    struct suppression *more = realloc(s->list, (s->count + 1) * sizeof *more);
    if (!more)
        return NULL;
    s->list = more;
    memset(&more[s->count], 0, sizeof *more);
    return &more[s->count++];
}

bool suppressions_read(struct suppressions *s, const char *path)
{
    FILE *f = fopen(path, "re");
    char *line = NULL;
    size_t capacity = 0;
    bool fine = f != NULL;
    if (!f)
        fprintf(stderr, "cardless: --suppressions: cannot read %s: %s\n", path, strerror(errno));
    for (unsigned number = 1; fine && getline(&line, &capacity, f) >= 0; number++) {
        line[strcspn(line, "#\r\n")] = 0;
        if (!line[strspn(line, " \t")])
            continue;
        struct suppression *rule = append(s);
        fine = rule && asprintf(&rule->where, "%s:%u", path, number) > 0 &&
               asprintf(&rule->text, "%s", line + strspn(line, " \t")) > 0;
        fine =
            fine ? read_rule(rule, line, path, number) : refuse(path, number, "", "out of memory");
    }
    if (fine && ferror(f))
        fine = refuse(path, 0, "", strerror(errno));
    if (f)
        fclose(f);
    free(line);
    return fine;
}

static bool matches(const char *pattern, const char *text)
{
    return !pattern || (text && !fnmatch(pattern, text, 0));
}

static bool matches_path(const char *pattern, const char *path)
{
    const char *slash = path ? strrchr(path, '/') : NULL;
    return matches(pattern, path) || (slash && matches(pattern, slash + 1));
}

void suppressions_apply(struct suppressions *s, struct finding *x)
{
    for (size_t i = 0; i < s->count; i++) {
        struct suppression *rule = &s->list[i];
        if (!matches(rule->id, x->id) || !matches(rule->patterns[PATTERN_ENTRY], x->entry) ||
            !matches(rule->patterns[PATTERN_FUNCTION], x->site.function) ||
            !matches_path(rule->patterns[PATTERN_OBJECT], x->object) ||
            !(matches_path(rule->patterns[PATTERN_FILE], x->file) ||
              matches(rule->patterns[PATTERN_FILE], x->site.file)))
            continue;
        rule->used++;
        x->suppressed = rule->where;
        return;
    }
}

void suppressions_print_unused(const struct suppressions *s, FILE *to)
{
    for (size_t i = 0; i < s->count; i++)
        if (!s->list[i].used)
            fprintf(to, "cardless: unused suppression at %s: %s\n", s->list[i].where,
                    s->list[i].text);
}

void suppressions_finish(struct suppressions *s)
{
    for (size_t i = 0; i < s->count; i++) {
        struct suppression *rule = &s->list[i];
        for (unsigned n = 0; n < PATTERNS; n++)
            free(rule->patterns[n]);
        free(rule->where);
        free(rule->id);
        free(rule->text);
    }
    free(s->list);
}
