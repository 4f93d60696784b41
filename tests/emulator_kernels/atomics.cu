// Atomics: one cell in global memory, or in shared memory, that every thread works on; what each got is kept too.
#include "kernels.h"

#define OPERATION(name, call)                                                                                        \
    struct name {                                                                                                    \
        template <typename T> __device__ T operator()(T *cell, T value) const { return call; }                       \
    };
OPERATION(Add, atomicAdd(cell, value))
OPERATION(Sub, atomicSub(cell, value))
OPERATION(Exch, atomicExch(cell, value))
OPERATION(Min, atomicMin(cell, value))
OPERATION(Max, atomicMax(cell, value))
OPERATION(Inc, atomicInc(cell, value))
OPERATION(Dec, atomicDec(cell, value))
OPERATION(And, atomicAnd(cell, value))
OPERATION(Or, atomicOr(cell, value))
OPERATION(Xor, atomicXor(cell, value))
OPERATION(AddBlock, atomicAdd_block(cell, value))
OPERATION(AddSystem, atomicAdd_system(cell, value))

// The same through compare-and-swap, as one writes an operation that CUDA has no name for.
struct AddByCas {
    template <typename T> __device__ T operator()(T *cell, T value) const {
        T seen = *(volatile T *)cell, expected;
        do {
            expected = seen;
            seen = atomicCAS(cell, expected, (T)(expected + value));
        } while (seen != expected);
        return seen;
    }
};

template <typename Operation, typename T> __global__ void in_global(T *cell, const T *in, T *got, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) got[i] = Operation()(cell, in[i]);
}

// Start value in *cell; block 0 only. Yields at a barrier between, so that fibers interleave.
template <typename Operation, typename T> __global__ void in_shared(T *cell, const T *in, T *got, int n) {
    __shared__ T shared;
    if (threadIdx.x == 0) shared = *cell;
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x) got[i] = Operation()(&shared, in[i]);
    __syncthreads();
    if (threadIdx.x == 0) *cell = shared;
}

#define ATOMIC(operation, T, name)                                                                                   \
    ENTRY run_##operation##_##name(const Shape *shape, int shared, T *cell, const T *in, T *got, int n) {            \
        return launch(shape, shared ? in_shared<operation, T> : in_global<operation, T>, cell, in, got, n);          \
    }
#define INTEGER_TYPES(operation)                                                                                     \
    ATOMIC(operation, int, int32)                                                                                    \
    ATOMIC(operation, unsigned, uint32)                                                                              \
    ATOMIC(operation, unsigned long long, uint64)

INTEGER_TYPES(Add)
ATOMIC(Add, float, float32)
ATOMIC(Add, double, float64)
ATOMIC(Sub, int, int32)
ATOMIC(Sub, unsigned, uint32)
INTEGER_TYPES(Exch)
ATOMIC(Exch, float, float32)
INTEGER_TYPES(Min)
ATOMIC(Min, long long, int64)
INTEGER_TYPES(Max)
ATOMIC(Max, long long, int64)
ATOMIC(Inc, unsigned, uint32)
ATOMIC(Dec, unsigned, uint32)
INTEGER_TYPES(And)
INTEGER_TYPES(Or)
INTEGER_TYPES(Xor)
INTEGER_TYPES(AddByCas)
INTEGER_TYPES(AddBlock)
INTEGER_TYPES(AddSystem)
