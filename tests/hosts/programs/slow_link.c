/*
 * slow_link DELAY_US MBIT_S PORTS: a switch whose links are slow, for kernels without netem.
 *
 * It stands in the place of the bridge between the hosts of a bed. Each line that it reads from the named pipe PORTS is the name of an
 * interface, the bed's end of a host's link. A frame leaves its host when those before it have left, at MBIT_S million bits a second, enters
 * the link of its destination as soon as that is free, and arrives DELAY_US microseconds later. Frames come as the hosts' network cards would
 * get them, before they are cut into packets, so that a switch of one process keeps pace. The kernel notes when each of them came: so the
 * switch sleeps until the next one is due, and takes what has come meanwhile together, instead of waking for each.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum {
    PORTS_MAX = 256,
    /* A frame that has not been cut, behind a header that says how to: struct virtio_net_hdr. */
    HEADER = 10,
    FRAME_MAX = HEADER + 14 + 65536 + 64,
    /* What waits for a port at most; more is lost, as in a switch. */
    WAITING_MAX = 16 << 20,
    SOCKET_BYTES = 64 << 20,
    /* What is due so soon is delivered at once. */
    SOON_NS = 3000
};

struct frame {
    struct frame *next;
    int64_t due_ns;
    size_t bytes;
    unsigned char data[];
};

struct port {
    char name[IFNAMSIZ];
    int socket;
    unsigned char address[ETH_ALEN];
    /* When its link has room again, in each direction. */
    int64_t out_free_ns, in_free_ns;
    struct frame *first, **last;
    size_t waiting;
};

static struct port ports[PORTS_MAX];
static int port_count;
static int64_t delay_ns;
static double ns_per_byte;

static void fail(const char *what)
{
    fprintf(stderr, "slow_link: %s: %s\n", what, strerror(errno));
    exit(1);
}

static int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

/* A socket for all frames that come out of an interface. */
static int open_port(const char *name)
{
    int on = 1, bytes = SOCKET_BYTES;
    int port = socket(AF_PACKET, SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC, htons(ETH_P_ALL));
    struct sockaddr_ll place = {.sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_ALL)};

    place.sll_ifindex = (int)if_nametoindex(name);
    if (port < 0 || place.sll_ifindex == 0)
        fail(name);
    if (setsockopt(port, SOL_PACKET, PACKET_VNET_HDR, &on, sizeof on) != 0 ||
        setsockopt(port, SOL_PACKET, PACKET_IGNORE_OUTGOING, &on, sizeof on) != 0 ||
        setsockopt(port, SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof on) != 0)
        fail("packets as they come");
    /* Without the rights for that the usual size has to do. */
    (void)setsockopt(port, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof bytes);
    (void)setsockopt(port, SOL_SOCKET, SO_SNDBUFFORCE, &bytes, sizeof bytes);
    if (bind(port, (struct sockaddr *)&place, sizeof place) != 0)
        fail(name);
    return port;
}

/* A host has come, or come back: its interface is a new one then. */
static void add_port(const char *name)
{
    struct port *port = ports;
    while (port < ports + port_count && strcmp(port->name, name) != 0)
        port++;
    if (port == ports + port_count) {
        if (port_count == PORTS_MAX) {
            fprintf(stderr, "slow_link: more than %d ports\n", PORTS_MAX);
            exit(1);
        }
        port_count++;
        snprintf(port->name, sizeof port->name, "%s", name);
        port->last = &port->first;
    } else {
        close(port->socket);
    }
    port->socket = open_port(name);
}

static void read_names(int pipe)
{
    char text[4096], *rest = text;
    ssize_t bytes = read(pipe, text, sizeof text - 1);
    if (bytes <= 0)
        return;
    text[bytes] = 0;
    for (char *name = strtok_r(rest, "\n", &rest); name; name = strtok_r(rest, "\n", &rest))
        add_port(name);
}

static void send_to(struct port *port, const unsigned char *data, size_t bytes, int64_t left_ns)
{
    int64_t takes_ns = (int64_t)((double)(bytes - HEADER) * ns_per_byte);
    int64_t through_ns = port->in_free_ns + takes_ns > left_ns ? port->in_free_ns + takes_ns : left_ns;
    struct frame *frame;

    if (port->waiting + bytes > WAITING_MAX)
        return;
    frame = malloc(sizeof *frame + bytes);
    if (!frame)
        fail("memory");
    port->in_free_ns = through_ns;
    port->waiting += bytes;
    *frame = (struct frame){.due_ns = through_ns + delay_ns, .bytes = bytes};
    memcpy(frame->data, data, bytes);
    *port->last = frame;
    port->last = &frame->next;
}

