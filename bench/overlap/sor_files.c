/*
 * How the field is read from a file and written to one, by rows of the whole field:
 *
 * - root: rank 0 reads all and sends each rank its part, and receives the parts and writes all.
 * - collective: each rank has a view of its part, and all read and write together. The usual way by hand.
 * - rows: each rank seeks to its own rows, and reads and writes them by the system's calls.
 * - ring: the same one after another, when a token has come from the left.
 */
#define _POSIX_C_SOURCE 200809L
#include "sor.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char INPUT[] = "sor.in";
static const char OUTPUT[] = "sor.out";

enum { PATH_BYTES = 4096, TAG_PART = 5, TAG_TOKEN = 6 };

static void path_of(const struct part *p, const char *name, char path[PATH_BYTES])
{
    snprintf(path, PATH_BYTES, "%s/%s", p->directory, name);
}

int files_open(const struct part *p, const char *name, int flags)
{
    char path[PATH_BYTES];
    path_of(p, name, path);
    int file = open(path, flags, 0644);
    if (file < 0)
        measure_fail(path, strerror(errno));
    return file;
}

void files_move(int file, void *data, size_t bytes, int is_writing)
{
    for (char *rest = data; bytes > 0;) {
        ssize_t moved = is_writing ? write(file, rest, bytes) : read(file, rest, bytes);
        if (moved <= 0)
            measure_fail(is_writing ? "write" : "read", moved == 0 ? "the file has an end" : strerror(errno));
        rest += moved;
        bytes -= (size_t)moved;
    }
}

void files_remove(const struct part *p, const char *name)
{
    char path[PATH_BYTES];
    path_of(p, name, path);
    if (remove(path) != 0 && errno != ENOENT)
        measure_fail(path, strerror(errno));
}

static void close_file(int file)
{
    if (close(file) != 0)
        measure_fail("close", strerror(errno));
}

void files_make(struct part *p)
{
    if (p->rank == 0) {
        double *row = measure_buffer((size_t)p->whole_columns * sizeof *row);
        int file = files_open(p, INPUT, O_WRONLY | O_CREAT | O_TRUNC);
        for (long i = 0; i < p->whole_rows; i++) {
            for (long j = 0; j < p->whole_columns; j++)
                row[j] = (double)((31 * i + 17 * j) % 101) / 101.0;
            files_move(file, row, (size_t)p->whole_columns * sizeof *row, 1);
        }
        free(row);
        /* What is read comes from the file and not from memory. */
        if (fsync(file) != 0 || posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED) != 0)
            measure_fail("the file that is read", "cannot be made");
        close_file(file);
        files_remove(p, OUTPUT);
    }
    MPI_Barrier(p->grid);
}

static MPI_Datatype type_of(const int whole[2], const int sides[2], const int starts[2])
{
    MPI_Datatype type;
    MPI_Type_create_subarray(2, whole, sides, starts, MPI_ORDER_C, MPI_DOUBLE, &type);
    MPI_Type_commit(&type);
    return type;
}

/* The part of a rank in the whole field. */
static MPI_Datatype type_in_whole(const struct part *p, int rank)
{
    long first[2];
    int sides[2];
    part_of(p, rank, first, sides);
    return type_of((int[2]){(int)p->whole_rows, (int)p->whole_columns}, sides, (int[2]){(int)first[0], (int)first[1]});
}

/* What a rank has without the borders. */
static MPI_Datatype type_inside(const struct part *p)
{
    return type_of((int[2]){p->rows + 2, p->columns + 2}, (int[2]){p->rows, p->columns}, (int[2]){1, 1});
}

/* Between the whole field of rank 0 and its own part. */
static void copy_own(struct part *p, int is_writing)
{
    for (int i = 0; i < p->rows; i++) {
        double *mine = at(p, i + 1, 1), *there = p->whole + (p->first_row + i) * p->whole_columns + p->first_column;
        memcpy(is_writing ? there : mine, is_writing ? mine : there, (size_t)p->columns * sizeof *mine);
    }
}

static void move_parts(struct part *p, int is_writing)
{
    for (int rank = 1; rank < p->ranks; rank++) {
        MPI_Datatype type = type_in_whole(p, rank);
        if (is_writing)
            MPI_Recv(p->whole, 1, type, rank, TAG_PART, p->grid, MPI_STATUS_IGNORE);
        else
            MPI_Send(p->whole, 1, type, rank, TAG_PART, p->grid);
        MPI_Type_free(&type);
    }
    copy_own(p, is_writing);
}

