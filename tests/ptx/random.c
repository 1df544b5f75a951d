// SPDX-License-Identifier: MIT
// Random programs of arithmetic, comparison and conversion instructions: their registers at the end
// are those of a second implementation (reference.h), with every instruction set that the CPU has.
// Programs with approximate functions, which have no second implementation, give the same with
// every set.
//
//     random [PROGRAMS [FIRST]]     programs are numbered; FIRST repeats one of them
#include <limits.h>
#include <stdarg.h>
#include <string.h>

#include "expect.h"
#include "guard.h"
#include "kn_cpu.h"
#include "reference.h"
#include "run_text.h"

enum {
    KINDS = 4, // of registers: p, h, w, l
    EACH = 8,  // registers of a kind
    INSTRUCTIONS_MOST = 40,
    THREADS_MOST = 64,
    TEXT_B = 32768,
    SETS_MOST = 3,
};
static const char letters[KINDS + 1] = "phwl";
static const char *const prefixes[KINDS] = {"%p", "%h", "%r", "%d"};

// The registers of a thread, as a kernel reads and writes them. Predicates are 0 or 1.
struct registers {
    uint64_t r[KINDS][EACH];
};

struct operand {
    uint8_t kind, number;
    bool constant;
    uint64_t value;
};

struct step {
    struct ref_instruction ins;
    struct operand d[REF_DESTINATIONS], a[REF_SOURCES];
    unsigned destinations, sources;
    int guard; // a predicate, or -1
    bool guard_not;
};

struct program {
    struct step steps[INSTRUCTIONS_MOST];
    unsigned count, threads;
    bool approximate;
    struct registers first[THREADS_MOST];
};

static unsigned kind_of(char letter)
{
    return (unsigned)(strchr(letters, letter) - letters);
}

// ---- making programs ----

// Bits that matter, in groups of which a program has one, so that they meet each other.
enum { GROUP = 6 };
static const uint64_t groups[][GROUP] = {
    {0, 1, 2, 3, UINT64_MAX, 0xffffffff},
    {31, 32, 33, 64, 0x7f, 0xff},
    {0x7fff, 0x8000, 0x8001, 0xffff, 0x80, 0x7fffffff},
    {0x80000000, 0x80000001, 0x7fffffff, 0xffffffff, 0, 0xfffffffe},
    // f16: 1, the greatest value, infinity, NaNs, the least normal value
    {0x3c00, 0x7bff, 0x7c00, 0x7c01, 0x7e00, 0xfc00},
    {0x0400, 0x03ff, 0x3bff, 0x3c00, 0x8400, 0x0001},
    // bf16
    {0x3f80, 0x7f7f, 0x7f80, 0x7fc0, 0xff80, 0x0080},
    // f32
    {0x3f800000, 0x7f7fffff, 0x7f800000, 0x7f800001, 0xff800000, 0xffc00001},
    {0x00800000, 0x007fffff, 0x3f7fffff, 0x3f800000, 0x80800000, 0x00000001},
    {0x4f000000, 0x4f800000, 0x5f000000, 0x477fe000, 0x33000000, 0x38800000},
    // products just below f32's least normal value, and f64 just below that and below f16's
    {0x20000001, 0x1ffffffe, 0x1fffffff, 0x20000000, 0xa0000001, 0x00800000},
    {UINT64_C(0x380fffffffffffff), UINT64_C(0x380fffffe0000000), UINT64_C(0xb80ffffff0000000),
     UINT64_C(0x3810000000000000), UINT64_C(0x3f0fffffffffffff), UINT64_C(0x3f0ffe0000000000)},
    // f64
    {UINT64_C(0x3ff0000000000000), UINT64_C(0x7fefffffffffffff), UINT64_C(0x7ff0000000000000),
     UINT64_C(0x7ff0000000000001), UINT64_C(0x7ff8123456789abc), UINT64_C(0xfff8000000000000)},
    {UINT64_C(0x0010000000000000), UINT64_C(0x000fffffffffffff), UINT64_C(0x3fefffffffffffff),
     UINT64_C(0x3ff0000000000000), UINT64_C(0x8010000000000000), 1},
    {UINT64_C(0x8000000000000000), UINT64_C(0x7fffffffffffffff), UINT64_C(0x43e0000000000000),
     UINT64_C(0x36a0000000000000), UINT64_C(0x41dfffffffe00000), UINT64_C(0x47efffffffffffff)},
};
enum { GROUPS = sizeof groups / sizeof *groups };

