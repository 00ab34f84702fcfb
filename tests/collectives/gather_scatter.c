/* Gather, scatter, gatherv and scatterv (MPI 5.0, sections 6.5 and 6.6): every root, in place, zero counts, gaps
 * between the pieces, and types with holes on either side. */
#include "../check.h"

static int value_of(int from, int i)
{
    return from * 100000 + i;
}

static int *sequence(int from, int count)
{
    int *data = allocate((size_t)count * sizeof *data);
    for (int i = 0; i < count; i++) {
        data[i] = value_of(from, i);
    }
    return data;
}

static void check_pieces(const int *data, int count)
{
    int wrong = 0;
    for (int from = 0; from < size; from++) {
        for (int i = 0; i < count; i++) {
            wrong += data[from * count + i] != value_of(from, i);
        }
    }
    CHECK_EQ(wrong, 0);
}

static void gather(int root, int count)
{
    int *out = sequence(rank, count), *in = calloc((size_t)(size * count + 1), sizeof *in);
    OK(MPI_Gather(out, count, MPI_INT, in, count, MPI_INT, root, MPI_COMM_WORLD));
    if (rank == root) {
        check_pieces(in, count);
        memset(in, 0, (size_t)(size * count) * sizeof *in);
        memcpy(in + rank * count, out, (size_t)count * sizeof *in);
        OK(MPI_Gather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, in, count, MPI_INT, root, MPI_COMM_WORLD));
        check_pieces(in, count);
    } else {
        OK(MPI_Gather(out, count, MPI_INT, NULL, 0, MPI_DATATYPE_NULL, root, MPI_COMM_WORLD));
    }
    free(out);
    free(in);
}

static void scatter(int root, int count)
{
    int *all = allocate((size_t)(size * count) * sizeof *all), *in = calloc((size_t)count + 1, sizeof *in), wrong = 0;
    for (int i = 0; i < size * count; i++) {
        all[i] = value_of(i / (count ? count : 1), i % (count ? count : 1));
    }
    OK(MPI_Scatter(rank == root ? all : NULL, count, MPI_INT, in, count, MPI_INT, root, MPI_COMM_WORLD));
    for (int i = 0; i < count; i++) {
        wrong += in[i] != value_of(rank, i);
    }
    CHECK_EQ(wrong, 0);
    memset(in, 0, (size_t)count * sizeof *in);
    if (rank == root) {
        OK(MPI_Scatter(all, count, MPI_INT, MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, root, MPI_COMM_WORLD));
    } else {
        OK(MPI_Scatter(NULL, 0, MPI_DATATYPE_NULL, in, count, MPI_INT, root, MPI_COMM_WORLD));
        for (int i = 0; i < count; i++) {
            wrong += in[i] != value_of(rank, i);
        }
        CHECK_EQ(wrong, 0);
    }
    free(all);
    free(in);
}

/* Rank r contributes r * unit elements (rank 0 none); pieces lie in reverse order with a gap of one. */
static void varying(int root, int unit)
{
    int total = 0, mine = rank * unit, wrong = 0;
    Count *counts = allocate((size_t)size * sizeof *counts);
    Displacement *places = allocate((size_t)size * sizeof *places);
    int *out = sequence(rank, mine), *all, *back = calloc((size_t)mine + 1, sizeof *back);
    for (int from = size - 1; from >= 0; from--) {
        counts[from] = from * unit;
        places[from] = total;
        total += from * unit + 1;
    }
    all = allocate((size_t)total * sizeof *all);
    memset(all, 0xff, (size_t)total * sizeof *all);
    OK(MPI_Gatherv(out, mine, MPI_INT, all, counts, places, MPI_INT, root, MPI_COMM_WORLD));
    for (int turn = 0; turn < 2 && rank == root; turn++) {
        for (int from = 0; from < size; from++) {
            for (int i = 0; i < from * unit; i++) {
                wrong += all[places[from] + i] != value_of(from, i);
            }
            wrong += all[places[from] + from * unit] != -1;
        }
        if (turn == 0) {
            OK(MPI_Gatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, counts, places, MPI_INT, root, MPI_COMM_WORLD));
        }
    }
    if (rank != root) {
        OK(MPI_Gatherv(out, mine, MPI_INT, NULL, NULL, NULL, MPI_DATATYPE_NULL, root, MPI_COMM_WORLD));
    }
    OK(MPI_Scatterv(all, counts, places, MPI_INT, back, mine, MPI_INT, root, MPI_COMM_WORLD));
    for (int i = 0; i < mine; i++) {
        wrong += back[i] != value_of(rank, i);
    }
    if (rank == root) {
        OK(MPI_Scatterv(all, counts, places, MPI_INT, MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, root, MPI_COMM_WORLD));
    } else {
        memset(back, 0, (size_t)mine * sizeof *back);
        OK(MPI_Scatterv(NULL, NULL, NULL, MPI_DATATYPE_NULL, back, mine, MPI_INT, root, MPI_COMM_WORLD));
        for (int i = 0; i < mine; i++) {
            wrong += back[i] != value_of(rank, i);
        }
    }
    CHECK_EQ(wrong, 0);
    free(counts);
    free(places);
    free(out);
    free(all);
    free(back);
}

/* Rows are gathered as columns: the classical use of a resized type. */
static void as_columns(int root)
{
    enum { ROWS = 50 };
    int row[ROWS], *matrix = allocate((size_t)(ROWS * size) * sizeof *matrix), wrong = 0;
    MPI_Datatype strided, column;
    OK(MPI_Type_vector(ROWS, 1, size, MPI_INT, &strided));
    OK(MPI_Type_create_resized(strided, 0, sizeof(int), &column));
    OK(MPI_Type_commit(&column));
    for (int i = 0; i < ROWS; i++) {
        row[i] = value_of(rank, i);
    }
    OK(MPI_Gather(row, ROWS, MPI_INT, matrix, 1, column, root, MPI_COMM_WORLD));
    for (int i = 0; i < ROWS * size && rank == root; i++) {
        wrong += matrix[i] != value_of(i % size, i / size);
    }
    memset(row, 0, sizeof row);
    OK(MPI_Scatter(matrix, 1, column, row, ROWS, MPI_INT, root, MPI_COMM_WORLD));
    for (int i = 0; i < ROWS; i++) {
        wrong += row[i] != value_of(rank, i);
    }
    CHECK_EQ(wrong, 0);
    OK(MPI_Type_free(&strided));
    OK(MPI_Type_free(&column));
    free(matrix);
}

int main(int argc, char **argv)
{
    static const int counts[] = {0, 1, 7, 1000, 60000};
    check_begin(&argc, &argv);
    for (int root = 0; root < size; root++) {
        for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
            gather(root, counts[i]);
            scatter(root, counts[i]);
        }
        varying(root, 3);
        varying(root, 5000);
        as_columns(root);
    }
    return check_end();
}
