"""Small kernels with simple patterns of access, whose counters are compared with Nsight Compute's.

Each is ``__global__ void name(const float *x, float *y, int m)`` with these names at hand: ``t``, the thread in its
block; ``i``, the thread in the grid; ``n``, all threads. It runs in 8 blocks of 256 threads, unless SHAPES says
otherwise.
"""

import re

GRID, BLOCK, ELEMENTS, ROUNDS = 8, 256, 1 << 17, 10

_OPERATIONS = ("ld", "st", "atom", "red")
#: Nsight Compute's names of the figures that are compared.
METRICS = [
    *(f"l1tex__t_{what}_pipe_lsu_mem_global_op_{op}.sum" for what in ("requests", "sectors") for op in _OPERATIONS),
    *(f"smsp__sass_inst_executed_op_shared_{op}.sum" for op in ("ld", "st", "atom")),
    *(f"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_{op}.sum" for op in ("ld", "st", "atom")),
    *(f"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_{op}.sum" for op in ("ld", "st", "atom")),
    "smsp__sass_inst_executed_op_ldgsts.sum",
    "smsp__sass_l1tex_t_sectors_pipe_lsu_mem_global_op_ldgsts.sum",
    "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ldgsts.sum",
]

_BRANCHES = "smsp__sass_branch_targets"
#: Those of the kernels that are about their code, not about memory: branches, floating-point operations.
CODE_METRICS = [
    f"{_BRANCHES}.sum",
    f"{_BRANCHES}_threads_divergent.sum",
    f"{_BRANCHES}_threads_uniform.sum",
    *(
        f"smsp__sass_thread_inst_executed_op_{op}_pred_on.sum"
        for op in ("fadd", "fmul", "ffma", "dadd", "dmul", "dfma")
    ),
]

#: Those of them that do not depend on how far loops are unrolled.
OF_VARIANTS = [name for name in CODE_METRICS if name not in (f"{_BRANCHES}.sum", f"{_BRANCHES}_threads_uniform.sum")]

_SASS = "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op"
#: Of variants, what Nsight Compute is asked for besides: as far as it has these names, which it does not everywhere.
MORE_OF_VARIANTS = [
    "l1tex__t_requests_pipe_tex_mem_texture.sum",
    *(f"l1tex__t_requests_pipe_lsu_mem_local_op_{op}.sum" for op in ("ld", "st")),
    *(f"smsp__sass_inst_executed_op_tma_{op}.sum" for op in ("ld", "st")),
    "l1tex__m_xbar2l1tex_read_bytes_mem_global_op_tma_ld.sum",
    "l1tex__m_l1tex2xbar_write_bytes_mem_global_op_tma_st.sum",
]
#: Wavefronts by the instruction, without those of several warps that meet, which l1tex__data_... also counts.
WAVEFRONTS = [f"{_SASS}_{op}.sum" for op in ("ld", "st", "atom", "ldsm")]

