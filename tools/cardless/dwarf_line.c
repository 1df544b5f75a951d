// SPDX-License-Identifier: MIT
// Runs the line programs of DWARF until one has the address. Every read checks the end of the data.
#include "dwarf_line.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// A part of a section. After a read beyond the end, `at` is `end` and `bad` is set.
struct cursor {
    const uint8_t *at, *end;
    bool bad;
};

static uint64_t read_bytes(struct cursor *c, unsigned count)
{
    uint64_t value = 0;
    if ((size_t)(c->end - c->at) < count) {
        c->bad = true;
        c->at = c->end;
        return 0;
    }
    memcpy(&value, c->at, count); // little-endian, as all targets of Cardless are
    c->at += count;
    return value;
}

static uint64_t read_leb(struct cursor *c, bool is_signed)
{
    uint64_t value = 0;
    unsigned shift = 0;
    uint8_t byte = 0x80;
    while (byte & 0x80 && !c->bad) {
        byte = (uint8_t)read_bytes(c, 1);
        if (shift < 64)
            value |= (uint64_t)(byte & 0x7f) << shift;
        shift += 7;
    }
    if (is_signed && byte & 0x40 && shift < 64)
        value |= ~UINT64_C(0) << shift;
    return value;
}

static const char *read_text(struct cursor *c)
{
    const uint8_t *end = memchr(c->at, 0, (size_t)(c->end - c->at));
    const char *text = (const char *)c->at;
    if (!end) {
        c->bad = true;
        c->at = c->end;
        return "";
    }
    c->at = end + 1;
    return text;
}

static const char *text_at(const struct dwarf_section *s, uint64_t offset)
{
    if (!s->data || offset >= s->size || !memchr(s->data + offset, 0, s->size - offset))
        return "";
    return (const char *)s->data + offset;
}

struct header {
    unsigned version, offset_B; // offset_B: 4 or 8, the size of an offset into a section
    unsigned minimum_instruction, line_range, opcode_base;
    int line_base;
    uint8_t operands[256]; // of the standard opcodes
    struct cursor tables, program;
};

// Reads the header of the unit at `all`, and moves `all` to the next unit. Returns false if this
// unit cannot be used.
static bool read_header(struct cursor *all, struct header *h)
{
    memset(h, 0, sizeof *h);
    h->offset_B = 4;
    uint64_t length = read_bytes(all, 4);
    if (length == 0xffffffff) {
        h->offset_B = 8;
        length = read_bytes(all, 8);
    }
    if (all->bad || length > (size_t)(all->end - all->at)) {
        all->at = all->end;
        return false;
    }
    struct cursor c = {all->at, all->at + length, false};
    all->at += length;
    h->version = (unsigned)read_bytes(&c, 2);
    if (h->version >= 5)
        read_bytes(&c, 2); // the sizes of addresses and segment selectors
    const uint64_t header_length = read_bytes(&c, h->offset_B);
    if (c.bad || h->version < 2 || h->version > 5 || header_length > (size_t)(c.end - c.at))
        return false;
    h->program = (struct cursor){c.at + header_length, c.end, false};
    c.end = h->program.at;
    h->minimum_instruction = (unsigned)read_bytes(&c, 1);
    if (h->version >= 4)
        read_bytes(&c, 1); // operations of an instruction: 1, as the targets are not VLIW
    read_bytes(&c, 1);     // whether rows begin a statement
    h->line_base = (int8_t)read_bytes(&c, 1);
    h->line_range = (unsigned)read_bytes(&c, 1);
    h->opcode_base = (unsigned)read_bytes(&c, 1);
    for (unsigned i = 1; i < h->opcode_base; i++)
        h->operands[i] = (uint8_t)read_bytes(&c, 1);
    h->tables = c;
    return !c.bad && h->line_range;
}

// ---- names of files ----

enum {
    LNCT_PATH = 1,
    LNCT_DIRECTORY = 2,
    FORM_BLOCK2 = 0x03,
    FORM_BLOCK4 = 0x04,
    FORM_DATA2 = 0x05,
    FORM_DATA4 = 0x06,
    FORM_DATA8 = 0x07,
    FORM_STRING = 0x08,
    FORM_BLOCK = 0x09,
    FORM_BLOCK1 = 0x0a,
    FORM_DATA1 = 0x0b,
    FORM_STRP = 0x0e,
    FORM_UDATA = 0x0f,
    FORM_DATA16 = 0x1e,
    FORM_LINE_STRP = 0x1f,
    FORMATS_MOST = 16,
};

