// SPDX-License-Identifier: MIT
// The kernels of probes/x_streams.c as functions of the host. The probe loads them as PTX text.
#include <cardless.h>

static void nop(void)
{
}

static void add(unsigned *p, unsigned v)
{
    __atomic_fetch_add(p, v, __ATOMIC_RELAXED);
}

static void set(unsigned *p, unsigned v)
{
    __atomic_store_n(p, v, __ATOMIC_RELAXED);
}

static void sh(unsigned *p)
{
    const cardlessThread *t = cardlessThisThread();
    unsigned *s = t->shared;
    s[1] = t->thread.x;
    cardlessBarrier();
    *p = s[1];
}

static const cardlessParam params[] = {{.type = CARDLESS_POINTER}, {.type = CARDLESS_UINT32}};
static const cardlessKernelDesc kernels[] = {
    {.name = "nop", .function = nop},
    {.name = "add", .function = (void (*)(void))add, .params = params, .param_count = 2},
    {.name = "set", .function = (void (*)(void))set, .params = params, .param_count = 2},
    {.name = "sh",
     .function = (void (*)(void))sh,
     .params = params,
     .param_count = 1,
     .static_shared = 1000,
     .flags = CARDLESS_KERNEL_BARRIERS},
};
static const cardlessModuleDesc table = {
    .magic = CARDLESS_MODULE_MAGIC,
    .version = CARDLESS_VERSION,
    .kernel_count = sizeof kernels / sizeof *kernels,
    .kernels = kernels,
};

__attribute__((constructor)) static void register_kernels(void)
{
    cardlessModuleRegister(&table);
}
