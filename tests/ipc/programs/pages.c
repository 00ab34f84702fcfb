/* Shared memory whose processes are on different hosts, also several on one. `pages ALL`: so many do the same work, with numbers in the order in which they come;
   without an argument there is one. Steps are kept apart by semaphores. */

#include "ipc.h"

#include <setjmp.h>
#include <sys/socket.h>
#include <sys/uio.h>

enum { KEY = 0x7654321, UNIT = 4096, PAGES = 600, WORDS = UNIT / 8, ROUNDS = 40, LETTERS = 3 * UNIT, LOCK = 3 };

static int number, all, segment, set, steps;
static volatile long *memory;

static int operate(int semaphore, int change)
{
    return semop(set, &(struct sembuf) {(unsigned short) semaphore, (short) change, 0}, 1);
}

/* Returns once all have come here. */
static void meet(void)
{
    int step = 1 + steps++ % 2;
    if (all == 1)
        return;
    if (number == 0) {
        operate(0, 1 - all);
        operate(step, all - 1);
    } else {
        operate(0, 1);
        operate(step, -1);
    }
}

static int attachments(void)
{
    struct shmid_ds facts;
    return shmctl(segment, IPC_STAT, &facts) == 0 ? (int) facts.shm_nattch : -errno;
}

static int holds(long value)
{
    int right = 1;
    for (int page = 0; page < PAGES; page++)
        for (int word = 0; word < WORDS; word += 100)
            right &= memory[page * WORDS + word] == value + page;
    return right;
}

static void fill(long value)
{
    for (int page = 0; page < PAGES; page++)
        for (int word = 0; word < WORDS; word++)
            memory[page * WORDS + word] = value + page;
}

/* Each fills in turn, and all read. */
static void turns(void)
{
    for (int whose = 0; whose < all; whose++) {
        if (whose == number)
            fill(1000 * whose);
        meet();
        SAY(holds(1000 * whose));
        meet();
    }
}

/* Each has a word of its own in one page, and all add to another under a semaphore. */
static void one_page(void)
{
    for (int round = 0; round < ROUNDS; round++) {
        memory[10 + number]++;
        operate(LOCK, -1);
        memory[9]++;
        operate(LOCK, 1);
    }
    meet();
    SAY(memory[9] == (long) ROUNDS * all);
    SAY(memory[10 + (number + 1) % all]);
    meet();
}

/* Atomic operations on a word that all change, without a semaphore. */
static void *adds(void *counter)
{
    for (int round = 0; round < ROUNDS; round++)
        __atomic_fetch_add((long *) counter, 1, __ATOMIC_SEQ_CST);
    return NULL;
}

static void threads(void)
{
    pthread_t other;
    sigset_t every, before;
    sigfillset(&every);
    pthread_sigmask(SIG_BLOCK, &every, &before);
    pthread_create(&other, NULL, adds, (void *) (memory + 3 * WORDS));
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    adds((void *) (memory + 3 * WORDS));
    pthread_join(other, NULL);
    meet();
    SAY(memory[3 * WORDS] == 2L * ROUNDS * all);
    meet();
}

/* Two threads of each process read and add in the same pages, in no certain order: no value goes back, and no addition is lost. */
enum { MIXED = 8, FIRST = 100, CHANGES = 300 };

static long added;

static void *mixes(void *seed)
{
    unsigned random = (unsigned) (getpid() * 2 + (seed != NULL));
    long last[MIXED] = {0}, *back = seed;
    for (int change = 0; change < CHANGES; change++) {
        random = random * 1103515245 + 12345;
        int page = (int) (random >> 16) % MIXED;
        long *word = (long *) &memory[(FIRST + page) * WORDS], value = __atomic_load_n(word, __ATOMIC_SEQ_CST);
        if (value < last[page] && back != NULL)
            ++*back;
        last[page] = value;
        if (random >> 8 & 1) {
            __atomic_fetch_add(word, 1, __ATOMIC_SEQ_CST);
            __atomic_fetch_add(&added, 1, __ATOMIC_SEQ_CST);
        }
    }
    return NULL;
}

static void mixed(void)
{
    pthread_t other;
    long before = 0, after = 0, back = 0, *all_added = (long *) &memory[(FIRST + MIXED) * WORDS];
    for (int page = 0; page <= MIXED; page++)
        before += page < MIXED ? memory[(FIRST + page) * WORDS] : -*all_added;
    meet();
    pthread_create(&other, NULL, mixes, NULL);
    mixes(&back);
    pthread_join(other, NULL);
    __atomic_fetch_add(all_added, added, __ATOMIC_SEQ_CST);
    meet();
    for (int page = 0; page <= MIXED; page++)
        after += page < MIXED ? memory[(FIRST + page) * WORDS] : -*all_added;
    SAY(after - before);
    SAY(back);
    meet();
}

static int is_all(const volatile char *letters, int letter)
{
    int right = 1;
    for (int place = 0; place < LETTERS; place++)
        right &= letters[place] == letter;
    return right;
}

