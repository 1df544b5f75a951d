// SPDX-License-Identifier: MIT
// Mistakes with cuExternalMemoryGetMappedBuffer and its buffers (B01 to B08), and an exporter that
// truncates its file.
#include "external.h"

static CUexternalMemory memory(void)
{
    test_context();
    return import(own_fd(EXTERNAL_B), EXTERNAL_B, 0);
}

TEST(b01_past_the_end)
{
    // [B01 wrong]
    CUexternalMemory m = memory();
    EXPECT_ERROR(try_buffer(m, 4096, EXTERNAL_B, 0), CUDA_ERROR_INVALID_VALUE);
    // [end]
    EXPECT_DIAGNOSTIC(B01);
}

// In JSON a diagnostic names its section of the manual.
TEST(b01_names_its_section)
{
    CUexternalMemory m = memory();
    EXPECT_ERROR(try_buffer(m, 4096, EXTERNAL_B, 0), CUDA_ERROR_INVALID_VALUE);
    char line[8192] = "";
    FILE *f = fopen(test_diagnostics, "r");
    EXPECT(f && fgets(line, sizeof line, f));
    EXPECT(strstr(line, "\"see\":\"docs/generated/diagnostics.md#b01, which tools/docs makes\"}"));
    if (f)
        fclose(f);
}

TEST(b01_size_that_lies)
{
    test_context();
    CUexternalMemory m = import(plain_memfd(65536), 1 << 20, 0);
    EXPECT_ERROR(try_buffer(m, 0, 1 << 20, 0), CUDA_ERROR_INVALID_VALUE);
    EXPECT_DIAGNOSTIC(B01);
    EXPECT_OK(try_buffer(m, 0, 65536, 0));
}

TEST(b02_wraps)
{
    // [B02 wrong]
    CUexternalMemory m = memory();
    EXPECT_ERROR(try_buffer(m, 65536, ~0ull - 4095, 0), CUDA_ERROR_INVALID_VALUE);
    // [end]
    EXPECT_DIAGNOSTIC(B02);
}

TEST(b02_as_the_driver)
{
    test_setting("CARDLESS_PERSONALITY", "driver-580");
    CUexternalMemory m = memory();
    EXPECT_ERROR(try_buffer(m, 65536, ~0ull - 4095, 0), CUDA_ERROR_OUT_OF_MEMORY);
    EXPECT_DIAGNOSTIC(B02);
}

TEST(b03_flags)
{
    // [B03 wrong]
    CUexternalMemory m = memory();
    EXPECT_ERROR(try_buffer(m, 0, 4096, 1), CUDA_ERROR_INVALID_VALUE);
    // [end]
    EXPECT_DIAGNOSTIC(B03);
}

TEST(b04_alignment)
{
    // [B04 wrong]
    CUexternalMemory m = memory();
    EXPECT_OK(try_buffer(m, 100, 4096, 0));
    // [end]
    EXPECT_DIAGNOSTIC(B04);
}

TEST(b01_to_b04_twin)
{
    // [B01 B02 B03 B04 right]
    CUexternalMemory m = memory();
    EXPECT_OK(try_buffer(m, 0, EXTERNAL_B, 0));
    EXPECT_OK(try_buffer(m, 65536, EXTERNAL_B - 65536, 0));
    EXPECT_OK(try_buffer(m, 256, 100, 0));
    // [end]
    EXPECT_NO_DIAGNOSTIC();
}

TEST(b05_alias_without_order)
{
    CUexternalMemory m = memory();
    unsigned char back[64];
    // [B05 wrong]
    CUdeviceptr a = map_buffer(m, 0, 65536), b = map_buffer(m, 4096, 65536);
    EXPECT_OK(cuMemsetD8(a, 7, 65536));
    EXPECT_OK(cuMemcpyDtoH(back, b, sizeof back));
    // [end]
    EXPECT(a != b);
    EXPECT_EQ(back[0], 7); // Cardless does order the two
    EXPECT_DIAGNOSTIC(B05);
}

TEST(b05_twin)
{
    CUexternalMemory m = memory();
    unsigned char back[64];
    // [B05 right]
    CUdeviceptr a = map_buffer(m, 0, 65536), b = map_buffer(m, 4096, 65536);
    EXPECT_OK(cuMemsetD8(a, 7, 65536));
    EXPECT_OK(cuStreamSynchronize(NULL));
    EXPECT_OK(cuMemcpyDtoH(back, b, sizeof back));
    // [end]
    EXPECT_EQ(back[0], 7);
    EXPECT_NO_DIAGNOSTIC();
}

TEST(b06_used_after_destroy)
{
    // [B06 wrong]
    CUexternalMemory m = memory();
    CUdeviceptr p = map_buffer(m, 0, 4096);
    EXPECT_OK(cuDestroyExternalMemory(m));
    EXPECT_OK(cuMemsetD8(p, 1, 4096));
    EXPECT_OK(cuMemFree(p));
    // [end]
    EXPECT_DIAGNOSTIC(B06);
}

TEST(b06_as_the_driver)
{
    test_setting("CARDLESS_PERSONALITY", "driver-580");
    CUexternalMemory m = memory();
    CUdeviceptr p = map_buffer(m, 0, 4096);
    EXPECT_OK(cuDestroyExternalMemory(m));
    EXPECT_OK(cuMemsetD8(p, 1, 4096)); // works on a card
    EXPECT_OK(cuMemFree(p));
    EXPECT_NO_DIAGNOSTIC();
}

