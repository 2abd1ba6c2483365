/* What this machine is, and the few things the benchmark needs of its system. */
#include "measure.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#define HUGE_PAGE ((size_t)2 << 20)

#if defined(__clang__)
#define COMPILER "clang " __clang_version__
#else
#define COMPILER "gcc " __VERSION__
#endif

static void cpu_name(char *name, size_t size) {
    struct utsname system = {0};
    uname(&system);
    snprintf(name, size, "%s processor", system.machine);
    FILE *file = fopen("/proc/cpuinfo", "r");
    char line[256];
    while (file && fgets(line, sizeof line, file)) {
        char *value = strchr(line, ':');
        if (strncmp(line, "model name", 10) != 0 || !value) continue;
        value += 1 + strspn(value + 1, " \t");
        value[strcspn(value, "\n")] = '\0';
        snprintf(name, size, "%s", value);
        break;
    }
    if (file) fclose(file);
}

/* The system marks its choice with brackets: "always [madvise] never". */
static void huge_page_policy(char *policy, size_t size) {
    snprintf(policy, size, "unknown");
    FILE *file = fopen("/sys/kernel/mm/transparent_hugepage/enabled", "r");
    char line[128];
    if (file && fgets(line, sizeof line, file)) {
        char *begin = strchr(line, '['), *end = strchr(line, ']');
        if (begin && end) snprintf(policy, size, "%.*s", (int)(end - begin - 1), begin + 1);
    }
    if (file) fclose(file);
}

/* Any filter knows which instructions the library chose. */
static const char *library_isa(void) {
    perhaps_want want = PERHAPS_WANT(.kind = PERHAPS_BLOCKED, .items = 1000, .fpr = 0.01);
    struct perhaps_info info = {.size = sizeof info, .isa = "unknown"};
    perhaps *f;
    if (perhaps_create(&f, &want) < 0) return info.isa;
    perhaps_info(f, &info);
    perhaps_free(f);
    return info.isa;
}

static uint64_t system_number(int name) {
    long number = sysconf(name);
    return number > 0 ? (uint64_t)number : 0;
}

void machine_describe(struct machine *machine) {
    memset(machine, 0, sizeof *machine);
    cpu_name(machine->cpu, sizeof machine->cpu);
    huge_page_policy(machine->huge_pages, sizeof machine->huge_pages);
    machine->compiler = COMPILER;
    machine->isa = library_isa();
    machine->cores = (unsigned)system_number(_SC_NPROCESSORS_ONLN);
    machine->memory = system_number(_SC_PHYS_PAGES) * system_number(_SC_PAGESIZE);
#ifdef _SC_LEVEL1_DCACHE_SIZE
    machine->l1d = system_number(_SC_LEVEL1_DCACHE_SIZE);
    machine->l2 = system_number(_SC_LEVEL2_CACHE_SIZE);
    machine->l3 = system_number(_SC_LEVEL3_CACHE_SIZE);
#endif
}

void machine_pin(void) {
    int core = sched_getcpu();
    cpu_set_t set;
    if (core < 0 || core >= CPU_SETSIZE) return;
    CPU_ZERO(&set);
    CPU_SET((size_t)core, &set);
    sched_setaffinity(0, sizeof set, &set); /* if refused, the figures are a little noisier */
}

void machine_unpin(void) {
    cpu_set_t set;
    CPU_ZERO(&set);
    for (size_t core = 0; core < CPU_SETSIZE; core++) CPU_SET(core, &set);
    sched_setaffinity(0, sizeof set, &set);
}

static double clock_nanoseconds(clockid_t clock) {
    struct timespec time;
    clock_gettime(clock, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

double machine_now(void) {
    return clock_nanoseconds(CLOCK_MONOTONIC);
}

double machine_worked(void) {
    return clock_nanoseconds(CLOCK_THREAD_CPUTIME_ID);
}

enum { ARITHMETIC_STEPS = 1 << 26 };

static void *count_steps(void *steps) {
    uint64_t *count = steps, sum = 0;
    for (uint64_t i = *count; i > 0; i--) sum = (sum ^ i) * UINT64_C(0x9E3779B97F4A7C15);
    *(volatile uint64_t *)count = sum; /* or compilers would not count at all */
    return NULL;
}

double machine_arithmetic(int with_two) {
    uint64_t here = ARITHMETIC_STEPS / 2, there = here;
    double begin = machine_now();
    pthread_t other;
    int is_shared = with_two && pthread_create(&other, NULL, count_steps, &there) == 0;
    count_steps(&here);
    if (is_shared)
        pthread_join(other, NULL);
    else
        count_steps(&there);
    return machine_now() - begin;
}

static size_t whole_huge_pages(uint64_t bytes) {
    return ((size_t)bytes + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
}

void *machine_fresh_memory(uint64_t bytes) {
    if (bytes > SIZE_MAX / 2) return NULL;
    size_t length = whole_huge_pages(bytes);
    /* Huge pages are aligned to their size, mappings are not: take one more and return the ends. */
    char *start = mmap(NULL, length + HUGE_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (start == MAP_FAILED) return NULL;
    size_t before = (HUGE_PAGE - (uintptr_t)start % HUGE_PAGE) % HUGE_PAGE;
    char *memory = start + before;
    if (before) munmap(start, before);
    if (before < HUGE_PAGE) munmap(memory + length, HUGE_PAGE - before);
#ifdef MADV_HUGEPAGE
    madvise(memory, length, MADV_HUGEPAGE);
#endif
    return memory;
}

void *machine_memory(uint64_t bytes) {
    void *memory = machine_fresh_memory(bytes);
    /* The pages are there before any clock runs. */
    if (memory) memset(memory, 0, whole_huge_pages(bytes));
    return memory;
}

void machine_release(void *memory, uint64_t bytes) {
    if (memory) munmap(memory, whole_huge_pages(bytes));
}
