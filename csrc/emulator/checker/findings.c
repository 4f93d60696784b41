// Findings: one for each place in the source, and the places.
//
//   a mistake at a place --> known of this launch, place and other place? yes: it counts once more
//                                 no --> a new finding; its lines are looked up when the host asks for the findings
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <sys/mman.h>
#include <unistd.h>

#include "checker.h"

enum { MOST_SITES = 65000, MOST_FINDINGS = 1000 };
static const char HOST_MEMORY[] = "memory of the host";

// --- Places --------------------------------------------------------------------------------------------------------

static site sites[MOST_SITES + 1]; // number 0: any other one
static uint16_t places[1 << 17];
static unsigned site_count, atomic_count;

static int is_same(const site *a, const site *b) {
    return a->code == b->code && a->line == b->line && a->file == b->file && a->kind == b->kind &&
           a->bytes == b->bytes;
}

unsigned site_number(const emu_where *at, unsigned kind, size_t bytes) {
    const site one = {at->code, at->file, at->line, kind, (unsigned)bytes};
    size_t i = ((one.code ^ (uintptr_t)one.file ^ ((size_t)one.line << 20) ^ kind * 77u) * 0x9e3779b97f4a7c15u >> 30);
    for (;; ++i) {
        uint16_t *const place = &places[i % (sizeof places / sizeof *places)];
        if (*place && is_same(&sites[*place], &one)) return *place;
        if (*place) continue;
        const int is_atomic = (kind & (EMU_ATOMIC | EMU_VOLATILE)) != 0;
        unsigned *const count = is_atomic ? &atomic_count : &site_count;
        if (*count == (is_atomic ? MOST_SITES - ATOMIC_SITES : ATOMIC_SITES - 1)) return 0;
        *place = (uint16_t)(++*count + (is_atomic ? ATOMIC_SITES - 1 : 0));
        sites[*place] = one;
        return *place;
    }
}

const site *site_of(unsigned number) {
    return &sites[number];
}

// --- Findings ------------------------------------------------------------------------------------------------------

static checker_finding findings[MOST_FINDINGS];
static struct {
    unsigned at, other;
    int is_complete;                // its lines are known
    uintptr_t calls[2][WORK_CALLS]; // of the work of CHECKER_STREAMS
} keys[MOST_FINDINGS];
static size_t count;

static void set_position(checker_access *to, uint32_t who) {
    const uint32_t one = operation_thread(who);
    const uint64_t block = one / checker_launch.threads;
    const unsigned thread = one % checker_launch.threads;
    const emu_dim3 grid = checker_launch.event->grid, shape = checker_launch.event->block;
    to->block[0] = (unsigned)(block % grid.x);
    to->block[1] = (unsigned)(block / grid.x % grid.y);
    to->block[2] = (unsigned)(block / grid.x / grid.y);
    to->thread[0] = thread % shape.x;
    to->thread[1] = thread / shape.x % shape.y;
    to->thread[2] = thread / shape.x / shape.y;
}

static void set_array(checker_finding *to, const interval *array) {
    to->parameter = -1;
    if (!array) return;
    to->parameter = array->parameter;
    to->length = array->end - array->begin;
    to->offset = (int64_t)(to->address - array->begin);
    if (array->variable) strncpy(to->variable, array->variable, sizeof to->variable - 1);
}

// Of an address in no memory of the device: whether an argument points to memory of the host, in which it lies.
static int is_hosts(uintptr_t address, interval *array) {
    const emu_launch_event *const launch = checker_launch.event;
    const uintptr_t far = 64 << 20, page = (uintptr_t)sysconf(_SC_PAGESIZE);
    *array = (interval){.parameter = -1, .variable = HOST_MEMORY};
    for (unsigned i = 0; i < launch->parameter_count; ++i) {
        const emu_parameter *const of = &launch->parameters[i];
        for (size_t at = 0; at + sizeof(uintptr_t) <= of->size; at += sizeof(uintptr_t)) { // (a struct has several)
            uintptr_t value;
            unsigned char is_resident;
            emu_memory_event memory;
            memcpy(&value, (const char *)launch->arguments + of->offset + at, sizeof value);
            if (value <= array->begin || address - value >= far || emu_memory_at((const void *)value, &memory))
                continue;
            if (mincore((void *)(value / page * page), page, &is_resident)) continue; // there is no such memory
            array->begin = array->end = value;
            array->parameter = (int)i;
        }
    }
    int contains;
    const interval *near = interval_near(array->begin, &contains);
    if (array->parameter < 0 || (contains && near) || interval_freed(array->begin)) return 0;
    near = interval_near(address, &contains); // which is more likely meant if it is nearer: a word may be no pointer
    return !near || (address < near->begin ? near->begin - address : address - near->end) > address - array->begin;
}

