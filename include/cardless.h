/* SPDX-License-Identifier: MIT */
/*
 * Functions that Cardless has beyond the CUDA driver API: a virtual graphics API, semaphores to
 * import, and kernels that are functions of the host. Tests, examples and fuzzers use them to
 * exercise interoperability on machines without OpenGL, without Vulkan and without a display.
 *
 * Its objects are buffers and textures. Its work is a list of commands: cardlessWrite…,
 * cardlessFill… and cardlessCopy… append a command and return at once. Each command gets the next
 * tick of the API's clock, and commands run in the order of their ticks, as late as the API allows:
 * when cardlessFinish, cardlessQuery or a cardlessRead… asks for it, or when CUDA maps a resource.
 * Because all work runs inside calls and there is no thread, the order between graphics and CUDA is
 * visible, and it is the same in every run.
 *
 * A program maps these objects into CUDA as it maps OpenGL's. It calls cardlessRegisterBuffer or
 * cardlessRegisterTexture instead of cuGraphicsGLRegisterBuffer or cuGraphicsGLRegisterImage, then
 * cuGraphicsMapResources and the rest of the manual's chapter "Graphics Interoperability". CUDA
 * accesses the object's own bytes: nothing is copied. A command that is issued after
 * cuGraphicsUnmapResources waits for the CUDA work before it in its stream.
 *
 * A program can make mistakes here at which a real API may crash: issue commands on a mapped
 * object, destroy it, or resize it. Each mistake is reported (diagnostics G07, G13, G14) and then
 * carried out.
 *
 * Cardless's libcuda.so.1 exports these functions, and no other libcuda does. Link with it, or look
 * the functions up, so that the same program runs on a real card too:
 *
 *     __typeof__(&cardlessBufferCreate) create = CARDLESS_LOOKUP(cardlessBufferCreate);
 *     if (!create)
 *         return SKIP; // a real driver
 *
 * Rules for all functions:
 * - They return a CUresult: CUDA_ERROR_NOT_INITIALIZED if cuInit has not been called;
 *   CUDA_ERROR_INVALID_HANDLE if the object does not exist or was destroyed;
 *   CUDA_ERROR_INVALID_VALUE if a pointer is NULL, if a range or box is outside the object, or if
 *   an extent or format does not exist; CUDA_ERROR_OUT_OF_MEMORY if the host is out of memory.
 * - If a call fails, it changes nothing.
 * - Only registering needs a current context.
 * - They may be called from any thread.
 * - Offsets and sizes of buffers are in bytes; positions and extents of textures in texels.
 */
#ifndef CARDLESS_H
#define CARDLESS_H

#include <cuda.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Grows when something is added. The meaning of existing functions does not change. */
#define CARDLESS_VERSION 10

/* The address of a function of this header, or NULL if the process has another libcuda. Needs
 * <dlfcn.h>. */
#ifdef __cplusplus
#define CARDLESS_LOOKUP(function) ((decltype(&function))dlsym(RTLD_DEFAULT, #function))
#else
#define CARDLESS_LOOKUP(function) ((__typeof__(&function))dlsym(RTLD_DEFAULT, #function))
#endif

/* Writes the CARDLESS_VERSION of the library. Does not need cuInit. */
CUresult cardlessGetVersion(unsigned *version);

/* ---- objects ---- */

typedef struct cardlessBuffer_st *cardlessBuffer;
typedef struct cardlessTexture_st *cardlessTexture;

/* Creates a buffer of `size` bytes, which are zero. Returns CUDA_ERROR_INVALID_VALUE if `size` is
 * 0. The buffer lives until cardlessBufferDestroy. If it is registered, its bytes live until it is
 * unregistered. */
CUresult cardlessBufferCreate(cardlessBuffer *buffer, size_t size);

/* Gives the buffer new storage of another size, all zero, as glBufferData does. CUDA keeps the old
 * storage of a registered buffer, and the next map of it reports G14. */
CUresult cardlessBufferResize(cardlessBuffer buffer, size_t size);

/* Destroys the buffer after the commands that were issued before. If it is mapped, the call reports
 * G13, and CUDA keeps the bytes until the buffer is unregistered. */
