/* Groups (MPI 5.0, section 7.3): constructors, set operations with their order, comparison and translation. */
#include "../check.h"

/* Checks that a group consists of the ranks given of the world, in this order, and frees it. */
static void check_group(MPI_Group world, MPI_Group *group, int count, const int *expected)
{
    int found = -1, place = -1, mine = MPI_UNDEFINED, back[64], ranks[64];
    OK(MPI_Group_size(*group, &found));
    CHECK_EQ(found, count);
    for (int i = 0; i < count; i++) {
        ranks[i] = i;
        mine = expected[i] == rank ? i : mine;
    }
    OK(MPI_Group_rank(*group, &place));
    CHECK_EQ(place, mine);
    OK(MPI_Group_translate_ranks(*group, count, ranks, world, back));
    for (int i = 0; i < count; i++) {
        CHECK_EQ(back[i], expected[i]);
    }
    if (*group != MPI_GROUP_EMPTY) {
        OK(MPI_Group_free(group));
        CHECK(*group == MPI_GROUP_NULL);
    }
}

static void selections(MPI_Group world)
{
    int all[64], chosen[64], rest[64], n = 0, m = 0, ranges[2][3], range_count = 0;
    MPI_Group group;
    for (int i = 0; i < size; i++) {
        all[i] = i;
    }
    for (int i = size - 1; i >= 0; i -= 2) {
        chosen[n++] = i;
    }
    for (int i = 0; i < size; i++) {
        if ((size - 1 - i) % 2) {
            rest[m++] = i;
        }
    }
    OK(MPI_Group_incl(world, n, chosen, &group));
    check_group(world, &group, n, chosen);
    OK(MPI_Group_excl(world, n, chosen, &group));
    check_group(world, &group, m, rest);
    OK(MPI_Group_incl(world, 0, NULL, &group));
    CHECK(group == MPI_GROUP_EMPTY);
    OK(MPI_Group_excl(world, size, all, &group));
    CHECK(group == MPI_GROUP_EMPTY);
    OK(MPI_Group_excl(world, 0, NULL, &group));
    check_group(world, &group, size, all);

    /* The odd ranks backwards, then the even ones. */
    n = m = 0;
    if (size > 1) {
        int last = (size - 2) / 2 * 2 + 1;
        memcpy(ranges[range_count++], (int[3]){last, 1, -2}, sizeof *ranges);
        for (int i = last; i >= 1; i -= 2) {
            chosen[n++] = i;
        }
    }
    for (int i = 0; i < size; i += 2) {
        rest[m++] = i;
    }
    OK(MPI_Group_range_excl(world, range_count, ranges, &group));
    check_group(world, &group, m, rest);
    memcpy(ranges[range_count++], (int[3]){0, size - 1, 2}, sizeof *ranges);
    memcpy(&chosen[n], rest, (size_t)m * sizeof *rest);
    OK(MPI_Group_range_incl(world, range_count, ranges, &group));
    check_group(world, &group, n + m, chosen);
}

/* The set operations keep the order of the first group (section 7.3.2). */
static void set_operations(MPI_Group world)
{
    int low[64], high[64], both[64], union_ranks[64], only_low[64], n_low = 0, n_high = 0, n_both = 0, n_only = 0;
    int n_union = 0;
    MPI_Group low_group, high_group, group;
    for (int i = size - 1; i >= 0; i--) {
        if (i <= size / 2) {
            union_ranks[n_union++] = i;
            low[n_low++] = i;
            if (i >= size / 2) {
                both[n_both++] = i;
            } else {
                only_low[n_only++] = i;
            }
        }
    }
    for (int i = size / 2; i < size; i++) {
        high[n_high++] = i;
        if (i > size / 2) {
            union_ranks[n_union++] = i;
        }
    }
    OK(MPI_Group_incl(world, n_low, low, &low_group));
    OK(MPI_Group_incl(world, n_high, high, &high_group));
    OK(MPI_Group_union(low_group, high_group, &group));
    check_group(world, &group, n_union, union_ranks);
    OK(MPI_Group_intersection(low_group, high_group, &group));
    check_group(world, &group, n_both, both);
    OK(MPI_Group_difference(low_group, high_group, &group));
    check_group(world, &group, n_only, only_low);
    OK(MPI_Group_union(low_group, MPI_GROUP_EMPTY, &group));
    check_group(world, &group, n_low, low);
    OK(MPI_Group_intersection(MPI_GROUP_EMPTY, low_group, &group));
    CHECK(group == MPI_GROUP_EMPTY);
    OK(MPI_Group_free(&low_group));
    OK(MPI_Group_free(&high_group));
}

static void comparison(MPI_Group world)
{
    int backwards[64], result = -1, in[3], out[3] = {9, 9, 9};
    MPI_Group same, reversed, self;
    for (int i = 0; i < size; i++) {
        backwards[i] = size - 1 - i;
    }
    OK(MPI_Comm_group(MPI_COMM_WORLD, &same));
    OK(MPI_Group_incl(world, size, backwards, &reversed));
    OK(MPI_Comm_group(MPI_COMM_SELF, &self));
    OK(MPI_Group_compare(world, same, &result));
    CHECK_EQ(result, MPI_IDENT);
    OK(MPI_Group_compare(world, reversed, &result));
    CHECK_EQ(result, size == 1 ? MPI_IDENT : MPI_SIMILAR);
    OK(MPI_Group_compare(world, self, &result));
    CHECK_EQ(result, size == 1 ? MPI_IDENT : MPI_UNEQUAL);
    OK(MPI_Group_compare(world, MPI_GROUP_EMPTY, &result));
    CHECK_EQ(result, MPI_UNEQUAL);
    OK(MPI_Group_compare(MPI_GROUP_EMPTY, MPI_GROUP_EMPTY, &result));
    CHECK_EQ(result, MPI_IDENT);
    in[0] = rank;
    in[1] = MPI_PROC_NULL;
    in[2] = (rank + 1) % size;
    OK(MPI_Group_translate_ranks(world, 3, in, self, out));
    CHECK_EQ(out[0], 0);
    CHECK_EQ(out[1], MPI_PROC_NULL);
    CHECK_EQ(out[2], size == 1 ? 0 : MPI_UNDEFINED);
    OK(MPI_Group_size(MPI_GROUP_EMPTY, &result));
    CHECK_EQ(result, 0);
    OK(MPI_Group_rank(MPI_GROUP_EMPTY, &result));
    CHECK_EQ(result, MPI_UNDEFINED);
    CHECK(MPI_Group_fromint(MPI_Group_toint(world)) == world);
    OK(MPI_Group_free(&same));
    OK(MPI_Group_free(&reversed));
    OK(MPI_Group_free(&self));
}

int main(int argc, char **argv)
{
    MPI_Group world;
    int twice[2] = {0, 0}, outside[1];
    check_begin(&argc, &argv);
    OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
    selections(world);
    set_operations(world);
    comparison(world);
    outside[0] = size;
    CHECK(MPI_Group_incl(world, 1, outside, &(MPI_Group){MPI_GROUP_NULL}) != MPI_SUCCESS);
    CHECK(MPI_Group_incl(world, 2, twice, &(MPI_Group){MPI_GROUP_NULL}) != MPI_SUCCESS);
    OK(MPI_Group_free(&world));
    return check_end();
}
