// SPDX-License-Identifier: MIT
// Matrix instructions with random operands (matrix_inputs.h), and the elements that wmma.load puts
// into each register.
#include <inttypes.h>

#include "matrix_inputs.h"
#include "record.h"

enum { TEXT_B = 1 << 15, SHOWN = 4 };

static char text[TEXT_B];
static size_t length;

__attribute__((format(printf, 1, 2))) static void add(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    length += (size_t)vsnprintf(text + length, TEXT_B - length, format, list);
    va_end(list);
}

static void add_list(char letter, int count)
{
    for (int i = 0; i < count; i++)
        add("%s%%%c%d", i ? ", " : "{", letter, i);
    add("}");
}

static void begin(const char *registers)
{
    length = 0;
    add(".version 8.7\n.target sm_90\n.address_size 64\n"
        ".visible .entry k(.param .u64 in, .param .u64 out)\n{\n"
        ".reg .%s %%a<16>, %%b<16>, %%c<16>, %%d<16>;\n"
        ".reg .b32 %%e, %%l, %%t;\n.reg .b64 %%i, %%o, %%q;\n"
        "ld.param.u64 %%i, [in];\nld.param.u64 %%o, [out];\n"
        "mov.u32 %%l, %%laneid;\nmov.u32 %%t, %%ctaid.x;\n",
        registers);
}

static int word_of(const struct instruction *t)
{
    return t->a_type == F64 ? 8 : 4;
}

static int words_of(const struct instruction *t)
{
    return t->a + t->b + t->c + (t->metadata != DENSE);
}

static void add_loads(char letter, int count, int first, const char *registers, int word)
{
    for (int i = 0; i < count; i++)
        add("ld.global.%s %%%c%d, [%%i+%d];\n", registers, letter, i, (first + i) * LANES * word);
}

static void write_product(const struct instruction *t)
{
    const int word = word_of(t);
    const char *registers = word == 8 ? "b64" : "b32";
    begin(registers);
    add("mul.wide.u32 %%q, %%l, %d;\nadd.u64 %%i, %%i, %%q;\nadd.u64 %%o, %%o, %%q;\n", word);
    add("mul.wide.u32 %%q, %%t, %d;\nadd.u64 %%i, %%i, %%q;\n", words_of(t) * LANES * word);
    add("mul.wide.u32 %%q, %%t, %d;\nadd.u64 %%o, %%o, %%q;\n", t->c * LANES * word);
    add_loads('a', t->a, 0, registers, word);
    add_loads('b', t->b, t->a, registers, word);
    add_loads('c', t->c, t->a + t->b, registers, word);
    if (t->metadata)
        add("ld.global.b32 %%e, [%%i+%d];\n", (t->a + t->b + t->c) * LANES * word);
    add("%s ", t->text);
    add_list('d', t->c);
    add(", ");
    add_list('a', t->a);
    add(", ");
    add_list('b', t->b);
    add(", ");
    add_list('c', t->c);
    if (t->metadata)
        add(", %%e, %d", t->selector);
    add(";\n");
    for (int i = 0; i < t->c; i++)
        add("st.global.%s [%%o+%d], %%d%d;\n", registers, i * LANES * word, i);
    add("ret;\n}\n");
}

// Runs the kernel in `text`, with blocks of one warp.
static CUresult run(int blocks, const void *in, size_t in_B, void *out, size_t out_B)
{
    CUmodule m;
    CUfunction f;
    CUdeviceptr from, to;
    CUresult r = cuModuleLoadData(&m, text);
    if (r)
        return r;
    NEED(cuMemAlloc(&from, in_B));
    NEED(cuMemAlloc(&to, out_B));
    NEED(cuMemcpyHtoD(from, in, in_B));
    r = cuModuleGetFunction(&f, m, "k");
    void *arguments[] = {&from, &to};
    if (!r)
        r = cuLaunchKernel(f, (unsigned)blocks, 1, 1, LANES, 1, 1, 0, NULL, arguments, NULL);
    if (!r)
        r = cuCtxSynchronize();
    if (!r)
        NEED(cuMemcpyDtoH(out, to, out_B));
    NEED(cuMemFree(from));
    NEED(cuMemFree(to));
    NEED(cuModuleUnload(m));
    return r;
}

