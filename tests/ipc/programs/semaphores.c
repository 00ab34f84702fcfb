/* Semaphore sets. */

#include "ipc.h"

static int set;

static int operate(int semaphore, int change, int flags)
{
    return semop(set, &(struct sembuf) {(unsigned short) semaphore, (short) change, (short) flags}, 1);
}

static int get(int semaphore)
{
    return semctl(set, semaphore, GETVAL);
}

static void keys(void)
{
    key_t key = 0x7654321;
    TRIES(semget(key, 0, 0));
    TRIES(semget(key, 0, IPC_CREAT | 0600));
    TRIES(semget(key, -1, IPC_CREAT | 0600));
    TRIES(semget(key, 32001, IPC_CREAT | 0600));
    TRIES(semget(key, 3, IPC_CREAT | 0640));
    set = semget(key, 0, 0);
    TRIES(semget(key, 3, 0));
    TRIES(semget(key, 4, 0));
    TRIES(semget(key, 4, IPC_CREAT | IPC_EXCL));
    struct semid_ds all;
    TRIES(semctl(set, 0, IPC_STAT, &all));
    SAY(all.sem_nsems);
    SAY(all.sem_perm.mode);
    SAY(all.sem_otime);
    SAY(all.sem_ctime > 0);
    TRIES(semctl(set, 0, IPC_RMID));
    TRIES(semctl(set, 0, GETVAL));
    TRIES(operate(0, 1, 0));
    int big = semget(IPC_PRIVATE, 32000, 0600);
    SAY(semctl(big, 31999, SETVAL, 5));
    SAY(semctl(big, 31999, GETVAL));
    semctl(big, 0, IPC_RMID);
}

static void wrong_arguments(void)
{
    static struct sembuf many[501];
    set = semget(IPC_PRIVATE, 3, 0600);
    TRIES(semop(set, many, 0));
    TRIES(semop(set, many, 501));
    TRIES(semop(set, many, 500));
    TRIES(semop(-1, many, 1));
    TRIES(semop(set, NULL, 1));
    TRIES(semop(set, (void *) -1, 1));
    TRIES(operate(3, 1, 0));
    TRIES(semctl(set, 3, GETVAL));
    TRIES(semctl(set, -1, GETVAL));
    TRIES(semctl(set, 3, SETVAL, 1));
    TRIES(semctl(set, 0, SETVAL, -1));
    TRIES(semctl(set, 0, SETVAL, 32768));
    TRIES(semctl(set, 0, SETVAL, 32767));
    TRIES(operate(0, 1, 0));
    TRIES(operate(0, -32767, 0));
    TRIES(semctl(set, 0, 12345));
    TRIES(semctl(set, 0, GETALL, NULL));
    TRIES(semctl(set, 0, IPC_STAT, NULL));
    TRIES(semctl(-1, 0, GETVAL));
    unsigned short too_much[3] = {1, 40000, 2};
    TRIES(semctl(set, 0, SETALL, too_much));
    SAY(get(0));
    TRIES(semtimedop(set, many, 1, &(struct timespec) {0, 1000000000}));
    TRIES(semtimedop(set, many, 1, &(struct timespec) {-1, 0}));
    TRIES(semtimedop(set, many, 1, (void *) -1));
}

static void atomic(void)
{
    struct sembuf both[] = {{0, 2, 0}, {1, -1, IPC_NOWAIT}};
    TRIES(semop(set, both, 2));
    SAY(get(0));
    TRIES(semctl(set, 1, SETVAL, 1));
    TRIES(semop(set, both, 2));
    SAY(get(0));
    SAY(get(1));
    struct sembuf chain[] = {{0, 0, IPC_NOWAIT}, {0, 1, 0}};
    TRIES(semop(set, chain, 2));
    struct sembuf down_up[] = {{0, -2, IPC_NOWAIT}, {0, 0, IPC_NOWAIT}, {0, 5, 0}, {0, -1, 0}};
    TRIES(semop(set, down_up, 4));
    SAY(get(0));
    SAY(semctl(set, 0, GETPID) == getpid());
    SAY(semctl(set, 2, GETPID));
    TRIES(operate(2, 0, IPC_NOWAIT));
    SAY(semctl(set, 2, GETPID) == getpid());
    unsigned short values[3] = {7, 8, 9}, found[3];
    TRIES(semctl(set, 0, SETALL, values));
    TRIES(semctl(set, 0, GETALL, found));
    SAY(found[0] * 100 + found[1] * 10 + found[2]);
    struct semid_ds all;
    semctl(set, 0, IPC_STAT, &all);
    SAY(all.sem_otime > 0);
    all.sem_perm.mode = 0440;
    TRIES(semctl(set, 0, IPC_SET, &all));
    semctl(set, 0, IPC_STAT, &all);
    SAY(all.sem_perm.mode);
}

