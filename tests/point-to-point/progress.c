/* What has been started goes on while the program computes (MPI 5.0, section 3.7.4): a receive completes "even if no call is
 * executed by the sender to complete the send", and the other way round; collective operations likewise (section 6.12).
 *
 * Ranks work in pairs. One starts an operation and calls MPI no more until the other, which waits for it in MPI, has made
 * a file: without progress neither would ever go on. */
#define _DEFAULT_SOURCE
#include "../check.h"

#include <sys/stat.h>
#include <unistd.h>

enum { LONG = 1 << 20, MANY = 3000, SHORT = 1000 };

static char place[512];
static int number;

/* Sets the name of the file by which rank `from` speaks next. */
static void name_file(char name[600], int from)
{
    snprintf(name, 600, "%s.%d.%d", place, from, number);
}

static void signal_others(void)
{
    char name[600];
    name_file(name, rank);
    FILE *file = fopen(name, "w");
    CHECK(file != NULL && fclose(file) == 0);
}

/* Waits outside MPI. */
static void await_signal(int from)
{
    char name[600];
    struct stat found;
    name_file(name, from);
    while (stat(name, &found) != 0) {
        usleep(500);
    }
}

/* All have seen the files of this turn, which can go. */
static void next_turn(void)
{
    char name[600];
    MPI_Barrier(MPI_COMM_WORLD);
    name_file(name, rank);
    unlink(name);
    number++;
}

static void find_place(void)
{
    const char *directory = getenv("TMPDIR");
    int key = (int)getpid();
    OK(MPI_Bcast(&key, 1, MPI_INT, 0, MPI_COMM_WORLD));
    snprintf(place, sizeof place, "%.400s/progress.%d", directory != NULL ? directory : "/tmp", key);
}

/* The layouts that messages are tried in: in one piece, and every second double. */
static MPI_Datatype layout(int kind, size_t bytes, size_t *extent)
{
    MPI_Datatype type;
    if (kind == 0) {
        *extent = bytes;
        OK(MPI_Type_contiguous((int)bytes, MPI_BYTE, &type));
    } else {
        *extent = 2 * bytes;
        OK(MPI_Type_vector((int)(bytes / 8), 1, 2, MPI_DOUBLE, &type));
    }
    OK(MPI_Type_commit(&type));
    return type;
}

/* Whether the data of a message of this layout is there. */
static int arrived(const unsigned char *buffer, int kind, size_t bytes, unsigned seed)
{
    size_t i;
    for (i = 0; i < bytes; i++) {
        size_t at = kind == 0 ? i : i / 8 * 16 + i % 8;
        if (buffer[at] != pattern(at, seed)) {
            return 0;
        }
    }
    return 1;
}

enum { STANDARD, SYNCHRONOUS, READY, BUFFERED, PERSISTENT, COMBINED, SENDS };

static MPI_Request start_send(int mode, const void *buffer, MPI_Datatype type, int to)
{
    MPI_Request request = MPI_REQUEST_NULL;
    switch (mode) {
    case STANDARD: OK(MPI_Isend(buffer, 1, type, to, mode, MPI_COMM_WORLD, &request)); break;
    case SYNCHRONOUS: OK(MPI_Issend(buffer, 1, type, to, mode, MPI_COMM_WORLD, &request)); break;
    case READY: OK(MPI_Irsend(buffer, 1, type, to, mode, MPI_COMM_WORLD, &request)); break;
    case BUFFERED: OK(MPI_Ibsend(buffer, 1, type, to, mode, MPI_COMM_WORLD, &request)); break;
    case PERSISTENT:
        OK(MPI_Send_init(buffer, 1, type, to, mode, MPI_COMM_WORLD, &request));
        OK(MPI_Start(&request));
        break;
    default:
        OK(MPI_Isendrecv(buffer, 1, type, to, mode, NULL, 0, MPI_BYTE, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &request));
    }
    return request;
}

static void end(MPI_Request request)
{
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    if (request != MPI_REQUEST_NULL) {
        OK(MPI_Request_free(&request));
    }
}

