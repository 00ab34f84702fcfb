/* Data representations (section 14.5): what values look like in the file. */
#include "file.h"

#include <math.h>

static int calls, wrong_state;
static char state;

/* The program's own representation: every int as text of ten characters. */
static int text_extent(MPI_Datatype datatype, MPI_Aint *extent, void *extra)
{
    wrong_state += extra != &state;
    *extent = datatype == MPI_INT ? 10 : datatype == MPI_CHAR ? 2 : 20;
    return MPI_SUCCESS;
}

static int to_text(void *memory, MPI_Count count, void *file, MPI_Offset position, void *extra)
{
    char text[12];
    wrong_state += extra != &state;
    calls++;
    for (MPI_Count i = 0; i < count; i++) {
        snprintf(text, sizeof text, "%010d", ((int *)memory)[position + i]);
        memcpy((char *)file + 10 * i, text, 10);
    }
    return MPI_SUCCESS;
}

static int from_text(void *memory, MPI_Count count, void *file, MPI_Offset position, void *extra)
{
    char text[12] = "";
    wrong_state += extra != &state;
    calls++;
    for (MPI_Count i = 0; i < count; i++) {
        memcpy(text, (char *)file + 10 * i, 10);
        ((int *)memory)[position + i] = atoi(text);
    }
    return MPI_SUCCESS;
}

static int write_text(void *memory, MPI_Datatype type, int count, void *file, MPI_Offset position, void *extra)
{
    CHECK(type == MPI_INT);
    return to_text(memory, count, file, position, extra);
}

static int read_text(void *memory, MPI_Datatype type, int count, void *file, MPI_Offset position, void *extra)
{
    CHECK(type == MPI_INT);
    return from_text(memory, count, file, position, extra);
}

static int write_text_c(void *memory, MPI_Datatype type, MPI_Count count, void *file, MPI_Offset position, void *extra)
{
    CHECK(type == MPI_INT);
    return to_text(memory, count, file, position, extra);
}

static int read_text_c(void *memory, MPI_Datatype type, MPI_Count count, void *file, MPI_Offset position, void *extra)
{
    CHECK(type == MPI_INT);
    return from_text(memory, count, file, position, extra);
}

static int fails(void *memory, MPI_Datatype type, int count, void *file, MPI_Offset position, void *extra)
{
    (void)memory, (void)type, (void)count, (void)file, (void)position, (void)extra;
    return MPI_ERR_OTHER;
}

static void registering(void)
{
    char name[MPI_MAX_DATAREP_STRING + 5];
    OK(MPI_Register_datarep("text", read_text, write_text, text_extent, &state));
    OK(MPI_Register_datarep_c("text_c", read_text_c, write_text_c, text_extent, &state));
    OK(MPI_Register_datarep("failing", fails, fails, text_extent, &state));
    OK(MPI_Register_datarep("plain", MPI_CONVERSION_FN_NULL, MPI_CONVERSION_FN_NULL, text_extent, &state));
    FAILS(MPI_ERR_DUP_DATAREP, MPI_Register_datarep("text", read_text, write_text, text_extent, &state));
    FAILS(MPI_ERR_DUP_DATAREP, MPI_Register_datarep_c("native", read_text_c, write_text_c, text_extent, &state));
    FAILS(MPI_ERR_DUP_DATAREP, MPI_Register_datarep("external32", read_text, write_text, text_extent, &state));
    memset(name, 'n', sizeof name);
    name[sizeof name - 1] = 0;
    FAILS(MPI_ERR_ARG, MPI_Register_datarep(name, read_text, write_text, text_extent, &state));
    FAILS(MPI_ERR_ARG, MPI_Register_datarep("sizeless", read_text, write_text, NULL, &state));
}

