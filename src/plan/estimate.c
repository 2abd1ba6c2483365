/*
 * How many keys two filters have in common, and how sure that is.
 *
 * A set S of keys throws k·|S| marks into m cells at random. With λ(S) = k·|S|/m, a cell stays
 * empty with the chance e^-λ(S). So the empty cells of a, of b and of both together tell three
 * numbers of keys, |S| = -m/k · ln(share empty), and
 *
 *     |a and b| = |a| + |b| - |a or b|        J = |a and b| / |a or b|
 *
 * These numbers err together: what chance does to the cells of a it does to those of a or b. For
 * two sets S and T, the covariance of their empty cells (of a cell that both leave empty, and of
 * two cells of which each leaves one empty) and the delta method give the covariance of their
 * estimates. It depends only on the keys that they have in common:
 *
 *     C(S and T) = m/k² · (e^λ - 1 - λ),   λ = λ(S and T)
 *
 * a and b have their intersection in common, a and "a or b" have a, and so on:
 *
 *     Var |a and b|            = C(a or b) + 2 C(a and b) - C(a) - C(b)
 *     Cov |a and b|, |a or b|  = C(a) + C(b) - C(a or b)
 *     Var |a or b|             = C(a or b)
 *     Var J                    = (Var |a and b| - 2 J Cov + J² Var |a or b|) / |a or b|²
 *
 * Kinds differ in what C is (struct occupancy). Where every cell is in use there is no estimate.
 */
#include "plan/plan.h"

#include "base/bits.h"

#include <math.h>

double plan_spread(double cells, double load) {
    return cells * (expm1(load) - load);
}

double plan_not_all(double used, double cells) {
    return fmin(used, cells - 0.5);
}

struct used_cells plan_used_bits(const struct array *a, const struct array *b, double cells) {
    struct used_cells used = {.cells = cells};
    for (uint64_t i = 0; i < a->length; i += 8) {
        uint64_t in_a = load64(a->bytes + i), in_b = load64(b->bytes + i);
        used.a += (uint64_t)__builtin_popcountll(in_a);
        used.b += (uint64_t)__builtin_popcountll(in_b);
        used.either += (uint64_t)__builtin_popcountll(in_a | in_b);
    }
    return used;
}

/* Of disjoint or nested sets chance may make it too small or too large. */
static double common_of(double in_a, double in_b, double in_either) {
    return fmin(fmax(in_a + in_b - in_either, 0), fmin(in_a, in_b));
}

uint64_t plan_common(const struct kind *kind, const struct array *a, double in_a, const struct array *b, double in_b) {
    const struct occupancy *occupancy = kind->model->occupancy;
    struct used_cells used;
    occupancy->count(a, b, &used);
    double in_either = occupancy->keys(a->layout, plan_not_all((double)used.either, used.cells));
    return (uint64_t)llround(fmin(common_of(in_a, in_b, in_either), 0x1p62));
}

static double keys_of(const struct model *model, const struct array *array, uint64_t used, double cells) {
    if (model->exact) return (double)used;
    return (double)used < cells ? model->occupancy->keys(array->layout, (double)used) : INFINITY;
}

static double covariance_of(const struct model *model, const struct array *array, double common) {
    if (model->exact) return 0;
    return isfinite(common) ? model->occupancy->covariance(array->layout, common) : INFINITY;
}

void plan_add_keys(const struct kind *kind, const struct array *a, const struct array *b, struct key_sums *sums) {
    const struct model *model = kind->model;
    struct used_cells used;
    model->occupancy->count(a, b, &used);
    double in_a = keys_of(model, a, used.a, used.cells), in_b = keys_of(model, a, used.b, used.cells);
    double in_either = keys_of(model, a, used.either, used.cells);
    sums->a += in_a;
    sums->b += in_b;
    sums->either += in_either;
    sums->of_a += covariance_of(model, a, in_a);
    sums->of_b += covariance_of(model, a, in_b);
    sums->of_either += covariance_of(model, a, in_either);
    sums->of_both += isfinite(in_either) ? covariance_of(model, a, common_of(in_a, in_b, in_either)) : INFINITY;
}

struct estimate {
    double value, variance;
};

static void give(struct estimate estimate, double *value, double *error) {
    bool known = isfinite(estimate.value);
    *value = known ? estimate.value : NAN;
    *error = known ? sqrt(fmax(estimate.variance, 0)) : INFINITY;
}

/* Two empty sets are equal: 1. The differences are in an order that leaves nothing over of equal
 * numbers. */
void plan_overlap(const struct key_sums *sums, struct perhaps_overlap *overlap) {
    struct estimate both = {INFINITY, 0}, jaccard = both;
    if (isfinite(sums->either)) {
        double covariance = sums->of_a + (sums->of_b - sums->of_either);
        both.value = common_of(sums->a, sums->b, sums->either);
        both.variance = (sums->of_either - sums->of_a) + (sums->of_both - sums->of_b) + sums->of_both;
        double j = jaccard.value = sums->either > 0 ? both.value / sums->either : 1;
        double of_ratio = (both.variance - j * covariance) - j * (covariance - j * sums->of_either);
        jaccard.variance = sums->either > 0 ? of_ratio / (sums->either * sums->either) : 0;
    }
    give((struct estimate){sums->a, sums->of_a}, &overlap->a, &overlap->a_error);
    give((struct estimate){sums->b, sums->of_b}, &overlap->b, &overlap->b_error);
    give((struct estimate){sums->either, sums->of_either}, &overlap->either, &overlap->either_error);
    give(both, &overlap->both, &overlap->both_error);
    give(jaccard, &overlap->jaccard, &overlap->jaccard_error);
}
