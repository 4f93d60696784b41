// A part of cuda_runtime_api.h: graphs, and capturing streams. (What CUDA 12 had in other forms: api_typed.h.)
#ifndef EMULATOR_API_GRAPH_H
#define EMULATOR_API_GRAPH_H

#define EMU_NODES(nodes) (void *const *)(nodes)

EMU_CUDA(cudaGraphCreate, (cudaGraph_t * graph, unsigned flags), emu_graph_create((void **)graph, flags))
EMU_CUDA(cudaGraphDestroy, (cudaGraph_t graph), emu_graph_destroy(graph))
EMU_CUDA(cudaGraphClone, (cudaGraph_t * copy, cudaGraph_t graph), emu_graph_clone((void **)copy, graph))
EMU_CUDA(cudaGraphNodeFindInClone, (cudaGraphNode_t * node, cudaGraphNode_t original, cudaGraph_t clone),
         emu_graph_find_in_clone((void **)node, original, clone))
EMU_CUDA(cudaGraphDebugDotPrint, (cudaGraph_t graph, const char *path, unsigned flags),
         ((void)flags, emu_graph_print(graph, path)))

// Nodes. All kinds are made and changed by one function of the core, from a struct cudaGraphNodeParams.
EMU_CUDA(cudaGraphAddNode,
         (cudaGraphNode_t * node, cudaGraph_t graph, const cudaGraphNode_t *before, const cudaGraphEdgeData *data,
          size_t count, struct cudaGraphNodeParams *what),
         ((void)data, emu_graph_add((void **)node, graph, EMU_NODES(before), count, what)))
EMU_CUDA(cudaGraphNodeSetParams, (cudaGraphNode_t node, struct cudaGraphNodeParams *what),
         emu_graph_node(node, what, 1))
EMU_CUDA(cudaGraphExecNodeSetParams, (cudaGraphExec_t exec, cudaGraphNode_t node, struct cudaGraphNodeParams *what),
         emu_exec_set(exec, node, what))

// The functions of one kind: Add, Get, Set, and Set in what can be launched.
#define EMU_NODE(type_number, Params, add_name, get_name, set_name, exec_name)                                       \
    EMU_CUDA(add_name,                                                                                               \
             (cudaGraphNode_t * node, cudaGraph_t graph, const cudaGraphNode_t *before, size_t count,                \
              const struct Params *what),                                                                            \
             emu_node_call(type_number, what, sizeof *what, (void **)node, graph, EMU_NODES(before), count, 0))      \
    EMU_CUDA(get_name, (cudaGraphNode_t node, struct Params * what),                                                 \
             emu_node_call(type_number, what, sizeof *what, (void **)node, NULL, NULL, 0, 1))                        \
    EMU_CUDA(set_name, (cudaGraphNode_t node, const struct Params *what),                                            \
             emu_node_call(type_number, what, sizeof *what, (void **)node, NULL, NULL, 0, 2))                        \
    EMU_CUDA(exec_name, (cudaGraphExec_t exec, cudaGraphNode_t node, const struct Params *what),                     \
             emu_node_call(type_number, what, sizeof *what, (void **)node, exec, NULL, 0, 3))
// `what` points to the union's member of that type. How: 0 adds a node; 1, 2 and 3 get and set what `node` does.
static inline __attribute__((unused)) int emu_node_call(enum cudaGraphNodeType type, const void *what, size_t bytes,
                                                        void **node, void *graph_or_exec, void *const *before,
                                                        size_t count, int how) {
    struct cudaGraphNodeParams all = {type, {0}, {{0}}, 0};
    void *const member = type == cudaGraphNodeTypeMemcpy ? (void *)&all.memcpy.copyParams : (void *)&all.reserved1;
    int code;
    if (!what) return emu_note_error(cudaErrorInvalidValue, "a graph's node: the pointer to its parameters is NULL");
    if (how != 1) __builtin_memcpy(member, what, bytes);
    if (how == 0) return emu_graph_add(node, graph_or_exec, before, count, &all);
    code = how == 3 ? emu_exec_set(graph_or_exec, node, &all) : emu_graph_node(node, &all, how == 2);
    if (how == 1 && !code) __builtin_memcpy((void *)(uintptr_t)what, member, bytes);
    return code;
}
EMU_NODE(cudaGraphNodeTypeKernel, cudaKernelNodeParams, cudaGraphAddKernelNode, cudaGraphKernelNodeGetParams,
         cudaGraphKernelNodeSetParams, cudaGraphExecKernelNodeSetParams)
