// SPDX-License-Identifier: MIT
// Reports blocks that have run for a long time, because they may never end.
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct px_block;

struct px_watch {
    uint64_t start_ns, cpu_start_ns;
    bool said;
};

// Called between turns, first with a zeroed watch: calls px_host.slow once the patience is
// exceeded. A process that a debugger has stopped uses no processor time. The caller should not
// hold locks, because the report may take any. `block` has not ended, or NULL.
void px_watch(struct px_watch *watch, const struct px_block *block);
