// SPDX-License-Identifier: MIT
// The chapter "Graphics Interoperability" on the virtual graphics API: mappings, poison, and calls
// that fail, which should change nothing.
#include <sys/wait.h>

#include "../mistakes/virtual.h"

enum { BUFFER_B = 1 << 16 };

// ---- mapping ----

TEST(buffer_both_ways)
{
    unsigned char back[BUFFER_B];
    size_t size = 0;
    CUdeviceptr p, base;
    test_context();
    cardlessBuffer b = virtual_buffer(BUFFER_B);
    CUgraphicsResource r = registered(b, 0);
    EXPECT_OK(cardlessFillBuffer(b, 0, BUFFER_B, 5));
    EXPECT_OK(cuGraphicsMapResources(1, &r, NULL));
    EXPECT_OK(cuGraphicsResourceGetMappedPointer(&p, &size, r));
    EXPECT_EQ(size, BUFFER_B);
    EXPECT_EQ(p % 256, 0);
    EXPECT_OK(cuMemGetAddressRange(&base, &size, p + 100));
    EXPECT_EQ(base, p);
    EXPECT_OK(cuMemcpyDtoH(back, p, BUFFER_B));
    EXPECT_EQ(back[BUFFER_B - 1], 5);
    EXPECT_OK(cuMemsetD8(p + 100, 9, 100));
    EXPECT_OK(cuGraphicsUnmapResources(1, &r, NULL));
    EXPECT_EQ(byte_of(b, 99), 5);
    EXPECT_EQ(byte_of(b, 199), 9);
    EXPECT_OK(cuGraphicsUnregisterResource(r));
    EXPECT_ERROR(cuGraphicsUnregisterResource(r), CUDA_ERROR_INVALID_HANDLE);
    EXPECT_ERROR(cuGraphicsMapResources(1, &r, NULL), CUDA_ERROR_INVALID_HANDLE);
}

// CUDA writes each layer and level of a texture, and graphics reads it back.
static void every_array(cardlessTextureKind kind, unsigned height, unsigned depth, unsigned layers,
                        unsigned levels)
{
    unsigned char texel[4] = {0}, *back = calloc(64 * 64 * 16, 4);
    CUarray a;
    CUDA_ARRAY3D_DESCRIPTOR d;
    unsigned faces = kind == CARDLESS_TEXTURE_CUBE ? 6 : layers ? layers : 1;
    cardlessTexture t = virtual_texture(kind, 32, height, depth, layers, levels);
    CUgraphicsResource r = registered_texture(t, CU_GRAPHICS_REGISTER_FLAGS_SURFACE_LDST);
    MUST(cuGraphicsMapResources(1, &r, NULL));
    for (unsigned face = 0; face < faces; face++) {
        for (unsigned level = 0; level < levels; level++) {
            MUST(cuGraphicsSubResourceGetMappedArray(&a, r, face, level));
            MUST(cuArray3DGetDescriptor(&d, a));
            EXPECT_EQ(d.Width, 32 >> level);
            EXPECT_EQ(d.Height, height >> level);
            EXPECT_EQ(d.Depth, depth >> level);
            EXPECT_EQ(d.Flags, CUDA_ARRAY3D_SURFACE_LDST);
            memset(back, (int)(face * 16 + level + 1),
                   (32 >> level) * 4 * (d.Height ? d.Height : 1));
            EXPECT_OK(copy_array(a, back, true, (32 >> level) * 4, d.Height ? d.Height : 1));
        }
    }
    EXPECT_ERROR(cuGraphicsSubResourceGetMappedArray(&a, r, faces, 0), CUDA_ERROR_INVALID_VALUE);
    MUST(cuGraphicsUnmapResources(1, &r, NULL));
    for (unsigned face = 0; face < faces; face++) {
        for (unsigned level = 0; level < levels; level++) {
            cardlessBox last = {
                (32 >> level) - 1, height >> level ? (height >> level) - 1 : 0, face, 1, 1, 1};
            EXPECT_OK(cardlessReadTexture(t, level, &last, texel));
            EXPECT_EQ(texel[3], face * 16 + level + 1);
        }
    }
    free(back);
}

TEST(arrays_of_every_kind)
{
    test_context();
    every_array(CARDLESS_TEXTURE_1D, 0, 0, 0, 4);
    every_array(CARDLESS_TEXTURE_2D, 16, 0, 0, 4);
    every_array(CARDLESS_TEXTURE_3D, 16, 8, 0, 1);
    every_array(CARDLESS_TEXTURE_1D_ARRAY, 0, 0, 5, 3);
    every_array(CARDLESS_TEXTURE_2D_ARRAY, 16, 0, 5, 4);
    every_array(CARDLESS_TEXTURE_CUBE, 32, 0, 0, 5);
}