/* The next frame of a port, and when it came; fewer bytes than a frame has when there is none. */
static ssize_t receive(struct port *from, unsigned char data[FRAME_MAX], int64_t *came_ns)
{
    union {
        struct cmsghdr aligned;
        char room[256];
    } control;
    struct iovec place = {.iov_base = data, .iov_len = FRAME_MAX};
    struct msghdr message = {.msg_iov = &place, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
    ssize_t bytes = recvmsg(from->socket, &message, 0);

    *came_ns = now_ns();
    if (bytes < 0)
        return bytes;
    for (struct cmsghdr *note = CMSG_FIRSTHDR(&message); note; note = CMSG_NXTHDR(&message, note)) {
        if (note->cmsg_level == SOL_SOCKET && note->cmsg_type == SCM_TIMESTAMPNS) {
            struct timespec stamp;
            memcpy(&stamp, CMSG_DATA(note), sizeof stamp);
            *came_ns = stamp.tv_sec * INT64_C(1000000000) + stamp.tv_nsec;
        }
    }
    return bytes;
}

/* A frame goes to the port behind which its destination has been seen, or to all others. */
static void take_frames(struct port *from)
{
    static unsigned char data[FRAME_MAX];
    for (;;) {
        int64_t came_ns;
        ssize_t bytes = receive(from, data, &came_ns);
        const unsigned char *to = data + HEADER, *sender = to + ETH_ALEN;
        struct port *port = ports;

        if (bytes < HEADER + ETH_HLEN)
            return;
        memcpy(from->address, sender, ETH_ALEN);
        int64_t begin_ns = from->out_free_ns > came_ns ? from->out_free_ns : came_ns;
        from->out_free_ns = begin_ns + (int64_t)((double)(bytes - HEADER) * ns_per_byte);
        while (port < ports + port_count && memcmp(port->address, to, ETH_ALEN) != 0)
            port++;
        if (port < ports + port_count) {
            send_to(port, data, (size_t)bytes, from->out_free_ns);
            continue;
        }
        for (port = ports; port < ports + port_count; port++)
            if (port != from)
                send_to(port, data, (size_t)bytes, from->out_free_ns);
    }
}

/* Delivers what has arrived at a port; when the next frame does. */
static int64_t deliver(struct port *port, int64_t now)
{
    while (port->first && port->first->due_ns <= now + SOON_NS) {
        struct frame *frame = port->first;
        /* What the other side has no room for is lost. */
        (void)send(port->socket, frame->data, frame->bytes, 0);
        port->first = frame->next;
        if (!port->first)
            port->last = &port->first;
        port->waiting -= frame->bytes;
        free(frame);
    }
    return port->first ? port->first->due_ns : INT64_MAX;
}

int main(int argc, char **argv)
{
    struct pollfd waited[PORTS_MAX + 1];
    struct sched_param priority = {.sched_priority = 1};

    if (argc != 4) {
        fprintf(stderr, "usage: slow_link DELAY_US MBIT_S PORTS\n");
        return 2;
    }
    delay_ns = atoll(argv[1]) * 1000;
    ns_per_byte = 8000.0 / atof(argv[2]);
    /* Opened for writing as well: it never ends. */
    int names = open(argv[3], O_RDWR | O_NONBLOCK | O_CLOEXEC);
    if (names < 0)
        fail(argv[3]);
    /* The switch of a network does not wait until the hosts have computed. */
    (void)sched_setscheduler(0, SCHED_FIFO, &priority);
    for (;;) {
        int64_t now = now_ns(), next = INT64_MAX;
        for (int i = 0; i < port_count; i++) {
            int64_t due = deliver(ports + i, now);
            next = due < next ? due : next;
            waited[i + 1] = (struct pollfd){.fd = ports[i].socket, .events = POLLIN};
        }
        waited[0] = (struct pollfd){.fd = names, .events = POLLIN};
        if (next == INT64_MAX) {
            (void)poll(waited, (nfds_t)port_count + 1, -1);
        } else {
            struct timespec until = {.tv_sec = next / 1000000000, .tv_nsec = next % 1000000000};
            (void)clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &until, NULL);
        }
        for (int i = 0; i < port_count; i++)
            take_frames(ports + i);
        read_names(names);
    }
}
