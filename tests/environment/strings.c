/* Strings of C have no encoding: names, keys, values and texts that are not UTF-8 come back byte by byte, as from Latin-1 sources. */
#include "../check.h"

#include <unistd.h>

#define WORD "caf\xe9 \xff na\xefve"

static char text[MPI_MAX_INFO_VAL + MPI_MAX_ERROR_STRING];
static int length, flag;

static void names(void)
{
    MPI_Comm comm;
    MPI_Win win;
    MPI_Datatype type;
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    OK(MPI_Comm_set_name(comm, WORD));
    OK(MPI_Comm_get_name(comm, text, &length));
    CHECK(length == sizeof WORD - 1 && strcmp(text, WORD) == 0);
    OK(MPI_Win_create_dynamic(MPI_INFO_NULL, comm, &win));
    OK(MPI_Win_set_name(win, WORD));
    OK(MPI_Win_get_name(win, text, &length));
    CHECK(length == sizeof WORD - 1 && strcmp(text, WORD) == 0);
    OK(MPI_Win_free(&win));
    OK(MPI_Comm_free(&comm));
    OK(MPI_Type_contiguous(3, MPI_INT, &type));
    OK(MPI_Type_set_name(type, WORD));
    OK(MPI_Type_get_name(type, text, &length));
    CHECK(length == sizeof WORD - 1 && strcmp(text, WORD) == 0);
    OK(MPI_Type_free(&type));
    OK(MPI_Type_set_name(MPI_SHORT, WORD));
    OK(MPI_Type_get_name(MPI_SHORT, text, &length));
    CHECK(strcmp(text, WORD) == 0);
}

static void hints(void)
{
    MPI_Info info;
    int room = sizeof text;
    OK(MPI_Info_create(&info));
    OK(MPI_Info_set(info, WORD, "\xe9" WORD));
    OK(MPI_Info_get_nthkey(info, 0, text));
    CHECK(strcmp(text, WORD) == 0);
    OK(MPI_Info_get_string(info, WORD, &room, text, &flag));
    CHECK(flag && room == sizeof WORD + 1 && strcmp(text, "\xe9" WORD) == 0);
    OK(MPI_Info_get_valuelen(info, WORD, &length, &flag));
    CHECK(flag && length == sizeof WORD);
    OK(MPI_Info_get_string(info, "caf\xc3\xa9", &room, text, &flag));
    CHECK(!flag);
    OK(MPI_Info_delete(info, WORD));
    FAILS(MPI_ERR_INFO_NOKEY, MPI_Info_delete(info, WORD));
    OK(MPI_Info_free(&info));
}

static void texts_of_errors(void)
{
    int class;
    OK(MPI_Add_error_class(&class));
    OK(MPI_Add_error_string(class, WORD));
    OK(MPI_Error_string(class, text, &length));
    CHECK(length == sizeof WORD - 1 && strcmp(text, WORD) == 0);
    OK(MPI_Remove_error_string(class));
    OK(MPI_Remove_error_class(class));
}

/* Processes that give the same bytes find each other, and what is no name of a process set is refused, but not for its bytes. */
static void sessions(void)
{
    MPI_Group group;
    MPI_Comm comm;
    MPI_Session session;
    OK(MPI_Comm_group(MPI_COMM_WORLD, &group));
    OK(MPI_Comm_create_from_group(group, WORD, MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm));
    OK(MPI_Comm_free(&comm));
    OK(MPI_Group_free(&group));
    OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
    FAILS(MPI_ERR_ARG, MPI_Group_from_session_pset(session, WORD, &group));
    OK(MPI_Session_finalize(&session));
}

static void services(void)
{
    char service[100], port[MPI_MAX_PORT_NAME];
    if (rank != 0) {
        return;
    }
    snprintf(service, sizeof service, WORD " of %d", (int)getpid());
    OK(MPI_Publish_name(service, MPI_INFO_NULL, "port " WORD));
    OK(MPI_Lookup_name(service, MPI_INFO_NULL, port));
    CHECK(strcmp(port, "port " WORD) == 0);
    OK(MPI_Unpublish_name(service, MPI_INFO_NULL, "port " WORD));
    FAILS(MPI_ERR_NAME, MPI_Lookup_name(service, MPI_INFO_NULL, port));
    FAILS(MPI_ERR_PORT, MPI_Close_port(WORD));
}

static int no_extent(MPI_Datatype datatype, MPI_Aint *extent, void *extra)
{
    Count bytes;
    (void)extra;
    OK(MPI_Type_size(datatype, &bytes));
    *extent = bytes;
    return MPI_SUCCESS;
}

static void representations(void)
{
    MPI_File file;
    MPI_Offset displacement;
    MPI_Datatype etype, filetype;
    const char *directory = getenv("TMPDIR");
    char name[500], found[MPI_MAX_DATAREP_STRING];
    snprintf(name, sizeof name, "%.400s/strings-%d-\xe9", directory != NULL ? directory : "/tmp", (int)getpid());
    OK(MPI_Register_datarep(WORD, MPI_CONVERSION_FN_NULL, MPI_CONVERSION_FN_NULL, no_extent, NULL));
    FAILS(MPI_ERR_DUP_DATAREP, MPI_Register_datarep(WORD, MPI_CONVERSION_FN_NULL, MPI_CONVERSION_FN_NULL, no_extent, NULL));
    OK(MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file));
    OK(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, WORD, MPI_INFO_NULL));
    OK(MPI_File_get_view(file, &displacement, &etype, &filetype, found));
    CHECK(strcmp(found, WORD) == 0);
    OK(MPI_File_close(&file));
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    names();
    hints();
    texts_of_errors();
    sessions();
    services();
    representations();
    return check_end();
}