TEST(mipmapped_array)
{
    CUmipmappedArray m, again;
    CUarray level, layer;
    CUDA_ARRAY3D_DESCRIPTOR d;
    CUDA_MEMCPY3D c;
    unsigned char texels[8 * 4 * 3 * 4], back[sizeof texels];
    test_context();
    cardlessTexture t = virtual_texture(CARDLESS_TEXTURE_2D_ARRAY, 16, 8, 0, 3, 2);
    CUgraphicsResource r = registered_texture(t, 0);
    MUST(cuGraphicsMapResources(1, &r, NULL));
    EXPECT_OK(cuGraphicsResourceGetMappedMipmappedArray(&m, r));
    EXPECT_OK(cuGraphicsResourceGetMappedMipmappedArray(&again, r));
    EXPECT(m == again);
    EXPECT_OK(cuMipmappedArrayGetLevel(&level, m, 1));
    EXPECT_OK(cuArray3DGetDescriptor(&d, level));
    EXPECT_EQ(d.Width, 8);
    EXPECT_EQ(d.Depth, 3);
    EXPECT_EQ(d.Flags, CUDA_ARRAY3D_LAYERED);
    memset(texels, 77, sizeof texels);
    memset(&c, 0, sizeof c);
    c.srcMemoryType = CU_MEMORYTYPE_HOST;
    c.srcHost = texels;
    c.srcPitch = 32;
    c.srcHeight = 4;
    c.dstMemoryType = CU_MEMORYTYPE_ARRAY;
    c.dstArray = level;
    c.WidthInBytes = 32;
    c.Height = 4;
    c.Depth = 3;
    EXPECT_OK(cuMemcpy3D(&c));
    EXPECT_OK(cuGraphicsSubResourceGetMappedArray(&layer, r, 2, 1)); // the same bytes
    EXPECT_OK(copy_array(layer, back, false, 32, 4));
    EXPECT_EQ(back[0], 77);
    EXPECT_OK(cuArrayDestroy(layer)); // borrowed, so it is not destroyed
    EXPECT_OK(cuMipmappedArrayDestroy(m));
    EXPECT_OK(copy_array(layer, back, false, 32, 4));
    EXPECT_OK(cuGraphicsUnmapResources(1, &r, NULL));
    EXPECT_OK(cardlessReadTexture(t, 1, NULL, back));
    EXPECT(!memcmp(back, texels, sizeof back));
    EXPECT_OK(cuGraphicsUnregisterResource(r));
}

TEST(failing_calls_change_nothing)
{
    CUdeviceptr p;
    test_context();
    CUgraphicsResource r[] = {registered(virtual_buffer(64), 0), registered(virtual_buffer(64), 0),
                              NULL};
    CUstream bad = (CUstream)(uintptr_t)0x77770;
    EXPECT_ERROR(cuGraphicsMapResources(3, r, NULL), CUDA_ERROR_INVALID_HANDLE);
    EXPECT_ERROR(cuGraphicsMapResources(0, r, NULL), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuGraphicsMapResources(1, NULL, NULL), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuGraphicsMapResources(2, r, bad), CUDA_ERROR_INVALID_HANDLE);
    EXPECT_ERROR(cuGraphicsResourceGetMappedPointer(&p, NULL, r[0]), CUDA_ERROR_NOT_MAPPED);
    EXPECT_OK(cuGraphicsMapResources(1, &r[1], NULL));
    EXPECT_ERROR(cuGraphicsMapResources(2, r, NULL), CUDA_ERROR_ALREADY_MAPPED);
    EXPECT_ERROR(cuGraphicsResourceGetMappedPointer(&p, NULL, r[0]), CUDA_ERROR_NOT_MAPPED);
    EXPECT_ERROR(cuGraphicsUnmapResources(2, r, NULL), CUDA_ERROR_NOT_MAPPED);
    EXPECT_ERROR(cuGraphicsUnmapResources(1, &r[1], bad), CUDA_ERROR_INVALID_HANDLE);
    EXPECT_OK(cuGraphicsResourceGetMappedPointer(&p, NULL, r[1]));
    EXPECT_OK(cuGraphicsMapResources(1, &r[0], NULL));
    EXPECT_OK(cuGraphicsUnmapResources(2, r, NULL));
}

