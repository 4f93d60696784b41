// What a request costs: the sectors of global memory that it touches, or its passes through shared memory.
//
//   shared memory: word w of 4 bytes lies in bank w % 32; in a pass (wavefront), each bank gives one word to all
//   lanes that want it.
//      4 bytes per lane: one pass for each different word in the bank that has most of them
//      8 bytes: the halves of the warp come one after the other; 16 bytes: its quarters. Two neighboring parts of a
//      load come together if lanes i and i ^ 1, or lanes i and i ^ 2, read the same.
//      atomic operations whose results are used: one pass for each lane that wants the bank
#include <string.h>

#include "counters.h"

static unsigned bits(uint32_t of) { // (the compiler's is a call where it may not use an instruction for it)
    of -= of >> 1 & 0x55555555;
    of = (of & 0x33333333) + (of >> 2 & 0x33333333);
    return ((of + (of >> 4)) & 0x0f0f0f0f) * 0x01010101 >> 24;
}

// --- Global memory -------------------------------------------------------------------------------------------------

cost cost_of_global(const request *of, unsigned bytes, touched *to) {
    enum { PLACES = 128 };
    unsigned char place[PLACES] = {0}; // 1 + the line's number in `to`, by its address
    uint32_t mask[2 * LANES][LINE / SECTOR];
    cost result = {0};
    to->count = 0;
    for (uint32_t lanes = of->lanes; lanes; lanes &= lanes - 1) {
        uintptr_t at = of->address[__builtin_ctz(lanes)];
        for (unsigned left = bytes; left;) {
            const unsigned first = at % SECTOR, most = SECTOR - first, part = left < most ? left : most;
            const uintptr_t line = at / LINE;
            unsigned i = (unsigned)(line * 0x9e3779b97f4a7c15u >> 57);
            while (place[i] && to->of[place[i] - 1].line != line) i = (i + 1) % PLACES;
            if (!place[i]) {
                to->of[to->count].line = line;
                memset(mask[to->count], 0, sizeof *mask);
                place[i] = (unsigned char)++to->count;
            }
            mask[place[i] - 1][at % LINE / SECTOR] |= (part == 32 ? UINT32_MAX : (1u << part) - 1) << first;
            at += part;
            left -= part;
        }
    }
    for (unsigned i = 0; i < to->count; ++i) {
        to->of[i].sectors = to->of[i].whole = 0;
        for (unsigned sector = 0; sector < LINE / SECTOR; ++sector) {
            const uint32_t touches = mask[i][sector];
            if (!touches) continue;
            to->of[i].sectors |= (unsigned char)(1u << sector);
            to->of[i].whole |= (unsigned char)((touches == UINT32_MAX) << sector);
            ++result.sectors;
            result.used += bits(touches);
        }
    }
    return result;
}

// Atomic operations of several lanes on one address come one after the other: each time, the sectors count again.
cost cost_of_atomics(const request *of, unsigned bytes, touched *to) {
    request left = *of;
    cost result = cost_of_global(of, bytes, to);
    touched again;
    for (result.sectors = 0; left.lanes;) {
        request now = {0};
        for (unsigned lane = 0; lane < LANES; ++lane) {
            if (!(left.lanes >> lane & 1)) continue;
            int taken = 0;
            for (unsigned other = 0; other < lane; ++other)
                taken |= (now.lanes >> other & 1) && now.address[other] == left.address[lane];
            if (taken) continue;
            now.lanes |= 1u << lane;
            now.address[lane] = left.address[lane];
        }
        left.lanes &= ~now.lanes;
        result.sectors += cost_of_global(&now, bytes, &again).sectors;
    }
    return result;
}

// --- Shared memory -------------------------------------------------------------------------------------------------

