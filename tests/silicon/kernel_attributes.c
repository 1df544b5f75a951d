// SPDX-License-Identifier: MIT
// Attributes of a kernel and of its function: a change of one, as seen by the other.
#include "record.h"

static const char ptx[] = ".version 7.5\n.target sm_75\n.address_size 64\n"
                          ".visible .entry k()\n{\n    ret;\n}\n";
enum { UNSET = -777 };

static CUkernel kernel;
static CUfunction function;

static void prepare(void)
{
    CUlibrary library;
    record_context();
    NEED(cuLibraryLoadData(&library, ptx, NULL, NULL, 0, NULL, NULL, 0));
    NEED(cuLibraryGetKernel(&kernel, library, "k"));
    NEED(cuKernelGetFunction(&function, kernel));
}

static void show(CUfunction_attribute a)
{
    int of_kernel = UNSET, of_function = UNSET, blocks = UNSET;
    CUresult k = cuKernelGetAttribute(&of_kernel, a, kernel, 0);
    CUresult f = cuFuncGetAttribute(&of_function, a, function);
    CUresult o = cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function, 32, 65536);
    SAY(" [kernel %s %d function %s %d occupancy %s %d]", record_brief(k), of_kernel,
        record_brief(f), of_function, record_brief(o), blocks);
}

GROUP(shared)
{
    static const int values[] = {2, -2, 0, 100, 65536, 1};
    prepare();
    for (int a = CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES; a < CU_FUNC_ATTRIBUTE_MAX; a++) {
        for (unsigned i = 0; i < sizeof values / sizeof *values; i++) {
            const CUfunction_attribute at = (CUfunction_attribute)a;
            if (CASE("kernel-%d-%d", a, values[i])) {
                SAY("%s", record_brief(cuKernelSetAttribute(at, values[i], kernel, 0)));
                show(at);
            }
            if (CASE("function-%d-%d", a, values[i])) {
                SAY("%s", record_brief(cuFuncSetAttribute(function, at, values[i])));
                show(at);
            }
        }
    }
}

int main(int argc, char **argv)
{
    RUN(shared);
    return 0;
}
