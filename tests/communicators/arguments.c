/* Wrong arguments of the functions on groups, communicators and attributes, and odd but valid ones (MPI 5.0, sections 7.3,
 * 7.4, 7.6 and 7.7). Every process makes the same mistake, so that none waits for another. */
#include "../check.h"

static MPI_Comm world = MPI_COMM_WORLD;
static MPI_Group all;

static void groups(void)
{
    MPI_Group group, stale;
    int zero[1] = {0}, twice[2] = {0, 0}, outside[1] = {size}, negative[1] = {-1}, nobody[1] = {MPI_PROC_NULL}, found[2];
    int still[1][3] = {{0, 0, 0}}, away[1][3] = {{0, size, -1}}, beyond[1][3] = {{0, size, 1}}, one[1][3] = {{0, 0, 7}};
    int overlapping[2][3] = {{0, 0, 1}, {0, 0, 1}}, count;
    FAILS(MPI_ERR_GROUP, MPI_Group_size(MPI_GROUP_NULL, &count));
    FAILS(MPI_ERR_RANK, MPI_Group_incl(all, 2, twice, &group));
    FAILS(MPI_ERR_RANK, MPI_Group_incl(all, 1, outside, &group));
    FAILS(MPI_ERR_RANK, MPI_Group_excl(all, 1, negative, &group));
    FAILS(MPI_ERR_RANK, MPI_Group_excl(all, 2, twice, &group));
    FAILS(MPI_ERR_GROUP, MPI_Group_incl(MPI_GROUP_NULL, 1, zero, &group));
    FAILS(MPI_ERR_GROUP, MPI_Group_union(all, MPI_GROUP_NULL, &group));
    FAILS(MPI_ERR_ARG, MPI_Group_range_incl(all, 1, still, &group));
    FAILS(MPI_ERR_ARG, MPI_Group_range_incl(all, 1, away, &group));
    FAILS(MPI_ERR_RANK, MPI_Group_range_incl(all, 1, beyond, &group));
    FAILS(MPI_ERR_RANK, MPI_Group_range_incl(all, 2, overlapping, &group));
    FAILS(MPI_ERR_RANK, MPI_Group_range_excl(all, 2, overlapping, &group));
    FAILS(MPI_ERR_RANK, MPI_Group_translate_ranks(all, 1, outside, all, found));
    OK(MPI_Group_translate_ranks(all, 1, nobody, MPI_GROUP_EMPTY, found));
    CHECK_EQ(found[0], MPI_PROC_NULL);
    OK(MPI_Group_range_incl(all, 1, one, &group));
    OK(MPI_Group_size(group, &count));
    CHECK_EQ(count, 1);
    stale = group;
    OK(MPI_Group_free(&group));
    FAILS(MPI_ERR_GROUP, MPI_Group_size(stale, &count));
    OK(MPI_Group_incl(all, 0, NULL, &group));
    CHECK(group == MPI_GROUP_EMPTY);
}

static void constructors(void)
{
    MPI_Comm comm = MPI_COMM_WORLD;
    MPI_Request request;
    FAILS(MPI_ERR_GROUP, MPI_Comm_create(world, MPI_GROUP_NULL, &comm));
    FAILS(MPI_ERR_GROUP, MPI_Comm_create_group(world, MPI_GROUP_NULL, 0, &comm));
    FAILS(MPI_ERR_TAG, MPI_Comm_create_group(world, all, MPI_ANY_TAG, &comm));
    FAILS(MPI_ERR_COMM, MPI_Comm_create_group(MPI_COMM_NULL, all, 0, &comm));
    FAILS(MPI_ERR_COMM, MPI_Comm_idup(MPI_COMM_NULL, &comm, &request));
    FAILS(MPI_ERR_ARG, MPI_Comm_split(world, -5, 0, &comm));
    FAILS(MPI_ERR_ARG, MPI_Comm_split_type(world, 9999, 0, MPI_INFO_NULL, &comm));
    FAILS(MPI_ERR_COMM, MPI_Intercomm_create(MPI_COMM_NULL, 0, world, 0, 0, &comm));
    FAILS(MPI_ERR_RANK, MPI_Intercomm_create(MPI_COMM_SELF, 1, world, 0, 0, &comm));
    FAILS(MPI_ERR_TAG, MPI_Intercomm_create(MPI_COMM_SELF, 0, world, 0, -1, &comm));
    OK(MPI_Comm_create(world, MPI_GROUP_EMPTY, &comm));
    CHECK(comm == MPI_COMM_NULL);
    if (size > 1) {
        FAILS(MPI_ERR_GROUP, MPI_Comm_create(MPI_COMM_SELF, all, &comm));
        FAILS(MPI_ERR_GROUP, MPI_Comm_create_group(MPI_COMM_SELF, all, 0, &comm));
    }
}

/* How many processes get a communicator of this kind together; 0 for none. */
static int split(int type, const char *key, const char *value)
{
    MPI_Comm comm;
    MPI_Info info;
    int together = 0;
    OK(MPI_Info_create(&info));
    if (key != NULL) {
        OK(MPI_Info_set(info, key, value));
    }
    OK(MPI_Comm_split_type(world, type, 0, info, &comm));
    OK(MPI_Info_free(&info));
    if (comm != MPI_COMM_NULL) {
        OK(MPI_Comm_size(comm, &together));
        OK(MPI_Comm_free(&comm));
    }
    return together;
}

