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
uint64_t kn_far_min_B = 448 << 10;
uint64_t kn_copy_prefetch_min_B = 2 << 20;
uint64_t kn_copy_string_min_B = UINT64_MAX;
uint64_t kn_copy_stream_min_B = UINT64_MAX;
unsigned kn_copy_stream_pages = 1;
uint64_t kn_wide_max_B = 512 << 10;
uint64_t kn_string_max_B = 2 << 20;
uint64_t kn_fill_stream_min_B = UINT64_MAX;
uint64_t kn_untile_rows_pitch_B;

// Streaming stores take lines out of the caches, so a box that fits into L2 is read again from
// memory afterwards. On Zen 5 they made boxes of 1 MiB slower and boxes of 4 MiB faster, whatever
// the size of L3 is, and a hypervisor may report one that is too small.
enum { STREAM_LEAST_B = 2 << 20 };

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

// The size from which tiled boxes use streaming stores, by the size of L3.
static uint64_t stream_min_B(uint64_t cache_B)
{
    return cache_B / 4 > STREAM_LEAST_B ? cache_B / 4 : STREAM_LEAST_B;
}

#if KN_HAVE_X86
// The compiler's own detection would run whenever the library is loaded. It asks about more leaves,
// each of which takes some microseconds under a hypervisor.
struct leaf {
    unsigned a, b, c, d;
};

static struct leaf read_leaf(unsigned number, unsigned part)
{
    struct leaf l;
    __cpuid_count(number, part, l.a, l.b, l.c, l.d);
    return l;
}

// The registers that the system saves and restores.
static uint64_t saved_registers(void)
{
    unsigned low, high;
    __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return (uint64_t)high << 32 | low;
}

static bool has(unsigned bits, unsigned wanted)
{
    return (bits & wanted) == wanted;
}

// The family if the processor is AMD's, else 0. Set with the flags.
static atomic_uint amd_family;
static atomic_bool intel; // set with the flags

static bool is_amd(const struct leaf *most)
{
    return most->b == signature_AMD_ebx && most->c == signature_AMD_ecx &&
           most->d == signature_AMD_edx;
}

static bool is_intel(const struct leaf *most)
{
    return most->b == signature_INTEL_ebx && most->c == signature_INTEL_ecx &&
           most->d == signature_INTEL_edx;
}

// The size of a data cache as leaves 4 (Intel) and 0x8000001d (AMD) describe it, in parts numbered
// from 0; or 0 if there is none of this level.
static uint64_t data_cache_B(unsigned leaf, unsigned level)
{
    enum { INSTRUCTIONS = 2, PARTS = 8 };

    for (unsigned part = 0; part < PARTS; part++) {
        const struct leaf cache = read_leaf(leaf, part);

        if (!(cache.a & 31))
            break;
        if ((cache.a & 31) != INSTRUCTIONS && (cache.a >> 5 & 7) == level)
            return (uint64_t)((cache.b >> 22) + 1) * ((cache.b >> 12 & 0x3ff) + 1) *
                   ((cache.b & 0xfff) + 1) * ((uint64_t)cache.c + 1);
    }
    return 0;
}

