// SPDX-License-Identifier: MIT
// Mistakes with graphics resources (G01 to G17), on the virtual graphics API. G11 and G12 are
// OpenGL's (tests/gl); G16 is Direct3D's and has no form on Linux.
#include "virtual.h"

static CUgraphicsResource buffer(void)
{
    test_context();
    return registered(virtual_buffer(4096), 0);
}

static CUgraphicsResource texture(void)
{
    test_context();
    return registered_texture(virtual_texture(CARDLESS_TEXTURE_2D, 16, 16, 0, 0, 2), 0);
}

TEST(g01_map_twice)
{
    CUgraphicsResource r = buffer();
    // [G01 wrong]
    EXPECT_OK(cuGraphicsMapResources(1, &r, NULL));
    EXPECT_ERROR(cuGraphicsMapResources(1, &r, NULL), CUDA_ERROR_ALREADY_MAPPED);
    // [end]
    EXPECT_DIAGNOSTIC(G01);
}

TEST(g02_duplicates)
{
    // [G02 wrong]
    CUgraphicsResource r = buffer(), twice[] = {r, r};
    CUdeviceptr p;
    EXPECT_ERROR(cuGraphicsMapResources(2, twice, NULL), CUDA_ERROR_INVALID_HANDLE);
    // [end]
    EXPECT_DIAGNOSTIC(G02);
    EXPECT_OK(cuGraphicsMapResources(1, &r, NULL)); // nothing was mapped
    EXPECT_ERROR(cuGraphicsUnmapResources(2, twice, NULL), CUDA_ERROR_INVALID_HANDLE);
    EXPECT_OK(cuGraphicsResourceGetMappedPointer(&p, NULL, r)); // nor unmapped
}

TEST(g02_as_the_driver)
{
    test_setting("CARDLESS_PERSONALITY", "driver-580");
    CUgraphicsResource r = buffer(), twice[] = {r, r};
    EXPECT_ERROR(cuGraphicsMapResources(2, twice, NULL), CUDA_ERROR_ALREADY_MAPPED);
    EXPECT_OK(cuGraphicsMapResources(1, &r, NULL));
    EXPECT_ERROR(cuGraphicsUnmapResources(2, twice, NULL), CUDA_ERROR_NOT_MAPPED);
    EXPECT_ERROR(cuGraphicsResourceGetMappedPointer(NULL, NULL, r),
                 CUDA_ERROR_NOT_MAPPED); // the buffer was unmapped in spite of the error
}

TEST(g03_unmap_unmapped)
{
    // [G03 wrong]
    CUgraphicsResource r = buffer();
    EXPECT_ERROR(cuGraphicsUnmapResources(1, &r, NULL), CUDA_ERROR_NOT_MAPPED);
    // [end]
    EXPECT_DIAGNOSTIC(G03);
}

TEST(g04_pointer_of_image)
{
    // [G04 wrong]
    CUgraphicsResource r = texture();
    EXPECT_OK(cuGraphicsMapResources(1, &r, NULL));
    EXPECT_ERROR(cuGraphicsResourceGetMappedPointer(NULL, NULL, r),
                 CUDA_ERROR_NOT_MAPPED_AS_POINTER);
    // [end]
    EXPECT_DIAGNOSTIC(G04);
}

TEST(g04_array_of_buffer)
{
    CUgraphicsResource r = buffer();
    CUarray a;
    CUmipmappedArray m;
    EXPECT_OK(cuGraphicsMapResources(1, &r, NULL));
    EXPECT_ERROR(cuGraphicsSubResourceGetMappedArray(&a, r, 0, 0), CUDA_ERROR_NOT_MAPPED_AS_ARRAY);
    EXPECT_DIAGNOSTIC(G04);
    EXPECT_ERROR(cuGraphicsResourceGetMappedMipmappedArray(&m, r), CUDA_ERROR_NOT_MAPPED_AS_ARRAY);
}

