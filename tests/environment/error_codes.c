/* Error classes, codes and strings (MPI 5.0, sections 9.4 and 9.5): every predefined class has a text and is its own
 * class; new classes and codes can be added, described and removed, and MPI_LASTUSEDCODE follows. */
#include "../check.h"

static int last_used(void)
{
    int *value = NULL, flag = 0;
    OK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_LASTUSEDCODE, &value, &flag));
    CHECK(flag);
    return *value;
}

static void predefined(void)
{
    static const int classes[] = {
        MPI_SUCCESS, MPI_ERR_BUFFER, MPI_ERR_COUNT, MPI_ERR_TYPE, MPI_ERR_TAG, MPI_ERR_COMM, MPI_ERR_RANK,
        MPI_ERR_REQUEST, MPI_ERR_ROOT, MPI_ERR_GROUP, MPI_ERR_OP, MPI_ERR_TOPOLOGY, MPI_ERR_DIMS, MPI_ERR_ARG,
        MPI_ERR_UNKNOWN, MPI_ERR_TRUNCATE, MPI_ERR_OTHER, MPI_ERR_INTERN, MPI_ERR_PENDING, MPI_ERR_IN_STATUS,
        MPI_ERR_ACCESS, MPI_ERR_AMODE, MPI_ERR_ASSERT, MPI_ERR_BAD_FILE, MPI_ERR_BASE, MPI_ERR_CONVERSION,
        MPI_ERR_DISP, MPI_ERR_DUP_DATAREP, MPI_ERR_FILE_EXISTS, MPI_ERR_FILE_IN_USE, MPI_ERR_FILE, MPI_ERR_INFO_KEY,
        MPI_ERR_INFO_NOKEY, MPI_ERR_INFO_VALUE, MPI_ERR_INFO, MPI_ERR_IO, MPI_ERR_KEYVAL, MPI_ERR_LOCKTYPE,
        MPI_ERR_NAME, MPI_ERR_NO_MEM, MPI_ERR_NOT_SAME, MPI_ERR_NO_SPACE, MPI_ERR_NO_SUCH_FILE, MPI_ERR_PORT,
        MPI_ERR_QUOTA, MPI_ERR_READ_ONLY, MPI_ERR_RMA_ATTACH, MPI_ERR_RMA_CONFLICT, MPI_ERR_RMA_RANGE,
        MPI_ERR_RMA_SHARED, MPI_ERR_RMA_SYNC, MPI_ERR_SERVICE, MPI_ERR_SIZE, MPI_ERR_SPAWN,
        MPI_ERR_UNSUPPORTED_DATAREP, MPI_ERR_UNSUPPORTED_OPERATION, MPI_ERR_WIN, MPI_ERR_RMA_FLAVOR,
        MPI_ERR_PROC_ABORTED, MPI_ERR_VALUE_TOO_LARGE, MPI_ERR_SESSION, MPI_ERR_ERRHANDLER, MPI_ERR_ABI};
    static char texts[sizeof classes / sizeof *classes][MPI_MAX_ERROR_STRING];
    int count = sizeof classes / sizeof *classes, length, class;
    for (int i = 0; i < count; i++) {
        length = -1;
        OK(MPI_Error_string(classes[i], texts[i], &length));
        CHECK(length > 0);
        CHECK_EQ(length, strlen(texts[i]));
        OK(MPI_Error_class(classes[i], &class));
        CHECK_EQ(class, classes[i]);
        CHECK(classes[i] <= MPI_ERR_LASTCODE);
        for (int j = 0; j < i; j++) {
            if (strcmp(texts[i], texts[j]) == 0) {
                fprintf(stderr, "error_codes.c rank %d: classes %d and %d have the same text: %s\n", rank, classes[j],
                        classes[i], texts[i]);
                CHECK(!"two classes with the same text");
            }
        }
    }
}

static void check_text(int code, const char *expected)
{
    char text[MPI_MAX_ERROR_STRING];
    int length = -1;
    OK(MPI_Error_string(code, text, &length));
    CHECK(strcmp(text, expected) == 0);
    CHECK_EQ(length, strlen(expected));
}

