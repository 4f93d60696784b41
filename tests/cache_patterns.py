"""Small kernels that show what caches do, whose hit rates by cudakern.trace are compared with Nsight Compute's.

Each is ``__global__ void name(const float *x, float *y)`` as in counter_patterns.py, in GRID blocks of BLOCK threads
unless SHAPES says otherwise. Arrays are so long that a chip's other traffic, such as instructions, hardly counts.
"""

import json

import counter_patterns

GRID, BLOCK, ELEMENTS = 1024, 256, 1 << 22

#: Nsight Compute's names of the figures that are compared ...
RATES = ["l1tex__t_sector_hit_rate.pct", "lts__t_sector_hit_rate.pct"]
COUNTS = [
    "l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_hit.sum",
    "l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_miss.sum",
    "lts__t_sectors_op_read.sum",
    "lts__t_sectors_op_write.sum",
    "dram__bytes_read.sum",
]
#: ... and of others, by which the model can be mended.
OTHERS = [
    *(
        f"l1tex__t_sectors_pipe_lsu_mem_global_op_{op}_lookup_{what}.sum"
        for op in ("st", "atom", "red")
        for what in ("hit", "miss")
    ),
    "l1tex__t_sectors.sum",
    "lts__t_sectors.sum",
    "lts__t_sectors_lookup_hit.sum",
    "lts__t_sectors_lookup_miss.sum",
    *(f"lts__t_sectors_srcunit_tex_op_{op}.sum" for op in ("read", "write")),
    "lts__t_sectors_srcunit_tex_lookup_hit.sum",
    "lts__t_sectors_srcunit_ltcfabric.sum",
    "dram__bytes_write.sum",
]
METRICS = [*RATES, *COUNTS, *OTHERS]

_SUM, _TWICE = "float s = 0; ", "for (int again = 0; again < 2; ++again) { "
#: name: the kernel's body
BODIES = {
    # Each element once.
    "copied": "y[i] = x[i];",
    "copied_four": "for (int k = 0; k < 4; ++k) y[k * n + i] = x[k * n + i];",
    "read": _SUM + "for (int k = 0; k < 8; ++k) s += x[k * n + i]; if (s == -1) y[i] = s;",
    "written": "y[i] = 1;",
    "added_arrays": "y[i] = x[i] + x[n + i];",
    "one_word_per_sector": "y[i] = x[8 * i];",
    "one_word_per_line": "y[i] = x[32 * i % 4194304];",
    # Again, after a while.
    # (The compiler may not keep across a barrier what it has read.)
    "read_twice": _SUM + _TWICE + "for (int k = 0; k < 4; ++k) s += x[i + k * n]; __syncthreads(); } y[i] = s;",
    "block_reads_twice": _SUM
    + _TWICE
    + "for (int k = 0; k < 16; ++k) s += x[blockIdx.x * 4096 + k * 256 + t]; __syncthreads(); } y[i] = s;",
    "block_reads_much_twice": _SUM
    + _TWICE
    + "for (int k = 0; k < 32; ++k) s += x[(blockIdx.x * 8192 + k * 256 + t) % 4194304]; __syncthreads(); } y[i] = s;",
    "all_read_the_same": _SUM + "for (int k = 0; k < 64; ++k) s += x[k * 256 + t]; y[i] = s;",
    "all_read_a_megabyte": _SUM + "for (int k = 0; k < 64; ++k) s += x[k * 4096 + (t + 256 * blockIdx.x) % 4096];"
    " y[i] = s;",
    "broadcast": _SUM + "for (int k = 0; k < 32; ++k) s += x[blockIdx.x * 32 + k]; y[i] = s;",
    # Neighbors come in the next rounds.
    "chunks": _SUM + "for (int k = 0; k < 16; ++k) s += x[16 * i + k]; y[i] = s;",
    "chunks_of_4": _SUM + "for (int k = 0; k < 4; ++k) s += x[4 * i + k]; y[i] = s;",
    "long_chunks": _SUM + "if (i < 32768) { for (int k = 0; k < 128; ++k) s += x[128 * i + k]; y[i] = s; }",
    "grid_stride": _SUM + "for (int k = i; k < 4194304; k += n) s += x[k]; y[i] = s;",
    "stencil": "if (i > 0 && i < n - 1) y[i] = x[i - 1] + x[i] + x[i + 1];",
    "stencil_2d": "int r = i / 512, c = i % 512; if (r > 0 && r < 511 && c > 0 && c < 511)"
    " y[i] = x[i] + x[i - 1] + x[i + 1] + x[i - 512] + x[i + 512];",
    # Tables.
    "small_table": "y[i] = x[i * 7919 % 1021];",
    "middle_table": _SUM + "for (int k = 0; k < 16; ++k) s += x[unsigned(i * 16 + k) * 2654435761u % 65521]; y[i] = s;",
    "big_table": _SUM + "for (int k = 0; k < 8; ++k) s += x[unsigned(i * 8 + k) * 2654435761u % 4194301]; y[i] = s;",
    # Matrices of 512 x 512.
    "transposed": "int c = blockIdx.x * 32 + threadIdx.x, r = blockIdx.y * 8 + threadIdx.y; y[c * 512 + r] ="
    " x[r * 512 + c];",
    "gathered_transpose": "int c = blockIdx.x * 32 + threadIdx.x, r = blockIdx.y * 8 + threadIdx.y; y[r * 512 + c] ="
    " x[c * 512 + r];",
    "matmul": "int c = blockIdx.x * 16 + threadIdx.x, r = blockIdx.y * 16 + threadIdx.y; float s = 0;"
    " for (int k = 0; k < 256; ++k) s += x[r * 256 + k] * x[65536 + k * 256 + c]; y[r * 256 + c] = s;",
    "matmul_tiled": "__shared__ float a[16][16], b[16][16];"
    " int c = blockIdx.x * 16 + threadIdx.x, r = blockIdx.y * 16 + threadIdx.y; float s = 0;"
    " for (int k = 0; k < 256; k += 16) { a[threadIdx.y][threadIdx.x] = x[r * 256 + k + threadIdx.x];"
    " b[threadIdx.y][threadIdx.x] = x[65536 + (k + threadIdx.y) * 256 + c]; __syncthreads();"
    " for (int j = 0; j < 16; ++j) s += a[threadIdx.y][j] * b[j][threadIdx.x]; __syncthreads(); }"
    " y[r * 256 + c] = s;",
    # Writes, and other ways to read.
    "written_and_read": "y[i] = 1; __syncthreads(); y[n + i] = y[i ^ 64];",
    "words_written_and_read": "y[8 * i] = 1; __syncthreads(); y[8 * i + 1] = y[8 * (i ^ 64)];",
    "incremented": "y[i] += 1;",
    "incremented_often": "for (int k = 0; k < 8; ++k) { y[i] += 1; __syncthreads(); }",
    "column_written": "for (int k = 0; k < 8; ++k) y[8 * i + k] = 1;",
    "volatile_reads": _SUM
    + "for (int k = 0; k < 8; ++k) s += ((const volatile float *)x)[(blockIdx.x * 256 + t + k * 32) % 262144];"
    " y[i] = s;",
    "ldg": _SUM + "for (int k = 0; k < 8; ++k) s += __ldg(x + (i + k * 32) % n); y[i] = s;",
    "reductions": "atomicAdd(&y[i % 65536], 1.0f);",
    "histogram": "atomicAdd(&y[unsigned(i) * 2654435761u % 1024], 1.0f);",
    "tickets": "y[n + i] = atomicAdd(&y[i / 32], 1.0f);",
}  # fmt: skip
SHAPES = {
    "transposed": ((16, 64), (32, 8)),
    "gathered_transpose": ((16, 64), (32, 8)),
    "matmul": ((16, 16), (16, 16)),
    "matmul_tiled": ((16, 16), (16, 16)),
}
SOURCE = counter_patterns.source(BODIES)
MODEL = [*RATES, *COUNTS]
CLOSE = 10  #: points between two rates
_WHERE = """__global__ void multiprocessors(int *y) {
    asm("mov.u32 %0, %%smid;" : "=r"(y[blockIdx.x]));
}

"""


