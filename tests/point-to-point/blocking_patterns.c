/* Patterns of blocking sends and receives (MPI 5.0, sections 3.2, 3.4 and 3.10) as programs have them, in random order: rows, columns and lists of
 * elements of one array, in place, to nobody, from anybody, messages shorter than the buffer; and everything that a program does with its data between
 * two calls: it reads, changes, copies, frees, writes to and reads from descriptors, and forks. */
#define _POSIX_C_SOURCE 200809L
#define ERRORS_ARE_FATAL
#include <sys/wait.h>
#include <unistd.h>

#include "../check.h"

enum { N = 96, ROUNDS = 60 };

static unsigned state;

/* The same sequence on all ranks. */
static unsigned next(unsigned limit)
{
    state = state * 1664525u + 1013904223u;
    return (state >> 12) % limit;
}

/* What a rank has in a cell in a round. */
static double value(int of, int round, int i, int j)
{
    return of * 1e6 + round * 1e4 + i * 97 + j;
}

static void set(double *u, int round)
{
    for (int i = 0; i < N; i++) {
        for (int j = 0; j < N; j++) {
            u[i * N + j] = value(rank, round, i, j);
        }
    }
}

/* One exchange with ghost cells in all four directions of a ring: the first and last rows and columns are those of neighbours. */
static void exchange(double *u, int round, MPI_Datatype column, int left, int right)
{
    unsigned touch = next(5);
    OK(MPI_Sendrecv(u + N, N, MPI_DOUBLE, left, 1, u + (N - 1) * N, N, MPI_DOUBLE, right, 1, MPI_COMM_WORLD,
                    MPI_STATUS_IGNORE));
    if (touch == 1) {
        CHECK(u[(N - 1) * N + 5] == value(right, round, 1, 5));
    }
    OK(MPI_Sendrecv(u + (N - 2) * N, N, MPI_DOUBLE, right, 2, u, N, MPI_DOUBLE, left, 2, MPI_COMM_WORLD,
                    MPI_STATUS_IGNORE));
    if (touch == 2) {
        u[5 * N + 1] = -1;
    }
    /* The corners of these columns have come by the calls above. */
    OK(MPI_Sendrecv(u + 1, 1, column, left, 3, u + N - 1, 1, column, right, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    OK(MPI_Sendrecv(u + N - 2, 1, column, right, 4, u, 1, column, left, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    for (int i = 1; i < N - 1; i++) {
        double expected = touch == 2 && i == 5 ? -1 : value(right, round, i, 1);
        CHECK(u[i * N + N - 1] == expected);
        CHECK(u[i * N] == value(left, round, i, N - 2));
    }
    for (int j = 1; j < N - 1; j++) {
        CHECK(u[j] == value(left, round, N - 2, j));
        CHECK(u[(N - 1) * N + j] == value(right, round, 1, j));
    }
}

/* Data that is received goes to a descriptor, or is replaced by what comes from one, without a look at it before. */
static void descriptors(double *u, int round, int left, int right)
{
    int ends[2];
    double copy[8] = {0};
    OK(MPI_Sendrecv(u, 8, MPI_DOUBLE, right, 5, u + N, 8, MPI_DOUBLE, left, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    CHECK_EQ(pipe(ends), 0);
    CHECK_EQ(write(ends[1], u + N, sizeof copy), sizeof copy);
    CHECK_EQ(read(ends[0], copy, sizeof copy), sizeof copy);
    CHECK(copy[3] == value(left, round, 0, 3));
    OK(MPI_Sendrecv(u, 8, MPI_DOUBLE, right, 5, u + N, 8, MPI_DOUBLE, left, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    CHECK_EQ(write(ends[1], copy, sizeof copy), sizeof copy);
    copy[3] = -7;
    CHECK_EQ(write(ends[1], copy, sizeof copy), sizeof copy);
    CHECK_EQ(read(ends[0], u + N, sizeof copy), sizeof copy);
    CHECK(u[N + 3] == value(left, round, 0, 3));
    CHECK_EQ(read(ends[0], u + N, sizeof copy), sizeof copy);
    CHECK(u[N + 3] == -7);
    close(ends[0]);
    close(ends[1]);
}

/* A child has the data that its parent has received. */
static void forks(double *u, int round, int left, int right)
{
    OK(MPI_Sendrecv(u, N, MPI_DOUBLE, right, 6, u + N, N, MPI_DOUBLE, left, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    pid_t child = fork();
    if (child == 0) {
        _exit(u[N + 7] == value(left, round, 0, 7) ? 0 : 1);
    }
    int status = -1;
    CHECK_EQ(waitpid(child, &status, 0), child);
    CHECK_EQ(status, 0);
    CHECK(u[N + 7] == value(left, round, 0, 7));
}

/* Memory moves and goes while data is on its way to it, and what is sent may be changed after the call. */
static void moves(int round, int left, int right)
{
    size_t count = 20000 + next(20000);
    double *out = malloc(count * sizeof *out), *in = malloc(count * sizeof *in);
    for (size_t i = 0; i < count; i++) {
        out[i] = value(rank, round, 0, (int)i);
    }
    OK(MPI_Sendrecv(out, (int)count, MPI_DOUBLE, right, 7, in, (int)count, MPI_DOUBLE, left, 7, MPI_COMM_WORLD,
                    MPI_STATUS_IGNORE));
    memset(out, 0, count * sizeof *out);
    in = realloc(in, 2 * count * sizeof *in);
    CHECK(in[count - 1] == value(left, round, 0, (int)count - 1));
    OK(MPI_Sendrecv(in, 100, MPI_DOUBLE, right, 8, in + count, 100, MPI_DOUBLE, left, 8, MPI_COMM_WORLD,
                    MPI_STATUS_IGNORE));
    free(out);
    free(in);
}

/* Less comes than there is room for, and the rest stays: part of a structure even. */
static void shorter(int left, int right)
{
    struct pair {
        int a;
        double b;
    } *pairs = calloc(400, sizeof *pairs);
    MPI_Datatype made, type, of[2] = {MPI_INT, MPI_DOUBLE};
    Extent places[2] = {offsetof(struct pair, a), offsetof(struct pair, b)};
    Count lengths[2] = {1, 1};
    int numbers[9];
    OK(MPI_Type_create_struct(2, lengths, places, of, &made));
    OK(MPI_Type_create_resized(made, 0, sizeof(struct pair), &type));
    OK(MPI_Type_commit(&type));
    for (int i = 0; i < 9; i++) {
        numbers[i] = rank * 10 + i;
    }
    for (int i = 0; i < 400; i++) {
        pairs[i] = (struct pair){-1, -2};
    }
    int odd = (int)next(2);
    if (odd) {
        MPI_Datatype first;
        OK(MPI_Type_create_struct(1, lengths, places, of, &first));
        OK(MPI_Type_commit(&first));
        OK(MPI_Sendrecv(numbers, 1, first, right, 9, pairs, 400, type, left, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        OK(MPI_Type_free(&first));
        CHECK_EQ(pairs[0].a, left * 10);
        CHECK(pairs[0].b == -2);
    } else {
        OK(MPI_Sendrecv(pairs + 7, 3, type, right, 9, pairs + 20, 300, type, left, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        pairs[7].a = 5;
        CHECK_EQ(pairs[22].a, -1);
        CHECK_EQ(pairs[23].a, -1);
    }
    OK(MPI_Type_free(&made));
    OK(MPI_Type_free(&type));
    free(pairs);
}

/* Statuses, looked at before and after the data, in copies, and of messages that are shorter than their buffers. */
static void statuses(double *u, double *v, int round, int left, int right)
{
    static MPI_Status kept;
    MPI_Status status[3], copy;
    Count count;
    for (int i = 0; i < 3; i++) {
        OK(MPI_Sendrecv(u + i, N * (3 - i), MPI_DOUBLE, right, 13 + i, v + 2500 * i, N * 3, MPI_DOUBLE, left, 13 + i, MPI_COMM_WORLD,
                        status + i));
        CHECK_EQ(status[i].MPI_SOURCE, left);
        CHECK_EQ(status[i].MPI_TAG, 13 + i);
    }
    copy = status[1];
    kept = status[2];
    OK(MPI_Get_count(status, MPI_DOUBLE, &count));
    CHECK_EQ(count, N * 3);
    memset(status, 0xff, sizeof status);
    CHECK(v[2500 + 2 * N - 1] == value(left, round, 2, 0));
    OK(MPI_Get_count(&copy, MPI_DOUBLE, &count));
    CHECK_EQ(count, N * 2);
    OK(MPI_Get_count(&kept, MPI_BYTE, &count));
    CHECK_EQ(count, N * sizeof *u);
    OK(MPI_Get_count(&kept, MPI_DOUBLE, &count));
    CHECK_EQ(count, N);
    OK(MPI_Sendrecv(u, 1, MPI_DOUBLE, MPI_PROC_NULL, 13, v, N, MPI_DOUBLE, MPI_PROC_NULL, 13, MPI_COMM_WORLD, status));
    CHECK_EQ(status[0].MPI_SOURCE, MPI_PROC_NULL);
    OK(MPI_Sendrecv(u, N, MPI_DOUBLE, right, 16, v, N, MPI_DOUBLE, MPI_ANY_SOURCE, 16, MPI_COMM_WORLD, status));
    CHECK_EQ(status[0].MPI_SOURCE, left);
    OK(MPI_Get_count(status, MPI_DOUBLE, &count));
    CHECK_EQ(count, N);
    CHECK(v[N - 1] == value(left, round, 0, N - 1));
}

/* A chain of plain receives and sends around the ring, by any source and tag. */
static void ring(double *u, int left, int right)
{
    double *token = malloc(4096 * sizeof *token);
    for (int i = 0; i < 4096; i++) {
        token[i] = -1;
    }
    if (rank == 0) {
        OK(MPI_Send(u, 4096, MPI_DOUBLE, right, 10, MPI_COMM_WORLD));
        u[3] += 1;
        OK(MPI_Recv(token, 4096, MPI_DOUBLE, MPI_ANY_SOURCE, 10, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        u[3] -= 1;
    } else {
        OK(MPI_Recv(token, 4096, MPI_DOUBLE, left, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        OK(MPI_Send(token, 4096, MPI_DOUBLE, right, 10, MPI_COMM_WORLD));
    }
    CHECK(token[4095] == u[4095] + (0 - rank) * 1e6);
    free(token);
}

int main(int argc, char **argv)
{
    MPI_Datatype column;
    check_begin(&argc, &argv);
    int left = (rank + size - 1) % size, right = (rank + 1) % size;
    double *u = malloc(N * N * sizeof *u), *v = malloc(N * N * sizeof *v);
    OK(MPI_Type_vector(N, 1, N, MPI_DOUBLE, &column));
    OK(MPI_Type_commit(&column));
    for (state = 1; state < 4; state++) {
        unsigned seed = state;
        for (int round = 0; round < ROUNDS; round++) {
            set(u, round);
            switch (next(9)) {
            case 0:
                descriptors(u, round, left, right);
                break;
            case 1:
                if (round % 8 == 0) {
                    forks(u, round, left, right);
                }
                break;
            case 2:
                moves(round, left, right);
                break;
            case 3:
                shorter(left, right);
                break;
            case 4:
                if (size > 1) {
                    ring(u, left, right);
                }
                break;
            case 5:
                OK(MPI_Sendrecv_replace(u, N, MPI_DOUBLE, right, 11, left, 11, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
                memcpy(v, u, N * sizeof *v);
                CHECK(v[9] == value(left, round, 0, 9));
                OK(MPI_Sendrecv(u, N, MPI_DOUBLE, MPI_PROC_NULL, 12, v, N, MPI_DOUBLE, MPI_PROC_NULL, 12, MPI_COMM_WORLD,
                                MPI_STATUS_IGNORE));
                CHECK(v[9] == value(left, round, 0, 9));
                break;
            case 6:
                for (int again = 0; again < 6; again++) {
                    statuses(u, v, round, left, right);
                }
                break;
            default:
                for (int again = 0; again < 6; again++) {
                    set(u, round);
                    exchange(u, round, column, left, right);
                }
            }
        }
        state = seed;
    }
    OK(MPI_Type_free(&column));
    free(u);
    free(v);
    return check_end();
}