// A float of `width` bits whose exponent is close to that of 1.
static uint64_t close_to_one(uint64_t bits, unsigned width)
{
    const bool bf16 = bits & 8;
    const unsigned stored = width == 64 ? 52 : width == 32 ? 23 : bf16 ? 7 : 10;
    const uint64_t lowest = width == 64 ? 1020 : width == 32 || bf16 ? 124 : 12;
    const uint64_t digits = bits >> 4 & ((UINT64_C(1) << stored) - 1);
    return (lowest + (bits >> 60 & 7)) << stored | digits;
}

static uint64_t draw_bits(uint64_t *state, unsigned width, unsigned group)
{
    const uint64_t bits = draw(state);
    uint64_t value = bits >> 7;
    switch (bits % 8) {
    case 0:
        value = bits >> 8 & (bits & 16 ? 0xff : 0xffffff);
        break;
    case 1:
    case 2:
        value = close_to_one(bits, width);
        break;
    case 3: // few digits
        value = width < 12 ? bits >> 63 : bits >> 52 << (width - 12);
        break;
    case 4:
        value ^= value << 13;
        break;
    default:
        value = groups[group][ref_below(state, GROUP)];
        break;
    }
    if (width == 32 && bits & 0x100) // two values of 16 bits
        value = (value & 0xffff) | draw_bits(state, 16, group) << 16;
    return width < 64 ? value & ((UINT64_C(1) << width) - 1) : value;
}

static struct operand draw_operand(uint64_t *state, const struct ref_instruction *ins, char letter,
                                   bool is_source, unsigned group)
{
    static const unsigned widths[KINDS] = {1, 16, 32, 64};
    struct operand o = {.kind = (uint8_t)kind_of(letter),
                        .number = (uint8_t)ref_below(state, EACH)};
    if (is_source && letter != 'p' && ins->constants && ref_once_in(state, 5)) {
        o.constant = true;
        o.value = draw_bits(state, widths[o.kind], group);
    } else if (is_source && !ins->from_bits && (ins->format == &ex_f32 || ins->format == &ex_f64) &&
               !ins->pair && letter == (ins->format == &ex_f32 ? 'w' : 'l') &&
               ref_once_in(state, 6)) {
        o.constant = true;
        o.value = draw_bits(state, widths[o.kind], group);
    }
    return o;
}

static void draw_step(struct step *s, uint64_t *state, bool approximate, unsigned group)
{
    static ref_picker *const pickers[] = {ref_pick_float,   ref_pick_float,   ref_pick_minmax,
                                          ref_pick_compare, ref_pick_convert, ref_pick_convert,
                                          ref_pick_integer, ref_pick_bits};
    *s = (struct step){.guard = -1};
    if (approximate && ref_once_in(state, 4))
        ref_pick_approximate(&s->ins, state);
    else
        pickers[ref_below(state, sizeof pickers / sizeof *pickers)](&s->ins, state);
    s->destinations = (unsigned)strlen(s->ins.destinations);
    s->sources = (unsigned)strlen(s->ins.sources);
    for (unsigned i = 0; i < s->destinations; i++)
        s->d[i] = draw_operand(state, &s->ins, s->ins.destinations[i], false, group);
    if (s->destinations == 2 && s->d[1].number == s->d[0].number)
        s->d[1].number = (s->d[1].number + 1) % EACH;
    for (unsigned i = 0; i < s->sources; i++)
        s->a[i] = draw_operand(state, &s->ins, s->ins.sources[i], true, group);
    const bool takes_field = !strncmp(s->ins.opcode, "bfe", 3) || !strncmp(s->ins.opcode, "bfi", 3);
    for (unsigned i = s->sources - 2u; takes_field && i < s->sources; i++)
        s->a[i].value &= 255; // constants that say where the field is
    // The results of these without a guard depend on their readers: select_modifiers.c tests
    // that.
    const bool changes_sign =
        !strcmp(s->ins.opcode, "neg.f32") || !strcmp(s->ins.opcode, "abs.f32");
    if (ref_once_in(state, 6) || changes_sign) {
        s->guard = (int)ref_below(state, EACH);
        s->guard_not = ref_once_in(state, 2);
    }
}

