// SPDX-License-Identifier: MIT
// Declarations of variables, with their initial values.
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "instructions_table.h"
#include "module_state.h"
#include "alloc.h"

enum { DIMENSIONS_MOST = 8, BYTES_MOST_LOG2 = 40 };

// The variable that is read now.
struct shape {
    unsigned type;
    uint64_t element_B;
    uint64_t counts[DIMENSIONS_MOST]; // 0: of an empty first dimension
    unsigned dimensions;
    bool vector;       // the last dimension is of .v2 or .v4
    uint64_t elements; // all; 0 if the first dimension is empty
};

struct initial {
    struct px_reader *r;
    const struct shape *shape;
    char *bytes;
    size_t capacity;
    uint64_t most; // elements that were written
    struct px_relocation *relocations;
    size_t relocation_count, relocation_capacity;
};

bool px_space_read(const struct px_reader *r, enum px_space *space)
{
    static const struct {
        const char *name;
        enum px_space space;
    } spaces[] = {{".global", PX_GLOBAL},
                  {".const", PX_CONSTANT},
                  {".shared", PX_SHARED},
                  {".local", PX_LOCAL},
                  {".tex", PX_TEXTURE_REFERENCE}};
    for (size_t i = 0; i < sizeof(spaces) / sizeof(*spaces); i++)
        if (px_lex_is(&r->x, spaces[i].name)) {
            *space = spaces[i].space;
            return true;
        }
    return false;
}

unsigned px_type_read(const struct px_reader *r)
{
    const struct px_token *t = &r->x.token;
    if (t->kind != PX_TOKEN_DOTTED)
        return 0;
    for (unsigned i = 1; i < PX_TYPE_COUNT; i++)
        if (strlen(px_modifiers[i].name) == t->length - 1 &&
            !memcmp(px_modifiers[i].name, t->at + 1, t->length - 1))
            return i;
    return 0;
}

bool px_type_is_fundamental(unsigned type)
{
    const unsigned others[] = {PX_F16X2, PX_TEXREF, PX_SAMPLERREF, PX_SURFREF};
    for (unsigned i = 0; i < sizeof(others) / sizeof(*others); i++)
        if (type == others[i])
            return true;
    return type && px_type_kind(type) != 'o';
}

static bool reserve(struct initial *v, uint64_t bytes)
{
    if (bytes <= v->capacity)
        return true;
    size_t more = v->capacity ? v->capacity : 256;
    while (more < bytes)
        more *= 2;
    char *grown = bytes < UINT64_C(1) << BYTES_MOST_LOG2 ? dm_realloc(v->bytes, more) : NULL;
    if (!grown) {
        px_reader_fail(v->r, -ENOMEM, "out of host memory for the initial value");
        return false;
    }
    memset(grown + v->capacity, 0, more - v->capacity);
    v->bytes = grown;
    v->capacity = more;
    return true;
}

// An address: `symbol`, `symbol + 4`, `generic(symbol)`; or with a mask, `0xff00(symbol)`, which is
// one byte of it.
static void initial_address(struct initial *v, uint64_t at_B, uint64_t mask)
{
    struct px_reader *r = v->r;
    struct px_relocation out = {.at_B = at_B, .size_B = (uint32_t)v->shape->element_B};
    const bool generic = px_lex_take(&r->x, "generic");
    const bool bracket = (generic || mask) && px_reader_expect(r, "(");
    const struct px_name *name = px_symbol_find(r, r->x.token.at, r->x.token.length);
    if (!name) {
        px_reader_fail(r, -EINVAL, "\"%.*s\" is not declared", PX_TOKEN_ARGUMENTS(r));
        return;
    }
    out.generic = generic;
    out.is_function = name->kind != PX_NAME_VARIABLE;
    out.symbol = (uint32_t)name->value;
    if (!out.is_function && r->module->variables[out.symbol].space != PX_GLOBAL &&
        r->module->variables[out.symbol].space != PX_CONSTANT)
        px_reader_fail(r, -EINVAL, "the address of \"%.*s\" is not that of a global variable",
                       PX_TOKEN_ARGUMENTS(r));
    else if (out.is_function && generic)
        px_reader_fail(r, -EINVAL, "generic() is for variables");
    px_lex_next(&r->x);
    if (generic)
        px_reader_expect(r, ")");
    if (px_lex_is(&r->x, "+") || px_lex_is(&r->x, "-")) {
        struct px_constant c;
        const bool minus = px_lex_is(&r->x, "-");
        px_lex_next(&r->x);
        if (!px_constant_read(r, &c))
            return;
        out.offset = minus ? -(int64_t)c.bits : (int64_t)c.bits;
    }
    if (bracket && !generic)
        px_reader_expect(r, ")");
    if (mask)
        out.shift = (uint32_t)__builtin_ctzll(mask);
    if (!mask && out.size_B != 8 && out.size_B != 4)
        px_reader_fail(r, -EINVAL, "an address needs 8 bytes, but the element has %u", out.size_B);
    struct px_relocation *grown =
        px_grow(v->relocations, v->relocation_count, &v->relocation_capacity, sizeof(*grown));
    if (!grown) {
        px_reader_fail(r, -ENOMEM, "out of host memory for the initial value");
        return;
    }
    v->relocations = grown;
    grown[v->relocation_count++] = out;
}

