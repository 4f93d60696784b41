// A breadth-first search marks what it has visited, in an array of flags that was never cleared.
//> graph = ints(64 * 4).reshape(64, 4) % 64; edges = ck.asarray(graph.astype("i4")); order = ck.zeros(64, "i4")
//> visited = ck.empty(64, "u1") if twin == "wrong" else ck.zeros(64, "u1")
//> kernel[1, 1](edges, visited, order)
//= seen = {0}
//= for _ in range(64): seen |= {w for v in seen for w in graph[v]}
//= np.testing.assert_array_equal(np.flatnonzero(visited.get()), sorted(seen))
__device__ void search(const int *edges, unsigned char *visited, int *queue) {
    int end = 0;
    queue[end++] = 0, visited[0] = 1;
    for (int at = 0; at < end; ++at)
        for (int e = 0; e < 4; ++e) {
            int next = edges[4 * queue[at] + e];
            if (!visited[next]) visited[next] = 1, queue[end++] = next;
        }
}

__global__ void wrong(const int *edges, unsigned char *visited, int *queue) {
    int end = 0;
    queue[end++] = 0, visited[0] = 1;
    for (int at = 0; at < end; ++at)
        for (int e = 0; e < 4; ++e) {
            int next = edges[4 * queue[at] + e];
            if (!visited[next]) { //! uninitialised visited[next]
                visited[next] = 1, queue[end++] = next;
            }
        }
}

__global__ void right(const int *edges, unsigned char *visited, int *queue) {
    search(edges, visited, queue);
}
