/* A semaphore, which one process makes, another takes without giving it back, and others look at. */

#include "ipc.h"

int main(int count, char **arguments)
{
    const char *what = count > 1 ? arguments[1] : "";
    int set = semget(0x1234, 1, IPC_CREAT | 0600);
    struct sembuf takes = {0, -3, SEM_UNDO}, never = {0, -1000, 0};
    if (strcmp(what, "makes") == 0)
        return semctl(set, 0, SETVAL, 7) != 0;
    if (strcmp(what, "value") == 0)
        return printf("%d\n", semctl(set, 0, GETVAL)) < 0;
    if (strcmp(what, "takes") == 0)
        return semop(set, &takes, 1) != 0;
    if (strcmp(what, "killed") == 0) {
        pid_t child;
        CHILD(child, semop(set, &takes, 1); raise(SIGKILL));
        return ended(child) != 128 + SIGKILL;
    }
    if (strcmp(what, "waits") == 0)
        return semop(set, &never, 1) != 0;
    return 3;
}
