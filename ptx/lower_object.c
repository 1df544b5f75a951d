// SPDX-License-Identifier: MIT
// Operands that textures and surfaces share: [object, {coordinates}].
#include "lower_object.h"

#include "body.h"

enum kn_geometry px_geometry(unsigned modifier)
{
    switch (modifier) {
    case PX_MOD_1D:
        return KN_GEOMETRY_1D;
    case PX_MOD_2D:
        return KN_GEOMETRY_2D;
    case PX_MOD_3D:
        return KN_GEOMETRY_3D;
    case PX_MOD_A1D:
        return KN_GEOMETRY_A1D;
    case PX_MOD_CUBE:
        return KN_GEOMETRY_CUBE;
    case PX_MOD_ACUBE:
        return KN_GEOMETRY_ACUBE;
    default:
        return KN_GEOMETRY_A2D;
    }
}

unsigned px_geometry_dimensions(enum kn_geometry geometry)
{
    switch (geometry) {
    case KN_GEOMETRY_1D:
    case KN_GEOMETRY_A1D:
        return 1;
    case KN_GEOMETRY_2D:
    case KN_GEOMETRY_A2D:
        return 2;
    default:
        return 3;
    }
}

static bool is_layered(enum kn_geometry geometry)
{
    return geometry == KN_GEOMETRY_A1D || geometry == KN_GEOMETRY_A2D ||
           geometry == KN_GEOMETRY_ACUBE;
}

// `.param .u64 t` or `.param .texref t` of a kernel, named without ld.param.
static px_register parameter_value(struct px_lower *l, const struct px_operand *o)
{
    struct px_slot *slot = &l->body->slots[o->symbol];
    if (slot->formal.size_B != sizeof(uint64_t) || o->value || slot->kind == PX_SLOT_LOCAL) {
        px_refuse(l, "the parameter %.*s does not have the type of an object",
                  (int)slot->formal.name_length, slot->formal.name);
        return PX_NONE;
    }
    if (slot->kind == PX_SLOT_REGISTER)
        return px_widen(l, px_slot_register(l, slot), 'l');
    return px_filled(l, &(struct px_register_info){.letter = 'l',
                                                   .fill = PX_FILL_ARGUMENT,
                                                   .size_B = sizeof(uint64_t),
                                                   .value = slot->at_B});
}

bool px_is_reference(const struct px_lower *l, const struct px_operand *operand,
                     enum px_space space)
{
    return operand->kind == PX_OPERAND_VARIABLE && !operand->value &&
           l->module->variables[operand->symbol].space == space;
}

px_register px_object_handle(struct px_lower *l, const struct px_operand *address,
                             enum px_space references)
{
    const struct px_operand *o = address->parts;
    if (o->kind == PX_OPERAND_PARAMETER)
        return parameter_value(l, o);
    if (o->kind == PX_OPERAND_VARIABLE && !px_is_reference(l, o, references)) {
        px_refuse(l, "the variable %.*s is not a reference of the type that is needed here",
                  (int)(o->text.length < 60 ? o->text.length : 60), o->text.at);
        return PX_NONE;
    }
    if (o->kind == PX_OPERAND_OWN) {
        px_refuse(l, "\"%.*s\" is not a reference",
                  (int)(o->text.length < 60 ? o->text.length : 60), o->text.at);
        return PX_NONE;
    }
    return px_value(l, o, PX_U64);
}

// "For 3D, 2D array and cube, the vector has four elements, of which the last one is ignored."
static bool check_count(struct px_lower *l, enum kn_geometry geometry, unsigned count)
{
    const unsigned needed = px_geometry_dimensions(geometry) + is_layered(geometry);
    if (count == 3 || count > 4)
        px_refuse(l, "a vector of %u elements is not possible here", count);
    else if (count < needed)
        px_refuse(l, "there are %u coordinates; the geometry has %u", count, needed);
    return !px_failed(l);
}

void px_object_coordinates(struct px_lower *l, const struct px_operand *address,
                           enum kn_geometry geometry, unsigned type, struct px_coordinates *out)
{
    const unsigned dimensions = px_geometry_dimensions(geometry);
    const px_register zero = px_constant(l, 'w', 0);
    px_register *const to[] = {&out->x, &out->y, &out->z};
    *out = (struct px_coordinates){zero, zero, zero, zero};
    if (address->count < 2) {
        px_refuse(l, "the address has no coordinates");
        return;
    }
    const struct px_operand *given = &address->parts[address->count - 1];
    const struct px_operand *list = given->kind == PX_OPERAND_VECTOR ? given->parts : given;
    const unsigned count = given->kind == PX_OPERAND_VECTOR ? given->count : 1;
    if (!check_count(l, geometry, count))
        return;
    if (is_layered(geometry))
        out->layer = px_value(l, list++, PX_U32);
    for (unsigned i = 0; i < dimensions; i++)
        *to[i] = px_value(l, &list[i], type);
}
