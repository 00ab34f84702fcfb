/* Collectives on intercommunicators (MPI 5.0, section 6.2.3): rooted ones go from one group to the other with MPI_ROOT
 * and MPI_PROC_NULL, the others give each group the other group's data. With one rank the program has no second group
 * and works on the groups {0} of a job of one: it then checks the rooted constants are refused on an intracommunicator. */
#include "../check.h"

static MPI_Comm local, inter;
static int side, me, mine, others;

static void rooted(int from_side)
{
    int sending = side == from_side, root_rank = (sending ? mine : others) - 1;
    int root = sending ? (me == root_rank ? MPI_ROOT : MPI_PROC_NULL) : root_rank;
    int receivers = sending ? others : mine, value[3] = {0, 0, 0};
    int *all = calloc((size_t)(receivers + 1), 3 * sizeof *all), in[2] = {-1, -1};
    if (root == MPI_ROOT) {
        value[0] = 11;
        value[1] = 12;
        value[2] = 13;
        for (int i = 0; i < 2 * receivers; i++) {
            all[i] = 500 + i;
        }
    }
    OK(MPI_Bcast(value, 3, MPI_INT, root, inter));
    CHECK(root == MPI_PROC_NULL || (value[0] == 11 && value[2] == 13));
    OK(MPI_Scatter(all, 2, MPI_INT, in, 2, MPI_INT, root, inter));
    CHECK_EQ(in[1], sending ? -1 : 501 + 2 * me);
    if (!sending) {
        in[0] = in[1] = 700 + me;
    }
    OK(MPI_Gather(in, 2, MPI_INT, all, 2, MPI_INT, root, inter));
    for (int i = 0; i < 2 * receivers && root == MPI_ROOT; i++) {
        CHECK_EQ(all[i], 700 + i / 2);
    }
    value[0] = -1;
    in[0] = me + 1;
    OK(MPI_Reduce(in, value, 1, MPI_INT, MPI_SUM, root, inter));
    CHECK_EQ(value[0], root == MPI_ROOT ? receivers * (receivers + 1) / 2 : -1);
    free(all);
}

/* Rooted with varying counts: member i of the other group has i + 1 elements. */
static void rooted_varying(int from_side)
{
    int sending = side == from_side, root = sending ? (me == 0 ? MPI_ROOT : MPI_PROC_NULL) : 0;
    int receivers = sending ? others : mine, total = 0, wrong = 0;
    Count *counts = allocate((size_t)receivers * sizeof *counts);
    Displacement *places = allocate((size_t)receivers * sizeof *places);
    int *all, *in = calloc((size_t)receivers, sizeof *in);
    for (int i = 0; i < receivers; i++) {
        counts[i] = i + 1;
        places[i] = total;
        total += i + 1;
    }
    all = allocate((size_t)total * sizeof *all);
    for (int i = 0; i < total; i++) {
        all[i] = root == MPI_ROOT ? 40 + i : 0;
    }
    OK(MPI_Scatterv(all, counts, places, MPI_INT, in, sending ? 0 : me + 1, MPI_INT, root, inter));
    for (int i = 0; i <= me && !sending; i++) {
        wrong += in[i] != 40 + (int)places[me] + i;
    }
    memset(all, 0, (size_t)total * sizeof *all);
    OK(MPI_Gatherv(in, sending ? 0 : me + 1, MPI_INT, all, counts, places, MPI_INT, root, inter));
    for (int i = 0; i < total && root == MPI_ROOT; i++) {
        wrong += all[i] != 40 + i;
    }
    CHECK_EQ(wrong, 0);
    free(counts);
    free(places);
    free(all);
    free(in);
}

static void gathered(void)
{
    int out = 100 * side + me, *in = calloc((size_t)others, sizeof *in), wrong = 0;
    Count *counts = allocate((size_t)others * sizeof *counts);
    Displacement *places = allocate((size_t)others * sizeof *places);
    OK(MPI_Allgather(&out, 1, MPI_INT, in, 1, MPI_INT, inter));
    for (int i = 0; i < others; i++) {
        wrong += in[i] != 100 * (1 - side) + i;
        counts[i] = 1;
        places[i] = others - 1 - i;
    }
    OK(MPI_Allgatherv(&out, 1, MPI_INT, in, counts, places, MPI_INT, inter));
    for (int i = 0; i < others; i++) {
        wrong += in[others - 1 - i] != 100 * (1 - side) + i;
    }
    CHECK_EQ(wrong, 0);
    free(in);
    free(counts);
    free(places);
}

