/* Views (section 14.3): filetypes of all constructors, and which bytes of the file they show. */
#include "file.h"

enum { ROWS = 6, COLUMNS = 14 };

/* Each process writes its own part of a matrix, and reads all of it. */
static void check_matrix(MPI_File file, MPI_Datatype part, int count, int first, const char *what)
{
    int values[ROWS * COLUMNS], all[ROWS * COLUMNS];
    MPI_Status status;
    for (int i = 0; i < count; i++) {
        values[i] = first + i;
    }
    OK(MPI_File_set_view(file, 0, MPI_INT, part, "native", MPI_INFO_NULL));
    OK(MPI_File_write_all(file, values, count, MPI_INT, &status));
    CHECK_EQ(count_of(&status, MPI_INT), count);
    memset(values, 0xff, sizeof values);
    OK(MPI_File_read_at(file, 0, values, count, MPI_INT, &status));
    CHECK_EQ(count_of(&status, MPI_INT), count);
    for (int i = 0; i < count; i++) {
        if (values[i] != first + i) {
            check_failed(__FILE__, __LINE__, what);
            break;
        }
    }
    OK(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
    OK(MPI_File_read_at_all(file, 0, all, ROWS * COLUMNS, MPI_INT, &status));
    /* The elements are numbered by owner and by place in the owner's part: every number is there once. */
    long long sum = 0, expected = 0, mine = 0;
    for (int i = 0; i < ROWS * COLUMNS; i++) {
        sum += all[i];
    }
    for (int i = 0; i < count; i++) {
        mine += first + i;
    }
    OK(MPI_Allreduce(&mine, &expected, 1, MPI_LONG_LONG, MPI_SUM, MPI_COMM_WORLD));
    CHECK_EQ(sum, expected);
    wait_for_all();
}

static void subarrays(MPI_File file)
{
    for (int order = 0; order < 2; order++) {
        /* Columns are dealt in runs; the last process takes the rest. */
        int share = COLUMNS / size, from = share * rank;
        int columns = rank == size - 1 ? COLUMNS - from : share;
        Count sizes[] = {ROWS, COLUMNS}, subsizes[] = {ROWS, columns}, starts[] = {0, from};
        MPI_Datatype part;
        OK(MPI_Type_create_subarray(2, sizes, subsizes, starts, order ? MPI_ORDER_FORTRAN : MPI_ORDER_C, MPI_INT,
                                    &part));
        OK(MPI_Type_commit(&part));
        check_matrix(file, part, ROWS * columns, 1000 * rank, "subarray");
        OK(MPI_Type_free(&part));
    }
}

static void distributed(MPI_File file)
{
    static const int kinds[][2] = {
        {MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC},
        {MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_BLOCK},
        {MPI_DISTRIBUTE_NONE, MPI_DISTRIBUTE_CYCLIC},
    };
    for (int i = 0; i < 3; i++) {
        for (int order = 0; order < 2; order++) {
            int grid[] = {0, 0}, arguments[] = {MPI_DISTRIBUTE_DFLT_DARG, MPI_DISTRIBUTE_DFLT_DARG};
            Count sizes[] = {ROWS, COLUMNS}, bytes;
            MPI_Datatype part;
            grid[0] = kinds[i][0] == MPI_DISTRIBUTE_NONE;
            OK(MPI_Dims_create(size, 2, grid));
            OK(MPI_Type_create_darray(size, rank, 2, sizes, kinds[i], arguments, grid,
                                      order ? MPI_ORDER_FORTRAN : MPI_ORDER_C, MPI_INT, &part));
            OK(MPI_Type_commit(&part));
            OK(MPI_Type_size(part, &bytes));
            check_matrix(file, part, (int)(bytes / (Count)sizeof(int)), 1000 * rank, "darray");
            OK(MPI_Type_free(&part));
        }
    }
}

enum { CONSTRUCTORS = 9, TILES = 3, BLOCK = 2 };

/* Two blocks of this process, by one of the constructors. */
static MPI_Datatype blocks_by(int constructor, Extent wide)
{
    MPI_Datatype blocks = MPI_DATATYPE_NULL, pair;
    Count lengths[] = {BLOCK, BLOCK};
    Extent bytes[] = {(Extent)sizeof(int) * BLOCK * rank, (Extent)sizeof(int) * BLOCK * (size + rank)};
    MPI_Datatype types[] = {MPI_INT, MPI_INT};
    switch (constructor) {
    case 0: {
        MPI_Datatype vector;
        Count one[] = {1};
        OK(MPI_Type_vector(2, BLOCK, BLOCK * size, MPI_INT, &vector));
        OK(MPI_Type_create_hindexed(1, one, bytes, vector, &blocks));
        OK(MPI_Type_free(&vector));
        break;
    }
    case 1: {
        MPI_Datatype vector;
        OK(MPI_Type_create_hvector(2, BLOCK, wide / 2, MPI_INT, &vector));
        OK(MPI_Type_create_hindexed_block(1, 1, bytes, vector, &blocks));
        OK(MPI_Type_free(&vector));
        break;
    }
    case 2: {
        Count at[] = {BLOCK * rank, BLOCK * (size + rank)};
        OK(MPI_Type_indexed(2, lengths, at, MPI_INT, &blocks));
        break;
    }
    case 3:
        OK(MPI_Type_create_hindexed(2, lengths, bytes, MPI_INT, &blocks));
        break;
    case 4: {
        Count at[] = {BLOCK * rank, BLOCK * (size + rank)};
        OK(MPI_Type_create_indexed_block(2, BLOCK, at, MPI_INT, &blocks));
        break;
    }
    case 5:
        OK(MPI_Type_create_hindexed_block(2, BLOCK, bytes, MPI_INT, &blocks));
        break;
    case 6:
        OK(MPI_Type_create_struct(2, lengths, bytes, types, &blocks));
        break;
    case 7:
        OK(MPI_Type_contiguous(BLOCK, MPI_INT, &pair));
        types[0] = types[1] = pair;
        lengths[0] = lengths[1] = 1;
        OK(MPI_Type_create_struct(2, lengths, bytes, types, &blocks));
        OK(MPI_Type_free(&pair));
        break;
    default:
        OK(MPI_Type_create_struct(2, lengths, bytes, types, &pair));
        OK(MPI_Type_dup(pair, &blocks));
        OK(MPI_Type_free(&pair));
    }
    return blocks;
}

/* Every process's blocks lie between those of the others, by each constructor that can say so. */
static void interleaved(MPI_File file)
{
    Extent wide = (Extent)sizeof(int) * BLOCK * size * 2;
    for (int constructor = 0; constructor < CONSTRUCTORS; constructor++) {
        MPI_Datatype blocks = blocks_by(constructor, wide), tile;
        int out[TILES * 2 * BLOCK], in[TILES * 2 * BLOCK];
        MPI_Offset where;
        OK(MPI_Type_create_resized(blocks, 0, wide, &tile));
        OK(MPI_Type_commit(&tile));
        OK(MPI_File_set_view(file, 8, MPI_INT, tile, "native", MPI_INFO_NULL));
        for (int i = 0; i < TILES * 2 * BLOCK; i++) {
            out[i] = constructor * 10000 + rank * 100 + i;
        }
        OK(MPI_File_write_all(file, out, TILES * 2 * BLOCK, MPI_INT, MPI_STATUS_IGNORE));
        OK(MPI_File_get_byte_offset(file, 2 * BLOCK + 1, &where));
        CHECK_EQ(where, 8 + wide + (MPI_Offset)sizeof(int) * (BLOCK * rank + 1));
        OK(MPI_Type_free(&tile));
        OK(MPI_Type_free(&blocks));
        /* The view keeps its datatypes. */
        OK(MPI_File_read_at_all(file, 1, in, TILES * 2 * BLOCK - 1, MPI_INT, MPI_STATUS_IGNORE));
        CHECK(memcmp(in, out + 1, sizeof(int) * (TILES * 2 * BLOCK - 1)) == 0);
        wait_for_all();
        OK(MPI_File_set_view(file, 8, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
        for (int tile_number = 0; tile_number < TILES; tile_number++) {
            for (int half = 0; half < 2; half++) {
                int other = (rank + 1) % size, value;
                MPI_Offset at = BLOCK * (size * (2 * tile_number + half) + other);
                OK(MPI_File_read_at(file, at, &value, 1, MPI_INT, MPI_STATUS_IGNORE));
                CHECK_EQ(value, constructor * 10000 + other * 100 + BLOCK * (2 * tile_number + half));
            }
        }
        wait_for_all();
    }
}

static void asked(MPI_File file)
{
    MPI_Datatype pair, tile, etype, filetype;
    MPI_Offset displacement, where;
    char name[MPI_MAX_DATAREP_STRING];
    Extent lb, extent;
    Count bytes;
    OK(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
    OK(MPI_File_get_view(file, &displacement, &etype, &filetype, name));
    CHECK_EQ(displacement, 0);
    CHECK(etype == MPI_BYTE && filetype == MPI_BYTE);
    CHECK(strcmp(name, "native") == 0);
    OK(MPI_Type_contiguous(2, MPI_SHORT, &pair));
    OK(MPI_Type_create_resized(pair, 0, 10, &tile));
    OK(MPI_Type_commit(&pair));
    OK(MPI_Type_commit(&tile));
    OK(MPI_File_set_view(file, 3, pair, tile, "internal", MPI_INFO_NULL));
    OK(MPI_File_get_view(file, &displacement, &etype, &filetype, name));
    CHECK_EQ(displacement, 3);
    CHECK(strcmp(name, "internal") == 0);
    OK(MPI_Type_size(etype, &bytes));
    CHECK_EQ(bytes, 4);
    OK(MPI_Type_get_extent(filetype, &lb, &extent));
    CHECK_EQ(extent, 10);
    OK(MPI_Type_free(&etype));
    OK(MPI_Type_free(&filetype));
    OK(MPI_File_get_byte_offset(file, 3, &where));
    CHECK_EQ(where, 33);
    FAILS(MPI_ERR_ARG, MPI_File_get_byte_offset(file, -1, &where));
    OK(MPI_Type_free(&pair));
    OK(MPI_Type_free(&tile));
}

static void refused(MPI_File file)
{
    MPI_Datatype negative, descending;
    Count ones[] = {1, 1};
    Extent before[] = {-4, 4}, down[] = {8, 0};
    FAILS(MPI_ERR_ARG, MPI_File_set_view(file, -5, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
    FAILS(MPI_ERR_ARG,
          MPI_File_set_view(file, MPI_DISPLACEMENT_CURRENT, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
    FAILS(MPI_ERR_ARG, MPI_File_set_view(file, 0, MPI_INT, MPI_SHORT, "native", MPI_INFO_NULL));
    FAILS(MPI_ERR_UNSUPPORTED_DATAREP, MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "unheard", MPI_INFO_NULL));
    FAILS(MPI_ERR_TYPE, MPI_File_set_view(file, 0, MPI_DATATYPE_NULL, MPI_INT, "native", MPI_INFO_NULL));
    OK(MPI_Type_create_hindexed(2, ones, before, MPI_INT, &negative));
    OK(MPI_Type_commit(&negative));
    FAILS(MPI_ERR_ARG, MPI_File_set_view(file, 0, MPI_INT, negative, "native", MPI_INFO_NULL));
    OK(MPI_Type_free(&negative));
    OK(MPI_Type_create_hindexed(2, ones, down, MPI_INT, &descending));
    OK(MPI_Type_commit(&descending));
    FAILS(MPI_ERR_ARG, MPI_File_set_view(file, 0, MPI_INT, descending, "native", MPI_INFO_NULL));
    OK(MPI_Type_free(&descending));
    if (size > 1) {
        MPI_Datatype etype = rank == 0 ? MPI_INT : MPI_SHORT;
        FAILS(MPI_ERR_NOT_SAME, MPI_File_set_view(file, 0, etype, etype, "native", MPI_INFO_NULL));
    }
}

/* A process may see nothing at all. */
static void empty(MPI_File file)
{
    MPI_Datatype nothing;
    MPI_Status status;
    int value = 7;
    OK(MPI_Type_contiguous(0, MPI_INT, &nothing));
    OK(MPI_Type_commit(&nothing));
    OK(MPI_File_set_view(file, 0, MPI_INT, rank == 0 ? MPI_INT : nothing, "native", MPI_INFO_NULL));
    OK(MPI_File_write_all(file, &value, rank == 0, MPI_INT, &status));
    CHECK_EQ(count_of(&status, MPI_INT), rank == 0);
    OK(MPI_File_read_at_all(file, 0, &value, rank == 0, MPI_INT, &status));
    CHECK_EQ(value, 7);
    OK(MPI_Type_free(&nothing));
}

/* A filetype of pairs with a gap, and the gap is not touched. */
static void gaps(MPI_File file)
{
    struct {
        short value;
        int index;
    } out[3], in[3];
    unsigned char bytes[24];
    MPI_Status status;
    OK(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
    if (rank == 0) {
        memset(bytes, 0xee, sizeof bytes);
        OK(MPI_File_write_at(file, 0, bytes, sizeof bytes, MPI_BYTE, MPI_STATUS_IGNORE));
    }
    wait_for_all();
    OK(MPI_File_set_view(file, 0, MPI_SHORT_INT, MPI_SHORT_INT, "native", MPI_INFO_NULL));
    for (int i = 0; i < 3; i++) {
        out[i].value = (short)(i + 1);
        out[i].index = 10 * i;
    }
    if (rank == size - 1) {
        OK(MPI_File_write_at(file, 0, out, 3, MPI_SHORT_INT, &status));
        CHECK_EQ(count_of(&status, MPI_SHORT_INT), 3);
    }
    wait_for_all();
    OK(MPI_File_read_at_all(file, 1, in, 2, MPI_SHORT_INT, MPI_STATUS_IGNORE));
    CHECK_EQ(in[1].value, 3);
    CHECK_EQ(in[1].index, 20);
    OK(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
    OK(MPI_File_read_at_all(file, 0, bytes, sizeof bytes, MPI_BYTE, MPI_STATUS_IGNORE));
    CHECK_EQ(bytes[2], 0xee);
    CHECK_EQ(bytes[8], 2);
    CHECK_EQ(bytes[11], 0xee);
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    MPI_File file = scratch("views");
    subarrays(file);
    distributed(file);
    interleaved(file);
    asked(file);
    refused(file);
    empty(file);
    gaps(file);
    OK(MPI_File_close(&file));
    return check_end();
}
