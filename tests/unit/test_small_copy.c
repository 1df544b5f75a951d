// SPDX-License-Identifier: MIT
// What a copy of four bytes costs inside: at most two acquisitions of em_lock (one to prepare and
// submit it, one to complete it), and at most nine stack frames from the exported function to the
// kernel that moves the bytes. The linker puts the functions below in the place of
// pthread_mutex_lock, pthread_mutex_trylock and kn_copy.
#include "../harness.h"

#include "../sanitizers.h"

#include <execinfo.h>
#include <pthread.h>

#include "lock.h"

enum { FRAMES_MOST = 9, LOCKS_MOST = 2, DEEP = 64 };

static bool counting;
static int locks, copies, frames_at_kernel;

int __real_pthread_mutex_lock(pthread_mutex_t *mutex);
int __wrap_pthread_mutex_lock(pthread_mutex_t *mutex);
int __wrap_pthread_mutex_lock(pthread_mutex_t *mutex)
{
    if (counting && mutex == &em_mutex.mutex)
        locks++;
    return __real_pthread_mutex_lock(mutex);
}

int __real_pthread_mutex_trylock(pthread_mutex_t *mutex);
int __wrap_pthread_mutex_trylock(pthread_mutex_t *mutex);
int __wrap_pthread_mutex_trylock(pthread_mutex_t *mutex)
{
    if (counting && mutex == &em_mutex.mutex)
        locks++;
    return __real_pthread_mutex_trylock(mutex);
}

void __real_kn_copy(void *dst, const void *src, uint64_t size_B);
void __wrap_kn_copy(void *dst, const void *src, uint64_t size_B);
void __wrap_kn_copy(void *dst, const void *src, uint64_t size_B)
{
    void *frames[DEEP];
    if (counting) {
        copies++;
        frames_at_kernel = backtrace(frames, DEEP);
    }
    __real_kn_copy(dst, src, size_B);
}

static CUdeviceptr device, other;
static unsigned host = 77;

static CUresult to_device(void)
{
    return cuMemcpyHtoD(device, &host, 4);
}

static CUresult to_host(void)
{
    return cuMemcpyDtoH(&host, device, 4);
}

static CUresult in_device(void)
{
    return cuMemcpyDtoD(other, device, 4);
}

static CUresult to_device_async(void)
{
    return cuMemcpyHtoDAsync(device, &host, 4, CU_STREAM_PER_THREAD);
}

static CUresult unified(void)
{
    return cuMemcpy(other, device, 4);
}

// The frames between this one and the kernel, which include the exported function and the kernel.
__attribute__((noinline)) static void measure(const char *name, CUresult (*copy)(void))
{
    void *frames[DEEP];
    int here = backtrace(frames, DEEP); // the first call loads the unwinder
    EXPECT_OK(copy());
    locks = copies = 0;
    counting = true;
    CUresult r = copy();
    counting = false;
    EXPECT_OK(r);
    int between = frames_at_kernel - here - 1; // the function above is one of ours
    printf("# %s: %d acquisitions, %d frames\n", name, locks, between);
    EXPECT_EQ(copies, 1);
    EXPECT(locks <= LOCKS_MOST);
    EXPECT(between >= 4); // else the unwinder does not see all of them
#if defined __OPTIMIZE__ && !SANITIZED
    EXPECT(between <= FRAMES_MOST);
#endif
}

TEST(copies_of_four_bytes)
{
    test_context();
    MUST(cuMemAlloc(&device, 4096));
    MUST(cuMemAlloc(&other, 4096));
    measure("cuMemcpyHtoD", to_device);
    measure("cuMemcpyDtoH", to_host);
    measure("cuMemcpyDtoD", in_device);
    measure("cuMemcpy", unified);
    measure("cuMemcpyHtoDAsync", to_device_async);
}

TESTS(CASE(copies_of_four_bytes))
