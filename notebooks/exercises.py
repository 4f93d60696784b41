"""The exercises of the notebooks: answers, a hint for each, and why the answer is right.

A notebook says `answer = None` and then `check("name", answer)`. None is "not answered yet", so that a notebook runs
from top to bottom unsolved. A wrong answer raises with the hint; a right one prints the reason. Look below only when
you have tried.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Exercise:
    expected: float | str
    hint: str
    why: str
    tolerance: float = 0.0  # relative, for numbers


def check(name: str, answer: float | str | None) -> None:
    """Prints the reason if the answer is right, "not answered yet" for None; raises AssertionError if it is wrong."""
    exercise = EXERCISES[name]
    if answer is None:
        print(f"{name}: not answered yet. Put your answer in place of None and run the cell again.")
        return
    if isinstance(exercise.expected, str):
        right = isinstance(answer, str) and answer.strip().lower() == exercise.expected
    else:
        try:
            difference = abs(float(answer) - exercise.expected)
        except (TypeError, ValueError):
            raise AssertionError(f"{name}: the answer is a number, and {answer!r} is none.") from None
        right = difference <= exercise.tolerance * abs(exercise.expected)
    if not right:
        raise AssertionError(f"{name}: {answer!r} is not it. {exercise.hint}")
    print(f"{name}: right. {exercise.why}")


EXERCISES = {
    # --- 01_tour -------------------------------------------------------------------------------------------------
    "blocks": Exercise(
        4,
        "Three blocks of 256 hold 768 elements, and 1000 need a place.",
        "1000 / 256 = 3.9, rounded up. A division of integers, n / 256, rounds down and leaves the last 232 elements "
        "out; hence ceil(n / 256.0), or (n + 255) / 256 without a float.",
    ),
    "idle threads": Exercise(
        24,
        "How many threads are there in all those blocks, and how many elements?",
        "4 * 256 - 1000. They must not touch memory behind the array's end: that is what `if (i < n)` is for.",
    ),
    "void **": Exercise(
        "b",
        "What does cudaMalloc return, and how does the caller come to the address?",
        "The return value is the error code, so the address goes out through a parameter. To change the caller's "
        "pointer, the function needs that pointer's own address.",
    ),
    "bound": Exercise(
        "sum_of_squares",
        "Which of the two does little arithmetic for each byte it is given?",
        "Half an operation a byte: the memory is busy long before the arithmetic is. The product does n / 6 "
        "operations a byte, so it can be limited by arithmetic, if its kernel fetches each value rarely.",
    ),
    "whole time": Exercise(
        "c",
        "The kernel itself is 0.09 ms. What else must happen between a NumPy array and its sum?",
        "Copies over the bus, memory, and on the first call the set-up of the device, which alone takes tenths of a "
        "second. One addition an element cannot pay for that; many steps on data that stays on the device can.",
    ),
    "ten times": Exercise(
        "a",
        "Was the chip busy with the small array?",
        "A small grid leaves most of the chip idle, and its time is mostly the launch and one memory latency. Ten "
        "times the blocks run beside each other. Only a full chip takes time in proportion.",
    ),
    # --- 02_sum_of_squares -----------------------------------------------------------------------------------------
    "cycles per element": Exercise(
        610,
        "640 million cycles for 1,048,576 elements.",
        "That is the latency of one load from memory: the thread asks, waits some 600 cycles, adds, asks again.",
        0.02,
    ),
    "speed-up of 256 threads": Exercise(
        77,
        "Divide the cycles of the step before by those of this one.",
        "77, not 256: the threads wait for each other's loads. Each warp's request asks for 32 places far apart.",
        0.02,
    ),
    "sectors chunked": Exercise(
        32,
        "Two neighbouring lanes read addresses 4096 elements apart. Do they share a sector?",
        "A sector a lane: 1024 bytes move for the 128 that are wanted.",
    ),
    "sectors coalesced": Exercise(
        4,
        "32 lanes read 32 neighbouring ints: how many bytes, in sectors of 32?",
        "128 bytes in 4 sectors, every byte of them wanted: an eighth of the traffic.",
    ),
    "host adds": Exercise(
        8192,
        "A partial sum a thread.",
        "32 blocks of 256 threads. All of these go back to the host, which adds them: work that the blocks could do.",
    ),
    "loads in flight": Exercise(
        4800,
        "Bytes in flight = bandwidth * latency; a load is 4 bytes.",
        "57.6e9 B/s * 333e-9 s = 19,200 bytes = 4800 loads. One block has 512 threads at most (then), each with one "
        "load under way; 32 blocks have 8192.",
        0.03,
    ),
    "serial additions": Exercise(255, "256 values, one adder.", "Thread 0 adds 255 times while 255 threads wait."),
    "tree steps": Exercise(
        8, "Each step halves the number of values.", "log2(256) = 8 steps, and 255 additions in all, as before."
    ),
    "lost values": Exercise(
        36,
        "Follow the offsets 50, 25, 12, 6, 3, 1: which values never move towards element 0?",
        "At offset 12 there are 25 values: 12 pairs, and the last one (which holds 4 of the originals) is left "
        "behind; at offset 1 there are 3, and again the last (32 of them) stays. 64 arrive. The lab sheet's tree has a guard "
        "for such thread counts, the tutorial's has none.",
    ),
    "most exact": Exercise(
        "tree",
        "Where does a float32 meet the fewest roundings on its way into the result?",
        "In a tree each value passes log2(n) additions; in one long sum the first passes n, and each of them rounds "
        "to the digits of a sum that is large already.",
    ),
    # --- 03_matrix_multiplication ------------------------------------------------------------------
    "gflops": Exercise(
        1.73,
        "A product of n x n matrices takes n multiplications and n additions for each of n * n elements.",
        "2 * 1000**3 / 1.156 s = 1.73e9 a second. (The document's program has one n too many in its formula: it "
        "cannot have printed this figure.)",
        0.01,
    ),
    "words read": Exercise(
        2e9,
        "Each of n * n threads reads a row of A and a column of B.",
        "2 * n**3 = 2e9 words, 8 GB, for matrices of 4 MB: every value is fetched 1000 times.",
        0.001,
    ),
    "words read with a shared row": Exercise(
        1.001e9, "A is read once. And B?", "n**3 + n**2: half of the traffic is gone, the half that A caused.", 0.0005
    ),
    "longest row": Exercise(
        12288,
        "48 * 1024 bytes, 4 a float.",
        "The tutorial's kernel needs the whole row there. Ours walks longer rows in segments, and then fetches a row of A "
        "again for each 256 columns: right for every length, slower for the long ones.",
    ),
    "pitch": Exercise(
        96,
        "Round 4000 up to a multiple of 512.",
        "4096 - 4000: 2.4% of the memory for rows that start on a boundary.",
    ),
    "words read with tiles": Exercise(
        125e6,
        "Before: 2 * n**3. Each value that is fetched now serves how many threads?",
        "2 * n**3 / 16 words = 500 MB, an eighth of what shared_row reads.",
        0.001,
    ),
    "phases": Exercise(
        64,
        "How many tiles of 16 lie along a row of 1024?",
        "Width / TILE_WIDTH phases; within each, a fetched value is used TILE_WIDTH = 16 times.",
    ),
    "second barrier": Exercise(
        "b",
        "What comes after the second barrier, in the next turn of the loop?",
        "The next turn overwrites the tiles. Without the barrier a fast thread would do so while a slow one still "
        "reads. (One of the documents says that it saves results; results are in registers.)",
    ),
    "wasted": Exercise(
        2.4,
        "1000 is padded to 1008 in all three directions.",
        "(1008 / 1000)**3 = 1.024: 2.4% more arithmetic, on zeros, in exchange for no test at any load.",
        0.02,
    ),
    "sectors of M": Exercise(
        2,
        "The 32 lanes cover two rows of threads. How many different addresses do they read?",
        "Two rows, one element of each: 2 sectors for 8 useful bytes. Not scattered, but a poor use of 64 bytes.",
    ),
    "sectors of N": Exercise(
        2,
        "Both rows of threads read the same 16 neighbouring floats.",
        "64 bytes, 2 sectors, and all bytes wanted: these reads are coalesced.",
    ),
    "tiled speed-up": Exercise(
        3.2,
        "Two times stand in the question.",
        "5.00 / 1.56 = 3.2, far from 16: once memory is no longer the limit, something else is.",
        0.02,
    ),
    "threads of a 32 x 32 tile": Exercise(
        1024,
        "A thread an element of the tile.",
        "The document's card allowed 512, so it could not even run. Today 1024 is the limit. It runs, but all 32 warps of the "
        "block wait at each barrier together, and a multiprocessor holds two such blocks at most to fill the gaps.",
    ),
    # --- 04_first_steps ----------------------------------------------------------------------------------------------
    "element of a thread": Exercise(
        133,
        "How many threads stand in the two blocks before it?",
        "blockIdx.x * blockDim.x + threadIdx.x = 2 * 64 + 5. Every element from 0 to 255 has exactly one such pair.",
    ),
    "threads too many": Exercise(
        408,
        "5 x 4 blocks are 80 x 64 threads.",
        "80 * 64 - 76 * 62 = 5120 - 4712. An `if` on both coordinates keeps them away: x alone would let a thread beyond the "
        "last row write into memory behind the picture.",
    ),
    "pixels left out": Exercise(
        1640,
        "4 x 3 blocks are 64 x 48 threads.",
        "76 * 62 - 64 * 48. More than a third of the picture, and no error tells: that memory keeps whatever it held.",
    ),
    "sent away": Exercise(
        0,
        "How many blocks of 256 is that?",
        "102,400 = 400 * 256, and 1,024,000 = 4000 * 256: with the slides' lengths the test is never false, and a program without it "
        "would seem right. The first other length would write behind the arrays.",
    ),
    "ceil of integers": Exercise(
        3,
        "Which is done first, the division or the rounding up?",
        "1000 / 256 is 3 for ints, and ceil(3) is 3: one block too few. 256.0 makes it a division of doubles. Without floats: "
        "(n + 255) / 256.",
    ),
    "never added": Exercise(
        64,
        "1,000,000 / 256 = 3906.25.",
        "3906 blocks have 999,936 threads. The last 64 elements of the result hold what the memory held before.",
    ),
    "copies": Exercise(
        1.02,
        "Two vectors go there, one comes back, 4 bytes a float.",
        "12.3 MB at 12 GB/s, about 1 ms: ten times the kernel, and still less than the CPU's 14.8 ms. The other 350 ms are the start of "
        "CUDA in the process, paid once whatever is computed after it.",
        0.03,
    ),
    "work of the small kernel": Exercise(
        1.68,
        "3 * 4 * 102,400 bytes at 732e9 bytes a second.",
        "1.7 us of work in 90 us: the rest is launch and latency, which ten times the elements (17 us of work) do not lengthen. "
        "Only a kernel that fills the chip takes time in proportion.",
        0.03,
    ),
    "saxpy at most": Exercise(
        122,
        "732e9 / 12 elements a second, two operations each.",
        "61e9 elements a second, 122 GFLOP/s: 1.3% of what the chip can compute. No cleverness in the kernel changes that, only "
        "doing more with each number while it is there.",
        0.02,
    ),
    "words of a stencil": Exercise(
        1792,
        "7 words a thread.",
        "256 * 7: each element is read seven times, by seven neighbours.",
    ),
    "words with a halo": Exercise(
        262,
        "The block's own elements, and the halo once on each side.",
        "256 + 2 * 3: about one word a result, and the more threads a block has, the less its halo counts.",
    ),
    "words of temp": Exercise(
        22,
        "Add, where the program multiplies.",
        "16 + 2 * 3. The 96 words are enough by luck, but at thread numbers beyond the first blocks its index runs out of them all the "
        "same, since it counts over the whole grid.",
    ),
    "barrier of the tile": Exercise(
        "b",
        "A thread adds 7 words of the tile. Who loaded them?",
        "Other warps of the block did, or have yet to. A result may be right a thousand times and then not. (The emulator can run the "
        "threads in other orders, to make such a fault show.)",
    ),
    "greetings": Exercise(
        5,
        "A line a thread.",
        "One from the first launch, four from the second; only the second knows threads 1 to 3.",
    ),
    "flush": Exercise(
        "b",
        "A launch returns at once. Where do the lines wait?",
        "They wait in a buffer on the device, which is emptied when the host synchronises, by whatever call. It holds 1 MiB; what is "
        "printed beyond that overwrites the oldest.",
    ),
    "threads beyond the picture": Exercise(
        10080,
        "68 * 16 by 45 * 16 threads.",
        "1088 * 720 - 1080 * 716 = 783,360 - 773,280: 1.3%. The larger the picture, the less its edges count.",
    ),
    "white": Exercise(
        252,
        "0.21 + 0.71 + 0.07 = 0.99.",
        "252.45, cut off. Nothing in the picture can be white. (Rounding would not help; the right weights do.)",
    ),
    # --- 05_memory_system ------------------------------------------------------------------------------------------
    "threads without a pixel": Exercise(
        408,
        "5 x 4 blocks of 256 threads, and 76 x 62 pixels.",
        "5120 - 4712. Four columns of 64 threads and two rows of 80, less the corner that both count.",
    ),
    "rows of a warp": Exercise(
        2,
        "x runs first: how many threads has a row of the block?",
        "16 threads a row, 32 a warp. Each request of such a warp goes to two rows of the picture.",
    ),
    "wavefronts of stride 8": Exercise(
        8,
        "The words are 0, 8, 16, 24, 32, ...: in which banks do they lie?",
        "Only banks 0, 8, 16 and 24 are asked, each for 8 different words: the greatest common divisor of 8 and 32.",
    ),
    "wavefronts of stride 7": Exercise(
        1,
        "0, 7, 14, 21, 28, 35: does any bank come twice before lane 32?",
        "7 and 32 have no common divisor, so the 32 lanes meet 32 banks. So it is with every odd stride.",
    ),
    "wavefronts of a broadcast": Exercise(
        1, "Do the lanes want different words?", "One word of one bank, given to all lanes at once: a broadcast."
    ),
    "wavefronts of a padded 31": Exercise(
        32,
        "A column of a tile whose rows are 32 words apart: in which banks do its words lie?",
        "All in one. 31 words were an odd distance and free of conflicts; the padding made the worst of all strides.",
    ),
    "sectors from an offset": Exercise(
        5,
        "Bytes 4 to 131: where do the boundaries of 32 bytes lie?",
        "Three whole sectors and parts of two. Five moved for four wanted; the neighbour's warp wants the rest, and may "
        "find it in the cache.",
    ),
    "sectors of every second": Exercise(
        8, "32 floats are spread over how many bytes?", "256 bytes, 8 sectors, and half of what they hold is wanted."
    ),
    "stride of single sectors": Exercise(
        8, "A sector has 32 bytes, a float 4.", "8 * 4 = 32 bytes from lane to lane. Further apart cannot be worse."
    ),
    "sectors without a lane": Exercise(
        4,
        "Lane 3's float is in a sector with seven others.",
        "The sectors are the same 4: who takes no part changes nothing, as the tutorial says.",
    ),
    "sectors of x": Exercise(
        12,
        "32 * 12 bytes are a run of 384 bytes. Is there a sector in it without an x?",
        "No: an x comes every 12 bytes, so all 12 sectors are touched, for 128 bytes that are wanted.",
    ),
    "sectors of structs": Exercise(
        12, "They touch the same ones.", "384 bytes in all, each of them wanted; but asked for three times."
    ),
    "wavefronts of a staged read": Exercise(
        1, "What is special about 3?", "It is odd: 32 lanes, three words apart, meet 32 banks."
    ),
    "layout for a warp": Exercise(
        "arrays",
        "In which layout do neighbouring lanes read neighbouring words?",
        "4 sectors for a field instead of 16. (Structs that are moved whole, 16 bytes a lane, waste nothing either.)",
    ),
    "divided warps": Exercise(
        0.125,
        "Which warps have lanes on both sides of thread 2?",
        "Only the first of a block's 8. The condition is no worse than that; `lane > 2` would divide them all.",
    ),
    "warps at the edge": Exercise(
        1,
        "1000 = 31 * 32 + 8.",
        "Only the last. 31 warps agree, and the larger the array, the smaller the share: 25% at 100, 3% at 1000.",
    ),
    "bytes under way": Exercise(
        2.88e6,
        "Bandwidth times latency.",
        "4.8e12 * 600e-9 = 2.88 million bytes. Whatever is less leaves the memory waiting.",
        0.01,
    ),
    "loads a thread": Exercise(
        3,
        "The bytes of the question before, over all threads and 4 bytes a load.",
        "2.88e6 / (132 * 2048 * 4) = 2.7: even a full chip needs several loads a thread, or wider ones.",
    ),
    "table of 16 K": Exercise(
        "shared",
        "Which of them is fast for random places and gives one word to all lanes at once?",
        "Shared memory broadcasts a word, and does not mind where it lies; 16 K of it leave room for several blocks today. "
        "Constant memory broadcasts too, but its small cache likes accesses near to each other; registers cannot be indexed. "
        "On later chips, the book adds, cached global memory may do as well.",
    ),
    # --- 06_occupancy_and_timing -----------------------------------------------------------------------------------
    "peak of the slide's chip": Exercise(
        16.66,
        "Cores of the whole chip, times the clock, times two: a multiply-add is two operations.",
        "80 * 64 cores * 1.627 GHz * 2 = 16.66e12 a second, for whoever keeps every core busy in every cycle.",
        0.005,
    ),
    "bandwidth of the slide's chip": Exercise(
        870,
        "The bus moves data twice in each clock of the memory, and 4096 bits at once.",
        "2 * 850 MHz * 4096 / 8 bytes = 870 GB/s: about 19 operations for each byte before the cores are the limit.",
        0.005,
    ),
    "registers for every warp": Exercise(
        32,
        "256 KB of registers, 4 bytes each, for 2048 threads.",
        "65,536 / 2048 = 32. One more, and whole blocks no longer fit: registers go to warps in pieces of 256, so 33 "
        "of them take the room of 40.",
    ),
    "half the warps": Exercise(
        0.5,
        "Twice the registers of the question before.",
        "1024 threads use up all 65,536 registers. The multiprocessor has places for 2048.",
    ),
    "shared bytes a thread": Exercise(
        32,
        "64 KB for 2048 threads.",
        "65,536 / 2048. A block of 256 threads may have 8 KB; with 16 KB only half of the warps find a place.",
    ),
    "smallest full block": Exercise(
        64,
        "At most 32 blocks are resident, and 64 warps are wanted.",
        "Two warps a block. Blocks of 32 threads leave half of the warps' places empty, whatever else they use.",
    ),
    "blocks of the page": Exercise(
        4,
        "Each warp takes 40 * 32 registers. How many fit in 65,536, four partitions, and how many blocks of 10 are that?",
        "1280 a warp: 12 in each partition of 16,384, 48 in all. 10 warps a block: 4 blocks, 40 warps, and 8 places that no "
        "whole block fits into.",
    ),
    "warps that are lost": Exercise(
        8,
        "Registers leave room for 48 warps, and 4 blocks of 10 take 40.",
        "A limit for warps becomes a limit for whole blocks. Blocks of 8, 12 or 16 warps would fill all 48.",
    ),
    "a 32 x 32 tile on 8.6": Exercise(
        0.667,
        "32 warps a block, 48 places, whole blocks only.",
        "One block of 32 warps fits and a second one does not: 32 / 48. Smaller blocks can fill all 48.",
        0.01,
    ),
    "long rows": Exercise(
        1,
        "4 bytes an element, and a P100's multiprocessor has 65,536 bytes.",
        "40,000 bytes a block: one fits and a second does not. 8 warps of 64 are left to hide the memory's latency.",
    ),
    "spilled": Exercise(
        "c",
        "The compiler calls it local memory. Is it local to the chip?",
        "It is the thread's own by address only: device memory, behind the caches. Each spilled value costs a store and a "
        "load there.",
    ),
    "full occupancy": Exercise(
        "b",
        "What are the other warps for, while one waits?",
        "Occupancy is a means: enough warps to have something to run while others wait. A kernel whose threads have several "
        "independent loads under way needs fewer, and more registers a thread may be worth more than more warps.",
    ),
    "cycles as time": Exercise(
        0.1,
        "150,000 cycles at 1.5 GHz, in milliseconds.",
        "150e3 / 1.5e9 = 0.1 ms, for 4 MB: 40 GB/s, as the tutorial has it.",
        0.01,
    ),
    "overflow": Exercise(
        1.08,
        "The largest int is 2**31 - 1, and the clock runs at 1.98 GHz.",
        "2**31 / 1.98e9 = 1.08 s. The tutorial prints the difference of two clocks as an int; on a chip of today one thread's "
        "run would come out negative. Hence clock64.",
        0.01,
    ),
    "a clock for all blocks": Exercise(
        "b",
        "Do two multiprocessors count from the same start?",
        "clock64 counts each multiprocessor's own cycles. The last end minus the first start is only a time if both are read "
        "from one clock.",
    ),
    "too early": Exercise(
        "a",
        "When does a launch return?",
        "It returns as soon as the kernel is in the stream's queue. The host's clock must be read after waiting, or the events "
        "be asked.",
    ),
    # --- 07_sorting --------------------------------------------------------------------------------------------------
    "turns for four keys": Exercise(
        128,
        "Four keys, and 32 bits in each.",
        "4 * 32. Comparing four keys with each other takes six comparisons at most: for short lists radix sort by single bits "
        "is a waste, as the book says.",
    ),
    "keys in 48 KB": Exercise(
        6144,
        "A key takes 4 bytes, and its place in the work list 4 more.",
        "49,152 / 8. With two work lists it would be 4096. More keys in a block are fewer runs to merge.",
    ),
    "highest bit first": Exercise(
        "b",
        "From the lowest bit up, what must a pass leave as the pass before put it?",
        "From the lowest bit up each pass must be stable: keys with the same bit keep the order that lower bits gave them. An "
        "exchange is not. From the highest bit down nothing has been put in order yet, and the two parts never mix again.",
    ),
    "keys that one thread looks at": Exercise(
        262144,
        "256 lists, for every one of 1024 keys.",
        "1024 * 256, while 255 threads wait. With 8 lists it would be 8192. (Lists that have ended are passed over, hence "
        "`at most`.)",
    ),
    "lists of the serial merge": Exercise(
        6,
        "Try 4, 5, 6, 7, 8.",
        "32 / 6 + 6 = 11.3. With 4 and with 8 it is 12: the book measured that the best number lies between 4 and 8.",
    ),
    "atomics of equal keys": Exercise(
        32,
        "Who offers a key? And whose key is the minimum?",
        "16 offer their key, and since all 16 keys are the minimum, 16 offer their number. With different keys it is 17.",
    ),
    "second word": Exercise(
        "b",
        "What does thread 0 do between the two barriers of a round, and what do the others do meanwhile?",
        "Words of two rounds in turn: what is being set up is never what is being read.",
    ),
    "barriers of a tree": Exercise(
        10,
        "One before the tree, one after each step, one before the next round.",
        "log2(256) + 2. The atomics take two barriers, whatever the number of lists: for few lists, the tree is the slower one.",
    ),
    "threads at the last word": Exercise(
        32, "One thread for each group.", "256 / 8: no more than one warp, and at most 8 at a group's word."
    ),
    "key that means nothing": Exercise(
        0xFFFFFFFF,
        "32 bits, all of them set.",
        "4,294,967,295 is a key as any other. Whoever has ended must be known by something that is no key.",
    ),
    "barriers in one warp": Exercise(
        "b",
        "What does the hardware promise about the lanes of a warp since 2017?",
        "Each lane has a program counter of its own. What went well by luck may go wrong with the next compiler or chip; "
        "`__syncwarp` says what is meant, and also makes the lanes' writes visible to each other.",
    ),
    "launches of many blocks": Exercise(
        11,
        "How often must 1024 runs be halved until one is left? And who made the runs?",
        "One that sorts the pieces, ten that merge; each moves all keys through memory once.",
    ),
    "third bin": Exercise(
        18, "9 + 9.", "The sum of all counts before its own: exclusive. The inclusive scan says where each bin ends."
    ),
    "additions in a row": Exercise(
        321,
        "16,384 / 256 of its own; then one thread goes over 256 sums.",
        "64 + 256 + 1, where the serial kernel has 16,384. Of those, most belong to the one thread again: more threads would not help.",
    ),
    "time of a scan": Exercise(
        1.75,
        "8 bytes an element.",
        "8 * 1,048,576 / 4.8e12 s, however the sums are made. `blocks` reads everything twice: 12 bytes an element.",
        0.02,
    ),
    "questions for 64 bins": Exercise(
        7,
        "log2(64) + 1.",
        "Against 32 on average for one cut after the other, and no branch in which lanes could part.",
    ),
    "bins of a million": Exercise(
        256,
        "1,048,576 / 4608 = 227.6.",
        "The next power of two, and so 4096 keys a bin on average: 256 blocks, enough for every multiprocessor.",
    ),
    "share of the samples": Exercise(
        0.56,
        "126 / 225.",
        "More than half of the time for 1.6% of the keys. Without it 99 ms were left, and with the samples sorted on the CPU it measured 101.",
        0.01,
    ),
    "launches within": Exercise(
        6,
        "Which stage is launched more than once?",
        "Six kernels, as many as a sample sort of one level has; the seventh takes the cuts from the sorted samples.",
    ),
    "nearly sorted": Exercise(
        "b",
        "What did the count say about the keys of one warp?",
        "The book's reason is that threads part far less often, since the keys of each bin are almost the same; and that bins of "
        "equal size keep every multiprocessor busy. The work itself is the same: nobody looks whether keys are in order.",
    ),
    "keys in a run": Exercise(
        32,
        "8192 keys, 256 bins.",
        "128 bytes in a row, where keys one by one would take a sector of 32 bytes for each 4.",
    ),
    "bins for nothing": Exercise(
        2.63,
        "38% of the time is left.",
        "1 / 0.38 (Amdahl's law). And whoever made the sort of the samples free instead would gain 7%.",
        0.01,
    ),
    "keys of 65,535 blocks": Exercise(
        16776960,
        "65,535 * 256.",
        "Less than 17 million. The book's way out is a grid of two dimensions. Today a grid has 2^31 - 1 blocks along x, and a thread "
        "may take several keys.",
    ),
    "keys of one level": Exercise(
        2359296,
        "512 * 4608.",
        "2.4 million. A second level is enough for 512 times as many, 1.2 billion; all keys are then counted and moved once more.",
    ),
    "passes of eight bits": Exercise(
        4, "32 / 8.", "One pass a digit, where a pass a bit would be 32; beside them one pass that counts all digits."
    ),
    "least time of a sort": Exercise(
        7.86,
        "9 * 4 bytes a key.",
        "36 * 1,048,576 / 4.8e12 s: four and a half times that of a scan, and the book's 67 ms are 8500 times as long.",
        0.01,
    ),
    "copies of the keys": Exercise(
        1.05,
        "4,194,304 bytes, twice.",
        "Little beside 67 ms, and much beside the 8 us of the question before. A sort that is fast on the device pays for keys that are "
        "there already, or of which more is made there.",
        0.01,
    ),
    # --- 08_where_values_live ----------------------------------------------------------------------------------------
    "trips to memory": Exercise(
        64,
        "Each flag is ored into what is there.",
        "32 reads and 32 writes, each waiting for the one before. A register form makes one write: the book counts 31 of 32 saved.",
    ),
    "lost flag": Exercise(
        2147483647,
        "Which bits are set if i goes from 0 to 30?",
        "2**31 - 1: the highest bit, and with it the last flag, is missing. With flags that are rarely set it may go unseen for long.",
    ),
    "one word for all": Exercise(
        "b",
        "Two threads read the word, each sets its bit, each writes. What is in the word?",
        "A data race: one of the bits is lost, now and then. No figure that such a program gives can be used, its times neither. "
        "With a word for each thread the book's 7.7 becomes 1.7.",
    ),
    "local accesses": Exercise(
        33,
        "One value is put in. How many are added?",
        "A store and 32 loads, for one value from global memory and one to it. The caches bear most of that, and have "
        "nothing left for others.",
    ),
    "registers of two blocks": Exercise(
        32,
        "How many threads are 2 blocks of 1024?",
        "65,536 / 2048. The window alone is 32 values, and the thread needs registers for addresses and sums, too: the rest is spilled.",
    ),
    "turns of the constant cache": Exercise(
        32,
        "It gives one word at a time, to whoever asked for it.",
        "32 turns instead of one. For indices that differ between lanes, shared memory is made: it has 32 banks.",
    ),
    "between two points": Exercise(
        0.4,
        "5 lies halfway between 4 and 6.",
        "0.2 + (5 - 4) / (6 - 4) * (0.6 - 0.2). (Between 2 and 4, as the book has it, a 5 would lie outside its cell.)",
        0.001,
    ),
    "error of the filter": Exercise(
        1 / 512,
        "The weights are multiples of 1/256. How far from one can a number be?",
        "Half of 1/256 of the step: 0.002. A table with more points has smaller steps, and so smaller errors.",
        0.03,
    ),
    "atomics of equal elements": Exercise(
        32768,
        "One for the lanes that agree: here all 32.",
        "1,048,576 / 32. `global_atomics` sends a million to one word, which can only take them one after the other.",
    ),
    "largest exponent": Exercise(
        128,
        "A float's exponent has 8 bits; the largest number is about 3.4e38.",
        "2**128 is infinity already. The range is 2^126 to 2^128: there `__fdividef` gives 0.",
    ),
    "copies of a byte": Exercise(
        2,
        "Who can move the system's pages meanwhile?",
        "Into the driver's pinned buffer by the CPU, and from there to the device by the device. Pinned memory saves the first.",
    ),
    "overlap at most": Exercise(
        3,
        "Which of the three must still take its 10 ms?",
        "30 ms become little more than 10: the first piece's way in and the last one's way out remain. It takes streams, pinned "
        "memory, and a device that copies both ways at once.",
    ),
}
