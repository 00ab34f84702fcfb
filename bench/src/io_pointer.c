/*
 * Shared file pointers, as in figures 9 and 10 of the paper: all ranks write records of a fixed size through the shared pointer, then
 * read them, each call for itself (`shared`) or all together in the order of the ranks (`ordered`).
 *
 * A record is one number throughout, which tells its writer and its turn. Whoever reads finds whole records, all readers together each
 * record once, and with ordered calls each rank its own.
 */
#include "io.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { RECORDS = 4 };

typedef int (*write_call)(MPI_File, const void *, int, MPI_Datatype, MPI_Status *);
typedef int (*read_call)(MPI_File, void *, int, MPI_Datatype, MPI_Status *);

struct pointer {
    struct io *io;
    MPI_File file;
    int is_ordered, length;
    int64_t *written, *read, *seen;
};

/* A record's number in its round; with ordered calls, also its place in the file. */
static int64_t number(const struct pointer *p, int turn)
{
    return (int64_t)turn * p->io->ranks + p->io->rank;
}

/* The number of a record that must be whole and of this round; `first` is that of the round's first record. */
static int64_t found_number(const struct pointer *p, const int64_t *record, int64_t first)
{
    int64_t all = (int64_t)RECORDS * p->io->ranks;
    for (int i = 1; i < p->length; i++)
        if (record[i] != record[0])
            io_wrong("a record that is not whole");
    if (record[0] < first || record[0] >= first + all)
        io_wrong("a record of another time");
    return record[0] - first;
}

static double rewound(const struct pointer *p)
{
    io_try(MPI_File_seek_shared(p->file, 0, MPI_SEEK_SET), "MPI_File_seek_shared");
    MPI_Barrier(MPI_COMM_WORLD);
    return record_now();
}

static double write_all(struct pointer *p, int64_t first)
{
    write_call call = p->is_ordered ? MPI_File_write_ordered : MPI_File_write_shared;
    double begun_s;
    for (int turn = 0; turn < RECORDS; turn++)
        for (int i = 0; i < p->length; i++)
            p->written[turn * p->length + i] = first + number(p, turn);
    begun_s = rewound(p);
    for (int turn = 0; turn < RECORDS; turn++)
        io_try(call(p->file, p->written + turn * p->length, p->length, MPI_INT64_T, MPI_STATUS_IGNORE), "a write");
    return record_now() - begun_s;
}

static double read_all(struct pointer *p)
{
    read_call call = p->is_ordered ? MPI_File_read_ordered : MPI_File_read_shared;
    double begun_s;
    memset(p->read, 0, (size_t)(RECORDS * p->length) * sizeof *p->read);
    io_forget(p->io);
    begun_s = rewound(p);
    for (int turn = 0; turn < RECORDS; turn++)
        io_try(call(p->file, p->read + turn * p->length, p->length, MPI_INT64_T, MPI_STATUS_IGNORE), "a read");
    return record_now() - begun_s;
}

static void check_read(struct pointer *p, int64_t first)
{
    int all = RECORDS * p->io->ranks;
    memset(p->seen, 0, (size_t)all * sizeof *p->seen);
    for (int turn = 0; turn < RECORDS; turn++) {
        int64_t found = found_number(p, p->read + turn * p->length, first);
        if (p->is_ordered && found != number(p, turn))
            io_wrong("another rank's record");
        p->seen[found]++;
    }
    MPI_Allreduce(MPI_IN_PLACE, p->seen, all, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < all; i++)
        if (p->seen[i] != 1)
            io_wrong("a record that was read twice, or never");
}

static void write_then_read(void *context, int round, double *spent_s)
{
    struct pointer *p = context;
    int64_t first = (int64_t)(round + 1) * RECORDS * p->io->ranks;
    spent_s[0] = write_all(p, first) / RECORDS;
    MPI_Barrier(MPI_COMM_WORLD);
    spent_s[1] = read_all(p) / RECORDS;
    check_read(p, first);
}

static void check_file(struct pointer *p, int rounds)
{
    int all = RECORDS * p->io->ranks;
    int64_t *content = io_content(p->io, p->io->bytes * (size_t)all), first = (int64_t)rounds * all;
    memset(p->seen, 0, (size_t)all * sizeof *p->seen);
    for (int i = 0; content != NULL && i < all; i++) {
        int64_t found = found_number(p, content + i * p->length, first);
        if (p->seen[found]++ != 0 || (p->is_ordered && found != i))
            io_wrong("records in another order, or one of them twice");
    }
    free(content);
}

static void through_pointer(struct io *io, int is_ordered)
{
    struct pointer p = {io, MPI_FILE_NULL, is_ordered, (int)(io->bytes / sizeof(int64_t)), NULL, NULL, NULL};
    struct measured found[2];
    int rounds;
    p.written = measure_buffer(RECORDS * io->bytes);
    p.read = measure_buffer(RECORDS * io->bytes);
    p.seen = measure_buffer(RECORDS * (size_t)io->ranks * sizeof *p.seen);
    io_make(io, is_ordered ? "ordered" : "shared", p.read, 0);
    p.file = io_open(io);
    io_try(MPI_File_set_view(p.file, 0, MPI_INT64_T, MPI_INT64_T, "native", MPI_INFO_NULL), "MPI_File_set_view");
    rounds = io_rounds(io, write_then_read, &p, io->ranks, 2, found);
    io_close(&p.file);
    check_file(&p, rounds);
    io_remove(io);
    if (io->rank == 0) {
        record_print(is_ordered ? "ordered-write" : "shared-write", io->ranks, io->bytes, found[0], 1e6, "us");
        record_print(is_ordered ? "ordered-read" : "shared-read", io->ranks, io->bytes, found[1], 1e6, "us");
    }
    free(p.written);
    free(p.read);
    free(p.seen);
}

static void shared(struct io *io)
{
    through_pointer(io, 0);
}

static void ordered(struct io *io)
{
    through_pointer(io, 1);
}

static const struct io_operation operations[] = {{"shared", shared}, {"ordered", ordered}};

int main(int argc, char **argv)
{
    return io_main(argc, argv, operations, sizeof operations / sizeof operations[0]);
}
