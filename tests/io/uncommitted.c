/* Datatypes that are not committed show nothing of a file (section 5.1.9). */
#include "file.h"

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    MPI_File file = scratch("uncommitted");
    MPI_Datatype pair;
    int values[] = {1, 2};
    OK(MPI_Type_contiguous(2, MPI_INT, &pair));
    FAILS(MPI_ERR_TYPE, MPI_File_set_view(file, 0, MPI_INT, pair, "native", MPI_INFO_NULL));
    FAILS(MPI_ERR_TYPE, MPI_File_write_at(file, 0, values, 1, pair, MPI_STATUS_IGNORE));
    OK(MPI_Type_free(&pair));
    OK(MPI_File_close(&file));
    return check_end();
}