static checker_finding new_finding(checker_kind kind, const block_state *block, int thread,
                                   const emu_access_event *event) {
    const emu_launch_event *const launch = checker_launch.event;
    checker_finding result = {.kind = (int)kind,
                              .launch = launch->number,
                              .address = event->address,
                              .space = (int)event->space,
                              .count = 1};
    strncpy(result.kernel, launch->kernel, sizeof result.kernel - 1);
    memcpy(result.grid, &launch->grid, sizeof result.grid);
    memcpy(result.shape, &launch->block, sizeof result.shape);
    result.access.kind = event->kind;
    result.access.bytes = (unsigned)event->bytes;
    set_position(&result.access, block->first + (uint32_t)thread);
    return result;
}

// The last one is complete but for its lines, which are looked up later.
static void add_key(unsigned at, unsigned other) {
    keys[count].at = at;
    keys[count].other = other;
    keys[count++].is_complete = 0;
}

// Whether that finding is known, or cannot be added; if it is known, it counts once more.
static int is_no_new_one(checker_kind kind, uint64_t launch, unsigned at, unsigned other) {
    for (size_t i = 0; i < count; ++i) {
        if (findings[i].kind != (int)kind || keys[i].at != at || keys[i].other != other) continue;
        if (findings[i].launch != launch) continue;
        ++findings[i].count;
        return 1;
    }
    return count == MOST_FINDINGS;
}

checker_finding *findings_add(checker_kind kind, const block_state *block, int thread, unsigned at,
                              const emu_access_event *event, int64_t other_who, unsigned other,
                              const interval *array) {
    if (is_no_new_one(kind, checker_launch.event->number, at, other)) return NULL;
    checker_finding *const to = &findings[count];
    *to = new_finding(kind, block, thread, event);
    if (other_who >= 0) {
        to->other.kind = sites[other].kind;
        to->other.bytes = sites[other].bytes;
        set_position(&to->other, (uint32_t)other_who);
    }
    interval found;
    int contains = 0;
    if (kind == CHECKER_BOUNDS && event->space == EMU_SPACE_GLOBAL && is_hosts(event->address, &found)) {
        array = &found;
    } else if (!array) {
        const interval *const near = interval_near(event->address, &contains);
        if (contains && event->space != EMU_SPACE_SHARED)
            array = near;
        else if (interval_shared(block, event->address, event->space, &found))
            array = &found;
    }
    set_array(to, array);
    add_key(at, other);
    return to;
}

void findings_set_works(checker_finding *of, const stream_work *before) {
    const size_t i = (size_t)(of - findings);
    of->other_launch = before->launch;
    memcpy(of->other_kernel, before->kernel, sizeof of->other_kernel);
    memcpy(keys[i].calls[0], streams_current()->calls, sizeof keys[i].calls[0]);
    memcpy(keys[i].calls[1], before->calls, sizeof keys[i].calls[1]);
}

void findings_add_copy(uint64_t number, unsigned at, uintptr_t address, size_t bytes, const stream_work *before,
                       unsigned other) {
    if (is_no_new_one(CHECKER_STREAMS, number, at, other)) return;
    findings[count] = (checker_finding){.kind = CHECKER_STREAMS,
                                        .launch = number,
                                        .access = {.kind = sites[at].kind, .bytes = (unsigned)bytes},
                                        .other = {.kind = sites[other].kind, .bytes = sites[other].bytes},
                                        .address = address,
                                        .parameter = -1,
                                        .count = 1};
    add_key(at, other);
    findings_set_works(&findings[count - 1], before);
}

