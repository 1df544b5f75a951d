// SPDX-License-Identifier: MIT
// Records arrays and their layouts.
#include "record_array.h"

#include "array_storage.h"
#include "record.h"

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
