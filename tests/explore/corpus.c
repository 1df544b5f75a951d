// SPDX-License-Identifier: MIT
// Runs one program of the corpus. Without arguments, lists all names.
#include "corpus.h"

static const struct program {
    const char *name;
    bool (*run)(bool right);
} programs[] = {
#define ROW(name) {#name, name},
    STREAM_PROGRAMS(ROW) HOST_PROGRAMS(ROW) SHARED_PROGRAMS(ROW) KERNEL_PROGRAMS(ROW)
#undef ROW
};

int main(int argc, char **argv)
{
    CUcontext context;
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
        if (argc < 2) {
            puts(programs[i].name);
            continue;
        }
        if (argc != 3 || strcmp(argv[1], programs[i].name))
            continue;
        MUST(cuInit(0));
        MUST(cuDevicePrimaryCtxRetain(&context, 0));
        MUST(cuCtxSetCurrent(context));
        return !programs[i].run(!strcmp(argv[2], "right"));
    }
    return argc < 2 ? 0 : 2;
}
