// SPDX-License-Identifier: MIT
// CARDLESS_CPU_MASK: the flags that it allows, and texts that are not a mask.
#include "kn_cpu.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

// Returns the flags that a process starts with if the variable has this value, or if it is not set
// (null).
static unsigned flags_under(const char *value)
{
    int status;
    pid_t child = fork();

    if (!child) {
        if (value)
            setenv("CARDLESS_CPU_MASK", value, 1);
        else
            unsetenv("CARDLESS_CPU_MASK");
        _exit((int)kn_cpu_flags());
    }
    if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status)) {
        perror("cpu_mask: fork");
        exit(99);
    }
    return (unsigned)WEXITSTATUS(status);
}

int main(void)
{
    static const struct {
        const char *value;
        unsigned mask;
    } cases[] = {
        {NULL, ~0u},
        {"0", 0},
        {"1", KN_CPU_AVX2},
        {"0x1", KN_CPU_AVX2},
        {"2", KN_CPU_AVX512 | KN_CPU_AVX2},
        {"3", KN_CPU_AVX512 | KN_CPU_AVX2},
        {"4", KN_CPU_NEON},
        {"4294967295", ~0u},
        // These are not whole numbers in range.
        {"", ~0u},
        {"avx2", ~0u},
        {"08", ~0u},
        {"3abc", ~0u},
        {" 0", ~0u},
        {"0 ", ~0u},
        {"-0", ~0u},
        {"+0", ~0u},
        {"4294967296", ~0u},
        {"99999999999999999999", ~0u},
    };
    unsigned failures = 0;

    for (unsigned i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        unsigned got = flags_under(cases[i].value),
                 expected = cases[i].mask & kn_cpu_flags_detected();
        if (got != expected) {
            fprintf(stderr, "CARDLESS_CPU_MASK=\"%s\": flags %#x, expected %#x\n",
                    cases[i].value ? cases[i].value : "(unset)", got, expected);
            failures++;
        }
    }
    return failures != 0;
}
