/*
 * Adaptive timing of MPI operations; the method is described in measure.h.
 */
#define _POSIX_C_SOURCE 200809L
#include "measure.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void measure_fail(const char *sentence, const char *detail)
{
    fprintf(stderr, "bench: %s: %s\n", sentence, detail);
    MPI_Abort(MPI_COMM_WORLD, 2);
    exit(2);
}

void *measure_buffer(size_t bytes)
{
    void *buffer = NULL;
    if (posix_memalign(&buffer, 4096, bytes + 4096) != 0)
        measure_fail("no memory for a message buffer", "choose smaller --sizes");
    memset(buffer, 0, bytes + 4096);
    return buffer;
}

static void parse_sizes(struct settings *settings, const char *text)
{
    settings->size_count = 0;
    while (*text != '\0') {
        char *end;
        unsigned long long bytes = strtoull(text, &end, 10);
        if (end == text || (*end != ',' && *end != '\0'))
            measure_fail("--sizes takes numbers of bytes separated by commas, not", text);
        if (settings->size_count == MEASURE_SIZES_MAX)
            measure_fail("--sizes takes at most 64 numbers; left over", text);
        settings->sizes[settings->size_count++] = (size_t)bytes;
        text = *end == ',' ? end + 1 : end;
    }
}

void measure_arguments(struct settings *settings, int argc, char **argv)
{
    settings->size_count = 1;
    settings->sizes[0] = 8;
    settings->budget_s = 0.05;
    settings->iterations_max = 1 << 20;
    settings->window = 64;
    settings->operation = "";
    settings->directory = ".";
    for (int i = 1; i < argc; i += 2) {
        if (i + 1 == argc)
            measure_fail("this argument needs a value", argv[i]);
        if (strcmp(argv[i], "--sizes") == 0)
            parse_sizes(settings, argv[i + 1]);
        else if (strcmp(argv[i], "--budget-ms") == 0)
            settings->budget_s = 1e-3 * atof(argv[i + 1]);
        else if (strcmp(argv[i], "--iterations-max") == 0)
            settings->iterations_max = atoi(argv[i + 1]);
        else if (strcmp(argv[i], "--window") == 0)
            settings->window = atoi(argv[i + 1]);
        else if (strcmp(argv[i], "--operation") == 0)
            settings->operation = argv[i + 1];
        else if (strcmp(argv[i], "--directory") == 0)
            settings->directory = argv[i + 1];
        else
            measure_fail("unknown argument", argv[i]);
    }
    if (settings->budget_s <= 0.0 || settings->iterations_max < 1 || settings->window < 1)
        measure_fail("--budget-ms, --iterations-max and --window", "all of them must be positive");
}

size_t measure_largest(const struct settings *settings)
{
    size_t largest = 0;
    for (int i = 0; i < settings->size_count; i++)
        largest = settings->sizes[i] > largest ? settings->sizes[i] : largest;
    return largest;
}

int measure_is_chosen(const struct settings *settings, const char *name)
{
    const char *list = settings->operation;
    size_t length = strlen(name);
    if (strcmp(list, "all") == 0)
        return 1;
    while (list != NULL) {
        list += *list == ',';
        if (strncmp(list, name, length) == 0 && (list[length] == ',' || list[length] == '\0'))
            return 1;
        list = strchr(list, ',');
    }
    return 0;
}

struct timed_body {
    measure_body body;
    void *context;
};

static double batch(void *context, int iterations)
{
    struct timed_body *timed = context;
    double mine_s, slowest_s;
    MPI_Barrier(MPI_COMM_WORLD);
    mine_s = record_now();
    timed->body(timed->context, iterations);
    mine_s = record_now() - mine_s;
    MPI_Allreduce(&mine_s, &slowest_s, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return slowest_s;
}

struct measured measure(const struct settings *settings, measure_body body, void *context)
{
    struct timed_body timed = {body, context};
    return record_adaptive(batch, &timed, settings->budget_s, settings->iterations_max);
}
