// SPDX-License-Identifier: MIT
// Decompresses with libzstd and liblz4, each of which is loaded when it is first needed and stays
// loaded. A program decompresses seldom, so each time asks the dynamic loader: a mutex that guarded
// the functions could wait for a thread that waits for the loader's lock.
#include "decompress.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#include "error.h"
#include "lock.h"

// The functions of libzstd.so.1 and of liblz4.so.1, as their manuals declare them.
struct zstd {
    size_t (*decompress)(void *to, size_t to_B, const void *from, size_t from_B);
    unsigned (*is_error)(size_t result);
    const char *(*error_name)(size_t result);
};
struct lz4 {
    int (*decompress)(const char *from, char *to, int from_B, int to_B);
};

static bool zstd_load(struct zstd *zstd)
{
    void *library = dlopen("libzstd.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return false;
    *(void **)&zstd->decompress = dlsym(library, "ZSTD_decompress");
    *(void **)&zstd->is_error = dlsym(library, "ZSTD_isError");
    *(void **)&zstd->error_name = dlsym(library, "ZSTD_getErrorName");
    return zstd->decompress && zstd->is_error && zstd->error_name;
}

static bool lz4_load(struct lz4 *lz4)
{
    void *library = dlopen("liblz4.so.1", RTLD_NOW | RTLD_LOCAL);
    if (library)
        *(void **)&lz4->decompress = dlsym(library, "LZ4_decompress_safe");
    return library && lz4->decompress;
}

static CUresult fail_without(const char *noun, const char *library, const char *package)
{
    return em_fail(CUDA_ERROR_NOT_SUPPORTED,
                   "the fat binary is compressed with %s, which needs %s; install it (Debian, "
                   "Ubuntu: %s), or build without compression (nvcc --no-compress)",
                   noun, library, package);
}

static CUresult decompress_zstd(const void *in, uint64_t in_B, void *out, uint64_t out_B,
                                uint64_t *used)
{
    struct zstd zstd;
    if (!zstd_load(&zstd))
        return fail_without("zstd", "libzstd.so.1", "libzstd1");
    const size_t result = zstd.decompress(out, out_B, in, in_B);
    if (zstd.is_error(result))
        return em_fail(CUDA_ERROR_INVALID_IMAGE,
                       "a part of the fat binary (%llu bytes, compressed with zstd) is damaged: %s",
                       (unsigned long long)in_B, zstd.error_name(result));
    *used = result;
    return CUDA_SUCCESS;
}

static CUresult decompress_lz4(const void *in, uint64_t in_B, void *out, uint64_t out_B,
                               uint64_t *used)
{
    struct lz4 lz4;
    if (!lz4_load(&lz4))
        return fail_without("LZ4", "liblz4.so.1", "liblz4-1");
    if (in_B > INT_MAX || out_B > INT_MAX)
        return em_fail(CUDA_ERROR_INVALID_IMAGE,
                       "a part of the fat binary has %llu bytes, and %llu before it was compressed "
                       "with LZ4; at most %d are possible",
                       (unsigned long long)in_B, (unsigned long long)out_B, INT_MAX);
    const int result = lz4.decompress(in, out, (int)in_B, (int)out_B);
    if (result < 0)
        return em_fail(CUDA_ERROR_INVALID_IMAGE,
                       "a part of the fat binary (%llu bytes, compressed with LZ4) is damaged, or "
                       "exceeds the %llu bytes that its head announces",
                       (unsigned long long)in_B, (unsigned long long)out_B);
    *used = (uint64_t)result;
    return CUDA_SUCCESS;
}

CUresult em_decompress(enum em_compression kind, const void *in, uint64_t in_B, void *out,
                       uint64_t out_B, uint64_t *used)
{
    em_assert_unlocked();
    return kind == EM_COMPRESSION_ZSTD ? decompress_zstd(in, in_B, out, out_B, used)
                                       : decompress_lz4(in, in_B, out, out_B, used);
}
