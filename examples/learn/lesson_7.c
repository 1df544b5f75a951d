// SPDX-License-Identifier: MIT
// docs/learn, lesson 7: a timeline semaphore orders two streams.
//
//   lesson_7 [wrong]     wrong: the second stream does not wait
#include <cardless.h>

#include "learn.h"

enum { SIZE = 4096 };

// [import]
static CUexternalSemaphore import_semaphore(void)
{
    cardlessSemaphore exporter; // in a real program: vkGetSemaphoreFdKHR
    CUexternalSemaphore semaphore;
    CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC desc = {0};
    CU(cardlessSemaphoreCreate(&exporter, CARDLESS_SEMAPHORE_TIMELINE, 0));
    desc.type = CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_TIMELINE_SEMAPHORE_FD;
    CU(cardlessSemaphoreExport(exporter, &desc.handle.fd));
    CU(cuImportExternalSemaphore(&semaphore, &desc));
    CU(cardlessSemaphoreDestroy(exporter)); // the import keeps it
    return semaphore;
}
// [end]

int main(int argc, char **argv)
{
    CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS signal = {0};
    CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS wait = {0};
    CUstream writer, reader;
    CUdeviceptr memory, copy;
    unsigned char byte = 0;
    learn_start();
    CUexternalSemaphore semaphore = import_semaphore();
    CU(cuStreamCreate(&writer, CU_STREAM_NON_BLOCKING));
    CU(cuStreamCreate(&reader, CU_STREAM_NON_BLOCKING));
    CU(cuMemAlloc(&memory, SIZE));
    CU(cuMemAlloc(&copy, SIZE));

    // [order]
    CU(cuMemsetD8Async(memory, 3, SIZE, writer));
    signal.params.fence.value = 1;
    CU(cuSignalExternalSemaphoresAsync(&semaphore, &signal, 1, writer));

    wait.params.fence.value = 1; // "at least 1"
    if (!learn_wrong(argc, argv))
        CU(cuWaitExternalSemaphoresAsync(&semaphore, &wait, 1, reader));
    CU(cuMemcpyDtoDAsync(copy, memory, SIZE, reader));
    // [end]

    CU(cuStreamSynchronize(reader));
    CU(cuMemcpyDtoH(&byte, copy, 1));
    printf("the reader has %d\n", byte);
    CU(cuStreamSynchronize(writer));
    CU(cuDestroyExternalSemaphore(semaphore));
    CU(cuStreamDestroy(writer));
    CU(cuStreamDestroy(reader));
    CU(cuMemFree(memory));
    CU(cuMemFree(copy));
    return 0;
}