#: name: the kernel's body
BODIES = {
    # Global memory: strides, offsets, permutations, partial warps.
    "copied": "y[i] = x[i];",
    "stride_2": "y[i] = x[2 * i];",
    "stride_3": "y[i] = x[3 * i];",
    "stride_4": "y[i] = x[4 * i];",
    "stride_8": "y[i] = x[8 * i];",
    "stride_17": "y[i] = x[17 * i];",
    "stride_32": "y[i] = x[32 * i];",
    "stored_stride_3": "y[3 * i] = x[i];",
    "stored_stride_16": "y[16 * i] = x[i];",
    "offset_1": "y[i] = x[i + 1];",
    "offset_8": "y[i] = x[i + 8];",
    "offset_31": "y[i] = x[i + 31];",
    "stored_offset_5": "y[i + 5] = x[i];",
    "one_for_all": "y[i] = x[blockIdx.x];",
    "pairs": "y[i] = x[i / 2];",
    "reversed": "y[n - 1 - i] = x[i];",
    "swapped": "y[i ^ 5] = x[i];",
    "scrambled": "y[i] = x[i * 37 % 1024];",
    "first_20_lanes": "if (t % 32 < 20) y[i] = x[i];",
    "every_second_lane": "if (t % 2) y[i] = x[i];",
    "one_lane": "if (t % 32 == 9) y[i] = x[i];",
    "two_branches": "if (t % 3 == 0) y[i] = x[i]; else y[i + 3] = x[2 * i];",
    # Other sizes.
    "bytes": "reinterpret_cast<char *>(y)[i] = reinterpret_cast<const char *>(x)[i];",
    "bytes_stride_5": "reinterpret_cast<char *>(y)[i] = reinterpret_cast<const char *>(x)[5 * i];",
    "shorts": "reinterpret_cast<short *>(y)[i] = reinterpret_cast<const short *>(x)[i];",
    "doubles": "reinterpret_cast<double *>(y)[i] = reinterpret_cast<const double *>(x)[i];",
    "doubles_stride_3": "reinterpret_cast<double *>(y)[i] = reinterpret_cast<const double *>(x)[3 * i];",
    "float2s": "reinterpret_cast<float2 *>(y)[i] = reinterpret_cast<const float2 *>(x)[i];",
    "float4s": "reinterpret_cast<float4 *>(y)[i] = reinterpret_cast<const float4 *>(x)[i];",
    "float4s_stride_2": "reinterpret_cast<float4 *>(y)[i] = reinterpret_cast<const float4 *>(x)[2 * i];",
    "float4s_pairs": "reinterpret_cast<float4 *>(y)[i] = reinterpret_cast<const float4 *>(x)[i / 2];",
    "float3s": "reinterpret_cast<float3 *>(y)[i] = reinterpret_cast<const float3 *>(x)[i];",
    "three_arrays": "y[i] = x[i] + x[n + i] + x[2 * n + i];",
    "three_members": "y[i] = x[3 * i] + x[3 * i + 1] + x[3 * i + 2];",
    # Loops.
    "three_rounds": "float s = 0; for (int k = 0; k < 3; ++k) s += x[k * n + i]; y[i] = s;",
    "hundred_rounds": "float s = 0; for (int k = 0; k < 100; ++k) s += x[k * 1001 + i % 512]; y[i] = s;",
    "rounds_by_block": "float s = 0; for (int k = 0; k < int(blockIdx.x) + 1; ++k) s += x[k * n + i]; y[i] = s;",
    "rounds_by_lane": "float s = 0; for (int k = 0; k < t % 4; ++k) s += x[k * n + i]; y[i] = s;",
    "chunks": "float s = 0; for (int k = 0; k < 16; ++k) s += x[16 * i + k]; y[i] = s;",
    "grid_stride": "float s = 0; for (int k = i; k < 5000; k += n) s += x[k]; y[i] = s;",
    # Shared memory.
    "shared": "__shared__ float s[256]; s[t] = x[i]; __syncthreads(); y[i] = s[255 - t];",
    "shared_2": "__shared__ float s[512]; s[2 * t] = x[i]; __syncthreads(); y[i] = s[2 * (255 - t)];",
    "shared_3": "__shared__ float s[768]; s[3 * t] = x[i]; __syncthreads(); y[i] = s[3 * (255 - t)];",
    "shared_16": "__shared__ float s[4096]; s[16 * t] = x[i]; __syncthreads(); y[i] = s[16 * (255 - t)];",
    "shared_17": "__shared__ float s[4352]; s[17 * t] = x[i]; __syncthreads(); y[i] = s[17 * (255 - t)];",
    "shared_32": "__shared__ float s[8192]; s[32 * t] = x[i]; __syncthreads(); y[i] = s[32 * (255 - t)];",
    "shared_one": "__shared__ float s[256]; s[t] = x[i]; __syncthreads(); y[i] = s[7];",
    "shared_pairs": "__shared__ float s[256]; s[t] = x[i]; __syncthreads(); y[i] = s[t / 2];",
    "shared_two_rows": "__shared__ float s[256]; s[t] = x[i]; __syncthreads(); y[i] = s[t % 2 * 64];",
    "shared_few_lanes": "__shared__ float s[512]; s[t] = x[i]; __syncthreads();"
    " if (t % 32 < 7) y[i] = s[16 * (t % 16)];",
    "shared_scrambled": "__shared__ float s[256]; s[t * 37 % 256] = x[i]; __syncthreads(); y[i] = s[t * 11 % 256];",
    "shared_bytes": "__shared__ char s[256]; s[t] = char(i); __syncthreads(); y[i] = s[255 - t];",
    "shared_doubles": "__shared__ double s[256]; s[t] = i; __syncthreads(); y[i] = s[255 - t];",
    "shared_doubles_2": "__shared__ double s[512]; s[2 * t] = i; __syncthreads(); y[i] = s[2 * (255 - t)];",
    "shared_doubles_pairs": "__shared__ double s[256]; s[t] = i; __syncthreads(); y[i] = s[t / 2];",
    "shared_doubles_one": "__shared__ double s[256]; s[t] = i; __syncthreads(); y[i] = s[3];",
    "shared_doubles_quads": "__shared__ double s[256]; s[t] = i; __syncthreads(); y[i] = s[t / 4 * 2 + t % 2];",
    "shared_float4s": "__shared__ float4 s[256]; s[t] = float4{1, 2, 3, float(i)}; __syncthreads();"
    " auto v = s[255 - t];"
    " y[i] = v.x + v.y + v.z + v.w;",
    "shared_float4s_pairs": "__shared__ float4 s[256]; s[t] = float4{1, 2, 3, float(i)}; __syncthreads();"
    " auto v = s[t / 2]; y[i] = v.x + v.y + v.z + v.w;",
    "shared_float4s_quads": "__shared__ float4 s[256]; s[t] = float4{1, 2, 3, float(i)}; __syncthreads();"
    " auto v = s[t / 4]; y[i] = v.x + v.y + v.z + v.w;",
    "shared_float4s_one": "__shared__ float4 s[256]; s[t] = float4{1, 2, 3, float(i)}; __syncthreads();"
    " auto v = s[5]; y[i] = v.x + v.y + v.z + v.w;",
    "shared_float4s_by_8": "__shared__ float4 s[256]; s[t] = float4{1, 2, 3, float(i)}; __syncthreads();"
    " auto v = s[t % 8]; y[i] = v.x + v.y + v.z + v.w;",
    "shared_float4s_2": "__shared__ float4 s[512]; s[2 * t] = float4{1, 2, 3, float(i)}; __syncthreads();"
    " auto v = s[2 * (255 - t)]; y[i] = v.x + v.y + v.z + v.w;",
    "shared_doubles_scrambled": "__shared__ double s[256]; s[t * 37 % 256] = i; __syncthreads();"
    " y[i] = s[t * 11 % 256];",
    "shared_doubles_stored_by_pairs": "__shared__ double s[256]; s[t / 2] = 1; __syncthreads(); y[i] = s[t / 2];",
    "shared_doubles_few_lanes": "__shared__ double s[512]; s[2 * t] = i; __syncthreads();"
    " if (t % 3) y[i] = s[2 * t];",
    "shared_float4s_scrambled": "__shared__ float4 s[256]; s[t * 37 % 256] = float4{1, 2, 3, float(i)};"
    " __syncthreads();"
    " auto v = s[t * 11 % 256]; y[i] = v.x + v.y + v.z + v.w;",
    "shared_float4s_few_lanes": "__shared__ float4 s[256]; s[t] = float4{1, 2, 3, float(i)}; __syncthreads();"
    " if (t % 32 < 5 || t % 32 > 20) { auto v = s[t / 2 * 3 % 256]; y[i] = v.x + v.y + v.z + v.w; }",
    "shared_float4s_swapped": "__shared__ float4 s[256]; s[t ^ 1] = float4{1, 2, 3, float(i)}; __syncthreads();"
    " auto v = s[t ^ 2]; y[i] = v.x + v.y + v.z + v.w;",
    "shared_stored_to_one": "__shared__ float s[256]; s[5] = 1; __syncthreads(); y[i] = s[5];",
    "shared_bytes_4": "__shared__ char s[1024]; s[4 * t] = char(i); __syncthreads(); y[i] = s[4 * (255 - t)];",
    "shared_shorts": "__shared__ short s[512]; s[2 * t] = short(i); __syncthreads(); y[i] = s[2 * (t * 3 % 256)];",
    "shared_columns": "__shared__ float s[8][33]; s[t / 32][t % 32] = x[i]; __syncthreads(); y[i] = s[t % 8][t / 8];",
    # Neighbors that nvcc joins, or not.
    "shared_walk": "__shared__ float s[256]; s[t] = x[i]; __syncthreads();"
    " float a = 0; for (int k = 0; k < 64; ++k) a += s[k]; y[i] = a;",
    "shared_walk_of_each": "__shared__ float s[4096]; s[t] = x[i]; __syncthreads();"
    " float a = 0; for (int k = 0; k < 16; ++k) a += s[16 * t + k]; y[i] = a;",
    "shared_walk_offset": "__shared__ float s[512]; s[t] = x[i]; s[t + 256] = x[n + i]; __syncthreads();"
    " float a = 0; for (int k = 0; k < 16; ++k) a += s[t + k]; y[i] = a;",
    "shared_walk_stored": "__shared__ float s[1024]; for (int k = 0; k < 4; ++k) s[4 * t + k] = x[k * n + i];"
    " __syncthreads(); y[i] = s[1023 - t];",
    "shared_walk_updated": "__shared__ float s[4096]; s[t] = x[i]; __syncthreads();"
    " for (int k = 1; k < 16; ++k) s[16 * t + k] += s[16 * t + k - 1]; __syncthreads(); y[i] = s[t];",
    "shared_walk_by_two": "__shared__ float s[16][16], r[16][16]; s[t / 16][t % 16] = x[i];"
    " r[t / 16][t % 16] = x[n + i]; __syncthreads(); float a = 0;"
    " for (int k = 0; k < 16; ++k) a += s[t / 16][k] * r[k][t % 16]; y[i] = a;",
    "shared_walk_by_two_padded": "__shared__ float s[16][17], r[16][17]; s[t / 16][t % 16] = x[i];"
    " r[t / 16][t % 16] = x[n + i]; __syncthreads(); float a = 0;"
    " for (int k = 0; k < 16; ++k) a += s[t / 16][k] * r[k][t % 16]; y[i] = a;",
    "shared_named_pairs": "__shared__ float s[512]; s[t] = x[i]; s[t + 256] = x[n + i]; __syncthreads();"
    " y[i] = s[2 * t + 1] - s[2 * t];",
    "shared_named_quads": "__shared__ float s[1024]; s[4 * t] = x[i]; s[4 * t + 3] = 3; s[4 * t + 1] = 1;"
    " s[4 * t + 2] = 2; __syncthreads(); int r = 255 - t; y[i] = s[4 * r + 1] + s[4 * r + 2] + s[4 * r + 3];",
    "shared_named_row": "__shared__ float s[8][32]; s[t / 32][t % 32] = x[i]; __syncthreads();"
    " y[i] = s[t % 8][0] + s[t % 8][1] + s[t % 8][2] + s[t % 8][3];",
    "shared_named_row_padded": "__shared__ float s[8][33]; s[t / 32][t % 32] = x[i]; __syncthreads();"
    " y[i] = s[t % 8][0] + s[t % 8][1] + s[t % 8][2] + s[t % 8][3];",
    "shared_ticket": "__shared__ int s[32]; if (t < 32) s[t] = 0; __syncthreads();"
    " y[i] = atomicAdd(&s[t % 5], 2);",
    "shared_greatest": "__shared__ int s[32]; if (t < 32) s[t] = 0; __syncthreads(); atomicMax(&s[t % 7], t);"
    " __syncthreads(); if (t < 32) y[i] = s[t];",
    # Transpositions, in blocks of 32 x 8.
    "transposed": "int c = blockIdx.x * 32 + threadIdx.x, r = blockIdx.y * 32 + threadIdx.y;"
    " for (int k = 0; k < 32; k += 8) y[c * 256 + r + k] = x[(r + k) * 256 + c];",
    "transposed_tile": "__shared__ float s[32][32];"
    " int c = blockIdx.x * 32 + threadIdx.x, r = blockIdx.y * 32 + threadIdx.y;"
    " for (int k = 0; k < 32; k += 8) s[threadIdx.y + k][threadIdx.x] = x[(r + k) * 256 + c]; __syncthreads();"
    " c = blockIdx.y * 32 + threadIdx.x; r = blockIdx.x * 32 + threadIdx.y;"
    " for (int k = 0; k < 32; k += 8) y[(r + k) * 256 + c] = s[threadIdx.x][threadIdx.y + k];",
    "transposed_padded": "__shared__ float s[32][33];"
    " int c = blockIdx.x * 32 + threadIdx.x, r = blockIdx.y * 32 + threadIdx.y;"
    " for (int k = 0; k < 32; k += 8) s[threadIdx.y + k][threadIdx.x] = x[(r + k) * 256 + c]; __syncthreads();"
    " c = blockIdx.y * 32 + threadIdx.x; r = blockIdx.x * 32 + threadIdx.y;"
    " for (int k = 0; k < 32; k += 8) y[(r + k) * 256 + c] = s[threadIdx.x][threadIdx.y + k];",
    # Asynchronous copies, and matrices.
    "async_4": "__shared__ float s[256]; copy<4>(&s[t], x + i); y[i] = s[255 - t];",
    "async_4_stride_3": "__shared__ float s[768]; copy<4>(&s[3 * t], x + 3 * i); y[i] = s[255 - t];",
    "async_4_pitch_16": "__shared__ float s[4096]; copy<4>(&s[16 * t], x + i); y[i] = s[16 * (255 - t)];",
    "async_8": "__shared__ float2 s[256]; copy<8>(&s[t], x + 2 * i); y[i] = s[255 - t].x;",
    "async_16": "__shared__ float4 s[256]; copy<16>(&s[t], x + 4 * i); y[i] = s[255 - t].x;",
    "async_16_stride_2": "__shared__ float4 s[512]; copy<16>(&s[2 * t], x + 8 * i); y[i] = s[2 * (255 - t)].x;",
    "async_few_lanes": "__shared__ float s[256]; copy<4>(&s[t], x + (t % 32 < 11 ? i : 0));"
    " if (t % 32 < 11) y[i] = s[t];",
    # Atomic operations.
    "added": "atomicAdd(&y[i], x[i]);",
    "added_to_one": "atomicAdd(&y[0], x[i]);",
    "added_to_four": "atomicAdd(&y[t % 4], x[i]);",
    "added_stride_8": "atomicAdd(&y[8 * i], x[i]);",
    "tickets": "y[i] = atomicAdd(reinterpret_cast<int *>(y) + 100000 + t % 2, 1);",
    "stored_to_one": "y[7] = x[i];",
    "stored_by_pairs": "y[i / 2] = 1;",
    "read_only": "y[i] = __ldg(x + 2 * i);",
    "one_thread_reads_all": "if (t == 0) { float s = 0; for (int k = 0; k < 100; ++k) s += x[k * 3 + blockIdx.x];"
    " y[i] = s; }",
    "compared": "atomicCAS(reinterpret_cast<int *>(y) + i, 0, 1);",
    "greatest": "atomicMax(reinterpret_cast<int *>(y) + t % 8, i);",
    "exchanged": "y[n + i] = atomicExch(&y[2 * i], x[i]);",
    "added_doubles": "atomicAdd(reinterpret_cast<double *>(y) + i % 16, 1.0);",
    "shared_added_to_one": "__shared__ int s[1]; if (t == 0) s[0] = 0; __syncthreads(); atomicAdd(&s[0], t);"
    " __syncthreads();"
    " if (t == 0) y[i] = s[0];",
    "shared_floats_added": "__shared__ float s[32]; if (t < 32) s[t] = 0; __syncthreads();"
    " atomicAdd(&s[t % 32], 1.0f);"
    " __syncthreads(); if (t < 32) y[i] = s[t];",
    "shared_added": "__shared__ int s[32]; if (t < 32) s[t] = 0; __syncthreads(); atomicAdd(&s[t % 8], 1);"
    " __syncthreads();"
    " if (t < 32) y[i] = s[t];",
}  # fmt: skip


