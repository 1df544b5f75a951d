// SPDX-License-Identifier: MIT
// Format conversion: entry points. A conversion is a sequence of steps, each of them a function of
// the table: repack the channels, decode to the 32-bit form, change its class, encode. Blocks of a
// row pass through the steps in two buffers in the L1 cache.
#include "kn_convert.h"
#include "kn_dsp.h"

#include <string.h>

#define BLOCK 256 // elements
#define STEPS_MAX 5

static const struct {
    uint8_t class, channel_B;
    uint32_t one;
} kinds[KN_KIND_COUNT] = {
#define KIND_ROW(name, class, channel_B, one) {KN_CLASS_##class, channel_B, one},
    KN_KIND_LIST(KIND_ROW)
#undef KIND_ROW
};
static const uint32_t wide_one[KN_CLASS_COUNT] = {
    [KN_CLASS_FLOAT] = 0x3f800000, [KN_CLASS_UINT] = 1, [KN_CLASS_SINT] = 1};

struct step {
    enum { COPY, REPACK, DECODE, CAST, ENCODE } what;
    uint8_t channels;
    union {
        kn_copy_fn *copy;
        kn_decode_fn *decode;
        kn_encode_fn *encode;
        kn_cast_fn *cast;
        kn_repack_fn *repack;
    };
    struct kn_repack how;
    uint32_t in_B, out_B; // bytes of an element before and after
};

struct plan {
    struct step steps[STEPS_MAX];
    unsigned count;
};

uint32_t kn_format_B(struct kn_format f)
{
    if (f.kind >= KN_KIND_COUNT || f.channels < 1 || f.channels > 4 || (f.bgr && f.channels < 3))
        return 0;
    if (f.kind == KN_KIND_UNORM10_2)
        return f.channels == 4 ? 4 : 0;
    return (uint32_t)kinds[f.kind].channel_B * f.channels;
}

static struct step *plan_add(struct plan *plan, int what, uint32_t in_B, uint32_t out_B,
                             unsigned channels)
{
    struct step *s = &plan->steps[plan->count++];

    s->what = what;
    s->channels = (uint8_t)channels;
    s->in_B = in_B;
    s->out_B = out_B;
    return s;
}

// Position at which the channel `c` of R, G, B, A is stored.
static unsigned channel_position(struct kn_format f, unsigned c)
{
    return f.bgr && c < 3 ? 2 - c : c;
}

void kn_repack_prepare(struct kn_repack *how, unsigned channel_B)
{
    unsigned from_B = how->src_channels * channel_B, to_B = how->dst_channels * channel_B;

    how->group = (uint8_t)(16 / (from_B > to_B ? from_B : to_B));
    memset(how->shuffle, 0x80, sizeof(how->shuffle));
    memset(how->over, 0, sizeof(how->over));
    for (unsigned element = 0; element < how->group; element++) {
        for (unsigned c = 0; c < how->dst_channels; c++) {
            unsigned at = element * to_B + c * channel_B, from = how->from[c];
            if (from == KN_REPACK_ONE)
                memcpy(how->over + at, &how->one, channel_B);
            for (unsigned b = 0; b < channel_B && from < KN_REPACK_ZERO; b++)
                how->shuffle[at + b] = (uint8_t)(element * from_B + from * channel_B + b);
        }
    }
}

static void plan_add_repack(struct plan *plan, const struct kn_dsp *dsp, struct kn_format dst,
                            struct kn_format src, unsigned channel_B, uint32_t one, uint64_t width)
{
    struct step *s =
        plan_add(plan, REPACK, channel_B * src.channels, channel_B * dst.channels, dst.channels);

    s->repack = dsp->repack.repack[channel_B >> 1];
    s->how.one = one;
    s->how.dst_channels = dst.channels;
    s->how.src_channels = src.channels;
    for (unsigned c = 0; c < dst.channels; c++)
        s->how.from[channel_position(dst, c)] =
            (uint8_t)(c < src.channels ? channel_position(src, c)
                      : c == 3         ? KN_REPACK_ONE
                                       : KN_REPACK_ZERO);
    if (width >= KN_REPACK_SHORT)
        kn_repack_prepare(&s->how, channel_B);
}

