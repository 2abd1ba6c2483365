/* perhaps bench: hands over to the benchmark in bench/. */
#include "../bench/bench.h"
#include "commands.h"
#include "report.h"

#include <perhaps.h>

static const char *kind_name(int kind) {
    for (size_t row = 0; perhaps_kind(row); row++)
        if (perhaps_kind(row)->kind == kind) return perhaps_kind(row)->name;
    return NULL;
}

int cmd_bench(const struct options *options) {
    struct bench_options bench = {
        .kind = kind_name(options->kind),
        .items = options->items,
        .full = given(options, OPT_FULL),
        .json = given(options, OPT_JSON),
        .plot = options->plot,
    };
    return bench_run(&bench);
}
