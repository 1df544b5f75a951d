// SPDX-License-Identifier: MIT
// Calls a runtime and prints its answers. As a library (-DLIBRARY) it has `check` alone; as a
// loader (-DLOADER) it opens that library, several times. With -DAT_END, the destructor of a
// library
// (-DENDING) checks when the process ends.
#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

int cudaGetDeviceCount(int *count);
int cudaRuntimeGetVersion(int *version);
int cudaMalloc(void **p, size_t size);
int cudaFree(void *p);
int cudaMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                 size_t height, int kind);
int cudaGetLastError(void);
int check(void);

#ifndef RUNTIME_MAJOR
#define RUNTIME_MAJOR 13
#endif
enum { TO_DEVICE = 1, TO_HOST = 2, BAD_KIND = 21, INVALID_DIRECTION = 21 };

#ifdef ENDING
static int (*at_end)(void);

void call_at_end(int (*f)(void))
{
    at_end = f;
}

static __attribute__((destructor)) void end(void)
{
    printf("result %d\n", at_end());
}
#elif !defined LOADER
// Arguments in registers and on the stack, and a result. Returns 0 if all is right.
int check(void)
{
    int count = -1, version = -1, r;
    unsigned char from[4][16], to[4][16] = {{0}};
    void *p = NULL;
    memset(from, 0x5a, sizeof from);
    r = cudaGetDeviceCount(&count);
    if (r || count != 1) {
        printf("cudaGetDeviceCount answers %d, count %d\n", r, count);
        return 1;
    }
    if (cudaRuntimeGetVersion(&version) || version / 1000 != RUNTIME_MAJOR)
        return 2;
    if (cudaMalloc(&p, 64) || !p)
        return 3;
    if (cudaMemcpy2D(p, 16, from, 16, 9, 4, TO_DEVICE) ||
        cudaMemcpy2D(to, 16, p, 16, 9, 4, TO_HOST))
        return 4;
    for (int y = 0; y < 4; y++)
        if (memcmp(to[y], from[y], 9) || to[y][9])
            return 5;
    // An error is the thread's last one until it is asked for.
    if (cudaMemcpy2D(to, 16, p, 16, 9, 4, BAD_KIND) != INVALID_DIRECTION ||
        cudaGetLastError() != INVALID_DIRECTION || cudaGetLastError())
        return 6;
    return cudaFree(p) ? 7 : 0;
}
#endif

#ifdef LOADER
static int open_and_check(const char *path)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    int (*f)(void) = library ? (int (*)(void))dlsym(library, "check") : NULL;
    if (!f) {
        printf("%s\n", dlerror());
        return 8;
    }
    const int r = f();
    dlclose(library);
    return r;
}

int main(int argc, char **argv)
{
    int r = 0;
    for (int i = 0; i < 3 && !r; i++)
        r = open_and_check(argv[1]);
    printf("result %d\n", r);
    return r;
}
#elif defined AT_END
void call_at_end(int (*f)(void));

int main(void)
{
    call_at_end(check);
    return check();
}
#elif !defined LIBRARY && !defined ENDING
static void *in_thread(void *unused)
{
    return (void *)(size_t)check();
}

int main(void)
{
    pthread_t threads[4];
    void *result;
    int r = 0;
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, in_thread, NULL);
    for (int i = 0; i < 4; i++) {
        pthread_join(threads[i], &result);
        r = r ? r : (int)(size_t)result;
    }
    printf("result %d\n", r);
    return r;
}
#endif
