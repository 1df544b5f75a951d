// SPDX-License-Identifier: MIT
// probes/x_modules.c with its kernels as functions of the host. The probe loads them as PTX text;
// the texts that other cases load have no functions here.
#include <cardless.h>
#include <pthread.h>

#include "probes/x_modules.c"

#define FUNCTION(f) ((void (*)(void))(f))

static const cardlessParam address[] = {{.type = CARDLESS_POINTER}, {.type = CARDLESS_UINT32}};

// ---- LIB ----

enum { GV, ARR, CV, HIDDEN, PTR, ONE, TR, SR };

static void lib_nothing(void)
{
}

static void lib_k1(unsigned *p)
{
    const unsigned *gv = cardlessVariable(GV), *cv = cardlessVariable(CV),
                   *hidden = cardlessVariable(HIDDEN);
    p[0] = *gv + cv[1];
    p[1] = *hidden;
}

static void lib_k2(unsigned a, unsigned *b, unsigned char c, const unsigned *s)
{
    b[0] = a;
    b[1] = c;
    b[2] = s[5];
}

static void lib_store(unsigned *p, unsigned v)
{
    *p = v;
}

static const cardlessParam k2_params[] = {{.type = CARDLESS_UINT32},
                                          {.type = CARDLESS_POINTER},
                                          {.type = CARDLESS_UINT8},
                                          {CARDLESS_BYTES, 24, 16}};
static const cardlessKernelDesc lib_kernels[] = {
    {.name = "k0", .function = lib_nothing},
    {.name = "k1", .function = FUNCTION(lib_k1), .params = address, .param_count = 1},
    {.name = "k2", .function = FUNCTION(lib_k2), .params = k2_params, .param_count = 4},
    {.name = "store", .function = FUNCTION(lib_store), .params = address, .param_count = 2},
    {.name = "kstatic", .function = lib_nothing},
    {.name = "kreq", .function = lib_nothing, .required_threads = {64, 1, 1}},
    {.name = "kmax", .function = lib_nothing, .max_threads = 128},
};
static const unsigned seven = 7, nine = 9, four[] = {1, 2, 3, 4};
static const cardlessVariableDesc lib_variables[] = {
    [GV] = {.name = "gv", .size = 4, .initial = &seven},
    [ARR] = {.name = "arr", .size = 100},
    [CV] = {.name = "cv", .size = 16, .initial = four, .flags = CARDLESS_VARIABLE_CONSTANT},
    [HIDDEN] = {.name = "hidden", .size = 4, .initial = &nine},
    [PTR] = {.name = "ptr", .size = 8, .address_of = "gv"},
    [ONE] = {.name = "one", .size = 1},
    [TR] = {.name = "tr", .flags = CARDLESS_VARIABLE_TEXTURE},
    [SR] = {.name = "sr", .flags = CARDLESS_VARIABLE_SURFACE},
};

// ---- REC and DYN ----

static unsigned rec_sum(unsigned n)
{
    return n ? n + rec_sum(n - 1) : 0;
}

static void rec_k(unsigned *p, unsigned n)
{
    *p = rec_sum(n);
}

static void rec_big(unsigned *p)
{
    volatile unsigned l[16384];
    for (unsigned i = 0; i < 16384; i++)
        l[i] = i;
    *p = l[16383];
}

static void dyn_k(unsigned *p, unsigned o)
{
    const cardlessThread *t = cardlessThisThread();
    volatile unsigned *at = (volatile unsigned *)((char *)t->dynamic_shared + o);
    *at = o;
    p[0] = *at;
    p[1] = (unsigned)t->dynamic_shared_size;
}

static void dyn_s(unsigned *p)
{
    const cardlessThread *t = cardlessThisThread();
    volatile unsigned *at = t->shared;
    at[2] = (unsigned)t->dynamic_shared_size;
    *p = at[2];
}

static const cardlessKernelDesc rec_kernels[] = {
    {.name = "k", .function = FUNCTION(rec_k), .params = address, .param_count = 2},
    {.name = "big",
     .function = FUNCTION(rec_big),
     .params = address,
     .param_count = 1,
     .local = 65536},
};
static const cardlessKernelDesc dyn_kernels[] = {
    {.name = "k", .function = FUNCTION(dyn_k), .params = address, .param_count = 2},
    {.name = "s",
     .function = FUNCTION(dyn_s),
     .params = address,
     .param_count = 1,
     .static_shared = 1024},
};

// ---- faults ----

static volatile unsigned sink;