static void initial_scalar(struct initial *v, uint64_t index)
{
    struct px_reader *r = v->r;
    const uint64_t at_B = index * v->shape->element_B;
    if (v->shape->elements && index >= v->shape->elements) {
        px_reader_fail(r, -EINVAL, "there are more initial values than elements (%llu)",
                       (unsigned long long)v->shape->elements);
        return;
    }
    if (!reserve(v, at_B + v->shape->element_B))
        return;
    v->most = index >= v->most ? index + 1 : v->most;
    if (r->x.token.kind == PX_TOKEN_NAME && !px_lex_is(&r->x, "WARP_SZ")) {
        initial_address(v, at_B, 0);
        return;
    }
    struct px_constant c;
    if (!px_constant_read(r, &c))
        return;
    if (px_lex_is(&r->x, "(")) {
        initial_address(v, at_B, c.bits ? c.bits : 1);
        return;
    }
    const char kind = px_type_kind(v->shape->type);
    if (c.is_float ? kind == 's' || kind == 'u' : kind == 'f') {
        px_reader_fail(r, -EINVAL, "%s cannot be the initial value of type .%s",
                       c.is_float ? "a float" : "an integer", px_modifier_name(v->shape->type));
        return;
    }
    const uint64_t bits = px_constant_bits(&c, v->shape->type);
    memcpy(v->bytes + at_B, &bits, v->shape->element_B < 8 ? v->shape->element_B : 8);
}

// A list in braces, whose first element is number `at`, in dimension `level`. Returns the number of
// the next one: values follow each other, also after rows that are not full (recorded:
// spaces/global-init-2d). Each dimension has its braces; a vector's may be absent.
static uint64_t initial_list(struct initial *v, unsigned level, uint64_t at)
{
    struct px_reader *r = v->r;
    const struct shape *shape = v->shape;
    const bool last = level + 1 >= shape->dimensions - (shape->vector && shape->dimensions > 1);
    const uint64_t first = at;
    px_reader_expect(r, "{");
    while (!r->error && !px_lex_is(&r->x, "}")) {
        if (px_lex_is(&r->x, "{")) {
            if (level + 1 >= v->shape->dimensions) {
                px_reader_fail(r, -EINVAL, "the initial value has more braces than dimensions");
                return at;
            }
            at = initial_list(v, level + 1, at);
        } else if (last) {
            initial_scalar(v, at++);
        } else {
            px_reader_fail(r, -EINVAL, "each row of the initial value needs braces");
        }
        if (level + 1 == shape->dimensions && shape->elements && at - first > shape->counts[level])
            px_reader_fail(r, -EINVAL, "there are more initial values than elements (%llu)",
                           (unsigned long long)shape->counts[level]);
        if (!px_lex_take(&r->x, ","))
            break;
    }
    px_reader_expect(r, "}");
    return at;
}

static void shape_dimensions(struct px_reader *r, struct shape *shape, unsigned vector)
{
    shape->elements = 1;
    while (px_lex_take(&r->x, "[")) {
        if (shape->dimensions >= DIMENSIONS_MOST - 1) {
            px_reader_fail(r, -ENOTSUP, "the array has more than %d dimensions",
                           DIMENSIONS_MOST - 1);
            return;
        }
        uint64_t count = 0;
        if (!px_lex_is(&r->x, "]"))
            count = px_constant_integer(r, UINT64_C(1) << BYTES_MOST_LOG2, "an array's dimension");
        if (!px_reader_expect(r, "]"))
            return;
        shape->counts[shape->dimensions++] = count;
    }
    shape->vector = vector;
    if (vector)
        shape->counts[shape->dimensions++] = vector;
    for (unsigned i = 0; i < shape->dimensions; i++)
        if (__builtin_mul_overflow(shape->elements, shape->counts[i], &shape->elements) ||
            shape->elements > UINT64_C(1) << BYTES_MOST_LOG2)
            px_reader_fail(r, -EINVAL, "the variable is larger than 2^%d bytes", BYTES_MOST_LOG2);
}

