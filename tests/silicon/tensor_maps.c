// SPDX-License-Identifier: MIT
// Tensor maps: alignment of the map and of the tensor. Kernels and functions without a current
// context. sin.approx and cos.approx of large angles.
#include "record.h"

static const char kernel_text[] =
    ".version 7.0\n.target sm_75\n.address_size 64\n"
    ".visible .entry k(.param .u64 p, .param .u32 n)\n{\n"
    ".reg .b64 %p;\n.reg .f32 %x, %s, %c;\n.reg .b32 %t;\n.reg .b64 %o;\n"
    "ld.param.u64 %p, [p];\nmov.u32 %t, %tid.x;\nmul.wide.u32 %o, %t, 8;\nadd.u64 %p, %p, %o;\n"
    "ld.global.f32 %x, [%p];\nsin.approx.f32 %s, %x;\ncos.approx.f32 %c, %x;\n"
    "st.global.f32 [%p], %s;\nst.global.f32 [%p+4], %c;\nret;\n}\n";
static const char rcp_text[] = ".version 7.0\n.target sm_75\n.address_size 64\n"
                               ".visible .entry k(.param .u64 p)\n{\n.reg .f64 %x;\n"
                               "mov.f64 %x, 0d4000000000000000;\nrcp.approx.f64 %x, %x;\nret;\n}\n";

static CUcontext start(void)
{
    CUdevice device;
    CUcontext context = NULL;
    cuInit(0);
    cuDeviceGet(&device, 0);
    cuDevicePrimaryCtxRetain(&context, device);
    cuCtxSetCurrent(context);
    return context;
}

static CUresult encode(void *map, CUdeviceptr address, CUtensorMapDataType type,
                       CUtensorMapInterleave interleave)
{
    const cuuint64_t dim[3] = {64, 64, 64}, strides[2] = {1024, 65536};
    const cuuint32_t box[3] = {16, 8, 8}, steps[3] = {1, 1, 1};
    return cuTensorMapEncodeTiled(
        map, type, 3, (void *)(uintptr_t)address, dim, strides, box, steps, interleave,
        interleave == CU_TENSOR_MAP_INTERLEAVE_32B ? CU_TENSOR_MAP_SWIZZLE_32B
                                                   : CU_TENSOR_MAP_SWIZZLE_NONE,
        CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
}

GROUP(tensor)
{
    static const unsigned offsets[] = {0, 1, 2, 4, 8, 16, 24, 32, 40, 48, 64, 96};
    static char bytes[512] __attribute__((aligned(128)));
    CUdeviceptr p;
    start();
    cuMemAlloc(&p, 8 << 20);
    for (size_t i = 0; i < sizeof offsets / sizeof *offsets; i++)
        if (CASE("map-at-%u", offsets[i]))
            SAY("%s", record_name(encode(bytes + offsets[i], p, CU_TENSOR_MAP_DATA_TYPE_FLOAT32,
                                         CU_TENSOR_MAP_INTERLEAVE_NONE)));
    for (int type = 0; type <= 16; type++)
        for (int interleave = 0; interleave < 3; interleave++)
            for (size_t i = 0; i < sizeof offsets / sizeof *offsets; i++)
                if (CASE("type-%d-interleave-%d-address-%u", type, interleave, offsets[i]))
                    SAY("%s", record_name(encode(bytes, p + offsets[i], (CUtensorMapDataType)type,
                                                 (CUtensorMapInterleave)interleave)));
    if (CASE("host-address"))
        SAY("%s",
            record_name(encode(bytes, (CUdeviceptr)(uintptr_t)bytes,
                               CU_TENSOR_MAP_DATA_TYPE_FLOAT32, CU_TENSOR_MAP_INTERLEAVE_NONE)));
    if (CASE("address-0"))
        SAY("%s", record_name(encode(bytes, 0, CU_TENSOR_MAP_DATA_TYPE_FLOAT32,
                                     CU_TENSOR_MAP_INTERLEAVE_NONE)));
    if (CASE("no-context")) {
        cuCtxSetCurrent(NULL);
        SAY("%s", record_name(encode(bytes, p, CU_TENSOR_MAP_DATA_TYPE_FLOAT32,
                                     CU_TENSOR_MAP_INTERLEAVE_NONE)));
    }
}

static void say_kernel(CUkernel kernel)
{
    for (size_t i = 0; i < 3; i++) {
        size_t offset = 77, size = 77;
        CUresult r = cuKernelGetParamInfo(kernel, i, &offset, &size);
        SAY("parameter %zu: %s %zu %zu; ", i, record_name(r), offset, size);
        r = cuKernelGetParamInfo(kernel, i, &offset, NULL);
        SAY("without a size %s; ", record_name(r));
    }
    const char *name = NULL;
    int value = 77;
    CUresult r = cuKernelGetName(&name, kernel);
    SAY("name %s %s; ", record_name(r), name ? name : "NULL");
    r = cuKernelGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, kernel, 0);
    SAY("attribute %s %d; ", record_name(r), value);
    r = cuKernelSetAttribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 1024, kernel, 0);
    SAY("set %s; ", record_name(r));
    CUfunction f = NULL;
    r = cuKernelGetFunction(&f, kernel);
    SAY("function %s", record_name(r));
}

