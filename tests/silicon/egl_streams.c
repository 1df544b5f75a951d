// SPDX-License-Identifier: MIT
// EGL streams between two parts of a process: connections in every order, calls with the other
// side's connection, timeouts, and the frame that the consumer receives for each colour format.
// Under a driver of NVIDIA's the stream comes from EGL; under Cardless from cardless.h.
#include "record.h"

#include <dlfcn.h>

#include <cudaEGL.h>

enum { WIDTH = 64, HEIGHT = 32, FRAME_B = WIDTH * HEIGHT * 4, SOON_US = 1000, COLORS = 0x76 };
enum { EGL_PLATFORM_DEVICE = 0x313f, EGL_FIFO_LENGTH = 0x31fc, EGL_NOTHING = 0x3038 };

// ---- streams ----

static void *egl(const char *name)
{
    static void *library;
    if (!library)
        library = dlopen("libEGL.so.1", RTLD_NOW | RTLD_GLOBAL);
    void *(*find)(const char *) =
        library ? (void *(*)(const char *))dlsym(library, "eglGetProcAddress") : NULL;
    void *function = find ? find(name) : NULL;
    if (!function) {
        fprintf(stderr, "there is no %s\n", name);
        _exit(9);
    }
    return function;
}

static void *display(void)
{
    static void *display;
    void *devices[16];
    int count = 0, major, minor;
    unsigned (*query)(int, void **, int *) = egl("eglQueryDevicesEXT");
    void *(*open)(unsigned, void *, const int *) = egl("eglGetPlatformDisplayEXT");
    unsigned (*initialize)(void *, int *, int *) = egl("eglInitialize");
    const char *(*text)(void *, int) = egl("eglQueryString");
    query(16, devices, &count);
    for (int i = 0; i < count && !display; i++) {
        void *d = open(EGL_PLATFORM_DEVICE, devices[i], NULL);
        const char *extensions;
        if (d && initialize(d, &major, &minor) && (extensions = text(d, 0x3055)) &&
            strstr(extensions, "EGL_KHR_stream"))
            display = d;
    }
    return display;
}

static EGLStreamKHR new_stream(int fifo)
{
    void *stream = NULL;
    CUresult (*create)(void **, unsigned) =
        (CUresult(*)(void **, unsigned))dlsym(RTLD_DEFAULT, "cardlessStreamCreate");
    if (create) {
        NEED(create(&stream, (unsigned)fifo));
        return stream;
    }
    void *(*make)(void *, const int *) = egl("eglCreateStreamKHR");
    const int attributes[] = {EGL_FIFO_LENGTH, fifo, EGL_NOTHING};
    stream = make(display(), fifo ? attributes : NULL);
    if (!stream) {
        fprintf(stderr, "no stream\n");
        _exit(9);
    }
    return stream;
}

// ---- what is printed ----

static void say(const char *what, CUresult r)
{
    SAY("%s%s=%s", record->line[0] ? " " : "", what, record_brief(r));
}

// ---- cases ----

typedef CUeglStreamConnection connection;

static void say_written(const char *what, connection c)
{
    SAY(" %s-%s", what, c ? "written" : "kept");
}

static CUeglFrame frame(CUdeviceptr memory)
{
    CUeglFrame f;
    memset(&f, 0, sizeof f);
    f.frame.pPitch[0] = (void *)(uintptr_t)memory;
    f.width = WIDTH;
    f.height = HEIGHT;
    f.depth = 1;
    f.pitch = WIDTH * 4;
    f.planeCount = 1;
    f.numChannels = 4;
    f.frameType = CU_EGL_FRAME_TYPE_PITCH;
    f.eglColorFormat = CU_EGL_COLOR_FORMAT_ARGB;
    f.cuFormat = CU_AD_FORMAT_UNSIGNED_INT8;
    return f;
}

static CUdeviceptr memory_of(size_t size_B)
{
    CUdeviceptr memory;
    NEED(cuMemAlloc(&memory, size_B));
    return memory;
}

// Letters are calls in their order: C and P connect a consumer and a producer, c and p disconnect
// the last one that was connected.
GROUP(order)
{
    static const char *const walks[] = {"CPpc",  "CPcp",   "PCc",   "PCPpc", "PpCPpc", "CCc",
                                        "CPPpc", "CcCPpc", "CPcCp", "CPpP",  "PPCPp",  "PpCc"};
    record_context();
    for (unsigned i = 0; i < sizeof walks / sizeof *walks; i++) {
        if (!CASE("%s", walks[i]))
            continue;
        EGLStreamKHR stream = new_stream(0);
        connection last[2] = {NULL, NULL};
        for (const char *step = walks[i]; *step; step++) {
            connection c = NULL;
            char what[2] = {*step, 0};
            if (*step == 'C' || *step == 'P') {
                say(what, *step == 'C' ? cuEGLStreamConsumerConnect(&c, stream)
                                       : cuEGLStreamProducerConnect(&c, stream, WIDTH, HEIGHT));
                say_written(what, c);
                if (c)
                    last[*step == 'P'] = c;
            } else if (!last[*step == 'p']) {
                SAY(" %s=nothing", what);
            } else {
                say(what, *step == 'c' ? cuEGLStreamConsumerDisconnect(&last[0])
                                       : cuEGLStreamProducerDisconnect(&last[1]));
            }
        }
    }
}

