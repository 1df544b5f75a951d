// SPDX-License-Identifier: MIT
// The settings that the user chose with CARDLESS_* environment variables. They are read once, at
// the first call into the driver.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum em_personality { EM_MANUAL, EM_DRIVER_580 };
enum em_overlap { EM_OVERLAP_DISTINCT, EM_OVERLAP_SAME };
enum em_policy_name { EM_EAGER, EM_PARALLEL, EM_LAZY, EM_SEEDED, EM_SCHEDULED };
// EM_SINK_READER: whoever reads the file of CARDLESS_FINDINGS prints what the user should see.
enum em_sink { EM_SINK_OFF, EM_SINK_TEXT, EM_SINK_JSON, EM_SINK_READER };

// A decision of a schedule (policy.h): decision `number` takes `option`; all others take option 0.
struct em_departure {
    uint32_t number, option;
};

struct em_config {
    enum em_personality personality; // CARDLESS_PERSONALITY=manual|driver-580
    uint64_t quirks;         // bit EM_QUIRK_x is set if row x follows the driver (CARDLESS_QUIRKS)
    enum em_overlap overlap; // CARDLESS_OVERLAP=distinct|same
    enum em_sink sink;       // CARDLESS_DIAGNOSTICS=off|text|json:FILE|reader
    const char *sink_path;   // the FILE of json:FILE, or NULL
    const char *findings_path;   // CARDLESS_FINDINGS=FILE, or NULL
    const char *log_path;        // CUDA_LOG_FILE=stdout|stderr|FILE, or NULL
    const char *test;            // PYTEST_CURRENT_TEST when the driver starts, or NULL
    const char *devices;         // CARDLESS_DEVICES=NAME[,NAME…], or NULL for the default device
    const char *visible_devices; // CUDA_VISIBLE_DEVICES=N[,N…], or NULL for all of them
    const char *trace_path;      // CARDLESS_TRACE=FILE, or NULL
    const char *record_path;     // CARDLESS_RECORD=FILE, or NULL
    uint64_t record_contents_B;  // CARDLESS_RECORD_CONTENTS=BYTES; 0: no contents
    bool report;                 // CARDLESS_REPORT=1: list imports and mappings on stderr at exit
    uint64_t
        fail_alloc; // CARDLESS_FAIL_ALLOC=N: the N-th allocation after cuInit fails; 0 if unset
    enum em_policy_name policy; // CARDLESS_POLICY=eager|parallel|lazy|seed:N|schedule:LIST
    uint64_t policy_seed;       // the N of seed:N
    // The LIST of schedule:LIST, in the order of the numbers.
    struct em_departure *departures;
    size_t departure_count;
    const char *schedule_log_path; // CARDLESS_SCHEDULE_LOG=FILE, or NULL
    uint64_t deadlock_ms;          // CARDLESS_DEADLOCK_MS=N; 0: waits are never examined
    bool deadlock_aborts;          // CARDLESS_DEADLOCK=report|abort
    uint64_t kernel_branches;      // CARDLESS_KERNEL_BRANCHES=N; 0: any number
    uint64_t kernel_ms;            // CARDLESS_KERNEL_MS=N; 0: slow kernels are not reported
    // CARDLESS_CHECK: a list
    bool check_order;   // order
    bool check_memory;  // memory
    bool check_race;    // race
    bool check_exits;   // exit
    bool check_aborts;  // abort
    const char *step;   // CARDLESS_STEP=LIST, or NULL: see ptx_step.c
    const char *stop;   // CARDLESS_STOP=FD, or NULL: see stop.h
    bool eager_loading; // CUDA_MODULE_LOADING=LAZY|EAGER
    bool have_seed;     // CARDLESS_SEED=N
    uint64_t seed;
    bool have_uuid; // CARDLESS_UUID=HEX, for device 0; if unset, it is the Vulkan device's
    unsigned char uuid[16];
};

// Returns the configuration, and reads the environment the first time. Never fails: an unknown
// value is reported on stderr and ignored.
const struct em_config *em_config(void);
// The same, or NULL if the environment has not been read yet. For signal handlers.
const struct em_config *em_config_if_read(void);
// Calls `see` for each setting that the environment has now.
void em_config_each(void (*see)(const char *name, const char *value));
