/* Processes that do not agree about the amount of data (MPI 5.0, section 6.2): who gets more than there is room for says
 * MPI_ERR_TRUNCATE, who gets less than it waits for says so too, nobody waits for ever, and what follows is not disturbed. */
#include "../check.h"

enum { MANY = 40 };

static MPI_Comm world = MPI_COMM_WORLD;
static int data[MANY], *all;

/* What rank 0 gives, and what the others do. */
static Count mine(Count first, Count others)
{
    return rank == 0 ? first : others;
}

static int is_wrong(int code)
{
    return code != MPI_SUCCESS;
}

/* Waits for a nonblocking operation that was started. */
static int ended(int code, MPI_Request *request)
{
    return code == MPI_SUCCESS ? MPI_Wait(request, MPI_STATUS_IGNORE) : code;
}

static void broadcasts(void)
{
    MPI_Request request;
    int code = MPI_Bcast(data, mine(1, MANY), MPI_INT, 0, world);
    CHECK(rank == 0 || is_wrong(code));
    if (size > 1 && rank > 0) {
        FAILS(MPI_ERR_TRUNCATE, MPI_Bcast(data, mine(MANY, 1), MPI_INT, 0, world));
    } else {
        OK(MPI_Bcast(data, mine(MANY, 1), MPI_INT, 0, world));
    }
    code = ended(MPI_Ibcast(data, mine(1, MANY), MPI_INT, 0, world, &request), &request);
    CHECK(rank == 0 || is_wrong(code));
}

static void gathers(void)
{
    int code = MPI_Gather(data, mine(MANY, 1), MPI_INT, all, MANY, MPI_INT, 0, world);
    CHECK(rank != 0 || size == 1 || is_wrong(code));
    code = MPI_Scatter(all, 1, MPI_INT, data, mine(1, MANY), MPI_INT, 0, world);
    CHECK(rank == 0 || is_wrong(code));
    code = MPI_Allgather(data, mine(1, MANY), MPI_INT, all, MANY, MPI_INT, world);
    CHECK(rank == 0 || is_wrong(code));
}

static void reductions(void)
{
    int sum[MANY];
    MPI_Request request;
    int code = MPI_Reduce(data, sum, mine(MANY, 1), MPI_INT, MPI_SUM, 0, world);
    CHECK(rank != 0 || size == 1 || is_wrong(code));
    if (size == 2) {
        CHECK(is_wrong(MPI_Allreduce(data, sum, mine(MANY, 1), MPI_INT, MPI_SUM, world)));
        CHECK(is_wrong(ended(MPI_Iallreduce(data, sum, mine(1, MANY), MPI_INT, MPI_SUM, world, &request), &request)));
    }
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    all = calloc((size_t)size * MANY, sizeof *all);
    CHECK(all != NULL);
    broadcasts();
    gathers();
    reductions();
    for (int i = 0; i < 3; i++) {
        int sum = 0;
        OK(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, world));
        CHECK_EQ(sum, size * (size - 1) / 2);
    }
    free(all);
    return check_end();
}
