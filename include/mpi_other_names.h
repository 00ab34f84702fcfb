/*
 * mpi_other_names.h: names that are not part of the standard's ABI, which mpi.h includes.
 *
 * Programs in C know them from other headers: Fortran's handles and statuses as they were before the ABI
 * (section 19.3), and the functions that MPI 3.0 removed (chapter 17) and some still call. They are made of the
 * functions of mpi.h, so that a program with them needs nothing else from its library.
 */
#ifndef MPI_OTHER_NAMES_H
#define MPI_OTHER_NAMES_H

#ifdef __cplusplus
extern "C" {
#endif

/* Fortran's default INTEGER, and a status of Fortran 2008. */
typedef int MPI_Fint;
typedef struct {
    MPI_Fint MPI_SOURCE;
    MPI_Fint MPI_TAG;
    MPI_Fint MPI_ERROR;
    MPI_Fint MPI_internal[5];
} MPI_F08_status;

#define MPI_Comm_c2f        MPI_Comm_toint
#define MPI_Comm_f2c        MPI_Comm_fromint
#define MPI_Errhandler_c2f  MPI_Errhandler_toint
#define MPI_Errhandler_f2c  MPI_Errhandler_fromint
#define MPI_File_c2f        MPI_File_toint
#define MPI_File_f2c        MPI_File_fromint
#define MPI_Group_c2f       MPI_Group_toint
#define MPI_Group_f2c       MPI_Group_fromint
#define MPI_Info_c2f        MPI_Info_toint
#define MPI_Info_f2c        MPI_Info_fromint
#define MPI_Message_c2f     MPI_Message_toint
#define MPI_Message_f2c     MPI_Message_fromint
#define MPI_Op_c2f          MPI_Op_toint
#define MPI_Op_f2c          MPI_Op_fromint
#define MPI_Request_c2f     MPI_Request_toint
#define MPI_Request_f2c     MPI_Request_fromint
#define MPI_Session_c2f     MPI_Session_toint
#define MPI_Session_f2c     MPI_Session_fromint
#define MPI_Type_c2f        MPI_Type_toint
#define MPI_Type_f2c        MPI_Type_fromint
#define MPI_Win_c2f         MPI_Win_toint
#define MPI_Win_f2c         MPI_Win_fromint
#define PMPI_Comm_c2f       PMPI_Comm_toint
#define PMPI_Comm_f2c       PMPI_Comm_fromint
#define PMPI_Errhandler_c2f PMPI_Errhandler_toint
#define PMPI_Errhandler_f2c PMPI_Errhandler_fromint
#define PMPI_File_c2f       PMPI_File_toint
#define PMPI_File_f2c       PMPI_File_fromint
#define PMPI_Group_c2f      PMPI_Group_toint
#define PMPI_Group_f2c      PMPI_Group_fromint
#define PMPI_Info_c2f       PMPI_Info_toint
#define PMPI_Info_f2c       PMPI_Info_fromint
#define PMPI_Message_c2f    PMPI_Message_toint
#define PMPI_Message_f2c    PMPI_Message_fromint
#define PMPI_Op_c2f         PMPI_Op_toint
#define PMPI_Op_f2c         PMPI_Op_fromint
#define PMPI_Request_c2f    PMPI_Request_toint
#define PMPI_Request_f2c    PMPI_Request_fromint
#define PMPI_Session_c2f    PMPI_Session_toint
#define PMPI_Session_f2c    PMPI_Session_fromint
#define PMPI_Type_c2f       PMPI_Type_toint
#define PMPI_Type_f2c       PMPI_Type_fromint
#define PMPI_Win_c2f        PMPI_Win_toint
#define PMPI_Win_f2c        PMPI_Win_fromint

/* Statuses have the same eight integers everywhere. A status that is to be ignored has none. */
static __inline__ int MPI_Status_c2f(const MPI_Status *c_status, MPI_Fint *f_status)
{
    int i;
    if (c_status == MPI_STATUS_IGNORE || f_status == 0)
        return MPI_ERR_ARG;
    f_status[MPI_F_SOURCE] = c_status->MPI_SOURCE;
    f_status[MPI_F_TAG] = c_status->MPI_TAG;
    f_status[MPI_F_ERROR] = c_status->MPI_ERROR;
    for (i = 0; i < 5; i++)
        f_status[MPI_F_ERROR + 1 + i] = c_status->MPI_internal[i];
    return MPI_SUCCESS;
}

static __inline__ int MPI_Status_f2c(const MPI_Fint *f_status, MPI_Status *c_status)
{
    int i;
    if (f_status == 0 || c_status == MPI_STATUS_IGNORE)
        return MPI_ERR_ARG;
    c_status->MPI_SOURCE = f_status[MPI_F_SOURCE];
    c_status->MPI_TAG = f_status[MPI_F_TAG];
    c_status->MPI_ERROR = f_status[MPI_F_ERROR];
    for (i = 0; i < 5; i++)
        c_status->MPI_internal[i] = f_status[MPI_F_ERROR + 1 + i];
    return MPI_SUCCESS;
}

static __inline__ int MPI_Status_c2f08(const MPI_Status *c_status, MPI_F08_status *f08_status)
{
    return MPI_Status_c2f(c_status, (MPI_Fint *)f08_status);
}

static __inline__ int MPI_Status_f082c(const MPI_F08_status *f08_status, MPI_Status *c_status)
{
    return MPI_Status_f2c((const MPI_Fint *)f08_status, c_status);
}

static __inline__ int MPI_Status_f2f08(const MPI_Fint *f_status, MPI_F08_status *f08_status)
{
    return MPI_Status_f2c(f_status, (MPI_Status *)f08_status);
}

static __inline__ int MPI_Status_f082f(const MPI_F08_status *f08_status, MPI_Fint *f_status)
{
    return MPI_Status_c2f((const MPI_Status *)f08_status, f_status);
}

#define PMPI_Status_c2f   MPI_Status_c2f
#define PMPI_Status_f2c   MPI_Status_f2c
#define PMPI_Status_c2f08 MPI_Status_c2f08
#define PMPI_Status_f082c MPI_Status_f082c
#define PMPI_Status_f2f08 MPI_Status_f2f08
#define PMPI_Status_f082f MPI_Status_f082f

/* Removed. Markers of bounds, MPI_LB and MPI_UB, went with them: MPI_Type_create_resized sets bounds. */
typedef MPI_Comm_errhandler_function MPI_Handler_function;

#define MPI_Address            MPI_Get_address
#define MPI_Errhandler_create  MPI_Comm_create_errhandler
#define MPI_Errhandler_get     MPI_Comm_get_errhandler
#define MPI_Errhandler_set     MPI_Comm_set_errhandler
#define MPI_Type_hindexed      MPI_Type_create_hindexed
#define MPI_Type_hvector       MPI_Type_create_hvector
#define MPI_Type_struct        MPI_Type_create_struct
#define PMPI_Address           PMPI_Get_address
#define PMPI_Errhandler_create PMPI_Comm_create_errhandler
#define PMPI_Errhandler_get    PMPI_Comm_get_errhandler
#define PMPI_Errhandler_set    PMPI_Comm_set_errhandler
#define PMPI_Type_hindexed     PMPI_Type_create_hindexed
#define PMPI_Type_hvector      PMPI_Type_create_hvector
#define PMPI_Type_struct       PMPI_Type_create_struct

static __inline__ int MPI_Type_extent(MPI_Datatype datatype, MPI_Aint *extent)
{
    MPI_Aint lb;
    return MPI_Type_get_extent(datatype, &lb, extent);
}

static __inline__ int MPI_Type_lb(MPI_Datatype datatype, MPI_Aint *lb)
{
    MPI_Aint extent;
    return MPI_Type_get_extent(datatype, lb, &extent);
}

static __inline__ int MPI_Type_ub(MPI_Datatype datatype, MPI_Aint *ub)
{
    MPI_Aint extent = 0;
    int code = MPI_Type_get_extent(datatype, ub, &extent);
    if (code == MPI_SUCCESS)
        *ub += extent;
    return code;
}

#define PMPI_Type_extent MPI_Type_extent
#define PMPI_Type_lb     MPI_Type_lb
#define PMPI_Type_ub     MPI_Type_ub

#ifdef __cplusplus
}
#endif

#endif