def shape(name):
    return SHAPES.get(name, (GRID, BLOCK))


def program():
    """All of them as a program, for a profiler. It also prints on which multiprocessor each block of a launch ran."""
    prints = f"""    multiprocessors<<<{GRID}, {BLOCK}>>>(reinterpret_cast<int *>(y));
    static int at[{GRID}];
    cudaMemcpy(at, y, sizeof at, cudaMemcpyDeviceToHost);
    printf("MULTIPROCESSORS");
    for (int n : at) printf(" %d", n);
    printf("\\n");
"""
    shapes = {name: shape(name) for name in BODIES}
    return counter_patterns.program(f"#include <cstdio>\n\n{SOURCE}{_WHERE}", shapes, ELEMENTS, prints)


def model():
    """What cudakern.trace says: {kernel: {metric: value}}"""
    import cudakern as ck

    patterns = ck.compile(SOURCE, name="cache_patterns")
    with ck.use_backend("emulator"):
        x, y = ck.zeros(ELEMENTS, "f4"), ck.zeros(ELEMENTS, "f4")
        metrics = {
            name: ck.trace(patterns[name], *shape(name), x, y, counter_patterns.ROUNDS).metrics for name in BODIES
        }
    return {name: {metric: round(of[metric], 3) for metric in MODEL} for name, of in metrics.items()}


def far(record):
    """The hit rates of a record that differ by more than CLOSE points: {(kernel, metric): (measured, the model's)}"""
    result = {}
    for name, figures in record["kernels"].items():
        measured = dict(zip(record["metrics"], figures, strict=True))
        for metric in RATES:
            modelled = record["model"].get(name, {}).get(metric, -100)
            if abs(measured[metric] - modelled) > CLOSE:
                result[name, metric] = measured[metric], modelled
    return result


if __name__ == "__main__":
    print(json.dumps(model()))
