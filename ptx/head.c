// SPDX-License-Identifier: MIT
// The head of a text: version, target and size of addresses.
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "module_state.h"

// The last minor version of each major version of the PTX ISA.
static const uint8_t minor_last[] = {
    [1] = 5, [2] = 3, [3] = 2, [4] = 3, [5] = 1, [6] = 5, [7] = 8, [8] = 8, [9] = 0};
enum { MAJOR_MOST = sizeof(minor_last) / sizeof(*minor_last) - 1 };

// "PTX ISA Notes" of .target: the first version that has a target, and one that has its
// specific ("a") and family ("f") features. 0: no version.
static const struct {
    uint8_t target, version, specific, family;
} targets[] = {
    {10, 10, 0, 0},    {11, 10, 0, 0},    {12, 12, 0, 0},    {13, 12, 0, 0},    {20, 20, 0, 0},
    {21, 20, 0, 0},    {30, 30, 0, 0},    {32, 40, 0, 0},    {35, 30, 0, 0},    {37, 41, 0, 0},
    {50, 40, 0, 0},    {52, 41, 0, 0},    {53, 42, 0, 0},    {60, 50, 0, 0},    {61, 50, 0, 0},
    {62, 50, 0, 0},    {70, 60, 0, 0},    {72, 61, 0, 0},    {75, 63, 0, 0},    {80, 70, 0, 0},
    {86, 71, 0, 0},    {87, 74, 0, 0},    {88, 73, 0, 0},    {89, 78, 0, 0},    {90, 78, 80, 0},
    {100, 86, 86, 88}, {101, 86, 86, 88}, {103, 88, 88, 88}, {110, 90, 90, 90}, {120, 87, 87, 88},
    {121, 88, 88, 88},
};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

// "The .version directive must be the first of a module." Only the first digit after the point
// counts (recorded on a card: 8.10 is read as 8.1).
void px_version_read(struct px_reader *r)
{
    struct px_part *part = &r->module->state->parts[r->part];
    unsigned major = 0, minor = 0;
    char text[16] = "";
    const struct px_token *t = &r->x.token;
    if (!px_reader_expect(r, ".version"))
        return;
    if (t->kind == PX_TOKEN_FLOAT && t->length < sizeof(text))
        memcpy(text, t->at, t->length);
    if (sscanf(text, "%2u.%1u", &major, &minor) != 2)
        px_reader_fail(r, -EINVAL, "\"%.*s\" is not a version of PTX", PX_TOKEN_ARGUMENTS(r));
    else if (major > MAJOR_MOST || (major == MAJOR_MOST && minor > minor_last[MAJOR_MOST]))
        px_reader_fail(r, -EPROTONOSUPPORT, "PTX version %u.%u is newer than %d.%d", major, minor,
                       MAJOR_MOST, minor_last[MAJOR_MOST]);
    else if (!major || minor > minor_last[major])
        px_reader_fail(r, -EPROTONOSUPPORT, "there is no version %u.%u of PTX", major, minor);
    part->version = 10 * major + minor;
    px_lex_next(&r->x);
}

// sm_NN or compute_NN, maybe with a letter.
static bool architecture_read(struct px_reader *r, struct px_part *part)
{
    const struct px_token *t = &r->x.token;
    const bool virtual = t->length > 8 && !memcmp(t->at, "compute_", 8);
    if (!virtual && (t->length < 4 || memcmp(t->at, "sm_", 3)))
        return false;
    unsigned number = 0;
    uint32_t i = virtual ? 8 : 3;
    for (; i < t->length && number < 1000 && is_digit(t->at[i]); i++)
        number = number * 10 + (unsigned)(t->at[i] - '0');
    const char letter = i + 1 == t->length ? t->at[i] : ' ';
    if (i != t->length && letter != 'a' && letter != 'f')
        return false;
    for (size_t k = 0; k < sizeof(targets) / sizeof(*targets); k++) {
        const unsigned version = letter == 'a'   ? targets[k].specific
                                 : letter == 'f' ? targets[k].family
                                                 : targets[k].version;
        if (targets[k].target != number || !version)
            continue;
        if (version > part->version)
            px_reader_fail(r, -EINVAL, ".target %.*s needs .version %u.%u, but the text has %u.%u",
                           PX_TOKEN_ARGUMENTS(r), version / 10, version % 10, part->version / 10,
                           part->version % 10);
        if (number >= part->target) {
            part->target = number;
            part->target_specific = letter != ' ';
        }
        return true;
    }
    return false;
}

static void target_word(struct px_reader *r, struct px_part *part)
{
    enum { NO_DOUBLES = 12 };
    if (px_lex_is(&r->x, "debug")) {
        part->debug = true;
        part->debug_line = r->x.token.line;
    } else if (px_lex_is(&r->x, "map_f64_to_f32")) {
        // (recorded on a card)
        if (part->target > NO_DOUBLES)
            px_reader_fail(r, -EINVAL, "map_f64_to_f32 is not possible with sm_%u, which has f64",
                           part->target);
    } else if (px_lex_is(&r->x, "texmode_independent")) {
        part->samplers = true;
    } else if (!px_lex_is(&r->x, "texmode_unified") && !architecture_read(r, part)) {
        px_reader_fail(r, -EINVAL, "\"%.*s\" is not a target", PX_TOKEN_ARGUMENTS(r));
    }
    px_lex_next(&r->x);
}

// "Subsequent .target directives can be used to change the set of target features."
bool px_target_read(struct px_reader *r)
{
    struct px_part *part = &r->module->state->parts[r->part];
    if (!px_lex_take(&r->x, ".target"))
        return false;
    do
        target_word(r, part);
    while (!r->error && px_lex_take(&r->x, ","));
    if (!r->error && !part->target)
        px_reader_fail(r, -EINVAL, ".target names no sm_NN");
    return true;
}

void px_address_size_read(struct px_reader *r)
{
    if (!px_lex_take(&r->x, ".address_size"))
        return;
    const uint64_t bits = px_constant_integer(r, 64, ".address_size");
    if (!r->error && bits != 64)
        px_reader_fail(r, -EINVAL, ".address_size must be 64; %llu is not possible",
                       (unsigned long long)bits);
}
