// Graphs that can be launched: a copy of a graph, and an order in which its nodes run.
//
// Invariant: a node comes after all that it waits for, and the nodes of a child graph come in place of it.
#define _GNU_SOURCE
#include "graph.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

typedef struct exec {
    emu_graph *graph;
    emu_list order;
    unsigned long long flags;
    struct exec *next;
} exec;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static exec *execs;

void emu_exec_fork(emu_fork stage) {
    emu_fork_lock(stage, &lock);
}

static int find(void *handle, const char *call, exec **result) {
    pthread_mutex_lock(&lock);
    exec *e = execs;
    while (e && e != handle) e = e->next;
    pthread_mutex_unlock(&lock);
    *result = e;
    return e ? cudaSuccess
             : emu_error(cudaErrorInvalidValue, "%s: %p is not an instantiated graph, or it has been destroyed", call,
                         handle);
}

// Appends the nodes of the graph. Each pass over the rest appends those whose predecessors all have a place; a pass
// that appends none has found a circle.
static int arrange(emu_list *order, const emu_graph *graph, const char *call) {
    const size_t count = graph->nodes.count;
    size_t placed = 0;
    for (size_t i = 0; i < count; i++) graph->nodes.at[i]->index = 0; // 1: it has its place
    for (size_t before = SIZE_MAX; placed < count && placed != before;) {
        before = placed;
        for (size_t i = 0; i < count; i++) {
            emu_node *node = graph->nodes.at[i];
            int ready = !node->index;
            for (size_t k = 0; ready && k < node->before.count; k++) ready = node->before.at[k]->index != 0;
            if (!ready) continue;
            node->index = 1;
            placed++;
            int code = node->child ? arrange(order, node->child, call) : emu_list_push(order, node);
            if (code) return code;
        }
    }
    if (placed == count) return cudaSuccess;
    return emu_error(cudaErrorInvalidValue, "%s: the graph has a circle of nodes that wait for each other", call);
}

int emu_graph_instantiate(void **result, void *handle, unsigned long long flags) {
    const char *call = "cudaGraphInstantiate";
    emu_graph *graph;
    int code = emu_find_graph(handle, call, &graph);
    if (code) return code;
    if (!result) return emu_error(cudaErrorInvalidValue, "%s: the pointer for the result is NULL", call);
    if (flags & cudaGraphInstantiateFlagDeviceLaunch)
        return emu_error(cudaErrorNotSupported, "%s: the emulator has no launches of graphs by kernels", call);
    exec *e = calloc(1, sizeof *e);
    if (!e) return emu_error(cudaErrorMemoryAllocation, "%s: out of host memory for a graph", call);
    e->flags = flags;
    code = emu_copy_graph(&e->graph, graph, 1);
    if (!code) code = arrange(&e->order, e->graph, call);
    if (code) {
        if (e->graph) emu_drop_graph(e->graph);
        free(e->order.at);
        free(e);
        return code;
    }
    pthread_mutex_lock(&lock);
    e->next = execs;
    execs = e;
    pthread_mutex_unlock(&lock);
    *result = e;
    return cudaSuccess;
}

int emu_exec_destroy(void *handle) {
    pthread_mutex_lock(&lock);
    exec **at = &execs;
    while (*at && *at != handle) at = &(*at)->next;
    exec *e = *at;
    if (e) *at = e->next;
    pthread_mutex_unlock(&lock);
    if (!e) return emu_error(cudaErrorInvalidValue, "cudaGraphExecDestroy: %p is not an instantiated graph", handle);
    emu_drop_graph(e->graph); // what is queued has its own copies
    free(e->order.at);
    free(e);
    return cudaSuccess;
}

int emu_exec_flags(void *handle, unsigned long long *flags) {
    exec *e;
    int code = find(handle, "cudaGraphExecGetFlags", &e);
    if (!code && !flags) code = emu_error(cudaErrorInvalidValue, "cudaGraphExecGetFlags: a pointer is NULL");
    if (!code) *flags = e->flags;
    return code;
}

// --- launches -----------------------------------------------------------------------------------------------------
static int run(const emu_node *node, void *stream) {
    const struct cudaGraphNodeParams *does = &node->does;
    const struct cudaKernelNodeParams *kernel = &does->kernel;
    const struct cudaMemsetParams *fill = &does->memset;
    switch (does->type) {
    case cudaGraphNodeTypeKernel: {
        const emu_launch launch = {.interface_version = EMU_INTERFACE_VERSION,
                                   .kernel = kernel->func,
                                   .arguments = kernel->kernelParams,
                                   .grid = {kernel->gridDim.x, kernel->gridDim.y, kernel->gridDim.z},
                                   .block = {kernel->blockDim.x, kernel->blockDim.y, kernel->blockDim.z},
                                   .dynamic_shared = kernel->sharedMemBytes,
                                   .stream = stream,
                                   .attributes = node->attributes,
                                   .attribute_count = node->attribute_count};
        return emu_launch_kernel(&launch);
    }
    case cudaGraphNodeTypeMemcpy: return emu_array_copy(&does->memcpy.copyParams, stream, 1);
    case cudaGraphNodeTypeMemset:
        return emu_set_elements(fill->dst, fill->height > 1 ? fill->pitch : fill->width * fill->elementSize,
                                fill->value, fill->elementSize, fill->width, fill->height, stream, 1);
    case cudaGraphNodeTypeHost: return emu_stream_call(stream, does->host.fn, does->host.userData);
    case cudaGraphNodeTypeWaitEvent: return emu_stream_wait_event(stream, does->eventWait.event);
    case cudaGraphNodeTypeEventRecord: return emu_event_record(does->eventRecord.event, stream);
    default: return cudaSuccess; // empty; memory, which the graph holds
    }
}

