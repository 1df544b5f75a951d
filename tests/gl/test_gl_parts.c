// SPDX-License-Identifier: MIT
// Reads and writes parts of objects in random order, more parts than the driver tracks exactly.
// Each read should return the original bytes or the last write. At the end OpenGL should hold the
// same bytes, and nothing else should have changed.
#include "context.h"

enum {
    SIDE = 24,
    DEPTH = 3,
    TEXELS = SIDE * SIDE * DEPTH,
    BUFFER_B = 3 << 20,
    STEPS = 60,
    ROUNDS = 12
};

static uint32_t random_state = 1;

static uint32_t draw(uint32_t below)
{
    random_state = random_state * 1664525 + 1013904223;
    return (random_state >> 8) % below;
}

// ---- an image with slices or layers: R32UI

struct box {
    uint32_t x, y, z, width, height, depth;
};

static uint32_t want[TEXELS], got[TEXELS];

static struct box draw_box(void)
{
    uint32_t most = draw(4) ? 4 : SIDE;
    struct box b = {.x = draw(SIDE), .y = draw(SIDE), .z = draw(DEPTH)};
    b.width = 1 + draw(SIDE - b.x < most ? SIDE - b.x : most);
    b.height = 1 + draw(SIDE - b.y < most ? SIDE - b.y : most);
    b.depth = 1 + draw(DEPTH - b.z);
    return b;
}

// One row of a box in the model.
static uint32_t *row(uint32_t *of, const struct box *b, uint32_t y, uint32_t z)
{
    return of + ((b->z + z) * SIDE + b->y + y) * SIDE + b->x;
}

static void copy_box(CUarray array, const struct box *b, bool write)
{
    CUDA_MEMCPY3D c = {.WidthInBytes = b->width * 4, .Height = b->height, .Depth = b->depth};
    if (write) {
        c.srcMemoryType = CU_MEMORYTYPE_HOST;
        c.srcHost = want;
        c.srcPitch = SIDE * 4;
        c.srcHeight = SIDE;
        c.srcXInBytes = b->x * 4;
        c.srcY = b->y;
        c.srcZ = b->z;
        c.dstMemoryType = CU_MEMORYTYPE_ARRAY;
        c.dstArray = array;
        c.dstXInBytes = b->x * 4;
        c.dstY = b->y;
        c.dstZ = b->z;
    } else {
        c.dstMemoryType = CU_MEMORYTYPE_HOST;
        c.dstHost = got;
        c.dstPitch = SIDE * 4;
        c.dstHeight = SIDE;
        c.dstXInBytes = b->x * 4;
        c.dstY = b->y;
        c.dstZ = b->z;
        c.srcMemoryType = CU_MEMORYTYPE_ARRAY;
        c.srcArray = array;
        c.srcXInBytes = b->x * 4;
        c.srcY = b->y;
        c.srcZ = b->z;
    }
    EXPECT_OK(cuMemcpy3D(&c));
}

static bool step(CUarray array, bool write)
{
    struct box b = draw_box();
    for (uint32_t z = 0; write && z < b.depth; z++)
        for (uint32_t y = 0; y < b.height; y++)
            for (uint32_t x = 0; x < b.width; x++)
                row(want, &b, y, z)[x] = draw(UINT32_MAX);
    memset(got, 0, sizeof got);
    copy_box(array, &b, write);
    bool same = true;
    for (uint32_t z = 0; !write && z < b.depth; z++)
        for (uint32_t y = 0; y < b.height; y++)
            same = same && !memcmp(row(want, &b, y, z), row(got, &b, y, z), b.width * 4);
    return same;
}

