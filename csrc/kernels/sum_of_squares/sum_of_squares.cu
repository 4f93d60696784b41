// sum_of_squares: the sum of x[i] * x[i]. The plans and the table of the ladder; each kernel is in a file of its own.
//
// Read the files of ladder/ in their order. Views: x, of any shape, whose elements the runtime brings as one row, and
// the result, one element. Integers are summed modulo 2^64.
#include "parts/finish.cuh"

#include "ladder/01_single_thread.cuh"
#include "ladder/02_chunked.cuh"
#include "ladder/03_chunked_global.cuh"
#include "ladder/04_coalesced.cuh"
#include "ladder/05_multi_block.cuh"
#include "ladder/06_shared_serial.cuh"
#include "ladder/07_tree_interleaved.cuh"
#include "ladder/08_tree_sequential.cuh"
#include "ladder/09_tree_unrolled.cuh"
#include "ladder/10_warp_shuffle.cuh"
#include "ladder/11_vectorized.cuh"
#include "ladder/14_one_launch.cuh"

#include "launches/common.cuh"
#include "../sizes.h"
#include "../table.h"

namespace sum_of_squares {

ck_run run_vectorized, run_atomic, run_cooperative; // vectorized.cu
ck_run run_one_launch;                              // one_launch.cu

namespace {

// --- plans

int plan_grid(const ck_call *call, ck_plan *plan, ck_error *error, int64_t blocks, int64_t threads) {
    *plan = ck_plan{};
    if (elements_of(call->views[1]) != 1)
        return ck_fail(error, CK_BAD_VALUE, "the output must have one element, not %lld",
                       static_cast<long long>(elements_of(call->views[1])));
    if (threads < 1 || threads > call->limits->max_threads_per_block)
        return ck_fail(error, CK_BAD_VALUE, "threads=%lld, but a block on this device has 1 to %d threads",
                       static_cast<long long>(threads), call->limits->max_threads_per_block);
    if (blocks < 1 || blocks > call->limits->max_grid[0])
        return ck_fail(error, CK_BAD_VALUE, "blocks=%lld, but a grid on this device has 1 to %lld blocks",
                       static_cast<long long>(blocks), static_cast<long long>(call->limits->max_grid[0]));
    plan->grid[0] = static_cast<unsigned>(blocks);
    plan->block[0] = static_cast<unsigned>(threads);
    plan->grid[1] = plan->grid[2] = plan->block[1] = plan->block[2] = 1;
    plan->layout[0].contiguous = CK_IN_ANY_ORDER;
    return CK_OK;
}

// Variants that read the clock have one record per block. There is one partial sum per thread, or one per block.
int plan_clocked(const ck_call *call, ck_plan *plan, ck_error *error, int64_t blocks, int64_t threads,
                 int64_t partials) {
    CK_TRY(plan_grid(call, plan, error, blocks, threads));
    plan->partials = partials;
    plan->clock_blocks = blocks;
    return CK_OK;
}

int plan_single_thread(const ck_call *call, ck_plan *plan, ck_error *error) {
    return plan_clocked(call, plan, error, 1, 1, 0);
}

int plan_chunked(const ck_call *call, ck_plan *plan, ck_error *error) {
    const int64_t threads = call->parameters[0];
    return plan_clocked(call, plan, error, 1, threads, threads);
}
constexpr auto plan_chunked_global = plan_chunked;
constexpr auto plan_coalesced = plan_chunked;

int plan_multi_block(const ck_call *call, ck_plan *plan, ck_error *error) {
    const int64_t threads = call->parameters[0], blocks = call->parameters[1];
    return plan_clocked(call, plan, error, blocks, threads, blocks * threads);
}

int plan_shared_serial(const ck_call *call, ck_plan *plan, ck_error *error) {
    const int64_t threads = call->parameters[0], blocks = call->parameters[1];
    CK_TRY(plan_clocked(call, plan, error, blocks, threads, blocks));
    plan->shared_bytes = threads * ck_dtype_size(call->types.accumulator);
    return CK_OK;
}
constexpr auto plan_tree_interleaved = plan_shared_serial;
constexpr auto plan_tree_sequential = plan_shared_serial;

int plan_tree_unrolled(const ck_call *call, ck_plan *plan, ck_error *error) {
    const int64_t blocks = call->parameters[0];
    return plan_clocked(call, plan, error, blocks, UNROLLED_THREADS, blocks);
}

int plan_warp_shuffle(const ck_call *call, ck_plan *plan, ck_error *error) {
    const int64_t threads = call->parameters[0], blocks = call->parameters[1];
    CK_TRY(plan_grid(call, plan, error, blocks, threads));
    plan->partials = blocks;
    return CK_OK;
}

// The number of elements that a thread loads at once.
int64_t pack_width(const ck_call *call) {
    return PACK_BYTES / static_cast<int64_t>(ck_dtype_size(call->types.input));
}

// blocks=0: the number of blocks that fills the chip with 2048 threads per multiprocessor, or fewer if the array has
// less than one pack per thread. For a small array it is one block, because a second block would require a second
// launch, which adds their sums. With its memory, that costs the caller 4 us, and the device 3 us on an H100, where a
// block needs 1 us for four rounds of packs.
enum { ONE_BLOCK_ROUNDS = 8 };
int64_t chosen_blocks(const ck_call *call) {
    const int64_t threads = call->parameters[0], blocks = call->parameters[1];
    if (blocks > 0) return blocks;
    const int64_t most = call->limits->multiprocessors * divide_up(2048, threads);
    const int64_t useful = divide_up(length(call), threads * pack_width(call));
    return useful <= ONE_BLOCK_ROUNDS * PACKS_IN_FLIGHT ? 1 : smaller(useful, most);
}

int plan_vectorized(const ck_call *call, ck_plan *plan, ck_error *error) {
    const int64_t blocks = chosen_blocks(call);
    CK_TRY(plan_grid(call, plan, error, blocks, call->parameters[0]));
    plan->partials = blocks;
    return CK_OK;
}

int plan_atomic(const ck_call *call, ck_plan *plan, ck_error *error) {
    CK_TRY(plan_grid(call, plan, error, chosen_blocks(call), call->parameters[0]));
    plan->clear_outputs = 1;
    return CK_OK;
}

int plan_cooperative(const ck_call *call, ck_plan *plan, ck_error *error) {
    CK_TRY(plan_grid(call, plan, error, call->parameters[1], call->parameters[0]));
    plan->workspace_bytes = plan->grid[0] * ck_dtype_size(call->types.accumulator);
    return CK_OK;
}

// blocks=0: one block if its threads can load all packs at once; else four packs per thread, and at most the blocks
// that are resident together.
int64_t chosen_tile_blocks(const ck_call *call) {
    if (call->parameters[0] > 0) return call->parameters[0];
    const int64_t packs = divide_up(length(call), pack_width(call));
    const int64_t most = call->limits->multiprocessors * static_cast<int64_t>(TILE_BLOCKS_A_MULTIPROCESSOR);
    return packs <= TILE_PACKS ? 1 : smaller(divide_up(packs, TILE_PACKS / 2), most);
}

int plan_one_launch(const ck_call *call, ck_plan *plan, ck_error *error) {
    CK_TRY(plan_grid(call, plan, error, chosen_tile_blocks(call), TILE_THREADS));
    if (plan->grid[0] == 1) return CK_OK;
    plan->workspace_bytes = ck_dtype_size(call->types.accumulator) == sizeof(double)
                                ? block_sums<double>::bytes(plan->grid[0])
                                : block_sums<float>::bytes(plan->grid[0]);
    plan->clear_workspace = plan->leaves_workspace_clear = 1;
    return CK_OK;
}

// --- run functions (some are in vectorized.cu, which is compiled separately)

SUM(single_thread, with_main_type, output<void>(call), context->clocks)
SUM(chunked, with_main_type, context->partials, context->clocks)
SUM(chunked_global, with_main_type, context->partials, context->clocks)
SUM(coalesced, with_every_type, context->partials, context->clocks)
SUM(multi_block, with_main_type, context->partials, context->clocks)
SUM(shared_serial, with_main_type, context->partials, context->clocks)
SUM(tree_interleaved, with_main_type, context->partials, context->clocks)
SUM(tree_sequential, with_main_type, context->partials, context->clocks)
SUM(tree_unrolled, with_main_type, context->partials, context->clocks)
SUM(warp_shuffle, with_main_type, context->partials)

// --- the last partial sums

// Pairwise addition, as in NumPy: adding hundreds of partial sums in a row would lose more digits than the kernel
// did.
enum { ADD_IN_A_ROW = 8 };
template <typename Acc> Acc add_pairwise(const Acc *sums, int64_t count) {
    if (count > ADD_IN_A_ROW)
        return add_pairwise(sums, count / 2) + add_pairwise(sums + count / 2, count - count / 2);
    Acc sum = 0;
    for (int64_t i = 0; i < count; ++i) sum += sums[i];
    return sum;
}

template <typename Visit> int with_accumulator(const ck_types *types, ck_error *error, Visit visit) {
    return with_dtype<CK_INT64, CK_UINT64, CK_FLOAT32, CK_FLOAT64>(
        types->accumulator, error, [&](auto sum) { return visit(sum_of<decltype(sum)>{}); });
}

void finish_host(const void *partials, int64_t count, const ck_types *types, void *out) {
    (void)with_accumulator(types, NULL, [&](auto sum) {
        using Acc = decltype(sum);
        *static_cast<Acc *>(out) = add_pairwise(static_cast<const Acc *>(partials), count);
        return static_cast<int>(CK_OK);
    });
}

int finish_device(const ck_call *call, const ck_plan *plan, const ck_context *context, ck_error *error) {
    return with_accumulator(&call->types, error, [&](auto sum) {
        using Acc = decltype(sum);
        return ck_launch(context, error, "finish", finish<Acc>, dim3(1), dim3(FINISH_THREADS), 0,
                         static_cast<const Acc *>(context->partials), plan->partials, output<Acc>(call));
    });
}

// --- error depth: the number of additions on the longest path to the result

double log2_up(int64_t n) {
    int rounds = 0;
    for (int64_t reach = 1; reach < n; reach *= 2) ++rounds;
    return rounds;
}
double share(const ck_call *call, int64_t threads) {
    return static_cast<double>(divide_up(length(call), threads));
}

double depth_shuffle(int64_t threads) {
    return log2_up(WARP) + log2_up(divide_up(threads, WARP));
}

// The addition of the partial sums, by the host or by a kernel, whichever has the longer path. Partial sums without
// elements are zeros and cause no rounding.
double depth_finish(const ck_call *call, int64_t partials) {
    const int64_t used = smaller(length(call), partials);
    if (used <= ADD_IN_A_ROW) return static_cast<double>(used);
    const double host = ADD_IN_A_ROW + log2_up(divide_up(used, ADD_IN_A_ROW));
    const double kernel = static_cast<double>(divide_up(used, FINISH_THREADS)) + depth_shuffle(FINISH_THREADS);
    return host > kernel ? host : kernel;
}

double depth_in_a_row(const ck_call *call) {
    return share(call, 1);
}
double depth_one_block(const ck_call *call) {
    const int64_t threads = call->parameters[0];
    return share(call, threads) + depth_finish(call, threads);
}
double depth_multi_block(const ck_call *call) {
    const int64_t all = call->parameters[0] * call->parameters[1];
    return share(call, all) + depth_finish(call, all);
}
double depth_shared_serial(const ck_call *call) {
    const int64_t threads = call->parameters[0], blocks = call->parameters[1];
    return share(call, threads * blocks) + static_cast<double>(threads) + depth_finish(call, blocks);
}
double depth_tree(const ck_call *call) {
    const int64_t threads = call->parameters[0], blocks = call->parameters[1];
    return share(call, threads * blocks) + log2_up(threads) + depth_finish(call, blocks);
}
double depth_tree_unrolled(const ck_call *call) {
    const int64_t blocks = call->parameters[0];
    return share(call, UNROLLED_THREADS * blocks) + log2_up(UNROLLED_THREADS) + depth_finish(call, blocks);
}
double depth_warp_shuffle(const ck_call *call) {
    const int64_t threads = call->parameters[0], blocks = call->parameters[1];
    return share(call, threads * blocks) + depth_shuffle(threads) + depth_finish(call, blocks);
}
// The path consists of the elements at the positions of a pack that share a sum, a thread's part of head and tail,
// the sums of the thread, and the block.
double depth_packed(const ck_call *call, int64_t blocks) {
    const int64_t threads = call->parameters[0], width = pack_width(call);
    const int64_t sums = pack_sums(ck_dtype_size(call->types.input));
    const int64_t edges = 2 * divide_up(width - 1, threads * blocks);
    return share(call, threads * blocks * width) * static_cast<double>(width / sums) +
           static_cast<double>(edges + sums - 1) + depth_shuffle(threads);
}
double depth_vectorized(const ck_call *call) {
    const int64_t blocks = chosen_blocks(call);
    return depth_packed(call, blocks) + depth_finish(call, blocks);
}
double depth_atomic(const ck_call *call) { // the sums of the blocks are added one after another, in any order
    const int64_t blocks = chosen_blocks(call);
    return depth_packed(call, blocks) + static_cast<double>(blocks);
}
// A thread's elements, half of them in each of its sums; the block; a thread's share of the blocks; the block again.
double depth_one_launch(const ck_call *call) {
    const int64_t blocks = chosen_tile_blocks(call);
    const double block = depth_shuffle(TILE_THREADS), each = share(call, TILE_THREADS * blocks) + 2 * TILE_LOADS * 16;
    return each / 2 + 2 + block + (blocks > 1 ? static_cast<double>(divide_up(blocks, TILE_THREADS)) + block : 0);
}
double depth_cooperative(const ck_call *call) {
    const int64_t threads = call->parameters[0], blocks = call->parameters[1];
    return depth_packed(call, blocks) + static_cast<double>(divide_up(blocks, threads)) + depth_shuffle(threads);
}

void work(const ck_call *call, ck_work *work) {
    const double n = static_cast<double>(length(call));
    work->flops = 2 * n;
    work->bytes = n * static_cast<double>(ck_dtype_size(call->types.input)) +
                  static_cast<double>(ck_dtype_size(call->types.output));
}

// --- the table

#define CK_FOLDER  "sum_of_squares/"
#define MAIN_TYPES TYPES(I32_I64_I64, I64_I64_I64, F32_F32_F32, F64_F64_F64)
// Integers and bool are summed in 64 bits, float16 in float32.
#define INTEGER_NARROW_TYPES                                                                                         \
    WIDENED(BOOL, INT64), WIDENED(INT8, INT64), WIDENED(INT16, INT64), WIDENED(UINT8, UINT64),                       \
        WIDENED(UINT16, UINT64), WIDENED(UINT32, UINT64), WIDENED(UINT64, UINT64)
#define NARROW_TYPES INTEGER_NARROW_TYPES, WIDENED(FLOAT16, FLOAT32)
#define EVERY_TYPE   TYPES(I32_I64_I64, I64_I64_I64, F32_F32_F32, F64_F64_F64, NARROW_TYPES, WIDENED(BFLOAT16, FLOAT32))
// Floats are summed in float64 and rounded once.
#define DOUBLE_SUMS                                                                                                  \
    TYPES(I32_I64_I64, I64_I64_I64, ROUNDED(FLOAT32, FLOAT64), F64_F64_F64, INTEGER_NARROW_TYPES,                    \
          {CK_FLOAT16, CK_FLOAT64, CK_FLOAT32}, {CK_BFLOAT16, CK_FLOAT64, CK_FLOAT32})
#define BLOCKS RANGE(blocks, "blocks", 32, 1, 65535)
// The variants beyond the source documents: larger blocks, and blocks=0, which chooses the grid for the chip and the
// array.
#define MORE_THREADS RANGE(threads, "threads per block", 512, 1, 1024)
#define CHIP_BLOCKS  RANGE(blocks, "blocks, 0: chosen from the chip", 0, 0, 65535)

#define CLOCKED (CK_DETERMINISTIC | CK_READS_CLOCK)

const ck_variant variants[] = {
    RUNG(01, single_thread, FIRST, AT_LEAST(60), MAIN_TYPES, SEQUENTIAL, CLOCKED, NO_PARAMETERS, depth_in_a_row,
         KERNELS("single_thread"), "One thread does all the work",
         "A load takes hundreds of cycles, and one thread can only wait", "T3; L steps 2 to 4"),
    RUNG(02, chunked, AFTER(single_thread), AT_LEAST(60), MAIN_TYPES, SEQUENTIAL, CLOCKED | CK_HOST_FINISH,
         PARAMETERS(ANY_THREADS), depth_one_block, KERNELS("chunked"),
         "One block; each thread sums a contiguous chunk", "While one warp waits for memory, another one runs",
         "T4, first step; L step 5"),
    RUNG(03, chunked_global, AFTER(single_thread), AT_LEAST(60), MAIN_TYPES, SEQUENTIAL, CLOCKED | CK_HOST_FINISH,
         PARAMETERS(ANY_THREADS), depth_one_block, KERNELS("chunked_global"),
         "The same, with running sums in global memory: slower, to show what a register saves",
         "Keep a running sum in a register", "L step 5"),
    RUNG(04, coalesced, AFTER(chunked), AT_LEAST(60), EVERY_TYPE, SEQUENTIAL, CLOCKED | CK_HOST_FINISH,
         PARAMETERS(ANY_THREADS), depth_one_block, KERNELS("coalesced"),
         "Coalesced: neighboring threads read neighboring elements",
         "What the threads of a warp read at the same moment should be contiguous", "T4, second step; L step 6"),
    RUNG(05, multi_block, AFTER(coalesced), AT_LEAST(60), MAIN_TYPES, SEQUENTIAL, CLOCKED | CK_HOST_FINISH,
         PARAMETERS(ANY_THREADS, BLOCKS), depth_multi_block, KERNELS("multi_block"), "Many blocks",
         "A block runs on one multiprocessor; many blocks use all of them", "T4, third step; L step 7"),
    RUNG(06, shared_serial, AFTER(multi_block), AT_LEAST(60), MAIN_TYPES, SEQUENTIAL, CLOCKED | CK_HOST_FINISH,
         PARAMETERS(ANY_THREADS, BLOCKS), depth_shared_serial, KERNELS("shared_serial"),
         "Thread 0 of each block adds the sums of its threads",
         "The threads of a block exchange values through shared memory and a barrier", "T4, fourth step; L step 8"),
    RUNG(07, tree_interleaved, AFTER(shared_serial), AT_LEAST(60), MAIN_TYPES, TREE, CLOCKED | CK_HOST_FINISH,
         PARAMETERS(ANY_THREADS, BLOCKS), depth_tree, KERNELS("tree_interleaved"),
         "Tree reduction with interleaved threads", "A tree adds n values in log2(n) rounds",
         "T4, fifth step; L step 9"),
    RUNG(08, tree_sequential, AFTER(tree_interleaved), AT_LEAST(60), MAIN_TYPES, TREE, CLOCKED | CK_HOST_FINISH,
         PARAMETERS(ANY_THREADS, BLOCKS), depth_tree, KERNELS("tree_sequential"),
         "Tree reduction with consecutive threads", "Keep active threads, and the addresses they use, contiguous",
         "T4, sixth step"),
    RUNG(09, tree_unrolled, AFTER(tree_sequential), AT_LEAST(60), MAIN_TYPES, TREE, CLOCKED | CK_HOST_FINISH,
         PARAMETERS(BLOCKS), depth_tree_unrolled, KERNELS("tree_unrolled"),
         "The tree reduction unrolled for 256 threads",
         "A size known at compile time needs no loop, and a single warp needs no block barrier", "T4, last step"),
    RUNG(10, warp_shuffle, AFTER(tree_unrolled), AT_LEAST(60), MAIN_TYPES, TREE, CK_DETERMINISTIC | CK_HOST_FINISH,
         PARAMETERS(ANY_THREADS, BLOCKS), depth_warp_shuffle, KERNELS("warp_shuffle"),
         "Warp shuffles instead of shared memory", "Lanes of a warp can read each other's registers", "named in P11"),
    RUNG(11, vectorized, AFTER(warp_shuffle), AT_LEAST(60), EVERY_TYPE, TREE, CK_DETERMINISTIC | CK_HOST_FINISH,
         PARAMETERS(MORE_THREADS, CHIP_BLOCKS), depth_vectorized, KERNELS("vectorized"),
         "16-byte loads, and a grid that fills the chip", "Bandwidth needs many bytes in flight", "named in P11"),
    RUNG(12, atomic, AFTER(vectorized), AT_LEAST(60), MAIN_TYPES, TREE,
         CK_DETERMINISTIC_INTEGERS | CK_FLUSHES_DENORMALS, PARAMETERS(MORE_THREADS, CHIP_BLOCKS), depth_atomic,
         KERNELS("atomic"), "One launch: blocks add to the result with atomics",
         "Atomics save a launch, but the order of the additions varies", "named in P11"),
    RUNG(13, cooperative, AFTER(atomic), AT_LEAST(60), MAIN_TYPES, TREE, CK_DETERMINISTIC | CK_COOPERATIVE,
         PARAMETERS(MORE_THREADS, BLOCKS), depth_cooperative, KERNELS("cooperative"),
         "One cooperative launch: slower than atomics, but bit-for-bit reproducible",
         "A whole grid can meet at a barrier if all of its blocks are resident", "named in P11"),
    RUNG(14, one_launch, AFTER(cooperative), AT_LEAST(70), DOUBLE_SUMS, TREE, CK_DETERMINISTIC,
         PARAMETERS(CHIP_BLOCKS), depth_one_launch, KERNELS("one_launch"),
         "One launch: the block that started last collects the sums of all blocks, in a fixed order",
         "A value and its flag in one word need no fence", "named in P11; \"lookback\" of the scans"),
};

} // namespace
} // namespace sum_of_squares

CK_OPERATION_WITH(sum_of_squares, "The sum of the squares of all elements", 1, 1, sum_of_squares,
                  sum_of_squares::finish_host, sum_of_squares::finish_device)
