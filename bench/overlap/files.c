/*
 * Programs and their files, written in the plainest way; --operation names them, and --sizes are bytes that each rank has to do with.
 *
 * - rows: written one after another, 8 KiB each. elements: the same with 8 B.
 * - lines: the numbers of an array, printed to a stream, one a line.
 * - checkpoints: four files of a quarter, written by one call each, with CHECKPOINT_WORK_MS of work after each. Figures: checkpoints,
 *   the time in the calls, and checkpoints-total. checkpoint-rows, checkpoint-rows-total: the same, written in rows of 16 KiB.
 * - strided: 8 KiB of every row of 24 KiB are read, from a file of the rank's own, since hosts do not share what they have cached.
 * - read-compute: rows of 8 KiB are read, and each is worked on for ROW_WORK_US. Figures: read-compute; read-compute-bound, the longer one
 *   of reading alone and of work alone.
 *
 * Times are from the first call until a barrier after the last, but for the calls of checkpoints; those of the slowest rank.
 */
#define _POSIX_C_SOURCE 200809L
#include "../src/measure.h"
#include "../src/work.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CHECKPOINT_WORK_MS 205.0
#define ROW_WORK_US 100.0

enum { ROW_BYTES = 8192, CHECKPOINT_ROW_BYTES = 16384, PIECES = 3, CHECKPOINTS = 4, PATH_BYTES = 4096 };

struct program {
    const struct settings *settings;
    int rank, ranks;
    size_t bytes;
    double step_s;
    char *data;
    char path[PATH_BYTES];
};

static int open_file(struct program *p, const char *name, int number, int flags)
{
    snprintf(p->path, sizeof p->path, "%s/files.%s.%d", p->settings->directory, name, number);
    int file = open(p->path, flags, 0644);
    if (file < 0)
        measure_fail(p->path, strerror(errno));
    return file;
}

static void put(int file, const char *data, size_t bytes)
{
    for (size_t done = 0; done < bytes;) {
        ssize_t now = write(file, data + done, bytes - done);
        if (now <= 0)
            measure_fail("write", strerror(errno));
        done += (size_t)now;
    }
}

static void get(int file, char *data, size_t bytes)
{
    for (size_t done = 0; done < bytes;) {
        ssize_t now = read(file, data + done, bytes - done);
        if (now <= 0)
            measure_fail("read", now == 0 ? "the file has an end" : strerror(errno));
        done += (size_t)now;
    }
}

static void print(struct program *p, const char *figure, double mine_s)
{
    struct measured m = {.iterations = 1};
    MPI_Reduce(&mine_s, &m.median_s, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    m.best_s = m.worst_s = m.median_s;
    if (p->rank == 0)
        record_print(figure, p->ranks, p->bytes, m, 1e3, "ms");
}

static double begin(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
    return record_now();
}

/* What has been written is in the file. */
static double end(double begun_s)
{
    MPI_Barrier(MPI_COMM_WORLD);
    return record_now() - begun_s;
}

static void write_pieces(struct program *p, const char *figure, size_t piece)
{
    double begun_s = begin();
    int file = open_file(p, figure, p->rank, O_WRONLY | O_CREAT | O_TRUNC);
    for (size_t done = 0; done < p->bytes; done += piece)
        put(file, p->data + done, piece);
    close(file);
    print(p, figure, end(begun_s));
    remove(p->path);
}

static void rows(struct program *p)
{
    write_pieces(p, "rows", ROW_BYTES);
}

static void elements(struct program *p)
{
    write_pieces(p, "elements", sizeof(double));
}

static void lines(struct program *p)
{
    double begun_s = begin();
    snprintf(p->path, sizeof p->path, "%s/files.lines.%d", p->settings->directory, p->rank);
    FILE *stream = fopen(p->path, "w");
    if (!stream)
        measure_fail(p->path, strerror(errno));
    for (size_t done = 0, i = 0; done < p->bytes; i++)
        done += (size_t)fprintf(stream, "%zu %.15g\n", i, (double)i / 7.0);
    if (fclose(stream) != 0)
        measure_fail(p->path, strerror(errno));
    print(p, "lines", end(begun_s));
    remove(p->path);
}

static void write_checkpoints(struct program *p, const char *figure, size_t piece)
{
    char total[64];
    snprintf(total, sizeof total, "%s-total", figure);
    double in_calls_s = 0.0, begun_s = begin();
    for (int i = 0; i < CHECKPOINTS; i++) {
        double call_s = record_now();
        int file = open_file(p, "checkpoint", p->rank * CHECKPOINTS + i, O_WRONLY | O_CREAT | O_TRUNC);
        size_t bytes = p->bytes / CHECKPOINTS;
        for (size_t done = 0; done < bytes; done += piece)
            put(file, p->data + done, piece < bytes - done ? piece : bytes - done);
        close(file);
        in_calls_s += record_now() - call_s;
        work((long)(1e-3 * CHECKPOINT_WORK_MS / p->step_s));
    }
    double total_s = end(begun_s);
    print(p, figure, in_calls_s);
    print(p, total, total_s);
    for (int i = 0; i < CHECKPOINTS; i++) {
        snprintf(p->path, sizeof p->path, "%s/files.checkpoint.%d", p->settings->directory, p->rank * CHECKPOINTS + i);
        remove(p->path);
    }
}

static void checkpoints(struct program *p)
{
    write_checkpoints(p, "checkpoints", p->bytes);
}

static void checkpoint_rows(struct program *p)
{
    write_checkpoints(p, "checkpoint-rows", CHECKPOINT_ROW_BYTES);
}

/* A file that is read from the file system and not from memory. */
static void make(struct program *p, const char *name, int number, size_t times)
{
    int file = open_file(p, name, number, O_WRONLY | O_CREAT | O_TRUNC);
    for (size_t i = 0; i < times; i++)
        put(file, p->data, p->bytes);
    if (fsync(file) != 0 || posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED) != 0)
        measure_fail(p->path, "cannot be made");
    close(file);
}