TEST(g05_pointer_while_unmapped)
{
    // [G05 wrong]
    CUgraphicsResource r = buffer();
    EXPECT_ERROR(cuGraphicsResourceGetMappedPointer(NULL, NULL, r), CUDA_ERROR_NOT_MAPPED);
    // [end]
    EXPECT_DIAGNOSTIC(G05);
}

TEST(g05_array_while_unmapped)
{
    CUgraphicsResource r = texture();
    CUarray a;
    EXPECT_ERROR(cuGraphicsSubResourceGetMappedArray(&a, r, 0, 0), CUDA_ERROR_NOT_MAPPED);
    EXPECT_DIAGNOSTIC(G05);
}

TEST(g06_pointer_after_unmap)
{
    CUgraphicsResource r = buffer();
    // [G06 wrong]
    CUdeviceptr p = mapped_pointer(r);
    EXPECT_OK(cuMemsetD8(p, 1, 4096));
    EXPECT_OK(cuGraphicsUnmapResources(1, &r, NULL));
    EXPECT_ERROR(cuMemsetD8(p, 2, 4096), CUDA_ERROR_INVALID_VALUE);
    // [end]
    EXPECT_DIAGNOSTIC(G06);
}

TEST(g06_array_after_unmap)
{
    CUgraphicsResource r = texture();
    CUarray a;
    unsigned char texels[16 * 16 * 4] = {0};
    EXPECT_OK(cuGraphicsMapResources(1, &r, NULL));
    EXPECT_OK(cuGraphicsSubResourceGetMappedArray(&a, r, 0, 0));
    EXPECT_OK(copy_array(a, texels, true, 64, 16));
    EXPECT_OK(cuGraphicsUnmapResources(1, &r, NULL));
    EXPECT_ERROR(copy_array(a, texels, false, 64, 16), CUDA_ERROR_INVALID_HANDLE);
    EXPECT_DIAGNOSTIC(G06);
}

TEST(g06_mipmapped_array_after_unmap)
{
    CUgraphicsResource r = texture();
    CUmipmappedArray m;
    CUarray a;
    EXPECT_OK(cuGraphicsMapResources(1, &r, NULL));
    EXPECT_OK(cuGraphicsResourceGetMappedMipmappedArray(&m, r));
    EXPECT_OK(cuGraphicsUnmapResources(1, &r, NULL));
    EXPECT_ERROR(cuMipmappedArrayGetLevel(&a, m, 0), CUDA_ERROR_INVALID_HANDLE);
    EXPECT_DIAGNOSTIC(G06);
}

TEST(g06_texture_after_unmap)
{
    CUgraphicsResource r = texture();
    CUDA_RESOURCE_DESC d;
    CUDA_TEXTURE_DESC t;
    CUtexObject object;
    memset(&d, 0, sizeof d);
    memset(&t, 0, sizeof t);
    d.resType = CU_RESOURCE_TYPE_ARRAY;
    EXPECT_OK(cuGraphicsMapResources(1, &r, NULL));
    EXPECT_OK(cuGraphicsSubResourceGetMappedArray(&d.res.array.hArray, r, 0, 0));
    EXPECT_OK(cuTexObjectCreate(&object, &d, &t, NULL));
    EXPECT_OK(cuTexObjectDestroy(object));
    EXPECT_OK(cuGraphicsUnmapResources(1, &r, NULL));
    EXPECT_ERROR(cuTexObjectCreate(&object, &d, &t, NULL), CUDA_ERROR_INVALID_VALUE);
    EXPECT_DIAGNOSTIC(G06);
}

TEST(g06_as_the_driver)
{
    test_setting("CARDLESS_PERSONALITY", "driver-580");
    CUgraphicsResource r = buffer();
    CUdeviceptr p = mapped_pointer(r);
    EXPECT_OK(cuGraphicsUnmapResources(1, &r, NULL));
    EXPECT_OK(cuMemsetD8(p, 2, 4096)); // works on a card
    EXPECT_EQ(mapped_pointer(r), p);
    EXPECT_NO_DIAGNOSTIC();
}