GROUP(wrong_side)
{
    static const char *const walks[] = {"Xcp", "Ypc", "XYcp", "YXpc"};
    record_context();
    for (unsigned i = 0; i < sizeof walks / sizeof *walks; i++) {
        if (!CASE("%s", walks[i]))
            continue;
        EGLStreamKHR stream = new_stream(0);
        connection consumer, producer;
        NEED(cuEGLStreamConsumerConnect(&consumer, stream));
        NEED(cuEGLStreamProducerConnect(&producer, stream, WIDTH, HEIGHT));
        for (const char *step = walks[i]; *step; step++) {
            char what[2] = {*step, 0};
            say(what, *step == 'X'   ? cuEGLStreamProducerDisconnect(&consumer)
                      : *step == 'Y' ? cuEGLStreamConsumerDisconnect(&producer)
                      : *step == 'c' ? cuEGLStreamConsumerDisconnect(&consumer)
                                     : cuEGLStreamProducerDisconnect(&producer));
        }
    }
}

GROUP(timeout)
{
    static const unsigned timeouts[] = {0, 1, SOON_US, 20000};
    record_context();
    for (int fifo = 0; fifo < 3; fifo++) {
        for (unsigned i = 0; i < sizeof timeouts / sizeof *timeouts; i++) {
            if (!CASE("fifo-%d-us-%u", fifo, timeouts[i]))
                continue;
            EGLStreamKHR stream = new_stream(fifo);
            connection consumer, producer;
            CUgraphicsResource resource = NULL;
            CUstream in = NULL, out = NULL;
            NEED(cuEGLStreamConsumerConnect(&consumer, stream));
            say("no-producer",
                cuEGLStreamConsumerAcquireFrame(&consumer, &resource, &out, timeouts[i]));
            NEED(cuEGLStreamProducerConnect(&producer, stream, WIDTH, HEIGHT));
            say("no-frame",
                cuEGLStreamConsumerAcquireFrame(&consumer, &resource, &out, timeouts[i]));
            CUdeviceptr memory = memory_of(FRAME_B);
            say("present", cuEGLStreamProducerPresentFrame(&producer, frame(memory), &in));
            say("acquire",
                cuEGLStreamConsumerAcquireFrame(&consumer, &resource, &out, timeouts[i]));
            CUgraphicsResource second = NULL;
            say("second", cuEGLStreamConsumerAcquireFrame(&consumer, &second, &out, timeouts[i]));
            SAY(" %s", second ? "written" : "kept");
        }
    }
}

// How many planes a colour format has is tried: the first number that is taken.
GROUP(colors)
{
    static const unsigned formats[] = {CU_AD_FORMAT_UNSIGNED_INT8, CU_AD_FORMAT_UNSIGNED_INT16,
                                       CU_AD_FORMAT_HALF, CU_AD_FORMAT_FLOAT};
    record_context();
    for (unsigned color = 0; color < COLORS; color++) {
        if (!CASE("color-%02x", color))
            continue;
        for (unsigned k = 0; k < sizeof formats / sizeof *formats; k++) {
            for (unsigned try = 0; try < 12; try++) {
                unsigned planes = try / 4 + 1, channels = try % 4 + 1;
                EGLStreamKHR stream = new_stream(0);
                connection consumer, producer;
                CUgraphicsResource resource = NULL;
                CUstream in = NULL, out = NULL;
                CUeglFrame f = frame(memory_of(4 * FRAME_B)), got;
                NEED(cuEGLStreamConsumerConnect(&consumer, stream));
                NEED(cuEGLStreamProducerConnect(&producer, stream, WIDTH, HEIGHT));
                void *first = f.frame.pPitch[0];
                for (unsigned p = 1; p < planes; p++)
                    f.frame.pPitch[p] = (char *)first + p * FRAME_B;
                f.planeCount = planes;
                f.numChannels = channels;
                f.pitch = WIDTH * 16;
                f.height = HEIGHT / 4;
                f.eglColorFormat = (CUeglColorFormat)color;
                f.cuFormat = (CUarray_format)formats[k];
                memset(&got, 0, sizeof got);
                CUresult r = cuEGLStreamProducerPresentFrame(&producer, f, &in);
                if (!r &&
                    !(r = cuEGLStreamConsumerAcquireFrame(&consumer, &resource, &out,
                                                          20 * SOON_US)) &&
                    !(r = cuGraphicsResourceGetMappedEglFrame(&got, resource, 0, 0)))
                    SAY("%s%u/%u/%x->%x,%x,%u/%u", record->line[0] ? " " : "", planes, channels,
                        formats[k], got.eglColorFormat, got.cuFormat, got.planeCount,
                        got.numChannels);
                cuEGLStreamProducerDisconnect(&producer);
                cuEGLStreamConsumerDisconnect(&consumer);
                cuMemFree((CUdeviceptr)(uintptr_t)first);
                if (!r)
                    break;
            }
        }
    }
}

int main(int argc, char **argv)
{
    RUN(order);
    RUN(wrong_side);
    RUN(timeout);
    RUN(colors);
    return 0;
}