static void set_all(int a, int b, int c)
{
    semctl(set, 0, SETALL, (unsigned short[]) {a, b, c});
}

static void waiting(void)
{
    pid_t child, other;
    set_all(0, 0, 0);
    CHILD(child, TRIES(operate(0, -2, 0)));
    until_asleep(child);
    SAY(semctl(set, 0, GETNCNT));
    SAY(semctl(set, 0, GETZCNT));
    TRIES(operate(0, 1, 0));
    SAY(get(0));
    TRIES(operate(0, 1, 0));
    SAY(get(0));
    SAY(semctl(set, 0, GETPID) == child);
    SAY(ended(child));
    SAY(semctl(set, 0, GETNCNT));
    TRIES(operate(0, 1, 0));
    CHILD(child, TRIES(operate(0, 0, 0)));
    until_asleep(child);
    SAY(semctl(set, 0, GETZCNT));
    TRIES(operate(0, -1, 0));
    SAY(ended(child));
    CHILD(child, TRIES(operate(0, -5, 0)));
    until_asleep(child);
    CHILD(other, TRIES(operate(0, -1, 0)));
    until_asleep(other);
    TRIES(operate(0, 1, 0));
    SAY(ended(other));
    SAY(semctl(set, 0, GETNCNT));
    kill(child, SIGKILL);
    SAY(ended(child));
    SAY(semctl(set, 0, GETNCNT));
    TRIES(operate(0, 5, 0));
    SAY(get(0));
    set_all(0, 0, 0);
    for (int restart = 0; restart < 2; restart++) {
        CHILD(child, handle(SIGUSR1, restart ? SA_RESTART : 0); TRIES(operate(0, -1, 0)));
        until_asleep(child);
        kill(child, SIGUSR1);
        SAY(ended(child));
    }
    struct sembuf two[] = {{0, -1, 0}, {1, -1, IPC_NOWAIT}};
    CHILD(child, TRIES(semop(set, two, 2)));
    until_asleep(child);
    SAY(semctl(set, 0, GETNCNT) * 10 + semctl(set, 1, GETNCNT));
    TRIES(operate(0, 1, 0));
    SAY(ended(child));
    SAY(get(0));
    struct sembuf three[] = {{0, -1, 0}, {1, -1, 0}};
    CHILD(child, TRIES(semop(set, three, 2)));
    until_asleep(child);
    SAY(semctl(set, 0, GETNCNT) * 10 + semctl(set, 1, GETNCNT));
    SAY(get(0));
    TRIES(semctl(set, 1, SETVAL, 1));
    SAY(ended(child));
    SAY(get(0) * 10 + get(1));
    SAY(semtimedop(set, three, 2, &(struct timespec) {0, 10000000}));
    TRIES(semtimedop(set, three, 2, &(struct timespec) {0, 10000000}));
    TRIES(semtimedop(set, three, 2, &(struct timespec) {0, 0}));
    CHILD(child, TRIES(operate(0, -1, 0)));
    until_asleep(child);
    TRIES(semctl(set, 0, IPC_RMID));
    SAY(ended(child));
}

static void dies(int change, int flags)
{
    pid_t child;
    CHILD(child, operate(0, change, flags); raise(SIGKILL));
    SAY(ended(child));
    SAY(get(0));
    SAY(semctl(set, 0, GETPID) == child);
}

static void *of_thread(void *unused)
{
    operate(0, 3, SEM_UNDO);
    return unused;
}

