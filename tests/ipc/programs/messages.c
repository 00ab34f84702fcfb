/* Message queues. */

#include "ipc.h"

struct message {
    long type;
    char text[9000];
};

static struct message m;
static int queue;

static int sent(long type, const char *text, size_t bytes, int flags)
{
    m.type = type;
    memset(m.text, 0, 16);
    memcpy(m.text, text, strlen(text));
    return msgsnd(queue, &m, bytes, flags);
}

/* Receives, and says what. */
static void take(const char *what, size_t bytes, long type, int flags)
{
    memset(&m, 0, 64);
    errno = 0;
    long got = msgrcv(queue, &m, bytes, type, flags);
    if (got == -1)
        printf("receive %s: %s\n", what, strerrorname_np(errno));
    else
        printf("receive %s: %ld bytes, type %ld, %.10s\n", what, got, m.type, m.text);
    fflush(stdout);
}

static struct msqid_ds facts(void)
{
    struct msqid_ds all;
    msgctl(queue, IPC_STAT, &all);
    return all;
}

static void keys(void)
{
    key_t key = 0x1234567;
    TRIES(msgget(key, 0));
    TRIES(msgget(key, IPC_CREAT | 0640));
    int first = msgget(key, 0);
    TRIES(msgget(key, IPC_CREAT | IPC_EXCL | 0600));
    TRIES(msgget(key, IPC_EXCL));
    SAY(msgget(key, IPC_CREAT) == first);
    queue = first;
    SAY(facts().msg_perm.mode);
    SAY(facts().msg_perm.__key);
    SAY(facts().msg_qbytes);
    SAY(facts().msg_stime);
    SAY(facts().msg_lspid);
    SAY(facts().msg_ctime > 0);
    TRIES(msgctl(first, IPC_RMID, NULL));
    TRIES(msgctl(first, IPC_RMID, NULL));
    TRIES(msgsnd(first, &m, 1, 0));
    int second = msgget(key, IPC_CREAT | 0600);
    SAY(first == second);
    TRIES(msgctl(first, IPC_STAT, &(struct msqid_ds) {0}));
    msgctl(second, IPC_RMID, NULL);
    TRIES(ftok("/", 1));
    TRIES(ftok("/no such file", 1));
    SAY(ftok("/", 1) == ftok("/", 257));
    SAY(ftok("/", 1) == ftok("/", 2));
}

static void wrong_arguments(void)
{
    queue = msgget(IPC_PRIVATE, 0600);
    TRIES(sent(0, "a", 1, 0));
    TRIES(sent(-1, "a", 1, 0));
    TRIES(sent(1, "a", 8193, 0));
    TRIES(sent(1, "a", (size_t) -1, 0));
    TRIES(msgsnd(-1, &m, 1, 0));
    TRIES(msgsnd(queue, NULL, 1, 0));
    TRIES(msgsnd(queue, (void *) -1, 1, 0));
    TRIES(msgrcv(queue, &m, (size_t) -1, 0, IPC_NOWAIT));
    TRIES(msgrcv(-1, &m, 1, 0, IPC_NOWAIT));
    TRIES(msgrcv(queue, &m, 1, 0, IPC_NOWAIT));
    TRIES(msgctl(queue, 12345, NULL));
    TRIES(msgctl(queue, -1, NULL));
    TRIES(msgctl(queue, IPC_STAT, NULL));
    TRIES(msgctl(queue, IPC_STAT, (void *) -1));
    void *hole = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    TRIES(msgsnd(queue, hole, 1, 0));
    munmap(hole, 4096);
    TRIES(msgsnd(queue, hole, 1, 0));
    TRIES(msgget(IPC_PRIVATE, 0) != -1);
    SAY(facts().msg_qnum);
}

