#include "kind/trace.h"

size_t trace_step(struct trace *trace, perhaps_step step) {
    step.depth = trace->depth;
    if (trace->count < trace->room) trace->steps[trace->count] = step;
    return trace->count++;
}

void trace_settle(struct trace *trace, size_t at, bool holds) {
    if (at < trace->room) trace->steps[at].holds = holds;
}

size_t trace_inside(struct trace *trace, const char *name, uint64_t index) {
    return trace_step(trace, (perhaps_step){.step = PERHAPS_STEP_POSITION, .name = name, .index = index});
}

bool trace_position(struct trace *trace, const char *name, uint64_t index, uint64_t value, bool holds) {
    trace_step(
        trace,
        (perhaps_step){
            .step = PERHAPS_STEP_POSITION, .name = name, .holds = holds, .index = index, .value = value, .wanted = 1});
    return holds;
}

bool trace_slot(struct trace *trace, uint64_t index, uint64_t value, uint64_t wanted) {
    trace_step(trace, (perhaps_step){.step = PERHAPS_STEP_SLOT,
                                     .name = "slot",
                                     .holds = value == wanted,
                                     .index = index,
                                     .value = value,
                                     .wanted = wanted});
    return value == wanted;
}

void trace_move(struct trace *trace, uint64_t from, uint64_t to, uint64_t value, uint64_t wanted) {
    trace_step(
        trace,
        (perhaps_step){
            .step = PERHAPS_STEP_MOVE, .name = "slot", .index = from, .to = to, .value = value, .wanted = wanted});
}

void trace_store(struct trace *trace, uint64_t index, uint64_t value, uint64_t wanted) {
    trace_step(
        trace,
        (perhaps_step){.step = PERHAPS_STEP_STORE, .name = "slot", .index = index, .value = value, .wanted = wanted});
}

int trace_answer(struct trace *trace, bool adding, int answer, const char *why) {
    trace_step(trace, (perhaps_step){.step = PERHAPS_STEP_ANSWER,
                                     .name = "answer",
                                     .holds = adding ? answer == 0 : answer == 1,
                                     .value = (uint64_t)(int64_t)answer,
                                     .why = why});
    return answer;
}

int trace_bits(struct trace *trace, bool adding, bool all) {
    if (adding)
        return trace_answer(trace, true, !all, all ? "All bits are 1 already." : "The bits that are 0 become 1.");
    return trace_answer(trace, false, all, all ? "All bits are 1." : "A bit is 0.");
}
