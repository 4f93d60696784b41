// The sizes of a call of "residues_int8", for its plan and its launches: the layout of the workspace.
#ifndef CK_MATMUL_LAUNCHES_RESIDUES_CUH
#define CK_MATMUL_LAUNCHES_RESIDUES_CUH

#include "../ladder/30_wgmma_tf32.cuh"
#include "../parts/residue_findings.cuh"
#include "../parts/residues.cuh"
#include "common.cuh"

namespace matmul {

using residues_size = wgmma_along_k_256;

// The longest k, whose sums of residues are at most 2^30; and the most rows and columns, whose coordinates have 32
// bits.
enum : int64_t { RESIDUES_MOST_K = 1 << 16, RESIDUES_MOST_LINES = INT32_MAX - 512 };

// The workspace of one product: offsets in bytes. `pitch`: of a line of A's and B's planes, and of a row of C's.
struct residues_workspace {
    struct {
        int64_t planes, scales, padded;
    } side[2];
    int64_t findings, results, pitch, results_pitch, bytes;
};

inline residues_workspace residues_workspace_of(const ck_call *call) {
    const int64_t m = rows(call), n = columns(call), moduli = call->parameters[0];
    residues_workspace at = {};
    const auto take = [&](int64_t count, int64_t bytes) {
        const int64_t begin = at.bytes;
        at.bytes += divide_up(product(count, bytes), 256) * 256;
        return begin;
    };
    at.pitch = divide_up(inner(call), RESIDUES_DEPTH) * RESIDUES_DEPTH;
    at.results_pitch = divide_up(n, 32) * 32;
    at.findings = take(1, sizeof(residue_findings));
    for (int i = 0; i < 2; ++i) {
        at.side[i].padded = i == 0 ? m : at.results_pitch;
        at.side[i].scales = take(at.side[i].padded, sizeof(int));
        at.side[i].planes = take(product(at.side[i].padded, moduli), at.pitch);
    }
    at.results = take(product(m, moduli), at.results_pitch);
    return at;
}

} // namespace matmul

#endif
