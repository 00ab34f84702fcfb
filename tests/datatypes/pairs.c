/* Pairs for MPI_MINLOC and MPI_MAXLOC of any value and index (MPI 5.0, sections 5.1.4 and 6.9.4): MPI_Type_get_value_index gives
 * predefined datatypes without names, which lie as structures of C do and work in all that takes pairs. */
#include "../check.h"

static MPI_Datatype pair_of(MPI_Datatype value, MPI_Datatype index)
{
    MPI_Datatype pair = MPI_DATATYPE_NULL, again;
    OK(MPI_Type_get_value_index(value, index, &pair));
    CHECK(pair != MPI_DATATYPE_NULL);
    OK(MPI_Type_get_value_index(value, index, &again));
    CHECK(pair == again);
    return pair;
}

static void contents(void)
{
    MPI_Datatype pair = pair_of(MPI_SHORT, MPI_LONG), members[2], same;
    int integers, addresses, datatypes, combiner, number, length = -1;
    MPI_Aint address;
    Extent lb, extent;
    Count bytes;
    char name[MPI_MAX_OBJECT_NAME];
    OK(MPI_Type_get_envelope(pair, &integers, &addresses, &datatypes, &combiner));
    CHECK_EQ(combiner, MPI_COMBINER_VALUE_INDEX);
    CHECK(integers == 0 && addresses == 0 && datatypes == 2);
    OK(MPI_Type_get_contents(pair, 0, 0, 2, &number, &address, members));
    CHECK(members[0] == MPI_SHORT && members[1] == MPI_LONG);
    OK(MPI_Type_size(pair, &bytes));
    CHECK_EQ(bytes, sizeof(short) + sizeof(long));
    OK(MPI_Type_get_extent(pair, &lb, &extent));
    CHECK_EQ(lb, 0);
    CHECK_EQ(extent, 2 * sizeof(long));
    OK(MPI_Type_get_name(pair, name, &length));
    CHECK_EQ(length, 0);
    same = pair;
    FAILS(MPI_ERR_TYPE, MPI_Type_free(&same));
    OK(MPI_Type_commit(&same));
    CHECK(pair_of(MPI_LONG, MPI_LONG) != pair_of(MPI_INT64_T, MPI_INT64_T));
}

struct element {
    unsigned char value;
    int64_t index;
};

/* The value is the same at all ranks but the last, and above what a sign would allow. */
static void reductions(void)
{
    MPI_Datatype pair = pair_of(MPI_UINT8_T, MPI_INT64_T);
    struct element mine[3], found[3];
    MPI_Win win;
    for (int i = 0; i < 3; i++) {
        mine[i].value = rank == size - 1 ? 201 : 200;
        mine[i].index = ((int64_t)1 << 40) - rank + i;
        found[i] = mine[i];
    }
    OK(MPI_Allreduce(mine, found, 3, pair, MPI_MAXLOC, MPI_COMM_WORLD));
    CHECK(found[2].value == 201 && found[2].index == ((int64_t)1 << 40) - (size - 1) + 2);
    OK(MPI_Allreduce(mine, found, 3, pair, MPI_MINLOC, MPI_COMM_WORLD));
    CHECK_EQ(found[0].value, size > 1 ? 200 : 201);
    CHECK_EQ(found[0].index, ((int64_t)1 << 40) - (size > 1 ? size - 2 : 0));
    FAILS(MPI_ERR_OP, MPI_Allreduce(mine, found, 3, pair, MPI_SUM, MPI_COMM_WORLD));
    /* The same at a window of rank 0. */
    found[0] = (struct element){.value = 0, .index = 7};
    OK(MPI_Win_create(found, sizeof found, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    OK(MPI_Win_fence(0, win));
    OK(MPI_Accumulate(mine, 1, pair, 0, 0, 1, pair, MPI_MAXLOC, win));
    OK(MPI_Win_fence(0, win));
    if (rank == 0) {
        CHECK_EQ(found[0].value, 201);
        CHECK_EQ(found[0].index, ((int64_t)1 << 40) - (size - 1));
    }
    OK(MPI_Win_free(&win));
}

/* In external32 a long has four bytes. */
static void packed(void)
{
    MPI_Datatype pair = pair_of(MPI_LONG, MPI_UNSIGNED_SHORT);
    struct {
        long value;
        unsigned short index;
    } mine = {-2, 65000}, found = {0, 0};
    unsigned char bytes[20];
    Extent needed = 0, position = 0;
    OK(MPI_Pack_external_size("external32", 1, pair, &needed));
    CHECK_EQ(needed, 6);
    OK(MPI_Pack_external("external32", &mine, 1, pair, bytes, sizeof bytes, &position));
    CHECK_EQ(position, 6);
    CHECK(bytes[0] == 0xff && bytes[3] == 0xfe && bytes[4] == 0xfd && bytes[5] == 0xe8);
    position = 0;
    OK(MPI_Unpack_external("external32", bytes, 6, &position, &found, 1, pair));
    CHECK(found.value == -2 && found.index == 65000);
}

static void impossible(void)
{
    MPI_Datatype pair = MPI_INT;
    OK(MPI_Type_get_value_index(MPI_C_DOUBLE_COMPLEX, MPI_INT, &pair));
    CHECK(pair == MPI_DATATYPE_NULL);
    OK(MPI_Type_get_value_index(MPI_INT, MPI_DOUBLE, &pair));
    CHECK(pair == MPI_DATATYPE_NULL);
    OK(MPI_Type_get_value_index(MPI_2INT, MPI_INT, &pair));
    CHECK(pair == MPI_DATATYPE_NULL);
    FAILS(MPI_ERR_TYPE, MPI_Type_get_value_index(MPI_DATATYPE_NULL, MPI_INT, &pair));
    FAILS(MPI_ERR_TYPE, MPI_Type_get_value_index(MPI_INT, MPI_DATATYPE_NULL, &pair));
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    contents();
    reductions();
    packed();
    impossible();
    return check_end();
}
