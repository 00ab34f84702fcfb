/* What a window says of itself, and what a program puts on it: attributes, names, hints, the group, error handlers. */
#include "../check.h"

static int deleted, handled, handled_code;

static int on_delete(MPI_Win win, int keyval, void *value, void *extra)
{
    (void)win, (void)keyval;
    deleted += *(int *)value;
    return *(int *)extra;
}

static void on_error(MPI_Win *win, int *code, ...)
{
    handled += *win != MPI_WIN_NULL;
    handled_code = *code;
}

static void on_other_error(MPI_Comm *comm, int *code, ...)
{
    (void)comm, (void)code;
}

static void facts(MPI_Win win, void *base, MPI_Aint bytes, int unit, int flavor)
{
    void *found_base = NULL;
    MPI_Aint *found_bytes;
    int *number, flag = 0;
    OK(MPI_Win_get_attr(win, MPI_WIN_BASE, &found_base, &flag));
    CHECK(flag && found_base == base);
    OK(MPI_Win_get_attr(win, MPI_WIN_SIZE, &found_bytes, &flag));
    CHECK(flag);
    CHECK_EQ(*found_bytes, bytes);
    OK(MPI_Win_get_attr(win, MPI_WIN_DISP_UNIT, &number, &flag));
    CHECK(flag);
    CHECK_EQ(*number, unit);
    OK(MPI_Win_get_attr(win, MPI_WIN_CREATE_FLAVOR, &number, &flag));
    CHECK(flag);
    CHECK_EQ(*number, flavor);
    OK(MPI_Win_get_attr(win, MPI_WIN_MODEL, &number, &flag));
    CHECK(flag);
    CHECK_EQ(*number, MPI_WIN_UNIFIED);
    FAILS(MPI_ERR_KEYVAL, MPI_Win_set_attr(win, MPI_WIN_SIZE, NULL));
}

static void attributes(MPI_Win win)
{
    static int value = 3, code = MPI_SUCCESS;
    int key, other = 4, *found, flag = 1, comm_key;
    OK(MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, on_delete, &key, &code));
    OK(MPI_Win_get_attr(win, key, &found, &flag));
    CHECK(!flag);
    OK(MPI_Win_set_attr(win, key, &value));
    OK(MPI_Win_get_attr(win, key, &found, &flag));
    CHECK(flag && found == &value);
    OK(MPI_Win_set_attr(win, key, &other));
    CHECK_EQ(deleted, 3);
    code = MPI_ERR_OTHER;
    FAILS(MPI_ERR_OTHER, MPI_Win_delete_attr(win, key));
    code = MPI_SUCCESS;
    OK(MPI_Win_delete_attr(win, key));
    CHECK_EQ(deleted, 11);
    FAILS(MPI_ERR_KEYVAL, MPI_Win_delete_attr(win, key));
    OK(MPI_Win_set_attr(win, key, &value));
    OK(MPI_Win_free_keyval(&key));
    CHECK_EQ(key, MPI_KEYVAL_INVALID);
    OK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &comm_key, NULL));
    FAILS(MPI_ERR_KEYVAL, MPI_Win_set_attr(win, comm_key, &value));
    OK(MPI_Comm_free_keyval(&comm_key));
}

static void names(MPI_Win win)
{
    char name[MPI_MAX_OBJECT_NAME];
    int length = -1;
    OK(MPI_Win_get_name(win, name, &length));
    CHECK_EQ(length, 0);
    OK(MPI_Win_set_name(win, "a window"));
    OK(MPI_Win_get_name(win, name, &length));
    CHECK(length == 8 && strcmp(name, "a window") == 0);
    OK(MPI_Win_get_name(MPI_WIN_NULL, name, &length));
    CHECK(strcmp(name, "MPI_WIN_NULL") == 0);
}

static void expect(MPI_Info info, const char *key, const char *expected)
{
    char value[100];
    int length = sizeof value, flag = 0;
    OK(MPI_Info_get_string(info, key, &length, value, &flag));
    CHECK(flag && strcmp(value, expected) == 0);
}

