/* Errors of blocking receives that are returned (MPI 5.0, section 9.3): a message that is too long for its buffer, after many that were not, is told
 * once, by this call or, where calls are made asynchronous, by a later one; and other messages come all the same. */
#include "../check.h"

enum { N = 20000, ROUNDS = 12 };

int main(int argc, char **argv)
{
    int truncated = 0, class;
    check_begin(&argc, &argv);
    int left = (rank + size - 1) % size, right = (rank + 1) % size;
    double *out = calloc(2 * N, sizeof *out), *in = calloc(2 * N, sizeof *in);
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < 2; i++) {
            MPI_Status status;
            Count count;
            out[0] = round * 10 + i;
            /* The same call in all rounds, of which the last but one has a message that is longer. */
            int is_long = round == ROUNDS - 2 && i == 0;
            int code = MPI_Sendrecv(out, is_long ? 2 * N : N, MPI_DOUBLE, right, i, in, N, MPI_DOUBLE, left, i, MPI_COMM_WORLD, &status);
            if (code == MPI_SUCCESS && round < ROUNDS - 2) {
                OK(MPI_Get_count(&status, MPI_DOUBLE, &count));
                CHECK_EQ(count, N);
                CHECK(in[0] == round * 10 + i);
            }
            if (code != MPI_SUCCESS) {
                OK(MPI_Error_class(code, &class));
                CHECK_EQ(class, MPI_ERR_TRUNCATE);
                CHECK(round >= ROUNDS - 2);
                truncated++;
            }
        }
    }
    CHECK_EQ(truncated, 1);
    CHECK(in[0] == (ROUNDS - 1) * 10 + 1);
    free(out);
    free(in);
    return check_end();
}
