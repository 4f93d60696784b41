// What the C++ code consists of that stands for inline PTX: cudakern/own/ptx.py writes it, for cudakern.compile.
//
// A register is an unsigned integer of its size, a predicate a bool. An instruction reads its operands as its own
// type with as<T>(), and writes its result with put().
#ifndef EMULATOR_DEVICE_PTX_H
#define EMULATOR_DEVICE_PTX_H

#include "../cuda_runtime.h"
#ifdef EMULATOR_PTX_HALF // some asm has halves or matrices: other sources may use the name `half` for something else
#include "../cuda_bf16.h"
#include "../cuda_fp16.h"
#endif

namespace emu_ptx {

// --- operands: a register; a literal is a long long or a double
template <typename T, typename From> __forceinline__ T as(From from) {
    if constexpr (std::is_same<From, bool>::value || std::is_same<From, double>::value ||
                  std::is_same<From, long long>::value) {
        return static_cast<T>(from);
    } else if constexpr (sizeof(T) == sizeof(From)) {
        return emu::same_bits<T>(from);
    } else {
        return static_cast<T>(from); // a register that is wider than the type
    }
}
template <typename Register, typename T> __forceinline__ void put(Register &to, T value) {
    if constexpr (sizeof(T) == sizeof(Register)) {
        __builtin_memcpy(&to, static_cast<const void *>(&value), sizeof value);
    } else if constexpr (std::is_arithmetic<T>::value) {
        to = static_cast<Register>(value);
    } else {
        unsigned short bits;
        __builtin_memcpy(&bits, static_cast<const void *>(&value), sizeof bits);
        to = bits;
    }
}
// An operand of asm as a register, and back.
template <typename Register, typename T> __forceinline__ Register in(T value) {
    Register to = 0;
    if constexpr (std::is_integral<T>::value && sizeof(T) != sizeof(Register)) {
        to = static_cast<Register>(value);
    } else {
        static_assert(sizeof(T) == sizeof(Register), "an operand of asm has another size than its constraint says");
        __builtin_memcpy(&to, static_cast<const void *>(&value), sizeof value);
    }
    return to;
}
template <typename T, typename Register> __forceinline__ void out(T &to, Register value) {
    if constexpr (std::is_integral<T>::value && sizeof(T) != sizeof(Register)) {
        to = static_cast<T>(value);
    } else {
        static_assert(sizeof(T) == sizeof(Register), "an operand of asm has another size than its constraint says");
        __builtin_memcpy(static_cast<void *>(&to), &value, sizeof value);
    }
}

// --- places
__forceinline__ unsigned thread() {
    return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
}
__forceinline__ unsigned threads() {
    return blockDim.x * blockDim.y * blockDim.z;
}
__forceinline__ unsigned multiprocessors() {
    int count = 1;
    emu_device_attribute(&count, cudaDevAttrMultiProcessorCount, 0);
    return static_cast<unsigned>(count);
}
__forceinline__ unsigned multiprocessor() {
    return ((blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x) % multiprocessors();
}

// --- integers
template <typename T>
using wider = std::conditional_t<
    std::is_signed<T>::value,
    std::conditional_t<sizeof(T) == 2, int, std::conditional_t<sizeof(T) == 4, long long, emu_int128>>,
    std::conditional_t<sizeof(T) == 2, unsigned,
                       std::conditional_t<sizeof(T) == 4, unsigned long long, emu_uint128>>>;
template <typename T> __forceinline__ T high(T x, T y) {
    return static_cast<T>(static_cast<wider<T>>(x) * y >> 8 * sizeof(T));
}
template <typename T> __forceinline__ T quotient(T x, T y) {
    if (y == 0) return static_cast<T>(-1);
    const bool minus_1 = std::is_signed<T>::value && y == static_cast<T>(-1);
    return minus_1 ? static_cast<T>(0 - static_cast<std::make_unsigned_t<T>>(x)) : static_cast<T>(x / y);
}
template <typename T> __forceinline__ T remainder(T x, T y) {
    if (y == 0) return x;
    return std::is_signed<T>::value && y == static_cast<T>(-1) ? 0 : static_cast<T>(x % y);
}
template <typename T> __forceinline__ T shifted_left(T x, unsigned by) {
    return by < 8 * sizeof(T) ? static_cast<T>(x << by) : 0;
}
template <typename T> __forceinline__ T shifted_right(T x, unsigned by) {
    const unsigned most = 8 * sizeof(T) - 1;
    return by <= most ? static_cast<T>(x >> by) : std::is_signed<T>::value ? static_cast<T>(x >> most) : 0;
}
template <typename T> __forceinline__ T bit_field(T x, unsigned at, unsigned length) {
    using Unsigned = std::make_unsigned_t<T>;
    const unsigned bits = 8 * sizeof(T), position = at & 255, count = length & 255;
    if (count == 0) return 0;
    const unsigned last = position + count - 1 < bits ? position + count - 1 : bits - 1;
    const bool negative = std::is_signed<T>::value && (static_cast<Unsigned>(x) >> last & 1);
    Unsigned result = negative ? static_cast<Unsigned>(-1) : 0;
    for (unsigned i = 0; i < count && i < bits; ++i) {
        const bool bit = position + i < bits ? static_cast<Unsigned>(x) >> (position + i) & 1 : negative;
        result = (result & ~(Unsigned{1} << i)) | Unsigned{bit} << i;
    }
    return static_cast<T>(result);
}
template <typename T> __forceinline__ T with_bit_field(T x, T into, unsigned at, unsigned length) {
    const unsigned bits = 8 * sizeof(T), position = at & 255, count = length & 255;
    for (unsigned i = 0; i < count && position + i < bits; ++i)
        into = (into & ~(T{1} << (position + i))) | (x >> i & 1) << (position + i);
    return into;
}
template <bool WRAPS> __forceinline__ unsigned bit_mask(unsigned at, unsigned length) {
    if (WRAPS) at %= 32, length %= 32;
    const unsigned mask = length < 32 ? (1u << length) - 1 : ~0u;
    return at < 32 ? mask << at : 0;
}
template <typename T> __forceinline__ unsigned highest_bit(T x) {
    using Unsigned = std::make_unsigned_t<T>;
    const Unsigned magnitude = static_cast<Unsigned>(x < 0 ? ~x : x);
    return magnitude ? 63u - static_cast<unsigned>(__builtin_clzll(magnitude)) : 0xffffffffu;
}
// What the named modes of prmt select, by the selector's lowest two bits.
constexpr unsigned f4e[] = {0x3210, 0x4321, 0x5432, 0x6543}, b4e[] = {0x5670, 0x6701, 0x7012, 0x0123};
constexpr unsigned rc8[] = {0x0000, 0x1111, 0x2222, 0x3333}, rc16[] = {0x1010, 0x3232, 0x1010, 0x3232};
constexpr unsigned ecl[] = {0x3210, 0x3211, 0x3222, 0x3333}, ecr[] = {0x0000, 0x1110, 0x2210, 0x3210};
__forceinline__ unsigned permuted(unsigned x, unsigned y, unsigned selector) {
    unsigned result = __byte_perm(x, y, selector & 0x7777);
    for (unsigned i = 0; i < 4; ++i) // a bit of the selector replicates the byte's sign
        if (selector >> 4 * i & 8)
            result = (result & ~(0xffu << 8 * i)) | (result >> 8 * i & 0x80 ? 0xffu << 8 * i : 0);
    return result;
}
__forceinline__ unsigned logic(unsigned x, unsigned y, unsigned z, unsigned table) {
    unsigned result = 0;
    for (unsigned i = 0; i < 8; ++i)
        if (table >> i & 1) result |= (i & 4 ? x : ~x) & (i & 2 ? y : ~y) & (i & 1 ? z : ~z);
    return result;
}
// The carry of add.cc and similar instructions, which the next one may be in another asm.
static __thread unsigned carry;
template <typename T> __forceinline__ T add_with_carry(T x, T y, unsigned in, bool keep) {
    const emu_uint128 sum = static_cast<emu_uint128>(x) + y + in;
    if (keep) carry = static_cast<unsigned>(sum >> 8 * sizeof(T)) & 1;
    return static_cast<T>(sum);
}
template <typename T> __forceinline__ T sub_with_carry(T x, T y, unsigned in, bool keep) {
    const emu_uint128 difference = static_cast<emu_uint128>(x) - y - in;
    if (keep) carry = static_cast<unsigned>(difference >> 8 * sizeof(T)) & 1;
    return static_cast<T>(difference);
}

// --- floating point
__forceinline__ float flushed(float x) { // .ftz
    return fabsf(x) < 0x1p-126f ? copysignf(0, x) : x;
}
__forceinline__ double flushed(double x) {
    return x;
}
__forceinline__ double saturated_to_1(double x) {
    return x > 0 ? (x < 1 ? x : 1) : 0;
}
template <typename T> __forceinline__ T least(T x, T y) {
    return x != x ? y : y != y ? x : x < y || (x == y && signbit(x)) ? x : y;
}
template <typename T> __forceinline__ T greatest(T x, T y) {
    return x != x ? y : y != y ? x : x > y || (x == y && !signbit(x)) ? x : y;
}

// --- conversions
enum mode { rn, rz, rm, rp };
template <typename T> constexpr bool is_short_float = false;
template <typename To, typename From> To to_short_float(From from, mode how, bool saturate);
template <typename T> __forceinline__ T to_integral(T x, mode how) {
    return how == rn ? std::rint(x) : how == rz ? std::trunc(x) : how == rm ? std::floor(x) : std::ceil(x);
}
template <typename To, typename From> __forceinline__ To convert(From from, mode how, bool saturate) {
    constexpr emu::rounding none = emu::TOWARD_ZERO;
    const emu::rounding direction = how == rp ? emu::UP : how == rm ? emu::DOWN : none;
    if constexpr (std::is_integral<To>::value && std::is_integral<From>::value) {
        if (!saturate) return static_cast<To>(from);
        using limits = std::numeric_limits<To>;
        const emu_int128 wide = from, low = limits::min(), high = limits::max();
        return static_cast<To>(wide < low ? low : wide > high ? high : wide);
    } else if constexpr (std::is_integral<To>::value) {
        if constexpr (is_short_float<From>)
            return convert<To>(static_cast<float>(from), how, saturate);
        else
            return emu::saturated<To>(to_integral(from, how));
    } else if constexpr (is_short_float<To>) {
        return to_short_float<To>(from, how, saturate);
    } else if constexpr (is_short_float<From>) {
        return static_cast<To>(saturate ? saturated_to_1(static_cast<float>(from)) : static_cast<float>(from));
    } else {
        To result;
        if constexpr (std::is_same<To, float>::value && std::is_same<From, double>::value)
            result = how == rn ? static_cast<float>(from) : emu::directed(from, 0, direction);
        else if constexpr (std::is_integral<From>::value && std::is_same<To, float>::value)
            result = how == rn ? static_cast<float>(from) : emu::directed_float(from, direction);
        else if constexpr (std::is_integral<From>::value)
            result = how == rn ? static_cast<double>(from) : emu::directed_double(from, direction);
        else
            result = static_cast<To>(from);
        return saturate ? static_cast<To>(saturated_to_1(result)) : result;
    }
}
#ifdef EMULATOR_PTX_HALF
template <> constexpr bool is_short_float<__half> = true;
template <> constexpr bool is_short_float<__nv_bfloat16> = true;
template <typename To, typename From> __forceinline__ To to_short_float(From from, mode how, bool saturate) {
    using Raw = std::conditional_t<std::is_same<To, __half>::value, __half_raw, __nv_bfloat16_raw>;
    double value;
    if constexpr (std::is_integral<From>::value)
        value = emu::marked_double(from);
    else
        value = static_cast<std::conditional_t<is_short_float<From>, float, From>>(from);
    if (saturate) value = saturated_to_1(value);
    return how == rn ? To(value)
                     : emu::short_directed<To, Raw>(value, how == rp   ? emu::UP
                                                           : how == rm ? emu::DOWN
                                                                       : emu::TOWARD_ZERO);
}
#endif

// --- memory
template <typename T> __forceinline__ T *global(unsigned long long address) {
    return reinterpret_cast<T *>(address);
}
template <typename T> __forceinline__ T *shared(unsigned long long address) { // 32 bits, which may wrap around
    return static_cast<T *>(emu_shared_address(static_cast<unsigned>(address)));
}
template <typename T> __forceinline__ T load(const T *address) {
    return *address;
}
template <unsigned Scope, typename T>
__forceinline__ T load_again(const T *address) { // .volatile, .relaxed, .acquire: perhaps in a loop
    T value;
    emu_spin();
    EMU_REPORTED(address, EMU_READS | Scope);
    __atomic_load(address, &value, __ATOMIC_ACQUIRE);
    return value;
}
template <typename T> __forceinline__ void store(T *address, T value) {
    *address = value;
}
template <unsigned Scope, typename T> __forceinline__ void store_now(T *address, T value) {
    EMU_REPORTED(address, EMU_WRITES | Scope);
    __atomic_store(address, &value, __ATOMIC_RELEASE);
}

// --- between threads
__forceinline__ void barrier(unsigned number, unsigned count, EMU_SITE) {
    if (number == 0 && (count == 0 || count == threads()))
        emu_sync_block(file, line);
    else if (count == 0)
        __barrier_sync(number, file, line);
    else
        __barrier_sync_count(number, count, file, line);
}
// (Not at barrier 0, where all threads of the block wait.)
__forceinline__ void arrive(unsigned number, unsigned count, EMU_SITE) {
    emu_arrive_part(static_cast<int>(number), static_cast<int>(count), file, line);
}
// mbarrier.*: a phase's state is its parity.
__forceinline__ unsigned long long mbarrier_change(void *barrier, int arrivals, int bytes, bool drops, EMU_SITE) {
    return emu_mbarrier_change(barrier, arrivals, bytes, drops, file, line);
}
__forceinline__ void mbarrier_init(void *barrier, unsigned arrivals, EMU_SITE) {
    emu_mbarrier_init(barrier, static_cast<int>(arrivals), file, line);
}
__forceinline__ bool mbarrier_test(void *barrier, unsigned long long state, EMU_SITE) {
    return emu_mbarrier_test(barrier, static_cast<int>(state), file, line) != 0;
}
// (The time after which a GPU gives up is left open. Without it, threads that wait forever are found.)
__forceinline__ bool mbarrier_try(void *barrier, unsigned long long state, EMU_SITE) {
    emu_mbarrier_wait(barrier, static_cast<int>(state), file, line);
    return true;
}
__forceinline__ void bulk_load(void *shared, const void *global, int bytes, void *barrier, EMU_SITE) {
    emu_bulk_load(shared, global, bytes, barrier, file, line);
}
__forceinline__ bool elected(unsigned mask, EMU_SITE) {
    return emu_warp(EMU_ELECT, mask, 0, 0, 32, file, line) != 0;
}
enum shuffle_kind { up, down, bfly, idx };
__forceinline__ unsigned shuffle(shuffle_kind kind, unsigned value, unsigned by, unsigned limits, unsigned mask,
                                 bool &in_range, EMU_SITE) {
    const unsigned lane = thread() % 32, segment = limits >> 8 & 31;
    const int last = static_cast<int>((lane & segment) | (limits & 31 & ~segment)), own = static_cast<int>(lane);
    const int step = static_cast<int>(by & 31);
    int from = kind == up     ? own - step
               : kind == down ? own + step
               : kind == bfly ? own ^ step
                              : static_cast<int>((lane & segment) | (by & 31 & ~segment));
    in_range = kind == up ? from >= last : from <= last;
    if (!in_range) from = own;
    return static_cast<unsigned>(emu_warp(EMU_SHFL, mask, value, from, 32, file, line));
}

} // namespace emu_ptx

#ifdef EMULATOR_PTX_HALF
#include "device_ptx_matrix.h"
#endif

#endif
