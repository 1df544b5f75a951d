// SPDX-License-Identifier: MIT
// The page that `cardless step` and a program share (CARDLESS_STOP): before each call, command and
// diagnostic the program fills it in and waits until the tool lets it go on.
//
//     program: FREE ──▶ TAKEN ──▶ STOPPED                        (the thread sleeps)
//     tool:                          │  reads the recording, and a person's commands
//     tool:    FREE ◀────────────────┘                           (the thread is woken)
//
// `state` is a futex word for both. All fields but `off` and `tool` are written by the program.
#pragma once
#include <stdint.h>

enum em_stop_state { EM_STOP_FREE, EM_STOP_TAKEN, EM_STOP_STOPPED };
enum em_stop_kind { EM_STOP_CALL = 1, EM_STOP_COMMAND, EM_STOP_DIAGNOSTIC };

#define EM_STOP_MAGIC UINT64_C(0x514f545343524143)

struct em_stop_page {
    uint64_t magic;    // EM_STOP_MAGIC
    uint32_t tool;     // the process of the tool; if it ends, nothing stops any more
    uint32_t off;      // 1: nothing stops any more
    uint32_t process;  // the first process that uses the driver; others never stop
    uint32_t state;    // enum em_stop_state
    uint32_t kind;     // enum em_stop_kind
    uint32_t thread;   // the number of the thread in the recording
    uint64_t id;       // a command's number in the recording; 0 for others
    char name[96];     // of the call, or the id of the diagnostic
    char function[96]; // of the runtime, that makes the call; or ""
};