static void undo(const char *self)
{
    pid_t child, other;
    set = semget(IPC_PRIVATE, 3, 0600);
    dies(1, 0);
    dies(1, SEM_UNDO);
    dies(-1, SEM_UNDO);
    CHILD(child, operate(0, 4, SEM_UNDO));
    SAY(ended(child));
    SAY(get(0));
    CHILD(child, operate(0, 4, SEM_UNDO); _exit(0));
    SAY(ended(child));
    SAY(get(0));
    CHILD(child, operate(0, 4, SEM_UNDO); operate(1, 2, SEM_UNDO); operate(0, -5, 0));
    SAY(ended(child));
    SAY(get(0) * 10 + get(1));
    CHILD(child, operate(0, 4, SEM_UNDO); semctl(set, 0, SETVAL, 6));
    SAY(ended(child));
    SAY(get(0));
    CHILD(child, operate(0, 4, SEM_UNDO); set_all(1, 2, 3));
    SAY(ended(child));
    SAY(get(0));
    CHILD(child, operate(0, 4, SEM_UNDO); CHILD(other, (void) 0); ended(other); exit(get(0)));
    SAY(ended(child));
    SAY(get(0));
    CHILD(child, pthread_t thread; pthread_create(&thread, NULL, of_thread, NULL); pthread_join(thread, NULL); exit(get(0)));
    SAY(ended(child));
    SAY(get(0));
    char text[32];
    snprintf(text, sizeof text, "%d", set);
    CHILD(child, operate(0, 4, SEM_UNDO); execl(self, self, text, NULL));
    SAY(ended(child));
    SAY(get(0));
    set_all(0, 0, 0);
    CHILD(child, operate(0, 1, SEM_UNDO); pause());
    until_asleep(child);
    CHILD(other, TRIES(operate(0, 0, 0)));
    until_asleep(other);
    kill(child, SIGKILL);
    SAY(ended(other));
    SAY(ended(child));
    set_all(0, 0, 0);
    CHILD(child, operate(0, -1, SEM_UNDO); pause());
    until_asleep(child);
    operate(0, 1, 0);
    usleep(20000);
    SAY(get(0));
    kill(child, SIGKILL);
    SAY(ended(child));
    SAY(get(0));
    struct sembuf much = {0, 32767, SEM_UNDO}, less = {0, -32767, 0};
    set_all(0, 0, 0);
    SAY(semop(set, &much, 1));
    SAY(semop(set, &less, 1));
    TRIES(semop(set, &(struct sembuf) {0, 2, SEM_UNDO}, 1));
    SAY(get(0));
    set_all(0, 0, 0);
    semctl(set, 0, IPC_RMID);
}

static void information(void)
{
    struct seminfo info;
    struct semid_ds all;
    set = semget(IPC_PRIVATE, 5, 0600);
    semctl(0, 0, IPC_INFO, &info);
    SAY(info.semmni);
    SAY(info.semmns);
    SAY(info.semmsl);
    SAY(info.semopm);
    SAY(info.semvmx);
    SAY(info.semmnu);
    SAY(info.semmap);
    SAY(info.semume);
    SAY(info.semusz);
    SAY(info.semaem);
    int highest = semctl(0, 0, SEM_INFO, &info);
    SAY(info.semusz);
    SAY(info.semaem);
    SAY(semctl(highest, 0, SEM_STAT, &all) == set);
    SAY(all.sem_nsems);
    SAY(semctl(highest, 0, SEM_STAT_ANY, &all) == set);
    TRIES(semctl(highest + 1, 0, SEM_STAT, &all));
    SAY(syscall(SYS_semop, set, &(struct sembuf) {1, 2, 0}, 1));
    SAY(syscall(SYS_semctl, set, 1, GETVAL, 0));
    TRIES(semctl(set, 0, IPC_RMID));
}

int main(int argc, char **argv)
{
    if (argc > 1) {
        set = atoi(argv[1]);
        return get(0);
    }
    keys();
    wrong_arguments();
    atomic();
    waiting();
    undo(argv[0]);
    information();
    return 0;
}
