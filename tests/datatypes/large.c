/* Counts, sizes and displacements beyond 31 bits (MPI 5.0, sections 5.1.8 and 5.1.11) that need hardly any memory:
 * types that span or describe more than they are sent with, and narrow answers that are MPI_UNDEFINED. */
#include "../check.h"

static const MPI_Count giga = (MPI_Count)1 << 30;

static void sizes(void)
{
    MPI_Datatype block, huge;
    MPI_Count wide, lb, extent;
    Count narrow = 5;
    OK(MPI_Type_contiguous(1 << 20, MPI_DOUBLE, &block));
    OK(MPI_Type_contiguous(1 << 12, block, &huge));
    OK(MPI_Type_commit(&huge));
    OK(MPI_Type_size_x(huge, &wide));
    CHECK(wide == 32 * giga);
    OK(MPI_Type_get_extent_x(huge, &lb, &extent));
    CHECK(lb == 0 && extent == 32 * giga);
    OK(MPI_Type_size(huge, &narrow));
    CHECK((MPI_Count)narrow == (sizeof narrow == sizeof(MPI_Count) ? 32 * giga : MPI_UNDEFINED));
    OK(MPI_Pack_size(0, huge, MPI_COMM_WORLD, &narrow));
    OK(MPI_Type_free(&block));
    OK(MPI_Type_free(&huge));
}

static void by_large_count(void)
{
    MPI_Datatype type;
    MPI_Count bytes, lb, extent, lengths[2] = {3 * giga, 1}, places[2] = {0, 5 * giga};
    OK(MPI_Type_contiguous_c(5 * giga, MPI_INT, &type));
    OK(MPI_Type_size_c(type, &bytes));
    CHECK(bytes == 20 * giga);
    OK(MPI_Type_free(&type));
    OK(MPI_Type_vector_c(2, 1, 3 * giga, MPI_SHORT, &type));
    OK(MPI_Type_size_c(type, &bytes));
    CHECK(bytes == 4);
    OK(MPI_Type_get_extent_c(type, &lb, &extent));
    CHECK(extent == 6 * giga + 2);
    OK(MPI_Type_free(&type));
    OK(MPI_Type_indexed_c(2, lengths, places, MPI_CHAR, &type));
    OK(MPI_Type_size_c(type, &bytes));
    CHECK(bytes == 3 * giga + 1);
    OK(MPI_Type_get_true_extent_c(type, &lb, &extent));
    CHECK(lb == 0 && extent == 5 * giga + 1);
    OK(MPI_Type_free(&type));
}

/* A status can hold a count that an int cannot. */
static void statuses(void)
{
    MPI_Status status;
    MPI_Count wide;
    Count narrow = 5;
    memset(&status, 0, sizeof status);
    OK(MPI_Status_set_elements_c(&status, MPI_BYTE, 5 * giga));
    OK(MPI_Get_count_c(&status, MPI_BYTE, &wide));
    CHECK(wide == 5 * giga);
    OK(MPI_Get_count_c(&status, MPI_INT, &wide));
    CHECK(wide == 5 * giga / 4);
    OK(MPI_Get_elements_c(&status, MPI_BYTE, &wide));
    CHECK(wide == 5 * giga);
    OK(MPI_Get_count(&status, MPI_BYTE, &narrow));
    CHECK((MPI_Count)narrow == (sizeof narrow == sizeof(MPI_Count) ? 5 * giga : MPI_UNDEFINED));
}

/* Two ints 6 GiB apart travel: addresses are relative to MPI_BOTTOM, so no buffer of that size is needed. */
static void far_apart(void)
{
    int near = 10 + rank, in[2] = {0, 0};
    int *away = allocate(sizeof *away);
    MPI_Aint addresses[2];
    Count lengths[2] = {1, 1};
    Extent places[2];
    MPI_Datatype type;
    MPI_Request request;
    *away = 20 + rank;
    OK(MPI_Get_address(&near, &addresses[0]));
    OK(MPI_Get_address(away, &addresses[1]));
    CHECK(MPI_Aint_add(addresses[0], MPI_Aint_diff(addresses[1], addresses[0])) == addresses[1]);
    places[0] = addresses[0];
    places[1] = addresses[1];
    OK(MPI_Type_create_hindexed(2, lengths, places, MPI_INT, &type));
    OK(MPI_Type_commit(&type));
    OK(MPI_Isend(MPI_BOTTOM, 1, type, (rank + 1) % size, 1, MPI_COMM_WORLD, &request));
    OK(MPI_Recv(in, 2, MPI_INT, (rank + size - 1) % size, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK(in[0] == 10 + (rank + size - 1) % size && in[1] == 20 + (rank + size - 1) % size);
    OK(MPI_Type_free(&type));
    free(away);
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    sizes();
    by_large_count();
    statuses();
    far_apart();
    return check_end();
}
