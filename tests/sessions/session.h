/* What the programs about sessions share. */
#ifndef SESSION_H
#define SESSION_H

#include "../check.h"

static inline MPI_Session begin_session(void)
{
    MPI_Session session = MPI_SESSION_NULL;
    OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
    CHECK(session != MPI_SESSION_NULL);
    return session;
}

/* A communicator of a process set. */
static inline MPI_Comm communicator_of(MPI_Session session, const char *set, const char *tag)
{
    MPI_Group group;
    MPI_Comm comm = MPI_COMM_NULL;
    OK(MPI_Group_from_session_pset(session, set, &group));
    OK(MPI_Comm_create_from_group(group, tag, MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm));
    OK(MPI_Group_free(&group));
    return comm;
}

/* Everybody is there, in the right place. */
static inline void check_sum(MPI_Comm comm)
{
    int place, count, sum = 0;
    OK(MPI_Comm_rank(comm, &place));
    OK(MPI_Comm_size(comm, &count));
    OK(MPI_Allreduce(&place, &sum, 1, MPI_INT, MPI_SUM, comm));
    CHECK_EQ(sum, count * (count - 1) / 2);
}

#endif
