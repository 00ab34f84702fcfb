/* Wrong arguments of MPI_Type_create_subarray and MPI_Type_create_darray (MPI 5.0, sections 5.1.3 and 5.1.4). */
#include "../check.h"

enum { ROWS = 10, COLUMNS = 12 };

static void wrong_arguments(void)
{
    enum { B = MPI_DISTRIBUTE_BLOCK, N = MPI_DISTRIBUTE_NONE, D = MPI_DISTRIBUTE_DFLT_DARG };
    Count sizes[2] = {ROWS, COLUMNS}, subsizes[2] = {2, 2}, beyond[2] = {ROWS, 1}, negative[2] = {-1, 0}, zero[2] = {0, 0};
    int blocks[2] = {B, B}, mixed[2] = {N, B}, unknown[2] = {B, 9999}, defaults[2] = {D, D}, few[2] = {4, D}, grid[2] = {2, 3};
    const int order = MPI_ORDER_C;
    MPI_Datatype type;
    FAILS(MPI_ERR_RANK, MPI_Type_create_darray(6, 6, 2, sizes, blocks, defaults, grid, order, MPI_INT, &type));
    FAILS(MPI_ERR_RANK, MPI_Type_create_darray(6, -1, 2, sizes, blocks, defaults, grid, order, MPI_INT, &type));
    FAILS(MPI_ERR_ARG, MPI_Type_create_darray(5, 0, 2, sizes, blocks, defaults, grid, order, MPI_INT, &type));
    FAILS(MPI_ERR_ARG, MPI_Type_create_darray(6, 0, 2, sizes, mixed, defaults, grid, order, MPI_INT, &type));
    FAILS(MPI_ERR_ARG, MPI_Type_create_darray(6, 0, 2, sizes, unknown, defaults, grid, order, MPI_INT, &type));
    FAILS(MPI_ERR_ARG, MPI_Type_create_darray(6, 0, 2, sizes, blocks, few, grid, order, MPI_INT, &type));
    FAILS(MPI_ERR_ARG, MPI_Type_create_darray(6, 0, 2, sizes, blocks, defaults, grid, 9999, MPI_INT, &type));
    FAILS(MPI_ERR_ARG, MPI_Type_create_darray(6, 0, 2, zero, blocks, defaults, grid, order, MPI_INT, &type));
    FAILS(MPI_ERR_TYPE, MPI_Type_create_darray(6, 0, 2, sizes, blocks, defaults, grid, order, MPI_DATATYPE_NULL, &type));
    FAILS(MPI_ERR_ARG, MPI_Type_create_subarray(2, sizes, subsizes, negative, order, MPI_INT, &type));
    FAILS(MPI_ERR_ARG, MPI_Type_create_subarray(2, sizes, beyond, subsizes, order, MPI_INT, &type));
    FAILS(MPI_ERR_ARG, MPI_Type_create_subarray(2, sizes, negative, zero, order, MPI_INT, &type));
    FAILS(MPI_ERR_ARG, MPI_Type_create_subarray(2, zero, subsizes, zero, order, MPI_INT, &type));
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    wrong_arguments();
    return check_end();
}
