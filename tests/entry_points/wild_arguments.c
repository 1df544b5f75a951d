// SPDX-License-Identifier: MIT
// Every entry point gets pointers that lead nowhere, in a context, so that its body can be reached.
// A call that reads a struct, a list or a text there, or writes anything, should fail with a
// sentence that names the argument, and no call should crash. Then the same is done with each
// pointer inside of a struct that is read. The entry points, their arguments and the members of
// structs come from api/table/driver.def and the headers.
#include "../harness.h"

#include <dlfcn.h>
#include <limits.h>

#include "../../tools/cardless/replay.h"

enum {
    ZEROES_B = 64 << 10, // of memory to which the other pointers lead
    PAGE_B = 4096,
    MOST_ARGUMENTS = 32,
    MOST_CRASHES = 20,
};

// Addresses of nothing: in page zero, not mapped, not canonical, and of the last byte of a mapping,
// which is readable (set by open_memory).
enum { LAST_BYTE = 3, VALUES };
static uint64_t wild[VALUES] = {8, 0x12345000, 0xf123456789abcdef};

// One pointer of one call: an argument, or a member of the struct to which the argument points.
struct place {
    size_t entry;
    unsigned argument, member; // 0: the argument itself; else 1 + the index of the member
    unsigned value;            // of wild
};

// The work of the child process, in memory that it shares with its parent.
struct progress {
    struct place place;
    size_t number; // of the place, counted from 1
    size_t calls, sentences;
    bool done;
};

static struct progress *progress;
static void *zeroes, *target, *by_value; // memory that arguments lead to

// Texts of handles, which the tables name and this program does not need.
bool api_handle_text(unsigned type, uint64_t handle, char *out, size_t size);
bool api_handle_text(unsigned type, uint64_t handle, char *out, size_t size)
{
    (void)type, (void)handle, (void)out, (void)size;
    return false;
}

static const char *name_of(uint32_t name)
{
    return api_description.names + name;
}

static const cardlessShape *shape_of(const cardlessMember *m)
{
    return &api_description.shapes[m->shape];
}

static const cardlessMember *argument_of(const struct place *p)
{
    return &api_description.members[replay_entries[p->entry].first + p->argument];
}

static bool is_followed(const cardlessMember *m)
{
    const unsigned kind = shape_of(m)->kind;
    return kind == CARDLESS_SHAPE_POINTER || kind == CARDLESS_SHAPE_STRING;
}

// A pointer to a function of the program. It must be valid.
static bool is_function(const cardlessMember *m)
{
    return shape_of(m)->kind == CARDLESS_SHAPE_OPAQUE && strcmp(name_of(shape_of(m)->name), "void");
}

static void empty_function(void)
{
}

static bool is_input(const cardlessMember *m)
{
    return !(m->flags & CARDLESS_MEMBER_OUTPUT) || m->flags & CARDLESS_MEMBER_INPUT;
}

// The struct or union to which an argument points, or NULL.
static const cardlessShape *struct_of(const cardlessMember *argument)
{
    if (shape_of(argument)->kind != CARDLESS_SHAPE_POINTER)
        return NULL;
    const cardlessShape *s = &api_description.shapes[shape_of(argument)->target];
    return s->kind == CARDLESS_SHAPE_STRUCT || s->kind == CARDLESS_SHAPE_UNION ? s : NULL;
}

// The member that the place means, or NULL if it is the argument itself.
static const cardlessMember *member_of(const struct place *p)
{
    return p->member ? &api_description.members[struct_of(argument_of(p))->first + p->member - 1]
                     : NULL;
}

// Whether the call always reads or writes the memory to which the argument points. It does not
// always read it if another argument selects the type, as that of a `void *value`: the tables name
// such a union by the path of the argument.
static bool is_accessed(const cardlessMember *argument)
{
    const cardlessShape *s = struct_of(argument);
    return argument->flags & CARDLESS_MEMBER_OUTPUT || (s && !strchr(name_of(s->name), '.')) ||
           argument->flags & CARDLESS_MEMBER_LIST ||
           shape_of(argument)->kind == CARDLESS_SHAPE_STRING;
}

// ---- the calls ----

// Pointers lead to zeroes, and numbers are 1, so that lists have one element.
static void set_arguments(const struct place *p, uint64_t *values)
{
    const struct replay_entry *e = &replay_entries[p->entry];
    for (unsigned i = 0; i < e->count; i++) {
        const cardlessMember *m = &api_description.members[e->first + i];
        const unsigned kind = shape_of(m)->kind;
        if (m->flags & CARDLESS_MEMBER_INDIRECT)
            values[i] = (uintptr_t)by_value;
        else if (is_function(m))
            values[i] = (uintptr_t)empty_function;
        else if (is_followed(m) || kind == CARDLESS_SHAPE_OPAQUE)
            values[i] = (uintptr_t)zeroes;
        else
            values[i] = 1;
    }
    memset(zeroes, 0, ZEROES_B);
    memset(by_value, 0, PAGE_B);
    memset(target, 0, PAGE_B);
    const cardlessMember *argument = argument_of(p);
    if (!p->member) {
        values[p->argument] = wild[p->value];
        if (argument->flags & CARDLESS_MEMBER_COUNT_OUT) {
            *(size_t *)target = 1;
            values[argument->count] = (uintptr_t)target;
        }
        return;
    }
    const cardlessMember *m = member_of(p);
    values[p->argument] = (uintptr_t)target;
    memcpy((char *)target + m->offset, &wild[p->value], sizeof(void *));
    if (m->flags & CARDLESS_MEMBER_LIST) {
        const cardlessMember *count =
            &api_description.members[struct_of(argument_of(p))->first + m->count];
        memset((char *)target + count->offset, 1, 1);
    }
}

