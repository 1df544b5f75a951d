// SPDX-License-Identifier: MIT
// The manual's chapter "External Resource Interoperability", semaphore half.
#include "api_bodies.h"
#include "error.h"
#include "external_semaphore.h"
#include "semaphore_command.h"

CUresult api_cuImportExternalSemaphore(CUexternalSemaphore *extSem_out,
                                       const CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC *semHandleDesc)
{
    return em_external_semaphore_import(semHandleDesc, extSem_out);
}

CUresult api_cuDestroyExternalSemaphore(CUexternalSemaphore extSem)
{
    return em_external_semaphore_destroy(extSem);
}

// Recorded: sem_args/signal-none, sem_args/wait-none.
static CUresult check_count(unsigned count)
{
    return count
               ? CUDA_SUCCESS
               : em_fail(CUDA_ERROR_INVALID_VALUE, "numExtSems is 0; pass at least one semaphore");
}

CUresult
api_check_cuSignalExternalSemaphoresAsync(const CUexternalSemaphore *extSemArray,
                                          const CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS *paramsArray,
                                          unsigned int numExtSems)
{
    (void)extSemArray;
    (void)paramsArray;
    return check_count(numExtSems);
}

CUresult
api_check_cuWaitExternalSemaphoresAsync(const CUexternalSemaphore *extSemArray,
                                        const CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS *paramsArray,
                                        unsigned int numExtSems)
{
    (void)extSemArray;
    (void)paramsArray;
    return check_count(numExtSems);
}

CUresult
api_cuSignalExternalSemaphoresAsync(const CUexternalSemaphore *extSemArray,
                                    const CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS *paramsArray,
                                    unsigned int numExtSems, struct em_stream *stream)
{
    return em_semaphores_signal(stream, numExtSems, extSemArray, paramsArray);
}

CUresult api_cuWaitExternalSemaphoresAsync(const CUexternalSemaphore *extSemArray,
                                           const CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS *paramsArray,
                                           unsigned int numExtSems, struct em_stream *stream)
{
    return em_semaphores_wait(stream, numExtSems, extSemArray, paramsArray);
}
