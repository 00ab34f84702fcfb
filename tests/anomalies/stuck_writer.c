/* MPI_Abort with code 7 while another thread sits in a write that never ends, and holds the stream. */
#include <mpi.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { MORE_THAN_A_PIPE_HOLDS = 4 << 20 };

static FILE *stream;

static void *write_for_ever(void *unused)
{
    char *bytes = calloc(1, MORE_THAN_A_PIPE_HOLDS);
    fwrite(bytes, 1, MORE_THAN_A_PIPE_HOLDS, stream);
    return unused;
}

int main(int argc, char **argv)
{
    int level, ends[2], rank;
    pthread_t thread;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank > 0) {
        MPI_Barrier(MPI_COMM_WORLD);
    }
    if (pipe(ends) != 0 || (stream = fdopen(ends[1], "w")) == NULL || pthread_create(&thread, NULL, write_for_ever, NULL) != 0) {
        perror("a pipe or a thread");
        return 1;
    }
    while (ftrylockfile(stream) == 0) {
        funlockfile(stream);
        sched_yield();
    }
    MPI_Abort(MPI_COMM_WORLD, 7);
    return 0;
}
