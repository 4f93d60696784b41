"""The questions of the notebooks that a number, a word or a letter answers."""

from __future__ import annotations

from dataclasses import dataclass

from .verdict import Verdict


@dataclass(frozen=True)
class Question:
    expected: float | str
    hint: str
    why: str
    tolerance: float = 0.0  #: relative, for numbers

    def check(self, answer: object) -> Verdict:
        """The reason if the answer is right, a hint if it is wrong."""
        if answer is None:
            return Verdict(None, "Replace None with your answer and run the cell again.")
        if isinstance(self.expected, str):
            if not isinstance(answer, str):
                return Verdict(False, f"The answer is a word or a letter of the question, in quotes, not {answer!r}.")
            right = answer.strip(" ().").lower() == self.expected
        else:
            try:
                value = float(answer)  # type: ignore[arg-type]
            except (TypeError, ValueError):
                return Verdict(False, f"The answer is a number, not {answer!r}. {self.hint}")
            right = abs(value - self.expected) <= self.tolerance * abs(self.expected)
        return Verdict(True, self.why) if right else Verdict(False, f"{answer!r} is not right. {self.hint}")


QUESTIONS = {
    # --- 02_threads_blocks_warps ----------------------------------------------------------------------------------------------
    "words with a halo": Question(
        262,
        "The block's own elements, and the halo once on each side.",
        "256 + 2 * 3: about one word per result. The more threads a block has, the less the halo matters.",
    ),
    # --- 04_sum_of_squares -------------------------------------------------------------------------------------------
    "lost values": Question(
        36,
        "Follow the offsets 50, 25, 12, 6, 3, 1: which values never move toward element 0?",
        "At offset 12 there are 25 values: 12 pairs, and the last value (the sum of 4 originals) is left behind. At "
        "offset 1 there are 3 values, and again the last (the sum of 32) is left behind. 64 of 100 arrive.",
    ),
    "most exact": Question(
        "tree",
        "In which of the two is a value rounded fewer times on its way into the result?",
        "In a tree each value passes log2(n) additions. In one long sum the first value passes n, and each addition "
        "rounds to the digits of a sum that is already large.",
    ),
    # --- 05_matrix_multiplication ------------------------------------------------------------------------------------
    "words read with tiles": Question(
        126e6,
        "Before: 2 * n**3. How many threads does each loaded value serve now?",
        "About 2 * n**3 / 16 words = 500 MB, an eighth of what shared_row reads. (Exactly, 63 tiles cover 1000 elements, so "
        "each value is read 63 times: 126e6 words.)",
        0.01,  # 125e6, too
    ),
    # --- 03_memory_system --------------------------------------------------------------------------------------------
    "wavefronts of stride 8": Question(
        8,
        "The words are 0, 8, 16, 24, 32, ...: in which banks are they?",
        "Only banks 0, 8, 16 and 24 are used, each for 8 different words: the greatest common divisor of 8 and 32.",
    ),
    "sectors from an offset": Question(
        5,
        "Bytes 4 to 131: where are the boundaries of 32 bytes?",
        "Three whole sectors and parts of two: five for the work of four. The next warp needs the rest of the last one "
        "and may find it in the cache.",
    ),
    # --- 08_occupancy_and_timing -------------------------------------------------------------------------------------
    "warps with 64 registers": Question(
        0.5,
        "That is twice the registers with which all warps fit.",
        "1024 threads use up all 65,536 registers. The multiprocessor has room for 2048 threads.",
    ),
    "smallest full block": Question(
        64,
        "At most 32 blocks are resident, and 64 warps are needed.",
        "Two warps per block. Blocks of 32 threads leave half of the warps empty, whatever else they use.",
    ),
    "full occupancy": Question(
        "b",
        "What do the other warps do while one waits?",
        "Enough warps have something to run while others wait. A kernel whose threads have several independent loads in "
        "flight needs fewer warps, and more registers per thread may be worth more than more warps.",
    ),
    "cycles as time": Question(
        5,
        "9,900 cycles at 1.98e9 per second, in microseconds.",
        "9,900 / 1.98e9 s, or 1,980 cycles per microsecond.",
        0.01,
    ),
    # --- 09_sorting_and_scans --------------------------------------------------------------------------------------------------
    # --- 10_where_values_live ----------------------------------------------------------------------------------------
    "overlap at most": Question(
        3,
        "Which of the three must still take its 10 ms?",
        "30 ms become little more than 10: only the first piece's copy in and the last piece's copy out are added. It takes "
        "streams, pinned memory, and a device that copies both ways at once.",
    ),
    # --- 06_tensor_cores --------------------------------------------------------------------------------------------
    "integers of float16": Question(
        2048,
        "A float16 has 11 significant bits. Which integer is the first that needs 12?",
        "2^11 = 2048. The next integer, 2049, needs 12 bits and becomes 2048. bfloat16 contains all integers up to 256, "
        "and float32 up to 16,777,216.",
    ),
    "one long sum": Question(
        "b",
        "Compare: a coin tossed k times, and a coin that always shows tails. How far is the sum from zero?",
        "The sum of positive numbers is too small by half of a last bit in each step, on average: k steps, k errors. "
        "Roundings to nearest are up or down at random, and their sum grows like the square root of k.",
    ),
    "sums of 32": Question(
        128,
        "One for each 32 elements of k.",
        "4096 / 32. Each is added with one rounding to nearest, and so is each of the 8 sums of 512 elements. The sum in the "
        "order of k has 4096 roundings. Bits are cut off in the tensor cores as well, but from sums of at most 32 elements.",
    ),
    # --- 07_races ----------------------------------------------------------------------------------------------------
    "smallest total": Question(
        1,
        "What if all threads read before the first one writes?",
        "All 60 read 0, all add 1, and all write 1. A sum between 1 and 60 is possible, and for 60 all must be lucky. (A thread "
        "that is very late may even lose what others have added since.)",
    ),
}
