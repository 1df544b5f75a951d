// SPDX-License-Identifier: MIT
// Keeps the permissions in a table. Each permission is also in a list of both contexts, so that the
// end of a context takes time proportional to the permissions that it has and has given.
#include "context_peer.h"

#include <utlist.h>

#include "call.h"
#include "context.h"
#include "device.h"
#include "hash_table.h"
#include "lock.h"

// `user` may use memory of `peer`.
struct em_peer_access {
    struct key {
        const struct em_context *user, *peer;
    } key;
    struct em_context *user, *peer;
    struct em_peer_access *previous_used, *next_used;   // in user->peers_used
    struct em_peer_access *previous_using, *next_using; // in peer->peers_using
    UT_hash_handle hh;
};
static struct em_peer_access *accesses;

static struct em_peer_access *find(const struct em_context *user, const struct em_context *peer)
{
    const struct key key = {user, peer};
    return DM_TABLE_FIND(accesses, &key);
}

static CUresult allow(struct em_context *user, struct em_context *peer)
{
    struct em_peer_access *a = dm_calloc(1, sizeof *a);
    if (!a)
        goto fail;
    a->key = (struct key){user, peer};
    a->user = user;
    a->peer = peer;
    if (DM_TABLE_ADD(accesses, key, a))
        goto fail;
    DL_PREPEND2(user->peers_used, a, previous_used, next_used);
    DL_PREPEND2(peer->peers_using, a, previous_using, next_using);
    return CUDA_SUCCESS;
fail:
    dm_free(a);
    return em_fail(CUDA_ERROR_OUT_OF_MEMORY, "out of host memory while enabling peer access");
}

static void forbid(struct em_peer_access *a)
{
    DM_TABLE_REMOVE(accesses, a);
    DL_DELETE2(a->user->peers_used, a, previous_used, next_used);
    DL_DELETE2(a->peer->peers_using, a, previous_using, next_using);
    dm_free(a);
}

void em_context_forget_peers(struct em_context *context)
{
    em_assert_locked();
    while (context->peers_used)
        forbid(context->peers_used);
    while (context->peers_using)
        forbid(context->peers_using);
}

// Finds the peer of a call on the current context. Precondition: em_lock held.
static CUresult get_peer(CUcontext handle, struct em_context **out)
{
    em_assert_locked();
    CUresult r = em_object_get(EM_CONTEXT, handle, CUDA_ERROR_INVALID_CONTEXT, out);
    return r || !em_context_error_state(*out) ? r : em_context_error(*out);
}

CUresult em_context_enable_peer(CUcontext handle)
{
    em_assert_unlocked();
    struct em_context *c = em_self.current, *peer;
    em_lock();
    CUresult r = get_peer(handle, &peer);
    if (r)
        goto unlock;
    // "Returns CUDA_ERROR_PEER_ACCESS_UNSUPPORTED if there is no direct peer access possible
    // between the current context's device and the peer's"
    if (peer->device == c->device)
        r = em_fail(CUDA_ERROR_PEER_ACCESS_UNSUPPORTED,
                    "peerContext belongs to device %d, as the current context does, and a device "
                    "is not its own peer; use a context of another device",
                    c->device->ordinal);
    else if (find(c, peer))
        r = em_fail(CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED,
                    "CUcontext #%u already has access to the memory of CUcontext #%u",
                    c->base.object.number, peer->base.object.number);
    else
        r = allow(c, peer);
unlock:
    em_unlock();
    return r;
}

CUresult em_context_disable_peer(CUcontext handle)
{
    em_assert_unlocked();
    struct em_context *c = em_self.current, *peer;
    struct em_peer_access *access = NULL;
    em_lock();
    CUresult r = get_peer(handle, &peer);
    if (!r)
        access = find(c, peer);
    if (!r && !access)
        r = em_fail(CUDA_ERROR_PEER_ACCESS_NOT_ENABLED,
                    "CUcontext #%u has no access to the memory of CUcontext #%u; "
                    "cuCtxEnablePeerAccess enables it",
                    c->base.object.number, peer->base.object.number);
    if (access)
        forbid(access);
    em_unlock();
    return r;
}
