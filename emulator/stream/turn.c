// SPDX-License-Identifier: MIT
// The processor time of threads, and whether they wait for a processor.
#include "turn.h"

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"

static uint64_t used_ns(clockid_t clock)
{
    struct timespec t = {0};
    clock_gettime(clock, &t);
    return (uint64_t)t.tv_sec * DM_NS_PER_S + (uint64_t)t.tv_nsec;
}

// Whether a thread runs, or would if it got a processor: the last parenthesis of
// /proc/self/task/THREAD/stat is followed by `R`.
static bool is_runnable(long thread)
{
    char path[64], text[512];
    snprintf(path, sizeof path, "/proc/self/task/%ld/stat", thread);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
    if (fd >= 0)
        close(fd);
    text[got < 0 ? 0 : got] = 0;
    const char *end_of_name = strrchr(text, ')');
    return end_of_name && !strncmp(end_of_name, ") R", 3);
}

static bool another_is_runnable(void)
{
    DIR *threads = opendir("/proc/self/task");
    const struct dirent *entry;
    const long self = gettid();
    bool found = false;
    if (!threads)
        return false;
    while (!found && (entry = readdir(threads))) {
        long thread = strtol(entry->d_name, NULL, 10);
        found = thread && thread != self && is_runnable(thread);
    }
    closedir(threads);
    return found;
}

unsigned em_turn_threads(void)
{
    DIR *threads = opendir("/proc/self/task");
    const struct dirent *entry;
    unsigned count = 0;
    if (!threads)
        return 0;
    while ((entry = readdir(threads)))
        count += *entry->d_name != '.';
    closedir(threads);
    return count;
}

struct em_turn em_turn_of_self(void)
{
    struct em_turn t = {.thread = gettid()};
    if (pthread_getcpuclockid(pthread_self(), &t.clock))
        t.clock = CLOCK_PROCESS_CPUTIME_ID;
    t.used_ns = used_ns(t.clock);
    return t;
}

struct em_turn em_turn_of_others(void)
{
    return (struct em_turn){.clock = CLOCK_PROCESS_CPUTIME_ID,
                            .used_ns = used_ns(CLOCK_PROCESS_CPUTIME_ID) -
                                       used_ns(CLOCK_THREAD_CPUTIME_ID)};
}

bool em_had_turn(struct em_turn *t)
{
    uint64_t before_ns = t->used_ns;
    t->used_ns = used_ns(t->clock) - (t->thread ? 0 : used_ns(CLOCK_THREAD_CPUTIME_ID));
    if (t->used_ns > before_ns)
        return true;
    return t->thread ? !is_runnable(t->thread) : !another_is_runnable();
}
