// SPDX-License-Identifier: MIT
// The kernels and launchers of x_runtime_k.c. One file compiled six times: PART 0 the kernels, 1
// and 2 relocatable device code that calls across, 3 with --default-stream per-thread, 4 what needs
// compute_90, 5 a library to open and close.
#include <cuda_runtime.h>
#include <cassert>
#include <cstdio>
#define C extern "C"
#define X_CFG int gx, int gy, int gz, int bx, int by, int bz, size_t sh, cudaStream_t s
#define L_CFG <<<dim3(gx, gy, gz), dim3(bx, by, bz), sh, s>>>
#if PART == 0
struct big {
    unsigned w[1000];
};
C __global__ void k_nop()
{
}
C __global__ void k_set(unsigned *p, unsigned v)
{
    *p = v;
}
C __global__ void k_add(unsigned *p, unsigned v)
{
    atomicAdd(p, v);
}
C __global__ void k_args(char a, short b, int c, long long d, double e, float4 f, unsigned *o)
{
    o[0] = a;
    o[1] = b;
    o[2] = c;
    o[3] = (unsigned)d;
    o[4] = (unsigned)e;
    o[5] = (unsigned)f.w;
}
C __global__ void k_big(big b, unsigned *o)
{
    unsigned s = 0;
    for (int i = 0; i < 1000; i++)
        s += b.w[i];
    *o = s;
}
C __global__ void k_static(unsigned *p)
{
    __shared__ unsigned s[1000];
    s[threadIdx.x] = threadIdx.x;
    __syncthreads();
    p[threadIdx.x] = s[blockDim.x - 1 - threadIdx.x];
}
C __global__ void k_dynamic(unsigned *p)
{
    extern __shared__ unsigned d[];
    d[threadIdx.x] = threadIdx.x + 1;
    __syncthreads();
    p[threadIdx.x] = d[blockDim.x - 1 - threadIdx.x];
}
C __global__ void __launch_bounds__(128, 2) k_bounds(unsigned *p)
{
    p[threadIdx.x] = 1;
}
C __global__ void k_local(unsigned *p, int n)
{
    unsigned a[256];
    for (int i = 0; i < 256; i++)
        a[i] = i * n;
    unsigned s = 0;
    for (int i = 0; i < n; i++)
        s += a[(i * 7) & 255];
    *p = s;
}
C __global__ void k_ids(unsigned *p)
{
    unsigned i = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x,
             t = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    atomicAdd(p, 1);
    atomicMax(p + 1, i);
    atomicMax(p + 2, t);
}
C __global__ void k_trap()
{
    __trap();
}
C __global__ void k_assert(int v)
{
    assert(v == 12345);
}
C __global__ void k_illegal(unsigned *p)
{
    *p = 1;
}
C __global__ void k_printf(int n)
{
    for (int i = 0; i < n; i++)
        printf("line %d of block %d: %s %5.2f %x %c%%\n", i, blockIdx.x, "text", 1.5, 255, 'z');
}
C __global__ void k_print_ret(int *r)
{
    r[0] = printf("no arguments\n");
    r[1] = printf("%d %d\n", 1, 2);
    r[2] = printf("%s\n", (char *)0);
}
C __global__ void k_malloc(unsigned *p)
{
    void *q = malloc(64);
    p[0] = q != 0;
    free(q);
    q = malloc(1ull << 40);
    p[1] = q != 0;
}
C __global__ void k_print_many(int n)
{
    for (int i = 0; i < n; i++)
        printf("%d\n", i);
}
__device__ unsigned d_var = 5;
__device__ unsigned d_arr[16];
__constant__ unsigned c_arr[4] = {1, 2, 3, 4};
static __device__ double d_static = 2.5;
__device__ unsigned long long d_unused = 7;
C __global__ void k_vars(unsigned *o)
{
    o[0] = d_var;
    o[1] = d_arr[3];
    o[2] = c_arr[2];
    o[3] = (unsigned)d_static;
    d_var++;
}
template <int N> __global__ void k_template(unsigned *o)
{
    *o = N;
}
static __global__ void k_file(unsigned *o)
{
    *o = 77;
}
C const void *symbol(int i)
{
    static const void *s[] = {&d_var, &d_arr, &c_arr, &d_static, &d_unused};
    return s[i];
}
C const void *kernel(int i)
{
    static const void *s[] = {(void *)k_nop,     (void *)k_set,         (void *)k_add,
                              (void *)k_args,    (void *)k_big,         (void *)k_static,
                              (void *)k_dynamic, (void *)k_bounds,      (void *)k_local,
                              (void *)k_ids,     (void *)k_trap,        (void *)k_assert,
                              (void *)k_illegal, (void *)k_printf,      (void *)k_malloc,
                              (void *)k_vars,    (void *)k_template<3>, (void *)k_template<4>,
                              (void *)k_file,    (void *)k_print_ret,   (void *)k_print_many};
    return s[i];
}
C void go_nop(X_CFG)
{
    k_nop L_CFG();
}
C void go_ids(X_CFG, unsigned *p)
{
    k_ids L_CFG(p);
}
C void go_dynamic(X_CFG, unsigned *p)
{
    k_dynamic L_CFG(p);
}
C void go_bounds(X_CFG, unsigned *p)
{
    k_bounds L_CFG(p);
}
C void go_vars(cudaStream_t s, unsigned *p)
{
    k_vars<<<1, 1, 0, s>>>(p);
}
C void go_trap(cudaStream_t s)
{
    k_trap<<<1, 1, 0, s>>>();
}
C void go_assert(cudaStream_t s, int v)
{
    k_assert<<<1, 1, 0, s>>>(v);
}
C void go_illegal(cudaStream_t s, void *p)
{
    k_illegal<<<1, 1, 0, s>>>((unsigned *)p);
}
C void go_add(cudaStream_t s, unsigned *p, unsigned v)
{
    k_add<<<1, 1, 0, s>>>(p, v);
}
C void go_printf(cudaStream_t s, int b, int n)
{
    k_printf<<<b, 1, 0, s>>>(n);
}
C void go_templates(unsigned *p)
{
    k_template<3><<<1, 1>>>(p);
    k_template<4><<<1, 1>>>(p + 1);
    k_file<<<1, 1>>>(p + 2);
}
C void go_args(unsigned *p)
{
    k_args<<<1, 1>>>(-3, 300, 70000, 1ll << 32 | 9, 6.9, make_float4(1, 2, 3, 8.2f), p);
}
C void go_big(unsigned *p)
{
    big b;
    for (int i = 0; i < 1000; i++)
        b.w[i] = i;
    k_big<<<1, 1>>>(b, p);
}
#elif PART == 1
extern __device__ unsigned rdc_var;
extern __device__ unsigned rdc_twice(unsigned);
__device__ unsigned (*rdc_pointer)(unsigned) = rdc_twice;
C __global__ void k_rdc(unsigned *o)
{
    o[0] = rdc_twice(21);
    o[1] = rdc_var;
    o[2] = rdc_pointer(4);
    rdc_var = 99;
}
C const void *rdc_kernel(void)
{
    return (void *)k_rdc;
}
C void go_rdc(unsigned *p)
{
    k_rdc<<<1, 1>>>(p);
}
#elif PART == 2
__device__ unsigned rdc_var = 13;
__device__ unsigned rdc_twice(unsigned v)
{
    return 2 * v;
}
C const void *rdc_symbol(void)
{
    return &rdc_var;
}
C __global__ void k_rdc2(unsigned *o)
{
    o[0] = rdc_var;
}
C void go_rdc2(unsigned *p)
{
    k_rdc2<<<1, 1>>>(p);
}
#elif PART == 3
C __global__ void k_pt(unsigned *p, unsigned v)
{
    *p = v;
}
C void pt_launch(cudaStream_t s, unsigned *p, unsigned v)
{
    k_pt<<<1, 1, 0, s>>>(p, v);
}
C cudaError_t pt_query(cudaStream_t s)
{
    return cudaStreamQuery(s);
}
C cudaError_t pt_sync(cudaStream_t s)
{
    return cudaStreamSynchronize(s);
}
C cudaError_t pt_memcpy(void *d, const void *s, size_t n)
{
    return cudaMemcpy(d, s, n, cudaMemcpyDefault);
}
C cudaError_t pt_memset(void *d, int v, size_t n)
{
    return cudaMemsetAsync(d, v, n, 0);
}
C cudaError_t pt_record(cudaEvent_t e)
{
    return cudaEventRecord(e, 0);
}
C unsigned long long pt_id(cudaStream_t s)
{
    unsigned long long i = 0;
    cudaStreamGetId(s, &i);
    return i;
}
C cudaError_t pt_capture(cudaStream_t s)
{
    return cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed);
}
C cudaError_t pt_end(cudaStream_t s, cudaGraph_t *g)
{
    return cudaStreamEndCapture(s, g);
}
C cudaError_t pt_kernel(cudaStream_t s, unsigned *p)
{
    unsigned v = 31;
    void *a[] = {&p, &v};
    return cudaLaunchKernel((void *)k_pt, dim3(1), dim3(1), a, 0, s);
}
#elif PART == 4
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
C __global__ void k_coop(unsigned *p)
{
    cg::this_grid().sync();
    atomicAdd(p, 1);
}
C __global__ void __cluster_dims__(2, 1, 1) k_cluster(unsigned *p)
{
    atomicAdd(p, 1);
}
C __global__ void k_cluster_free(unsigned *p)
{
    cg::this_cluster().sync();
    unsigned n = cg::this_cluster().num_blocks();
    atomicMax(p, n);
}
C const void *kernel90(int i)
{
    static const void *s[] = {(void *)k_coop, (void *)k_cluster, (void *)k_cluster_free};
    return s[i];
}
C void go_cluster(X_CFG, unsigned *p)
{
    k_cluster L_CFG(p);
}
#elif PART == 5
__device__ unsigned so_var = 3;
__constant__ unsigned so_const = 11;
C __global__ void k_so(unsigned *o)
{
    o[0] = so_var++;
    o[1] = so_const;
}
C const void *so_symbol(void)
{
    return &so_var;
}
C const void *so_kernel(void)
{
    return (void *)k_so;
}
C void so_go(unsigned *p)
{
    k_so<<<1, 1>>>(p);
}
#endif