TEST(g07_write_while_mapped)
{
    test_context();
    // [G07 wrong]
    cardlessBuffer b = virtual_buffer(4096);
    mapped_pointer(registered(b, 0));
    EXPECT_OK(cardlessFillBuffer(b, 0, 4096, 1));
    // [end]
    EXPECT_DIAGNOSTIC(G07);
}

TEST(g07_draw_while_mapped)
{
    static const unsigned char red[] = {255, 0, 0, 255};
    test_context();
    cardlessTexture t = virtual_texture(CARDLESS_TEXTURE_2D, 16, 16, 0, 0, 1);
    CUgraphicsResource r = registered_texture(t, 0);
    EXPECT_OK(cuGraphicsMapResources(1, &r, NULL));
    EXPECT_OK(cardlessFillTexture(t, 0, NULL, red));
    EXPECT_DIAGNOSTIC(G07);
}

TEST(g07_twin)
{
    unsigned char back[4096];
    test_context();
    // [G07 right]
    cardlessBuffer b = virtual_buffer(4096);
    CUgraphicsResource r = registered(b, 0);
    EXPECT_OK(cuMemsetD8(mapped_pointer(r), 5, 4096));
    EXPECT_OK(cuGraphicsUnmapResources(1, &r, NULL));
    EXPECT_OK(cardlessReadBuffer(b, 0, 4096, back));
    // [end]
    EXPECT_EQ(back[4095], 5);
    EXPECT_OK(cardlessFillBuffer(b, 0, 4096, 1));
    EXPECT_NO_DIAGNOSTIC();
}

TEST(g08_flags_while_mapped)
{
    CUgraphicsResource r = buffer();
    // [G08 wrong]
    EXPECT_OK(cuGraphicsMapResources(1, &r, NULL));
    EXPECT_ERROR(cuGraphicsResourceSetMapFlags(r, CU_GRAPHICS_MAP_RESOURCE_FLAGS_READ_ONLY),
                 CUDA_ERROR_ALREADY_MAPPED);
    // [end]
    EXPECT_DIAGNOSTIC(G08);
}

TEST(g08_no_flags)
{
    CUgraphicsResource r = buffer();
    EXPECT_ERROR(cuGraphicsResourceSetMapFlags(r, 3), CUDA_ERROR_INVALID_VALUE);
    EXPECT_DIAGNOSTIC(G08);
}

TEST(g09_read_only_written)
{
    test_context();
    // [G09 wrong]
    cardlessBuffer b = virtual_buffer(4096);
    CUgraphicsResource r = registered(b, CU_GRAPHICS_REGISTER_FLAGS_READ_ONLY);
    EXPECT_OK(cardlessFillBuffer(b, 0, 4096, 9));
    EXPECT_OK(cuMemsetD8(mapped_pointer(r), 7, 4096));
    EXPECT_OK(cuGraphicsUnmapResources(1, &r, NULL));
    // [end]
    EXPECT_DIAGNOSTIC(G09);
    EXPECT_EQ(byte_of(b, 100), 9); // as on the card, graphics does not see it
}

TEST(g09_discarded_read)
{
    unsigned char back[16] = {0};
    test_context();
    cardlessBuffer b = virtual_buffer(4096);
    CUgraphicsResource r = registered(b, 0);
    EXPECT_OK(cardlessFillBuffer(b, 0, 4096, 9));
    EXPECT_OK(cuGraphicsResourceSetMapFlags(r, CU_GRAPHICS_MAP_RESOURCE_FLAGS_WRITE_DISCARD));
    EXPECT_OK(cuMemcpyDtoH(back, mapped_pointer(r), sizeof back));
    EXPECT(back[0] != 9); // poisoned, because it was discarded
    EXPECT_DIAGNOSTIC(G09);
}

