// SPDX-License-Identifier: MIT
// The attributes of a stream.
#pragma once
#include <cuda.h>

#include "stream.h"

// cuStreamGetAttribute, cuStreamSetAttribute, cuStreamCopyAttributes. They fail with
// CUDA_ERROR_INVALID_VALUE for an attribute that streams do not have, and for a value out of range.
// Precondition: em_lock not held.
CUresult em_stream_get_attribute(struct em_stream *stream, CUstreamAttrID attribute,
                                 CUstreamAttrValue *out);
CUresult em_stream_set_attribute(struct em_stream *stream, CUstreamAttrID attribute,
                                 const CUstreamAttrValue *value);
CUresult em_stream_copy_attributes(struct em_stream *to, struct em_stream *from);
