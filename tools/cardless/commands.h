// SPDX-License-Identifier: MIT
// The sub-commands of `cardless`. Each takes its own name as argv[0] and returns the exit status.
#pragma once

int cmd_run(int argc, char **argv);
int cmd_replay(int argc, char **argv);
int cmd_step(int argc, char **argv);
int cmd_info(int argc, char **argv);
int cmd_layout(int argc, char **argv);
int cmd_explore(int argc, char **argv);
int cmd_doctor(int argc, char **argv);
int cmd_trace(int argc, char **argv);
