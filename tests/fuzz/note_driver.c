// SPDX-License-Identifier: MIT
// Notes about calls of the driver: bytes of the host that they read and write, parameters of
// kernels, and lists of which the trace shows the first element.

#include "note.h"

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

// ---- bytes of the host in calls of CUDA ----

static size_t span(size_t x, size_t y, size_t z, size_t pitch, size_t rows, const CUDA_MEMCPY3D *c)
{
    if (!c->WidthInBytes || !c->Height || !c->Depth)
        return 0;
    pitch = pitch ? pitch : x + c->WidthInBytes;
    rows = rows ? rows : y + c->Height;
    return ((z + c->Depth - 1) * rows + y + c->Height - 1) * pitch + x + c->WidthInBytes;
}

static void before_copy(const CUDA_MEMCPY3D *c)
{
    if (note_is_on() && c->srcMemoryType == CU_MEMORYTYPE_HOST)
        note_bytes("bytes", c->srcHost,
                   span(c->srcXInBytes, c->srcY, c->srcZ, c->srcPitch, c->srcHeight, c));
    if (note_is_on() && c->dstMemoryType == CU_MEMORYTYPE_HOST)
        note_bytes("bytes", c->dstHost,
                   span(c->dstXInBytes, c->dstY, c->dstZ, c->dstPitch, c->dstHeight, c));
}

// Bytes that a stream writes: they are there when the program has waited for it.
static struct {
    void *address;
    size_t size;
} coming;

static void after_copy(const CUDA_MEMCPY3D *c, CUresult r, bool async)
{
    if (!note_is_on() || r || c->dstMemoryType != CU_MEMORYTYPE_HOST)
        return;
    const size_t size = span(c->dstXInBytes, c->dstY, c->dstZ, c->dstPitch, c->dstHeight, c);
    if (!async)
        note_bytes("got", c->dstHost, size);
    else
        coming.address = c->dstHost, coming.size = size;
}

CUresult __real_cuStreamSynchronize(CUstream s);
CUresult __wrap_cuStreamSynchronize(CUstream s);
CUresult __wrap_cuStreamSynchronize(CUstream s)
{
    const CUresult r = __real_cuStreamSynchronize(s);
    if (!r && coming.size)
        note_bytes("got", coming.address, coming.size);
    coming.size = 0;
    return r;
}

static CUDA_MEMCPY3D of_2d(const CUDA_MEMCPY2D *c)
{
    return (CUDA_MEMCPY3D){.srcMemoryType = c->srcMemoryType,
                           .srcHost = c->srcHost,
                           .srcXInBytes = c->srcXInBytes,
                           .srcY = c->srcY,
                           .srcPitch = c->srcPitch,
                           .dstMemoryType = c->dstMemoryType,
                           .dstHost = c->dstHost,
                           .dstXInBytes = c->dstXInBytes,
                           .dstY = c->dstY,
                           .dstPitch = c->dstPitch,
                           .WidthInBytes = c->WidthInBytes,
                           .Height = c->Height,
                           .Depth = 1};
}

#define WRAP_COPY(name, parameters, arguments, copy, async)                                        \
    CUresult __real_##name parameters;                                                             \
    CUresult __wrap_##name parameters;                                                             \
    CUresult __wrap_##name parameters                                                              \
    {                                                                                              \
        const CUDA_MEMCPY3D seen = copy;                                                           \
        before_copy(&seen);                                                                        \
        CUresult r = __real_##name arguments;                                                      \
        after_copy(&seen, r, async);                                                               \
        return r;                                                                                  \
    }
WRAP_COPY(cuMemcpy3D_v2, (const CUDA_MEMCPY3D *c), (c), *c, false)
WRAP_COPY(cuMemcpy2D_v2, (const CUDA_MEMCPY2D *c), (c), of_2d(c), false)
WRAP_COPY(cuMemcpy2DUnaligned_v2, (const CUDA_MEMCPY2D *c), (c), of_2d(c), false)
WRAP_COPY(cuMemcpy3DAsync_v2, (const CUDA_MEMCPY3D *c, CUstream s), (c, s), *c, true)
WRAP_COPY(cuMemcpy2DAsync_v2, (const CUDA_MEMCPY2D *c, CUstream s), (c, s), of_2d(c), true)

CUresult __real_cuMemcpyHtoD_v2(CUdeviceptr to, const void *from, size_t size);
CUresult __wrap_cuMemcpyHtoD_v2(CUdeviceptr to, const void *from, size_t size);
CUresult __wrap_cuMemcpyHtoD_v2(CUdeviceptr to, const void *from, size_t size)
{
    note_bytes("bytes", from, size);
    return __real_cuMemcpyHtoD_v2(to, from, size);
}

