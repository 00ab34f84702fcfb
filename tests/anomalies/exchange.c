/* Rings of small and large messages, and a collective; every rank says at the end that all was right. */
#include "../check.h"

enum { LARGE = 4 << 20 };

int main(int argc, char **argv)
{
    unsigned char *out = allocate(LARGE), *in = allocate(LARGE);
    int sum = 0;
    check_begin(&argc, &argv);
    for (size_t bytes = 1; bytes <= LARGE; bytes *= 4) {
        int right = (rank + 1) % size, left = (rank + size - 1) % size;
        fill(out, bytes, (unsigned)rank);
        OK(MPI_Sendrecv(out, (int)bytes, MPI_BYTE, right, 1, in, (int)bytes, MPI_BYTE, left, 1, MPI_COMM_WORLD,
                        MPI_STATUS_IGNORE));
        CHECK(filled(in, bytes, (unsigned)left));
    }
    OK(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    CHECK_EQ(sum, size * (size - 1) / 2);
    if (check_failures == 0) {
        printf("rank %d of %d exchanged\n", rank, size);
    }
    free(out);
    free(in);
    return check_end();
}
