// SPDX-License-Identifier: MIT
// The host code of probes/x_runtime_k.cu, PARTs 0 to 4. See kernels_x_runtime_k.h.
#include "kernels_x_runtime_k.h"

// ---- PART 0: kernels and variables

struct big {
    unsigned w[1000];
};
typedef struct {
    float x, y, z, w;
} __attribute__((aligned(16))) vector;

KERNEL(k_nop, (void), NULL)
KERNEL(k_set, (unsigned *p, unsigned v), &p, &v)
KERNEL(k_add, (unsigned *p, unsigned v), &p, &v)
KERNEL(k_args, (char a, short b, int c, long long d, double e, vector f, unsigned *o), &a, &b, &c,
       &d, &e, &f, &o)
KERNEL(k_big, (struct big b, unsigned *o), &b, &o)
KERNEL(k_static, (unsigned *p), &p)
KERNEL(k_dynamic, (unsigned *p), &p)
KERNEL(k_bounds, (unsigned *p), &p)
KERNEL(k_local, (unsigned *p, int n), &p, &n)
KERNEL(k_ids, (unsigned *p), &p)
KERNEL(k_trap, (void), NULL)
KERNEL(k_assert, (int v), &v)
KERNEL(k_illegal, (unsigned *p), &p)
KERNEL(k_printf, (int n), &n)
KERNEL(k_malloc, (unsigned *p), &p)
KERNEL(k_vars, (unsigned *o), &o)
KERNEL(k_template_3, (unsigned *o), &o)
KERNEL(k_template_4, (unsigned *o), &o)
KERNEL(k_file, (unsigned *o), &o)
KERNEL(k_print_ret, (int *r), &r)
KERNEL(k_print_many, (int n), &n)
static unsigned d_var, d_arr[16], c_arr[4];
static double d_static;
static unsigned long long d_unused;

// In the order of the probe's numbers.
static const struct {
    const void *host;
    const char *name;
} kernels[] = {
    {k_nop, "k_nop"},
    {k_set, "k_set"},
    {k_add, "k_add"},
    {k_args, "k_args"},
    {k_big, "k_big"},
    {k_static, "k_static"},
    {k_dynamic, "k_dynamic"},
    {k_bounds, "k_bounds"},
    {k_local, "k_local"},
    {k_ids, "k_ids"},
    {k_trap, "k_trap"},
    {k_assert, "k_assert"},
    {k_illegal, "k_illegal"},
    {k_printf, "k_printf"},
    {k_malloc, "k_malloc"},
    {k_vars, "k_vars"},
    {k_template_3, "_Z10k_templateILi3EEvPj"},
    {k_template_4, "_Z10k_templateILi4EEvPj"},
    {k_file, "_Z6k_filePj"},
    {k_print_ret, "k_print_ret"},
    {k_print_many, "k_print_many"},
};
static const struct {
    void *host;
    const char *name;
    size_t size_B;
} variables[] = {
    {&d_var, "d_var", sizeof d_var},          {d_arr, "d_arr", sizeof d_arr},
    {c_arr, "c_arr", sizeof c_arr},           {&d_static, "d_static", sizeof d_static},
    {&d_unused, "d_unused", sizeof d_unused},
};
#define COUNT(list) (sizeof(list) / sizeof *(list))

const void *kernel(int i);
const void *symbol(int i);

const void *kernel(int i)
{
    return kernels[i].host;
}

const void *symbol(int i)
{
    return variables[i].host;
}

void go_nop(X_CFG);
void go_ids(X_CFG, unsigned *p);
void go_dynamic(X_CFG, unsigned *p);
void go_bounds(X_CFG, unsigned *p);
void go_vars(cudaStream_t s, unsigned *p);
void go_trap(cudaStream_t s);
void go_assert(cudaStream_t s, int v);
void go_illegal(cudaStream_t s, void *p);
void go_add(cudaStream_t s, unsigned *p, unsigned v);
void go_printf(cudaStream_t s, int b, int n);
void go_templates(unsigned *p);
void go_args(unsigned *p);
void go_big(unsigned *p);

