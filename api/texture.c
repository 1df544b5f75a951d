// SPDX-License-Identifier: MIT
// The manual's chapters "Texture Object Management" and "Surface Object Management".
#include "api_bodies.h"
#include "texture.h"

CUresult api_cuTexObjectCreate(CUtexObject *pTexObject, const CUDA_RESOURCE_DESC *pResDesc,
                               const CUDA_TEXTURE_DESC *pTexDesc,
                               const CUDA_RESOURCE_VIEW_DESC *pResViewDesc)
{
    return em_texture_create(pResDesc, pTexDesc, pResViewDesc, pTexObject);
}

CUresult api_cuTexObjectDestroy(CUtexObject texObject)
{
    return em_texture_destroy(texObject);
}

CUresult api_cuTexObjectGetResourceDesc(CUDA_RESOURCE_DESC *pResDesc, CUtexObject texObject)
{
    return em_texture_resource(texObject, pResDesc);
}

CUresult api_cuTexObjectGetTextureDesc(CUDA_TEXTURE_DESC *pTexDesc, CUtexObject texObject)
{
    return em_texture_texture(texObject, pTexDesc);
}

CUresult api_cuTexObjectGetResourceViewDesc(CUDA_RESOURCE_VIEW_DESC *pResViewDesc,
                                            CUtexObject texObject)
{
    return em_texture_view(texObject, pResViewDesc);
}

CUresult api_cuSurfObjectCreate(CUsurfObject *pSurfObject, const CUDA_RESOURCE_DESC *pResDesc)
{
    return em_surface_create(pResDesc, pSurfObject);
}

CUresult api_cuSurfObjectDestroy(CUsurfObject surfObject)
{
    return em_surface_destroy(surfObject);
}

CUresult api_cuSurfObjectGetResourceDesc(CUDA_RESOURCE_DESC *pResDesc, CUsurfObject surfObject)
{
    return em_surface_resource(surfObject, pResDesc);
}