static unsigned fault_recursion(volatile unsigned *above)
{
    volatile unsigned here[128];
    here[25] = above ? above[25] : sink;
    return fault_recursion(here) + here[25];
}

static void fault_local(unsigned *p)
{
    unsigned lm[16] = {5};
    *p = __atomic_fetch_add(lm, 1, __ATOMIC_RELAXED);
}

static void fault_break(void)
{
#if defined(__x86_64__)
    __asm__("int3");
#else
    __builtin_trap();
#endif
}

static void load_at(uint64_t address_of_word)
{
    sink = *(volatile unsigned *)(uintptr_t)address_of_word;
}

static void store_at(uint64_t address_of_word)
{
    *(volatile unsigned *)(uintptr_t)address_of_word = 1;
}

static void fault_bad(unsigned *p)
{
    const char *name = FT[ft].n;
    char *shared = cardlessThisThread()->shared;
    const uint64_t *words = (const uint64_t *)(const void *)p; // the pointers of fault_setup
    if (!strcmp(name, "load-null"))
        load_at(0);
    else if (!strcmp(name, "store-null"))
        store_at(0);
    else if (!strcmp(name, "load-unmapped"))
        load_at(0x7000000000);
    else if (!strcmp(name, "store-unmapped"))
        store_at(0x7000000000);
    else if (!strcmp(name, "atomic-unmapped"))
        __atomic_fetch_add((unsigned *)0x7000000000, 1, __ATOMIC_RELAXED);
    else if (!strcmp(name, "load-beyond-48-bits"))
        load_at(0x8000000000000000);
    else if (!strcmp(name, "load-far-past-allocation"))
        load_at((uintptr_t)p + 0x4000000000);
    else if (!strcmp(name, "shared-out-of-range"))
        load_at((uintptr_t)shared + 0x40000);
    else if (!strcmp(name, "shared-just-past-end"))
        store_at((uintptr_t)shared + 100000);
    else if (!strcmp(name, "generic-atomic-on-local"))
        fault_local(p);
    else if (!strcmp(name, "generic-store-to-const"))
        store_at((uintptr_t)cardlessVariable(0));
    else if (!strcmp(name, "trap") ||
             (!strcmp(name, "trap-by-one-thread") && cardlessThisThread()->thread.x == 17))
        __builtin_trap();
    else if (!strcmp(name, "brkpt"))
        fault_break();
    else if (!strcmp(name, "call-wild"))
        ((void (*)(void))(uintptr_t)0x123450)();
    else if (!strcmp(name, "recursion-overflow"))
        sink = fault_recursion(NULL);
    else if (!strcmp(name, "freed-memory"))
        store_at(words[17]);
}

static void fault_good(unsigned *p)
{
    *p = 7;
}

static const cardlessKernelDesc fault_kernels[] = {
    {.name = "bad",
     .function = FUNCTION(fault_bad),
     .params = address,
     .param_count = 1,
     .static_shared = 64},
    {.name = "good", .function = FUNCTION(fault_good), .params = address, .param_count = 1},
};
static const unsigned five = 5;
static const cardlessVariableDesc fault_variables[] = {
    {.name = "cc", .size = 4, .initial = &five, .flags = CARDLESS_VARIABLE_CONSTANT}};

static void fault_unmapped(void)
{
    store_at(0x7000000000);
}

static const cardlessKernelDesc created_kernels[] = {{.name = "k", .function = fault_unmapped}};

// ---- tables ----

#define TABLE(list, variable_list, variables_of)                                                   \
    {                                                                                              \
        CARDLESS_MODULE_MAGIC, CARDLESS_VERSION, sizeof list / sizeof *list, variables_of, list,   \
            variable_list                                                                          \
    }
static const cardlessModuleDesc tables[] = {
    TABLE(lib_kernels, lib_variables, sizeof lib_variables / sizeof *lib_variables),
    TABLE(rec_kernels, NULL, 0),
    TABLE(dyn_kernels, NULL, 0),
    TABLE(fault_kernels, fault_variables, 1),
};
static const cardlessModuleDesc created_table = TABLE(created_kernels, NULL, 0);

// Each group runs in a process of its own. Other groups have kernels of the name k too.
static void in_group(void)
{
    if (probe_group_name && !strcmp(probe_group_name, "fault_created_context"))
        cardlessModuleRegister(&created_table);
}

__attribute__((constructor)) static void register_kernels(void)
{
    for (unsigned i = 0; i < sizeof tables / sizeof *tables; i++)
        cardlessModuleRegister(&tables[i]);
    pthread_atfork(NULL, NULL, in_group);
}
