// SPDX-License-Identifier: MIT
// External semaphore objects: checks the descriptors of imports, imports and destroys.
#include "external_semaphore.h"

#include <errno.h>
#include <string.h>

#include "alloc.h"
#include "call.h"
#include "inject.h"
#include "journal.h"
#include "lock.h"
#include "quirk.h"
#include "record_content.h"
#include "semaphore_command.h"
#include "vulkan_layer.h"

// The members of the union that a handle type uses.
static const struct semaphore_rule {
    const char *name;
    enum { BY_FD, BY_HANDLE_OR_NAME, BY_HANDLE, BY_OBJECT } by;
    enum dm_semaphore_kind kind; // BY_FD
} rules[] = {
    [CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD] = {"OPAQUE_FD", BY_FD, DM_SEMAPHORE_BINARY},
    [CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_WIN32] = {"OPAQUE_WIN32", BY_HANDLE_OR_NAME, 0},
    [CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_WIN32_KMT] = {"OPAQUE_WIN32_KMT", BY_HANDLE, 0},
    [CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_D3D12_FENCE] = {"D3D12_FENCE", BY_HANDLE_OR_NAME, 0},
    [CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_D3D11_FENCE] = {"D3D11_FENCE", BY_HANDLE_OR_NAME, 0},
    [CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_NVSCISYNC] = {"NVSCISYNC", BY_OBJECT, 0},
    [CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_D3D11_KEYED_MUTEX] = {"D3D11_KEYED_MUTEX", BY_HANDLE_OR_NAME,
                                                             0},
    [CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_D3D11_KEYED_MUTEX_KMT] = {"D3D11_KEYED_MUTEX_KMT", BY_HANDLE,
                                                                 0},
    [CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_TIMELINE_SEMAPHORE_FD] = {"TIMELINE_SEMAPHORE_FD", BY_FD,
                                                                 DM_SEMAPHORE_TIMELINE},
    [CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_TIMELINE_SEMAPHORE_WIN32] = {"TIMELINE_SEMAPHORE_WIN32",
                                                                    BY_HANDLE_OR_NAME, 0},
};

// ---- the descriptor ----

static CUresult check_type(int type)
{
    enum { VULKAN_SYNC_FD = 0x10 };
    if (type > 0 && (size_t)type < sizeof rules / sizeof *rules)
        return CUDA_SUCCESS;
    if (type == VULKAN_SYNC_FD)
        return em_mistake(M09, CUDA_ERROR_INVALID_VALUE,
                          "type = %#x is VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_SYNC_FD_BIT, not a "
                          "CUexternalSemaphoreHandleType; CUDA imports no sync files",
                          (unsigned)type);
    return em_fail(CUDA_ERROR_INVALID_VALUE,
                   "type = %d is not a CUexternalSemaphoreHandleType; clear the descriptor, then "
                   "set OPAQUE_FD (1) or TIMELINE_SEMAPHORE_FD (9)",
                   type);
}

static CUresult check_win32(const CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC *desc,
                            const struct semaphore_rule *rule)
{
    const void *handle = desc->handle.win32.handle, *name = desc->handle.win32.name;
    // "exactly one of win32.handle and win32.name must be non-NULL"
    if (rule->by == BY_HANDLE_OR_NAME && !handle == !name)
        return em_mistake(M04, CUDA_ERROR_INVALID_VALUE,
                          "win32.handle and win32.name are both %s; type %s takes exactly one of "
                          "them",
                          handle ? "set" : "NULL", rule->name);
    // "win32.handle must not be NULL and win32.name must be NULL"
    if (rule->by == BY_HANDLE && (!handle || name))
        return em_mistake(M04, CUDA_ERROR_INVALID_VALUE, "%s; type %s takes win32.handle alone",
                          name ? "win32.name is set" : "win32.handle is NULL", rule->name);
    // "nvSciSyncObj must be a valid NvSciSyncObj"
    if (rule->by == BY_OBJECT && !desc->handle.nvSciSyncObj)
        return em_fail(CUDA_ERROR_INVALID_VALUE, "nvSciSyncObj is NULL; type %s needs an object",
                       rule->name);
    return CUDA_SUCCESS;
}

