#include "pairs.h"
#include "measure.h"

#include <stdlib.h>
#include <string.h>

static int compare_doubles(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static struct spread spread_of(double *values, size_t n) {
    if (n == 0) return (struct spread){0};
    qsort(values, n, sizeof *values, compare_doubles);
    return (struct spread){values[n / 4], values[n / 2], values[n - 1 - n / 4]};
}

struct spread pairs_time(const struct pairs *pairs, size_t contender) {
    double values[MOST_ROUNDS];
    memcpy(values, pairs->ns[contender], pairs->rounds * sizeof *values);
    return spread_of(values, pairs->rounds);
}

struct spread pairs_ratio(const struct pairs *pairs, size_t a, size_t b) {
    double values[MOST_ROUNDS];
    for (size_t i = 0; i < pairs->rounds; i++) values[i] = pairs->ns[a][i] / pairs->ns[b][i];
    return spread_of(values, pairs->rounds);
}

static int run_round(struct pairs *pairs, const struct pairs_game *game, size_t round) {
    const size_t n = game->contenders;
    if (game->prepare) game->prepare(game->context);
    for (size_t i = 0; i < n; i++) {
        size_t contender = (round + (round % 2 ? n - i : i)) % n;
        double ns = game->turn(game->context, contender);
        if (ns < 0) return -1;
        pairs->ns[contender][pairs->rounds] = ns;
    }
    return 0;
}

int pairs_run(struct pairs *pairs, const struct pairs_game *game) {
    pairs->contenders = game->contenders;
    pairs->rounds = 0;
    if (run_round(pairs, game, 0) < 0) return -1;
    double end = machine_now() + game->seconds * 1e9;
    while (pairs->rounds < LEAST_ROUNDS || (pairs->rounds < MOST_ROUNDS && machine_now() < end)) {
        if (run_round(pairs, game, pairs->rounds) < 0) return -1;
        pairs->rounds++;
    }
    return 0;
}
