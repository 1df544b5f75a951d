// SPDX-License-Identifier: MIT
// Notes about the things that a trace does not show: settings, files, and bytes of host memory.
#include <fcntl.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include "note.h"

enum { BYTES_MOST = 1 << 20, LINE_MOST = 2 * BYTES_MOST + 256 };

int __real_open64(const char *path, int flags, ...);
ssize_t __real_write(int fd, const void *bytes, size_t size);

static int file = -2; // of the trace; -1 without one

bool note_is_on(void)
{
    const char *path = getenv("CARDLESS_TRACE");
    if (file == -2)
        file = path ? __real_open64(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600) : -1;
    return file >= 0;
}

static void write_line(const char *line, size_t size)
{
    FUZZ_CHECK(__real_write(file, line, size) == (ssize_t)size, "cannot write the trace");
}

void note(const char *format, ...)
{
    char line[2048] = "note ";
    va_list args;
    if (!note_is_on())
        return;
    va_start(args, format);
    size_t size = 5 + (size_t)vsnprintf(line + 5, sizeof line - 6, format, args);
    va_end(args);
    FUZZ_CHECK(size + 1 < sizeof line, "a note of %zu bytes", size);
    line[size++] = '\n';
    write_line(line, size);
}

void note_bytes(const char *what, const void *address, size_t size)
{
    static uint8_t bytes[BYTES_MOST];
    static char line[LINE_MOST];
    const struct iovec to = {bytes, size}, from = {(void *)(uintptr_t)address, size};
    if (!note_is_on() || !size || size > BYTES_MOST ||
        process_vm_readv(getpid(), &to, 1, &from, 1, 0) != (ssize_t)size)
        return;
    size_t used = (size_t)sprintf(line, "note %s @%p ", what, address);
    for (size_t i = 0; i < size; i++)
        used += (size_t)sprintf(line + used, "%02x", bytes[i]);
    line[used++] = '\n';
    write_line(line, used);
}

// ---- settings ----

// A setting may name a file by its descriptor, which is another one in the program. Whether the
// driver reports what it refuses is left to the reader of the program.
static void note_setting(const char *name, const char *value)
{
    static const char files[] = "/proc/self/fd/";
    const char *at = strstr(value, files);
    char *end;
    if (!strcmp(name, "CARDLESS_DIAGNOSTICS"))
        return;
    if (!at) {
        note("setenv(\"%s\", \"%s\", 1);", name, value);
        return;
    }
    at += sizeof files - 1;
    const long fd = strtol(at, &end, 10);
    note("{ char text[256]; snprintf(text, sizeof text, \"%.*s%%d%s\", fd[%ld]); setenv(\"%s\", "
         "text, 1); }",
         (int)(at - value), value, end, fd, name);
}

NOTE_WRAP(int, setenv, (const char *name, const char *value, int overwrite),
          (name, value, overwrite), note_setting(name, value))

// ---- files ----

// The names that these functions have with _FILE_OFFSET_BITS=64 in glibc.

NOTE_WRAP(int, memfd_create, (const char *name, unsigned flags), (name, flags),
          note("fd[%d] = memfd_create(\"%s\", %#x);", r, name, flags))
NOTE_WRAP(int, ftruncate64, (int fd, off_t size), (fd, size),
          note("HOST(ftruncate(fd[%d], %#llx), %d);", fd, (unsigned long long)size, r))
NOTE_WRAP(ssize_t, pwrite64, (int fd, const void *bytes, size_t size, off_t at),
          (fd, bytes, size, at), note_bytes("bytes", bytes, size);
          note("HOST(pwrite(fd[%d], @%p, %zu, %lld), %zd);", fd, bytes, size, (long long)at, r))
NOTE_WRAP(ssize_t, write, (int fd, const void *bytes, size_t size), (fd, bytes, size),
          note_bytes("bytes", bytes, size);
          note("HOST(write(fd[%d], @%p, %zu), %zd);", fd, bytes, size, r))
NOTE_WRAP(int, close, (int fd), (fd), note("close(fd[%d]);", fd))
NOTE_WRAP(int, pipe, (int ends[2]), (ends),
          note("HOST(pipe(two), %d); fd[%d] = two[0]; fd[%d] = two[1];", r, ends[0], ends[1]))

int __wrap_open64(const char *path, int flags, ...);
int __wrap_open64(const char *path, int flags, ...)
{
    int r = __real_open64(path, flags, 0600);
    note("fd[%d] = open(\"%s\", %#x);", r, path, (unsigned)flags);
    return r;
}

int __real_fcntl64(int fd, int command, ...);
int __wrap_fcntl64(int fd, int command, ...);
int __wrap_fcntl64(int fd, int command, ...)
{
    va_list args;
    va_start(args, command);
    long argument = command == F_GETFD ? 0 : va_arg(args, long);
    va_end(args);
    int r = __real_fcntl64(fd, command, argument);
    if (command == F_DUPFD_CLOEXEC)
        note("fd[%d] = fcntl(fd[%d], F_DUPFD_CLOEXEC, %d);", r, fd, (int)argument);
    else if (command == F_ADD_SEALS)
        note("HOST(fcntl(fd[%d], F_ADD_SEALS, %#x), %d);", fd, (unsigned)argument, r);
    return r;
}
