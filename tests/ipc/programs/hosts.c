/* Queues and semaphores whose ends are on different hosts. Each process is one end: `hosts NUMBER ALL`; without arguments, both ends are here. Process 0 makes
   what all use, and says what it finds; the others do what they are told by messages of their type, and answer. */

#include "ipc.h"

enum { KEY = 0x1234567, ANSWER = 1000, BYTES = 8000 };

static int number, all, queue, set;

struct message {
    long type;
    int what, more;
    char text[BYTES];
};

static int operate(int semaphore, int change, int flags)
{
    return semop(set, &(struct sembuf) {(unsigned short) semaphore, (short) change, (short) flags}, 1);
}

static int get(int semaphore)
{
    return semctl(set, semaphore, GETVAL);
}

static int waiting(int semaphore)
{
    return semctl(set, semaphore, GETNCNT);
}

static void until(int (*function)(int), int argument, int value)
{
    while (function(argument) != value)
        usleep(1000);
}

/* What a process other than 0 can be told to do. */
enum { END, ECHO, TAKE, TAKE_AND_STAY, TAKE_IN_CHILD, INTERRUPTED, TIMED_OUT, GETS, RECEIVE_SMALL, KILL_WAITING };

static pid_t told_child;

static int does(const struct message *told)
{
    pid_t child;
    switch (told->what) {
    case TAKE:
        return operate(told->more, -1, 0) == 0 ? 0 : errno;
    case TAKE_AND_STAY:
        CHILD(told_child, operate(told->more, -1, SEM_UNDO); pause());
        return 0;
    case TAKE_IN_CHILD:
        CHILD(child, operate(told->more, -1, SEM_UNDO));
        return ended(child);
    case INTERRUPTED:
        handle(SIGALRM, SA_RESTART);
        alarm(1);
        return operate(told->more, -1, 0) == 0 ? 0 : errno;
    case TIMED_OUT: {
        struct sembuf takes = {(unsigned short) told->more, -1, 0};
        return semtimedop(set, &takes, 1, &(struct timespec) {0, 100000000}) == 0 ? 0 : errno;
    }
    case GETS:
        return semctl(set, told->more, GETVAL);
    case RECEIVE_SMALL: {
        struct message small;
        return msgrcv(queue, &small, 4, 500, 0) == -1 ? errno : 0;
    }
    case KILL_WAITING:
        kill(told_child, SIGKILL);
        return ended(told_child);
    default:
        return 0;
    }
}

static void obey(void)
{
    static struct message told;
    do {
        ssize_t bytes = msgrcv(queue, &told, sizeof told - sizeof told.type, number, 0);
        if (bytes < 0)
            exit(errno);
        int what = told.what;
        if (what != ECHO)
            told.more = does(&told);
        told.type = ANSWER + number;
        if (msgsnd(queue, &told, (size_t) bytes, 0) != 0)
            exit(errno);
        told.what = what;
    } while (told.what != END);
}

static void tell(int whom, int what, int more)
{
    struct message told = {.type = whom, .what = what, .more = more};
    msgsnd(queue, &told, 2 * sizeof(int), 0);
}

static int answer(int whom)
{
    struct message told;
    return msgrcv(queue, &told, sizeof told - sizeof told.type, ANSWER + whom, 0) == -1 ? -errno : told.more;
}

static int ask(int whom, int what, int more)
{
    tell(whom, what, more);
    return answer(whom);
}

static int echoes(int whom)
{
    static struct message sent, back;
    int right = 0;
    for (int round = 0; round < 50; round++) {
        size_t bytes = sizeof(int) * 2 + (size_t) round * 159;
        sent = (struct message) {.type = whom, .what = ECHO, .more = round};
        memset(sent.text, 'a' + round % 26, sizeof sent.text);
        msgsnd(queue, &sent, bytes, 0);
        ssize_t received = msgrcv(queue, &back, sizeof back - sizeof back.type, ANSWER + whom, 0);
        right += received == (ssize_t) bytes && back.more == round && memcmp(sent.text, back.text, bytes - 8) == 0;
    }
    return right;
}

