// SPDX-License-Identifier: MIT
// Names the arguments in a message as the library function does that the program has called.
#include "argument_names.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { NAME_MOST = 64, TYPE_MOST = 96, ARGUMENTS_MOST = 32 };

struct argument {
    char name[NAME_MOST];
    char type[TYPE_MOST]; // in lower case, without prefixes, suffixes and blanks: "stream*"
    bool is_enum;
    int pair; // the index of the corresponding argument in the other list, or -1
};

struct list {
    struct argument all[ARGUMENTS_MOST];
    int count;
};

static bool is_letter(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

// ---- types ----

static void remove_word(char *text, const char *word)
{
    const size_t length = strlen(word);
    for (char *at = strstr(text, word); at; at = strstr(at, word)) {
        if ((at == text || !is_letter(at[-1])) && !is_letter(at[length]))
            memset(at, ' ', length);
        at += length;
    }
}

static bool is_number(const char *type)
{
    static const char *const numbers[] = {"size_t",
                                          "int",
                                          "unsigned int",
                                          "unsigned",
                                          "unsigned char",
                                          "unsigned short",
                                          "unsigned long long",
                                          "cuuint32_t",
                                          "cuuint64_t",
                                          "CUdevice",
                                          "uint64_t",
                                          "uint32_t"};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (!strcmp(type, numbers[i]))
            return true;
    return false;
}

// Brings a type into the form that both APIs have in common: cudaStream_t and CUstream are
// "stream", and CUdeviceptr is "void*".
static void normalise(struct argument *a, char *type)
{
    unsigned stars = 0;
    a->is_enum = !strncmp(type, "enum ", 5);
    remove_word(type, "const");
    remove_word(type, "struct");
    remove_word(type, "enum");
    for (char *star = strchr(type, '*'); star; star = strchr(star, '*')) {
        *star = ' ';
        stars++;
    }
    while (isspace((unsigned char)*type))
        type++;
    size_t length = strlen(type);
    while (length && isspace((unsigned char)type[length - 1]))
        type[--length] = 0;
    const char *tag = type;
    if (!strcmp(type, "CUdeviceptr")) {
        tag = "void";
        stars++;
    } else if (is_number(type)) {
        tag = "number";
    } else if (!strncmp(type, "cuda", 4)) {
        tag = type + 4;
    } else if (!strncmp(type, "CUDA_", 5)) {
        tag = type + 5;
    } else if (!strncmp(type, "CU", 2)) {
        tag = type + 2;
    }
    size_t n = 0;
    for (const char *c = tag; *c && n + stars + 1 < sizeof a->type; c++) {
        if (c[0] == '_' && c[1] == 't' && !c[2])
            break;
        if (is_letter(*c) && *c != '_')
            a->type[n++] = (char)tolower((unsigned char)*c);
    }
    while (stars-- && n + 1 < sizeof a->type)
        a->type[n++] = '*';
    a->type[n] = 0;
}

// Whether the letters of `part` appear in `whole` in this order.
static bool is_abbreviation(const char *part, const char *whole)
{
    while (*part && *whole)
        part += *part == *whole++;
    return !*part;
}

// One of the APIs may abbreviate a type: "mempool" and "memorypool". The runtime API names a kernel
// by the address of its host function.
static bool same_type(const struct argument *driver, const struct argument *library)
{
    const char *d = driver->type, *l = library->type;
    if (!strcmp(l, "void*") && (!strcmp(d, "function") || !strcmp(d, "kernel")))
        return true;
    return *d == *l && (is_abbreviation(d, l) || is_abbreviation(l, d));
}

static bool is_handle(const struct argument *a)
{
    return !a->is_enum && strcmp(a->type, "number") && !strchr(a->type, '*');
}

// ---- lists ----

// Structs whose members count as arguments. A pointer's members are named without the pointer.
static const struct {
    const char *type, *members[6];
    bool is_pointer;
} structs[] = {
    {"dim3", {"x", "y", "z"}, false},
    {"extent", {"width", "height", "depth"}, false},
    {"pitchedptr", {"ptr", "pitch"}, false},
    {"memlocation", {"type", "id"}, false},
    {"launchconfig*",
     {"gridDim.x", "gridDim.y", "gridDim.z", "blockDim.x", "blockDim.y", "blockDim.z"},
     true},
    {"kernelnodeparams*",
     {"gridDim.x", "gridDim.y", "gridDim.z", "blockDim.x", "blockDim.y", "blockDim.z"},
     true},
};

static void append(struct list *l, const char *name, const char *type, bool is_enum)
{
    if (l->count == ARGUMENTS_MOST)
        return;
    struct argument *a = &l->all[l->count++];
    *a = (struct argument){.is_enum = is_enum, .pair = -1};
    snprintf(a->name, sizeof a->name, "%.*s", NAME_MOST - 1, name);
    snprintf(a->type, sizeof a->type, "%s", type);
}

// The driver's structs have the members of a dim3 as their own: "gridDimX".
static void append_members(struct list *l, const struct argument *a, size_t i, bool is_driver)
{
    const size_t most = sizeof structs[i].members / sizeof *structs[i].members;
    char name[2 * NAME_MOST];
    for (size_t m = 0; m < most && structs[i].members[m]; m++) {
        const char *member = structs[i].members[m];
        snprintf(name, sizeof name, "%s%s%s", structs[i].is_pointer ? "" : a->name,
                 structs[i].is_pointer ? "" : ".", member);
        if (is_driver && structs[i].is_pointer)
            snprintf(name, sizeof name, "%.*s%c", (int)strcspn(member, "."), member,
                     toupper((unsigned char)member[strlen(member) - 1]));
        const bool is_enum = !strcmp(member, "type");
        const char *type = is_enum ? "memlocationtype" : "number";
        append(l, name, strcmp(member, "ptr") ? type : "void*", is_enum);
    }
}

static void append_argument(struct list *l, const struct argument *a, bool is_driver)
{
    size_t i = 0;
    while (i < sizeof structs / sizeof *structs && strcmp(a->type, structs[i].type))
        i++;
    const bool expands = i < sizeof structs / sizeof *structs;
    if (!expands || structs[i].is_pointer)
        append(l, a->name, a->type, a->is_enum);
    if (expands)
        append_members(l, a, i, is_driver);
}

// Reads the next argument of a list. Returns the rest of the list, or NULL after the last one.
static const char *next_argument(const char *list, struct argument *a)
{
    char text[NAME_MOST + TYPE_MOST];
    while (*list == ' ' || *list == ',')
        list++;
    size_t length = strcspn(list, ",");
    if (!length || length >= sizeof text)
        return NULL;
    snprintf(text, sizeof text, "%.*s", (int)length, list);
    size_t end = length;
    if (end && text[end - 1] == ']')
        end = (size_t)(strchr(text, '[') - text);
    size_t start = end;
    while (start && is_letter(text[start - 1]))
        start--;
    if (start == end || !start)
        return NULL;
    snprintf(a->name, sizeof a->name, "%.*s", (int)(end - start), text + start);
    text[start] = 0;
    normalise(a, text);
    return list + length;
}

static void read_list(struct list *l, const char *text, bool is_driver)
{
    struct argument a;
    l->count = 0;
    for (text = next_argument(text, &a); text; text = next_argument(text, &a))
        append_argument(l, &a, is_driver);
}

// ---- pairs ----

// The letters of a name without a prefix of its type: "stream" for "hStream".
static void core_of(const char *name, char *out, size_t size_B)
{
    const char *c = name;
    while (*c == 'h' || *c == 'p')
        c++;
    if (!isupper((unsigned char)*c))
        c = name;
    size_t n = 0;
    for (; *c && n + 1 < size_B; c++)
        if (isalnum((unsigned char)*c))
            out[n++] = (char)tolower((unsigned char)*c);
    out[n] = 0;
}

enum { UNLIKE, ALIKE, EQUAL };

static int compare_names(const struct argument *a, const struct argument *b)
{
    enum { PART_LEAST = 3 };
    char x[NAME_MOST], y[NAME_MOST], member[NAME_MOST];
    const char *dot = strrchr(b->name, '.');
    core_of(a->name, x, sizeof x);
    core_of(b->name, y, sizeof y);
    core_of(dot ? dot + 1 : b->name, member, sizeof member);
    if (!strcmp(x, y))
        return EQUAL;
    const char *shorter = strlen(x) < strlen(member) ? x : member;
    const char *longer = shorter == x ? member : x;
    return strlen(shorter) >= PART_LEAST && strstr(longer, shorter) ? ALIKE : UNLIKE;
}

static void pair(struct list *ours, int a, struct list *theirs, int b)
{
    ours->all[a].pair = b;
    theirs->all[b].pair = a;
}

static void pair_by_name(struct list *ours, struct list *theirs, int likeness)
{
    for (int a = 0; a < ours->count; a++)
        for (int b = 0; b < theirs->count && ours->all[a].pair < 0; b++)
            if (theirs->all[b].pair < 0 && same_type(&ours->all[a], &theirs->all[b]) &&
                compare_names(&ours->all[a], &theirs->all[b]) >= likeness)
                pair(ours, a, theirs, b);
}

// An argument without a pair corresponds to the one that follows the pair of the argument before
// it, if their types are the same. An enumeration that only the library's function has is skipped.
static void pair_by_order(struct list *ours, struct list *theirs)
{
    int next = 0;
    for (int a = 0; a < ours->count; a++) {
        while (next < theirs->count && ours->all[a].pair < 0 && theirs->all[next].is_enum &&
               !same_type(&ours->all[a], &theirs->all[next]))
            next++;
        if (ours->all[a].pair < 0 && next < theirs->count && theirs->all[next].pair < 0 &&
            same_type(&ours->all[a], &theirs->all[next]))
            pair(ours, a, theirs, next);
        if (ours->all[a].pair >= 0)
            next = ours->all[a].pair + 1;
    }
}

// At last, the first one of the same type. Numbers have no type of their own.
static void pair_by_type(struct list *ours, struct list *theirs)
{
    for (int a = 0; a < ours->count; a++)
        for (int b = 0; b < theirs->count && ours->all[a].pair < 0; b++)
            if (theirs->all[b].pair < 0 && strcmp(ours->all[a].type, "number") &&
                same_type(&ours->all[a], &theirs->all[b]))
                pair(ours, a, theirs, b);
}

// ---- the text ----

// Whether a name in small letters is no English word, so that a message can only mean the argument.
static bool is_abbreviated(const char *word, size_t length)
{
    static const char *const names[] = {
        "addr",   "attr",  "attrib", "attrs",   "bytesize", "cur",      "desc",   "dev",
        "dptr",   "dptrs", "dst",    "dsts",    "eglframe", "fm",       "func",   "hfunc",
        "hmod",   "len",   "lib",    "mod",     "num",      "numbytes", "params", "pbase",
        "pctx",   "pdptr", "pfm",    "pfn",     "pid",      "prop",     "psize",  "ptr",
        "pvalue", "src",   "srcs",   "texunit", "tid",      "val"};
    if (length <= 2 && strncmp(word, "a", length) && strncmp(word, "to", length))
        return true;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strlen(names[i]) == length && !strncmp(names[i], word, length))
            return true;
    return false;
}

