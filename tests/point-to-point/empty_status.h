/* What a status says where there was no message (section 3.7.3). */
#include "../check.h"

static inline void check_empty(const MPI_Status *status)
{
    Count count = -1;
    int cancelled = -1;
    CHECK_EQ(status->MPI_SOURCE, MPI_ANY_SOURCE);
    CHECK_EQ(status->MPI_TAG, MPI_ANY_TAG);
    OK(MPI_Get_count(status, MPI_INT, &count));
    CHECK_EQ(count, 0);
    OK(MPI_Test_cancelled(status, &cancelled));
    CHECK_EQ(cancelled, 0);
}
