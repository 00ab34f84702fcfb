/* MPI_Get_count and MPI_Get_elements (MPI 5.0, section 5.1.11) after messages that end anywhere in a type. */
#include "../check.h"

struct item {
    int number;
    double value;
    short small[3];
};

static MPI_Datatype item_type(void)
{
    Count lengths[3] = {1, 1, 3};
    Extent places[3] = {offsetof(struct item, number), offsetof(struct item, value), offsetof(struct item, small)};
    MPI_Datatype types[3] = {MPI_INT, MPI_DOUBLE, MPI_SHORT}, type;
    OK(MPI_Type_create_struct(3, lengths, places, types, &type));
    OK(MPI_Type_commit(&type));
    return type;
}

/* The message holds `whole` complete items and then the first `rest` basic elements of another one. */
static void partial(MPI_Datatype item, int whole, int rest)
{
    static const Count rest_lengths[5][3] = {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {1, 1, 1}, {1, 1, 2}};
    struct item out[4], in[5];
    Count lengths[2], count = -5, part_lengths[3];
    Extent places[2] = {0, (Extent)sizeof(struct item) * whole};
    Extent part_places[3] = {offsetof(struct item, number), offsetof(struct item, value), offsetof(struct item, small)};
    MPI_Datatype part_types[3] = {MPI_INT, MPI_DOUBLE, MPI_SHORT}, types[2], part, sent;
    MPI_Status status;
    MPI_Request request;
    MPI_Count wide = -5;

    memset(out, 0, sizeof out);
    memcpy(part_lengths, rest_lengths[rest], sizeof part_lengths);
    OK(MPI_Type_create_struct(3, part_lengths, part_places, part_types, &part));
    lengths[0] = whole;
    lengths[1] = 1;
    types[0] = item;
    types[1] = part;
    OK(MPI_Type_create_struct(2, lengths, places, types, &sent));
    OK(MPI_Type_commit(&sent));
    OK(MPI_Isend(out, 1, sent, rank, 1, MPI_COMM_WORLD, &request));
    OK(MPI_Recv(in, 5, item, rank, 1, MPI_COMM_WORLD, &status));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    OK(MPI_Get_count(&status, item, &count));
    CHECK_EQ(count, rest ? MPI_UNDEFINED : whole);
    OK(MPI_Get_elements(&status, item, &count));
    CHECK_EQ(count, 5 * whole + rest);
    OK(MPI_Get_elements_x(&status, item, &wide));
    CHECK_EQ(wide, 5 * whole + rest);
    OK(MPI_Type_free(&part));
    OK(MPI_Type_free(&sent));
}

int main(int argc, char **argv)
{
    MPI_Datatype item;
    check_begin(&argc, &argv);
    item = item_type();
    for (int whole = 0; whole < 4; whole++) {
        for (int rest = 0; rest < 5 && (whole < 3 || rest == 0); rest++) {
            partial(item, whole, rest);
        }
    }
    OK(MPI_Type_free(&item));
    return check_end();
}
