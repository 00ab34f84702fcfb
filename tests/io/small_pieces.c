/* Many small pieces (section 14.3), which may be copied into the file as memory: nothing between them is touched, the file is as long
 * as what was written, and what is behind its end is not read. */
#include "file.h"

enum { PIECES = 500, PIECE = 24 };

static unsigned char bytes[PIECES * PIECE], found[8 * PIECES * 64];

static unsigned char value_of(int owner, int at)
{
    return (unsigned char)(owner * 37 + at % 101 + 1);
}

/* Each has its pieces, and nobody has what is between those of the last and of the first. */
static void interleaved(int mode, int atomic)
{
    MPI_Datatype piece, pieces;
    MPI_File file;
    MPI_Status status;
    const char *path = path_of("small_pieces");
    int stride = 32 * size + 8, written = (PIECES - 1) * stride + 32 * (size - 1) + PIECE;
    if (rank == 0) {
        FILE *before = fopen(path, "w");
        memset(found, 200, sizeof found);
        CHECK(before != NULL && fwrite(found, 1, 5000, before) == 5000);
        fclose(before);
    }
    wait_for_all();
    OK(MPI_Type_vector(PIECES, PIECE, stride, MPI_BYTE, &piece));
    OK(MPI_Type_create_resized(piece, 0, PIECES * stride, &pieces));
    OK(MPI_Type_commit(&pieces));
    OK(MPI_File_open(MPI_COMM_WORLD, path, mode, MPI_INFO_NULL, &file));
    OK(MPI_File_set_view(file, 32 * rank, MPI_BYTE, pieces, "native", MPI_INFO_NULL));
    OK(MPI_File_set_atomicity(file, atomic));
    for (int i = 0; i < PIECES * PIECE; i++) {
        bytes[i] = value_of(rank, i);
    }
    OK(MPI_File_write_at(file, 0, bytes, PIECES * PIECE, MPI_BYTE, &status));
    CHECK_EQ(count_of(&status, MPI_BYTE), PIECES * PIECE);
    OK(MPI_File_close(&file));

    OK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDONLY, MPI_INFO_NULL, &file));
    memset(found, 0, sizeof found);
    OK(MPI_File_read_at(file, 0, found, (int)sizeof found, MPI_BYTE, &status));
    CHECK_EQ(count_of(&status, MPI_BYTE), written > 5000 ? written : 5000);
    for (int at = 0; at < written; at++) {
        int within = at % stride, owner = within / 32, byte = within % 32;
        int mine = owner < size && byte < PIECE;
        CHECK_EQ(found[at], mine ? value_of(owner, at / stride * PIECE + byte) : at < 5000 ? 200 : 0);
    }
    OK(MPI_File_set_view(file, 32 * rank, MPI_BYTE, pieces, "native", MPI_INFO_NULL));
    memset(bytes, 0, sizeof bytes);
    OK(MPI_File_read_at(file, 0, bytes, PIECES * PIECE, MPI_BYTE, &status));
    CHECK_EQ(count_of(&status, MPI_BYTE), PIECES * PIECE);
    for (int i = 0; i < PIECES * PIECE; i++) {
        CHECK_EQ(bytes[i], value_of(rank, i));
    }
    /* One tile further on there is nothing. */
    OK(MPI_File_read_at(file, PIECES * PIECE, bytes, PIECE, MPI_BYTE, &status));
    CHECK_EQ(count_of(&status, MPI_BYTE), 0);
    OK(MPI_File_close(&file));
    wait_for_all();
    if (rank == 0) {
        OK(MPI_File_delete(path, MPI_INFO_NULL));
    }
    OK(MPI_Type_free(&pieces));
    OK(MPI_Type_free(&piece));
}

/* A filetype of ten million blocks, of which few are accessed, far inside. */
static void millions(void)
{
    MPI_Datatype row, rows, all;
    MPI_File file = scratch("millions");
    MPI_Status status;
    MPI_Offset place;
    int numbers[6];
    OK(MPI_Type_vector(10000, 1, 4, MPI_INT, &row));
    OK(MPI_Type_create_resized(row, 0, 160000, &rows));
    OK(MPI_Type_contiguous(1000, rows, &all));
    OK(MPI_Type_commit(&all));
    OK(MPI_File_set_view(file, 0, MPI_INT, all, "native", MPI_INFO_NULL));
    OK(MPI_File_get_byte_offset(file, 9999997, &place));
    CHECK_EQ(place, (MPI_Offset)9999997 * 16);
    if (rank == 0) {
        for (int i = 0; i < 6; i++) {
            numbers[i] = 7 * i + 1;
        }
        OK(MPI_File_write_at(file, 9999997, numbers, 6, MPI_INT, &status));
    }
    wait_for_all();
    memset(numbers, 0, sizeof numbers);
    OK(MPI_File_read_at(file, 9999997, numbers, 6, MPI_INT, &status));
    for (int i = 0; i < 6; i++) {
        CHECK_EQ(numbers[i], 7 * i + 1);
    }
    OK(MPI_File_close(&file));
    OK(MPI_Type_free(&all));
    OK(MPI_Type_free(&rows));
    OK(MPI_Type_free(&row));
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    millions();
    interleaved(MPI_MODE_RDWR, 0);
    interleaved(MPI_MODE_WRONLY, 0);
    interleaved(MPI_MODE_RDWR, 1);
    interleaved(MPI_MODE_WRONLY | MPI_MODE_CREATE, 1);
    return check_end();
}