CUresult __real_cuMemcpyDtoH_v2(void *to, CUdeviceptr from, size_t size);
CUresult __wrap_cuMemcpyDtoH_v2(void *to, CUdeviceptr from, size_t size);
CUresult __wrap_cuMemcpyDtoH_v2(void *to, CUdeviceptr from, size_t size)
{
    CUresult r = __real_cuMemcpyDtoH_v2(to, from, size);
    if (!r)
        note_bytes("got", to, size);
    return r;
}

CUresult __real_cuMemcpyDtoHAsync_v2(void *to, CUdeviceptr from, size_t size, CUstream s);
CUresult __wrap_cuMemcpyDtoHAsync_v2(void *to, CUdeviceptr from, size_t size, CUstream s);
CUresult __wrap_cuMemcpyDtoHAsync_v2(void *to, CUdeviceptr from, size_t size, CUstream s)
{
    note_bytes("bytes", to, size);
    const CUresult r = __real_cuMemcpyDtoHAsync_v2(to, from, size, s);
    if (!r)
        coming.address = to, coming.size = size;
    return r;
}

// ---- kernels ----

CUresult __real_cuModuleLoadData(CUmodule *module, const void *image);
CUresult __wrap_cuModuleLoadData(CUmodule *module, const void *image);
CUresult __wrap_cuModuleLoadData(CUmodule *module, const void *image)
{
    note_bytes("bytes", image, strlen(image) + 1); // of targets that load a text
    return __real_cuModuleLoadData(module, image);
}

static void note_parameters(CUfunction f, void **parameters, void **extra)
{
    size_t offset, size;
    if (!note_is_on())
        return;
    for (unsigned i = 0; parameters && !cuFuncGetParamInfo(f, i, &offset, &size); i++)
        note_bytes("parameter", parameters[i], size);
    if (extra) // as cuda.h shows it: pointer, size, end
        note_bytes("packed", extra[1], *(const size_t *)extra[3]);
}

CUresult __real_cuLaunchKernel(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                               unsigned by, unsigned bz, unsigned shared, CUstream s, void **p,
                               void **extra);
CUresult __wrap_cuLaunchKernel(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                               unsigned by, unsigned bz, unsigned shared, CUstream s, void **p,
                               void **extra);
CUresult __wrap_cuLaunchKernel(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                               unsigned by, unsigned bz, unsigned shared, CUstream s, void **p,
                               void **extra)
{
    note_parameters(f, p, extra);
    return __real_cuLaunchKernel(f, gx, gy, gz, bx, by, bz, shared, s, p, extra);
}

CUresult __real_cuLaunchKernelEx(const CUlaunchConfig *c, CUfunction f, void **p, void **extra);
CUresult __wrap_cuLaunchKernelEx(const CUlaunchConfig *c, CUfunction f, void **p, void **extra);
CUresult __wrap_cuLaunchKernelEx(const CUlaunchConfig *c, CUfunction f, void **p, void **extra)
{
    note_parameters(f, p, extra);
    return __real_cuLaunchKernelEx(c, f, p, extra);
}

// ---- texture references ----

enum { COLOR_B = 4 * sizeof(float) };

CUresult __real_cuTexRefSetBorderColor(CUtexref t, float *color);
CUresult __wrap_cuTexRefSetBorderColor(CUtexref t, float *color);
CUresult __wrap_cuTexRefSetBorderColor(CUtexref t, float *color)
{
    if (color)
        note("argument pBorderColor (float[]){%a, %a, %a, %a}", (double)color[0], (double)color[1],
             (double)color[2], (double)color[3]);
    return __real_cuTexRefSetBorderColor(t, color);
}

CUresult __real_cuTexRefGetBorderColor(float *color, CUtexref t);
CUresult __wrap_cuTexRefGetBorderColor(float *color, CUtexref t);
CUresult __wrap_cuTexRefGetBorderColor(float *color, CUtexref t)
{
    note("argument pBorderColor (float *)@%p", (void *)color);
    const CUresult r = __real_cuTexRefGetBorderColor(color, t);
    if (!r)
        note_bytes("got", color, COLOR_B);
    return r;
}

// ---- tensor maps ----

enum { RANK_MOST = 5 };

