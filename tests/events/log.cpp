// A tool of the emulator: subscribes to all events, counts them, and writes each one as a line of text.
// test_events.py builds it against the installed headers, and reads the lines.
#include <emulator/events.h>

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <mutex>
#include <string>

#define ENTRY extern "C" __attribute__((visibility("default")))

namespace {

struct Log {
    std::mutex lock; // blocks run on several OS threads
    std::string text;
    int skipped_block = -1, failing_thread = -1, yields = 0;
} shared;
int other;

const char *const BARRIERS[] = {"sync", "count", "and", "or", "grid", "part", "cluster", "mbarrier"};
const char *const STAGES[] = {"starts", "arrives", "opens", "leaves"};
const char *const ASYNC_STAGES[] = {"begins", "commits", "waits", "ends", "fences"};
const char *const SPACES[] = {"global", "shared", "local"};
const char *const AGENTS[] = {"thread", "copy", "load", "store", "product", "matrix", "mbarrier", "texture", "print"};
const char *const ORDERS[] = {"work", "record", "wait", "stream", "event", "device", "calls"};
const char *const KINDS[] = {"device", "pinned", "registered", "symbol", "heap", "managed"};
static_assert(sizeof BARRIERS / sizeof *BARRIERS == EMU_BARRIERS, "");
static_assert(sizeof STAGES / sizeof *STAGES == EMU_BARRIER_STAGES, "");
static_assert(sizeof ASYNC_STAGES / sizeof *ASYNC_STAGES == EMU_ASYNC_STAGES, "");
static_assert(sizeof SPACES / sizeof *SPACES == EMU_SPACES, "");
static_assert(sizeof AGENTS / sizeof *AGENTS == EMU_AGENTS, "");
static_assert(sizeof ORDERS / sizeof *ORDERS == EMU_ORDER_KINDS, "");
static_assert(sizeof KINDS / sizeof *KINDS == EMU_MEMORY_KINDS, "");

__attribute__((format(printf, 1, 2))) void add(const char *format, ...) {
    char line[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    const std::lock_guard<std::mutex> held(shared.lock);
    shared.text += line;
}

std::string without_spaces(std::string text) {
    for (char &c : text) c = c == ' ' ? '_' : c;
    return text;
}

// The first words of an event in a block.
struct Place {
    char text[200];
    explicit Place(const emu_where *at) {
        const char *file = at->file ? strrchr(at->file, '/') : nullptr;
        snprintf(text, sizeof text, "launch=%llu block=%llu thread=%d file=%s line=%d code=%zu",
                 (unsigned long long)at->block->launch->number, (unsigned long long)at->block->number, at->thread,
                 file ? file + 1 : "-", at->line, (size_t)at->code);
    }
};

void launch_begin(void *, emu_launch_event *launch) {
    launch->own = &shared;
    add("launch_begin launch=%llu kernel=%s grid=%u block=%u cluster=%u parameters=%u stream=%llu order=%llu\n",
        (unsigned long long)launch->number, without_spaces(launch->kernel).c_str(), launch->grid.x, launch->block.x,
        launch->cluster.x, launch->parameter_count, launch->stream, (unsigned long long)launch->order);
}
void launch_end(void *, emu_launch_event *launch, int code) {
    add("launch_end launch=%llu code=%d own=%d\n", (unsigned long long)launch->number, code, launch->own == &shared);
}
int block_begin(void *, emu_block_event *block) {
    block->own = block;
    add("block_begin block=%llu x=%u rank=%d shared=%zu shared_bytes=%zu statics=%zu static_bytes=%zu\n",
        (unsigned long long)block->number, block->index.x, block->rank, (size_t)block->shared, block->shared_bytes,
        (size_t)block->statics, block->static_bytes);
    return (int)block->number != shared.skipped_block;
}
void block_end(void *, emu_block_event *block, int complete) {
    add("block_end block=%llu complete=%d own=%d\n", (unsigned long long)block->number, complete,
        block->own == block);
}
void thread_begin(void *, const emu_where *at) {
    add("thread_begin %s\n", Place(at).text);
}
void thread_end(void *, const emu_where *at) {
    add("thread_end %s\n", Place(at).text);
}
void access(void *, const emu_where *at, const emu_access_event *a) {
    add("access %s address=%zu bytes=%zu kind=%s%s%s%s space=%s by=%s operation=%llu\n", Place(at).text,
        (size_t)a->address, a->bytes, a->kind & EMU_READS ? "r" : "", a->kind & EMU_WRITES ? "w" : "",
        a->kind & EMU_ATOMIC ? "a" : "", a->kind & EMU_PENDING ? "p" : "", SPACES[a->space], AGENTS[a->by],
        (unsigned long long)a->operation);
    if (a->by != EMU_BY_THREAD) return;
    if (at->thread == shared.failing_thread) emu_fail("the tool found a mistake", at->file, at->line);
    if (shared.yields) emu_yield();
}
void barrier(void *, const emu_where *at, const emu_barrier_event *b) {
    add("barrier %s kind=%s stage=%s object=%zu number=%d count=%d bytes=%d\n", Place(at).text, BARRIERS[b->kind],
        STAGES[b->stage], (size_t)b->object, b->number, b->count, b->bytes);
}
void warp(void *, const emu_where *at, const emu_warp_event *w) {
    add("warp %s kind=%d name=%s mask=%u lanes=%u\n", Place(at).text, w->kind, without_spaces(w->name).c_str(),
        w->mask, w->lanes);
}
void async(void *, const emu_where *at, const emu_async_event *a) {
    add("async %s stage=%s by=%s operation=%llu mbarrier=%zu groups=%d reads_only=%d\n", Place(at).text,
        ASYNC_STAGES[a->stage], AGENTS[a->by], (unsigned long long)a->operation, (size_t)a->mbarrier, a->groups,
        a->reads_only);
}
void copy(void *, const emu_copy_event *c) {
    add("copy to=%zu from=%zu width=%zu height=%zu value=%d stream=%llu order=%llu host_waits=%d\n", (size_t)c->to,
        (size_t)c->from, c->width, c->height, c->value, c->stream, (unsigned long long)c->order, c->host_waits);
}
void memory(const char *name, const emu_memory_event *m) {
    add("%s address=%zu bytes=%zu kind=%s device=%d %s\n", name, (size_t)m->address, m->bytes, KINDS[m->kind],
        m->device, m->at ? Place(m->at).text : "");
}
void allocate(void *, const emu_memory_event *m) {
    memory("allocate", m);
}
void release(void *, const emu_memory_event *m) {
    memory("release", m);
}
void fence(void *, const emu_where *at, unsigned scope) {
    add("fence %s scope=%s\n", Place(at).text,
        scope & EMU_OF_BLOCK    ? "block"
        : scope & EMU_OF_SYSTEM ? "system"
                                : "device");
}
void index(void *, const emu_where *at, int64_t index, const char *type) {
    add("index %s index=%lld type=%s\n", Place(at).text, (long long)index, without_spaces(type).c_str());
}
void order(void *, const emu_order_event *o) {
    add("order kind=%s order=%llu stream=%llu device=%d legacy=%d blocking=%d event=%zu\n", ORDERS[o->kind],
        (unsigned long long)o->order, o->stream, o->device, o->is_legacy, o->is_blocking, (size_t)o->event);
}

void failure(void *, const emu_failure_event *f) {
    add("failure kind=%d code=%d grid=%u block=%u message=%s\n", f->kind, f->code, f->grid.x, f->block.x,
        without_spaces(f->message).c_str());
}

const emu_events TABLE = {sizeof(emu_events),
                          launch_begin,
                          launch_end,
                          block_begin,
                          block_end,
                          thread_begin,
                          thread_end,
                          access,
                          barrier,
                          warp,
                          async,
                          copy,
                          allocate,
                          release,
                          fence,
                          index,
                          0,
                          order,
                          nullptr,
                          failure,
                          nullptr};

} // namespace

ENTRY int log_begin(int skipped_block, int failing_thread, int yields, int one_at_a_time) {
    shared.text.clear();
    shared.skipped_block = skipped_block;
    shared.failing_thread = failing_thread;
    shared.yields = yields;
    emu_events table = TABLE;
    table.one_at_a_time = one_at_a_time != 0;
    return emu_subscribe(&table, &shared);
}
ENTRY int log_end() {
    return emu_unsubscribe(&shared);
}
ENTRY const char *log_text() {
    return shared.text.c_str();
}
// Another tool, with a table of `size` bytes that wants nothing: subscribes, or unsubscribes.
ENTRY int log_other(size_t size) {
    emu_events table = {};
    table.size = size;
    return emu_subscribe(&table, &other);
}
ENTRY int log_other_ends() {
    return emu_unsubscribe(&other);
}
// The kind and bytes of the allocation there; -1: there is none.
ENTRY int log_memory_at(const void *address, size_t *bytes) {
    emu_memory_event found;
    if (!emu_memory_at(address, &found)) return -1;
    *bytes = found.bytes;
    return (int)found.kind;
}
