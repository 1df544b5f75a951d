// SPDX-License-Identifier: MIT
// For the chapters about textures and surfaces: their operands.
#pragma once
#include "kn_surface.h" // enum kn_geometry
#include "lower.h"

// The handle of [object, {coordinates}]: a register, a variable such as `.global .texref t`, or a
// parameter of such a type. Reads its value as a register of 64 bits.
px_register px_object_handle(struct px_lower *l, const struct px_operand *address,
                             enum px_space references);

// Whether an operand is a reference of the module in this space.
bool px_is_reference(const struct px_lower *l, const struct px_operand *operand,
                     enum px_space space);

// The coordinates of [object, {coordinates}], by dimension. Registers that the geometry lacks are
// constants of 0.
struct px_coordinates {
    px_register x, y, z, layer;
};
// `type` is that of all coordinates but the layer.
void px_object_coordinates(struct px_lower *l, const struct px_operand *address,
                           enum kn_geometry geometry, unsigned type, struct px_coordinates *out);

// The geometry of a modifier (PX_MOD_1D …).
enum kn_geometry px_geometry(unsigned modifier);
// The number of coordinates of a geometry besides the layer.
unsigned px_geometry_dimensions(enum kn_geometry geometry);
