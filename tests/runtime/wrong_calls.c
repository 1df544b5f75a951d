// SPDX-License-Identifier: MIT
// Calls every function of the runtime with wrong arguments. Each message should name arguments as
// the function of the runtime names them, and not as a function of the driver does. Constants,
// types and functions should be those of the runtime, too. If the pointer to a structure that the
// call reads, or to anything that it writes, leads nowhere, the call should fail with a message
// that names it.
#include <cuda_runtime_api.h>
#include <ctype.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "program.h"

// The kinds of arguments, and how many values each has.
enum kind {
    VALUE,
    POINTER,
    ADDRESS,
    CALLBACK,
    STREAM,
    EVENT,
    GRAPH,
    EXEC,
    NODE,
    ARRAY,
    MIPMAPPED,
    POOL,
    KERNEL,
    LIBRARY,
    TEXTURE,
    SURFACE,
    OBJECT,
    KINDS
};
// An argument has VALUES values. WILD is one more, for pointers: no memory is there.
enum { VALUES = 6, MIXED = 3, WILD = VALUES, ARGUMENTS_MAX = 12, SECONDS = 20, TAKEN = 3 };
#ifndef RANDOM // combinations of values for each function, beside each wrong value alone
#define RANDOM 24
#endif

struct call {
    const char *name;
    cudaError_t (*make)(const unsigned char *choice);
    unsigned arguments;
    unsigned accesses; // a bit for each argument by which the call reads or writes memory
    enum kind kinds[ARGUMENTS_MAX];
    const char *argument_names[ARGUMENTS_MAX];
    const char *names; // of its arguments and of their members, each between blanks
};

static struct {
    uint64_t handle[KINDS];
    char *memory;
    char host_function, zero[1 << 16], ones[1 << 16], mixed[1 << 16];
} world;

static void nothing(void *data)
{
    (void)data;
}

static void pick(void *out, size_t size_B, enum kind kind, unsigned choice)
{
    uint64_t value = 0;
    if (kind == VALUE) {
        static const unsigned char bytes[VALUES] = {16, 0, 0xff, 1, 0x70, 2};
        memset(out, bytes[choice] == 0xff ? 0xff : 0, size_B);
        if (bytes[choice] == 0x70)
            ((unsigned char *)out)[size_B - 1] = 0x70;
        else
            for (size_t at = 0; at < size_B; at += 8)
                ((unsigned char *)out)[at] = bytes[choice];
        return;
    }
    if (kind == POINTER) {
        char *const values[VALUES + 1] = {world.zero, NULL, world.ones, world.mixed,
                                          world.zero, NULL, (char *)8};
        value = (uintptr_t)values[choice];
    } else if (kind == ADDRESS) {
        char *const values[VALUES + 1] = {
            world.memory,     NULL,     world.zero, &world.host_function, world.ones,
            world.memory + 8, (char *)8};
        value = (uintptr_t)values[choice];
    } else if (kind == CALLBACK) {
        value = choice % 2 ? 0 : (uintptr_t)nothing;
    } else {
        const uint64_t values[VALUES] = {
            world.handle[kind], 0, 0x1234567890, world.handle[kind == EVENT ? GRAPH : EVENT], ~0ull,
            world.handle[kind]};
        value = values[choice];
    }
    memcpy(out, &value, size_B < sizeof value ? size_B : sizeof value);
}

#include "wrong_calls.inc.h"

static const char kernel_text[] = ".version 7.0\n.target sm_75\n.address_size 64\n"
                                  ".visible .entry k(.param .u64 p) { ret; }\n";

