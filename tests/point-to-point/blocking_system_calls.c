/* Calls of the system whose arguments lie in the buffer of a receive that has returned (MPI 5.0, section 3.2.4): the kernel reads what has come, and
 * what it writes stays. Raw calls, as a library's own are. */
#define _GNU_SOURCE
#define ERRORS_ARE_FATAL
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <sys/time.h>
#include <sys/times.h>
#include <sys/uio.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "../check.h"

enum { BYTES = 1 << 16 };

static char *in, *out;
static int pair[2], zero;

/* The buffer receives this, and is not looked at. */
static void *come_from(int left, int right, const void *what, size_t bytes)
{
    memset(out, 0x55, BYTES);
    memcpy(out, what, bytes);
    OK(MPI_Sendrecv(out, BYTES, MPI_BYTE, right, 1, in, BYTES, MPI_BYTE, left, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    return in;
}

static void *come(const void *what, size_t bytes)
{
    return come_from((rank + size - 1) % size, (rank + 1) % size, what, bytes);
}

/* Addresses and descriptors are those of this process. */
static void *come_own(const void *what, size_t bytes)
{
    return come_from(rank, rank, what, bytes);
}

static void *come_text(const char *text)
{
    return come(text, strlen(text) + 1);
}

static void *come_nothing(void)
{
    return come("", 1);
}

#define ANSWERS(expected, ...) CHECK_EQ(syscall(__VA_ARGS__), expected)
#define REFUSES(error, ...)                  \
    do {                                     \
        CHECK_EQ(syscall(__VA_ARGS__), -1);  \
        CHECK_EQ(errno, error);              \
    } while (0)

/* The kernel reads paths and bytes. */
static void reads(void)
{
    char text[8] = "";
    struct stat about;
    struct statx more;
    struct iovec area = {in, 6};
    int null = open("/dev/null", O_RDWR), file;
    ANSWERS(6, SYS_write, pair[0], come_text("hello"), 6);
    CHECK(read(pair[1], text, 6) == 6 && strcmp(text, "hello") == 0);
    come_text("again");
    ANSWERS(6, SYS_writev, pair[0], &area, 1);
    CHECK(read(pair[1], text, 6) == 6 && strcmp(text, "again") == 0);
    area.iov_base = text;
    ANSWERS(6, SYS_writev, pair[0], come_own(&area, sizeof area), 1);
    CHECK(read(pair[1], text, 6) == 6);
    ANSWERS(6, SYS_sendto, pair[0], come_text("there"), 6, 0, NULL, 0);
    CHECK(read(pair[1], text, 6) == 6 && strcmp(text, "there") == 0);
    struct msghdr message = {.msg_iov = &area, .msg_iovlen = 1};
    ANSWERS(6, SYS_sendmsg, pair[0], come_own(&message, sizeof message), 0);
    CHECK(read(pair[1], text, 6) == 6);
    ANSWERS(6, SYS_pwrite64, null, come_text("hello"), 6, 0);
    file = (int)syscall(SYS_openat, AT_FDCWD, come_text("/dev/null"), O_RDONLY);
    CHECK(file >= 0 && close(file) == 0);
    ANSWERS(0, SYS_newfstatat, AT_FDCWD, come_text("/dev/null"), &about, 0);
    CHECK(S_ISCHR(about.st_mode));
    ANSWERS(0, SYS_statx, AT_FDCWD, come_text("/"), 0, STATX_MODE, &more);
    ANSWERS(0, SYS_faccessat, AT_FDCWD, come_text("/"), R_OK);
    REFUSES(ENOENT, SYS_unlinkat, AT_FDCWD, come_text("/nobody/has/this"), 0);
    REFUSES(ENOENT, SYS_mkdirat, AT_FDCWD, come_text("/nobody/has/this"), 0700);
    REFUSES(ENOENT, SYS_execve, come_text("/nobody/has/this"), NULL, NULL);
    file = (int)syscall(SYS_memfd_create, come_text("name"), 0);
    CHECK(file >= 0 && close(file) == 0);
    close(null);
}

/* The kernel reads structures. */
static void structures(void)
{
    struct timespec soon = {0, 1000};
    struct pollfd waited = {.fd = zero, .events = POLLIN};
    struct rlimit limit;
    sigset_t none;
    struct epoll_event event = {.events = EPOLLIN, .data.u64 = 77};
    int epoll = epoll_create1(0);
    sigemptyset(&none);
    ANSWERS(0, SYS_nanosleep, come(&soon, sizeof soon), NULL);
    ANSWERS(0, SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, come(&soon, sizeof soon), NULL);
    ANSWERS(1, SYS_ppoll, come_own(&waited, sizeof waited), 1, &soon, NULL, 8);
    CHECK(((struct pollfd *)in)->revents == POLLIN);
    ANSWERS(0, SYS_rt_sigprocmask, SIG_BLOCK, come(&none, sizeof none), NULL, 8);
    getrlimit(RLIMIT_NOFILE, &limit);
    ANSWERS(0, SYS_prlimit64, 0, RLIMIT_NOFILE, come(&limit, sizeof limit), NULL);
    ANSWERS(0, SYS_epoll_ctl, epoll, EPOLL_CTL_ADD, pair[0], come(&event, sizeof event));
    CHECK(write(pair[1], "x", 1) == 1);
    come_nothing();
    ANSWERS(1, SYS_epoll_pwait, epoll, in, 1, -1, NULL, 8);
    CHECK(((struct epoll_event *)in)->data.u64 == 77);
    ANSWERS(1, SYS_read, pair[0], come_nothing(), 1);
    CHECK(in[0] == 'x' && in[1] == 0x55);
    ANSWERS(0, SYS_futex, come_nothing(), 1 /* FUTEX_WAKE */, 1, NULL, NULL, 0);
    close(epoll);
}

/* The kernel writes, and what was on its way does not come over it. */
static void writes(void)
{
    char path[4096], text[4] = "abc";
    struct utsname name;
    struct iovec area = {in, 3};
    int ends[2], folder = open("/", O_RDONLY | O_DIRECTORY);
    struct statfs system;
    CHECK(write(pair[0], text, 3) == 3);
    come_nothing();
    ANSWERS(3, SYS_readv, pair[1], &area, 1);
    CHECK(memcmp(in, text, 3) == 0 && in[3] == 0x55);
    CHECK(write(pair[0], text, 3) == 3);
    ANSWERS(3, SYS_recvfrom, pair[1], come_nothing(), 3, 0, NULL, NULL);
    CHECK(memcmp(in, text, 3) == 0 && in[3] == 0x55);
    ANSWERS(4, SYS_pread64, zero, come_nothing(), 4, 0);
    CHECK(in[0] == 0 && in[3] == 0 && in[4] == 0x55);
    ANSWERS(8, SYS_getrandom, come_nothing(), 8, 0);
    CHECK(in[8] == 0x55);
    CHECK(syscall(SYS_getcwd, come_nothing(), BYTES) > 0 && getcwd(path, sizeof path) && strcmp(in, path) == 0);
    ANSWERS(0, SYS_uname, come_nothing());
    uname(&name);
    CHECK(memcmp(in, &name, sizeof name) == 0);
    CHECK(syscall(SYS_readlinkat, AT_FDCWD, "/proc/self/exe", come_nothing(), BYTES) > 1 && in[0] == '/');
    ANSWERS(0, SYS_newfstatat, AT_FDCWD, "/dev/null", come_nothing(), 0);
    CHECK(S_ISCHR(((struct stat *)in)->st_mode));
    ANSWERS(0, SYS_fstat, folder, come_nothing());
    CHECK(S_ISDIR(((struct stat *)in)->st_mode));
    ANSWERS(0, SYS_statfs, "/", come_nothing());
    statfs("/", &system);
    CHECK_EQ(((struct statfs *)in)->f_type, system.f_type);
    ANSWERS(0, SYS_clock_gettime, CLOCK_MONOTONIC, come_nothing());
    CHECK(((struct timespec *)in)->tv_nsec < 1000000000);
    ANSWERS(0, SYS_gettimeofday, come_nothing(), NULL);
    CHECK(((struct timeval *)in)->tv_usec < 1000000);
    ANSWERS(0, SYS_getrusage, RUSAGE_SELF, come_nothing());
    CHECK(((struct rusage *)in)->ru_utime.tv_usec < 1000000);
    CHECK(syscall(SYS_times, come_nothing()) != -1 && ((struct tms *)in)->tms_cutime >= 0);
    ANSWERS(0, SYS_sysinfo, come_nothing());
    CHECK(((struct sysinfo *)in)->uptime > 0);
    ANSWERS(0, SYS_pipe2, come_nothing(), 0);
    memcpy(ends, in, sizeof ends);
    CHECK(close(ends[0]) == 0 && close(ends[1]) == 0);
    ANSWERS(0, SYS_socketpair, AF_UNIX, SOCK_STREAM, 0, come_nothing());
    memcpy(ends, in, sizeof ends);
    CHECK(close(ends[0]) == 0 && close(ends[1]) == 0);
    ANSWERS(0, SYS_ioctl, pair[0], FIONREAD, come_nothing());
    CHECK_EQ(*(int *)in, 0);
    CHECK(syscall(SYS_getdents64, folder, come_nothing(), BYTES) > 0);
    CHECK(syscall(SYS_sched_getaffinity, 0, BYTES, come_nothing()) > 0);
    ANSWERS(0, SYS_getresuid, come_nothing(), in + 4, in + 8);
    CHECK_EQ(*(unsigned *)in, getuid());
    ANSWERS(0, SYS_getitimer, ITIMER_REAL, come_nothing());
    CHECK(((struct itimerval *)in)->it_value.tv_sec == 0);
    REFUSES(ECHILD, SYS_wait4, -1, come_nothing(), 0, NULL);
    CHECK(in[0] == 0 && in[1] == 0x55);
    close(folder);
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    in = malloc(BYTES);
    out = malloc(BYTES);
    zero = open("/dev/zero", O_RDONLY);
    CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
    for (int round = 0; round < 3; round++) {
        reads();
        structures();
        writes();
    }
    free(in);
    free(out);
    return check_end();
}
