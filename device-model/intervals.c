// SPDX-License-Identifier: MIT
// The treap: a search tree by first point that is also a heap by priority, which is random. So its
// expected depth is logarithmic whatever the order of insertion.
#include "intervals.h"

#include <stdbool.h>
#include <stddef.h>

static void update(struct dm_interval *node)
{
    uint64_t end = node->end;

    if (node->left && node->left->greatest_end > end)
        end = node->left->greatest_end;
    if (node->right && node->right->greatest_end > end)
        end = node->right->greatest_end;
    node->greatest_end = end;
}

// A total order: intervals that begin at the same point are ordered by address.
static bool is_before(const struct dm_interval *a, const struct dm_interval *b)
{
    return a->first != b->first ? a->first < b->first : (uintptr_t)a < (uintptr_t)b;
}

static uint64_t next_priority(struct dm_intervals *set)
{
    uint64_t z = set->state += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

// Splits a tree into the nodes before `at` and the others.
static void split(struct dm_interval *tree, const struct dm_interval *at,
                  struct dm_interval **before, struct dm_interval **after)
{
    if (!tree) {
        *before = *after = NULL;
    } else if (is_before(tree, at)) {
        split(tree->right, at, &tree->right, after);
        *before = tree;
        update(tree);
    } else {
        split(tree->left, at, before, &tree->left);
        *after = tree;
        update(tree);
    }
}

// Joins two trees, all of whose nodes are in order.
static struct dm_interval *join(struct dm_interval *before, struct dm_interval *after)
{
    if (!before)
        return after;
    if (!after)
        return before;
    if (before->priority > after->priority) {
        before->right = join(before->right, after);
        update(before);
        return before;
    }
    after->left = join(before, after->left);
    update(after);
    return after;
}

static struct dm_interval *insert(struct dm_interval *tree, struct dm_interval *node)
{
    if (!tree || node->priority > tree->priority) {
        split(tree, node, &node->left, &node->right);
        update(node);
        return node;
    }
    if (is_before(node, tree))
        tree->left = insert(tree->left, node);
    else
        tree->right = insert(tree->right, node);
    update(tree);
    return tree;
}

void dm_intervals_insert(struct dm_intervals *set, struct dm_interval *node)
{
    node->left = node->right = NULL;
    node->priority = next_priority(set);
    set->root = insert(set->root, node);
}

static struct dm_interval *remove_node(struct dm_interval *tree, struct dm_interval *node)
{
    if (tree == node)
        return join(tree->left, tree->right);
    if (is_before(node, tree))
        tree->left = remove_node(tree->left, node);
    else
        tree->right = remove_node(tree->right, node);
    update(tree);
    return tree;
}

void dm_intervals_remove(struct dm_intervals *set, struct dm_interval *node)
{
    set->root = remove_node(set->root, node);
}

// A subtree whose greatest end is not past `first` has no overlap, and if the left subtree has an
// interval past `first` that does not overlap, neither has anything to the right. So only the node
// to skip can make the search turn back.
static struct dm_interval *overlap(struct dm_interval *tree, uint64_t first, uint64_t end,
                                   const struct dm_interval *except)
{
    while (tree && tree->greatest_end > first) {
        struct dm_interval *found = overlap(tree->left, first, end, except);

        if (found)
            return found;
        if (tree->first >= end)
            return NULL;
        if (tree->end > first && tree != except)
            return tree;
        tree = tree->right;
    }
    return NULL;
}

struct dm_interval *dm_intervals_overlap(const struct dm_intervals *set, uint64_t first,
                                         uint64_t end, const struct dm_interval *except)
{
    return overlap(set->root, first, end, except);
}

static void each(struct dm_interval *tree, void (*visit)(struct dm_interval *, void *),
                 void *argument)
{
    if (!tree)
        return;
    each(tree->left, visit, argument);
    visit(tree, argument);
    each(tree->right, visit, argument);
}

void dm_intervals_each(const struct dm_intervals *set, void (*visit)(struct dm_interval *, void *),
                       void *argument)
{
    each(set->root, visit, argument);
}
