/* Every datatype constructor (MPI 5.0, section 5.1) against the type map written out by hand: size, bounds, and the
 * order in which packing visits the bytes. */
#include "../check.h"

enum { ROOM = 4096 };

static int source[ROOM];

/* Packs one element of type from source[base] and compares with the ints at the places given. */
static void check_map(MPI_Datatype type, int base, int places, const int *place)
{
    int out[ROOM];
    Count position = 0, bytes;
    OK(MPI_Type_commit(&type));
    OK(MPI_Type_size(type, &bytes));
    CHECK_EQ(bytes, places * (int)sizeof(int));
    OK(MPI_Pack(&source[base], 1, type, out, sizeof out, &position, MPI_COMM_WORLD));
    CHECK_EQ(position, bytes);
    for (int i = 0; i < places; i++) {
        CHECK_EQ(out[i], base + place[i]);
    }
}

static void check_bounds(MPI_Datatype type, long lb, long extent, long true_lb, long true_extent)
{
    Extent found_lb, found_extent;
    OK(MPI_Type_get_extent(type, &found_lb, &found_extent));
    CHECK_EQ(found_lb, lb * 4);
    CHECK_EQ(found_extent, extent * 4);
    OK(MPI_Type_get_true_extent(type, &found_lb, &found_extent));
    CHECK_EQ(found_lb, true_lb * 4);
    CHECK_EQ(found_extent, true_extent * 4);
}

static void regular(void)
{
    MPI_Datatype type, resized, copy;
    MPI_Count wide_lb, wide_extent, wide_size;

    OK(MPI_Type_contiguous(3, MPI_INT, &type));
    check_map(type, 10, 3, (int[]){0, 1, 2});
    check_bounds(type, 0, 3, 0, 3);
    OK(MPI_Type_free(&type));
    CHECK(type == MPI_DATATYPE_NULL);

    OK(MPI_Type_vector(2, 2, 5, MPI_INT, &type));
    check_map(type, 10, 4, (int[]){0, 1, 5, 6});
    check_bounds(type, 0, 7, 0, 7);
    OK(MPI_Type_dup(type, &copy));
    check_map(copy, 20, 4, (int[]){0, 1, 5, 6});
    OK(MPI_Type_free(&type));
    check_bounds(copy, 0, 7, 0, 7);
    OK(MPI_Type_free(&copy));

    OK(MPI_Type_vector(3, 1, -2, MPI_INT, &type));
    check_map(type, 10, 3, (int[]){0, -2, -4});
    check_bounds(type, -4, 5, -4, 5);
    OK(MPI_Type_free(&type));

    OK(MPI_Type_create_hvector(3, 2, 12, MPI_INT, &type));
    check_map(type, 10, 6, (int[]){0, 1, 3, 4, 6, 7});
    OK(MPI_Type_create_resized(type, -4, 40, &resized));
    check_bounds(resized, -1, 10, 0, 8);
    OK(MPI_Type_get_extent_x(resized, &wide_lb, &wide_extent));
    CHECK(wide_lb == -4 && wide_extent == 40);
    OK(MPI_Type_get_true_extent_x(resized, &wide_lb, &wide_extent));
    CHECK(wide_lb == 0 && wide_extent == 32);
    OK(MPI_Type_size_x(resized, &wide_size));
    CHECK(wide_size == 24);
    OK(MPI_Type_free(&type));
    OK(MPI_Type_contiguous(2, resized, &type));
    check_map(type, 10, 12, (int[]){0, 1, 3, 4, 6, 7, 10, 11, 13, 14, 16, 17});
    check_bounds(type, -1, 20, 0, 18);
    OK(MPI_Type_free(&type));
    OK(MPI_Type_free(&resized));
}

