// SPDX-License-Identifier: MIT
// The history of a handle, for messages.
#pragma once
#include "object.h"

struct em_handle_facts {
    struct em_object *object; // that the handle names, or NULL
    // The rest is about the last object of the handle's slot.
    bool is_last;            // the handle named it, and it has ended
    enum em_type named_type; // that the handle itself states, if it does
    enum em_type type;
    uint32_t number;
    enum em_end_reason end;
    uint64_t died_call;
    const char *died_by;
};

// Returns false if the handle is not of this driver. Precondition: em_lock held.
bool em_handle_facts(uint64_t handle, struct em_handle_facts *out);
