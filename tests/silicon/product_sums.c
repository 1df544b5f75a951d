// SPDX-License-Identifier: MIT
// Which sums and differences NVIDIA's compiler joins with the product that they read, for each type
// of floating-point number. A line has the results of 256 threads, as three hashes.
#include "record.h"

enum { THREADS = 256, VALUES = 8, INPUTS = 6, OUTPUTS = 3 };

static const struct {
    const char *name;
    int bits;
    uint64_t least, most; // of random numbers
} types[] = {
    {"f32", 32, 0x3f000000, 0x40ffffff}, {"f64", 64, 0x3fe0000000000000, 0x401fffffffffffff},
    {"f16", 16, 0x3800, 0x47ff},         {"bf16", 16, 0x3f00, 0x40ff},
    {"f16x2", 32, 0x3800, 0x47ff},       {"bf16x2", 32, 0x3f00, 0x40ff},
};

// Statements without types. %a to %f are inputs, and %d to %f outputs too.
static const char *const bodies[] = {
    "mul %p,%a,%b; add %d,%p,%c;",
    "mul %p,%a,%b; add %d,%c,%p;",
    "mul %p,%a,%b; sub %d,%p,%c;",
    "mul %p,%a,%b; sub %d,%c,%p;",
    "mul %p,%a,%b; add %d,%p,%c; add %e,%p,%a;",
    "mul %p,%a,%b; add %d,%p,%c; sub %e,%b,%p;",
    "mul %p,%a,%b; add %d,%p,%c; sub %e,%p,%b;",
    "mul %p,%a,%b; sub %d,%c,%p; sub %e,%b,%p;",
    "mul %p,%a,%b; sub %d,%p,%c; sub %e,%p,%b;",
    "mul %p,%a,%b; sub %d,%p,%c; sub %e,%b,%p;",
    "mul %p,%a,%b; add %d,%p,%c; mov %e,%p;",
    "mul %p,%a,%b; add %d,%p,%c; mul %e,%p,%c;",
    "mul %p,%a,%b; add %d,%p,%p;",
    "mul %p,%a,%b; mul %q,%b,%c; add %d,%p,%q;",
    "mul %p,%a,%b; mul %q,%b,%c; add %d,%q,%p;",
    "mul %p,%a,%b; mul %q,%b,%c; sub %d,%p,%q;",
    "mul %p,%a,%b; mul %q,%b,%c; sub %d,%q,%p;",
    "mul %p,%a,%b; neg %p,%p; add %d,%p,%c;",
    "mul %p,%a,%b; neg %q,%p; sub %d,%c,%q;",
    "mul %p,%a,%b; abs %q,%p; add %d,%q,%c;",
    "neg %q,%a; mul %p,%q,%b; add %d,%p,%c;",
    "mul %p,%a,%b; neg %q,%c; add %d,%p,%q;",
    "mul %p,%a,%b; add %d,%p,%c; add %e,%p,%c;",
    "mul %p,%a,%b; add %d,%p,%c; add %e,%p,%a; sub %f,%p,%b;",
    "mul %p,%a,%b; add %d,%p,%c; fma %e,%p,%a,%b;",
    "mul %p,%a,%b; add %d,%p,%c; add %e,%p,%p;",
    "mul %p,%a,%b; add %d,%p,%c; mul %e,%p,%a; add %f,%e,%c;",
    "mul %p,%a,%b; mov %q,%p; add %d,%q,%c;",
    "mul %p,%a,%b; mov %q,%p; add %d,%q,%c; add %e,%p,%c;",
    "mul %p,%a,%b; add %d,%p,%c; neg %e,%p;",
    "mul %p,%a,%b; max %d,%p,%c; add %e,%p,%c;",
    "mul %p,%a,%b; mov %a,%c; add %d,%p,%c; add %e,%p,%b;",
    "mul %p,%a,%b; mov %a,%c; sub %d,%p,%c; mov %e,%a;",
    "mul %p,%a,%b; add %d,%p,%c; mul %p,%d,%b; add %e,%p,%a;",
};

static CUdeviceptr memory;