EMU_NODE(cudaGraphNodeTypeMemcpy, cudaMemcpy3DParms, cudaGraphAddMemcpyNode, cudaGraphMemcpyNodeGetParams,
         cudaGraphMemcpyNodeSetParams, cudaGraphExecMemcpyNodeSetParams)
EMU_NODE(cudaGraphNodeTypeMemset, cudaMemsetParams, cudaGraphAddMemsetNode, cudaGraphMemsetNodeGetParams,
         cudaGraphMemsetNodeSetParams, cudaGraphExecMemsetNodeSetParams)
EMU_NODE(cudaGraphNodeTypeHost, cudaHostNodeParams, cudaGraphAddHostNode, cudaGraphHostNodeGetParams,
         cudaGraphHostNodeSetParams, cudaGraphExecHostNodeSetParams)
#undef EMU_NODE

EMU_CUDA(cudaGraphAddEmptyNode,
         (cudaGraphNode_t * node, cudaGraph_t graph, const cudaGraphNode_t *before, size_t count),
         emu_node_call(cudaGraphNodeTypeEmpty, "", 0, (void **)node, graph, EMU_NODES(before), count, 0))
EMU_CUDA(cudaGraphAddChildGraphNode,
         (cudaGraphNode_t * node, cudaGraph_t graph, const cudaGraphNode_t *before, size_t count, cudaGraph_t child),
         emu_node_call(cudaGraphNodeTypeGraph, &child, sizeof child, (void **)node, graph, EMU_NODES(before), count,
                       0))
EMU_CUDA(cudaGraphChildGraphNodeGetGraph, (cudaGraphNode_t node, cudaGraph_t *child),
         emu_node_call(cudaGraphNodeTypeGraph, child, sizeof *child, (void **)node, NULL, NULL, 0, 1))
EMU_CUDA(cudaGraphExecChildGraphNodeSetParams, (cudaGraphExec_t exec, cudaGraphNode_t node, cudaGraph_t child),
         emu_node_call(cudaGraphNodeTypeGraph, &child, sizeof child, (void **)node, exec, NULL, 0, 3))
EMU_CUDA(cudaGraphAddEventRecordNode,
         (cudaGraphNode_t * node, cudaGraph_t graph, const cudaGraphNode_t *before, size_t count, cudaEvent_t event),
         emu_node_call(cudaGraphNodeTypeEventRecord, &event, sizeof event, (void **)node, graph, EMU_NODES(before),
                       count, 0))
EMU_CUDA(cudaGraphAddEventWaitNode,
         (cudaGraphNode_t * node, cudaGraph_t graph, const cudaGraphNode_t *before, size_t count, cudaEvent_t event),
         emu_node_call(cudaGraphNodeTypeWaitEvent, &event, sizeof event, (void **)node, graph, EMU_NODES(before),
                       count, 0))
EMU_CUDA(cudaGraphEventRecordNodeGetEvent, (cudaGraphNode_t node, cudaEvent_t *event),
         emu_node_call(cudaGraphNodeTypeEventRecord, event, sizeof *event, (void **)node, NULL, NULL, 0, 1))
EMU_CUDA(cudaGraphEventWaitNodeGetEvent, (cudaGraphNode_t node, cudaEvent_t *event),
         emu_node_call(cudaGraphNodeTypeWaitEvent, event, sizeof *event, (void **)node, NULL, NULL, 0, 1))