// Whether the result of a step counts as old as its first source: without a guard, neg and abs of
// f64, and min and max of the same operand.
static bool keeps_order(const struct step *s)
{
    const char *opcode = s->ins.opcode;
    const bool sign = !strcmp(opcode, "neg.f64") || !strcmp(opcode, "abs.f64");
    const bool least = !strcmp(opcode, "min.f64") || !strcmp(opcode, "max.f64");
    return s->guard < 0 && (sign || (least && s->ins.same));
}

// Notes in which order the operands of each step were written, and whether they are the same.
static void note_order(struct program *p)
{
    const unsigned last = UINT_MAX; // of constants
    unsigned written[KINDS][EACH];
    for (unsigned k = 0; k < KINDS; k++)
        for (unsigned i = 0; i < EACH; i++)
            written[k][i] = k * EACH + i;
    for (unsigned n = 0; n < p->count; n++) {
        struct step *s = &p->steps[n];
        const struct operand *a = &s->a[0], *b = &s->a[1];
        s->ins.guarded = s->guard >= 0;
        for (unsigned i = 0; i < s->sources; i++)
            s->ins.constant[i] = s->a[i].constant;
        if (s->sources > 1) {
            const unsigned of_a = a->constant ? last : written[a->kind][a->number];
            const unsigned of_b = b->constant ? last : written[b->kind][b->number];
            s->ins.exchanged = of_a > of_b;
            s->ins.same = a->kind == b->kind && a->constant == b->constant &&
                          (a->constant ? a->value == b->value : a->number == b->number);
        }
        const unsigned kept = a->constant ? last : written[a->kind][a->number];
        for (unsigned i = 0; i < s->destinations; i++)
            written[s->d[i].kind][s->d[i].number] = keeps_order(s) ? kept : KINDS * EACH + n;
    }
}

static void draw_program(struct program *p, uint64_t number)
{
    static const unsigned widths[KINDS] = {1, 16, 32, 64};
    uint64_t state = number * UINT64_C(0x9e3779b97f4a7c15) + 1;
    draw(&state);
    p->count = 1 + ref_below(&state, INSTRUCTIONS_MOST);
    p->threads = ref_once_in(&state, 3) ? 1 + ref_below(&state, THREADS_MOST) : 32;
    p->approximate = ref_once_in(&state, 6);
    const unsigned group = ref_below(&state, GROUPS);
    for (unsigned i = 0; i < p->count; i++)
        draw_step(&p->steps[i], &state, p->approximate, group);
    note_order(p);
    for (unsigned t = 0; t < p->threads; t++)
        for (unsigned k = 0; k < KINDS; k++)
            for (unsigned i = 0; i < EACH; i++)
                p->first[t].r[k][i] = draw_bits(&state, widths[k], group);
}

// ---- text ----

struct text {
    char at[TEXT_B];
    size_t used;
};

__attribute__((format(printf, 2, 3))) static void add(struct text *t, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    const int length = vsnprintf(t->at + t->used, sizeof t->at - t->used, format, list);
    va_end(list);
    EXPECT(length >= 0 && t->used + (size_t)length < sizeof t->at);
    t->used += (size_t)length;
}

