// The launches of the sorts that use a single block and one thread per list. The table is in sort.cu.
#include "radix_lists.cuh"
#include "merge_serial.cuh"
#include "merge_atomic_min.cuh"
#include "merge_reduction.cuh"
#include "merge_hybrid.cuh"

#include "launches.cuh"

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
