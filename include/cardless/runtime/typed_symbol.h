/* SPDX-License-Identifier: MIT */
/* C++: variables of the device by name, for compilers of CUDA C++. Offsets and counts are bytes. */
#ifndef CARDLESS_RUNTIME_TYPED_SYMBOL_H
#define CARDLESS_RUNTIME_TYPED_SYMBOL_H

#if defined(__cplusplus) && defined(__CUDACC__)
#include "typed.h"

CARDLESS_TYPED cudaGetSymbolAddress(void **devPtr, const T &symbol)
{
    return ::cudaGetSymbolAddress(devPtr, cardless_runtime::variable(symbol));
}

CARDLESS_TYPED cudaGetSymbolSize(size_t *size, const T &symbol)
{
    return ::cudaGetSymbolSize(size, cardless_runtime::variable(symbol));
}

/* ---- copies */

CARDLESS_TYPED cudaMemcpyToSymbol(const T &symbol, const void *src, size_t count, size_t offset = 0,
                                  enum cudaMemcpyKind kind = cudaMemcpyHostToDevice)
{
    return ::cudaMemcpyToSymbol(cardless_runtime::variable(symbol), src, count, offset, kind);
}

CARDLESS_TYPED cudaMemcpyFromSymbol(void *dst, const T &symbol, size_t count, size_t offset = 0,
                                    enum cudaMemcpyKind kind = cudaMemcpyDeviceToHost)
{
    return ::cudaMemcpyFromSymbol(dst, cardless_runtime::variable(symbol), count, offset, kind);
}

CARDLESS_TYPED cudaMemcpyToSymbolAsync(const T &symbol, const void *src, size_t count,
                                       size_t offset = 0,
                                       enum cudaMemcpyKind kind = cudaMemcpyHostToDevice,
                                       cudaStream_t stream = 0)
{
    return ::cudaMemcpyToSymbolAsync(cardless_runtime::variable(symbol), src, count, offset, kind,
                                     stream);
}

CARDLESS_TYPED cudaMemcpyFromSymbolAsync(void *dst, const T &symbol, size_t count,
                                         size_t offset = 0,
                                         enum cudaMemcpyKind kind = cudaMemcpyDeviceToHost,
                                         cudaStream_t stream = 0)
{
    return ::cudaMemcpyFromSymbolAsync(dst, cardless_runtime::variable(symbol), count, offset, kind,
                                       stream);
}

/* ---- nodes of graphs */

CARDLESS_TYPED cudaGraphAddMemcpyNodeToSymbol(cudaGraphNode_t *pGraphNode, cudaGraph_t graph,
                                              const cudaGraphNode_t *pDependencies,
                                              size_t numDependencies, const T &symbol,
                                              const void *src, size_t count, size_t offset,
                                              enum cudaMemcpyKind kind)
{
    return ::cudaGraphAddMemcpyNodeToSymbol(pGraphNode, graph, pDependencies, numDependencies,
                                            cardless_runtime::variable(symbol), src, count, offset,
                                            kind);
}

CARDLESS_TYPED cudaGraphAddMemcpyNodeFromSymbol(cudaGraphNode_t *pGraphNode, cudaGraph_t graph,
                                                const cudaGraphNode_t *pDependencies,
                                                size_t numDependencies, void *dst, const T &symbol,
                                                size_t count, size_t offset,
                                                enum cudaMemcpyKind kind)
{
    return ::cudaGraphAddMemcpyNodeFromSymbol(pGraphNode, graph, pDependencies, numDependencies,
                                              dst, cardless_runtime::variable(symbol), count,
                                              offset, kind);
}

CARDLESS_TYPED cudaGraphMemcpyNodeSetParamsToSymbol(cudaGraphNode_t node, const T &symbol,
                                                    const void *src, size_t count, size_t offset,
                                                    enum cudaMemcpyKind kind)
{
    return ::cudaGraphMemcpyNodeSetParamsToSymbol(node, cardless_runtime::variable(symbol), src,
                                                  count, offset, kind);
}

CARDLESS_TYPED cudaGraphMemcpyNodeSetParamsFromSymbol(cudaGraphNode_t node, void *dst,
                                                      const T &symbol, size_t count, size_t offset,
                                                      enum cudaMemcpyKind kind)
{
    return ::cudaGraphMemcpyNodeSetParamsFromSymbol(node, dst, cardless_runtime::variable(symbol),
                                                    count, offset, kind);
}

CARDLESS_TYPED cudaGraphExecMemcpyNodeSetParamsToSymbol(cudaGraphExec_t exec, cudaGraphNode_t node,
                                                        const T &symbol, const void *src,
                                                        size_t count, size_t offset,
                                                        enum cudaMemcpyKind kind)
{
    return ::cudaGraphExecMemcpyNodeSetParamsToSymbol(
        exec, node, cardless_runtime::variable(symbol), src, count, offset, kind);
}

CARDLESS_TYPED cudaGraphExecMemcpyNodeSetParamsFromSymbol(cudaGraphExec_t exec,
                                                          cudaGraphNode_t node, void *dst,
                                                          const T &symbol, size_t count,
                                                          size_t offset, enum cudaMemcpyKind kind)
{
    return ::cudaGraphExecMemcpyNodeSetParamsFromSymbol(
        exec, node, dst, cardless_runtime::variable(symbol), count, offset, kind);
}
#endif

#endif
