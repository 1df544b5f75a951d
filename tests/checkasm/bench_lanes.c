// SPDX-License-Identifier: MIT
// Benchmark of the forms over 32 lanes: nanoseconds of one operation, dispatch included, for each
// instruction set; with all lanes active, and with half of them.
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "bench.h"
#include "lanes.h"

enum { TIMES = 20, TURNS = 7, SETS_MOST = 4 };

static double now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

// Time of one operation in a chain of equal ones, whose operands are different registers: the least
// of several measurements.
static double form_ns(const struct kn_form *form, uint32_t active, double budget_ns)
{
    static _Alignas(64) uint8_t registers[CA_FILE_B];
    struct ca_lane_case c;
    double least = 1e12;

    ca_lane_operands(&c, form);
    ca_lane_place(&c, false);
    ca_lane_fill(registers, &c);
    c.value = c.immediate ? ca_lane_immediate(form) : 0;
    c.active = active;
    for (unsigned turn = 0; turn < TURNS; turn++) {
        unsigned runs = 0;
        const double start = now_ns();
        double end = start;
        while (end - start < budget_ns / TURNS) {
            ca_lane_run_chain(&c, form, registers, CA_CHAIN_MOST, TIMES);
            runs++;
            end = now_ns();
        }
        const double each = (end - start) / runs / CA_CHAIN_MOST / TIMES;
        least = each < least ? each : least;
    }
    return least;
}

void ca_bench_lanes(const char *filter, unsigned milliseconds)
{
    const unsigned detected = kn_cpu_flags_detected();
    unsigned sets[SETS_MOST] = {0}, set_count = 1, count;
    const struct kn_form *plain = kn_forms_for(0, &count);
    const double budget_ns = milliseconds * 1e6 / 40;

    for (unsigned flags = 1; flags < 1u << KN_CPU_FLAG_COUNT; flags = flags << 1 | 1)
        if ((flags & detected) != sets[set_count - 1] && set_count < SETS_MOST)
            sets[set_count++] = flags & detected;
    printf("\nns of a form over 32 lanes: all active / half of them\n%-24s", "form");
    for (unsigned i = 0; i < set_count; i++)
        printf(" %17s", kn_cpu_name(sets[i]));
    printf("\n");
    for (unsigned i = 0; i < count; i++) {
        if (ca_form_has_memory(&plain[i]) || (filter && !strstr(plain[i].name, filter)))
            continue;
        printf("%-24s", plain[i].name);
        for (unsigned set = 0; set < set_count; set++) {
            unsigned forms;
            const struct kn_form *form = &kn_forms_for(sets[set], &forms)[i];
            printf(" %8.1f %8.1f", form_ns(form, UINT32_MAX, budget_ns),
                   form_ns(form, 0x55555555, budget_ns));
        }
        printf("\n");
        fflush(stdout);
    }
}