static void build_world(void)
{
    static struct program_wrapper wrapper;
    struct cudaMemPoolProps pool = {.allocType = cudaMemAllocationTypePinned,
                                    .location = {cudaMemLocationTypeDevice, 0}};
    struct cudaChannelFormatDesc format = {8, 0, 0, 0, cudaChannelFormatKindUnsigned};
    struct cudaResourceDesc resource = {.resType = cudaResourceTypeArray};
    struct cudaTextureDesc texture = {.filterMode = cudaFilterModePoint};
    uint64_t *h = world.handle;
    wrapper = program_wrapper(kernel_text);
    void **binary = __cudaRegisterFatBinary(&wrapper);
    program_function(binary, &world.host_function, "k");
    __cudaRegisterFatBinaryEnd(binary);
    memset(world.ones, 0xff, sizeof world.ones);
    for (size_t i = 0; i < sizeof world.mixed; i += 8)
        world.mixed[i] = (char)(1 + i / 8 % 7);
    cudaMalloc((void **)&world.memory, 1 << 16);
    cudaStreamCreateWithFlags((cudaStream_t *)&h[STREAM], cudaStreamNonBlocking);
    cudaEventCreate((cudaEvent_t *)&h[EVENT]);
    cudaGraphCreate((cudaGraph_t *)&h[GRAPH], 0);
    cudaGraphAddEmptyNode((cudaGraphNode_t *)&h[NODE], (cudaGraph_t)h[GRAPH], NULL, 0);
    cudaGraphInstantiate((cudaGraphExec_t *)&h[EXEC], (cudaGraph_t)h[GRAPH], 0);
    cudaMallocArray((cudaArray_t *)&h[ARRAY], &format, 16, 16, cudaArraySurfaceLoadStore);
    cudaMallocMipmappedArray((cudaMipmappedArray_t *)&h[MIPMAPPED], &format,
                             (struct cudaExtent){16, 16, 0}, 2, 0);
    cudaMemPoolCreate((cudaMemPool_t *)&h[POOL], &pool);
    cudaGetKernel((cudaKernel_t *)&h[KERNEL], &world.host_function);
    cudaLibraryLoadData((cudaLibrary_t *)&h[LIBRARY], kernel_text, NULL, NULL, 0, NULL, NULL, 0);
    resource.res.array.array = (cudaArray_t)h[ARRAY];
    cudaCreateTextureObject((cudaTextureObject_t *)&h[TEXTURE], &resource, &texture, NULL);
    cudaCreateSurfaceObject((cudaSurfaceObject_t *)&h[SURFACE], &resource);
    cudaUserObjectCreate((cudaUserObject_t *)&h[OBJECT], world.zero, nothing, 1,
                         cudaUserObjectNoDestructorSync);
}

// The arguments of try number `number`: each pointer that leads nowhere, each wrong value of each
// argument while the others are right, and then values at random. Returns false after the last one.
static bool choose(const struct call *c, unsigned number, unsigned char *choice)
{
    const unsigned single = c->arguments * (VALUES - 1);
    memset(choice, 0, ARGUMENTS_MAX);
    for (unsigned left = c->accesses; left; left &= left - 1, number--)
        if (!number) {
            for (unsigned i = 0; i < c->arguments; i++)
                choice[i] = c->kinds[i] == POINTER ? MIXED : 0; // so that lists have elements
            choice[__builtin_ctz(left)] = WILD;
            return true;
        }
    if (number < single) {
        choice[number / (VALUES - 1)] = (unsigned char)(1 + number % (VALUES - 1));
        return true;
    }
    unsigned state = number * 2654435761u;
    for (unsigned i = 0; i < c->arguments; i++) {
        state = state * 1664525u + 1013904223u;
        choice[i] = (unsigned char)((state >> 16) % VALUES);
    }
    return c->arguments && number < single + RANDOM;
}

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

// Whether a word of the message is a name and not an English word.
static bool is_a_name(const char *text, const char *at, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (!islower((unsigned char)at[i]))
            return true;
    if (at - text >= 4 && !strncmp(at - 4, "the ", 4))
        return false;
    return !strncmp(at + length, " (", 2) ||
           (at == text && (at[length] == ':' || !strncmp(at + length, " is ", 4))) ||
           (at - text >= 9 && !strncmp(at - 9, "argument ", 9));
}

// Whether a word is a name of the driver API: a constant, a function or a type. The name of an
// object, "CUstream #1", is the trace's.
static bool is_drivers(const char *word, size_t length)
{
    if (length < 4 || !strncmp(word + length, " #", 2))
        return false;
    return !strncmp(word, "CU_", 3) ||
           (!strncmp(word, "cu", 2) && isupper((unsigned char)word[2])) ||
           (!strncmp(word, "CU", 2) && islower((unsigned char)word[2])) ||
           !strncmp(word, "CUDA_", 5);
}

