// SPDX-License-Identifier: MIT
// Prints arguments of API calls by their C types: structs by field name, enumerations and flags by
// constant, unions by the member that their discriminator selects, handles as "CUarray #12".
//
// The types are tables, which tools/gen/api_table.py generates from a table of entry points and the
// headers that it names. The tables hold offsets into each other and no pointers, so that loading
// the library does not have to relocate them.
//
// The values belong to the program, so any pointer in them may be invalid. They are read through
// the kernel (process_vm_readv), which returns an error if the address is not mapped; or, for a
// program that has ended, from what was recorded of its memory (record_format.h).
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum em_shape_kind {
    EM_SHAPE_SIGNED,
    EM_SHAPE_UNSIGNED,
    EM_SHAPE_HEX, // addresses, unknown flags
    EM_SHAPE_FLOAT,
    EM_SHAPE_ENUM,
    EM_SHAPE_FLAGS,
    EM_SHAPE_HANDLE,
    EM_SHAPE_OPAQUE,  // a pointer that is not followed
    EM_SHAPE_STRING,  // a pointer to characters
    EM_SHAPE_POINTER, // to `target`
    EM_SHAPE_STRUCT,
    EM_SHAPE_UNION,
    EM_SHAPE_BYTES,
};

struct em_shape {
    uint32_t name;   // in `names`
    uint32_t first;  // in `constants` (enumeration, flags), `members` (struct, union)
    uint16_t count;  // of those
    uint16_t target; // pointer: index in `shapes`; handle: its type for handle_text; union that
                     // contains its discriminator: 1 + the index of that member
    uint32_t size_B;
    uint8_t kind;
};

struct em_constant {
    uint32_t name;
    int64_t value;
};

enum {
    EM_MEMBER_QUIET = 1,      // reserved words and padding: printed only if a byte is not 0
    EM_MEMBER_OUTPUT = 2,     // an argument that the call writes
    EM_MEMBER_ALWAYS = 4,     // an argument that the call writes even if it fails
    EM_MEMBER_INPUT = 8,      // an output that the call reads too
    EM_MEMBER_INDIRECT = 16,  // a struct passed by value: the slot holds its address
    EM_MEMBER_COUNT_OUT = 32, // `count` names an argument that points to the number of elements
    EM_MEMBER_LIST = 64,      // a pointer to `count` elements
};
enum { EM_NO_SIBLING = 255 };

// A member of a struct or union, or an argument of an entry point (whose offset is 8 times its
// index).
struct em_member {
    uint32_t name; // empty if it is an unnamed union or struct
    uint32_t offset;
    uint16_t shape;
    uint16_t elements; // the length of an array; 0 if it is not an array
    uint8_t count;     // list: the sibling that holds the number of elements
    uint8_t selector;  // union (or pointer to one): the sibling that selects the member
    uint8_t flags;
    uint8_t any_case; // member of a union: selected by every value without a case
    uint32_t cases;   // member of a union: the values that select it, in `cases`
    uint16_t case_count;
};

struct em_description {
    const char *names;
    const struct em_constant *constants;
    const struct em_member *members;
    const struct em_shape *shapes;
    const int64_t *cases;
    uint16_t result; // shape of the type that calls return
    // Writes "CUarray #12" for a handle, or returns false. `type` is the `target` of the shape.
    bool (*handle_text)(unsigned type, uint64_t handle, char *out, size_t size);
    struct em_description_counts {
        uint32_t names_B, constants, members, shapes, cases;
    } counts;
};

// A growing text. It is cut at EM_TEXT_MAX_B, or if the host is out of memory.
enum { EM_TEXT_MAX_B = 64 << 10 };
struct em_text {
    char *bytes; // em_text_finish frees it
    size_t used, size;
    bool cut;
};
void em_text_put(struct em_text *text, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void em_text_append(struct em_text *text, const struct em_text *more);
// Ends the text with a newline; if the text was cut, "…" precedes the newline.
void em_text_end_line(struct em_text *text);
void em_text_finish(struct em_text *text);

// The arguments of a call. They also lead to its outputs. `values` has one word for each.
struct em_arguments {
    const struct em_description *description;
    uint32_t first; // in `members`
    uint32_t count;
    const uint64_t *values;
    // Reads up to `size` bytes of memory, and returns how many it could read. NULL: that of this
    // process.
    size_t (*read)(const void *source, uint64_t address, void *out, size_t size);
    const void *source;
};
// Prints "Flags=0, dev=0". An output is printed as an address, unless the call reads it too.
void em_describe_arguments(struct em_text *text, const struct em_arguments *arguments);
// Prints "; *device=0, *count=1" for outputs that are not NULL. If the call failed, prints only the
// outputs that it writes nevertheless.
void em_describe_outputs(struct em_text *text, const struct em_arguments *arguments, bool failed);
// Returns the name of the entry point's handle argument of this type (the `target` of its shape),
// or NULL unless there is exactly one.
struct em_entry;
const char *em_describe_handle_name(const struct em_entry *entry, unsigned type);
// Prints the name of a result, or its number if it has no name.
void em_describe_result(struct em_text *text, const struct em_description *d, int64_t result);
