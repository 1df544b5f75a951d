// SPDX-License-Identifier: MIT
// Notes about calls of cardless.h, with their arguments as C, and about connections to EGL streams.
#include <cardless.h>

#include "../egl_functions.h"
#include "note.h"

#define RESULT "%d"
static unsigned resources; // created so far: their numbers

NOTE_WRAP(CUresult, cardlessBufferCreate, (cardlessBuffer * b, size_t size), (b, size),
          note("CALL(cardlessBufferCreate(&$cardlessBuffer:%p, %zu), " RESULT ");", (void *)*b,
               size, r))
NOTE_WRAP(CUresult, cardlessBufferDestroy, (cardlessBuffer b), (b),
          note("CALL(cardlessBufferDestroy($cardlessBuffer:%p), " RESULT ");", (void *)b, r))
NOTE_WRAP(
    CUresult, cardlessTextureCreate, (cardlessTexture * t, const cardlessTextureDesc *d), (t, d),
    note("CALL(cardlessTextureCreate(&$cardlessTexture:%p, &(cardlessTextureDesc){.kind = %d, "
         ".width = %u, .height = %u, .depth = %u, .layers = %u, .levels = %u, .format = "
         "%d, .channels = %u}), " RESULT ");",
         (void *)*t, (int)d->kind, d->width, d->height, d->depth, d->layers, d->levels,
         (int)d->format, d->channels, r))
NOTE_WRAP(CUresult, cardlessTextureDestroy, (cardlessTexture t), (t),
          note("CALL(cardlessTextureDestroy($cardlessTexture:%p), " RESULT ");", (void *)t, r))
NOTE_WRAP(CUresult, cardlessFillBuffer,
          (cardlessBuffer b, size_t at, size_t size, unsigned char value), (b, at, size, value),
          note("CALL(cardlessFillBuffer($cardlessBuffer:%p, %zu, %zu, %u), " RESULT ");", (void *)b,
               at, size, value, r))

static void note_read(cardlessBuffer b, size_t at, size_t size, const void *bytes, CUresult r)
{
    note("CALL(cardlessReadBuffer($cardlessBuffer:%p, %zu, %zu, @%p), " RESULT ");", (void *)b, at,
         size, bytes, r);
    if (!r)
        note_bytes("got", bytes, size);
}

NOTE_WRAP(CUresult, cardlessReadBuffer, (cardlessBuffer b, size_t at, size_t size, void *bytes),
          (b, at, size, bytes), note_read(b, at, size, bytes, r))

static void note_registration(const char *call, const char *type, const void *object,
                              unsigned flags, CUresult r)
{
    resources += !r;
    note("CALL(%s(%s%.0u, $%s:%p, %#x), " RESULT ");", call,
         r ? "&(CUgraphicsResource){0}" : "&$CUgraphicsResource#", r ? 0 : resources, type, object,
         flags, r);
}

NOTE_WRAP(CUresult, cardlessRegisterBuffer,
          (CUgraphicsResource * out, cardlessBuffer b, unsigned flags), (out, b, flags),
          note_registration("cardlessRegisterBuffer", "cardlessBuffer", b, flags, r))
NOTE_WRAP(CUresult, cardlessRegisterTexture,
          (CUgraphicsResource * out, cardlessTexture t, unsigned flags), (out, t, flags),
          note_registration("cardlessRegisterTexture", "cardlessTexture", t, flags, r))
NOTE_WRAP(CUresult, cardlessSemaphoreCreate,
          (cardlessSemaphore * s, cardlessSemaphoreKind kind, uint64_t value), (s, kind, value),
          note("CALL(cardlessSemaphoreCreate(&$cardlessSemaphore:%p, %d, %llu), " RESULT ");",
               (void *)*s, (int)kind, (unsigned long long)value, r))
NOTE_WRAP(CUresult, cardlessSemaphoreDestroy, (cardlessSemaphore s), (s),
          note("CALL(cardlessSemaphoreDestroy($cardlessSemaphore:%p), " RESULT ");", (void *)s, r))
