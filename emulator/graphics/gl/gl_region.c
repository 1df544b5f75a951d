// SPDX-License-Identifier: MIT
// Sums and differences of boxes.
#include "gl_region.h"

uint64_t em_gl_box_volume(const struct em_gl_box *b)
{
    return b->width * b->height * b->depth;
}

bool em_gl_box_is_same(const struct em_gl_box *a, const struct em_gl_box *b)
{
    return a->x == b->x && a->width == b->width && a->y == b->y && a->height == b->height &&
           a->z == b->z && a->depth == b->depth;
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t most(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

// The smallest box that contains both.
static struct em_gl_box region_box_of_both(const struct em_gl_box *a, const struct em_gl_box *b)
{
    struct em_gl_box both = {
        .x = least(a->x, b->x), .y = (uint32_t)least(a->y, b->y), .z = (uint32_t)least(a->z, b->z)};
    both.width = most(a->x + a->width, b->x + b->width) - both.x;
    both.height = (uint32_t)most(a->y + a->height, b->y + b->height) - both.y;
    both.depth = (uint32_t)most(a->z + a->depth, b->z + b->depth) - both.z;
    return both;
}

// Whether the union of two boxes is the box `both`: one contains the other, or they differ in one
// direction only, and touch or overlap there.
static bool region_make_a_box(const struct em_gl_box *a, const struct em_gl_box *b,
                              const struct em_gl_box *both)
{
    bool x = a->x == b->x && a->width == b->width, y = a->y == b->y && a->height == b->height,
         z = a->z == b->z && a->depth == b->depth;
    uint64_t volume = em_gl_box_volume(both);
    if (volume == em_gl_box_volume(a) || volume == em_gl_box_volume(b))
        return true;
    return x + y + z == 2 && volume <= em_gl_box_volume(a) + em_gl_box_volume(b);
}

// Merges `b` with all boxes that form one box with it, and takes those out of the region.
static void region_merge(struct em_gl_region *region, struct em_gl_box *b)
{
    for (unsigned i = 0; i < region->count;) {
        struct em_gl_box both = region_box_of_both(&region->box[i], b);
        if (!region_make_a_box(&region->box[i], b, &both)) {
            i++;
            continue;
        }
        *b = both;
        region->box[i] = region->box[--region->count];
        i = 0; // the larger box may merge with others
    }
}

bool em_gl_region_add(struct em_gl_region *region, const struct em_gl_box *box)
{
    struct em_gl_box b = *box;
    region_merge(region, &b);
    if (region->count == EM_GL_BOXES_MAX)
        return false;
    region->box[region->count++] = b;
    return true;
}

void em_gl_region_grow(struct em_gl_region *region, const struct em_gl_box *box)
{
    unsigned best = 0;
    uint64_t growth = UINT64_MAX;
    if (em_gl_region_add(region, box))
        return;
    for (unsigned i = 0; i < region->count; i++) {
        struct em_gl_box both = region_box_of_both(&region->box[i], box);
        uint64_t grows = em_gl_box_volume(&both) - em_gl_box_volume(&region->box[i]);
        if (grows < growth) {
            growth = grows;
            best = i;
        }
    }
    region->box[best] = region_box_of_both(&region->box[best], box);
}

// ---- differences

struct difference {
    const struct em_gl_region *regions;
    unsigned count;
    void (*each)(void *arg, const struct em_gl_box *part);
    void *arg;
};

// The first coordinate and the end of a box along each axis.
struct cuboid {
    uint64_t from[3], end[3];
};

static struct cuboid region_cuboid_of(const struct em_gl_box *b)
{
    return (struct cuboid){
        {b->x, b->y, b->z},
        {b->x + b->width, (uint64_t)b->y + b->height, (uint64_t)b->z + b->depth}};
}

static struct em_gl_box region_box_of(const struct cuboid *c)
{
    return (struct em_gl_box){.x = c->from[0],
                              .y = (uint32_t)c->from[1],
                              .z = (uint32_t)c->from[2],
                              .width = c->end[0] - c->from[0],
                              .height = (uint32_t)(c->end[1] - c->from[1]),
                              .depth = (uint32_t)(c->end[2] - c->from[2])};
}

static bool region_meet(const struct cuboid *a, const struct cuboid *b)
{
    bool all = true;
    for (unsigned axis = 0; axis < 3; axis++)
        all = all && a->from[axis] < b->end[axis] && b->from[axis] < a->end[axis];
    return all;
}

bool em_gl_region_meets(const struct em_gl_region *region, const struct em_gl_box *box)
{
    const struct cuboid c = region_cuboid_of(box);
    bool any = false;
    for (unsigned i = 0; i < region->count && !any; i++) {
        const struct cuboid other = region_cuboid_of(&region->box[i]);
        any = region_meet(&other, &c);
    }
    return any;
}

// Finds the next box that overlaps `c`, from box *i of region *r on. Returns false if no
// further box does.
static bool region_find_hole(const struct difference *d, const struct cuboid *c, unsigned *r,
                             unsigned *i, struct cuboid *hole)
{
    for (; *r < d->count; ++*r, *i = 0) {
        for (; *i < d->regions[*r].count; ++*i) {
            *hole = region_cuboid_of(&d->regions[*r].box[*i]);
            if (region_meet(hole, c))
                return true;
        }
    }
    return false;
}

// Calls d->each with the part of `c` outside the boxes from number `i` of region `r` on: cuts off
// the parts beside the first box that overlaps, one direction after the other.
static void region_rest(const struct difference *d, unsigned r, unsigned i, struct cuboid c)
{
    struct cuboid hole, part;
    if (!region_find_hole(d, &c, &r, &i, &hole)) {
        struct em_gl_box b = region_box_of(&c);
        d->each(d->arg, &b);
        return;
    }
    for (unsigned axis = 3; axis-- > 0;) {
        if (c.from[axis] < hole.from[axis]) {
            part = c;
            part.end[axis] = c.from[axis] = hole.from[axis];
            region_rest(d, r, i + 1, part);
        }
        if (c.end[axis] > hole.end[axis]) {
            part = c;
            part.from[axis] = c.end[axis] = hole.end[axis];
            region_rest(d, r, i + 1, part);
        }
    }
}

void em_gl_region_rest(const struct em_gl_region *regions, unsigned count,
                       const struct em_gl_box *box,
                       void (*each)(void *arg, const struct em_gl_box *part), void *arg)
{
    region_rest(&(struct difference){.regions = regions, .count = count, .each = each, .arg = arg},
                0, 0, region_cuboid_of(box));
}
