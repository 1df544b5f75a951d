// SPDX-License-Identifier: MIT
// A copy between boxes that overlap has the result of a copy through a buffer, in whichever
// direction the bytes move and whatever the pitches are.
#include <stddef.h>
#include <sys/mman.h>

#include "../harness.h"

enum { SIZE = 1 << 14, WIDTH = 160, HEIGHT = 24, DEPTH = 6, ARRAY_B = WIDTH * HEIGHT * DEPTH };
static unsigned char before[ARRAY_B], after[ARRAY_B], want[ARRAY_B];

static uint32_t seed = 3;
static size_t below(size_t n)
{
    seed = seed * 1664525u + 1013904223u;
    return (seed >> 8) % n;
}

static void pattern(void)
{
    for (unsigned i = 0; i < ARRAY_B; i++)
        before[i] = (unsigned char)(i * 11 + (i >> 8) * 3 + (i >> 14));
}

// A box of linear memory: its first byte, the distance of rows, and the rows from slice to slice.
struct place {
    size_t start, pitch, rows;
};

static struct place place(const CUDA_MEMCPY3D *c)
{
    struct place p = {.pitch = c->WidthInBytes + below(40), .rows = c->Height + below(3)};
    size_t span = ((c->Depth - 1) * p.rows + c->Height - 1) * p.pitch + c->WidthInBytes;
    p.start = below(SIZE - span);
    return p;
}

static void expect_moved(const CUDA_MEMCPY3D *c, const struct place *from, const struct place *to)
{
    memcpy(want, before, SIZE);
    for (size_t z = 0; z < c->Depth; z++)
        for (size_t y = 0; y < c->Height; y++)
            memcpy(want + to->start + (z * to->rows + y) * to->pitch,
                   before + from->start + (z * from->rows + y) * from->pitch, c->WidthInBytes);
}

static void linear(bool slices)
{
    CUdeviceptr p;
    test_context();
    pattern();
    MUST(cuMemAlloc(&p, SIZE));
    for (unsigned i = 0; i < 600; i++) {
        CUDA_MEMCPY3D c = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                           .dstMemoryType = CU_MEMORYTYPE_DEVICE};
        c.WidthInBytes = 1 + below(300), c.Height = 1 + below(8),
        c.Depth = slices ? 1 + below(4) : 1;
        struct place from = place(&c), to = place(&c);
        if (i % 4 == 0) { // the same pitches, a little apart
            size_t apart = below(300);
            to = from;
            if (to.start >= apart)
                to.start -= apart;
        }
        c.srcDevice = p + from.start, c.srcPitch = from.pitch, c.srcHeight = from.rows;
        c.dstDevice = p + to.start, c.dstPitch = to.pitch, c.dstHeight = to.rows;
        for (unsigned way = 0; way < 2; way++) {
            MUST(cuMemcpyHtoD(p, before, SIZE));
            expect_moved(&c, &from, &to);
            EXPECT_OK(way ? cuMemcpy3DAsync(&c, NULL) : cuMemcpy3D(&c));
            MUST(cuMemcpyDtoH(after, p, SIZE));
            EXPECT(!memcmp(after, want, SIZE));
            struct place turned = from;
            from = to, to = turned;
            c.srcDevice = p + from.start, c.srcPitch = from.pitch, c.srcHeight = from.rows;
            c.dstDevice = p + to.start, c.dstPitch = to.pitch, c.dstHeight = to.rows;
        }
    }
}

TEST(rows)
{
    linear(false);
}

TEST(slices)
{
    linear(true);
}

// As recorded on an H100: rows whose distance grows or shrinks, of 50 x 256 and 50 x 12 bytes.
TEST(rows_of_two_pitches)
{
    static const struct {
        size_t from, from_pitch, to, to_pitch, width, height;
    } cases[] = {{0, 256, 0, 512, 256, 30},
                 {8192, 512, 0, 1024, 40, 14},
                 {4353, 256, 0, 1024, 12, 14},
                 {31, 513, 0, 1000, 32, 15}};
    CUdeviceptr p;
    test_context();
    pattern();
    MUST(cuMemAlloc(&p, SIZE));
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        CUDA_MEMCPY2D c = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                           .srcDevice = p + cases[i].from,
                           .srcPitch = cases[i].from_pitch,
                           .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                           .dstDevice = p + cases[i].to,
                           .dstPitch = cases[i].to_pitch,
                           .WidthInBytes = cases[i].width,
                           .Height = cases[i].height};
        MUST(cuMemcpyHtoD(p, before, SIZE));
        memcpy(want, before, SIZE);
        for (size_t y = 0; y < c.Height; y++)
            memcpy(want + cases[i].to + y * c.dstPitch, before + cases[i].from + y * c.srcPitch,
                   c.WidthInBytes);
        EXPECT_OK(cuMemcpy2D(&c));
        MUST(cuMemcpyDtoH(after, p, SIZE));
        EXPECT(!memcmp(after, want, SIZE));
    }
}

// ---- an array onto itself

