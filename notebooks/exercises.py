"""The exercises of the notebooks: answers, a hint for each, and why the answer is right.

A notebook sets `answer = None` and calls `check("name", answer)`. None means "not answered yet", so that a notebook runs
from top to bottom unsolved. A wrong answer shows a hint, and the notebook goes on; a right one shows the reason. Look
below only when you have tried. Exercises that are kernels are in cudakern/course.
"""

from __future__ import annotations

from dataclasses import dataclass

from cudakern.course import Verdict


@dataclass(frozen=True)
class Exercise:
    expected: float | str
    hint: str
    why: str
    tolerance: float = 0.0  # relative, for numbers


def check(name: str, answer: float | str | None) -> Verdict:
    """The reason if the answer is right, a hint if it is wrong."""
    exercise = EXERCISES[name]
    if answer is None:
        return Verdict(None, "Replace None with your answer and run the cell again.")
    if isinstance(exercise.expected, str):
        if not isinstance(answer, str):
            return Verdict(
                False, f"The answer is one of the words or letters in the question, in quotes, not {answer!r}."
            )
        right = answer.strip(" ().").lower() == exercise.expected
    else:
        try:
            difference = abs(float(answer) - exercise.expected)
        except (TypeError, ValueError):
            return Verdict(False, f"The answer is a number, not {answer!r}. {exercise.hint}")
        right = difference <= exercise.tolerance * abs(exercise.expected)
    return Verdict(True, exercise.why) if right else Verdict(False, f"{answer!r} is not right. {exercise.hint}")


