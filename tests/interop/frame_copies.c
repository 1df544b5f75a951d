// SPDX-License-Identifier: MIT
// Copies video frames between CUDA and Vulkan with an unmodified libavutil, the library of ffmpeg.
//
// libavutil imports the Vulkan images and their timeline semaphores into CUDA. It derives the
// Vulkan device from the CUDA device, so both must have the same UUID. Every frame must come out as
// it went in. ffmpeg itself copies in one direction only since 7.1: its filter `hwupload` does not
// accept CUDA frames for a Vulkan device any more.
#include <libavutil/frame.h>
#include <libavutil/hwcontext.h>
#include <libavutil/imgutils.h>
#include <libavutil/pixdesc.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The extent is no multiple of a block of lines, and the rows are no multiple of an alignment.
enum { WIDTH = 322, HEIGHT = 242, FRAMES = 5 };

static int count, failures;

static void result(bool ok, const char *format, const char *name)
{
    printf("%s %d - %s, %s\n", ok ? "ok" : "not ok", ++count, format, name);
    failures += !ok;
}

// Ends the program if a call of libavutil fails.
static void must(int code, const char *call)
{
    char text[AV_ERROR_MAX_STRING_SIZE];
    if (code >= 0)
        return;
    printf("Bail out! %s: %s\n", call, av_make_error_string(text, sizeof(text), code));
    exit(1);
}

#define MUST(call) must(call, #call)

// Frames of `device`: `format` is AV_PIX_FMT_CUDA or AV_PIX_FMT_VULKAN, `content` is their layout.
static AVBufferRef *new_pool(AVBufferRef *device, enum AVPixelFormat format,
                             enum AVPixelFormat content)
{
    AVBufferRef *pool = av_hwframe_ctx_alloc(device);
    must(pool ? 0 : AVERROR(ENOMEM), "av_hwframe_ctx_alloc");
    AVHWFramesContext *frames = (AVHWFramesContext *)pool->data;
    frames->format = format;
    frames->sw_format = content;
    frames->width = WIDTH;
    frames->height = HEIGHT;
    MUST(av_hwframe_ctx_init(pool));
    return pool;
}

static AVFrame *new_frame(void)
{
    AVFrame *frame = av_frame_alloc();
    must(frame ? 0 : AVERROR(ENOMEM), "av_frame_alloc");
    return frame;
}

static AVFrame *new_host_frame(enum AVPixelFormat content)
{
    AVFrame *frame = new_frame();
    frame->format = content;
    frame->width = WIDTH;
    frame->height = HEIGHT;
    MUST(av_frame_get_buffer(frame, 0));
    return frame;
}

static AVFrame *new_device_frame(AVBufferRef *pool)
{
    AVFrame *frame = new_frame();
    MUST(av_hwframe_get_buffer(pool, frame, 0));
    return frame;
}

// Calls `row` for each row of each plane of two frames until it returns false.
static bool each_row(AVFrame *a, AVFrame *b, unsigned seed,
                     bool (*row)(uint8_t *a, const uint8_t *b, int bytes, unsigned seed))
{
    const AVPixFmtDescriptor *format = av_pix_fmt_desc_get(a->format);
    for (int plane = 0; plane < av_pix_fmt_count_planes(a->format); plane++) {
        int bytes = av_image_get_linesize(a->format, WIDTH, plane);
        int rows = plane ? AV_CEIL_RSHIFT(HEIGHT, format->log2_chroma_h) : HEIGHT;
        for (int y = 0; y < rows; y++)
            if (!row(a->data[plane] + (ptrdiff_t)y * a->linesize[plane],
                     b->data[plane] + (ptrdiff_t)y * b->linesize[plane], bytes,
                     seed + (unsigned)(plane * HEIGHT + y)))
                return false;
    }
    return true;
}

static bool fill_row(uint8_t *a, const uint8_t *b, int bytes, unsigned seed)
{
    (void)b;
    for (int i = 0; i < bytes; i++)
        a[i] = (uint8_t)((seed * 2654435761u + (unsigned)i * 40503u) >> 7);
    return true;
}

static bool same_row(uint8_t *a, const uint8_t *b, int bytes, unsigned seed)
{
    (void)seed;
    return !memcmp(a, b, (size_t)bytes);
}

// Uploads frames to `from`, copies them to `to` and downloads them there. The frames of both pools
// are used again and again, so their semaphores count on.
static bool copy_frames(AVBufferRef *from, AVBufferRef *to, enum AVPixelFormat content)
{
    AVFrame *in = new_host_frame(content), *out = new_host_frame(content);
    bool same = true;
    for (unsigned i = 0; i < FRAMES; i++) {
        AVFrame *source = new_device_frame(from), *target = new_device_frame(to);
        each_row(in, in, i * 1000, fill_row);
        MUST(av_hwframe_transfer_data(source, in, 0));
        MUST(av_hwframe_transfer_data(target, source, 0));
        MUST(av_hwframe_transfer_data(out, target, 0));
        same &= each_row(in, out, 0, same_row);
        av_frame_free(&source);
        av_frame_free(&target);
    }
    av_frame_free(&in);
    av_frame_free(&out);
    return same;
}

int main(void)
{
    const enum AVPixelFormat contents[] = {AV_PIX_FMT_NV12, AV_PIX_FMT_YUV420P, AV_PIX_FMT_P010,
                                           AV_PIX_FMT_YUV444P};
    AVBufferRef *cuda = NULL, *vulkan = NULL;
    MUST(av_hwdevice_ctx_create(&cuda, AV_HWDEVICE_TYPE_CUDA, "0", NULL, 0));
    MUST(av_hwdevice_ctx_create_derived(&vulkan, AV_HWDEVICE_TYPE_VULKAN, cuda, 0));
    for (size_t i = 0; i < sizeof(contents) / sizeof(contents[0]); i++) {
        AVBufferRef *cuda_pool = new_pool(cuda, AV_PIX_FMT_CUDA, contents[i]);
        AVBufferRef *vulkan_pool = new_pool(vulkan, AV_PIX_FMT_VULKAN, contents[i]);
        const char *name = av_get_pix_fmt_name(contents[i]);
        result(copy_frames(cuda_pool, vulkan_pool, contents[i]), name, "CUDA to Vulkan");
        result(copy_frames(vulkan_pool, cuda_pool, contents[i]), name, "Vulkan to CUDA");
        av_buffer_unref(&cuda_pool);
        av_buffer_unref(&vulkan_pool);
    }
    av_buffer_unref(&vulkan);
    av_buffer_unref(&cuda);
    printf("1..%d\n", count);
    return failures != 0;
}