NOTE_WRAP(CUresult, cardlessSemaphoreExport, (cardlessSemaphore s, int *fd), (s, fd),
          note("CALL(cardlessSemaphoreExport($cardlessSemaphore:%p, &fd[%d]), " RESULT ");",
               (void *)s, *fd, r))
NOTE_WRAP(CUresult, cardlessSemaphoreGetValue, (cardlessSemaphore s, uint64_t *value), (s, value),
          note("CALL(cardlessSemaphoreGetValue($cardlessSemaphore:%p, &value), " RESULT
               "); EXPECT(value, %llu);",
               (void *)s, r, (unsigned long long)*value))

// ---- EGL streams ----

// Streams and connections have numbers in the trace. The driver writes the handle of a connection
// that it refuses, which the trace does not show.
enum { STREAMS_MOST = 8 };
static void *streams[STREAMS_MOST];
static unsigned stream_count, connections;

static const char *stream_text(const void *stream)
{
    static char text[64];
    if (!stream)
        return "NULL";
    snprintf(text, sizeof text, "(EGLStreamKHR)%p", stream);
    for (unsigned i = 0; i < stream_count && i < STREAMS_MOST; i++) {
        if (streams[i] == stream)
            snprintf(text, sizeof text, "$EGLStreamKHR#%u", i + 1);
    }
    return text;
}

static const char *created_text(const char *type, bool created, unsigned number)
{
    static char text[64];
    if (created)
        snprintf(text, sizeof text, "&$%s#%u", type, number);
    else
        snprintf(text, sizeof text, "&(%s){0}", type);
    return text;
}

static void note_stream(void *const *stream, unsigned fifo, CUresult r)
{
    if (!r && stream_count < STREAMS_MOST)
        streams[stream_count++] = *stream;
    note("CALL(cardlessStreamCreate((void **)%s, %u), " RESULT ");",
         created_text("EGLStreamKHR", !r, stream_count), fifo, r);
}

NOTE_WRAP(CUresult, cardlessStreamCreate, (void **stream, unsigned fifo), (stream, fifo),
          note_stream(stream, fifo, r))
NOTE_WRAP(CUresult, cardlessStreamDestroy, (void *stream), (stream),
          note("CALL(cardlessStreamDestroy(%s), " RESULT ");", stream_text(stream), r))

static void note_connection(const char *call, CUeglStreamConnection connection, const void *stream,
                            const char *more, CUresult r)
{
    connections += connection != NULL;
    note("CALL(%s(%s, %s%s), " RESULT ");", call,
         created_text("CUeglStreamConnection", connection, connections), stream_text(stream), more,
         r);
}

NOTE_WRAP(CUresult, cuEGLStreamConsumerConnect, (CUeglStreamConnection * c, void *stream),
          (c, stream), note_connection("cuEGLStreamConsumerConnect", *c, stream, "", r))

static void note_consumer(CUeglStreamConnection c, const void *stream, unsigned flags, CUresult r)
{
    char more[32];
    snprintf(more, sizeof more, ", %u", flags);
    note_connection("cuEGLStreamConsumerConnectWithFlags", c, stream, more, r);
}

NOTE_WRAP(CUresult, cuEGLStreamConsumerConnectWithFlags,
          (CUeglStreamConnection * c, void *stream, unsigned flags), (c, stream, flags),
          note_consumer(*c, stream, flags, r))

static void note_producer(CUeglStreamConnection c, const void *stream, int width, int height,
                          CUresult r)
{
    char more[64];
    snprintf(more, sizeof more, ", %d, %d", width, height);
    note_connection("cuEGLStreamProducerConnect", c, stream, more, r);
}

NOTE_WRAP(CUresult, cuEGLStreamProducerConnect,
          (CUeglStreamConnection * c, void *stream, int width, int height),
          (c, stream, width, height), note_producer(*c, stream, width, height, r))
