/* What every test program shares: one way to begin and to end, and checks that say where, which rank and what.
 *
 * A program is right when every rank exits with 0 and prints nothing. A check that does not hold prints
 * "file:line rank r: what" and the program goes on, so that one run shows as much as it can; a call that must
 * succeed and does not (OK) ends the job, since the ranks no longer agree on what follows. Every program works with
 * any number of ranks. With -DLARGE_COUNT the same program is compiled a second time against the _c functions. */
#ifndef CHECK_H
#define CHECK_H

#include <mpi.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "large_count.h"

static int rank, size;
static atomic_int check_failures;

static inline void check_failed(const char *file, int line, const char *what)
{
    const char *base = strrchr(file, '/');
    if (check_failures++ < 20) {
        fprintf(stderr, "%s:%d rank %d: %s\n", base ? base + 1 : file, line, rank, what);
        fflush(stderr);
    }
}

#define CHECK(condition)                                          \
    do {                                                          \
        if (!(condition)) {                                       \
            check_failed(__FILE__, __LINE__, #condition);         \
        }                                                         \
    } while (0)

/* Compares integers and prints both. */
#define CHECK_EQ(actual, expected) \
    check_equal(__FILE__, __LINE__, #actual, (long long)(actual), #expected, (long long)(expected))

static inline void check_equal(const char *file, int line, const char *actual_text, long long actual,
                               const char *expected_text, long long expected)
{
    char what[400];
    if (actual != expected) {
        snprintf(what, sizeof what, "%s is %lld, expected %s = %lld", actual_text, actual, expected_text, expected);
        check_failed(file, line, what);
    }
}

/* A call that must succeed. */
#define OK(call) check_ok(__FILE__, __LINE__, #call, (call))

static inline void check_ok(const char *file, int line, const char *call, int code)
{
    char text[MPI_MAX_ERROR_STRING] = "", what[MPI_MAX_ERROR_STRING + 300];
    int length;
    if (code != MPI_SUCCESS) {
        MPI_Error_string(code, text, &length);
        snprintf(what, sizeof what, "%.250s returned %d: %s", call, code, text);
        check_failed(file, line, what);
        MPI_Abort(MPI_COMM_WORLD, 1);
        exit(1);
    }
}

/* A call that must return an error of the class given. */
#define FAILS(class, call) check_fails(__FILE__, __LINE__, #call, (call), #class, (class))

static inline void check_fails(const char *file, int line, const char *call, int code, const char *class_text,
                               int class)
{
    char what[500];
    int actual = MPI_SUCCESS;
    if (code != MPI_SUCCESS) {
        MPI_Error_class(code, &actual);
    }
    if (actual != class) {
        snprintf(what, sizeof what, "%.300s gave class %d, expected %s = %d", call, actual, class_text, class);
        check_failed(file, line, what);
    }
}

/* Initialises MPI at the thread level that TEST_THREAD_LEVEL asks for; errors return from now on, unless the
 * program has ERRORS_ARE_FATAL: where errors return, nothing becomes asynchronous without the program's knowledge. */
static inline void check_begin(int *argc, char ***argv)
{
    const char *level = getenv("TEST_THREAD_LEVEL");
    if (level != NULL && strcmp(level, "multiple") == 0) {
        int provided;
        MPI_Init_thread(argc, argv, MPI_THREAD_MULTIPLE, &provided);
    } else {
        MPI_Init(argc, argv);
    }
#ifndef ERRORS_ARE_FATAL
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
#endif
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
}

/* Finalises MPI and returns the exit code of the program. */
static inline int check_end(void)
{
    OK(MPI_Finalize());
    return check_failures != 0;
}

static inline void *allocate(size_t bytes)
{
    void *memory = malloc(bytes ? bytes : 1);
    if (memory == NULL) {
        check_failed(__FILE__, __LINE__, "no memory");
        exit(1);
    }
    return memory;
}

/* A byte pattern that differs with the seed and with the place. */
static inline unsigned char pattern(size_t place, unsigned seed)
{
    return (unsigned char)((place * 7 + (place >> 8) * 13 + seed * 31u + 5) & 0xff);
}

static inline void fill(void *buffer, size_t bytes, unsigned seed)
{
    unsigned char *out = buffer;
    for (size_t i = 0; i < bytes; i++) {
        out[i] = pattern(i, seed);
    }
}

static inline int filled(const void *buffer, size_t bytes, unsigned seed)
{
    const unsigned char *in = buffer;
    for (size_t i = 0; i < bytes; i++) {
        if (in[i] != pattern(i, seed)) {
            return 0;
        }
    }
    return 1;
}

#endif
