// SPDX-License-Identifier: MIT
// The manual's chapters "Texture Reference Management [DEPRECATED]" and "Surface Reference Management [DEPRECATED]".
#include "api_bodies.h"
#include "call.h"
#include "lock.h"
#include "quirk.h"
#include "surface_reference.h"
#include "texture_reference.h"

CUresult api_cuTexRefCreate(CUtexref *pTexRef)
{
    return em_texture_reference_create(pTexRef);
}

CUresult api_cuTexRefDestroy(CUtexref hTexRef)
{
    return em_texture_reference_destroy(hTexRef);
}

// Locks the reference, or returns.
#define WITH_REFERENCE(t, handle)                                                                                                                    \
    struct em_texture_reference *t;                                                                                                                  \
    CUresult locked = em_texture_reference_lock(handle, &t);                                                                                         \
    if (locked)                                                                                                                                      \
    return locked

static CUresult unlock(CUresult r)
{
    em_unlock();
    return r;
}

// ---- what is bound

CUresult api_cuTexRefSetAddress_v2(size_t *ByteOffset, CUtexref hTexRef, CUdeviceptr dptr, size_t bytes)
{
    WITH_REFERENCE(t, hTexRef);
    return unlock(em_texture_reference_linear(t, dptr, bytes, ByteOffset));
}

CUresult api_cuTexRefSetAddress2D_v3(CUtexref hTexRef, const CUDA_ARRAY_DESCRIPTOR *desc, CUdeviceptr dptr, size_t Pitch)
{
    WITH_REFERENCE(t, hTexRef);
    return unlock(em_texture_reference_pitched(t, desc, dptr, Pitch, true));
}

// The form of CUDA 3.2 comes from before the rules for pitches.
CUresult api_cuTexRefSetAddress2D_v2(CUtexref hTexRef, const CUDA_ARRAY_DESCRIPTOR *desc, CUdeviceptr dptr, size_t Pitch)
{
    WITH_REFERENCE(t, hTexRef);
    return unlock(em_texture_reference_pitched(t, desc, dptr, Pitch, false));
}

CUresult api_cuTexRefSetArray(CUtexref hTexRef, CUarray hArray, unsigned int Flags)
{
    if (!hArray)
        return em_fail(CUDA_ERROR_INVALID_HANDLE, "hArray is NULL");
    WITH_REFERENCE(t, hTexRef);
    return unlock(em_texture_reference_array(t, hArray, Flags));
}

CUresult api_cuTexRefSetMipmappedArray(CUtexref hTexRef, CUmipmappedArray hMipmappedArray, unsigned int Flags)
{
    if (!hMipmappedArray)
        return em_fail(CUDA_ERROR_INVALID_HANDLE, "hMipmappedArray is NULL");
    WITH_REFERENCE(t, hTexRef);
    return unlock(em_texture_reference_mipmap(t, hMipmappedArray, Flags));
}

static CUresult not_bound(const char *what)
{
    return em_fail(CUDA_ERROR_INVALID_VALUE, "no %s is bound to the texture reference", what);
}

// As the driver does, the address is cleared where none is bound.
CUresult api_cuTexRefGetAddress_v2(CUdeviceptr *pdptr, CUtexref hTexRef)
{
    WITH_REFERENCE(t, hTexRef);
    *pdptr = t->address;
    return unlock(t->linear ? CUDA_SUCCESS : not_bound("linear memory"));
}

CUresult api_cuTexRefGetArray(CUarray *phArray, CUtexref hTexRef)
{
    WITH_REFERENCE(t, hTexRef);
    if (!em_object_peek(EM_ARRAY, (uint64_t)(uintptr_t)t->array)) // an array that is gone is not bound any more
        return unlock(not_bound("CUDA array"));
    *phArray = t->array;
    return unlock(CUDA_SUCCESS);
}