static void added(void)
{
    int class = -1, code = -1, second = -1, found = -1;
    OK(MPI_Add_error_class(&class));
    CHECK(class > MPI_ERR_LASTCODE);
    CHECK(last_used() >= class);
    OK(MPI_Add_error_code(class, &code));
    OK(MPI_Add_error_code(MPI_ERR_TRUNCATE, &second));
    CHECK(code > MPI_ERR_LASTCODE && second > MPI_ERR_LASTCODE && code != second);
    CHECK(last_used() >= code && last_used() >= second);
    OK(MPI_Error_class(code, &found));
    CHECK_EQ(found, class);
    OK(MPI_Error_class(second, &found));
    CHECK_EQ(found, MPI_ERR_TRUNCATE);
    OK(MPI_Error_class(class, &found));
    CHECK_EQ(found, class);
    check_text(code, "");
    OK(MPI_Add_error_string(class, "my class"));
    OK(MPI_Add_error_string(code, "my code"));
    OK(MPI_Add_error_string(code, "my better text"));
    check_text(class, "my class");
    check_text(code, "my better text");
    CHECK(MPI_Add_error_string(MPI_ERR_TYPE, "not allowed") != MPI_SUCCESS);
    /* A code of the program travels through an error handler like one of the library. */
    OK(MPI_Comm_call_errhandler(MPI_COMM_SELF, code));

    CHECK(MPI_Remove_error_code(code) != MPI_SUCCESS);
    OK(MPI_Remove_error_string(code));
    check_text(code, "");
    OK(MPI_Remove_error_string(class));
    CHECK(MPI_Remove_error_class(class) != MPI_SUCCESS);
    OK(MPI_Remove_error_code(code));
    OK(MPI_Remove_error_code(second));
    OK(MPI_Remove_error_class(class));
    CHECK(MPI_Remove_error_class(MPI_ERR_TYPE) != MPI_SUCCESS);
    CHECK(MPI_Remove_error_string(MPI_ERR_TYPE) != MPI_SUCCESS);
}

/* An empty string is one that was added; what was removed is no code any more, and the greatest number comes back. */
static void removed(void)
{
    int class = -1, code = -1, before = last_used(), length, found;
    char text[MPI_MAX_ERROR_STRING];
    OK(MPI_Add_error_class(&class));
    OK(MPI_Add_error_code(class, &code));
    CHECK(MPI_Remove_error_string(code) != MPI_SUCCESS);
    FAILS(MPI_ERR_ARG, MPI_Add_error_code(code, &found));
    OK(MPI_Add_error_string(code, ""));
    check_text(code, "");
    CHECK(MPI_Remove_error_code(code) != MPI_SUCCESS);
    OK(MPI_Remove_error_string(code));
    CHECK(MPI_Remove_error_string(code) != MPI_SUCCESS);
    CHECK(MPI_Remove_error_class(code) != MPI_SUCCESS);
    CHECK(MPI_Remove_error_code(class) != MPI_SUCCESS);
    OK(MPI_Remove_error_code(code));
    FAILS(MPI_ERR_ARG, MPI_Error_string(code, text, &length));
    FAILS(MPI_ERR_ARG, MPI_Error_class(code, &found));
    FAILS(MPI_ERR_ARG, MPI_Add_error_string(code, "gone"));
    FAILS(MPI_ERR_ARG, MPI_Add_error_code(code, &found));
    OK(MPI_Remove_error_class(class));
    FAILS(MPI_ERR_ARG, MPI_Add_error_code(class, &found));
    CHECK_EQ(last_used(), before);
    memset(text, 'x', sizeof text);
    text[sizeof text - 1] = '\0';
    OK(MPI_Add_error_class(&class));
    OK(MPI_Add_error_string(class, text));
    check_text(class, text);
    OK(MPI_Remove_error_string(class));
    OK(MPI_Remove_error_class(class));
}

static void many(void)
{
    int classes[40];
    char text[30];
    for (int i = 0; i < 40; i++) {
        OK(MPI_Add_error_class(&classes[i]));
        snprintf(text, sizeof text, "class number %d", i);
        OK(MPI_Add_error_string(classes[i], text));
    }
    for (int i = 0; i < 40; i++) {
        snprintf(text, sizeof text, "class number %d", i);
        check_text(classes[i], text);
        for (int j = 0; j < i; j++) {
            CHECK(classes[i] != classes[j]);
        }
    }
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    predefined();
    added();
    removed();
    many();
    return check_end();
}