CUresult cardlessBufferDestroy(cardlessBuffer buffer);

typedef enum cardlessTextureKind_enum {
    CARDLESS_TEXTURE_1D = 1,       /* width */
    CARDLESS_TEXTURE_2D = 2,       /* width, height */
    CARDLESS_TEXTURE_3D = 3,       /* width, height, depth */
    CARDLESS_TEXTURE_1D_ARRAY = 4, /* width, layers */
    CARDLESS_TEXTURE_2D_ARRAY = 5, /* width, height, layers */
    CARDLESS_TEXTURE_CUBE = 6      /* width = height; six faces: +x -x +y -y +z -z */
} cardlessTextureKind;

/* The shape of a texture. Extents are in texels of level 0; those that the kind does not have are
 * 0. Level l has the extents max(1, extent >> l). */
typedef struct cardlessTextureDesc_st {
    cardlessTextureKind kind;
    unsigned width, height, depth; /* at most 16384 each */
    unsigned layers;               /* of arrays; at most 2048 */
    unsigned levels;               /* 1 up to 1 + floor(log2(largest extent)) */
    CUarray_format format;         /* CU_AD_FORMAT_{UN,}SIGNED_INT{8,16,32}, _HALF, _FLOAT */
    unsigned channels;             /* 1, 2 or 4 */
} cardlessTextureDesc;

/* Creates a texture of this shape, whose texels are zero. It lives until cardlessTextureDestroy. If
 * it is registered, its texels live until it is unregistered. */
CUresult cardlessTextureCreate(cardlessTexture *texture, const cardlessTextureDesc *desc);

/* Gives the texture new storage of another shape, all zero. CUDA keeps the old storage of a
 * registered texture, and the next map of it reports G14. */
CUresult cardlessTextureResize(cardlessTexture texture, const cardlessTextureDesc *desc);

/* Destroys the texture after the commands that were issued before. If it is mapped, the call
 * reports G13, and CUDA keeps the texels until the texture is unregistered. */
CUresult cardlessTextureDestroy(cardlessTexture texture);

/* ---- commands ---- */

/* A part of one level, in texels; z is the slice, layer or face. Extents that the texture does not
 * have are 1. If the box is NULL, the command applies to the whole level. */
typedef struct cardlessBox_st {
    unsigned x, y, z, width, height, depth;
} cardlessBox;

/* Writes `size` bytes at `offset`. The program may reuse its memory at once, because the call
 * copies the bytes. This and the other calls that copy bytes of the program take host memory only,
 * not device memory. */
CUresult cardlessWriteBuffer(cardlessBuffer buffer, size_t offset, size_t size, const void *bytes);

/* Writes a box of one level. In memory the texels of a box follow each other without gaps: x
 * fastest, then y, then z. The program may reuse its memory at once, because the call
 * copies them. */
CUresult cardlessWriteTexture(cardlessTexture texture, unsigned level, const cardlessBox *box,
                              const void *texels);

/* Sets `size` bytes at `offset` to one value. */
CUresult cardlessFillBuffer(cardlessBuffer buffer, size_t offset, size_t size, unsigned char value);

/* Sets every texel of a box to `texel`, one element of the texture's format. It stands for a draw
 * call whose target is the texture. */
CUresult cardlessFillTexture(cardlessTexture texture, unsigned level, const cardlessBox *box,
                             const void *texel);

/* Copies bytes between two buffers, or within one: then all bytes are read before any is written.
 */
CUresult cardlessCopyBuffer(cardlessBuffer to, size_t to_offset, cardlessBuffer from,
                            size_t from_offset, size_t size);

/* Copies a box to the position (to_x, to_y, to_z) of a texture whose elements have the same size.
 * Within one level of one texture the two boxes must not overlap. */
CUresult cardlessCopyTexture(cardlessTexture to, unsigned to_level, unsigned to_x, unsigned to_y,
                             unsigned to_z, cardlessTexture from, unsigned from_level,
                             const cardlessBox *box);

