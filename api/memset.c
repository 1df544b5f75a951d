// SPDX-License-Identifier: MIT
// The manual's chapter "Memory Management": fills. Counts and widths are in values, pitches in
// bytes. A form without a stream gets the default stream, because of its per-thread twin. It
// waits until the memory is filled unless that is device memory.
#include "api_bodies.h"
#include "command.h"
#include "fill.h"

static CUresult fill_rows(CUdeviceptr address, size_t pitch_B, size_t width, size_t height,
                          unsigned value, unsigned value_B, struct em_stream *stream, int how)
{
    return em_memory_fill(&(struct em_fill){address, pitch_B, width, height, value, value_B, 0},
                          stream, how);
}

static CUresult fill_row(CUdeviceptr address, size_t width, unsigned value, unsigned value_B,
                         struct em_stream *stream, int how)
{
    return fill_rows(address, 0, width, 1, value, value_B, stream, how);
}

CUresult api_cuMemsetD8_v2(CUdeviceptr dstDevice, unsigned char uc, size_t N,
                           struct em_stream *hStream)
{
    return fill_row(dstDevice, N, uc, 1, hStream, EM_SUBMIT_SYNC);
}

CUresult api_cuMemsetD8Async(CUdeviceptr dstDevice, unsigned char uc, size_t N,
                             struct em_stream *hStream)
{
    return fill_row(dstDevice, N, uc, 1, hStream, EM_SUBMIT_ASYNC);
}

CUresult api_cuMemsetD16_v2(CUdeviceptr dstDevice, unsigned short us, size_t N,
                            struct em_stream *hStream)
{
    return fill_row(dstDevice, N, us, 2, hStream, EM_SUBMIT_SYNC);
}

CUresult api_cuMemsetD16Async(CUdeviceptr dstDevice, unsigned short us, size_t N,
                              struct em_stream *hStream)
{
    return fill_row(dstDevice, N, us, 2, hStream, EM_SUBMIT_ASYNC);
}

CUresult api_cuMemsetD32_v2(CUdeviceptr dstDevice, unsigned int ui, size_t N,
                            struct em_stream *hStream)
{
    return fill_row(dstDevice, N, ui, 4, hStream, EM_SUBMIT_SYNC);
}

CUresult api_cuMemsetD32Async(CUdeviceptr dstDevice, unsigned int ui, size_t N,
                              struct em_stream *hStream)
{
    return fill_row(dstDevice, N, ui, 4, hStream, EM_SUBMIT_ASYNC);
}

CUresult api_cuMemsetD2D8_v2(CUdeviceptr dstDevice, size_t dstPitch, unsigned char uc, size_t Width,
                             size_t Height, struct em_stream *hStream)
{
    return fill_rows(dstDevice, dstPitch, Width, Height, uc, 1, hStream, EM_SUBMIT_SYNC);
}

CUresult api_cuMemsetD2D8Async(CUdeviceptr dstDevice, size_t dstPitch, unsigned char uc,
                               size_t Width, size_t Height, struct em_stream *hStream)
{
    return fill_rows(dstDevice, dstPitch, Width, Height, uc, 1, hStream, EM_SUBMIT_ASYNC);
}

CUresult api_cuMemsetD2D16_v2(CUdeviceptr dstDevice, size_t dstPitch, unsigned short us,
                              size_t Width, size_t Height, struct em_stream *hStream)
{
    return fill_rows(dstDevice, dstPitch, Width, Height, us, 2, hStream, EM_SUBMIT_SYNC);
}

CUresult api_cuMemsetD2D16Async(CUdeviceptr dstDevice, size_t dstPitch, unsigned short us,
                                size_t Width, size_t Height, struct em_stream *hStream)
{
    return fill_rows(dstDevice, dstPitch, Width, Height, us, 2, hStream, EM_SUBMIT_ASYNC);
}

CUresult api_cuMemsetD2D32_v2(CUdeviceptr dstDevice, size_t dstPitch, unsigned int ui, size_t Width,
                              size_t Height, struct em_stream *hStream)
{
    return fill_rows(dstDevice, dstPitch, Width, Height, ui, 4, hStream, EM_SUBMIT_SYNC);
}

CUresult api_cuMemsetD2D32Async(CUdeviceptr dstDevice, size_t dstPitch, unsigned int ui,
                                size_t Width, size_t Height, struct em_stream *hStream)
{
    return fill_rows(dstDevice, dstPitch, Width, Height, ui, 4, hStream, EM_SUBMIT_ASYNC);
}