static void say_function(CUfunction f)
{
    for (size_t i = 0; i < 3; i++) {
        size_t offset = 77, size = 77;
        CUresult r = cuFuncGetParamInfo(f, i, &offset, &size);
        SAY("parameter %zu: %s %zu %zu; ", i, record_name(r), offset, size);
    }
    const char *name = NULL;
    int value = 77;
    CUmodule module = NULL;
    CUfunctionLoadingState state = (CUfunctionLoadingState)77;
    CUresult r = cuFuncGetName(&name, f);
    SAY("name %s %s; ", record_name(r), name ? name : "NULL");
    r = cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, f);
    SAY("attribute %s %d; ", record_name(r), value);
    r = cuFuncSetAttribute(f, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 1024);
    SAY("set %s; ", record_name(r));
    r = cuFuncGetModule(&module, f);
    SAY("module %s %d; ", record_name(r), module != NULL);
    r = cuFuncIsLoaded(&state, f);
    SAY("loaded %s %d; ", record_name(r), (int)state);
    r = cuFuncLoad(f);
    SAY("load %s", record_name(r));
}

GROUP(contexts)
{
    CUlibrary library = NULL;
    CUkernel kernel = NULL;
    CUmodule module = NULL;
    CUfunction f = NULL;
    cuInit(0);
    if (CASE("kernel-before-any-context")) {
        CUresult r = cuLibraryLoadData(&library, kernel_text, NULL, NULL, 0, NULL, NULL, 0);
        SAY("load %s; ", record_name(r));
        r = cuLibraryGetKernel(&kernel, library, "k");
        SAY("kernel %s; ", record_name(r));
        say_kernel(kernel);
    }
    CUcontext context = start();
    cuLibraryLoadData(&library, kernel_text, NULL, NULL, 0, NULL, NULL, 0);
    cuLibraryGetKernel(&kernel, library, "k");
    cuModuleLoadData(&module, kernel_text);
    cuModuleGetFunction(&f, module, "k");
    if (CASE("kernel-with-a-context"))
        say_kernel(kernel);
    if (CASE("function-with-a-context"))
        say_function(f);
    if (CASE("kernel-as-function-with-a-context"))
        say_function((CUfunction)kernel);
    cuCtxSetCurrent(NULL);
    if (CASE("kernel-without-a-current-context"))
        say_kernel(kernel);
    if (CASE("function-without-a-current-context"))
        say_function(f);
    if (CASE("kernel-as-function-without-a-current-context"))
        say_function((CUfunction)kernel);
    cuCtxSetCurrent(context);
    CUcontext other;
    cuCtxCreate(&other, NULL, 0, 0);
    if (CASE("function-in-another-context"))
        say_function(f);
}

GROUP(approximate)
{
    enum { ANGLES = 32 };
    CUmodule module;
    CUfunction f;
    CUdeviceptr p;
    start();
    if (CASE("rcp.approx.f64"))
        SAY("%s", record_name(cuModuleLoadData(&module, rcp_text)));
    cuModuleLoadData(&module, kernel_text);
    cuModuleGetFunction(&f, module, "k");
    cuMemAlloc(&p, ANGLES * 8);
    for (int scale = -4; scale < 40; scale++)
        if (CASE("angles-times-2^%d", scale)) {
            float in[ANGLES][2];
            uint32_t out[ANGLES][2];
            unsigned n = 0;
            for (int i = 0; i < ANGLES; i++) {
                const int64_t one = 1;
                in[i][0] = (float)(i % 2 ? -1 : 1) * (1 + (float)(i * 37 % 64) / 64) *
                           (scale < 0 ? 1.0f / (float)(one << -scale) : (float)(one << scale));
                in[i][1] = 0;
            }
            cuMemcpyHtoD(p, in, sizeof in);
            CUresult r =
                cuLaunchKernel(f, 1, 1, 1, ANGLES, 1, 1, 0, NULL, (void *[]){&p, &n}, NULL);
            r = r ? r : cuMemcpyDtoH(out, p, sizeof out);
            SAY("%s", record_name(r));
            for (int i = 0; i < ANGLES; i++)
                SAY(" %08x/%08x", out[i][0], out[i][1]);
        }
}

int main(int argc, char **argv)
{
    RUN(tensor);
    RUN(contexts);
    RUN(approximate);
    return 0;
}
