// The host's own functions under the names by which programs' kernels know them (device_memory.h). Where `cudakern
// cc` links, the linker does this; other compilers do not know that it should. malloc in kernels is the host's then.
#include <cstdlib>
#include <new>

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
