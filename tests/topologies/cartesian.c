/* Grids (MPI 5.0, sections 8.5.1, 8.5.5 to 8.5.8): coordinates and ranks are each other's inverse, shifts end at the border
 * or go around, parts are grids again, and processes without a place get no communicator. */
#include "../check.h"

enum { NDIMS = 3 };

/* Row-major order, as the standard has it. */
static int rank_at(const int *dims, const int *coords, int ndims)
{
    int at = 0;
    for (int i = 0; i < ndims; i++) {
        at = at * dims[i] + coords[i];
    }
    return at;
}

static int moved(const int *dims, const int *periods, const int *coords, int along, int by)
{
    int to[NDIMS];
    memcpy(to, coords, sizeof to);
    to[along] += by;
    if (to[along] < 0 || to[along] >= dims[along]) {
        if (!periods[along]) {
            return MPI_PROC_NULL;
        }
        to[along] = ((to[along] % dims[along]) + dims[along]) % dims[along];
    }
    return rank_at(dims, to, NDIMS);
}

static void check_shifts(MPI_Comm comm, const int *dims, const int *periods, const int *coords)
{
    static const int steps[] = {0, 1, -1, 2, -3, 7, 100, -100};
    for (int along = 0; along < NDIMS; along++) {
        for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
            int source = -77, dest = -77, in = -1, me;
            OK(MPI_Cart_shift(comm, along, steps[i], &source, &dest));
            CHECK_EQ(source, moved(dims, periods, coords, along, -steps[i]));
            CHECK_EQ(dest, moved(dims, periods, coords, along, steps[i]));
            OK(MPI_Comm_rank(comm, &me));
            OK(MPI_Sendrecv(&me, 1, MPI_INT, dest, along, &in, 1, MPI_INT, source, along, comm, MPI_STATUS_IGNORE));
            CHECK_EQ(in, source == MPI_PROC_NULL ? -1 : source);
        }
    }
}

static void check_parts(MPI_Comm comm, const int *dims, const int *periods, const int *coords)
{
    for (int mask = 0; mask < 1 << NDIMS; mask++) {
        int remain[NDIMS], kept = 0, ranks = 1, place = 0, found, d[NDIMS], p[NDIMS], c[NDIMS];
        MPI_Comm part;
        for (int i = 0; i < NDIMS; i++) {
            remain[i] = mask >> i & 1 ? 5 : 0;
        }
        OK(MPI_Cart_sub(comm, remain, &part));
        OK(MPI_Cart_get(part, NDIMS, d, p, c));
        for (int i = 0; i < NDIMS; i++) {
            if (remain[i]) {
                CHECK_EQ(d[kept], dims[i]);
                CHECK_EQ(p[kept] != 0, periods[i] != 0);
                CHECK_EQ(c[kept], coords[i]);
                ranks *= dims[i];
                place = place * dims[i] + coords[i];
                kept++;
            }
        }
        OK(MPI_Cartdim_get(part, &found));
        CHECK_EQ(found, kept);
        OK(MPI_Comm_size(part, &found));
        CHECK_EQ(found, ranks);
        OK(MPI_Comm_rank(part, &found));
        CHECK_EQ(found, place);
        OK(MPI_Barrier(part));
        OK(MPI_Comm_free(&part));
    }
}

/* A grid of these dimensions; with one more process than it has, if there are as many. */
static void check_grid(const int *dims, const int *periods, int reorder)
{
    int ranks = dims[0] * dims[1] * dims[2], me, found, mapped = -5, d[NDIMS], p[NDIMS], c[NDIMS], back;
    MPI_Comm comm = MPI_COMM_WORLD;
    OK(MPI_Cart_map(MPI_COMM_WORLD, NDIMS, dims, periods, &mapped));
    OK(MPI_Cart_create(MPI_COMM_WORLD, NDIMS, dims, periods, reorder, &comm));
    CHECK_EQ(comm == MPI_COMM_NULL, rank >= ranks);
    if (comm == MPI_COMM_NULL) {
        CHECK_EQ(mapped, MPI_UNDEFINED);
        return;
    }
    OK(MPI_Comm_size(comm, &found));
    CHECK_EQ(found, ranks);
    OK(MPI_Comm_rank(comm, &me));
    CHECK_EQ(me, reorder ? mapped : rank);
    OK(MPI_Cartdim_get(comm, &found));
    CHECK_EQ(found, NDIMS);
    OK(MPI_Cart_get(comm, NDIMS, d, p, c));
    for (int i = 0; i < NDIMS; i++) {
        CHECK_EQ(d[i], dims[i]);
        CHECK_EQ(p[i] != 0, periods[i] != 0);
    }
    CHECK_EQ(rank_at(dims, c, NDIMS), me);
    for (int other = 0; other < ranks; other++) {
        OK(MPI_Cart_coords(comm, other, NDIMS, d));
        CHECK_EQ(rank_at(dims, d, NDIMS), other);
        for (int i = 0; i < NDIMS; i++) {
            d[i] += periods[i] ? dims[i] * (other % 5 - 2) : 0;
        }
        OK(MPI_Cart_rank(comm, d, &back));
        CHECK_EQ(back, other);
    }
    check_shifts(comm, dims, periods, c);
    check_parts(comm, dims, periods, c);
    OK(MPI_Comm_free(&comm));
}

static void grids(void)
{
    for (int ranks = 1; ranks <= size; ranks++) {
        for (int kind = 0; kind < 4; kind++) {
            int dims[NDIMS] = {0, 0, 0}, periods[NDIMS] = {kind & 1, kind >> 1, 3 * (kind & 1)};
            OK(MPI_Dims_create(ranks, NDIMS, dims));
            check_grid(dims, periods, kind % 2);
            check_grid((int[]){dims[2], dims[0], dims[1]}, periods, kind / 2);
        }
    }
}

