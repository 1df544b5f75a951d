// SPDX-License-Identifier: MIT
// The functions of cardless.h: bodies of those in api/table/cardless.def, and those that libraries
// such as libcudart call, which have no rows.
#include "cardless_bodies.h"

#include "call.h"
#include "conditional.h"
#include "egl_stream.h"
#include "record.h"
#include "virtual_graphics.h"
#include "virtual_semaphore.h"

#define EXPORT __attribute__((visibility("default")))

CUresult api_cardlessGetVersion(unsigned *version)
{
    *version = CARDLESS_VERSION;
    return CUDA_SUCCESS;
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

CUresult api_cardlessBufferCreate(cardlessBuffer *buffer, size_t size)
{
    return em_virtual_buffer_create(size, buffer);
}

CUresult api_cardlessBufferResize(cardlessBuffer buffer, size_t size)
{
    return em_virtual_buffer_resize(buffer, size);
}

CUresult api_cardlessBufferDestroy(cardlessBuffer buffer)
{
    return em_virtual_destroy(EM_VIRTUAL_BUFFER_OBJECT, (uint64_t)(uintptr_t)buffer);
}

CUresult api_cardlessTextureCreate(cardlessTexture *texture, const cardlessTextureDesc *desc)
{
    return em_virtual_texture_create(desc, texture);
}

CUresult api_cardlessTextureResize(cardlessTexture texture, const cardlessTextureDesc *desc)
{
    return em_virtual_texture_resize(texture, desc);
}

CUresult api_cardlessTextureDestroy(cardlessTexture texture)
{
    return em_virtual_destroy(EM_VIRTUAL_TEXTURE_OBJECT, (uint64_t)(uintptr_t)texture);
}

CUresult api_cardlessWriteBuffer(cardlessBuffer buffer, size_t offset, size_t size,
                                 const void *bytes)
{
    return em_virtual_write_buffer(buffer, offset, size, EM_VIRTUAL_WRITE, bytes);
}

CUresult api_cardlessFillBuffer(cardlessBuffer buffer, size_t offset, size_t size,
                                unsigned char value)
{
    return em_virtual_write_buffer(buffer, offset, size, EM_VIRTUAL_FILL, &value);
}

CUresult api_cardlessWriteTexture(cardlessTexture texture, unsigned level, const cardlessBox *box,
                                  const void *texels)
{
    return em_virtual_write_texture(texture, level, box, EM_VIRTUAL_WRITE, texels);
}

CUresult api_cardlessFillTexture(cardlessTexture texture, unsigned level, const cardlessBox *box,
                                 const void *texel)
{
    return em_virtual_write_texture(texture, level, box, EM_VIRTUAL_FILL, texel);
}

CUresult api_cardlessCopyBuffer(cardlessBuffer to, size_t to_offset, cardlessBuffer from,
                                size_t from_offset, size_t size)
{
    return em_virtual_copy_buffer(to, to_offset, from, from_offset, size);
}

CUresult api_cardlessCopyTexture(cardlessTexture to, unsigned to_level, unsigned to_x,
                                 unsigned to_y, unsigned to_z, cardlessTexture from,
                                 unsigned from_level, const cardlessBox *box)
{
    cardlessBox corner = {to_x, to_y, to_z, 0, 0, 0};
    return em_virtual_copy_texture(to, to_level, &corner, from, from_level, box);
}

CUresult api_cardlessReadBuffer(cardlessBuffer buffer, size_t offset, size_t size, void *bytes)
{
    return em_virtual_read_buffer(buffer, offset, size, bytes);
}

CUresult api_cardlessReadTexture(cardlessTexture texture, unsigned level, const cardlessBox *box,
                                 void *texels)
{
    return em_virtual_read_texture(texture, level, box, texels);
}

CUresult api_cardlessFinish(void)
{
    return em_virtual_finish();
}

CUresult api_cardlessQuery(void)
{
    return em_virtual_query();
}

CUresult api_cardlessGetClock(uint64_t *issued, uint64_t *done)
{
    em_virtual_clock(issued, done);
    return CUDA_SUCCESS;
}

CUresult api_cardlessRegisterBuffer(CUgraphicsResource *resource, cardlessBuffer buffer,
                                    unsigned flags)
{
    return em_virtual_register(EM_VIRTUAL_BUFFER_OBJECT, (uint64_t)(uintptr_t)buffer, flags,
                               resource);
}

CUresult api_cardlessRegisterTexture(CUgraphicsResource *resource, cardlessTexture texture,
                                     unsigned flags)
{
    return em_virtual_register(EM_VIRTUAL_TEXTURE_OBJECT, (uint64_t)(uintptr_t)texture, flags,
                               resource);
}

CUresult api_cardlessStreamCreate(EGLStreamKHR *stream, unsigned fifo)
{
    return em_egl_stream_create(fifo, stream);
}

CUresult api_cardlessStreamDestroy(EGLStreamKHR stream)
{
    return em_egl_stream_destroy(stream);
}

CUresult api_cardlessSemaphoreCreate(cardlessSemaphore *semaphore, cardlessSemaphoreKind kind,
                                     uint64_t value)
{
    return em_virtual_semaphore_create(kind, value, semaphore);
}

CUresult api_cardlessSemaphoreOpen(cardlessSemaphore *semaphore, int fd)
{
    return em_virtual_semaphore_open(fd, semaphore);
}

CUresult api_cardlessSemaphoreDestroy(cardlessSemaphore semaphore)
{
    return em_virtual_semaphore_destroy(semaphore);
}

CUresult api_cardlessSemaphoreExport(cardlessSemaphore semaphore, int *fd)
{
    return em_virtual_semaphore_export(semaphore, fd);
}

CUresult api_cardlessSemaphoreSignal(cardlessSemaphore semaphore, uint64_t value)
{
    return em_virtual_semaphore_signal(semaphore, value);
}

CUresult api_cardlessSemaphoreWait(cardlessSemaphore semaphore, uint64_t value, uint64_t timeout_ns)
{
    return em_virtual_semaphore_wait(semaphore, value, timeout_ns);
}

CUresult api_cardlessSemaphoreGetValue(cardlessSemaphore semaphore, uint64_t *value)
{
    return em_virtual_semaphore_value(semaphore, value);
}

CUresult api_cardlessGraphSetConditional(CUgraphConditionalHandle handle, unsigned value)
{
    // Host functions may call it, because it stands for a function of device code.
    CUresult r = em_self.in_host_function ? CUDA_SUCCESS : em_need_init();
    return r ? r : em_conditional_set(handle, value);
}
