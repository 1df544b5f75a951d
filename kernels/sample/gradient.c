// SPDX-License-Identifier: MIT
// Lengths of gradients. The card computes with numbers of 10 significant bits, and approximates the
// longest axis of the ellipse that dx and dy span by the longest of four vectors:
//
//     dx    dy    11/16 (dx + dy)    11/16 (dx - dy)
//
// The length of a vector of components a >= b >= c is about a + 11/32 b + 1/4 c. All numbers here
// are doubles with few bits, so that only the steps that cut bits off lose any.
#include "gradient.h"

#include "convert_scalar.h"
#include "cube.h"

struct vector {
    double part[3];
};

// Keeps the first 10 bits of a number.
static double cut(double x)
{
    uint64_t bits;

    memcpy(&bits, &x, sizeof(bits));
    bits &= ~((UINT64_C(1) << 43) - 1);
    memcpy(&x, &bits, sizeof(x));
    return x;
}

static double magnitude(double x)
{
    return x < 0 ? -x : x;
}

// The value of the last of the 10 bits of a number that is not 0.
static double last_bit(double x)
{
    uint64_t bits;
    double power;

    memcpy(&bits, &x, sizeof(bits));
    bits &= UINT64_C(0x7ff) << 52;
    memcpy(&power, &bits, sizeof(power));
    return power * 0x1p-9;
}

// Cuts two numbers off `guard` bits below the last bit of the longer one, and adds them.
static double add_aligned(double x, double y, double guard)
{
    const double longer = magnitude(x) > magnitude(y) ? x : y;
    double unit;

    if (longer == 0)
        return 0;
    unit = last_bit(longer) / guard;
    return ((double)(int64_t)(x / unit) + (double)(int64_t)(y / unit)) * unit;
}

// A number of 10 bits times numerator / 2^(shift + down): the product of the bits is rounded to
// `shift` bits less, halves up.
static double multiply(double x, int numerator, int shift, double down)
{
    int64_t bits;

    if (x == 0)
        return 0;
    bits = (int64_t)(x / last_bit(x)) * numerator + (1 << (shift - 1));
    return (double)(bits >> shift) * last_bit(x) / down;
}

static double eleven_32nds(double x)
{
    return multiply(x, 11, 3, 4);
}

static double eleven_16ths(double x)
{
    return multiply(x, 11, 3, 2);
}

// Sorts the magnitudes of a vector, the largest first.
static struct vector sorted(struct vector v)
{
    double a = magnitude(v.part[0]), b = magnitude(v.part[1]), c = magnitude(v.part[2]);
    const double most = a > b ? (a > c ? a : c) : (b > c ? b : c);
    const double least = a < b ? (a < c ? a : c) : (b < c ? b : c);

    return (struct vector){{most, a + b + c - most - least, least}};
}

// The length of a vector of numbers of 10 bits.
static double length_of(struct vector v)
{
    const struct vector s = sorted(v);

    return s.part[0] + cut(add_aligned(eleven_32nds(s.part[1]), s.part[2] / 4, 1));
}

// The length of 11/16 of a vector.
static double length_of_part(struct vector v)
{
    const struct vector s = sorted(v);
    const double second = multiply(s.part[1], 121, 6, 8); // 11/16 * 11/32
    const double third = eleven_16ths(s.part[2]) / 4;

    return cut(eleven_16ths(s.part[0])) + cut(add_aligned(second, third, 1));
}

static struct vector combined(struct vector x, struct vector y, double sign)
{
    struct vector sum;

    for (unsigned i = 0; i < 3; i++)
        sum.part[i] = cut(add_aligned(x.part[i], sign * y.part[i], 2));
    return sum;
}

static double longest(double a, double b)
{
    return a > b ? a : b;
}

// The product of two numbers of 10 bits. It is the sum of one of them shifted by the bits of the
// other, less 6 bits of each term; then it is cut off to 10 bits.
static double product(double x, double y)
{
    const double sign = (x < 0) != (y < 0) ? -1 : 1;
    uint32_t bits, shifts, sum = 0;

    if (x == 0 || y == 0)
        return 0;
    bits = (uint32_t)(magnitude(x) / last_bit(x));
    shifts = (uint32_t)(magnitude(y) / last_bit(y));
    for (unsigned i = 0; i < 10; i++)
        sum += (shifts >> i & 1) * (bits << i >> 6);
    return sign * cut((sum + 7) * 0x1p6) * last_bit(x) * last_bit(y);
}

// The area of the parallelogram of dx and dy.
static double area_of_pair(struct vector dx, struct vector dy)
{
    return magnitude(
        add_aligned(product(dx.part[0], dy.part[1]), -product(dx.part[1], dy.part[0]), 2));
}

// The longest of the four vectors.
static double length_of_pair(struct vector dx, struct vector dy)
{
    return longest(
        longest(length_of(dx), length_of(dy)),
        longest(length_of_part(combined(dx, dy, 1)), length_of_part(combined(dx, dy, -1))));
}

static struct vector part_of(struct vector v)
{
    for (unsigned i = 0; i < 3; i++)
        v.part[i] = eleven_16ths(v.part[i]);
    return v;
}

// The longest of the same vectors itself. Lengths of the same 10 bits count as equal: then dx comes
// before the sum, the sum before dy, and dy before the difference. The difference is that of the
// longer one of dx and dy from the other one. [directions/plane]
static struct vector longest_of_pair(struct vector dx, struct vector dy)
{
    const bool down = cut(length_of(dx)) <= cut(length_of(dy));
    const struct vector sum = combined(dx, dy, 1);
    const struct vector difference = down ? combined(dy, dx, -1) : combined(dx, dy, -1);
    const struct vector vectors[4] = {dx, part_of(sum), dy, part_of(difference)};
    const double lengths[4] = {length_of(dx), length_of_part(sum), length_of(dy),
                               length_of_part(difference)};
    unsigned first = 0;

