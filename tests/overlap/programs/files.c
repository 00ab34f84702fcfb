/* What programs do with files, one scenario after its name. Each is run plain and under the layer, and has to do the same. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>
#include <wchar.h>

enum { ROWS = 64, ROW_BYTES = 8192 };

static char row[ROW_BYTES];

static void fill(int number)
{
    for (int i = 0; i < ROW_BYTES; i++)
        row[i] = (char)(number * 31 + i * 7);
}

static int create(const char *name)
{
    int fd = open(name, O_RDWR | O_CREAT | O_TRUNC, 0644);
    if (fd < 0) {
        perror(name);
        exit(2);
    }
    return fd;
}

static void put_rows(int fd, int from, int until)
{
    for (int i = from; i < until; i++) {
        fill(i);
        if (write(fd, row, sizeof row) != (ssize_t)sizeof row) {
            printf("row %d: %s\n", i, strerror(errno));
            exit(3);
        }
    }
}

static long size_of(const char *name)
{
    struct stat found;
    return stat(name, &found) == 0 ? (long)found.st_size : -1;
}

static void rows(void)
{
    int fd = create("rows");
    put_rows(fd, 0, ROWS);
    printf("%d\n", close(fd));
}

static void elements(void)
{
    int fd = create("elements");
    for (int i = 0; i < 3000; i++) {
        double element = i;
        if (write(fd, &element, sizeof element) != sizeof element)
            perror("write");
    }
    printf("at %ld\n", (long)lseek(fd, 0, SEEK_CUR));
    close(fd);
}

static void vectors(void)
{
    int fd = create("vectors");
    struct iovec areas[3] = {{row, 10}, {row + 100, 3000}, {row + 5000, 1}};
    for (int i = 0; i < 40; i++) {
        fill(i);
        if (writev(fd, areas, 3) != 3011 || pwritev(fd, areas, 2, 200000 + i * 3010L) != 3010)
            perror("writev");
    }
    close(fd);
}

/* Everything that tells what is in the file tells what was written. */
static void looked_at(void)
{
    int fd = create("looked at");
    struct stat found;
    char read_back[16];
    put_rows(fd, 0, 10);
    fstat(fd, &found);
    printf("%ld %ld %ld\n", (long)found.st_size, size_of("looked at"), (long)lseek(fd, 0, SEEK_CUR));
    put_rows(fd, 10, 20);
    printf("%ld\n", (long)pread(fd, read_back, sizeof read_back, 15 * ROW_BYTES));
    printf("%d %d\n", read_back[0], read_back[15]);
    put_rows(fd, 20, 30);
    printf("%ld\n", (long)lseek(fd, -100, SEEK_END));
    put_rows(fd, 30, 40);
    FILE *stream = fopen("looked at", "r");
    fseek(stream, 0, SEEK_END);
    printf("%ld\n", ftell(stream));
    fclose(stream);
    put_rows(fd, 40, 50);
    fflush(stdout);
    printf("%d\n", system("cksum 'looked at'"));
    put_rows(fd, 50, 60);
    printf("%d\n", ftruncate(fd, 123456));
    put_rows(fd, 60, 70);
    printf("%d %d\n", fsync(fd), close(fd));
}

static void children(void)
{
    int fd = create("children");
    put_rows(fd, 0, 10);
    pid_t child = fork();
    if (child == 0) {
        put_rows(fd, 10, 20);
        _exit(7);
    }
    int status;
    waitpid(child, &status, 0);
    put_rows(fd, 20, 30);
    printf("%d %ld\n", WEXITSTATUS(status), size_of("children"));
    int other = create("executed");
    put_rows(other, 0, 10);
    fflush(stdout);
    execlp("cksum", "cksum", "children", "executed", (char *)NULL);
}

static void twice(void)
{
    int first = create("twice");
    put_rows(first, 0, 10);
    int second = open("twice", O_RDWR);
    put_rows(second, 5, 8);
    put_rows(first, 10, 20);
    int third = dup(first);
    put_rows(third, 20, 30);
    put_rows(first, 30, 40);
    int appending = open("twice", O_WRONLY | O_APPEND);
    put_rows(appending, 0, 10);
    dup2(second, 50);
    put_rows(50, 1, 9);
    close(first);
    put_rows(third, 40, 50);
    printf("%ld\n", size_of("twice"));
}

