/* Packing (MPI 5.0, section 5.2) and the canonical external32 form (section 14.5.2): bytes that were packed can be sent
 * as MPI_PACKED, received as what they are, and read back in pieces. */
#include "../check.h"

static void sequence(void)
{
    char buffer[400], text[6] = "";
    int numbers[4] = {1, 2, 3, 4}, numbers_back[4] = {0};
    double value = 2.5, value_back = 0;
    Count position = 0, bound, used;
    MPI_Datatype every_second;
    OK(MPI_Type_vector(2, 1, 2, MPI_INT, &every_second));
    OK(MPI_Type_commit(&every_second));
    OK(MPI_Pack(numbers, 1, every_second, buffer, sizeof buffer, &position, MPI_COMM_WORLD));
    OK(MPI_Pack(&value, 1, MPI_DOUBLE, buffer, sizeof buffer, &position, MPI_COMM_WORLD));
    OK(MPI_Pack("hello", 6, MPI_CHAR, buffer, sizeof buffer, &position, MPI_COMM_WORLD));
    OK(MPI_Pack(numbers, 0, MPI_INT, buffer, sizeof buffer, &position, MPI_COMM_WORLD));
    used = position;
    OK(MPI_Pack_size(1, every_second, MPI_COMM_WORLD, &bound));
    CHECK(bound >= 8);
    position = 0;
    OK(MPI_Unpack(buffer, used, &position, &numbers_back[0], 1, MPI_INT, MPI_COMM_WORLD));
    OK(MPI_Unpack(buffer, used, &position, &numbers_back[2], 1, MPI_INT, MPI_COMM_WORLD));
    OK(MPI_Unpack(buffer, used, &position, &value_back, 1, MPI_DOUBLE, MPI_COMM_WORLD));
    OK(MPI_Unpack(buffer, used, &position, text, 6, MPI_CHAR, MPI_COMM_WORLD));
    CHECK_EQ(position, used);
    CHECK(numbers_back[0] == 1 && numbers_back[1] == 0 && numbers_back[2] == 3 && numbers_back[3] == 0);
    CHECK(value_back == 2.5);
    CHECK(strcmp(text, "hello") == 0);
    OK(MPI_Type_free(&every_second));
}

static void as_message(void)
{
    char buffer[200], in[200];
    int right = (rank + 1) % size, left = (rank + size - 1) % size, numbers[3] = {rank, 2, 3}, back[3] = {0};
    Count position = 0, bytes;
    MPI_Status status;
    OK(MPI_Pack(numbers, 3, MPI_INT, buffer, sizeof buffer, &position, MPI_COMM_WORLD));
    OK(MPI_Sendrecv(buffer, position, MPI_PACKED, right, 1, in, sizeof in, MPI_PACKED, left, 1, MPI_COMM_WORLD,
                    &status));
    OK(MPI_Get_count(&status, MPI_PACKED, &bytes));
    position = 0;
    OK(MPI_Unpack(in, bytes, &position, back, 3, MPI_INT, MPI_COMM_WORLD));
    CHECK(back[0] == left && back[1] == 2 && back[2] == 3);
    position = 0;
    OK(MPI_Pack(numbers, 3, MPI_INT, buffer, sizeof buffer, &position, MPI_COMM_WORLD));
    OK(MPI_Sendrecv(buffer, position, MPI_PACKED, right, 2, back, 3, MPI_INT, left, 2, MPI_COMM_WORLD, &status));
    CHECK(back[0] == left && back[2] == 3);
    OK(MPI_Sendrecv(numbers, 3, MPI_INT, right, 3, in, sizeof in, MPI_PACKED, left, 3, MPI_COMM_WORLD, &status));
    position = 0;
    OK(MPI_Unpack(in, 12, &position, back, 3, MPI_INT, MPI_COMM_WORLD));
    CHECK(back[0] == left && back[2] == 3);
}

