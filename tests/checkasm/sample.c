// SPDX-License-Identifier: MIT
// Tests of texture fetches: those that sample 32 lanes at once against the one that samples lane by
// lane, over random textures, and coordinates inside, outside and far away.
#include "kn_sample.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "checkasm.h"
#include "sample/fast.h"

enum { TEXTURE_B = 1 << 16, TEXTURES = 400, LANES = KN_FETCH_LANES };

static const enum kn_texel texels[] = {
    KN_TEXEL_UNORM8, KN_TEXEL_UNORM16, KN_TEXEL_FLOAT,  KN_TEXEL_HALF,  KN_TEXEL_UINT8,
    KN_TEXEL_UINT16, KN_TEXEL_UINT32,  KN_TEXEL_SINT32, KN_TEXEL_SINT8, KN_TEXEL_SINT16,
};
static const enum kn_texture_shape shapes[] = {KN_TEXTURE_1D, KN_TEXTURE_2D, KN_TEXTURE_1D_LAYERED,
                                               KN_TEXTURE_2D_LAYERED};

static bool has_layers(const struct kn_texture *t)
{
    return t->shape == KN_TEXTURE_1D_LAYERED || t->shape == KN_TEXTURE_2D_LAYERED;
}

// Chooses how the texels lie in memory. Returns the bytes of all layers.
static uint64_t choose_layout(struct kn_texture *t)
{
    struct kn_texture_level *l = &t->level[0];
    const uint64_t row_B = (uint64_t)l->width * kn_texel_B(t->texel, t->channels);
    uint64_t layer_B;

    t->block_linear = ca_below(2);
    if (t->block_linear) {
        const unsigned height_log2 = (unsigned)ca_below(3);
        const uint32_t block = 8u << height_log2;
        l->tiled = (struct kn_tiled){.width_gob = (uint32_t)((row_B + 63) / 64),
                                     .height_gob = (l->height + block - 1) / block << height_log2,
                                     .block_height_log2 = (uint8_t)height_log2};
        layer_B = kn_tiled_size_B(&l->tiled, 1);
    } else {
        l->pitch_B = row_B + 4 * ca_below(3);
        layer_B = l->pitch_B * (l->height - 1) + row_B;
    }
    l->layer_B = has_layers(t) ? layer_B : 0;
    return layer_B * t->layers;
}

// Chooses a texture that fits into the arena, at its end: reads behind it fault.
static void choose_texture(struct kn_texture *t, const struct ca_arena *memory)
{
    uint64_t size_B;

    memset(t, 0, sizeof(*t));
    t->shape = shapes[ca_below(sizeof(shapes) / sizeof(*shapes))];
    t->texel = texels[ca_below(sizeof(texels) / sizeof(*texels))];
    t->levels = 1;
    t->normalized = ca_below(2);
    t->linear = ca_below(2);
    for (unsigned i = 0; i < 3; i++) {
        t->address[i] = (enum kn_address)ca_below(4);
        t->border[i] = (float)ca_below(300) / 256;
    }
    do {
        const bool row = t->shape == KN_TEXTURE_1D || t->shape == KN_TEXTURE_1D_LAYERED;
        t->channels = (uint8_t)(1u << ca_below(3));
        t->layers = has_layers(t) ? (uint32_t)(1 + ca_below(4)) : 1;
        t->level[0] = (struct kn_texture_level){.width = (uint32_t)(1 + ca_random_size(300)),
                                                .height = row ? 1 : (uint32_t)(1 + ca_below(60)),
                                                .depth = 1};
        size_B = choose_layout(t);
    } while (size_B > memory->size_B);
    t->level[0].base = memory->base + memory->size_B - size_B;
    kn_texture_prepare(t);
}

static uint32_t bits_of(float f)
{
    uint32_t bits;

    memcpy(&bits, &f, sizeof(bits));
    return bits;
}

// A coordinate of an axis with `size` texels.
static uint32_t coordinate(const struct kn_texture *t, uint32_t size)
{
    static const uint32_t edges[] = {0x7f800000, 0xff800000, 0x7fc00000, 0x00000001, 0x807fffff,
                                     0x80000000, 0xae000000, 0x3f7fffff, 0x3f800001, 0x4b7fffff,
                                     0x4f000000, 0xcf000000, 0x7f7fffff, 0xcaffffff};
    const float unit = t->normalized ? 1.0f / (float)size : 1.0f;

    switch (ca_below(8)) {
    case 0:
        return edges[ca_below(sizeof(edges) / sizeof(*edges))];
    case 1: // texels' edges and centres
        return bits_of((float)((int)ca_below(4 * size + 4) - (int)size) * 0.5f * unit);
    case 2:
        return (uint32_t)ca_random();
    case 3:
        return bits_of(((float)ca_below(1 << 24) - (float)(1 << 23)) / 4096.0f);
    default: // inside, and a little outside
        return bits_of(((float)ca_below(1 << 24) / (float)(1 << 23) * (float)size - 0.5f) * unit);
    }
}

// Texels that make sums difficult: infinite numbers, NaNs, denormals, and all distances of
// exponents.
static void fill_texels(const struct ca_arena *memory)
{
    static const uint32_t edges[] = {0x7f800000, 0xff800000, 0x7fc12345, 0x00000001,
                                     0x807fffff, 0x80000000, 0x7f7fffff, 0x00800000};
    const unsigned kind = (unsigned)ca_below(4);

    ca_random_bytes(memory->base, memory->size_B);
    for (size_t at = 0; kind && at < memory->size_B; at += 4) {
        uint32_t word;
        memcpy(&word, memory->base + at, 4);
        word = (word & 0x807fffff) | (uint32_t)(100 + ca_below(kind == 1 ? 3 : 50)) << 23;
        if (kind == 3 && !ca_below(16))
            word = edges[ca_below(sizeof(edges) / sizeof(*edges))];
        memcpy(memory->base + at, &word, 4);
    }
}

