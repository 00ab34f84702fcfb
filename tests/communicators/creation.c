/* Making communicators (MPI 5.0, section 7.4): duplicates, blocking and not, splits, subgroups; comparison; and that
 * each new communicator is a context of its own with the ranks in the order asked for. */
#include "../check.h"

/* A ring on the communicator, and the place of this rank in it. */
static void check_works(MPI_Comm comm, int ranks, int place)
{
    int found, me, in = -1, left, sum = 0, inter = 1;
    MPI_Comm_size(comm, &found);
    CHECK_EQ(found, ranks);
    OK(MPI_Comm_rank(comm, &me));
    CHECK_EQ(me, place);
    OK(MPI_Comm_test_inter(comm, &inter));
    CHECK_EQ(inter, 0);
    left = (me + ranks - 1) % ranks;
    OK(MPI_Sendrecv(&me, 1, MPI_INT, (me + 1) % ranks, 1, &in, 1, MPI_INT, left, 1, comm, MPI_STATUS_IGNORE));
    CHECK_EQ(in, left);
    OK(MPI_Allreduce(&me, &sum, 1, MPI_INT, MPI_SUM, comm));
    CHECK_EQ(sum, ranks * (ranks - 1) / 2);
}

static void check_compare(MPI_Comm a, MPI_Comm b, int expected)
{
    int result = -1;
    OK(MPI_Comm_compare(a, b, &result));
    CHECK_EQ(result, expected);
}

static void duplicates(void)
{
    enum { MANY = 8 };
    MPI_Comm comm, comms[MANY];
    MPI_Request requests[MANY];
    MPI_Info info;
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    check_works(comm, size, rank);
    check_compare(comm, MPI_COMM_WORLD, MPI_CONGRUENT);
    check_compare(comm, comm, MPI_IDENT);
    OK(MPI_Comm_free(&comm));
    CHECK(comm == MPI_COMM_NULL);
    OK(MPI_Info_create(&info));
    OK(MPI_Info_set(info, "mpi_assert_no_any_tag", "true"));
    OK(MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &comm));
    check_works(comm, size, rank);
    OK(MPI_Comm_free(&comm));
    for (int i = 0; i < MANY; i++) {
        if (i % 2) {
            OK(MPI_Comm_idup(MPI_COMM_WORLD, &comms[i], &requests[i]));
        } else {
            OK(MPI_Comm_idup_with_info(MPI_COMM_WORLD, info, &comms[i], &requests[i]));
        }
    }
    OK(MPI_Waitall(MANY, requests, MPI_STATUSES_IGNORE));
    for (int i = 0; i < MANY; i++) {
        check_works(comms[i], size, rank);
        OK(MPI_Comm_free(&comms[i]));
    }
    OK(MPI_Info_free(&info));
    OK(MPI_Comm_dup(MPI_COMM_SELF, &comm));
    check_works(comm, 1, 0);
    OK(MPI_Comm_free(&comm));
}

static void splits(void)
{
    MPI_Comm comm;
    int ranks, place;
    OK(MPI_Comm_split(MPI_COMM_WORLD, rank % 3, -rank, &comm));
    ranks = (size - rank % 3 + 2) / 3;
    check_works(comm, ranks, ranks - 1 - rank / 3);
    OK(MPI_Comm_free(&comm));
    /* Equal keys: the old order decides. */
    OK(MPI_Comm_split(MPI_COMM_WORLD, 7, 0, &comm));
    check_works(comm, size, rank);
    check_compare(comm, MPI_COMM_WORLD, MPI_CONGRUENT);
    OK(MPI_Comm_free(&comm));
    OK(MPI_Comm_split(MPI_COMM_WORLD, 7, size - rank, &comm));
    check_compare(comm, MPI_COMM_WORLD, size == 1 ? MPI_CONGRUENT : MPI_SIMILAR);
    OK(MPI_Comm_free(&comm));
    OK(MPI_Comm_split(MPI_COMM_WORLD, rank == 0 ? MPI_UNDEFINED : 1, rank, &comm));
    if (rank == 0) {
        CHECK(comm == MPI_COMM_NULL);
    } else {
        check_works(comm, size - 1, rank - 1);
        OK(MPI_Comm_free(&comm));
    }
    OK(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, -rank, MPI_INFO_NULL, &comm));
    OK(MPI_Comm_size(comm, &ranks));
    OK(MPI_Comm_rank(comm, &place));
    check_works(comm, ranks, place);
    CHECK(ranks != size || place == size - 1 - rank);
    OK(MPI_Comm_free(&comm));
    OK(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_UNDEFINED, 0, MPI_INFO_NULL, &comm));
    CHECK(comm == MPI_COMM_NULL);
}