// A list whose number of elements follows from the rank.
static void note_list(const char *name, const char *type, const void *list, unsigned count)
{
    const bool wide = !strcmp(type, "cuuint64_t"), is_signed = !strcmp(type, "int");
    char text[256];
    size_t used = 0;
    if (!list)
        return;
    for (unsigned i = 0; i < count; i++) {
        long long value;
        if (wide)
            value = (long long)((const cuuint64_t *)list)[i];
        else if (is_signed)
            value = ((const int *)list)[i];
        else
            value = ((const cuuint32_t *)list)[i];
        used += (size_t)snprintf(text + used, sizeof text - used, wide ? "%s%lluu" : "%s%lld",
                                 i ? ", " : "", value);
    }
    if (count)
        note("argument %s (%s[]){%s}", name, type, text);
    else
        note("argument %s (%s[1]){0}", name, type);
}

static void note_tensor(const CUtensorMap *map, unsigned rank, const cuuint64_t *dim,
                        const cuuint64_t *strides, const cuuint32_t *steps)
{
    const unsigned count = rank <= RANK_MOST ? rank : 0;
    if (map)
        note("argument tensorMap (CUtensorMap *)@%p", (const void *)map);
    note_bytes("bytes", map, sizeof *map);
    note_list("globalDim", "cuuint64_t", dim, count);
    note_list("globalStrides", "cuuint64_t", strides, count ? count - 1 : 0);
    note_list("elementStrides", "cuuint32_t", steps, count);
}

#define ENCODE(name, parameters, arguments, ...)                                                   \
    CUresult __real_##name parameters;                                                             \
    CUresult __wrap_##name parameters;                                                             \
    CUresult __wrap_##name parameters                                                              \
    {                                                                                              \
        if (note_is_on()) {                                                                        \
            note_tensor(map, rank, dim, strides, steps);                                           \
            __VA_ARGS__;                                                                           \
        }                                                                                          \
        const CUresult r = __real_##name arguments;                                                \
        note_bytes("got", map, sizeof *map);                                                       \
        return r;                                                                                  \
    }

ENCODE(cuTensorMapEncodeTiled,
       (CUtensorMap * map, CUtensorMapDataType type, cuuint32_t rank, void *address,
        const cuuint64_t *dim, const cuuint64_t *strides, const cuuint32_t *box,
        const cuuint32_t *steps, CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
        CUtensorMapL2promotion promotion, CUtensorMapFloatOOBfill fill),
       (map, type, rank, address, dim, strides, box, steps, interleave, swizzle, promotion, fill),
       note_list("boxDim", "cuuint32_t", box, rank <= RANK_MOST ? rank : 0))
ENCODE(cuTensorMapEncodeIm2col,
       (CUtensorMap * map, CUtensorMapDataType type, cuuint32_t rank, void *address,
        const cuuint64_t *dim, const cuuint64_t *strides, const int *lower, const int *upper,
        cuuint32_t channels, cuuint32_t pixels, const cuuint32_t *steps,
        CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
        CUtensorMapL2promotion promotion, CUtensorMapFloatOOBfill fill),
       (map, type, rank, address, dim, strides, lower, upper, channels, pixels, steps, interleave,
        swizzle, promotion, fill),
       const unsigned corners = rank > 2 && rank <= RANK_MOST ? rank - 2 : 0;
       note_list("pixelBoxLowerCorner", "int", lower, corners);
       note_list("pixelBoxUpperCorner", "int", upper, corners))
ENCODE(cuTensorMapEncodeIm2colWide,
       (CUtensorMap * map, CUtensorMapDataType type, cuuint32_t rank, void *address,
        const cuuint64_t *dim, const cuuint64_t *strides, int lower, int upper, cuuint32_t channels,
        cuuint32_t pixels, const cuuint32_t *steps, CUtensorMapInterleave interleave,
        CUtensorMapIm2ColWideMode mode, CUtensorMapSwizzle swizzle,
        CUtensorMapL2promotion promotion, CUtensorMapFloatOOBfill fill),
       (map, type, rank, address, dim, strides, lower, upper, channels, pixels, steps, interleave,
        mode, swizzle, promotion, fill), )

CUresult __real_cuTensorMapReplaceAddress(CUtensorMap *map, void *address);
CUresult __wrap_cuTensorMapReplaceAddress(CUtensorMap *map, void *address);
CUresult __wrap_cuTensorMapReplaceAddress(CUtensorMap *map, void *address)
{
    if (map)
        note("argument tensorMap (CUtensorMap *)@%p", (void *)map);
    note_bytes("bytes", map, sizeof *map);
    const CUresult r = __real_cuTensorMapReplaceAddress(map, address);
    note_bytes("got", map, sizeof *map);
    return r;
}