static void add_operand(struct text *t, const struct step *s, const struct operand *o)
{
    double wide = 0;
    float narrow = 0;
    memcpy(&wide, &o->value, sizeof wide);
    memcpy(&narrow, &o->value, sizeof narrow);
    if (!o->constant)
        add(t, "%s%u", prefixes[o->kind], o->number);
    else if (s->ins.format && o->kind == 3 && wide - wide == 0)
        add(t, "%.17e", wide);
    else if (s->ins.format && o->kind == 2 && narrow - narrow == 0 && o->value & 2 &&
             !strstr(s->ins.opcode, ".b32")) // which takes no decimal fraction
        add(t, "%.9e", (double)narrow);
    else if (s->ins.format && o->kind == 2)
        add(t, "0f%08llX", (unsigned long long)o->value);
    else if (s->ins.format)
        add(t, "0d%016llX", (unsigned long long)o->value);
    else if (o->value & 1)
        add(t, "0x%llx", (unsigned long long)o->value);
    else
        add(t, "%llu", (unsigned long long)o->value);
}

static void add_step(struct text *t, const struct step *s)
{
    if (s->guard >= 0)
        add(t, "@%s%%p%d ", s->guard_not ? "!" : "", s->guard);
    add(t, "%s ", s->ins.opcode);
    for (unsigned i = 0; i < s->destinations; i++) {
        add(t, i ? "|" : "");
        add_operand(t, s, &s->d[i]);
    }
    for (unsigned i = 0; i < s->sources; i++) {
        add(t, ", ");
        add_operand(t, s, &s->a[i]);
    }
    add(t, "%s;\n", s->ins.suffix);
}

// The kernel of the first `count` steps.
static void write_text(struct text *t, const struct program *p, unsigned count)
{
    static const char *const types[KINDS] = {"u64", "b16", "b32", "b64"};
    t->used = 0;
    add(t,
        ".version 8.6\n.target sm_90\n.address_size 64\n.entry k(.param .u64 p)\n{\n"
        ".reg .pred %%p<%d>, %%s;\n.reg .b16 %%h<%d>;\n.reg .b32 %%r<%d>, %%t;\n"
        ".reg .b64 %%d<%d>, %%at, %%v;\nld.param.u64 %%at, [p];\nmov.u32 %%t, %%tid.x;\n"
        "mad.wide.u32 %%at, %%t, %d, %%at;\n",
        EACH, EACH, EACH, EACH, (int)sizeof(struct registers));
    for (unsigned k = 0; k < KINDS; k++) {
        for (unsigned i = 0; i < EACH; i++) {
            const unsigned at = 8 * (EACH * k + i);
            if (k)
                add(t, "ld.global.%s %s%u, [%%at+%u];\n", types[k], prefixes[k], i, at);
            else
                add(t, "ld.global.u64 %%v, [%%at+%u]; setp.ne.u64 %%p%u, %%v, 0;\n", at, i);
        }
    }
    for (unsigned i = 0; i < count; i++)
        add_step(t, &p->steps[i]);
    for (unsigned k = 0; k < KINDS; k++) {
        for (unsigned i = 0; i < EACH; i++) {
            const unsigned at = 8 * (EACH * k + i);
            if (k)
                add(t, "st.global.%s [%%at+%u], %s%u;\n", types[k], at, prefixes[k], i);
            else
                add(t, "selp.u64 %%v, 1, 0, %%p%u; st.global.u64 [%%at+%u], %%v;\n", i, at);
        }
    }
    add(t, "ret;\n}\n");
}

// ---- both implementations ----

static void run_reference(const struct program *p, unsigned count, struct registers *threads)
{
    for (unsigned t = 0; t < p->threads; t++) {
        struct registers *r = &threads[t];
        *r = p->first[t];
        for (unsigned n = 0; n < count; n++) {
            const struct step *s = &p->steps[n];
            uint64_t in[REF_SOURCES] = {0}, out[REF_DESTINATIONS] = {0};
            if (s->guard >= 0 && !r->r[0][s->guard] == !s->guard_not && !s->ins.ignores_guard) {
                uint64_t *d = &r->r[s->d[0].kind][s->d[0].number];
                *d = s->ins.skipped ? s->ins.skipped(&s->ins, *d) : *d;
                continue;
            }
            for (unsigned i = 0; i < s->sources; i++)
                in[i] = s->a[i].constant ? s->a[i].value : r->r[s->a[i].kind][s->a[i].number];
            s->ins.compute(&s->ins, in, out);
            for (unsigned i = 0; i < s->destinations; i++)
                r->r[s->d[i].kind][s->d[i].number] = out[i];
        }
    }
}