EMU_CUDA(cudaGraphAddMemAllocNode,
         (cudaGraphNode_t * node, cudaGraph_t graph, const cudaGraphNode_t *before, size_t count,
          struct cudaMemAllocNodeParams *what),
         emu_node_call(cudaGraphNodeTypeMemAlloc, what, sizeof *what, (void **)node, graph, EMU_NODES(before), count,
                       0)
             ? emu_last_error(0)
             : emu_node_call(cudaGraphNodeTypeMemAlloc, what, sizeof *what, (void **)*node, NULL, NULL, 0, 1))
EMU_CUDA(cudaGraphAddMemFreeNode,
         (cudaGraphNode_t * node, cudaGraph_t graph, const cudaGraphNode_t *before, size_t count, void *pointer),
         emu_node_call(cudaGraphNodeTypeMemFree, &pointer, sizeof pointer, (void **)node, graph, EMU_NODES(before),
                       count, 0))
EMU_CUDA(cudaGraphMemAllocNodeGetParams, (cudaGraphNode_t node, struct cudaMemAllocNodeParams *what),
         emu_node_call(cudaGraphNodeTypeMemAlloc, what, sizeof *what, (void **)node, NULL, NULL, 0, 1))
EMU_CUDA(cudaGraphMemFreeNodeGetParams, (cudaGraphNode_t node, void *pointer),
         emu_node_call(cudaGraphNodeTypeMemFree, pointer, sizeof(void *), (void **)node, NULL, NULL, 0, 1))
// Graphs' memory is ordinary memory, which is not counted by itself.
EMU_CUDA(cudaDeviceGraphMemTrim, (int device), emu_device_exists(device))
EMU_CUDA(cudaDeviceGetGraphMemAttribute, (int device, enum cudaGraphMemAttributeType attribute, void *value),
         ((void)attribute, (void)(*(uint64_t *)value = 0), emu_device_exists(device)))
EMU_CUDA(cudaDeviceSetGraphMemAttribute, (int device, enum cudaGraphMemAttributeType attribute, void *value),
         ((void)attribute, (void)value, emu_device_exists(device)))

// A copy of bytes is one with a single row; the emulator's addresses are unified, so a symbol is one of its ends.
static inline __attribute__((unused)) struct cudaMemcpy3DParms
emu_copy_of_bytes(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind) {
    struct cudaMemcpy3DParms copy;
    __builtin_memset(&copy, 0, sizeof copy);
    copy.dstPtr = make_cudaPitchedPtr(to, bytes, bytes, 1);
    copy.srcPtr = make_cudaPitchedPtr((void *)(uintptr_t)from, bytes, bytes, 1);
    copy.extent = make_cudaExtent(bytes, 1, 1);
    copy.kind = kind;
    return copy;
}
static inline __attribute__((unused)) cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t *node, cudaGraph_t graph,
                                                                           const cudaGraphNode_t *before,
                                                                           size_t count, void *to, const void *from,
                                                                           size_t bytes, enum cudaMemcpyKind kind) {
    const struct cudaMemcpy3DParms copy = emu_copy_of_bytes(to, from, bytes, kind);
    return cudaGraphAddMemcpyNode(node, graph, before, count, &copy);
}
static inline __attribute__((unused)) cudaError_t cudaGraphMemcpyNodeSetParams1D(cudaGraphNode_t node, void *to,
                                                                                 const void *from, size_t bytes,
                                                                                 enum cudaMemcpyKind kind) {
    const struct cudaMemcpy3DParms copy = emu_copy_of_bytes(to, from, bytes, kind);
    return cudaGraphMemcpyNodeSetParams(node, &copy);
}
static inline __attribute__((unused)) cudaError_t cudaGraphExecMemcpyNodeSetParams1D(cudaGraphExec_t exec,
                                                                                     cudaGraphNode_t node, void *to,
                                                                                     const void *from, size_t bytes,
                                                                                     enum cudaMemcpyKind kind) {
    const struct cudaMemcpy3DParms copy = emu_copy_of_bytes(to, from, bytes, kind);
    return cudaGraphExecMemcpyNodeSetParams(exec, node, &copy);
}

