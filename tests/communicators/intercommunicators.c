/* Intercommunicators (MPI 5.0, section 7.6): creation, the two groups, messages between them, duplicates, splits,
 * subgroups, comparison and merging in either order. One rank alone checks that an intracommunicator is not taken for
 * one. */
#include "../check.h"

static int side, mine, others, me;

static void check_exchange(MPI_Comm inter)
{
    int in = -1, place, remote, out, to, flag = 0;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Status status;
    OK(MPI_Comm_test_inter(inter, &flag));
    CHECK(flag);
    OK(MPI_Comm_rank(inter, &place));
    OK(MPI_Comm_remote_size(inter, &remote));
    out = 100 * side + place;
    to = place;
    if (to < remote) {
        OK(MPI_Isend(&out, 1, MPI_INT, to, 3, inter, &request));
        OK(MPI_Recv(&in, 1, MPI_INT, MPI_ANY_SOURCE, 3, inter, &status));
        CHECK_EQ(status.MPI_SOURCE, place);
        CHECK_EQ(in, 100 * (1 - side) + place);
    }
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
}

static void groups(MPI_Comm inter)
{
    int first = side ? (size + 1) / 2 : 0, other_first = side ? 0 : (size + 1) / 2, count, in = 0, out = -1;
    MPI_Group world, own, remote;
    OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
    OK(MPI_Comm_group(inter, &own));
    OK(MPI_Comm_remote_group(inter, &remote));
    OK(MPI_Group_size(own, &count));
    CHECK_EQ(count, mine);
    OK(MPI_Group_size(remote, &count));
    CHECK_EQ(count, others);
    OK(MPI_Group_translate_ranks(own, 1, &in, world, &out));
    CHECK_EQ(out, first);
    OK(MPI_Group_translate_ranks(remote, 1, &in, world, &out));
    CHECK_EQ(out, other_first);
    OK(MPI_Group_free(&world));
    OK(MPI_Group_free(&own));
    OK(MPI_Group_free(&remote));
}

static void derived(MPI_Comm inter)
{
    MPI_Comm twin, part;
    MPI_Request request;
    MPI_Group own, first;
    int result = -1, zero = 0, remote = -1, place;
    OK(MPI_Comm_dup(inter, &twin));
    check_exchange(twin);
    OK(MPI_Comm_compare(inter, twin, &result));
    CHECK_EQ(result, MPI_CONGRUENT);
    OK(MPI_Comm_compare(inter, MPI_COMM_WORLD, &result));
    CHECK_EQ(result, MPI_UNEQUAL);
    OK(MPI_Comm_free(&twin));
    OK(MPI_Comm_idup(inter, &twin, &request));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    check_exchange(twin);
    OK(MPI_Comm_free(&twin));

    /* Even and odd members of both sides; an odd communicator exists only where both sides have odd members. */
    OK(MPI_Comm_split(inter, me % 2, me, &part));
    if (me % 2 && others < 2) {
        CHECK(part == MPI_COMM_NULL);
    } else {
        OK(MPI_Comm_remote_size(part, &remote));
        CHECK_EQ(remote, (others + 1 - me % 2) / 2);
        check_exchange(part);
        OK(MPI_Comm_free(&part));
    }

    OK(MPI_Comm_group(inter, &own));
    OK(MPI_Group_incl(own, 1, &zero, &first));
    OK(MPI_Comm_create(inter, first, &part));
    if (me == 0) {
        OK(MPI_Comm_remote_size(part, &remote));
        CHECK_EQ(remote, 1);
        OK(MPI_Comm_rank(part, &place));
        CHECK_EQ(place, 0);
        check_exchange(part);
        OK(MPI_Comm_free(&part));
    } else {
        CHECK(part == MPI_COMM_NULL);
    }
    OK(MPI_Group_free(&own));
    OK(MPI_Group_free(&first));
}

static void merge(MPI_Comm inter, int second_side_first)
{
    MPI_Comm merged;
    int place, count, expected, sum = 0;
    OK(MPI_Intercomm_merge(inter, second_side_first ? !side : side, &merged));
    OK(MPI_Comm_size(merged, &count));
    CHECK_EQ(count, size);
    OK(MPI_Comm_rank(merged, &place));
    expected = second_side_first ? (side ? me : others + me) : rank;
    CHECK_EQ(place, expected);
    OK(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, merged));
    CHECK_EQ(sum, size * (size - 1) / 2);
    OK(MPI_Comm_free(&merged));
}

int main(int argc, char **argv)
{
    MPI_Comm local, inter, merged, peer;
    int count = 0;
    check_begin(&argc, &argv);
    if (size == 1) {
        FAILS(MPI_ERR_COMM, MPI_Comm_remote_size(MPI_COMM_WORLD, &count));
        FAILS(MPI_ERR_COMM, MPI_Intercomm_merge(MPI_COMM_WORLD, 0, &merged));
        return check_end();
    }
    side = rank >= (size + 1) / 2;
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &peer));
    OK(MPI_Comm_split(MPI_COMM_WORLD, side, 0, &local));
    OK(MPI_Intercomm_create(local, 0, peer, side ? 0 : (size + 1) / 2, 9, &inter));
    OK(MPI_Comm_rank(inter, &me));
    OK(MPI_Comm_size(inter, &mine));
    OK(MPI_Comm_remote_size(inter, &others));
    CHECK_EQ(mine + others, size);
    check_exchange(inter);
    /* Ranks are those of the other group. */
    FAILS(MPI_ERR_RANK, MPI_Send(&count, 1, MPI_INT, others, 0, inter));
    groups(inter);
    derived(inter);
    merge(inter, 0);
    merge(inter, 1);
    OK(MPI_Comm_free(&inter));
    OK(MPI_Comm_free(&local));
    OK(MPI_Comm_free(&peer));
    return check_end();
}