CUresult api_cuTexRefGetMipmappedArray(CUmipmappedArray *phMipmappedArray, CUtexref hTexRef)
{
    WITH_REFERENCE(t, hTexRef);
    if (!em_object_peek(EM_MIPMAP, (uint64_t)(uintptr_t)t->mipmap))
        return unlock(not_bound("mipmapped array"));
    *phMipmappedArray = t->mipmap;
    return unlock(CUDA_SUCCESS);
}

// ---- how it is read

CUresult api_cuTexRefSetFormat(CUtexref hTexRef, CUarray_format fmt, int NumPackedComponents)
{
    bool known = NumPackedComponents == 1 || NumPackedComponents == 2 || NumPackedComponents == 4;
    bool refused = em_quirk(TEXTURE_REFERENCE_UNCHECKED) ? NumPackedComponents == 3 || NumPackedComponents > 4 : !known;
    // "NumPackedComponents: Number of components per texture array element": as those of arrays, 1, 2 or 4
    if (refused)
        return em_fail(CUDA_ERROR_INVALID_VALUE, "NumPackedComponents is %d; it must be 1, 2 or 4", NumPackedComponents);
    WITH_REFERENCE(t, hTexRef);
    t->format = fmt;
    t->channels = NumPackedComponents;
    return unlock(CUDA_SUCCESS);
}

// Either result may be left out.
CUresult api_cuTexRefGetFormat(CUarray_format *pFormat, int *pNumChannels, CUtexref hTexRef)
{
    WITH_REFERENCE(t, hTexRef);
    if (pFormat)
        *pFormat = t->format;
    if (pNumChannels)
        *pNumChannels = t->channels;
    return unlock(CUDA_SUCCESS);
}

static CUresult check_dimension(int dim)
{
    return dim >= 0 && dim < 3 ? CUDA_SUCCESS : em_fail(CUDA_ERROR_INVALID_VALUE, "dim is %d; textures have the dimensions 0 to 2", dim);
}

CUresult api_cuTexRefSetAddressMode(CUtexref hTexRef, int dim, CUaddress_mode am)
{
    bool known = (unsigned)am <= CU_TR_ADDRESS_MODE_BORDER;
    CUresult r = check_dimension(dim);
    if (r)
        return r;
    // The driver clamps where the mode is none.
    if (!known && !em_quirk(TEXTURE_REFERENCE_UNCHECKED))
        return em_fail(CUDA_ERROR_INVALID_VALUE, "%d is no CUaddress_mode", (int)am);
    WITH_REFERENCE(t, hTexRef);
    t->address_mode[dim] = known ? am : CU_TR_ADDRESS_MODE_CLAMP;
    return unlock(CUDA_SUCCESS);
}

CUresult api_cuTexRefGetAddressMode(CUaddress_mode *pam, CUtexref hTexRef, int dim)
{
    CUresult r = check_dimension(dim);
    if (r)
        return r;
    WITH_REFERENCE(t, hTexRef);
    *pam = t->address_mode[dim];
    return unlock(CUDA_SUCCESS);
}

static CUresult check_filter(CUfilter_mode mode)
{
    return (unsigned)mode <= CU_TR_FILTER_MODE_LINEAR ? CUDA_SUCCESS : em_fail(CUDA_ERROR_INVALID_VALUE, "%d is no CUfilter_mode", (int)mode);
}

CUresult api_cuTexRefSetFilterMode(CUtexref hTexRef, CUfilter_mode fm)
{
    CUresult r = em_quirk(TEXTURE_REFERENCE_UNCHECKED) ? CUDA_SUCCESS : check_filter(fm);
    if (r)
        return r;
    WITH_REFERENCE(t, hTexRef);
    t->filter = fm;
    return unlock(CUDA_SUCCESS);
}

CUresult api_cuTexRefGetFilterMode(CUfilter_mode *pfm, CUtexref hTexRef)
{
    WITH_REFERENCE(t, hTexRef);
    *pfm = t->filter;
    return unlock(CUDA_SUCCESS);
}