EMU_CUDA(cudaGraphKernelNodeSetAttribute,
         (cudaGraphNode_t node, cudaKernelNodeAttrID id, const cudaKernelNodeAttrValue *value),
         emu_graph_kernel_attribute(node, (int)id, (void *)(uintptr_t)value, 1))
EMU_CUDA(cudaGraphKernelNodeGetAttribute,
         (cudaGraphNode_t node, cudaKernelNodeAttrID id, cudaKernelNodeAttrValue *value),
         emu_graph_kernel_attribute(node, (int)id, value, 0))
EMU_CUDA(cudaGraphNodeGetType, (cudaGraphNode_t node, enum cudaGraphNodeType *type),
         emu_graph_node_type(node, (int *)type))
EMU_CUDA(cudaGraphDestroyNode, (cudaGraphNode_t node), emu_graph_remove_node(node))
EMU_CUDA(cudaGraphGetNodes, (cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *count),
         emu_graph_nodes(graph, (void **)nodes, count, 0))
EMU_CUDA(cudaGraphGetRootNodes, (cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *count),
         emu_graph_nodes(graph, (void **)nodes, count, 1))

// Edges, whose data is always that of a plain dependency
#define EMU_PLAIN(data, count) (data ? (void)__builtin_memset(data, 0, (count) * sizeof *data) : (void)0)
EMU_CUDA(cudaGraphGetEdges,
         (cudaGraph_t graph, cudaGraphNode_t *from, cudaGraphNode_t *to, cudaGraphEdgeData *data, size_t *count),
         (EMU_PLAIN(data, count ? *count : 0), emu_graph_edges(graph, (void **)from, (void **)to, count)))
EMU_CUDA(cudaGraphNodeGetDependencies,
         (cudaGraphNode_t node, cudaGraphNode_t *nodes, cudaGraphEdgeData *data, size_t *count),
         (EMU_PLAIN(data, count ? *count : 0), emu_graph_neighbours(node, (void **)nodes, count, 0)))
EMU_CUDA(cudaGraphNodeGetDependentNodes,
         (cudaGraphNode_t node, cudaGraphNode_t *nodes, cudaGraphEdgeData *data, size_t *count),
         (EMU_PLAIN(data, count ? *count : 0), emu_graph_neighbours(node, (void **)nodes, count, 1)))
EMU_CUDA(cudaGraphAddDependencies,
         (cudaGraph_t graph, const cudaGraphNode_t *from, const cudaGraphNode_t *to, const cudaGraphEdgeData *data,
          size_t count),
         ((void)data, emu_graph_depend(graph, EMU_NODES(from), EMU_NODES(to), count, 1)))
EMU_CUDA(cudaGraphRemoveDependencies,
         (cudaGraph_t graph, const cudaGraphNode_t *from, const cudaGraphNode_t *to, const cudaGraphEdgeData *data,
          size_t count),
         ((void)data, emu_graph_depend(graph, EMU_NODES(from), EMU_NODES(to), count, 0)))

// Graphs that can be launched
EMU_CUDA(cudaGraphInstantiate, (cudaGraphExec_t * exec, cudaGraph_t graph, unsigned long long flags EMU_OR(0)),
         emu_graph_instantiate((void **)exec, graph, flags))
EMU_CUDA(cudaGraphInstantiateWithFlags,
         (cudaGraphExec_t * exec, cudaGraph_t graph, unsigned long long flags EMU_OR(0)),
         emu_graph_instantiate((void **)exec, graph, flags))