static void variable_initial(struct px_reader *r, struct shape *shape, struct px_variable *out)
{
    struct initial v = {.r = r, .shape = shape};
    if (out->space == PX_TEXTURE_REFERENCE || out->space == PX_SAMPLER_REFERENCE ||
        out->space == PX_SURFACE_REFERENCE) { // { addr_mode_0 = wrap, … }
        if (!px_lex_is(&r->x, "{") || !px_lex_skip_body(&r->x))
            px_reader_fail(r, -EINVAL, "the initial value has no }");
        return;
    }
    if (!px_lex_is(&r->x, "{"))
        initial_scalar(&v, 0);
    else if (shape->dimensions)
        initial_list(&v, 0, 0);
    else
        px_reader_fail(r, -EINVAL, "the initial value of a single element has no braces");
    if (!shape->elements)
        out->size_B = v.most * shape->element_B;
    const uint64_t initial_B = out->size_B < v.capacity ? out->size_B : v.capacity;
    char *bytes = r->error ? NULL : px_arena_take(&r->module->state->arena, initial_B);
    struct px_relocation *relocations =
        r->error
            ? NULL
            : px_arena_array(&r->module->state->arena, v.relocation_count, sizeof(*relocations));
    if (bytes && relocations) {
        if (v.bytes)
            memcpy(bytes, v.bytes, initial_B);
        if (v.relocation_count)
            memcpy(relocations, v.relocations, v.relocation_count * sizeof(*relocations));
        out->initial = bytes;
        out->initial_B = initial_B;
        out->relocations = relocations;
        out->relocation_count = (unsigned)v.relocation_count;
    } else if (!r->error) {
        px_reader_fail(r, -ENOMEM, "out of host memory for the initial value");
    }
    dm_free(v.bytes);
    dm_free(v.relocations);
}

// What stands between the space and the names.
struct head {
    unsigned type, vector;
    uint32_t alignment_B;
    bool managed;
};

// ".attribute introduced in PTX ISA version 4.0", ".managed requires sm_30 or higher".
static void attributes_read(struct px_reader *r, struct head *head)
{
    const struct px_part *part = &r->module->state->parts[r->part];
    px_reader_expect(r, "(");
    do {
        if (px_lex_take(&r->x, ".managed")) {
            head->managed = true;
        } else if (px_lex_take(&r->x, ".unified")) { // (uuid1, uuid2)
            px_reader_expect(r, "(");
            while (!r->error && !px_lex_is(&r->x, ")") && r->x.token.kind != PX_TOKEN_END)
                px_lex_next(&r->x);
            px_reader_expect(r, ")");
        } else {
            px_reader_fail(r, -EINVAL, "\"%.*s\" is not an attribute of variables",
                           PX_TOKEN_ARGUMENTS(r));
        }
    } while (!r->error && px_lex_take(&r->x, ","));
    px_reader_expect(r, ")");
    if (!r->error && head->managed && (part->version < 40 || part->target < 30))
        px_reader_fail(r, -EINVAL,
                       ".managed needs .version 4.0 and .target sm_30, but the text has %u.%u and "
                       "sm_%u",
                       part->version / 10, part->version % 10, part->target);
}

static void head_read(struct px_reader *r, struct head *head)
{
    while (!r->error && r->x.token.kind == PX_TOKEN_DOTTED) {
        if (px_lex_take(&r->x, ".align")) {
            head->alignment_B = (uint32_t)px_constant_integer(r, 1 << 20, "an alignment");
            if (!head->alignment_B || (head->alignment_B & (head->alignment_B - 1)))
                px_reader_fail(r, -EINVAL, "the alignment must be a power of two");
        } else if (px_lex_take(&r->x, ".attribute")) {
            attributes_read(r, head);
        } else if (px_lex_is(&r->x, ".v2") || px_lex_is(&r->x, ".v4") || px_lex_is(&r->x, ".v8")) {
            head->vector = (unsigned)(r->x.token.at[2] - '0');
            px_lex_next(&r->x);
        } else {
            head->type = px_type_read(r);
            if (!px_type_is_fundamental(head->type) || head->type == PX_PRED)
                px_reader_fail(r, -EINVAL, "\"%.*s\" is not a type of variables",
                               PX_TOKEN_ARGUMENTS(r));
            px_lex_next(&r->x);
        }
    }
    const unsigned bits = px_type_bits(head->type);
    const struct px_part *part = &r->module->state->parts[r->part];
    if (!r->error && !head->type)
        px_reader_fail(r, -EINVAL, "the variable has no type");
    // "Vectors must not exceed 128 bits in length."
    else if (!r->error && (head->vector == 8 || head->vector * bits > 128))
        px_reader_fail(r, -EINVAL, "a vector of variables has at most 4 elements and 128 bits");
    // "Sampler state variables are declared in the independent mode only."
    else if (!r->error && head->type == PX_SAMPLERREF && !part->samplers)
        px_reader_fail(r, -EINVAL, ".samplerref needs .target texmode_independent");
    // "Support for .b128 type introduced in PTX ISA version 8.3."
    else if (!r->error && bits == 128 && part->version < 83)
        px_reader_fail(r, -EINVAL, "the type .%s needs .version 8.3", px_modifier_name(head->type));
}

