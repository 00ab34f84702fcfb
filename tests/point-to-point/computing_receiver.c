/* Long messages to a process that has posted its receives and computes: each receive gets the message that it is the first to fit (MPI 5.0,
 * section 3.5), whoever moves it and whenever; with other receives before it, messages before it, and receives that are cancelled. */
#include "../check.h"

enum { LONG = 300000, GUARD = 64, ROUNDS = 12 };

static const size_t sizes[] = {LONG, 40000, 32769, 1 << 20, 5000001};

static unsigned char *out[2], *in[2];
static int left, right;
static MPI_Comm others;

static void compute(double seconds)
{
    double end = MPI_Wtime() + seconds;
    volatile double sum = 0;
    while (MPI_Wtime() < end) {
        for (int i = 1; i < 2000; i++) {
            sum = sum + 1.0 / i;
        }
    }
}

static void prepare(size_t room)
{
    for (int i = 0; i < 2; i++) {
        fill(out[i], room, (unsigned)(2 * rank + i));
        memset(in[i], 0xee, room + GUARD);
    }
    OK(MPI_Barrier(MPI_COMM_WORLD));
}

static void check_message(int buffer, int number, size_t bytes, const MPI_Status *status, int tag)
{
    Count count;
    OK(MPI_Get_count(status, MPI_BYTE, &count));
    CHECK_EQ(count, bytes);
    CHECK_EQ(status->MPI_SOURCE, left);
    CHECK_EQ(status->MPI_TAG, tag);
    CHECK(filled(in[buffer], bytes, (unsigned)(2 * left + number)));
    for (size_t i = 0; i < GUARD; i++) {
        CHECK_EQ(in[buffer][bytes + i], 0xee);
    }
}

/* Every way to send, with ranks that wait while others compute, and the other way round. */
static void one(int way, int round, size_t bytes)
{
    MPI_Comm comm = way % 2 == 0 ? MPI_COMM_WORLD : others;
    MPI_Request receive, send;
    MPI_Status status;
    int tag = way % 3 == 0 ? MPI_ANY_TAG : 5;
    prepare(bytes);
    if (way == 5) {
        OK(MPI_Recv_init(in[0], (Count)bytes, MPI_BYTE, left, tag, comm, &receive));
        OK(MPI_Start(&receive));
    } else {
        OK(MPI_Irecv(in[0], (Count)bytes, MPI_BYTE, left, tag, comm, &receive));
    }
    if ((rank + round) % 2 == 0) {
        compute(1e-3);
    }
    switch (way % 4) {
    case 0: OK(MPI_Send(out[0], (Count)bytes, MPI_BYTE, right, 5, comm)); break;
    case 1: OK(MPI_Ssend(out[0], (Count)bytes, MPI_BYTE, right, 5, comm)); break;
    case 2:
        OK(MPI_Isend(out[0], (Count)bytes, MPI_BYTE, right, 5, comm, &send));
        OK(MPI_Wait(&send, MPI_STATUS_IGNORE));
        break;
    default:
        OK(MPI_Issend(out[0], (Count)bytes, MPI_BYTE, right, 5, comm, &send));
        OK(MPI_Wait(&send, MPI_STATUS_IGNORE));
    }
    /* It may be used again. */
    memset(out[0], 0, bytes);
    if ((rank + round) % 2 == 1) {
        compute(1e-4 * round);
    }
    OK(MPI_Wait(&receive, &status));
    check_message(0, 0, bytes, &status, 5);
    if (way == 5) {
        OK(MPI_Request_free(&receive));
    }
}