TEST(b06_twin)
{
    // [B06 right]
    CUexternalMemory m = memory();
    CUdeviceptr p = map_buffer(m, 0, 4096);
    EXPECT_OK(cuMemsetD8(p, 1, 4096));
    EXPECT_OK(cuMemFree(p));
    EXPECT_OK(cuDestroyExternalMemory(m));
    // [end]
    EXPECT_NO_DIAGNOSTIC();
}

TEST(b07_pointer_inside)
{
    CUexternalMemory m = memory();
    // [B07 wrong]
    CUdeviceptr p = map_buffer(m, 0, 65536);
    EXPECT_ERROR(cuMemFree(p + 256), CUDA_ERROR_INVALID_VALUE);
    // [end]
    EXPECT_DIAGNOSTIC(B07);
    EXPECT_OK(cuMemFree(p));
}

TEST(b07_twin)
{
    CUexternalMemory m = memory();
    // [B07 right]
    EXPECT_OK(cuMemFree(map_buffer(m, 256, 65536)));
    // [end]
    EXPECT_NO_DIAGNOSTIC();
}

TEST(b08_destroyed_twice)
{
    CUexternalMemory m = memory();
    // [B08 wrong]
    EXPECT_OK(cuDestroyExternalMemory(m));
    EXPECT_ERROR(cuDestroyExternalMemory(m), CUDA_ERROR_INVALID_HANDLE);
    // [end]
    EXPECT_DIAGNOSTIC(B08);
    EXPECT_ERROR(cuDestroyExternalMemory((CUexternalMemory)0x1234), CUDA_ERROR_INVALID_HANDLE);
    EXPECT_ERROR(cuDestroyExternalMemory((CUexternalMemory)&m), CUDA_ERROR_INVALID_HANDLE);
}

TEST(b08_twin)
{
    CUexternalMemory m = memory();
    // [B08 right]
    EXPECT_OK(cuDestroyExternalMemory(m));
    m = NULL; // so that nothing destroys it again
    // [end]
    EXPECT(!m);
    EXPECT_NO_DIAGNOSTIC();
}

TEST(overlap_same)
{
    test_setting("CARDLESS_OVERLAP", "same");
    CUexternalMemory m = memory();
    unsigned char back = 0;
    CUdeviceptr a = map_buffer(m, 0, 65536), b = map_buffer(m, 4096, 65536),
                again = map_buffer(m, 0, 65536);
    EXPECT_EQ(b - a, 4096);
    EXPECT_EQ(again, a);
    EXPECT_OK(cuMemsetD8(a, 7, 65536));
    EXPECT_OK(cuMemcpyDtoH(&back, b, 1)); // no order is needed, because the address is the same
    EXPECT_EQ(back, 7);
    EXPECT_OK(cuMemFree(a));
    EXPECT_OK(cuMemFree(b));
    EXPECT_NO_DIAGNOSTIC();
    EXPECT_ERROR(cuMemFree(b), CUDA_ERROR_INVALID_VALUE);
    EXPECT_DIAGNOSTIC(B07);
    EXPECT_OK(cuDestroyExternalMemory(m));
    EXPECT_OK(cuMemFree(again));
    EXPECT_ERROR(cuMemFree(again), CUDA_ERROR_INVALID_VALUE);
}

TEST(truncated_by_its_exporter)
{
    test_context();
    static unsigned char back[65536];
    int fd = plain_memfd(1 << 20), exporters_fd = dup(fd);
    CUexternalMemory m = import(fd, 1 << 20, 0);
    CUdeviceptr p = map_buffer(m, 0, 1 << 20);
    EXPECT_OK(cuMemcpyDtoH(back, p + (1 << 19), sizeof back));
    EXPECT_EQ(ftruncate(exporters_fd, 4096), 0);
    EXPECT_ERROR(cuMemcpyDtoH(back, p + (1 << 19), sizeof back), CUDA_ERROR_ILLEGAL_ADDRESS);
    EXPECT_ERROR(cuMemcpyDtoH(back, p, 16), CUDA_ERROR_ILLEGAL_ADDRESS); // the error is sticky
}

TEST(outlives_the_object)
{
    CUexternalMemory m = memory();
    unsigned char back = 0;
    CUdeviceptr p = map_buffer(m, 65536, 4096), base;
    size_t size;
    EXPECT_OK(cuMemsetD8(p, 9, 4096));
    EXPECT_OK(cuDestroyExternalMemory(m));
    EXPECT_OK(cuMemGetAddressRange(&base, &size, p + 100));
    EXPECT_EQ(base, p);
    EXPECT_EQ(size, 4096);
    EXPECT_OK(cuMemcpyDtoH(&back, p + 4095, 1));
    EXPECT_EQ(back, 9);
    EXPECT_OK(cuMemFree(p));
    EXPECT_ERROR(cuMemFree(p), CUDA_ERROR_INVALID_VALUE);
}

TESTS(CASE(b01_past_the_end), CASE(b01_names_its_section), CASE(b01_size_that_lies),
      CASE(b02_wraps), CASE(b02_as_the_driver), CASE(b03_flags), CASE(b04_alignment),
      CASE(b01_to_b04_twin), CASE(b05_alias_without_order), CASE(b05_twin),
      CASE(b06_used_after_destroy), CASE(b06_as_the_driver), CASE(b06_twin),
      CASE(b07_pointer_inside), CASE(b07_twin), CASE(b08_destroyed_twice), CASE(b08_twin),
      CASE(overlap_same), CASE(truncated_by_its_exporter), CASE(outlives_the_object))
