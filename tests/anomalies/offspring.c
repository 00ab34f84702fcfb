/* Ranks that start other processes, which call MPI as well. The way says how: as programs, or as mere copies of the rank. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void fail(const char *what)
{
    fprintf(stderr, "offspring: %s\n", what);
    exit(9);
}

static int rank_and_size(int *size)
{
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, size);
    return rank;
}

/* The exit code of a process that this one has started. */
static int code_of(pid_t child)
{
    int status;
    if (waitpid(child, &status, 0) != child || !WIFEXITED(status)) {
        fail("a process did not exit");
    }
    return WEXITSTATUS(status);
}

/* A program of MPI, by way of another process in between, as a server of forks is one. */
static void start_program(char *self)
{
    pid_t child = fork();
    if (child == 0) {
        pid_t grandchild = fork();
        if (grandchild == 0) {
            execl(self, self, "child", (char *)NULL);
            _exit(8);
        }
        _exit(code_of(grandchild));
    }
    if (code_of(child) != 0) {
        fail("a program that a rank has started failed");
    }
}

static int child(int *argc, char ***argv)
{
    int size, value = 4;
    MPI_Comm again;
    MPI_Session session;
    MPI_Init(argc, argv);
    if (rank_and_size(&size) != 0 || size != 1) {
        fail("the program of a rank is not alone");
    }
    MPI_Comm_get_parent(&again);
    if (again != MPI_COMM_NULL) {
        fail("the program of a rank has a parent");
    }
    MPI_Comm_dup(MPI_COMM_WORLD, &again);
    MPI_Bcast(&value, 1, MPI_INT, 0, again);
    MPI_Comm_free(&again);
    MPI_Finalize();
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    MPI_Session_finalize(&session);
    return 0;
}

/* Copies of the rank: what they send would be the rank's. */
static void fork_without_program(int handled)
{
    pid_t copy;
    if (handled) {
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    }
    copy = fork();
    if (copy == 0) {
        char text[MPI_MAX_ERROR_STRING] = "";
        int length, finalized = 0, code;
        MPI_Finalized(&finalized);
        code = MPI_Barrier(MPI_COMM_WORLD);
        MPI_Error_string(code, text, &length);
        _exit(code != MPI_SUCCESS && finalized && strstr(text, "was forked by") != NULL ? 7 : 6);
    }
    if (code_of(copy) != (handled ? 7 : 1)) {
        fail("a forked process was not told, or not as it should be");
    }
}

int main(int argc, char **argv)
{
    const char *way = argc > 1 ? argv[1] : "rank";
    int rank, size, sum = 0;
    if (strcmp(way, "child") == 0) {
        return child(&argc, &argv);
    }
    MPI_Init(&argc, &argv);
    rank = rank_and_size(&size);
    if (strcmp(way, "programs") == 0) {
        for (int i = 0; i < 3; i++) {
            start_program(argv[0]);
        }
    } else if (strcmp(way, "forks") == 0) {
        fork_without_program(0);
    } else if (strcmp(way, "handled-forks") == 0) {
        fork_without_program(1);
    }
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (sum != size * (size - 1) / 2) {
        fail("the ranks do not reach each other any more");
    }
    MPI_Finalize();
    if (strcmp(way, "programs") == 0) {
        start_program(argv[0]);
    }
    printf("rank %d of %d is well\n", rank, size);
    return 0;
}
