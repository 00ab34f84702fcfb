/* Processes that find each other (MPI 5.0, section 11.10): ports, published names and sockets; between the halves of a job
 * and between two jobs, several times, in both directions; and what is refused. */
#include "../check.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

/* Everybody tells everybody on the other side a number. */
static void greet(MPI_Comm inter, int expected)
{
    int there, value, own, *all;
    OK(MPI_Comm_remote_size(inter, &there));
    CHECK_EQ(there, expected);
    OK(MPI_Comm_rank(inter, &own));
    value = own + 5;
    all = allocate((size_t)there * sizeof *all);
    OK(MPI_Allgather(&value, 1, MPI_INT, all, 1, MPI_INT, inter));
    for (int i = 0; i < there; i++) {
        CHECK_EQ(all[i], i + 5);
    }
    free(all);
}

/* The lower half accepts what the upper half connects. */
static void halves(void)
{
    char port[MPI_MAX_PORT_NAME] = "";
    int lower = size / 2, below = rank < lower;
    MPI_Comm half, inter;
    if (size == 1) {
        return;
    }
    OK(MPI_Comm_split(MPI_COMM_WORLD, below, 0, &half));
    if (rank == lower - 1) {
        OK(MPI_Open_port(MPI_INFO_NULL, port));
    }
    OK(MPI_Bcast(port, MPI_MAX_PORT_NAME, MPI_CHAR, lower - 1, MPI_COMM_WORLD));
    for (int round = 0; round < 3; round++) {
        if (below) {
            OK(MPI_Comm_accept(port, MPI_INFO_NULL, lower - 1, half, &inter));
        } else {
            OK(MPI_Comm_connect(rank == lower ? port : NULL, MPI_INFO_NULL, 0, half, &inter));
        }
        greet(inter, below ? size - lower : lower);
        OK(round == 1 ? MPI_Comm_free(&inter) : MPI_Comm_disconnect(&inter));
    }
    if (rank == lower - 1) {
        OK(MPI_Close_port(port));
    }
    OK(MPI_Comm_free(&half));
}

static void refusals(void)
{
    char port[MPI_MAX_PORT_NAME];
    MPI_Comm inter = MPI_COMM_SELF;
    OK(MPI_Open_port(MPI_INFO_NULL, port));
    OK(MPI_Close_port(port));
    FAILS(MPI_ERR_PORT, MPI_Close_port(port));
    FAILS(MPI_ERR_PORT, MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter));
    FAILS(MPI_ERR_PORT, MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter));
    FAILS(MPI_ERR_PORT, MPI_Comm_connect("nowhere", MPI_INFO_NULL, size - 1, MPI_COMM_WORLD, &inter));
    FAILS(MPI_ERR_PORT, MPI_Comm_accept("nowhere", MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter));
    FAILS(MPI_ERR_ROOT, MPI_Comm_connect(port, MPI_INFO_NULL, -1, MPI_COMM_SELF, &inter));
    FAILS(MPI_ERR_COMM, MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_NULL, &inter));
    FAILS(MPI_ERR_ARG, MPI_Comm_join(-1, &inter));
    CHECK(inter == MPI_COMM_SELF);
}

/* Who connects where nobody accepts gives up, and who accepts later meets somebody who is there. */
static void patience(void)
{
    char port[MPI_MAX_PORT_NAME] = "";
    MPI_Comm inter;
    MPI_Info hints;
    OK(MPI_Info_create(&hints));
    OK(MPI_Info_set(hints, "timeout", "0.05"));
    if (rank == 0) {
        OK(MPI_Open_port(MPI_INFO_NULL, port));
    }
    OK(MPI_Bcast(port, MPI_MAX_PORT_NAME, MPI_CHAR, 0, MPI_COMM_WORLD));
    FAILS(MPI_ERR_PORT, MPI_Comm_connect(port, hints, 0, MPI_COMM_SELF, &inter));
    FAILS(MPI_ERR_PORT, MPI_Comm_connect(port, hints, size - 1, MPI_COMM_WORLD, &inter));
    for (int other = 1; other < size; other++) {
        if (rank == 0) {
            OK(MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter));
        } else if (rank == other) {
            OK(MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter));
        } else {
            continue;
        }
        greet(inter, 1);
        OK(MPI_Comm_disconnect(&inter));
    }
    OK(MPI_Info_set(hints, "timeout", "soon"));
    FAILS(MPI_ERR_INFO_VALUE, MPI_Comm_connect(port, hints, 0, MPI_COMM_SELF, &inter));
    OK(MPI_Info_free(&hints));
    if (rank == 0) {
        OK(MPI_Close_port(port));
    }
}