static void order(void)
{
    TRIES(sent(3, "c1", 3, 0));
    TRIES(sent(2, "b1", 3, 0));
    TRIES(sent(2, "b2", 3, 0));
    TRIES(sent(5, "e1", 3, 0));
    TRIES(sent(1, "a1", 3, 0));
    TRIES(sent(LONG_MAX, "z1", 3, 0));
    SAY(facts().msg_qnum);
    SAY(facts().msg_cbytes);
    take("a copy of 0", 100, 0, MSG_COPY | IPC_NOWAIT);
    take("a copy of 4", 100, 4, MSG_COPY | IPC_NOWAIT);
    take("a copy of 6", 100, 6, MSG_COPY | IPC_NOWAIT);
    take("a copy of -1", 100, -1, MSG_COPY | IPC_NOWAIT);
    take("a copy, waiting", 100, 0, MSG_COPY);
    take("a copy, except", 100, 0, MSG_COPY | MSG_EXCEPT | IPC_NOWAIT);
    take("a copy, short", 1, 0, MSG_COPY | IPC_NOWAIT);
    take("a copy, cut", 1, 0, MSG_COPY | IPC_NOWAIT | MSG_NOERROR);
    take("type 2", 100, 2, IPC_NOWAIT);
    take("not 3", 100, 3, MSG_EXCEPT | IPC_NOWAIT);
    take("up to 4", 100, -4, IPC_NOWAIT);
    take("up to 1", 100, -1, IPC_NOWAIT);
    take("short", 1, 0, IPC_NOWAIT);
    take("cut", 1, 0, IPC_NOWAIT | MSG_NOERROR);
    take("up to all", 100, LONG_MIN, IPC_NOWAIT);
    take("up to all", 100, LONG_MIN, IPC_NOWAIT);
    take("up to all", 100, LONG_MIN, IPC_NOWAIT);
    SAY(facts().msg_cbytes);
    TRIES(sent(1, "", 0, 0));
    take("nothing", 0, 0, IPC_NOWAIT);
    for (int bytes = 1; bytes <= 8192; bytes = bytes * 3 + 1) {
        for (int i = 0; i < bytes; i++)
            m.text[i] = (char) (i % 101);
        m.type = 1;
        msgsnd(queue, &m, bytes, 0);
        memset(&m, 0, sizeof m);
        SAY(msgrcv(queue, &m, sizeof m.text, 0, 0) == bytes && m.text[bytes - 1] == (char) ((bytes - 1) % 101));
    }
    SAY(facts().msg_lspid == getpid() && facts().msg_lrpid == getpid());
    SAY(facts().msg_stime > 0 && facts().msg_rtime > 0);
}

static void limits(void)
{
    struct msqid_ds all = facts();
    all.msg_qbytes = 4;
    all.msg_perm.mode = 01620;
    TRIES(msgctl(queue, IPC_SET, &all));
    SAY(facts().msg_perm.mode);
    TRIES(sent(1, "a", 3, IPC_NOWAIT));
    TRIES(sent(1, "a", 2, IPC_NOWAIT));
    TRIES(sent(1, "a", 1, IPC_NOWAIT));
    TRIES(sent(1, "a", 0, IPC_NOWAIT));
    TRIES(sent(1, "a", 0, IPC_NOWAIT));
    TRIES(sent(1, "a", 0, IPC_NOWAIT));
    TRIES(sent(1, "a", 100, IPC_NOWAIT));
    pid_t child;
    CHILD(child, TRIES(sent(7, "more", 5, 0)));
    until_asleep(child);
    all.msg_qbytes = 16384;
    TRIES(msgctl(queue, IPC_SET, &all));
    SAY(ended(child));
    SAY(facts().msg_qnum);
    all.msg_qbytes = 16385;
    TRIES(msgctl(queue, IPC_SET, &all));
    while (sent(1, "", 8192, IPC_NOWAIT) == 0) {
    }
    SAY(facts().msg_cbytes);
    CHILD(child, TRIES(sent(9, "last", 8192, 0)));
    until_asleep(child);
    while (msgrcv(queue, &m, 9000, -8, IPC_NOWAIT) >= 0) {
    }
    SAY(ended(child));
    take("what waited for room", 9000, 9, 0);
}

