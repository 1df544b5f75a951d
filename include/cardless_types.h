/* SPDX-License-Identifier: MIT */
/* The types of a library's functions, so that a recording shows their arguments by name
 * (cardlessCaller): structs by field name, enumerations and flags by constant, unions by the member
 * that their discriminator selects, handles as "CUarray #12".
 *
 * The types are tables, which tools/gen/api_table.py generates from a table of entry points and the
 * headers that it names. The tables hold offsets into each other and no pointers, so that loading
 * a library does not have to relocate them. Since CARDLESS_VERSION 9. */
#ifndef CARDLESS_TYPES_H
#define CARDLESS_TYPES_H

#include <stddef.h>
#include <stdint.h>
#ifndef __cplusplus
#include <stdbool.h>
#endif

typedef enum cardlessShapeKind_enum {
    CARDLESS_SHAPE_SIGNED,
    CARDLESS_SHAPE_UNSIGNED,
    CARDLESS_SHAPE_HEX, /* addresses, unknown flags */
    CARDLESS_SHAPE_FLOAT,
    CARDLESS_SHAPE_ENUM,
    CARDLESS_SHAPE_FLAGS,
    CARDLESS_SHAPE_HANDLE,
    CARDLESS_SHAPE_OPAQUE,  /* a pointer that is not followed */
    CARDLESS_SHAPE_STRING,  /* a pointer to characters */
    CARDLESS_SHAPE_POINTER, /* to `target` */
    CARDLESS_SHAPE_STRUCT,
    CARDLESS_SHAPE_UNION,
    CARDLESS_SHAPE_BYTES
} cardlessShapeKind;

/* The `target` of a handle in the tables of a library. The driver's tables have other numbers. */
enum { CARDLESS_HANDLE_OTHER, CARDLESS_HANDLE_STREAM };

typedef struct cardlessShape_st {
    uint32_t name;   /* in `names` */
    uint32_t first;  /* in `constants` (enumeration, flags), `members` (struct, union) */
    uint16_t count;  /* of those */
    uint16_t target; /* pointer: index in `shapes`; handle: its type; union that contains its
                      * discriminator: 1 + the index of that member */
    uint32_t size_B;
    uint8_t kind; /* cardlessShapeKind */
} cardlessShape;

typedef struct cardlessConstant_st {
    uint32_t name;
    int64_t value;
} cardlessConstant;

enum {
    CARDLESS_MEMBER_QUIET = 1,      /* reserved words and padding: printed if a byte is not 0 */
    CARDLESS_MEMBER_OUTPUT = 2,     /* an argument that the call writes */
    CARDLESS_MEMBER_ALWAYS = 4,     /* an argument that the call writes even if it fails */
    CARDLESS_MEMBER_INPUT = 8,      /* an output that the call reads too */
    CARDLESS_MEMBER_INDIRECT = 16,  /* a struct passed by value: the slot holds its address */
    CARDLESS_MEMBER_COUNT_OUT = 32, /* `count` names an argument that points to the number of
                                     * elements */
    CARDLESS_MEMBER_LIST = 64       /* a pointer to `count` elements */
};
enum { CARDLESS_NO_SIBLING = 255 };

/* A member of a struct or union, or an argument of a function (whose offset is 8 times its
 * index). */
typedef struct cardlessMember_st {
    uint32_t name; /* empty if it is an unnamed union or struct */
    uint32_t offset;
    uint16_t shape;
    uint16_t elements; /* the length of an array; 0 if it is not an array */
    uint8_t count;     /* list: the sibling that holds the number of elements */
    uint8_t selector;  /* union (or pointer to one): the sibling that selects the member */
    uint8_t flags;
    uint8_t any_case; /* member of a union: selected by every value without a case */
    uint32_t cases;   /* member of a union: the values that select it, in `cases` */
    uint16_t case_count;
} cardlessMember;

typedef struct cardlessTypesCounts_st {
    uint32_t names_B, constants, members, shapes, cases;
} cardlessTypesCounts;

typedef struct cardlessTypes_st {
    const char *names;
    const cardlessConstant *constants;
    const cardlessMember *members;
    const cardlessShape *shapes;
    const int64_t *cases;
    uint16_t result; /* shape of the type that functions return: an enumeration */
    /* Writes "CUarray #12" for a handle, or returns false. `type` is the `target` of the shape.
     * NULL in the tables of a library: its handles are the driver's. */
    bool (*handle_text)(unsigned type, uint64_t handle, char *out, size_t size);
    cardlessTypesCounts counts;
} cardlessTypes;

#endif
