// SPDX-License-Identifier: MIT
// Detects the CPU's instruction sets, and keeps a table of functions for every set of flags.
#include "convert_table.h"
#include "kn_dsp.h"

#if KN_HAVE_X86
#include <cpuid.h>
#endif
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

#define TABLES (1u << KN_CPU_FLAG_COUNT)

uint64_t kn_stream_min_B = UINT64_MAX;
uint64_t kn_stream_shifted_min_B = UINT64_MAX;
uint64_t kn_prefetch_min_B = 448 << 10;
uint64_t kn_copy_prefetch_min_B = 2 << 20;
uint64_t kn_copy_string_min_B = UINT64_MAX;
uint64_t kn_copy_stream_min_B = UINT64_MAX;
uint64_t kn_wide_max_B = 512 << 10;
uint64_t kn_string_max_B = 2 << 20;

static struct kn_dsp tables[TABLES];
static const struct kn_dsp table_c = {
    .copy = {kn_copy_c, kn_move_c, kn_copy_rows_c},
    .fill = {kn_fill_c, kn_fill_rows_c},
    .tile = {kn_tile_box_c, kn_untile_box_c, kn_retile_box_c},
    .convert = KN_CONVERT_TABLE(c),
    .repack = {{kn_repack_8_c, kn_repack_16_c, kn_repack_32_c}},
};

enum { FRESH, FILLING, READY };
static atomic_int state;
static atomic_uint flags_in_use;
static _Atomic(const struct kn_dsp *) in_use;

#if KN_HAVE_X86
static unsigned x86_flags(void)
{
    unsigned flags = 0, a, b, c, d;

    __builtin_cpu_init();
    // Not all compilers know F16C by name.
    if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & bit_F16C))
        return 0;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2") &&
        __builtin_cpu_supports("fma"))
        flags |= KN_CPU_AVX2;
    if ((flags & KN_CPU_AVX2) && __builtin_cpu_supports("avx512f") &&
        __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl"))
        flags |= KN_CPU_AVX512;
    return flags;
}
#endif

// The limits above are those of Intel's processors. Others were measured on AMD's. On Zen 5, string
// instructions write whole lines without reading them first, at every size: a copy of 4 to 256 MiB
// took 0.65 to 1.0 of the time of memcpy. On Zen 3, streaming stores take about 0.6 of it beyond
// the caches. Both profit from streaming stores of tiled boxes much earlier than the size of L3
// suggests, which sysconf reports for all cores of the machine: on Zen 5, boxes of 4 MiB took 0.7
// of the time, and boxes of 1 MiB 1.1.
#if KN_HAVE_X86
static void tune_for_amd(void)
{
    unsigned a, b, c, d, family;

    if (!__builtin_cpu_is("amd") || !__get_cpuid(1, &a, &b, &c, &d))
        return;
    family = (a >> 8 & 15) + (a >> 20 & 255);
    if (family >= 0x1a) {
        kn_copy_string_min_B = 1 << 20;
        kn_string_max_B = UINT64_MAX;
        kn_stream_min_B = kn_stream_shifted_min_B = 2 << 20;
    } else if (family == 0x19 && !__builtin_cpu_supports("avx512f")) { // Zen 4 has AVX-512
        kn_copy_stream_min_B = 16 << 20;
    }
    // L3 that a core reaches.
    if (family < 0x1a && __get_cpuid_count(0x8000001d, 3, &a, &b, &c, &d) && (a >> 5 & 7) == 3)
        kn_stream_min_B = (uint64_t)((b >> 22) + 1) * ((b >> 12 & 0x3ff) + 1) * ((b & 0xfff) + 1) *
                          ((uint64_t)c + 1) / 4;
}
#endif

