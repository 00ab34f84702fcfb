/* MPI_Init_thread (MPI 5.0, section 11.6) without arguments: the levels are ordered, the highest one is provided, and
 * MPI_Is_thread_main tells the threads apart. */
#include "../check.h"

#include <pthread.h>

static void *other_thread(void *out)
{
    MPI_Is_thread_main(out);
    return NULL;
}

int main(void)
{
    int provided = -1, queried = -2, flag = 0, elsewhere = -1, sum = 0;
    pthread_t thread;
    CHECK(MPI_THREAD_SINGLE < MPI_THREAD_FUNNELED && MPI_THREAD_FUNNELED < MPI_THREAD_SERIALIZED &&
          MPI_THREAD_SERIALIZED < MPI_THREAD_MULTIPLE);
    OK(MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &provided));
    CHECK_EQ(provided, MPI_THREAD_MULTIPLE);
    OK(MPI_Query_thread(&queried));
    CHECK_EQ(queried, provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    OK(MPI_Is_thread_main(&flag));
    CHECK(flag);
    pthread_create(&thread, NULL, other_thread, &elsewhere);
    pthread_join(thread, NULL);
    CHECK_EQ(elsewhere, 0);
    OK(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    CHECK_EQ(sum, size * (size - 1) / 2);
    return check_end();
}