static CUresult check_import(const CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC *desc)
{
    CUresult r = check_type((int)desc->type);
    if (r)
        return r;
    const struct semaphore_rule *rule = &rules[desc->type];
    // "Flags reserved for the future. Must be zero."
    if (desc->flags)
        return em_fail(CUDA_ERROR_INVALID_VALUE, "flags = %#x; they must be 0", desc->flags);
    if (!em_all_zero(desc->reserved, sizeof desc->reserved / sizeof *desc->reserved))
        return em_fail(CUDA_ERROR_INVALID_VALUE,
                       "reserved is not all zero; clear the descriptor before you fill it in");
    if (rule->by == BY_FD)
        return CUDA_SUCCESS;
    r = check_win32(desc, rule);
    return r ? r
             : em_fail(CUDA_ERROR_NOT_SUPPORTED,
                       "type %s is not supported on Linux; use OPAQUE_FD or "
                       "TIMELINE_SEMAPHORE_FD",
                       rule->name);
}

// ---- the file ----

// The result for a descriptor that is not a semaphore. Unlike an import of memory, the driver
// leaves it open.
static CUresult bad_descriptor(int fd, const struct semaphore_rule *rule)
{
    if (!em_quirk(SEMAPHORE_BAD_FD))
        return CUDA_ERROR_INVALID_HANDLE;
    return fd < 0 && rule->kind == DM_SEMAPHORE_TIMELINE ? CUDA_ERROR_INVALID_VALUE
                                                         : CUDA_ERROR_UNKNOWN;
}

static bool is_exported_memory(const struct dm_import_info *info)
{
    return (info->kind == DM_FD_OWN || info->kind == DM_FD_MESA ||
            info->kind == DM_FD_SWIFTSHADER) &&
           !info->error;
}

// A descriptor that is not a semaphore. Returns CUDA_SUCCESS if the driver accepts it nevertheless.
static CUresult refuse(int fd, const struct semaphore_rule *rule)
{
    struct dm_import_info info;
    dm_import_recognise(fd, &info);
    if (is_exported_memory(&info) && em_quirk(SEMAPHORE_FROM_MEMORY))
        return em_mistake(S02, CUDA_SUCCESS,
                          "handle.fd (%d) is %s, not a semaphore; it is imported, but cannot be "
                          "signalled",
                          fd, info.what);
    if (info.kind != DM_FD_CLOSED)
        em_journal_reject_fd(fd, info.what);
    if (info.kind == DM_FD_POOL)
        return em_mistake(S02, CUDA_ERROR_NOT_SUPPORTED,
                          "handle.fd (%d) is a memory pool, not a semaphore", fd);
    if (info.kind == DM_FD_SEMAPHORE)
        return em_fail(bad_descriptor(fd, rule),
                       "handle.fd (%d) is a semaphore whose file is damaged, can be truncated or "
                       "is not open for reading and writing; pass the descriptor that its exporter "
                       "made",
                       fd);
    return em_mistake(S02, bad_descriptor(fd, rule),
                      "handle.fd (%d) is %s, not a semaphore that another API exported", fd,
                      info.what);
}

static const char *kind_text(enum dm_semaphore_kind kind)
{
    return kind == DM_SEMAPHORE_TIMELINE ? "a timeline semaphore" : "a binary semaphore";
}

// The manual asks for the type that belongs to the semaphore; the driver does not check it.
static CUresult check_kind(int fd, const struct semaphore_rule *rule,
                           const struct dm_semaphore *semaphore)
{
    if (semaphore->kind == rule->kind)
        return CUDA_SUCCESS;
    return em_mistake(S02, em_quirk(SEMAPHORE_KIND) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE,
                      "type %s is for %s semaphores, but handle.fd (%d) is %s", rule->name,
                      rule->kind == DM_SEMAPHORE_TIMELINE ? "timeline" : "binary", fd,
                      kind_text(semaphore->kind));
}

