// SPDX-License-Identifier: MIT
// Gives the buckets of a hash table back after a peak.
#include "hash_table.h"

#include <string.h>

enum { SPARSE = 8 }; // buckets for each element from which on a table shrinks

static void push(UT_hash_bucket *bucket, UT_hash_handle *handle)
{
    handle->hh_prev = NULL;
    handle->hh_next = bucket->hh_head;
    if (bucket->hh_head)
        bucket->hh_head->hh_prev = handle;
    bucket->hh_head = handle;
    bucket->count++;
}

void dm_table_shrink(UT_hash_table *t)
{
    if (t->num_buckets <= HASH_INITIAL_NUM_BUCKETS || t->num_items > t->num_buckets / SPARSE)
        return;
    unsigned count = t->num_buckets / 2;
    UT_hash_bucket *buckets = dm_calloc(count, sizeof *buckets);
    if (!buckets)
        return;
    for (unsigned i = 0; i < t->num_buckets; i++)
        for (UT_hash_handle *h = t->buckets[i].hh_head, *next; h; h = next) {
            next = h->hh_next;
            push(&buckets[h->hashv & (count - 1)], h);
        }
    dm_free(t->buckets);
    t->buckets = buckets;
    t->num_buckets = count;
    t->log2_num_buckets--;
    t->ineff_expands = t->noexpand = 0;
}