static void expect_sentence(const struct place *p, CUresult r, size_t calls)
{
    const char *name = name_of(argument_of(p)->name);
    char wanted[160];
    if (r == CUDA_ERROR_NOT_SUPPORTED)
        return; // whatever the arguments
    snprintf(wanted, sizeof wanted, "%s: ", name);
    if (r == CUDA_SUCCESS || !strstr(test_last_line(), wanted)) {
        test_failed(__FILE__, __LINE__);
        printf("%s with %s = %#llx gives %s: %s\n", replay_entries[p->entry].name, name,
               (unsigned long long)wild[p->value], test_code(r), test_last_line());
    }
    progress->sentences = calls;
}

static void make_call(const struct place *p, void *function)
{
    uint64_t values[MOST_ARGUMENTS];
    const cardlessMember *argument = argument_of(p);
    set_arguments(p, values);
    const CUresult r = replay_entries[p->entry].call(function, values);
    progress->calls++;
    // One byte can be read, which is enough for the texts and the smallest objects.
    if (!p->member && is_accessed(argument) && p->value != LAST_BYTE)
        expect_sentence(p, r, progress->sentences + 1);
}

// The next place, in order. Returns false after the last one.
static bool next_place(struct place *p)
{
    if (++p->value < VALUES)
        return true;
    p->value = 0;
    for (;;) {
        const struct replay_entry *e = &replay_entries[p->entry];
        const cardlessShape *s = p->argument < e->count ? struct_of(argument_of(p)) : NULL;
        p->member++;
        if (!s || !is_input(argument_of(p)) || p->member > s->count) {
            p->member = 0;
            p->argument++;
        }
        while (p->argument >= replay_entries[p->entry].count) {
            p->argument = 0;
            if (++p->entry == replay_entry_count)
                return false;
        }
        const cardlessMember *m = p->member ? member_of(p) : argument_of(p);
        if ((!p->member || is_input(m)) && !is_function(m) &&
            (is_followed(m) || shape_of(m)->kind == CARDLESS_SHAPE_OPAQUE))
            return true;
    }
}

static void *open_memory(size_t size)
{
    void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    EXPECT(p != MAP_FAILED);
    return p;
}

// Calls that end or change objects of the other calls. They have no pointers that can be read.
static bool is_left_out(const char *name)
{
    return strstr(name, "Destroy") || strstr(name, "Release") || strstr(name, "Reset") ||
           strstr(name, "cuCtxSet") || strstr(name, "cuCtxPop") || strstr(name, "cuCtxPush");
}

static void make_calls(void)
{
    CUcontext context = test_context();
    while (next_place(&progress->place)) {
        const char *name = replay_entries[progress->place.entry].name;
        void *function = dlsym(RTLD_DEFAULT, name);
        progress->number++;
        if (!function || is_left_out(name))
            continue;
        MUST(cuCtxSetCurrent(context));
        make_call(&progress->place, function);
    }
    progress->done = true;
}

// A process goes on where the one before has crashed.
TEST(wild_arguments)
{
    progress = open_memory(sizeof *progress);
    zeroes = open_memory(ZEROES_B);
    target = open_memory(PAGE_B);
    by_value = open_memory(PAGE_B);
    char *two = open_memory(2 * PAGE_B);
    munmap(two + PAGE_B, PAGE_B);
    wild[LAST_BYTE] = (uintptr_t)two + PAGE_B - 1;
    progress->place = (struct place){.argument = UINT_MAX, .value = VALUES - 1}; // before the first
    for (unsigned crashes = 0; !progress->done && crashes < MOST_CRASHES; crashes++) {
        fflush(stdout);
        const pid_t child = fork();
        int status;
        if (!child) {
            make_calls();
            fflush(stdout);
            _exit(test_failures != 0);
        }
        waitpid(child, &status, 0);
        if (progress->done) {
            EXPECT_EQ(status, 0);
            break;
        }
        const struct place *p = &progress->place;
        test_failed(__FILE__, __LINE__);
        printf("%s with %s%s%s = %#llx ends the process (status %#x)\n",
               replay_entries[p->entry].name, name_of(argument_of(p)->name), p->member ? "->" : "",
               p->member ? name_of(member_of(p)->name) : "", (unsigned long long)wild[p->value],
               status);
    }
    printf("# %zu calls, of which %zu have to say that an argument cannot be read or written\n",
           progress->calls, progress->sentences);
    EXPECT(progress->done);
}

TESTS(CASE(wild_arguments))