/* Calls of the system with memory that another host has. */
static void buffers(void)
{
    char *letters = (char *) memory + 5 * UNIT + 100, name[] = "/tmp/pagesXXXXXX", plain[LETTERS];
    int file = mkstemp(name), ends[2];
    socketpair(AF_UNIX, SOCK_DGRAM, 0, ends);
    unlink(name);
    for (int whose = 0; whose < all; whose++) {
        if (whose == number)
            memset(letters, 'a' + whose, LETTERS);
        meet();
        SAY(pwrite(file, letters, LETTERS, 0) == LETTERS && pread(file, plain, LETTERS, 0) == LETTERS);
        SAY(is_all(plain, 'a' + whose));
        meet();
        if (whose == number) {
            memset(plain, 'A' + whose, LETTERS);
            SAY(send(ends[0], plain, LETTERS, 0) == LETTERS && recv(ends[1], letters, LETTERS, 0) == LETTERS);
        }
        meet();
        SAY(is_all(letters, 'A' + whose));
        meet();
        struct iovec parts[] = {{letters, LETTERS / 2}, {letters + LETTERS / 2, LETTERS / 2}};
        SAY(writev(ends[0], parts, 2) == LETTERS && recv(ends[1], plain, LETTERS, 0) == LETTERS);
        SAY(is_all(plain, 'A' + whose));
        meet();
        if (whose == number) {
            FILE *stream = fdopen(dup(file), "r+");
            memset(plain, '0' + whose, LETTERS);
            SAY(pwrite(file, plain, LETTERS, 0) == LETTERS);
            rewind(stream);
            SAY(fread(letters, 1, LETTERS, stream) == LETTERS);
            fclose(stream);
        }
        meet();
        SAY(is_all(letters, '0' + whose));
        meet();
    }
    close(file);
    close(ends[0]);
    close(ends[1]);
}

/* Messages and operations on semaphores from such memory. */
static void messages(void)
{
    struct message {
        long type;
        char text[5000];
    } *letter = (struct message *) ((char *) memory + 20 * UNIT + 8);
    int queue = msgget(KEY, IPC_CREAT | 0600);
    meet();
    if (number == 0) {
        letter->type = 7;
        memset(letter->text, 'm', sizeof letter->text);
    }
    meet();
    if (number == 1 % all) {
        SAY(msgsnd(queue, letter, sizeof letter->text, 0));
        memset(letter, 0, sizeof *letter);
    }
    meet();
    if (number == 0) {
        SAY(msgrcv(queue, letter, sizeof letter->text, 7, 0));
        SAY(letter->text[0] == 'm' && letter->text[4999] == 'm');
        msgctl(queue, IPC_RMID, NULL);
    }
    meet();
    SAY(letter->type);
    meet();
}

/* Processes that come and end. */
static void children(void)
{
    pid_t child;
    if (number == 0)
        SAY(attachments() == all);
    meet();
    if (number == all - 1) {
        CHILD(child, pause());
        SAY(attachments() == all + 1);
        kill(child, SIGKILL);
        SAY(ended(child));
        SAY(attachments() == all);
        CHILD(child, SAY(memory[9] == (long) ROUNDS * all); fflush(stdout); memory[40 * WORDS] = 99);
        SAY(ended(child));
        CHILD(child, execl("/bin/true", "true", NULL));
        SAY(ended(child));
        SAY(attachments() == all);
    }
    meet();
    SAY(memory[40 * WORDS]);
    meet();
    /* One that has a page open for writing is killed; what it wrote is there. */
    if (number == all - 1) {
        CHILD(child, memory[41 * WORDS] = 77; raise(SIGKILL));
        SAY(ended(child) != 0);
    }
    meet();
    SAY(memory[41 * WORDS]);
    meet();
}

/* A page that is only read, and a fault that is none of the layer's. */
static sigjmp_buf out;

static void jumps(int signal)
{
    siglongjmp(out, signal);
}

static void faults(void)
{
    struct sigaction action = {.sa_handler = jumps}, before;
    sigaction(SIGSEGV, &action, &before);
    volatile long *reader = shmat(segment, NULL, SHM_RDONLY);
    SAY(reader[41 * WORDS]);
    SAY(sigsetjmp(out, 1) == 0 ? (reader[41 * WORDS] = 1, 0) : 1);
    SAY(sigsetjmp(out, 1) == 0 ? (*(volatile char *) 16 = 1, 0) : 1);
    SAY(shmdt((void *) reader));
    meet();
    sigaction(SIGSEGV, &before, NULL);
    memory[42 * WORDS + number] = number;
    meet();
    SAY(memory[42 * WORDS + all - 1] == all - 1);
    meet();
}

static void removal(void)
{
    if (number == all - 1)
        SAY(shmctl(segment, IPC_RMID, NULL));
    meet();
    SAY(shmget(KEY, 0, 0) == -1 && errno == ENOENT);
    SAY(memory[41 * WORDS]);
    meet();
    if (number != 0)
        SAY(shmdt((void *) memory));
    meet();
    if (number == 0) {
        SAY(attachments());
        SAY(shmdt((void *) memory));
        SAY(attachments() == -EINVAL);
    }
    meet();
    if (number != 0)
        SAY(shmat(segment, NULL, 0) == (void *) -1 && errno == EINVAL);
    meet();
}

int main(int count, char **words)
{
    all = count > 1 ? atoi(words[1]) : 1;
    int ticket;
    while ((ticket = semget(KEY + 1 + number, 1, IPC_CREAT | IPC_EXCL | 0600)) == -1)
        number++;
    set = semget(KEY, 4, IPC_CREAT | 0600);
    segment = shmget(KEY, PAGES * UNIT - 10, IPC_CREAT | 0600);
    memory = shmat(segment, NULL, 0);
    if (number == 0)
        semctl(set, LOCK, SETVAL, 1);
    meet();
    SAY(memory[0] + memory[PAGES * WORDS - 1]);
    meet();
    turns();
    if (number == 0)
        for (int word = 0; word < 4 * WORDS; word++)
            memory[word] = 0;
    meet();
    one_page();
    threads();
    mixed();
    buffers();
    messages();
    children();
    faults();
    removal();
    semctl(ticket, 0, IPC_RMID);
    if (number == 0)
        semctl(set, 0, IPC_RMID);
    return 0;
}