struct name {
    const char *path;
    uint64_t directory;
};

static void skip(struct cursor *c, uint64_t count)
{
    if (count > (size_t)(c->end - c->at)) {
        c->bad = true;
        count = (size_t)(c->end - c->at);
    }
    c->at += count;
}

// Reads a value of a form. Texts go to *text.
static uint64_t read_form(struct cursor *c, const struct header *h, uint64_t form,
                          const struct dwarf_sections *s, const char **text)
{
    switch (form) {
    case FORM_STRING:
        *text = read_text(c);
        return 0;
    case FORM_LINE_STRP:
        *text = text_at(&s->line_str, read_bytes(c, h->offset_B));
        return 0;
    case FORM_STRP:
        *text = text_at(&s->str, read_bytes(c, h->offset_B));
        return 0;
    case FORM_DATA1:
        return read_bytes(c, 1);
    case FORM_DATA2:
        return read_bytes(c, 2);
    case FORM_DATA4:
        return read_bytes(c, 4);
    case FORM_DATA8:
        return read_bytes(c, 8);
    case FORM_UDATA:
        return read_leb(c, false);
    case FORM_DATA16:
        skip(c, 16);
        return 0;
    case FORM_BLOCK1:
        skip(c, read_bytes(c, 1));
        return 0;
    case FORM_BLOCK2:
        skip(c, read_bytes(c, 2));
        return 0;
    case FORM_BLOCK4:
        skip(c, read_bytes(c, 4));
        return 0;
    case FORM_BLOCK:
        skip(c, read_leb(c, false));
        return 0;
    default: // its size is unknown
        c->bad = true;
        return 0;
    }
}

// Reads a table of DWARF 5 up to entry `wanted`. Moves `c` after the table. False: it lacks the
// entry.
static bool read_names(struct cursor *c, const struct header *h, const struct dwarf_sections *s,
                       uint64_t wanted, struct name *out)
{
    uint64_t types[FORMATS_MOST], forms[FORMATS_MOST];
    const unsigned formats = (unsigned)read_bytes(c, 1);
    bool found = false;
    if (formats > FORMATS_MOST)
        return false;
    for (unsigned i = 0; i < formats; i++) {
        types[i] = read_leb(c, false);
        forms[i] = read_leb(c, false);
    }
    const uint64_t count = read_leb(c, false);
    for (uint64_t n = 0; n < count && formats && !c->bad; n++) {
        struct name name = {"", 0};
        for (unsigned i = 0; i < formats; i++) {
            const char *text = NULL;
            const uint64_t value = read_form(c, h, forms[i], s, &text);
            if (types[i] == LNCT_PATH && text)
                name.path = text;
            if (types[i] == LNCT_DIRECTORY)
                name.directory = value;
        }
        if (n == wanted && !c->bad) {
            *out = name;
            found = true;
        }
    }
    return found && !c->bad;
}

static char *join(const char *root, const char *folder, const char *file)
{
    char *out = NULL;
    if (*file == '/' || !*folder)
        return strdup(file);
    if (*folder == '/' || !*root)
        return asprintf(&out, "%s/%s", folder, file) < 0 ? NULL : out;
    return asprintf(&out, "%s/%s/%s", root, folder, file) < 0 ? NULL : out;
}

static char *file_name_5(const struct header *h, const struct dwarf_sections *s, uint64_t file)
{
    struct cursor folders = h->tables, names = h->tables;
    struct name root = {"", 0}, folder = {"", 0}, name = {"", 0};
    if (!read_names(&names, h, s, 0, &root)) // entry 0 is the folder of the compilation
        return NULL;
    if (!read_names(&names, h, s, file, &name))
        return NULL;
    if (!read_names(&folders, h, s, name.directory, &folder))
        return NULL;
    return join(root.path, folder.path, name.path);
}