/* Only resources of which something is known, and process sets that there are, give communicators. */
static void resources(void)
{
    CHECK_EQ(split(MPI_UNDEFINED, NULL, NULL), 0);
    CHECK_EQ(split(MPI_COMM_TYPE_RESOURCE_GUIDED, "mpi_pset_name", "mpi://WORLD"), size);
    CHECK_EQ(split(MPI_COMM_TYPE_RESOURCE_GUIDED, "mpi_pset_name", "mpi://SELF"), 1);
    CHECK_EQ(split(MPI_COMM_TYPE_RESOURCE_GUIDED, "mpi_pset_name", "there is no such set"), 0);
    CHECK_EQ(split(MPI_COMM_TYPE_HW_GUIDED, "mpi_hw_resource_type", "there is no such resource"), 0);
    CHECK_EQ(split(MPI_COMM_TYPE_HW_GUIDED, "mpi_hw_resource_type", "mpi_shared_memory"), split(MPI_COMM_TYPE_SHARED, NULL, NULL));
}

/* Two groups of which each process knows its own side; the calls that are for one group only. */
static void intercommunicator(void)
{
    MPI_Comm half, inter, comm;
    MPI_Group group;
    MPI_Request request;
    int in = 0, out = 0, leader = rank % 2 == 0 ? 1 : 0;
    if (size < 2) {
        return;
    }
    OK(MPI_Comm_split(world, rank % 2, 0, &half));
    OK(MPI_Intercomm_create(half, 0, world, leader, 4, &inter));
    OK(MPI_Comm_group(inter, &group));
    FAILS(MPI_ERR_COMM, MPI_Comm_create_group(inter, group, 0, &comm));
    FAILS(MPI_ERR_COMM, MPI_Intercomm_create(inter, 0, world, leader, 4, &comm));
    FAILS(MPI_ERR_COMM, MPI_Scan(&in, &out, 1, MPI_INT, MPI_SUM, inter));
    FAILS(MPI_ERR_COMM, MPI_Iexscan(&in, &out, 1, MPI_INT, MPI_SUM, inter, &request));
    FAILS(MPI_ERR_BUFFER, MPI_Allreduce(MPI_IN_PLACE, &out, 1, MPI_INT, MPI_SUM, inter));
    FAILS(MPI_ERR_ROOT, MPI_Bcast(&in, 1, MPI_INT, size, inter));
    FAILS(MPI_ERR_ROOT, MPI_Bcast(&in, 1, MPI_INT, MPI_ANY_SOURCE, inter));
    FAILS(MPI_ERR_TOPOLOGY, MPI_Neighbor_allgather(&in, 1, MPI_INT, &out, 1, MPI_INT, inter));
    OK(MPI_Bcast(NULL, -1, MPI_DATATYPE_NULL, MPI_PROC_NULL, inter));
    OK(MPI_Barrier(inter));
    OK(MPI_Group_free(&group));
    OK(MPI_Comm_free(&inter));
    OK(MPI_Comm_free(&half));
}

static int refuse(MPI_Comm comm, int keyval, void *extra, void *value, void *copy, int *flag)
{
    (void)comm, (void)keyval, (void)extra, (void)value, (void)copy, (void)flag;
    return MPI_ERR_OTHER;
}

static int refuse_type(MPI_Datatype type, int keyval, void *extra, void *value, void *copy, int *flag)
{
    (void)type, (void)keyval, (void)extra, (void)value, (void)copy, (void)flag;
    return MPI_ERR_OTHER;
}

/* When an attribute cannot be copied there is no duplicate, and its handle says so. */
static void failed_duplicates(void)
{
    MPI_Comm comm, twin = MPI_COMM_WORLD;
    MPI_Datatype type, copy = MPI_INT;
    MPI_Request request;
    int keyval, type_keyval;
    OK(MPI_Comm_dup(world, &comm));
    OK(MPI_Comm_create_keyval(refuse, MPI_COMM_NULL_DELETE_FN, &keyval, NULL));
    OK(MPI_Comm_set_attr(comm, keyval, NULL));
    FAILS(MPI_ERR_OTHER, MPI_Comm_dup(comm, &twin));
    CHECK(twin == MPI_COMM_NULL);
    twin = MPI_COMM_WORLD;
    FAILS(MPI_ERR_OTHER, MPI_Comm_idup(comm, &twin, &request));
    CHECK(twin == MPI_COMM_NULL);
    OK(MPI_Comm_delete_attr(comm, keyval));
    OK(MPI_Comm_free_keyval(&keyval));
    OK(MPI_Comm_free(&comm));
    OK(MPI_Type_contiguous(2, MPI_INT, &type));
    OK(MPI_Type_create_keyval(refuse_type, MPI_TYPE_NULL_DELETE_FN, &type_keyval, NULL));
    OK(MPI_Type_set_attr(type, type_keyval, NULL));
    FAILS(MPI_ERR_OTHER, MPI_Type_dup(type, &copy));
    CHECK(copy == MPI_DATATYPE_NULL);
    OK(MPI_Type_free(&type));
    OK(MPI_Type_free_keyval(&type_keyval));
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    OK(MPI_Comm_group(world, &all));
    groups();
    constructors();
    resources();
    intercommunicator();
    failed_duplicates();
    OK(MPI_Group_free(&all));
    return check_end();
}
