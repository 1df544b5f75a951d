// SPDX-License-Identifier: MIT
// Finds the row of instructions.def that a statement's modifiers fit, and the sentence if there is
// no such row.
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "body.h"
#include "instructions_table.h"

static int compare_text(const char *name, const char *text, size_t length)
{
    const int c = strncmp(name, text, length);
    return c ? c : name[length] != 0;
}

unsigned px_modifier_find(const char *text, size_t length)
{
    size_t first = 0, end = PX_MOD_COUNT - 1;
    while (first < end) {
        const size_t middle = (first + end) / 2;
        const unsigned modifier = px_modifiers_sorted[middle];
        const int c = compare_text(px_modifiers[modifier].name, text, length);
        if (!c)
            return modifier;
        if (c < 0)
            first = middle + 1;
        else
            end = middle;
    }
    return 0;
}

// The first row of a root, or px_row_count.
static unsigned first_row(const struct px_text *root)
{
    unsigned first = 0, end = px_row_count;
    while (first < end) {
        const unsigned middle = (first + end) / 2;
        if (compare_text(px_rows[middle].root, root->at, root->length) < 0)
            first = middle + 1;
        else
            end = middle;
    }
    return first;
}

static bool root_is_unsupported(const struct px_text *root)
{
    for (const char *const *name = px_unsupported_roots; *name; name++)
        if (!compare_text(*name, root->at, root->length))
            return true;
    return false;
}

bool px_word_is_unsupported(const struct px_text *root, const struct px_text *modifier)
{
    static const char *const modifiers[] = {"block_scale", "scale_vec::1X", "scale_vec::2X",
                                            "scale_vec::4X"};
    for (size_t i = 0; i < sizeof(modifiers) / sizeof(*modifiers); i++)
        if (!compare_text(modifiers[i], modifier->at, modifier->length))
            return true;
    return root_is_unsupported(root) ||
           (modifier->length > 6 && !memcmp(modifier->at, "kind::", 6));
}

// How far the rows came, for the sentence: `fitted` modifiers fit, and then these groups did not.
enum { GROUPS_MOST = 32 };
struct progress {
    unsigned fitted, count;
    const uint16_t *groups[GROUPS_MOST];
};

// Notes that `at` modifiers fit, and that `group` (NULL: the end of the instruction) did not.
static void progress_note(struct progress *p, unsigned at, const uint16_t *group)
{
    if (at < p->fitted)
        return;
    if (at > p->fitted)
        p->count = 0;
    p->fitted = at;
    if (group && p->count < GROUPS_MOST)
        p->groups[p->count++] = group;
}

static const uint16_t *group_end(const uint16_t *group)
{
    while (*group)
        group++;
    return group + 1;
}

static bool group_has(const uint16_t *group, unsigned modifier)
{
    for (const uint16_t *m = group + 1; *m; m++)
        if (*m == modifier)
            return true;
    return false;
}

// Matches the modifiers from `at` on with the groups from `group` on. An optional group first
// takes the modifier if it can.
static bool match_groups(struct px_statement *s, const uint16_t *group, unsigned at,
                         unsigned choice, struct progress *p)
{
    while (*group) {
        const bool literal = *group == PX_GROUP_LITERAL, maybe = *group == PX_GROUP_MAYBE;
        const bool fits = at < s->modifier_count && group_has(group, s->modifiers[at]);
        const uint16_t *next = group_end(group);
        if (maybe) {
            s->choice[choice] = 0;
            if (fits) {
                s->choice[choice] = s->modifiers[at];
                if (match_groups(s, next, at + 1, choice + 1, p))
                    return true;
                s->choice[choice] = 0;
            }
            choice++;
        } else if (fits) {
            if (!literal)
                s->choice[choice++] = s->modifiers[at];
            at++;
        } else {
            progress_note(p, at, group);
            return false;
        }
        group = next;
    }
    if (at < s->modifier_count)
        progress_note(p, at, NULL);
    return at == s->modifier_count;
}

// No row has this form. It may be newer than the table, like an unknown instruction.
static void refuse(struct px_lower *l, const struct px_statement *s, const struct progress *p)
{
    char list[300] = "";
    bool listed[PX_MOD_COUNT] = {false};
    size_t length = 0;
    for (unsigned i = 0; i < p->count; i++)
        for (const uint16_t *m = p->groups[i] + 1; *m && length < sizeof(list) - 40; m++) {
            if (listed[*m])
                continue;
            listed[*m] = true;
            length += (size_t)snprintf(list + length, sizeof(list) - length, "%s.%s",
                                       length ? ", " : "", px_modifiers[*m].name);
        }
    if (p->fitted < s->modifier_count)
        px_lower_fail(l, -ENOEXEC, ".%s is not possible here%s%s",
                      px_modifier_name(s->modifiers[p->fitted]), *list ? "; expected: " : "", list);
    else
        px_lower_fail(l, -ENOEXEC, "a modifier is missing; expected: %s", list);
}

static void types_note(struct px_statement *s)
{
    s->type_count = 0;
    for (unsigned i = 0; i < s->modifier_count; i++)
        if (s->modifiers[i] < PX_TYPE_COUNT && s->type_count < PX_TYPES_MOST)
            s->types[s->type_count++] = s->modifiers[i];
}

// "PTX ISA Notes" and "Target ISA Notes" of each instruction.
static void versions_check(struct px_lower *l, const struct px_statement *s,
                           const struct px_part *part)
{
    const struct px_row *row = s->row;
    if (row->version > part->version)
        px_refuse(l, "needs .version %u.%u, but the text has %u.%u", row->version / 10u,
                  row->version % 10u, part->version / 10, part->version % 10);
    else if (row->target > part->target)
        px_refuse(l, "needs .target sm_%u, but the text has sm_%u", row->target, part->target);
    else if (row->last_version && part->version > row->last_version &&
             part->target > row->last_target)
        px_refuse(l,
                  "is not supported from .version %u.%u and .target sm_%u on, but the text has "
                  "%u.%u and sm_%u; use the form with %s",
                  (row->last_version + 1u) / 10, (row->last_version + 1u) % 10,
                  row->last_target + 1u, part->version / 10, part->version % 10, part->target,
                  strcmp(row->root, "mad") ? ".sync" : "a rounding mode");
}

void px_match(struct px_lower *l, struct px_statement *s, const struct px_text *root,
              const struct px_part *part)
{
    struct progress p = {0};
    const unsigned first = first_row(root);
    types_note(s);
    for (unsigned i = first;
         i < px_row_count && !compare_text(px_rows[i].root, root->at, root->length); i++) {
        if (match_groups(s, px_rows[i].groups, 0, 0, &p)) {
            s->row = &px_rows[i];
            versions_check(l, s, part);
            return;
        }
    }
    if (root_is_unsupported(root))
        px_unsupported(l, "this instruction is not supported");
    else if (first >= px_row_count || compare_text(px_rows[first].root, root->at, root->length))
        px_lower_fail(l, -ENOEXEC, "this instruction is not known");
    else
        refuse(l, s, &p);
}
