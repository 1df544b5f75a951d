// SPDX-License-Identifier: MIT
// Loads the driver.
#include "driver.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

#include "error.h"
#include "message.h"
#include "thread.h"

struct rt_cu rt_cu;
enum rt_driver_state rt_driver_state;
const struct rt_recorder *rt_recorder;

bool rt_driver_reports;

static pthread_once_t load_once = PTHREAD_ONCE_INIT;
static bool loaded; // load_once is done
static void *library;
static char load_error[256];

// Stands for a function that the driver lacks. On the ABIs that CUDA runs on, the caller removes
// the arguments, so one function serves for all.
static CUresult driver_lacks(void)
{
    return (CUresult)cudaErrorCallRequiresNewerDriver;
}

#define STRING_OF(name) #name
#define STRING(name) STRING_OF(name)

static void driver_load(void)
{
    library = dlopen("libcuda.so.1", RTLD_NOW);
    if (!library)
        snprintf(load_error, sizeof load_error, "%s", dlerror());
#define RT_CU(name)                                                                                \
    {                                                                                              \
        void *symbol = library ? dlsym(library, STRING(name)) : NULL;                              \
        rt_cu.name = (__typeof__(rt_cu.name))(symbol ? symbol : (void *)driver_lacks);             \
    }
#include "driver_functions.def"
#undef RT_CU
    const struct rt_recorder *(*get)(void) = NULL; // which NVIDIA's driver lacks
    if (library)
        get = (const struct rt_recorder *(*)(void))dlsym(library, "cardlessGetRecorder");
    if (get)
        __atomic_store_n(&rt_recorder, get(), __ATOMIC_RELAXED);
    rt_driver_reports = library && dlsym(library, "cardlessReport");
    __atomic_store_n(&loaded, true, __ATOMIC_RELEASE);
}

bool rt_driver_is_loaded(void)
{
    struct rt_thread *self = rt_thread();
    if (__atomic_load_n(&loaded, __ATOMIC_ACQUIRE))
        return library;
    if (self->finds_driver)
        return false;
    self->finds_driver = true;
    pthread_once(&load_once, driver_load);
    self->finds_driver = false;
    return library;
}

void *rt_driver_symbol(const char *name)
{
    return rt_driver_is_loaded() ? dlsym(library, name) : NULL;
}

// Every call comes here until there is a driver, so the message is shown once.
static cudaError_t driver_insufficient(int version)
{
    static bool said;
    if (__atomic_exchange_n(&said, true, __ATOMIC_RELAXED))
        return cudaErrorInsufficientDriver;
    if (!library)
        return rt_fail(
            cudaErrorInsufficientDriver,
            "libcuda.so.1 cannot be loaded (%s); run the program with `cardless run`, or "
            "put the library's folder into LD_LIBRARY_PATH",
            load_error);
    return rt_fail(cudaErrorInsufficientDriver,
                   "the driver is one of CUDA %d.%d, but this runtime needs CUDA %d or later",
                   version / 1000, version % 1000 / 10, RT_MAJOR);
}

static cudaError_t driver_start(bool quietly)
{
    int version = 0, devices = 0;
    if (!rt_driver_is_loaded())
        return quietly ? cudaErrorInsufficientDriver : driver_insufficient(version);
    CUresult r = rt_cu.cuDriverGetVersion(&version);
    if (r == CUDA_ERROR_NOT_PERMITTED) // to a signal handler
        return rt_error(r);
    // Manual, cudaErrorInsufficientDriver: "the installed NVIDIA CUDA driver is older than the CUDA
    // runtime library". A driver of the same major version is new enough (CUDA's minor version
    // compatibility).
    if (r || version < RT_MAJOR * 1000)
        return quietly ? cudaErrorInsufficientDriver : driver_insufficient(version);
    r = rt_cu.cuInit(0);
    if (!r)
        r = rt_cu.cuDeviceGetCount(&devices);
    if (r)
        return rt_error(r);
    if (!devices)
        return cudaErrorNoDevice;
    __atomic_store_n(&rt_driver_state, RT_DRIVER_READY, __ATOMIC_RELEASE);
    return cudaSuccess;
}

cudaError_t rt_driver_start(void)
{
    return driver_start(false);
}

cudaError_t rt_driver_start_quietly(void)
{
    struct rt_messages unwanted;
    rt_messages_begin(&unwanted);
    const cudaError_t r = driver_start(true);
    rt_messages_end(&unwanted);
    return r;
}