TEST(g09_image)
{
    unsigned char texels[16 * 16 * 4] = {0};
    CUarray a;
    test_context();
    CUgraphicsResource r = registered_texture(virtual_texture(CARDLESS_TEXTURE_2D, 16, 16, 0, 0, 1),
                                              CU_GRAPHICS_REGISTER_FLAGS_READ_ONLY);
    EXPECT_OK(cuGraphicsMapResources(1, &r, NULL));
    EXPECT_OK(cuGraphicsSubResourceGetMappedArray(&a, r, 0, 0));
    EXPECT_OK(copy_array(a, texels, false, 64, 16));
    EXPECT_NO_DIAGNOSTIC();
    EXPECT_OK(copy_array(a, texels, true, 64, 16));
    EXPECT_DIAGNOSTIC(G09);
}

TEST(g09_twin)
{
    unsigned char back[16] = {0};
    test_context();
    cardlessBuffer b = virtual_buffer(4096);
    CUgraphicsResource r = registered(b, 0);
    CUdeviceptr p;
    // [G09 right]
    EXPECT_OK(cuGraphicsResourceSetMapFlags(r, CU_GRAPHICS_MAP_RESOURCE_FLAGS_READ_ONLY));
    EXPECT_OK(cuMemcpyDtoH(back, mapped_pointer(r), sizeof back));
    EXPECT_OK(cuGraphicsUnmapResources(1, &r, NULL));
    // [end]
    EXPECT_OK(cuGraphicsResourceSetMapFlags(r, CU_GRAPHICS_MAP_RESOURCE_FLAGS_WRITE_DISCARD));
    p = mapped_pointer(r);
    EXPECT_OK(cuMemsetD8(p, 3, 4096));
    EXPECT_OK(cuMemcpyDtoH(back, p, sizeof back));
    EXPECT_EQ(back[0], 3);
    EXPECT_OK(cuGraphicsUnmapResources(1, &r, NULL));
    EXPECT_NO_DIAGNOSTIC();
}

TEST(g10_flags_of_buffer)
{
    CUgraphicsResource r;
    test_context();
    // [G10 wrong]
    EXPECT_ERROR(
        cardlessRegisterBuffer(&r, virtual_buffer(64), CU_GRAPHICS_REGISTER_FLAGS_SURFACE_LDST),
        CUDA_ERROR_INVALID_VALUE);
    // [end]
    EXPECT_DIAGNOSTIC(G10);
}

TEST(g10_flags_of_image)
{
    CUgraphicsResource r;
    test_context();
    EXPECT_ERROR(
        cardlessRegisterTexture(&r, virtual_texture(CARDLESS_TEXTURE_2D, 8, 8, 0, 0, 1), 16),
        CUDA_ERROR_INVALID_VALUE);
    EXPECT_DIAGNOSTIC(G10);
}

TEST(g10_gather_of_layers)
{
    CUgraphicsResource r;
    test_context();
    cardlessTexture t = virtual_texture(CARDLESS_TEXTURE_2D_ARRAY, 8, 8, 0, 3, 1);
    EXPECT_ERROR(cardlessRegisterTexture(&r, t, CU_GRAPHICS_REGISTER_FLAGS_TEXTURE_GATHER),
                 CUDA_ERROR_INVALID_VALUE);
    EXPECT_DIAGNOSTIC(G10);
}

TEST(g13_unregister_mapped)
{
    CUgraphicsResource r = buffer();
    // [G13 wrong]
    EXPECT_OK(cuGraphicsMapResources(1, &r, NULL));
    EXPECT_ERROR(cuGraphicsUnregisterResource(r), CUDA_ERROR_ALREADY_MAPPED);
    // [end]
    EXPECT_DIAGNOSTIC(G13);
    EXPECT_OK(cuGraphicsUnmapResources(1, &r, NULL));
    EXPECT_OK(cuGraphicsUnregisterResource(r));
}