static void semaphores(int whom)
{
    semctl(set, 1, SETVAL, 0);
    tell(whom, TAKE, 1);
    until(waiting, 1, 1);
    SAY(operate(1, 1, 0));
    SAY(answer(whom));
    SAY(get(1));
    SAY(ask(whom, INTERRUPTED, 1) == EINTR);
    SAY(ask(whom, TIMED_OUT, 1) == EAGAIN);
    SAY(waiting(1));
    semctl(set, 1, SETVAL, 3);
    SAY(ask(whom, GETS, 1));
    /* What a child has taken is there again once its parent has waited for it. */
    SAY(ask(whom, TAKE_IN_CHILD, 1));
    SAY(get(1));
    SAY(ask(whom, TAKE_AND_STAY, 1));
    until(get, 1, 2);
    SAY(ask(whom, KILL_WAITING, 1));
    SAY(get(1));
    /* One that is killed while it waits is no longer counted. */
    SAY(ask(whom, TAKE_AND_STAY, 2));
    until(waiting, 2, 1);
    SAY(ask(whom, KILL_WAITING, 2));
    SAY(waiting(2));
    /* Nobody takes it any more. */
    SAY(operate(2, 1, 0));
    SAY(get(2));
    semctl(set, 2, SETVAL, 0);
}

static void messages(int whom)
{
    SAY(echoes(whom));
    tell(whom, RECEIVE_SMALL, 0);
    struct message big = {.type = 500};
    SAY(msgsnd(queue, &big, 100, 0));
    SAY(answer(whom) == E2BIG);
    SAY(msgrcv(queue, &big, 100, 500, IPC_NOWAIT));
    SAY(msgrcv(queue, &big, 100, 500, IPC_NOWAIT) == -1 && errno == ENOMSG);
}

static void removal(int whom)
{
    tell(whom, TAKE, 2);
    until(waiting, 2, 1);
    SAY(semctl(set, 0, IPC_RMID));
    SAY(answer(whom) == EIDRM);
    SAY(semctl(set, 0, GETVAL) == -1 && errno == EINVAL);
    set = semget(KEY, 3, IPC_CREAT | IPC_EXCL | 0600);
    SAY(set != -1);
    SAY(semget(KEY, 3, IPC_CREAT | IPC_EXCL | 0600) == -1 && errno == EEXIST);
    SAY(semget(KEY, 4, 0600) == -1 && errno == EINVAL);
    SAY(semget(KEY + 1, 1, 0600) == -1 && errno == ENOENT);
}

static void lead(void)
{
    queue = msgget(KEY, IPC_CREAT | 0600);
    set = semget(KEY, 3, IPC_CREAT | 0600);
    semctl(set, 0, SETVAL, 1);
    for (int whom = 1; whom < all; whom++) {
        printf("with %d\n", whom);
        messages(whom);
        semaphores(whom);
    }
    removal(1);
    for (int whom = 1; whom < all; whom++)
        SAY(ask(whom, END, 0));
    SAY(msgctl(queue, IPC_RMID, NULL));
    SAY(semctl(set, 0, IPC_RMID));
}

static void follow(void)
{
    while ((set = semget(KEY, 3, 0)) == -1 || get(0) != 1)
        usleep(1000);
    queue = msgget(KEY, 0);
    obey();
}

int main(int count, char **arguments)
{
    pid_t child = 0;
    number = count > 1 ? atoi(arguments[1]) : 0;
    all = count > 2 ? atoi(arguments[2]) : 2;
    if (count == 1)
        CHILD(child, number = 1; follow());
    if (number == 0)
        lead();
    else
        follow();
    return child != 0 ? ended(child) : 0;
}
