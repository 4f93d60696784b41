// Symbols: __constant__ and __device__ variables, accessed by the host.
//
//   float table[64] of a library of kernels  --emu_symbol-->  a SYMBOL in memory.c's table of allocations
//
// Here a symbol is an ordinary variable with the same address for kernels and host. The first call that names it
// registers it as device memory. From then on copies check its bounds, whether they use its name or its address.
// Invariant: a library whose symbols are registered stays loaded, so no address in the table can be reused.
#define _GNU_SOURCE
#include "host.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

// The size of the variable at `offset` in a file of `bytes` bytes; 0: the file's tables of symbols do not say.
static size_t size_in_table(const char *file, size_t bytes, uintptr_t offset) {
    const Elf64_Ehdr *header = (const void *)file;
    if (bytes < sizeof *header || memcmp(header->e_ident, ELFMAG, SELFMAG) ||
        header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_shoff > bytes ||
        header->e_shnum > (bytes - header->e_shoff) / sizeof(Elf64_Shdr))
        return 0;
    const Elf64_Shdr *sections = (const void *)(file + header->e_shoff);
    for (unsigned i = 0; i < header->e_shnum; i++) {
        const Elf64_Shdr section = sections[i];
        if ((section.sh_type != SHT_SYMTAB && section.sh_type != SHT_DYNSYM) || section.sh_offset > bytes ||
            section.sh_size > bytes - section.sh_offset)
            continue;
        const Elf64_Sym *symbols = (const void *)(file + section.sh_offset);
        for (size_t k = 0; k < section.sh_size / sizeof *symbols; k++)
            if (ELF64_ST_TYPE(symbols[k].st_info) == STT_OBJECT && symbols[k].st_value == offset &&
                symbols[k].st_size)
                return symbols[k].st_size;
    }
    return 0;
}

// A variable of which only the address is known: the file of its program or library says how large it is.
static size_t size_in_file(const void *symbol) {
    Dl_info information;
    struct link_map *map;
    if (!dladdr1(symbol, &information, (void **)&map, RTLD_DL_LINKMAP)) return 0;
    const int file = open(*map->l_name ? map->l_name : "/proc/self/exe", O_RDONLY | O_CLOEXEC);
    struct stat about;
    if (file < 0) return 0;
    void *data = MAP_FAILED;
    if (!fstat(file, &about) && about.st_size > 0)
        data = mmap(NULL, (size_t)about.st_size, PROT_READ, MAP_PRIVATE, file, 0);
    close(file);
    if (data == MAP_FAILED) return 0;
    const size_t size = size_in_table(data, (size_t)about.st_size, (uintptr_t)symbol - map->l_addr);
    munmap(data, (size_t)about.st_size);
    return size;
}

// `size` 0: only the address is known, as for symbols in C.
static int find(const void *symbol, size_t size, const char *call, emu_allocation *match) {
    int device, code = emu_enter(&device);
    if (code) return code;
    if (emu_find_allocation(symbol, match)) {
        if (match->is_symbol == 2 && size && size <= match->base + match->bytes - (uintptr_t)symbol) {
            match->base = (uintptr_t)symbol;
            match->bytes = size;
            return cudaSuccess;
        }
        if (match->is_symbol && match->base == (uintptr_t)symbol && (!size || size == match->bytes))
            return cudaSuccess;
    } else if (symbol && emu_keep_loaded(symbol) && (size || (size = size_in_file(symbol)))) {
        // A static variable, in a library or the program.
        code = emu_register((void *)(uintptr_t)symbol, size, 1);
        if (code) return code;
        *match = (emu_allocation){.base = (uintptr_t)symbol, .bytes = size, .device = device, .is_symbol = 1};
        return cudaSuccess;
    }
    return emu_error(cudaErrorInvalidSymbol, "%s: %p is not a __constant__ or __device__ variable", call, symbol);
}

int emu_symbol(void **address, size_t *bytes, const void *symbol, size_t size) {
    const char *call = address ? "cudaGetSymbolAddress" : "cudaGetSymbolSize";
    if (!address && !bytes) return emu_error(cudaErrorInvalidValue, "%s: the pointer for the result is NULL", call);
    emu_allocation match;
    int code = find(symbol, size, call, &match);
    if (code) return code;
    if (address) *address = (void *)match.base;
    if (bytes) *bytes = match.bytes;
    return cudaSuccess;
}

int emu_copy_symbol(const void *symbol, size_t size, size_t offset, void *other, size_t bytes, int kind,
                    int to_symbol, void *stream, int async) {
    const char *call = to_symbol ? (async ? "cudaMemcpyToSymbolAsync" : "cudaMemcpyToSymbol")
                                 : (async ? "cudaMemcpyFromSymbolAsync" : "cudaMemcpyFromSymbol");
    emu_allocation match;
    int code = find(symbol, size, call, &match);
    if (code) return code;
    if (kind != (to_symbol ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToHost) && kind != cudaMemcpyDeviceToDevice &&
        kind != cudaMemcpyDefault)
        return emu_error(cudaErrorInvalidMemcpyDirection,
                         "%s: kind %d; a symbol is device memory, so the kind must be %s, DeviceToDevice or Default",
                         call, kind, to_symbol ? "HostToDevice" : "DeviceToHost");
    if (offset > match.bytes || bytes > match.bytes - offset)
        return emu_error(cudaErrorInvalidValue, "%s: %zu bytes from byte %zu on; the symbol has only %zu bytes", call,
                         bytes, offset, match.bytes);
    char *at = (char *)match.base + offset;
    return emu_copy(to_symbol ? (void *)at : other, bytes, to_symbol ? other : (void *)at, bytes, bytes, 1, kind,
                    stream, async);
}