static unsigned x86_flags(void)
{
    const unsigned avx_registers = 0x6, avx512_registers = 0xe6;
    const struct leaf most = read_leaf(0, 0), features = read_leaf(1, 0);
    if (is_amd(&most))
        atomic_store_explicit(&amd_family, (features.a >> 8 & 15) + (features.a >> 20 & 255),
                              memory_order_relaxed);
    if (is_intel(&most))
        atomic_store_explicit(&intel, true, memory_order_relaxed);
    if (most.a < 7 || !has(features.c, bit_OSXSAVE | bit_AVX | bit_FMA | bit_F16C))
        return 0;
    const struct leaf extended = read_leaf(7, 0);
    const unsigned saved = (unsigned)saved_registers();
    if (!has(saved, avx_registers) || !has(extended.b, bit_AVX2 | bit_BMI2))
        return 0;
    const bool wide = has(saved, avx512_registers) &&
                      has(extended.b, bit_AVX512F | bit_AVX512BW | bit_AVX512DQ | bit_AVX512VL);
    return wide ? KN_CPU_AVX2 | KN_CPU_AVX512 : KN_CPU_AVX2;
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

// For limits that plain C reads, which runs while another thread is in kn_init().
static void set_limit(uint64_t *limit_B, uint64_t value_B)
{
    __atomic_store_n(limit_B, value_B, __ATOMIC_RELAXED);
}

#if KN_HAVE_X86
// The limits above were measured on Intel's Cascade Lake (L1 of 32 KiB). Intel's processors from
// Ice Lake on have a larger L1 and more lines in flight. On family 6, model 207 (L1 of 48 KiB, L2
// of 2 MiB), tiling and untiling took 0.4 to 0.95 of the time if they prefetched from 8 KiB on,
// copies and tiled boxes beyond L2 0.55 to 0.8 of it with streaming stores, and fills of 64 MiB
// 0.6. String stores were as fast as memset at every size, plain ones 0.75 as fast.
static void tune_for_intel(void)
{
    enum { LEAF = 4, L1_MIN_B = 48 << 10, FILL_STREAM_MIN_B = 32 << 20 };
    uint64_t l2_B;

    if (!atomic_load_explicit(&intel, memory_order_relaxed) || read_leaf(0, 0).a < LEAF ||
        data_cache_B(LEAF, 1) < L1_MIN_B)
        return;
    l2_B = data_cache_B(LEAF, 2);
    set_limit(&kn_prefetch_min_B, 8 << 10);
    set_limit(&kn_far_min_B, 128 << 10);
    kn_copy_stream_min_B = 2 * l2_B > STREAM_LEAST_B ? 2 * l2_B : STREAM_LEAST_B;
    set_limit(&kn_stream_min_B, kn_copy_stream_min_B);
    kn_copy_stream_pages = 8;
    kn_string_max_B = UINT64_MAX;
    kn_fill_stream_min_B = FILL_STREAM_MIN_B;
}

// On Zen 5, string instructions write whole lines without reading them first, at every size: a copy
// of 4 to 256 MiB took 0.65 to 1.0 of the time of memcpy. On Zen 3, streaming stores take about 0.6
// of it beyond the caches, and on Zen 4 those to four pages 0.6 to 0.8 from 16 MiB on. Both profit
// from streaming stores of tiled boxes much earlier than the size of L3 suggests, which sysconf
// reports for all cores of the machine: on Zen 5, boxes of 4 MiB took 0.7 of the time, and boxes of
// 1 MiB 1.1; on Zen 4, boxes of 8 MiB 0.4 to 0.6, and boxes of 4 MiB 0.5 to 1.3.
//
// On Zen 3, streaming stores fill 1.4 to 1.6 times as fast as plain ones from 64 MiB on, and half
// as fast up to 16 MiB. Stores to eight rows whose distance is a multiple of 1 KiB are slow unless
// 512 bytes of a row follow each other: 9 GB/s beside 13.
//
// On Zen 4, prefetching made boxes of 1 to 4 MiB take 1.03 to 1.3 of the time, and copies 1.1 to 2.
static void tune_for_amd(void)
{
    enum { LEAF = 0x8000001d };
    const unsigned family = atomic_load_explicit(&amd_family, memory_order_relaxed);
    uint64_t l3_B; // that a core reaches

    if (!family)
        return;
    if (family >= 0x1a) {
        kn_copy_string_min_B = 1 << 20;
        kn_string_max_B = UINT64_MAX;
        set_limit(&kn_stream_min_B, STREAM_LEAST_B);
        set_limit(&kn_stream_shifted_min_B, STREAM_LEAST_B);
        return;
    }
    if (family == 0x19)
        kn_copy_stream_min_B = 16 << 20;
    if (read_leaf(0x80000000, 0).a < LEAF)
        return;
    l3_B = data_cache_B(LEAF, 3);
    if (l3_B)
        set_limit(&kn_stream_min_B, stream_min_B(l3_B));
    if (family == 0x19 && !(kn_cpu_flags_detected() & KN_CPU_AVX512)) { // Zen 3
        kn_fill_stream_min_B = l3_B ? l3_B : UINT64_MAX;
        kn_untile_rows_pitch_B = 1024;
    } else if (family == 0x19) { // Zen 4
        kn_copy_stream_pages = 4;
        set_limit(&kn_copy_prefetch_min_B, UINT64_MAX);
        set_limit(&kn_prefetch_min_B, UINT64_MAX);
        set_limit(&kn_stream_shifted_min_B, stream_min_B(l3_B));
    }
}
#endif

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
    return stream_min_B(cache_B > 0 ? (uint64_t)cache_B : 0);
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
    set_limit(&kn_stream_min_B, stream_threshold_B());
    for (unsigned flags = 0; flags < TABLES; flags++)
        fill_table(&tables[flags], let_through(flags));
#if KN_HAVE_X86
    tune_for_amd();
    tune_for_intel();
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
