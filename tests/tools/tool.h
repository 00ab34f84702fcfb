/* What the programs about the tool interface share: its codes are apart from those of MPI. */
#ifndef TOOL_H
#define TOOL_H

#include "../check.h"

#define GOOD(call) CHECK_EQ(call, MPI_SUCCESS)

static inline void begin_tool(void)
{
    int provided = -1;
    GOOD(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided));
    CHECK(provided >= MPI_THREAD_SINGLE);
}

#endif