/* Issues a read, runs all commands up to it, and returns when the bytes are there. Waits for CUDA
 * work as cardlessFinish does, with the same errors. */
CUresult cardlessReadBuffer(cardlessBuffer buffer, size_t offset, size_t size, void *bytes);

/* The same for a box of a texture; the texels are laid out as for cardlessWriteTexture. */
CUresult cardlessReadTexture(cardlessTexture texture, unsigned level, const cardlessBox *box,
                             void *texels);

/* Runs all commands issued so far, and waits for the CUDA work that they depend on.
 * Returns CUDA_ERROR_NOT_PERMITTED if there is CUDA work to wait for and the call is made inside a
 * host function (manual: cuLaunchHostFunc). */
CUresult cardlessFinish(void);

/* Runs the commands that can run now. Returns CUDA_ERROR_NOT_READY if commands wait for
 * CUDA work. */
CUresult cardlessQuery(void);

/* Writes the tick of the last command issued and of the last one that has run; ticks begin with 1.
 * Either pointer may be NULL. */
CUresult cardlessGetClock(uint64_t *issued, uint64_t *done);

/* ---- interoperability (manual: "Graphics Interoperability") ---- */

/* Registers a buffer in the current context, as cuGraphicsGLRegisterBuffer does. `flags`:
 * CU_GRAPHICS_REGISTER_FLAGS_NONE, _READ_ONLY or _WRITE_DISCARD. The registration ends with
 * cuGraphicsUnregisterResource; an object may be registered more than once. */
CUresult cardlessRegisterBuffer(CUgraphicsResource *resource, cardlessBuffer buffer,
                                unsigned flags);

/* Registers a texture, as cuGraphicsGLRegisterImage does. `flags`:
 * CU_GRAPHICS_REGISTER_FLAGS_*, combined. CUDA shows a one-dimensional texture as an array of
 * Height 0, and each layer of a 1D array as such an array. */
CUresult cardlessRegisterTexture(CUgraphicsResource *resource, cardlessTexture texture,
                                 unsigned flags);

/* ---- EGL streams (manual: "EGL Interoperability") ---- */

/* Creates a stream for cuEGLStreamConsumerConnect and cuEGLStreamProducerConnect, for programs
 * whose EGL has no streams (Mesa lacks EGL_KHR_stream). Pass `*stream` to those calls as
 * EGLStreamKHR; EGL itself does not know it. `fifo` is the number of frames that wait in the
 * stream, at most 1024. 0 makes a mailbox, in which a new frame replaces one that was not acquired.
 * Both ends are in this process, in one context or in two. */
CUresult cardlessStreamCreate(void **stream, unsigned fifo);

/* Destroys the stream. Frames that were not acquired are lost. Connections still have to be
 * disconnected. */
CUresult cardlessStreamDestroy(void *stream);

/* ---- semaphores (manual: "External Resource Interoperability") ---- */

typedef struct cardlessSemaphore_st *cardlessSemaphore;

typedef enum cardlessSemaphoreKind_enum {
    CARDLESS_SEMAPHORE_BINARY = 1,  /* signalled or not; a wait resets it */
    CARDLESS_SEMAPHORE_TIMELINE = 2 /* a 64-bit value; a wait ends when it is high enough */
} cardlessSemaphoreKind;

/* Creates a semaphore that stands for one of another API. A timeline starts at `value`; a binary
 * semaphore starts signalled if `value` is not 0. Since CARDLESS_VERSION 2, as all functions of
 * this section. */
CUresult cardlessSemaphoreCreate(cardlessSemaphore *semaphore, cardlessSemaphoreKind kind,
                                 uint64_t value);

/* Opens a semaphore that cardlessSemaphoreExport has exported, usually in another process. The
 * descriptor stays the caller's. Returns CUDA_ERROR_INVALID_VALUE if it is something else. */
CUresult cardlessSemaphoreOpen(cardlessSemaphore *semaphore, int fd);

/* Destroys the semaphore. Exported descriptors, and semaphores imported or opened from them, stay
 * valid. */
CUresult cardlessSemaphoreDestroy(cardlessSemaphore semaphore);

