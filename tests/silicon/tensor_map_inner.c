// SPDX-License-Identifier: MIT
// Tensor maps: bytes of the inner dimension in each layout (`inner`), dimensions of tensors and
// steps close to their limits (`limits`), and drawn descriptors of wide im2col maps (`wide`).
// Each line of `wide` begins with its arguments.
#include "tensor_request.h"

enum { DRAWN = 2000 };

// The result, and "wrote" if a refused call changed the map or a successful one did not.
static void say_encoded(const struct request *r)
{
    static _Alignas(128) unsigned char bytes[MAP_B], before[MAP_B];
    memset(bytes, 0xa5, sizeof bytes);
    memset(before, 0xa5, sizeof before);
    const CUresult result = encode((CUtensorMap *)(void *)bytes, r);
    const bool wrote = memcmp(bytes, before, sizeof bytes) != 0;
    bool zero = true;
    for (unsigned i = 0; i < MAP_B; i++)
        zero &= !bytes[i];
    SAY(" %s%s", record_brief(result),
        wrote == !result ? ""
        : !wrote         ? " wrote nothing"
        : zero           ? " wrote zeros"
                         : " wrote");
}

// A letter for each result: of channels or boxes with more and more elements.
GROUP(inner)
{
    static const unsigned types[] = {CU_TENSOR_MAP_DATA_TYPE_UINT8, CU_TENSOR_MAP_DATA_TYPE_UINT16,
                                     CU_TENSOR_MAP_DATA_TYPE_FLOAT32,
                                     CU_TENSOR_MAP_DATA_TYPE_FLOAT64};
    static const unsigned elements[] = {1,  2,  4,   6,   8,   12,  16,  24,  32,  48, 64,
                                        80, 96, 112, 128, 144, 160, 192, 224, 240, 256};
    record_context();
    for (int kind = 0; kind < 3; kind++)
        for (unsigned rank = kind ? 3 : 1; rank < 6; rank++)
            for (unsigned interleave = 0; interleave < 3; interleave++)
                for (unsigned swizzle = 0; swizzle < 7; swizzle++)
                    for (unsigned t = 0; t < COUNT(types); t++) {
                        if (!CASE("kind-%d-rank-%u-interleave-%u-swizzle-%u-type-%u", kind, rank,
                                  interleave, swizzle, types[t]))
                            continue;
                        for (unsigned i = 0; i < COUNT(elements); i++) {
                            static _Alignas(128) CUtensorMap map;
                            struct request r = plain((enum kind)kind, rank);
                            r.type = types[t];
                            r.interleave = interleave;
                            r.swizzle = swizzle;
                            r.box[0] = r.channels = elements[i];
                            const CUresult result = encode(&map, &r);
                            SAY("%s", !result                              ? "."
                                      : result == CUDA_ERROR_INVALID_VALUE ? "V"
                                                                           : "#");
                        }
                    }
}

GROUP(limits)
{
    static const uint64_t sizes[] = {0,
                                     1,
                                     127,
                                     128,
                                     32767,
                                     32768,
                                     65536,
                                     INT32_MAX - 1,
                                     INT32_MAX,
                                     UINT64_C(1) << 31,
                                     (UINT64_C(1) << 31) + 1,
                                     UINT32_MAX - 1,
                                     UINT32_MAX,
                                     UINT64_C(1) << 32,
                                     (UINT64_C(1) << 32) + 1,
                                     UINT64_C(1) << 33,
                                     UINT64_MAX};
    static const unsigned steps[] = {0, 1, 7, 8, 9, 16, 255, 256, 257, 264, 65536, ~0u};
    record_context();
    for (int kind = 0; kind < 3; kind++)
        for (unsigned rank = 3; rank < 6; rank++)
            for (unsigned at = 0; at < rank; at++)
                for (unsigned i = 0; i < COUNT(sizes); i++)
                    if (CASE("kind-%d-rank-%u-dim-%u-%llx", kind, rank, at,
                             (unsigned long long)sizes[i]))
                        for (int grown = -3; grown < 4; grown++) {
                            struct request r = plain((enum kind)kind, rank);
                            r.dim[at] = sizes[i];
                            if (at)
                                r.upper[at - 1] = grown;
                            say_encoded(&r);
                        }
    for (int kind = 0; kind < 3; kind++)
        for (unsigned rank = 3; rank < 6; rank++)
            for (unsigned at = 0; at < rank; at++)
                for (unsigned i = 0; i < COUNT(steps); i++)
                    if (CASE("kind-%d-rank-%u-step-%u-%x", kind, rank, at, steps[i])) {
                        struct request r = plain((enum kind)kind, rank);
                        r.steps[at] = steps[i];
                        say_encoded(&r);
                        r.interleave = CU_TENSOR_MAP_INTERLEAVE_16B;
                        say_encoded(&r);
                    }
    for (int kind = 0; kind < 3; kind++)
        for (unsigned i = 0; i < 8; i++)
            if (CASE("kind-%d-zero-%u", kind, i)) {
                struct request r = plain((enum kind)kind, 4);
                if (i == 0)
                    r.dim[1] = 0;
                else if (i == 1)
                    r.strides_B[1] = 0;
                else if (i == 2)
                    r.steps[1] = 0;
                else if (i == 3)
                    r.box[1] = 0;
                else if (i == 4)
                    r.channels = 0;
                else if (i == 5)
                    r.pixels = 0;
                else if (i == 6)
                    r.address = 0;
                else
                    r.type = 77;
                say_encoded(&r);
                r.type = 77;
                say_encoded(&r);
                r.mode = 1;
                say_encoded(&r);
            }
}

// ---- drawn descriptors

static struct request draw_wide(void)
{
    struct request r = {.kind = WIDE,
                        .type = (unsigned)(draw() % 13),
                        .address = UINT64_C(0x10000) * (draw() % 40),
                        .swizzle = 2 + (unsigned)(draw() % 2),
                        .promotion = (unsigned)(draw() % 4),
                        .mode = (unsigned)(draw() % 2)};
    const unsigned row_B = 16u << draw() % 3;
    r.rank = 3 + (unsigned)(draw() % 3);
    for (unsigned i = 0; i < RANK_MOST; i++) {
        r.dim[i] = 1 + draw() % 64;
        r.box[i] = 1;
        r.steps[i] = 1 + (unsigned)(draw() % 8);
        if (i + 1 < RANK_MOST)
            r.strides_B[i] = 32 + 32 * (draw() % 256);
        r.lower[i] = (int)(draw() % 5) - 2;
        r.upper[i] = r.lower[i] + (int)(draw() % 3);
    }
    r.channels = row_B * 8 / bits_of(r.type);
    r.pixels = 1 + (unsigned)(draw() % 1024);
    return r;
}

GROUP(wide)
{
    record_context();
    for (unsigned i = 0; i < DRAWN; i++) {
        if (!CASE("%u", i))
            continue;
        draw_seed(740000 + i);
        struct request r = draw_wide();
        for (unsigned n = (unsigned)(draw() % 3); n; n--)
            draw_change(&r);
        say_request(&r);
        say_encoded(&r);
    }
}

int main(int argc, char **argv)
{
    RUN(inner);
    RUN(limits);
    RUN(wide);
    return 0;
}