static void own(MPI_File file, const char *name)
{
    int out[] = {3 + rank, -14, 159}, in[4] = {0, 0, 0, 77};
    char bytes[30], used[MPI_MAX_DATAREP_STRING];
    Extent extent;
    MPI_Offset where;
    MPI_Status status;
    MPI_Datatype pair, tile;
    MPI_Request request;
    MPI_Offset disp;
    OK(MPI_File_set_size(file, 0));
    OK(MPI_File_set_view(file, 5, MPI_INT, MPI_INT, name, MPI_INFO_NULL));
    OK(MPI_File_get_view(file, &disp, &pair, &tile, used));
    CHECK(strcmp(used, name) == 0);
    OK(MPI_File_get_type_extent(file, MPI_INT, &extent));
    CHECK_EQ(extent, 10);
    OK(MPI_Type_contiguous(3, MPI_INT, &pair));
    OK(MPI_File_get_type_extent(file, pair, &extent));
    CHECK_EQ(extent, 30);
    OK(MPI_Type_free(&pair));
    calls = 0;
    OK(MPI_File_write_at_all(file, 3 * rank, out, 3, MPI_INT, &status));
    CHECK_EQ(count_of(&status, MPI_INT), 3);
    CHECK(calls > 0);
    OK(MPI_File_get_byte_offset(file, 2, &where));
    CHECK_EQ(where, 25);
    OK(MPI_File_iread_at(file, 3 * rank, in, 3, MPI_INT, &request));
    OK(MPI_Wait(&request, &status));
    CHECK_EQ(count_of(&status, MPI_INT), 3);
    CHECK(memcmp(in, out, sizeof out) == 0 && in[3] == 77);
    /* Half a value is none. */
    wait_for_all();
    OK(MPI_File_set_size(file, 5 + 25));
    memset(in, 0, sizeof in);
    OK(MPI_File_read_at(file, 0, in, 3, MPI_INT, &status));
    CHECK_EQ(count_of(&status, MPI_INT), 2);
    CHECK_EQ(in[1], -14);
    CHECK_EQ(in[2], 0);
    OK(MPI_File_set_view(file, 5, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
    OK(MPI_File_read_at(file, 0, bytes, 20, MPI_BYTE, &status));
    CHECK(memcmp(bytes, "0000000003-000000014", 20) == 0);
    /* Every second value: the gaps of a filetype are as wide as values in the file. */
    OK(MPI_Type_vector(2, 1, 2, MPI_INT, &tile));
    OK(MPI_Type_commit(&tile));
    OK(MPI_File_set_view(file, 0, MPI_INT, tile, name, MPI_INFO_NULL));
    OK(MPI_File_get_byte_offset(file, 3, &where));
    CHECK_EQ(where, 50);
    OK(MPI_Type_free(&tile));
    wait_for_all();
}

static void external(MPI_File file)
{
    struct {
        int i;
        double d;
        short s;
    } out = {0x01020304, 1.5, -2}, in = {0, 0, 0};
    static const unsigned char expected[] = {1, 2, 3, 4, 0x3f, 0xf8, 0, 0, 0, 0, 0, 0, 0xff, 0xfe};
    unsigned char bytes[sizeof expected];
    Count lengths[] = {1, 1, 1};
    Extent places[3], extent;
    MPI_Datatype types[] = {MPI_INT, MPI_DOUBLE, MPI_SHORT}, record, resized;
    MPI_Status status;
    MPI_Aint base, addresses[3];
    Count elements;
    OK(MPI_Get_address(&out, &base));
    OK(MPI_Get_address(&out.i, &addresses[0]));
    OK(MPI_Get_address(&out.d, &addresses[1]));
    OK(MPI_Get_address(&out.s, &addresses[2]));
    for (int i = 0; i < 3; i++) {
        places[i] = addresses[i] - base;
    }
    OK(MPI_Type_create_struct(3, lengths, places, types, &record));
    OK(MPI_Type_create_resized(record, 0, sizeof out, &resized));
    OK(MPI_Type_commit(&resized));
    OK(MPI_File_set_size(file, 0));
    OK(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "external32", MPI_INFO_NULL));
    OK(MPI_File_get_type_extent(file, MPI_DOUBLE, &extent));
    CHECK_EQ(extent, 8);
    OK(MPI_File_get_type_extent(file, MPI_LONG_DOUBLE, &extent));
    CHECK_EQ(extent, 16);
    OK(MPI_File_write_at_all(file, (MPI_Offset)sizeof expected * rank, &out, 1, resized, &status));
    CHECK_EQ(count_of(&status, resized), 1);
    wait_for_all();
    OK(MPI_File_read_at_all(file, (MPI_Offset)sizeof expected * rank, &in, 1, resized, &status));
    CHECK_EQ(count_of(&status, resized), 1);
    CHECK(in.i == out.i && fabs(in.d - 1.5) < 1e-9 && in.s == -2);
    wait_for_all();
    /* The file ends within the double: only the int is there. */
    OK(MPI_File_set_size(file, 7));
    in.i = 0;
    in.d = 9;
    OK(MPI_File_read_at(file, 0, &in, 1, resized, &status));
    OK(MPI_Get_elements(&status, resized, &elements));
    CHECK_EQ(elements, 1);
    CHECK(in.i == out.i && fabs(in.d - 9) < 1e-9);
    wait_for_all();
    OK(MPI_File_write_at_all(file, 0, &out, rank == 0, resized, &status));
    OK(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "internal", MPI_INFO_NULL));
    wait_for_all();
    OK(MPI_File_read_at_all(file, 0, bytes, sizeof bytes, MPI_BYTE, &status));
    CHECK(memcmp(bytes, expected, sizeof expected) == 0);
    OK(MPI_Type_free(&resized));
    OK(MPI_Type_free(&record));
    wait_for_all();
}

