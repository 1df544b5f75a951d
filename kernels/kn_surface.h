// SPDX-License-Identifier: MIT
// Surfaces: arrays as kernels read and write them, and the place of an element for 32 lanes.
//
//     surface object                        one instruction, 32 lanes
//     struct kn_image                       x, y, z, layer
//     ┌─────────────────────┐               kn_image_place()
//     │ base, size, layout  │──────────────▶ addresses[32], lanes that are outside
//     │ kind of its channels│
//     └─────────────────────┘
//
// The lowest coordinate counts bytes (suld.b, sust.b, sured.b) or elements (sust.p, sured.p). The
// faces of a cube are layers.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "kn_tile.h"

enum kn_geometry {
    KN_GEOMETRY_1D,
    KN_GEOMETRY_2D,
    KN_GEOMETRY_3D,
    KN_GEOMETRY_A1D, // layered
    KN_GEOMETRY_A2D,
    KN_GEOMETRY_CUBE, // the cubes are for textures only
    KN_GEOMETRY_ACUBE,
};

// Accesses outside of a surface.
enum kn_boundary {
    KN_BOUNDARY_TRAP,  // are faults
    KN_BOUNDARY_CLAMP, // go to the nearest element inside
    KN_BOUNDARY_ZERO,  // read 0, and write nothing
};

enum kn_channel_kind {
    KN_CHANNEL_UINT,
    KN_CHANNEL_SINT,
    KN_CHANNEL_FLOAT, // of 2 or 4 bytes
    KN_CHANNEL_UNORM,
    KN_CHANNEL_SNORM,
    KN_CHANNEL_UNORM10_2, // four channels of 10, 10, 10 and 2 bits from the lowest bit on
};

// A level of an array.
struct kn_image {
    uint8_t *base;                 // element (0, 0, 0) of layer 0
    uint32_t width, height, depth; // in elements, at least 1
    uint32_t layers;               // at least 1
    uint8_t dimensions;            // 1, 2 or 3; 0: there is no element
    bool layered;
    uint64_t pitch_B, slice_B; // to the next row and slice, unless block_linear
    uint64_t layer_B;          // to the next layer
    struct kn_tiled tiled;     // if block_linear
    bool block_linear;
    uint8_t element_B;           // 1, 2, 4, 8 or 16
    uint8_t channels, channel_B; // channel_B is 0 for UNORM10_2
    enum kn_channel_kind kind;
};

// kn_op.i of surface operations.
#define KN_SURFACE_ACCESS(geometry, boundary) ((int64_t)(geometry) | (int64_t)(boundary) << 4)
#define KN_SURFACE_GEOMETRY(i) ((enum kn_geometry)((i)&15))
#define KN_SURFACE_BOUNDARY(i) ((enum kn_boundary)((i) >> 4 & 3))

// kn_op.i of texture operations.
#define KN_TEXTURE_ACCESS(geometry, integer, component)                                            \
    ((int64_t)(geometry) | (int64_t)(integer) << 4 | (int64_t)(component) << 5)
#define KN_TEXTURE_GEOMETRY(i) ((enum kn_geometry)((i)&15))
#define KN_TEXTURE_INTEGER(i) ((bool)((i) >> 4 & 1))
#define KN_TEXTURE_COMPONENT(i) ((uint32_t)((i) >> 5 & 3))
// kn_op.i of txq and suq.
enum kn_object_query { KN_QUERY_WIDTH, KN_QUERY_HEIGHT, KN_QUERY_DEPTH };
