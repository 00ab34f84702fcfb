/*
 * Functions that MPI 3.0 has removed and old programs call. mpif.h and the module mpi have no interfaces for them; their addresses are default integers.
 */
#include "mpifort.h"

static void address_to_integer(MPI_Aint address, int *integer, int *result)
{
    if (*result == MPI_SUCCESS && address != (int)address) {
        *result = told(MPI_Comm_call_errhandler(MPI_COMM_SELF, MPI_ERR_ARG), MPI_ERR_ARG);
    }
    if (*result == MPI_SUCCESS) *integer = (int)address;
}

void mpi_address_(void *location, int *address, int *ierror)
{
    MPI_Aint wide = 0;
    int result = MPI_Get_address(address_of(location), &wide);
    address_to_integer(wide, address, &result);
    RETURN(result);
}
ALIAS(pmpi_address_, mpi_address_)

#define BOUND(name, value)                                             \
    void mpi_type_##name##_(int *datatype, int *name, int *ierror)     \
    {                                                                  \
        MPI_Aint begin = 0, length = 0;                                 \
        int result = MPI_Type_get_extent(datatype_of(*datatype), &begin, &length); \
        address_to_integer(value, name, &result);                      \
        RETURN(result);                                                \
    }                                                                  \
    ALIAS(pmpi_type_##name##_, mpi_type_##name##_)
BOUND(extent, length)
BOUND(lb, begin)
BOUND(ub, begin + length)

static MPI_Aint *wide_places(const int *places, int count)
{
    MPI_Aint *wide = calloc(count > 0 ? (size_t)count : 1, sizeof *wide);
    for (int i = 0; i < count; i++) wide[i] = places[i];
    return wide;
}

static void made_type(int result, MPI_Datatype made, int *newtype, int *ierror)
{
    if (result == MPI_SUCCESS) *newtype = int_of_datatype(made);
    RETURN(result);
}

void mpi_type_hvector_(int *count, int *blocklength, int *stride, int *oldtype, int *newtype, int *ierror)
{
    MPI_Datatype new = MPI_DATATYPE_NULL;
    int result = MPI_Type_create_hvector(*count, *blocklength, *stride, datatype_of(*oldtype), &new);
    made_type(result, new, newtype, ierror);
}
ALIAS(pmpi_type_hvector_, mpi_type_hvector_)

void mpi_type_hindexed_(int *count, int *lengths, int *places, int *oldtype, int *newtype, int *ierror)
{
    MPI_Datatype new = MPI_DATATYPE_NULL;
    MPI_Aint *wide = wide_places(places, *count);
    int result = MPI_Type_create_hindexed(*count, lengths, wide, datatype_of(*oldtype), &new);
    free(wide);
    made_type(result, new, newtype, ierror);
}
ALIAS(pmpi_type_hindexed_, mpi_type_hindexed_)

void mpi_type_struct_(int *count, int *lengths, int *places, int *types, int *newtype, int *ierror)
{
    MPI_Datatype new = MPI_DATATYPE_NULL;
    MPI_Aint *wide = wide_places(places, *count);
    MPI_Datatype *handles = calloc(*count > 0 ? (size_t)*count : 1, sizeof *handles);
    for (int i = 0; i < *count; i++) handles[i] = datatype_of(types[i]);
    int result = MPI_Type_create_struct(*count, lengths, wide, handles, &new);
    free(wide);
    free(handles);
    made_type(result, new, newtype, ierror);
}
ALIAS(pmpi_type_struct_, mpi_type_struct_)

/* Under their old names: error handlers of communicators. */
#define RENAMED(old, new, Argument)                                     \
    void new(Argument *, int *, int *);                                 \
    void mpi_##old##_(Argument *first, int *second, int *ierror)        \
    {                                                                   \
        new(first, second, ierror);                                     \
    }                                                                   \
    ALIAS(pmpi_##old##_, mpi_##old##_)
RENAMED(errhandler_create, mpi_comm_create_errhandler_, void)
RENAMED(errhandler_get, mpi_comm_get_errhandler_, int)
RENAMED(errhandler_set, mpi_comm_set_errhandler_, int)