static void without_dimensions(void)
{
    int found = -1, coords = 42, kept = 7;
    MPI_Comm comm, part;
    OK(MPI_Cart_map(MPI_COMM_WORLD, 0, NULL, NULL, &found));
    CHECK_EQ(found, rank == 0 ? 0 : MPI_UNDEFINED);
    OK(MPI_Cart_create(MPI_COMM_WORLD, 0, NULL, NULL, 1, &comm));
    CHECK_EQ(comm == MPI_COMM_NULL, rank != 0);
    if (comm == MPI_COMM_NULL) {
        return;
    }
    OK(MPI_Topo_test(comm, &found));
    CHECK_EQ(found, MPI_CART);
    OK(MPI_Cartdim_get(comm, &found));
    CHECK_EQ(found, 0);
    OK(MPI_Comm_size(comm, &found));
    CHECK_EQ(found, 1);
    OK(MPI_Cart_get(comm, 0, NULL, NULL, NULL));
    OK(MPI_Cart_get(comm, 1, &kept, &kept, &coords));
    CHECK_EQ(kept, 7);
    CHECK_EQ(coords, 42);
    OK(MPI_Cart_rank(comm, NULL, &found));
    CHECK_EQ(found, 0);
    OK(MPI_Cart_coords(comm, 0, 1, &coords));
    CHECK_EQ(coords, 42);
    FAILS(MPI_ERR_TOPOLOGY, MPI_Cart_shift(comm, 0, 1, &found, &found));
    OK(MPI_Cart_sub(comm, NULL, &part));
    OK(MPI_Cartdim_get(part, &found));
    CHECK_EQ(found, 0);
    OK(MPI_Comm_free(&part));
    OK(MPI_Comm_free(&comm));
}

static void errors(void)
{
    int dims[2] = {1, size}, periods[2] = {0, 1}, large[2] = {2, size}, negative[2] = {-1, -1}, empty[2] = {0, 1};
    int huge[3] = {65536, 65536, 65536}, none[3] = {0, 0, 0}, coords[2] = {0, 0}, a, b;
    MPI_Comm comm = MPI_COMM_NULL, part;
    FAILS(MPI_ERR_DIMS, MPI_Cart_create(MPI_COMM_WORLD, 2, large, periods, 0, &comm));
    FAILS(MPI_ERR_DIMS, MPI_Cart_create(MPI_COMM_WORLD, 3, huge, none, 0, &comm));
    FAILS(MPI_ERR_DIMS, MPI_Cart_create(MPI_COMM_WORLD, 2, negative, periods, 0, &comm));
    FAILS(MPI_ERR_DIMS, MPI_Cart_create(MPI_COMM_WORLD, 2, empty, periods, 0, &comm));
    FAILS(MPI_ERR_ARG, MPI_Cart_create(MPI_COMM_WORLD, -1, dims, periods, 0, &comm));
    FAILS(MPI_ERR_ARG, MPI_Cart_create(MPI_COMM_WORLD, 2, NULL, periods, 0, &comm));
    FAILS(MPI_ERR_ARG, MPI_Cart_create(MPI_COMM_WORLD, 2, dims, NULL, 0, &comm));
    FAILS(MPI_ERR_COMM, MPI_Cart_create(MPI_COMM_NULL, 2, dims, periods, 0, &comm));
    FAILS(MPI_ERR_DIMS, MPI_Cart_map(MPI_COMM_WORLD, 2, large, periods, &a));
    FAILS(MPI_ERR_DIMS, MPI_Cart_map(MPI_COMM_WORLD, 2, negative, periods, &a));
    OK(MPI_Cart_map(MPI_COMM_WORLD, 2, empty, periods, &a));
    CHECK_EQ(a, MPI_UNDEFINED);
    OK(MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &comm));
    FAILS(MPI_ERR_RANK, MPI_Cart_coords(comm, size, 2, coords));
    FAILS(MPI_ERR_RANK, MPI_Cart_coords(comm, -1, 2, coords));
    FAILS(MPI_ERR_ARG, MPI_Cart_coords(comm, 0, 1, coords));
    FAILS(MPI_ERR_ARG, MPI_Cart_coords(comm, 0, -1, coords));
    FAILS(MPI_ERR_ARG, MPI_Cart_get(comm, 1, dims, periods, coords));
    FAILS(MPI_ERR_ARG, MPI_Cart_shift(comm, 2, 1, &a, &b));
    FAILS(MPI_ERR_ARG, MPI_Cart_shift(comm, -1, 1, &a, &b));
    FAILS(MPI_ERR_ARG, MPI_Cart_shift(comm, 0, 1, NULL, &b));
    FAILS(MPI_ERR_ARG, MPI_Cart_sub(comm, NULL, &part));
    coords[0] = 1;
    FAILS(MPI_ERR_ARG, MPI_Cart_rank(comm, coords, &a));
    FAILS(MPI_ERR_ARG, MPI_Cart_rank(comm, NULL, &a));
    coords[0] = 0;
    coords[1] = -1;
    OK(MPI_Cart_rank(comm, coords, &a));
    CHECK_EQ(a, size - 1);
    coords[1] = 2147483647;
    OK(MPI_Cart_rank(comm, coords, &a));
    CHECK_EQ(a, 2147483647 % size);
    OK(MPI_Cart_shift(comm, 0, -2147483647 - 1, &a, &b));
    CHECK_EQ(a, MPI_PROC_NULL);
    CHECK_EQ(b, MPI_PROC_NULL);
    OK(MPI_Comm_free(&comm));
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    grids();
    without_dimensions();
    errors();
    return check_end();
}