static void waiting(void)
{
    pid_t child, other;
    CHILD(child, take("by a child", 100, 4, 0));
    until_asleep(child);
    TRIES(sent(3, "three", 6, 0));
    TRIES(sent(4, "four", 5, 0));
    SAY(facts().msg_qnum);
    SAY(facts().msg_lrpid == child);
    SAY(ended(child));
    take("the other", 100, 0, IPC_NOWAIT);
    CHILD(child, take("too short", 2, 0, 0));
    until_asleep(child);
    TRIES(sent(4, "long", 5, 0));
    SAY(ended(child));
    take("what was too long", 100, 0, IPC_NOWAIT);
    CHILD(child, take("cut while waiting", 2, 0, MSG_NOERROR));
    until_asleep(child);
    TRIES(sent(4, "xy and more", 12, 0));
    SAY(ended(child));
    SAY(facts().msg_qnum);
    for (int restart = 0; restart < 2; restart++) {
        CHILD(child, handle(SIGUSR1, restart ? SA_RESTART : 0); take("with a signal", 2, 0, 0));
        until_asleep(child);
        kill(child, SIGUSR1);
        SAY(ended(child));
    }
    CHILD(child, take("until stopped and killed", 2, 0, 0));
    until_asleep(child);
    kill(child, SIGSTOP);
    kill(child, SIGCONT);
    usleep(20000);
    kill(child, SIGKILL);
    SAY(ended(child));
    TRIES(sent(4, "kept", 5, 0));
    SAY(facts().msg_qnum);
    take("what nobody waited for", 100, 0, IPC_NOWAIT);
    CHILD(child, take("first", 100, 0, 0));
    until_asleep(child);
    CHILD(other, take("second", 100, 0, 0));
    until_asleep(other);
    TRIES(sent(1, "one", 4, 0));
    SAY(ended(child));
    TRIES(msgctl(queue, IPC_RMID, NULL));
    SAY(ended(other));
    queue = msgget(IPC_PRIVATE, 0600);
    while (sent(1, "", 8192, IPC_NOWAIT) == 0) {
    }
    CHILD(child, TRIES(sent(1, "never", 10, 0)));
    until_asleep(child);
    CHILD(other, handle(SIGUSR1, SA_RESTART); TRIES(sent(1, "never", 10, 0)));
    until_asleep(other);
    kill(other, SIGUSR1);
    SAY(ended(other));
    TRIES(msgctl(queue, IPC_RMID, NULL));
    SAY(ended(child));
}

static void information(void)
{
    struct msginfo info;
    struct msqid_ds all;
    int ids[3];
    for (int i = 0; i < 3; i++)
        ids[i] = msgget(IPC_PRIVATE, 0600);
    queue = ids[1];
    sent(1, "abc", 4, 0);
    msgctl(0, IPC_INFO, (struct msqid_ds *) &info);
    SAY(info.msgmax);
    SAY(info.msgmnb);
    SAY(info.msgmni);
    SAY(info.msgssz);
    SAY(info.msgseg);
    SAY(info.msgmap);
    SAY(info.msgpool);
    SAY(info.msgtql);
    int highest = msgctl(0, MSG_INFO, (struct msqid_ds *) &info);
    SAY(info.msgmap);
    SAY(info.msgtql);
    SAY(info.msgpool);
    int found = 0;
    for (int index = 0; index <= highest; index++)
        found += msgctl(index, MSG_STAT, &all) == queue && all.msg_qnum == 1;
    SAY(found);
    SAY(msgctl(highest, MSG_STAT_ANY, &all) == ids[2]);
    TRIES(msgctl(highest + 1, MSG_STAT, &all));
    TRIES(msgctl(0, IPC_INFO, NULL));
    SAY(syscall(SYS_msgsnd, queue, &(struct {long type; char a; }) {2, 'x'}, 1, 0));
    SAY(syscall(SYS_msgrcv, queue, &m, 9, 2, 0));
    for (int i = 0; i < 3; i++)
        TRIES(msgctl(ids[i], IPC_RMID, NULL));
}

int main(void)
{
    keys();
    wrong_arguments();
    order();
    limits();
    waiting();
    information();
    return 0;
}
