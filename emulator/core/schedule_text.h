// SPDX-License-Identifier: MIT
// The text of a schedule: "3=1,7=2", where decision 3 takes option 1 and decision 7 option 2. The
// numbers rise, and a line may end after any comma.
#pragma once
#include <stdbool.h>
#include <stddef.h>

struct em_departure;

// Reads a list, which may be empty. The caller frees it. Returns false if the text is not a list,
// or if the host runs out of memory.
bool em_schedule_read(const char *text, struct em_departure **list, size_t *count);
// The same for the text of a file. Returns false also if the file cannot be read.
bool em_schedule_read_file(const char *path, struct em_departure **list, size_t *count);
