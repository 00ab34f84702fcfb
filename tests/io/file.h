/* Names of files for the programs of this chapter, in the directory for temporary files of the run. */
#ifndef FILE_H
#define FILE_H

#include "../check.h"

/* The path of a file of this program; the same at all ranks. */
static inline const char *path_of(const char *name)
{
    static char paths[8][1000];
    static int next;
    char *path = paths[next++ % 8];
    const char *directory = getenv("TMPDIR");
    snprintf(path, sizeof paths[0], "%s/%s", directory ? directory : "/tmp", name);
    return path;
}

/* Opens a file of all ranks for reading and writing, that goes when it is closed. */
static inline MPI_File scratch(const char *name)
{
    MPI_File file;
    int mode = MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE;
    OK(MPI_File_open(MPI_COMM_WORLD, path_of(name), mode, MPI_INFO_NULL, &file));
    return file;
}

/* The number of elements that a status tells of. */
static inline long long count_of(const MPI_Status *status, MPI_Datatype datatype)
{
    Count count;
    OK(MPI_Get_count(status, datatype, &count));
    return (long long)count;
}

static inline void wait_for_all(void)
{
    OK(MPI_Barrier(MPI_COMM_WORLD));
}

#endif
