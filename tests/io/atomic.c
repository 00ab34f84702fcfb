/* Atomic mode (section 14.6.1): accesses that overlap happen one after another, and nobody sees half of one. */
#include "file.h"

enum { LENGTH = 40000, ROUNDS = 12 };

static unsigned char bytes[LENGTH];

static int uniform(int length)
{
    for (int i = 1; i < length; i++) {
        if (bytes[i] != bytes[0]) {
            return 0;
        }
    }
    return 1;
}

static void modes(MPI_File file)
{
    int flag;
    OK(MPI_File_get_atomicity(file, &flag));
    CHECK_EQ(flag, 0);
    OK(MPI_File_set_atomicity(file, 1));
    OK(MPI_File_get_atomicity(file, &flag));
    CHECK_EQ(flag, 1);
    if (size > 1) {
        FAILS(MPI_ERR_NOT_SAME, MPI_File_set_atomicity(file, rank == 0));
    }
    OK(MPI_File_get_atomicity(file, &flag));
    CHECK_EQ(flag, 1);
}

/* All processes write all of a range, which is in many pieces of the file, and read it again and again. */
static void overlapping(MPI_File file, MPI_Datatype filetype)
{
    MPI_Status status;
    MPI_Request request;
    OK(MPI_File_set_view(file, 0, MPI_BYTE, filetype, "native", MPI_INFO_NULL));
    memset(bytes, 0, LENGTH);
    OK(MPI_File_write_at_all(file, 0, bytes, LENGTH, MPI_BYTE, &status));
    for (int round = 0; round < ROUNDS; round++) {
        memset(bytes, 1 + rank, LENGTH);
        if (round % 3 == 0) {
            OK(MPI_File_iwrite_at(file, 0, bytes, LENGTH, MPI_BYTE, &request));
            OK(MPI_Wait(&request, &status));
        } else if (round % 3 == 1) {
            OK(MPI_File_write_at(file, 0, bytes, LENGTH, MPI_BYTE, &status));
        } else {
            OK(MPI_File_write_at_all(file, 0, bytes, LENGTH, MPI_BYTE, &status));
        }
        OK(MPI_File_read_at(file, 0, bytes, LENGTH, MPI_BYTE, &status));
        CHECK_EQ(count_of(&status, MPI_BYTE), LENGTH);
        CHECK(uniform(LENGTH));
    }
    wait_for_all();
    OK(MPI_File_read_at_all(file, 0, bytes, LENGTH, MPI_BYTE, &status));
    CHECK(uniform(LENGTH) && bytes[0] > 0);
}

/* What one has written the next one reads, with nothing but a message between. */
static void seen_at_once(MPI_File file)
{
    int value = 0;
    OK(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
    OK(MPI_File_seek_shared(file, 100, MPI_SEEK_SET));
    if (rank > 0) {
        OK(MPI_Recv(NULL, 0, MPI_INT, rank - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        OK(MPI_File_read_at(file, 0, &value, 1, MPI_INT, MPI_STATUS_IGNORE));
        CHECK_EQ(value, rank);
    }
    value = rank + 1;
    OK(MPI_File_write_at(file, 0, &value, 1, MPI_INT, MPI_STATUS_IGNORE));
    if (rank + 1 < size) {
        OK(MPI_Send(NULL, 0, MPI_INT, rank + 1, 0, MPI_COMM_WORLD));
    }
    /* The shared pointer goes on working. */
    OK(MPI_File_write_shared(file, &value, 1, MPI_INT, MPI_STATUS_IGNORE));
    wait_for_all();
    OK(MPI_File_set_atomicity(file, 0));
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    MPI_File file = scratch("atomic");
    MPI_Datatype pieces, holes;
    modes(file);
    overlapping(file, MPI_BYTE);
    OK(MPI_Type_vector(10, 400, 500, MPI_BYTE, &pieces));
    OK(MPI_Type_create_resized(pieces, 0, 5100, &holes));
    OK(MPI_Type_commit(&holes));
    overlapping(file, holes);
    OK(MPI_Type_free(&holes));
    OK(MPI_Type_free(&pieces));
    seen_at_once(file);
    OK(MPI_File_close(&file));
    return check_end();
}