/* external32 is big-endian IEEE with fixed sizes, whatever machine this is; a long has four bytes there. */
static void external_bytes(void)
{
    static const unsigned char expected[] = {0x12, 0x34, 0x56, 0x78, 0x01, 0x02, 0x40, 0x04, 0, 0, 0, 0, 0, 0,
                                             'x',  0,    0,    0,    9,    0,    0,    0,    0,
                                             0,    0,    0,    9};
    unsigned char buffer[64];
    int number = 0x12345678, number_back = 0;
    short small = 0x0102, small_back = 0;
    double value = 2.5, value_back = 0;
    char letter = 'x', letter_back = 0;
    long narrow = 9, narrow_back = 0;
    long long wide = 9, wide_back = 0;
    Extent position = 0, bytes;
#ifdef LARGE_COUNT
    MPI_Count total = sizeof buffer;
#else
    MPI_Aint total = sizeof buffer;
#endif
    OK(MPI_Pack_external("external32", &number, 1, MPI_INT, buffer, total, &position));
    OK(MPI_Pack_external("external32", &small, 1, MPI_SHORT, buffer, total, &position));
    OK(MPI_Pack_external("external32", &value, 1, MPI_DOUBLE, buffer, total, &position));
    OK(MPI_Pack_external("external32", &letter, 1, MPI_CHAR, buffer, total, &position));
    OK(MPI_Pack_external("external32", &narrow, 1, MPI_LONG, buffer, total, &position));
    OK(MPI_Pack_external("external32", &wide, 1, MPI_LONG_LONG, buffer, total, &position));
    CHECK_EQ(position, sizeof expected);
    CHECK(memcmp(buffer, expected, sizeof expected) == 0);
    OK(MPI_Pack_external_size("external32", 3, MPI_LONG, &bytes));
    CHECK_EQ(bytes, 12);
    position = 0;
    OK(MPI_Unpack_external("external32", buffer, total, &position, &number_back, 1, MPI_INT));
    OK(MPI_Unpack_external("external32", buffer, total, &position, &small_back, 1, MPI_SHORT));
    OK(MPI_Unpack_external("external32", buffer, total, &position, &value_back, 1, MPI_DOUBLE));
    OK(MPI_Unpack_external("external32", buffer, total, &position, &letter_back, 1, MPI_CHAR));
    OK(MPI_Unpack_external("external32", buffer, total, &position, &narrow_back, 1, MPI_LONG));
    OK(MPI_Unpack_external("external32", buffer, total, &position, &wide_back, 1, MPI_LONG_LONG));
    CHECK(number_back == number && small_back == small && value_back == value && letter_back == 'x');
    CHECK(narrow_back == 9 && wide_back == 9);
}

static void external_derived(void)
{
    struct item {
        char letter;
        int number;
        float value;
    } out[5], in[5];
    unsigned char buffer[200];
    Count lengths[3] = {1, 1, 1};
    Extent places[3] = {offsetof(struct item, letter), offsetof(struct item, number), offsetof(struct item, value)};
    Extent position = 0, bytes, used;
    MPI_Datatype types[3] = {MPI_CHAR, MPI_INT, MPI_FLOAT}, item;
    OK(MPI_Type_create_struct(3, lengths, places, types, &item));
    OK(MPI_Type_commit(&item));
    for (int i = 0; i < 5; i++) {
        out[i] = (struct item){(char)('a' + i), 1000 * i, i / 4.0f};
    }
    memset(in, 0, sizeof in);
    OK(MPI_Pack_external_size("external32", 5, item, &bytes));
    CHECK_EQ(bytes, 45);
    OK(MPI_Pack_external("external32", out, 5, item, buffer, sizeof buffer, &position));
    CHECK_EQ(position, 45);
    CHECK(buffer[9] == 'b' && buffer[12] == 0x03 && buffer[13] == 0xe8);
    used = position;
    position = 0;
    OK(MPI_Unpack_external("external32", buffer, used, &position, in, 5, item));
    for (int i = 0; i < 5; i++) {
        CHECK(in[i].letter == out[i].letter && in[i].number == out[i].number && in[i].value == out[i].value);
    }
    OK(MPI_Type_free(&item));
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    sequence();
    as_message();
    external_bytes();
    external_derived();
    return check_end();
}