static void run_kernel(const struct program *p, unsigned count, unsigned flags,
                       struct registers *threads)
{
    static struct text text;
    write_text(&text, p, count);
    memcpy(threads, p->first, p->threads * sizeof *threads);
    kn_set_cpu_mask(flags);
    if (run_text(text.at, p->threads, threads, p->threads * sizeof *threads)) {
        fprintf(stderr, "the kernel does not run:\n%s", text.at);
        abort();
    }
}

// What a kernel should compute: the reference's results, or those of plain C.
static void expect(const struct program *p, unsigned count, struct registers *threads)
{
    if (p->approximate)
        run_kernel(p, count, 0, threads);
    else
        run_reference(p, count, threads);
}

static bool find_difference(const struct program *p, const struct registers *a,
                            const struct registers *b, unsigned *thread, unsigned *at)
{
    for (*thread = 0; *thread < p->threads; (*thread)++)
        for (*at = 0; *at < KINDS * EACH; (*at)++)
            if (a[*thread].r[*at / EACH][*at % EACH] != b[*thread].r[*at / EACH][*at % EACH])
                return true;
    return false;
}

// Reports the first step whose results differ. Runs longer and longer parts of the program.
static void report(const struct program *p, uint64_t number, unsigned flags)
{
    static struct registers expected[THREADS_MOST], before[THREADS_MOST], got[THREADS_MOST];
    static struct text text;
    unsigned thread, at, count = 0;
    do {
        memcpy(before, count ? expected : p->first, sizeof before);
        expect(p, ++count, expected);
        run_kernel(p, count, flags, got);
    } while (!find_difference(p, expected, got, &thread, &at) && count < p->count);
    const struct step *s = &p->steps[count - 1];
    text.used = 0;
    add_step(&text, s);
    printf("program %llu, %s, thread %u: after step %u, %s"
           "  %s%u is 0x%llx, expected 0x%llx; before it:",
           (unsigned long long)number, kn_cpu_name(flags), thread, count, text.at,
           prefixes[at / EACH], at % EACH, (unsigned long long)got[thread].r[at / EACH][at % EACH],
           (unsigned long long)expected[thread].r[at / EACH][at % EACH]);
    for (unsigned i = 0; i < s->sources; i++)
        if (!s->a[i].constant)
            printf(" %s%u 0x%llx", prefixes[s->a[i].kind], s->a[i].number,
                   (unsigned long long)before[thread].r[s->a[i].kind][s->a[i].number]);
    write_text(&text, p, count);
    printf("\n%s\n", text.at);
}

static bool check(uint64_t number, const unsigned *sets, unsigned set_count)
{
    static struct program p;
    static struct registers expected[THREADS_MOST], got[THREADS_MOST];
    unsigned thread, at;
    draw_program(&p, number);
    expect(&p, p.count, expected);
    for (unsigned i = 0; i < set_count; i++) {
        run_kernel(&p, p.count, sets[i], got);
        if (find_difference(&p, expected, got, &thread, &at)) {
            report(&p, number, sets[i]);
            return false;
        }
    }
    return true;
}

int main(int count, char **arguments)
{
    enum { FAILURES_MOST = 5 };
    const uint64_t programs = count > 1 ? strtoull(arguments[1], NULL, 0) : 6000;
    const uint64_t first = count > 2 ? strtoull(arguments[2], NULL, 0) : 0;
    const unsigned best = kn_cpu_flags();
    const unsigned sets[SETS_MOST] = {0, best & KN_CPU_AVX2, best};
    unsigned set_count = 1, failures = 0;
    while (set_count < SETS_MOST && sets[set_count] != sets[set_count - 1])
        set_count++;
    dm_guard_init();
    for (uint64_t n = first; n < first + programs && failures < FAILURES_MOST; n++)
        failures += !check(n, sets, set_count);
    return failures != 0;
}