/* The sender computes. */
static void sender_elsewhere(int partner, int sends, size_t bytes, int kind)
{
    size_t extent;
    int mode;
    MPI_Datatype type = layout(kind, bytes, &extent);
    unsigned char *buffer = allocate(extent), *attached = allocate(bytes + MPI_BSEND_OVERHEAD);
    OK(MPI_Buffer_attach(attached, (int)(bytes + MPI_BSEND_OVERHEAD)));
    for (mode = 0; mode < SENDS; mode++) {
        MPI_Request receive = MPI_REQUEST_NULL;
        unsigned seed = (unsigned)(mode + number);
        memset(buffer, 0, extent);
        if (partner >= 0 && !sends) {
            OK(MPI_Irecv(buffer, 1, type, mode % 2 ? partner : MPI_ANY_SOURCE, mode, MPI_COMM_WORLD, &receive));
        }
        OK(MPI_Barrier(MPI_COMM_WORLD));
        if (partner >= 0 && sends) {
            fill(buffer, extent, seed);
            MPI_Request request = start_send(mode, buffer, type, partner);
            await_signal(partner);
            end(request);
        } else if (partner >= 0) {
            OK(MPI_Wait(&receive, MPI_STATUS_IGNORE));
            CHECK(arrived(buffer, kind, bytes, seed));
            signal_others();
        }
        next_turn();
    }
    void *detached;
    Count detached_bytes;
    OK(MPI_Buffer_detach(&detached, &detached_bytes));
    OK(MPI_Type_free(&type));
    free(attached);
    free(buffer);
}

/* The receiver computes; a synchronous send and one of a long message wait for it. */
static void receiver_elsewhere(int partner, int sends, size_t bytes, int kind)
{
    size_t extent;
    int wild;
    MPI_Datatype type = layout(kind, bytes, &extent);
    unsigned char *buffer = allocate(extent);
    for (wild = 0; wild < 2; wild++) {
        unsigned seed = (unsigned)(wild + number);
        MPI_Request receive;
        memset(buffer, 0, extent);
        if (partner >= 0 && !sends) {
            OK(MPI_Irecv(buffer, 1, type, wild ? MPI_ANY_SOURCE : partner, 3, MPI_COMM_WORLD, &receive));
            await_signal(partner);
            OK(MPI_Wait(&receive, MPI_STATUS_IGNORE));
            CHECK(arrived(buffer, kind, bytes, seed));
        } else if (partner >= 0) {
            fill(buffer, extent, seed);
            OK(MPI_Ssend(buffer, 1, type, partner, 3, MPI_COMM_WORLD));
            signal_others();
        }
        next_turn();
    }
    OK(MPI_Type_free(&type));
    free(buffer);
}

