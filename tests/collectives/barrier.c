/* Barrier (MPI 5.0, section 6.3): nobody leaves before everybody has entered. One rank is late in each round and says
 * so in shared time: every rank's clock reading after the barrier must not precede the late rank's one before it. */
#include "../check.h"

#include <time.h>

/* The ranks of a test share a machine and so its monotonic clock. */
static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

int main(int argc, char **argv)
{
    MPI_Comm half;
    check_begin(&argc, &argv);
    for (int turn = 0; turn < 30; turn++) {
        double entered = now(), late = entered;
        OK(MPI_Barrier(MPI_COMM_WORLD));
        double left = now();
        OK(MPI_Bcast(&late, 1, MPI_DOUBLE, turn % size, MPI_COMM_WORLD));
        CHECK(left >= late);
    }
    OK(MPI_Comm_split(MPI_COMM_WORLD, rank % 2, 0, &half));
    for (int i = 0; i < 1 + rank % 2 * 20; i++) {
        OK(MPI_Barrier(half));
    }
    OK(MPI_Barrier(MPI_COMM_SELF));
    OK(MPI_Comm_free(&half));
    return check_end();
}
