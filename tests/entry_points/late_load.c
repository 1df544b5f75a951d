// SPDX-License-Identifier: MIT
// Loads libcuda after other libraries have used up the thread-local memory that is reserved for
// late libraries, and uses it from two threads. late_load LIBCUDA HOG…
#include <cuda.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

static CUresult (*get_attribute)(int *, CUdevice_attribute, CUdevice);

static void *ask(void *count)
{
    int *value = count;
    return get_attribute(value, CU_DEVICE_ATTRIBUTE_WARP_SIZE, 0) ? NULL : count;
}

int main(int argc, char **argv)
{
    int refused = 0, first = 0, second = 0;
    void *result = NULL;
    pthread_t thread;
    for (int i = 2; i < argc; i++)
        refused += !dlopen(argv[i], RTLD_NOW);
    if (!refused) {
        printf("every library was loaded: the reserve is larger than this test fills\n");
        return 77;
    }
    void *library = dlopen(argv[1], RTLD_NOW);
    if (!library) {
        printf("after %d libraries, and %d that were refused: %s\n", argc - 2 - refused, refused,
               dlerror());
        return 1;
    }
    CUresult (*init)(unsigned) = (CUresult(*)(unsigned))dlsym(library, "cuInit");
    get_attribute =
        (CUresult(*)(int *, CUdevice_attribute, CUdevice))dlsym(library, "cuDeviceGetAttribute");
    if (!init || !get_attribute || init(0) || !ask(&first)) {
        printf("cuInit or cuDeviceGetAttribute failed\n");
        return 1;
    }
    if (pthread_create(&thread, NULL, ask, &second) || pthread_join(thread, &result) || !result) {
        printf("cuDeviceGetAttribute failed in a second thread\n");
        return 1;
    }
    printf("warp sizes %d and %d\n", first, second);
    return first != 32 || second != 32;
}
