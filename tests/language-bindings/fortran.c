/* What the ABI says, and what a program says of its Fortran compiler (MPI 5.0, sections 20.2 and 20.3), and the integers of
 * objects that are not predefined (section 19.3). */
#include "../check.h"

static void version_and_sizes(void)
{
    const char *keys[] = {"mpi_aint_size", "mpi_count_size", "mpi_offset_size"};
    const size_t sizes[] = {sizeof(MPI_Aint), sizeof(MPI_Count), sizeof(MPI_Offset)};
    int major = -1, minor = -1;
    MPI_Info info;
    OK(MPI_Abi_get_version(&major, &minor));
#ifdef MPI_ABI_VERSION
    CHECK_EQ(major, MPI_ABI_VERSION);
    CHECK_EQ(minor, MPI_ABI_SUBVERSION);
#endif
    OK(MPI_Abi_get_info(&info));
    for (int i = 0; i < 3; i++) {
        char value[16];
        int flag = 0, length = sizeof value;
        OK(MPI_Info_get_string(info, keys[i], &length, value, &flag));
        CHECK(flag);
        CHECK_EQ(atoi(value), sizes[i]);
    }
    OK(MPI_Info_free(&info));
}

static void information(void)
{
    MPI_Info info = MPI_INFO_ENV, given;
    char value[16];
    int flag = 0, length = sizeof value;
    OK(MPI_Abi_get_fortran_info(&info));
    CHECK(info == MPI_INFO_NULL);
    OK(MPI_Info_create(&given));
    OK(MPI_Info_set(given, "mpi_integer_size", "3"));
    FAILS(MPI_ERR_ABI, MPI_Abi_set_fortran_info(given));
    OK(MPI_Info_set(given, "mpi_integer_size", "4"));
    OK(MPI_Info_set(given, "mpi_logical_size", "4"));
    OK(MPI_Info_set(given, "mpi_real16_supported", "false"));
    OK(MPI_Info_set(given, "something else", "true"));
    OK(MPI_Abi_set_fortran_info(given));
    FAILS(MPI_ERR_ABI, MPI_Abi_set_fortran_info(given));
    OK(MPI_Info_free(&given));
    OK(MPI_Abi_get_fortran_info(&info));
    OK(MPI_Info_get_string(info, "mpi_real16_supported", &length, value, &flag));
    CHECK(flag && strcmp(value, "false") == 0);
    length = sizeof value;
    OK(MPI_Info_get_string(info, "something else", &length, value, &flag));
    CHECK_EQ(flag, 0);
    OK(MPI_Info_free(&info));
}

static void booleans(void)
{
    int32_t yes = -1, no = 0, two = 2, got_yes = 7, got_no = 7, is_set = 1;
    OK(MPI_Abi_get_fortran_booleans(4, &got_yes, &got_no, &is_set));
    CHECK_EQ(is_set, 0);
    CHECK_EQ(got_yes, 7);
    FAILS(MPI_ERR_ABI, MPI_Abi_set_fortran_booleans(3, &yes, &no));
    FAILS(MPI_ERR_ABI, MPI_Abi_set_fortran_booleans(4, &two, &no));
    FAILS(MPI_ERR_ABI, MPI_Abi_set_fortran_booleans(4, &no, &yes));
    FAILS(MPI_ERR_ARG, MPI_Abi_set_fortran_booleans(4, &yes, NULL));
    OK(MPI_Abi_set_fortran_booleans(4, &yes, &no));
    FAILS(MPI_ERR_ABI, MPI_Abi_set_fortran_booleans(4, &yes, &no));
    OK(MPI_Abi_get_fortran_booleans(4, &got_yes, &got_no, &is_set));
    CHECK_EQ(is_set, 1);
    CHECK_EQ(got_yes, -1);
    CHECK_EQ(got_no, 0);
    OK(MPI_Allreduce(&yes, &got_yes, 1, MPI_LOGICAL, MPI_LAND, MPI_COMM_WORLD));
    CHECK(got_yes & 1);
}

static void integers(void)
{
    MPI_Group group;
    MPI_Datatype datatype;
    MPI_Op op;
    MPI_Message message;
    MPI_Info info;
    MPI_Session session;
    MPI_Errhandler handler = MPI_ERRORS_ABORT;
    MPI_Request request;
    int value = 3;
    OK(MPI_Comm_group(MPI_COMM_WORLD, &group));
    CHECK(MPI_Group_fromint(MPI_Group_toint(group)) == group);
    OK(MPI_Group_free(&group));
    OK(MPI_Type_contiguous(3, MPI_INT, &datatype));
    CHECK(MPI_Type_fromint(MPI_Type_toint(datatype)) == datatype);
    OK(MPI_Type_free(&datatype));
    op = MPI_SUM;
    CHECK(MPI_Op_fromint(MPI_Op_toint(op)) == op);
    CHECK(MPI_Errhandler_fromint(MPI_Errhandler_toint(handler)) == handler);
    OK(MPI_Isend(&value, 1, MPI_INT, rank, 1, MPI_COMM_WORLD, &request));
    OK(MPI_Mprobe(rank, 1, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE));
    CHECK(MPI_Message_fromint(MPI_Message_toint(message)) == message);
    OK(MPI_Mrecv(&value, 1, MPI_INT, &message, MPI_STATUS_IGNORE));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    OK(MPI_Info_create(&info));
    CHECK(MPI_Info_fromint(MPI_Info_toint(info)) == info);
    OK(MPI_Info_free(&info));
    OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
    CHECK(MPI_Session_fromint(MPI_Session_toint(session)) == session);
    OK(MPI_Session_finalize(&session));
    /* The integers of predefined handles are their values in the ABI. */
    CHECK_EQ(MPI_Comm_toint(MPI_COMM_WORLD), (intptr_t)MPI_COMM_WORLD);
    CHECK_EQ(MPI_Type_toint(MPI_DOUBLE), (intptr_t)MPI_DOUBLE);
}

int main(int argc, char **argv)
{
    version_and_sizes();
    check_begin(&argc, &argv);
    information();
    booleans();
    integers();
    return check_end();
}
