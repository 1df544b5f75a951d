// SPDX-License-Identifier: MIT
// Records arrays, their layouts and their texels.
#include "record_array.h"

#include "array.h"
#include "context.h"
#include "context_base.h"
#include "lock.h"
#include "pkey.h"
#include "record.h"
#include "record_content.h"

enum { FIELDS = 15, LEVEL_FIELDS = 14 };

static void put_level(struct em_record *r, const struct dm_layout_level *l)
{
    const uint64_t fields[LEVEL_FIELDS] = {l->offset_B,
                                           l->size_B,
                                           l->pitch_B,
                                           l->slice_B,
                                           l->layer_stride_B,
                                           l->width_px,
                                           l->height_px,
                                           l->width_el,
                                           l->height_el,
                                           l->depth,
                                           l->width_gob,
                                           l->height_gob,
                                           l->block_height_log2_gob,
                                           l->block_depth_log2_gob};
    for (unsigned i = 0; i < LEVEL_FIELDS; i++)
        em_field(r, fields[i]);
}

void em_record_array(uint64_t handle, const CUDA_ARRAY3D_DESCRIPTOR *desc,
                     const struct em_storage *storage, uint32_t level)
{
    const struct dm_layout *l = &storage->layout;
    const size_t most = (FIELDS + LEVEL_FIELDS * (size_t)l->levels) * EM_FIELD_MOST_B;
    struct em_record r = em_record_begin_now(RF_ARRAY, 0, most);
    const uint64_t fields[] = {handle,
                               (uint64_t)desc->Format,
                               desc->NumChannels,
                               desc->Flags,
                               storage->address,
                               level,
                               l->kind,
                               l->layered | l->cube << 1,
                               l->dimensions,
                               l->element_B,
                               l->block_px,
                               l->layers,
                               l->size_B,
                               l->levels};
    for (unsigned i = 0; i < sizeof fields / sizeof *fields; i++)
        em_field(&r, fields[i]);
    for (uint32_t i = 0; i < l->levels; i++)
        put_level(&r, &l->level[i]);
    em_record_put(&r);
}

void em_record_texels(const struct em_storage *s, uint64_t call)
{
    em_assert_locked();
    if (s->of_graphics) // its texels may be newer in the graphics API
        return;
    const uint32_t keys = dm_pkey_enter();
    em_record_bytes(&(struct em_record_bytes){
        .role = RF_TEXELS,
        .call = call,
        .address = s->address,
        .row_B = s->layout.total_B < s->size_B ? s->layout.total_B : s->size_B,
        .rows = 1,
        .slices = 1,
    });
    dm_pkey_leave(keys);
}

static const struct em_storage *own_storage(const struct em_object *o)
{
    const struct em_array *a = o->type == EM_ARRAY ? (const struct em_array *)o : NULL;
    if (o->type == EM_MIPMAP)
        return ((const struct em_mipmap *)o)->storage;
    return a && !a->parent && !a->whole ? a->storage : NULL;
}

void em_record_texels_left(void)
{
    em_lock();
    for (struct em_context *c = em_context_next(NULL); c; c = em_context_next(c))
        for (const struct em_object *o = em_context_base(c)->objects; o; o = o->next)
            if (own_storage(o))
                em_record_texels(own_storage(o), 0);
    em_unlock();
}