CUresult api_cuTexRefSetMipmapFilterMode(CUtexref hTexRef, CUfilter_mode fm)
{
    CUresult r = check_filter(fm);
    if (r)
        return r;
    WITH_REFERENCE(t, hTexRef);
    t->mipmap_filter = fm;
    return unlock(CUDA_SUCCESS);
}

CUresult api_cuTexRefGetMipmapFilterMode(CUfilter_mode *pfm, CUtexref hTexRef)
{
    WITH_REFERENCE(t, hTexRef);
    *pfm = t->mipmap_filter;
    return unlock(CUDA_SUCCESS);
}

CUresult api_cuTexRefSetMipmapLevelBias(CUtexref hTexRef, float bias)
{
    WITH_REFERENCE(t, hTexRef);
    t->level_bias = bias;
    return unlock(CUDA_SUCCESS);
}

CUresult api_cuTexRefGetMipmapLevelBias(float *pbias, CUtexref hTexRef)
{
    WITH_REFERENCE(t, hTexRef);
    *pbias = t->level_bias;
    return unlock(CUDA_SUCCESS);
}

CUresult api_cuTexRefSetMipmapLevelClamp(CUtexref hTexRef, float minMipmapLevelClamp, float maxMipmapLevelClamp)
{
    WITH_REFERENCE(t, hTexRef);
    t->level_clamp[0] = minMipmapLevelClamp;
    t->level_clamp[1] = maxMipmapLevelClamp;
    return unlock(CUDA_SUCCESS);
}

// Either result may be left out.
CUresult api_cuTexRefGetMipmapLevelClamp(float *pminMipmapLevelClamp, float *pmaxMipmapLevelClamp, CUtexref hTexRef)
{
    WITH_REFERENCE(t, hTexRef);
    if (pminMipmapLevelClamp)
        *pminMipmapLevelClamp = t->level_clamp[0];
    if (pmaxMipmapLevelClamp)
        *pmaxMipmapLevelClamp = t->level_clamp[1];
    return unlock(CUDA_SUCCESS);
}

CUresult api_cuTexRefSetMaxAnisotropy(CUtexref hTexRef, unsigned int maxAniso)
{
    WITH_REFERENCE(t, hTexRef);
    t->anisotropy = (int)maxAniso;
    return unlock(CUDA_SUCCESS);
}

CUresult api_cuTexRefGetMaxAnisotropy(int *pmaxAniso, CUtexref hTexRef)
{
    WITH_REFERENCE(t, hTexRef);
    *pmaxAniso = t->anisotropy;
    return unlock(CUDA_SUCCESS);
}

CUresult api_cuTexRefSetBorderColor(CUtexref hTexRef, float *pBorderColor)
{
    WITH_REFERENCE(t, hTexRef);
    for (unsigned i = 0; i < 4; i++)
        t->border[i] = pBorderColor[i];
    return unlock(CUDA_SUCCESS);
}

CUresult api_cuTexRefGetBorderColor(float *pBorderColor, CUtexref hTexRef)
{
    WITH_REFERENCE(t, hTexRef);
    for (unsigned i = 0; i < 4; i++)
        pBorderColor[i] = t->border[i];
    return unlock(CUDA_SUCCESS);
}

CUresult api_cuTexRefSetFlags(CUtexref hTexRef, unsigned int Flags)
{
    // Bits below the named ones are not looked at; seamless cubemaps came with texture objects.
    if (Flags >= CU_TRSF_SEAMLESS_CUBEMAP)
        return em_fail(CUDA_ERROR_INVALID_VALUE, "flags %#x: a texture reference takes CU_TRSF_* bits below %#x", Flags, CU_TRSF_SEAMLESS_CUBEMAP);
    WITH_REFERENCE(t, hTexRef);
    t->flags = Flags;
    return unlock(CUDA_SUCCESS);
}

CUresult api_cuTexRefGetFlags(unsigned int *pFlags, CUtexref hTexRef)
{
    WITH_REFERENCE(t, hTexRef);
    *pFlags = t->flags;
    return unlock(CUDA_SUCCESS);
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
