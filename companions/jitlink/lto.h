// SPDX-License-Identifier: MIT
// LTO-IR, which only NVIDIA's compiler can read: its libnvJitLink.so.13, if the program brings one,
// makes PTX of it. Cardless's takes its place in the program (redirect/), so it is loaded under a
// name that the redirect understands.
#pragma once
#include "jl.h"

struct jl_lto;

// Makes a linker of NVIDIA's library with the options of the program's. NULL if there is no such
// library or it refuses them; `why` gets a sentence. jl_lto_close frees it.
struct jl_lto *jl_lto_open(uint32_t count, const char *const *options, char *why, size_t why_B);
void jl_lto_close(struct jl_lto *lto);

nvJitLinkResult jl_lto_add(struct jl_lto *lto, nvJitLinkInputType type, const void *data,
                           size_t size, const char *name);
// Whether there are inputs.
bool jl_lto_is_used(const struct jl_lto *lto);
// Links the inputs. *ptx is a text of *size bytes with its final 0, which `lto` owns.
nvJitLinkResult jl_lto_complete(struct jl_lto *lto, const char **ptx, size_t *size);
// The library's log of errors. Valid until the next call.
const char *jl_lto_log(struct jl_lto *lto);