static uint64_t hash(uint64_t sum, const void *bytes, size_t size_B)
{
    for (size_t i = 0; i < size_B; i++)
        sum = (sum ^ ((const unsigned char *)bytes)[i]) * UINT64_C(0x100000001b3);
    return sum;
}

// A sum for each pattern of inputs, then the first results.
static void say(const struct instruction *t, const char *out)
{
    const size_t size_B = (size_t)(t->c * LANES * word_of(t));
    for (int pattern = 0; pattern < PATTERNS; pattern++) {
        uint64_t sum = UINT64_C(0xcbf29ce484222325);
        for (int n = pattern; n < t->count; n += PATTERNS)
            sum = hash(sum, out + (size_t)n * size_B, size_B);
        SAY("%s%016" PRIx64, pattern ? " " : "", sum);
    }
    for (int i = 0; i < SHOWN; i++) {
        uint32_t word;
        memcpy(&word, out + 4 * i, sizeof word);
        SAY(" %" PRIx32, word);
    }
}

static void multiply(int index)
{
    const struct instruction *t = &instructions[index];
    const size_t word = (size_t)word_of(t), words = (size_t)words_of(t);
    const size_t in_B = (size_t)t->count * words * LANES * word;
    const size_t out_B = (size_t)(t->count * t->c) * LANES * word;
    static struct product p;
    char *in = calloc(1, in_B), *out = calloc(1, out_B), *to = in;
    for (int n = 0; n < t->count; n++) {
        draw_product(t, index, n, &p);
        for (size_t r = 0; r < words; r++)
            for (int lane = 0; lane < LANES; lane++, to += word)
                memcpy(to, &p.words[r][lane], word);
    }
    write_product(t);
    const CUresult r = run(t->count, in, in_B, out, out_B);
    if (r)
        SAY("%s", record_name(r));
    else
        say(t, out);
    free(in);
    free(out);
}

GROUP(multiplied)
{
    record_context();
    for (size_t i = 0; i < sizeof instructions / sizeof *instructions; i++)
        if (CASE("%s", instructions[i].name))
            multiply((int)i);
}

// ---- fragments ----

struct fragment {
    const char *letter, *shape, *type;
    int rows, columns, bits, registers;
};

static const struct fragment fragments[] = {
    {"a", "m16n16k16", "f16", 16, 16, 16, 8},  {"b", "m16n16k16", "f16", 16, 16, 16, 8},
    {"c", "m16n16k16", "f16", 16, 16, 16, 4},  {"c", "m16n16k16", "f32", 16, 16, 32, 8},
    {"a", "m32n8k16", "f16", 32, 16, 16, 8},   {"b", "m32n8k16", "f16", 16, 8, 16, 8},
    {"c", "m32n8k16", "f16", 32, 8, 16, 4},    {"c", "m32n8k16", "f32", 32, 8, 32, 8},
    {"a", "m8n32k16", "f16", 8, 16, 16, 8},    {"b", "m8n32k16", "f16", 16, 32, 16, 8},
    {"c", "m8n32k16", "f16", 8, 32, 16, 4},    {"c", "m8n32k16", "f32", 8, 32, 32, 8},
    {"a", "m16n16k16", "bf16", 16, 16, 16, 4}, {"b", "m16n16k16", "bf16", 16, 16, 16, 4},
    {"a", "m32n8k16", "bf16", 32, 16, 16, 8},  {"b", "m32n8k16", "bf16", 16, 8, 16, 2},
    {"a", "m8n32k16", "bf16", 8, 16, 16, 2},   {"b", "m8n32k16", "bf16", 16, 32, 16, 8},
    {"a", "m16n16k8", "tf32", 16, 8, 32, 4},   {"b", "m16n16k8", "tf32", 8, 16, 32, 4},
    {"c", "m16n16k8", "f32", 16, 16, 32, 8},   {"a", "m16n16k16", "s8", 16, 16, 8, 2},
    {"b", "m16n16k16", "s8", 16, 16, 8, 2},    {"c", "m16n16k16", "s32", 16, 16, 32, 8},
    {"a", "m32n8k16", "s8", 32, 16, 8, 4},     {"b", "m32n8k16", "s8", 16, 8, 8, 1},
    {"c", "m32n8k16", "s32", 32, 8, 32, 8},    {"a", "m8n32k16", "u8", 8, 16, 8, 1},
    {"b", "m8n32k16", "u8", 16, 32, 8, 4},     {"c", "m8n32k16", "s32", 8, 32, 32, 8},
    {"a", "m8n8k32", "s4", 8, 32, 4, 1},       {"b", "m8n8k32", "s4", 32, 8, 4, 1},
    {"c", "m8n8k32", "s32", 8, 8, 32, 2},      {"a", "m8n8k128", "b1", 8, 128, 1, 1},
    {"b", "m8n8k128", "b1", 128, 8, 1, 1},     {"c", "m8n8k128", "s32", 8, 8, 32, 2},
    {"a", "m8n8k4", "f64", 8, 4, 64, 1},       {"b", "m8n8k4", "f64", 4, 8, 64, 1},
    {"c", "m8n8k4", "f64", 8, 8, 64, 2},
};

