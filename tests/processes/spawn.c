/* Processes that are spawned (MPI 5.0, section 11.8): by one rank and by all, one and several, and what can be done with
 * the communicator between both: messages of all sizes, collectives, merging, duplicates and splits of it, and what is
 * made of the merged communicator; children of children; the end. The program is its own child. */
#include "../check.h"

enum { LARGE = 300001 };

/* Everybody sends to everybody on the other side, short and long. */
static void exchange(MPI_Comm inter, int is_child, int own, int there)
{
    MPI_Status status;
    for (int bytes = 4; bytes <= LARGE; bytes = bytes == 4 ? 5000 : bytes == 5000 ? LARGE : LARGE + 1) {
        unsigned char *in = allocate((size_t)bytes), *out = allocate((size_t)bytes);
        MPI_Request *sends = allocate((size_t)there * sizeof *sends);
        fill(out, (size_t)bytes, (unsigned)(own + 100 * is_child));
        for (int peer = 0; peer < there; peer++) {
            OK(MPI_Isend(out, bytes, MPI_BYTE, peer, bytes % 997, inter, &sends[peer]));
        }
        for (int i = 0; i < there; i++) {
            OK(MPI_Recv(in, bytes, MPI_BYTE, MPI_ANY_SOURCE, bytes % 997, inter, &status));
            CHECK(status.MPI_SOURCE >= 0 && status.MPI_SOURCE < there);
            CHECK(filled(in, (size_t)bytes, (unsigned)(status.MPI_SOURCE + 100 * !is_child)));
        }
        OK(MPI_Waitall(there, sends, MPI_STATUSES_IGNORE));
        free(sends);
        free(out);
        free(in);
    }
}

/* What both sides do with the inter-communicator. */
static void use(MPI_Comm inter, int is_child)
{
    int own, here, there, flag, value, sum, expected;
    int *all;
    MPI_Comm merged, copy, half;
    MPI_Group group;
    OK(MPI_Comm_test_inter(inter, &flag));
    CHECK(flag);
    OK(MPI_Comm_rank(inter, &own));
    OK(MPI_Comm_size(inter, &here));
    OK(MPI_Comm_remote_size(inter, &there));
    OK(MPI_Comm_remote_group(inter, &group));
    OK(MPI_Group_size(group, &value));
    CHECK_EQ(value, there);
    OK(MPI_Group_rank(group, &value));
    CHECK_EQ(value, MPI_UNDEFINED);
    OK(MPI_Group_free(&group));

    exchange(inter, is_child, own, there);
    OK(MPI_Barrier(inter));
    value = own + 1 + 1000 * is_child;
    OK(MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, inter));
    expected = there * (there + 1) / 2 + (is_child ? 0 : 1000 * there);
    CHECK_EQ(sum, expected);

    /* The parents come first. */
    OK(MPI_Intercomm_merge(inter, is_child, &merged));
    OK(MPI_Comm_size(merged, &value));
    CHECK_EQ(value, here + there);
    OK(MPI_Comm_rank(merged, &value));
    CHECK_EQ(value, is_child ? there + own : own);
    all = allocate((size_t)(here + there) * sizeof *all);
    OK(MPI_Allgather(&value, 1, MPI_INT, all, 1, MPI_INT, merged));
    for (int i = 0; i < here + there; i++) {
        CHECK_EQ(all[i], i);
    }
    free(all);
    OK(MPI_Comm_dup(merged, &copy));
    sum = value == here + there - 1 ? 77 : 0;
    OK(MPI_Bcast(&sum, 1, MPI_INT, here + there - 1, copy));
    CHECK_EQ(sum, 77);
    OK(MPI_Comm_split(copy, value % 2, -value, &half));
    OK(MPI_Comm_size(half, &sum));
    CHECK_EQ(sum, (here + there + !(value % 2)) / 2);
    flag = 1;
    OK(MPI_Allreduce(MPI_IN_PLACE, &flag, 1, MPI_INT, MPI_SUM, half));
    CHECK_EQ(flag, sum);
    OK(MPI_Comm_free(&half));
    OK(MPI_Comm_disconnect(&copy));
    OK(MPI_Comm_free(&merged));

    OK(MPI_Comm_dup(inter, &copy));
    OK(MPI_Barrier(copy));
    OK(MPI_Comm_disconnect(&copy));
}

static char program[4096];

static void spawn(MPI_Comm comm, int root, int children, char *what, int grand)
{
    char *argv[] = {what, grand ? "grand" : NULL, NULL};
    int codes[3] = {-1, -1, -1}, value, own;
    MPI_Comm inter, parent;
    OK(MPI_Comm_rank(comm, &own));
    OK(own == root ? MPI_Comm_spawn(program, argv, children, MPI_INFO_NULL, root, comm, &inter, codes)
                   : MPI_Comm_spawn(NULL, NULL, -1, MPI_INFO_NULL, root, comm, &inter, codes));
    for (int i = 0; i < 3; i++) {
        CHECK_EQ(codes[i], i < children ? MPI_SUCCESS : -1);
    }
    OK(MPI_Comm_remote_size(inter, &value));
    CHECK_EQ(value, children);
    OK(MPI_Comm_get_parent(&parent));
    CHECK(parent == MPI_COMM_NULL || parent != inter);
    use(inter, 0);
    OK(MPI_Comm_disconnect(&inter));
    CHECK(inter == MPI_COMM_NULL);
}

static int child(int argc, char **argv)
{
    MPI_Comm parent, again;
    OK(MPI_Comm_get_parent(&parent));
    OK(MPI_Comm_get_parent(&again));
    CHECK(parent == again);
    CHECK(argc >= 2 && strcmp(argv[1], "child") == 0);
    use(parent, 1);
    if (argc == 3) {
        spawn(MPI_COMM_WORLD, size - 1, 2, "child", 0);
    }
    OK(MPI_Comm_disconnect(&parent));
    OK(MPI_Comm_get_parent(&parent));
    CHECK(parent == MPI_COMM_NULL);
    return check_end();
}

int main(int argc, char **argv)
{
    MPI_Comm parent;
    check_begin(&argc, &argv);
    snprintf(program, sizeof program, "%s", argv[0]);
    OK(MPI_Comm_get_parent(&parent));
    if (parent != MPI_COMM_NULL) {
        return child(argc, argv);
    }
    spawn(MPI_COMM_WORLD, 0, 1, "child", 0);
    spawn(MPI_COMM_WORLD, size - 1, 3, "child", 0);
    if (rank == size / 2) {
        spawn(MPI_COMM_SELF, 0, 2, "child", 1);
    }
    /* Without asking for codes, and left to MPI_Finalize. */
    OK(MPI_Comm_spawn(program, (char *[]){"child", NULL}, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &parent,
                      MPI_ERRCODES_IGNORE));
    use(parent, 0);
    return check_end();
}