int emu_exec_launch(void *handle, void *stream) {
    const char *call = "cudaGraphLaunch";
    exec *e;
    int device, code = find(handle, call, &e);
    if (!code) code = emu_stream_device(stream, &device);
    for (size_t i = 0; !code && i < e->order.count; i++)
        if (!e->order.at[i]->disabled) code = run(e->order.at[i], stream);
    return code;
}

// --- changes ------------------------------------------------------------------------------------------------------
static emu_node *copy_of(const emu_graph *graph, const emu_node *node) {
    for (size_t i = 0; i < graph->nodes.count; i++) {
        emu_node *own = graph->nodes.at[i];
        if (own->origin == node) return own;
        emu_node *inside = own->child ? copy_of(own->child, node) : NULL;
        if (inside) return inside;
    }
    return NULL;
}

static int node_of(void *handle, void *original, const char *call, exec **e, emu_node **node) {
    int code = find(handle, call, e);
    if (code) return code;
    *node = copy_of((*e)->graph, original);
    return *node ? cudaSuccess : emu_error(cudaErrorInvalidValue, "%s: the node is not one of this graph's", call);
}

static int rearrange(exec *e, const char *call) { // after a child graph was replaced
    e->order.count = 0;
    return arrange(&e->order, e->graph, call);
}

int emu_exec_set(void *handle, void *original, void *what) {
    const char *call = "cudaGraphExecNodeSetParams";
    exec *e;
    emu_node *node;
    int code = node_of(handle, original, call, &e, &node);
    if (!code && !what) code = emu_error(cudaErrorInvalidValue, "%s: the parameters are NULL", call);
    if (!code && ((struct cudaGraphNodeParams *)what)->type != node->does.type)
        code = emu_error(cudaErrorInvalidValue, "%s: the node has another type", call);
    if (!code) code = emu_node_set(node, what, NULL, 0, call);
    return code || !node->child ? code : rearrange(e, call);
}

int emu_exec_enable(void *handle, void *original, unsigned *enabled, int set) {
    const char *call = set ? "cudaGraphNodeSetEnabled" : "cudaGraphNodeGetEnabled";
    exec *e;
    emu_node *node;
    int code = set < 0 ? find(handle, "cudaGraphUpload", &e) : node_of(handle, original, call, &e, &node);
    if (code || set < 0) return code;
    if (!enabled || node->does.type > cudaGraphNodeTypeMemset)
        return emu_error(cudaErrorInvalidValue, "%s: only kernels, copies and fills can be disabled", call);
    if (set)
        node->disabled = !*enabled;
    else
        *enabled = !node->disabled;
    return cudaSuccess;
}

// Why a graph cannot take the place of another one.
static enum cudaGraphExecUpdateResult differs(const emu_graph *old, const emu_graph *fresh, emu_node **at) {
    *at = NULL;
    if (old->nodes.count != fresh->nodes.count) return cudaGraphExecUpdateErrorTopologyChanged;
    for (size_t i = 0; i < old->nodes.count; i++) old->nodes.at[i]->index = fresh->nodes.at[i]->index = i;
    for (size_t i = 0; i < old->nodes.count; i++) {
        const emu_node *a = old->nodes.at[i], *b = *at = fresh->nodes.at[i];
        if (a->does.type != b->does.type) return cudaGraphExecUpdateErrorNodeTypeChanged;
        if (a->before.count != b->before.count) return cudaGraphExecUpdateErrorTopologyChanged;
        for (size_t k = 0; k < a->before.count; k++)
            if (a->before.at[k]->index != b->before.at[k]->index) return cudaGraphExecUpdateErrorTopologyChanged;
        if (a->memory) return cudaGraphExecUpdateErrorNotSupported;
    }
    *at = NULL;
    return cudaGraphExecUpdateSuccess;
}

int emu_exec_update(void *handle, void *graph_handle, void *information) {
    const char *call = "cudaGraphExecUpdate";
    cudaGraphExecUpdateResultInfo *info = information;
    exec *e;
    emu_graph *graph;
    emu_node *at;
    int code = find(handle, call, &e);
    if (!code) code = emu_find_graph(graph_handle, call, &graph);
    if (!code && !info) code = emu_error(cudaErrorInvalidValue, "%s: the pointer for the result is NULL", call);
    if (code) return code;
    *info = (cudaGraphExecUpdateResultInfo){.result = differs(e->graph, graph, &at)};
    info->errorNode = (cudaGraphNode_t)at;
    if (info->result != cudaGraphExecUpdateSuccess)
        return emu_error(cudaErrorGraphExecUpdateFailure, "%s: the graph is not the same but for its parameters (%d)",
                         call, (int)info->result);
    for (size_t i = 0; !code && i < graph->nodes.count; i++)
        code = emu_node_copy(e->graph->nodes.at[i], graph->nodes.at[i]);
    return code ? code : rearrange(e, call);
}
