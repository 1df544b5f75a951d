// SPDX-License-Identifier: MIT
// The manual's chapters "Texture Reference Management [DEPRECATED]" and "Surface Reference
// Management [DEPRECATED]".
#include <string.h>

#include "api_bodies.h"
#include "error.h"
#include "module.h"
#include "quirk.h"
#include "surface_reference.h"
#include "texture_reference.h"

CUresult api_cuModuleGetTexRef(CUtexref *pTexRef, CUmodule hmod, const char *name)
{
    uint64_t handle;
    CUresult r =
        em_module_reference(hmod, name, EM_VARIABLE_TEXTURE, em_texture_reference_new, &handle);
    if (!r)
        *pTexRef = (CUtexref)(uintptr_t)handle;
    return r;
}

CUresult api_cuModuleGetSurfRef(CUsurfref *pSurfRef, CUmodule hmod, const char *name)
{
    uint64_t handle;
    CUresult r =
        em_module_reference(hmod, name, EM_VARIABLE_SURFACE, em_surface_reference_new, &handle);
    if (!r)
        *pSurfRef = (CUsurfref)(uintptr_t)handle;
    return r;
}

CUresult api_cuTexRefCreate(CUtexref *pTexRef)
{
    return em_texture_reference_create(pTexRef);
}

CUresult api_cuTexRefDestroy(CUtexref hTexRef)
{
    return em_texture_reference_destroy(hTexRef);
}

// ---- bindings

CUresult api_cuTexRefSetAddress_v2(size_t *ByteOffset, CUtexref hTexRef, CUdeviceptr dptr,
                                   size_t bytes)
{
    return em_texture_reference_linear(hTexRef, dptr, bytes, ByteOffset);
}

CUresult api_cuTexRefSetAddress2D_v3(CUtexref hTexRef, const CUDA_ARRAY_DESCRIPTOR *desc,
                                     CUdeviceptr dptr, size_t Pitch)
{
    return em_texture_reference_pitched(hTexRef, desc, dptr, Pitch, true);
}

// The form of CUDA 3.2 is older than the rules for pitches.
CUresult api_cuTexRefSetAddress2D_v2(CUtexref hTexRef, const CUDA_ARRAY_DESCRIPTOR *desc,
                                     CUdeviceptr dptr, size_t Pitch)
{
    return em_texture_reference_pitched(hTexRef, desc, dptr, Pitch, false);
}

CUresult api_cuTexRefSetArray(CUtexref hTexRef, CUarray hArray, unsigned int Flags)
{
    if (!hArray)
        return em_fail(CUDA_ERROR_INVALID_HANDLE, "hArray is NULL");
    return em_texture_reference_array(hTexRef, hArray, Flags);
}

CUresult api_cuTexRefSetMipmappedArray(CUtexref hTexRef, CUmipmappedArray hMipmappedArray,
                                       unsigned int Flags)
{
    if (!hMipmappedArray)
        return em_fail(CUDA_ERROR_INVALID_HANDLE, "hMipmappedArray is NULL");
    return em_texture_reference_mipmap(hTexRef, hMipmappedArray, Flags);
}

static CUresult not_bound(const char *what)
{
    return em_fail(CUDA_ERROR_INVALID_VALUE, "no %s is bound to the texture reference", what);
}

// Clears the address if no memory is bound, as the driver does.
CUresult api_cuTexRefGetAddress_v2(CUdeviceptr *pdptr, CUtexref hTexRef)
{
    struct em_texture_binding b;
    CUresult r = em_texture_reference_bound(hTexRef, &b);
    if (r)
        return r;
    *pdptr = b.address;
    return b.linear ? CUDA_SUCCESS : not_bound("linear memory");
}

CUresult api_cuTexRefGetArray(CUarray *phArray, CUtexref hTexRef)
{
    struct em_texture_binding b;
    CUresult r = em_texture_reference_bound(hTexRef, &b);
    if (r || !b.array)
        return r ? r : not_bound("CUDA array");
    *phArray = b.array;
    return CUDA_SUCCESS;
}

CUresult api_cuTexRefGetMipmappedArray(CUmipmappedArray *phMipmappedArray, CUtexref hTexRef)
{
    struct em_texture_binding b;
    CUresult r = em_texture_reference_bound(hTexRef, &b);
    if (r || !b.mipmap)
        return r ? r : not_bound("mipmapped array");
    *phMipmappedArray = b.mipmap;
    return CUDA_SUCCESS;
}

// ---- sampling

