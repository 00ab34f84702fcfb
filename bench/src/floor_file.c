/*
 * The floor of the file transport: its system calls and nothing else, and beside it the speed of `cp`.
 *
 * A message is created in a directory of its own, written, and renamed into the directory of the receiver, which sleeps
 * on inotify, opens the file, reads it and unlinks it. Two processes do this in turns, and half a round trip is the
 * figure. Usage: floor_file DIRECTORY BUDGET_MS BYTES… ; the program works in a new subdirectory, which it removes. The
 * last size is the one that cp copies.
 */
#define _GNU_SOURCE
#include "record.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* Directory 0 receives for the parent, 1 for the child; messages are written in `stage`, one name for each process. */
static char base[3500];
static int me;
static int watch;
static char *buffer;
static size_t bytes;
static long long sent;

static void fail(const char *what)
{
    fprintf(stderr, "bench: %s in %s: ", what, base);
    perror("");
    exit(1);
}

static void send_file(size_t length)
{
    char stage[4096], inbox[4096];
    size_t done = 0;
    snprintf(stage, sizeof stage, "%s/stage/%d", base, me);
    snprintf(inbox, sizeof inbox, "%s/%d/%lld", base, 1 - me, ++sent);
    int fd = open(stage, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0)
        fail("create");
    while (done < length) {
        ssize_t n = write(fd, buffer + done, length - done);
        if (n <= 0)
            fail("write");
        done += (size_t)n;
    }
    close(fd);
    if (rename(stage, inbox) != 0)
        fail("rename");
}

static size_t receive_file(void)
{
    _Alignas(8) char events[sizeof(struct inotify_event) + 256];
    char path[4096];
    size_t done = 0;
    ssize_t n = read(watch, events, sizeof events);
    if (n <= 0)
        fail("inotify");
    snprintf(path, sizeof path, "%s/%d/%s", base, me, ((struct inotify_event *)events)->name);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        fail("open");
    while (done < bytes && (n = read(fd, buffer + done, bytes - done)) > 0)
        done += (size_t)n;
    if (n < 0)
        fail("read");
    close(fd);
    if (unlink(path) != 0)
        fail("unlink");
    return done;
}

static double round_trips(void *context, int iterations)
{
    (void)context;
    double start = record_now();
    for (int i = 0; i < iterations; i++) {
        send_file(bytes);
        receive_file();
    }
    return record_now() - start;
}

static void watch_inbox(void)
{
    char inbox[4096];
    snprintf(inbox, sizeof inbox, "%s/%d", base, me);
    watch = inotify_init1(IN_CLOEXEC);
    if (watch < 0 || inotify_add_watch(watch, inbox, IN_MOVED_TO) < 0)
        fail("inotify");
}

/* The child answers every message with one of the same size, and ends at an empty one. */
static pid_t start_answering(int ready)
{
    pid_t child = fork();
    if (child < 0)
        fail("fork");
    if (child > 0)
        return child;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    me = 1;
    watch_inbox();
    if (write(ready, "r", 1) != 1)
        fail("pipe");
    size_t length;
    while ((length = receive_file()) != 0)
        send_file(length);
    _exit(0);
}

static struct measured measure_messages(double budget_s)
{
    int ready[2];
    char letter;
    sent = 0;
    if (pipe(ready) != 0)
        fail("pipe");
    pid_t child = start_answering(ready[1]);
    if (read(ready[0], &letter, 1) != 1)
        fail("pipe");
    struct measured m = record_adaptive(round_trips, NULL, budget_s, 1 << 16);
    send_file(0);
    waitpid(child, NULL, 0);
    close(ready[0]);
    close(ready[1]);
    return m;
}

static double copies(void *context, int iterations)
{
    char from[4096], to[4096];
    double used_s = 0.0;
    (void)context;
    snprintf(from, sizeof from, "%s/from", base);
    snprintf(to, sizeof to, "%s/to", base);
    for (int i = 0; i < iterations; i++) {
        int status;
        double start = record_now();
        pid_t child = fork();
        if (child == 0) {
            execlp("cp", "cp", from, to, (char *)NULL);
            _exit(127);
        }
        if (child < 0 || waitpid(child, &status, 0) < 0 || status != 0)
            fail("cp");
        used_s += record_now() - start;
        unlink(to);
    }
    return used_s;
}

static struct measured measure_cp(double budget_s)
{
    char from[4096];
    size_t done = 0;
    snprintf(from, sizeof from, "%s/from", base);
    int fd = open(from, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    while (fd >= 0 && done < bytes) {
        ssize_t n = write(fd, buffer + done, bytes - done);
        if (n <= 0)
            fail("write");
        done += (size_t)n;
    }
    if (fd < 0)
        fail("create");
    close(fd);
    struct measured m = record_adaptive(copies, NULL, budget_s, 64);
    unlink(from);
    return m;
}

static void make_directories(int make)
{
    static const char *const names[] = {"0", "1", "stage"};
    char path[4096];
    for (int i = 0; i < 3; i++) {
        snprintf(path, sizeof path, "%s/%s", base, names[i]);
        if ((make ? mkdir(path, 0700) : rmdir(path)) != 0)
            fail(make ? "mkdir" : "rmdir");
    }
    if (!make && rmdir(base) != 0)
        fail("rmdir");
}

int main(int argc, char **argv)
{
    if (argc < 4) {
        fprintf(stderr, "usage: floor_file DIRECTORY BUDGET_MS BYTES…\n");
        return 2;
    }
    snprintf(base, sizeof base, "%s/postrider-bench-XXXXXX", argv[1]);
    if (mkdtemp(base) == NULL)
        fail("mkdtemp");
    make_directories(1);
    watch_inbox();
    for (int i = 3; i < argc; i++) {
        bytes = strtoull(argv[i], NULL, 10);
        free(buffer);
        buffer = malloc(bytes + 1);
        if (buffer == NULL)
            fail("no memory for a message");
        memset(buffer, 1, bytes + 1);
        record_print("floor-file", 2, bytes, measure_messages(1e-3 * atof(argv[2])), 0.5e6, "us");
    }
    record_print_rate("floor-cp", 1, bytes, measure_cp(1e-3 * atof(argv[2])), 1e-6 * (double)bytes, "MB/s");
    make_directories(0);
    return 0;
}
