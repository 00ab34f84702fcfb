/* A rank that ends in a way and at a place that the command line chooses, while all others wait for it:
 *
 *   victim PLACE WAY [RANK]
 *
 * PLACE is before-init, own-code, recv, barrier, large-send or after-finalize; WAY is a signal number with a minus sign,
 * an exit code, abort with a code as in abort9, error, which is a wrong argument under the default error handler, or stay,
 * where everybody waits for ever after all have met and the first has said so. RANK is the victim, by default the last. A rank inside an MPI call is ended by a second
 * thread once the call had time to block. */
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

int kill(pid_t, int);

enum { LARGE = 64 << 20 };

static const char *way;

static void die(void)
{
    if (way[0] == '-') {
        kill(getpid(), atoi(way + 1));
    } else if (strncmp(way, "abort", 5) == 0) {
        MPI_Abort(MPI_COMM_WORLD, atoi(way + 5));
    } else if (strcmp(way, "error") == 0) {
        MPI_Send(NULL, 0, MPI_BYTE, 1000000, 0, MPI_COMM_WORLD);
    } else if (strcmp(way, "stay") != 0) {
        _exit(atoi(way));
    }
}

static void *die_later(void *unused)
{
    const struct timespec moment = {0, 300000000};
    nanosleep(&moment, NULL);
    die();
    return unused;
}

/* Never returns unless somebody sends or takes what nobody does. */
static void block(const char *place, int rank, int size)
{
    int value = 0;
    if (strcmp(place, "recv") == 0) {
        MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 99, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (strcmp(place, "barrier") == 0) {
        MPI_Barrier(MPI_COMM_WORLD);
    } else if (strcmp(place, "large-send") == 0) {
        char *data = calloc(1, LARGE);
        MPI_Ssend(data, LARGE, MPI_BYTE, (rank + 1) % size, 98, MPI_COMM_WORLD);
    } else {
        pause();
    }
}

int main(int argc, char **argv)
{
    const char *place = argc > 1 ? argv[1] : "recv";
    int rank, size, victim;
    pthread_t thread;
    way = argc > 2 ? argv[2] : "0";
    if (strcmp(place, "before-init") == 0) {
        /* All ranks have the same command line, so the victim is told apart by a name that one of them can make. */
        char *path = getenv("VICTIM_FILE");
        FILE *file = path ? fopen(path, "wx") : NULL;
        if (file != NULL) {
            fclose(file);
            die();
        }
    }
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    victim = argc > 3 ? atoi(argv[3]) : size - 1;
    if (strcmp(place, "after-finalize") == 0) {
        MPI_Finalize();
        if (rank == victim) {
            die();
        }
        return 0;
    }
    if (strcmp(way, "stay") == 0) {
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == 0) {
            puts("all have met");
            fflush(stdout);
        }
    }
    if (rank == victim) {
        if (strcmp(place, "own-code") == 0) {
            die();
        }
        pthread_create(&thread, NULL, die_later, NULL);
        block(place, rank, size);
    }
    MPI_Recv(&rank, 1, MPI_INT, victim, 97, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return 0;
}
