// SPDX-License-Identifier: MIT
// A recorded run as lists of what happened: threads, streams, calls, commands, edges, memory and
// diagnostics. `cardless trace` prints, filters, compares and exports from these.
//
// Times are nanoseconds since the start of the recording. Indices are positions in the lists; an
// index of TRACE_NONE stands for nothing.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "describe.h"
#include "trace_file.h"

#define TRACE_NONE UINT32_MAX
#define TRACE_NEVER UINT64_MAX // the time of something that had not happened when the file ended

struct trace_thread {
    uint32_t id;     // 1, 2 … in the order in which threads began to record
    uint64_t number; // as in messages ("call 12 of thread 3"), or 0 for a thread of the driver
    uint64_t system; // its number in the system
    char name[32];
};

struct trace_stream {
    uint64_t id;
    char name[64];    // "CUstream #1", or the name of a default stream
    uint32_t context; // the number of its CUcontext, or 0
    uint64_t context_handle;
    uint64_t order; // enum rf_stream_order
};

struct trace_caller {
    uint64_t address;
    uint32_t module; // in `modules`, or TRACE_NONE
    char *place;     // "main.c:12 (main)" after trace_find_places, or NULL
};

struct trace_module {
    uint64_t first, end;
    char *path;
};

struct trace_name {
    char *text;
};

struct trace_entry {
    char *name;
    uint32_t first_argument, argument_count; // in the tables; 0 if they cannot be printed
    uint64_t types_id;
    const struct trace_types *types; // NULL: not in the file
};

// Memory of the program that arguments lead to, in the file: an address, a size and the bytes.
struct trace_blobs {
    const uint8_t *at, *end;
};

struct trace_call {
    uint32_t thread;     // in `threads`
    uint32_t depth;      // 0, or how many calls it was made inside of
    bool of_library;     // of the runtime, for example; it has no number
    bool in_function;    // directly inside of the call of `function`, which has an entry of its own
    uint64_t number;     // counts the driver's calls of its thread, as in messages
    uint64_t start, end; // `end` is TRACE_NEVER if it never returned
    uint32_t entry;      // in `entries`, or TRACE_NONE
    uint32_t function;   // in `entries`: the runtime's function that made it, or TRACE_NONE
    uint32_t caller;     // in `callers`, or TRACE_NONE
    int32_t result;
    const uint8_t *arguments; // fields
    uint32_t argument_count;
    const uint8_t *base, *base_end; // fields of an earlier call, or NULL
    uint64_t differ;                // bits of the arguments that are not those of `base`

    struct trace_blobs before, after;
};

struct trace_access {
    uint64_t address, size_B;
    bool writes, is_box; // is_box: some texels of an array whose memory this is
};

struct trace_command {
    uint64_t id;
    uint32_t stream, call; // in `streams`, `calls`
    const char *kind;      // "memcpy", "kernel" …
    uint64_t queued, start, end;
    int32_t result;
    bool at_once;                           // started in the thread that submitted it
    const uint8_t *accesses, *accesses_end; // fields
    uint32_t access_count;
    uint32_t thread; // that submitted it
    uint64_t launch_id;
    uint32_t launch; // in `commands`: the launch of a graph that it is a step of, or TRACE_NONE
};

struct trace_edge {
    uint32_t from; // in `commands`, or TRACE_NONE: the host
    uint32_t to;   // in `commands`, or TRACE_NONE: the call below
    uint32_t call; // in `calls`: the call that waits for `from`, or TRACE_NONE
    uint64_t time;
    const char *why; // "stream", "legacy", "event", "semaphore", "word", "synchronise" or "query"
};

struct trace_memory {
    uint64_t id, address, size_B, host, physical, offset, born, died;
    const char *kind;
    uint32_t born_call, died_call; // in `calls`
    uint32_t of;                   // the oldest living memory with the same bytes, or TRACE_NONE
};

// A graphics resource is mapped from this time on, or is not any more. Sorted by handle and time.
struct trace_mapping {
    uint64_t handle, time;
    bool is_mapped;
};

struct trace_object {
    uint64_t handle, number, context, born, died;
    const char *type; // "CUarray"
    uint32_t born_call;
};

// An array or mipmapped array, with the layout of the memory that it is in.
struct trace_array {
    uint64_t handle, address, size_B, flags, born;
    uint32_t object; // in `objects`, or TRACE_NONE
    uint32_t memory; // in `memories`: what holds its address, or TRACE_NONE
    uint32_t format; // CUarray_format
    uint32_t channels;
    uint32_t level; // of the memory that it is; 0 for a mipmapped array
    uint32_t kind;  // enum dm_layout_kind
    uint32_t dimensions, element_B, block_px, layers, levels;
    bool layered, cube;
    const uint8_t *level_fields, *end;
};