/* Writes a new file descriptor for cuImportExternalSemaphore (OPAQUE_FD for a binary semaphore,
 * TIMELINE_SEMAPHORE_FD for a timeline), cardlessSemaphoreOpen, or another process. It is closed on
 * exec, and belongs to the caller. */
CUresult cardlessSemaphoreExport(cardlessSemaphore semaphore, int *fd);

/* Signals the semaphore from the host, and wakes streams and threads of all processes that wait for
 * it. Sets a timeline to `value`, also if that is lower, which reports S04; a binary semaphore
 * ignores `value`. */
CUresult cardlessSemaphoreSignal(cardlessSemaphore semaphore, uint64_t value);

/* Waits until a timeline is at least `value`, or a binary semaphore is signalled, which the wait
 * resets. Returns CUDA_ERROR_TIMEOUT if that takes longer than `timeout_ns`; UINT64_MAX means no
 * limit. */
CUresult cardlessSemaphoreWait(cardlessSemaphore semaphore, uint64_t value, uint64_t timeout_ns);

/* Writes the value of a timeline, or 1 or 0 if a binary semaphore is signalled or not. */
CUresult cardlessSemaphoreGetValue(cardlessSemaphore semaphore, uint64_t *value);

/* ---- kernels as host functions (manual: "Module Management", "Execution Control") ---- */

/* A kernel can be a C function, so that a program's launches run, and can be debugged, without
 * device code. A table describes functions and variables. There are three ways to load it:
 *
 * - cuModuleLoadData(&module, &table), and every other call that loads an image from memory: the
 *   address of a cardlessModuleDesc is an image.
 * - cuModuleLoad(&module, "kernels.so"), or the bytes of this file as an image: a shared object
 *   that exports a cardlessModuleDesc named cardlessModule.
 * - cardlessModuleRegister(&table): from then on, an image that is PTX text loads the table if both
 *   have kernels of the same names. The program that loads the text need not change.
 *
 * Since CARDLESS_VERSION 3, as everything in this section.
 *
 *     static void scale(float *data, float factor, unsigned count)
 *     {
 *         const cardlessThread *t = cardlessThisThread();
 *         unsigned i = t->block.x * t->block_size.x + t->thread.x;
 *         if (i < count)
 *             data[i] *= factor;
 *     }
 *     static const cardlessParam scale_params[] = {
 *         {CARDLESS_POINTER}, {CARDLESS_FLOAT}, {CARDLESS_UINT32}};
 *     static const cardlessKernelDesc kernels[] = {
 *         {.name = "scale", .function = (void (*)(void))scale,
 *          .params = scale_params, .param_count = 3}};
 *     const cardlessModuleDesc cardlessModule = {
 *         CARDLESS_MODULE_MAGIC, CARDLESS_VERSION, .kernels = kernels, .kernel_count = 1};
 */

/* The type of a parameter. Arguments lie in a launch's buffer as in CUDA: in their order, each
 * aligned to its size, or to `alignment`. */
typedef enum cardlessParamType_enum {
    CARDLESS_INT8 = 1,
    CARDLESS_UINT8 = 2,
    CARDLESS_INT16 = 3,
    CARDLESS_UINT16 = 4,
    CARDLESS_INT32 = 5,
    CARDLESS_UINT32 = 6,
    CARDLESS_INT64 = 7,
    CARDLESS_UINT64 = 8,
    CARDLESS_FLOAT = 9,
    CARDLESS_DOUBLE = 10,
    CARDLESS_POINTER = 11,       /* a CUdeviceptr; the function gets a T * */
    CARDLESS_CONST_POINTER = 12, /* likewise, but the kernel only reads there: a const T * */
    CARDLESS_BYTES = 13          /* a struct or an array, passed by value to the kernel: the
                                  * function gets a const T * to the launch's copy */
} cardlessParamType;

