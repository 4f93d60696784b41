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
    # --- 02_first_steps ----------------------------------------------------------------------------------------------
    "greetings": Question(
        5,
        "One line per thread.",
        "One from the first launch and four from the second.",
    ),
    "flush": Question(
        "b",
        "A launch returns at once. Where do the lines wait?",
        "They wait in a buffer on the device, which is written to the terminal when the host synchronizes, whichever "
        "call makes it wait. The buffer holds 1 MiB; further output overwrites the oldest.",
    ),
    "element of a thread": Question(
        133,
        "How many threads are in the two blocks before it?",
        "blockIdx.x * blockDim.x + threadIdx.x = 2 * 64 + 5. Every element from 0 to 255 has exactly one such pair.",
    ),
    "threads too many": Question(
        408,
        "5 x 4 blocks are 80 x 64 threads.",
        "80 * 64 - 76 * 62 = 5120 - 4712. The kernel tests both coordinates: with a test of x alone, a thread beyond the "
        "last row would write to memory beyond the picture.",
    ),
    "pixels left out": Question(
        1640,
        "4 x 3 blocks are 64 x 48 threads.",
        "76 * 62 - 64 * 48: more than a third of the picture, without an error. Its memory keeps whatever it held.",
    ),
    "sent away": Question(
        0,
        "How many blocks of 256 threads is that?",
        "102,400 = 400 * 256, so the test is always true, and a program without it would seem right. With almost every "
        "other length it would write beyond the arrays.",
    ),
    "ceil of integers": Question(
        3,
        "Which comes first, the division or the rounding up?",
        "1000 / 256 is 3 for ints, and ceil(3) is 3: one block too few. 256.0 makes it a division of doubles; without "
        "floats, write (n + 255) / 256.",
    ),
    "never added": Question(
        64,
        "1,000,000 / 256 = 3906.25.",
        "3906 blocks have 999,936 threads. The last 64 elements of the result keep what the memory held before.",
    ),
    "copies": Question(
        0.223,
        "Two vectors go there, one comes back, 4 bytes per float.",
        "12.3 MB at 55 GB/s. Within the device's memory the same bytes take 0.0026 ms, 87 times less.",
        0.03,
    ),
    "work of the small kernel": Question(
        0.256,
        "3 * 4 * 102,400 bytes at 4,800e9 bytes per second.",
        "A launch takes 4 us, so this kernel is nearly all launch. The copies of a large array take longer than its "
        "kernel; the launch of a small one does.",
        0.03,
    ),
    "saxpy at most": Question(
        800,
        "4,800e9 / 12 elements per second, two operations each.",
        "400e9 elements per second, 800 GFLOP/s: 1.2% of what the chip can compute. Only more work per number that is "
        "fetched can change that.",
        0.02,
    ),
    "words of a stencil": Question(
        1792,
        "7 words per thread.",
        "256 * 7: each element is read seven times, by seven neighbors.",
    ),
    "words with a halo": Question(
        262,
        "The block's own elements, and the halo once on each side.",
        "256 + 2 * 3: about one word per result. The more threads a block has, the less the halo matters.",
    ),
    "words of temp": Question(
        22,
        "Add where the declaration multiplies.",
        "16 + 2 * 3. A tile that is too large works, but it takes shared memory from other blocks.",
    ),
    "barrier of the tile": Question(
        "b",
        "A thread adds 7 words of the tile. Who loaded them?",
        "Other warps of the block load them, perhaps later. The result may be right a thousand times and then wrong. (The "
        "emulator can run the threads in other orders to make such a mistake show.)",
    ),
    "threads beyond the picture": Question(
        10080,
        "68 * 16 by 45 * 16 threads.",
        "1088 * 720 - 1080 * 716 = 783,360 - 773,280: 1.3%. The larger the picture, the less its edges matter.",
    ),
    "white": Question(
        252,
        "0.21 + 0.71 + 0.07 = 0.99.",
        "252.45 is truncated to 252, so nothing in the picture can be white. Rounding would not help; the right weights do.",
    ),
    # --- 03_sum_of_squares -------------------------------------------------------------------------------------------
    "cycles per element": Question(
        119,
        "4.04 s * 1.98e9 cycles per second, for 67,108,864 elements.",
        "The thread asks for an element, waits, adds, and asks again. Eight ints share a sector of 32 bytes: roughly, one "
        "load in eight waits 670 cycles for the memory, and seven wait 40 cycles for the L1 cache.",
        0.03,
    ),
    "speed-up of 256 threads": Question(
        118,
        "Divide the time of the previous step by this one.",
        "118, not 256: the threads compete for one multiprocessor, and the 32 lanes of a warp ask for 32 distant sectors.",
        0.02,
    ),
    "sectors chunked": Question(
        32,
        "Two neighboring lanes read addresses 4096 elements apart. Do they share a sector?",
        "One sector per lane: 1024 bytes move for the 128 that are needed now.",
    ),
    "sectors coalesced": Question(
        4,
        "32 lanes read 32 neighboring ints. How many bytes is that, in sectors of 32?",
        "128 bytes in 4 sectors, and every byte is needed: an eighth of the traffic.",
    ),
    "loads in flight": Question(
        360_000,
        "Bytes in flight = bandwidth * latency; a load is 4 bytes.",
        "4.8e12 B/s * 300e-9 s = 1.44 million bytes = 360,000 loads. One block has at most 1024 threads.",
        0.01,
    ),
    "host adds": Question(
        8192,
        "One partial sum per thread.",
        "32 blocks of 256 threads. The host adds all of these sums, which is work that the blocks could do.",
    ),
    "serial additions": Question(255, "256 values, one adder.", "Thread 0 adds 255 times while 255 threads wait."),
    "tree steps": Question(
        8, "Each step halves the number of values.", "log2(256) = 8 steps, and 255 additions in all, as before."
    ),
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
    # --- 04_matrix_multiplication ------------------------------------------------------------------------------------
    "gflops": Question(
        5128,
        "A product of n x n matrices takes n multiplications and n additions for each of n * n elements.",
        "2 * 4096**3 / 26.8e-3 s = 5.1e12 per second, 8% of the chip's peak.",
        0.01,
    ),
    "words read": Question(
        2e9,
        "Each of n * n threads reads a row of A and a column of B.",
        "2 * n**3 = 2e9 words, 8 GB, for matrices of 4 MB: every value is read 1000 times.",
        0.001,
    ),
    "words read with a shared row": Question(
        1.001e9, "A is read once. And B?", "n**3 + n**2: half of the traffic is gone, the half caused by A.", 0.0005
    ),
    "longest row": Question(
        12288,
        "48 * 1024 bytes, 4 bytes per float.",
        "A kernel that walks longer rows in segments must load the row of A again for each group of columns: right for "
        "every length, but slower for long rows.",
    ),
    "pitch": Question(
        96,
        "Round 4000 up to a multiple of 512.",
        "4096 - 4000: 2.4% more memory for rows that start on a boundary.",
    ),
    "words read with tiles": Question(
        126e6,
        "Before: 2 * n**3. How many threads does each loaded value serve now?",
        "About 2 * n**3 / 16 words = 500 MB, an eighth of what shared_row reads. (Exactly, 63 tiles cover 1000 elements, so "
        "each value is read 63 times: 126e6 words.)",
        0.01,  # 125e6, too
    ),
    "phases": Question(
        64,
        "How many tiles of 16 lie along a row of 1024?",
        "1024 / 16 phases. In each, a loaded value is used 16 times.",
    ),
    "second barrier": Question(
        "b",
        "What comes after the second barrier, in the next iteration?",
        "The next iteration overwrites the tiles. Without the barrier a fast thread would do so while a slow one still reads.",
    ),
    "wasted": Question(
        2.4,
        "1000 is rounded up to 1008 in all three directions.",
        "(1008 / 1000)**3 = 1.024: 2.4% more arithmetic, on zeros, in exchange for no test at any load.",
        0.02,
    ),
    "sectors of A": Question(
        2,
        "The 32 lanes cover two rows of threads. How many different addresses do they read?",
        "Two rows, one element of each: 2 sectors for 8 bytes that are needed.",
    ),
    "sectors of B": Question(
        2,
        "Both rows of threads read the same 16 neighboring floats.",
        "64 bytes, 2 sectors, and all bytes are needed: these reads are coalesced.",
    ),
    "tiled speed-up": Question(
        2.52,
        "Divide the two times.",
        "42.1 / 16.7 = 2.52, far from 16: the L1 cache had saved most of the traffic before, and two loads from shared "
        "memory for each multiply-add are the new limit.",
        0.02,
    ),
    "threads of a 32 x 32 tile": Question(
        1024,
        "32 * 32.",
        "That is the largest block a chip allows. All its 32 warps wait at each barrier together, and a multiprocessor "
        "holds at most two such blocks to fill the gaps.",
    ),
    # --- 05_memory_system --------------------------------------------------------------------------------------------
    "rows of a warp": Question(
        2,
        "x runs first: how many threads are in a row of the block?",
        "16 threads per row, 32 per warp. Each request of such a warp goes to two rows.",
    ),
    "wavefronts of stride 8": Question(
        8,
        "The words are 0, 8, 16, 24, 32, ...: in which banks are they?",
        "Only banks 0, 8, 16 and 24 are used, each for 8 different words: the greatest common divisor of 8 and 32.",
    ),
    "wavefronts of stride 7": Question(
        1,
        "0, 7, 14, 21, 28, 35: does any bank occur twice before lane 32?",
        "7 and 32 have no common divisor, so 32 lanes use 32 banks. The same holds for every odd stride.",
    ),
    "wavefronts of a broadcast": Question(
        1, "Do the lanes need different words?", "One word of one bank, sent to all lanes at once: a broadcast."
    ),
    "wavefronts of a padded 31": Question(
        32,
        "The rows of the tile are 32 words apart: in which banks are the words of a column?",
        "All in one bank. Rows of 31 words were an odd distance apart and free of conflicts.",
    ),
    "sectors from an offset": Question(
        5,
        "Bytes 4 to 131: where are the boundaries of 32 bytes?",
        "Three whole sectors and parts of two: five for the work of four. The next warp needs the rest of the last one "
        "and may find it in the cache.",
    ),
    "sectors of every second": Question(
        8, "Over how many bytes are the 32 floats spread?", "256 bytes, 8 sectors, and half of their bytes are needed."
    ),
    "stride of single sectors": Question(
        8, "A sector has 32 bytes, a float 4.", "8 * 4 = 32 bytes from lane to lane. Larger strides cannot be worse."
    ),
    "sectors without a lane": Question(
        4,
        "Lane 3's float is in a sector with seven others.",
        "The sectors are the same 4: an inactive lane changes nothing.",
    ),
    "sectors of x": Question(
        12,
        "32 * 12 bytes are a run of 384 bytes. Is there a sector in it without an x?",
        "No: there is an x every 12 bytes, so all 12 sectors are touched, for 128 bytes that are needed.",
    ),
    "sectors of structs": Question(
        12,
        "They touch the same ones.",
        "384 bytes in all, and every byte is needed; but each is requested three times.",
    ),
    "wavefronts of a staged read": Question(
        1, "What is special about the stride 3?", "It is odd: 32 lanes, three words apart, use 32 banks."
    ),
    "layout for a warp": Question(
        "arrays",
        "In which layout do neighboring lanes read neighboring words?",
        "4 sectors per field instead of 16. (Structs that are moved whole, 16 bytes per lane, waste nothing either.)",
    ),
    "divided warps": Question(
        0.125,
        "Which warps have lanes on both sides of the condition?",
        "Only the first of the 8 warps of a block. `lane > 2` would split all of them.",
    ),
    "warps at the edge": Question(
        1,
        "1000 = 31 * 32 + 8.",
        "Only the last. In the other 31 all lanes agree, and the larger the array, the smaller the share.",
    ),
    "bytes under way": Question(
        1.44e6,
        "Bandwidth times latency.",
        "4.8e12 * 300e-9 = 1.44 million bytes. With fewer, the memory is idle part of the time.",
        0.01,
    ),
    "loads a thread": Question(
        2,
        "The bytes of the previous question, divided by all threads and by 4 bytes per load.",
        "1.44e6 / (132 * 2048 * 4) = 1.3: even a full chip needs several loads per thread, or wider ones.",
    ),
    "table of 16 K": Question(
        "shared",
        "Which of them is fast for random addresses and delivers one word to all lanes at once?",
        "Shared memory broadcasts a word wherever it is, and 16 KB leave room for several blocks. Constant memory "
        "broadcasts too, but its small cache needs accesses that are near each other; registers cannot be indexed. "
        "Today, cached global memory may do as well.",
    ),
    # --- 06_occupancy_and_timing -------------------------------------------------------------------------------------
    "peak of a chip": Question(
        66.9,
        "Cores of the whole chip, times the clock rate, times two: a multiply-add is two operations.",
        "132 * 128 cores * 1.98 GHz * 2 = 66.9e12 per second, if every core is busy in every cycle.",
        0.005,
    ),
    "bandwidth of a chip": Question(
        4814,
        "The bus transfers data twice in each clock cycle of the memory, 6,016 bits at once.",
        "2 * 3,201 MHz * 6,016 / 8 bytes = 4,814 GB/s. A kernel needs 14 operations per byte before the cores limit it.",
        0.005,
    ),
    "registers for every warp": Question(
        32,
        "65,536 registers for 2048 threads.",
        "65,536 / 2048 = 32. With one more, whole blocks no longer fit: registers are allocated to warps in units of 256, so "
        "33 per thread occupy as much as 40.",
    ),
    "half the warps": Question(
        0.5,
        "That is twice the registers of the previous question.",
        "1024 threads use up all 65,536 registers. The multiprocessor has room for 2048 threads.",
    ),
    "shared bytes a thread": Question(
        114,
        "233,472 bytes for 2048 threads.",
        "233,472 / 2048. With the system's 1 KB per block, a block of 256 threads may have 28,160 bytes.",
    ),
    "smallest full block": Question(
        64,
        "At most 32 blocks are resident, and 64 warps are needed.",
        "Two warps per block. Blocks of 32 threads leave half of the warps empty, whatever else they use.",
    ),
    "blocks of the page": Question(
        4,
        "Each warp takes 40 * 32 registers. How many warps fit in four partitions of 16,384, and how many blocks of 10?",
        "1280 per warp: 12 warps in each partition, 48 in all. 10 warps per block: 4 blocks.",
    ),
    "warps that are lost": Question(
        8,
        "Registers leave room for 48 warps, and 4 blocks of 10 warps take 40.",
        "A limit on warps becomes a limit on whole blocks. Blocks of 8, 12 or 16 warps would fill all 48.",
    ),
    "a 32 x 32 tile on 8.6": Question(
        0.667,
        "32 warps per block, room for 48, whole blocks only.",
        "One block of 32 warps fits and a second does not: 32 / 48. Smaller blocks can fill all 48.",
        0.01,
    ),
    "long rows": Question(
        5,
        "A row takes 40,000 bytes, and the system keeps 1 KB for each block.",
        "233,472 / 41,088 = 5.7. 40 of 64 warps are left to hide the latency of memory.",
    ),
    "spilled": Question(
        "c",
        "The compiler calls it local memory. Is it on the chip?",
        "Local memory is device memory, behind the caches. Each spilled value costs a store and a load there.",
    ),
    "full occupancy": Question(
        "b",
        "What do the other warps do while one waits?",
        "Enough warps have something to run while others wait. A kernel whose threads have several independent loads in "
        "flight needs fewer warps, and more registers per thread may be worth more than more warps.",
    ),
    "cycles as time": Question(
        6.02,
        "11,912 cycles at 1.98e9 per second, in microseconds.",
        "11,912 / 1.98e9 s. In that time the chip reads 4 MB: 700 GB/s.",
        0.01,
    ),
    "overflow": Question(
        1.08,
        "The largest int is 2**31 - 1, and the clock runs at 1.98 GHz.",
        "2**31 / 1.98e9 = 1.08 s. A longer kernel would seem to take negative time; use clock64 and 64-bit integers.",
        0.01,
    ),
    "a clock for all blocks": Question(
        "b",
        "Do two multiprocessors count from the same start?",
        "clock64 counts the cycles of each multiprocessor separately. The last end minus the first start is a time only if "
        "both are read from the same clock.",
    ),
    "too early": Question(
        "a",
        "When does a launch return?",
        "It returns as soon as the kernel is in the stream's queue. Wait for the device before you read the host's clock, "
        "or use events.",
    ),
    # --- 07_sorting --------------------------------------------------------------------------------------------------
    "lists of the serial merge": Question(
        6,
        "Try 4, 5, 6, 7, 8.",
        "32 / 6 + 6 = 11.3. With 4 and with 8 it is 12.",
    ),
    "atomics of equal keys": Question(
        32,
        "Which threads offer a key? And whose key is the minimum?",
        "16 threads offer their key. All 16 keys are the minimum, so 16 threads offer their number. With different keys it would be 17.",
    ),
    "barriers of a tree": Question(
        10,
        "One before the tree, one after each step, one before the next key.",
        "log2(256) + 2. The atomics take two barriers, whatever the number of lists: with few lists, the tree is slower.",
    ),
    "barriers in one warp": Question(
        "b",
        "What does the hardware promise about the lanes of a warp?",
        "Lanes may diverge at any point. `__syncwarp` brings them together and makes their writes visible to each other.",
    ),
    "key that means nothing": Question(
        0xFFFFFFFF,
        "32 bits, all of them set.",
        "4,294,967,295 is a valid key. The kernels here track the position in each list instead.",
    ),
    "launches of many blocks": Question(
        11,
        "How many times must 1024 runs be halved until one is left?",
        "One that sorts the runs, ten that merge. Each moves all keys through memory once.",
    ),
    "third bin": Question(
        18,
        "9 + 9.",
        "The sum of all counts before it: the exclusive scan. The inclusive scan gives the end of each bin.",
    ),
    "additions in a row": Question(
        321,
        "16,384 / 256 in its own chunk; then one thread adds 256 sums.",
        "64 + 256 + 1, where the serial kernel has 16,384. One thread makes most of them, so more threads would not "
        "help.",
    ),
    "time of a scan": Question(
        1.75,
        "8 bytes per element.",
        "8 * 1,048,576 / 4.8e12 s, however the sums are computed. `blocks` reads everything twice: 12 bytes per element.",
        0.02,
    ),
    "questions for 64 bins": Question(
        7,
        "log2(64) + 1.",
        "A search through one splitter after the other takes 32 on average. The binary search has no branch in which lanes "
        "could diverge.",
    ),
    "bins of a million": Question(
        256,
        "1,048,576 / 4608 = 227.6.",
        "The next power of two, so 4096 keys per bin on average: 256 blocks, enough for every multiprocessor.",
    ),
    "keys in a run": Question(
        32,
        "8192 keys, 256 bins.",
        "128 bytes in a row. Written one by one, each key of 4 bytes would take a sector of 32 bytes.",
    ),
    "nearly sorted": Question(
        "b",
        "What does the count tell you about the keys of one warp?",
        "The kernels here are built so that the order of the keys hardly matters: the search has no branches, and keys are "
        "ordered in shared memory before they are written.",
    ),
    "passes of eight bits": Question(
        4, "32 / 8.", "One pass per digit, where single bits would take 32; one more pass counts all digits."
    ),
    "least time of a sort": Question(
        7.86,
        "9 * 4 bytes per key.",
        "36 * 1,048,576 / 4.8e12 s. The recorded 95 us are 12 times as long: a million keys cannot fill the chip.",
        0.01,
    ),
    # --- 08_where_values_live ----------------------------------------------------------------------------------------
    "trips to memory": Question(
        64,
        "Each flag is combined with the word in memory.",
        "32 reads and 32 writes, each waiting for the previous one. The register form makes one write.",
    ),
    "lost flag": Question(
        2147483647,
        "Which bits are set if i runs from 0 to 30?",
        "2**31 - 1: the highest bit, and with it the last flag, is missing. If flags are rarely set, this may go "
        "unnoticed for a long time.",
    ),
    "one word for all": Question(
        "b",
        "Two threads read the word, each sets its bit, each writes. What is in the word?",
        "A data race: now and then a bit is lost. The times of such a program mean nothing either.",
    ),
    "local accesses": Question(
        33,
        "One value is stored. How many are added?",
        "One store and 32 loads, for one value from global memory and one to it. The caches serve most of them, which "
        "leaves less cache for other data.",
    ),
    "registers of two blocks": Question(
        32,
        "How many threads are 2 blocks of 1024?",
        "65,536 / 2048. The window alone has 32 values, and the thread needs registers for addresses and sums as well: "
        "the rest is spilled.",
    ),
    "turns of the constant cache": Question(
        32,
        "It delivers one word at a time, to all lanes that need it.",
        "32 passes instead of one. For indices that differ between lanes, use shared memory, which has 32 banks.",
    ),
    "between two points": Question(
        0.4,
        "5 is halfway between 4 and 6.",
        "0.2 + (5 - 4) / (6 - 4) * (0.6 - 0.2).",
        0.001,
    ),
    "error of the filter": Question(
        1 / 512,
        "The weights are multiples of 1/256. How far can a number be from the nearest one?",
        "Half of 1/256 of the step: 0.002. A table with more points has smaller steps, and so smaller errors.",
        0.03,
    ),
    "atomics of equal elements": Question(
        32768,
        "One for the lanes with equal elements: here all 32.",
        "1,048,576 / 32. `global_atomics` sends a million to one word, which are served one after the other.",
    ),
    "largest exponent": Question(
        128,
        "A float's exponent has 8 bits; the largest number is about 3.4e38.",
        "2**128 is infinity already, so `__fdividef` fails for y from 2^126 to 2^128.",
    ),
    "copies of a byte": Question(
        2,
        "Which memory can the system not move?",
        "The CPU copies it to the driver's pinned buffer, and the device copies it from there. Pinned memory saves the "
        "first copy.",
    ),
    "overlap at most": Question(
        3,
        "Which of the three must still take its 10 ms?",
        "30 ms become little more than 10: only the first piece's copy in and the last piece's copy out are added. It takes "
        "streams, pinned memory, and a device that copies both ways at once.",
    ),
    # --- 09_half_products --------------------------------------------------------------------------------------------
    "integers of float16": Question(
        2048,
        "A float16 has 11 significant bits. Which integer is the first that needs 12?",
        "2^11 = 2048. The next integer, 2049, needs 12 bits and becomes 2048. bfloat16 contains all integers up to 256, "
        "and float32 up to 16,777,216.",
    ),
    "bits of a small element": Question(
        19,
        "The element is 2^14 * 2^-20 = 2^-6. How many bits are there from 2^-6 down to the error?",
        "2^-6 / 2^-25 = 2^19. If the largest elements of the other matrix are at the same k as this one, the result keeps "
        "no more than these bits.",
    ),
    "scale of a row": Question(
        23,
        "0.003 is about 1.5 * 2^-9.",
        "2^14 / 2^-9 = 2^23, and 0.003 * 2^23 = 25,166, which is between 2^14 = 16,384 and 2^15. Twice that would be below "
        "float16's largest number, 65,504, too; the kernel leaves a bit of room.",
    ),
    "bits of a product": Question(
        22,
        "The largest integer of 11 bits is 2047. How many bits has its square?",
        "11 + 11. A float32 holds 24, so the product of two float16 is exact in float32, before anything is added.",
    ),
    "errors of one sign": Question(
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
    "products of three pieces": Question(
        6,
        "Count the pairs: (0, 0), (0, 1), (1, 0), ...",
        "(0, 0), (0, 1), (1, 0), (0, 2), (1, 1), (2, 0): twice the three products of two pieces, so half the speed.",
    ),
    "three products at fifteen times the rate": Question(
        5,
        "Each of the three products takes a fifteenth of the time.",
        "15 / 3. The measured factor is lower: the passes before the product take time, and under full load the tensor "
        "cores do not run at the highest clock.",
    ),
    # --- 10_races ----------------------------------------------------------------------------------------------------
    "smallest total": Question(
        1,
        "What if all threads read before the first one writes?",
        "All 60 read 0, all add 1, and all write 1. A sum between 1 and 60 is possible, and for 60 all must be lucky. (A thread "
        "that is very late may even lose what others have added since.)",
    ),
    "place of the fence": Question(
        "b",
        "A fence is between what must be visible first and what announces it.",
        "First the partial sum, then the fence, then the counting: whoever sees the count sees the sum. After the counting would "
        "be too late, because another block may already be reading.",
    ),
}
