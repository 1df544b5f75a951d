// SPDX-License-Identifier: MIT
// Semaphores for tests: made by cardless.h in place of another API, and imported.
#pragma once
#include <cardless.h>
#include <fcntl.h>

#include "harness.h"

static inline bool is_open(int fd)
{
    return fcntl(fd, F_GETFD) >= 0;
}

// A semaphore on both sides.
struct both {
    cardlessSemaphore host;
    CUexternalSemaphore cuda;
};

static inline CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC semaphore_desc(int type, int fd)
{
    CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC d;
    memset(&d, 0, sizeof d);
    d.type = (CUexternalSemaphoreHandleType)type;
    d.handle.fd = fd;
    return d;
}

static inline int type_of(cardlessSemaphoreKind kind)
{
    return kind == CARDLESS_SEMAPHORE_BINARY
               ? CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD
               : CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_TIMELINE_SEMAPHORE_FD;
}

static inline cardlessSemaphore semaphore_new(cardlessSemaphoreKind kind, uint64_t value)
{
    cardlessSemaphore s;
    MUST(cardlessSemaphoreCreate(&s, kind, value));
    return s;
}

static inline int semaphore_fd(cardlessSemaphore s)
{
    int fd;
    MUST(cardlessSemaphoreExport(s, &fd));
    return fd;
}

static inline CUexternalSemaphore semaphore_import(cardlessSemaphoreKind kind, int fd)
{
    CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC d = semaphore_desc(type_of(kind), fd);
    CUexternalSemaphore s;
    MUST(cuImportExternalSemaphore(&s, &d));
    return s;
}

static inline struct both semaphore_both(cardlessSemaphoreKind kind, uint64_t value)
{
    struct both b;
    b.host = semaphore_new(kind, value);
    b.cuda = semaphore_import(kind, semaphore_fd(b.host));
    return b;
}

static inline struct both timeline(uint64_t value)
{
    return semaphore_both(CARDLESS_SEMAPHORE_TIMELINE, value);
}

static inline struct both binary(void)
{
    return semaphore_both(CARDLESS_SEMAPHORE_BINARY, 0);
}

static inline uint64_t value_of(struct both b)
{
    uint64_t value = ~UINT64_C(0);
    EXPECT_OK(cardlessSemaphoreGetValue(b.host, &value));
    return value;
}

static inline CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS signal_params(uint64_t value)
{
    CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS p;
    memset(&p, 0, sizeof p);
    p.params.fence.value = value;
    return p;
}

static inline CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS wait_params(uint64_t value)
{
    CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS p;
    memset(&p, 0, sizeof p);
    p.params.fence.value = value;
    return p;
}

static inline CUresult cu_signal(CUexternalSemaphore s, uint64_t value, CUstream stream)
{
    CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS p = signal_params(value);
    return cuSignalExternalSemaphoresAsync(&s, &p, 1, stream);
}

static inline CUresult cu_wait(CUexternalSemaphore s, uint64_t value, CUstream stream)
{
    CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS p = wait_params(value);
    return cuWaitExternalSemaphoresAsync(&s, &p, 1, stream);
}

static inline CUstream new_stream(void)
{
    CUstream s;
    MUST(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
    return s;
}