static void exchanged(void)
{
    int *out = allocate((size_t)others * sizeof *out), *in = allocate((size_t)others * sizeof *in), wrong = 0;
    Count *counts = allocate((size_t)others * sizeof *counts);
    Displacement *places = allocate((size_t)others * sizeof *places);
    Displacement *bytes = allocate((size_t)others * sizeof *bytes);
    MPI_Datatype *types = allocate((size_t)others * sizeof *types);
    for (int i = 0; i < others; i++) {
        out[i] = 1000 * side + 50 * me + i;
        counts[i] = 1;
        places[i] = i;
        bytes[i] = i * (int)sizeof(int);
        types[i] = MPI_INT;
    }
    for (int kind = 0; kind < 3; kind++) {
        memset(in, 0, (size_t)others * sizeof *in);
        if (kind == 0) {
            OK(MPI_Alltoall(out, 1, MPI_INT, in, 1, MPI_INT, inter));
        } else if (kind == 1) {
            OK(MPI_Alltoallv(out, counts, places, MPI_INT, in, counts, places, MPI_INT, inter));
        } else {
            OK(MPI_Alltoallw(out, counts, bytes, types, in, counts, bytes, types, inter));
        }
        for (int i = 0; i < others; i++) {
            wrong += in[i] != 1000 * (1 - side) + 50 * i + me;
        }
    }
    CHECK_EQ(wrong, 0);
    free(out);
    free(in);
    free(counts);
    free(places);
    free(bytes);
    free(types);
}

/* Each group receives the reduction of the other group's vectors. */
static void reduced(void)
{
    int total = mine * others, wrong = 0, sum = (others * (others + 1)) / 2;
    int *out = allocate((size_t)total * sizeof *out), *in = calloc((size_t)total, sizeof *in);
    Count *counts = allocate((size_t)mine * sizeof *counts);
    for (int i = 0; i < total; i++) {
        out[i] = me + 1 + i * 10;
    }
    for (int i = 0; i < mine; i++) {
        counts[i] = others;
    }
    OK(MPI_Allreduce(out, in, total, MPI_INT, MPI_SUM, inter));
    for (int i = 0; i < total; i++) {
        wrong += in[i] != sum + i * 10 * others;
    }
    OK(MPI_Reduce_scatter_block(out, in, others, MPI_INT, MPI_SUM, inter));
    for (int i = 0; i < others; i++) {
        wrong += in[i] != sum + (me * others + i) * 10 * others;
    }
    memset(in, 0, (size_t)total * sizeof *in);
    OK(MPI_Reduce_scatter(out, in, counts, MPI_INT, MPI_SUM, inter));
    for (int i = 0; i < others; i++) {
        wrong += in[i] != sum + (me * others + i) * 10 * others;
    }
    CHECK_EQ(wrong, 0);
    free(out);
    free(in);
    free(counts);
}

int main(int argc, char **argv)
{
    int value = 0;
    check_begin(&argc, &argv);
    if (size == 1) {
        FAILS(MPI_ERR_ROOT, MPI_Bcast(&value, 1, MPI_INT, MPI_ROOT, MPI_COMM_WORLD));
        return check_end();
    }
    side = rank >= (size + 1) / 2;
    OK(MPI_Comm_split(MPI_COMM_WORLD, side, 0, &local));
    OK(MPI_Intercomm_create(local, 0, MPI_COMM_WORLD, side ? 0 : (size + 1) / 2, 5, &inter));
    OK(MPI_Comm_rank(inter, &me));
    OK(MPI_Comm_size(inter, &mine));
    OK(MPI_Comm_remote_size(inter, &others));
    for (int from = 0; from < 2; from++) {
        rooted(from);
        rooted_varying(from);
    }
    gathered();
    exchanged();
    reduced();
    OK(MPI_Barrier(inter));
    OK(MPI_Comm_free(&inter));
    OK(MPI_Comm_free(&local));
    return check_end();
}
