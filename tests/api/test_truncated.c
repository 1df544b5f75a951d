// SPDX-License-Identifier: MIT
// Imported memory that its exporter truncates later. The next access should end the context with
// CUDA_ERROR_ILLEGAL_ADDRESS and a sentence. It should not end the process, even if the thread
// blocks all signals, or if the program has replaced the driver's signal handlers.
//
// The program's own files that are too short are wrong pointers like others: the call fails, and
// the context stays usable.
#include <pthread.h>

#include "../harness.h"

enum { FILE_B = 2 << 20 };

static unsigned char host[FILE_B];

struct imported {
    int fd;
    CUexternalMemory memory;
    CUdeviceptr p;
};

static struct imported start(void)
{
    struct imported m;
    CUcontext context;
    EXPECT_OK(cuInit(0));
    EXPECT_OK(cuDevicePrimaryCtxRetain(&context, 0));
    EXPECT_OK(cuCtxSetCurrent(context));
    m.fd = memfd_create("truncated", MFD_CLOEXEC);
    EXPECT(m.fd >= 0 && !ftruncate(m.fd, FILE_B));
    CUDA_EXTERNAL_MEMORY_HANDLE_DESC desc = {
        .type = CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD, .handle.fd = dup(m.fd), .size = FILE_B};
    CUDA_EXTERNAL_MEMORY_BUFFER_DESC buffer = {.size = FILE_B};
    EXPECT_OK(cuImportExternalMemory(&m.memory, &desc));
    EXPECT_OK(cuExternalMemoryGetMappedBuffer(&m.p, m.memory, &buffer));
    EXPECT_OK(cuMemcpyDtoH(host, m.p, FILE_B));
    return m;
}

static CUarray image(const struct imported *m, CUarray_format format, unsigned channels)
{
    CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC desc = {.numLevels = 1};
    desc.arrayDesc = (CUDA_ARRAY3D_DESCRIPTOR){
        .Width = 256, .Height = 256, .Format = format, .NumChannels = channels};
    CUmipmappedArray mip;
    CUarray level;
    EXPECT_OK(cuExternalMemoryGetMappedMipmappedArray(&mip, m->memory, &desc));
    EXPECT_OK(cuMipmappedArrayGetLevel(&level, mip, 0));
    return level;
}

// The accesses to the truncated memory. Each function also runs before the truncation, with
// `before` true, for the part that needs the memory.
static CUresult copy(const struct imported *m, bool before)
{
    return before ? CUDA_SUCCESS : cuMemcpyDtoH(host, m->p, 64);
}

// A call for which the host does not wait.
static CUresult found_later(CUresult r)
{
    EXPECT_OK(r);
    return cuCtxSynchronize();
}

static CUresult fill(const struct imported *m, bool before)
{
    return before ? CUDA_SUCCESS : found_later(cuMemsetD8(m->p, 1, 64));
}

// Registers the program's own mapping of the file.
static CUresult copy_registered(const struct imported *m, bool before)
{
    static void *pages;
    static CUdeviceptr to;
    if (!before)
        return cuMemcpyHtoD(to, pages, 4096);
    EXPECT_OK(cuMemAlloc(&to, 4096));
    pages = mmap(NULL, FILE_B, PROT_READ | PROT_WRITE, MAP_SHARED, m->fd, 0);
    return cuMemHostRegister(pages, FILE_B, 0);
}

static CUresult copy_array(const struct imported *m, bool before)
{
    static CUarray array;
    if (before)
        array = image(m, CU_AD_FORMAT_UNSIGNED_INT8, 4);
    return before ? CUDA_SUCCESS : cuMemcpyAtoH(host, array, 0, 64);
}

static CUresult copy_plane(const struct imported *m, bool before)
{
    static CUarray plane;
    if (before)
        EXPECT_OK(cuArrayGetPlane(&plane, image(m, CU_AD_FORMAT_NV12, 3), 0));
    return before ? CUDA_SUCCESS : cuMemcpyAtoH(host, plane, 0, 64);
}

static CUresult write_word(const struct imported *m, bool before)
{
    CUresult r = before ? CUDA_SUCCESS : cuStreamWriteValue32(CU_STREAM_LEGACY, m->p, 1, 0);
    return r ? r : cuCtxSynchronize();
}

// The wait has started before the word disappears.
static CUresult wait_for_word(const struct imported *m, bool before)
{
    static CUstream stream;
    if (!before)
        return cuStreamSynchronize(stream);
    EXPECT_OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    return cuStreamWaitValue32(stream, m->p, 1, CU_STREAM_WAIT_VALUE_EQ);
}

static CUresult copy_rows(const struct imported *m, bool before)
{
    CUDA_MEMCPY2D c = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                       .srcDevice = m->p,
                       .srcPitch = 4096,
                       .dstMemoryType = CU_MEMORYTYPE_HOST,
                       .dstHost = host,
                       .dstPitch = 64,
                       .WidthInBytes = 64,
                       .Height = 16};
    return before ? CUDA_SUCCESS : cuMemcpy2D(&c);
}

