// SPDX-License-Identifier: MIT
// Modules: PTX text, its variables and its functions.
//
//     text ──px_module_load──▶ struct px_module ──px_program_get──▶ struct px_program
//            (declarations)                        (one kernel's body, when it is first needed)
//
// Loading reads declarations only, so that a module of many megabytes loads at once, and an unknown
// instruction refuses only the kernel that contains it. A caller should ask for programs early,
// because that is when the user learns of a refusal. A module never changes, except that
// programs are added under a lock of its own. This room knows no CUDA types. Functions return 0 or
// a negative errno: -EINVAL if the text is wrong, -EPROTONOSUPPORT if its version is not known,
// -ENOTSUP if it needs something that is not supported, -ENOMEM, -ENOEXEC if it has an instruction,
// or a form of one, that PTX does not have. Three more if it needs something that no card supports,
// though the manual has it: -ENOENT if NVIDIA's compiler leaves the kernel out, -ENOSYS if it
// refuses the whole text, -ENODEV if the driver does not load it.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct px_program;

// Why a text or a kernel is refused: one sentence, without a full stop.
struct px_report {
    unsigned line; // from 1; 0 if the reason concerns the whole text
    char text[512];
};

enum px_space {
    PX_GLOBAL,
    PX_CONSTANT,
    PX_SHARED,
    PX_LOCAL,
    PX_PARAMETER,
    PX_TEXTURE_REFERENCE,
    PX_SURFACE_REFERENCE,
    PX_SAMPLER_REFERENCE,
    PX_GENERIC,
    PX_REGISTER_SPACE
};

// A pointer in a variable's initial value: 8 bytes (or 4) at `at_B` are the address of another
// variable plus an offset, shifted to the right by `shift` bits; with `generic`, as a generic
// address. If size_B is less than 8, only the lowest bytes are stored.
struct px_relocation {
    uint64_t at_B;
    uint32_t size_B, shift;
    bool generic, is_function;
    uint32_t symbol; // the index of the variable, or of the function
    int64_t offset;
};

struct px_variable {
    const char *name;
    enum px_space space;
    uint64_t size_B; // 0 for `.extern .shared x[]`
    uint32_t alignment_B;
    uint32_t element_B; // of an element: x[n] is the address of x plus n times that
    bool visible, external, weak, managed;
    bool common;         // weak too: of several, the largest is taken
    unsigned part;       // of a linked module: the text that defines it
    const void *initial; // the first initial_B of its bytes; the rest are zeros
    uint64_t initial_B;
    const struct px_relocation *relocations;
    unsigned relocation_count;
    unsigned line;
    const char *declared_at; // of a variable of a body: its name in the text; else NULL
};

struct px_parameter {
    const char *name;
    uint32_t offset_B, size_B, alignment_B;
    bool is_pointer; // `.ptr`: to the space below
    enum px_space pointer_space;
};

// Directives of a kernel. 0: absent.
struct px_limits {
    uint32_t most_threads[3], required_threads[3]; // .maxntid, .reqntid
    uint32_t least_blocks, most_registers;         // .minnctapersm, .maxnreg
    uint32_t required_cluster[3], most_cluster;    // .reqnctapercluster, .maxclusterrank
    bool explicit_cluster;
};

struct px_function {
    const char *name;
    bool is_kernel, visible, external, weak, defined;
    struct px_parameter *parameters; // of a kernel, with offsets in the block of arguments
    unsigned parameter_count;
    uint32_t parameters_B;
    struct px_limits limits;
    unsigned line;
    unsigned target; // of sm_NN: that of the text that has the function
    // The rest is for this room.
    size_t body_at, body_end; // in the text
    unsigned body_line;
    struct px_program *program; // once made; under the module's lock
};

// Symbols that no text defines.
enum px_link {
    PX_LINK_USED,     // are a mistake of the kernels that use them, as in a single text
    PX_LINK_COMPLETE, // are a mistake of the texts
    PX_LINK_PARTIAL,  // are for later: a call of such a function traps
    PX_LINK_LENIENT,  // refuse the kernels that call them, with -ENOTSUP
};

struct px_module {
    unsigned version;     // 10 * major + minor
    unsigned target;      // of sm_NN
    bool target_specific; // sm_90a
    unsigned address_B;
    enum px_link link;
    struct px_variable *variables;
    unsigned variable_count;
    struct px_function *functions;
    unsigned function_count;
    struct px_module_state *state; // of this room: the text, names, files of .loc, the lock
};

// Loads a text of `size_B` bytes, which is copied. `size_B` does not include a final 0.
int px_module_load(const char *text, size_t size_B, struct px_module **out,
                   struct px_report *report);
// A text for px_module_link.
struct px_source {
    const char *name; // for reports, or NULL
    const char *text;
    size_t size_B;
    // Where the module may take the text from, instead of a copy: allocated by dm_alloc, with a
    // zero byte after size_B others. Becomes NULL. Or NULL.
    char **taken;
};
// Joins texts to one module, as a linker does: resolves .extern symbols. The texts are copied. A
// symbol that two texts define is -EEXIST, and one that is not defined -ESRCH.
int px_module_link(const struct px_source *sources, unsigned count, enum px_link link,
                   struct px_module **out, struct px_report *report);
void px_module_free(struct px_module *module);

// Makes the program of a kernel, or returns the one that was made before. It lives as long as the
// module. Thread-safe.
int px_program_get(struct px_module *module, unsigned function, const struct px_program **out,
                   struct px_report *report);
// Writes the CUDA source line of a PTX line, such as "vec.cu:17". Returns false if no .loc
// directive of the text applies there.
bool px_source_line(const struct px_module *module, const struct px_program *program, unsigned line,
                    char *out, size_t size_B);
