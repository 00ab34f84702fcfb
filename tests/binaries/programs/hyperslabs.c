/* Parallel HDF5: all ranks write one dataset, each a block of columns, collectively, through a chunked and a contiguous
   layout; then each reads the columns of the next rank, and rows that all ranks wrote, independently. */
#include <hdf5.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROWS = 6, COLUMNS = 4 };

static int rank, size;

static void check(int condition, const char *what)
{
    if (condition)
        return;
    printf("hyperslabs rank %d: %s\n", rank, what);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static int value(int row, int column)
{
    return 1000 * row + column;
}

/* Writes or reads a block of the dataset, whose values are known. */
static void block(hid_t dataset, hid_t how, int write, hsize_t row, hsize_t column, hsize_t rows, hsize_t columns)
{
    hsize_t start[2] = {row, column}, count[2] = {rows, columns};
    hid_t there = H5Dget_space(dataset), here = H5Screate_simple(2, count, NULL);
    int *values = malloc(rows * columns * sizeof *values);
    check(H5Sselect_hyperslab(there, H5S_SELECT_SET, start, NULL, count, NULL) >= 0, "selection");
    for (hsize_t i = 0; i < rows * columns; i++)
        values[i] = write ? value((int)(row + i / columns), (int)(column + i % columns)) : -1;
    if (write)
        check(H5Dwrite(dataset, H5T_NATIVE_INT, here, there, how, values) >= 0, "write");
    else
        check(H5Dread(dataset, H5T_NATIVE_INT, here, there, how, values) >= 0, "read");
    for (hsize_t i = 0; i < rows * columns; i++)
        check(values[i] == value((int)(row + i / columns), (int)(column + i % columns)), "values");
    free(values);
    H5Sclose(here);
    H5Sclose(there);
}

static void dataset(hid_t file, const char *name, int chunked)
{
    hsize_t all[2] = {ROWS, (hsize_t)(COLUMNS * size)}, chunk[2] = {2, 3};
    hid_t space = H5Screate_simple(2, all, NULL), properties = H5Pcreate(H5P_DATASET_CREATE);
    if (chunked)
        H5Pset_chunk(properties, 2, chunk);
    hid_t made = H5Dcreate2(file, name, H5T_STD_I32BE, space, H5P_DEFAULT, properties, H5P_DEFAULT);
    check(made >= 0, "dataset");
    hid_t together = H5Pcreate(H5P_DATASET_XFER), alone = H5Pcreate(H5P_DATASET_XFER);
    H5Pset_dxpl_mpio(together, H5FD_MPIO_COLLECTIVE);
    H5Pset_dxpl_mpio(alone, H5FD_MPIO_INDEPENDENT);
    block(made, together, 1, 0, (hsize_t)(COLUMNS * rank), ROWS, COLUMNS);
    H5Fflush(file, H5F_SCOPE_GLOBAL);
    MPI_Barrier(MPI_COMM_WORLD);
    block(made, together, 0, 0, (hsize_t)(COLUMNS * ((rank + 1) % size)), ROWS, COLUMNS);
    block(made, alone, 0, (hsize_t)(rank % ROWS), 0, 1, all[1]);
    H5Pclose(alone);
    H5Pclose(together);
    H5Dclose(made);
    H5Pclose(properties);
    H5Sclose(space);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    check(H5Pset_fapl_mpio(access, MPI_COMM_WORLD, MPI_INFO_NULL) >= 0, "access");
    hid_t file = H5Fcreate("hyperslabs.h5", H5F_ACC_TRUNC, H5P_DEFAULT, access);
    check(file >= 0, "create");
    dataset(file, "contiguous", 0);
    dataset(file, "chunked", 1);
    check(H5Fclose(file) >= 0, "close");
    file = H5Fopen("hyperslabs.h5", H5F_ACC_RDONLY, access);
    hid_t again = H5Dopen2(file, "chunked", H5P_DEFAULT);
    block(again, H5P_DEFAULT, 0, 0, 0, ROWS, (hsize_t)(COLUMNS * size));
    H5Dclose(again);
    H5Fclose(file);
    H5Pclose(access);
    MPI_Finalize();
    return 0;
}
