/* Thousands of requests at once, completed in other orders than started, with every rank talking to every rank. */
#include "../check.h"

enum { TOTAL = 6000 };

int main(int argc, char **argv)
{
    int each, total, *in, *out, index, done = 0, count;
    MPI_Request *receives, *sends;
    int *indices;
    check_begin(&argc, &argv);
    each = TOTAL / size;
    total = each * size;
    in = allocate((size_t)total * sizeof *in);
    out = allocate((size_t)total * sizeof *out);
    indices = allocate((size_t)total * sizeof *indices);
    receives = allocate((size_t)total * sizeof *receives);
    sends = allocate((size_t)total * sizeof *sends);
    /* Tags run against each other, so that matching has to search. */
    for (int i = 0; i < each; i++) {
        for (int peer = 0; peer < size; peer++) {
            OK(MPI_Irecv(&in[i * size + peer], 1, MPI_INT, peer, i % 97, MPI_COMM_WORLD, &receives[i * size + peer]));
        }
    }
    for (int i = 0; i < each; i++) {
        for (int peer = size - 1; peer >= 0; peer--) {
            out[i * size + peer] = rank * TOTAL + i;
            OK(MPI_Isend(&out[i * size + peer], 1, MPI_INT, peer, i % 97, MPI_COMM_WORLD, &sends[i * size + peer]));
        }
    }
    for (int i = 0; i < 50; i++) {
        OK(MPI_Waitany(total, receives, &index, MPI_STATUS_IGNORE));
        CHECK_EQ(in[index], index % size * TOTAL + index / size);
        done++;
    }
    while (done < total) {
        OK(MPI_Waitsome(total, receives, &count, indices, MPI_STATUSES_IGNORE));
        CHECK(count > 0);
        done += count;
    }
    OK(MPI_Waitall(total, sends, MPI_STATUSES_IGNORE));
    for (int i = 0; i < total; i++) {
        CHECK_EQ(in[i], i % size * TOTAL + i / size);
    }
    free(in);
    free(out);
    free(indices);
    free(receives);
    free(sends);
    return check_end();
}
