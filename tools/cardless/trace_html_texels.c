// SPDX-License-Identifier: MIT
// Prints the texels of an array as JSON.
#include "trace_html_texels.h"

#include "format.h"

static void print_base64(FILE *to, const uint8_t *bytes, uint64_t size_B)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

    for (uint64_t at = 0; at < size_B; at += 3) {
        const uint64_t left = size_B - at;
        const uint32_t word = (uint32_t)bytes[at] << 16 |
                              (left > 1 ? (uint32_t)bytes[at + 1] << 8 : 0) |
                              (left > 2 ? bytes[at + 2] : 0);

        putc(digits[word >> 18], to);
        putc(digits[word >> 12 & 63], to);
        putc(left > 1 ? digits[word >> 6 & 63] : '=', to);
        putc(left > 2 ? digits[word & 63] : '=', to);
    }
}

// The bytes that were recorded when the array ended, or NULL. Another array may have had its
// address later.
static const struct trace_bytes *find_texels(const struct trace_model *m,
                                             const struct trace_contents *c,
                                             const struct trace_array *a)
{
    const uint64_t died = m->objects[a->object].died;

    for (size_t i = 0; i < c->byte_count; i++) {
        const struct trace_bytes *b = &c->bytes[i];

        if (b->role != RF_TEXELS || b->address != a->address || b->size_B > a->size_B || !b->kept)
            continue;
        if (b->call == TRACE_NONE
                ? died == TRACE_NEVER
                : m->calls[b->call].start <= died && died <= m->calls[b->call].end)
            return b;
    }
    return NULL;
}

static const char *name_kind(const struct dm_format_info *info)
{
    switch (info ? info->kind : DM_FORMAT_KIND_BLOCK) {
    case DM_FORMAT_KIND_UINT:
        return "uint";
    case DM_FORMAT_KIND_SINT:
        return "sint";
    case DM_FORMAT_KIND_FLOAT:
        return "float";
    case DM_FORMAT_KIND_UNORM:
        return "unorm";
    case DM_FORMAT_KIND_SNORM:
        return "snorm";
    case DM_FORMAT_KIND_BLOCK:
    case DM_FORMAT_KIND_YUV:
        break;
    }
    return "bytes";
}

void html_texels(FILE *to, const struct trace_model *m, const struct trace_contents *c,
                 const struct trace_array *a, uint64_t *left_B)
{
    const struct dm_format_info *info = dm_format_info(a->format);
    const struct trace_bytes *b = c && a->object != TRACE_NONE ? find_texels(m, c, a) : NULL;

    fprintf(to, ",\"texel\":{\"kind\":\"%s\",\"channel_B\":%u,\"channels\":%u}", name_kind(info),
            info ? info->channel_B : 0, a->channels);
    if (!b)
        return;
    fputs(",\"ended_by\":", to);
    if (b->call == TRACE_NONE)
        fputs("null", to);
    else
        fprintf(to, "%u", b->call + 1);
    fputs(",\"bytes\":", to);
    if (b->size_B > *left_B) {
        fputs("null", to);
        return;
    }
    *left_B -= b->size_B;
    putc('"', to);
    print_base64(to, b->kept, b->size_B);
    putc('"', to);
}