// Appends a statement with its type. Returns where the next one begins.
static const char *append(char *text, const char *statement, unsigned type)
{
    char root[8];
    const int length = (int)strcspn(statement, " ");
    const char *end = strchr(statement, ';') + 1;
    snprintf(root, sizeof root, "%.*s", length, statement);
    text += strlen(text);
    if (!strcmp(root, "mov"))
        text += sprintf(text, "mov.b%d", types[type].bits);
    else
        text += sprintf(text, "%s.%s", strcmp(root, "fma") ? root : "fma.rn", types[type].name);
    sprintf(text, "%.*s\n", (int)(end - statement) - length, statement + length);
    return *end ? end + 1 : NULL;
}

static void write_text(char *text, unsigned type, const char *body)
{
    const int bits = types[type].bits;
    text += sprintf(text,
                    ".version 8.0\n.target sm_90\n.address_size 64\n"
                    ".visible .entry k(.param .u64 memory)\n{\n"
                    ".reg .b%d %%a, %%b, %%c, %%d, %%e, %%f, %%p, %%q;\n"
                    ".reg .b64 %%x, %%y;\n.reg .b32 %%t;\n"
                    "ld.param.u64 %%x, [memory];\nmov.u32 %%t, %%tid.x;\n"
                    "mul.wide.u32 %%y, %%t, %d;\nadd.u64 %%x, %%x, %%y;\n",
                    bits, 8 * VALUES);
    for (int i = 0; i < INPUTS; i++)
        text += sprintf(text, "ld.global.b%d %%%c, [%%x+%d];\n", bits, 'a' + i, 8 * i);
    while (body)
        body = append(text, body, type);
    text += strlen(text);
    for (int i = INPUTS - OUTPUTS; i < INPUTS; i++)
        text += sprintf(text, "st.global.b%d [%%x+%d], %%%c;\n", bits, 8 * i, 'a' + i);
    sprintf(text, "ret;\n}\n");
}

static uint64_t draw(uint64_t *state, unsigned type)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    const uint64_t word = *state ^ *state >> 29;
    return types[type].least + word % (types[type].most - types[type].least + 1);
}

static uint64_t hash(const uint64_t *values, unsigned type)
{
    uint64_t h = 1;
    for (unsigned i = 0; i < THREADS; i++) {
        h = (h ^ (values[i * VALUES] & UINT64_MAX >> (64 - types[type].bits))) *
            UINT64_C(0x9e3779b97f4a7c15);
        h ^= h >> 31;
    }
    return h & UINT32_MAX;
}

static void run(unsigned type, const char *body)
{
    static uint64_t values[THREADS * VALUES];
    char text[8192];
    CUmodule module;
    CUfunction kernel;
    uint64_t state = type;
    for (unsigned i = 0; i < THREADS * VALUES; i++) {
        values[i] = draw(&state, type);
        if (strstr(types[type].name, "x2"))
            values[i] |= draw(&state, type) << 16;
    }
    write_text(text, type, body);
    const CUresult code = cuModuleLoadData(&module, text);
    if (code) {
        SAY("%s", record_name(code));
        return;
    }
    cuModuleGetFunction(&kernel, module, "k");
    cuMemcpyHtoD(memory, values, sizeof values);
    cuLaunchKernel(kernel, 1, 1, 1, THREADS, 1, 1, 0, NULL, (void *[]){&memory}, NULL);
    cuMemcpyDtoH(values, memory, sizeof values);
    for (unsigned i = INPUTS - OUTPUTS; i < INPUTS; i++)
        SAY(" %08x", (unsigned)hash(values + i, type));
    cuModuleUnload(module);
}

GROUP(sums)
{
    record_context();
    cuMemAlloc(&memory, sizeof(uint64_t) * THREADS * VALUES);
    for (unsigned type = 0; type < sizeof types / sizeof *types; type++)
        for (unsigned i = 0; i < sizeof bodies / sizeof *bodies; i++)
            if (CASE("%s %s", types[type].name, bodies[i]))
                run(type, bodies[i]);
}

int main(int argc, char **argv)
{
    RUN(sums);
    return 0;
}
