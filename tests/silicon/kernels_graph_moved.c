// SPDX-License-Identifier: MIT
// The kernels of graph_moved.c as functions of the host. The program loads them as PTX text.
#include <cardless.h>

static void nothing(void)
{
}

static const cardlessKernelDesc kernels[] = {{.name = "moved_first", .function = nothing},
                                             {.name = "moved_second", .function = nothing}};
static const cardlessModuleDesc table = {
    .magic = CARDLESS_MODULE_MAGIC,
    .version = CARDLESS_VERSION,
    .kernel_count = 2,
    .kernels = kernels,
};

__attribute__((constructor)) static void register_kernels(void)
{
    cardlessModuleRegister(&table);
}
