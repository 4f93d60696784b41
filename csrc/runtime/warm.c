// Host memory for large results, which is kept when it is freed. ("Warm" memory: the system has already mapped it.)
//
// The system maps new memory page by page, when it is first written, and fills each page with zeros. For a copy from
// an H200 to the host, this takes longer than the copy itself: 1.6 GB/s with one thread. Blocks are therefore asked
// for in large pages, of which there are 512 times fewer, and the next result of about the same size gets a freed
// block, without page faults.
//
//   freed --> kept: the newest last --> the next result that fits in it, and leaves at most 1/8 of it unused
//               '-- beyond the limit: the oldest --> the system
//
// Kept blocks are lent to the system: if memory is short, it takes their pages without writing them to a disk.
#define _GNU_SOURCE // madvise
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "state.h"

static const size_t LARGE_PAGE = 2 << 20;

// --- the system --------------------------------------------------------------------------------------------------
// A block that starts at a large page. NULL: no memory.
static void *map(size_t bytes) {
    char *start = mmap(NULL, bytes + LARGE_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (start == MAP_FAILED) return NULL;
    const size_t before = -(uintptr_t)start & (LARGE_PAGE - 1);
    if (before > 0) munmap(start, before);
    munmap(start + before + bytes, LARGE_PAGE - before);
    (void)madvise(start + before, bytes,
                  MADV_HUGEPAGE); // a system without large pages refuses, and that is all right
    return start + before;
}

static void unmap(const ck_block *blocks, int count) {
    for (int i = 0; i < count; i++) munmap(blocks[i].data, blocks[i].bytes);
}

// --- blocks that are kept ----------------------------------------------------------------------------------------
static int read_limit(ck_warm *warm, ck_error *error) { // lock held
    if (warm->is_set) return CK_OK;
    const int64_t quarter = (int64_t)sysconf(_SC_PHYS_PAGES) / 4 * (int64_t)sysconf(_SC_PAGESIZE);
    int64_t limit = quarter < (int64_t)4 << 30 ? quarter : (int64_t)4 << 30;
    CK_TRY(ck_setting("CUDAKERN_WARM_RESULTS", 0, (int64_t)1 << 50, &limit, error));
    warm->limit = (size_t)limit;
    warm->is_set = 1;
    return CK_OK;
}

static ck_block remove_block(ck_warm *warm, int i) { // lock held
    const ck_block block = warm->blocks[i];
    memmove(&warm->blocks[i], &warm->blocks[i + 1], sizeof block * (size_t)(--warm->count - i));
    warm->bytes -= block.bytes;
    return block;
}

static ck_block take_kept(ck_warm *warm, size_t bytes) { // lock held
    int best = -1;
    for (int i = warm->count - 1; i >= 0; i--) {
        const size_t size = warm->blocks[i].bytes;
        if (size < bytes || size - bytes > bytes / 8) continue;
        if (best < 0 || size < warm->blocks[best].bytes) best = i;
    }
    return best >= 0 ? remove_block(warm, best) : (ck_block){0};
}

int ck_warm_take(ck_runtime *runtime, size_t bytes, void **data, size_t *taken, ck_error *error) {
    ck_warm *warm = &runtime->warm;
    ck_block block = {.bytes = (bytes + LARGE_PAGE - 1) / LARGE_PAGE * LARGE_PAGE};
    *data = NULL;
    *taken = 0;
    ck_lock(runtime);
    const int status = read_limit(warm, error);
    const int is_on = status == CK_OK && warm->limit > 0 && block.bytes >= bytes;
    const ck_block kept = is_on ? take_kept(warm, block.bytes) : (ck_block){0};
    ck_unlock(runtime);
    if (!is_on) return status;
    if (kept.data != NULL)
        block = kept;
    else
        block.data = map(block.bytes);
    if (block.data == NULL) return CK_OK;
    *data = block.data;
    *taken = block.bytes;
    return CK_OK;
}

void ck_warm_give(ck_runtime *runtime, void *data, size_t bytes) {
    ck_warm *warm = &runtime->warm;
    ck_block out[CK_MOST_WARM];
    int count = 0;
    (void)madvise(data, bytes, MADV_FREE);
    ck_lock(runtime);
    const int is_kept = bytes <= warm->limit; // others need no room
    while (is_kept && warm->count > 0 && (warm->count == CK_MOST_WARM || warm->bytes + bytes > warm->limit))
        out[count++] = remove_block(warm, 0);
    if (is_kept) {
        warm->blocks[warm->count++] = (ck_block){.data = data, .bytes = bytes};
        warm->bytes += bytes;
    }
    ck_unlock(runtime);
    unmap(out, count);
    if (!is_kept) munmap(data, bytes);
}

void ck_warm_trim(ck_runtime *runtime) {
    ck_warm *warm = &runtime->warm;
    ck_block out[CK_MOST_WARM];
    ck_lock(runtime);
    const int count = warm->count;
    memcpy(out, warm->blocks, sizeof out);
    warm->count = 0;
    warm->bytes = 0;
    ck_unlock(runtime);
    unmap(out, count);
}

size_t ck_warm_kept(ck_runtime *runtime) {
    ck_lock(runtime);
    const size_t bytes = runtime->warm.bytes;
    ck_unlock(runtime);
    return bytes;
}
