// SPDX-License-Identifier: MIT
// Approximate functions of constants, which NVIDIA's compiler may compute itself, beside those of
// values that it cannot know. A line has the results for some constants, and a hash of all.
#include "draw.h"
#include "record.h"

enum { CONSTANTS = 256, SHOWN = 24, THREADS = 32, TEXT_B = 1 << 16 };

static const char *const functions[] = {
    "sin.approx.f32",  "sin.approx.ftz.f32",  "cos.approx.f32",   "cos.approx.ftz.f32",
    "ex2.approx.f32",  "ex2.approx.ftz.f32",  "lg2.approx.f32",   "lg2.approx.ftz.f32",
    "rcp.approx.f32",  "rcp.approx.ftz.f32",  "rsqrt.approx.f32", "rsqrt.approx.ftz.f32",
    "sqrt.approx.f32", "sqrt.approx.ftz.f32", "tanh.approx.f32",  "rcp.rn.f32",
    "sqrt.rn.f32",     "rcp.rn.ftz.f32",      "sqrt.rn.ftz.f32",
};
static const char *const divisions[] = {"div.approx.f32",   "div.approx.ftz.f32", "div.full.f32",
                                        "div.full.ftz.f32", "div.rn.f32",         "div.rn.ftz.f32"};
// D: the result, C: a constant, R: a register.
static const char *const places[] = {"D,R,C", "D,C,R", "D,C,C"};

static CUdeviceptr memory;
static uint32_t constants[CONSTANTS], values[THREADS];

static uint32_t draw_float(void)
{
    static const uint32_t special[] = {0,          0x80000000, 0x7f800000, 0xff800000, 0x7fc00000,
                                       0x3f800000, 0xbf800000, 1,          0x007fffff, 0x00800000,
                                       0x7f7fffff, 0x40490fdb, 0x3f000000, 0x40000000, 0x7e800000};
    if (chance(15))
        return PICK(special);
    if (chance(50)) // near 1
        return ((uint32_t)draw() & 0x80ffffff) | (0x3e000000 + ((uint32_t)draw() & 0x01000000));
    return (uint32_t)draw();
}

static uint64_t add_hash(uint64_t sum, uint32_t word)
{
    return (sum ^ word) * UINT64_C(0x100000001b3);
}

// Runs `text`, whose thread t stores its results at words t, t + THREADS and so on.
static void run(const char *text, unsigned count)
{
    static uint32_t out[CONSTANTS * THREADS];
    CUmodule module;
    CUfunction function;
    void *arguments[] = {&memory};
    CUresult r = cuModuleLoadData(&module, text);
    if (r) {
        SAY("%s", record_name(r));
        return;
    }
    NEED(cuModuleGetFunction(&function, module, "k"));
    NEED(cuMemcpyHtoD(memory, values, sizeof values));
    NEED(cuLaunchKernel(function, 1, 1, 1, THREADS, 1, 1, 0, NULL, arguments, NULL));
    NEED(cuMemcpyDtoH(out, memory, (size_t)count * THREADS * 4));
    uint64_t sum = UINT64_C(0xcbf29ce484222325);
    for (unsigned i = 0; i < count * THREADS; i++)
        sum = add_hash(sum, out[i]);
    SAY("%016llx", (unsigned long long)sum);
    for (unsigned i = 0; i < SHOWN; i++)
        SAY(" %x", out[i * THREADS + i % THREADS]);
    cuModuleUnload(module);
}

static char text[TEXT_B];
static size_t used;

__attribute__((format(printf, 1, 2))) static void add(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    used += (size_t)vsnprintf(text + used, sizeof text - used, format, arguments);
    va_end(arguments);
}

static void begin(void)
{
    used = 0;
    add(".version 8.8\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n"
        ".reg .b64 %%p, %%x;\n.reg .b32 %%t, %%r, %%c, %%d;\nld.param.u64 %%p, [p];\n"
        "mov.u32 %%t, %%tid.x;\nmad.wide.u32 %%p, %%t, 4, %%p;\nld.global.b32 %%r, [%%p];\n");
}

static void end(void)
{
    add("ret;\n}\n");
}

static void add_store(unsigned i)
{
    add("st.global.b32 [%%p+%u], %%d;\n", i * THREADS * 4);
}

// An operand: the constant itself, in a register, or loaded.
static const char *const kinds[] = {"immediate", "moved", "unknown"};

GROUP(functions)
{
    record_context();
    NEED(cuMemAlloc(&memory, sizeof(uint32_t) * CONSTANTS * THREADS));
    for (unsigned f = 0; f < sizeof functions / sizeof *functions; f++)
        for (unsigned kind = 0; kind < 3; kind++) {
            if (!CASE("%s-%s", functions[f], kinds[kind]))
                continue;
            draw_seed(340000);
            for (int i = 0; i < CONSTANTS; i++)
                constants[i] = draw_float();
            begin();
            for (unsigned i = 0; i < CONSTANTS; i++) {
                if (kind == 0)
                    add("%s %%d, 0f%08X;\n", functions[f], constants[i]);
                if (kind == 1)
                    add("mov.b32 %%c, 0f%08X;\n%s %%d, %%c;\n", constants[i], functions[f]);
                if (kind == 2) // the loaded word is 0
                    add("xor.b32 %%c, %%r, 0x%x;\n%s %%d, %%c;\n", constants[i], functions[f]);
                add_store(i);
            }
            end();
            memset(values, 0, sizeof values);
            run(text, CONSTANTS);
        }
}

static void add_division(const char *division, const char *place, uint32_t constant, unsigned kind)
{
    char c[32];
    snprintf(c, sizeof c, kind == 0 ? "0f%08X" : "%%c", constant);
    if (kind == 1)
        add("mov.b32 %%c, 0f%08X;\n", constant);
    add("%s ", division);
    for (const char *p = place; *p; p++)
        if (*p == 'C')
            add("%s", c);
        else
            add("%s", *p == 'D' ? "%d" : *p == 'R' ? "%r" : ",");
    add(";\n");
}

GROUP(divisions)
{
    record_context();
    NEED(cuMemAlloc(&memory, sizeof(uint32_t) * CONSTANTS * THREADS));
    for (unsigned f = 0; f < sizeof divisions / sizeof *divisions; f++)
        for (unsigned p = 0; p < 3; p++)
            for (unsigned kind = 0; kind < 2; kind++) {
                if (!CASE("%s-%s-%s", divisions[f], places[p], kinds[kind]))
                    continue;
                draw_seed(350000);
                for (int i = 0; i < CONSTANTS; i++)
                    constants[i] = draw_float();
                for (int i = 0; i < THREADS; i++)
                    values[i] = draw_float();
                begin();
                for (unsigned i = 0; i < CONSTANTS; i++) {
                    add_division(divisions[f], places[p], constants[i], kind);
                    add_store(i);
                }
                end();
                run(text, CONSTANTS);
            }
}

int main(int argc, char **argv)
{
    RUN(functions);
    RUN(divisions);
    return 0;
}