def _many(text, count):
    return " ".join(text.replace("#", str(number)) for number in range(1, count + 1))


_LOOP = '_Pragma("unroll 1") for (int k = 0; k < m; ++k) s = s * 1.5f + x[k];'
_OTHER_LOOP = '_Pragma("unroll 1") for (int k = 0; k < m; ++k) s = (s - 2.5f) * x[k];'
_TREE = "__shared__ float s[256]; s[t] = x[i]; __syncthreads();"
#: Kernels whose branches and operations are compared. m: 10, unknown to the compiler; x and y are zero.
CODE_BODIES = {
    "some_lanes": f"float s = x[i]; if (t % 32 > 2) {_LOOP} y[i] = s;",
    "one_warp": f"float s = x[i]; if (t / 32 == 1) {_LOOP} y[i] = s;",
    "first_lanes_of_block": f"float s = x[i]; if (t > 2) {_LOOP} y[i] = s;",
    "two_loops": f"float s = x[i]; if (t % 4 == 0) {_LOOP} else {_OTHER_LOOP} y[i] = s;",
    "rounds": f"float s = 0; {_LOOP} y[i] = s;",
    "rounds_of_lanes": f"float s = 0; {_LOOP.replace('k < m', 'k < t % 32')} y[i] = s;",
    "loop_in_loop": 'float s = 0; _Pragma("unroll 1") for (int j = 0; j < m; ++j)'
    f" {_LOOP.replace('k < m', 'k < (t + j) % 5')} y[i] = s;",
    "returned": f"if (t % 32 > 2) return; float s = 0; {_LOOP} y[i] = s;",
    "left": 'float s = x[i]; _Pragma("unroll 1") for (int k = 0; k < m; ++k) { s = s * 1.5f + x[k];'
    " if (k == t % 8) break; s += x[k + 1] * 3.5f; } y[i] = s;",
    "went_on": 'float s = 0; _Pragma("unroll 1") for (int j = 0; j < m; ++j) { if ((j + t) % 3 == 0) continue;'
    f" {_LOOP} }} y[i] = s;",
    "three_ways": f"float s = x[i]; switch (t % 4) {{ case 0: {_LOOP} break; case 1: {_OTHER_LOOP} break;"
    f" case 2: {_LOOP.replace('1.5f', '4.5f')} break; }} y[i] = s;",
    "halved": f'float s = t; _Pragma("unroll 1") for (int d = 16; d; d /= 2) {{ if (t % 32 < d) {_LOOP}'
    " __syncwarp(); } y[i] = s;",
    "collatz": 'unsigned v = i + 1; int c = 0; _Pragma("unroll 1") while (v != 1) { v = v % 2 ? 3 * v + 1 : v / 2;'
    " ++c; } y[i] = c;",
    "few_products": f"float s = x[i]; if (t % 32 > 2) {{ {_many('s = s * 1.5f + #.5f;', 4)} }} y[i] = s;",
    "many_products": f"float s = x[i]; if (t % 32 > 2) {{ {_many('s = s * 1.5f + #.5f;', 14)} }} y[i] = s;",
    "few_products_or_others": f"float s = x[i]; if (t % 3) {{ {_many('s = s * 1.5f + #.5f;', 4)} }}"
    f" else {{ {_many('s = s * 2.5f + #.2f;', 4)} }} y[i] = s;",
    "few_integers": f"unsigned v = x[i]; if (t % 32 > 2) {{ {_many('v = v * 3u ^ #u;', 8)} }} y[i] = v;",
    "many_integers": f"unsigned v = x[i]; if (t % 32 > 2) {{ {_many('v = v * 3u ^ #u;', 16)} }} y[i] = v;",
    "few_loads": f"float s = x[i]; if (t % 32 > 2) {{ {_many('s += x[i + # * 2048];', 8)} }} y[i] = s;",
    "many_loads": f"float s = x[i]; if (t % 32 > 2) {{ {_many('s += x[i + # * 2048];', 16)} }} y[i] = s;",
    "few_stores": f"if (t % 32 > 2) {{ {_many('y[i + # * 2048] = i + #;', 2)} }} y[i] = 1;",
    "many_stores": f"if (t % 32 > 2) {{ {_many('y[i + # * 2048] = i + #;', 8)} }} y[i] = 1;",
    "if_in_if": "float s = x[i]; if (t % 32 > 2) { if (x[i + n] > 1) s += 1; } y[i] = s;",
    "tree": f'{_TREE} _Pragma("unroll 1") for (int d = blockDim.x / 2; d; d /= 2) {{ if (t < d) s[t] += s[t + d];'
    " __syncthreads(); } if (t == 0) y[i] = s[0];",
    "tree_of_neighbors": f'{_TREE} _Pragma("unroll 1") for (int d = 1; d < blockDim.x; d *= 2)'
    " { if (t % (2 * d) == 0) s[t] += s[t + d]; __syncthreads(); } if (t == 0) y[i] = s[0];",
    "saxpy": "y[i] = 2.5f * x[i] + y[i];",
    "sum_and_product": "y[i] = (x[i] + y[i]) * y[i + n];",
    "differences": "y[i] = x[i] - y[i] - y[i + n];",
    "fused": "y[i] = fmaf(x[i], y[i], 3.0f);",
    "not_fused": "y[i] = __fadd_rn(__fmul_rn(x[i], y[i]), 3.0f);",
    "smallest": "y[i] = fminf(x[i], y[i]) - fabsf(-x[i]) + (x[i] > 1 ? 1 : 0);",
    "double_polynomial": "double *d = reinterpret_cast<double *>(y); d[i] = (d[i] * d[i] + 1.0) * d[i] - x[i];",
    "cubed": "y[i] = x[i] * x[i] * x[i];",
    "length": "float3 v = reinterpret_cast<const float3 *>(x)[i]; y[i] = v.x * v.x + v.y * v.y + v.z * v.z;",
    "complex_product": "float2 a = reinterpret_cast<const float2 *>(x)[i], b = reinterpret_cast<float2 *>(y)[i];"
    " reinterpret_cast<float2 *>(y)[i] = {a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x};",
}
ALL_BODIES = BODIES | CODE_BODIES
SHAPES = {name: ((8, 8), (32, 8)) for name in BODIES if name.startswith("transposed")}

