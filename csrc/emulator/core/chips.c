// The chips that the emulator can present itself as. Their data is in emulator/chips.h, which Python reads too.
#include "host.h"

#include <stdio.h>
#include <strings.h>

#define KB(n) ((size_t)(n) << 10)
#define MB(n) ((size_t)(n) << 20)

// clang-format off
#define CAPABILITY(number, ...) OF_##number, // its index in MULTIPROCESSORS
enum {
#include "emulator/chips.h"
};
#undef CAPABILITY

#define CAPABILITY(number, warps, blocks, shared, by_opt_in, reserved, piece, registers, of_block, partitions, f32, f64) \
    {number, warps, blocks, KB(shared), KB(by_opt_in), KB(reserved), piece, registers << 10, of_block << 10, f32, f64},
static const emu_multiprocessor MULTIPROCESSORS[] = {
#include "emulator/chips.h"
};
#undef CAPABILITY

#define CHIP(name, full_name, capability, count, clock, memory_clock, bus, memory, l2, engines) \
    {name, full_name, &MULTIPROCESSORS[OF_##capability], count, clock, memory_clock, bus, MB(memory), MB(l2), engines},
static const emu_chip CHIPS[] = {
#include "emulator/chips.h"
};
#undef CHIP
// clang-format on
enum { CHIP_COUNT = sizeof CHIPS / sizeof *CHIPS };

const emu_chip *emu_find_chip(const char *name) {
    for (int i = 0; i < CHIP_COUNT; i++)
        if (!strcasecmp(CHIPS[i].name, name)) return &CHIPS[i];
    return NULL;
}

void emu_list_chips(char *text, size_t size) {
    size_t used = 0;
    for (int i = 0; i < CHIP_COUNT && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%s", i ? ", " : "one of ", CHIPS[i].name);
}
