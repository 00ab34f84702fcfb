/* Jobs that are connected, and what becomes of the one when something happens to the other:
 *
 *   spawner MODE
 *   spawner accept SERVICE
 *   spawner connect SERVICE
 *   spawner host SERVICE
 *   spawner guest SERVICE
 *
 * In the first form all ranks spawn two more processes of this program. MODE says what the spawned ones do: wait, where
 * everybody waits for the other side for ever; die, where the last one kills itself and everybody waits; or a number, where both
 * sides disconnect, and the spawned ones exit with that code when those that spawned them are gone. In the next two forms
 * two jobs meet by a published name, three times. The guest sends its host a message that nobody receives, and kills itself; the
 * host, who has freed the communicator, goes on. Each rank says when it is done. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

int kill(pid_t, int);

static int rank;

static void pause_for(long milliseconds)
{
    const struct timespec moment = {milliseconds / 1000, milliseconds % 1000 * 1000000};
    nanosleep(&moment, NULL);
}

static void wait_forever(MPI_Comm inter)
{
    int value;
    MPI_Recv(&value, 1, MPI_INT, 0, 99, inter, MPI_STATUS_IGNORE);
}

static int spawned(MPI_Comm parent, const char *mode)
{
    int size;
    pid_t first;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Barrier(parent);
    if (strcmp(mode, "die") == 0 && rank == size - 1) {
        pause_for(300);
        kill(getpid(), SIGKILL);
    }
    if (mode[0] < '0' || mode[0] > '9') {
        wait_forever(parent);
    }
    MPI_Bcast(&first, sizeof first, MPI_BYTE, 0, parent);
    MPI_Comm_disconnect(&parent);
    while (kill(first, 0) == 0) {
        pause_for(10);
    }
    pause_for(300);
    printf("spawned rank %d is done\n", rank);
    fflush(stdout);
    MPI_Finalize();
    return atoi(mode);
}

static int spawner(char *program, char *mode)
{
    char *argv[] = {mode, NULL};
    pid_t own = getpid();
    MPI_Comm inter;
    MPI_Comm_spawn(program, argv, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter, MPI_ERRCODES_IGNORE);
    MPI_Barrier(inter);
    if (mode[0] < '0' || mode[0] > '9') {
        wait_forever(inter);
    }
    MPI_Bcast(&own, sizeof own, MPI_BYTE, rank == 0 ? MPI_ROOT : MPI_PROC_NULL, inter);
    MPI_Comm_disconnect(&inter);
    printf("rank %d is done\n", rank);
    fflush(stdout);
    MPI_Finalize();
    return 0;
}

static void publish(const char *service, char port[])
{
    MPI_Open_port(MPI_INFO_NULL, port);
    MPI_Publish_name(service, MPI_INFO_NULL, port);
}

static void look_up(const char *service, char port[])
{
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    while (MPI_Lookup_name(service, MPI_INFO_NULL, port) != MPI_SUCCESS) {
        pause_for(10);
    }
}

static int meet(int accepts, const char *service)
{
    char port[MPI_MAX_PORT_NAME] = "";
    int ones = 1, all, here, there;
    MPI_Comm inter;
    if (rank == 0) {
        (accepts ? publish : look_up)(service, port);
    }
    for (int round = 0; round < 3; round++) {
        if (accepts) {
            MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter);
        } else {
            MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter);
        }
        MPI_Comm_remote_size(inter, &there);
        MPI_Allreduce(&ones, &all, 1, MPI_INT, MPI_SUM, inter);
        MPI_Comm_size(inter, &here);
        if (all != there) {
            printf("%d processes instead of %d\n", all, there);
        }
        MPI_Comm_disconnect(&inter);
    }
    if (accepts && rank == 0) {
        MPI_Unpublish_name(service, MPI_INFO_NULL, port);
        MPI_Close_port(port);
    }
    printf("rank %d of %d has met %d\n", rank, here, there);
    MPI_Finalize();
    return 0;
}

static int host(const char *service)
{
    char port[MPI_MAX_PORT_NAME];
    int value = 0;
    MPI_Comm inter;
    if (rank == 0) {
        publish(service, port);
        MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter);
        MPI_Unpublish_name(service, MPI_INFO_NULL, port);
        MPI_Probe(0, 1, inter, MPI_STATUS_IGNORE);
        MPI_Comm_free(&inter);
        MPI_Recv(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
        pause_for(3000);
        MPI_Send(&value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    }
    printf("rank %d has gone on\n", rank);
    MPI_Finalize();
    return 0;
}

static int guest(const char *service)
{
    char port[MPI_MAX_PORT_NAME];
    int value = 0;
    MPI_Comm inter;
    look_up(service, port);
    MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter);
    MPI_Send(&value, 1, MPI_INT, 0, 1, inter);
    pause_for(500);
    return kill(getpid(), SIGKILL);
}

int main(int argc, char **argv)
{
    MPI_Comm parent;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_get_parent(&parent);
    if (parent != MPI_COMM_NULL) {
        return spawned(parent, argv[1]);
    }
    if (argc == 3 && strcmp(argv[1], "host") == 0) {
        return host(argv[2]);
    }
    if (argc == 3 && strcmp(argv[1], "guest") == 0) {
        return guest(argv[2]);
    }
    if (argc == 3) {
        return meet(strcmp(argv[1], "accept") == 0, argv[2]);
    }
    return spawner(argv[0], argv[1]);
}
