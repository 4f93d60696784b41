// The host's own functions under the names by which programs' kernels know them (device_memory.h). Where `cudakern
// cc` links, the linker does this; other compilers do not know that it should. malloc in kernels is the host's then.
#include <cstdint>
#include <cstdlib>
#include <new>

#include <link.h>
#include <sys/auxv.h>

// As in start.cpp, but not in a library: another program's host may use arrays of the device where they are.
extern "C" void emu_keep_host_out(void);
extern "C" __attribute__((visibility("hidden"))) const ElfW(Ehdr) __ehdr_start;
static const bool is_program =
    getauxval(AT_PHDR) == reinterpret_cast<uintptr_t>(&__ehdr_start) + __ehdr_start.e_phoff;
static const int kept_out = is_program ? (emu_keep_host_out(), 0) : 0;

extern "C" {
void *__real_malloc(size_t bytes) {
    return malloc(bytes);
}
void __real_free(void *pointer) {
    free(pointer);
}
void *__real__Znwm(size_t bytes) {
    return operator new(bytes);
}
void *__real__Znam(size_t bytes) {
    return operator new[](bytes);
}
void __real__ZdlPv(void *pointer) {
    operator delete(pointer);
}
void __real__ZdaPv(void *pointer) {
    operator delete[](pointer);
}
void __real__ZdlPvm(void *pointer, size_t) {
    operator delete(pointer);
}
void __real__ZdaPvm(void *pointer, size_t) {
    operator delete[](pointer);
}
}
