/* Packing past the end of the packing buffer, and unpacking past the end of what was packed, are errors that leave the
 * memory beyond untouched. */
#include "../check.h"

int main(int argc, char **argv)
{
    char buffer[16];
    int numbers[4] = {0x5a5a5a5a, 0x5a5a5a5a, 0x5a5a5a5a, 0x5a5a5a5a};
    Count position = 4;
    check_begin(&argc, &argv);
    memset(buffer, 0, sizeof buffer);
    CHECK(MPI_Pack(numbers, 2, MPI_INT, buffer, 8, &position, MPI_COMM_WORLD) != MPI_SUCCESS);
    for (int i = 8; i < 16; i++) {
        CHECK_EQ(buffer[i], 0);
    }
    position = 4;
    CHECK(MPI_Unpack(buffer, 8, &position, numbers, 2, MPI_INT, MPI_COMM_WORLD) != MPI_SUCCESS);
    CHECK_EQ(numbers[1], 0x5a5a5a5a);
    return check_end();
}
