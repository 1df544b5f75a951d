// SPDX-License-Identifier: MIT
// Programs for tests of `cardless explore` itself, each chosen by an argument.
#include <pthread.h>
#include <unistd.h>

#include "corpus.h"

static cardlessSemaphore host;

static CUexternalSemaphore import(void)
{
    CUexternalSemaphore s;
    CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC d = {
        .type = CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_TIMELINE_SEMAPHORE_FD};
    MUST(cardlessSemaphoreCreate(&host, CARDLESS_SEMAPHORE_TIMELINE, 0));
    MUST(cardlessSemaphoreExport(host, &d.handle.fd));
    MUST(cuImportExternalSemaphore(&s, &d));
    return s;
}

static void *signal_late(void *unused)
{
    usleep(1500000);
    MUST(cardlessSemaphoreSignal(host, 1));
    return unused;
}

static void *sleep_on(void *unused)
{
    pause();
    return unused;
}

// A stream waits for a thread that takes longer than the time after which S05 is reported.
static void await_helper(void *(*helper)(void *))
{
    pthread_t thread;
    CUstream s = new_stream();
    const CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS wait = {.params.fence.value = 1};
    CUexternalSemaphore cuda = import();
    if (helper && pthread_create(&thread, NULL, helper, NULL))
        exit(2);
    MUST(cuWaitExternalSemaphoresAsync(&cuda, &wait, 1, s));
    MUST(cuStreamSynchronize(s));
}

// Two threads of the program wait for work that never comes.
static void *synchronise(void *stream)
{
    MUST(cuStreamSynchronize(stream));
    return NULL;
}

static void two_wait(void)
{
    pthread_t thread;
    CUstream s = new_stream();
    const CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS wait = {.params.fence.value = 1};
    CUexternalSemaphore cuda = import();
    MUST(cuWaitExternalSemaphoresAsync(&cuda, &wait, 1, s));
    if (pthread_create(&thread, NULL, synchronise, s))
        exit(2);
    MUST(cuStreamSynchronize(s));
}

// So many decisions that their schedule does not fit into a variable of the environment. Without
// waits the host reads a word too early.
static int many_decisions(void)
{
    enum { COUNT = 17500 };
    CUstream s = new_stream();
    unsigned char *p = new_host_memory();
    CUdeviceptr device = new_memory();
    for (unsigned i = 0; i < COUNT; i++)
        fill(device, 1, s);
    read_back(p, device, s);
    return p[0] != 1;
}

// Two mistakes of the same kind. Under `lazy` both are there, and the first one is seen.
static int two_mistakes(void)
{
    CUstream a = new_stream(), b = new_stream();
    unsigned char *p = new_host_memory(), *q = new_host_memory();
    CUdeviceptr first = new_memory(), second = new_memory();
    fill(first, 1, a);
    read_back(p, first, a);
    fill(second, 1, b);
    read_back(q, second, b);
    if (p[0] != 1)
        return 3;
    return q[0] != 1 ? 4 : 0;
}

int main(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "";
    int status = 0;
    CUcontext context;
    MUST(cuInit(0));
    MUST(cuCtxCreate(&context, NULL, 0, 0));
    if (!strcmp(name, "slow_helper"))
        await_helper(signal_late);
    else if (!strcmp(name, "idle_helper"))
        await_helper(sleep_on);
    else if (!strcmp(name, "no_helper"))
        await_helper(NULL);
    else if (!strcmp(name, "two_wait"))
        two_wait();
    else if (!strcmp(name, "many_decisions"))
        status = many_decisions();
    else if (!strcmp(name, "two_mistakes"))
        status = two_mistakes();
    else if (strcmp(name, "idle")) // which submits nothing
        return 2;
    _exit(status); // threads may still wait
}