// Opens the payload of a checked descriptor. Sets *out to NULL if the driver accepts memory.
static CUresult open_payload(int fd, const struct semaphore_rule *rule, struct em_payload **out)
{
    struct dm_semaphore semaphore;
    const struct em_owned_fd *before = em_owned_fd_find(fd);
    *out = NULL;
    if (before)
        return em_mistake(M01, CUDA_ERROR_INVALID_HANDLE,
                          "handle.fd (%d) belongs to the driver since %s #%u was imported", fd,
                          before->type, before->number);
    int status = dm_semaphore_open(fd, &semaphore);
    if (status == -EBADF || status == -ENOTSUP || status == -EBADMSG)
        return refuse(fd, rule);
    if (status)
        return em_fail(CUDA_ERROR_OUT_OF_MEMORY,
                       "out of host memory or mappings for a semaphore: %s", strerror(-status));
    CUresult r = check_kind(fd, rule, &semaphore);
    if (!r && em_inject(EM_INJECT_IMPORT))
        r = em_fail(CUDA_ERROR_OUT_OF_MEMORY, "this import fails, as cardlessFuzzFail asked");
    if (r)
        dm_semaphore_close(&semaphore);
    else
        r = em_payload_create(&semaphore, out);
    if (r)
        em_journal_reject_fd(fd, kind_text(semaphore.kind));
    return r;
}

// ---- objects ----

static void semaphore_finish(struct em_object *object)
{
    struct em_external_semaphore *s = (struct em_external_semaphore *)object;
    em_journal_end(s->journal);
    em_owned_fd_end(&s->owned);
    if (s->payload)
        em_payload_unref(s->payload);
    dm_free(s);
}

CUresult em_external_semaphore_import(const CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC *desc,
                                      CUexternalSemaphore *out)
{
    CUresult r = check_import(desc);
    if (r)
        return r;
    const struct semaphore_rule *rule = &rules[desc->type];
    em_vulkan_layer_find(); // its long waits are reported as diagnostics from now on
    em_lock();
    struct em_external_semaphore *s = dm_calloc(1, sizeof *s);
    if (!s) {
        r = em_fail(CUDA_ERROR_OUT_OF_MEMORY, "out of host memory for an external semaphore");
        goto unlock;
    }
    s->owned.fd.fd = -1;
    if (em_recording_contents)
        em_record_fd(desc->handle.fd, true);
    r = open_payload(desc->handle.fd, rule, &s->payload);
    if (r)
        goto free_object;
    r = em_object_start(&s->object, EM_EXTERNAL_SEMAPHORE, em_self.current, semaphore_finish);
    if (r)
        goto drop_payload;
    em_owned_fd_take(&s->owned, desc->handle.fd, em_type_name(EM_EXTERNAL_SEMAPHORE),
                     s->object.number);
    s->journal = em_journal_begin(EM_JOURNAL_IMPORT, "CUexternalSemaphore #%u: %s",
                                  s->object.number, rule->name);
    *out = (CUexternalSemaphore)(uintptr_t)s->object.handle;
    goto unlock;
drop_payload:
    if (s->payload)
        em_payload_unref(s->payload);
free_object:
    dm_free(s);
unlock:
    em_unlock();
    return r;
}

CUresult em_external_semaphore_destroy(CUexternalSemaphore handle)
{
    struct em_external_semaphore *s;
    char text[128];
    em_lock();
    CUresult r = em_object_get(EM_EXTERNAL_SEMAPHORE, handle, CUDA_ERROR_INVALID_HANDLE, &s);
    if (!r) {
        em_owned_fd_check(&s->owned);
        // "Any outstanding signals or waits must have completed before the semaphore is destroyed."
        const struct em_command *pending = em_semaphore_pending(s);
        if (pending)
            em_mistake(S06, CUDA_SUCCESS, "%s is destroyed before a %s of it has completed",
                       em_object_text(&s->object, text, sizeof text), pending->ops->name);
        em_owned_fd_end(&s->owned);
        em_object_retire(&s->object);
    }
    em_unlock();
    return r;
}
