// SPDX-License-Identifier: MIT
// Writes and reads the Vulkan layer's record of an exported memory object.
#include "vulkan_facts.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "guard.h"
#include "hash.h"
#include "import.h"

// The record must fit between Mesa's header and the smallest payload offset that Mesa has used, and
// must not overlap our own header.
_Static_assert(DM_VULKAN_FACTS_AT + sizeof(struct dm_vulkan_facts) <= DM_HEADER_SIZE,
               "the record is larger than its place");

static const char magic[8] = {'C', 'A', 'R', 'D', 'L', 'S', 'V', 'K'};
static const char attribute[] = "user.cardless.vulkan";

// Both consist of whole words, without padding.
_Static_assert(offsetof(struct dm_vulkan_facts, resource) % 8 == 0 &&
                   sizeof(struct dm_vulkan_resource) % 8 == 0,
               "the check goes by words");

// Check sum of the head and of the resources in use. Precondition: resource_count is in range.
static uint32_t check_of(const struct dm_vulkan_facts *facts)
{
    struct dm_vulkan_facts head;
    const size_t head_B = offsetof(struct dm_vulkan_facts, resource);
    uint64_t hash = DM_HASH_START, word;
    memcpy(&head, facts, head_B);
    head.check = 0;
    for (size_t i = 0; i < head_B + facts->resource_count * sizeof *facts->resource;
         i += sizeof word) {
        memcpy(&word,
               (i < head_B ? (const unsigned char *)&head : (const unsigned char *)facts) + i,
               sizeof word);
        hash = dm_hash_unit(hash, word);
        hash ^= hash >> 32;
    }
    return (uint32_t)hash;
}

enum dm_vulkan_facts_place dm_vulkan_facts_place(const struct dm_import_info *info)
{
    if (info->kind == DM_FD_MESA && !info->error && info->payload >= DM_HEADER_SIZE)
        return DM_VULKAN_FACTS_IN_HEADER;
    return info->kind == DM_FD_SWIFTSHADER || info->kind == DM_FD_MEMFD
               ? DM_VULKAN_FACTS_IN_ATTRIBUTE
               : DM_VULKAN_FACTS_NOWHERE;
}

struct magic_check {
    const char *at;
    bool same;
};

static void check_magic(void *arg)
{
    struct magic_check *check = arg;
    check->same = !memcmp(check->at, magic, sizeof magic);
}

bool dm_vulkan_facts_in_header(const void *header)
{
    struct magic_check check = {(const char *)header + DM_VULKAN_FACTS_AT, false};
    return !dm_guarded(check_magic, &check, NULL) && check.same;
}

int dm_vulkan_facts_write(int fd, const struct dm_import_info *info, struct dm_vulkan_facts *facts)
{
    if (facts->resource_count > DM_VULKAN_RESOURCES_MOST)
        return -EINVAL;
    memcpy(facts->magic, magic, sizeof magic);
    facts->version = DM_VULKAN_FACTS_VERSION;
    facts->check = check_of(facts);
    enum dm_vulkan_facts_place place = dm_vulkan_facts_place(info);
    if (place == DM_VULKAN_FACTS_IN_HEADER) {
        ssize_t n = pwrite(fd, facts, sizeof *facts, DM_VULKAN_FACTS_AT);
        return n == (ssize_t)sizeof *facts ? 0 : n < 0 ? -errno : -EIO;
    }
    if (place == DM_VULKAN_FACTS_IN_ATTRIBUTE)
        return fsetxattr(fd, attribute, facts, sizeof *facts, 0) ? -errno : 0;
    return -ENOTSUP;
}

// Messages print these fields, so they must be printable.
static bool makes_sense(struct dm_vulkan_resource *r)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_";
    r->format_name[sizeof r->format_name - 1] = 0;
    bool image = r->kind == DM_VULKAN_IMAGE && r->dimensions >= 1 && r->dimensions <= 3;
    return (image || r->kind == DM_VULKAN_BUFFER) &&
           !r->format_name[strspn(r->format_name, letters)];
}

static bool all_make_sense(struct dm_vulkan_facts *facts)
{
    for (uint32_t i = 0; i < facts->resource_count; i++)
        if (!makes_sense(&facts->resource[i]))
            return false;
    return true;
}

int dm_vulkan_facts_read(int fd, const struct dm_import_info *info, struct dm_vulkan_facts *facts)
{
    // A writer may be active: then the check sum does not match yet, and a moment later it does.
    enum { ATTEMPTS = 3 };
    enum dm_vulkan_facts_place place = dm_vulkan_facts_place(info);
    for (int i = 0; i < ATTEMPTS; i++) {
        ssize_t n = -1;
        if (place == DM_VULKAN_FACTS_IN_HEADER)
            n = pread(fd, facts, sizeof *facts, DM_VULKAN_FACTS_AT);
        else if (place == DM_VULKAN_FACTS_IN_ATTRIBUTE)
            n = fgetxattr(fd, attribute, facts, sizeof *facts);
        if (n != (ssize_t)sizeof *facts || memcmp(facts->magic, magic, sizeof magic))
            return -ENODATA;
        if (facts->version == DM_VULKAN_FACTS_VERSION &&
            facts->resource_count <= DM_VULKAN_RESOURCES_MOST && facts->check == check_of(facts))
            return all_make_sense(facts) ? 0 : -EBADMSG;
    }
    return -EBADMSG;
}
