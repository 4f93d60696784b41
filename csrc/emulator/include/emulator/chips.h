// Data of the chips. The emulator's core includes this file with macros of its own (core/chips.c); Python reads it as
// text, for the occupancy calculator, device_query and the limits of profile (cudakern/chips/chip.py). Therefore each
// line contains one entry of numbers and strings. clang-format off

#ifdef CAPABILITY
// The resources of a multiprocessor by compute capability (90 is 9.0), and the units in which they are allocated.
// Sizes: the table "Technical Specifications per Compute Capability" of the CUDA C++ Programming Guide, whose
// editions up to 11, 12 and 13 contain the older, middle and newest chips. Units and partitions: the occupancy
// calculator's sheet of chips and the toolkit's header cuda_occupancy.h (13.0). Multiply-adds: the guide's table
// "Throughput of Native Arithmetic Instructions" and the architectures' white papers; 0: unknown. 101 and 110 are
// both Thor, in CUDA 12 and CUDA 13.
//
//              resident     | shared memory, KB       | pieces, | registers, K      | register   | multiply-adds
//              warps blocks | all  opt-in,  reserved, | bytes   | all, at most per  | partitions | float32 float64
//                           |      per      per       |         | block             |            |
//                           |      block    block     |         |                   |            |
CAPABILITY(35, 64, 16, 48, 48, 0, 256, 64, 64, 4, 192, 64)
CAPABILITY(37, 64, 16, 112, 48, 0, 256, 128, 64, 4, 192, 64)
CAPABILITY(50, 64, 32, 64, 48, 0, 256, 64, 64, 4, 128, 4)
CAPABILITY(52, 64, 32, 96, 48, 0, 256, 64, 64, 4, 128, 4)
CAPABILITY(53, 64, 32, 64, 48, 0, 256, 64, 32, 4, 128, 4)
CAPABILITY(60, 64, 32, 64, 48, 0, 256, 64, 64, 2, 64, 32)
CAPABILITY(61, 64, 32, 96, 48, 0, 256, 64, 64, 4, 128, 4)
CAPABILITY(62, 64, 32, 64, 48, 0, 256, 64, 32, 4, 128, 4)
CAPABILITY(70, 64, 32, 96, 96, 0, 256, 64, 64, 4, 64, 32)
CAPABILITY(72, 64, 32, 96, 96, 0, 256, 64, 64, 4, 64, 32)
CAPABILITY(75, 32, 16, 64, 64, 0, 256, 64, 64, 4, 64, 2)
CAPABILITY(80, 64, 32, 164, 163, 1, 128, 64, 64, 4, 64, 32)
CAPABILITY(86, 48, 16, 100, 99, 1, 128, 64, 64, 4, 128, 2)
CAPABILITY(87, 48, 16, 164, 163, 1, 128, 64, 64, 4, 128, 2)
CAPABILITY(89, 48, 24, 100, 99, 1, 128, 64, 64, 4, 128, 2)
CAPABILITY(90, 64, 32, 228, 227, 1, 128, 64, 64, 4, 128, 64)
CAPABILITY(100, 64, 32, 228, 227, 1, 128, 64, 64, 4, 128, 64)
CAPABILITY(101, 48, 24, 228, 227, 1, 128, 64, 64, 4, 128, 0)
CAPABILITY(103, 64, 32, 228, 227, 1, 128, 64, 64, 4, 128, 0)
CAPABILITY(110, 48, 24, 228, 227, 1, 128, 64, 64, 4, 128, 0)
CAPABILITY(120, 48, 24, 100, 99, 1, 128, 64, 64, 4, 128, 2)
CAPABILITY(121, 48, 24, 100, 99, 1, 128, 64, 64, 4, 128, 2)
#endif

#ifdef CHIP
// The chips that the emulator can present itself as. Sources: data sheets, architecture white papers, and the
// properties that the chips report. Clocks are boost clocks; the memory's transfer rate is twice its clock. H200-1G
// is the smallest slice of an H200 that administrators can give to a user (nvidia-smi mig -lgip).
//
//                                          capa-   multi-      clock,   memory's  bus,   memory,  L2,  copy
//    name       full name                  bility  processors  kHz      clock     bits   MB       MB   engines
CHIP("H200", "NVIDIA H200", 90, 132, 1980000, 3201000, 6016, 143156, 60, 3)
CHIP("H200-1G", "NVIDIA H200 MIG 1g.18gb", 90, 16, 1980000, 3201000, 752, 16384, 7, 1)
CHIP("H100", "NVIDIA H100 80GB HBM3", 90, 132, 1980000, 2619000, 5120, 81090, 50, 3)
CHIP("A100", "NVIDIA A100-SXM4-80GB", 80, 108, 1410000, 1593000, 5120, 81038, 40, 3)
CHIP("V100", "Tesla V100-SXM2-16GB", 70, 80, 1530000, 877000, 4096, 16151, 6, 5)
CHIP("P100", "Tesla P100-SXM2-16GB", 60, 56, 1480500, 715000, 4096, 16276, 4, 2)
#endif