typedef struct cardlessParam_st {
    cardlessParamType type;
    /* Of CARDLESS_BYTES: the size and the alignment in bytes; the alignment is a power of two up to
     * 128.
     * Of pointers, since CARDLESS_VERSION 4: the kernel accesses only `size` bytes from the address
     * on, times the value of the parameter with the number `alignment`, which has an integer type;
     * numbers begin with 1, and 0 means once. So {CARDLESS_POINTER, 4, 3} is an array of 4-byte
     * elements, whose length is the third argument. Size 0: the kernel may access all of the memory
     * in which the address lies.
     * Of other types: 0. */
    unsigned size, alignment;
} cardlessParam;

/* Flags of a kernel. Without them, the function is called once for each thread, and threads of a
 * block run one after the other. */
#define CARDLESS_KERNEL_PER_BLOCK 1 /* call the function once for each block */
#define CARDLESS_KERNEL_BARRIERS                                                                   \
    2 /* it calls cardlessBarrier or cardlessGridBarrier: threads                                  \
       * take turns, and each has 128 KiB of stack */

/* A kernel. Members that are 0 have the defaults of the comments. */
typedef struct cardlessKernelDesc_st {
    const char *name;
    void (*function)(void); /* really a function with these parameters that returns nothing */
    const cardlessParam *params;
    unsigned param_count;
    unsigned flags;               /* CARDLESS_KERNEL_*, combined */
    unsigned static_shared;       /* bytes of shared memory that each block has anyway */
    unsigned local;               /* bytes: CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES */
    unsigned registers;           /* CU_FUNC_ATTRIBUTE_NUM_REGS; 0: 16 */
    unsigned max_threads;         /* of a block (PTX: .maxntid); 0: the device's limit */
    unsigned required_threads[3]; /* of a block (PTX: .reqntid); 0: any */
    unsigned required_cluster[3]; /* in blocks (PTX: .reqnctapercluster); 0: any */
} cardlessKernelDesc;

#define CARDLESS_VARIABLE_CONSTANT 1 /* counts as constant memory in function attributes */
#define CARDLESS_VARIABLE_TEXTURE                                                                  \
    2                               /* a texture reference, which cuModuleGetTexRef finds; it has  \
                                     * no memory. Since CARDLESS_VERSION 4 */
#define CARDLESS_VARIABLE_SURFACE 4 /* likewise, a surface reference (cuModuleGetSurfRef) */

/* A variable in device memory, which cuModuleGetGlobal finds. Each module that loads the table has
 * its own. */
typedef struct cardlessVariableDesc_st {
    const char *name;
    size_t size;            /* in bytes */
    const void *initial;    /* `size` bytes; NULL: zero */
    const char *address_of; /* or a variable whose address is the initial value; `size` is 8 */
    unsigned flags;         /* CARDLESS_VARIABLE_* */
} cardlessVariableDesc;

#define CARDLESS_MODULE_MAGIC                                                                      \
    {                                                                                              \
        'C', 'A', 'R', 'D', 'L', 'E', 'S', 'S'                                                     \
    }

/* The table. It and everything that it points to must not change, and must stay valid while it is
 * registered or a module has it. Returns of calls that load it: CUDA_ERROR_INVALID_IMAGE if it
 * breaks a rule, CUDA_ERROR_NOT_SUPPORTED if the machine lacks libffi. */
typedef struct cardlessModuleDesc_st {
    char magic[8];    /* CARDLESS_MODULE_MAGIC */
    unsigned version; /* CARDLESS_VERSION */
    unsigned kernel_count, variable_count;
    const cardlessKernelDesc *kernels;
    const cardlessVariableDesc *variables;
} cardlessModuleDesc;

/* Registers a table for PTX texts whose kernels (.entry) have exactly the names of the table's. The
 * newest registration wins. Does not need cuInit, so that a constructor of a preloaded library can
 * call it. Returns CUDA_ERROR_INVALID_VALUE if the table breaks a rule or is registered already. */
CUresult cardlessModuleRegister(const cardlessModuleDesc *table);

/* Ends a registration. Modules that have been loaded stay. Returns CUDA_ERROR_NOT_FOUND if the
 * table is not registered. */
CUresult cardlessModuleUnregister(const cardlessModuleDesc *table);

/* Positions and extents of threads and blocks; x varies fastest. */
typedef struct cardlessIndex_st {
    unsigned x, y, z;
} cardlessIndex;

