/* Names and info hints of communicators (MPI 5.0, sections 7.8 and 7.4.4), and handles as integers. */
#include "../check.h"

static void check_name(MPI_Comm comm, const char *expected)
{
    char name[MPI_MAX_OBJECT_NAME];
    int length = -1;
    OK(MPI_Comm_get_name(comm, name, &length));
    CHECK(strcmp(name, expected) == 0);
    CHECK_EQ(length, strlen(expected));
}

static void names(void)
{
    MPI_Comm comm, twin;
    char longest[MPI_MAX_OBJECT_NAME];
    check_name(MPI_COMM_WORLD, "MPI_COMM_WORLD");
    check_name(MPI_COMM_SELF, "MPI_COMM_SELF");
    check_name(MPI_COMM_NULL, "MPI_COMM_NULL");
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    check_name(comm, "");
    OK(MPI_Comm_set_name(comm, "the fluid ranks"));
    check_name(comm, "the fluid ranks");
    OK(MPI_Comm_dup(comm, &twin));
    check_name(twin, "");
    OK(MPI_Comm_free(&twin));
    memset(longest, 'x', sizeof longest - 1);
    longest[sizeof longest - 1] = 0;
    OK(MPI_Comm_set_name(comm, longest));
    check_name(comm, longest);
    OK(MPI_Comm_free(&comm));
    OK(MPI_Comm_set_name(MPI_COMM_WORLD, "everybody"));
    check_name(MPI_COMM_WORLD, "everybody");
}

/* Hints that the library does not know may be dropped, so only the mechanics are checked. */
static void info(void)
{
    MPI_Comm comm;
    MPI_Info hints, found;
    int flag, keys = -1;
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    OK(MPI_Info_create(&hints));
    OK(MPI_Info_set(hints, "mpi_assert_allow_overtaking", "false"));
    OK(MPI_Info_set(hints, "no_such_hint", "1"));
    OK(MPI_Comm_set_info(comm, hints));
    OK(MPI_Comm_get_info(comm, &found));
    CHECK(found != MPI_INFO_NULL && found != hints);
    OK(MPI_Info_get_nkeys(found, &keys));
    CHECK(keys >= 0);
    OK(MPI_Info_get_valuelen(found, "mpi_memory_alloc_kinds", &keys, &flag));
    CHECK(flag && keys >= 3);
    OK(MPI_Info_free(&found));
    OK(MPI_Info_free(&hints));
    OK(MPI_Comm_free(&comm));
}

static void integers(void)
{
    MPI_Comm comm;
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    CHECK(MPI_Comm_fromint(MPI_Comm_toint(comm)) == comm);
    CHECK(MPI_Comm_fromint(MPI_Comm_toint(MPI_COMM_WORLD)) == MPI_COMM_WORLD);
    CHECK_EQ(MPI_Comm_toint(MPI_COMM_WORLD), (intptr_t)MPI_COMM_WORLD);
    OK(MPI_Comm_free(&comm));
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    names();
    info();
    integers();
    return check_end();
}