unsigned kn_cpu_flags_detected(void)
{
    static atomic_uint
        known; // 1 + the flags; kept because the query costs microseconds under a hypervisor
    unsigned flags = atomic_load_explicit(&known, memory_order_relaxed);

    if (flags)
        return flags - 1;
#if KN_HAVE_X86
    flags |= x86_flags();
#endif
#if KN_HAVE_NEON
    flags |= KN_CPU_NEON; // every AArch64 application processor has it
#endif
    atomic_store_explicit(&known, flags + 1, memory_order_relaxed);
    return flags;
}

static void fill_table(struct kn_dsp *dsp, unsigned flags)
{
    *dsp = table_c;
#if KN_HAVE_X86
    if (flags & KN_CPU_AVX2)
        kn_dsp_init_avx2(dsp);
    if (flags & KN_CPU_AVX512)
        kn_dsp_init_avx512(dsp);
#endif
#if KN_HAVE_NEON
    if (flags & KN_CPU_NEON)
        kn_dsp_init_neon(dsp);
#endif
}

static uint64_t stream_threshold_B(void)
{
    long cache_B = 0;

#ifdef _SC_LEVEL3_CACHE_SIZE
    cache_B = sysconf(_SC_LEVEL3_CACHE_SIZE);
#endif
    if (cache_B < (1l << 20))
        cache_B = 8l << 20;
    return (uint64_t)cache_B / 4;
}

// AVX-512 implies AVX2, whose functions it uses if wider registers gain nothing.
static unsigned let_through(unsigned mask)
{
    return kn_cpu_flags_detected() & (mask & KN_CPU_AVX512 ? mask | KN_CPU_AVX2 : mask);
}

static void use(unsigned mask)
{
    unsigned flags = let_through(mask);

    atomic_store_explicit(&flags_in_use, flags, memory_order_relaxed);
    atomic_store_explicit(&in_use, &tables[flags], memory_order_release);
}

// Returns all sets if the text is not a number in range.
static unsigned mask_from(const char *text)
{
    unsigned long long mask;
    char *end;

    errno = 0;
    mask = strtoull(text, &end, 0);
    return errno || !isdigit((unsigned char)*text) || *end || mask > UINT_MAX ? ~0u
                                                                              : (unsigned)mask;
}

// The first thread fills the tables. Others use the C references meanwhile, instead of waiting.
void kn_init(void)
{
    int fresh = FRESH, error = errno;
    const char *text;
    unsigned mask = ~0u;

    if (!atomic_compare_exchange_strong(&state, &fresh, FILLING))
        return;
    for (unsigned flags = 0; flags < TABLES; flags++)
        fill_table(&tables[flags], let_through(flags));
    kn_stream_min_B = stream_threshold_B();
#if KN_HAVE_X86
    tune_for_amd();
#endif
    text = secure_getenv("CARDLESS_CPU_MASK");
    if (text)
        mask = mask_from(text);
    errno = error;
    use(mask);
    atomic_store_explicit(&state, READY, memory_order_release);
}

const struct kn_dsp *kn_dsp(void)
{
    const struct kn_dsp *dsp = atomic_load_explicit(&in_use, memory_order_acquire);

    if (__builtin_expect(!dsp, 0)) {
        kn_init();
        dsp = atomic_load_explicit(&in_use, memory_order_acquire);
        if (!dsp)
            dsp = &table_c;
    }
    return dsp;
}

const struct kn_dsp *kn_dsp_for(unsigned flags)
{
    kn_init();
    if (atomic_load_explicit(&state, memory_order_acquire) != READY)
        return &table_c;
    return &tables[let_through(flags)];
}

unsigned kn_cpu_flags(void)
{
    kn_init();
    return atomic_load_explicit(&flags_in_use, memory_order_relaxed);
}

void kn_set_cpu_mask(unsigned mask)
{
    kn_init();
    if (atomic_load_explicit(&state, memory_order_acquire) == READY)
        use(mask);
}

const char *kn_cpu_name(unsigned flags)
{
    return flags & KN_CPU_AVX512 ? "avx512"
           : flags & KN_CPU_AVX2 ? "avx2"
           : flags & KN_CPU_NEON ? "neon"
                                 : "c";
}
