/* The steps of one query or add or of sealing, as perhaps_trace lists them. Each kind makes
 * them with its own arithmetic: in an X_trace.h if that is long. */
#ifndef PERHAPS_KIND_TRACE_H
#define PERHAPS_KIND_TRACE_H

#include "kind/kind.h"
#include "perhaps_trace.h"

/* Traces are for people: they are compiled for size, away from the hot code. */
#define TRACED __attribute__((cold, noinline))

struct trace {
    perhaps_step *steps; /* the caller's */
    size_t room;         /* steps that fit */
    size_t count;        /* steps there are */
    unsigned depth;      /* of the steps that come next */
};

/* Returns the number of the step, for trace_settle. */
size_t trace_step(struct trace *trace, int step, const char *name, bool holds, uint64_t index, uint64_t value,
                  uint64_t wanted);

/* Says of an earlier step whether it holds. */
void trace_settle(struct trace *trace, size_t at, bool holds);

/* A position inside which the next steps are; to be settled. */
size_t trace_inside(struct trace *trace, const char *name, uint64_t index);

/* A bit or counter, which a member has at 1 or more. Returns whether it holds. */
bool trace_cell(struct trace *trace, const char *name, uint64_t index, unsigned value);

/* Returns whether it holds. */
bool trace_slot(struct trace *trace, uint64_t index, uint64_t value, uint64_t wanted);

void trace_store(struct trace *trace, uint64_t index, uint64_t value, uint64_t wanted);

void trace_move(struct trace *trace, uint64_t from, uint64_t to, uint64_t value, uint64_t wanted);

/* Returns the answer. An add that finds the key there answers 0. */
int trace_answer(struct trace *trace, bool adding, int answer, const char *why);

/* The answer of kinds of bits, all of which a member has. */
int trace_bits(struct trace *trace, bool adding, bool all);

#endif