TEST(g13_deleted_while_mapped)
{
    test_context();
    cardlessBuffer b = virtual_buffer(4096);
    CUgraphicsResource r = registered(b, 0);
    CUdeviceptr p = mapped_pointer(r);
    EXPECT_OK(cardlessBufferDestroy(b));
    EXPECT_DIAGNOSTIC(G13);
    EXPECT_OK(cuMemsetD8(p, 1, 4096));
    EXPECT_OK(cuGraphicsUnmapResources(1, &r, NULL));
    EXPECT_OK(cuGraphicsUnregisterResource(r));
}

TEST(g13_deleted_and_mapped)
{
    test_context();
    cardlessBuffer b = virtual_buffer(4096);
    CUgraphicsResource r = registered(b, 0);
    EXPECT_OK(cardlessBufferDestroy(b));
    EXPECT_OK(cuGraphicsMapResources(1, &r, NULL));
    EXPECT_DIAGNOSTIC(G13);
}

TEST(g13_twin)
{
    test_context();
    // [G13 right]
    cardlessBuffer b = virtual_buffer(4096);
    CUgraphicsResource r = registered(b, 0);
    EXPECT_OK(cuMemsetD8(mapped_pointer(r), 1, 4096));
    EXPECT_OK(cuGraphicsUnmapResources(1, &r, NULL));
    EXPECT_OK(cuGraphicsUnregisterResource(r));
    EXPECT_OK(cardlessBufferDestroy(b));
    // [end]
    EXPECT_NO_DIAGNOSTIC();
}

TEST(g14_resized)
{
    size_t size = 0;
    test_context();
    // [G14 wrong]
    cardlessBuffer b = virtual_buffer(4096);
    CUgraphicsResource r = registered(b, 0);
    EXPECT_OK(cardlessBufferResize(b, 100));
    EXPECT_OK(cuGraphicsMapResources(1, &r, NULL));
    // [end]
    EXPECT_DIAGNOSTIC(G14);
    EXPECT_OK(cuGraphicsResourceGetMappedPointer(NULL, &size, r));
    EXPECT_EQ(size, 4096); // CUDA keeps the registered size
}

TEST(g14_twin)
{
    size_t size = 0;
    test_context();
    // [G14 right]
    cardlessBuffer b = virtual_buffer(4096);
    CUgraphicsResource r = registered(b, 0);
    EXPECT_OK(cuGraphicsUnregisterResource(r));
    EXPECT_OK(cardlessBufferResize(b, 100));
    r = registered(b, 0);
    EXPECT_OK(cuGraphicsMapResources(1, &r, NULL));
    // [end]
    EXPECT_OK(cuGraphicsResourceGetMappedPointer(NULL, &size, r));
    EXPECT_EQ(size, 100);
    EXPECT_NO_DIAGNOSTIC();
}

TEST(g15_null_resource)
{
    // [G15 wrong]
    CUgraphicsResource r = NULL;
    test_context();
    EXPECT_ERROR(cuGraphicsMapResources(1, &r, NULL), CUDA_ERROR_INVALID_HANDLE);
    // [end]
    EXPECT_DIAGNOSTIC(G15);
}

TEST(g15_twin)
{
    CUgraphicsResource r = NULL, same = (CUgraphicsResource)0x1;
    test_context();
    // [G15 right]
    EXPECT_OK(cardlessRegisterBuffer(&r, virtual_buffer(64), 0));
    EXPECT_OK(cuGraphicsMapResources(1, &r, NULL));
    // [end]
    EXPECT(r != NULL); // success always gives a resource
    EXPECT_ERROR(cardlessRegisterBuffer(&same, NULL, 0), CUDA_ERROR_INVALID_HANDLE);
    EXPECT(same == (CUgraphicsResource)0x1); // failure writes nothing
    EXPECT_NO_DIAGNOSTIC();
}