#: A copy by cp.async, and the wait of the block for all of them.
COPY = """template <int BYTES> __device__ __forceinline__ void copy(void *to, const void *from) {
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2;"
                 ::"r"(static_cast<unsigned>(__cvta_generic_to_shared(to))), "l"(from), "n"(BYTES));
    asm volatile("cp.async.wait_all;");
    __syncthreads();
}

"""


def source(bodies):
    return "".join(
        f"__global__ void {name}(const float *x, float *y, int m) {{\n"
        f"    const int t = threadIdx.x, i = blockIdx.x * blockDim.x + t, n = gridDim.x * blockDim.x;\n"
        f"    (void)t, (void)i, (void)n, (void)m;\n"
        + "".join(f"    {line}\n" for line in re.split(r"(?<=[;}]) (?=\w)(?![^(]*\))", body))
        + "}\n\n"
        for name, body in bodies.items()
    )


SOURCE = COPY + source(ALL_BODIES)


def shape(name):
    return SHAPES.get(name, (GRID, BLOCK))


def program(text, shapes, elements, then=""):
    """The kernels of a source as a program, for a profiler; `then`: what it does after their launches."""
    launches = "".join(
        f"    {name}<<<dim3({_arguments(grid)}), dim3({_arguments(block)})>>>(x, y, {ROUNDS});\n"
        for name, (grid, block) in shapes.items()
    )
    return f"""{text}int main() {{
    float *x, *y;
    cudaMalloc(&x, {elements} * sizeof *x);
    cudaMalloc(&y, {elements} * sizeof *y);
    cudaMemset(x, 0, {elements} * sizeof *x);
    cudaMemset(y, 0, {elements} * sizeof *y);
{launches}{then}    return cudaDeviceSynchronize();
}}
"""


def _arguments(lengths):
    return ", ".join(map(str, lengths)) if isinstance(lengths, tuple) else str(lengths)
