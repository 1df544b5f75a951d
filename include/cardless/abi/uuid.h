/* SPDX-License-Identifier: MIT */
/* The identifier of a device, which the driver API and the runtime API share. */
#ifndef CARDLESS_ABI_UUID_H
#define CARDLESS_ABI_UUID_H

#ifndef CU_UUID_HAS_BEEN_DEFINED
#define CU_UUID_HAS_BEEN_DEFINED
typedef struct CUuuid_st {
    char bytes[16];
} CUuuid;
#endif

#endif
