// SPDX-License-Identifier: MIT
// Counts the reports of the checks of CARDLESS_CHECK, and ends the process as the user wants.
#pragma once

// A check has reported a mistake. Aborts the process if the user wants that
// (CARDLESS_CHECK=…,abort). Thread-safe.
void em_check_found(void);
// Ends the process with exit code 66 if there was a report and the user wants that
// (CARDLESS_CHECK=…,exit). Called last when the driver shuts down. Precondition: em_lock NOT held.
void em_check_finish(void);