void go_nop(X_CFG)
{
    GO(GRID, BLOCK, sh, s, k_nop());
}

void go_ids(X_CFG, unsigned *p)
{
    GO(GRID, BLOCK, sh, s, k_ids(p));
}

void go_dynamic(X_CFG, unsigned *p)
{
    GO(GRID, BLOCK, sh, s, k_dynamic(p));
}

void go_bounds(X_CFG, unsigned *p)
{
    GO(GRID, BLOCK, sh, s, k_bounds(p));
}

void go_vars(cudaStream_t s, unsigned *p)
{
    GO(ONE, ONE, 0, s, k_vars(p));
}

void go_trap(cudaStream_t s)
{
    GO(ONE, ONE, 0, s, k_trap());
}

void go_assert(cudaStream_t s, int v)
{
    GO(ONE, ONE, 0, s, k_assert(v));
}

void go_illegal(cudaStream_t s, void *p)
{
    GO(ONE, ONE, 0, s, k_illegal(p));
}

void go_add(cudaStream_t s, unsigned *p, unsigned v)
{
    GO(ONE, ONE, 0, s, k_add(p, v));
}

void go_printf(cudaStream_t s, int b, int n)
{
    GO(((dim3){(unsigned)b, 1, 1}), ONE, 0, s, k_printf(n));
}

void go_templates(unsigned *p)
{
    GO(ONE, ONE, 0, NULL, k_template_3(p));
    GO(ONE, ONE, 0, NULL, k_template_4(p + 1));
    GO(ONE, ONE, 0, NULL, k_file(p + 2));
}

void go_args(unsigned *p)
{
    GO(ONE, ONE, 0, NULL, k_args(-3, 300, 70000, 1ll << 32 | 9, 6.9, (vector){1, 2, 3, 8.2f}, p));
}

void go_big(unsigned *p)
{
    struct big b;
    for (unsigned i = 0; i < 1000; i++)
        b.w[i] = i;
    GO(ONE, ONE, 0, NULL, k_big(b, p));
}

// ---- PARTs 1 and 2: relocatable device code

KERNEL(k_rdc, (unsigned *o), &o)
KERNEL(k_rdc2, (unsigned *o), &o)
static unsigned rdc_var;

const void *rdc_kernel(void);
const void *rdc_symbol(void);
void go_rdc(unsigned *p);
void go_rdc2(unsigned *p);

const void *rdc_kernel(void)
{
    return k_rdc;
}

const void *rdc_symbol(void)
{
    return &rdc_var;
}

void go_rdc(unsigned *p)
{
    GO(ONE, ONE, 0, NULL, k_rdc(p));
}

void go_rdc2(unsigned *p)
{
    GO(ONE, ONE, 0, NULL, k_rdc2(p));
}

// ---- PART 3: --default-stream per-thread

static void k_pt(unsigned *p, unsigned v)
{
    static cudaKernel_t kernel;
    dim3 grid, block;
    size_t shared;
    cudaStream_t stream;
    if (!kernel)
        (void)__cudaGetKernel(&kernel, k_pt);
    if (!__cudaPopCallConfiguration(&grid, &block, &shared, &stream))
        (void)__cudaLaunchKernel_ptsz(kernel, grid, block, (void *[]){&p, &v}, shared, stream);
}

void pt_launch(cudaStream_t s, unsigned *p, unsigned v);
cudaError_t pt_query(cudaStream_t s);
cudaError_t pt_sync(cudaStream_t s);
cudaError_t pt_memcpy(void *d, const void *s, size_t n);
cudaError_t pt_memset(void *d, int v, size_t n);
cudaError_t pt_record(cudaEvent_t e);
unsigned long long pt_id(cudaStream_t s);
cudaError_t pt_capture(cudaStream_t s);
cudaError_t pt_end(cudaStream_t s, cudaGraph_t *g);
cudaError_t pt_kernel(cudaStream_t s, unsigned *p);

