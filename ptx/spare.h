// SPDX-License-Identifier: MIT
// Places that launches have left (cluster.h). A place for a small block takes longer to prepare
// than many a kernel runs, so the next launch of the same kernel with blocks of the same size takes
// it over. A few places are kept, until their programs end.
#pragma once
#include "cluster.h"

// Returns a place for clusters of the grid that is like a new one, or NULL. No other launch gets it
// before px_spare_give.
struct px_cluster *px_spare_take(struct px_grid *grid, const struct px_decoded *decoded,
                                 bool single);
// Keeps a place if it is `good`, that is if its cluster has ended without a failure, or frees it.
void px_spare_give(struct px_cluster *cluster, bool good);
// Frees the place of a program that ends.
void px_spare_drop(const struct px_decoded *decoded);
