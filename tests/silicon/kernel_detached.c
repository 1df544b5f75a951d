// SPDX-License-Identifier: MIT
// Attributes of a kernel and of its functions: which one a change of the other reaches, and which
// one a launch obeys.
#include "record.h"

static const char ptx[] = ".version 7.5\n.target sm_75\n.address_size 64\n"
                          ".visible .entry k()\n{\n    ret;\n}\n";
#define SHARED CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
enum { UNSET = -777 };

static const struct {
    CUfunction_attribute attribute;
    int values[3]; // that can be set
} settable[] = {
    {SHARED, {60000, 100, 70000}},
    {CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, {50, 10, 0}},
    {CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH, {2, 4, 1}},
    {CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, {1, 0, 5}},
    {CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE, {1, 2, 0}},
};
enum { SETTABLE = sizeof settable / sizeof *settable };

static CUcontext first, second;
static CUlibrary library;
static CUkernel kernel;
static CUfunction function, other;

// A library that no case has used before, and its kernel as a function of two contexts.
static void fresh(void)
{
    if (library)
        cuLibraryUnload(library);
    NEED(cuLibraryLoadData(&library, ptx, NULL, NULL, 0, NULL, NULL, 0));
    NEED(cuLibraryGetKernel(&kernel, library, "k"));
    NEED(cuCtxSetCurrent(second));
    NEED(cuKernelGetFunction(&other, kernel));
    NEED(cuCtxSetCurrent(first));
    NEED(cuKernelGetFunction(&function, kernel));
}

static void prepare(void)
{
    record_context();
    NEED(cuCtxGetCurrent(&first));
    NEED(cuCtxCreate(&second, NULL, 0, 0));
}

static void show(CUfunction_attribute a)
{
    int of_kernel = UNSET, of_function = UNSET, of_other = UNSET, of_handle = UNSET;
    CUresult k = cuKernelGetAttribute(&of_kernel, a, kernel, 0);
    CUresult f = cuFuncGetAttribute(&of_function, a, function);
    CUresult o = cuFuncGetAttribute(&of_other, a, other);
    CUresult h = cuFuncGetAttribute(&of_handle, a, (CUfunction)kernel);
    SAY(" [kernel %s %d function %s %d other %s %d handle %s %d]", record_brief(k), of_kernel,
        record_brief(f), of_function, record_brief(o), of_other, record_brief(h), of_handle);
}

static CUresult set(int what, CUfunction_attribute a, int value)
{
    switch (what) {
    case 0:
        return cuKernelSetAttribute(a, value, kernel, 0);
    case 1:
        return cuFuncSetAttribute(function, a, value);
    case 2:
        return cuFuncSetAttribute(other, a, value);
    default:
        return cuFuncSetAttribute((CUfunction)kernel, a, value);
    }
}

// Sets an attribute of two of the four, the first one also a second time.
GROUP(detached)
{
    prepare();
    for (int i = 0; i < SETTABLE; i++) {
        const CUfunction_attribute a = settable[i].attribute;
        for (int one = 0; one < 4; one++) {
            for (int two = 0; two < 4; two++) {
                if (!CASE("set-%d-%d-%d", (int)a, one, two))
                    continue;
                fresh();
                show(a);
                SAY(" %s", record_brief(set(one, a, settable[i].values[0])));
                show(a);
                SAY(" %s", record_brief(set(two, a, settable[i].values[1])));
                show(a);
                SAY(" %s", record_brief(set(one, a, settable[i].values[2])));
                show(a);
            }
        }
    }
}

static void launch(void)
{
    CUresult f = cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 65000, NULL, NULL, NULL);
    CUresult h = cuLaunchKernel((CUfunction)kernel, 1, 1, 1, 32, 1, 1, 65000, NULL, NULL, NULL);
    int of_function = UNSET, of_handle = UNSET;
    cuOccupancyMaxActiveBlocksPerMultiprocessor(&of_function, function, 32, 65000);
    cuOccupancyMaxActiveBlocksPerMultiprocessor(&of_handle, (CUfunction)kernel, 32, 65000);
    NEED(cuCtxSetCurrent(second));
    CUresult o = cuLaunchKernel(other, 1, 1, 1, 32, 1, 1, 65000, NULL, NULL, NULL);
    NEED(cuCtxSetCurrent(first));
    SAY(" [function %s %d handle %s %d other %s]", record_brief(f), of_function, record_brief(h),
        of_handle, record_brief(o));
}

// Launches with more shared memory than the default after the attribute was set by two of the four.
GROUP(launches)
{
    static const int values[] = {70000, 100};
    prepare();
    for (int one = 0; one < 4; one++) {
        for (int two = 0; two < 4; two++) {
            for (int v = 0; v < 4; v++) {
                if (!CASE("launch-%d-%d-%d", one, two, v))
                    continue;
                fresh();
                launch();
                SAY(" %s", record_brief(set(one, SHARED, values[v % 2])));
                launch();
                SAY(" %s", record_brief(set(two, SHARED, values[v / 2])));
                launch();
            }
        }
    }
}

// Before a context has the function.
GROUP(late)
{
    prepare();
    for (int i = 0; i < SETTABLE; i++) {
        const CUfunction_attribute a = settable[i].attribute;
        for (int what = 0; what < 4; what += 3) {
            if (!CASE("before-%d-%d", (int)a, what))
                continue;
            if (library)
                cuLibraryUnload(library);
            NEED(cuLibraryLoadData(&library, ptx, NULL, NULL, 0, NULL, NULL, 0));
            NEED(cuLibraryGetKernel(&kernel, library, "k"));
            SAY("%s", record_brief(set(what, a, settable[i].values[0])));
            NEED(cuCtxSetCurrent(second));
            NEED(cuKernelGetFunction(&other, kernel));
            NEED(cuCtxSetCurrent(first));
            NEED(cuKernelGetFunction(&function, kernel));
            show(a);
            SAY(" %s", record_brief(set(what, a, settable[i].values[1])));
            show(a);
        }
    }
}

int main(int argc, char **argv)
{
    RUN(detached);
    RUN(launches);
    RUN(late);
    return 0;
}
