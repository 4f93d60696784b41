// Graphs: shared declarations of graph.c, exec.c and capture.c.
//
//   cudaGraphAddKernelNode ---.                        clone, in an order of its own
//   capture.c: a stream's     +--> emu_graph: nodes   ------------------------------> emu_exec --> a stream's queue
//   operations, by its tips --'    and what each waits for       exec.c
//
// A launch queues the nodes one after another, each after those that it waits for. Any such order is right, since
// nothing promises that two nodes run at the same time.
//
// As in CUDA, a graph must not be used by two threads at once, so only the lists of graphs have a lock.
#ifndef EMULATOR_GRAPH_H
#define EMULATOR_GRAPH_H

#include "host.h"

enum { EMU_NODE_ATTRIBUTES = 8 };

typedef struct emu_graph emu_graph;
typedef struct emu_node emu_node;

typedef struct emu_list { // of nodes
    emu_node **at;
    size_t count, room;
} emu_list;

// Memory of a node that allocates: the graph's copies share it. It is allocated when the node is added.
typedef struct emu_node_memory {
    atomic_int owners;
    int freed; // a node of the graph frees it; else the program does
    void *data;
} emu_node_memory;

struct emu_node {
    struct cudaGraphNodeParams does; // pointers in it point to what the node owns
    emu_graph *graph;
    emu_list before;  // what it waits for, without repetition
    emu_node *origin; // of which it is a copy
    int disabled;
    size_t index; // scratch
    // of a kernel
    void *arguments;
    cudaLaunchAttribute attributes[EMU_NODE_ATTRIBUTES];
    unsigned attribute_count;
    emu_graph *child; // of a child graph: its own copy
    emu_node_memory *memory;
};

struct emu_graph {
    emu_list nodes; // in the order in which they were added
    emu_graph *origin, *next;
    int owned; // by a node or an emu_exec: its handle cannot be destroyed
};

int emu_find_graph(void *handle, const char *call, emu_graph **graph);
int emu_list_push(emu_list *list, emu_node *node); // a cudaError_t
int emu_list_add(emu_list *list, emu_node *node);  // unless it is in the list
int emu_list_has(const emu_list *list, const emu_node *node);
int emu_new_graph(emu_graph **graph, int owned);
void emu_drop_graph(emu_graph *graph);
int emu_copy_graph(emu_graph **copy, const emu_graph *graph, int owned);
// Sets what a node does; on failure it is unchanged. `what` gets the address of memory that is allocated.
int emu_node_set(emu_node *node, struct cudaGraphNodeParams *what, const cudaLaunchAttribute *attributes,
                 unsigned count, const char *call);
int emu_node_copy(emu_node *to, const emu_node *from); // what it does
int emu_graph_append(emu_graph *graph, emu_node *const *before, size_t count, struct cudaGraphNodeParams *what,
                     const cudaLaunchAttribute *attributes, unsigned attribute_count, const char *call,
                     emu_node **node);

#endif
