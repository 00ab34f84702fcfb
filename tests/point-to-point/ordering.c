/* Messages do not overtake each other (MPI 5.0, section 3.5): between two ranks on one communicator they match in the
 * order sent, whatever their sizes and the protocols these take; with wildcards too, and per communicator. */
#include "../check.h"

enum { MESSAGES = 60 };

/* Sizes jump between eager and rendezvous in an order that both sides can work out. */
static size_t bytes_of(int message, int from, int to)
{
    static const size_t sizes[] = {4, 4 << 20, 100, 8, 70000, 1000, 300000, 16, 20000, 4, 1 << 20, 64};
    return sizes[(unsigned)(message * 5 + from * 3 + to) % (sizeof sizes / sizeof *sizes)];
}

static void check_message(const unsigned char *in, size_t bytes, int number, int from)
{
    int found;
    memcpy(&found, in, sizeof found);
    CHECK_EQ(found, number);
    CHECK(filled(in + 4, bytes - 4, (unsigned)(number + from)));
}

static void prepare(unsigned char *out, size_t bytes, int number)
{
    memcpy(out, &number, sizeof number);
    fill(out + 4, bytes - 4, (unsigned)(number + rank));
}

/* Everybody sends to the right with Isend and receives with exact envelopes; a window keeps memory small. */
static void exact(MPI_Comm comm)
{
    enum { WINDOW = 4 };
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    unsigned char *out[WINDOW], *in = allocate(4 << 20);
    MPI_Request requests[WINDOW];
    for (int i = 0; i < WINDOW; i++) {
        out[i] = allocate(4 << 20);
        requests[i] = MPI_REQUEST_NULL;
    }
    for (int i = 0; i < MESSAGES; i++) {
        size_t bytes = bytes_of(i, rank, right), expected = bytes_of(i, left, rank);
        MPI_Status status;
        Count count;
        OK(MPI_Wait(&requests[i % WINDOW], MPI_STATUS_IGNORE));
        prepare(out[i % WINDOW], bytes, i);
        OK(MPI_Isend(out[i % WINDOW], (Count)bytes, MPI_BYTE, right, 1, comm, &requests[i % WINDOW]));
        OK(MPI_Recv(in, 4 << 20, MPI_BYTE, left, 1, comm, &status));
        OK(MPI_Get_count(&status, MPI_BYTE, &count));
        CHECK_EQ(count, expected);
        check_message(in, expected, i, left);
    }
    OK(MPI_Waitall(WINDOW, requests, MPI_STATUSES_IGNORE));
    for (int i = 0; i < WINDOW; i++) {
        free(out[i]);
    }
    free(in);
}

/* All messages are under way at once and are received with wildcards: the order per source must hold. */
static void wildcards(void)
{
    enum { SMALL = 40 };
    int *next = calloc((size_t)size, sizeof *next);
    size_t largest = 100000;
    unsigned char *out = allocate(SMALL * largest), *in = allocate(largest);
    MPI_Request *requests = allocate((size_t)(SMALL * size) * sizeof *requests);
    for (int i = 0; i < SMALL; i++) {
        size_t bytes = bytes_of(i, rank, 0) % largest + 4;
        prepare(out + (size_t)i * largest, bytes, i);
        for (int to = 0; to < size; to++) {
            OK(MPI_Isend(out + (size_t)i * largest, (Count)bytes, MPI_BYTE, to, 2 + i % 3, MPI_COMM_WORLD,
                         &requests[i * size + to]));
        }
    }
    for (int i = 0; i < SMALL * size; i++) {
        MPI_Status status;
        int from;
        OK(MPI_Recv(in, (Count)largest, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status));
        from = status.MPI_SOURCE;
        CHECK_EQ(status.MPI_TAG, 2 + next[from] % 3);
        check_message(in, bytes_of(next[from], from, 0) % largest + 4, next[from], from);
        next[from]++;
    }
    OK(MPI_Waitall(SMALL * size, requests, MPI_STATUSES_IGNORE));
    free(next);
    free(out);
    free(in);
    free(requests);
}

/* Receives posted before the messages come match in the order posted, with and without wildcards. */
static void posted_first(void)
{
    enum { N = 100 };
    int in[N], out[N], right = (rank + 1) % size, left = (rank + size - 1) % size;
    MPI_Request receives[N], sends[N];
    for (int i = 0; i < N; i++) {
        out[i] = i;
        OK(MPI_Irecv(&in[i], 1, MPI_INT, i % 3 ? left : MPI_ANY_SOURCE, i % 2 ? 8 : MPI_ANY_TAG, MPI_COMM_WORLD,
                     &receives[i]));
    }
    OK(MPI_Barrier(MPI_COMM_WORLD));
    for (int i = 0; i < N; i++) {
        OK(MPI_Isend(&out[i], 1, MPI_INT, right, 8, MPI_COMM_WORLD, &sends[i]));
    }
    OK(MPI_Waitall(N, receives, MPI_STATUSES_IGNORE));
    OK(MPI_Waitall(N, sends, MPI_STATUSES_IGNORE));
    for (int i = 0; i < N; i++) {
        CHECK_EQ(in[i], i);
    }
}

int main(int argc, char **argv)
{
    MPI_Comm other;
    check_begin(&argc, &argv);
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &other));
    exact(MPI_COMM_WORLD);
    exact(other);
    OK(MPI_Barrier(MPI_COMM_WORLD));
    wildcards();
    OK(MPI_Barrier(MPI_COMM_WORLD));
    posted_first();
    OK(MPI_Comm_free(&other));
    return check_end();
}
