/* SPDX-License-Identifier: MIT */
/*
 * A kit for fuzzers of programs that use CUDA: it resets the driver between two inputs, makes calls
 * fail, and turns diagnostics into crashes, which a fuzzer keeps. docs/how-to/fuzz-an-importer.md
 * shows how to use it.
 *
 *     int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
 *     {
 *         cardlessFuzzAbort(CARDLESS_FUZZ_ABORT_MISTAKES | CARDLESS_FUZZ_ABORT_LEAKS);
 *         if (size)
 *             cardlessFuzzFail(CARDLESS_FUZZ_IMPORT, data[0]);
 *         run_my_importer(data, size);
 *         return cardlessFuzzReset() != CUDA_SUCCESS;
 *     }
 *
 * Cardless's libcuda.so.1 exports these functions, and no other libcuda does (CARDLESS_LOOKUP of
 * cardless.h). The target must not be linked with a sanitizer's own allocator limits of less than a
 * terabyte of address space (-rss_limit_mb is fine).
 *
 * Rules for all functions:
 * - They return CUDA_ERROR_NOT_INITIALIZED if cuInit has not been called, and
 *   CUDA_ERROR_INVALID_VALUE if an argument is not one of those that are described here.
 * - They may be called without a current context, but while no other thread makes a CUDA call.
 * - The functions exist since CARDLESS_VERSION 6.
 */
#ifndef CARDLESS_FUZZ_H
#define CARDLESS_FUZZ_H

#include <cuda.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Ends everything that the program has left: contexts (created and primary ones, however often they
 * were retained), and with them streams, events, arrays, imported memory, semaphores and graphics
 * resources; graphs, libraries, pools, physical memory, mappings and reserved addresses; and the
 * objects of cardless.h. Work that has not run is completed first. Afterwards this thread has no
 * current context, no error is sticky, and a device that was lost works again. All countdowns of
 * cardlessFuzzFail are off; the flags of cardlessFuzzAbort stay.
 *
 * Handles from before are invalid, and messages still explain them. Descriptors that the program
 * owns stay open. The default memory pools are emptied and keep their attributes.
 *
 * With a context, an imported buffer and a stream left it takes a few microseconds; the time grows
 * with the number of objects and mappings that are left.
 *
 * Returns CUDA_ERROR_NOT_PERMITTED, and ends nothing, if it is called by a host function. */
CUresult cardlessFuzzReset(void);

/* Counts what the program has created and not ended: objects (without contexts), allocations that
 * are not freed (as one), and reserved addresses (as one). If `text` is not NULL, writes a sentence
 * about one of them, of at most `capacity` bytes with the 0 at its end: "CUexternalMemory #3
 * (cuImportExternalMemory, call 12) is still alive", or "" if nothing is left. `count` must not be
 * NULL. The manual: "Destroys an external memory object", which the program must do; no call does
 * it for the program but the end of the context. */
CUresult cardlessFuzzLeft(unsigned *count, char *text, size_t capacity);

/* Failures that can be injected. */
typedef enum cardlessFuzzFailure_enum {
    CARDLESS_FUZZ_ALLOCATION = 0, /* an allocation of host memory inside the driver. The call
                                   * returns CUDA_ERROR_OUT_OF_MEMORY, or does without it */
    CARDLESS_FUZZ_IMPORT = 1,     /* cuImportExternalMemory or cuImportExternalSemaphore with valid
                                   * arguments returns CUDA_ERROR_OUT_OF_MEMORY. The descriptor
                                   * still belongs to the program */
    CARDLESS_FUZZ_MEMORY = 2,     /* an allocation of device memory (cuMemAlloc, cuMemCreate, an
                                   * array) returns CUDA_ERROR_OUT_OF_MEMORY */
    CARDLESS_FUZZ_DEVICE = 3      /* the device is lost during a copy, fill, launch or other
                                   * command: it and all later calls that use the device return
                                   * CUDA_ERROR_LAUNCH_FAILED until cardlessFuzzReset: those in the
                                   * context, those that create or retain one, cuMemCreate,
                                   * cuMemMap, cuMemSetAccess and cuMemPoolCreate. As on a card
                                   * after a failed kernel, calls that do not use the device
                                   * succeed, for example cuGraphCreate, cuLibraryLoadData and
                                   * cuPointerGetAttribute, and so do calls that end objects
                                   * outside the context */
} cardlessFuzzFailure;

/* Makes the n-th one from now fail (1 = the next one), once. 0 turns that off. Each kind has a
 * countdown of its own. */
CUresult cardlessFuzzFail(cardlessFuzzFailure kind, unsigned long long n);

/* Writes 1 if the one that was counted down to has failed since the last cardlessFuzzFail or
 * cardlessFuzzReset, else 0. A fuzzer that raises n from 1 is done with a kind when it is 0. */
CUresult cardlessFuzzFailed(cardlessFuzzFailure kind, int *failed);

/* What ends the process with SIGABRT, after a line on standard error that quotes the sentence of
 * the diagnostic, also under CARDLESS_DIAGNOSTICS=off. */
typedef enum cardlessFuzzAbort_enum {
    CARDLESS_FUZZ_ABORT_MISTAKES = 0x1, /* a mistake of the catalogue (docs/generated/README.md,
                                         * "Diagnostics"), whether the call fails or not */
    CARDLESS_FUZZ_ABORT_ERRORS = 0x2,   /* every call that fails, unless a failure that
                                         * cardlessFuzzFail asked for came before it. Of programs
                                         * that check their input before they call CUDA */
    CARDLESS_FUZZ_ABORT_LEAKS = 0x4     /* cardlessFuzzReset, if cardlessFuzzLeft counts anything */
} cardlessFuzzAbortFlags;

/* Sets the flags (a sum of cardlessFuzzAbortFlags). 0, the state at cuInit, ends nothing. */
CUresult cardlessFuzzAbort(unsigned flags);

#ifdef __cplusplus
}
#endif

#endif
