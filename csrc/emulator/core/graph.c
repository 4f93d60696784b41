// Graphs: their nodes, and what each waits for. (Diagram: graph.h.)
//
// Invariant: whatever a node's description points to is the node's own: a kernel's arguments, a child graph.
#define _GNU_SOURCE
#include "graph.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static emu_graph *graphs;

void emu_graph_fork(emu_fork stage) {
    emu_fork_lock(stage, &lock);
}

static int no_memory(const char *call) {
    return emu_error(cudaErrorMemoryAllocation, "%s: out of host memory for a graph", call);
}

// --- lists of nodes ----------------------------------------------------------------------------------------------
int emu_list_has(const emu_list *list, const emu_node *node) {
    for (size_t i = 0; i < list->count; i++)
        if (list->at[i] == node) return 1;
    return 0;
}

int emu_list_push(emu_list *list, emu_node *node) {
    if (list->count == list->room) {
        const size_t room = list->room ? 2 * list->room : 4;
        emu_node **at = realloc(list->at, room * sizeof *at);
        if (!at) return no_memory("a graph");
        list->at = at;
        list->room = room;
    }
    list->at[list->count++] = node;
    return cudaSuccess;
}

int emu_list_add(emu_list *list, emu_node *node) {
    return emu_list_has(list, node) ? cudaSuccess : emu_list_push(list, node);
}

static int take(emu_list *list, const emu_node *node) { // 0: it is not in the list
    size_t i = 0;
    while (i < list->count && list->at[i] != node) i++;
    if (i == list->count) return 0;
    memmove(list->at + i, list->at + i + 1, (--list->count - i) * sizeof *list->at);
    return 1;
}

// As CUDA returns lists: the number alone if there is no place, else as many as there is room for, and NULL.
static int give(const emu_list *list, void **to, size_t *count, const char *call) {
    if (!count) return emu_error(cudaErrorInvalidValue, "%s: the pointer to the number is NULL", call);
    for (size_t i = 0; to && i < *count; i++) to[i] = i < list->count ? list->at[i] : NULL;
    if (!to || *count > list->count) *count = list->count;
    return cudaSuccess;
}

// --- graphs ------------------------------------------------------------------------------------------------------
int emu_find_graph(void *handle, const char *call, emu_graph **graph) {
    pthread_mutex_lock(&lock);
    emu_graph *g = graphs;
    while (g && g != handle) g = g->next;
    pthread_mutex_unlock(&lock);
    *graph = g;
    return g ? cudaSuccess
             : emu_error(cudaErrorInvalidValue, "%s: %p is not a graph, or the graph has been destroyed", call,
                         handle);
}

int emu_new_graph(emu_graph **graph, int owned) {
    emu_graph *g = *graph = calloc(1, sizeof *g);
    if (!g) return no_memory("cudaGraphCreate");
    g->owned = owned;
    pthread_mutex_lock(&lock);
    g->next = graphs;
    graphs = g;
    pthread_mutex_unlock(&lock);
    return cudaSuccess;
}

static void release(emu_node *node) { // what it owns
    free(node->arguments);
    if (node->child) emu_drop_graph(node->child);
    if (node->memory && atomic_fetch_sub(&node->memory->owners, 1) == 1) {
        if (node->memory->freed) emu_free(node->memory->data);
        free(node->memory);
    }
    node->arguments = NULL;
    node->child = NULL;
    node->memory = NULL;
}

void emu_drop_graph(emu_graph *graph) {
    pthread_mutex_lock(&lock);
    emu_graph **at = &graphs;
    while (*at != graph) at = &(*at)->next;
    *at = graph->next;
    pthread_mutex_unlock(&lock);
    for (size_t i = 0; i < graph->nodes.count; i++) {
        release(graph->nodes.at[i]);
        free(graph->nodes.at[i]->before.at);
        free(graph->nodes.at[i]);
    }
    free(graph->nodes.at);
    free(graph);
}

int emu_graph_create(void **handle, unsigned flags) {
    if (!handle || flags)
        return emu_error(cudaErrorInvalidValue, "cudaGraphCreate: %s",
                         handle ? "flags must be 0" : "the pointer for the result is NULL");
    emu_graph *graph;
    int code = emu_new_graph(&graph, 0);
    *handle = graph;
    return code;
}

