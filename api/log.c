// SPDX-License-Identifier: MIT
// The manual's chapter "Error Log Management Functions".
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "alloc.h"
#include "api_bodies.h"
#include "call.h"
#include "log.h"
#include "pointer_check.h"
#include "quirk.h"

CUresult api_cuLogsRegisterCallback(CUlogsCallback callbackFunc, void *userData,
                                    CUlogsCallbackHandle *callback_out)
{
    return em_log_register(callbackFunc, userData, callback_out);
}

CUresult api_cuLogsUnregisterCallback(CUlogsCallbackHandle callback)
{
    return em_log_unregister(callback);
}

// "flags: Reserved for future use, must be 0".
static CUresult check_flags(unsigned flags)
{
    return !flags || em_quirk(LOGS_FLAGS)
               ? CUDA_SUCCESS
               : em_fail(CUDA_ERROR_INVALID_VALUE, "flags (%#x) must be 0", flags);
}

CUresult api_cuLogsCurrent(CUlogIterator *iterator_out, unsigned flags)
{
    const CUresult r = check_flags(flags);
    if (!r)
        *iterator_out = em_log_end();
    return r;
}

// Returns the lines from *iterator on, which the caller frees.
static CUresult read_log(const CUlogIterator *iterator, size_t capacity, char **text,
                         size_t *length, CUlogIterator *end)
{
    *text = dm_alloc(em_log_most());
    if (!*text)
        return em_fail(CUDA_ERROR_OUT_OF_MEMORY, "out of host memory for the log");
    const size_t most = em_log_most();
    return em_log_read(iterator, *text, capacity < most ? capacity : most, length, end);
}

static CUresult write_file(const char *path, const char *text, size_t length)
{
    FILE *file = fopen(path, "we");
    if (!file)
        return em_fail(CUDA_ERROR_INVALID_VALUE, "pathToFile: cannot open %s: %s", path,
                       strerror(errno));
    const bool written = fwrite(text, 1, length, file) == length;
    const int error = errno;
    if (fclose(file) || !written)
        return em_fail(CUDA_ERROR_INVALID_VALUE, "pathToFile: cannot write to %s: %s", path,
                       strerror(written ? errno : error));
    return CUDA_SUCCESS;
}

CUresult api_cuLogsDumpToFile(CUlogIterator *iterator, const char *pathToFile, unsigned flags)
{
    char *text = NULL;
    size_t length;
    CUlogIterator end;
    CUresult r = check_flags(flags);
    if (!r)
        r = read_log(iterator, SIZE_MAX, &text, &length, &end);
    if (!r)
        r = write_file(pathToFile, text, length);
    if (!r && iterator)
        *iterator = end;
    dm_free(text);
    return r;
}

// "If the provided buffer is not large enough to hold any messages, *size will be set to 0 and the
// function will return CUDA_ERROR_INVALID_VALUE."
CUresult api_cuLogsDumpToMemory(CUlogIterator *iterator, char *buffer, size_t *size, unsigned flags)
{
    char *text = NULL;
    size_t length = 0;
    CUlogIterator end;
    const size_t capacity = *size;
    CUresult r = check_flags(flags);
    if (r)
        return r;
    r = read_log(iterator, capacity, &text, &length, &end);
    *size = length;
    if (!r && capacity)
        r = em_write_text("buffer", buffer, length + 1, text);
    if (!r && iterator)
        *iterator = end;
    dm_free(text);
    return r;
}