static void plan_init(struct plan *plan, const struct kn_dsp *dsp, struct kn_format dst,
                      struct kn_format src, uint64_t width)
{
    unsigned src_B = kinds[src.kind].channel_B, dst_B = kinds[dst.kind].channel_B,
             channels = src.channels;
    unsigned src_class = kinds[src.kind].class, dst_class = kinds[dst.kind].class;
    bool repack = src.channels != dst.channels || src.bgr != dst.bgr;
    enum { NOWHERE, BEFORE, BETWEEN, AFTER } where = NOWHERE;

    plan->count = 0;
    if (src.kind == dst.kind && !repack) {
        plan_add(plan, COPY, kn_format_B(src), kn_format_B(dst), channels)->copy = dsp->copy.copy;
        return;
    }
    if (src.kind == dst.kind && src_B) {
        plan_add_repack(plan, dsp, dst, src, src_B, kinds[src.kind].one, width);
        return;
    }
    // Repack channels when they are narrowest. Channels of a packed kind must be unpacked first.
    if (repack)
        where = src_B && (!dst_B || src_B <= dst_B) ? BEFORE : dst_B ? AFTER : BETWEEN;
    if (where == BEFORE) {
        plan_add_repack(plan, dsp, dst, src, src_B, kinds[src.kind].one, width);
        channels = dst.channels;
    }
    if (dsp->convert.decode[src.kind])
        plan_add(plan, DECODE, src_B ? src_B * channels : 4, 4 * channels, channels)->decode =
            dsp->convert.decode[src.kind];
    if (src_class != dst_class)
        plan_add(plan, CAST, 4 * channels, 4 * channels, channels)->cast =
            dsp->convert.cast[dst_class][src_class];
    if (where == BETWEEN)
        plan_add_repack(plan, dsp, dst, src, 4, wide_one[dst_class], width);
    if (dsp->convert.encode[dst.kind])
        plan_add(plan, ENCODE, 4 * channels, dst_B ? dst_B * channels : 4, channels)->encode =
            dsp->convert.encode[dst.kind];
    if (where == AFTER)
        plan_add_repack(plan, dsp, dst, src, dst_B, kinds[dst.kind].one, width);
}

static void run_step(const struct step *s, void *dst, const void *src, uint64_t count)
{
    switch (s->what) {
    case COPY:
        s->copy(dst, src, count * s->in_B);
        break;
    case REPACK:
        s->repack(dst, src, &s->how, count);
        break;
    case DECODE:
        s->decode(dst, src, count * s->channels, s->channels);
        break;
    case CAST:
        s->cast(dst, src, count * s->channels);
        break;
    case ENCODE:
        s->encode(dst, src, count * s->channels, s->channels);
        break;
    }
}

static void run_plan(const struct plan *plan, void *dst, const void *src, uint64_t count)
{
    _Alignas(64) uint8_t stage[2][BLOCK * 16];
    uint8_t *d = dst;
    const uint8_t *s = src;
    const struct step *last = &plan->steps[plan->count - 1];

    if (plan->count == 1) {
        run_step(last, dst, src, count);
        return;
    }
    for (uint64_t done = 0, now; done < count; done += now) {
        const void *in = s + done * plan->steps[0].in_B;
        now = count - done < BLOCK ? count - done : BLOCK;
        for (unsigned i = 0; i + 1 < plan->count; i++) {
            run_step(&plan->steps[i], stage[i & 1], in, now);
            in = stage[i & 1];
        }
        run_step(last, d + done * last->out_B, in, now);
    }
}

void kn_convert_rows_by(const struct kn_dsp *dsp, const struct kn_texels *dst,
                        const struct kn_texels *src, uint64_t width, uint64_t rows)
{
    struct plan plan;

    if (!kn_format_B(dst->format) || !kn_format_B(src->format) || !width)
        return;
    plan_init(&plan, dsp, dst->format, src->format, width);
    for (uint64_t row = 0; row < rows; row++)
        run_plan(&plan, (uint8_t *)dst->first + row * dst->pitch_B,
                 (const uint8_t *)src->first + row * src->pitch_B, width);
}

void kn_convert_rows(const struct kn_texels *dst, const struct kn_texels *src, uint64_t width,
                     uint64_t rows)
{
    kn_convert_rows_by(kn_dsp(), dst, src, width, rows);
}

void kn_convert_row(void *dst, struct kn_format dst_format, const void *src,
                    struct kn_format src_format, uint64_t count)
{
    struct kn_texels to = {dst, 0, dst_format};
    struct kn_texels from = {(void *)(uintptr_t)src, 0, src_format};

    kn_convert_rows(&to, &from, count, 1);
}
