// SPDX-License-Identifier: MIT
// Cube maps. A face's coordinates s and t grow to the right and down:
//
//     face     0 +x   1 -x   2 +y   3 -y   4 +z   5 -z
//     s        -z     +z     +x     +x     +x     -x
//     t        -y     -y     +z     -z     -y     -y
#include "cube.h"

#include "axis.h"
#include "convert_scalar.h"
#include "lanes/interpolate.inc.h"

struct face_axes {
    uint8_t s, t; // axes of the direction
    int8_t s_sign, t_sign;
};
static const struct face_axes face_axes[6] = {
    {2, 1, -1, -1}, {2, 1, 1, -1}, {0, 2, 1, 1}, {0, 2, 1, -1}, {0, 1, 1, -1}, {0, 1, -1, -1},
};

// The longest axis wins, z before y before x if they are equal.
static unsigned face_of(const double direction[3])
{
    double a[3];
    unsigned axis = 0;

    for (unsigned i = 0; i < 3; i++)
        a[i] = direction[i] < 0 ? -direction[i] : direction[i];
    if (a[1] >= a[0])
        axis = 1;
    if (a[2] >= a[axis])
        axis = 2;
    return 2 * axis + (direction[axis] < 0);
}

// NaN counts as 0, and so do infinity and numbers whose reciprocal is denormal (recorded:
// cube/face-of-26-directions-and-odd-ones).
static double component(uint32_t bits)
{
    return (bits & 0x7fffffff) >= 0x7e800000 ? 0.0 : (double)kn_float_of_bits(bits);
}

// rcp.approx of a number that is 0 or as component() leaves it: programs compute it before the
// fetch, with the same unit as kernels do.
static float reciprocal_of(float length)
{
    const uint32_t bits = kn_float_bits(length), digits = bits & 0x7fffff;
    const uint32_t value =
        kn_interpolate_cut(&kn_segments_rcp, digits >> 16, (bits & 0xffff) << 1, 17);

    return kn_float_of_bits((253 - (bits >> 23) + !digits) << 23 | (digits ? value & 0x7fffff : 0));
}

struct kn_cube_point kn_cube_point(const struct kn_lane *lane)
{
    const double direction[3] = {component(lane->coordinate[0]), component(lane->coordinate[1]),
                                 component(lane->coordinate[2])};
    struct kn_cube_point point = {.face = face_of(direction)};
    const double along = direction[point.face / 2], length = along < 0 ? -along : along;
    const float reciprocal = reciprocal_of((float)length);

    for (unsigned i = 0; i < 3; i++)
        point.at[i] = length > 0 ? (float)direction[i] * reciprocal : 0;
    return point;
}

void kn_cube_plane(unsigned face, const double vector[3], double st[2])
{
    const struct face_axes f = face_axes[face];

    st[0] = vector[f.s] * f.s_sign;
    st[1] = vector[f.t] * f.t_sign;
}

// A coordinate of a face from 0 to 1, rounded down to 21 bits after the point.
static uint32_t face_coordinate(double at)
{
    return kn_float_bits((float)((int32_t)((at + 1) * 0x1p20) * 0x1p-21));
}

unsigned kn_cube_face(struct kn_lane *lane)
{
    const struct kn_cube_point point = kn_cube_point(lane);
    const struct face_axes f = face_axes[point.face];

    lane->coordinate[0] = face_coordinate(point.at[f.s] * f.s_sign);
    lane->coordinate[1] = face_coordinate(point.at[f.t] * f.t_sign);
    lane->coordinate[2] = 0;
    return point.face;
}

