// SPDX-License-Identifier: MIT
// Video instructions give the card's results.
//
// Each line of the file is "instruction | a b c d a b c d …": operands and results in hexadecimal.
// usage: video video.txt
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "guard.h"
#include "kn_cpu.h"
#include "run_text.h"

enum { POINTS = 32 };

// What the kernel reads and writes.
struct points {
    uint32_t a[POINTS], b[POINTS], c[POINTS], d[POINTS];
};

// Returns the number of points.
static unsigned read_points(const char *numbers, struct points *p)
{
    unsigned n = 0;
    int used = 0;
    while (n < POINTS &&
           sscanf(numbers, "%x %x %x %x%n", &p->a[n], &p->b[n], &p->c[n], &p->d[n], &used) == 4) {
        numbers += used;
        n++;
    }
    return n;
}

static void write_text(char *out, size_t size_B, const char *instruction)
{
    snprintf(out, size_B,
             ".version 8.5\n.target sm_90\n.address_size 64\n.entry k(.param .u64 p)\n{\n"
             ".reg .b32 %%a, %%b, %%c, %%d, %%t;\n.reg .b64 %%p, %%q;\n"
             "ld.param.u64 %%p, [p];\nmov.u32 %%t, %%tid.x;\nmad.wide.u32 %%q, %%t, 4, %%p;\n"
             "ld.global.u32 %%a, [%%q];\nld.global.u32 %%b, [%%q+%u];\n"
             "ld.global.u32 %%c, [%%q+%u];\n%s\nst.global.u32 [%%q+%u], %%d;\n}\n",
             4 * POINTS, 8 * POINTS, instruction, 12 * POINTS);
}

static int check_line(char *line, const char *set)
{
    char text[2048];
    struct points expected = {0}, p;
    char *bar = strchr(line, '|');
    const unsigned n = bar ? read_points(bar + 1, &expected) : 0;

    if (!n) {
        printf("not a line of points: %s\n", line);
        return 1;
    }
    *bar = 0;
    p = expected;
    memset(p.d, 0xcd, sizeof p.d);
    write_text(text, sizeof text, line);
    if (run_text(text, n, &p, sizeof p)) {
        printf("%s does not run\n", line);
        return 1;
    }
    for (unsigned i = 0; i < n; i++) {
        if (p.d[i] == expected.d[i])
            continue;
        printf("%s, %s of %08x, %08x, %08x is %08x, expected %08x\n", set, line, p.a[i], p.b[i],
               p.c[i], p.d[i], expected.d[i]);
        return 1;
    }
    return 0;
}

static int check_file(const char *path, const char *set)
{
    char line[1280];
    int failures = 0;
    FILE *file = fopen(path, "r");

    if (!file) {
        perror(path);
        return 1;
    }
    while (fgets(line, sizeof line, file))
        failures += check_line(line, set);
    fclose(file);
    return failures;
}

int main(int count, char **arguments)
{
    int failures;

    if (count != 2) {
        fprintf(stderr, "usage: %s video.txt\n", arguments[0]);
        return 2;
    }
    dm_guard_init();
    failures = check_file(arguments[1], kn_cpu_name(kn_cpu_flags()));
    if (kn_cpu_flags()) {
        kn_set_cpu_mask(0);
        failures += check_file(arguments[1], kn_cpu_name(0));
    }
    return failures != 0;
}
