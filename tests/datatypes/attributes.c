/* Names and attributes of datatypes (MPI 5.0, sections 7.7.4 and 7.8), and value-index pair types (section 6.9.4). */
#include "../check.h"

static int copies, deletions;

static int copy(MPI_Datatype type, int keyval, void *extra, void *in, void *out, int *flag)
{
    (void)type;
    (void)keyval;
    CHECK(extra == &copies);
    copies++;
    *(void **)out = (char *)in + 1;
    *flag = 1;
    return MPI_SUCCESS;
}

static int delete(MPI_Datatype type, int keyval, void *value, void *extra)
{
    (void)type;
    (void)keyval;
    (void)value;
    CHECK(extra == &copies);
    deletions++;
    return MPI_SUCCESS;
}

static void attributes(void)
{
    char base[8];
    void *found = NULL;
    int keyval, plain, flag = 1;
    MPI_Datatype type, twin;
    OK(MPI_Type_create_keyval(copy, delete, &keyval, &copies));
    OK(MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, MPI_TYPE_NULL_DELETE_FN, &plain, NULL));
    OK(MPI_Type_contiguous(2, MPI_INT, &type));
    OK(MPI_Type_get_attr(type, keyval, &found, &flag));
    CHECK_EQ(flag, 0);
    OK(MPI_Type_set_attr(type, keyval, base));
    OK(MPI_Type_set_attr(type, plain, base));
    OK(MPI_Type_get_attr(type, keyval, &found, &flag));
    CHECK(flag && found == base);
    OK(MPI_Type_set_attr(type, keyval, base + 2));
    CHECK_EQ(deletions, 1);
    OK(MPI_Type_dup(type, &twin));
    CHECK_EQ(copies, 1);
    OK(MPI_Type_get_attr(twin, keyval, &found, &flag));
    CHECK(flag && found == base + 3);
    OK(MPI_Type_get_attr(twin, plain, &found, &flag));
    CHECK_EQ(flag, 0);
    OK(MPI_Type_delete_attr(type, keyval));
    CHECK_EQ(deletions, 2);
    OK(MPI_Type_get_attr(type, keyval, &found, &flag));
    CHECK_EQ(flag, 0);
    /* A freed keyval stays valid for the attributes that still use it. */
    OK(MPI_Type_free_keyval(&keyval));
    CHECK_EQ(keyval, MPI_KEYVAL_INVALID);
    OK(MPI_Type_free(&twin));
    CHECK_EQ(deletions, 3);
    OK(MPI_Type_free(&type));
    OK(MPI_Type_free_keyval(&plain));
    CHECK_EQ(deletions, 3);
}

static void dup_function(void)
{
    int keyval, flag;
    void *found;
    MPI_Datatype twin, third;
    OK(MPI_Type_create_keyval(MPI_TYPE_DUP_FN, MPI_TYPE_NULL_DELETE_FN, &keyval, NULL));
    OK(MPI_Type_dup(MPI_DOUBLE, &twin));
    OK(MPI_Type_set_attr(twin, keyval, &copies));
    OK(MPI_Type_dup(twin, &third));
    OK(MPI_Type_get_attr(third, keyval, &found, &flag));
    CHECK(flag && found == &copies);
    OK(MPI_Type_free(&third));
    OK(MPI_Type_free(&twin));
    OK(MPI_Type_free_keyval(&keyval));
}

static void names(void)
{
    char name[MPI_MAX_OBJECT_NAME];
    int length = 9;
    MPI_Datatype type, twin;
    OK(MPI_Type_contiguous(2, MPI_INT, &type));
    OK(MPI_Type_get_name(type, name, &length));
    CHECK_EQ(length, 0);
    CHECK_EQ(name[0], 0);
    OK(MPI_Type_set_name(type, "two integers"));
    OK(MPI_Type_get_name(type, name, &length));
    CHECK(strcmp(name, "two integers") == 0 && length == 12);
    OK(MPI_Type_dup(type, &twin));
    OK(MPI_Type_get_name(twin, name, &length));
    CHECK_EQ(length, 0);
    OK(MPI_Type_free(&twin));
    OK(MPI_Type_free(&type));
}

static void value_index(void)
{
    MPI_Datatype pair;
    OK(MPI_Type_get_value_index(MPI_DOUBLE, MPI_INT, &pair));
    CHECK(pair == MPI_DOUBLE_INT);
    OK(MPI_Type_get_value_index(MPI_INT, MPI_INT, &pair));
    CHECK(pair == MPI_2INT);
    OK(MPI_Type_get_value_index(MPI_CHAR, MPI_CHAR, &pair));
    CHECK(pair == MPI_DATATYPE_NULL);
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    attributes();
    dup_function();
    names();
    value_index();
    return check_end();
}
