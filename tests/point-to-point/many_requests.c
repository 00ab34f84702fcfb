/* More requests at once than the first kind of handles tells apart (four million): each handle still means its own request, until
 * it is freed. Requests that are not started need no messages, so that only the table of requests grows. Rank 0 is enough. */
#include "../check.h"

enum { NEAR = 1 << 22, MANY = NEAR + 1000 };

static int values[4];

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    if (rank == 0) {
        MPI_Request *requests = allocate(MANY * sizeof *requests);
        MPI_Request stale;
        int sent = 0, alike = 0;
        for (int i = 0; i < MANY; i++) {
            OK(MPI_Recv_init(&values[i % 4], 1, MPI_INT, 0, i % 1000, MPI_COMM_SELF, &requests[i]));
        }
        for (int i = 0; i + NEAR < MANY; i++) {
            alike += requests[i] == requests[i + NEAR];
        }
        CHECK_EQ(alike, 0);
        /* Beyond the limit, at it, and the one that a short key would take for the first of these. */
        for (int i = 0; i < 3; i++) {
            int which = i == 0 ? MANY - 1 : i == 1 ? NEAR : MANY - 1 - NEAR;
            sent = 100 + i;
            OK(MPI_Start(&requests[which]));
            OK(MPI_Send(&sent, 1, MPI_INT, 0, which % 1000, MPI_COMM_SELF));
            OK(MPI_Wait(&requests[which], MPI_STATUS_IGNORE));
            CHECK_EQ(values[which % 4], sent);
        }
        stale = requests[MANY - 1];
        for (int i = MANY - 1; i >= 0; i--) {
            OK(MPI_Request_free(&requests[i]));
        }
        FAILS(MPI_ERR_REQUEST, MPI_Start(&stale));
        free(requests);
    }
    return check_end();
}
