// SPDX-License-Identifier: MIT
// Decompresses with kernels/lz4.c, or with libzstd, which is loaded when it is first needed.
#include "decompress.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#include "error.h"
#include "kn_lz4.h"
#include "lock.h"

// The three functions of libzstd.so.1, as its manual declares them.
static struct {
    size_t (*decompress)(void *to, size_t to_B, const void *from, size_t from_B);
    unsigned (*is_error)(size_t result);
    const char *(*error_name)(size_t result);
} zstd;
static bool have_zstd;
static pthread_once_t zstd_once = PTHREAD_ONCE_INIT;

// The library stays loaded.
static void zstd_load(void)
{
    void *library = dlopen("libzstd.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return;
    *(void **)&zstd.decompress = dlsym(library, "ZSTD_decompress");
    *(void **)&zstd.is_error = dlsym(library, "ZSTD_isError");
    *(void **)&zstd.error_name = dlsym(library, "ZSTD_getErrorName");
    have_zstd = zstd.decompress && zstd.is_error && zstd.error_name;
}

static CUresult decompress_zstd(const void *in, uint64_t in_B, void *out, uint64_t out_B,
                                uint64_t *used)
{
    pthread_once(&zstd_once, zstd_load);
    if (!have_zstd)
        return em_fail(CUDA_ERROR_NOT_SUPPORTED,
                       "the fat binary is compressed with zstd, which needs libzstd.so.1; install "
                       "it (Debian, Ubuntu: libzstd1), or build without compression (nvcc "
                       "--no-compress)");
    const size_t result = zstd.decompress(out, out_B, in, in_B);
    if (zstd.is_error(result))
        return em_fail(CUDA_ERROR_INVALID_IMAGE,
                       "a part of the fat binary (%llu bytes, compressed with zstd) is damaged: %s",
                       (unsigned long long)in_B, zstd.error_name(result));
    *used = result;
    return CUDA_SUCCESS;
}

CUresult em_decompress(enum em_compression kind, const void *in, uint64_t in_B, void *out,
                       uint64_t out_B, uint64_t *used)
{
    em_assert_unlocked();
    if (kind == EM_COMPRESSION_ZSTD)
        return decompress_zstd(in, in_B, out, out_B, used);
    *used = kn_lz4_decode(out, out_B, in, in_B);
    if (*used != KN_LZ4_DAMAGED)
        return CUDA_SUCCESS;
    return em_fail(CUDA_ERROR_INVALID_IMAGE,
                   "a part of the fat binary (%llu bytes, compressed with LZ4) is damaged, or "
                   "exceeds the %llu bytes that its head announces",
                   (unsigned long long)in_B, (unsigned long long)out_B);
}
