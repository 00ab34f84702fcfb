/* Nonblocking accesses of all processes together: the bytes are those of a naive model, whatever the hints; calls that follow find what
 * came before; files do not wait for each other; and where threads may work beside the program an error of one process is one of all. */
#include "file.h"

enum { FILES = 7, BLOCK = 300, BLOCKS = 20, LENGTH = BLOCK * BLOCKS };

/* Opens a file that goes through few processes, with blocks of each process in turn. */
static MPI_File interleaved(const char *name, const char *nodes)
{
    MPI_Datatype blocks, tile;
    MPI_File file;
    MPI_Info info;
    int mode = MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE;
    OK(MPI_Info_create(&info));
    OK(MPI_Info_set(info, "cb_nodes", nodes));
    OK(MPI_Info_set(info, "cb_buffer_size", "20000"));
    OK(MPI_File_open(MPI_COMM_WORLD, path_of(name), mode, info, &file));
    OK(MPI_Info_free(&info));
    OK(MPI_Type_contiguous(BLOCK, MPI_BYTE, &blocks));
    OK(MPI_Type_create_resized(blocks, 0, (Extent)BLOCK * size, &tile));
    OK(MPI_Type_commit(&tile));
    OK(MPI_File_set_view(file, (MPI_Offset)BLOCK * rank, MPI_BYTE, tile, "native", MPI_INFO_NULL));
    OK(MPI_Type_free(&blocks));
    OK(MPI_Type_free(&tile));
    return file;
}

static void own(unsigned char *bytes, int salt)
{
    fill(bytes, LENGTH, (unsigned)(salt * 100 + rank));
}

static int matches(const unsigned char *bytes, int length, int salt)
{
    for (int i = 0; i < length; i++) {
        if (bytes[i] != pattern((size_t)i, (unsigned)(salt * 100 + rank))) {
            return 0;
        }
    }
    return 1;
}

static void there_and_back(const char *nodes)
{
    static unsigned char out[3][LENGTH], in[3][LENGTH];
    MPI_Request requests[3];
    MPI_Status statuses[3], status;
    MPI_Offset position;
    MPI_File file = interleaved("there_and_back", nodes);
    for (int i = 0; i < 3; i++) {
        own(out[i], i);
    }
    OK(MPI_File_iwrite_all(file, out[0], LENGTH, MPI_BYTE, &requests[0]));
    OK(MPI_File_get_position(file, &position));
    CHECK_EQ(position, LENGTH);
    OK(MPI_File_iwrite_at_all(file, LENGTH, out[1], LENGTH, MPI_BYTE, &requests[1]));
    /* A blocking one comes after those. */
    OK(MPI_File_write_at_all(file, 2 * LENGTH, out[2], LENGTH, MPI_BYTE, &status));
    OK(MPI_File_iread_at_all(file, LENGTH, in[1], LENGTH, MPI_BYTE, &requests[2]));
    OK(MPI_Waitall(3, requests, statuses));
    for (int i = 0; i < 3; i++) {
        CHECK_EQ(count_of(&statuses[i], MPI_BYTE), LENGTH);
    }
    CHECK(matches(in[1], LENGTH, 1));
    wait_for_all();
    OK(MPI_File_seek(file, 0, MPI_SEEK_SET));
    OK(MPI_File_iread_all(file, in[0], LENGTH, MPI_BYTE, &requests[0]));
    OK(MPI_File_read_at_all(file, 2 * LENGTH, in[2], LENGTH, MPI_BYTE, &status));
    OK(MPI_Wait(&requests[0], &status));
    CHECK_EQ(count_of(&status, MPI_BYTE), LENGTH);
    CHECK(matches(in[0], LENGTH, 0) && matches(in[2], LENGTH, 2));
    /* The file ends before the third part of the last process does. */
    wait_for_all();
    OK(MPI_File_set_size(file, (MPI_Offset)3 * LENGTH * size - 10));
    OK(MPI_File_iread_at_all(file, 2 * LENGTH, in[2], LENGTH, MPI_BYTE, &requests[0]));
    OK(MPI_Wait(&requests[0], &status));
    CHECK_EQ(count_of(&status, MPI_BYTE), rank == size - 1 ? LENGTH - 10 : LENGTH);
    OK(MPI_File_close(&file));
}

