/* perhaps bench: hands over to the benchmark in bench/. */
#include "bench/bench.h"
#include "options/abilities.h"
#include "commands.h"

int cmd_bench(const struct options *options) {
    char isa[20];
    struct bench_options bench = {
        .kind = options->kind ? kind_row(options->kind)->name : NULL,
        .items = options->items,
        .full = given(options, OPT_FULL),
        .combined = given(options, OPT_COMBINED),
        .foreign = given(options, OPT_FOREIGN),
        .static_kinds = given(options, OPT_BENCH_STATIC),
        .small = given(options, OPT_SMALL),
        .isa = given(options, OPT_ISA) ? word_at(option_table[OPT_ISA].words, options->isa, isa, sizeof isa) : NULL,
        .json = given(options, OPT_JSON),
        .goals = given(options, OPT_GOALS),
        .compare = options->compare,
        .plot = options->plot,
        .replace = given(options, OPT_FORCE),
    };
    return bench_run(&bench);
}
