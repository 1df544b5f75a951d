// SPDX-License-Identifier: MIT
// Loads the driver.
#include "driver.h"

#include <dlfcn.h>

#include "error.h"
#include "lock.h"
#include "message.h"
#include "thread.h"

// Stands for a function that the driver lacks. On the ABIs that CUDA runs on, the caller removes
// the arguments, so one function serves for all.
static CUresult driver_lacks(void)
{
    return (CUresult)cudaErrorCallRequiresNewerDriver;
}

#define RT_CU(name) .name = (__typeof__(rt_cu.name))(void *)driver_lacks,
struct rt_cu rt_cu = {
#include "driver_functions.def"
};
#undef RT_CU
struct rt_cardless rt_cardless;
const struct rt_recorder *rt_recorder;
enum rt_driver_state rt_driver_state;

static void *library; // NULL until it is loaded
static bool searched; // for the library, successfully or not

#define STRING_OF(name) #name
#define STRING(name) STRING_OF(name)

// What the driver exports.
struct functions {
    struct rt_cu cu;
    struct rt_cardless cardless;
};

static void find_functions(void *driver, struct functions *f)
{
    void *symbol;
#define RT_CU(name)                                                                                \
    symbol = dlsym(driver, STRING(name));                                                          \
    f->cu.name = (__typeof__(f->cu.name))(symbol ? symbol : (void *)driver_lacks);
#include "driver_functions.def"
#undef RT_CU
#define RT_CARDLESS(name) f->cardless.name = (__typeof__(name) *)dlsym(driver, #name);
    RT_CARDLESS_FUNCTIONS(RT_CARDLESS)
#undef RT_CARDLESS
}

// No lock is held inside the dynamic loader: another thread may be there, in the constructor of a
// library, and wait for this one. So several threads may search, and the first one stores its
// result. From then on, other threads read it without a lock, and it never changes.
static void driver_load(void)
{
    struct functions found;
    void *driver = dlopen("libcuda.so.1", RTLD_NOW);
    if (driver)
        find_functions(driver, &found);
    const struct rt_recorder *recorder =
        driver && found.cardless.cardlessGetRecorder
            ? (const struct rt_recorder *)found.cardless.cardlessGetRecorder()
            : NULL;

    rt_lock();
    if (driver && !library) {
        rt_cu = found.cu;
        rt_cardless = found.cardless;
        rt_recorder = recorder;
        __atomic_store_n(&library, driver, __ATOMIC_RELEASE);
    }
    __atomic_store_n(&searched, true, __ATOMIC_RELEASE);
    rt_unlock();
}

bool rt_driver_is_loaded(void)
{
    struct rt_thread *self = rt_thread();
    if (!__atomic_load_n(&searched, __ATOMIC_ACQUIRE) && !self->finds_driver) {
        self->finds_driver = true;
        driver_load();
        self->finds_driver = false;
    }
    return __atomic_load_n(&library, __ATOMIC_ACQUIRE) && !self->finds_driver;
}

void *rt_driver_symbol(const char *name)
{
    return rt_driver_is_loaded() ? dlsym(library, name) : NULL;
}

// Tries again: another thread may have loaded the driver since. If not, dlerror() has the reason.
static cudaError_t driver_missing(void)
{
    const char *reason =
        dlopen("libcuda.so.1", RTLD_NOW) ? "it was missing at the first call" : dlerror();
    return rt_fail(cudaErrorInsufficientDriver,
                   "libcuda.so.1 cannot be loaded (%s); run the program with `cardless run`, or "
                   "put the library's folder into LD_LIBRARY_PATH",
                   reason);
}

// Every call comes here until there is a driver, so the message is shown once.
static cudaError_t driver_insufficient(int version)
{
    static bool said;
    if (__atomic_exchange_n(&said, true, __ATOMIC_RELAXED))
        return cudaErrorInsufficientDriver;
    if (!rt_driver_is_loaded())
        return driver_missing();
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
