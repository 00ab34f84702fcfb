/*
 * What the functions of libmpifort_abi share. They call the standard C ABI by its profiling names, and nothing else of the MPI library.
 */
#ifndef MPIFORT_H
#define MPIFORT_H

#include "mpi.h"

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Descriptors of Fortran 2018, section 18.5.3, in the order of members that gfortran (since 12) and flang have. */
typedef struct {
    ptrdiff_t lower_bound;
    ptrdiff_t extent;
    ptrdiff_t sm;
} CFI_dim_t;

typedef struct {
    void *base_addr;
    size_t elem_len;
    int version;
    signed char rank;
    signed char attribute_or_type[3];
    CFI_dim_t dim[];
} CFI_cdesc_t;

/* A second name of a function. */
#define ALIAS(other, name) \
    __asm__(".globl " #other "\n.type " #other ", %function\n.set " #other ", " #name);

/* The other names of a function without buffers. */
#define NAMES(name)                        \
    ALIAS(pmpi_##name##_, mpi_##name##_)     \
    ALIAS(mpi_##name##_f08_, mpi_##name##_)  \
    ALIAS(pmpi_##name##_f08_, mpi_##name##_)

/* What a subroutine has for its error code, which may be left out. */
#define RETURN(value)                  \
    do {                               \
        int code = value;              \
        if (ierror) *ierror = code;    \
    } while (0)

/* Handles that MPI defines have the same number in C and Fortran; only others need the library. */
#define LARGEST_DEFINED 0xfff
#define HANDLES(word, Type, Name)                                                                            \
    static inline Type word##_of(int number)                                                                 \
    {                                                                                                        \
        return 0 <= number && number <= LARGEST_DEFINED ? (Type)(intptr_t)number : MPI_##Name##_fromint(number); \
    }                                                                                                        \
    static inline int int_of_##word(Type handle)                                                             \
    {                                                                                                        \
        return (uintptr_t)handle <= LARGEST_DEFINED ? (int)(intptr_t)handle : MPI_##Name##_toint(handle);   \
    }
HANDLES(comm, MPI_Comm, Comm)
HANDLES(datatype, MPI_Datatype, Type)
HANDLES(errhandler, MPI_Errhandler, Errhandler)
HANDLES(file, MPI_File, File)
HANDLES(group, MPI_Group, Group)
HANDLES(info, MPI_Info, Info)
HANDLES(message, MPI_Message, Message)
HANDLES(op, MPI_Op, Op)
HANDLES(request, MPI_Request, Request)
HANDLES(session, MPI_Session, Session)
HANDLES(win, MPI_Win, Win)

/* How many handles of an array are kept without asking for memory. */
#define FEW 16

static inline void *room(void *few, size_t enough, MPI_Count bytes)
{
    return bytes <= (MPI_Count)enough ? few : malloc((size_t)bytes);
}

/* Variables that stand for something else: common blocks of the modules and of mpif.h, of these sizes. */
extern int mpi_cell_bottom_, mpi_cell_in_place_, mpi_cell_automatic_;
extern int mpi_cell_unweighted_[1], mpi_cell_weights_empty_[1], mpi_cell_errcodes_ignore_[1];
extern MPI_Status mpi_cell_status_ignore_, mpi_cell_statuses_ignore_;
extern char mpi_cell_argv_null_[1], mpi_cell_argvs_null_[1];

static inline void *address_of(void *buffer)
{
    if (buffer == &mpi_cell_in_place_) return MPI_IN_PLACE;
    if (buffer == &mpi_cell_bottom_) return MPI_BOTTOM;
    if (buffer == &mpi_cell_automatic_) return MPI_BUFFER_AUTOMATIC;
    return buffer;
}

static inline MPI_Status *status_of(MPI_Status *status)
{
    return status == &mpi_cell_status_ignore_ || status == &mpi_cell_statuses_ignore_ ? MPI_STATUS_IGNORE : status;
}

static inline int *weights_of(int *weights)
{
    if (weights == mpi_cell_unweighted_) return MPI_UNWEIGHTED;
    return weights == mpi_cell_weights_empty_ ? MPI_WEIGHTS_EMPTY : weights;
}

/* LOGICALs are 1 and 0, whatever a library says for true. */
static inline void logicals(int *values, MPI_Count count)
{
    for (MPI_Count i = 0; i < count; i++) values[i] = values[i] != 0;
}

static inline void from_one(int *indices, int count)
{
    for (int i = 0; i < count; i++)
        if (indices[i] != MPI_UNDEFINED) indices[i]++;
}

/* What a request uses until it is complete: an array of handles, the contents of a section, a datatype. */
typedef struct Kept Kept;

/* A buffer as C gets it: a datatype that was made here and the copy of a section end with the call or its request. */
typedef struct {
    void *address;
    MPI_Count count;
    MPI_Datatype datatype;
    int made;
    Kept *copy;
} Section;

static inline int is_contiguous(const CFI_cdesc_t *array)
{
    ptrdiff_t next = (ptrdiff_t)array->elem_len;
    for (int i = 0; i < array->rank; i++) {
        if (array->dim[i].sm != next && array->dim[i].extent != 1) return array->dim[i].extent == 0;
        next *= array->dim[i].extent;
    }
    return 1;
}

/* The count and datatype of the elements of a section; with `blocks` one datatype follows another. MPI_ERR_BUFFER if there are none. */
int described(Section *section, const CFI_cdesc_t *array, int blocks);
/* A contiguous copy of a section instead of it. */
int copied(Section *section, const CFI_cdesc_t *array);
/* The first way if it goes, else the second. */
static inline int section_of(Section *section, const CFI_cdesc_t *array, int blocks)
{
    int result = described(section, array, blocks);
    return result == MPI_ERR_BUFFER ? copied(section, array) : result;
}

/* After a call: what MPI has written goes into the section, and the copy ends. */
void end_copy(Kept *copy);

/* Something that a new request uses; if there is none, since the call has failed, it ends at once. */
void keep(Kept *kept, int failed, MPI_Request request, int persistent);
Kept *kept_memory(void *memory);
Kept *kept_datatype(MPI_Datatype datatype);
/* For calls that may complete requests: what these use is taken before the call, and given back after it with what has become of the requests. */
extern int number_kept;
Kept *take(const int *requests, MPI_Count count);
void put_back(Kept *taken, const MPI_Request *requests);
static inline Kept *taken(const int *requests, MPI_Count count)
{
    return __atomic_load_n(&number_kept, __ATOMIC_ACQUIRE) ? take(requests, count) : NULL;
}
/* Before calls that start requests, copies are made anew; after calls that say what has arrived, that goes into the sections. */
void fill(const int *requests, MPI_Count count);
void empty(const int *requests, MPI_Count count);
static inline void filled(const int *requests, MPI_Count count)
{
    if (__atomic_load_n(&number_kept, __ATOMIC_ACQUIRE)) fill(requests, count);
}
static inline void emptied(const int *requests, MPI_Count count)
{
    if (__atomic_load_n(&number_kept, __ATOMIC_ACQUIRE)) empty(requests, count);
}

/* The code that an error handler which returned leaves. */
static inline int told(int failed, int code)
{
    return failed == MPI_SUCCESS ? code : failed;
}

/* The processes that an array has an entry for: 0 of a collective, 1 the destinations of a neighborhood, 2 its sources. */
int ranks_of(MPI_Comm comm, int of);

/* A string of C, which the caller frees, without the blanks after it and perhaps before it; and the way back. */
char *text_of(const char *text, size_t length, int leading);
void blanks_after(char *text, size_t length, const char *from);

#endif
