// SPDX-License-Identifier: MIT
// The file of a recorded run: `cardless run --trace FILE.cardless` (CARDLESS_RECORD) writes it, and
// `cardless trace` reads it. All numbers are little endian.
//
//     0          header: struct rf_header
//     64 KiB     block 0 ┐ each begins with a struct rf_block. A WINDOW is where a thread writes
//     128 KiB    block 1 │ now; a CHUNK is a copy of a window that was full. So after a crash the
//     …                  ┘ file has everything up to the last complete record.
//
// A thread's chunks have the sequence numbers 0, 1, 2 …; its window has the next one. If a chunk
// and a window of a thread have the same number, the process ended while the thread copied its
// window, and the window counts for nothing.
//
// A record is its length in bytes (16 bits, the record included), its kind (8 bits), 8 bits of
// flags, and fields. A field is a varint: 7 bits a byte, the lowest first, with bit 7 set if more
// follow. Texts are a varint of their length, and their bytes. A reader should skip records of a
// kind that it does not know, and fields after the last one that it knows. Most records begin with
// their time: ticks since the last time in the same block, or since rf_block.ticks; zigzag, because
// clocks of two processors may differ.
//
// An id of the kinds ENTRY, NAME and CALLER is defined by a record of that kind, which may be in
// another thread's block. Id 0 stands for no entry point, name or caller.
#pragma once
#include <stdint.h>

#define RF_MAGIC "CARDLESS TRACE\n"
enum { RF_VERSION = 4, RF_BLOCK_B = 64 << 10, RF_RECORD_MAX_B = 16 << 10 };

struct rf_header {
    char magic[16];    // RF_MAGIC
    uint32_t version;  // RF_VERSION: a reader of another version should refuse the file
    uint32_t header_B; // sizeof(struct rf_header)
    uint32_t block_B;  // RF_BLOCK_B
    uint32_t process;  // its id
    uint64_t ticks[2]; // the clock of records, at the start and at the last time that was noted …
    uint64_t ns[2];    // … CLOCK_MONOTONIC then
    uint64_t realtime_ns; // at the start
    uint32_t tables;      // the first block of the driver's tables of types, or 0 (block 0 is a
                          // window)
    uint32_t ended;       // the process has ended by itself, and the file is complete
    uint32_t parent;      // the process that forked this one, or 0
    uint32_t failed;      // an errno: the file could not grow, so that later records are missing
    char policy[32];      // CARDLESS_POLICY, or "eager"
    char cpu[64];         // name of the processor
    char program[256];    // its arguments, with spaces between them
    uint64_t contents_most_B; // CARDLESS_RECORD_CONTENTS, or 0: no contents. Files of older drivers
                              // have zeros from here on
    uint64_t contents_B;      // in CONTENT blocks
    uint64_t contents_cut;    // how many RF_BYTES lack their bytes, because there were too many
    uint64_t blocks;          // that were taken, so that a reader notices a file that was cut
};

#define RF_BLOCK_MAGIC 0x424c4b43u // "CKLB"
enum rf_block_kind { RF_FREE, RF_WINDOW, RF_CHUNK, RF_TABLES, RF_CONTENT };

struct rf_block {
    uint32_t magic; // RF_BLOCK_MAGIC
    uint32_t kind;
    uint32_t thread; // counts the threads that record, from 1; TABLES: their id, 0 for the driver's
    uint32_t sequence; // of WINDOW and CHUNK; TABLES and CONTENT: the number of blocks
    uint64_t ticks;    // the time before the first record
    uint32_t used_B;   // of records, which follow this struct
    uint32_t reserved;
};