static CUDA_MEMCPY3D whole(CUarray array, unsigned char *bytes, bool up)
{
    return (CUDA_MEMCPY3D){.srcMemoryType = up ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_ARRAY,
                           .dstMemoryType = up ? CU_MEMORYTYPE_ARRAY : CU_MEMORYTYPE_HOST,
                           .srcHost = bytes,
                           .dstHost = bytes,
                           .srcArray = array,
                           .dstArray = array,
                           .srcPitch = WIDTH,
                           .srcHeight = HEIGHT,
                           .dstPitch = WIDTH,
                           .dstHeight = HEIGHT,
                           .WidthInBytes = WIDTH,
                           .Height = HEIGHT,
                           .Depth = DEPTH};
}

static void in_array(unsigned flags)
{
    CUDA_ARRAY3D_DESCRIPTOR desc = {.Width = WIDTH,
                                    .Height = HEIGHT,
                                    .Depth = DEPTH,
                                    .Format = CU_AD_FORMAT_UNSIGNED_INT8,
                                    .NumChannels = 1,
                                    .Flags = flags};
    CUarray array;
    test_context();
    pattern();
    MUST(cuArray3DCreate(&array, &desc));
    CUDA_MEMCPY3D up = whole(array, before, true), down = whole(array, after, false);
    for (unsigned i = 0; i < 400; i++) {
        CUDA_MEMCPY3D c = {.srcMemoryType = CU_MEMORYTYPE_ARRAY,
                           .srcArray = array,
                           .dstMemoryType = CU_MEMORYTYPE_ARRAY,
                           .dstArray = array};
        c.WidthInBytes = 1 + below(WIDTH), c.Height = 1 + below(HEIGHT), c.Depth = 1 + below(DEPTH);
        c.srcXInBytes = below(WIDTH - c.WidthInBytes + 1), c.srcY = below(HEIGHT - c.Height + 1),
        c.srcZ = below(DEPTH - c.Depth + 1);
        c.dstXInBytes = below(WIDTH - c.WidthInBytes + 1), c.dstY = below(HEIGHT - c.Height + 1),
        c.dstZ = below(DEPTH - c.Depth + 1);
        if (i % 3 == 0)
            c.dstZ = c.srcZ;
        if (i % 5 == 0)
            c.dstY = c.srcY;
        MUST(cuMemcpy3D(&up));
        memcpy(want, before, ARRAY_B);
        for (size_t z = 0; z < c.Depth; z++)
            for (size_t y = 0; y < c.Height; y++)
                memcpy(want + ((c.dstZ + z) * HEIGHT + c.dstY + y) * WIDTH + c.dstXInBytes,
                       before + ((c.srcZ + z) * HEIGHT + c.srcY + y) * WIDTH + c.srcXInBytes,
                       c.WidthInBytes);
        EXPECT_OK(cuMemcpy3D(&c));
        MUST(cuMemcpy3D(&down));
        EXPECT(!memcmp(after, want, ARRAY_B));
    }
}

TEST(array)
{
    in_array(0);
}

TEST(layered_array)
{
    in_array(CUDA_ARRAY3D_LAYERED);
}

// ---- extents that no memory has

// Copies 2^40 rows of one byte, as slices or as rows, within host memory that a guard page ends.
// The copy should fault soon, before it has visited most of the other rows.
static void copy_too_many_rows(unsigned char *host, ptrdiff_t move_B, bool slices, size_t dst_pitch)
{
    const size_t many = (size_t)1 << 40;
    CUDA_MEMCPY3D c = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                       .dstMemoryType = CU_MEMORYTYPE_HOST,
                       .srcHost = host,
                       .dstHost = host + move_B,
                       .WidthInBytes = 1,
                       .Height = slices ? 1 : many,
                       .Depth = slices ? many : 1,
                       .srcPitch = slices ? 1 : 2,
                       .dstPitch = dst_pitch,
                       .srcHeight = slices ? 2 : many,
                       .dstHeight = slices ? dst_pitch : many};
    if (slices)
        c.dstPitch = 1;
    EXPECT_ERROR(cuMemcpy3D(&c), CUDA_ERROR_INVALID_VALUE);
}

TEST(absurd_extents)
{
    enum { HOST_B = 1 << 16, PAGE_B = 4096 };
    test_context();
    unsigned char *host =
        mmap(NULL, HOST_B + 2 * PAGE_B, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    EXPECT(host != MAP_FAILED);
    host += PAGE_B;
    EXPECT_EQ(mprotect(host, HOST_B, PROT_READ | PROT_WRITE), 0);
    const ptrdiff_t moves_B[] = {0, 2, 30, 4096, -2, -30, -4096};
    for (unsigned i = 0; i < sizeof moves_B / sizeof *moves_B; i++)
        for (size_t dst_pitch = 1; dst_pitch < 4; dst_pitch++) {
            copy_too_many_rows(host + HOST_B / 2, moves_B[i], true, dst_pitch);
            copy_too_many_rows(host + HOST_B / 2, moves_B[i], false, dst_pitch);
        }
}

TESTS(CASE(rows), CASE(slices), CASE(rows_of_two_pitches), CASE(array), CASE(layered_array),
      CASE(absurd_extents))
