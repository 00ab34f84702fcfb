/* Collectives on many communicators that overlap: duplicates, halves, reversed orders and single ranks, in turn. */
#include "../check.h"

static void one_round(MPI_Comm comm, int turn)
{
    int me, ranks, value, sum = 0, *all;
    OK(MPI_Comm_rank(comm, &me));
    OK(MPI_Comm_size(comm, &ranks));
    all = allocate((size_t)ranks * sizeof *all);
    value = me == turn % ranks ? turn : -1;
    OK(MPI_Bcast(&value, 1, MPI_INT, turn % ranks, comm));
    CHECK_EQ(value, turn);
    value = me + turn;
    OK(MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, comm));
    CHECK_EQ(sum, ranks * turn + ranks * (ranks - 1) / 2);
    OK(MPI_Allgather(&me, 1, MPI_INT, all, 1, MPI_INT, comm));
    for (int i = 0; i < ranks; i++) {
        CHECK_EQ(all[i], i);
    }
    free(all);
}

int main(int argc, char **argv)
{
    enum { COMMS = 6 };
    MPI_Comm comms[COMMS];
    check_begin(&argc, &argv);
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &comms[0]));
    OK(MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &comms[1]));
    OK(MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &comms[2]));
    OK(MPI_Comm_split(MPI_COMM_WORLD, rank / 2, rank, &comms[3]));
    OK(MPI_Comm_dup(comms[2], &comms[4]));
    OK(MPI_Comm_dup(MPI_COMM_SELF, &comms[5]));
    for (int turn = 0; turn < 20; turn++) {
        for (int i = 0; i < COMMS; i++) {
            one_round(comms[(i + turn) % COMMS], turn);
        }
    }
    for (int i = 0; i < COMMS; i++) {
        OK(MPI_Comm_free(&comms[i]));
    }
    return check_end();
}
