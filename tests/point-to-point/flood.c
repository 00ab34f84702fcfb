/* A flood towards a process that does not look: it stops before all messages have left, goes on when that one receives, and ends in order.
 * Every other message of a second flood is long, and the process asks for those behind it first. */
#define _DEFAULT_SOURCE
#include "../check.h"

#include <fcntl.h>
#include <limits.h>
#include <unistd.h>

enum { FLOOD = 3000, BYTES = 8192, ROUNDS = 40, LONG_BYTES = 4 << 20 };

/* A file by which one process of a host tells another one something outside of MPI; its name is the same for all processes of a launcher. */
static const char *signal_path(void)
{
    static char path[PATH_MAX];
    const char *directory = getenv("TMPDIR");
    snprintf(path, sizeof path, "%s/flood-%ld", directory ? directory : "/tmp", (long)getppid());
    return path;
}

static int count_complete(int count, MPI_Request *requests)
{
    int complete = 0, flag;
    for (int i = 0; i < count; i++) {
        OK(MPI_Request_get_status(requests[i], &flag, MPI_STATUS_IGNORE));
        complete += flag;
    }
    return complete;
}

static void flood(int receiver, int alone)
{
    MPI_Request *sends = allocate(FLOOD * sizeof *sends);
    unsigned char *out = allocate(FLOOD * (size_t)BYTES), in[BYTES];
    if (rank == 0) {
        for (int i = 0; i < FLOOD; i++) {
            fill(out + (size_t)i * BYTES, BYTES, (unsigned)i);
            OK(MPI_Isend(out + (size_t)i * BYTES, BYTES, MPI_BYTE, receiver, 5, MPI_COMM_WORLD, &sends[i]));
        }
        if (alone) {
            CHECK(count_complete(FLOOD, sends) < FLOOD);
            CHECK(close(open(signal_path(), O_CREAT | O_WRONLY, 0600)) == 0);
        }
        OK(MPI_Waitall(FLOOD, sends, MPI_STATUSES_IGNORE));
    } else if (rank == receiver) {
        while (alone && unlink(signal_path()) != 0) {
            usleep(1000);
        }
        for (int i = 0; i < FLOOD; i++) {
            OK(MPI_Recv(in, BYTES, MPI_BYTE, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
            CHECK(filled(in, BYTES, (unsigned)i));
        }
    }
    free(out);
    free(sends);
}

/* More than is kept anywhere of what nobody receives; yet the short messages get past. */
static void past_long_messages(int receiver)
{
    unsigned char *buffer = allocate(LONG_BYTES);
    MPI_Request sends[ROUNDS];
    int number;
    if (rank == 0) {
        fill(buffer, LONG_BYTES, 7);
        for (int i = 0; i < ROUNDS; i++) {
            OK(MPI_Isend(buffer, LONG_BYTES, MPI_BYTE, receiver, 6, MPI_COMM_WORLD, &sends[i]));
            OK(MPI_Send(&i, 1, MPI_INT, receiver, 7, MPI_COMM_WORLD));
        }
        OK(MPI_Waitall(ROUNDS, sends, MPI_STATUSES_IGNORE));
    } else if (rank == receiver) {
        for (int i = 0; i < ROUNDS; i++) {
            OK(MPI_Recv(&number, 1, MPI_INT, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
            CHECK_EQ(number, i);
        }
        for (int i = 0; i < ROUNDS; i++) {
            memset(buffer, 0, LONG_BYTES);
            OK(MPI_Recv(buffer, LONG_BYTES, MPI_BYTE, 0, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
            CHECK(filled(buffer, LONG_BYTES, 7));
        }
    }
    free(buffer);
}

int main(int argc, char **argv)
{
    MPI_Comm host;
    int host_size;
    check_begin(&argc, &argv);
    OK(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host));
    OK(MPI_Comm_size(host, &host_size));
    OK(MPI_Comm_free(&host));
    if (size > 1) {
        /* A third one that falls asleep could have somebody look for the receiver. */
        flood(size - 1, size == 2 && host_size == 2);
        past_long_messages(size - 1);
    }
    return check_end();
}