static enum px_space reference_space(enum px_space space, unsigned type)
{
    return type == PX_TEXREF       ? PX_TEXTURE_REFERENCE
           : type == PX_SURFREF    ? PX_SURFACE_REFERENCE
           : type == PX_SAMPLERREF ? PX_SAMPLER_REFERENCE
                                   : space;
}

static void one_variable(struct px_reader *r, const struct head *head, enum px_space space,
                         struct px_linkage linkage, px_variable_add_fn *add, void *context)
{
    const struct px_token name = r->x.token;
    if (name.kind != PX_TOKEN_NAME || (name.length == 1 && *name.at == '_')) {
        px_reader_fail(r, -EINVAL, "\"%.*s\" is not a variable's name", PX_TOKEN_ARGUMENTS(r));
        return;
    }
    px_lex_next(&r->x);
    const bool opaque = space == PX_TEXTURE_REFERENCE; // `.tex .u32 t`
    struct shape shape = {.type = head->type,
                          .element_B = opaque ? 8 : (px_type_bits(head->type) + 7) / 8};
    shape_dimensions(r, &shape, head->vector);
    struct px_variable variable = {
        .name = px_arena_text(&r->module->state->arena, name.at, name.length),
        .space = reference_space(space, head->type),
        .size_B = shape.elements * shape.element_B,
        .element_B = (uint32_t)shape.element_B * (head->vector ? head->vector : 1),
        .alignment_B = head->alignment_B,
        .visible = linkage.visible || linkage.common,
        .external = linkage.external,
        .part = r->part,
        .weak = linkage.weak || linkage.common,
        .common = linkage.common,
        .managed = head->managed,
        .line = name.line,
    };
    if (!variable.name)
        px_reader_fail(r, -ENOMEM, "out of host memory");
    const uint32_t natural_B = (uint32_t)shape.element_B * (head->vector ? head->vector : 1);
    if (!variable.alignment_B)
        variable.alignment_B = natural_B;
    if (!r->error && px_lex_take(&r->x, "=")) {
        if (space == PX_SHARED || space == PX_LOCAL || linkage.external)
            px_reader_fail(r, -EINVAL, "a .%s variable has no initial value",
                           linkage.external     ? "extern"
                           : space == PX_SHARED ? "shared"
                                                : "local");
        else
            variable_initial(r, &shape, &variable);
    } else if (!shape.elements && !linkage.external) {
        px_reader_fail(r, -EINVAL, "the array has no size");
    }
    if (!r->error)
        add(r, &variable, &name, context);
}

void px_variables_read(struct px_reader *r, struct px_linkage linkage, px_variable_add_fn *add,
                       void *context)
{
    enum px_space space = PX_GLOBAL;
    struct head head = {0};
    px_space_read(r, &space);
    // "Support for .tex … was removed in PTX version 1.5" (recorded: x_surf
    // syntax/old-tex-directive)
    if (space == PX_TEXTURE_REFERENCE && r->module->state->parts[r->part].version >= 15)
        px_reader_fail(r, -EINVAL,
                       "the directive .tex ended with PTX version 1.5; declare the "
                       "variable as .global .texref");
    px_lex_next(&r->x);
    // "Support for constant banks .const[n] … ended with PTX version 2.2"
    if (px_lex_is(&r->x, "[") && r->module->state->parts[r->part].version >= 22)
        px_reader_fail(r, -EINVAL, "banks of constant memory ended with PTX version 2.2");
    if (px_lex_take(&r->x, "["))
        while (!px_lex_take(&r->x, "]") && r->x.token.kind != PX_TOKEN_END)
            px_lex_next(&r->x);
    head_read(r, &head);
    // ".managed … can only be applied to variables in the global space" (recorded on a card)
    if (head.managed && (space != PX_GLOBAL || reference_space(space, head.type) != PX_GLOBAL))
        px_reader_fail(r, -EINVAL, "only variables in .global can be .managed");
    do
        one_variable(r, &head, space, linkage, add, context);
    while (!r->error && px_lex_take(&r->x, ","));
    px_reader_expect(r, ";");
}
