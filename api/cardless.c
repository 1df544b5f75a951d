// SPDX-License-Identifier: MIT
// The exported functions of cardless.h.
#include <cardless.h>

#include "call.h"
#include "conditional.h"
#include "egl_stream.h"
#include "record.h"
#include "trace.h"
#include "virtual_graphics.h"
#include "virtual_semaphore.h"

#define EXPORT __attribute__((visibility("default")))

// Counts the call, checks that the driver is initialised and that the argument is not NULL, does
// the work, and traces.
#define CALL(function, argument, work)                                                             \
    do {                                                                                           \
        static const struct em_entry entry = {.name = #function};                                  \
        struct em_thread *self = em_thread();                                                      \
        const struct em_entry *outer = em_begin(self, &entry);                                     \
        CUresult r = em_permitted(self);                                                           \
        if (!r)                                                                                    \
            r = em_thread_need_init(self);                                                         \
        if (!r)                                                                                    \
            r = (argument) ? (work) : em_null(#argument);                                          \
        if (em_unlikely(em_tracing))                                                               \
            em_trace(&entry, r, (const uint64_t[]){0}, NULL);                                      \
        return em_end(self, outer, r);                                                             \
    } while (0)

EXPORT CUresult cardlessGetVersion(unsigned *version)
{
    static const struct em_entry entry = {.name = "cardlessGetVersion"};
    struct em_thread *self = em_thread();
    const struct em_entry *outer = em_begin(self, &entry);
    CUresult r = version ? CUDA_SUCCESS : em_null("version");
    if (!r)
        *version = CARDLESS_VERSION;
    return em_end(self, outer, r);
}

// The generated functions and histories know calls by their entries, so a caller is one.
_Static_assert(sizeof(cardlessCaller) == sizeof(struct em_entry) &&
                   offsetof(cardlessCaller, name) == offsetof(struct em_entry, name) &&
                   offsetof(cardlessCaller, types) == offsetof(struct em_entry, description) &&
                   offsetof(cardlessCaller, first_argument) ==
                       offsetof(struct em_entry, first_argument) &&
                   offsetof(cardlessCaller, argument_count) ==
                       offsetof(struct em_entry, arguments) &&
                   offsetof(cardlessCaller, names) == offsetof(struct em_entry, names) &&
                   offsetof(cardlessCaller, arguments) == offsetof(struct em_entry, list),
               "a cardlessCaller is a struct em_entry");

EXPORT const cardlessCaller **cardlessThisCaller(void)
{
    return (const cardlessCaller **)&em_thread()->caller;
}

EXPORT const void **cardlessThisCallSite(void)
{
    return &em_thread()->caller_returns_to;
}

EXPORT int cardlessMayCall(void)
{
    return !em_must_refuse(em_thread());
}

static void begin_recorded(const cardlessCaller *function, const uint64_t *arguments)
{
    if (!em_must_refuse(em_thread())) // calls of the driver that this one makes are refused
        em_record_library_call((const struct em_entry *)function, arguments);
}

static void end_recorded(const cardlessCaller *function, int result, const uint64_t *arguments)
{
    if (!em_must_refuse(em_thread()))
        em_record_library_return((const struct em_entry *)function, result, arguments);
}

EXPORT const cardlessRecorder *cardlessGetRecorder(void)
{
    static const cardlessRecorder recorder = {begin_recorded, end_recorded};
    if (!em_recording)
        em_thread_start(); // which begins a recording, as the first call does
    return em_recording ? &recorder : NULL;
}

EXPORT void cardlessReport(const void *origin, const char *result, const char *text)
{
    static const struct em_entry entry = {.name = "cardlessReport"};
    struct em_thread *self = em_thread();
    const struct em_entry *outer = em_begin(self, &entry);
    if (!em_permitted(self))
        em_explain_for(origin, result, text);
    em_end(self, outer, CUDA_SUCCESS);
}

_Static_assert(sizeof(cardlessReports) == sizeof(struct em_message),
               "cardlessReports is a message");

EXPORT void cardlessReportsBegin(cardlessReports *reports)
{
    em_message_hold((struct em_message *)reports);
}

EXPORT void cardlessReportsEnd(cardlessReports *reports)
{
    em_message_end((const struct em_message *)reports);
}

EXPORT CUresult cardlessBufferCreate(cardlessBuffer *buffer, size_t size)
{
    CALL(cardlessBufferCreate, buffer, em_virtual_buffer_create(size, buffer));
}

EXPORT CUresult cardlessBufferResize(cardlessBuffer buffer, size_t size)
{
    CALL(cardlessBufferResize, true, em_virtual_buffer_resize(buffer, size));
}

EXPORT CUresult cardlessBufferDestroy(cardlessBuffer buffer)
{
    CALL(cardlessBufferDestroy, true,
         em_virtual_destroy(EM_VIRTUAL_BUFFER_OBJECT, (uint64_t)(uintptr_t)buffer));
}

EXPORT CUresult cardlessTextureCreate(cardlessTexture *texture, const cardlessTextureDesc *desc)
{
    CALL(cardlessTextureCreate, texture && desc, em_virtual_texture_create(desc, texture));
}

EXPORT CUresult cardlessTextureResize(cardlessTexture texture, const cardlessTextureDesc *desc)
{
    CALL(cardlessTextureResize, desc, em_virtual_texture_resize(texture, desc));
}

EXPORT CUresult cardlessTextureDestroy(cardlessTexture texture)
{
    CALL(cardlessTextureDestroy, true,
         em_virtual_destroy(EM_VIRTUAL_TEXTURE_OBJECT, (uint64_t)(uintptr_t)texture));
}

EXPORT CUresult cardlessWriteBuffer(cardlessBuffer buffer, size_t offset, size_t size,
                                    const void *bytes)
{
    CALL(cardlessWriteBuffer, bytes,
         em_virtual_write_buffer(buffer, offset, size, EM_VIRTUAL_WRITE, bytes));
}

EXPORT CUresult cardlessFillBuffer(cardlessBuffer buffer, size_t offset, size_t size,
                                   unsigned char value)
{
    CALL(cardlessFillBuffer, true,
         em_virtual_write_buffer(buffer, offset, size, EM_VIRTUAL_FILL, &value));
}

EXPORT CUresult cardlessWriteTexture(cardlessTexture texture, unsigned level,
                                     const cardlessBox *box, const void *texels)
{
    CALL(cardlessWriteTexture, texels,
         em_virtual_write_texture(texture, level, box, EM_VIRTUAL_WRITE, texels));
}

EXPORT CUresult cardlessFillTexture(cardlessTexture texture, unsigned level, const cardlessBox *box,
                                    const void *texel)
{
    CALL(cardlessFillTexture, texel,
         em_virtual_write_texture(texture, level, box, EM_VIRTUAL_FILL, texel));
}

EXPORT CUresult cardlessCopyBuffer(cardlessBuffer to, size_t to_offset, cardlessBuffer from,
                                   size_t from_offset, size_t size)
{
    CALL(cardlessCopyBuffer, true, em_virtual_copy_buffer(to, to_offset, from, from_offset, size));
}

EXPORT CUresult cardlessCopyTexture(cardlessTexture to, unsigned to_level, unsigned to_x,
                                    unsigned to_y, unsigned to_z, cardlessTexture from,
                                    unsigned from_level, const cardlessBox *box)
{
    cardlessBox corner = {to_x, to_y, to_z, 0, 0, 0};
    CALL(cardlessCopyTexture, true,
         em_virtual_copy_texture(to, to_level, &corner, from, from_level, box));
}

EXPORT CUresult cardlessReadBuffer(cardlessBuffer buffer, size_t offset, size_t size, void *bytes)
{
    CALL(cardlessReadBuffer, bytes, em_virtual_read_buffer(buffer, offset, size, bytes));
}

EXPORT CUresult cardlessReadTexture(cardlessTexture texture, unsigned level, const cardlessBox *box,
                                    void *texels)
{
    CALL(cardlessReadTexture, texels, em_virtual_read_texture(texture, level, box, texels));
}

EXPORT CUresult cardlessFinish(void)
{
    CALL(cardlessFinish, true, em_virtual_finish());
}

EXPORT CUresult cardlessQuery(void)
{
    CALL(cardlessQuery, true, em_virtual_query());
}

EXPORT CUresult cardlessGetClock(uint64_t *issued, uint64_t *done)
{
    CALL(cardlessGetClock, true, (em_virtual_clock(issued, done), CUDA_SUCCESS));
}

static CUresult register_object(enum em_virtual_kind kind, uint64_t handle, unsigned flags,
                                CUgraphicsResource *resource)
{
    CUresult r = em_need_context();
    return r ? r : em_virtual_register(kind, handle, flags, resource);
}

EXPORT CUresult cardlessRegisterBuffer(CUgraphicsResource *resource, cardlessBuffer buffer,
                                       unsigned flags)
{
    CALL(cardlessRegisterBuffer, resource,
         register_object(EM_VIRTUAL_BUFFER_OBJECT, (uint64_t)(uintptr_t)buffer, flags, resource));
}

EXPORT CUresult cardlessRegisterTexture(CUgraphicsResource *resource, cardlessTexture texture,
                                        unsigned flags)
{
    CALL(cardlessRegisterTexture, resource,
         register_object(EM_VIRTUAL_TEXTURE_OBJECT, (uint64_t)(uintptr_t)texture, flags, resource));
}

EXPORT CUresult cardlessStreamCreate(void **stream, unsigned fifo)
{
    CALL(cardlessStreamCreate, stream, em_egl_stream_create(fifo, stream));
}

EXPORT CUresult cardlessStreamDestroy(void *stream)
{
    CALL(cardlessStreamDestroy, true, em_egl_stream_destroy(stream));
}

EXPORT CUresult cardlessSemaphoreCreate(cardlessSemaphore *semaphore, cardlessSemaphoreKind kind,
                                        uint64_t value)
{
    CALL(cardlessSemaphoreCreate, semaphore, em_virtual_semaphore_create(kind, value, semaphore));
}

EXPORT CUresult cardlessSemaphoreOpen(cardlessSemaphore *semaphore, int fd)
{
    CALL(cardlessSemaphoreOpen, semaphore, em_virtual_semaphore_open(fd, semaphore));
}

EXPORT CUresult cardlessSemaphoreDestroy(cardlessSemaphore semaphore)
{
    CALL(cardlessSemaphoreDestroy, true, em_virtual_semaphore_destroy(semaphore));
}

EXPORT CUresult cardlessSemaphoreExport(cardlessSemaphore semaphore, int *fd)
{
    CALL(cardlessSemaphoreExport, fd, em_virtual_semaphore_export(semaphore, fd));
}

EXPORT CUresult cardlessSemaphoreSignal(cardlessSemaphore semaphore, uint64_t value)
{
    CALL(cardlessSemaphoreSignal, true, em_virtual_semaphore_signal(semaphore, value));
}

EXPORT CUresult cardlessSemaphoreWait(cardlessSemaphore semaphore, uint64_t value,
                                      uint64_t timeout_ns)
{
    CALL(cardlessSemaphoreWait, true, em_virtual_semaphore_wait(semaphore, value, timeout_ns));
}

EXPORT CUresult cardlessSemaphoreGetValue(cardlessSemaphore semaphore, uint64_t *value)
{
    CALL(cardlessSemaphoreGetValue, value, em_virtual_semaphore_value(semaphore, value));
}

// Host functions may call it, because it stands for a function of device code.
EXPORT CUresult cardlessGraphSetConditional(CUgraphConditionalHandle handle, unsigned value)
{
    static const struct em_entry entry = {.name = "cardlessGraphSetConditional"};
    struct em_thread *self = em_thread();
    const struct em_entry *outer = em_begin(self, &entry);
    CUresult r = em_permitted(self);
    if (!r && !self->in_host_function)
        r = em_thread_need_init(self);
    if (!r)
        r = em_conditional_set(handle, value);
    if (em_unlikely(em_tracing))
        em_trace(&entry, r, (const uint64_t[]){0}, NULL);
    return em_end(self, outer, r);
}