void pt_launch(cudaStream_t s, unsigned *p, unsigned v)
{
    GO(ONE, ONE, 0, s, k_pt(p, v));
}

cudaError_t pt_query(cudaStream_t s)
{
    return cudaStreamQuery_ptsz(s);
}

cudaError_t pt_sync(cudaStream_t s)
{
    return cudaStreamSynchronize_ptsz(s);
}

cudaError_t pt_memcpy(void *d, const void *s, size_t n)
{
    return cudaMemcpy_ptds(d, s, n, cudaMemcpyDefault);
}

cudaError_t pt_memset(void *d, int v, size_t n)
{
    return cudaMemsetAsync_ptsz(d, v, n, NULL);
}

cudaError_t pt_record(cudaEvent_t e)
{
    return cudaEventRecord_ptsz(e, NULL);
}

unsigned long long pt_id(cudaStream_t s)
{
    unsigned long long id = 0;
    (void)cudaStreamGetId_ptsz(s, &id);
    return id;
}

cudaError_t pt_capture(cudaStream_t s)
{
    return cudaStreamBeginCapture_ptsz(s, cudaStreamCaptureModeRelaxed);
}

cudaError_t pt_end(cudaStream_t s, cudaGraph_t *g)
{
    return cudaStreamEndCapture_ptsz(s, g);
}

cudaError_t pt_kernel(cudaStream_t s, unsigned *p)
{
    unsigned v = 31;
    return cudaLaunchKernel_ptsz(k_pt, ONE, ONE, (void *[]){&p, &v}, 0, s);
}

// ---- PART 4: clusters

KERNEL(k_coop, (unsigned *p), &p)
KERNEL(k_cluster, (unsigned *p), &p)
KERNEL(k_cluster_free, (unsigned *p), &p)

const void *kernel90(int i);
void go_cluster(X_CFG, unsigned *p);

const void *kernel90(int i)
{
    const void *const all[] = {k_coop, k_cluster, k_cluster_free};
    return all[i];
}

void go_cluster(X_CFG, unsigned *p)
{
    GO(GRID, BLOCK, sh, s, k_cluster(p));
}

// ---- registration

static void **handles[4];

static void **register_text(const char *text, struct program_wrapper *wrapper)
{
    *wrapper = program_wrapper(text);
    return __cudaRegisterFatBinary(wrapper);
}

__attribute__((constructor)) static void register_all(void)
{
    static struct program_wrapper plain, linked, per_thread, clusters;
    static void *parts[3];

    handles[0] = register_text(part_0, &plain);
    for (size_t i = 0; i < COUNT(kernels); i++)
        program_function(handles[0], kernels[i].host, kernels[i].name);
    for (size_t i = 0; i < COUNT(variables); i++)
        program_variable(handles[0], variables[i].host, variables[i].name, variables[i].size_B);

    parts[0] = program_container(part_1);
    parts[1] = program_container(part_2);
    linked = (struct program_wrapper){0x466243b1, 2, program_container(""), parts};
    handles[1] = __cudaRegisterFatBinary(&linked);
    program_function(handles[1], k_rdc, "k_rdc");
    program_function(handles[1], k_rdc2, "k_rdc2");
    program_variable(handles[1], &rdc_var, "rdc_var", sizeof rdc_var); // one unit declares it,
    program_variable(handles[1], &rdc_var, "rdc_var", sizeof rdc_var); // the other defines it

    handles[2] = register_text(part_3, &per_thread);
    program_function(handles[2], k_pt, "k_pt");

    handles[3] = register_text(part_4, &clusters);
    program_function(handles[3], k_coop, "k_coop");
    program_function(handles[3], k_cluster, "k_cluster");
    program_function(handles[3], k_cluster_free, "k_cluster_free");
    for (size_t i = 0; i < COUNT(handles); i++)
        __cudaRegisterFatBinaryEnd(handles[i]);
}

__attribute__((destructor)) static void unregister_all(void)
{
    for (size_t i = 0; i < COUNT(handles); i++)
        __cudaUnregisterFatBinary(handles[i]);
}
