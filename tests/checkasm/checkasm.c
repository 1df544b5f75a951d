// SPDX-License-Identifier: MIT
// Tests every SIMD function of kernels/ against its C reference, and benchmarks them.
#include "bench.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static uint64_t random_state = 1, first_seed;
static unsigned rounds = 1, part = 1;
static unsigned failures;
static unsigned current_flags;
static const char *running = "?"; // the function under test
static unsigned cases;            // its cases so far
static sigjmp_buf after_crash;

uint64_t ca_random(void)
{
    // splitmix64
    uint64_t v = random_state += UINT64_C(0x9e3779b97f4a7c15);

    v = (v ^ v >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    v = (v ^ v >> 27) * UINT64_C(0x94d049bb133111eb);
    return v ^ v >> 31;
}

uint64_t ca_below(uint64_t limit)
{
    return ca_random() % limit;
}

unsigned ca_cases(unsigned count)
{
    return (count * rounds + part - 1) / part;
}

void ca_random_bytes(void *dst, size_t size_B)
{
    uint8_t *d = dst;

    for (size_t i = 0; i < size_B; i += 8) {
        uint64_t v = ca_random();
        memcpy(d + i, &v, size_B - i < 8 ? size_B - i : 8);
    }
}

uint64_t ca_random_size(uint64_t limit)
{
    uint64_t size;

    switch (ca_below(4)) {
    case 0:
        size = ca_below(130);
        break;
    case 1:
        size = (UINT64_C(1) << ca_below(64 - (unsigned)__builtin_clzll(limit))) + ca_below(5) - 2;
        break;
    case 2:
        size = ca_below(2048);
        break;
    default:
        size = ca_below(limit + 1);
        break;
    }
    return size > limit ? ca_below(limit + 1) : size;
}

void ca_arena_init(struct ca_arena *arena, size_t size_B)
{
    size_t page_B = (size_t)sysconf(_SC_PAGESIZE);
    uint8_t *map;

    arena->size_B = (size_B + page_B - 1) / page_B * page_B;
    map = mmap(NULL, arena->size_B + 2 * page_B, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (map == MAP_FAILED || mprotect(map + page_B, arena->size_B, PROT_READ | PROT_WRITE)) {
        perror("checkasm: mmap");
        exit(99);
    }
    arena->base = map + page_B;
}

void ca_arena_finish(struct ca_arena *arena)
{
    size_t page_B = (size_t)sysconf(_SC_PAGESIZE);

    munmap(arena->base - page_B, arena->size_B + 2 * page_B);
}

static void protect(struct ca_arena *arena, int protection)
{
    if (mprotect(arena->base, arena->size_B, protection)) {
        perror("checkasm: mprotect");
        exit(99);
    }
}

void ca_arena_seal(struct ca_arena *arena)
{
    protect(arena, PROT_READ);
}

void ca_arena_unseal(struct ca_arena *arena)
{
    protect(arena, PROT_READ | PROT_WRITE);
}

size_t ca_arena_place(const struct ca_arena *arena, size_t need_B)
{
    size_t room_B = arena->size_B - need_B;

    switch (ca_below(4)) {
    case 0:
        return 0;
    case 1:
        return room_B;
    case 2:
        return ca_below(room_B + 1) & ~(size_t)63;
    default:
        return ca_below(room_B + 1);
    }
}

void ca_fail(const char *function, const char *format, ...)
{
    va_list args;

    if (failures++ >= 10)
        return;
    fprintf(stderr, "FAIL %s_%s: ", function, kn_cpu_name(current_flags));
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
}

int ca_same(const char *function, const struct ca_arena *got, const struct ca_arena *expected,
            const char *format, ...)
{
    char what[256];
    va_list args;
    size_t at = 0;

    cases++;
    if (!memcmp(got->base, expected->base, got->size_B))
        return 1;
    while (got->base[at] == expected->base[at])
        at++;
    va_start(args, format);
    vsnprintf(what, sizeof(what), format, args);
    va_end(args);
    ca_fail(function, "%s: at %zu of the arena: got %02x, expected %02x", what, at, got->base[at],
            expected->base[at]);
    memcpy(got->base, expected->base, got->size_B);
    return 0;
}

void ca_begin(const char *function)
{
    running = function;
    cases = 0;
}

// If a kernel faults, its family fails, and the next family is tested.
static void crashed(int number, siginfo_t *info, void *context)
{
    (void)context;
    failures++;
    fprintf(stderr, "CRASH %s: %s: %s at %p in case %u (seed %llu)\n", kn_cpu_name(current_flags),
            running, strsignal(number), info->si_addr, cases, (unsigned long long)first_seed);
    siglongjmp(after_crash, 1);
}

static void catch_crashes(void)
{
    static const int signals[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE};
    struct sigaction action = {.sa_sigaction = crashed, .sa_flags = SA_SIGINFO};

    for (unsigned i = 0; i < sizeof(signals) / sizeof(*signals); i++)
        sigaction(signals[i], &action, NULL);
}

static void check_family(ca_check_fn *check)
{
    uint64_t *const limits[] = {
        &kn_stream_min_B,        &kn_stream_shifted_min_B, &kn_prefetch_min_B,     &kn_far_min_B,
        &kn_copy_prefetch_min_B, &kn_copy_string_min_B,    &kn_copy_stream_min_B,  &kn_wide_max_B,
        &kn_string_max_B,        &kn_fill_stream_min_B,    &kn_untile_rows_pitch_B};
    enum { LIMITS = sizeof(limits) / sizeof(*limits) };
    uint64_t before[LIMITS];

    for (unsigned i = 0; i < LIMITS; i++)
        before[i] = *limits[i];
    if (!sigsetjmp(after_crash, 1))
        check(kn_dsp());
    for (unsigned i = 0; i < LIMITS; i++)
        *limits[i] = before[i];
}

static void check_all(void)
{
    // The first tests plain C alone, and the next four test plain C too: the references against
    // models, and fetches of textures.
    static ca_check_fn *const all[] = {
        ca_check_lane_models, ca_check_models, ca_check_convert_models, ca_check_sample,
        ca_check_surface,     ca_check_copy,   ca_check_fill,           ca_check_tile,
        ca_check_convert,     ca_check_lanes,  ca_check_chains};
    enum { ALL = sizeof(all) / sizeof(*all) };

    catch_crashes();
    for (unsigned flags = 0; flags < 1u << KN_CPU_FLAG_COUNT; flags = flags << 1 | 1) {
        kn_set_cpu_mask(flags);
        if (flags && kn_cpu_flags() == current_flags)
            continue;
        current_flags = kn_cpu_flags();
        printf("%s\n", kn_cpu_name(current_flags));
        fflush(stdout);
        for (unsigned i = current_flags ? 1 : 0; i < (current_flags ? ALL : 5); i++)
            check_family(all[i]);
    }
}

int main(int argc, char **argv)
{
    uint64_t seed = 1, min_B = 4 << 10, max_B = 16 << 20;
    const char *bench = NULL;
    unsigned milliseconds = 100;
    bool random_boxes = false;

    for (int i = 1; i < argc; i++) {
        if (!strncmp(argv[i], "--seed=", 7)) {
            seed = strtoull(argv[i] + 7, NULL, 0);
        } else if (!strncmp(argv[i], "--rounds=", 9)) {
            rounds = (unsigned)strtoul(argv[i] + 9, NULL, 0);
        } else if (!strncmp(argv[i], "--part=", 7)) {
            part = (unsigned)strtoul(argv[i] + 7, NULL, 0);
            part += !part;
        } else if (!strcmp(argv[i], "--bench")) {
            bench = "";
        } else if (!strncmp(argv[i], "--bench=", 8)) {
            bench = argv[i] + 8;
        } else if (!strcmp(argv[i], "--random-boxes")) {
            bench = "", random_boxes = true;
        } else if (!strncmp(argv[i], "--min=", 6)) {
            min_B = strtoull(argv[i] + 6, NULL, 0) << 10;
        } else if (!strncmp(argv[i], "--max=", 6)) {
            max_B = strtoull(argv[i] + 6, NULL, 0) << 10;
        } else if (!strncmp(argv[i], "--time=", 7)) {
            milliseconds = (unsigned)strtoul(argv[i] + 7, NULL, 0);
        } else {
            fprintf(stderr, "usage: checkasm [--seed=N] [--rounds=N] [--part=N]\n"
                            "       checkasm --bench[=function] [--min=KiB] [--max=KiB] "
                            "[--time=milliseconds a row]\n"
                            "       checkasm --random-boxes [--seed=N] …\n");
            return 2;
        }
    }
    random_state = first_seed = seed;
    if (bench && min_B) {
        ca_bench_begin(*bench ? bench : NULL, max_B, milliseconds);
        if (random_boxes) {
            ca_bench_random_boxes(min_B, max_B);
            return 0;
        }
        ca_bench_copy(min_B, max_B);
        ca_bench_fill(min_B, max_B);
        ca_bench_tile(min_B, max_B);
        ca_bench_layout(min_B, max_B);
        ca_bench_floor(min_B, max_B);
        ca_bench_convert();
        ca_bench_lanes(*bench ? bench : NULL, milliseconds);
        return 0;
    }
    check_all();
    printf("checkasm: %u failures (seed %llu)\n", failures, (unsigned long long)seed);
    return failures != 0;
}