// Whether the word at `at` is meant as the name of an argument and not as an English word.
static bool is_named(const char *text, const char *at, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (!islower((unsigned char)at[i]))
            return true;
    if (at - text >= 4 && !strncmp(at - 4, "the ", 4))
        return false;
    return is_abbreviated(at, length) || !strncmp(at + length, " (", 2) ||
           (at == text && (at[length] == ':' || !strncmp(at + length, " is ", 4))) ||
           (at - text >= 9 && !strncmp(at - 9, "argument ", 9));
}

// The name to write for the word at `at`, or NULL. `*length` becomes the length of the old name,
// which may have members.
static const char *new_name(const char *text, const char *at, size_t *length,
                            const struct list *ours, const struct list *theirs)
{
    const struct argument *found = NULL;
    for (int i = 0; i < ours->count; i++) {
        const size_t n = strlen(ours->all[i].name);
        if (!strncmp(at, ours->all[i].name, n) && !is_letter(at[n]) &&
            (!found || n > strlen(found->name)))
            found = &ours->all[i];
    }
    if (!found || !is_named(text, at, strlen(found->name)))
        return NULL;
    *length = strlen(found->name);
    if (found->pair >= 0)
        return theirs->all[found->pair].name;
    return is_handle(found) ? "the handle" : NULL;
}

void em_argument_names(char *text, size_t size_B, const char *driver, const char *library)
{
    struct list ours, theirs;
    read_list(&ours, driver, true);
    read_list(&theirs, library, false);
    pair_by_name(&ours, &theirs, EQUAL);
    pair_by_name(&ours, &theirs, ALIKE);
    pair_by_order(&ours, &theirs);
    pair_by_type(&ours, &theirs);
    for (char *at = text; *at; at++) {
        size_t length = 0;
        const bool begins =
            is_letter(*at) &&
            (at == text || (!is_letter(at[-1]) && at[-1] != '.' && at[-1] != '>' && at[-1] != '/'));
        const char *name = begins ? new_name(text, at, &length, &ours, &theirs) : NULL;
        const size_t with = name ? strlen(name) : 0;
        const size_t rest = name ? strlen(at + length) : 0;
        if (!name || (size_t)(at - text) + with + rest + 1 > size_B)
            continue;
        memmove(at + with, at + length, rest + 1);
        memcpy(at, name, with);
        at += with - 1;
    }
}