TEST(contexts)
{
    CUcontext other;
    CUdeviceptr p;
    CUcontext home = test_context();
    CUgraphicsResource r = registered(virtual_buffer(64), 0);
    EXPECT_OK(cuCtxCreate(&other, NULL, 0, 0));
    CUstream s = stream();
    EXPECT_ERROR(cuGraphicsMapResources(1, &r, NULL), CUDA_ERROR_INVALID_HANDLE);
    EXPECT_OK(cuCtxSetCurrent(home));
    EXPECT_ERROR(cuGraphicsMapResources(1, &r, s), CUDA_ERROR_INVALID_HANDLE);
    EXPECT_OK(cuGraphicsMapResources(1, &r, NULL));
    EXPECT_OK(cuCtxSetCurrent(other));
    EXPECT_OK(cuGraphicsResourceGetMappedPointer(&p, NULL, r));
    EXPECT_ERROR(cuGraphicsUnmapResources(1, &r, NULL), CUDA_ERROR_INVALID_HANDLE);
    // Destroying the context ends its mapped resources.
    cardlessBuffer b = virtual_buffer(64);
    CUgraphicsResource mine = registered(b, 0);
    EXPECT_OK(cuMemsetD8(mapped_pointer(mine), 3, 64));
    EXPECT_OK(cuCtxDestroy(other));
    EXPECT_OK(cuCtxSetCurrent(home));
    EXPECT_ERROR(cuGraphicsUnmapResources(1, &mine, NULL), CUDA_ERROR_INVALID_HANDLE);
    EXPECT_EQ(byte_of(b, 63), 3);
    EXPECT_OK(cardlessBufferDestroy(b));
}

// ---- poison ----

TEST(addresses_change_with_a_seed)
{
    test_setting("CARDLESS_SEED", "7");
    unsigned char back = 0;
    unsigned changes = 0;
    test_context();
    cardlessBuffer b = virtual_buffer(100);
    CUgraphicsResource r = registered(b, 0);
    CUdeviceptr before = 0;
    EXPECT_OK(cardlessFillBuffer(b, 0, 100, 1));
    for (int i = 0; i < 10; i++) {
        CUdeviceptr p = mapped_pointer(r);
        changes += p != before;
        EXPECT_OK(cuMemcpyDtoH(&back, p, 1));
        EXPECT_EQ(back, i + 1);
        EXPECT_OK(cuMemsetD8(p, (unsigned char)(i + 2), 100));
        EXPECT_OK(cuGraphicsUnmapResources(1, &r, NULL));
        before = p;
    }
    EXPECT_EQ(changes, 10);
    EXPECT_EQ(byte_of(b, 99), 11);
    EXPECT_NO_DIAGNOSTIC();
}

TEST(arrays_change_under_the_manual_only)
{
    CUarray a, b;
    test_context();
    CUgraphicsResource r =
        registered_texture(virtual_texture(CARDLESS_TEXTURE_2D, 8, 8, 0, 0, 1), 0);
    for (int i = 0; i < 2; i++) {
        EXPECT_OK(cuGraphicsMapResources(1, &r, NULL));
        EXPECT_OK(cuGraphicsSubResourceGetMappedArray(i ? &b : &a, r, 0, 0));
        EXPECT_OK(cuGraphicsUnmapResources(1, &r, NULL));
    }
    EXPECT(a != b);
}

TEST(arrays_stay_as_on_the_card)
{
    test_setting("CARDLESS_PERSONALITY", "driver-580");
    CUarray a, b;
    unsigned char texels[256] = {0};
    test_context();
    CUgraphicsResource r =
        registered_texture(virtual_texture(CARDLESS_TEXTURE_2D, 8, 8, 0, 0, 1), 0);
    for (int i = 0; i < 2; i++) {
        EXPECT_OK(cuGraphicsMapResources(1, &r, NULL));
        EXPECT_OK(cuGraphicsSubResourceGetMappedArray(i ? &b : &a, r, 0, 0));
        EXPECT_OK(cuGraphicsUnmapResources(1, &r, NULL));
    }
    EXPECT(a == b);
    EXPECT_OK(copy_array(a, texels, true, 32, 8));
    EXPECT_OK(cuGraphicsUnregisterResource(r));
    EXPECT_ERROR(copy_array(a, texels, true, 32, 8), CUDA_ERROR_CONTEXT_IS_DESTROYED);
}

TEST(discarded_bytes_are_kept_by_the_driver)
{
    test_setting("CARDLESS_PERSONALITY", "driver-580");
    unsigned char back = 0;
    test_context();
    cardlessBuffer b = virtual_buffer(64);
    CUgraphicsResource r = registered(b, CU_GRAPHICS_REGISTER_FLAGS_WRITE_DISCARD);
    EXPECT_OK(cardlessFillBuffer(b, 0, 64, 8));
    EXPECT_OK(cuMemcpyDtoH(&back, mapped_pointer(r), 1));
    EXPECT_EQ(back, 8); // recorded: x_graphics buffer/flag-2-write-then-gl
    EXPECT_NO_DIAGNOSTIC();
}