static unsigned check_line(const struct call *c, const char *line)
{
    char own[80];
    const char *text = strstr(line, "\"text\":\"");
    unsigned found = 0;
    if (!text)
        return 0;
    text += 8;
    for (const char *at = text; *at && strncmp(at, "\",\"advice", 9); at++) {
        if (!is_word(*at) || (at > text && (is_word(at[-1]) || at[-1] == '.')))
            continue;
        size_t length = 1;
        while (is_word(at[length]))
            length++;
        if (is_drivers(at, length)) {
            printf("# %s: the driver's name \"%.*s\" in: %.*s\n", c->name, (int)length, at,
                   (int)(strstr(text, "\",\"advice") - text), text);
            found++;
        }
        snprintf(own, sizeof own, " %.*s ", (int)length, at);
        if (strstr(c->names, own) || !is_a_name(text, at, length))
            continue;
        for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++)
            if (strlen(foreign[i]) == length && !strncmp(foreign[i], at, length)) {
                printf("# %s: \"%s\" in: %.*s\n", c->name, foreign[i],
                       (int)(strstr(text, "\",\"advice") - text), text);
                found++;
            }
    }
    return found;
}

// Whether the last message in the file is about this argument of the call.
static bool is_about(const char *path, const struct call *c, const char *argument)
{
    char line[8192] = "", caller[128], text[128];
    FILE *file = fopen(path, "r");
    while (file && fgets(line, sizeof line, file))
        ;
    if (file)
        fclose(file);
    snprintf(caller, sizeof caller, "\"%s\"", c->name);
    snprintf(text, sizeof text, "\"text\":\"%s: 0x8 (", argument);
    return strstr(line, caller) && strstr(line, text);
}

// Makes the tries from *next on in this process, and counts each in *next before it is made.
// `messages` is the path of the file that gets the messages. Returns how many pointers that lead
// nowhere were not refused.
static int make_calls(const struct call *c, unsigned *next, const char *messages)
{
    unsigned char choice[ARGUMENTS_MAX];
    int taken = 0;
    build_world();
    while (choose(c, *next, choice)) {
        (*next)++;
        const cudaError_t r = c->make(choice);
        const unsigned char *wild = memchr(choice, WILD, c->arguments);
        if (wild && (r != cudaErrorInvalidValue ||
                     !is_about(messages, c, c->argument_names[wild - choice]))) {
            taken++;
            printf("# %s: %s leads nowhere: %s\n", c->name, c->argument_names[wild - choice],
                   cudaGetErrorName(r));
        }
        cudaGetLastError();
    }
    return taken;
}

static unsigned check_call(const struct call *c, unsigned *next, unsigned *crashes)
{
    char path[64], line[8192];
    int status;
    unsigned found = 0;
    bool ended;
    *next = 0;
    do {
        fflush(stdout);
        const pid_t child = fork();
        if (!child) {
            snprintf(path, sizeof path, "json:/tmp/cardless-wrong-%ld.json", (long)getpid());
            setenv("CARDLESS_DIAGNOSTICS", path, 1);
            alarm(SECONDS);
            const int taken = make_calls(c, next, path + strlen("json:"));
            fflush(stdout);
            _exit(taken ? TAKEN : 0);
        }
        waitpid(child, &status, 0);
        snprintf(path, sizeof path, "/tmp/cardless-wrong-%ld.json", (long)child);
        FILE *file = fopen(path, "r");
        while (file && fgets(line, sizeof line, file))
            found += check_line(c, line);
        if (file)
            fclose(file);
        unlink(path);
        ended = WIFEXITED(status);
        *crashes += !ended;
        // A sanitizer that finds a crash ends the process with a status of its own.
        found += ended && WEXITSTATUS(status) == TAKEN;
        found += status && *next <= (unsigned)__builtin_popcount(c->accesses);
        if (!ended)
            printf("# %s: try %u: %s\n", c->name, *next, strsignal(WTERMSIG(status)));
    } while (!ended);
    return found;
}

int main(int argc, char **argv)
{
    unsigned *next = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    unsigned failed = 0, crashes = 0;
    const unsigned count = sizeof calls / sizeof *calls;
    if (next == MAP_FAILED)
        return 1;
    printf("1..%u\n", count);
    for (unsigned i = 0; i < count; i++) {
        if (argc > 1 && strcmp(argv[1], calls[i].name))
            continue;
        const unsigned found = check_call(&calls[i], next, &crashes);
        printf("%sok %u - %s\n", found ? "not " : "", i + 1, calls[i].name);
        failed += found != 0;
    }
    printf("# %u calls that crash\n", crashes);
    return failed != 0;
}