static void names(void)
{
    char service[100], port[MPI_MAX_PORT_NAME], found[MPI_MAX_PORT_NAME] = "";
    snprintf(service, sizeof service, "postrider test of %ld", (long)getpid());
    OK(MPI_Open_port(MPI_INFO_NULL, port));
    FAILS(MPI_ERR_NAME, MPI_Lookup_name(service, MPI_INFO_NULL, found));
    OK(MPI_Publish_name(service, MPI_INFO_NULL, port));
    FAILS(MPI_ERR_SERVICE, MPI_Publish_name(service, MPI_INFO_NULL, "another"));
    OK(MPI_Lookup_name(service, MPI_INFO_NULL, found));
    CHECK(strcmp(found, port) == 0);
    FAILS(MPI_ERR_SERVICE, MPI_Unpublish_name(service, MPI_INFO_NULL, "another"));
    OK(MPI_Unpublish_name(service, MPI_INFO_NULL, port));
    FAILS(MPI_ERR_SERVICE, MPI_Unpublish_name(service, MPI_INFO_NULL, port));
    FAILS(MPI_ERR_NAME, MPI_Lookup_name(service, MPI_INFO_NULL, found));
    OK(MPI_Close_port(port));
}

/* A socket to listen at, and its number. */
static int listening(int *number)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    int server = socket(AF_INET, SOCK_STREAM, 0);
    CHECK(bind(server, (struct sockaddr *)&address, sizeof address) == 0 && listen(server, 1) == 0);
    CHECK(getsockname(server, (struct sockaddr *)&address, &length) == 0);
    *number = ntohs(address.sin_port);
    return server;
}

static int connected(int number)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int made = socket(AF_INET, SOCK_STREAM, 0);
    address.sin_port = htons((uint16_t)number);
    CHECK(connect(made, (struct sockaddr *)&address, sizeof address) == 0);
    return made;
}

/* The socket is as it was: bytes of the program's own go through it. */
static void join(int made)
{
    char byte = 'x';
    MPI_Comm inter;
    OK(MPI_Comm_join(made, &inter));
    greet(inter, 1);
    CHECK(write(made, &byte, 1) == 1 && (byte = 0, read(made, &byte, 1) == 1) && byte == 'x');
    OK(MPI_Comm_disconnect(&inter));
    close(made);
}

/* Rank 0 of this job with rank 0 of another, over a communicator that both are in. */
static void sockets(MPI_Comm inter, int is_server)
{
    int number, server;
    if (rank != 0) {
        return;
    }
    if (is_server) {
        server = listening(&number);
        OK(MPI_Send(&number, 1, MPI_INT, 0, 1, inter));
        join(accept(server, NULL, NULL));
        close(server);
    } else {
        OK(MPI_Recv(&number, 1, MPI_INT, 0, 1, inter, MPI_STATUS_IGNORE));
        join(connected(number));
    }
}

/* Two jobs that know each other connect again, and do so when they do not know each other any more. */
static void meet(MPI_Comm first, int is_child, int there)
{
    char port[MPI_MAX_PORT_NAME] = "", again[MPI_MAX_PORT_NAME] = "";
    MPI_Comm inter;
    if (rank == 0) {
        OK(MPI_Open_port(MPI_INFO_NULL, port));
        OK(MPI_Sendrecv(port, MPI_MAX_PORT_NAME, MPI_CHAR, 0, 2, again, MPI_MAX_PORT_NAME, MPI_CHAR, 0, 2, first,
                        MPI_STATUS_IGNORE));
    }
    sockets(first, is_child);
    for (int round = 0; round < 4; round++) {
        if ((round % 2 == 0) == is_child) {
            OK(MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter));
        } else {
            OK(MPI_Comm_connect(again, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter));
        }
        greet(inter, there);
        if (round < 2) {
            int relation;
            greet(first, there);
            OK(MPI_Comm_compare(first, inter, &relation));
            CHECK_EQ(relation, MPI_CONGRUENT);
        }
        OK(round == 2 ? MPI_Comm_free(&inter) : MPI_Comm_disconnect(&inter));
        if (round == 1) {
            OK(MPI_Comm_disconnect(&first));
        }
    }
    if (rank == 0) {
        OK(MPI_Close_port(port));
    }
}

int main(int argc, char **argv)
{
    MPI_Comm inter;
    check_begin(&argc, &argv);
    OK(MPI_Comm_get_parent(&inter));
    if (inter != MPI_COMM_NULL) {
        int there;
        OK(MPI_Comm_remote_size(inter, &there));
        meet(inter, 1, there);
        return check_end();
    }
    halves();
    refusals();
    patience();
    names();
    OK(MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter, MPI_ERRCODES_IGNORE));
    meet(inter, 0, 2);
    return check_end();
}