// Contradictory flags: READ_ONLY wins, so nothing is discarded.
TEST(read_only_and_discarded)
{
    unsigned char texels[8 * 4 * 4], back[sizeof texels];
    test_context();
    cardlessTexture t = virtual_texture(CARDLESS_TEXTURE_2D, 8, 4, 0, 0, 1);
    CUgraphicsResource r = registered_texture(t, CU_GRAPHICS_REGISTER_FLAGS_READ_ONLY |
                                                     CU_GRAPHICS_REGISTER_FLAGS_WRITE_DISCARD);
    CUarray a;
    memset(texels, 8, sizeof texels);
    EXPECT_OK(cardlessWriteTexture(t, 0, NULL, texels));
    EXPECT_OK(cuGraphicsMapResources(1, &r, NULL));
    EXPECT_OK(cuGraphicsSubResourceGetMappedArray(&a, r, 0, 0));
    EXPECT_OK(copy_array(a, back, false, 32, 4));
    EXPECT(!memcmp(back, texels, sizeof back));
    EXPECT_OK(cuGraphicsUnmapResources(1, &r, NULL));
    EXPECT_NO_DIAGNOSTIC();
}

// Two mappings of one buffer, of which one discards: what CUDA has written through the other one
// stays, although it is the older one's first use that comes last.
TEST(discarded_but_written_through_another)
{
    test_context();
    cardlessBuffer b = virtual_buffer(64);
    CUgraphicsResource discarding = registered(b, CU_GRAPHICS_REGISTER_FLAGS_WRITE_DISCARD),
                       other = registered(b, 0);
    CUdeviceptr late = mapped_pointer(discarding);
    EXPECT_OK(cuMemsetD8(mapped_pointer(other), 7, 32));
    EXPECT_OK(cuGraphicsUnmapResources(1, &other, NULL));
    EXPECT_OK(cuMemsetD8(late + 32, 9, 32));
    EXPECT_OK(cuGraphicsUnmapResources(1, &discarding, NULL));
    EXPECT_EQ(byte_of(b, 0), 7);
    EXPECT_EQ(byte_of(b, 31), 7);
    EXPECT_EQ(byte_of(b, 32), 9);
    EXPECT_NO_DIAGNOSTIC();
}

TEST(map_flags_replace_register_flags)
{
    test_context();
    cardlessBuffer b = virtual_buffer(64);
    CUgraphicsResource r = registered(b, CU_GRAPHICS_REGISTER_FLAGS_READ_ONLY);
    EXPECT_OK(cuGraphicsResourceSetMapFlags(r, CU_GRAPHICS_MAP_RESOURCE_FLAGS_NONE));
    EXPECT_OK(cuMemsetD8(mapped_pointer(r), 9, 64));
    EXPECT_OK(cuGraphicsUnmapResources(1, &r, NULL));
    EXPECT_EQ(byte_of(b, 0), 9);
    EXPECT_NO_DIAGNOSTIC();
}

// ---- the report at exit ----

static void use_and_exit(int to)
{
    dup2(to, STDERR_FILENO);
    setenv("CARDLESS_REPORT", "1", 1);
    test_context();
    CUgraphicsResource r[] = {
        registered(virtual_buffer(BUFFER_B), 0),
        registered_texture(virtual_texture(CARDLESS_TEXTURE_2D, 8, 4, 0, 0, 1), 1)};
    for (int i = 0; i < 3; i++) {
        MUST(cuGraphicsMapResources(1, r, NULL));
        MUST(cuGraphicsUnmapResources(1, r, NULL));
    }
    MUST(cuGraphicsUnregisterResource(r[0]));
    exit(0);
}

TEST(report)
{
    static char text[1 << 16]; // a sanitizer may write its own report before ours
    size_t length = 0;
    int ends[2], status;
    EXPECT_EQ(pipe(ends), 0);
    pid_t child = fork();
    if (!child)
        use_and_exit(ends[1]);
    close(ends[1]);
    for (ssize_t n; (n = read(ends[0], text + length, sizeof text - 1 - length)) > 0;)
        length += (size_t)n;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    EXPECT(strstr(text, "CUgraphicsResource #1 (cardlessBuffer #1 of the virtual graphics API): "
                        "65536 bytes, flags 0; mapped 3 times, nothing copied"));
    EXPECT(strstr(text, "to cuGraphicsUnregisterResource in"));
    EXPECT(strstr(text,
                  "8x4x0, 0 layers, 1 levels, 4 channels of format 0x1, flags 0x1; never mapped"));
    EXPECT_EQ(status, 0);
    if (test_failures)
        printf("# the child wrote:\n%s\n", text);
}

TESTS(CASE(report), CASE(buffer_both_ways), CASE(arrays_of_every_kind), CASE(mipmapped_array),
      CASE(failing_calls_change_nothing), CASE(contexts),

      CASE(addresses_change_with_a_seed), CASE(arrays_change_under_the_manual_only),
      CASE(arrays_stay_as_on_the_card), CASE(discarded_bytes_are_kept_by_the_driver),
      CASE(read_only_and_discarded), CASE(discarded_but_written_through_another),
      CASE(map_flags_replace_register_flags))
