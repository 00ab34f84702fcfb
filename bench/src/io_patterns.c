/*
 * Arrays in files: what programs do with MPI-IO beyond the paper. The size is that of one rank's part, of numbers of 8 bytes.
 *
 *   darray   a matrix in blocks of 16 x 16, dealt out cyclically in both dimensions, together
 *   subarray a cube, each rank a box of it, together
 *   tiled    a picture in tiles that overlap by 16 points, read together and each for itself
 *   strided  pieces of 64 B, those of all ranks interleaved, together
 *   pieces   the same, each rank for itself
 *
 * Number g of a file is g + 1. What was written is checked by the system's own calls, and what is read was written by them. The rank's
 * numbers are enumerated here, and not by the datatype under test.
 */
#include "io.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { CYCLE = 16, OVERLAP = 16, PIECE = 8 };

/* A rank's part of a file: its datatype, and in their order the places of its numbers among all. */
struct part {
    struct io *io;
    MPI_File file;
    MPI_Datatype type;
    int64_t *places, *values, total;
    int count;
};

typedef int (*call)(struct part *part);

static int write_together(struct part *part)
{
    return MPI_File_write_at_all(part->file, 0, part->values, part->count, MPI_INT64_T, MPI_STATUS_IGNORE);
}

static int read_together(struct part *part)
{
    return MPI_File_read_at_all(part->file, 0, part->values, part->count, MPI_INT64_T, MPI_STATUS_IGNORE);
}

static int write_alone(struct part *part)
{
    return MPI_File_write_at(part->file, 0, part->values, part->count, MPI_INT64_T, MPI_STATUS_IGNORE);
}

static int read_alone(struct part *part)
{
    return MPI_File_read_at(part->file, 0, part->values, part->count, MPI_INT64_T, MPI_STATUS_IGNORE);
}

static void add_place(struct part *part, int64_t place)
{
    part->places[part->count++] = place;
}

/* The length of a side, so that `dimensions` of them have the numbers of all ranks. */
static int side(const struct io *io, int dimensions)
{
    double all = (double)io->bytes / sizeof(int64_t) * io->ranks;
    return (int)floor(pow(all, 1.0 / dimensions) + 1e-6);
}

static void room_for(struct part *part, int64_t total)
{
    part->total = total;
    part->places = measure_buffer((size_t)total * sizeof *part->places);
}

static void deal_out_matrix(struct part *part)
{
    struct io *io = part->io;
    int n = side(io, 2), grid[2] = {0, 0}, sizes[2] = {n, n}, blocks[2] = {CYCLE, CYCLE};
    int ways[2] = {MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_CYCLIC};
    MPI_Dims_create(io->ranks, 2, grid);
    room_for(part, (int64_t)n * n);
    for (int row = 0; row < n; row++)
        for (int column = 0; column < n; column++)
            if (row / CYCLE % grid[0] == io->rank / grid[1] && column / CYCLE % grid[1] == io->rank % grid[1])
                add_place(part, (int64_t)row * n + column);
    MPI_Type_create_darray(io->ranks, io->rank, 2, sizes, ways, blocks, grid, MPI_ORDER_C, MPI_INT64_T, &part->type);
}

/* The box from `starts` with `lengths` of an array with all sides `n`. */
static void take_box(struct part *part, int dimensions, int n, const int *starts, const int *lengths)
{
    int sizes[3] = {n, n, n}, at[3] = {0, 0, 0}, last = dimensions - 1;
    room_for(part, dimensions == 3 ? (int64_t)n * n * n : (int64_t)n * n);
    while (at[0] < lengths[0]) {
        int64_t place = 0;
        int dimension = last;
        for (int i = 0; i < dimensions; i++)
            place = place * n + starts[i] + at[i];
        add_place(part, place);
        while (++at[dimension] == lengths[dimension] && dimension > 0)
            at[dimension--] = 0;
    }
    MPI_Type_create_subarray(dimensions, sizes, lengths, starts, MPI_ORDER_C, MPI_INT64_T, &part->type);
}

static void take_cube(struct part *part)
{
    struct io *io = part->io;
    int n = side(io, 3), grid[3] = {0, 0, 0}, starts[3], lengths[3], rest = io->rank;
    MPI_Dims_create(io->ranks, 3, grid);
    for (int i = 2; i >= 0; i--) {
        int mine = rest % grid[i];
        rest /= grid[i];
        starts[i] = n * mine / grid[i];
        lengths[i] = n * (mine + 1) / grid[i] - starts[i];
    }
    take_box(part, 3, n, starts, lengths);
}

static void take_tile(struct part *part)
{
    struct io *io = part->io;
    int n = side(io, 2), grid[2] = {0, 0}, starts[2], lengths[2], mine[2];
    MPI_Dims_create(io->ranks, 2, grid);
    mine[0] = io->rank / grid[1];
    mine[1] = io->rank % grid[1];
    for (int i = 0; i < 2; i++) {
        int first = n * mine[i] / grid[i] - OVERLAP, end = n * (mine[i] + 1) / grid[i] + OVERLAP;
        starts[i] = first > 0 ? first : 0;
        lengths[i] = (end < n ? end : n) - starts[i];
    }
    take_box(part, 2, n, starts, lengths);
}

