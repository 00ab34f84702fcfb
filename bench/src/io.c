/*
 * Files, rounds and checks; described in io.h.
 */
#define _POSIX_C_SOURCE 200809L
#include "io.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void io_try(int code, const char *call)
{
    char text[MPI_MAX_ERROR_STRING];
    int length;
    if (code == MPI_SUCCESS)
        return;
    MPI_Error_string(code, text, &length);
    measure_fail(call, text);
}

void io_wrong(const char *what)
{
    measure_fail("wrong contents", what);
}

int io_main(int argc, char **argv, const struct io_operation *operations, int count)
{
    struct io io;
    MPI_Init(&argc, &argv);
    measure_arguments(&io.settings, argc, argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &io.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &io.ranks);
    for (int i = 0; i < count; i++) {
        if (!measure_is_chosen(&io.settings, operations[i].name))
            continue;
        for (int size = 0; size < io.settings.size_count; size++) {
            io.bytes = io.settings.sizes[size];
            operations[i].run(&io);
        }
        MPI_Barrier(MPI_COMM_WORLD);
        if (io.rank == 0)
            printf("{\"done\":\"%s\"}\n", operations[i].name);
        fflush(stdout);
    }
    MPI_Finalize();
    return 0;
}

void io_make(struct io *io, const char *name, const void *content, size_t bytes)
{
    FILE *file;
    snprintf(io->path, sizeof io->path, "%s/postrider-bench-%s-%d", io->settings.directory, name, io->ranks);
    if (io->rank == 0) {
        remove(io->path);
        file = fopen(io->path, "wb");
        if (file == NULL || fwrite(content, 1, bytes, file) != bytes || fclose(file) != 0)
            measure_fail("this file cannot be made", io->path);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

void *io_content(struct io *io, size_t bytes)
{
    char *content;
    FILE *file;
    MPI_Barrier(MPI_COMM_WORLD);
    if (io->rank != 0)
        return NULL;
    content = measure_buffer(bytes);
    file = fopen(io->path, "rb");
    if (file == NULL)
        measure_fail("this file cannot be opened", io->path);
    if (fread(content, 1, bytes, file) != bytes)
        io_wrong("the file is too short");
    fclose(file);
    return content;
}

MPI_File io_open(struct io *io)
{
    MPI_File file;
    io_try(MPI_File_open(MPI_COMM_WORLD, io->path, MPI_MODE_RDWR, MPI_INFO_NULL, &file), "MPI_File_open");
    return file;
}

void io_close(MPI_File *file)
{
    io_try(MPI_File_close(file), "MPI_File_close");
}

/* Data are dropped whenever somebody opens the file. */
void io_forget(struct io *io)
{
    FILE *file = io->rank == 0 ? fopen(io->path, "rb") : NULL;
    if (file != NULL)
        fclose(file);
    MPI_Barrier(MPI_COMM_WORLD);
}

void io_remove(struct io *io)
{
    MPI_Barrier(MPI_COMM_WORLD);
    if (io->rank == 0)
        remove(io->path);
}

/* The mean of each quantity over the ranks that count, and whether the time is used, which rank 0 decides. Sums are of whole
   nanoseconds, which are exact, so that all ranks find the same. */
static int has_time(struct io *io, const double *spent_s, int counted, int quantities, double begun_s, double *means_s)
{
    int64_t mine[IO_QUANTITIES_MAX + 1] = {0}, all[IO_QUANTITIES_MAX + 1];
    for (int i = 0; i < quantities; i++)
        mine[i] = (int64_t)(1e9 * spent_s[i]);
    mine[quantities] = io->rank == 0 && record_now() - begun_s > io->settings.budget_s;
    MPI_Allreduce(mine, all, quantities + 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < quantities; i++)
        means_s[i] = 1e-9 * (double)all[i] / counted;
    return all[quantities] == 0;
}

int io_rounds(struct io *io, io_round round, void *context, int counted, int quantities, struct measured *found)
{
    double spent_s[IO_QUANTITIES_MAX], means_s[IO_QUANTITIES_MAX], begun_s = record_now();
    double *samples = malloc(sizeof *samples * IO_QUANTITIES_MAX * IO_ROUNDS_MAX);
    int count = 0, goes_on = 1;
    round(context, 0, spent_s);
    while (count < IO_ROUNDS_MIN || (goes_on && count < IO_ROUNDS_MAX)) {
        round(context, count + 1, spent_s);
        goes_on = has_time(io, spent_s, counted, quantities, begun_s, means_s);
        for (int i = 0; i < quantities; i++)
            samples[i * IO_ROUNDS_MAX + count] = means_s[i];
        count++;
    }
    for (int i = 0; i < quantities; i++)
        found[i] = record_median(samples + i * IO_ROUNDS_MAX, count, count);
    free(samples);
    return count + 1;
}