// Record kinds, with their fields. A blob is an address, a size and that many bytes: memory of the
// program that arguments lead to.
enum rf_kind {
    RF_PAD,
    RF_ENTRY,      // id, first argument in the tables, count of arguments, name, id of the tables
    RF_NAME,       // id, text
    RF_CALLER,     // id, address
    RF_MODULE,     // first address, end, path
    RF_THREAD,     // number of the driver or 0, id of the system, name
    RF_CALL,       // time, number in the thread, counted from that of the last call in the block
                   // (zigzag; 0 at first), site, entry, entry of the runtime's function, caller,
                   // count of arguments, arguments, blobs; with RF_CALL_RETURNED no blobs but the
                   // ticks until it returned successfully without outputs: no RETURN. With
                   // RF_CALL_OF_LIBRARY no number
    RF_RETURN,     // time, number of the call, counted from that of the last call in the block
                   // (zigzag; not with RF_RETURN_OF_LIBRARY), result, blobs
    RF_STREAM,     // id, number of CUstream #n or 0, handle, context, name, enum rf_stream_order
    RF_SUBMIT,     // time, command, counted from the last one in the block (zigzag; 0 at first;
                   // not with RF_SUBMIT_SHARED: 1 << 63 | thread << 40 | number of the call),
                   // stream, name of its kind, call number or 0 (not with RF_SUBMIT_OF_CALL: it is
                   // the innermost call), count of accesses,
                   // accesses (mode | form << 4, first address, size in bytes), the launch that
                   // it is a step of or 0; with RF_SUBMIT_ENDED the ticks until its end
    RF_START,      // time, command
    RF_END,        // time, command, result; with RF_END_ADOPTED its other number, or 0
    RF_OBJECT,     // time, handle, name of its type, number, handle of its context
    RF_OBJECT_END, // time, handle, enum em_end_reason
    RF_HANDLE,     // handle, text: how to print it, if not by type and number
    RF_MEMORY, // time, id, name of its kind, address, size, host address, number of the physical
               // object below or 0, offset in it
    RF_MEMORY_END, // time, id
    RF_EDGE,       // from a command, to a command (0: the host), name of the reason
    RF_DIAGNOSTIC, // time, call number, result, id, text
    RF_ARRAY,      // handle of the array or mipmap, CUarray_format, channels, flags, address, level
                   // of its memory that it is, then the layout of all of its memory: kind, 1 if
                   // layered | 2 if cube, dimensions, bytes of an element, texels of its side,
                   // layers, size, levels, and for each level: offset, size, pitch, slice, layer
                   // stride, width and height in texels, width and height in elements, depth, width
                   // and height in GOBs, log2 of the block's height and depth in GOBs
    RF_NOTE,       // call number, text: printed after the outputs
    RF_BYTES,   // enum rf_role, thread << 40 | number of the call, address, bytes of a row, rows,
                // bytes from one to the next, slices, bytes from one to the next, hash or 0, 1 +
                // the CONTENT block with the bytes or 0, count of bytes here, those bytes
    RF_FD,      // thread << 40 | number of the call, descriptor, 1 if the call takes it, device,
                // inode, size of the file in bytes
    RF_SETTING, // a variable of the environment: NAME=value
    RF_MAPPED,  // ticks (not a difference, so that readers may skip it), handle of a graphics
                // resource, 1 if it is mapped from then on, else 0
    RF_KINDS,
};

// How a stream is ordered with the others of its context: a blocking one with the legacy stream.
enum rf_stream_order { RF_STREAM_FREE, RF_STREAM_BLOCKING, RF_STREAM_LEGACY };

enum { RF_SITES = 128 };    // this number, or a higher one: the call has no site
enum { RF_ACCESS_BOX = 3 }; // the form of an access: a box of an array in these bytes

