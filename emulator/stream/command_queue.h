// SPDX-License-Identifier: MIT
// The commands that wait in a stream, first in, first out. em_lock must be held for all of these.
#pragma once

struct em_command;
struct em_stream;

// Puts a command last, with a reference to its stream.
void em_queue_push(struct em_stream *s, struct em_command *c);
// Takes the first one, which must be there. The reference that push took stays with it.
struct em_command *em_queue_pop(struct em_stream *s);
// Puts back what pop took: it goes on later.
void em_queue_push_back(struct em_stream *s, struct em_command *c);