static void take_pieces(struct part *part)
{
    struct io *io = part->io;
    int pieces = (int)(io->bytes / (PIECE * sizeof(int64_t))), length = PIECE, start = PIECE * io->rank;
    MPI_Datatype piece;
    room_for(part, (int64_t)pieces * PIECE * io->ranks);
    for (int i = 0; i < pieces * PIECE; i++)
        add_place(part, (int64_t)(i / PIECE * io->ranks + io->rank) * PIECE + i % PIECE);
    MPI_Type_create_indexed_block(1, length, &start, MPI_INT64_T, &piece);
    MPI_Type_create_resized(piece, 0, (MPI_Aint)(PIECE * sizeof(int64_t)) * io->ranks, &part->type);
    MPI_Type_free(&piece);
}

struct named_call {
    const char *name;
    call call;
    int is_write;
};

struct calls {
    struct part *part;
    const struct named_call *named;
};

/* The file before: all numbers for readers, nothing for writers. */
static void make_file(struct part *part, const char *name, int is_write)
{
    int64_t *all = measure_buffer((size_t)part->total * sizeof *all);
    for (int64_t i = 0; i < part->total; i++)
        all[i] = i + 1;
    io_make(part->io, name, all, is_write ? 0 : (size_t)part->total * sizeof *all);
    free(all);
}

static void access_once(void *context, int round, double *spent_s)
{
    struct calls *calls = context;
    struct part *part = calls->part;
    (void)round;
    if (!calls->named->is_write)
        memset(part->values, 0, (size_t)part->count * sizeof *part->values);
    io_forget(part->io);
    *spent_s = -record_now();
    io_try(calls->named->call(part), "an access to an array");
    *spent_s += record_now();
    for (int i = 0; i < part->count; i++)
        if (part->values[i] != part->places[i] + 1)
            io_wrong("what a rank has read");
}

static void check_file(struct part *part)
{
    int64_t *content = io_content(part->io, (size_t)part->total * sizeof *content);
    for (int64_t i = 0; content != NULL && i < part->total; i++)
        if (content[i] != i + 1)
            io_wrong("what the ranks have written");
    free(content);
}

static void access_part(struct part *part, const struct named_call *named)
{
    struct calls calls = {part, named};
    struct measured found;
    int is_write = named->is_write;
    make_file(part, named->name, is_write);
    part->values = measure_buffer((size_t)part->count * sizeof *part->values);
    for (int i = 0; is_write && i < part->count; i++)
        part->values[i] = part->places[i] + 1;
    part->file = io_open(part->io);
    io_try(MPI_File_set_view(part->file, 0, MPI_INT64_T, part->type, "native", MPI_INFO_NULL), "MPI_File_set_view");
    io_rounds(part->io, access_once, &calls, part->io->ranks, 1, &found);
    io_close(&part->file);
    if (is_write)
        check_file(part);
    io_remove(part->io);
    if (part->io->rank == 0)
        record_print(named->name, part->io->ranks, part->io->bytes, found, 1e6, "us");
    free(part->values);
}

static void run(struct io *io, void (*take)(struct part *), const struct named_call *calls)
{
    struct part part = {io, MPI_FILE_NULL, MPI_DATATYPE_NULL, NULL, NULL, 0, 0};
    take(&part);
    MPI_Type_commit(&part.type);
    for (int i = 0; i < 2; i++)
        access_part(&part, &calls[i]);
    MPI_Type_free(&part.type);
    free(part.places);
}

static void darray(struct io *io)
{
    const struct named_call calls[] = {{"darray-write-all", write_together, 1}, {"darray-read-all", read_together, 0}};
    run(io, deal_out_matrix, calls);
}

static void subarray(struct io *io)
{
    const struct named_call calls[] = {{"subarray-write-all", write_together, 1},
                                       {"subarray-read-all", read_together, 0}};
    run(io, take_cube, calls);
}

static void tiled(struct io *io)
{
    const struct named_call calls[] = {{"tiled-read-all", read_together, 0}, {"tiled-read", read_alone, 0}};
    run(io, take_tile, calls);
}

static void strided(struct io *io)
{
    const struct named_call calls[] = {{"strided-write-all", write_together, 1}, {"strided-read-all", read_together, 0}};
    run(io, take_pieces, calls);
}

static void pieces(struct io *io)
{
    const struct named_call calls[] = {{"pieces-write", write_alone, 1}, {"pieces-read", read_alone, 0}};
    run(io, take_pieces, calls);
}

static const struct io_operation operations[] = {
    {"darray", darray}, {"subarray", subarray}, {"tiled", tiled}, {"strided", strided}, {"pieces", pieces},
};

int main(int argc, char **argv)
{
    return io_main(argc, argv, operations, sizeof operations / sizeof operations[0]);
}