static void hints(MPI_Win win)
{
    MPI_Info info, found;
    int flag, length = 0;
    OK(MPI_Info_create(&info));
    OK(MPI_Info_set(info, "accumulate_ordering", "none"));
    OK(MPI_Info_set(info, "not_a_hint_of_windows", "x"));
    OK(MPI_Win_set_info(win, info));
    OK(MPI_Win_set_info(win, MPI_INFO_NULL));
    OK(MPI_Win_get_info(win, &found));
    expect(found, "accumulate_ordering", "none");
    expect(found, "accumulate_ops", "same_op_no_op");
    expect(found, "no_locks", "false");
    expect(found, "same_size", "true");
    OK(MPI_Info_get_string(found, "mpi_memory_alloc_kinds", &length, NULL, &flag));
    CHECK(flag);
    expect(found, "same_disp_unit", "false");
    OK(MPI_Info_get_string(found, "not_a_hint_of_windows", &length, NULL, &flag));
    CHECK(!flag);
    OK(MPI_Info_free(&info));
    OK(MPI_Info_free(&found));
}

static void groups(MPI_Win win)
{
    MPI_Group group, world;
    int result;
    OK(MPI_Win_get_group(win, &group));
    OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
    OK(MPI_Group_compare(group, world, &result));
    CHECK_EQ(result, MPI_IDENT);
    OK(MPI_Group_free(&group));
    OK(MPI_Group_free(&world));
}

static void error_handlers(MPI_Win win)
{
    MPI_Errhandler own, found, of_communicators;
    OK(MPI_Win_get_errhandler(win, &found));
    CHECK(found == MPI_ERRORS_RETURN);
    OK(MPI_Win_create_errhandler(on_error, &own));
    OK(MPI_Win_set_errhandler(win, own));
    OK(MPI_Win_get_errhandler(win, &found));
    CHECK(found == own);
    OK(MPI_Errhandler_free(&found));
    OK(MPI_Errhandler_free(&own));
    FAILS(MPI_ERR_RMA_SYNC, MPI_Win_unlock(0, win));
    CHECK_EQ(handled, 1);
    CHECK_EQ(handled_code, MPI_ERR_RMA_SYNC);
    OK(MPI_Win_call_errhandler(win, MPI_ERR_RMA_RANGE));
    CHECK_EQ(handled, 2);
    CHECK_EQ(handled_code, MPI_ERR_RMA_RANGE);
    OK(MPI_Comm_create_errhandler(on_other_error, &of_communicators));
    FAILS(MPI_ERR_ERRHANDLER, MPI_Win_set_errhandler(win, of_communicators));
    OK(MPI_Errhandler_free(&of_communicators));
    handled = 0;
    OK(MPI_Win_fence(0, win));
    OK(MPI_Win_fence(MPI_MODE_NOPRECEDE | MPI_MODE_NOSUCCEED, win));
    OK(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win));
    FAILS(MPI_ERR_RMA_SYNC, MPI_Win_free(&win));
    CHECK_EQ(handled, 1);
    OK(MPI_Win_unlock(0, win));
    OK(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
}

int main(int argc, char **argv)
{
    static short cells[10];
    char *own;
    MPI_Info info;
    MPI_Win win;
    check_begin(&argc, &argv);
    OK(MPI_Info_create(&info));
    OK(MPI_Info_set(info, "same_size", "true"));
    OK(MPI_Win_create(cells, sizeof cells, sizeof(short), info, MPI_COMM_WORLD, &win));
    OK(MPI_Info_free(&info));
    OK(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
    facts(win, cells, sizeof cells, sizeof(short), MPI_WIN_FLAVOR_CREATE);
    attributes(win);
    names(win);
    hints(win);
    groups(win);
    error_handlers(win);
    deleted = 0;
    OK(MPI_Win_free(&win));
    CHECK_EQ(deleted, 3);

    OK(MPI_Info_create(&info));
    OK(MPI_Info_set(info, "mpi_minimum_memory_alignment", "16384"));
    OK(MPI_Win_allocate(33, 3, info, MPI_COMM_WORLD, &own, &win));
    OK(MPI_Info_free(&info));
    OK(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
    facts(win, own, 33, 3, MPI_WIN_FLAVOR_ALLOCATE);
    OK(MPI_Win_free(&win));

    OK(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    OK(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
    facts(win, MPI_BOTTOM, 0, 1, MPI_WIN_FLAVOR_DYNAMIC);
    OK(MPI_Win_free(&win));
    return check_end();
}
