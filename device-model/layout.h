// SPDX-License-Identifier: MIT
// Layouts: the place of element (x, y, z or layer) of a level in an array's memory.
//
// Names state their units: _px texels, _el elements (a texel, or a block of a compressed format),
// _B bytes, _gob GOBs (64 bytes by 8 rows). `z` is the slice of a 3D array, or the layer of a
// layered one (a cube face is a layer).
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define DM_LAYOUT_LEVELS_MAX 20u
#define DM_LAYOUT_EXTENT_MAX (1u << 24)
#define DM_LAYOUT_NOWHERE UINT64_MAX

#define DM_GOB_WIDTH_B 64u
#define DM_GOB_HEIGHT 8u
#define DM_GOB_B 512u

enum dm_layout_kind {
    // NVIDIA's, with the byte order of Turing to Hopper. Measured on an H100.
    DM_LAYOUT_BLOCK_LINEAR,
    // Rows pitch_B apart; slices and layers follow each other; one level.
    DM_LAYOUT_PITCH,
    // Images of Mesa's llvmpipe and lavapipe: the layers of a level are contiguous. A test compares
    // it with lavapipe.
    DM_LAYOUT_LLVMPIPE,
    // Images of SwiftShader's Vulkan: the levels of a layer are contiguous, rows and columns are
    // rounded up to 2, and slices to 16 bytes. Uncompressed cube-compatible images have a border of
    // one texel. SwiftShader reports larger memory requirements for compressed images, because a
    // decompressed copy follows the image. A test compares it with SwiftShader.
    DM_LAYOUT_SWIFTSHADER,
};

struct dm_layout_level;

struct dm_layout_desc {
    enum dm_layout_kind kind;
    uint32_t element_B;
    uint32_t block_px; // an element covers block_px by block_px texels; 0 counts as 1
    uint64_t width_px;
    uint64_t height_px; // 0: one-dimensional
    uint64_t depth;     // slices of a 3D array; 0: not three-dimensional
    uint64_t layers;    // 0: not layered. Excludes depth
    uint32_t levels;
    bool cube;        // layers are cube faces
    uint64_t pitch_B; // DM_LAYOUT_PITCH only; 0: rows without gaps
    // Block-linear 2D only: choose the block height that covers the extent, between these two (log2
    // of GOBs). 0: the usual rule applies.
    uint8_t block_height_log2_least, block_height_log2_most;
    bool half_blocks; // heights are rounded up to such blocks, but the layout uses blocks half as
                      // high
    uint32_t word_B;  // size of an element in sparse tiles; at least element_B. 0: element_B
    bool sparse; // block-linear 2D and 3D only: blocks as high and deep as tiles (sparse.h), if
                 // level 0 has a tile
    const struct dm_layout_level *like; // block-linear only: blocks of the shape of this level's;
                                        // NULL: the usual rule applies
};

struct dm_layout_level {
    uint64_t offset_B; // of element (0, 0) of slice 0 or layer 0
    uint64_t size_B;   // bytes of the level: in one layer, or (llvmpipe) in all layers
    uint64_t pitch_B;  // distance between rows. Block-linear: bytes of a row in whole GOBs
    uint64_t slice_B;  // distance between slices. Block-linear: bytes of a slice, though the slices
                       // of a block are interleaved
    uint64_t layer_stride_B; // distance between layers
    uint32_t width_px, height_px;
    uint32_t width_el, height_el, depth;
    // Block-linear: extent in GOBs, with the height rounded up to whole blocks; and the block's
    // shape (it is one GOB wide).
    uint32_t width_gob, height_gob;
    uint8_t block_height_log2_gob, block_depth_log2_gob;
};

struct dm_layout {
    enum dm_layout_kind kind;
    uint8_t dimensions; // 1, 2 or 3
    bool layered;
    bool cube;
    uint32_t element_B;
    uint32_t word_B; // size of an element in sparse tiles
    uint32_t block_px;
    uint32_t layers; // at least 1
    uint32_t levels;
    uint64_t total_B;     // bytes of the array before rounding
    uint64_t size_B;      // bytes of memory that the array needs
    uint64_t alignment_B; // of its start
    struct dm_layout_level level[DM_LAYOUT_LEVELS_MAX];
};

// Returns the largest number of levels: 1 + floor(log2(largest of width, height and depth)). Layers
// do not count.
uint32_t dm_layout_levels_most(uint64_t width_px, uint64_t height_px, uint64_t depth);

// Computes the layout of a description. Returns 0, or -EINVAL for an invalid description: no width
// or no element, depth combined with layers, too many levels, extents above DM_LAYOUT_EXTENT_MAX, a
// pitch shorter than a row, or a size that does not fit in 63 bits. *layout is then unchanged.
int dm_layout_init(struct dm_layout *layout, const struct dm_layout_desc *desc);

// Returns the byte offset of an element from the start of the layout, or DM_LAYOUT_NOWHERE if the
// level has no such element.
uint64_t dm_layout_locate(const struct dm_layout *layout, uint32_t level, uint64_t x_el, uint64_t y,
                          uint64_t z);

// The same for one byte of a row: x_B is the element's position times element_B, plus the byte
// inside the element.
uint64_t dm_layout_locate_B(const struct dm_layout *layout, uint32_t level, uint64_t x_B,
                            uint64_t y, uint64_t z);

// A box of a level: bytes of a row, rows, slices or layers.
struct dm_layout_box {
    uint32_t level;
    uint64_t x_B, y, z;
    uint64_t width_B, height, depth;
};

// Computes [*first_B, *end_B), the smallest range of bytes that holds the box. Returns 0, or
// -EINVAL if the box is empty or leaves the level.
int dm_layout_span(const struct dm_layout *layout, const struct dm_layout_box *box,
                   uint64_t *first_B, uint64_t *end_B);

// Computes the layout of one layer (or cube face): an array of its own with the same levels, which
// is not layered. Offsets still count from the start of the whole array; total_B, size_B and
// alignment_B remain those of the whole array. Returns 0, or -EINVAL if there is no such layer.
int dm_layout_layer(const struct dm_layout *layout, uint32_t layer, struct dm_layout *out);

// The rows of a level, for layouts other than block-linear: row y of slice or layer z starts at
// offset_B + z * slice_B + y * pitch_B. Precondition: level < layout->levels.
struct dm_layout_rows {
    uint64_t offset_B, pitch_B, slice_B;
};
static inline struct dm_layout_rows dm_layout_rows(const struct dm_layout *layout, uint32_t level)
{
    const struct dm_layout_level *v = &layout->level[level];

    return (struct dm_layout_rows){
        .offset_B = v->offset_B,
        .pitch_B = v->pitch_B,
        .slice_B = layout->layered ? v->layer_stride_B : v->slice_B,
    };
}

// Returns the description that dm_layout_init made the layout from, without the block rules of
// video formats. Change it to ask for the layout of a similar array.
struct dm_layout_desc dm_layout_describe(const struct dm_layout *layout);

// The extent of a level: max(1, extent >> level). A dimension that does not exist (0) stays 0.
static inline uint64_t dm_layout_minify(uint64_t extent_px, uint32_t level)
{
    uint64_t minified_px = level < 64 ? extent_px >> level : 0;

    return extent_px && !minified_px ? 1 : minified_px;
}

// Number of slices or layers of a level: the values that z can take.
uint64_t dm_layout_depth(const struct dm_layout *layout, uint32_t level);

// The values of cuArrayGetMemoryRequirements and cuMipmappedArrayGetMemoryRequirements.
void dm_layout_memory_requirements(const struct dm_layout *layout, uint64_t *size_B,
                                   uint64_t *alignment_B);
