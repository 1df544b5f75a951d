// SPDX-License-Identifier: MIT
// Stream attributes. On a card they control caches, waiting and memory domains. These do not
// change any result here, so the attributes are only checked and stored.
#include "stream_attribute.h"

#include "device.h"
#include "error.h"
#include "lock.h"
#include "quirk.h"

static CUresult not_of_streams(CUstreamAttrID attribute)
{
    return em_fail(CUDA_ERROR_INVALID_VALUE, "attribute %d is not a stream attribute",
                   (int)attribute);
}

static CUresult get(const struct em_stream *s, CUstreamAttrID attribute, CUstreamAttrValue *out)
{
    em_assert_locked();
    switch ((int)attribute) {
    case CU_STREAM_ATTRIBUTE_ACCESS_POLICY_WINDOW:
        out->accessPolicyWindow = s->attributes.window;
        return CUDA_SUCCESS;
    case CU_STREAM_ATTRIBUTE_SYNCHRONIZATION_POLICY:
        if (s->attributes.sync_policy)
            out->syncPolicy = (CUsynchronizationPolicy)s->attributes.sync_policy;
        else
            out->syncPolicy =
                em_quirk(SYNC_POLICY_UNSET) ? (CUsynchronizationPolicy)-1 : CU_SYNC_POLICY_AUTO;
        return CUDA_SUCCESS;
    case CU_STREAM_ATTRIBUTE_PRIORITY:
        out->priority = s->priority;
        return CUDA_SUCCESS;
    case CU_STREAM_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP:
        out->memSyncDomainMap = s->attributes.domain_map;
        return CUDA_SUCCESS;
    case CU_STREAM_ATTRIBUTE_MEM_SYNC_DOMAIN:
        out->memSyncDomain = s->attributes.domain;
        return CUDA_SUCCESS;
    default:
        return not_of_streams(attribute);
    }
}

static CUresult set_window(struct em_stream *s, const CUaccessPolicyWindow *w)
{
    int most =
        em_device_attribute(s->object.context->device,
                            (enum dm_attribute)CU_DEVICE_ATTRIBUTE_MAX_ACCESS_POLICY_WINDOW_SIZE);
    // "num_bytes is limited by CU_DEVICE_ATTRIBUTE_MAX_ACCESS_POLICY_WINDOW_SIZE."
    if (w->num_bytes > (size_t)most)
        return em_fail(
            CUDA_ERROR_INVALID_VALUE,
            "num_bytes (%zu) exceeds the device's largest access policy window (%d bytes)",
            w->num_bytes, most);
    if (!(w->hitRatio >= 0 && w->hitRatio <= 1))
        return em_fail(CUDA_ERROR_INVALID_VALUE, "hitRatio (%g) is not between 0 and 1",
                       (double)w->hitRatio);
    // "missProp: … must be either NORMAL or STREAMING"
    if (w->missProp == CU_ACCESS_PROPERTY_PERSISTING)
        return em_fail(CUDA_ERROR_INVALID_VALUE,
                       "missProp is CU_ACCESS_PROPERTY_PERSISTING; it must be NORMAL or STREAMING");
    s->attributes.window = *w;
    return CUDA_SUCCESS;
}

static CUresult set(struct em_stream *s, CUstreamAttrID attribute, const CUstreamAttrValue *value)
{
    em_assert_locked();
    int domains = em_device_attribute(s->object.context->device,
                                      (enum dm_attribute)CU_DEVICE_ATTRIBUTE_MEM_SYNC_DOMAIN_COUNT);
    const CUlaunchMemSyncDomainMap *map = &value->memSyncDomainMap;
    switch ((int)attribute) {
    case CU_STREAM_ATTRIBUTE_ACCESS_POLICY_WINDOW:
        return set_window(s, &value->accessPolicyWindow);
    case CU_STREAM_ATTRIBUTE_SYNCHRONIZATION_POLICY:
        if ((int)value->syncPolicy < CU_SYNC_POLICY_AUTO ||
            (int)value->syncPolicy > CU_SYNC_POLICY_BLOCKING_SYNC)
            return em_fail(CUDA_ERROR_INVALID_VALUE,
                           "syncPolicy (%d) is not a CUsynchronizationPolicy",
                           (int)value->syncPolicy);
        s->attributes.sync_policy = (int)value->syncPolicy;
        return CUDA_SUCCESS;
    case CU_STREAM_ATTRIBUTE_PRIORITY:
        s->priority = em_stream_clamp_priority(value->priority);
        return CUDA_SUCCESS;
    case CU_STREAM_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP:
        if (map->default_ >= domains || map->remote >= domains)
            return em_fail(CUDA_ERROR_INVALID_VALUE,
                           "domains %u and %u must be less than the device's %d domains",
                           map->default_, map->remote, domains);
        s->attributes.domain_map = *map;
        return CUDA_SUCCESS;
    case CU_STREAM_ATTRIBUTE_MEM_SYNC_DOMAIN:
        if ((unsigned)value->memSyncDomain > CU_LAUNCH_MEM_SYNC_DOMAIN_REMOTE)
            return em_fail(CUDA_ERROR_INVALID_VALUE,
                           "memSyncDomain (%d) is not a CUlaunchMemSyncDomain",
                           (int)value->memSyncDomain);
        s->attributes.domain = value->memSyncDomain;
        return CUDA_SUCCESS;
    default:
        return not_of_streams(attribute);
    }
}

CUresult em_stream_get_attribute(struct em_stream *s, CUstreamAttrID attribute,
                                 CUstreamAttrValue *out)
{
    em_assert_unlocked();
    em_lock();
    CUresult r = get(s, attribute, out);
    em_unlock();
    return r;
}

CUresult em_stream_set_attribute(struct em_stream *s, CUstreamAttrID attribute,
                                 const CUstreamAttrValue *value)
{
    em_assert_unlocked();
    em_lock();
    CUresult r = s->dead ? em_fail(CUDA_ERROR_CONTEXT_IS_DESTROYED,
                                   "the context of this stream was destroyed")
                         : set(s, attribute, value);
    em_unlock();
    return r;
}

CUresult em_stream_copy_attributes(struct em_stream *to, struct em_stream *from)
{
    em_assert_unlocked();
    // "Both streams must have the same context."
    if (to->object.context != from->object.context)
        return em_fail(CUDA_ERROR_INVALID_VALUE, "the streams belong to different contexts");
    em_lock();
    to->attributes = from->attributes;
    to->priority = from->priority;
    em_unlock();
    return CUDA_SUCCESS;
}
