/* Inquiries (MPI 5.0, sections 9.1, 9.2, 9.6 and 20): processor name, clock, memory, versions, handles as integers. */
#include "../check.h"

static void clock_runs(void)
{
    double tick = MPI_Wtick(), start = MPI_Wtime(), last = start, now;
    CHECK(tick > 0 && tick < 1);
    for (int i = 0; i < 1000; i++) {
        now = MPI_Wtime();
        CHECK(now >= last);
        last = now;
    }
    do {
        now = MPI_Wtime();
    } while (now == start);
}

static void memory(void)
{
    double *base = NULL;
    MPI_Info info;
    OK(MPI_Alloc_mem(1000 * sizeof *base, MPI_INFO_NULL, &base));
    CHECK(base != NULL);
    for (int i = 0; i < 1000; i++) {
        base[i] = i;
    }
    OK(MPI_Allreduce(MPI_IN_PLACE, base, 1000, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
    CHECK(base[999] == 999.0 * size);
    OK(MPI_Free_mem(base));
    OK(MPI_Info_create(&info));
    OK(MPI_Info_set(info, "mpi_minimum_memory_alignment", "4096"));
    OK(MPI_Alloc_mem(10, info, &base));
    CHECK_EQ((uintptr_t)base % 4096, 0);
    OK(MPI_Free_mem(base));
    OK(MPI_Info_free(&info));
}

static void names(void)
{
    char name[MPI_MAX_PROCESSOR_NAME];
    int length = -1, major = -1, minor = -1;
    OK(MPI_Get_processor_name(name, &length));
    CHECK(length > 0 && length < MPI_MAX_PROCESSOR_NAME);
    CHECK_EQ(strlen(name), length);
    OK(MPI_Abi_get_version(&major, &minor));
#ifdef MPICH
    // The older ABI has no version; the standard's answer is -1 then.
    CHECK_EQ(major, -1);
    CHECK_EQ(minor, -1);
#else
    CHECK_EQ(major, 1);
    CHECK(minor >= 0);
#endif
    OK(MPI_Pcontrol(0));
    OK(MPI_Pcontrol(2, "more", 3));
}

static void integers(void)
{
    MPI_Op op = MPI_Op_fromint(MPI_Op_toint(MPI_SUM));
    MPI_Request request;
    int in;
    CHECK(op == MPI_SUM);
    CHECK(MPI_Type_fromint(MPI_Type_toint(MPI_DOUBLE)) == MPI_DOUBLE);
    CHECK(MPI_Message_fromint(MPI_Message_toint(MPI_MESSAGE_NO_PROC)) == MPI_MESSAGE_NO_PROC);
    CHECK(MPI_Info_fromint(MPI_Info_toint(MPI_INFO_NULL)) == MPI_INFO_NULL);
    CHECK(MPI_File_fromint(MPI_File_toint(MPI_FILE_NULL)) == MPI_FILE_NULL);
    CHECK(MPI_Win_fromint(MPI_Win_toint(MPI_WIN_NULL)) == MPI_WIN_NULL);
    CHECK(MPI_Session_fromint(MPI_Session_toint(MPI_SESSION_NULL)) == MPI_SESSION_NULL);
    OK(MPI_Irecv(&in, 1, MPI_INT, rank, 1, MPI_COMM_WORLD, &request));
    CHECK(MPI_Request_fromint(MPI_Request_toint(request)) == request);
    OK(MPI_Cancel(&request));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
}

static void abi_info(void)
{
    MPI_Info info;
    int keys = 0, flag = 0, length = 16;
    char value[16] = "";
    OK(MPI_Abi_get_info(&info));
    OK(MPI_Info_get_nkeys(info, &keys));
    CHECK(keys > 0);
    OK(MPI_Info_get_string(info, "mpi_aint_size", &length, value, &flag));
    CHECK(flag && atoi(value) == (int)sizeof(MPI_Aint));
    OK(MPI_Info_free(&info));
    OK(MPI_Get_hw_resource_info(&info));
    OK(MPI_Info_get_nkeys(info, &keys));
    OK(MPI_Info_free(&info));
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    clock_runs();
    memory();
    names();
    integers();
    abi_info();
    return check_end();
}