static void images(GLenum target, bool named)
{
    GLuint t;
    gl_start(GL_CORE);
    for (unsigned round = 0; round < ROUNDS; round++) {
        CUgraphicsResource r[2];
        CUarray array[2];
        for (int i = 0; i < TEXELS; i++)
            want[i] = draw(UINT32_MAX);
        glGenTextures(1, &t);
        glBindTexture(target, t);
        glTexStorage3D(target, 1, GL_R32UI, SIDE, SIDE, DEPTH);
        glTexSubImage3D(target, 0, 0, 0, 0, SIDE, SIDE, DEPTH, GL_RED_INTEGER, GL_UNSIGNED_INT,
                        want);
        for (int i = 0; i < 2; i++)
            r[i] = cu_image(t, target, 0);
        if (!named)
            glDeleteTextures(1, &t);
        for (int mapping = 0; mapping < 2; mapping++) {
            EXPECT_OK(cuGraphicsMapResources(2, r, 0));
            for (int i = 0; i < 2; i++) {
                CUmipmappedArray all;
                EXPECT_OK(cuGraphicsResourceGetMappedMipmappedArray(&all, r[i]));
                EXPECT_OK(cuMipmappedArrayGetLevel(&array[i], all, 0));
            }
            for (int i = 0; i < STEPS; i++)
                EXPECT(step(array[i % 2], draw(8) < round));
            EXPECT_OK(cuGraphicsUnmapResources(2, r, 0));
        }
        if (named) {
            glGetTexImage(target, 0, GL_RED_INTEGER, GL_UNSIGNED_INT, got);
            EXPECT(!memcmp(got, want, sizeof want));
            glDeleteTextures(1, &t);
        }
        for (int i = 0; i < 2; i++)
            EXPECT_OK(cuGraphicsUnregisterResource(r[i]));
    }
}

TEST(slices)
{
    images(GL_TEXTURE_3D, true);
}

TEST(layers)
{
    images(GL_TEXTURE_2D_ARRAY, true);
}

TEST(deleted)
{
    test_setting("CARDLESS_DIAGNOSTICS", "off");
    images(GL_TEXTURE_3D, false);
}

// ---- a buffer

TEST(ranges)
{
    static uint8_t want_B[BUFFER_B], got_B[BUFFER_B];
    gl_start(GL_CORE);
    for (unsigned round = 0; round < ROUNDS; round++) {
        pattern(want_B, BUFFER_B, round);
        GLuint b = gl_buffer(BUFFER_B, want_B);
        CUgraphicsResource r = cu_buffer(b, 0);
        CUdeviceptr p = cu_map_pointer(r);
        for (int i = 0; i < STEPS; i++) {
            uint32_t at = draw(BUFFER_B), most = draw(4) ? 64 : BUFFER_B / 4, room = BUFFER_B - at,
                     size = 1 + draw(room < most ? room : most);
            if (draw(8) < round) {
                memset(want_B + at, i + 1, size);
                EXPECT_OK(cuMemsetD8(p + at, (unsigned char)(i + 1), size));
            } else {
                EXPECT_OK(cuMemcpyDtoH(got_B + at, p + at, size));
                EXPECT(!memcmp(got_B + at, want_B + at, size));
            }
        }
        EXPECT_OK(cuGraphicsUnmapResources(1, &r, 0));
        gl_read_buffer(b, BUFFER_B, got_B);
        EXPECT(!memcmp(got_B, want_B, BUFFER_B));
        EXPECT_OK(cuGraphicsUnregisterResource(r));
        glDeleteBuffers(1, &b);
    }
    EXPECT_NO_DIAGNOSTIC();
}

// ---- parts of texels: the other bytes of a texel stay

TEST(bytes_of_texels)
{
    uint8_t byte = 9;
    gl_start(GL_CORE);
    GLuint t = gl_texture_2d(GL_RGBA8, 1, SIDE, SIDE);
    memset(got, 5, sizeof got);
    glTexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, SIDE, SIDE, GL_RGBA, GL_UNSIGNED_BYTE, got);
    CUgraphicsResource r = cu_image(t, GL_TEXTURE_2D, 0);
    cu_write_array(cu_map_array(r, 0, 0), 1, 0, 1, 1, &byte);
    EXPECT_OK(cuGraphicsUnmapResources(1, &r, 0));
    glGetTexImage(GL_TEXTURE_2D, 0, GL_RGBA, GL_UNSIGNED_BYTE, got);
    EXPECT_EQ(got[0], 0x05050905);
    EXPECT_EQ(got[1], 0x05050505);
}

TESTS(CASE(slices), CASE(layers), CASE(deleted), CASE(ranges), CASE(bytes_of_texels))