int emu_graph_destroy(void *handle) {
    emu_graph *graph;
    int code = emu_find_graph(handle, "cudaGraphDestroy", &graph);
    if (!code && graph->owned)
        code = emu_error(cudaErrorInvalidValue, "cudaGraphDestroy: the graph is that of a child node, which owns it");
    if (!code) emu_drop_graph(graph);
    return code;
}

static void number(const emu_graph *graph) {
    for (size_t i = 0; i < graph->nodes.count; i++) graph->nodes.at[i]->index = i;
}

int emu_copy_graph(emu_graph **result, const emu_graph *graph, int owned) {
    emu_graph *copy;
    int code = emu_new_graph(&copy, owned);
    if (code) return code;
    copy->origin = (emu_graph *)(uintptr_t)graph;
    number(graph);
    for (size_t i = 0; !code && i < graph->nodes.count; i++) {
        emu_node *from = graph->nodes.at[i], *node = calloc(1, sizeof *node);
        code = node ? emu_list_push(&copy->nodes, node) : no_memory("a graph");
        if (code) {
            free(node);
            break;
        }
        node->graph = copy;
        node->origin = from;
        node->disabled = from->disabled;
        code = emu_node_copy(node, from);
    }
    for (size_t i = 0; !code && i < graph->nodes.count; i++) // (an edge may lead to a later node)
        for (size_t k = 0; !code && k < graph->nodes.at[i]->before.count; k++)
            code = emu_list_push(&copy->nodes.at[i]->before, copy->nodes.at[graph->nodes.at[i]->before.at[k]->index]);
    if (code)
        emu_drop_graph(copy);
    else
        *result = copy;
    return code;
}

int emu_graph_clone(void **copy, void *handle) {
    emu_graph *graph, *result;
    if (!copy) return emu_error(cudaErrorInvalidValue, "cudaGraphClone: the pointer for the result is NULL");
    int code = emu_find_graph(handle, "cudaGraphClone", &graph);
    if (!code) code = emu_copy_graph(&result, graph, 0);
    if (!code) *copy = result;
    return code;
}

int emu_graph_find_in_clone(void **node, void *original, void *clone) {
    const char *call = "cudaGraphNodeFindInClone";
    emu_graph *graph;
    int code = emu_find_graph(clone, call, &graph);
    if (code) return code;
    for (size_t i = 0; node && i < graph->nodes.count; i++)
        if (graph->nodes.at[i]->origin == original) {
            *node = graph->nodes.at[i];
            return cudaSuccess;
        }
    return emu_error(cudaErrorInvalidValue, "%s: the graph has no copy of the node", call);
}

// --- what a node does ---------------------------------------------------------------------------------------------
static int kernel_arguments(struct cudaKernelNodeParams *kernel, void **arguments, const char *call) {
    emu_kernel *found;
    int code = emu_find_typed_kernel(kernel->func, call, &found);
    if (code) return code;
    if (kernel->extra)
        return emu_error(cudaErrorNotSupported, "%s: the emulator takes arguments in kernelParams, not in extra",
                         call);
    const emu_signature *signature = emu_kernel_signature(found);
    const size_t pointers = (signature->count + 1) * sizeof(void *),
                 align = signature->align > 16 ? signature->align : 16;
    const size_t first = (pointers + align - 1) / align * align;
    void *memory;
    if (posix_memalign(&memory, align, first + signature->bytes + 1)) return no_memory(call);
    void **at = memory;
    for (uint32_t i = 0; i < signature->count; i++) {
        const emu_parameter parameter = signature->parameters[i];
        at[i] = (char *)memory + first + parameter.offset;
        if (!kernel->kernelParams || !kernel->kernelParams[i]) {
            free(memory);
            return emu_error(cudaErrorInvalidValue, "%s: the pointer to argument %u of %u is NULL", call, i,
                             signature->count);
        }
        memcpy(at[i], kernel->kernelParams[i], parameter.size);
    }
    kernel->func = (void *)(uintptr_t)found->function;
    kernel->kernelParams = at;
    *arguments = memory;
    return cudaSuccess;
}

