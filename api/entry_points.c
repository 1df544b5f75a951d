// SPDX-License-Identifier: MIT
// The manual's chapter "Driver Entry Point Access": finds functions by name, CUDA version and kind
// of default stream.
#include <stdlib.h>
#include <string.h>

#include "api_bodies.h"
#include "call.h"
#include "proc.h"
#include "version.h"

// The first row of this base name, or NULL.
static const struct api_proc *find_name(const char *name)
{
    size_t low = 0, high = api_proc_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (strcmp(api_procs[middle].base, name) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low < api_proc_count && !strcmp(api_procs[low].base, name) ? &api_procs[low] : NULL;
}

// Finds the newest form of `symbol` that CUDA `version` had. Reports wrong arguments before it
// writes anything.
static CUresult lookup(const char *symbol, void **pfn, int version, cuuint64_t flags, void **found,
                       CUdriverProcAddressQueryResult *status)
{
    const cuuint64_t known =
        CU_GET_PROC_ADDRESS_LEGACY_STREAM | CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
    if (flags & ~known)
        return em_fail(CUDA_ERROR_INVALID_VALUE, "flags (0x%llx) contain unknown bits",
                       (unsigned long long)flags);
    if (version > API_DRIVER_VERSION)
        return em_fail(CUDA_ERROR_INVALID_VALUE,
                       "cudaVersion (%d) is newer than this driver's version (%d)", version,
                       API_DRIVER_VERSION);
    if (!symbol)
        return em_null("symbol");
    if (!pfn)
        return em_null("pfn");

    *found = NULL;
    *status = CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    const struct api_proc *p = find_name(symbol);
    if (!p)
        return CUDA_SUCCESS;
    // "The requested symbol was found but is not supported by the CUDA version specified"
    *status = CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT;
    bool per_thread = flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
    bool twins = false; // if a name has per-thread forms, a per-thread request gets only those
    for (const struct api_proc *q = p; q < api_procs + api_proc_count && !strcmp(q->base, symbol);
         q++)
        twins |= q->twin != NULL;
    for (; p < api_procs + api_proc_count && !strcmp(p->base, symbol); p++) {
        void *function = per_thread && twins ? p->twin : p->function;
        int since = per_thread && twins ? p->twin_since : p->since;
        // Versions are compared as unsigned numbers, so a negative one is newer than all others.
        if (function && (unsigned)since <= (unsigned)version) {
            *found = function;
            *status = CU_GET_PROC_ADDRESS_SUCCESS;
            break;
        }
    }
    return CUDA_SUCCESS;
}

CUresult api_cuGetProcAddress_v2(const char *symbol, void **pfn, int cudaVersion, cuuint64_t flags,
                                 CUdriverProcAddressQueryResult *symbolStatus)
{
    void *found;
    CUdriverProcAddressQueryResult status;
    CUresult r = lookup(symbol, pfn, cudaVersion, flags, &found, &status);
    if (r)
        return r;
    *pfn = found;
    if (symbolStatus)
        *symbolStatus = status;
    return CUDA_SUCCESS;
}

// The form of CUDA 11.3 has no status, so it fails if it finds nothing.
CUresult api_cuGetProcAddress(const char *symbol, void **pfn, int cudaVersion, cuuint64_t flags)
{
    void *found;
    CUdriverProcAddressQueryResult status;
    CUresult r = lookup(symbol, pfn, cudaVersion, flags, &found, &status);
    if (r)
        return r;
    if (status == CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND)
        return em_fail(CUDA_ERROR_NOT_FOUND, "the driver has no function %.80s", symbol);
    if (status != CU_GET_PROC_ADDRESS_SUCCESS)
        return em_fail(CUDA_ERROR_NOT_FOUND, "CUDA %d.%d has no function %.80s", cudaVersion / 1000,
                       cudaVersion % 1000 / 10, symbol);
    *pfn = found;
    return CUDA_SUCCESS;
}

// Tables of functions that are not public. Cardless provides no such table, and returns the error
// that the driver returns for a table that it does not know.
CUresult api_cuGetExportTable(const void **ppExportTable, const CUuuid *pExportTableId)
{
    if (!ppExportTable)
        return em_null("ppExportTable");
    if (!pExportTableId)
        return em_null("pExportTableId");
    *ppExportTable = NULL;
    // Under `cardless run`, runtimes that ask are ours, or were explained when they were loaded.
    // NVIDIA's compilers ask, too, and need no table.
    const char *audit = secure_getenv("LD_AUDIT");
    if (audit && strstr(audit, "libcardless-redirect"))
        return CUDA_ERROR_INVALID_VALUE;
    return em_fail(
        CUDA_ERROR_INVALID_VALUE,
        "Cardless has no private function tables; NVIDIA's runtime (libcudart, static or "
        "shared) needs them: run the program with 'cardless run', which gives it Cardless's "
        "runtime, or link it with -cudart shared");
}