static void write_fragment(const struct fragment *f, bool columns)
{
    const int word = f->bits == 64 ? 8 : 4;
    const char *stored = word == 8 ? "f64" : "b32";
    begin(word == 8 ? "f64" : !strcmp(f->type, "f32") ? "f32" : "b32");
    add("mul.wide.u32 %%q, %%l, %d;\nadd.u64 %%o, %%o, %%q;\n", word);
    add("wmma.load.%s.sync.aligned.%s.%s.global.%s ", f->letter, columns ? "col" : "row", f->shape,
        f->type);
    add_list('d', f->registers);
    add(", [%%i], %d;\n", columns ? f->rows : f->columns);
    for (int i = 0; i < f->registers; i++)
        add("st.global.%s [%%o+%d], %%d%d;\n", stored, i * LANES * word, i);
    add("ret;\n}\n");
}

// Elements are their own numbers; smaller ones show some bits of them in each run.
static void load(const struct fragment *f)
{
    enum { MOST_B = 16384, NUMBER_BITS = 10 };
    const int word = f->bits == 64 ? 8 : 4;
    const int runs = f->bits >= 16 ? 1 : (NUMBER_BITS + f->bits - 1) / f->bits;
    const size_t out_B = (size_t)(f->registers * LANES * word);
    uint64_t sum = UINT64_C(0xcbf29ce484222325), out[16 * LANES];
    for (int n = 0; n < runs; n++) {
        static unsigned char in[MOST_B];
        memset(in, 0, sizeof in);
        for (int e = 0; e < f->rows * f->columns; e++) {
            const int at = e * f->bits;
            const uint64_t all = (uint64_t)e >> (f->bits < 16 ? n * f->bits : 0);
            if (f->bits >= 8)
                memcpy(in + at / 8, &all, (size_t)f->bits / 8);
            else
                in[at / 8] |= (unsigned char)((all & ((1u << f->bits) - 1)) << at % 8);
        }
        const CUresult r = run(1, in, sizeof in, out, out_B);
        if (r) {
            SAY("%s", record_name(r));
            return;
        }
        sum = hash(sum, out, out_B);
    }
    SAY("%016" PRIx64, sum);
}

GROUP(loaded)
{
    record_context();
    for (size_t i = 0; i < sizeof fragments / sizeof *fragments; i++)
        for (int columns = 0; columns < 2; columns++) {
            const struct fragment *f = &fragments[i];
            if (f->bits < 8 && columns != (*f->letter == 'b'))
                continue;
            if (!CASE("%s.%s.%s.%s", f->letter, f->shape, f->type, columns ? "col" : "row"))
                continue;
            write_fragment(f, columns);
            load(f);
        }
}

int main(int argc, char **argv)
{
    RUN(multiplied);
    RUN(loaded);
    return 0;
}
