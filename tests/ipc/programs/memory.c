/* Shared memory. */

#include "ipc.h"

static int segment;

static struct shmid_ds facts(void)
{
    struct shmid_ds all;
    memset(&all, 0, sizeof all);
    shmctl(segment, IPC_STAT, &all);
    return all;
}

static void keys(void)
{
    key_t key = 0x2345678;
    TRIES(shmget(key, 10, 0));
    TRIES(shmget(key, 0, IPC_CREAT | 0600));
    TRIES(shmget(key, (size_t) -1, IPC_CREAT | 0600));
    TRIES(shmget(key, 5000, IPC_CREAT | 0640));
    segment = shmget(key, 0, 0);
    TRIES(shmget(key, 5000, 0));
    TRIES(shmget(key, 5001, 0));
    TRIES(shmget(key, 5000, IPC_CREAT | IPC_EXCL));
    SAY(facts().shm_segsz);
    SAY(facts().shm_perm.mode);
    SAY(facts().shm_nattch);
    SAY(facts().shm_atime);
    SAY(facts().shm_cpid == getpid());
    SAY(facts().shm_lpid);
}

static void removing(char *first)
{
    pid_t child;
    TRIES(shmctl(segment, SHM_LOCK, NULL));
    SAY(facts().shm_perm.mode);
    TRIES(shmctl(segment, SHM_UNLOCK, NULL));
    SAY(facts().shm_perm.mode);
    struct shmid_ds all = facts();
    all.shm_perm.mode = 0666;
    TRIES(shmctl(segment, IPC_SET, &all));
    SAY(facts().shm_perm.mode);
    TRIES(shmctl(segment, IPC_RMID, NULL));
    SAY(facts().shm_perm.mode);
    SAY(facts().shm_perm.__key);
    TRIES(shmget(0x2345678, 10, 0));
    char *third = shmat(segment, NULL, 0);
    SAY(third[100]);
    TRIES(shmdt(first));
    TRIES(shmctl(segment, IPC_RMID, NULL));
    TRIES(shmdt(third));
    TRIES(shmctl(segment, IPC_STAT, &all));
    TRIES(shmat(segment, NULL, 0));
    segment = shmget(IPC_PRIVATE, 1, 0600);
    CHILD(child, shmat(segment, NULL, 0); shmctl(segment, IPC_RMID, NULL); raise(SIGKILL));
    SAY(ended(child));
    TRIES(shmctl(segment, IPC_STAT, &all));
}

static void attaching(void)
{
    long page = sysconf(_SC_PAGESIZE);
    TRIES(shmat(-1, NULL, 0));
    TRIES(shmat(segment, (void *) 1, 0));
    TRIES(shmat(segment, NULL, SHM_REMAP));
    char *first = shmat(segment, NULL, 0);
    char *second = shmat(segment, NULL, SHM_RDONLY);
    SAY(first != second);
    SAY(facts().shm_nattch);
    SAY(facts().shm_lpid == getpid());
    SAY(facts().shm_atime > 0);
    SAY(first[4999]);
    first[8191] = 3;
    SAY(second[8191]);
    TRIES(mprotect(second, page, PROT_READ | PROT_WRITE));
    TRIES(shmat(segment, first, 0));
    TRIES(shmat(segment, first + 5, SHM_RND));
    SAY(shmat(segment, first, SHM_REMAP) == first);
    SAY(facts().shm_nattch);
    TRIES(shmdt(first + 1));
    TRIES(shmdt(first));
    TRIES(shmdt(first));
    SAY(shmat(segment, first + 7, SHM_RND) == first);
    SAY(first[8191]);
    TRIES(shmdt(second));
    SAY(facts().shm_nattch);
    SAY(facts().shm_dtime > 0);
    pid_t child, other;
    CHILD(child, exit((int) facts().shm_nattch));
    SAY(ended(child));
    SAY(facts().shm_nattch);
    CHILD(child, pause());
    SAY(facts().shm_nattch);
    kill(child, SIGKILL);
    SAY(ended(child));
    SAY(facts().shm_nattch);
    CHILD(child, shmdt(first); exit((int) facts().shm_nattch));
    SAY(ended(child));
    CHILD(child, execl("/bin/sleep", "sleep", "10", NULL));
    until_asleep(child);
    SAY(facts().shm_nattch);
    kill(child, SIGKILL);
    SAY(ended(child));
    CHILD(child, CHILD(other, exit((int) facts().shm_nattch)); exit(ended(other)));
    SAY(ended(child));
    CHILD(child, first[100] = 42);
    SAY(ended(child));
    SAY(first[100]);
    removing(first);
}

static void information(void)
{
    struct shminfo limits;
    struct shm_info info;
    struct shmid_ds all;
    segment = shmget(IPC_PRIVATE, 10000, 0600);
    shmctl(0, IPC_INFO, (struct shmid_ds *) &limits);
    SAY(limits.shmmni);
    SAY(limits.shmmin);
    SAY(limits.shmseg);
    SAY(limits.shmmax);
    SAY(limits.shmall);
    int highest = shmctl(0, SHM_INFO, (struct shmid_ds *) &info);
    SAY(info.used_ids);
    SAY(info.shm_tot);
    SAY(shmctl(highest, SHM_STAT, &all) == segment);
    SAY(all.shm_segsz);
    SAY(shmctl(highest, SHM_STAT_ANY, &all) == segment);
    TRIES(shmctl(highest + 1, SHM_STAT, &all));
    TRIES(shmctl(segment, 12345, NULL));
    TRIES(shmctl(segment, IPC_STAT, NULL));
    TRIES(shmctl(-1, IPC_STAT, &all));
    TRIES(shmctl(segment, IPC_RMID, NULL));
}

int main(void)
{
    keys();
    attaching();
    information();
    return 0;
}