void findings_add_index(const block_state *block, const emu_where *at, int64_t index, const char *type) {
    const emu_access_event none = {.bytes = 1};
    const interval array = {.parameter = -1, .variable = type};
    const unsigned site = site_number(at, EMU_READS, 1);
    checker_finding *const to = findings_add(CHECKER_INDEX, block, at->thread, site, &none, -1, 0, &array);
    if (!to) return;
    to->offset = index;
    to->length = 0;
}

// A finding for each place where a launch has called malloc. `count`: the blocks that are in use.
enum { MOST_LEAKS = 256 };
static checker_finding leaks[MOST_LEAKS];
static unsigned leak_site[MOST_LEAKS], leak_count;

unsigned findings_malloc(const block_state *block, const emu_where *at, const emu_access_event *event) {
    const unsigned number = site_number(at, event->kind, 1);
    unsigned i = 0;
    while (i < leak_count && (leak_site[i] != number || leaks[i].launch != checker_launch.event->number)) ++i;
    if (i == MOST_LEAKS) return i;
    if (i == leak_count) {
        ++leak_count;
        leak_site[i] = number;
        leaks[i] = new_finding(CHECKER_LEAK, block, at->thread, event);
        leaks[i].count = 0;
        leaks[i].parameter = -1;
        leaks[i].length = event->bytes;
    }
    ++leaks[i].count;
    return i;
}

void findings_freed(unsigned leak) {
    if (leak < leak_count && leaks[leak].count) --leaks[leak].count;
}

// Adds a finding for each place from which memory is in use.
CHECKER_API void checker_find_leaks(void) {
    for (unsigned i = 0; i < leak_count && count < MOST_FINDINGS; ++i) {
        if (!leaks[i].count) continue;
        findings[count] = leaks[i];
        add_key(leak_site[i], 0);
    }
    leak_count = 0;
}

// The innermost call that is in no header of CUDA's.
emu_line findings_line(const uintptr_t *calls) {
    emu_line lines[WORK_CALLS];
    emu_user_lines(calls, WORK_CALLS, lines);
    int i = 0;
    while (i < WORK_CALLS - 1 && !lines[i].line) ++i;
    return lines[i];
}

// The program ends: waits until its kernels do, for ten seconds at most. Is there one that it has not waited for?
CHECKER_API int checker_last_launch_not_awaited(char (*kernel)[128], emu_line *call) {
    for (int left = 10000; streams_of_host() == STREAMS_RUN && left > 0; --left)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    stream_work work;
    if (!streams_last_launch(&work)) return 0;
    memcpy(*kernel, work.kernel, sizeof *kernel);
    *call = findings_line(work.calls);
    return 1;
}

// Looks up the lines of all new findings at once, because each look-up starts a process.
static void complete(void) {
    uintptr_t *const codes = malloc(2 * MOST_FINDINGS * sizeof *codes);
    emu_line **const lines = malloc(2 * MOST_FINDINGS * sizeof *lines);
    emu_line *const found = malloc(2 * MOST_FINDINGS * sizeof *found);
    if (!codes || !lines || !found) abort();
    size_t waiting = 0;
    for (size_t i = 0; i < count; ++i) {
        if (keys[i].is_complete) continue;
        keys[i].is_complete = 1;
        if (findings[i].kind == CHECKER_STREAMS) {
            findings[i].call = findings_line(keys[i].calls[0]);
            findings[i].other_call = findings_line(keys[i].calls[1]);
        }
        for (int side = 0; side < 2; ++side) {
            const site *const of = &sites[side ? keys[i].other : keys[i].at];
            emu_line *const line = side ? &findings[i].other.line : &findings[i].access.line;
            if (of->file) {
                line->line = of->line;
                strncpy(line->file, of->file, sizeof line->file - 1);
            } else if (of->code) {
                codes[waiting] = of->code;
                lines[waiting++] = line;
            }
        }
    }
    if (waiting) emu_user_lines(codes, waiting, found);
    for (size_t i = 0; i < waiting; ++i) *lines[i] = found[i];
    free(codes);
    free(lines);
    free(found);
}

CHECKER_API size_t checker_findings(const checker_finding **all) {
    complete();
    *all = findings;
    return count;
}

void findings_clear(void) {
    count = site_count = atomic_count = leak_count = 0;
    memset(places, 0, sizeof places);
}
