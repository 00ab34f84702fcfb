/* No access needs another process's attention: while process 0 is outside of MPI, the others use the shared file pointer and atomic mode.
 *
 * Process 0 sleeps until it sees a file that the last of the others has made when it was through. Whoever waits for process 0 therefore waits for
 * ever, and the runner's watchdog tells. */
#include "file.h"

#include <sys/stat.h>
#include <time.h>

enum { ROUNDS = 20 };

/* The file that process `from` makes when it is through in one part. */
static const char *mark(const char *part, int from)
{
    char name[60];
    snprintf(name, sizeof name, "%s-%d", part, from);
    return path_of(name);
}

static void sleep_until_all_are_through(const char *part)
{
    struct stat found;
    struct timespec moment = {0, 2000000};
    for (int other = 1; other < size; other++) {
        while (stat(mark(part, other), &found) != 0) {
            nanosleep(&moment, NULL);
        }
        CHECK(remove(mark(part, other)) == 0);
    }
}

static void through(const char *part)
{
    FILE *made = fopen(mark(part, rank), "w");
    CHECK(made != NULL && fclose(made) == 0);
}

static void shared_pointer(MPI_File file)
{
    MPI_Offset position;
    MPI_Request request;
    if (rank == 0) {
        sleep_until_all_are_through("shared");
        return;
    }
    for (int round = 0; round < ROUNDS; round++) {
        OK(MPI_File_write_shared(file, &rank, 1, MPI_INT, MPI_STATUS_IGNORE));
        OK(MPI_File_get_position_shared(file, &position));
        CHECK(position > round);
        OK(MPI_File_iwrite_shared(file, &rank, 1, MPI_INT, &request));
        OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    }
    through("shared");
}

static void atomic_mode(MPI_File file)
{
    int values[64];
    if (rank == 0) {
        sleep_until_all_are_through("atomic");
        return;
    }
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < 64; i++) {
            values[i] = rank;
        }
        OK(MPI_File_write_at(file, 0, values, 64, MPI_INT, MPI_STATUS_IGNORE));
        OK(MPI_File_read_at(file, 0, values, 64, MPI_INT, MPI_STATUS_IGNORE));
        CHECK(values[0] == values[63] && values[0] > 0);
    }
    through("atomic");
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    MPI_File file = scratch("away");
    MPI_Offset bytes;
    OK(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
    wait_for_all();
    shared_pointer(file);
    wait_for_all();
    OK(MPI_File_get_size(file, &bytes));
    CHECK_EQ(bytes, 2LL * ROUNDS * (size - 1) * (long long)sizeof(int));
    OK(MPI_File_set_atomicity(file, 1));
    wait_for_all();
    atomic_mode(file);
    wait_for_all();
    OK(MPI_File_close(&file));
    return check_end();
}
