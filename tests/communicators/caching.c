/* Attributes on communicators (MPI 5.0, section 7.7): copy and delete callbacks, their errors, the order of deletion,
 * the predefined functions and attributes, and the deprecated names. */
#include "../check.h"

static int copies, deletions, refuse;
static int deleted[8];

static int copy(MPI_Comm comm, int keyval, void *extra, void *in, void *out, int *flag)
{
    (void)comm;
    (void)keyval;
    CHECK(extra == &copies);
    copies++;
    *(void **)out = (char *)in + 1;
    *flag = !refuse;
    return MPI_SUCCESS;
}

static int delete(MPI_Comm comm, int keyval, void *value, void *extra)
{
    (void)comm;
    (void)value;
    CHECK(extra == &copies);
    deleted[deletions++ % 8] = keyval;
    return MPI_SUCCESS;
}

static int failing_delete(MPI_Comm comm, int keyval, void *value, void *extra)
{
    (void)comm;
    (void)keyval;
    (void)value;
    (void)extra;
    return MPI_ERR_OTHER;
}

static void life(void)
{
    char base[8];
    void *found = NULL;
    int keyval, flag = 1;
    MPI_Comm comm, twin;
    OK(MPI_Comm_create_keyval(copy, delete, &keyval, &copies));
    CHECK(keyval != MPI_KEYVAL_INVALID);
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    OK(MPI_Comm_get_attr(comm, keyval, &found, &flag));
    CHECK_EQ(flag, 0);
    OK(MPI_Comm_set_attr(comm, keyval, base));
    OK(MPI_Comm_get_attr(comm, keyval, &found, &flag));
    CHECK(flag && found == base);
    OK(MPI_Comm_set_attr(comm, keyval, base + 1));
    CHECK_EQ(deletions, 1);
    OK(MPI_Comm_dup(comm, &twin));
    CHECK_EQ(copies, 1);
    OK(MPI_Comm_get_attr(twin, keyval, &found, &flag));
    CHECK(flag && found == base + 2);
    OK(MPI_Comm_free(&twin));
    CHECK_EQ(deletions, 2);
    refuse = 1;
    OK(MPI_Comm_dup(comm, &twin));
    OK(MPI_Comm_get_attr(twin, keyval, &found, &flag));
    CHECK_EQ(flag, 0);
    OK(MPI_Comm_free(&twin));
    CHECK_EQ(deletions, 2);
    /* A split copies nothing. */
    OK(MPI_Comm_split(comm, 0, rank, &twin));
    CHECK_EQ(copies, 2);
    OK(MPI_Comm_free(&twin));
    OK(MPI_Comm_free_keyval(&keyval));
    CHECK_EQ(keyval, MPI_KEYVAL_INVALID);
    OK(MPI_Comm_free(&comm));
    CHECK_EQ(deletions, 3);
}

/* Attributes on MPI_COMM_SELF are deleted by MPI_Finalize in the reverse order of setting (section 11.2.4); on other
 * communicators the order is not fixed, but each is deleted once. */
static void order(void)
{
    int keyvals[5], seen = 0;
    MPI_Comm comm;
    OK(MPI_Comm_dup(MPI_COMM_SELF, &comm));
    deletions = 0;
    for (int i = 0; i < 5; i++) {
        OK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete, &keyvals[i], &copies));
        OK(MPI_Comm_set_attr(comm, keyvals[i], NULL));
    }
    OK(MPI_Comm_delete_attr(comm, keyvals[2]));
    CHECK_EQ(deletions, 1);
    CHECK_EQ(deleted[0], keyvals[2]);
    OK(MPI_Comm_free(&comm));
    CHECK_EQ(deletions, 5);
    for (int i = 0; i < 5; i++) {
        for (int j = 0; j < 5; j++) {
            seen |= deleted[j] == keyvals[i] ? 1 << i : 0;
        }
        OK(MPI_Comm_free_keyval(&keyvals[i]));
    }
    CHECK_EQ(seen, 31);
}

static void failing(void)
{
    int keyval;
    MPI_Comm comm;
    OK(MPI_Comm_create_keyval(MPI_COMM_DUP_FN, failing_delete, &keyval, NULL));
    OK(MPI_Comm_dup(MPI_COMM_SELF, &comm));
    OK(MPI_Comm_set_attr(comm, keyval, &comm));
    CHECK(MPI_Comm_delete_attr(comm, keyval) != MPI_SUCCESS);
    CHECK(MPI_Comm_free(&comm) != MPI_SUCCESS);
    CHECK(comm != MPI_COMM_NULL);
    OK(MPI_Comm_free_keyval(&keyval));
}

static void duplicated(void)
{
    int keyval, flag = 0;
    void *found = NULL;
    MPI_Comm comm, twin;
    OK(MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, &keyval, NULL));
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    OK(MPI_Comm_set_attr(comm, keyval, &comm));
    OK(MPI_Comm_dup(comm, &twin));
    OK(MPI_Comm_get_attr(twin, keyval, &found, &flag));
    CHECK(flag && found == &comm);
    OK(MPI_Comm_free(&twin));
    OK(MPI_Comm_free(&comm));
    OK(MPI_Comm_free_keyval(&keyval));
}

static void predefined(void)
{
    int flag = 0, *value = NULL;
    OK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &value, &flag));
    CHECK(flag && *value >= 32767);
    if (flag) {
        int in = 0;
        OK(MPI_Sendrecv(&rank, 1, MPI_INT, rank, *value, &in, 1, MPI_INT, rank, *value, MPI_COMM_WORLD,
                        MPI_STATUS_IGNORE));
        CHECK_EQ(in, rank);
    }
    OK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_WTIME_IS_GLOBAL, &value, &flag));
    CHECK(flag && (*value == 0 || *value == 1));
    OK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_IO, &value, &flag));
    CHECK(flag);
    OK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_HOST, &value, &flag));
    OK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_UNIVERSE_SIZE, &value, &flag));
    CHECK(!flag || *value >= size);
    OK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_APPNUM, &value, &flag));
    CHECK(!flag || *value == 0);
    OK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_LASTUSEDCODE, &value, &flag));
    CHECK(flag && *value >= MPI_ERR_LASTCODE);
    CHECK(MPI_Comm_set_attr(MPI_COMM_WORLD, MPI_TAG_UB, value) != MPI_SUCCESS);
}

static void deprecated(void)
{
    int keyval, flag = 0;
    void *found = NULL;
    MPI_Comm comm;
    refuse = deletions = 0;
    OK(MPI_Keyval_create(copy, delete, &keyval, &copies));
    OK(MPI_Comm_dup(MPI_COMM_SELF, &comm));
    OK(MPI_Attr_put(comm, keyval, deleted));
    OK(MPI_Attr_get(comm, keyval, &found, &flag));
    CHECK(flag && found == deleted);
    OK(MPI_Attr_delete(comm, keyval));
    CHECK_EQ(deletions, 1);
    OK(MPI_Keyval_free(&keyval));
    CHECK_EQ(keyval, MPI_KEYVAL_INVALID);
    OK(MPI_Comm_free(&comm));
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    life();
    order();
    failing();
    duplicated();
    predefined();
    deprecated();
    return check_end();
}
