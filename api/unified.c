// SPDX-License-Identifier: MIT
// The manual's chapter "Unified Addressing": attributes of pointers.
#include "api_bodies.h"
#include "call.h"
#include "pointer.h"

CUresult api_cuPointerGetAttribute(void *data, CUpointer_attribute attribute, CUdeviceptr ptr)
{
    return em_pointer_attribute(attribute, ptr, data);
}

CUresult api_cuPointerGetAttributes(unsigned int numAttributes, CUpointer_attribute *attributes,
                                    void **data, CUdeviceptr ptr)
{
    // "numAttributes: Number of attributes to query"
    if (!numAttributes)
        return em_fail(CUDA_ERROR_INVALID_VALUE, "numAttributes must not be 0");
    // "attributes: An array of attributes to query (numAttributes and the number of attributes in
    // this array should match)"
    if (!attributes)
        return em_null("attributes");
    // "data: A two-dimensional array containing pointers to memory locations where the result of
    // each attribute query will be written to"
    if (!data)
        return em_null("data");
    return em_pointer_attributes(numAttributes, attributes, data, ptr);
}

CUresult api_cuPointerSetAttribute(const void *value, CUpointer_attribute attribute,
                                   CUdeviceptr ptr)
{
    // "value: Pointer to memory containing the value to be set"
    if (!value)
        return em_null("value");
    return em_pointer_set_attribute(attribute, ptr, value);
}