/* Two receives and two messages: which gets which. */
static void two(int kind, int round)
{
    static const struct {
        int source, tags[2], sent[2], first;
        size_t bytes[2];
    } kinds[] = {
        {0, {5, 5}, {5, 5}, 0, {LONG, LONG}},
        /* The first receive takes what comes from anybody, or with any tag. */
        {1, {5, 5}, {5, 5}, 0, {LONG, LONG}},
        {0, {MPI_ANY_TAG, 6}, {6, 6}, 0, {LONG, LONG}},
        /* A short message is before the long one. */
        {0, {5, 5}, {5, 5}, 0, {100, LONG}},
        {0, {5, 6}, {5, 6}, 0, {100, LONG}},
        /* The second receive gets the first message. */
        {0, {5, 6}, {6, 5}, 1, {LONG, LONG}},
        {0, {5, 6}, {6, 5}, 1, {LONG, 100}},
    };
    MPI_Request receives[2];
    MPI_Status statuses[2];
    prepare(LONG);
    for (int i = 0; i < 2; i++) {
        int from = i == 0 && kinds[kind].source ? MPI_ANY_SOURCE : left;
        OK(MPI_Irecv(in[i], LONG, MPI_BYTE, from, kinds[kind].tags[i], MPI_COMM_WORLD, &receives[i]));
    }
    if ((rank + round) % 2 == 0) {
        compute(1e-3);
    }
    for (int i = 0; i < 2; i++) {
        OK(MPI_Send(out[i], (Count)kinds[kind].bytes[i], MPI_BYTE, right, kinds[kind].sent[i], MPI_COMM_WORLD));
    }
    OK(MPI_Waitall(2, receives, statuses));
    for (int i = 0; i < 2; i++) {
        int buffer = kinds[kind].first ? 1 - i : i;
        check_message(buffer, i, kinds[kind].bytes[i], &statuses[buffer], kinds[kind].sent[i]);
    }
}

/* A message that is longer than its receive, and one that comes after a receive was cancelled, or before. */
static void wrong(int round)
{
    MPI_Request receive, send;
    MPI_Status status;
    int cancelled;
    prepare(LONG);
    OK(MPI_Irecv(in[0], LONG - 1, MPI_BYTE, left, 5, MPI_COMM_WORLD, &receive));
    if ((rank + round) % 2 == 0) {
        compute(1e-3);
    }
    OK(MPI_Isend(out[0], LONG, MPI_BYTE, right, 5, MPI_COMM_WORLD, &send));
    FAILS(MPI_ERR_TRUNCATE, MPI_Wait(&receive, &status));
    CHECK_EQ(in[0][LONG - 1], 0xee);
    /* The sender may learn of it. */
    MPI_Wait(&send, MPI_STATUS_IGNORE);

    prepare(LONG);
    OK(MPI_Irecv(in[0], LONG, MPI_BYTE, left, 5, MPI_COMM_WORLD, &receive));
    if ((rank + round) % 2 == 0) {
        compute(2e-5 * round);
        OK(MPI_Cancel(&receive));
    }
    OK(MPI_Isend(out[0], LONG, MPI_BYTE, right, 5, MPI_COMM_WORLD, &send));
    OK(MPI_Wait(&receive, &status));
    OK(MPI_Test_cancelled(&status, &cancelled));
    if (cancelled) {
        OK(MPI_Recv(in[0], LONG, MPI_BYTE, left, 5, MPI_COMM_WORLD, &status));
    }
    check_message(0, 0, LONG, &status, 5);
    OK(MPI_Wait(&send, MPI_STATUS_IGNORE));
}

/* More receives than anybody keeps in mind. */
static void many(int round)
{
    enum { MANY = 40, BYTES = 50000 };
    MPI_Request receives[MANY];
    MPI_Status status;
    unsigned char *all = allocate((size_t)MANY * BYTES);
    prepare(BYTES);
    for (int i = 0; i < MANY; i++) {
        OK(MPI_Irecv(all + (size_t)i * BYTES, BYTES, MPI_BYTE, left, i / 2, MPI_COMM_WORLD, &receives[i]));
    }
    if ((rank + round) % 2 == 0) {
        compute(1e-3);
    }
    for (int i = 0; i < MANY; i++) {
        out[0][0] = (unsigned char)(i % 2);
        OK(MPI_Send(out[0], BYTES, MPI_BYTE, right, (MANY - 1 - i) / 2, MPI_COMM_WORLD));
    }
    for (int i = 0; i < MANY; i++) {
        OK(MPI_Wait(&receives[i], &status));
        CHECK_EQ(all[(size_t)i * BYTES], i % 2);
        CHECK_EQ(all[(size_t)(i + 1) * BYTES - 1], pattern(BYTES - 1, (unsigned)(2 * left)));
    }
    free(all);
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    left = (rank + size - 1) % size;
    right = (rank + 1) % size;
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &others));
    for (int i = 0; i < 2; i++) {
        out[i] = allocate(5000001);
        in[i] = allocate(5000001 + GUARD);
    }
    for (int round = 0; round < ROUNDS; round++) {
        one(round % 6, round, sizes[round % 5]);
        for (int kind = 0; kind < 7; kind++) {
            two(kind, round);
        }
        wrong(round);
        many(round);
    }
    OK(MPI_Comm_free(&others));
    for (int i = 0; i < 2; i++) {
        free(out[i]);
        free(in[i]);
    }
    return check_end();
}