CUresult api_cuTexRefSetFormat(CUtexref hTexRef, CUarray_format fmt, int NumPackedComponents)
{
    bool known = NumPackedComponents == 1 || NumPackedComponents == 2 || NumPackedComponents == 4;
    bool refused = em_quirk(TEXTURE_REFERENCE_UNCHECKED)
                       ? NumPackedComponents == 3 || NumPackedComponents > 4
                       : !known;
    // "NumPackedComponents: Number of components per texture array element": 1, 2 or 4, as in
    // arrays.
    if (refused)
        return em_fail(CUDA_ERROR_INVALID_VALUE, "NumPackedComponents (%d) must be 1, 2 or 4",
                       NumPackedComponents);
    return em_texture_reference_set(
        hTexRef, EM_TEXTURE_FORMAT,
        &(struct em_texture_sampling){.format = fmt, .channels = NumPackedComponents});
}

// Either output may be NULL.
CUresult api_cuTexRefGetFormat(CUarray_format *pFormat, int *pNumChannels, CUtexref hTexRef)
{
    struct em_texture_sampling s;
    CUresult r = em_texture_reference_sampling(hTexRef, &s);
    if (r)
        return r;
    if (pFormat)
        *pFormat = s.format;
    if (pNumChannels)
        *pNumChannels = s.channels;
    return CUDA_SUCCESS;
}

static CUresult check_dimension(int dim)
{
    return dim >= 0 && dim < 3
               ? CUDA_SUCCESS
               : em_fail(CUDA_ERROR_INVALID_VALUE, "dim (%d) must be 0, 1 or 2", dim);
}

CUresult api_cuTexRefSetAddressMode(CUtexref hTexRef, int dim, CUaddress_mode am)
{
    bool known = (unsigned)am <= CU_TR_ADDRESS_MODE_BORDER;
    CUresult r = check_dimension(dim);
    if (r)
        return r;
    // The driver replaces an unknown mode by CLAMP.
    if (!known && !em_quirk(TEXTURE_REFERENCE_UNCHECKED))
        return em_fail(CUDA_ERROR_INVALID_VALUE, "am (%d) is not a CUaddress_mode", (int)am);
    struct em_texture_sampling to;
    to.address_mode[dim] = known ? am : CU_TR_ADDRESS_MODE_CLAMP;
    return em_texture_reference_set(hTexRef, EM_TEXTURE_ADDRESS_MODE_0 + (unsigned)dim, &to);
}

CUresult api_cuTexRefGetAddressMode(CUaddress_mode *pam, CUtexref hTexRef, int dim)
{
    struct em_texture_sampling s;
    CUresult r = check_dimension(dim);
    if (!r)
        r = em_texture_reference_sampling(hTexRef, &s);
    if (r)
        return r;
    *pam = s.address_mode[dim];
    return CUDA_SUCCESS;
}

static CUresult check_filter(CUfilter_mode mode)
{
    return (unsigned)mode <= CU_TR_FILTER_MODE_LINEAR
               ? CUDA_SUCCESS
               : em_fail(CUDA_ERROR_INVALID_VALUE, "fm (%d) is not a CUfilter_mode", (int)mode);
}

CUresult api_cuTexRefSetFilterMode(CUtexref hTexRef, CUfilter_mode fm)
{
    CUresult r = em_quirk(TEXTURE_REFERENCE_UNCHECKED) ? CUDA_SUCCESS : check_filter(fm);
    if (r)
        return r;
    return em_texture_reference_set(hTexRef, EM_TEXTURE_FILTER,
                                    &(struct em_texture_sampling){.filter = fm});
}

CUresult api_cuTexRefGetFilterMode(CUfilter_mode *pfm, CUtexref hTexRef)
{
    struct em_texture_sampling s;
    CUresult r = em_texture_reference_sampling(hTexRef, &s);
    if (r)
        return r;
    *pfm = s.filter;
    return CUDA_SUCCESS;
}

CUresult api_cuTexRefSetMipmapFilterMode(CUtexref hTexRef, CUfilter_mode fm)
{
    CUresult r = check_filter(fm);
    if (r)
        return r;
    return em_texture_reference_set(hTexRef, EM_TEXTURE_MIPMAP_FILTER,
                                    &(struct em_texture_sampling){.mipmap_filter = fm});
}

CUresult api_cuTexRefGetMipmapFilterMode(CUfilter_mode *pfm, CUtexref hTexRef)
{
    struct em_texture_sampling s;
    CUresult r = em_texture_reference_sampling(hTexRef, &s);
    if (r)
        return r;
    *pfm = s.mipmap_filter;
    return CUDA_SUCCESS;
}

