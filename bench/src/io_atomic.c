/*
 * Atomic mode, as in figure 8 of the paper: a file of zeros, then rank 0 writes and all others read the same bytes, at the same time.
 *
 * In each round the writer has another value, and every reader must find all old bytes or all new ones. The bytes follow each other, or
 * are every other int of the file and of the buffer. The last operation has views that do not overlap: every rank writes blocks
 * of its own, in atomic mode and without it in turn.
 */
#include "io.h"

#include <stdlib.h>
#include <string.h>

enum { STRIDE = 2, BLOCK_BYTES = 4096 };

struct access {
    struct io *io;
    MPI_File file;
    MPI_Datatype type;
    int count, ints, stride;
    int *written, *read;
};

static void set_all(const struct access *a, int *values, int value)
{
    for (int i = 0; i < a->ints; i++)
        values[i * a->stride] = value;
}

static int has_all(const struct access *a, const int *values, int value)
{
    for (int i = 0; i < a->ints; i++)
        if (values[i * a->stride] != value)
            return 0;
    return 1;
}

/* Value `round` is in the file, and `round + 1` is being written. */
static void write_or_read(void *context, int round, double *spent_s)
{
    struct access *a = context;
    set_all(a, a->written, round + 1);
    io_forget(a->io);
    *spent_s = -record_now();
    if (a->io->rank == 0)
        io_try(MPI_File_write_at(a->file, 0, a->written, a->count, a->type, MPI_STATUS_IGNORE), "MPI_File_write_at");
    else
        io_try(MPI_File_read_at(a->file, 0, a->read, a->count, a->type, MPI_STATUS_IGNORE), "MPI_File_read_at");
    *spent_s += record_now();
    if (a->io->rank != 0 && !has_all(a, a->read, round) && !has_all(a, a->read, round + 1))
        io_wrong("old and new bytes in one atomic read");
    MPI_Barrier(MPI_COMM_WORLD);
}

static void check_file(struct access *a, int rounds)
{
    int *content = io_content(a->io, (size_t)(a->ints * a->stride) * sizeof *content);
    for (int i = 0; content != NULL && i < a->ints * a->stride; i++)
        if (content[i] != (i % a->stride == 0 ? rounds : 0))
            io_wrong("after atomic writes");
    free(content);
}

static void writer_and_readers(struct io *io, const char *name, int stride)
{
    int ints = (int)(io->bytes / sizeof(int));
    size_t bytes = (size_t)(ints * stride) * sizeof(int);
    struct access a = {io, MPI_FILE_NULL, MPI_INT, ints, ints, stride, measure_buffer(bytes), measure_buffer(bytes)};
    struct measured found;
    int rounds;
    io_make(io, name, a.read, bytes);
    a.file = io_open(io);
    if (stride > 1) {
        MPI_Type_vector(ints, 1, stride, MPI_INT, &a.type);
        MPI_Type_commit(&a.type);
        a.count = 1;
        io_try(MPI_File_set_view(a.file, 0, MPI_INT, a.type, "native", MPI_INFO_NULL), "MPI_File_set_view");
    }
    io_try(MPI_File_set_atomicity(a.file, 1), "MPI_File_set_atomicity");
    rounds = io_rounds(io, write_or_read, &a, io->ranks, 1, &found);
    io_close(&a.file);
    check_file(&a, rounds);
    io_remove(io);
    if (io->rank == 0)
        record_print(name, io->ranks, io->bytes, found, 1e6, "us");
    if (stride > 1)
        MPI_Type_free(&a.type);
    free(a.written);
    free(a.read);
}

static void contiguous(struct io *io)
{
    writer_and_readers(io, "atomic-contiguous", 1);
}

static void noncontiguous(struct io *io)
{
    writer_and_readers(io, "atomic-noncontiguous", STRIDE);
}

struct disjoint {
    struct io *io;
    MPI_File file;
    int *values, ints;
};

static double write_own(struct disjoint *d, int is_atomic)
{
    double spent_s;
    io_try(MPI_File_set_atomicity(d->file, is_atomic), "MPI_File_set_atomicity");
    MPI_Barrier(MPI_COMM_WORLD);
    spent_s = -record_now();
    io_try(MPI_File_write_at(d->file, 0, d->values, d->ints, MPI_INT, MPI_STATUS_IGNORE), "MPI_File_write_at");
    return spent_s + record_now();
}

/* Both in turn, and each of them first in every other round. */
static void atomic_and_plain(void *context, int round, double *spent_s)
{
    struct disjoint *d = context;
    for (int i = 0; i < d->ints; i++)
        d->values[i] = d->io->rank + round;
    for (int turn = 0; turn < 2; turn++) {
        int is_atomic = (turn + round) % 2;
        spent_s[is_atomic] = write_own(d, is_atomic);
    }
}

/* The blocks of a rank, or the one that it has. */
static size_t block_bytes(const struct io *io)
{
    return io->bytes < BLOCK_BYTES ? io->bytes : BLOCK_BYTES;
}

static void check_blocks(struct io *io, int rounds)
{
    size_t total = io->bytes * (size_t)io->ranks;
    int *content = io_content(io, total);
    for (size_t i = 0; content != NULL && i < total / sizeof *content; i++)
        if (content[i] != (int)(i * sizeof *content / block_bytes(io)) % io->ranks + rounds - 1)
            io_wrong("after writes through views that do not overlap");
    free(content);
}

static void disjoint(struct io *io)
{
    struct disjoint d = {io, MPI_FILE_NULL, measure_buffer(io->bytes), (int)(io->bytes / sizeof(int))};
    int block = (int)(block_bytes(io) / sizeof(int)), rounds;
    struct measured found[2];
    MPI_Datatype blocks;
    MPI_Type_vector((int)(io->bytes / block_bytes(io)), block, block * io->ranks, MPI_INT, &blocks);
    MPI_Type_commit(&blocks);
    io_make(io, "disjoint", d.values, 0);
    d.file = io_open(io);
    io_try(MPI_File_set_view(d.file, (MPI_Offset)(io->rank * block_bytes(io)), MPI_INT, blocks, "native", MPI_INFO_NULL),
           "MPI_File_set_view");
    rounds = io_rounds(io, atomic_and_plain, &d, io->ranks, 2, found);
    io_close(&d.file);
    check_blocks(io, rounds);
    io_remove(io);
    if (io->rank == 0) {
        record_print("disjoint-plain", io->ranks, io->bytes, found[0], 1e6, "us");
        record_print("disjoint-atomic", io->ranks, io->bytes, found[1], 1e6, "us");
    }
    MPI_Type_free(&blocks);
    free(d.values);
}

static const struct io_operation operations[] = {
    {"atomic-contiguous", contiguous},
    {"atomic-noncontiguous", noncontiguous},
    {"disjoint", disjoint},
};

int main(int argc, char **argv)
{
    return io_main(argc, argv, operations, sizeof operations / sizeof operations[0]);
}