// Moves a texel outside of one edge to the face beyond it. Texels are at whole odd or even numbers
// from 1 - size to size - 1 inside a face; the cube is then `size` from its centre to each face.
static void seam_cross(int32_t size, int32_t *x, int32_t *y, int32_t *z)
{
    const unsigned face = (unsigned)*z % 6;
    const int32_t first = *z - (int32_t)face;
    const struct face_axes from = face_axes[face];
    int32_t s = 2 * *x + 1 - size, t = 2 * *y + 1 - size;
    double direction[3];
    int32_t inside; // as far from the edge on the other face
    unsigned to_face;
    struct face_axes to;

    if (s > size || s < -size) {
        inside = 2 * size - (s < 0 ? -s : s);
        s = s < 0 ? -size : size;
    } else {
        inside = 2 * size - (t < 0 ? -t : t);
        t = t < 0 ? -size : size;
    }
    inside = inside < 1 - size ? 1 - size : inside;
    direction[from.s] = s * from.s_sign;
    direction[from.t] = t * from.t_sign;
    direction[face / 2] = face & 1 ? -inside : inside;
    to_face = face_of(direction);
    to = face_axes[to_face];
    *x = ((int32_t)direction[to.s] * to.s_sign + size - 1) / 2;
    *y = ((int32_t)direction[to.t] * to.t_sign + size - 1) / 2;
    *z = first + (int32_t)to_face;
}

static bool is_outside(int32_t at, int32_t size)
{
    return at < 0 || at >= size;
}

// Moves a position that is far beyond an edge next to it: to -1, or to size - 1/256.
static void axis_meet_corner(struct kn_axis *axis, int32_t size)
{
    if (is_outside(axis->first, size) && is_outside(axis->second, size))
        *axis =
            axis->first < 0 ? (struct kn_axis){-1, 0, 0} : (struct kn_axis){size - 1, size, 255};
}

// Ends a sample at the far edge of the face beyond an edge. [random_textures/anisotropic_cube]
static void axis_end(struct kn_axis *axis, int32_t size)
{
    if (axis->first < -size)
        *axis = (struct kn_axis){-size, 1 - size, 0};
    if (axis->second >= 2 * size)
        *axis = (struct kn_axis){2 * size - 2, 2 * size - 1, 255};
}

void kn_cube_axes(struct kn_axis *x, struct kn_axis *y, int32_t size)
{
    const bool x_out = is_outside(x->first, size) || is_outside(x->second, size);
    const bool y_out = is_outside(y->first, size) || is_outside(y->second, size);

    if (x_out && y_out) {
        axis_meet_corner(x, size);
        axis_meet_corner(y, size);
    }
    axis_end(x, size);
    axis_end(y, size);
}

// Infinite texels and NaNs beside a corner count, even if their weight is 0.
// [random_textures/cube_gradient]
static void add_weight(uint16_t *weight, unsigned more)
{
    const unsigned sum = (*weight & (KN_WEIGHT_TINY - 1)) + more;

    *weight = (uint16_t)(sum ? sum : KN_WEIGHT_TINY);
}

void kn_cube_seams(struct kn_taps *taps, unsigned from, int32_t size)
{
    unsigned corner = KN_TAPS_MAX;

    for (unsigned i = from; i < from + 4; i++) {
        const bool x_out = is_outside(taps->x[i], size), y_out = is_outside(taps->y[i], size);
        if (x_out && y_out)
            corner = i;
        else if (x_out || y_out)
            seam_cross(size, &taps->x[i], &taps->y[i], &taps->z[i]);
    }
    if (corner == KN_TAPS_MAX)
        return;
    // It gives a third of its weight to each of its neighbours, rounded to the nearest, and the
    // rest to the texel opposite. [filter_corners]
    const unsigned opposite = from + ((corner - from) ^ 3);
    const unsigned whole = taps->weight[corner] & (KN_WEIGHT_TINY - 1);
    const unsigned third = (2 * whole + 3) / 6;

    for (unsigned i = from; i < from + 4; i++)
        if (i != corner)
            add_weight(&taps->weight[i], i == opposite ? whole - 2 * third : third);
    taps->weight[corner] = 0;
    taps->x[corner] = taps->x[opposite];
    taps->y[corner] = taps->y[opposite];
    taps->z[corner] = taps->z[opposite];
    taps->corner = corner;
}