    for (unsigned i = 1; i < 4; i++)
        if (cut(lengths[i]) > cut(lengths[first]))
            first = i;
    return vectors[first];
}

// A gradient's component in texels. NaN is 0, and everything that is very long is as long.
static double component(uint32_t bits, double size)
{
    const double value = (double)kn_float_of_bits(bits);

    if (!(value == value))
        return 0;
    return product(cut(value > 0x1p60 ? 0x1p60 : value < -0x1p60 ? -0x1p60 : value), size);
}

// In three dimensions, the gradient is the difference of two coordinates. If they are infinite or
// too large, it is very long.
static uint32_t difference(uint32_t at, uint32_t d)
{
    const float from = kn_float_of_bits(at), to = from + kn_float_of_bits(d);
    const bool inside = from > -0x1p64f && from < 0x1p64f;

    return kn_float_bits(inside || from != from ? to - from : 0x1p60f);
}

// The extents of the first level, from which gradients become texels. If levels come before it, its
// extents are parts of those of the very first one, not rounded to texels.
// [random_views, 3D textures]
static void extents_of(const struct kn_texture *t, double size[3])
{
    const struct kn_texture_level *l = &t->level[0];
    const double part = t->levels_before ? 1.0 / (double)(UINT64_C(1) << t->levels_before) : 1;
    const uint32_t texels[3] = {l->width, l->height, l->depth};

    for (unsigned i = 0; i < 3; i++)
        size[i] = t->levels_before ? t->whole[i] * part : texels[i];
}

static struct vector vector_of(const struct kn_texture *t, const struct kn_lane *lane,
                               const uint32_t d[3])
{
    const bool slices = t->shape == KN_TEXTURE_3D;
    const bool row = t->shape == KN_TEXTURE_1D || t->shape == KN_TEXTURE_1D_LAYERED;
    const unsigned axes = slices ? 3 : row ? 1 : 2;
    double size[3];
    struct vector v = {{0, 0, 0}};

    extents_of(t, size);
    for (unsigned i = 0; i < axes; i++)
        v.part[i] = component(slices ? difference(lane->coordinate[i], d[i]) : d[i],
                              t->normalized ? size[i] : 1);
    return v;
}

// The distance of a coordinate of a point of a cube from a face, 0 to 2.
static double to_face(double at, unsigned face)
{
    return cut(face & 1 ? 1 + at : 1 - at);
}

// The difference of two points of a cube map, in texels. Beyond an edge, the distances of both
// points to the edge are cut off before they are added. Opposite faces are `size` texels apart.
static struct vector cube_vector(const struct kn_cube_point *from, const struct kn_cube_point *to,
                                 double size)
{
    const unsigned axis = from->face / 2, other = to->face / 2;
    const double scale = size / 2;
    struct vector v = {{0, 0, 0}};

    for (unsigned i = 0; i < 3; i++)
        if (i != axis && i != other)
            v.part[i] = product(cut(to->at[i] - from->at[i]), scale);
    if (axis != other)
        v.part[other] = cut(product(to_face(from->at[other], to->face), scale) +
                            product(to_face(to->at[axis], from->face), scale));
    else if (from->face != to->face)
        v.part[axis] = size;
    return v;
}

// The components of a cube's vector on a face.
static struct vector on_face(unsigned face, struct vector v)
{
    struct vector st = {{0, 0, 0}};

    kn_cube_plane(face, v.part, st.part);
    return st;
}

// Gradients that leave a face have a length alone.
static struct kn_gradient cube_gradient(const struct kn_texture *t, const struct kn_lane *lane,
                                        const uint32_t dx[3], const uint32_t dy[3])
{
    double size[3];
    struct kn_lane beside = *lane, below = *lane;
    struct kn_cube_point at, right, down;
    struct vector x, y, axis;

    extents_of(t, size);
    for (unsigned i = 0; i < 3; i++) {
        const float c = kn_float_of_bits(lane->coordinate[i]);
        beside.coordinate[i] = kn_float_bits(c + kn_float_of_bits(dx[i]));
        below.coordinate[i] = kn_float_bits(c + kn_float_of_bits(dy[i]));
    }
    at = kn_cube_point(lane);
    right = kn_cube_point(&beside);
    down = kn_cube_point(&below);
    x = cube_vector(&at, &right, size[0]);
    y = cube_vector(&at, &down, size[0]);
    if (at.face != right.face || at.face != down.face)
        return (struct kn_gradient){.length = longest(length_of(x), length_of(y))};
    axis = on_face(at.face, longest_of_pair(x, y));
    return (struct kn_gradient){.length = length_of_pair(x, y),
                                .area = area_of_pair(on_face(at.face, x), on_face(at.face, y)),
                                .axis = {axis.part[0], axis.part[1]}};
}

struct kn_gradient kn_gradient(const struct kn_texture *t, const struct kn_lane *lane,
                               const uint32_t dx[3], const uint32_t dy[3])
{
    if (t->shape == KN_TEXTURE_CUBE || t->shape == KN_TEXTURE_CUBE_LAYERED)
        return cube_gradient(t, lane, dx, dy);
    const struct vector x = vector_of(t, lane, dx), y = vector_of(t, lane, dy);
    const struct vector axis = longest_of_pair(x, y);
    if (t->shape == KN_TEXTURE_3D || t->shape == KN_TEXTURE_1D_LAYERED)
        return (struct kn_gradient){.length = length_of_pair(x, y)};
    return (struct kn_gradient){.length = length_of_pair(x, y),
                                .area = area_of_pair(x, y),
                                .axis = {axis.part[0], axis.part[1]}};
}