EMU_CUDA(cudaGraphInstantiateWithParams,
         (cudaGraphExec_t * exec, cudaGraph_t graph, cudaGraphInstantiateParams *parameters),
         !parameters ? emu_note_error(cudaErrorInvalidValue, "cudaGraphInstantiateWithParams: a pointer is NULL")
         : emu_graph_instantiate((void **)exec, graph, parameters->flags)
             ? (parameters->result_out = cudaGraphInstantiateError, emu_last_error(0))
             : (parameters->result_out = cudaGraphInstantiateSuccess, parameters->errNode_out = NULL, 0))
EMU_CUDA(cudaGraphExecGetFlags, (cudaGraphExec_t exec, unsigned long long *flags), emu_exec_flags(exec, flags))
EMU_CUDA(cudaGraphExecUpdate, (cudaGraphExec_t exec, cudaGraph_t graph, cudaGraphExecUpdateResultInfo *information),
         emu_exec_update(exec, graph, information))
EMU_CUDA(cudaGraphNodeSetEnabled, (cudaGraphExec_t exec, cudaGraphNode_t node, unsigned enabled),
         emu_exec_enable(exec, node, &enabled, 1))
EMU_CUDA(cudaGraphNodeGetEnabled, (cudaGraphExec_t exec, cudaGraphNode_t node, unsigned *enabled),
         emu_exec_enable(exec, node, enabled, 0))
EMU_CUDA(cudaGraphUpload, (cudaGraphExec_t exec, cudaStream_t stream),
         emu_stream_info(stream, NULL, NULL, NULL) ? emu_last_error(0) : emu_exec_enable(exec, NULL, NULL, -1))
EMU_CUDA(cudaGraphLaunch, (cudaGraphExec_t exec, cudaStream_t stream), emu_exec_launch(exec, stream))
EMU_CUDA(cudaGraphExecDestroy, (cudaGraphExec_t exec), emu_exec_destroy(exec))

// Captures
EMU_CUDA(cudaStreamBeginCapture, (cudaStream_t stream, enum cudaStreamCaptureMode mode),
         emu_capture_begin(stream, (int)mode, NULL, NULL, 0))
EMU_CUDA(cudaStreamBeginCaptureToGraph,
         (cudaStream_t stream, cudaGraph_t graph, const cudaGraphNode_t *before, const cudaGraphEdgeData *data,
          size_t count, enum cudaStreamCaptureMode mode),
         ((void)data, emu_capture_begin(stream, (int)mode, graph, EMU_NODES(before), count)))
EMU_CUDA(cudaStreamEndCapture, (cudaStream_t stream, cudaGraph_t *graph), emu_capture_end(stream, (void **)graph))
EMU_CUDA(cudaStreamIsCapturing, (cudaStream_t stream, enum cudaStreamCaptureStatus *status),
         emu_capture_info(stream, (int *)status, NULL, NULL, NULL, NULL))
EMU_CUDA(cudaStreamGetCaptureInfo,
         (cudaStream_t stream, enum cudaStreamCaptureStatus *status, unsigned long long *id EMU_OR(0),
          cudaGraph_t *graph EMU_OR(0), const cudaGraphNode_t **before EMU_OR(0),
          const cudaGraphEdgeData **data EMU_OR(0), size_t *count EMU_OR(0)),
         ((void)(data ? *data = NULL : NULL),
          emu_capture_info(stream, (int *)status, id, (void **)graph, (void *const **)before, count)))
EMU_CUDA(cudaStreamUpdateCaptureDependencies,
         (cudaStream_t stream, cudaGraphNode_t *before, const cudaGraphEdgeData *data, size_t count,
          unsigned flags EMU_OR(0)),
         ((void)data, emu_capture_depend(stream, EMU_NODES(before), count, flags)))
EMU_CUDA(cudaThreadExchangeStreamCaptureMode, (enum cudaStreamCaptureMode * mode), emu_capture_mode((int *)mode))

#undef EMU_PLAIN
#undef EMU_NODES
#endif
