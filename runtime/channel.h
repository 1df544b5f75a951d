// SPDX-License-Identifier: MIT
// The elements of arrays and textures: the runtime states the bits of each component and their
// kind, the driver a format and a number of components.
#pragma once
#include "rt.h"

struct rt_element {
    CUarray_format format;
    unsigned int channels;
};

// Returns cudaErrorInvalidChannelDescriptor if there is no such element.
cudaError_t rt_element_of(const struct cudaChannelFormatDesc *desc, struct rt_element *element);

// The other way round.
cudaError_t rt_channel_of(struct rt_element element, struct cudaChannelFormatDesc *desc);

// The size of an element; of a block if the format is compressed.
size_t rt_element_bytes(struct rt_element element);
