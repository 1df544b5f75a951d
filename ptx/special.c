// SPDX-License-Identifier: MIT
// The names of special registers, and when registers are filled in.
#include "decode.h"

#include <string.h>

static const char *const names[] = {
#define PX_SPECIAL_NAME(name, text) text,
    PX_SPECIAL_LIST(PX_SPECIAL_NAME)
#undef PX_SPECIAL_NAME
};

int px_special_find(const char *name, size_t length)
{
    for (int i = 0; i < PX_SPECIAL_COUNT; i++)
        if (strlen(names[i]) == length && !memcmp(names[i], name, length))
            return i;
    return -1;
}

enum px_fill_time px_fill_time(const struct px_register_info *r)
{
    if (r->fill == PX_FILL_BY_OPS)
        return PX_FILL_NEVER;
    if (r->fill != PX_FILL_SPECIAL)
        return PX_FILL_LAUNCH;
    switch ((enum px_special)r->index) {
    case PX_SPECIAL_TID_X:
    case PX_SPECIAL_TID_Y:
    case PX_SPECIAL_TID_Z:
    case PX_SPECIAL_WARPID:
        return PX_FILL_WARP;
    case PX_SPECIAL_CTAID_X:
    case PX_SPECIAL_CTAID_Y:
    case PX_SPECIAL_CTAID_Z:
    case PX_SPECIAL_CLUSTERID_X:
    case PX_SPECIAL_CLUSTERID_Y:
    case PX_SPECIAL_CLUSTERID_Z:
    case PX_SPECIAL_CLUSTER_CTAID_X:
    case PX_SPECIAL_CLUSTER_CTAID_Y:
    case PX_SPECIAL_CLUSTER_CTAID_Z:
    case PX_SPECIAL_CLUSTER_CTARANK:
    case PX_SPECIAL_SMID:
        return PX_FILL_BLOCK;
    default:
        return PX_FILL_LAUNCH;
    }
}