struct operands {
    uint32_t x[LANES], y[LANES], layer[LANES];
};

static void choose_operands(const struct kn_texture *t, struct operands *o)
{
    for (unsigned i = 0; i < LANES; i++) {
        o->x[i] = coordinate(t, t->level[0].width);
        o->y[i] = coordinate(t, t->level[0].height);
        o->layer[i] = (uint32_t)ca_below(8) - 2;
    }
}

static uint32_t integer(uint32_t size)
{
    return ca_below(16) ? (uint32_t)ca_below(size + 4) - 2 : (uint32_t)ca_random();
}

static void choose_integers(const struct kn_texture *t, struct operands *o)
{
    for (unsigned i = 0; i < LANES; i++) {
        o->x[i] = integer(t->level[0].width);
        o->y[i] = integer(t->level[0].height);
        o->layer[i] = integer(t->layers);
    }
}

static void describe(char *text, size_t size, const struct kn_texture *t)
{
    snprintf(text, size, "shape %d, format %d x %d, %u x %u, address %d %d, %s%s%s", (int)t->shape,
             (int)t->texel, t->channels, t->level[0].width, t->level[0].height, (int)t->address[0],
             (int)t->address[1], t->normalized ? "normalized, " : "", t->linear ? "linear, " : "",
             t->block_linear ? "block-linear" : "pitch");
}

// Fetches once by each way, and compares all words, also those of lanes that take no part.
static void check_fetch(const char *name, const struct kn_texture *t, const struct operands *o,
                        kn_fetch_fn *fast, kn_fetch_fn *plain)
{
    uint32_t got[4][LANES], expected[4][LANES];
    char text[160];
    struct kn_fetch f = {
        .active = ca_below(3) ? UINT32_MAX : (uint32_t)ca_random(),
        .x = o->x,
        .y = o->y,
        .layer = ca_below(8) ? o->layer : NULL,
    };

    ca_random_bytes(got, sizeof(got));
    memcpy(expected, got, sizeof(got));
    memcpy(f.out, (uint32_t *[]){got[0], got[1], got[2], got[3]}, sizeof(f.out));
    fast(t, &f);
    memcpy(f.out, (uint32_t *[]){expected[0], expected[1], expected[2], expected[3]},
           sizeof(f.out));
    plain(t, &f);
    for (unsigned c = 0; c < 4; c++)
        for (unsigned i = 0; i < LANES; i++)
            if (got[c][i] != expected[c][i]) {
                describe(text, sizeof(text), t);
                ca_fail(name, "%s: channel %u of lane %u at %08x %08x: %08x instead of %08x", text,
                        c, i, o->x[i], o->y[i], got[c][i], expected[c][i]);
                return;
            }
}

// Results may replace operands.
static void check_overlap(const struct kn_texture *t, const struct operands *o)
{
    uint32_t apart[4][LANES];
    struct operands same = *o;
    uint32_t w[LANES];
    struct kn_fetch f = {.active = UINT32_MAX, .x = o->x, .y = o->y, .layer = o->layer};

    memcpy(f.out, (uint32_t *[]){apart[0], apart[1], apart[2], apart[3]}, sizeof(f.out));
    kn_texture_fetch(t, &f);
    f.x = same.x;
    f.y = same.y;
    f.layer = same.layer;
    memcpy(f.out, (uint32_t *[]){same.x, same.y, same.layer, w}, sizeof(f.out));
    kn_texture_fetch(t, &f);
    if (memcmp(same.x, apart[0], sizeof(w)) || memcmp(same.y, apart[1], sizeof(w)) ||
        memcmp(same.layer, apart[2], sizeof(w)) || memcmp(w, apart[3], sizeof(w)))
        ca_fail("kn_texture_fetch", "the results differ if they replace the operands");
}

void ca_check_sample(const struct kn_dsp *dsp)
{
    struct ca_arena memory;
    struct kn_texture t;
    struct operands o;
    unsigned fast = 0, fast_integers = 0;

    (void)dsp;
    ca_begin("kn_texture_fetch");
    ca_arena_init(&memory, TEXTURE_B);
    for (unsigned i = 0; i < ca_cases(TEXTURES); i++) {
        ca_arena_unseal(&memory);
        fill_texels(&memory);
        ca_arena_seal(&memory);
        choose_texture(&t, &memory);
        fast += t.run != kn_fetch_base;
        choose_operands(&t, &o);
        check_fetch("kn_texture_fetch", &t, &o, t.run, kn_fetch_base);
        check_overlap(&t, &o);
        if (t.shape == KN_TEXTURE_1D && !t.block_linear) {
            t.shape = KN_TEXTURE_LINEAR;
            kn_texture_prepare(&t);
        }
        choose_integers(&t, &o);
        check_fetch("kn_texture_fetch_integer", &t, &o, t.run_integer, kn_fetch_integer);
        fast_integers += t.run_integer != kn_fetch_integer;
    }
    ca_arena_finish(&memory);
    if (fast < ca_cases(TEXTURES) / 2)
        ca_fail("kn_texture_fetch", "only %u of %u textures have a fast function", fast,
                ca_cases(TEXTURES));
    if (fast_integers < ca_cases(TEXTURES) / 2)
        ca_fail("kn_texture_fetch_integer", "only %u of %u textures have a fast function",
                fast_integers, ca_cases(TEXTURES));
}
