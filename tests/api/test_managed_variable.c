// SPDX-License-Identifier: MIT
// Managed variables of PTX texts: the host uses their addresses, and a library has each once.
#include "kernel_text.h"

static const char text[] =
    PTX_HEAD ".visible .global .attribute(.managed) .align 4 .u32 m = 5;\n"
             ".visible .global .attribute(.managed) .align 4 .u32 list[3] = {1, 2, 3};\n"
             ".visible .global .align 4 .u32 g = 6;\n"
             ".visible .global .align 8 .u64 to_m = m;\n"
             ".visible .entry add()\n{\n.reg .b32 %r;\n.reg .b64 %x;\n"
             "ld.global.u64 %x, [to_m];\nld.global.u32 %r, [%x];\nadd.u32 %r, %r, 1;\n"
             "st.global.u32 [m], %r;\nret;\n}\n";

static volatile unsigned *host(CUdeviceptr p)
{
    return (volatile unsigned *)(uintptr_t)p;
}

static CUdeviceptr variable(CUmodule m, const char *name)
{
    CUdeviceptr p = 0;
    MUST(cuModuleGetGlobal(&p, NULL, m, name));
    return p;
}

// Kernel and host see each other's writes without copies.
TEST(one_address)
{
    ptx_start();
    CUmodule m = ptx_load(text);
    const CUdeviceptr p = variable(m, "m");
    EXPECT_EQ(*host(p), 5);
    EXPECT_EQ(host(variable(m, "list"))[2], 3);
    EXPECT_OK(ptx_run(ptx_kernel(m, "add"), 1, 1, NULL));
    EXPECT_EQ(*host(p), 6);
    *host(p) = 40;
    EXPECT_OK(ptx_run(ptx_kernel(m, "add"), 1, 1, NULL));
    EXPECT_EQ(*host(p), 41);
    EXPECT_EQ(ptx_word(p), 41);
}

static unsigned attribute(CUpointer_attribute which, CUdeviceptr p)
{
    unsigned value = 77;
    EXPECT_OK(cuPointerGetAttribute(&value, which, p));
    return value;
}

TEST(pointer_attributes)
{
    ptx_start();
    CUmodule m = ptx_load(text);
    const CUdeviceptr p = variable(m, "m"), g = variable(m, "g");
    CUdeviceptr of_host = 0;
    EXPECT_EQ(attribute(CU_POINTER_ATTRIBUTE_IS_MANAGED, p), 1);
    EXPECT_EQ(attribute(CU_POINTER_ATTRIBUTE_IS_MANAGED, g), 0);
    EXPECT_EQ(attribute(CU_POINTER_ATTRIBUTE_MEMORY_TYPE, p), CU_MEMORYTYPE_DEVICE);
    EXPECT_OK(cuPointerGetAttribute(&of_host, CU_POINTER_ATTRIBUTE_HOST_POINTER, p));
    EXPECT_EQ(of_host, p);
    EXPECT_ERROR(cuPointerGetAttribute(&of_host, CU_POINTER_ATTRIBUTE_HOST_POINTER, g),
                 CUDA_ERROR_INVALID_VALUE);
    EXPECT_OK(cuMemAdvise(p, 4, CU_MEM_ADVISE_SET_READ_MOSTLY,
                          (CUmemLocation){CU_MEM_LOCATION_TYPE_DEVICE, 0}));
    EXPECT_ERROR(cuMemAdvise(g, 4, CU_MEM_ADVISE_SET_READ_MOSTLY,
                             (CUmemLocation){CU_MEM_LOCATION_TYPE_DEVICE, 0}),
                 CUDA_ERROR_INVALID_VALUE);
}

