// SPDX-License-Identifier: MIT
// Notes for tools/fuzz_to_c about the things that a trace does not show: files, bytes of host
// memory, parameters of kernels, and calls of cardless.h. With CARDLESS_TRACE, the calls of a
// target that standalone.c runs come through here (the linker's --wrap) and are written between the
// lines of the trace, as lines "note …". In them `@0x…` stands for an address of the host, and
// `$type:0x…` for a handle.
#include <cardless.h>
#include <fcntl.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include "fuzz.h"

enum { BYTES_MOST = 1 << 20, LINE_MOST = 2 * BYTES_MOST + 256 };

int __real_close(int fd);
int __real_open64(const char *path, int flags, ...);

static int file = -2; // of the trace; -1 without one

static bool is_on(void)
{
    const char *path = getenv("CARDLESS_TRACE");
    if (file == -2)
        file = path ? __real_open64(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600) : -1;
    return file >= 0;
}

static void write_line(const char *line, size_t size)
{
    FUZZ_CHECK(write(file, line, size) == (ssize_t)size, "cannot write the trace");
}

__attribute__((format(printf, 1, 2))) static void note(const char *format, ...)
{
    char line[1024] = "note ";
    va_list args;
    if (!is_on())
        return;
    va_start(args, format);
    size_t size = 5 + (size_t)vsnprintf(line + 5, sizeof line - 6, format, args);
    va_end(args);
    line[size++] = '\n';
    write_line(line, size);
}

// Bytes of the program, or of the device: "note bytes @0x… hex". Nothing if they cannot be read.
static void note_bytes(const char *what, const void *address, size_t size)
{
    static uint8_t bytes[BYTES_MOST];
    static char line[LINE_MOST];
    const struct iovec to = {bytes, size}, from = {(void *)(uintptr_t)address, size};
    if (!is_on() || !size || size > BYTES_MOST ||
        process_vm_readv(getpid(), &to, 1, &from, 1, 0) != (ssize_t)size)
        return;
    size_t used = (size_t)sprintf(line, "note %s @%p ", what, address);
    for (size_t i = 0; i < size; i++)
        used += (size_t)sprintf(line + used, "%02x", bytes[i]);
    line[used++] = '\n';
    write_line(line, used);
}

// ---- files ----

// The names that these functions have with _FILE_OFFSET_BITS=64 in glibc.

#define WRAP(type, name, parameters, arguments, ...)                                               \
    type __real_##name parameters;                                                                 \
    type __wrap_##name parameters;                                                                 \
    type __wrap_##name parameters                                                                  \
    {                                                                                              \
        type r = __real_##name arguments;                                                          \
        __VA_ARGS__;                                                                               \
        return r;                                                                                  \
    }

WRAP(int, memfd_create, (const char *name, unsigned flags), (name, flags),
     note("fd[%d] = memfd_create(\"%s\", %#x);", r, name, flags))
WRAP(int, ftruncate64, (int fd, off_t size), (fd, size),
     note("HOST(ftruncate(fd[%d], %#llx), %d);", fd, (unsigned long long)size, r))
WRAP(ssize_t, pwrite64, (int fd, const void *bytes, size_t size, off_t at), (fd, bytes, size, at),
     note_bytes("bytes", bytes, size);
     note("HOST(pwrite(fd[%d], @%p, %zu, %lld), %zd);", fd, bytes, size, (long long)at, r))
WRAP(int, close, (int fd), (fd), note("close(fd[%d]);", fd))
WRAP(int, pipe, (int ends[2]), (ends),
     note("HOST(pipe(two), %d); fd[%d] = two[0]; fd[%d] = two[1];", r, ends[0], ends[1]))

int __wrap_open64(const char *path, int flags, ...);
int __wrap_open64(const char *path, int flags, ...)
{
    int r = __real_open64(path, flags, 0600);
    note("fd[%d] = open(\"%s\", %#x);", r, path, (unsigned)flags);
    return r;
}

int __real_fcntl64(int fd, int command, ...);
int __wrap_fcntl64(int fd, int command, ...);
int __wrap_fcntl64(int fd, int command, ...)
{
    va_list args;
    va_start(args, command);
    long argument = command == F_GETFD ? 0 : va_arg(args, long);
    va_end(args);
    int r = __real_fcntl64(fd, command, argument);
    if (command == F_DUPFD_CLOEXEC)
        note("fd[%d] = fcntl(fd[%d], F_DUPFD_CLOEXEC, %d);", r, fd, (int)argument);
    else if (command == F_ADD_SEALS)
        note("HOST(fcntl(fd[%d], F_ADD_SEALS, %#x), %d);", fd, (unsigned)argument, r);
    return r;
}

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
    if (is_on() && c->srcMemoryType == CU_MEMORYTYPE_HOST)
        note_bytes("bytes", c->srcHost,
                   span(c->srcXInBytes, c->srcY, c->srcZ, c->srcPitch, c->srcHeight, c));
    if (is_on() && c->dstMemoryType == CU_MEMORYTYPE_HOST)
        note_bytes("bytes", c->dstHost,
                   span(c->dstXInBytes, c->dstY, c->dstZ, c->dstPitch, c->dstHeight, c));
}