// In DWARF 2 to 4, both tables are lists of texts that an empty one ends. They count from 1; folder
// 0 is that of the compilation, which only .debug_info names.
static char *file_name_4(const struct header *h, uint64_t file)
{
    struct cursor c = h->tables;
    const char *name = read_text(&c), *folder = "";
    while (*name && !c.bad) // the folders
        name = read_text(&c);
    uint64_t directory = 0;
    name = read_text(&c);
    for (uint64_t i = 1; *name && !c.bad; i++) {
        directory = read_leb(&c, false);
        read_leb(&c, false); // time
        read_leb(&c, false); // size
        if (i == file)
            break;
        name = read_text(&c);
    }
    if (!*name || c.bad)
        return NULL;
    c = h->tables;
    for (uint64_t i = 0; i < directory; i++)
        folder = read_text(&c);
    return join("", folder, name);
}

// ---- the program ----

struct row {
    uint64_t address, file;
    int64_t line;
};

struct search {
    const struct header *h;
    uint64_t wanted;
    struct row now, before; // before: the row before, in the same sequence
    bool has_before, found;
    struct row hit;
};

static void reset(struct search *x)
{
    x->now = (struct row){0, 1, 1};
    x->has_before = false;
}

// A row says that its source begins at its address; the next row ends it.
static void emit(struct search *x, bool ends)
{
    if (x->has_before && x->wanted >= x->before.address && x->wanted < x->now.address &&
        x->before.address) {
        x->hit = x->before;
        x->found = true;
    }
    x->before = x->now;
    x->has_before = !ends;
}

static void run_extended(struct search *x, struct cursor *c)
{
    const uint64_t size = read_leb(c, false);
    if (!size || c->bad || size > (size_t)(c->end - c->at)) {
        c->bad |= size != 0;
        return;
    }
    struct cursor body = {c->at, c->at + size, false};
    c->at += size;
    const unsigned opcode = (unsigned)read_bytes(&body, 1);
    if (opcode == 1) { // DW_LNE_end_sequence
        emit(x, true);
        reset(x);
    } else if (opcode == 2) { // DW_LNE_set_address
        x->now.address = read_bytes(&body, size - 1 > 8 ? 8 : (unsigned)(size - 1));
    }
}

static void run_standard(struct search *x, struct cursor *c, unsigned opcode)
{
    const struct header *h = x->h;
    switch (opcode) {
    case 1: // DW_LNS_copy
        emit(x, false);
        break;
    case 2: // DW_LNS_advance_pc
        x->now.address += read_leb(c, false) * h->minimum_instruction;
        break;
    case 3: // DW_LNS_advance_line
        x->now.line = (int64_t)((uint64_t)x->now.line + read_leb(c, true));
        break;
    case 4: // DW_LNS_set_file
        x->now.file = read_leb(c, false);
        break;
    case 8: // DW_LNS_const_add_pc
        x->now.address += (255 - h->opcode_base) / h->line_range * h->minimum_instruction;
        break;
    case 9: // DW_LNS_fixed_advance_pc
        x->now.address += read_bytes(c, 2);
        break;
    default: // of no use here
        for (unsigned i = 0; i < h->operands[opcode]; i++)
            read_leb(c, false);
    }
}

static bool run_program(const struct header *h, uint64_t address, struct row *hit)
{
    struct search x = {.h = h, .wanted = address};
    struct cursor c = h->program;
    reset(&x);
    while (c.at < c.end && !c.bad && !x.found) {
        const unsigned opcode = (unsigned)read_bytes(&c, 1);
        if (opcode >= h->opcode_base) {
            const unsigned special = opcode - h->opcode_base;
            x.now.address += special / h->line_range * h->minimum_instruction;
            x.now.line += h->line_base + (int)(special % h->line_range);
            emit(&x, false);
        } else if (!opcode) {
            run_extended(&x, &c);
        } else {
            run_standard(&x, &c, opcode);
        }
    }
    *hit = x.hit;
    return x.found;
}

bool dwarf_find_line(const struct dwarf_sections *s, uint64_t address, struct dwarf_source *out)
{
    struct cursor all = {s->line.data, s->line.data + s->line.size, false};
    struct header h;
    struct row hit;
    while (all.at < all.end) {
        if (!read_header(&all, &h) || !run_program(&h, address, &hit))
            continue;
        out->file = h.version >= 5 ? file_name_5(&h, s, hit.file) : file_name_4(&h, hit.file);
        out->line = hit.line > 0 && hit.line < INT32_MAX ? (unsigned)hit.line : 0;
        return out->file && out->line;
    }
    return false;
}
