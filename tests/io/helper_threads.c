/* Threads that access files beside the program: the program's signals are not for them, and they do not stay. */
#include "file.h"
#include <dirent.h>
#include <sched.h>
#include <signal.h>

enum { BYTES = 1 << 20, PIECES = 4 };

/* How many threads this process has; in how many of them SIGUSR1 is not blocked. */
static int threads(int *open_to_signals)
{
    DIR *all = opendir("/proc/self/task");
    struct dirent *one;
    int count = 0;
    *open_to_signals = 0;
    while ((one = readdir(all)) != NULL) {
        char path[300], line[200];
        FILE *status;
        snprintf(path, sizeof path, "/proc/self/task/%s/status", one->d_name);
        if (one->d_name[0] == '.' || (status = fopen(path, "r")) == NULL) {
            continue;
        }
        while (fgets(line, sizeof line, status) != NULL) {
            if (strncmp(line, "SigBlk:", 7) == 0) {
                unsigned long long blocked = strtoull(line + 7, NULL, 16);
                count++;
                *open_to_signals += (blocked >> (SIGUSR1 - 1) & 1) == 0;
            }
        }
        fclose(status);
    }
    closedir(all);
    return count;
}

int main(int argc, char **argv)
{
    static char bytes[PIECES][BYTES];
    int before, open_before, open_after;
    MPI_File file;
    MPI_Request requests[PIECES];
    check_begin(&argc, &argv);
    file = scratch("helper_threads");
    before = threads(&open_before);
    for (int i = 0; i < PIECES; i++) {
        MPI_Offset offset = (MPI_Offset)(rank * PIECES + i) * BYTES;
        OK(MPI_File_iwrite_at(file, offset, bytes[i], BYTES, MPI_BYTE, &requests[i]));
    }
    OK(MPI_Waitall(PIECES, requests, MPI_STATUSES_IGNORE));
    /* A thread that has worked has got as far as setting its mask. */
    CHECK(threads(&open_after) >= before);
    CHECK_EQ(open_after, open_before);
    while (threads(&open_after) > before) {
        sched_yield();
    }
    OK(MPI_File_close(&file));
    return check_end();
}