// The memory belongs to the module.
TEST(ends_with_its_module)
{
    ptx_start();
    CUmodule first = ptx_load(text), second = ptx_load(text);
    const CUdeviceptr p = variable(first, "m"), q = variable(second, "m");
    EXPECT(p != q);
    EXPECT_MESSAGE(cuMemFree(p), CUDA_ERROR_INVALID_VALUE,
                   "managed memory is freed when its module is unloaded");
    EXPECT_OK(cuModuleUnload(first));
    EXPECT_ERROR(cuMemsetD32(p, 0, 1), CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(*host(q), 5);
    EXPECT_OK(cuModuleUnload(second));
}

TEST(ends_with_its_context)
{
    ptx_start();
    CUcontext own;
    MUST(cuCtxCreate(&own, NULL, 0, 0));
    const CUdeviceptr p = variable(ptx_load(text), "m");
    EXPECT_OK(cuMemsetD32(p, 0, 1));
    EXPECT_OK(cuCtxDestroy(own));
    EXPECT_ERROR(cuMemsetD32(p, 0, 1), CUDA_ERROR_INVALID_VALUE);
}

static CUlibrary load_library(void)
{
    CUlibrary l = NULL;
    MUST(cuLibraryLoadData(&l, text, NULL, NULL, 0, NULL, NULL, 0));
    return l;
}

TEST(library_managed)
{
    CUdeviceptr p = 0, q = 0;
    size_t size_B = 0;
    ptx_start();
    CUlibrary l = load_library();
    MUST(cuLibraryGetManaged(&p, &size_B, l, "m"));
    EXPECT_EQ(size_B, 4);
    EXPECT_EQ(*host(p), 5);
    EXPECT_OK(cuLibraryGetManaged(NULL, &size_B, l, "list"));
    EXPECT_EQ(size_B, 12);
    EXPECT_OK(cuLibraryGetGlobal(&q, NULL, l, "m"));
    EXPECT_EQ(p, q);
    EXPECT_ERROR(cuLibraryGetManaged(&q, NULL, l, "g"), CUDA_ERROR_NOT_FOUND);
    EXPECT_ERROR(cuLibraryGetManaged(&q, NULL, l, "nosuch"), CUDA_ERROR_NOT_FOUND);
    EXPECT_ERROR(cuLibraryGetManaged(NULL, NULL, l, "m"), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuLibraryGetManaged(&q, NULL, NULL, "m"), CUDA_ERROR_INVALID_HANDLE);
    EXPECT_OK(cuLibraryUnload(l));
    EXPECT_ERROR(cuMemsetD32(p, 0, 1), CUDA_ERROR_INVALID_VALUE);
}

// "Managed memory for a library is shared across devices."
TEST(contexts_share_a_library)
{
    CUdeviceptr p = 0, q = 0, g = 0, other_g = 0;
    CUcontext own;
    CUkernel k;
    ptx_start();
    CUlibrary l = load_library();
    MUST(cuCtxCreate(&own, NULL, 0, 0));
    MUST(cuLibraryGetManaged(&p, NULL, l, "m"));
    MUST(cuLibraryGetGlobal(&g, NULL, l, "g"));
    *host(p) = 70;
    MUST(cuCtxPopCurrent(NULL));
    EXPECT_OK(cuLibraryGetManaged(&q, NULL, l, "m"));
    EXPECT_OK(cuLibraryGetGlobal(&other_g, NULL, l, "g"));
    EXPECT_EQ(p, q);
    EXPECT(g != other_g);
    EXPECT_EQ(*host(p), 70); // it does not get its initial value again
    MUST(cuLibraryGetKernel(&k, l, "add"));
    EXPECT_OK(ptx_run((CUfunction)k, 1, 1, NULL));
    EXPECT_EQ(*host(p), 71);
    EXPECT_OK(cuCtxDestroy(own)); // whose module was the first one
    EXPECT_OK(ptx_run((CUfunction)k, 1, 1, NULL));
    EXPECT_EQ(*host(p), 72);
    EXPECT_OK(cuLibraryUnload(l));
}

TESTS(CASE(one_address), CASE(pointer_attributes), CASE(ends_with_its_module),
      CASE(ends_with_its_context), CASE(library_managed), CASE(contexts_share_a_library))
