// Device memory that the host cannot access, in whole programs. (In Python, arrays on the emulated device may be used
// where they are.)
//
//   an operation of a stream begins   emu_device_begin: all device memory is open
//   the last one that runs has ended  emu_device_end: the first pages of each allocation are closed
//   the host touches a closed page, or any by code that reports its accesses (--check) --> `touched` (host_access.c)
//
// To close and to open takes system calls. So it is done the first OFTEN times that the device becomes idle, and from
// then on as often as it takes a hundredth of the time.
//
// Invariant: while `users` is not 0, nothing is closed, or whoever has made it so is about to open it.
#include <stdatomic.h>

#include "host.h"
#include "table.h"

enum { OFTEN = 64, SHARE = 100, MOST_CLOSED = 1024 };

static _Atomic(emu_host_touched) touched; // NULL: no whole program runs
static atomic_int users;
static atomic_uint idle_count;
static atomic_ullong next_close; // in ns: not before then
// Where memory has been so far that kernels use: allocations, variables of programs, and memory of the host, each by
// itself as long as there is a place for it, because other memory of the host is near it.
enum { MOST_RANGES = 16 };
static struct range {
    atomic_uintptr_t lowest, highest;
} ranges[MOST_RANGES] = {{.lowest = UINTPTR_MAX}, {.lowest = UINTPTR_MAX}};
static atomic_int range_count = EMU_WATCHED_HOST;

static emu_host_touched is_on(void) {
    return atomic_load_explicit(&touched, memory_order_relaxed);
}

void emu_close(emu_host_touched then) {
    if (is_on()) return;
    emu_region_set_apart();
    atomic_store(&emu_table.is_closed, 1);
    atomic_store(&touched, then);
}

static void set_closed(emu_entry *entry, int closed) { // table's lock held
    if (entry->is_closed != closed && !emu_region_close(&entry->region, closed)) entry->is_closed = closed;
}

static void open_all(void) {
    pthread_mutex_lock(&emu_table.lock);
    for (size_t i = 0; i < emu_table.count; ++i) set_closed(&emu_table.entries[i], 0);
    atomic_store(&emu_table.is_closed, 0);
    pthread_mutex_unlock(&emu_table.lock);
}

static void close_all(void) {
    const uint64_t begin = emu_now_ns();
    pthread_mutex_lock(&emu_table.lock);
    atomic_store(&emu_table.is_closed, 1); // from here on, those who begin wait for the lock, to open it again
    if (atomic_load(&users)) {
        atomic_store(&emu_table.is_closed, 0);
    } else {
        int count = 0;
        for (size_t i = 0; i < emu_table.count && count < MOST_CLOSED; ++i) {
            emu_entry *const entry = &emu_table.entries[i];
            if (entry->kind != DEVICE) continue;
            emu_table_check(entry); // a wait will not be able to look at its canaries
            set_closed(entry, 1);
            ++count;
        }
    }
    pthread_mutex_unlock(&emu_table.lock);
    const uint64_t now = emu_now_ns();
    atomic_store(&next_close, now + 2 * SHARE * (now - begin)); // (to open takes as long)
}

void emu_device_begin(void) {
    if (!is_on()) return;
    atomic_fetch_add(&users, 1);
    if (atomic_load(&emu_table.is_closed)) open_all();
}

void emu_device_end(void) {
    if (!is_on() || atomic_fetch_sub(&users, 1) != 1) return;
    if (atomic_fetch_add_explicit(&idle_count, 1, memory_order_relaxed) < OFTEN ||
        emu_now_ns() >= atomic_load(&next_close))
        close_all();
}

void emu_host_watch(uintptr_t begin, size_t bytes, emu_watched what) {
    const int count = atomic_load(&range_count);
    int i = (int)what;
    if (what == EMU_WATCHED_HOST) // (table's lock held)
        while (i < count && (begin < ranges[i].lowest || begin + bytes > ranges[i].highest)) ++i;
    if (i == MOST_RANGES) --i;
    struct range *const in = &ranges[i];
    if (i == count) atomic_store(&in->lowest, begin);
    if (begin < atomic_load(&in->lowest)) atomic_store(&in->lowest, begin);
    if (begin + bytes > atomic_load(&in->highest)) atomic_store(&in->highest, begin + bytes);
    if (i == count) atomic_store(&range_count, count + 1);
}

void emu_closed_add(emu_entry *entry) {
    if (!is_on()) return;
    emu_host_watch(entry->base, entry->bytes, EMU_WATCHED_DEVICE);
    if (entry->kind == DEVICE && atomic_load(&emu_table.is_closed)) set_closed(entry, 1);
}

void emu_closed_remove(emu_entry *entry) {
    set_closed(entry, 0);
}

void emu_host_access(const void *address, size_t bytes, unsigned kind, const void *after) {
    const uintptr_t begin = (uintptr_t)address;
    const int count = atomic_load_explicit(&range_count, memory_order_relaxed);
    int i = 0;
    while (i < count && (begin < atomic_load_explicit(&ranges[i].lowest, memory_order_relaxed) ||
                         begin >= atomic_load_explicit(&ranges[i].highest, memory_order_relaxed)))
        ++i;
    if (i == count) return;
    emu_host_event event = {.address = begin, .bytes = bytes, .kind = kind, .code = (uintptr_t)after - 1};
    if (i == EMU_WATCHED_VARIABLE) event.memory.kind = EMU_MEMORY_SYMBOL;
    if (is_on()) is_on()(&event, 0);
}

int emu_host_fault(uintptr_t address, unsigned kind, uintptr_t code) {
    emu_host_event event = {.address = address, .bytes = 1, .kind = kind, .code = code};
    return is_on() && is_on()(&event, 1);
}