static void shared(void)
{
    int fd = create("shared");
    put_rows(fd, 0, 10);
    char *mapped = mmap(NULL, 10 * ROW_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    printf("%d\n", mapped[9 * ROW_BYTES + 5]);
    mapped[100] = 'x';
    put_rows(fd, 10, 20);
    munmap(mapped, 10 * ROW_BYTES);
    int locked = create("locked");
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    put_rows(locked, 0, 10);
    printf("%d %d\n", fcntl(locked, F_SETLK, &lock), flock(locked, LOCK_EX));
    put_rows(locked, 10, 20);
    printf("%ld %ld\n", size_of("shared"), size_of("locked"));
}

/* Written again before it is in the file, and in places that follow no pattern. */
static void again(void)
{
    int fd = create("again");
    put_rows(fd, 0, 20);
    for (int i = 0; i < 20; i++) {
        fill(100 + i);
        if (pwrite(fd, row, 5000, i % 3 * 4000L) != 5000)
            perror("pwrite");
    }
    lseek(fd, 5 * ROW_BYTES, SEEK_SET);
    put_rows(fd, 200, 210);
    printf("%d\n", rename("again", "renamed"));
    put_rows(fd, 300, 310);
    close(fd);
    fd = open("renamed", O_RDONLY);
    long sum = 0;
    for (ssize_t n; (n = read(fd, row, 1000)) > 0;)
        for (ssize_t i = 0; i < n; i++)
            sum += row[i];
    printf("%ld\n", sum);
    for (int i = 0; i < 60; i++)
        sum += pread(fd, row, 100, i * 2500L) + row[50];
    printf("%ld %d\n", sum, unlink("renamed"));
}

static void many(void)
{
    char name[20];
    for (int i = 0; i < 30; i++) {
        snprintf(name, sizeof name, "many%d", i % 7);
        int fd = create(name);
        put_rows(fd, i, i + 8);
        printf("%d %d\n", fd, close(fd));
    }
}

static void refused(void)
{
    int fd = create("refused");
    put_rows(fd, 0, 10);
    char *volatile nowhere = (char *)8;
    printf("%d", (int)write(fd, nowhere, 100));
    printf(" %s\n", strerror(errno));
    printf("%d\n", (int)write(fd, row, 0));
    put_rows(fd, 10, 20);
    printf("at %ld\n", (long)lseek(fd, 0, SEEK_CUR));
    int reading = open("refused", O_RDONLY);
    for (int i = 0; i < 5; i++)
        printf("%d", (int)write(reading, row, 10));
    printf(" %s\n", strerror(errno));
    fflush(stdout);
    abort();
}

/* Calls that the C library makes inside itself, and those that it does not know. */
static void around(void)
{
    int fd = create("around");
    put_rows(fd, 0, 10);
    lseek(fd, 9 * ROW_BYTES, SEEK_SET);
    printf("%d\n", dprintf(fd, "row %d", 9));
    put_rows(fd, 10, 20);
    printf("%ld\n", syscall(SYS_pwrite64, fd, row, 100L, 10L * ROW_BYTES));
    put_rows(fd, 20, 30);
    printf("%ld %ld\n", size_of("around"), syscall(SYS_lseek, fd, -1000L, SEEK_END));
    close(fd);
}

static FILE *stream_of(const char *name, const char *mode)
{
    FILE *stream = fopen(name, mode);
    if (!stream)
        printf("%s: %s\n", name, strerror(errno));
    return stream;
}

static void put_lines(FILE *stream, int lines)
{
    for (int i = 0; i < lines; i++)
        fprintf(stream, "line %d of %d: %g\n", i, lines, i / 7.0);
}

static void streams(void)
{
    FILE *stream = stream_of("lines", "w");
    put_lines(stream, 3000);
    printf("%ld\n", ftell(stream));
    printf("%d %d\n", fflush(stream), fileno(stream));
    printf("%ld\n", size_of("lines"));
    put_lines(stream, 3000);
    fseek(stream, 100, SEEK_SET);
    put_lines(stream, 5);
    printf("%ld\n", ftell(stream));
    printf("%d\n", fseek(stream, 0, SEEK_END));
    fwrite(row, 1, 3, stream);
    for (int i = 0; i < 20; i++) {
        fill(i);
        fwrite(row, sizeof row, 1, stream);
        if (i % 5 == 0)
            put_rows(fileno(stream), i, i + 1);
    }
    printf("%d\n", ftruncate(fileno(stream), 150000));
    printf("%d\n", fclose(stream));
    printf("%ld\n", size_of("lines"));

    stream = stream_of("unbuffered", "wbx");
    printf("%d\n", setvbuf(stream, NULL, _IONBF, 0));
    put_lines(stream, 100);
    char buffer[100];
    FILE *lines = stream_of("by lines", "w");
    setvbuf(lines, buffer, _IOLBF, sizeof buffer);
    put_lines(lines, 100);
    printf("%d", fopen("unbuffered", "wx") == NULL);
    printf(" %s\n", strerror(errno));
    fclose(lines);
    fclose(stream);

    stream = stream_of("opened again", "w");
    put_lines(stream, 2000);
    int before = fileno(stream);
    stream = freopen("another", "w", stream);
    printf("%d %ld\n", fileno(stream) == before, size_of("opened again"));
    put_lines(stream, 2000);
    stream = freopen(NULL, "r", stream);
    printf("%s\n", stream ? "again" : "not again");
    long sum = 0;
    for (int c; stream && (c = getc(stream)) != EOF;)
        sum += c;
    printf("%ld\n", sum);

    FILE *both = stream_of("both", "w+"), *end = stream_of("both", "a");
    put_lines(both, 300);
    fflush(both);
    put_lines(end, 300);
    fclose(end);
    rewind(both);
    printf("%d %d\n", getc(both), fseek(both, 0, SEEK_CUR));
    fclose(both);
    printf("%d\n", stream_of("no/such/directory", "w") == NULL);

    stream = stream_of("left open", "w");
    put_lines(stream, 5000);
}

static void wide(void)
{
    setlocale(LC_ALL, "C.UTF-8");
    FILE *stream = stream_of("wide", "w");
    printf("%d\n", fwide(stream, 0));
    for (int i = 0; i < 2000; i++)
        fwprintf(stream, L"%d \u00e9\n", i);
    printf("%d %d\n", fwide(stream, 0) > 0, fputs("narrow", stream) < 0);
    printf("%d\n", fclose(stream));
    stream = stream_of("narrow", "w");
    fputs("narrow", stream);
    printf("%d\n", fputws(L"wide", stream) < 0);
    printf("%d\n", fclose(stream));
    stream = stream_of("encoded", "w,ccs=UTF-16LE");
    printf("%d\n", fputws(L"\u00e9\u4e2d", stream) < 0);
    printf("%d\n", fclose(stream));
}

/* What a stream still has when the process forks or ends, and errors that come late. */
static void stream_ends(void)
{
    FILE *stream = stream_of("forked", "w");
    put_lines(stream, 1000);
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        put_lines(stream, 1);
        exit(7);
    }
    int status;
    waitpid(child, &status, 0);
    put_lines(stream, 1000);
    printf("%d %d\n", WEXITSTATUS(status), fclose(stream));
    stream = stream_of("closed below", "w");
    put_lines(stream, 1000);
    close(fileno(stream));
    printf("%d", fclose(stream));
    printf(" %s\n", strerror(errno));
    stream = stream_of("led elsewhere", "w");
    put_lines(stream, 1000);
    int other = create("elsewhere");
    dup2(other, fileno(stream));
    put_lines(stream, 1000);
    printf("%d\n", fclose(stream));
    stream = stream_of("never closed", "w");
    put_lines(stream, 1000);
    fflush(stdout);
    _exit(3);
}

/* Writes until it is killed, or the disk is full. */
static void endless(void)
{
    int fd = create("endless");
    put_rows(fd, 0, 1 << 16);
}

static void endless_stream(void)
{
    FILE *stream = stream_of("endless", "w");
    for (int i = 0; i < 1 << 16; i++) {
        fill(i);
        if (fwrite(row, sizeof row, 1, stream) != 1) {
            printf("row %d: %s\n", i, strerror(errno));
            exit(3);
        }
    }
}

int main(int count, char **words)
{
    const struct {
        const char *name;
        void (*run)(void);
    } scenarios[] = {{"rows", rows}, {"elements", elements}, {"vectors", vectors}, {"looked-at", looked_at},
        {"children", children}, {"twice", twice}, {"shared", shared}, {"again", again}, {"many", many},
        {"refused", refused}, {"around", around}, {"streams", streams}, {"wide", wide}, {"stream-ends", stream_ends},
        {"endless", endless}, {"endless-stream", endless_stream}};
    for (size_t i = 0; i < sizeof scenarios / sizeof *scenarios; i++)
        if (count == 2 && strcmp(words[1], scenarios[i].name) == 0) {
            scenarios[i].run();
            return 0;
        }
    return 1;
}
