// SPDX-License-Identifier: MIT
// Inside a module: the text, its names, and what the readers of declarations share.
#pragma once
#include "arena.h"
#include "lex.h"
#include "module.h"
#include "mutex.h"
#include "names.h"

enum px_name_kind {
    PX_NAME_FUNCTION = 1,
    PX_NAME_VARIABLE,
    // In bodies only:
    PX_NAME_REGISTER, // value: index in the reader's list
    PX_NAME_PARAMETER,
    PX_NAME_TARGETS,   // of .branchtargets and .calltargets
    PX_NAME_PROTOTYPE, // of .callprototype
};

// A parameter, or a value that is returned, of a function, kernel or prototype; or a .param
// variable of a body.
struct px_formal {
    const char *name; // in the text
    uint32_t name_length;
    uint16_t type; // enum px_modifier
    bool in_register, is_array;
    bool is_pointer;
    enum px_space pointer_space;
    uint32_t size_B, alignment_B;
};

struct px_formals {
    struct px_formal *list;
    size_t count, capacity; // malloc made the list until it is kept in an arena
};

// What a function's head says besides struct px_function; in the same order.
struct px_function_text {
    unsigned part;
    struct px_formals returns, parameters;
    bool no_return;
    uint32_t most_blocks; // .maxnctapersm
};

// One text. A module that was loaded has one part, and a linked module has several.
struct px_part {
    char name[64]; // "" if there is only one
    char *text;
    size_t text_B;
    unsigned version, target;
    bool target_specific;
    bool samplers;         // .target texmode_independent: samplers apart from textures
    bool debug, has_debug; // an option of .target, and the information that it promises
    unsigned debug_line;
    struct px_names names; // all that this text declares
};

struct px_module_state {
    struct px_part *parts;
    unsigned part_count;
    struct px_names globals; // symbols that parts share
    struct px_arena arena;
    struct px_function_text *functions;
    size_t function_capacity, function_text_capacity, variable_capacity;
    enum { PX_STACK_UNKNOWN, PX_STACK_UNUSED, PX_STACK_USED } stack; // of alloca; under the lock
    struct dm_mutex lock; // of programs, and of the arena after loading
};

static inline void px_module_state_init(struct px_module_state *state)
{
    dm_mutex_init(&state->lock, LEAF);
}

// Reads declarations. Errors stay in *r: the first one is in the report.
struct px_reader {
    struct px_lexer x;
    struct px_module *module;
    unsigned part;
    struct px_report *report;
    int error;
};

// Refuses the text: "line 12: …". Keeps the first error.
void px_reader_fail(struct px_reader *r, int error, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
// Expects a sign or word, and goes on after it.
bool px_reader_expect(struct px_reader *r, const char *text);
// The token as text for messages.
#define PX_TOKEN_ARGUMENTS(r)                                                                      \
    (int)((r)->x.token.length < 60 ? (r)->x.token.length : 60), (r)->x.token.at

// A constant expression with all operators of PTX.
struct px_constant {
    bool is_float, single, is_unsigned;
    uint64_t bits; // of an f64, or of an f32 if `single`
};
bool px_constant_read(struct px_reader *r, struct px_constant *out);
// An integer between 0 and `most`.
uint64_t px_constant_integer(struct px_reader *r, uint64_t most, const char *name);
// The bits of a constant as a value of a type: integers become floats and are cut to its width.
uint64_t px_constant_bits(const struct px_constant *c, unsigned type);

// Attributes that stand before a declaration.
struct px_linkage {
    bool visible, external, weak, common;
};
// Finds a symbol that the reader's part declares.
struct px_name *px_symbol_find(const struct px_reader *r, const char *text, size_t length);
// Adds a symbol, or finds the one that it is: declared before, or in another part. Returns its
// index; if it is new, `fresh`.
uint32_t px_symbol_add(struct px_reader *r, const struct px_token *name, struct px_linkage linkage,
                       enum px_name_kind kind, uint32_t fresh);
// `.global .align 4 .b8 x[4] = {…}, y;` The token is the space. Calls `add` for each variable.
typedef void px_variable_add_fn(struct px_reader *r, const struct px_variable *variable,
                                const struct px_token *name, void *context);
void px_variables_read(struct px_reader *r, struct px_linkage linkage, px_variable_add_fn *add,
                       void *context);
// Adds a variable to the module without a name in its part. Returns NULL without memory.
struct px_variable *px_variable_append(struct px_reader *r, const struct px_variable *variable);
// Directives of the text's head. px_target_read returns whether the token was .target.
void px_version_read(struct px_reader *r);
bool px_target_read(struct px_reader *r);
void px_address_size_read(struct px_reader *r);
// Whether the token is a space of variables (.global, .const, .shared, .local, .tex).
bool px_space_read(const struct px_reader *r, enum px_space *space);
// The type that the token names, or 0.
unsigned px_type_read(const struct px_reader *r);
// Whether registers and variables can have the type. "Fundamental types, and .f16x2"; variables
// also the opaque ones. Others are types of instructions only.
bool px_type_is_fundamental(unsigned type);
// `(.param .b32 a, .reg .f32 b)`: the token is the opening bracket. Names may be _ or missing in
// prototypes.
void px_formals_read(struct px_reader *r, struct px_formals *out);
// `.param .align 4 .b8 x[12]`: the token is after .param.
bool px_formal_read(struct px_reader *r, struct px_formal *out);
// The next name of the same declaration, and its dimensions.
bool px_formal_name_read(struct px_reader *r, struct px_formal *out);
void px_formals_add(struct px_reader *r, struct px_formals *list, const struct px_formal *formal);
// `.entry` or `.func`.
void px_function_read(struct px_reader *r, struct px_linkage linkage);
// .file, .loc, .section, .pragma and the like. Returns whether the token was one of them.
bool px_debug_skip(struct px_reader *r);
