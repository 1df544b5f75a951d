// SPDX-License-Identifier: MIT
// What the driver has said since the last call: for fuzz targets whose every refusal must have a
// code and one sentence.
#pragma once
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz.h"

// One for all files of a target.
__attribute__((weak)) int said_file = -1;

// Before cuInit.
static inline void said_start(void)
{
    char setting[64];
    said_file = memfd_create("said", 0);
    FUZZ_CHECK(said_file >= 0, "no memfd");
    snprintf(setting, sizeof setting, "json:/proc/self/fd/%d", said_file);
    setenv("CARDLESS_DIAGNOSTICS", setting, 1);
}

// Forgets the messages so far.
static inline void said_forget(void)
{
    FUZZ_CHECK(!ftruncate(said_file, 0), "ftruncate");
}

// The number of sentences since then, and the last of them, which `line` holds.
static inline unsigned said_count(char *line, size_t size_B)
{
    unsigned count = 0;
    const off_t size = lseek(said_file, 0, SEEK_END);
    const off_t from = size < (off_t)size_B ? 0 : size - (off_t)size_B + 1;
    const ssize_t got = size ? pread(said_file, line, size_B - 1, from) : 0;
    line[got > 0 ? got : 0] = 0;
    for (const char *at = line; (at = strchr(at, '\n')); at++)
        count++;
    return count;
}

// Whether work may be done after the call that submitted it.
static inline bool said_late(void)
{
    const char *policy = getenv("CARDLESS_POLICY");
    return policy && strcmp(policy, "eager");
}

// After a call that has returned r: a refusal has said one sentence, with its code. Before it a
// call that waits may have said the sentence of the work that failed in it. Returns r.
static inline CUresult said_check(CUresult r, const char *call)
{
    static char line[1 << 16];
    const char *name = NULL;
    char expected[128];
    const unsigned count = said_count(line, sizeof line);
    said_forget();
    if (!r)
        return r;
    FUZZ_CHECK(!cuGetErrorName(r, &name), "%s returned %d, which has no name", call, (int)r);
    snprintf(expected, sizeof expected, "\"result\":\"%s\"", name);
    FUZZ_CHECK(count >= 1 && count <= 1u + said_late() && strstr(line, expected),
               "%s returned %s and said %u sentences: %s", call, name, count, line);
    const char *text = strstr(line, "\"text\":\"");
    FUZZ_CHECK(text && text[8] != '"', "%s: no sentence: %s", call, line);
    return r;
}

#define SAID(call) (said_forget(), said_check((call), #call))