/* More short messages than any transport holds, started before the program computes; some of them are looked for first. */
static void many_short(int partner, int sends)
{
    int i, found;
    unsigned char *buffer = allocate((size_t)MANY * SHORT);
    MPI_Request *requests = allocate(MANY * sizeof *requests);
    if (partner >= 0 && sends) {
        fill(buffer, (size_t)MANY * SHORT, 7);
        for (i = 0; i < MANY; i++) {
            OK(MPI_Isend(buffer + (size_t)i * SHORT, SHORT, MPI_BYTE, partner, 4, MPI_COMM_WORLD, &requests[i]));
        }
        await_signal(partner);
        OK(MPI_Waitall(MANY, requests, MPI_STATUSES_IGNORE));
    } else if (partner >= 0) {
        for (i = 0; i < MANY; i++) {
            unsigned char *into = buffer + (size_t)i * SHORT;
            MPI_Message message;
            switch (i % 3) {
            case 0: OK(MPI_Probe(partner, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE)); break;
            case 1:
                OK(MPI_Mprobe(MPI_ANY_SOURCE, 4, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE));
                OK(MPI_Mrecv(into, SHORT, MPI_BYTE, &message, MPI_STATUS_IGNORE));
                continue;
            default:
                do {
                    OK(MPI_Iprobe(partner, MPI_ANY_TAG, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE));
                } while (!found);
            }
            OK(MPI_Recv(into, SHORT, MPI_BYTE, partner, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        }
        CHECK(filled(buffer, (size_t)MANY * SHORT, 7));
        signal_others();
    }
    next_turn();
    free(requests);
    free(buffer);
}

/* A message that the receiver, which computes, has not asked for is taken back, or arrives; either without the receiver. */
static void cancelled(int partner, int sends)
{
    enum { CANCELLED = 6, SENT };
    unsigned char *buffer = allocate(LONG);
    MPI_Status status;
    if (partner >= 0 && sends) {
        MPI_Request request;
        int flag;
        OK(MPI_Isend(buffer, LONG, MPI_BYTE, partner, 5, MPI_COMM_WORLD, &request));
        OK(MPI_Cancel(&request));
        OK(MPI_Wait(&request, &status));
        OK(MPI_Test_cancelled(&status, &flag));
        OK(MPI_Send(NULL, 0, MPI_BYTE, partner, flag ? CANCELLED : SENT, MPI_COMM_WORLD));
        signal_others();
    } else if (partner >= 0) {
        await_signal(partner);
        OK(MPI_Probe(partner, MPI_ANY_TAG, MPI_COMM_WORLD, &status));
        if (status.MPI_TAG != CANCELLED) {
            OK(MPI_Recv(buffer, LONG, MPI_BYTE, partner, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        }
        OK(MPI_Recv(NULL, 0, MPI_BYTE, partner, status.MPI_TAG == CANCELLED ? CANCELLED : SENT, MPI_COMM_WORLD,
                    MPI_STATUS_IGNORE));
    }
    next_turn();
    free(buffer);
}

enum { BARRIER, BCAST, ALLREDUCE, ALLTOALL, ALLGATHER, COLLECTIVES };

/* Ranks of even number start a collective operation and compute, until all others have completed it. */
static void collectives(int count)
{
    int which, i;
    int *from = allocate(sizeof(int) * (size_t)count * (size_t)size);
    int *into = allocate(sizeof(int) * (size_t)count * (size_t)size);
    for (which = 0; which < COLLECTIVES; which++) {
        MPI_Request request;
        for (i = 0; i < count * size; i++) {
            from[i] = which == BCAST && rank != 0 ? -1 : i % 1000 + 1;
            into[i] = -1;
        }
        switch (which) {
        case BARRIER: OK(MPI_Ibarrier(MPI_COMM_WORLD, &request)); break;
        case BCAST: OK(MPI_Ibcast(from, count, MPI_INT, 0, MPI_COMM_WORLD, &request)); break;
        case ALLREDUCE: OK(MPI_Iallreduce(from, into, count, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request)); break;
        case ALLTOALL: OK(MPI_Ialltoall(from, count, MPI_INT, into, count, MPI_INT, MPI_COMM_WORLD, &request)); break;
        default: OK(MPI_Iallgather(from, count, MPI_INT, into, count, MPI_INT, MPI_COMM_WORLD, &request));
        }
        if (rank % 2 == 0) {
            for (i = 1; i < size; i += 2) {
                await_signal(i);
            }
        }
        OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        if (rank % 2 == 1) {
            signal_others();
        }
        for (i = 0; i < count; i++) {
            int sent = i % 1000 + 1;
            CHECK(which != BCAST || from[i] == sent);
            CHECK(which != ALLREDUCE || into[i] == sent * size);
            CHECK(which != ALLGATHER || into[(size - 1) * count + i] == sent);
            CHECK(which != ALLTOALL || into[i] == (rank * count + i) % 1000 + 1);
        }
        next_turn();
    }
    free(into);
    free(from);
}

int main(int argc, char **argv)
{
    static const size_t lengths[] = {8, 4096, 48 << 10, LONG};
    size_t i;
    int kind, turned;
    check_begin(&argc, &argv);
    find_place();
    for (turned = 0; turned < 2; turned++) {
        int other = rank ^ 1, partner = other < size ? other : -1, sends = (rank & 1) == turned;
        for (i = 0; i < sizeof lengths / sizeof *lengths; i++) {
            for (kind = 0; kind < 2; kind++) {
                sender_elsewhere(partner, sends, lengths[i], kind);
                receiver_elsewhere(partner, sends, lengths[i], kind);
            }
        }
        many_short(partner, sends);
        cancelled(partner, sends);
    }
    collectives(1);
    collectives(LONG / 16);
    return check_end();
}
