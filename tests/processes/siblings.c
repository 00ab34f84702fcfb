/* Jobs that know each other only through a third one (MPI 5.0, sections 7.6.2 and 11.10.5): two jobs that the same processes have
 * spawned are joined by MPI_Intercomm_create, which has to lead them to each other, and everybody is merged to one
 * communicator. Messages that are under way on the older communicators meanwhile stay in order. */
#include "../check.h"

enum { MESSAGES = 200 };

/* All processes of the three jobs, in one communicator. */
static void use(MPI_Comm all, int expected)
{
    int own, count, next, sum, *values;
    OK(MPI_Comm_rank(all, &own));
    OK(MPI_Comm_size(all, &count));
    CHECK_EQ(count, expected);
    OK(MPI_Sendrecv(&own, 1, MPI_INT, (own + 1) % count, 7, &next, 1, MPI_INT, (own + count - 1) % count, 7, all,
                    MPI_STATUS_IGNORE));
    CHECK_EQ(next, (own + count - 1) % count);
    values = allocate((size_t)count * sizeof *values);
    for (int i = 0; i < count; i++) {
        values[i] = own * count + i;
    }
    OK(MPI_Alltoall(MPI_IN_PLACE, 1, MPI_INT, values, 1, MPI_INT, all));
    for (int i = 0; i < count; i++) {
        CHECK_EQ(values[i], i * count + own);
    }
    free(values);
    OK(MPI_Allreduce(&own, &sum, 1, MPI_INT, MPI_MAX, all));
    CHECK_EQ(sum, count - 1);
}

static void finish(MPI_Comm inter, int high, int expected)
{
    MPI_Comm all;
    OK(MPI_Intercomm_merge(inter, high, &all));
    use(all, expected);
    OK(MPI_Comm_disconnect(&all));
    OK(MPI_Comm_disconnect(&inter));
}

static int child(int first, MPI_Comm parent)
{
    int there, value;
    MPI_Comm merged, inter;
    OK(MPI_Comm_remote_size(parent, &there));
    OK(MPI_Intercomm_merge(parent, 1, &merged));
    if (first) {
        OK(MPI_Intercomm_create(merged, 0, MPI_COMM_NULL, 0, 5, &inter));
        finish(inter, 0, there + 3);
    } else {
        OK(MPI_Intercomm_create(MPI_COMM_WORLD, 0, merged, 0, 5, &inter));
        for (int i = 0; rank == 0 && i < MESSAGES; i++) {
            OK(MPI_Recv(&value, 1, MPI_INT, 0, 6, merged, MPI_STATUS_IGNORE));
            CHECK_EQ(value, i);
        }
        finish(inter, 1, there + 3);
    }
    OK(MPI_Comm_disconnect(&merged));
    OK(MPI_Comm_disconnect(&parent));
    return check_end();
}

int main(int argc, char **argv)
{
    char *lines[][2] = {{"first", NULL}, {"second", NULL}};
    MPI_Comm parent, spawned[2], merged[2], inter;
    check_begin(&argc, &argv);
    OK(MPI_Comm_get_parent(&parent));
    if (parent != MPI_COMM_NULL) {
        return child(strcmp(argv[1], "first") == 0, parent);
    }
    for (int i = 0; i < 2; i++) {
        OK(MPI_Comm_spawn(argv[0], lines[i], i + 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &spawned[i],
                          MPI_ERRCODES_IGNORE));
        OK(MPI_Intercomm_merge(spawned[i], 0, &merged[i]));
    }
    for (int i = 0; rank == 0 && i < MESSAGES / 2; i++) {
        OK(MPI_Send(&i, 1, MPI_INT, size, 6, merged[1]));
    }
    OK(MPI_Intercomm_create(merged[0], 0, rank == 0 ? merged[1] : MPI_COMM_NULL, size, 5, &inter));
    for (int i = MESSAGES / 2; rank == 0 && i < MESSAGES; i++) {
        OK(MPI_Send(&i, 1, MPI_INT, size, 6, merged[1]));
    }
    finish(inter, 0, size + 3);
    for (int i = 0; i < 2; i++) {
        OK(MPI_Comm_disconnect(&merged[i]));
        OK(MPI_Comm_disconnect(&spawned[i]));
    }
    return check_end();
}