static CUresult copy_batch(const struct imported *m, bool before)
{
    static CUdeviceptr to;
    CUdeviceptr from = m->p;
    size_t size = 4096, index = 0;
    CUmemcpyAttributes attributes = {.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM};
    CUstream stream;
    if (before)
        return cuMemAlloc(&to, size);
    EXPECT_OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    CUresult r = cuMemcpyBatchAsync(&to, &from, &size, 1, &attributes, &index, 1, stream);
    return r ? r : cuStreamSynchronize(stream);
}

// A copy between two tiled arrays.
static CUresult copy_between_arrays(const struct imported *m, bool before)
{
    static CUarray from, to;
    CUDA_ARRAY_DESCRIPTOR desc = {
        .Width = 256, .Height = 256, .Format = CU_AD_FORMAT_UNSIGNED_INT8, .NumChannels = 4};
    CUDA_MEMCPY3D c = {.srcMemoryType = CU_MEMORYTYPE_ARRAY,
                       .srcArray = from,
                       .dstMemoryType = CU_MEMORYTYPE_ARRAY,
                       .dstArray = to,
                       .WidthInBytes = 1000,
                       .Height = 200,
                       .Depth = 1};
    if (!before)
        return found_later(cuMemcpy3D(&c));
    from = image(m, CU_AD_FORMAT_UNSIGNED_INT8, 4);
    return cuArrayCreate(&to, &desc);
}