/* The thread that runs: threadIdx, blockIdx, blockDim, gridDim of CUDA C++. */
typedef struct cardlessThread_st {
    cardlessIndex thread;     /* in its block; 0 if the function is called once for each block */
    cardlessIndex block;      /* in the grid */
    cardlessIndex block_size; /* in threads */
    cardlessIndex grid_size;  /* in blocks */
    void *shared;             /* the block's static shared memory; aligned to 16 bytes, as the next
                               * one; an access past the end of both is a fault */
    void *dynamic_shared;     /* the launch's sharedMemBytes */
    size_t dynamic_shared_size;
} cardlessThread;

/* The functions below are for kernels. Elsewhere they do nothing, and return NULL. */

/* Returns the thread that runs. The struct is valid until the kernel's function returns. */
const cardlessThread *cardlessThisThread(void);

/* Waits until all threads of the block that have not ended call it (CUDA C++: __syncthreads). In a
 * function that is called once for each block it does nothing. The kernel's flags must contain
 * CARDLESS_KERNEL_BARRIERS, else it fails with CUDA_ERROR_LAUNCH_FAILED. */
void cardlessBarrier(void);

/* Waits until all threads of the grid that have not ended call it (CUDA C++: grid_group::sync), or
 * all blocks, if the function is called once for each. The flags must contain
 * CARDLESS_KERNEL_BARRIERS, and the launch must be cooperative, else the kernel fails with
 * CUDA_ERROR_LAUNCH_FAILED. */
void cardlessGridBarrier(void);

/* Returns the address of the module's variable with this index in the table, or NULL for a texture
 * or surface reference and for an index that the table does not have. */
void *cardlessVariable(unsigned index);

/* Ends the grid with CUDA_ERROR_LAUNCH_FAILED (PTX: trap). */
void cardlessTrap(void);

/* Ends the grid with CUDA_ERROR_ASSERT. For CARDLESS_ASSERT, which does so if the condition does
 * not hold. (assert of <assert.h> ends the process.) */
void cardlessAssertFailed(const char *assertion, const char *file, unsigned line,
                          const char *function);
