// SPDX-License-Identifier: MIT
// Approximate functions give the card's bits: all results of blocks of 65,536 arguments, summed up,
// are compared with the sums that a card computed in the same way; and single points, which show
// the argument that is wrong.
//
// An argument of f32 is block << 16 | j. One of f64 has these upper 32 bits, and lower ones that
// follow from them. Forms of every instruction set are tested. The file of points is
// tests/data/silicon/functions.txt.gz, decompressed.
#include "functions_measured.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "kn_cpu.h"
#include "kn_lanes.h"

enum { A_AT = 64, B_AT = 512, D_AT = 1024, FILE_B = 2048 };

// The part of a result in the sum. The card has added the same numbers up.
static uint32_t mix(uint32_t result, uint32_t k)
{
    uint32_t h = k * 0x9e3779b1u + result;
    h ^= h >> 15;
    h *= 0x2c1b3c6du;
    return h ^ h >> 13;
}

static const struct kn_op *stop(const struct kn_op *op, struct kn_warp *w)
{
    (void)op;
    (void)w;
    return NULL;
}

// Runs a form on the registers of a file.
static void run(const struct kn_form *form, char *registers)
{
    const struct kn_op ops[2] = {
        {.run = {form->run[0], form->run[1]},
         .d = D_AT,
         .a = A_AT,
         .b = B_AT,
         .guard_flip = UINT32_MAX},
        {.run = {stop, stop}},
    };
    struct kn_warp w = {.r = registers, .lanes = UINT32_MAX};

    kn_warp_activate(&w, UINT32_MAX);
    kn_warp_run(&w, ops);
}

static uint32_t sum_block(const struct kn_form *form, uint32_t block)
{
    static _Alignas(64) char registers[FILE_B];
    uint32_t sum = 0;

    for (uint32_t k = block << 16; k >> 16 == block; k += KN_LANES) {
        uint64_t wide[KN_LANES];
        uint32_t narrow[KN_LANES];
        const bool is_wide = form->operands[0] == 'l';
        for (uint32_t i = 0; i < KN_LANES; i++) {
            narrow[i] = k + i;
            wide[i] = (uint64_t)(k + i) << 32 | (uint32_t)((k + i) * 0x9e3779b1u);
        }
        memcpy(registers + A_AT, is_wide ? (void *)wide : narrow,
               is_wide ? sizeof(wide) : sizeof(narrow));
        run(form, registers);
        memcpy(wide, registers + D_AT, sizeof(wide));
        memcpy(narrow, registers + D_AT, sizeof(narrow));
        for (uint32_t i = 0; i < KN_LANES; i++) {
            const uint32_t high = (uint32_t)(wide[i] >> 32);
            sum += mix(is_wide ? (uint32_t)wide[i] + high * 0xb5297a4du : narrow[i], k + i);
        }
        if (k + KN_LANES < k)
            break;
    }
    return sum;
}

static int check_sums(const struct kn_form *forms, const char *set)
{
    int failures = 0;

    for (size_t i = 0; i < sizeof(measured) / sizeof(*measured); i++) {
        const struct measured *m = &measured[i];
        const int form = kn_form_find(m->form);
        const uint32_t sum = form < 0 ? 0 : sum_block(&forms[form], m->block);
        if (form >= 0 && sum == m->sum)
            continue;
        printf("%s, %s, arguments 0x%04x0000 to 0x%04xffff: the sum is 0x%08x, expected 0x%08x\n",
               set, m->form, m->block, m->block, sum, m->sum);
        failures++;
    }
    return failures;
}

// ---- single points ----

struct point {
    char form[32];
    uint64_t a, b, result;
};

// Reads "form a result" or "form a b result". Returns whether it is one of both.
static bool read_point(const char *line, struct point *p)
{
    uint64_t words[3];
    const int read = sscanf(line, "%31s %" SCNx64 " %" SCNx64 " %" SCNx64, p->form, &words[0],
                            &words[1], &words[2]);
    if (read < 3)
        return false;
    p->a = words[0];
    p->b = read == 4 ? words[1] : 0;
    p->result = words[read - 2];
    return true;
}

// Computes a point in one lane, while the others have neighbours of the argument.
static uint64_t compute_point(const struct kn_form *form, const struct point *p, unsigned lane)
{
    static _Alignas(64) char registers[FILE_B];
    const unsigned size = form->operands[0] == 'l' ? 8 : form->operands[0] == 'w' ? 4 : 2;
    uint64_t result = 0;

    for (unsigned i = 0; i < KN_LANES; i++) {
        const uint64_t a = p->a + i - lane;
        memcpy(registers + A_AT + i * size, &a, size);
        memcpy(registers + B_AT + i * size, &p->b, size);
    }
    run(form, registers);
    memcpy(&result, registers + D_AT + lane * size, size);
    return result;
}

static int check_points(const struct kn_form *forms, const char *set, FILE *points)
{
    char line[128];
    int failures = 0;

    rewind(points);
    for (unsigned n = 0; fgets(line, sizeof line, points); n++) {
        struct point p;
        const bool understood = read_point(line, &p);
        const int form = understood ? kn_form_find(p.form) : -1;
        const uint64_t result = form < 0 ? 0 : compute_point(&forms[form], &p, n % KN_LANES);
        if (form >= 0 && result == p.result)
            continue;
        line[strcspn(line, "\n")] = 0;
        printf("%s: the result is %" PRIx64 ", expected: %s\n", set, result, line);
        failures++;
    }
    return failures;
}

// Compares a set that this CPU has. A build without lanes for it compares plain C once more.
static int check_set(unsigned flags, FILE *points)
{
    unsigned count;
    const struct kn_form *forms = kn_forms_for(flags, &count);
    const char *name = kn_cpu_name(flags);

    return check_sums(forms, name) + check_points(forms, name, points);
}

int main(int count, char **arguments)
{
    FILE *points = count == 2 ? fopen(arguments[1], "r") : NULL;
    const unsigned flags = kn_cpu_flags();
    unsigned forms;
    int failures;

    if (!points) {
        fprintf(stderr, "usage: %s functions.txt\n", arguments[0]);
        return 2;
    }
    failures = check_set(0, points);
    if (kn_forms_for(flags & KN_CPU_AVX2, &forms) != kn_forms_for(0, &forms))
        failures += check_set(KN_CPU_AVX2, points);
    if (kn_forms_for(flags, &forms) != kn_forms_for(flags & KN_CPU_AVX2, &forms))
        failures += check_set(flags, points);
    fclose(points);
    return failures != 0;
}
