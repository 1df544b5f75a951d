// SPDX-License-Identifier: MIT
// Compressed parts of fat binaries.
#pragma once
#include <cuda.h>
#include <stdint.h>

enum em_compression { EM_COMPRESSION_LZ4, EM_COMPRESSION_ZSTD };

// Decompresses in_B bytes into `out`, which has out_B bytes, and sets *used to the number of bytes
// that were written. Fails with CUDA_ERROR_INVALID_IMAGE if the bytes are damaged, and with
// CUDA_ERROR_NOT_SUPPORTED if libzstd or liblz4 is not there. Precondition: em_lock not held,
// because a library is loaded.
CUresult em_decompress(enum em_compression kind, const void *in, uint64_t in_B, void *out,
                       uint64_t out_B, uint64_t *used);
