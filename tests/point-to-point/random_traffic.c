/* A few hundred messages between random ranks, of random sizes, modes and tags, all nonblocking: every rank works out the
 * same schedule from the same seed, so it knows what must arrive where. The k-th receive of a source and a tag takes the
 * k-th message of that source and tag. */
#include "../check.h"

enum { MESSAGES = 500, WINDOW = 40, SEEDS = 4 };

static uint64_t state;

static unsigned draw(unsigned below)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(state >> 33) % below;
}

struct message {
    int source, destination, tag, mode, probe;
    size_t bytes;
};

/* Mostly small, sometimes in the region of the protocol switches, rarely large. */
static struct message next_message(void)
{
    static const unsigned limits[] = {16, 16, 200, 5000, 70000, 400000};
    struct message out;
    out.source = (int)draw((unsigned)size);
    out.destination = (int)draw((unsigned)size);
    out.tag = (int)draw(3);
    out.mode = (int)draw(2);
    out.probe = draw(8) == 0;
    out.bytes = draw(limits[draw(6)]);
    return out;
}

struct under_way {
    MPI_Request request;
    unsigned char *buffer;
    size_t bytes;
    unsigned seed;
    int incoming;
};

static void finish(struct under_way *list, int count)
{
    MPI_Request requests[2 * WINDOW];
    MPI_Status statuses[2 * WINDOW];
    Count received;
    for (int i = 0; i < count; i++) {
        requests[i] = list[i].request;
    }
    OK(MPI_Waitall(count, requests, statuses));
    for (int i = 0; i < count; i++) {
        if (list[i].incoming) {
            OK(MPI_Get_count(&statuses[i], MPI_BYTE, &received));
            CHECK_EQ(received, list[i].bytes);
            CHECK(filled(list[i].buffer, list[i].bytes, list[i].seed));
        }
        free(list[i].buffer);
    }
}

static void begin(const struct message *message, unsigned seed, int incoming, struct under_way *out)
{
    const struct message *m = message;
    *out = (struct under_way){MPI_REQUEST_NULL, allocate(m->bytes + 1), m->bytes, seed, incoming};
    if (incoming) {
        OK(MPI_Irecv(out->buffer, (Count)m->bytes + 1, MPI_BYTE, m->source, m->tag, MPI_COMM_WORLD, &out->request));
        return;
    }
    fill(out->buffer, m->bytes, seed);
    if (m->mode == 0) {
        OK(MPI_Isend(out->buffer, (Count)m->bytes, MPI_BYTE, m->destination, m->tag, MPI_COMM_WORLD, &out->request));
    } else {
        OK(MPI_Issend(out->buffer, (Count)m->bytes, MPI_BYTE, m->destination, m->tag, MPI_COMM_WORLD, &out->request));
    }
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    for (unsigned seed = 0; seed < SEEDS; seed++) {
        struct under_way list[2 * WINDOW];
        int count = 0, flag;
        state = seed;
        for (unsigned i = 0; i < MESSAGES; i++) {
            struct message message = next_message();
            if (message.source == rank) {
                begin(&message, i + seed, 0, &list[count++]);
            }
            if (message.destination == rank) {
                begin(&message, i + seed, 1, &list[count++]);
            }
            if (message.probe) {
                OK(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE));
            }
            if ((i + 1) % WINDOW == 0 || i + 1 == MESSAGES) {
                finish(list, count);
                count = 0;
            }
        }
    }
    return check_end();
}
