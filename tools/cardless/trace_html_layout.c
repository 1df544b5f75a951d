// SPDX-License-Identifier: MIT
// Prints the layout of an array as JSON, for the page of `cardless trace --html`.
#include "trace_html_layout.h"

#include <inttypes.h>

static const char *html_kind(enum dm_layout_kind kind)
{
    switch (kind) {
    case DM_LAYOUT_BLOCK_LINEAR:
        return "block-linear";
    case DM_LAYOUT_PITCH:
        return "pitch";
    case DM_LAYOUT_LLVMPIPE:
        return "llvmpipe";
    case DM_LAYOUT_SWIFTSHADER:
        return "swiftshader";
    }
    return "unknown";
}

static void html_level(FILE *to, const struct dm_layout_level *v)
{
    fprintf(to,
            "{\"offset_B\":%" PRIu64 ",\"size_B\":%" PRIu64 ",\"pitch_B\":%" PRIu64
            ",\"slice_B\":%" PRIu64 ",\"layer_stride_B\":%" PRIu64,
            v->offset_B, v->size_B, v->pitch_B, v->slice_B, v->layer_stride_B);
    fprintf(to, ",\"width_px\":%u,\"height_px\":%u,\"width_el\":%u,\"height_el\":%u,\"depth\":%u",
            v->width_px, v->height_px, v->width_el, v->height_el, v->depth);
    fprintf(to,
            ",\"width_gob\":%u,\"height_gob\":%u,\"block_height_log2_gob\":%u,"
            "\"block_depth_log2_gob\":%u}",
            v->width_gob, v->height_gob, v->block_height_log2_gob, v->block_depth_log2_gob);
}

void trace_html_layout(FILE *to, const struct dm_layout *layout)
{
    fprintf(to,
            "{\"kind\":\"%s\",\"dimensions\":%u,\"layered\":%s,\"cube\":%s,\"element_B\":%u,"
            "\"block_px\":%u,\"layers\":%u",
            html_kind(layout->kind), layout->dimensions, layout->layered ? "true" : "false",
            layout->cube ? "true" : "false", layout->element_B, layout->block_px, layout->layers);
    fprintf(to, ",\"total_B\":%" PRIu64 ",\"size_B\":%" PRIu64 ",\"alignment_B\":%" PRIu64,
            layout->total_B, layout->size_B, layout->alignment_B);
    fprintf(to, ",\"levels\":[");
    for (uint32_t i = 0; i < layout->levels; i++) {
        fputs(i ? "," : "", to);
        html_level(to, &layout->level[i]);
    }
    fprintf(to, "]}");
}