static void after_copy(const CUDA_MEMCPY3D *c, CUresult r)
{
    if (is_on() && !r && c->dstMemoryType == CU_MEMORYTYPE_HOST)
        note_bytes("got", c->dstHost,
                   span(c->dstXInBytes, c->dstY, c->dstZ, c->dstPitch, c->dstHeight, c));
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

#define WRAP_COPY(name, parameters, arguments, copy)                                               \
    CUresult __real_##name parameters;                                                             \
    CUresult __wrap_##name parameters;                                                             \
    CUresult __wrap_##name parameters                                                              \
    {                                                                                              \
        const CUDA_MEMCPY3D seen = copy;                                                           \
        before_copy(&seen);                                                                        \
        CUresult r = __real_##name arguments;                                                      \
        after_copy(&seen, r);                                                                      \
        return r;                                                                                  \
    }
WRAP_COPY(cuMemcpy3D_v2, (const CUDA_MEMCPY3D *c), (c), *c)
WRAP_COPY(cuMemcpy2D_v2, (const CUDA_MEMCPY2D *c), (c), of_2d(c))
WRAP_COPY(cuMemcpy2DUnaligned_v2, (const CUDA_MEMCPY2D *c), (c), of_2d(c))

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
    if (!is_on())
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

// ---- cardless.h ----

#define RESULT "%d"
static unsigned resources; // created so far: their numbers

WRAP(CUresult, cardlessBufferCreate, (cardlessBuffer * b, size_t size), (b, size),
     note("CALL(cardlessBufferCreate(&$cardlessBuffer:%p, %zu), " RESULT ");", (void *)*b, size, r))
WRAP(CUresult, cardlessBufferDestroy, (cardlessBuffer b), (b),
     note("CALL(cardlessBufferDestroy($cardlessBuffer:%p), " RESULT ");", (void *)b, r))
WRAP(CUresult, cardlessTextureCreate, (cardlessTexture * t, const cardlessTextureDesc *d), (t, d),
     note("CALL(cardlessTextureCreate(&$cardlessTexture:%p, &(cardlessTextureDesc){.kind = %d, "
          ".width = %u, .height = %u, .depth = %u, .layers = %u, .levels = %u, .format = "
          "%d, .channels = %u}), " RESULT ");",
          (void *)*t, (int)d->kind, d->width, d->height, d->depth, d->layers, d->levels,
          (int)d->format, d->channels, r))
WRAP(CUresult, cardlessTextureDestroy, (cardlessTexture t), (t),
     note("CALL(cardlessTextureDestroy($cardlessTexture:%p), " RESULT ");", (void *)t, r))
WRAP(CUresult, cardlessFillBuffer, (cardlessBuffer b, size_t at, size_t size, unsigned char value),
     (b, at, size, value),
     note("CALL(cardlessFillBuffer($cardlessBuffer:%p, %zu, %zu, %u), " RESULT ");", (void *)b, at,
          size, value, r))
WRAP(CUresult, cardlessReadBuffer, (cardlessBuffer b, size_t at, size_t size, void *bytes),
     (b, at, size, bytes),
     note("CALL(cardlessReadBuffer($cardlessBuffer:%p, %zu, %zu, @%p), " RESULT ");", (void *)b, at,
          size, bytes, r);
     if (!r) note_bytes("got", bytes, size))
WRAP(CUresult, cardlessRegisterBuffer, (CUgraphicsResource * out, cardlessBuffer b, unsigned flags),
     (out, b, flags), resources += !r;
     note("CALL(cardlessRegisterBuffer(&%s%.0u, $cardlessBuffer:%p, %#x), " RESULT ");",
          r ? "none" : "graphicsResource_", r ? 0 : resources, (void *)b, flags, r))
WRAP(CUresult, cardlessRegisterTexture,
     (CUgraphicsResource * out, cardlessTexture t, unsigned flags), (out, t, flags),
     resources += !r;
     note("CALL(cardlessRegisterTexture(&%s%.0u, $cardlessTexture:%p, %#x), " RESULT ");",
          r ? "none" : "graphicsResource_", r ? 0 : resources, (void *)t, flags, r))
WRAP(CUresult, cardlessSemaphoreCreate,
     (cardlessSemaphore * s, cardlessSemaphoreKind kind, uint64_t value), (s, kind, value),
     note("CALL(cardlessSemaphoreCreate(&$cardlessSemaphore:%p, %d, %llu), " RESULT ");",
          (void *)*s, (int)kind, (unsigned long long)value, r))
WRAP(CUresult, cardlessSemaphoreDestroy, (cardlessSemaphore s), (s),
     note("CALL(cardlessSemaphoreDestroy($cardlessSemaphore:%p), " RESULT ");", (void *)s, r))
WRAP(CUresult, cardlessSemaphoreExport, (cardlessSemaphore s, int *fd), (s, fd),
     note("CALL(cardlessSemaphoreExport($cardlessSemaphore:%p, &fd[%d]), " RESULT ");", (void *)s,
          *fd, r))
WRAP(CUresult, cardlessSemaphoreGetValue, (cardlessSemaphore s, uint64_t *value), (s, value),
     note("CALL(cardlessSemaphoreGetValue($cardlessSemaphore:%p, &value), " RESULT
          "); EXPECT(value, %llu);",
          (void *)s, r, (unsigned long long)*value))
