// The launches of the sorts that use a single block and one thread per list. The table is in sort.cu.
#include "../ladder/01_radix_lists.cuh"
#include "../ladder/02_merge_serial.cuh"
#include "../ladder/03_merge_atomic_min.cuh"
#include "../ladder/04_merge_reduction.cuh"
#include "../ladder/05_merge_hybrid.cuh"

#include "common.cuh"

namespace sort {

#define RUN_LISTS(name)                                                                                              \
    RUN(name, with_key_type, (call->parameters[1] == SHARED ? name<T, true> : name<T, false>), input<T>(call, 0),    \
        output<T>(call), length(call), static_cast<uint32_t *>(context->workspace))

RUN_LISTS(radix_lists)
RUN_LISTS(merge_serial)
RUN_LISTS(merge_atomic_min)
RUN_LISTS(merge_reduction)
RUN_LISTS(merge_hybrid)

} // namespace sort
