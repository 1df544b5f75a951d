// SPDX-License-Identifier: MIT
// CARDLESS_SCHEDULE_LOG=FILE: the order of the work, and the decisions that led to it. `cardless
// explore` reads it. One line for each of these, with tabs between the fields:
//
//   program NAME             the first line
//   call    CALL  NAME       the lines up to the next `call` happened in this call of the program
//   submit  N  STREAM  WHAT  command N, the number in the order of submission, must wait its turn.
//                            Commands of the virtual graphics API are g1, g2 …
//   hold    N                the command was postponed
//   run     N                the command runs
//   step    N  WHAT          a step of command N runs, such as a node of a launched graph
//   late    N                a thread of the driver runs it, because the program made no call
//   decide  D  OPTIONS  K    decision D took option K
//
// Everything here: precondition: em_lock held.
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "hidden.h"

struct em_choice;
struct em_command;

extern DM_HIDDEN bool em_schedule_logged; // the setting is in effect

// Opens the file. Called when the driver starts.
void em_schedule_log_start(void);
void em_schedule_log_decision(const struct em_choice *choice, unsigned option);
void em_schedule_log_submit(const struct em_command *command);
void em_schedule_log_hold(const struct em_command *command);
void em_schedule_log_run(const struct em_command *command);
void em_schedule_log_step(const struct em_command *command, const char *what);
// A command of a graphics API was issued, or runs.
void em_schedule_log_issued(uint64_t tick, const char *what);
void em_schedule_log_drawn(uint64_t tick);
