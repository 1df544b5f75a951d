// SPDX-License-Identifier: MIT
// The place of a texel in an array's memory, and of a byte in its levels. These are the rules of
// device-model/layout.c and kernels/kn_tile.h; a test compares each byte with them.
'use strict';

const GOB_WIDTH_B = 64, GOB_HEIGHT = 8, GOB_B = 512;

// Number of slices of a level, or of layers: the values that z can take.
function layout_depth(layout, level) {
    return layout.layered ? layout.layers : layout.levels[level].depth;
}

// The bits of an offset in a GOB are, from bit 8 down: x5 y2 x4 y1 y0 x3 x2 x1 x0.
function gob_offset_B(x_B, y) {
    return (x_B & 32) << 3 | (y & 4) << 5 | (x_B & 16) << 2 | (y & 3) << 4 | x_B & 15;
}

function tiled_offset_B(v, x_B, y, z) {
    const a = v.block_height_log2_gob, b = v.block_depth_log2_gob, gy = y >> 3;
    const block = ((z >> b) * (v.height_gob >> a) + (gy >> a)) * v.width_gob + (x_B >> 6);
    const gob = (z & (1 << b) - 1) << a | gy & (1 << a) - 1;
    return block * 2 ** (9 + a + b) + gob * GOB_B + gob_offset_B(x_B & 63, y & 7);
}

// The byte offset of byte x_B of row y of slice or layer z, or -1 if the level has no such byte.
function layout_locate_B(layout, level, x_B, y, z) {
    const v = layout.levels[level];
    if (!v || z < 0 || z >= layout_depth(layout, level) || x_B < 0 || y < 0 ||
        x_B >= v.width_el * layout.element_B || y >= v.height_el)
        return -1;
    const layer_B = v.offset_B + (layout.layered ? z * v.layer_stride_B : 0);
    const slice = layout.layered ? 0 : z;
    if (layout.kind !== 'block-linear')
        return layer_B + slice * v.slice_B + y * v.pitch_B + x_B;
    return layer_B + tiled_offset_B(v, x_B, y, slice);
}

// The same for the first byte of element x_el.
function layout_locate(layout, level, x_el, y, z) {
    return layout_locate_B(layout, level, x_el * layout.element_B, y, z);
}

// Undoes tiled_offset_B. The place may be in the padding.
function tiled_place(v, offset_B) {
    const a = v.block_height_log2_gob, b = v.block_depth_log2_gob, block_B = 2 ** (9 + a + b);
    const block = Math.floor(offset_B / block_B), in_block = offset_B - block * block_B;
    const gob = in_block >> 9, o = in_block & 511;
    const block_x = block % v.width_gob, block_row = Math.floor(block / v.width_gob);
    const rows = v.height_gob >> a, block_y = block_row % rows;
    return {
        x_B: block_x * GOB_WIDTH_B + (o >> 3 & 32 | o >> 2 & 16 | o & 15),
        y: ((block_y << a) + (gob & (1 << a) - 1)) * GOB_HEIGHT + (o >> 5 & 4 | o >> 4 & 3),
        z: (Math.floor(block_row / rows) << b) + (gob >> a),
    };
}

function linear_place(v, offset_B) {
    const z = v.slice_B ? Math.floor(offset_B / v.slice_B) : 0, in_slice = offset_B - z * v.slice_B;
    const y = v.pitch_B ? Math.floor(in_slice / v.pitch_B) : 0;
    return {x_B: in_slice - y * v.pitch_B, y, z};
}

// Bytes of one layer of a level; layouts whose layers lie inside a level count all layers as one.
function level_span_B(layout, level) {
    const v = layout.levels[level];
    const inside = layout.layered && layout.layers > 1 && v.layer_stride_B < v.size_B;
    return inside ? v.layer_stride_B : v.size_B;
}

// What byte `offset_B` of the array is: {level, x_el, y, z, byte} if it belongs to an element,
// {level, z, padding: true, …} if it is padding of a level, or null if it belongs to no level.
function layout_find(layout, offset_B) {
    if (offset_B < 0 || offset_B >= layout.size_B)
        return null;
    let padding = null;
    for (let level = 0; level < layout.levels.length; level++) {
        const v = layout.levels[level], span_B = level_span_B(layout, level);
        let layer = 0, in_level = offset_B - v.offset_B;
        if (in_level < 0)
            continue;
        if (layout.layered && layout.layers > 1 && v.layer_stride_B) {
            layer = Math.min(Math.floor(in_level / v.layer_stride_B), layout.layers - 1);
            in_level -= layer * v.layer_stride_B;
        }
        if (in_level >= span_B)
            continue;
        const place = layout.kind === 'block-linear' ? tiled_place(v, in_level) :
            linear_place(v, in_level);
        const z = layout.layered ? layer : place.z, x_el = Math.floor(place.x_B / layout.element_B);
        if (layout_locate_B(layout, level, place.x_B, place.y, z) === offset_B)
            return {level, x_el, y: place.y, z, byte: place.x_B % layout.element_B};
        padding = padding || {level, x_el, y: place.y, z, padding: true};
    }
    return padding;
}
