// How doubles are multiplied through residues, for "residues_int8": the moduli, the residues of an integer, and the
// integer that has given residues.
//
// A system of moduli that have no common factor is a way to write an integer: 23 is (2, 3, 2) modulo 3, 5 and 7, and
// no other integer from 0 to 104 is. Sums and products may be computed for each modulus alone, and none of them
// carries anything over to another one:
//
//     23 * 4 = 92:    2 * 1 = 2 (mod 3)    3 * 4 = 2 (mod 5)    2 * 4 = 1 (mod 7)    and 92 is (2, 2, 1)
//
// So a product of matrices of large integers is one product of matrices of bytes for each modulus up to 256. The
// Chinese remainder theorem gives the integer back. With P, the product of all moduli, and for each modulus p a
// weight that is 1 modulo p and 0 modulo all others,
//
//     integer = sum of residue * weight   (mod P)
//
// The weights have up to 126 bits. They are three doubles of 42 bits each, so that the sums are exact.
#ifndef CK_MATMUL_RESIDUES_CUH
#define CK_MATMUL_RESIDUES_CUH

#include <math.h>
#include <stdint.h>

#include <cuda_runtime.h>

namespace matmul {

enum { RESIDUES_LEAST = 14, RESIDUES_MOST = 16 }; // moduli (the least: so many need no test at run time)
enum { RESIDUES_DEPTH = 128 };                    // elements of a line that are split together

// One of the largest numbers up to 256 without a common factor. Residues are those nearest to zero, which a byte
// holds.
struct residue_modulus {
    int p, factor;

    __host__ __device__ constexpr explicit residue_modulus(int i) : p(0), factor(0) {
        constexpr int all[RESIDUES_MOST] = {256, 255, 253, 251, 247, 241, 239, 233,
                                            229, 227, 223, 217, 211, 199, 197, 193};
        p = all[i];
        factor = static_cast<int>(((int64_t{1} << 38) + p / 2) / p);
    }

    // For |x| up to 2^30. (A division by multiplication: the quotient has an error of at most 2^-9 before it is
    // rounded, and no x lies so near to the middle between two multiples of an odd p.)
    __host__ __device__ constexpr int residue(int x) const {
        const int64_t quotient = (static_cast<int64_t>(x) * factor + (int64_t{1} << 37)) >> 38;
        return x - static_cast<int>(quotient) * p;
    }

    // The residues of 256^first to 256^(first + 3), as the bytes of a word.
    __host__ __device__ constexpr int powers(int first) const {
        unsigned word = 0;
        int power = 1;
#pragma unroll
        for (int i = 0; i < first + 4; ++i) {
            if (i >= first) word += static_cast<unsigned>(power & 0xff) << (i - first) * 8;
            power = residue(power * 256);
        }
        return static_cast<int>(word);
    }
};

// An integer in eight digits of a byte, from -128 to 127, up to 2^62.9 (no norm is above 2^62.2). Two dot products of
// bytes give a much smaller integer with the same residue.
struct residue_digits {
    int low, high;

    residue_digits() = default;
    __device__ __forceinline__ explicit residue_digits(int64_t x) {
        constexpr uint64_t SIGNS = 0x8080808080808080; // added, each digit is from 0 to 255
        const uint64_t bytes = (static_cast<uint64_t>(x) + SIGNS) ^ SIGNS;
        low = static_cast<int>(bytes), high = static_cast<int>(bytes >> 32);
    }
    // The residue is the low byte; the others have no meaning. A float near ROUND has an integer in its low bits. The
    // quotient by p has an error of at most 2^-15 before it is rounded to an integer there, because the sum is at
    // most 2^17, and no sum lies so near to the middle between two multiples of an odd p.
    __device__ __forceinline__ int8_t residue(const residue_modulus &modulus) const {
        constexpr float ROUND = 0x1.8p23f;
        constexpr int ROUND_BITS = 0x4b400000;
        const int sum = __dp4a(high, modulus.powers(4), __dp4a(low, modulus.powers(0), ROUND_BITS));
        const float quotient = fmaf(__int_as_float(sum) - ROUND, 1 / static_cast<float>(modulus.p), ROUND);
        const unsigned p = static_cast<unsigned>(modulus.p);
        return static_cast<int8_t>(static_cast<unsigned>(sum) - __float_as_uint(quotient) * p);
    }
};

// The weights of a number of moduli.
struct residue_system {
    enum { DIGITS = 3, DIGIT_BITS = 42 };
    int moduli;
    double weight[DIGITS][RESIDUES_MOST], product[DIGITS]; // digits of 42 bits, the highest first; product: P
    double inverse;                                        // of P, in units of the highest digit
    double norm; // the largest norm of a line: the product of two lines is below P / 2

    __host__ explicit residue_system(int moduli_) : residue_system{} {
        moduli = moduli_;
        unsigned __int128 all = 1;
        for (int i = 0; i < moduli; ++i) all *= static_cast<unsigned>(residue_modulus(i).p);
        for (int i = 0; i < moduli; ++i) {
            const unsigned p = static_cast<unsigned>(residue_modulus(i).p);
            const unsigned __int128 others = all / p;
            unsigned times = 1; // the multiple of the others that is 1 modulo p
            while (others % p * times % p != 1) ++times;
            double digits[DIGITS];
            divide(others * times, digits);
            for (int j = 0; j < DIGITS; ++j) weight[j][i] = digits[j];
        }
        divide(all, product);
        inverse = ldexp(1 / static_cast<double>(all), 2 * DIGIT_BITS);
        norm = sqrt(0.499 * static_cast<double>(all));
    }

    // The product's integer for a pair of lines, as a double, with one rounding (and at most 2^-67 of the norms'
    // product).
    // `sum`: the digits of all residues times their weights.
    __device__ __forceinline__ double join(double (&sum)[DIGITS]) const {
        constexpr double ROUND = 0x1.8p52, UNIT = 0x1p42;
        // What is left after so many times P is between -P / 2 and P / 2. A double near ROUND is an integer.
        const double times = ROUND - fma(sum[0], inverse, ROUND);
#pragma unroll
        for (int j = 0; j < DIGITS; ++j) sum[j] = fma(times, product[j], sum[j]);
        return fma(sum[0], UNIT * UNIT, fma(sum[1], UNIT, sum[2]));
    }

  private:
    residue_system() = default;

    // The lower digits are between -2^41 and 2^41.
    static void divide(unsigned __int128 x, double (&digits)[DIGITS]) {
        for (int j = DIGITS - 1; j > 0; --j) {
            int64_t digit = static_cast<int64_t>(x & ((uint64_t{1} << DIGIT_BITS) - 1));
            x >>= DIGIT_BITS;
            if (digit >= int64_t{1} << (DIGIT_BITS - 1)) digit -= int64_t{1} << DIGIT_BITS, ++x;
            digits[j] = static_cast<double>(digit);
        }
        digits[0] = static_cast<double>(x);
    }
};

} // namespace matmul

#endif