static void ask_for_array(unsigned index, unsigned level)
{
    CUgraphicsResource r = texture();
    CUarray a;
    // [G17 wrong]
    EXPECT_OK(cuGraphicsMapResources(1, &r, NULL));
    EXPECT_ERROR(cuGraphicsSubResourceGetMappedArray(&a, r, index, level),
                 CUDA_ERROR_INVALID_VALUE);
    // [end]
    EXPECT_DIAGNOSTIC(G17);
}

TEST(g17_array_index)
{
    ask_for_array(1, 0);
}

TEST(g17_mip_level)
{
    ask_for_array(0, 2);
}

// The correct forms of the calls in G01 to G06, G08, G10 and G17.
TEST(g01_to_g17_twin)
{
    CUdeviceptr p, q;
    CUarray a;
    CUmipmappedArray m;
    test_context();
    // [G01 G02 G03 G04 G05 G06 G08 G10 G17 right]
    CUgraphicsResource r[] = {
        registered(virtual_buffer(4096), CU_GRAPHICS_REGISTER_FLAGS_WRITE_DISCARD),
        registered_texture(virtual_texture(CARDLESS_TEXTURE_CUBE, 16, 16, 0, 0, 5),
                           CU_GRAPHICS_REGISTER_FLAGS_SURFACE_LDST)};
    for (int frame = 0; frame < 3; frame++) {
        EXPECT_OK(cuGraphicsResourceSetMapFlags(r[0], CU_GRAPHICS_MAP_RESOURCE_FLAGS_NONE));
        EXPECT_OK(cuGraphicsMapResources(2, r, NULL));
        EXPECT_OK(cuGraphicsResourceGetMappedPointer(&p, NULL, r[0]));
        EXPECT_OK(cuGraphicsResourceGetMappedPointer(&q, NULL, r[0]));
        EXPECT_EQ(p, q);
        EXPECT_OK(cuMemsetD8(p, 1, 4096));
        EXPECT_OK(cuGraphicsSubResourceGetMappedArray(&a, r[1], 5, 4));
        EXPECT_OK(cuGraphicsResourceGetMappedMipmappedArray(&m, r[1]));
        EXPECT_OK(cuGraphicsUnmapResources(2, r, NULL));
    }
    EXPECT_OK(cuGraphicsUnregisterResource(r[0]));
    EXPECT_OK(cuGraphicsUnregisterResource(r[1]));
    // [end]
    EXPECT_NO_DIAGNOSTIC();
}

TESTS(CASE(g01_map_twice), CASE(g02_duplicates), CASE(g02_as_the_driver), CASE(g03_unmap_unmapped),
      CASE(g04_pointer_of_image), CASE(g04_array_of_buffer), CASE(g05_pointer_while_unmapped),
      CASE(g05_array_while_unmapped), CASE(g06_pointer_after_unmap), CASE(g06_array_after_unmap),
      CASE(g06_mipmapped_array_after_unmap), CASE(g06_texture_after_unmap), CASE(g06_as_the_driver),
      CASE(g07_write_while_mapped), CASE(g07_draw_while_mapped), CASE(g07_twin),
      CASE(g08_flags_while_mapped), CASE(g08_no_flags), CASE(g09_read_only_written),
      CASE(g09_discarded_read), CASE(g09_image), CASE(g09_twin), CASE(g10_flags_of_buffer),
      CASE(g10_flags_of_image), CASE(g10_gather_of_layers), CASE(g13_unregister_mapped),
      CASE(g13_deleted_while_mapped), CASE(g13_deleted_and_mapped), CASE(g13_twin),
      CASE(g14_resized), CASE(g14_twin), CASE(g15_null_resource), CASE(g15_twin),
      CASE(g17_array_index), CASE(g17_mip_level), CASE(g01_to_g17_twin))
