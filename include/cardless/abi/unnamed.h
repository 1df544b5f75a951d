/* SPDX-License-Identifier: MIT */
/* Structures with unnamed members are C11; CARDLESS_UNNAMED lets strict C99 programs include them
 * too. */
#ifndef CARDLESS_ABI_UNNAMED_H
#define CARDLESS_ABI_UNNAMED_H

#ifdef __GNUC__
#define CARDLESS_UNNAMED __extension__
#else
#define CARDLESS_UNNAMED
#endif

#endif
