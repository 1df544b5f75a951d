// SPDX-License-Identifier: MIT
// Writes PNG files, 8 bits RGB: chunks with their checksums around deflate blocks of the stored
// kind.
#include "png.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STORED_MOST = 65535 };

struct chunk {
    FILE *file;
    uint32_t crc;
};

static void put(struct chunk *c, const void *data, size_t size)
{
    const uint8_t *byte = data;

    for (size_t i = 0; i < size; i++) {
        c->crc ^= byte[i];
        for (unsigned bit = 0; bit < 8; bit++)
            c->crc = c->crc >> 1 ^ (c->crc & 1 ? 0xedb88320u : 0);
    }
    fwrite(data, 1, size, c->file);
}

static void big_endian(uint8_t out[4], uint32_t value)
{
    for (unsigned i = 0; i < 4; i++)
        out[i] = (uint8_t)(value >> (24 - 8 * i));
}

static void chunk_begin(struct chunk *c, const char *type, uint32_t size)
{
    uint8_t length[4];

    big_endian(length, size);
    fwrite(length, 1, 4, c->file);
    c->crc = ~0u;
    put(c, type, 4);
}

static void chunk_end(struct chunk *c)
{
    uint8_t crc[4];

    big_endian(crc, ~c->crc);
    fwrite(crc, 1, 4, c->file);
}

// The zlib stream of the scan lines: one filter byte 0, then the pixels.
static void put_image(struct chunk *c, const uint8_t *lines, size_t size)
{
    static const uint8_t zlib_header[2] = {0x78, 0x01};
    uint8_t adler[4];
    uint32_t a = 1, b = 0;

    put(c, zlib_header, sizeof zlib_header);
    for (size_t at = 0; at < size;) {
        size_t count = size - at < STORED_MOST ? size - at : STORED_MOST;
        uint8_t header[5] = {at + count == size, (uint8_t)count, (uint8_t)(count >> 8),
                             (uint8_t)~count, (uint8_t)(~count >> 8)};

        put(c, header, sizeof header);
        put(c, lines + at, count);
        at += count;
    }
    for (size_t i = 0; i < size; i++) {
        a = (a + lines[i]) % 65521;
        b = (b + a) % 65521;
    }
    big_endian(adler, b << 16 | a);
    put(c, adler, sizeof adler);
}

int png_write(const char *path, uint32_t width, uint32_t height, const uint8_t *rgb)
{
    static const uint8_t signature[8] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};
    size_t line = 1 + 3 * (size_t)width, size = line * height;
    size_t zlib_size = 2 + size + 5 * ((size + STORED_MOST - 1) / STORED_MOST) + 4;
    uint8_t header[13] = {[8] = 8, [9] = 2};
    uint8_t *lines = NULL;
    struct chunk c = {0};
    int r = -EINVAL;

    if (!width || !height || width > 65535 || height > 65535 || zlib_size > INT32_MAX)
        goto out;
    r = -ENOMEM;
    lines = malloc(size);
    if (!lines)
        goto out;
    for (uint32_t y = 0; y < height; y++) {
        lines[y * line] = 0;
        memcpy(lines + y * line + 1, rgb + (size_t)y * width * 3, (size_t)width * 3);
    }
    c.file = fopen(path, "wb");
    if (!c.file) {
        r = -errno;
        goto out;
    }
    big_endian(header, width);
    big_endian(header + 4, height);
    fwrite(signature, 1, sizeof signature, c.file);
    chunk_begin(&c, "IHDR", sizeof header);
    put(&c, header, sizeof header);
    chunk_end(&c);
    chunk_begin(&c, "IDAT", (uint32_t)zlib_size);
    put_image(&c, lines, size);
    chunk_end(&c);
    chunk_begin(&c, "IEND", 0);
    chunk_end(&c);
    r = ferror(c.file) ? -EIO : 0;
    if (fclose(c.file) && !r)
        r = -errno;
    if (r)
        remove(path);
out:
    free(lines);
    return r;
}