/* The odd ranks in reverse order; with a single rank the group is rank 0 alone. */
static int odd_backwards(int *ranks)
{
    int count = 0;
    for (int i = size - 1; i >= 0; i--) {
        if (i % 2 || size == 1) {
            ranks[count++] = i;
        }
    }
    return count;
}

static void subgroups(void)
{
    int ranks[64], count = odd_backwards(ranks), place = MPI_UNDEFINED;
    MPI_Group world, group;
    MPI_Comm comm;
    OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
    OK(MPI_Group_incl(world, count, ranks, &group));
    OK(MPI_Group_rank(group, &place));
    OK(MPI_Comm_create(MPI_COMM_WORLD, group, &comm));
    if (place == MPI_UNDEFINED) {
        CHECK(comm == MPI_COMM_NULL);
    } else {
        check_works(comm, count, place);
        OK(MPI_Comm_free(&comm));
        /* Only the members take part here. */
        OK(MPI_Comm_create_group(MPI_COMM_WORLD, group, 17, &comm));
        check_works(comm, count, place);
        check_compare(comm, MPI_COMM_WORLD, size == 1 ? MPI_CONGRUENT : MPI_UNEQUAL);
        OK(MPI_Comm_free(&comm));
    }
    OK(MPI_Comm_create(MPI_COMM_WORLD, MPI_GROUP_EMPTY, &comm));
    CHECK(comm == MPI_COMM_NULL);
    OK(MPI_Group_free(&group));
    OK(MPI_Group_free(&world));
}

/* Far more communicators than any table holds at once, one after the other, and many at a time. */
static void many(void)
{
    enum { AT_ONCE = 60 };
    MPI_Comm comms[AT_ONCE], comm;
    for (int i = 0; i < 150; i++) {
        OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
        OK(MPI_Comm_free(&comm));
    }
    for (int i = 0; i < AT_ONCE; i++) {
        OK(MPI_Comm_split(i ? comms[i - 1] : MPI_COMM_WORLD, 0, rank, &comms[i]));
    }
    for (int i = 0; i < AT_ONCE; i += 15) {
        check_works(comms[i], size, rank);
    }
    for (int i = 0; i < AT_ONCE; i++) {
        OK(MPI_Comm_free(&comms[i]));
    }
}

/* A communicator that is freed while a receive on it is pending lives until the receive is done (section 7.4.3). */
static void freed_with_pending_receive(void)
{
    MPI_Comm comm;
    MPI_Request receive, send;
    int in = -1;
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    OK(MPI_Irecv(&in, 1, MPI_INT, (rank + size - 1) % size, 4, comm, &receive));
    OK(MPI_Isend(&rank, 1, MPI_INT, (rank + 1) % size, 4, comm, &send));
    OK(MPI_Comm_free(&comm));
    OK(MPI_Wait(&receive, MPI_STATUS_IGNORE));
    OK(MPI_Wait(&send, MPI_STATUS_IGNORE));
    CHECK_EQ(in, (rank + size - 1) % size);
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    duplicates();
    splits();
    subgroups();
    many();
    freed_with_pending_receive();
    return check_end();
}
