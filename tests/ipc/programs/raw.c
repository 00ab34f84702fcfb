/* Calls by the processor's instruction, which no library sees: by threads, over fork and exec, with signals. */

#include "ipc.h"

static long raw(long number, long a, long b, long c, long d, long e)
{
    register long fourth __asm__("r10") = d, fifth __asm__("r8") = e;
    long result;
    __asm__ volatile("syscall" : "=a"(result) : "a"(number), "D"(a), "S"(b), "d"(c), "r"(fourth), "r"(fifth) : "rcx", "r11", "memory");
    return result;
}

static int queue, set, segment;

static long operate(int semaphore, int change, int flags)
{
    struct sembuf one = {(unsigned short) semaphore, (short) change, (short) flags};
    return raw(SYS_semop, set, (long) &one, 1, 0, 0);
}

static long value(int semaphore)
{
    return raw(SYS_semctl, set, semaphore, GETVAL, 0, 0);
}

static long attached(void)
{
    struct shmid_ds all = {0};
    raw(SYS_shmctl, segment, IPC_STAT, (long) &all, 0, 0);
    return (long) all.shm_nattch;
}

static void until_waiting(int semaphore, long many)
{
    while (raw(SYS_semctl, set, semaphore, GETNCNT, 0, 0) != many)
        usleep(1000);
}

static void *takes(void *semaphore)
{
    return (void *) operate((int) (long) semaphore, -1, 0);
}

static void *maps(void *nothing)
{
    (void) nothing;
    return (void *) raw(SYS_shmat, segment, 0, 0, 0, 0);
}

static void threads(void)
{
    pthread_t all[3];
    void *result;
    for (int i = 0; i < 3; i++)
        pthread_create(&all[i], NULL, takes, (void *) 0L);
    until_waiting(0, 3);
    SAY(operate(0, 2, 0));
    until_waiting(0, 1);
    SAY(operate(0, 1, 0));
    for (int i = 0; i < 3; i++) {
        pthread_join(all[i], &result);
        SAY(result);
    }
    SAY(value(0));
    pthread_create(&all[0], NULL, maps, NULL);
    pthread_join(all[0], &result);
    SAY(attached());
    ((char *) result)[4999] = 42;
    char *again = (char *) raw(SYS_shmat, segment, 0, SHM_RDONLY, 0, 0);
    SAY(again[4999]);
    SAY(raw(SYS_shmdt, (long) result, 0, 0, 0, 0));
    SAY(raw(SYS_shmdt, (long) result, 0, 0, 0, 0) == -EINVAL);
    SAY(attached());
    SAY(raw(SYS_shmdt, (long) again, 0, 0, 0, 0));
}

static void messages(void)
{
    struct {
        long type;
        char text[20];
    } m = {5, "a letter"};
    SAY(raw(SYS_msgsnd, queue, (long) &m, 9, 0, 0));
    memset(&m, 0, sizeof m);
    SAY(raw(SYS_msgrcv, queue, (long) &m, 4, 5, 0) == -E2BIG);
    SAY(raw(SYS_msgrcv, queue, (long) &m, 20, 5, 0));
    SAY(m.type);
    SAY(strcmp(m.text, "a letter"));
    SAY(raw(SYS_msgrcv, queue, (long) &m, 20, 0, IPC_NOWAIT) == -ENOMSG);
    SAY(raw(SYS_msgsnd, queue, 8, 9, 0, 0) == -EFAULT);
    SAY(raw(SYS_msgsnd, -1, (long) &m, 9, 0, 0) == -EINVAL);
    unsigned short values[3] = {0};
    SAY(raw(SYS_semctl, set, 0, SETALL, (long) (unsigned short[]) {7, 8, 9}, 0));
    SAY(raw(SYS_semctl, set, 0, GETALL, (long) values, 0));
    SAY(values[2]);
    SAY(raw(SYS_semctl, set, 0, SETALL, (long) (unsigned short[]) {0, 0, 0}, 0));
    SAY(raw(SYS_semtimedop, set, (long) &(struct sembuf) {0, -1, 0}, 1, (long) &(struct timespec) {0, 20000000}, 0) == -EAGAIN);
}

static void processes(const char *self)
{
    pid_t child;
    CHILD(child, exit(operate(1, -1, 0) == -EINTR));
    until_waiting(1, 1);
    kill(child, SIGWINCH);
    usleep(20000);
    until_waiting(1, 1);
    SAY(operate(1, 1, 0));
    SAY(ended(child));
    CHILD(child, handle(SIGUSR1, SA_RESTART); exit(operate(1, -1, 0) == -EINTR));
    until_waiting(1, 1);
    usleep(20000);
    kill(child, SIGUSR1);
    SAY(ended(child));
    CHILD(child, operate(1, -1, 0));
    until_waiting(1, 1);
    kill(child, SIGKILL);
    SAY(ended(child));
    SAY(raw(SYS_semctl, set, 1, GETNCNT, 0, 0));
    /* What a process has taken survives exec, and is given back when it has ended. */
    semctl(set, 2, SETVAL, 5);
    char name[20];
    snprintf(name, sizeof name, "%d", set);
    CHILD(child, operate(2, -2, SEM_UNDO); execl(self, self, name, NULL));
    SAY(ended(child));
    SAY(value(2));
    /* Where there is a library, it knows the process now, and so sees it fork. */
    semop(set, (struct sembuf[]) {{1, 1, SEM_UNDO}, {1, -1, SEM_UNDO}}, 2);
    char *memory = (char *) raw(SYS_shmat, segment, 0, 0, 0, 0);
    CHILD(child, exit((int) attached()));
    SAY(ended(child));
    SAY(attached());
    CHILD(child, memory[0] = 1; execl("/bin/sleep", "sleep", "10", NULL));
    until_asleep(child);
    SAY(attached());
    kill(child, SIGKILL);
    SAY(ended(child));
    SAY(memory[0]);
}

int main(int count, char **arguments)
{
    if (count > 1) {
        set = atoi(arguments[1]);
        operate(2, -1, SEM_UNDO);
        return (int) value(2);
    }
    queue = (int) raw(SYS_msgget, IPC_PRIVATE, 0600, 0, 0, 0);
    set = (int) raw(SYS_semget, IPC_PRIVATE, 3, 0600, 0, 0);
    segment = (int) raw(SYS_shmget, IPC_PRIVATE, 5000, 0600, 0, 0);
    messages();
    threads();
    processes(arguments[0]);
    SAY(raw(SYS_msgctl, queue, IPC_RMID, 0, 0, 0));
    SAY(raw(SYS_semctl, set, 0, IPC_RMID, 0, 0));
    SAY(raw(SYS_shmctl, segment, IPC_RMID, 0, 0, 0));
    return 0;
}
