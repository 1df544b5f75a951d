// SPDX-License-Identifier: MIT
// Takes the names of forms that access memory apart:
//
//     ld.generic.u8:32.v      atom.shared.cas.64      red.generic.add.f16x2
#include "access_form.h"

#include <stdlib.h>
#include <string.h>

static bool skip(const char **at, const char *word)
{
    const size_t length = strlen(word);
    if (strncmp(*at, word, length))
        return false;
    *at += length;
    return true;
}

// "u8", "32", "f16x2", "bf16": the bytes.
static uint32_t type_size(const char *at, const char **end)
{
    char *after;
    at += strcspn(at, "0123456789");
    const uint32_t bits = (uint32_t)strtoul(at, &after, 10);
    *end = after;
    return (*after == 'x' ? 2 * bits : bits) / 8;
}

bool px_access_parse(const char *form, struct px_access_form *out)
{
    const char *at = form;
    *out = (struct px_access_form){0};
    if (skip(&at, "ld."))
        out->read = true;
    else if (skip(&at, "st."))
        out->write = true;
    else if (skip(&at, "atom.") || skip(&at, "red."))
        out->read = out->write = out->atomic = true;
    else
        return false;
    if (skip(&at, "shared."))
        out->space = PX_ACCESS_SHARED;
    else if (skip(&at, "local."))
        out->space = PX_ACCESS_LOCAL;
    else if (!skip(&at, "generic."))
        return false;
    if (out->atomic)
        at += strcspn(at, ".");
    out->value_B = type_size(at, &at);
    if (*at == ':')
        out->register_B = type_size(at, &at);
    return out->value_B != 0;
}