// Passes for the lanes of a part of the warp, each of which accesses `words` words.
static unsigned passes(const request *of, uint32_t lanes, unsigned words) {
    uintptr_t seen[BANKS][LANES];
    unsigned char count[BANKS] = {0};
    unsigned most = 0;
    for (uint32_t left = lanes & of->lanes; left; left &= left - 1) {
        const uintptr_t first = of->address[__builtin_ctz(left)] / WORD;
        for (uintptr_t word = first; word < first + words; ++word) {
            const unsigned bank = word % BANKS;
            unsigned i = 0;
            while (i < count[bank] && seen[bank][i] != word) ++i;
            if (i < count[bank]) continue;
            seen[bank][count[bank]++] = word;
            if (count[bank] > most) most = count[bank];
        }
    }
    return most;
}

// The same if a bank serves one lane at a time, also if several want one word.
static unsigned turns(const request *of, uint32_t lanes, unsigned words) {
    unsigned count[BANKS] = {0}, most = 0;
    for (uint32_t left = lanes & of->lanes; left; left &= left - 1) {
        const uintptr_t first = of->address[__builtin_ctz(left)] / WORD;
        for (uintptr_t word = first; word < first + words; ++word)
            if (++count[word % BANKS] > most) most = count[word % BANKS];
    }
    return most;
}

// Whether each two lanes that differ in that bit read the same, as far as both take part.
static int are_pairs(const request *of, uint32_t lanes, unsigned bit) {
    for (uint32_t left = lanes & of->lanes; left; left &= left - 1) {
        const unsigned lane = (unsigned)__builtin_ctz(left), other = lane ^ bit;
        if ((of->lanes >> other & 1) && of->address[lane] != of->address[other]) return 0;
    }
    return 1;
}

cost cost_of_shared(const request *of, unsigned bytes, int can_merge) {
    const unsigned words = (bytes + WORD - 1) / WORD;
    const unsigned parts = words <= 1 ? 1 : words == 2 ? 2 : 4, size = LANES / parts;
    cost result = {0};
    for (unsigned part = 0; part < parts; ++part) {
        uint32_t lanes = parts == 1 ? UINT32_MAX : ((1u << size) - 1) << part * size;
        const uint32_t both = parts == 1 ? lanes : lanes | lanes << size;
        if (can_merge && part % 2 == 0 && parts > 1 && (are_pairs(of, both, 1) || are_pairs(of, both, 2))) {
            lanes = both;
            ++part;
        }
        if (!(lanes & of->lanes)) continue;
        result.wavefronts += passes(of, lanes, words);
        result.serial += turns(of, lanes, words);
        ++result.ideal;
    }
    return result;
}

enum { FROM = 56 }; // the bits of an address above these: 1 + the bank

uintptr_t copy_address(uintptr_t shared, const void *from) {
    return shared | (from ? (uintptr_t)from / WORD % BANKS + 1 : 0) << FROM;
}

// Data takes its way from a bank of the first-level cache to one of shared memory: each can give, or take, one word
// at a time. A word that goes to several places is given several times.
cost cost_of_copy(const request *of, unsigned bytes) {
    const unsigned words = (bytes + WORD - 1) / WORD, parts = words <= 1 ? 1 : words == 2 ? 2 : 4;
    request to = *of, from = {0};
    cost result = {0};
    for (uint32_t left = of->lanes; left; left &= left - 1) {
        const unsigned lane = (unsigned)__builtin_ctz(left);
        const uintptr_t bank = of->address[lane] >> FROM;
        to.address[lane] &= ((uintptr_t)1 << FROM) - 1;
        if (bank) from.lanes |= 1u << lane, from.address[lane] = (bank - 1) * WORD;
    }
    for (unsigned part = 0; part < parts; ++part) {
        const uint32_t lanes = parts == 1 ? UINT32_MAX : ((1u << LANES / parts) - 1) << part * LANES / parts;
        if (!(lanes & of->lanes)) continue;
        const unsigned writes = passes(&to, lanes, words), reads = turns(&from, lanes, words);
        result.wavefronts += writes > reads ? writes : reads;
        ++result.ideal;
    }
    return result;
}