EXERCISES = {
    # --- 02_first_steps ----------------------------------------------------------------------------------------------
    "flush": Exercise(
        "b",
        "A launch returns at once. Where do the lines wait?",
        "They wait in a buffer on the device, which is written to the terminal when the host synchronizes, whichever "
        "call makes it wait. The buffer holds 1 MiB; further output overwrites the oldest.",
    ),
    "ceil of integers": Exercise(
        3,
        "Which comes first, the division or the rounding up?",
        "1000 / 256 is 3 for ints, and ceil(3) is 3: one block too few. 256.0 makes it a division of doubles; without "
        "floats, write (n + 255) / 256.",
    ),
    "saxpy at most": Exercise(
        800,
        "4,800e9 / 12 elements per second, two operations each.",
        "400e9 elements per second, 800 GFLOP/s: 1.2% of what the chip can compute. Only more work per number that is "
        "fetched can change that.",
        0.02,
    ),
    "words with a halo": Exercise(
        262,
        "The block's own elements, and the halo once on each side.",
        "256 + 2 * 3: about one word per result. The more threads a block has, the less the halo matters.",
    ),
    # --- 03_sum_of_squares -------------------------------------------------------------------------------------------
    "loads in flight": Exercise(
        360_000,
        "Bytes in flight = bandwidth * latency; a load is 4 bytes.",
        "4.8e12 B/s * 300e-9 s = 1.44 million bytes = 360,000 loads. One block has at most 1024 threads.",
        0.01,
    ),
    "lost values": Exercise(
        36,
        "Follow the offsets 50, 25, 12, 6, 3, 1: which values never move toward element 0?",
        "At offset 12 there are 25 values: 12 pairs, and the last value (the sum of 4 originals) is left behind. At "
        "offset 1 there are 3 values, and again the last (the sum of 32) is left behind. 64 of 100 arrive.",
    ),
    "most exact": Exercise(
        "tree",
        "In which of the two is a value rounded fewer times on its way into the result?",
        "In a tree each value passes log2(n) additions. In one long sum the first value passes n, and each addition "
        "rounds to the digits of a sum that is already large.",
    ),
    # --- 04_matrix_multiplication ------------------------------------------------------------------------------------
    "longest row": Exercise(
        12288,
        "48 * 1024 bytes, 4 bytes per float.",
        "A kernel that walks longer rows in segments must load the row of A again for each group of columns: right for "
        "every length, but slower for long rows.",
    ),
    "words read with tiles": Exercise(
        126e6,
        "Before: 2 * n**3. How many threads does each loaded value serve now?",
        "About 2 * n**3 / 16 words = 500 MB, an eighth of what shared_row reads. (Exactly, 63 tiles cover 1000 elements, so "
        "each value is read 63 times: 126e6 words.)",
        0.01,  # 125e6, too
    ),
    # --- 05_memory_system --------------------------------------------------------------------------------------------
    "wavefronts of stride 8": Exercise(
        8,
        "The words are 0, 8, 16, 24, 32, ...: in which banks are they?",
        "Only banks 0, 8, 16 and 24 are used, each for 8 different words: the greatest common divisor of 8 and 32.",
    ),
    "sectors from an offset": Exercise(
        5,
        "Bytes 4 to 131: where are the boundaries of 32 bytes?",
        "Three whole sectors and parts of two: five for the work of four. The next warp needs the rest of the last one "
        "and may find it in the cache.",
    ),
    "sectors of every second": Exercise(
        8, "Over how many bytes are the 32 floats spread?", "256 bytes, 8 sectors, and half of their bytes are needed."
    ),
    "table of 16 K": Exercise(
        "shared",
        "Which of them is fast for random addresses and delivers one word to all lanes at once?",
        "Shared memory broadcasts a word wherever it is, and 16 KB leave room for several blocks. Constant memory "
        "broadcasts too, but its small cache needs accesses that are near each other; registers cannot be indexed. "
        "Today, cached global memory may do as well.",
    ),
    # --- 06_occupancy_and_timing -------------------------------------------------------------------------------------
    "peak of a chip": Exercise(
        66.9,
        "Cores of the whole chip, times the clock rate, times two: a multiply-add is two operations.",
        "132 * 128 cores * 1.98 GHz * 2 = 66.9e12 per second, if every core is busy in every cycle.",
        0.005,
    ),
    "bandwidth of a chip": Exercise(
        4814,
        "The bus transfers data twice in each clock cycle of the memory, 6,016 bits at once.",
        "2 * 3,201 MHz * 6,016 / 8 bytes = 4,814 GB/s. A kernel needs 14 operations per byte before the cores limit it.",
        0.005,
    ),
    "registers for every warp": Exercise(
        32,
        "65,536 registers for 2048 threads.",
        "65,536 / 2048 = 32. With one more, whole blocks no longer fit: registers are allocated to warps in units of 256, so "
        "33 per thread occupy as much as 40.",
    ),
    "half the warps": Exercise(
        0.5,
        "That is twice the registers of the previous question.",
        "1024 threads use up all 65,536 registers. The multiprocessor has room for 2048 threads.",
    ),
    "shared bytes a thread": Exercise(
        114,
        "233,472 bytes for 2048 threads.",
        "233,472 / 2048. With the system's 1 KB per block, a block of 256 threads may have 28,160 bytes.",
    ),
    "smallest full block": Exercise(
        64,
        "At most 32 blocks are resident, and 64 warps are needed.",
        "Two warps per block. Blocks of 32 threads leave half of the warps empty, whatever else they use.",
    ),
    "blocks of the page": Exercise(
        4,
        "Each warp takes 40 * 32 registers. How many warps fit in four partitions of 16,384, and how many blocks of 10?",
        "1280 per warp: 12 warps in each partition, 48 in all. 10 warps per block: 4 blocks.",
    ),
    "warps that are lost": Exercise(
        8,
        "Registers leave room for 48 warps, and 4 blocks of 10 warps take 40.",
        "A limit on warps becomes a limit on whole blocks. Blocks of 8, 12 or 16 warps would fill all 48.",
    ),
    "a 32 x 32 tile on 8.6": Exercise(
        0.667,
        "32 warps per block, room for 48, whole blocks only.",
        "One block of 32 warps fits and a second does not: 32 / 48. Smaller blocks can fill all 48.",
        0.01,
    ),
    "long rows": Exercise(
        5,
        "A row takes 40,000 bytes, and the system keeps 1 KB for each block.",
        "233,472 / 41,088 = 5.7. 40 of 64 warps are left to hide the latency of memory.",
    ),
    "spilled": Exercise(
        "c",
        "The compiler calls it local memory. Is it on the chip?",
        "Local memory is device memory, behind the caches. Each spilled value costs a store and a load there.",
    ),
    "full occupancy": Exercise(
        "b",
        "What do the other warps do while one waits?",
        "Enough warps have something to run while others wait. A kernel whose threads have several independent loads in "
        "flight needs fewer warps, and more registers per thread may be worth more than more warps.",
    ),
    "cycles as time": Exercise(
        6.02,
        "11,912 cycles at 1.98e9 per second, in microseconds.",
        "11,912 / 1.98e9 s. In that time the chip reads 4 MB: 700 GB/s.",
        0.01,
    ),
    "overflow": Exercise(
        1.08,
        "The largest int is 2**31 - 1, and the clock runs at 1.98 GHz.",
        "2**31 / 1.98e9 = 1.08 s. A longer kernel would seem to take negative time; use clock64 and 64-bit integers.",
        0.01,
    ),
    "a clock for all blocks": Exercise(
        "b",
        "Do two multiprocessors count from the same start?",
        "clock64 counts the cycles of each multiprocessor separately. The last end minus the first start is a time only if "
        "both are read from the same clock.",
    ),
    "too early": Exercise(
        "a",
        "When does a launch return?",
        "It returns as soon as the kernel is in the stream's queue. Wait for the device before you read the host's clock, "
        "or use events.",
    ),
    # --- 07_sorting --------------------------------------------------------------------------------------------------
    "lists of the serial merge": Exercise(
        6,
        "Try 4, 5, 6, 7, 8.",
        "32 / 6 + 6 = 11.3. With 4 and with 8 it is 12.",
    ),
    # --- 08_where_values_live ----------------------------------------------------------------------------------------
    "local accesses": Exercise(
        33,
        "One value is stored. How many are added?",
        "One store and 32 loads, for one value from global memory and one to it. The caches serve most of them, which "
        "leaves less cache for other data.",
    ),
    "error of the filter": Exercise(
        1 / 512,
        "The weights are multiples of 1/256. How far can a number be from the nearest one?",
        "Half of 1/256 of the step: 0.002. A table with more points has smaller steps, and so smaller errors.",
        0.03,
    ),
    "overlap at most": Exercise(
        3,
        "Which of the three must still take its 10 ms?",
        "30 ms become little more than 10: only the first piece's copy in and the last piece's copy out are added. It takes "
        "streams, pinned memory, and a device that copies both ways at once.",
    ),
    # --- 09_half_products --------------------------------------------------------------------------------------------
    "integers of float16": Exercise(
        2048,
        "A float16 has 11 significant bits. Which integer is the first that needs 12?",
        "2^11 = 2048. The next integer, 2049, needs 12 bits and becomes 2048. bfloat16 contains all integers up to 256, "
        "and float32 up to 16,777,216.",
    ),
    "bits of a small element": Exercise(
        19,
        "The element is 2^14 * 2^-20 = 2^-6. How many bits are there from 2^-6 down to the error?",
        "2^-6 / 2^-25 = 2^19. If the largest elements of the other matrix are at the same k as this one, the result keeps "
        "no more than these bits.",
    ),
    "scale of a row": Exercise(
        23,
        "0.003 is about 1.5 * 2^-9.",
        "2^14 / 2^-9 = 2^23, and 0.003 * 2^23 = 25,166, which is between 2^14 = 16,384 and 2^15. Twice that would be below "
        "float16's largest number, 65,504, too; the kernel leaves a bit of room.",
    ),
    "bits of a product": Exercise(
        22,
        "The largest integer of 11 bits is 2047. How many bits has its square?",
        "11 + 11. A float32 holds 24, so the product of two float16 is exact in float32, before anything is added.",
    ),
    "errors of one sign": Exercise(
        "b",
        "Compare: a coin tossed k times, and a coin that always shows tails. How far is the sum from zero?",
        "The sum of positive numbers is too small by half of a last bit in each step, on average: k steps, k errors. "
        "Roundings to nearest are up or down at random, and their sum grows like the square root of k.",
    ),
    "sums of 32": Exercise(
        128,
        "One for each 32 elements of k.",
        "4096 / 32. Each is added with one rounding to nearest, and so is each of the 8 sums of 512 elements. The sum in the "
        "order of k has 4096 roundings. Bits are cut off in the tensor cores as well, but from sums of at most 32 elements.",
    ),
    "products of three pieces": Exercise(
        6,
        "Count the pairs: (0, 0), (0, 1), (1, 0), ...",
        "(0, 0), (0, 1), (1, 0), (0, 2), (1, 1), (2, 0): twice the three products of two pieces, so half the speed.",
    ),
    "three products at fifteen times the rate": Exercise(
        5,
        "Each of the three products takes a fifteenth of the time.",
        "15 / 3. The measured factor is lower: the passes before the product take time, and under full load the tensor "
        "cores do not run at the highest clock.",
    ),
    # --- 10_races ----------------------------------------------------------------------------------------------------
    "smallest total": Exercise(
        1,
        "What if all threads read before the first one writes?",
        "All 60 read 0, all add 1, and all write 1. A sum between 1 and 60 is possible, and for 60 all must be lucky. (A thread "
        "that is very late may even lose what others have added since.)",
    ),
}