#define CARDLESS_ASSERT(condition)                                                                 \
    ((condition) ? (void)0 : cardlessAssertFailed(#condition, __FILE__, __LINE__, __func__))

/* ---- conditional nodes (manual: cuGraphConditionalHandleCreate) ---- */

/* Sets the value of a conditional handle, as the function cudaGraphSetConditional of device code
 * does. A kernel that is a function of the host calls it, as may any other function. The next
 * decision of the handle's node uses the value. A launch assigns the default value again if the
 * handle was created with CU_GRAPH_COND_ASSIGN_DEFAULT. Returns CUDA_ERROR_INVALID_VALUE if the
 * handle does not exist. Since CARDLESS_VERSION 3. */
CUresult cardlessGraphSetConditional(CUgraphConditionalHandle handle, unsigned value);

/* ---- monitoring ----
 *
 * The cards and their use, for libraries such as NVML. These functions do not need cuInit and do
 * not start the driver: afterwards the process may fork and use CUDA in the child. They work in a
 * forked child, too. Since CARDLESS_VERSION 5. */

typedef struct cardlessCard_st {
    char name[128];    /* of cuDeviceGetName */
    uint64_t total;    /* of cuDeviceTotalMem, in bytes */
    uint64_t reserved; /* the part that the driver keeps for itself */
} cardlessCard;

/* A process that has a context on a card. Its user must be this process's user, unless this one
 * runs as root. */
typedef struct cardlessProcess_st {
    uint32_t pid;
    uint32_t contexts;
    uint64_t memory;    /* in bytes, without the driver's part */
    uint64_t busy_ns;   /* how long kernels have run in the last period */
    uint64_t period_ns; /* at most a second, and usually more than 7/8 of one */
} cardlessProcess;

/* Writes the number of cards, which is 0 if CARDLESS_DEVICES is none. */
CUresult cardlessCardGetCount(int *count);

/* Describe a card. Return CUDA_ERROR_INVALID_DEVICE if `ordinal` is not a card. The UUID is that of
 * cuDeviceGetUuid; finding it may load Vulkan drivers. */
CUresult cardlessCardGet(cardlessCard *card, int ordinal);
CUresult cardlessCardGetUuid(CUuuid *uuid, int ordinal);
CUresult cardlessCardGetAttribute(int *value, CUdevice_attribute attribute, int ordinal);

/* Writes the processes that use the card. `*count` is the capacity of `processes`, which may be
 * NULL if it is 0; the call sets it to the number of processes, which may be more than were
 * written. */
CUresult cardlessCardGetProcesses(int ordinal, unsigned *count, cardlessProcess *processes);

/* ---- libraries that implement another API with the driver's ---- */

/* A function of such a library. It should exist until the process ends. */
typedef struct cardlessCaller_st {
    const char *name; /* as messages and histories should call it */
    /* The types of its arguments (cardless_types.h) and where they begin there, with which a
     * recording shows them; or NULL. Since CARDLESS_VERSION 9. */
    const struct cardlessTypes_st *types;
    unsigned first_argument, argument_count;
    /* Pairs of a name of the driver API and the name that messages then use, sorted by the former,
     * and NULL; or NULL. Of types, functions and constants. A pair for a family of constants has
     * the beginning that they share, "CU_STREAM_". Since CARDLESS_VERSION 8 */
    const char *const *names;
    const char *arguments; /* as in C, "void **devPtr, size_t size", or NULL: messages about the
                            * driver's arguments then use these names. Since CARDLESS_VERSION 6 */
} cardlessCaller;

/* Returns the place where this thread keeps the function that it is in. While a function is there,
 * messages and histories name it instead of the driver's functions that it calls. The library
 * should write its function there when it begins, and the one before it when it returns. The place
 * is valid until the thread ends. Since CARDLESS_VERSION 5. */
const cardlessCaller **cardlessThisCaller(void);

/* Returns the place where this thread keeps the address to which that function returns: the call
 * site in the program, which reports name. NULL there means that it is unknown. The library should
 * write it together with the function. Since CARDLESS_VERSION 7. */
const void **cardlessThisCallSite(void);

/* Returns 0 if a call that this thread begins now is inside another one of the driver, which a
 * signal handler has interrupted: the driver would refuse it with CUDA_ERROR_NOT_PERMITTED. Such a
 * library can refuse its own call then, and name it. Returns 1 in functions of the program that the
 * driver has called, and outside of calls. Async-signal-safe. Since CARDLESS_VERSION 10. */
int cardlessMayCall(void);

/* Records calls of such a library in the file of CARDLESS_RECORD. `cardless trace` then shows each
 * of them, and below it the driver's calls that it makes. A function should call `begin` after it
 * has written its call site, and `end` before it returns. `arguments` has a word for each argument;
 * a struct is represented by its address. cardlessGetRecorder returns NULL if the process does not
 * record its calls. It does not need cuInit. Since CARDLESS_VERSION 9. */
typedef struct cardlessRecorder_st {
    void (*begin)(const cardlessCaller *function, const uint64_t *arguments);
    void (*end)(const cardlessCaller *function, int result, const uint64_t *arguments);
} cardlessRecorder;
const cardlessRecorder *cardlessGetRecorder(void);

/* Reports an error that such a library has found itself, as the driver reports its own: CARDLESS_
 * DIAGNOSTICS says where. `origin` is an address that identifies the message, of which at most 8
 * are shown; `result` is the name of the error. Does not need cuInit. Since CARDLESS_VERSION 6. */
void cardlessReport(const void *origin, const char *result, const char *text);

/* Holds the reports of this thread back until cardlessReportsEnd: their texts are stored, one a
 * line, and not written. For libraries that try something and can do without it. The caller
 * provides the storage and does not change it meanwhile. Since CARDLESS_VERSION 6. */
typedef struct cardlessReports_st {
    char text[2048];
    void *reserved[2];
} cardlessReports;
void cardlessReportsBegin(cardlessReports *reports);
void cardlessReportsEnd(cardlessReports *reports);

#ifdef __cplusplus
}
#endif

#endif
