// SPDX-License-Identifier: MIT
// A shared object whose kernels are functions of the host.
#include <cardless.h>

static void fill(unsigned *data, unsigned value)
{
    const cardlessThread *t = cardlessThisThread();
    data[t->thread.x] = value + *(unsigned *)cardlessVariable(0);
}

static const unsigned one = 1;
static const cardlessParam params[] = {{.type = CARDLESS_POINTER}, {.type = CARDLESS_UINT32}};
static const cardlessKernelDesc kernels[] = {
    {.name = "fill", .function = (void (*)(void))fill, .params = params, .param_count = 2}};
static const cardlessVariableDesc variables[] = {{.name = "more", .size = 4, .initial = &one}};

extern const cardlessModuleDesc cardlessModule;
__attribute__((visibility("default"))) const cardlessModuleDesc cardlessModule = {
    .magic = CARDLESS_MODULE_MAGIC,
    .version = CARDLESS_VERSION,
    .kernel_count = 1,
    .variable_count = 1,
    .kernels = kernels,
    .variables = variables,
};