/* Each process sees every size-th value of external32. */
static void external_views(MPI_File file)
{
    short out[40], in[40];
    unsigned char bytes[2];
    MPI_Datatype tile, one;
    for (int i = 0; i < 40; i++) {
        out[i] = (short)(i * size + rank);
    }
    Count sizes[] = {size}, subsizes[] = {1}, starts[] = {rank};
    OK(MPI_Type_create_subarray(1, sizes, subsizes, starts, MPI_ORDER_C, MPI_SHORT, &one));
    OK(MPI_Type_dup(one, &tile));
    OK(MPI_Type_commit(&tile));
    OK(MPI_File_set_view(file, 2, MPI_SHORT, tile, "external32", MPI_INFO_NULL));
    OK(MPI_File_write_all(file, out, 40, MPI_SHORT, MPI_STATUS_IGNORE));
    OK(MPI_File_read_at_all(file, 0, in, 40, MPI_SHORT, MPI_STATUS_IGNORE));
    CHECK(memcmp(in, out, sizeof in) == 0);
    wait_for_all();
    OK(MPI_File_set_view(file, 2, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
    for (int i = 0; i < 40 * size; i++) {
        OK(MPI_File_read_at(file, 2 * i, bytes, 2, MPI_BYTE, MPI_STATUS_IGNORE));
        CHECK_EQ(bytes[0] * 256 + bytes[1], i);
    }
    OK(MPI_Type_free(&tile));
    OK(MPI_Type_free(&one));
    wait_for_all();
}

static void failing(MPI_File file)
{
    int value = 1;
    OK(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "failing", MPI_INFO_NULL));
    FAILS(MPI_ERR_CONVERSION, MPI_File_write_at(file, 0, &value, 1, MPI_INT, MPI_STATUS_IGNORE));
    FAILS(MPI_ERR_CONVERSION, MPI_File_write_at_all(file, 0, &value, 1, MPI_INT, MPI_STATUS_IGNORE));
    OK(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
    wait_for_all();
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    MPI_File file = scratch("representations");
    registering();
    own(file, "text");
    own(file, "text_c");
    external(file);
    external_views(file);
    failing(file);
    CHECK_EQ(wrong_state, 0);
    OK(MPI_File_close(&file));
    return check_end();
}
