// SPDX-License-Identifier: MIT
// Tensor maps: im2col maps with empty boxes, columns and corners, wide im2col maps on a device that
// may lack them, replaced addresses in maps and in other bytes, and drawn descriptors of all kinds.
// A drawn line begins with its arguments.
#include "tensor_request.h"

enum { DRAWN = 3000 };

// The result, and "wrote" if a refused call changed the map or a successful one did not.
static void say_encoded(const struct request *r)
{
    static _Alignas(128) unsigned char bytes[MAP_B], before[MAP_B];
    memset(bytes, 0xa5, sizeof bytes);
    memset(before, 0xa5, sizeof before);
    const CUresult result = encode((CUtensorMap *)(void *)bytes, r);
    const bool wrote = memcmp(bytes, before, sizeof bytes) != 0;
    SAY(" %s%s", record_brief(result), wrote == !result ? "" : wrote ? " wrote" : " wrote nothing");
}

GROUP(wide)
{
    record_context();
    for (unsigned rank = 0; rank < 7; rank++)
        for (unsigned mode = 0; mode < 4; mode++)
            if (CASE("rank-%u-mode-%u", rank, mode)) {
                struct request r = plain(WIDE, rank);
                r.mode = mode;
                say_encoded(&r);
            }
    for (unsigned null = 1; null < 5; null++)
        if (CASE("null-%u", null)) {
            struct request r = plain(WIDE, 4);
            r.null = null;
            say_encoded(&r);
        }
    for (unsigned type = 0; type < TYPES + 1; type++)
        if (CASE("type-%u", type)) {
            struct request r = plain(WIDE, 4);
            r.type = type;
            say_encoded(&r);
        }
    for (unsigned swizzle = 0; swizzle < 8; swizzle++)
        if (CASE("swizzle-%u", swizzle)) {
            struct request r = plain(WIDE, 4);
            r.swizzle = swizzle;
            say_encoded(&r);
        }
    if (CASE("unaligned-address")) {
        struct request r = plain(WIDE, 4);
        r.address += 8;
        say_encoded(&r);
    }
    if (CASE("no-context")) {
        cuCtxSetCurrent(NULL);
        const struct request r = plain(WIDE, 4);
        say_encoded(&r);
    }
}

GROUP(columns)
{
    static const unsigned channels[] = {0,   1,   2,   3,    4,    5,    8,     16,          31,
                                        32,  33,  63,  64,   65,   127,  128,   129,         255,
                                        256, 257, 512, 1023, 1024, 1025, 65536, 0x80000000u, ~0u};
    record_context();
    for (unsigned swizzle = 0; swizzle < 5; swizzle++)
        for (unsigned i = 0; i < COUNT(channels); i++)
            if (CASE("channels-%u-swizzle-%u", channels[i], swizzle))
                for (unsigned type = 0; type < 3; type++) {
                    struct request r = plain(IM2COL, 4);
                    r.type = type;
                    r.channels = channels[i];
                    r.swizzle = swizzle;
                    say_encoded(&r);
                }
    for (unsigned i = 0; i < COUNT(channels); i++)
        if (CASE("channels-%u-interleaved", channels[i]))
            for (unsigned interleave = 1; interleave < 3; interleave++) {
                struct request r = plain(IM2COL, 4);
                r.type = CU_TENSOR_MAP_DATA_TYPE_UINT8;
                r.channels = channels[i];
                r.interleave = interleave;
                r.swizzle = CU_TENSOR_MAP_SWIZZLE_32B;
                say_encoded(&r);
            }
    for (unsigned i = 0; i < COUNT(channels); i++)
        if (CASE("pixels-%u", channels[i]))
            for (unsigned rank = 3; rank < 6; rank++) {
                struct request r = plain(IM2COL, rank);
                r.pixels = channels[i];
                say_encoded(&r);
            }
    for (unsigned null = 1; null < 7; null++)
        if (CASE("null-%u", null)) {
            struct request r = plain(IM2COL, 4);
            r.null = null;
            say_encoded(&r);
        }
}