static int new_memory(struct cudaMemAllocNodeParams *alloc, emu_node_memory **memory, const char *call) {
    emu_node_memory *fresh = calloc(1, sizeof *fresh);
    if (!fresh) return no_memory(call);
    atomic_init(&fresh->owners, 1);
    int code = emu_malloc_for_graph(&fresh->data, alloc->bytesize);
    if (code) {
        free(fresh);
        return code;
    }
    alloc->dptr = fresh->data;
    *memory = fresh;
    return cudaSuccess;
}

int emu_node_set(emu_node *node, struct cudaGraphNodeParams *what, const cudaLaunchAttribute *attributes,
                 unsigned count, const char *call) {
    struct cudaGraphNodeParams does = *what;
    emu_node fresh = {0};
    emu_graph *child;
    int code = 0;
    if (count > EMU_NODE_ATTRIBUTES)
        return emu_error(cudaErrorNotSupported, "%s: a kernel with %u attributes; at most %d are supported", call,
                         count, EMU_NODE_ATTRIBUTES);
    switch (does.type) {
    case cudaGraphNodeTypeKernel: code = kernel_arguments(&does.kernel, &fresh.arguments, call); break;
    case cudaGraphNodeTypeMemset:
        if (!does.memset.dst ||
            (does.memset.elementSize != 1 && does.memset.elementSize != 2 && does.memset.elementSize != 4))
            code = emu_error(cudaErrorInvalidValue,
                             "%s: elements of %u bytes at %p; they must have 1, 2 or 4 bytes, and the address must "
                             "not be NULL",
                             call, does.memset.elementSize, does.memset.dst);
        break;
    case cudaGraphNodeTypeHost:
        if (!does.host.fn) code = emu_error(cudaErrorInvalidValue, "%s: the function is NULL", call);
        break;
    case cudaGraphNodeTypeGraph:
        code = emu_find_graph(does.graph.graph, call, &child);
        if (!code) code = emu_copy_graph(&fresh.child, child, 1);
        does.graph.graph = (cudaGraph_t)fresh.child;
        break;
    case cudaGraphNodeTypeMemAlloc: code = new_memory(&does.alloc, &fresh.memory, call); break;
    case cudaGraphNodeTypeMemcpy:
    case cudaGraphNodeTypeEmpty:
    case cudaGraphNodeTypeWaitEvent:
    case cudaGraphNodeTypeEventRecord:
    case cudaGraphNodeTypeMemFree: break;
    default:
        code = emu_error(cudaErrorNotSupported, "%s: the emulator has no nodes of type %d", call, (int)does.type);
    }
    if (code) return code;
    if (does.type == cudaGraphNodeTypeMemAlloc) what->alloc.dptr = does.alloc.dptr;
    release(node);
    node->does = does;
    node->arguments = fresh.arguments;
    node->child = fresh.child;
    node->memory = fresh.memory;
    if (attributes) memcpy(node->attributes, attributes, count * sizeof *attributes);
    if (attributes) node->attribute_count = count;
    return cudaSuccess;
}

int emu_node_copy(emu_node *to, const emu_node *from) {
    if (from->memory) {
        atomic_fetch_add(&from->memory->owners, 1);
        release(to);
        to->memory = from->memory;
        to->does = from->does;
        return cudaSuccess;
    }
    struct cudaGraphNodeParams does = from->does;
    return emu_node_set(to, &does, from->attributes, from->attribute_count, "a copy of a node");
}

// --- nodes and edges ----------------------------------------------------------------------------------------------
static int check_nodes(const emu_graph *graph, emu_node *const *nodes, size_t count, const char *call) {
    if (count && !nodes) return emu_error(cudaErrorInvalidValue, "%s: the pointer to %zu nodes is NULL", call, count);
    for (size_t i = 0; i < count; i++)
        if (!nodes[i] || nodes[i]->graph != graph)
            return emu_error(cudaErrorInvalidValue, "%s: node %zu of %zu is not one of this graph", call, i, count);
    return cudaSuccess;
}