// Two adjacent mappings. The header of the second one's memory says that this driver exported it,
// but the file is not sealed.
static CUresult fill_across(const struct imported *m, bool before)
{
    enum { GRANULE = 2 << 20, HEADER_B = 4096 };
    static CUdeviceptr both;
    static int forged;
    static char header[HEADER_B];
    (void)m;
    if (!before)
        return ftruncate(forged, 0) ? CUDA_ERROR_UNKNOWN
                                    : found_later(cuMemsetD8(both, 1, 2 * GRANULE));
    CUmemAllocationProp prop = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0},
                                .requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR};
    CUmemAccessDesc access = {prop.location, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    CUmemGenericAllocationHandle first, second;
    int export;
    EXPECT_OK(cuMemCreate(&first, GRANULE, &prop, 0));
    EXPECT_OK(
        cuMemExportToShareableHandle(&export, first, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    EXPECT_EQ(pread(export, header, sizeof header, 0), HEADER_B);
    forged = memfd_create("forged", MFD_CLOEXEC);
    EXPECT(!ftruncate(forged, GRANULE + HEADER_B));
    EXPECT_EQ(pwrite(forged, header, sizeof header, 0), HEADER_B);
    EXPECT_OK(cuMemImportFromShareableHandle(&second, (void *)(intptr_t)forged,
                                             CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
    EXPECT_OK(cuMemAddressReserve(&both, 2 * GRANULE, 0, 0, 0));
    EXPECT_OK(cuMemMap(both, GRANULE, 0, first, 0));
    EXPECT_OK(cuMemMap(both + GRANULE, GRANULE, 0, second, 0));
    EXPECT_OK(cuMemSetAccess(both, 2 * GRANULE, &access, 1));
    return cuMemsetD8(both, 0, 2 * GRANULE);
}

typedef CUresult touch_fn(const struct imported *, bool);
static touch_fn *const touches[] = {copy,        copy_registered, fill,         copy_array,
                                    copy_plane,  copy_rows,       copy_batch,   copy_between_arrays,
                                    fill_across, write_word,      wait_for_word};

static void own_handler(int signal)
{
    (void)signal;
    _exit(9);
}

enum thread_kind { PLAIN, BLOCKED, OWN_HANDLERS };

struct touch {
    touch_fn *touch;
    enum thread_kind kind;
};

static void *touch_in_thread(void *argument)
{
    const struct touch *t = argument;
    struct imported m = start();
    EXPECT_OK(t->touch(&m, true));
    sigset_t all;
    sigfillset(&all);
    if (t->kind == BLOCKED)
        pthread_sigmask(SIG_BLOCK, &all, NULL);
    if (t->kind == OWN_HANDLERS)
        signal(SIGBUS, own_handler), signal(SIGSEGV, own_handler);
    EXPECT(!ftruncate(m.fd, 0));
    EXPECT_ERROR(t->touch(&m, false), CUDA_ERROR_ILLEGAL_ADDRESS);
    EXPECT_ERROR(cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
    return NULL;
}

// Each case runs in a process of its own, because one error ends the context and the handlers
// stay.
static void touch_all(enum thread_kind kind)
{
    for (unsigned i = 0; i < sizeof touches / sizeof *touches; i++) {
        fflush(stdout);
        pid_t child = fork();
        if (!child) {
            struct touch t = {touches[i], kind};
            pthread_t thread;
            EXPECT_EQ(pthread_create(&thread, NULL, touch_in_thread, &t), 0);
            pthread_join(thread, NULL);
            fflush(stdout);
            _exit(test_failures != 0);
        }
        int status;
        waitpid(child, &status, 0);
        if (status)
            printf("# touch %u ends with status %#x\n", i, status);
        EXPECT_EQ(status, 0);
    }
}

TEST(plain)
{
    touch_all(PLAIN);
}

TEST(blocked_signals)
{
    touch_all(BLOCKED);
}

TEST(own_handlers)
{
    touch_all(OWN_HANDLERS);
}

// ---- the program's own memory ----

enum { OWN_B = 1 << 20, KEPT_B = 4096 };

struct own {
    char *bytes; // a file of OWN_B bytes, of which KEPT_B are left
    CUdeviceptr device;
    CUstream stream;
    CUarray array;
};

typedef CUresult own_fn(const struct own *);

static CUresult own_read(const struct own *o)
{
    return cuMemcpyHtoD(o->device, o->bytes + KEPT_B, 64);
}

static CUresult own_written(const struct own *o)
{
    return cuMemcpyDtoH(o->bytes + KEPT_B, o->device, 64);
}

static CUresult own_large(const struct own *o)
{
    return cuMemcpyHtoD(o->device, o->bytes, OWN_B);
}

static CUresult own_async(const struct own *o)
{
    return cuMemcpyHtoDAsync(o->device, o->bytes + KEPT_B, 64, o->stream);
}

static void *release_soon(void *word)
{
    usleep(20000);
    atomic_store((atomic_uint *)word, 1);
    return NULL;
}

// Has to wait, so its bytes would be staged. They cannot be, so the call waits.
static CUresult own_staged(const struct own *o)
{
    pthread_t thread;
    EXPECT_EQ(pthread_create(&thread, NULL, release_soon, test_hold(o->stream)), 0);
    const CUresult r = cuMemcpyHtoDAsync(o->device, o->bytes + KEPT_B, 64, o->stream);
    pthread_join(thread, NULL);
    EXPECT_OK(cuStreamSynchronize(o->stream));
    return r;
}

static CUresult own_rows(const struct own *o)
{
    CUDA_MEMCPY2D c = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                       .srcHost = o->bytes + KEPT_B,
                       .srcPitch = 256,
                       .dstMemoryType = CU_MEMORYTYPE_ARRAY,
                       .dstArray = o->array,
                       .WidthInBytes = 256,
                       .Height = 64};
    return cuMemcpy2D(&c);
}

static own_fn *const own_copies[] = {own_read,  own_written, own_large,
                                     own_async, own_staged,  own_rows};

static struct own own_start(bool is_registered)
{
    struct own o;
    CUDA_ARRAY_DESCRIPTOR desc = {
        .Width = 64, .Height = 64, .Format = CU_AD_FORMAT_UNSIGNED_INT8, .NumChannels = 4};
    const int fd = memfd_create("own", MFD_CLOEXEC);
    test_context();
    EXPECT_OK(cuMemAlloc(&o.device, OWN_B));
    EXPECT_OK(cuArrayCreate(&o.array, &desc));
    EXPECT_OK(cuStreamCreate(&o.stream, CU_STREAM_NON_BLOCKING));
    EXPECT(fd >= 0 && !ftruncate(fd, OWN_B));
    o.bytes = mmap(NULL, OWN_B, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    EXPECT(o.bytes != MAP_FAILED);
    if (is_registered)
        EXPECT_OK(cuMemHostRegister(o.bytes, OWN_B, 0));
    EXPECT(!ftruncate(fd, KEPT_B));
    close(fd);
    return o;
}

TEST(own_file)
{
    const struct own o = own_start(false);
    for (unsigned i = 0; i < sizeof own_copies / sizeof *own_copies; i++) {
        EXPECT_MESSAGE(own_copies[i](&o), CUDA_ERROR_INVALID_VALUE,
                       "the host pointer is not valid");
        EXPECT(strstr(test_last_line(), "beyond the end of its file"));
        EXPECT_OK(cuCtxSynchronize());
    }
}

// The driver has promised that the device can use registered memory.
TEST(own_registered_filled)
{
    const struct own o = own_start(true);
    const CUdeviceptr bytes = (CUdeviceptr)(uintptr_t)o.bytes;
    EXPECT_MESSAGE(cuMemsetD8(bytes + KEPT_B, 1, 64), CUDA_ERROR_ILLEGAL_ADDRESS,
                   "truncated this registered memory");
    EXPECT_ERROR(cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
}

TEST(own_registered_copied)
{
    const struct own o = own_start(true);
    EXPECT_MESSAGE(own_read(&o), CUDA_ERROR_ILLEGAL_ADDRESS, "truncated this registered memory");
    EXPECT_ERROR(cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
}

TESTS(CASE(own_file), CASE(own_registered_filled), CASE(own_registered_copied), CASE(plain),
      CASE(blocked_signals), CASE(own_handlers))
