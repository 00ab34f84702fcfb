/* Subarrays and distributed arrays (MPI 5.0, sections 5.1.3 and 5.1.4): the pieces of all ranks cover the global array
 * exactly once, and each piece holds the elements that the definition of the distribution names. */
#include "../check.h"

enum { ROWS = 10, COLUMNS = 12, DEPTH = 3 };

static void subarray(int order)
{
    Count sizes[3] = {ROWS, COLUMNS, DEPTH}, subsizes[3] = {4, 5, 2}, starts[3] = {3, 6, 1}, bytes, position = 0;
    int global[ROWS * COLUMNS * DEPTH], piece[4 * 5 * 2], n = 0;
    Extent lb, extent;
    MPI_Datatype type;
    for (int i = 0; i < ROWS * COLUMNS * DEPTH; i++) {
        global[i] = i;
    }
    OK(MPI_Type_create_subarray(3, sizes, subsizes, starts, order, MPI_INT, &type));
    OK(MPI_Type_commit(&type));
    OK(MPI_Type_get_extent(type, &lb, &extent));
    CHECK_EQ(lb, 0);
    CHECK_EQ(extent, sizeof global);
    OK(MPI_Type_size(type, &bytes));
    CHECK_EQ(bytes, sizeof piece);
    OK(MPI_Pack(global, 1, type, piece, sizeof piece, &position, MPI_COMM_WORLD));
    if (order == MPI_ORDER_C) {
        for (int i = 3; i < 7; i++) {
            for (int j = 6; j < 11; j++) {
                for (int k = 1; k < 3; k++) {
                    CHECK_EQ(piece[n++], (i * COLUMNS + j) * DEPTH + k);
                }
            }
        }
    } else {
        for (int k = 1; k < 3; k++) {
            for (int j = 6; j < 11; j++) {
                for (int i = 3; i < 7; i++) {
                    CHECK_EQ(piece[n++], i + ROWS * (j + COLUMNS * k));
                }
            }
        }
    }
    OK(MPI_Type_free(&type));
}

/* Which process of a dimension owns an index. */
static int owner(int distribution, int argument, int length, int processes, int index)
{
    int block = argument;
    if (distribution == MPI_DISTRIBUTE_NONE) {
        return 0;
    }
    if (argument == MPI_DISTRIBUTE_DFLT_DARG) {
        block = distribution == MPI_DISTRIBUTE_BLOCK ? (length + processes - 1) / processes : 1;
    }
    return index / block % processes;
}

/* Packs the piece of each process of a grid and checks it element by element against owner(). */
static void darray(int order, const int distributions[2], const int arguments[2], const int grid[2])
{
    Count sizes[2] = {ROWS, COLUMNS};
    int global[ROWS * COLUMNS], seen[ROWS * COLUMNS] = {0}, processes = grid[0] * grid[1];
    for (int i = 0; i < ROWS * COLUMNS; i++) {
        global[i] = i;
    }
    for (int process = 0; process < processes; process++) {
        int piece[ROWS * COLUMNS], at[2] = {process / grid[1], process % grid[1]}, n = 0;
        Count position = 0;
        Extent lb, extent;
        MPI_Datatype type;
        OK(MPI_Type_create_darray(processes, process, 2, sizes, distributions, arguments, grid, order, MPI_INT, &type));
        OK(MPI_Type_commit(&type));
        OK(MPI_Type_get_extent(type, &lb, &extent));
        CHECK_EQ(lb, 0);
        CHECK_EQ(extent, sizeof global);
        OK(MPI_Pack(global, 1, type, piece, sizeof piece, &position, MPI_COMM_WORLD));
        for (int place = 0; place < ROWS * COLUMNS; place++) {
            int i = order == MPI_ORDER_C ? place / COLUMNS : place % ROWS;
            int j = order == MPI_ORDER_C ? place % COLUMNS : place / ROWS;
            if (owner(distributions[0], arguments[0], ROWS, grid[0], i) == at[0] &&
                owner(distributions[1], arguments[1], COLUMNS, grid[1], j) == at[1]) {
                CHECK_EQ(piece[n++], place);
                seen[place]++;
            }
        }
        CHECK_EQ(position, n * (int)sizeof(int));
        OK(MPI_Type_free(&type));
    }
    for (int i = 0; i < ROWS * COLUMNS; i++) {
        CHECK_EQ(seen[i], 1);
    }
}

/* Rank 0 assembles a block-cyclic matrix from the pieces of all ranks, as a program would. */
static void assemble(void)
{
    int distributions[2] = {MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_NONE}, arguments[2] = {2, MPI_DISTRIBUTE_DFLT_DARG};
    int grid[2] = {size, 1}, global[ROWS * COLUMNS], piece[ROWS * COLUMNS], mine = 0;
    Count sizes[2] = {ROWS, COLUMNS};
    MPI_Request request;
    for (int i = 0; i < ROWS; i++) {
        for (int j = 0; j < COLUMNS && i / 2 % size == rank; j++) {
            piece[mine++] = i * COLUMNS + j;
        }
    }
    OK(MPI_Isend(piece, mine, MPI_INT, 0, 1, MPI_COMM_WORLD, &request));
    for (int from = 0; rank == 0 && from < size; from++) {
        MPI_Datatype type;
        OK(MPI_Type_create_darray(size, from, 2, sizes, distributions, arguments, grid, MPI_ORDER_C, MPI_INT, &type));
        OK(MPI_Type_commit(&type));
        OK(MPI_Recv(global, 1, type, from, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        OK(MPI_Type_free(&type));
    }
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    for (int i = 0; rank == 0 && i < ROWS * COLUMNS; i++) {
        CHECK_EQ(global[i], i);
    }
}

int main(int argc, char **argv)
{
    enum { B = MPI_DISTRIBUTE_BLOCK, C = MPI_DISTRIBUTE_CYCLIC, N = MPI_DISTRIBUTE_NONE, D = MPI_DISTRIBUTE_DFLT_DARG };
    static const int cases[][6] = {{B, B, D, D, 2, 3}, {B, C, D, D, 2, 2}, {C, B, 2, D, 3, 2}, {C, C, 3, 2, 2, 2},
                                   {N, C, D, 5, 1, 4}, {B, N, D, D, 4, 1}, {C, N, D, D, 3, 1}, {B, B, 6, 4, 2, 3},
                                   {C, C, D, D, 4, 3}, {N, N, D, D, 1, 1}};
    check_begin(&argc, &argv);
    subarray(MPI_ORDER_C);
    subarray(MPI_ORDER_FORTRAN);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        darray(MPI_ORDER_C, &cases[i][0], &cases[i][2], &cases[i][4]);
        darray(MPI_ORDER_FORTRAN, &cases[i][0], &cases[i][2], &cases[i][4]);
    }
    assemble();
    return check_end();
}