struct trace_level { // see struct dm_layout_level
    uint64_t offset_B, size_B, pitch_B, slice_B, layer_stride_B;
    uint32_t width_px, height_px, width_el, height_el, depth, width_gob, height_gob;
    uint32_t block_height_log2_gob, block_depth_log2_gob;
};

struct trace_diagnostic {
    uint64_t time;
    uint32_t call;
    int32_t result;
    char *id, *text;
};

// `struct trace_X *Xs` and `size_t X_count` for each list.
#define TRACE_LISTS(X)                                                                             \
    X(thread, threads)                                                                             \
    X(stream, streams)                                                                             \
    X(caller, callers)                                                                             \
    X(module, modules)                                                                             \
    X(name, names)                                                                                 \
    X(entry, entries)                                                                              \
    X(call, calls)                                                                                 \
    X(command, commands)                                                                           \
    X(edge, edges)                                                                                 \
    X(memory, memories)                                                                            \
    X(mapping, mappings)                                                                           \
    X(object, objects)                                                                             \
    X(array, arrays)                                                                               \
    X(diagnostic, diagnostics)

struct trace_model {
    struct trace_file file;
#define X(name, list)                                                                              \
    struct trace_##name *list;                                                                     \
    size_t name##_count, name##_capacity;
    TRACE_LISTS(X)
#undef X
    uint64_t duration; // the last time
    uint32_t *sorted;  // objects by handle and time
    struct trace_text_of {
        uint64_t handle;
        char *text;
    } * texts; // of handles that are not named by type and number
    size_t text_count, text_capacity;
};

// Reads a file and builds the lists. Calls are in the order of their start, commands in that of
// their submission. Returns false if it cannot, after a message. The result should be passed to
// trace_close.
bool trace_open(struct trace_model *model, const char *path);
// The same for bytes from malloc, which it takes over; without messages.
bool trace_open_bytes(struct trace_model *model, uint8_t *bytes, size_t size_B);
// Finds the source lines of all callers, in the objects of the program and their debug information.
void trace_find_places(struct trace_model *model);
void trace_close(struct trace_model *model);

const char *trace_call_name(const struct trace_model *model, const struct trace_call *call);
// "#12 ", or nothing for a call of a library.
const char *trace_call_number(const struct trace_call *call, char out[24]);
// The name of the runtime's function that made the call, or NULL.
const char *trace_call_function(const struct trace_model *model, const struct trace_call *call);
// The argument words of a call. Returns how many.
enum { TRACE_ARGUMENTS_MAX = 64 };
unsigned trace_call_values(const struct trace_call *call, uint64_t out[TRACE_ARGUMENTS_MAX]);
// "dptr=0x7ffd…, bytesize=4096"; "; *dptr=0x302000000". The caller finishes the text.
void trace_call_arguments(const struct trace_model *model, const struct trace_call *call,
                          struct em_text *text);
void trace_call_outputs(const struct trace_model *model, const struct trace_call *call,
                        struct em_text *text);
// "CUDA_SUCCESS", or "never returned".
void trace_call_result(const struct trace_model *model, const struct trace_call *call, char *out,
                       size_t size);
// "main.c:12 (main)", or "program+0x1234" before trace_find_places or without debug information.
void trace_call_place(const struct trace_model *model, const struct trace_call *call, char *out,
                      size_t size);
// The name of a result code, or its number.
void trace_result_name(const struct trace_model *model, int32_t result, char *out, size_t size);
// "CUarray #12". Returns false if the number is not a handle.
bool trace_handle_text(const struct trace_model *model, uint64_t handle, char *out, size_t size);
// The name of a default stream if this number stands for one, else NULL.
const char *trace_special_stream(uint64_t handle);
// Whether both have some of the same bytes.
bool trace_memory_overlaps(const struct trace_memory *a, const struct trace_memory *b);
// Reads the accesses of a command. Returns how many, at most `most`.
unsigned trace_command_accesses(const struct trace_command *command, struct trace_access *out,
                                unsigned most);
// Reads a level of an array's memory. Returns false if there is no such level.
bool trace_array_level(const struct trace_array *array, uint32_t level, struct trace_level *out);
// The object of a handle at a time, or TRACE_NONE.
uint32_t trace_object_at(const struct trace_model *model, uint64_t handle, uint64_t time);
// "memcpy: reads 0x…+4096, writes 0x…+4096".
void trace_command_text(const struct trace_model *model, const struct trace_command *command,
                        struct em_text *text);
// Copies a text and replaces its addresses by names at that time: "memory 3 + 256" is an address in
// the third memory of the run, and an address of no memory becomes "address".
void trace_name_addresses(const struct trace_model *model, const struct em_text *text,
                          uint64_t time, struct em_text *out);
