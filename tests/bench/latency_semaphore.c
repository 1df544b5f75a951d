// SPDX-License-Identifier: MIT
// Semaphores: the time of a signal and a wait, inside one process and between two.
#include "latency_semaphore.h"

#include <cardless.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../send_fd.h"
#include "calls.h"

enum { WARM_ROUNDS = 200, SAMPLES = 15500 };

static int other_process; // a socket

static CUexternalSemaphore import(int fd)
{
    CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC desc;
    CUexternalSemaphore s;
    memset(&desc, 0, sizeof desc);
    desc.type = CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_TIMELINE_SEMAPHORE_FD;
    desc.handle.fd = fd;
    MUST(cuImportExternalSemaphore(&s, &desc));
    return s;
}

static void signal_value(CUexternalSemaphore s, uint64_t value, CUstream stream)
{
    CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS p;
    memset(&p, 0, sizeof p);
    p.params.fence.value = value;
    MUST(cuSignalExternalSemaphoresAsync(&s, &p, 1, stream));
}

static void wait_value(CUexternalSemaphore s, uint64_t value, CUstream stream)
{
    CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS p;
    memset(&p, 0, sizeof p);
    p.params.fence.value = value;
    MUST(cuWaitExternalSemaphoresAsync(&s, &p, 1, stream));
}

static void answer(int socket)
{
    char byte;
    CUcontext context;
    CUstream stream;
    int there = receive_fd(socket, &byte, 1), back = receive_fd(socket, &byte, 1);
    if (there < 0 || back < 0)
        _exit(0); // the benchmark has ended before it came here
    MUST(cuInit(0));
    MUST(cuDevicePrimaryCtxRetain(&context, 0));
    MUST(cuCtxSetCurrent(context));
    MUST(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    CUexternalSemaphore a = import(there), b = import(back);
    for (uint64_t i = 1; i <= WARM_ROUNDS + SAMPLES; i++) {
        wait_value(a, i, stream);
        signal_value(b, i, stream);
        MUST(cuStreamSynchronize(stream));
    }
    _exit(0);
}

void semaphores_begin(void)
{
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
        exit(1);
    if (!fork()) {
        close(ends[0]);
        answer(ends[1]);
    }
    close(ends[1]);
    other_process = ends[0];
}

// Missing in the driver of a card.
#pragma weak cardlessSemaphoreCreate
#pragma weak cardlessSemaphoreExport

bool is_cardless(void)
{
    return cardlessSemaphoreCreate && cardlessSemaphoreExport;
}

static CUexternalSemaphore shared_semaphore(void)
{
    cardlessSemaphore s;
    int sent, own;
    MUST(cardlessSemaphoreCreate(&s, CARDLESS_SEMAPHORE_TIMELINE, 0));
    MUST(cardlessSemaphoreExport(s, &sent));
    MUST(cardlessSemaphoreExport(s, &own));
    if (!send_fd(other_process, sent, "s", 1))
        exit(1);
    close(sent);
    return import(own);
}

// The distribution over all rounds. A round has two signals and two waits.
static void two_processes(CUstream stream, CUexternalSemaphore a, CUexternalSemaphore b,
                          uint64_t *value)
{
    static double round_ns[SAMPLES];
    for (int i = -WARM_ROUNDS; i < SAMPLES; i++) {
        double start = now_ns();
        signal_value(a, ++*value, stream);
        wait_value(b, *value, stream);
        MUST(cuStreamSynchronize(stream));
        if (i >= 0)
            round_ns[i] = (now_ns() - start) / 2;
    }
    qsort(round_ns, SAMPLES, sizeof *round_ns, by_value);
    report("semaphore signal+wait between 2 processes", round_ns[SAMPLES / 2]);
    report("the same, 10th percentile", round_ns[SAMPLES / 10]);
    report("the same, 90th percentile", round_ns[SAMPLES * 9 / 10]);
}

void semaphores(CUstream stream)
{
    CUexternalSemaphore a = shared_semaphore(), b = shared_semaphore();
    uint64_t value = 0;
    two_processes(stream, a, b, &value);
    BENCH("semaphore signal+wait+sync", 1000, signal_value(a, ++value, stream);
          wait_value(a, value, stream); cuStreamSynchronize(stream));
}
