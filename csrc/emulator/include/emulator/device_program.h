// What translated sources call: launches as `kernel<<<grid, block>>>(arguments)` makes them.
//
//     k<<<g, b, bytes, stream>>>(x, n)      (emu::configure(g, b, bytes, stream), k(x, n))
//     __global__ void k(float *x, int n) {  void k(float *x, int n) { if (emu_launching) return emu::launch<k>(x, n);
//
// So the C++ compiler finds the kernel and converts the arguments. (../../core/program.c has the other half.)
#ifndef EMULATOR_DEVICE_PROGRAM_H
#define EMULATOR_DEVICE_PROGRAM_H

#include <limits.h> // as nvcc does

#include "device_dynamic.h"
#include "device_launch.h"

// Whether the kernel that is called is to be launched. Where a tool could hear of its being read, it is constant as
// far as a kernel can see.
#ifdef EMULATOR_REPORTS
extern __thread const int emu_launching __attribute__((tls_model("initial-exec"), visibility("default")));
#else
extern __thread int emu_launching __attribute__((tls_model("initial-exec"), visibility("default")));
#endif

namespace emu {

// The type of a parameter in that of its function: g++ keeps __restrict__ where a type depends on a template's.
template <typename T> struct unrestricted { using type = T; };
template <typename T> struct unrestricted<T *__restrict__> { using type = T *; };
template <typename T> using declared = typename unrestricted<std::remove_cv_t<T>>::type;

__forceinline__ void configure(dim3 grid, dim3 block, size_t shared = 0, cudaStream_t stream = nullptr) {
    const emu_configuration launch = {{grid.x, grid.y, grid.z}, {block.x, block.y, block.z}, shared, stream};
    emu_launch_next(&launch);
}

#ifdef EMULATOR_PROGRAM
static const int errors_stay = (emu_errors_stay(), 0);
#ifdef EMULATOR_REPORTS
// Numbers that no test of a program takes for results: large and negative. (With NaN, `fabs(x - y) > 1e-5` is false.)
static const int new_memory = (emu_new_memory(0xcd), 0);
#else
// Programs from elsewhere often rely on what they see on a GPU whose memory is new: zeros. (--check tells of it.)
static const int new_memory = (emu_new_memory(0), 0);
#endif
#endif

#ifdef EMULATOR_PROGRAM
// A variable of the device, for cudaDeviceReset.
struct variable {
    emu_initial known;
    template <typename T>
    variable(T &of)
        : known{const_cast<void *>(static_cast<const volatile void *>(__builtin_addressof(of))), sizeof of, nullptr,
                nullptr} {
        emu_announce_initial(&known, 1);
    }
    variable(const variable &) = delete;
    ~variable() { emu_announce_initial(&known, 0); }
};
#endif

#ifdef EMULATOR_PROGRAM
extern "C" __attribute__((visibility("hidden"))) const char __ehdr_start; // of the program or library
#ifdef EMULATOR_REPORTS
static const int kept_out = (emu_keep_host_out(nullptr), 0);
#else
static const int kept_out = (emu_keep_host_out(&__ehdr_start), 0);
#endif
#endif

// Kernels by what their threads do (waits.py, loops.py).
enum threads {
    THEY_WAIT,
    THEY_NEVER_WAIT,  // a block is a loop over its threads
    IN_LOOPS,         // of another function, LOOPS, which runs all threads of a block
    IN_SILENT_LOOPS,  // and which does not tell which thread runs
    IN_LOOPS_OF_ROWS, // the same where warps are rows of a block's threads
    IN_SILENT_LOOPS_OF_ROWS,
};

// Of each thread of a block, what it keeps while others run.
template <typename T> class local {
    static_assert(std::is_trivially_copyable<T>::value, "a thread's variable is copied");
    T *const of_first;

  public:
    explicit local(long threads) : of_first(static_cast<T *>(emu_locals(threads * sizeof(T)))) {}
    ~local() { emu_locals_end(of_first); }
    local(const local &) = delete;
    T &operator[](long thread) const { return of_first[thread]; }
};

// What a lane gets from the values that all lanes have sent; `absent`: by thread. (warp.c says what each kind does.
// An error is found again by that file, with its words.)
struct none_absent {
    constexpr bool operator[](long) const { return false; }
};
template <typename A> struct either_absent { // `present` is the same for all lanes of a warp
    A first;
    const local<bool> &present;
    bool operator[](long thread) const { return !present[thread] || first[thread]; }
};
inline either_absent<none_absent> absent(none_absent first, const local<bool> &present) {
    return {first, present};
}
inline either_absent<const local<bool> &> absent(const local<bool> &first, const local<bool> &present) {
    return {first, present};
}
template <typename A>
either_absent<const either_absent<A> &> absent(const either_absent<A> &first, const local<bool> &present) {
    return {first, present};
}
// Whether no lane of the warp of that first thread, or each one that exists, takes part.
inline bool has_none(none_absent, long) {
    return false;
}
inline bool has_none(const local<bool> &, long) {
    return false;
}
template <typename A> bool has_none(const either_absent<A> &absent, long first) {
    return !absent.present[first] || has_none(absent.first, first);
}
inline bool has_all(none_absent) {
    return true;
}
inline bool has_all(const local<bool> &) {
    return false;
}
template <typename A> bool has_all(const either_absent<A> &absent) {
    return has_all(absent.first);
}
template <emu_warp_kind KIND, typename T, typename Absent, typename By>
__forceinline__ T received(const local<T> &sent, long thread, long threads, const Absent &absent, By argument,
                           int width = 32) {
    const unsigned lane = static_cast<unsigned>(thread) % 32, first = lane & ~static_cast<unsigned>(width - 1),
                   last = first | (width - 1), by = static_cast<unsigned>(argument) & 31;
    const unsigned source = KIND == EMU_SHFL        ? first | (by & (width - 1))
                            : KIND == EMU_SHFL_UP   ? lane >= first + by ? lane - by : lane
                            : KIND == EMU_SHFL_DOWN ? lane + by <= last ? lane + by : lane
                            : (lane ^ by) <= last   ? lane ^ by
                                                    : lane;
    const long from = thread - lane + source;
    if (__builtin_expect(from >= threads || absent[from] || width < 1 || width > 32 || (width & (width - 1)), 0))
        emu_one_by_one();
    return sent[from];
}

template <typename Local> using same_as = std::remove_const_t<Local>;

// The same for all lanes at once, whose argument is the same.
template <emu_warp_kind KIND, typename T, typename Absent, typename By>
__attribute__((optimize("O3"))) inline void exchange(const local<T> &sent, const local<T> &got, long threads,
                                                     const Absent &absent, By argument, int width = 32) {
    const int by = static_cast<int>(argument) & 31;
    for (long first = 0; first < threads; first += 32) {
        const T *from = &sent[first];
        T *to = &got[first];
        if (has_none(absent, first)) continue;
        if (!has_all(absent) || first + 32 > threads || width != 32) {
            for (long i = first; i < threads && i < first + 32; ++i)
                if (!absent[i]) got[i] = received<KIND>(sent, i, threads, absent, by, width);
        } else if (KIND == EMU_SHFL) {
            for (int i = 0; i < 32; ++i) to[i] = from[by];
        } else if (KIND == EMU_SHFL_XOR) {
            for (int i = 0; i < 32; ++i) to[i] = from[i ^ by];
        } else {
            // (Both are read for each lane, also from what is beside the array: then the loop is one of vectors.)
            const int step = KIND == EMU_SHFL_UP ? -by : by, low = KIND == EMU_SHFL_UP ? by : 0,
                      high = KIND == EMU_SHFL_UP ? 32 : 32 - by;
            for (int i = 0; i < 32; ++i) {
                const T other = from[i + step], own = from[i];
                to[i] = i >= low && i < high ? other : own;
            }
        }
    }
}

// What each warp's lanes vote: a bit for each.
template <typename Absent>
inline void vote(const local<bool> &sent, const local<unsigned> &got, long threads, const Absent &absent) {
    for (long first = 0; first < threads; first += 32) {
        unsigned votes = 0;
        if (has_none(absent, first)) continue;
        if (has_all(absent) && first + 32 <= threads) {
            for (int i = 0; i < 32; i += 8) { // the product's highest byte has the lowest bit of each of eight bytes
                uint64_t eight;
                memcpy(&eight, &sent[first + i], 8);
                votes |= static_cast<unsigned>(eight * 0x0102040810204080u >> 56) << i;
            }
        } else {
            for (long i = first; i < threads && i < first + 32; ++i)
                votes |= static_cast<unsigned>(!absent[i] && sent[i]) << (i - first);
        }
        got[first / 32] = votes;
    }
}

template <auto KERNEL, threads THREADS, auto LOOPS> struct in_loop;
template <typename... P, void (*KERNEL)(P...), threads THREADS, auto LOOPS> struct in_loop<KERNEL, THREADS, LOOPS> {
    static constexpr bool possible = THREADS != THEY_WAIT && !(by_address<P> || ...);
    static void run(const void *function, const void *with) {
        constexpr bool is_silent = THREADS == IN_SILENT_LOOPS || THREADS == IN_SILENT_LOOPS_OF_ROWS;
        const bool fits = THREADS < IN_LOOPS_OF_ROWS || blockDim.y * blockDim.z == 1 || blockDim.x % 32 == 0;
        if (!fits || !emu_block_alone(!is_silent))
            emu::run<P...>(function, with);
        else if constexpr (THREADS == THEY_NEVER_WAIT)
            emu::run<P...>(reinterpret_cast<const void *>(&each), with);
        else
            emu::run<P...>(reinterpret_cast<const void *>(LOOPS), with);
    }
    static void each(P... arguments) {
#if defined EMULATOR_PROGRAM && !defined EMULATOR_REPORTS
        const dim3 block = blockDim;
        for (unsigned z = 0; z < block.z; ++z)
            for (unsigned y = 0; y < block.y; ++y)
                for (unsigned x = 0; x < block.x; ++x) {
                    threadIdx = {x, y, z};
                    KERNEL(arguments...);
                }
#endif
    }
    static constexpr emu_signature signature = {
        EMU_INTERFACE_VERSION,  sizeof...(P),        run,         parameters<P...>.bytes,
        parameters<P...>.align, parameters<P...>.at, own_variable};
};

template <auto KERNEL, threads THREADS, auto LOOPS, unsigned... BOUNDS> struct of_program {
    static registered kernel;
};
template <auto KERNEL, threads THREADS, auto LOOPS, unsigned... BOUNDS>
registered of_program<KERNEL, THREADS, LOOPS, BOUNDS...>::kernel = [] {
    if constexpr (in_loop<KERNEL, THREADS, LOOPS>::possible)
        return registered(KERNEL, emu_bounds{BOUNDS...}, &in_loop<KERNEL, THREADS, LOOPS>::signature);
    else
        return registered(KERNEL, emu_bounds{BOUNDS...});
}();

// The arguments are the kernel's own parameters. That each kernel calls this registers all of them, for launches by
// their address. BOUNDS: none, or the three numbers of __cluster_dims__ and the first of __launch_bounds__.
template <auto KERNEL, threads THREADS = THEY_WAIT, auto LOOPS = nullptr, unsigned... BOUNDS, typename... Arguments>
__attribute__((noinline, cold)) static void launch(Arguments &...arguments) {
    const emu_configuration now = emu_launch_taken();
    (void)&of_program<KERNEL, THREADS, LOOPS, BOUNDS...>::kernel;
    given given(KERNEL, {(void *)&arguments..., nullptr}); // for clang, no other cast removes __restrict__
    const dim3 grid(now.grid.x, now.grid.y, now.grid.z), block(now.block.x, now.block.y, now.block.z);
    cudaLaunchKernel(known(KERNEL), grid, block, given.pointers, now.shared, static_cast<cudaStream_t>(now.stream));
}

// The lanes of a warp that run together wait for each other: see translate.py.
__forceinline__ void in_step(EMU_SITE) {
    if (emu_in_kernel()) (void)emu_activemask(file, line);
}
template <typename T> __forceinline__ T in_step(T value, EMU_SITE) {
    in_step(file, line);
    return value;
}
__forceinline__ void let_others_run() {
    if (emu_in_kernel()) emu_spin();
}

} // namespace emu

#endif