static void irregular(void)
{
    MPI_Datatype type;
    Count lengths[4] = {2, 0, 1, 3}, places[4] = {5, 100, 0, 9}, block_places[3] = {7, 1, 4};
    Extent bytes[4] = {20, 400, 0, 36}, block_bytes[3] = {28, -4, 16};

    OK(MPI_Type_indexed(4, lengths, places, MPI_INT, &type));
    check_map(type, 10, 6, (int[]){5, 6, 0, 9, 10, 11});
    check_bounds(type, 0, 12, 0, 12);
    OK(MPI_Type_free(&type));

    OK(MPI_Type_create_hindexed(4, lengths, bytes, MPI_INT, &type));
    check_map(type, 10, 6, (int[]){5, 6, 0, 9, 10, 11});
    OK(MPI_Type_free(&type));

    OK(MPI_Type_create_indexed_block(3, 2, block_places, MPI_INT, &type));
    check_map(type, 10, 6, (int[]){7, 8, 1, 2, 4, 5});
    check_bounds(type, 1, 8, 1, 8);
    OK(MPI_Type_free(&type));

    OK(MPI_Type_create_hindexed_block(3, 1, block_bytes, MPI_INT, &type));
    check_map(type, 10, 3, (int[]){7, -1, 4});
    check_bounds(type, -1, 9, -1, 9);
    OK(MPI_Type_free(&type));
}

static void structures(void)
{
    MPI_Datatype pair, types[3], type;
    Count lengths[3] = {1, 2, 1};
    Extent places[3] = {0, 8, 4};

    OK(MPI_Type_vector(2, 1, 2, MPI_INT, &pair));
    types[0] = MPI_INT;
    types[1] = pair;
    types[2] = MPI_INT;
    OK(MPI_Type_create_struct(3, lengths, places, types, &type));
    OK(MPI_Type_free(&pair));
    check_map(type, 10, 6, (int[]){0, 2, 4, 5, 7, 1});
    check_bounds(type, 0, 8, 0, 8);
    OK(MPI_Type_free(&type));
}

/* Extents of structures are rounded up to the alignment of their members, as the C compiler does (section 5.1.7). */
static void alignment(void)
{
    struct mixed {
        double value;
        char letter;
    };
    struct shorts {
        short number;
        char letter;
    };
    MPI_Datatype types[2] = {MPI_DOUBLE, MPI_CHAR}, type;
    Count lengths[2] = {1, 1};
    Extent places[2] = {0, 8}, lb, extent;
    OK(MPI_Type_create_struct(2, lengths, places, types, &type));
    OK(MPI_Type_get_extent(type, &lb, &extent));
    CHECK_EQ(extent, sizeof(struct mixed));
    OK(MPI_Type_get_true_extent(type, &lb, &extent));
    CHECK_EQ(extent, 9);
    OK(MPI_Type_free(&type));
    types[0] = MPI_SHORT;
    places[1] = 2;
    OK(MPI_Type_create_struct(2, lengths, places, types, &type));
    OK(MPI_Type_get_extent(type, &lb, &extent));
    CHECK_EQ(extent, sizeof(struct shorts));
    OK(MPI_Type_free(&type));
}

/* Types of zero size from every constructor. */
static void empty(void)
{
    MPI_Datatype types[8];
    Count bytes = 1, none[1] = {0};
    Extent places[1] = {0};
    int kinds = 0;
    OK(MPI_Type_contiguous(0, MPI_INT, &types[kinds++]));
    OK(MPI_Type_vector(0, 3, 5, MPI_INT, &types[kinds++]));
    OK(MPI_Type_vector(3, 0, 5, MPI_INT, &types[kinds++]));
    OK(MPI_Type_indexed(0, NULL, NULL, MPI_INT, &types[kinds++]));
    OK(MPI_Type_create_hindexed(1, none, places, MPI_INT, &types[kinds++]));
    OK(MPI_Type_create_struct(0, NULL, NULL, NULL, &types[kinds++]));
    OK(MPI_Type_create_indexed_block(0, 1, NULL, MPI_INT, &types[kinds++]));
    OK(MPI_Type_create_hindexed_block(0, 1, NULL, MPI_INT, &types[kinds++]));
    for (int i = 0; i < kinds; i++) {
        MPI_Request request;
        int guard = 77;
        OK(MPI_Type_commit(&types[i]));
        OK(MPI_Type_size(types[i], &bytes));
        CHECK_EQ(bytes, 0);
        OK(MPI_Isend(&guard, 3, types[i], rank, i, MPI_COMM_WORLD, &request));
        OK(MPI_Recv(&guard, 3, types[i], rank, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        CHECK_EQ(guard, 77);
        OK(MPI_Type_free(&types[i]));
    }
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    for (int i = 0; i < ROOM; i++) {
        source[i] = i;
    }
    regular();
    irregular();
    structures();
    alignment();
    empty();
    return check_end();
}