static void strided(struct program *p)
{
    make(p, "strided", p->rank, PIECES);
    double begun_s = begin();
    int file = open_file(p, "strided", p->rank, O_RDONLY);
    for (size_t row = 0; row < p->bytes / ROW_BYTES; row++) {
        lseek(file, (off_t)(PIECES * row + 1) * ROW_BYTES, SEEK_SET);
        get(file, p->data + row * ROW_BYTES, ROW_BYTES);
    }
    close(file);
    print(p, "strided", end(begun_s));
    remove(p->path);
}

static double read_rows(struct program *p, long steps)
{
    make(p, "read", p->rank, 1);
    double begun_s = begin();
    int file = open_file(p, "read", p->rank, O_RDONLY);
    for (size_t done = 0; done < p->bytes; done += ROW_BYTES) {
        get(file, p->data + done, ROW_BYTES);
        work(steps);
    }
    close(file);
    return end(begun_s);
}

static void read_compute(struct program *p)
{
    long steps = (long)(1e-6 * ROW_WORK_US / p->step_s);
    double both_s = read_rows(p, steps), reading_s = read_rows(p, 0), begun_s = begin();
    for (size_t done = 0; done < p->bytes; done += ROW_BYTES)
        work(steps);
    double working_s = end(begun_s);
    print(p, "read-compute", both_s);
    print(p, "read-compute-bound", reading_s > working_s ? reading_s : working_s);
    remove(p->path);
}

static const struct {
    const char *name;
    void (*run)(struct program *p);
} operations[] = {
    {"rows", rows},
    {"elements", elements},
    {"lines", lines},
    {"checkpoints", checkpoints},
    {"checkpoint-rows", checkpoint_rows},
    {"strided", strided},
    {"read-compute", read_compute},
};

int main(int argc, char **argv)
{
    struct settings settings;
    struct program p = {.settings = &settings};

    MPI_Init(&argc, &argv);
    measure_arguments(&settings, argc, argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &p.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &p.ranks);
    p.step_s = work_step_s();
    for (int i = 0; i < settings.size_count; i++) {
        p.bytes = settings.sizes[i];
        if (p.bytes == 0 || p.bytes % ROW_BYTES != 0)
            measure_fail("--sizes", "must be multiples of 8 KiB");
        p.data = measure_buffer(p.bytes);
        memset(p.data, 1 + p.rank, p.bytes);
        for (size_t k = 0; k < sizeof operations / sizeof *operations; k++)
            if (measure_is_chosen(&settings, operations[k].name))
                operations[k].run(&p);
        free(p.data);
    }
    MPI_Finalize();
    return 0;
}