int emu_graph_append(emu_graph *graph, emu_node *const *before, size_t count, struct cudaGraphNodeParams *what,
                     const cudaLaunchAttribute *attributes, unsigned attribute_count, const char *call,
                     emu_node **result) {
    int code = check_nodes(graph, before, count, call);
    if (code) return code;
    emu_node *node = calloc(1, sizeof *node);
    if (!node) return no_memory(call);
    node->graph = graph;
    for (size_t i = 0; !code && i < count; i++) code = emu_list_add(&node->before, before[i]);
    if (!code) code = emu_node_set(node, what, attributes, attribute_count, call);
    if (!code) code = emu_list_push(&graph->nodes, node);
    if (code) {
        release(node);
        free(node->before.at);
        free(node);
        return code;
    }
    if (what->type == cudaGraphNodeTypeMemFree)
        for (size_t i = 0; i < graph->nodes.count; i++) {
            emu_node_memory *memory = graph->nodes.at[i]->memory;
            if (memory && memory->data == what->free.dptr) memory->freed = 1;
        }
    *result = node;
    return cudaSuccess;
}

int emu_graph_add(void **result, void *handle, void *const *before, size_t count, void *what) {
    const char *call = "cudaGraphAddNode";
    emu_graph *graph;
    emu_node *node;
    if (!result || !what) return emu_error(cudaErrorInvalidValue, "%s: a pointer is NULL", call);
    int code = emu_find_graph(handle, call, &graph);
    if (!code) code = emu_graph_append(graph, (emu_node *const *)before, count, what, NULL, 0, call, &node);
    if (!code) *result = node;
    return code;
}

// `set`: sets what the node does, else stores it. The type must be the node's.
int emu_graph_node(void *handle, void *what, int set) {
    emu_node *node = handle;
    struct cudaGraphNodeParams *does = what;
    if (!node || !what) return emu_error(cudaErrorInvalidValue, "a graph's node: a pointer is NULL");
    if (does->type != node->does.type)
        return emu_error(cudaErrorInvalidValue, "a graph's node: it is of type %d, not %d", (int)node->does.type,
                         (int)does->type);
    if (set) return emu_node_set(node, what, NULL, 0, "cudaGraphNodeSetParams");
    *does = node->does;
    return cudaSuccess;
}

int emu_graph_node_type(void *node, int *type) {
    if (!node || !type) return emu_error(cudaErrorInvalidValue, "cudaGraphNodeGetType: a pointer is NULL");
    *type = (int)((emu_node *)node)->does.type;
    return cudaSuccess;
}

int emu_graph_kernel_attribute(void *handle, int id, void *value, int set) {
    const char *call = set ? "cudaGraphKernelNodeSetAttribute" : "cudaGraphKernelNodeGetAttribute";
    emu_node *node = handle;
    if (!node || !value || node->does.type != cudaGraphNodeTypeKernel)
        return emu_error(cudaErrorInvalidValue, "%s: the node is not a kernel, or a pointer is NULL", call);
    unsigned i = 0;
    while (i < node->attribute_count && (int)node->attributes[i].id != id) i++;
    cudaLaunchAttribute *at = &node->attributes[i];
    if (!set) {
        memset(value, 0, sizeof at->val);
        if (i < node->attribute_count) memcpy(value, &at->val, sizeof at->val);
        return cudaSuccess;
    }
    if (i == EMU_NODE_ATTRIBUTES) return emu_error(cudaErrorNotSupported, "%s: too many attributes", call);
    at->id = (cudaLaunchAttributeID)id;
    memcpy(&at->val, value, sizeof at->val);
    if (i == node->attribute_count) node->attribute_count++;
    return cudaSuccess;
}

int emu_graph_remove_node(void *handle) {
    emu_node *node = handle;
    if (!node) return emu_error(cudaErrorInvalidValue, "cudaGraphDestroyNode: the node is NULL");
    const emu_graph *graph = node->graph;
    for (size_t i = 0; i < graph->nodes.count; i++) take(&graph->nodes.at[i]->before, node);
    take(&node->graph->nodes, node);
    release(node);
    free(node->before.at);
    free(node);
    return cudaSuccess;
}

