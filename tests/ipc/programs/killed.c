/* Processes that use everything are killed at random; nothing hangs, and what is left is right: a set that all of them take and give back by SEM_UNDO is
   as it was, a queue gives what it is given, and a segment is attached by nobody. */

#include "ipc.h"

#define WORKERS 6

static int queue, set, segment;

static void work(unsigned seed)
{
    struct {
        long type;
        char text[600];
    } m = {0};
    srand(seed);
    for (;;) {
        struct sembuf down = {(unsigned short) (rand() % 2), -1, SEM_UNDO}, up = {down.sem_num, 1, SEM_UNDO};
        struct sembuf two[] = {{2, 1, SEM_UNDO}, {0, -1, SEM_UNDO}}, back[] = {{2, -1, SEM_UNDO}, {0, 1, SEM_UNDO}};
        char *memory = shmat(segment, NULL, 0);
        if (semop(set, &down, 1) == -1 || semop(set, &up, 1) == -1 || semop(set, two, 2) == -1 || semop(set, back, 2) == -1)
            exit(1);
        m.type = 1 + rand() % 3;
        if (msgsnd(queue, &m, rand() % 600, 0) == -1 || msgrcv(queue, &m, 600, 0, 0) == -1)
            exit(2);
        memory[0]++;
        shmdt(memory);
    }
}

int main(void)
{
    pid_t workers[WORKERS];
    queue = msgget(IPC_PRIVATE, 0600);
    set = semget(IPC_PRIVATE, 3, 0600);
    segment = shmget(IPC_PRIVATE, 4096, 0600);
    semctl(set, 0, SETALL, (unsigned short[]) {3, 2, 0});
    for (int i = 0; i < WORKERS; i++)
        CHILD(workers[i], work(i));
    srand(7);
    for (int turn = 0; turn < 200; turn++) {
        int which = rand() % WORKERS;
        usleep(rand() % 8000);
        kill(workers[which], SIGKILL);
        if (ended(workers[which]) != 128 + SIGKILL)
            SAY(turn);
        /* What a killed receiver had taken is gone, and others may wait for it. */
        msgsnd(queue, &(struct {long type; char text[8]; }) {1, "again"}, 8, IPC_NOWAIT);
        CHILD(workers[which], work(1000 + turn));
    }
    for (int i = 0; i < WORKERS; i++) {
        kill(workers[i], SIGKILL);
        SAY(ended(workers[i]));
    }
    for (int semaphore = 0; semaphore < 3; semaphore++) {
        SAY(semctl(set, semaphore, GETVAL));
        SAY(semctl(set, semaphore, GETNCNT));
    }
    struct {
        long type;
        char text[600];
    } m = {0};
    while (msgrcv(queue, &m, 600, 0, IPC_NOWAIT) >= 0) {
    }
    struct msqid_ds all;
    msgctl(queue, IPC_STAT, &all);
    SAY(all.msg_qnum);
    SAY(all.msg_cbytes);
    int count = 0;
    while (m.type = 1, msgsnd(queue, &m, 500, IPC_NOWAIT) == 0)
        count++;
    SAY(count);
    struct shmid_ds memory;
    shmctl(segment, IPC_STAT, &memory);
    SAY(memory.shm_nattch);
    TRIES(shmctl(segment, IPC_RMID, NULL));
    TRIES(msgctl(queue, IPC_RMID, NULL));
    TRIES(semctl(set, 0, IPC_RMID));
    return 0;
}
