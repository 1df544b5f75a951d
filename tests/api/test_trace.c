// SPDX-License-Identifier: MIT
// The trace of calls that do their work: outputs, handles, lists, unions. The names of all fields
// are tested by tests/entry_points/trace.py.
#include "../harness.h"

static const char *path;
static char line[8192];

static CUcontext traced_context(void)
{
    path = test_new_file("trace");
    test_setting("CARDLESS_TRACE", path);
    return test_context();
}

// The last line of the trace.
static const char *last(void)
{
    FILE *file = fopen(path, "r");
    *line = 0;
    while (file && fgets(line, sizeof line, file))
        continue;
    if (file)
        fclose(file);
    return line;
}

#define EXPECT_IN_LINE(text)                                                                       \
    do {                                                                                           \
        if (!strstr(last(), text)) {                                                               \
            test_failed(__FILE__, __LINE__);                                                       \
            printf("no \"%s\" in: %s", text, line);                                                \
        }                                                                                          \
    } while (0)

TEST(outputs)
{
    char want[64];
    CUdeviceptr p = 0;
    int value;
    traced_context();
    MUST(cuMemAlloc(&p, 4096));
    snprintf(want, sizeof want, "bytesize=4096) = CUDA_SUCCESS; *dptr=%#llx\n", p);
    EXPECT_IN_LINE(want);
    MUST(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_WARP_SIZE, 0));
    EXPECT_IN_LINE("attrib=CU_DEVICE_ATTRIBUTE_WARP_SIZE, dev=0) = CUDA_SUCCESS; *pi=32\n");
    // A failing call prints no output, except those that it writes.
    CUdeviceptr none;
    EXPECT_ERROR(cuMemAlloc(&none, 0), CUDA_ERROR_INVALID_VALUE);
    EXPECT_IN_LINE("bytesize=0) = CUDA_ERROR_INVALID_VALUE\n");
    CUdriverProcAddressQueryResult status = 7;
    void *function;
    cuGetProcAddress("cuNothing", &function, 13000, 0, &status);
    EXPECT_IN_LINE("symbol=\"cuNothing\"");
    EXPECT_IN_LINE("*symbolStatus=CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND");
    // An output that the call also reads is printed with both values.
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    MUST(cuThreadExchangeStreamCaptureMode(&mode));
    EXPECT_IN_LINE("(mode=CU_STREAM_CAPTURE_MODE_RELAXED) = CUDA_SUCCESS; "
                   "*mode=CU_STREAM_CAPTURE_MODE_GLOBAL\n");
    // The type of a value that another argument selects.
    CUmemorytype type;
    MUST(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, p));
    EXPECT_IN_LINE("*data=CU_MEMORYTYPE_DEVICE\n");
    CUdeviceptr start;
    MUST(cuPointerGetAttribute(&start, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, p + 5));
    snprintf(want, sizeof want, "*data=%#llx\n", p);
    EXPECT_IN_LINE(want);
}

TEST(handles)
{
    CUarray array;
    CUDA_ARRAY3D_DESCRIPTOR d = {.Width = 64,
                                 .Height = 32,
                                 .Depth = 6,
                                 .Format = CU_AD_FORMAT_HALF,
                                 .NumChannels = 2,
                                 .Flags = CUDA_ARRAY3D_CUBEMAP | CUDA_ARRAY3D_LAYERED | 0x4000};
    traced_context();
    cuArray3DCreate(&array, &d);
    EXPECT_IN_LINE("pAllocateArray={Width=64, Height=32, Depth=6, Format=CU_AD_FORMAT_HALF, "
                   "NumChannels=2, Flags=CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_CUBEMAP | 0x4000})");
    d = (CUDA_ARRAY3D_DESCRIPTOR){.Width = 8, .Format = CU_AD_FORMAT_FLOAT, .NumChannels = 1};
    MUST(cuArray3DCreate(&array, &d));
    EXPECT_IN_LINE("*pHandle=CUarray #1\n");
    MUST(cuArrayDestroy(array));
    EXPECT_IN_LINE("(hArray=CUarray #1) = CUDA_SUCCESS\n");
    EXPECT_ERROR(cuArrayDestroy(array), CUDA_ERROR_INVALID_HANDLE);
    EXPECT_IN_LINE("(hArray=CUarray #1 (destroyed)) = CUDA_ERROR_INVALID_HANDLE\n");
    MUST(cuStreamSynchronize(CU_STREAM_PER_THREAD));
    EXPECT_IN_LINE("(hStream=CU_STREAM_PER_THREAD)");
    MUST(cuStreamSynchronize(NULL));
    EXPECT_IN_LINE("(hStream=NULL)");
    EXPECT_ERROR(cuStreamSynchronize((CUstream)(uintptr_t)0x1230), CUDA_ERROR_INVALID_HANDLE);
    EXPECT_IN_LINE("(hStream=0x1230)");
}