// The offset of each corner alone, from one side of the limits to the other.
GROUP(corners)
{
    static const int offsets[] = {
        INT32_MIN, -65536, -32769, -32768, -32767, -200, -129,  -128,  -127,     -81,
        -80,       -79,    -65,    -64,    -63,    -49,  -48,   -47,   -33,      -32,
        -31,       -17,    -16,    -15,    -1,     0,    1,     15,    16,       17,
        31,        32,     33,     47,     48,     49,   63,    64,    65,       79,
        80,        81,     127,    128,    129,    200,  32767, 32768, INT32_MAX};
    record_context();
    for (unsigned rank = 3; rank < 6; rank++)
        for (unsigned corner = 0; corner < rank - 2; corner++)
            for (unsigned i = 0; i < COUNT(offsets); i++)
                if (CASE("rank-%u-corner-%u-offset-%d", rank, corner, offsets[i])) {
                    struct request r = plain(IM2COL, rank);
                    r.lower[corner] = offsets[i];
                    say_encoded(&r);
                    r.lower[corner] = 0;
                    r.upper[corner] = offsets[i];
                    say_encoded(&r);
                    r.lower[corner] = offsets[i];
                    say_encoded(&r);
                }
    // Boxes of a size close to 0 in one dimension, from tensors of few texels.
    for (unsigned rank = 3; rank < 6; rank++)
        for (unsigned corner = 0; corner < rank - 2; corner++)
            for (unsigned small = 1; small < rank; small++)
                for (int grown = -8; grown < 1; grown++)
                    if (CASE("rank-%u-corner-%u-small-%u-grown-%d", rank, corner, small, grown)) {
                        struct request r = plain(IM2COL, rank);
                        r.dim[small] = 4;
                        r.upper[corner] = grown;
                        say_encoded(&r);
                        r.upper[corner] = grown / 2;
                        r.lower[corner] = grown / 2 - grown;
                        say_encoded(&r);
                    }
}

// ---- addresses that are replaced

static void say_replaced(const struct request *r, uint64_t address)
{
    static _Alignas(128) CUtensorMap map, other;
    struct request moved = *r;
    if (encode(&map, r)) {
        SAY(" not encoded");
        return;
    }
    const CUtensorMap before = map;
    const CUresult result = cuTensorMapReplaceAddress(&map, (void *)(uintptr_t)address);
    SAY(" %s", record_brief(result));
    if (result) {
        SAY(memcmp(&map, &before, MAP_B) ? " wrote" : "");
        return;
    }
    moved.address = address;
    const CUresult again = encode(&other, &moved);
    if (again)
        SAY(" but encoding %s", record_brief(again));
    else
        SAY(memcmp(&map, &other, MAP_B) ? " differs" : "");
}

static CUresult replace_in(const void *bytes, unsigned at, uint64_t address)
{
    static _Alignas(128) unsigned char page[3 * MAP_B];
    memcpy(page + MAP_B + at, bytes, MAP_B);
    return cuTensorMapReplaceAddress((CUtensorMap *)(void *)(page + MAP_B + at),
                                     (void *)(uintptr_t)address);
}

