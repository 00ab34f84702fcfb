/* Allgather and allgatherv (MPI 5.0, section 6.7): sizes, in place, zero counts, gaps, types with holes. */
#include "../check.h"

static int value_of(int from, int i)
{
    return from * 70001 + i;
}

static void equal_pieces(int count)
{
    int *out = allocate((size_t)count * sizeof *out), *in = calloc((size_t)(size * count + 1), sizeof *in), wrong = 0;
    for (int i = 0; i < count; i++) {
        out[i] = value_of(rank, i);
    }
    for (int in_place = 0; in_place < 2; in_place++) {
        memset(in, 0, (size_t)(size * count) * sizeof *in);
        if (in_place) {
            memcpy(in + rank * count, out, (size_t)count * sizeof *in);
            OK(MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, in, count, MPI_INT, MPI_COMM_WORLD));
        } else {
            OK(MPI_Allgather(out, count, MPI_INT, in, count, MPI_INT, MPI_COMM_WORLD));
        }
        for (int i = 0; i < size * count; i++) {
            wrong += in[i] != value_of(i / count, i % count);
        }
    }
    CHECK_EQ(wrong, 0);
    free(out);
    free(in);
}

static void varying(int unit)
{
    int mine = (size - rank - 1) * unit, total = 0, wrong = 0;
    int *out = allocate((size_t)mine * sizeof *out), *in;
    Count *counts = allocate((size_t)size * sizeof *counts);
    Displacement *places = allocate((size_t)size * sizeof *places);
    for (int i = 0; i < mine; i++) {
        out[i] = value_of(rank, i);
    }
    for (int from = size - 1; from >= 0; from--) {
        counts[from] = (size - from - 1) * unit;
        places[from] = total + 2;
        total += (int)counts[from] + 2;
    }
    in = allocate((size_t)total * sizeof *in);
    for (int in_place = 0; in_place < 2; in_place++) {
        memset(in, 0xff, (size_t)total * sizeof *in);
        if (in_place) {
            memcpy(in + places[rank], out, (size_t)mine * sizeof *in);
            OK(MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, in, counts, places, MPI_INT, MPI_COMM_WORLD));
        } else {
            OK(MPI_Allgatherv(out, mine, MPI_INT, in, counts, places, MPI_INT, MPI_COMM_WORLD));
        }
        for (int from = 0; from < size; from++) {
            wrong += in[places[from] - 1] != -1 || in[places[from] - 2] != -1;
            for (int i = 0; i < counts[from]; i++) {
                wrong += in[places[from] + i] != value_of(from, i);
            }
        }
    }
    CHECK_EQ(wrong, 0);
    free(out);
    free(in);
    free(counts);
    free(places);
}

/* Every rank sends the diagonal of a matrix and receives the diagonals as columns. */
static void holes(void)
{
    enum { N = 30 };
    double matrix[N][N], *in = allocate((size_t)(N * size) * sizeof *in);
    MPI_Datatype diagonal, strided, column;
    int wrong = 0;
    memset(matrix, 0, sizeof matrix);
    for (int i = 0; i < N; i++) {
        matrix[i][i] = value_of(rank, i);
    }
    OK(MPI_Type_vector(N, 1, N + 1, MPI_DOUBLE, &diagonal));
    OK(MPI_Type_commit(&diagonal));
    OK(MPI_Type_vector(N, 1, size, MPI_DOUBLE, &strided));
    OK(MPI_Type_create_resized(strided, 0, sizeof(double), &column));
    OK(MPI_Type_commit(&column));
    OK(MPI_Allgather(matrix, 1, diagonal, in, 1, column, MPI_COMM_WORLD));
    for (int i = 0; i < N * size; i++) {
        wrong += in[i] != value_of(i % size, i / size);
    }
    CHECK_EQ(wrong, 0);
    OK(MPI_Type_free(&diagonal));
    OK(MPI_Type_free(&strided));
    OK(MPI_Type_free(&column));
    free(in);
}

int main(int argc, char **argv)
{
    static const int counts[] = {0, 1, 13, 1024, 20000, 150000};
    check_begin(&argc, &argv);
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        equal_pieces(counts[i]);
    }
    varying(0);
    varying(1);
    varying(9);
    varying(20000);
    holes();
    return check_end();
}