int emu_graph_depend(void *handle, void *const *from, void *const *to, size_t count, int add) {
    const char *call = add ? "cudaGraphAddDependencies" : "cudaGraphRemoveDependencies";
    emu_graph *graph;
    int code = emu_find_graph(handle, call, &graph);
    if (!code) code = check_nodes(graph, (emu_node *const *)from, count, call);
    if (!code) code = check_nodes(graph, (emu_node *const *)to, count, call);
    for (size_t i = 0; !code && i < count; i++) {
        emu_node *first = from[i], *second = to[i];
        if (add && (first == second || emu_list_has(&second->before, first)))
            code = emu_error(cudaErrorInvalidValue, "%s: edge %zu %s", call, i,
                             first == second ? "leads from a node to itself" : "exists already");
        else if (add)
            code = emu_list_push(&second->before, first);
        else if (!take(&second->before, first))
            code = emu_error(cudaErrorInvalidValue, "%s: edge %zu does not exist", call, i);
    }
    return code;
}

int emu_graph_nodes(void *handle, void **nodes, size_t *count, int roots) {
    const char *call = roots ? "cudaGraphGetRootNodes" : "cudaGraphGetNodes";
    emu_graph *graph;
    emu_list list = {0};
    int code = emu_find_graph(handle, call, &graph);
    for (size_t i = 0; !code && i < graph->nodes.count; i++)
        if (!roots || !graph->nodes.at[i]->before.count) code = emu_list_push(&list, graph->nodes.at[i]);
    if (!code) code = give(&list, nodes, count, call);
    free(list.at);
    return code;
}

int emu_graph_edges(void *handle, void **from, void **to, size_t *count) {
    const char *call = "cudaGraphGetEdges";
    emu_graph *graph;
    emu_list first = {0}, second = {0};
    int code = emu_find_graph(handle, call, &graph);
    if (!code && (!count || !from != !to))
        code = emu_error(cudaErrorInvalidValue, "%s: a pointer for the results is NULL", call);
    for (size_t i = 0; !code && i < graph->nodes.count; i++)
        for (size_t k = 0; !code && k < graph->nodes.at[i]->before.count; k++) {
            code = emu_list_push(&first, graph->nodes.at[i]->before.at[k]);
            if (!code) code = emu_list_push(&second, graph->nodes.at[i]);
        }
    size_t room = code ? 0 : *count;
    if (!code) code = give(&first, from, count, call);
    if (!code) code = give(&second, to, &room, call);
    free(first.at);
    free(second.at);
    return code;
}

int emu_graph_neighbours(void *handle, void **nodes, size_t *count, int after) {
    const char *call = after ? "cudaGraphNodeGetDependentNodes" : "cudaGraphNodeGetDependencies";
    emu_node *node = handle;
    emu_list list = {0};
    int code = node ? cudaSuccess : emu_error(cudaErrorInvalidValue, "%s: the node is NULL", call);
    for (size_t i = 0; after && !code && i < node->graph->nodes.count; i++)
        if (emu_list_has(&node->graph->nodes.at[i]->before, node))
            code = emu_list_push(&list, node->graph->nodes.at[i]);
    if (!code) code = give(after ? &list : &node->before, nodes, count, call);
    free(list.at);
    return code;
}

int emu_graph_print(void *handle, const char *path) {
    static const char *const NAMES[cudaGraphNodeTypeCount] = {"kernel", "memcpy", "memset",         "host",
                                                              "graph",  "empty",  "wait for event", "record event",
                                                              "",       "",       "malloc",         "free"};
    emu_graph *graph;
    int code = emu_find_graph(handle, "cudaGraphDebugDotPrint", &graph);
    if (code) return code;
    FILE *file = path ? fopen(path, "w") : NULL;
    if (!file)
        return emu_error(cudaErrorOperatingSystem, "cudaGraphDebugDotPrint: cannot write %s", path ? path : "");
    number(graph);
    fprintf(file, "digraph graph_1 {\n");
    for (size_t i = 0; i < graph->nodes.count; i++) {
        const emu_node *node = graph->nodes.at[i];
        char name[256] = "";
        if (node->does.type == cudaGraphNodeTypeKernel) emu_kernel_name(node->does.kernel.func, name, sizeof name);
        fprintf(file, "  n%zu [label=\"%zu %s %s\"];\n", i, i, NAMES[node->does.type], name);
        for (size_t k = 0; k < node->before.count; k++)
            fprintf(file, "  n%zu -> n%zu;\n", node->before.at[k]->index, i);
    }
    fprintf(file, "}\n");
    fclose(file);
    return cudaSuccess;
}
