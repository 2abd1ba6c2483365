#include "kind/trace.h"

static size_t trace_put(struct trace *trace, perhaps_step step) {
    step.depth = trace->depth;
    if (trace->count < trace->room) trace->steps[trace->count] = step;
    return trace->count++;
}

size_t trace_step(struct trace *trace, int step, const char *name, bool holds, uint64_t index, uint64_t value,
                  uint64_t wanted) {
    return trace_put(trace, (perhaps_step){step, 0, holds, index, value, wanted, 0, name, NULL});
}

void trace_settle(struct trace *trace, size_t at, bool holds) {
    if (at < trace->room) trace->steps[at].holds = holds;
}

size_t trace_inside(struct trace *trace, const char *name, uint64_t index) {
    return trace_step(trace, PERHAPS_STEP_POSITION, name, false, index, 0, 0);
}

bool trace_cell(struct trace *trace, const char *name, uint64_t index, unsigned value) {
    trace_step(trace, PERHAPS_STEP_POSITION, name, value != 0, index, value, 1);
    return value != 0;
}

bool trace_slot(struct trace *trace, uint64_t index, uint64_t value, uint64_t wanted) {
    trace_step(trace, PERHAPS_STEP_SLOT, "slot", value == wanted, index, value, wanted);
    return value == wanted;
}

void trace_store(struct trace *trace, uint64_t index, uint64_t value, uint64_t wanted) {
    trace_step(trace, PERHAPS_STEP_STORE, "slot", false, index, value, wanted);
}

void trace_move(struct trace *trace, uint64_t from, uint64_t to, uint64_t value, uint64_t wanted) {
    trace_put(trace, (perhaps_step){PERHAPS_STEP_MOVE, 0, 0, from, value, wanted, to, "slot", NULL});
}

int trace_answer(struct trace *trace, bool adding, int answer, const char *why) {
    uint64_t value = (uint64_t)(int64_t)answer;
    trace_put(trace, (perhaps_step){PERHAPS_STEP_ANSWER, 0, answer == !adding, 0, value, 0, 0, "answer", why});
    return answer;
}

int trace_bits(struct trace *trace, bool adding, bool all) {
    if (adding)
        return trace_answer(trace, true, !all, all ? "All bits are 1 already." : "The bits that are 0 become 1.");
    return trace_answer(trace, false, all, all ? "All bits are 1." : "A bit is 0.");
}
