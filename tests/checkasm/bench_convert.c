// SPDX-License-Identifier: MIT
// Benchmarks of the conversion family against the scalar references in C.
#include "bench.h"

#include <stdio.h>
#include <string.h>

static void run_convert(const struct kn_dsp *dsp, const struct ca_bench *b, uint8_t *dst,
                        const uint8_t *src)
{
    const struct kn_dsp *d = dsp ? dsp : kn_dsp_for(0);

    kn_convert_rows_by(d, &(struct kn_texels){dst, 0, b->dst_format},
                       &(struct kn_texels){(void *)(uintptr_t)src, 0, b->src_format}, b->width_B,
                       1);
}

static const char *text(struct kn_format f)
{
    static const char *const names[] = {
#define NAME(name, class, channel_B, one) #name,
        KN_KIND_LIST(NAME)
#undef NAME
    };
    static char texts[2][24];
    static unsigned turn;
    char *t = texts[turn++ & 1];

    snprintf(t, sizeof(texts[0]), "%s%s x%u", names[f.kind], f.bgr ? " bgr" : "", f.channels);
    return t;
}

void ca_bench_convert(void)
{
#define PAIR(from, n, to, m)                                                                       \
    {                                                                                              \
        KN_FORMAT(from, n), KN_FORMAT(to, m)                                                       \
    }
    static const struct {
        struct kn_format src, dst;
    } pairs[] = {
        PAIR(UNORM8, 4, FLOAT, 4),
        PAIR(FLOAT, 4, UNORM8, 4),
        PAIR(UNORM16, 4, FLOAT, 4),
        PAIR(FLOAT, 4, UNORM16, 4),
        PAIR(SNORM8, 4, FLOAT, 4),
        PAIR(FLOAT, 4, SNORM8, 4),
        PAIR(SNORM16, 4, FLOAT, 4),
        PAIR(FLOAT, 4, SNORM16, 4),
        PAIR(HALF, 4, FLOAT, 4),
        PAIR(FLOAT, 4, HALF, 4),
        PAIR(SRGB8, 4, FLOAT, 4),
        PAIR(FLOAT, 4, SRGB8, 4),
        PAIR(SRGB8, 1, FLOAT, 1),
        PAIR(FLOAT, 1, SRGB8, 1),
        PAIR(UNORM10_2, 4, FLOAT, 4),
        PAIR(FLOAT, 4, UNORM10_2, 4),
        PAIR(UINT8, 4, UINT32, 4),
        PAIR(UINT32, 4, UINT8, 4),
        PAIR(SINT16, 4, SINT32, 4),
        PAIR(SINT32, 4, SINT16, 4),
        PAIR(SINT32, 4, UINT8, 4),
        PAIR(UINT32, 1, FLOAT, 1),
        PAIR(FLOAT, 1, SINT32, 1),
        PAIR(UNORM8, 1, FLOAT, 4),
        PAIR(UNORM8, 3, FLOAT, 4),
        PAIR(FLOAT, 4, UNORM8, 3),
        PAIR(UNORM8, 4, HALF, 4),
        PAIR(HALF, 4, UNORM8, 4),
        PAIR(UNORM8, 4, UNORM16, 4),
        PAIR(UNORM8, 4, SRGB8, 4),
        {KN_FORMAT(UNORM8, 3), KN_FORMAT(UNORM8, 4)},
        {KN_FORMAT(UNORM8, 4), KN_FORMAT(UNORM8, 3)},
        {KN_FORMAT(UNORM8, 4), KN_FORMAT_BGR(UNORM8, 4)},
        {KN_FORMAT_BGR(UNORM8, 3), KN_FORMAT(UNORM8, 4)},
        {KN_FORMAT(UNORM8, 1), KN_FORMAT(UNORM8, 4)},
        {KN_FORMAT(HALF, 3), KN_FORMAT(HALF, 4)},
        {KN_FORMAT(FLOAT, 4), KN_FORMAT(FLOAT, 3)},
    };

    for (unsigned big = 0; big < 2; big++) {
        for (unsigned i = 0; i < sizeof(pairs) / sizeof(*pairs); i++) {
            uint64_t dst_B = kn_format_B(pairs[i].dst), src_B = kn_format_B(pairs[i].src);
            struct ca_bench b = {.name = "convert",
                                 .run = run_convert,
                                 .dst_format = pairs[i].dst,
                                 .src_format = pairs[i].src,
                                 .target = big ? 0 : 4};
            b.width_B = (big ? 8 << 20 : 64 << 10) / (dst_B + src_B);
            b.dst_need_B = b.width_B * dst_B;
            b.src_need_B = b.width_B * src_B;
            b.bytes = b.dst_need_B + b.src_need_B;
            snprintf(b.detail, sizeof(b.detail), "%s %s > %s",
                     ca_size_text(big ? 8 << 20 : 64 << 10), text(b.src_format),
                     text(b.dst_format));
            ca_bench_row(&b);
        }
    }
}
