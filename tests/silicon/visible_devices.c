// SPDX-License-Identifier: MIT
// CUDA_VISIBLE_DEVICES: what it may contain, and how many devices the program then finds. Each case
// is a process of its own. expand() explains the marks in its name.
#include <ctype.h>

#include "record.h"

static char uuid[64]; // xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx

static void find_uuid(void)
{
    CUuuid id;
    int fds[2];
    if (pipe(fds))
        _exit(9);
    if (!fork()) { // a process that calls the driver cannot fork later
        NEED(cuInit(0));
        NEED(cuDeviceGetUuid(&id, 0));
        const unsigned char *b = (const unsigned char *)id.bytes;
        char text[64];
        int n = 0;
        for (int i = 0; i < 16; i++)
            n += snprintf(text + n, sizeof text - (size_t)n, "%s%02x",
                          i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", b[i]);
        if (write(fds[1], text, 37) != 37)
            _exit(9);
        _exit(0);
    }
    if (read(fds[0], uuid, 37) != 37)
        _exit(9);
    close(fds[0]);
    close(fds[1]);
}

// The process of a case: writes the results to descriptor 3.
static int child_main(void)
{
    int out[2] = {(int)cuInit(0), -1};
    if (cuDeviceGetCount(&out[1]))
        out[1] = -1;
    return write(3, out, sizeof out) != sizeof out;
}

// Replaces @ by the UUID, # by its first 8 digits, % by its first one, $ by all digits but one, ^
// by it in capitals, and ~ by it without hyphens.
static void expand(const char *pattern, char *out)
{
    for (; *pattern; pattern++) {
        if (*pattern == '@' || *pattern == '^' || *pattern == '~') {
            for (const char *c = uuid; *c; c++)
                if (*pattern != '~' || *c != '-')
                    *out++ = *pattern == '^' ? (char)toupper(*c) : *c;
        } else if (*pattern == '#') {
            memcpy(out, uuid, 8);
            out += 8;
        } else if (*pattern == '%') {
            *out++ = *uuid;
        } else if (*pattern == '$') {
            memcpy(out, uuid, 35);
            out += 35;
        } else {
            *out++ = *pattern;
        }
    }
    *out = 0;
}

static void count(const char *value)
{
    int fds[2], got[2] = {-1, -1};
    if (pipe(fds))
        _exit(9);
    pid_t child = fork();
    if (!child) {
        if (value)
            setenv("CUDA_VISIBLE_DEVICES", value, 1);
        else
            unsetenv("CUDA_VISIBLE_DEVICES");
        dup2(fds[1], 3);
        execl("/proc/self/exe", "visible_devices", "--count", (char *)NULL);
        _exit(9);
    }
    close(fds[1]);
    if (read(fds[0], got, sizeof got) != sizeof got)
        got[0] = -1;
    close(fds[0]);
    waitpid(child, NULL, 0);
    SAY("init=%s count %d", got[0] < 0 ? "died" : record_brief((CUresult)got[0]), got[1]);
}

GROUP(values)
{
    static const char *const values[] = {"0",
                                         "00",
                                         "+0",
                                         "-0",
                                         " 0",
                                         "0 ",
                                         "\t0",
                                         "0x0",
                                         "0a",
                                         "a0",
                                         "a",
                                         "",
                                         " ",
                                         ",",
                                         ",0",
                                         "0,",
                                         "0,,",
                                         "0,0",
                                         "0, 0",
                                         "0,-1",
                                         "-1,0",
                                         "-1",
                                         "0,1",
                                         "1,0",
                                         "1",
                                         "0,a",
                                         "0;1",
                                         "0.5",
                                         "4294967296",
                                         "99999999999999999999",
                                         "GPU-@",
                                         "GPU-#",
                                         "GPU-%",
                                         "GPU-",
                                         "GPU",
                                         "gpu-@",
                                         "Gpu-@",
                                         "GPU-^",
                                         "GPU-~",
                                         "GPU-$",
                                         "GPU-@0",
                                         "GPU-@ ",
                                         " GPU-@",
                                         "GPU-#-",
                                         "@",
                                         "#",
                                         "GPU_@",
                                         "GPU-@,GPU-@",
                                         "GPU-@,GPU-#",
                                         "GPU-@,0",
                                         "0,GPU-@",
                                         "GPU-@,",
                                         ",GPU-@",
                                         "GPU-@,a",
                                         "GPU-@,GPU-ffff",
                                         "GPU-ffff,GPU-@",
                                         "GPU-zzzz",
                                         "GPU-@,1",
                                         "MIG-@",
                                         "MIG-GPU-@",
                                         "MIG-GPU-@/0/0",
                                         "MIG-GPU-@/0",
                                         "MIG-GPU-@/0/0,GPU-@",
                                         "GPU-@,MIG-GPU-@/0/0",
                                         "MIG-",
                                         "MIG",
                                         "GPU-@/0/0",
                                         "GPU-# ",
                                         "GPU-#,",
                                         "0:0",
                                         "NoDevFiles",
                                         "all",
                                         "none",
                                         "void"};
    if (CASE("unset"))
        count(NULL);
    for (unsigned i = 0; i < sizeof values / sizeof *values; i++) {
        char value[256];
        if (!CASE("%u \"%s\"", i, values[i]))
            continue;
        expand(values[i], value);
        count(value);
    }
}

int main(int argc, char **argv)
{
    if (argc > 1 && !strcmp(argv[1], "--count"))
        return child_main();
    find_uuid();
    RUN(values);
    return 0;
}
