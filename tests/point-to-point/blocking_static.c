/* Blocking sends and receives of static arrays (MPI 5.0, section 3.2), which stand beside other variables: those of the program, statuses, counters
 * that are changed between calls, and variables of the C library that the loader has put into the executable. */
#define _POSIX_C_SOURCE 200809L
#define ERRORS_ARE_FATAL
#include <unistd.h>

#include "../check.h"

enum { N = 160, ROUNDS = 40, LITTLE = 5 };

static int before = 1;
static double field[N][N];
static MPI_Status status;
static int counter;
static double little[LITTLE];
static double other[N];
static long after;
static double numbers[3] = {1, 2, 3};

static double value(int of, int round, int i, int j)
{
    return of * 1e6 + round * 1e4 + i * 163 + j;
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    int left = (rank + size - 1) % size, right = (rank + 1) % size;
    MPI_Datatype column;
    OK(MPI_Type_vector(N, 1, N, MPI_DOUBLE, &column));
    OK(MPI_Type_commit(&column));
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < N; i++) {
            for (int j = 0; j < N; j++) {
                field[i][j] = value(rank, round, i, j);
            }
        }
        OK(MPI_Sendrecv(field[1], N, MPI_DOUBLE, left, 1, field[N - 1], N, MPI_DOUBLE, right, 1, MPI_COMM_WORLD,
                        MPI_STATUS_IGNORE));
        counter++;
        OK(MPI_Sendrecv(&field[0][1], 1, column, left, 2, &field[0][N - 1], 1, column, right, 2, MPI_COMM_WORLD, &status));
        if (round % 7 == 3) {
            CHECK_EQ(status.MPI_SOURCE, right);
        }
        before += round;
        if (round % 4 == 1) {
            CHECK(stdout != NULL && fprintf(stdout, "%s", "") == 0);
        }
        OK(MPI_Sendrecv(numbers, 3, MPI_DOUBLE, right, 3, little, LITTLE, MPI_DOUBLE, left, 3, MPI_COMM_WORLD, &status));
        CHECK(getenv("PATH") != NULL);
        Count length;
        OK(MPI_Get_count(&status, MPI_DOUBLE, &length));
        CHECK_EQ(length, 3);
        OK(MPI_Sendrecv(field[2], N, MPI_DOUBLE, right, 4, other, N, MPI_DOUBLE, left, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        after += round;
        if (round % 5 == 0) {
            CHECK_EQ(fflush(stdout), 0);
        }
        CHECK(little[0] == 1 && little[2] == 3 && little[4] == 0);
        for (int i = 0; i < N - 1; i++) {
            CHECK(field[i][N - 1] == value(right, round, i, 1));
            CHECK(field[N - 1][i] == value(right, round, 1, i));
            CHECK(other[i] == value(left, round, 2, i));
        }
        numbers[1] = 2;
    }
    CHECK_EQ(counter, ROUNDS);
    CHECK_EQ(before, 1 + ROUNDS * (ROUNDS - 1) / 2);
    CHECK_EQ(after, ROUNDS * (ROUNDS - 1) / 2);
    OK(MPI_Type_free(&column));
    return check_end();
}