CUresult api_cuTexRefSetMipmapLevelBias(CUtexref hTexRef, float bias)
{
    return em_texture_reference_set(hTexRef, EM_TEXTURE_LEVEL_BIAS,
                                    &(struct em_texture_sampling){.level_bias = bias});
}

CUresult api_cuTexRefGetMipmapLevelBias(float *pbias, CUtexref hTexRef)
{
    struct em_texture_sampling s;
    CUresult r = em_texture_reference_sampling(hTexRef, &s);
    if (r)
        return r;
    *pbias = s.level_bias;
    return CUDA_SUCCESS;
}

CUresult api_cuTexRefSetMipmapLevelClamp(CUtexref hTexRef, float minMipmapLevelClamp,
                                         float maxMipmapLevelClamp)
{
    return em_texture_reference_set(
        hTexRef, EM_TEXTURE_LEVEL_CLAMP,
        &(struct em_texture_sampling){.level_clamp = {minMipmapLevelClamp, maxMipmapLevelClamp}});
}

// Either output may be NULL.
CUresult api_cuTexRefGetMipmapLevelClamp(float *pminMipmapLevelClamp, float *pmaxMipmapLevelClamp,
                                         CUtexref hTexRef)
{
    struct em_texture_sampling s;
    CUresult r = em_texture_reference_sampling(hTexRef, &s);
    if (r)
        return r;
    if (pminMipmapLevelClamp)
        *pminMipmapLevelClamp = s.level_clamp[0];
    if (pmaxMipmapLevelClamp)
        *pmaxMipmapLevelClamp = s.level_clamp[1];
    return CUDA_SUCCESS;
}

CUresult api_cuTexRefSetMaxAnisotropy(CUtexref hTexRef, unsigned int maxAniso)
{
    return em_texture_reference_set(hTexRef, EM_TEXTURE_ANISOTROPY,
                                    &(struct em_texture_sampling){.anisotropy = (int)maxAniso});
}

CUresult api_cuTexRefGetMaxAnisotropy(int *pmaxAniso, CUtexref hTexRef)
{
    struct em_texture_sampling s;
    CUresult r = em_texture_reference_sampling(hTexRef, &s);
    if (r)
        return r;
    *pmaxAniso = s.anisotropy;
    return CUDA_SUCCESS;
}

CUresult api_cuTexRefSetBorderColor(CUtexref hTexRef, float *pBorderColor)
{
    return em_texture_reference_set(
        hTexRef, EM_TEXTURE_BORDER,
        &(struct em_texture_sampling){
            .border = {pBorderColor[0], pBorderColor[1], pBorderColor[2], pBorderColor[3]}});
}

CUresult api_cuTexRefGetBorderColor(float *pBorderColor, CUtexref hTexRef)
{
    struct em_texture_sampling s;
    CUresult r = em_texture_reference_sampling(hTexRef, &s);
    if (r)
        return r;
    memcpy(pBorderColor, s.border, sizeof s.border);
    return CUDA_SUCCESS;
}

CUresult api_cuTexRefSetFlags(CUtexref hTexRef, unsigned int Flags)
{
    // Bits below the named ones are ignored; seamless cubemaps came with texture objects.
    if (Flags >= CU_TRSF_SEAMLESS_CUBEMAP)
        return em_fail(CUDA_ERROR_INVALID_VALUE,
                       "Flags (%#x) must consist of CU_TRSF_* bits below %#x", Flags,
                       CU_TRSF_SEAMLESS_CUBEMAP);
    return em_texture_reference_set(hTexRef, EM_TEXTURE_FLAGS,
                                    &(struct em_texture_sampling){.flags = Flags});
}

CUresult api_cuTexRefGetFlags(unsigned int *pFlags, CUtexref hTexRef)
{
    struct em_texture_sampling s;
    CUresult r = em_texture_reference_sampling(hTexRef, &s);
    if (r)
        return r;
    *pFlags = s.flags;
    return CUDA_SUCCESS;
}

// ---- surface references

CUresult api_cuSurfRefSetArray(CUsurfref hSurfRef, CUarray hArray, unsigned int Flags)
{
    return em_surface_reference_set(hSurfRef, hArray, Flags);
}

CUresult api_cuSurfRefGetArray(CUarray *phArray, CUsurfref hSurfRef)
{
    return em_surface_reference_get(hSurfRef, phArray);
}
