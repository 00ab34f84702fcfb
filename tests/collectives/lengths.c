/* Processes that do not agree about the amount of data (MPI 5.0, section 6.2): of two processes the one that gets more or less than
 * it waits for says so; of more, those that get their data through others may not know. Nobody waits for ever, and what
 * follows is not disturbed. */
#include "../check.h"

enum { MANY = 40 };

static MPI_Comm world = MPI_COMM_WORLD;
static int data[MANY], *all, *more;

/* What rank 0 gives, and what the others do. */
static Count mine(Count first, Count others)
{
    return rank == 0 ? first : others;
}

/* Of two processes, that with this rank is to have noticed. */
static void check_noticed(int who, int code)
{
    CHECK(size != 2 || rank != who || code != MPI_SUCCESS);
}

/* Waits for a nonblocking operation that was started. */
static int ended(int code, MPI_Request *request)
{
    return code == MPI_SUCCESS ? MPI_Wait(request, MPI_STATUS_IGNORE) : code;
}

static void broadcasts(void)
{
    MPI_Request request;
    check_noticed(1, MPI_Bcast(data, mine(1, MANY), MPI_INT, 0, world));
    check_noticed(1, MPI_Bcast(data, mine(MANY, 1), MPI_INT, 0, world));
    check_noticed(1, ended(MPI_Ibcast(data, mine(1, MANY), MPI_INT, 0, world, &request), &request));
    check_noticed(1, ended(MPI_Ibcast(data, mine(MANY, 1), MPI_INT, 0, world, &request), &request));
}

static void blocks(void)
{
    MPI_Request request;
    check_noticed(0, MPI_Gather(data, mine(MANY, 1), MPI_INT, all, MANY, MPI_INT, 0, world));
    check_noticed(1, MPI_Scatter(all, 1, MPI_INT, data, mine(1, MANY), MPI_INT, 0, world));
    check_noticed(1, MPI_Allgather(data, mine(1, MANY), MPI_INT, all, MANY, MPI_INT, world));
    check_noticed(1, MPI_Alltoall(all, mine(1, MANY), MPI_INT, more, MANY, MPI_INT, world));
    check_noticed(0, ended(MPI_Igather(data, mine(MANY, 1), MPI_INT, all, MANY, MPI_INT, 0, world, &request), &request));
}

static void reductions(void)
{
    MPI_Request request;
    check_noticed(0, MPI_Reduce(data, more, mine(MANY, 1), MPI_INT, MPI_SUM, 0, world));
    for (int who = 0; who < 2; who++) {
        check_noticed(who, MPI_Allreduce(data, more, mine(MANY, 1), MPI_INT, MPI_SUM, world));
        check_noticed(who, MPI_Allreduce(data, more, mine(1, MANY), MPI_INT, MPI_SUM, world));
        check_noticed(who, ended(MPI_Iallreduce(data, more, mine(1, MANY), MPI_INT, MPI_SUM, world, &request), &request));
    }
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    all = calloc((size_t)size * MANY, sizeof *all);
    more = calloc((size_t)size * MANY, sizeof *more);
    CHECK(all != NULL && more != NULL);
    broadcasts();
    blocks();
    reductions();
    for (int i = 0; i < 3; i++) {
        int sum = 0;
        OK(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, world));
        CHECK_EQ(sum, size * (size - 1) / 2);
    }
    free(all);
    free(more);
    return check_end();
}