GROUP(replace)
{
    static const uint64_t addresses[] = {0,
                                         1,
                                         8,
                                         15,
                                         16,
                                         24,
                                         32,
                                         48,
                                         64,
                                         0x1000,
                                         0x10000,
                                         UINT64_C(1) << 32,
                                         UINT64_C(1) << 40,
                                         UINT64_C(1) << 47,
                                         UINT64_C(1) << 48,
                                         UINT64_C(1) << 49,
                                         UINT64_C(1) << 56,
                                         UINT64_C(1) << 57,
                                         UINT64_C(1) << 63,
                                         UINT64_MAX & ~UINT64_C(63),
                                         UINT64_MAX};
    static unsigned char bytes[MAP_B];
    record_context();
    for (unsigned i = 0; i < COUNT(addresses); i++)
        if (CASE("address-%llx", (unsigned long long)addresses[i])) {
            struct request r = plain(TILED, 3);
            r.swizzle = CU_TENSOR_MAP_SWIZZLE_NONE;
            say_replaced(&r, addresses[i]);
            r.interleave = CU_TENSOR_MAP_INTERLEAVE_16B;
            say_replaced(&r, addresses[i]);
            r.interleave = CU_TENSOR_MAP_INTERLEAVE_32B;
            r.swizzle = CU_TENSOR_MAP_SWIZZLE_32B;
            say_replaced(&r, addresses[i]);
            r = plain(IM2COL, 4);
            say_replaced(&r, addresses[i]);
        }
    // Encoding at the same addresses.
    for (unsigned i = 0; i < COUNT(addresses); i++)
        if (CASE("encode-%llx", (unsigned long long)addresses[i])) {
            struct request r = plain(TILED, 3);
            r.address = addresses[i];
            say_encoded(&r);
        }
    for (unsigned fill = 0; fill < 256; fill += 51)
        if (CASE("bytes-%02x", fill)) {
            memset(bytes, (int)fill, sizeof bytes);
            SAY("%s %s", record_brief(replace_in(bytes, 0, 0)),
                record_brief(replace_in(bytes, 0, 8)));
        }
    for (unsigned i = 0; i < 64; i++)
        if (CASE("drawn-bytes-%u", i)) {
            draw_seed(710000 + i);
            for (unsigned k = 0; k < MAP_B; k++)
                bytes[k] = (unsigned char)(draw() >> 8);
            SAY("%s %s %s", record_brief(replace_in(bytes, 0, 0x10000)),
                record_brief(replace_in(bytes, 0, 0x10010)),
                record_brief(replace_in(bytes, 0, 0x10008)));
        }
    for (unsigned at = 0; at < 128; at = at ? 2 * at : 1)
        if (CASE("map-at-%u", at)) {
            struct request r = plain(TILED, 3);
            CUtensorMap map;
            NEED(encode(&map, &r));
            SAY("%s %s", record_brief(replace_in(&map, at, 0x20000)),
                record_brief(replace_in(&map, at, 0x20008)));
        }
    if (CASE("nulls")) {
        CUtensorMap map;
        struct request r = plain(TILED, 3);
        NEED(encode(&map, &r));
        SAY("%s", record_brief(cuTensorMapReplaceAddress(NULL, NULL)));
        SAY(" %s", record_brief(cuTensorMapReplaceAddress(NULL, (void *)0x10000)));
        SAY(" %s", record_brief(cuTensorMapReplaceAddress(&map, NULL)));
    }
    if (CASE("no-context")) {
        CUtensorMap map;
        struct request r = plain(TILED, 3);
        NEED(encode(&map, &r));
        cuCtxSetCurrent(NULL);
        SAY("%s", record_brief(cuTensorMapReplaceAddress(&map, (void *)0x20000)));
        SAY(" %s", record_brief(cuTensorMapReplaceAddress(&map, (void *)0x20008)));
    }
}

// ---- drawn descriptors

static struct request draw_plain(void)
{
    struct request r = {.kind = chance(50) ? TILED : IM2COL,
                        .type = (unsigned)(draw() % 13),
                        .address = UINT64_C(0x10000) * (draw() % 40),
                        .swizzle = CU_TENSOR_MAP_SWIZZLE_128B,
                        .promotion = (unsigned)(draw() % 4)};
    const unsigned row_B = 16u << draw() % 4, least = r.kind == TILED ? 1 : 3;
    r.rank = least + (unsigned)(draw() % (RANK_MOST + 1 - least));
    for (unsigned i = 0; i < RANK_MOST; i++) {
        r.dim[i] = 1 + draw() % 64;
        r.box[i] = 1 + (unsigned)(draw() % 8);
        r.steps[i] = 1 + (unsigned)(draw() % 8);
        if (i + 1 < RANK_MOST)
            r.strides_B[i] = 32 + 32 * (draw() % 256);
        r.lower[i] = (int)(draw() % 5) - 2;
        r.upper[i] = r.lower[i] + (int)(draw() % 3);
    }
    r.box[0] = r.channels = row_B * 8 / bits_of(r.type);
    r.pixels = 1 + (unsigned)(draw() % 1024);
    if (r.kind == TILED && chance(50))
        r.swizzle = CU_TENSOR_MAP_SWIZZLE_NONE;
    return r;
}

GROUP(drawn)
{
    record_context();
    for (unsigned i = 0; i < DRAWN; i++) {
        if (!CASE("%u", i))
            continue;
        draw_seed(720000 + i);
        struct request r = draw_plain();
        for (unsigned n = (unsigned)(draw() % 4); n; n--)
            draw_change(&r);
        say_request(&r);
        say_encoded(&r);
    }
}

int main(int argc, char **argv)
{
    RUN(wide);
    RUN(columns);
    RUN(corners);
    RUN(replace);
    RUN(drawn);
    return 0;
}