/* Whoever is told to start by a message does so although the sender has started already. */
static void one_after_another(void)
{
    static unsigned char bytes[LENGTH];
    MPI_Request request;
    int token = 0;
    MPI_File file = interleaved("one_after_another", "2");
    own(bytes, 9);
    if (rank > 0) {
        OK(MPI_Recv(&token, 1, MPI_INT, rank - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    }
    OK(MPI_File_iwrite_all(file, bytes, LENGTH, MPI_BYTE, &request));
    if (rank < size - 1) {
        OK(MPI_Send(&token, 1, MPI_INT, rank + 1, 0, MPI_COMM_WORLD));
    }
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    memset(bytes, 0, LENGTH);
    OK(MPI_File_seek(file, 0, MPI_SEEK_SET));
    OK(MPI_File_read_all(file, bytes, LENGTH, MPI_BYTE, MPI_STATUS_IGNORE));
    CHECK(matches(bytes, LENGTH, 9));
    OK(MPI_File_close(&file));
}

/* More files than there are helpers, which every other process starts the other way round; and accesses of one process meanwhile. */
static void many_files(void)
{
    static unsigned char bytes[FILES][LENGTH];
    MPI_File files[FILES], other = scratch("other");
    MPI_Request requests[FILES], request;
    int value = rank, found = -1;
    for (int i = 0; i < FILES; i++) {
        char name[20];
        snprintf(name, sizeof name, "many%d", i);
        files[i] = interleaved(name, "1");
        own(bytes[i], i);
    }
    for (int i = 0; i < FILES; i++) {
        int which = rank % 2 ? FILES - 1 - i : i;
        OK(MPI_File_iwrite_all(files[which], bytes[which], LENGTH, MPI_BYTE, &requests[which]));
        if (i == FILES / 2) {
            OK(MPI_File_iwrite_at(other, (MPI_Offset)sizeof value * rank, &value, 1, MPI_INT, &request));
            OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        }
    }
    OK(MPI_Waitall(FILES, requests, MPI_STATUSES_IGNORE));
    OK(MPI_File_read_at(other, (MPI_Offset)sizeof value * rank, &found, 1, MPI_INT, MPI_STATUS_IGNORE));
    CHECK_EQ(found, rank);
    for (int i = 0; i < FILES; i++) {
        memset(bytes[i], 0, LENGTH);
        OK(MPI_File_read_at_all(files[i], 0, bytes[i], LENGTH, MPI_BYTE, MPI_STATUS_IGNORE));
        CHECK(matches(bytes[i], LENGTH, i));
        OK(MPI_File_close(&files[i]));
    }
    OK(MPI_File_close(&other));
}

/* The last process fails at once, the others by their requests. On another library that takes MPI_THREAD_MULTIPLE. */
static void errors(void)
{
    char version[MPI_MAX_LIBRARY_VERSION_STRING];
    static unsigned char bytes[LENGTH];
    MPI_Request request = MPI_REQUEST_NULL;
    int length, level;
    MPI_File file = interleaved("errors", "1");
    OK(MPI_Get_library_version(version, &length));
    OK(MPI_Query_thread(&level));
    if (strncmp(version, "Postrider", 9) == 0 || level == MPI_THREAD_MULTIPLE) {
        for (int i = 0; i < 2; i++) {
            if (rank == size - 1) {
                FAILS(MPI_ERR_COUNT, MPI_File_iwrite_all(file, bytes, -1, MPI_BYTE, &request));
            } else {
                OK(MPI_File_iwrite_all(file, bytes, LENGTH, MPI_BYTE, &request));
                FAILS(MPI_ERR_COUNT, MPI_Wait(&request, MPI_STATUS_IGNORE));
            }
        }
    }
    own(bytes, 5);
    OK(MPI_File_iwrite_at_all(file, 0, bytes, LENGTH, MPI_BYTE, &request));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    memset(bytes, 0, LENGTH);
    OK(MPI_File_iread_at_all(file, 0, bytes, LENGTH, MPI_BYTE, &request));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK(matches(bytes, LENGTH, 5));
    OK(MPI_File_close(&file));
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    there_and_back("1");
    there_and_back("3");
    one_after_another();
    many_files();
    errors();
    return check_end();
}