TEST(unions)
{
    CUexternalMemory memory;
    CUDA_EXTERNAL_MEMORY_HANDLE_DESC d = {
        .type = CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD, .handle.fd = 1000, .size = 4096};
    traced_context();
    cuImportExternalMemory(&memory, &d);
    EXPECT_IN_LINE("type=CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD, handle={fd=1000}, size=4096");
    d.type = CU_EXTERNAL_MEMORY_HANDLE_TYPE_D3D12_HEAP;
    d.handle.win32.handle = (void *)8;
    d.handle.win32.name = NULL;
    d.reserved[3] = 9; // reserved words are printed if one is not 0
    cuImportExternalMemory(&memory, &d);
    EXPECT_IN_LINE("handle={win32={handle=0x8, name=NULL}}");
    EXPECT_IN_LINE("reserved=[0, 0, 0, 9, 0");
    d.type = (CUexternalMemoryHandleType)77; // no member is selected
    cuImportExternalMemory(&memory, &d);
    EXPECT_IN_LINE("type=77, handle={…}");
}

TEST(lists)
{
    enum { COUNT = 1000 };
    static CUstreamBatchMemOpParams operations[COUNT];
    CUstream stream;
    CUdeviceptr p;
    traced_context();
    MUST(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    EXPECT_IN_LINE("Flags=CU_STREAM_NON_BLOCKING");
    MUST(cuMemAlloc(&p, 4096));
    for (int i = 0; i < COUNT; i++) {
        operations[i].writeValue.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
        operations[i].writeValue.address = p;
    }
    EXPECT_ERROR(cuStreamBatchMemOp(stream, COUNT, operations, 0), CUDA_ERROR_INVALID_VALUE);
    EXPECT_IN_LINE("paramArray=[{writeValue={operation=CU_STREAM_MEM_OP_WRITE_VALUE_32");
    EXPECT_IN_LINE(", … 1000 in all]");
}

static volatile sig_atomic_t pipe_signals;

static void count_signal(int number)
{
    (void)number;
    pipe_signals++;
}

// The reader of a trace or of diagnostics may end first. The program runs on, and its own handling
// of SIGPIPE, here the default or a handler, stays as it is.
static void reader_gone(const char *setting, const char *prefix, void (*handler)(int))
{
    int ends[2];
    char value[64];
    sigset_t mask;
    struct sigaction action;
    signal(SIGPIPE, handler);
    EXPECT_EQ(pipe(ends), 0);
    snprintf(value, sizeof value, "%s/dev/fd/%d", prefix, ends[1]);
    test_setting(setting, value);
    test_context();
    close(ends[0]);
    EXPECT_ERROR(cuMemAlloc(NULL, 1), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuMemAlloc(NULL, 1), CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(pipe_signals, 0);
    EXPECT_EQ(sigaction(SIGPIPE, NULL, &action), 0);
    EXPECT_EQ(action.sa_handler == handler, 1);
    EXPECT_EQ(sigprocmask(SIG_SETMASK, NULL, &mask), 0);
    EXPECT_EQ(sigismember(&mask, SIGPIPE), 0);
    EXPECT_EQ(sigpending(&mask), 0);
    EXPECT_EQ(sigismember(&mask, SIGPIPE), 0);
}

TEST(reader_gone)
{
    reader_gone("CARDLESS_TRACE", "", SIG_DFL);
}

TEST(reader_gone_with_handler)
{
    reader_gone("CARDLESS_TRACE", "", count_signal);
}

TEST(diagnostics_reader_gone)
{
    reader_gone("CARDLESS_DIAGNOSTICS", "json:", SIG_DFL);
}

// The type of a value decides which of several constants with the same prefix names it.
TEST(handle_types)
{
    CUmemAllocationProp prop = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}};
    CUmemGenericAllocationHandle h;
    traced_context();
    MUST(cuMemCreate(&h, 2 << 20, &prop, 0));
    EXPECT_IN_LINE("requestedHandleTypes=CU_MEM_HANDLE_TYPE_NONE,");
    MUST(cuMemRelease(h));
    prop.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    MUST(cuMemCreate(&h, 2 << 20, &prop, 0));
    EXPECT_IN_LINE("requestedHandleTypes=CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,");
}

TESTS(CASE(handle_types), CASE(reader_gone), CASE(reader_gone_with_handler),
      CASE(diagnostics_reader_gone), CASE(outputs), CASE(handles), CASE(unions), CASE(lists))