enum {
    RF_SUBMIT_AT_ONCE = 1, // flags of SUBMIT: it started in the thread that submitted it
    RF_SUBMIT_ENDED = 2,   // and ended there successfully, so there is no END
    RF_SUBMIT_RETURNS = 4, // and the thread's innermost call has succeeded then: no RETURN
    RF_SUBMIT_OF_CALL = 8,
    RF_SUBMIT_SHARED = 16,  // with OF_CALL: a command without a number of its own
    RF_SUBMIT_REPEATS = 32, // with OF_CALL, and only if that call has a site: the stream, the name,
                            // the accesses and the launch are not here. They are those of the last
                            // SUBMIT that has them, in this block and of calls of this site
    RF_END_ADOPTED = 1,     // flags of END: the command has another number too, and ends with that
    RF_END_RETURNS = 2,     // and the thread's innermost call has succeeded then: no RETURN
    RF_CALL_NESTED = 1,   // flags of CALL: made inside of another call, which has begun in the same
                          // thread and has not returned
    RF_CALL_RETURNED = 2, // and it has returned before the next record of its thread
    RF_CALL_REPEATS = 4,  // the entries, the caller and the count are not here. They, and other
                          // arguments, are those of the last CALL of the site in the block that
                          // has them. After the site: bits of the arguments that differ, those
                          // arguments, blobs
    RF_CALL_OF_LIBRARY = 8,   // of a library's function (cardlessRecorder), not of the driver
    RF_RETURN_OF_LIBRARY = 1, // flags of RETURN: of the innermost such call
};

// What a call does with the bytes of RF_BYTES, which are recorded with CARDLESS_RECORD_CONTENTS.
enum rf_role {
    RF_READS,     // it, or a command that it has submitted, reads them
    RF_ADDRESSES, // it reads them, and they are addresses in the program
    RF_WRITES,    // it, or a command that it has submitted, has written them
    RF_RANGE,     // it may read or write them later
    RF_FILE,      // `address` is a descriptor, and these are the bytes of its file
    RF_TEXELS,    // the memory of an array when it ended, or, if the call is 0, when the run ended
};

// A CONTENT block begins with a struct rf_block, whose `used_B` counts the bytes that follow, and
// `sequence` the blocks. Equal bytes are kept once.

// The hash of bytes: rows of a box follow each other without gaps.
struct rf_hash {
    uint64_t lane[4], size_B;
};
#define RF_HASH_START                                                                              \
    {                                                                                              \
        {0x243f6a8885a308d3u, 0x13198a2e03707344u, 0xa4093822299f31d0u, 0x082efa98ec4e6c89u}, 0    \
    }

static inline uint64_t rf_hash_step(uint64_t lane, uint64_t word)
{
    lane = (lane ^ word) * 0x9e3779b97f4a7c15u;
    return lane ^ lane >> 29;
}

// Adds bytes. All calls but the last one for a hash should add a multiple of 32 bytes.
static inline void rf_hash_add(struct rf_hash *h, const void *bytes, uint64_t size_B)
{
    const unsigned char *p = bytes;
    uint64_t words[4], left = size_B;
    for (; left >= sizeof words; left -= sizeof words, p += sizeof words) {
        __builtin_memcpy(words, p, sizeof words);
        for (unsigned i = 0; i < 4; i++)
            h->lane[i] = rf_hash_step(h->lane[i], words[i]);
    }
    for (unsigned i = 0; left; left--, i++)
        h->lane[i % 4] = rf_hash_step(h->lane[i % 4], (uint64_t)*p++ + 0x100);
    h->size_B += size_B;
}

// Never 0, which stands for an unknown hash.
static inline uint64_t rf_hash_end(const struct rf_hash *h)
{
    uint64_t value = h->size_B;
    for (unsigned i = 0; i < 4; i++)
        value = rf_hash_step(value, h->lane[i] >> 32 ^ h->lane[i] << 7);
    return value ? value : 1;
}

// The tables of types: describe.h's arrays, one after the other in the TABLES blocks, after this
// struct, which stands after the block's. Offsets are counted from the start of this struct.
struct rf_tables {
    uint32_t size_B;
    uint32_t result; // cardlessTypes.result
    struct rf_table {
        uint32_t at, count, stride;
    } names, constants, members, shapes, cases; // `names`: bytes
    struct rf_table types;                      // of handles: pairs of em_type and a name's offset
    uint32_t type_names_at, type_names_B;
};