static void move_by_root(struct part *p, int file, size_t bytes, int is_writing)
{
    if (p->rank == 0) {
        if (!is_writing)
            files_move(file, p->whole, bytes, 0);
        move_parts(p, is_writing);
        if (is_writing)
            files_move(file, p->whole, bytes, 1);
        return;
    }
    MPI_Datatype inside = type_inside(p);
    if (is_writing)
        MPI_Send(p->field, 1, inside, 0, TAG_PART, p->grid);
    else
        MPI_Recv(p->field, 1, inside, 0, TAG_PART, p->grid, MPI_STATUS_IGNORE);
    MPI_Type_free(&inside);
}

static void move_collectively(struct part *p, long long begin, int is_writing)
{
    char path[PATH_BYTES];
    MPI_File file;
    MPI_Datatype inside = type_inside(p), view = type_in_whole(p, p->rank);
    path_of(p, is_writing ? OUTPUT : INPUT, path);
    if (MPI_File_open(p->grid, path, is_writing ? MPI_MODE_WRONLY | MPI_MODE_CREATE : MPI_MODE_RDONLY, MPI_INFO_NULL,
                      &file) != MPI_SUCCESS)
        measure_fail(path, "MPI_File_open");
    MPI_File_set_view(file, (MPI_Offset)begin, MPI_DOUBLE, view, "native", MPI_INFO_NULL);
    int code = is_writing ? MPI_File_write_all(file, p->field, 1, inside, MPI_STATUS_IGNORE)
                          : MPI_File_read_all(file, p->field, 1, inside, MPI_STATUS_IGNORE);
    if (code != MPI_SUCCESS || MPI_File_close(&file) != MPI_SUCCESS)
        measure_fail(path, is_writing ? "MPI_File_write_all" : "MPI_File_read_all");
    MPI_Type_free(&inside);
    MPI_Type_free(&view);
}

static void move_rows(struct part *p, long long begin, int is_writing)
{
    int file = files_open(p, is_writing ? OUTPUT : INPUT, is_writing ? O_WRONLY | O_CREAT : O_RDONLY);
    for (int i = 0; i < p->rows; i++) {
        lseek(file, (off_t)(begin + offset(p, p->first_row + i, p->first_column)), SEEK_SET);
        files_move(file, at(p, i + 1, 1), (size_t)p->columns * sizeof *p->field, is_writing);
    }
    close_file(file);
}

static void move_in_turn(struct part *p, long long begin, int is_writing)
{
    int right = (p->rank + 1) % p->ranks, left = (p->rank + p->ranks - 1) % p->ranks;
    for (int turn = 0; turn < p->ranks; turn++) {
        int mine = turn, token;
        if (turn == p->rank)
            move_rows(p, begin, is_writing);
        MPI_Sendrecv(&mine, 1, MPI_INT, right, TAG_TOKEN, &token, 1, MPI_INT, left, TAG_TOKEN, p->grid,
                     MPI_STATUS_IGNORE);
        if (token != turn)
            measure_fail("the token of the ring", "is another one");
    }
}

static void move_field(struct part *p, enum io way, int frame, int is_writing)
{
    long long bytes = offset(p, p->whole_rows, 0), begin = (long long)frame * bytes;
    if (way == IO_COLLECTIVE) {
        move_collectively(p, begin, is_writing);
    } else if (way == IO_ROWS) {
        move_rows(p, begin, is_writing);
    } else if (way == IO_RING) {
        move_in_turn(p, begin, is_writing);
    } else {
        int file = -1;
        if (p->rank == 0) {
            file = files_open(p, is_writing ? OUTPUT : INPUT, is_writing ? O_WRONLY | O_CREAT : O_RDONLY);
            lseek(file, (off_t)begin, SEEK_SET);
        }
        move_by_root(p, file, (size_t)bytes, is_writing);
        if (p->rank == 0)
            close_file(file);
    }
}

void files_read(struct part *p, enum io way)
{
    move_field(p, way, 0, 0);
}

void files_write(struct part *p, enum io way, int frame)
{
    move_field(p, way, frame, 1);
}
