/* Variables of the tool interface (MPI 5.0, sections 15.3.5 to 15.3.7 and 15.3.9): control variables before and after MPI_Init,
 * performance variables by sessions and handles, categories, enumerations, and the life of the interface. */
#include "tool.h"

static void not_initialized(void)
{
    int number;
    MPI_T_pvar_session session;
    CHECK_EQ(MPI_T_cvar_get_num(&number), MPI_T_ERR_NOT_INITIALIZED);
    CHECK_EQ(MPI_T_pvar_get_num(&number), MPI_T_ERR_NOT_INITIALIZED);
    CHECK_EQ(MPI_T_category_get_num(&number), MPI_T_ERR_NOT_INITIALIZED);
    CHECK_EQ(MPI_T_pvar_session_create(&session), MPI_T_ERR_NOT_INITIALIZED);
    CHECK_EQ(MPI_T_finalize(), MPI_T_ERR_NOT_INITIALIZED);
}

static void control_information(void)
{
    int count = 0, index = -1;
    GOOD(MPI_T_cvar_get_num(&count));
    CHECK(count > 0);
    for (int i = 0; i < count; i++) {
        char name[100], description[200], item[100], cut[4] = "xyz";
        int name_length = sizeof name, length = sizeof description, verbosity, bind, scope, items, cut_length = 3;
        int needed = 0;
        MPI_Datatype datatype;
        MPI_T_enum enumeration;
        GOOD(MPI_T_cvar_get_info(i, name, &name_length, &verbosity, &datatype, &enumeration, description, &length, &bind,
                                 &scope));
        CHECK_EQ(name_length, strlen(name) + 1);
        CHECK_EQ(length, strlen(description) + 1);
        CHECK(datatype == MPI_INT && enumeration != MPI_T_ENUM_NULL);
        CHECK_EQ(bind, MPI_T_BIND_NO_OBJECT);
        CHECK(verbosity >= MPI_T_VERBOSITY_USER_BASIC && verbosity <= MPI_T_VERBOSITY_MPIDEV_ALL);
        CHECK(scope >= MPI_T_SCOPE_CONSTANT && scope <= MPI_T_SCOPE_ALL_EQ);
        GOOD(MPI_T_cvar_get_info(i, NULL, &needed, NULL, NULL, NULL, cut, &cut_length, NULL, NULL));
        CHECK_EQ(needed, name_length);
        CHECK_EQ(cut_length, length);
        CHECK(strncmp(cut, description, 2) == 0 && cut[2] == '\0');
        GOOD(MPI_T_cvar_get_index(name, &index));
        CHECK_EQ(index, i);
        name_length = sizeof name;
        GOOD(MPI_T_enum_get_info(enumeration, &items, name, &name_length));
        CHECK(items >= 2);
        for (int j = 0; j < items; j++) {
            int value = -1, item_length = sizeof item;
            GOOD(MPI_T_enum_get_item(enumeration, j, &value, item, &item_length));
            CHECK_EQ(value, j);
            CHECK_EQ(item_length, strlen(item) + 1);
        }
        CHECK_EQ(MPI_T_enum_get_item(enumeration, items, &items, NULL, NULL), MPI_T_ERR_INVALID_INDEX);
    }
    CHECK_EQ(MPI_T_cvar_get_info(count, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL), MPI_T_ERR_INVALID_INDEX);
    CHECK_EQ(MPI_T_cvar_get_index("nothing", &index), MPI_T_ERR_INVALID_NAME);
    CHECK_EQ(MPI_T_enum_get_info(MPI_T_ENUM_NULL, &index, NULL, NULL), MPI_T_ERR_INVALID_HANDLE);
}

/* The variable that the program writes; every process the same. */
static void control_values(int before)
{
    MPI_T_cvar_handle handle, copy;
    int index = -1, count = 0, value = -1, three = 3, far = 1000;
    GOOD(MPI_T_cvar_get_index("POSTRIDER_BARRIER", &index));
    GOOD(MPI_T_cvar_handle_alloc(index, NULL, &handle, &count));
    CHECK_EQ(count, 1);
    GOOD(MPI_T_cvar_read(handle, &value));
    CHECK_EQ(value, before ? 0 : 3);
    if (before) {
        CHECK_EQ(MPI_T_cvar_write(handle, &far), MPI_T_ERR_INVALID);
        GOOD(MPI_T_cvar_write(handle, &three));
        GOOD(MPI_T_cvar_read(handle, &value));
        CHECK_EQ(value, 3);
    } else {
        CHECK_EQ(MPI_T_cvar_write(handle, &three), MPI_T_ERR_CVAR_SET_NOT_NOW);
    }
    copy = handle;
    GOOD(MPI_T_cvar_handle_free(&handle));
    CHECK(handle == MPI_T_CVAR_HANDLE_NULL);
    CHECK_EQ(MPI_T_cvar_read(copy, &value), MPI_T_ERR_INVALID_HANDLE);
    CHECK_EQ(MPI_T_cvar_read(handle, &value), MPI_T_ERR_INVALID_HANDLE);
    CHECK_EQ(MPI_T_cvar_handle_alloc(-1, NULL, &handle, &count), MPI_T_ERR_INVALID_INDEX);
}

static void performance_information(void)
{
    int count = 0, index = -1;
    GOOD(MPI_T_pvar_get_num(&count));
    CHECK(count > 0);
    for (int i = 0; i < count; i++) {
        char name[100];
        int length = sizeof name, verbosity, class, bind, readonly, continuous, atomic, needed = 0;
        MPI_Datatype datatype;
        MPI_T_enum enumeration;
        GOOD(MPI_T_pvar_get_info(i, name, &length, &verbosity, &class, &datatype, &enumeration, NULL, &needed, &bind,
                                 &readonly, &continuous, &atomic));
        CHECK_EQ(length, strlen(name) + 1);
        CHECK(needed > 1);
        CHECK(datatype == MPI_UNSIGNED_LONG_LONG && enumeration == MPI_T_ENUM_NULL);
        CHECK_EQ(bind, MPI_T_BIND_NO_OBJECT);
        CHECK_EQ(class == MPI_T_PVAR_CLASS_COUNTER, !readonly);
        GOOD(MPI_T_pvar_get_index(name, class, &index));
        CHECK_EQ(index, i);
        CHECK_EQ(MPI_T_pvar_get_index(name, MPI_T_PVAR_CLASS_TIMER, &index), MPI_T_ERR_INVALID_NAME);
    }
    CHECK_EQ(MPI_T_pvar_get_info(count, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
             MPI_T_ERR_INVALID_INDEX);
}

static MPI_T_pvar_handle handle_of(MPI_T_pvar_session session, const char *name, int class)
{
    MPI_T_pvar_handle handle = MPI_T_PVAR_HANDLE_NULL;
    int index = -1, count = 0;
    GOOD(MPI_T_pvar_get_index(name, class, &index));
    GOOD(MPI_T_pvar_handle_alloc(session, index, NULL, &handle, &count));
    CHECK_EQ(count, 1);
    return handle;
}

static unsigned long long value_of(MPI_T_pvar_session session, MPI_T_pvar_handle handle)
{
    unsigned long long value = 999999;
    GOOD(MPI_T_pvar_read(session, handle, &value));
    return value;
}

static void exchange(int messages, int bytes)
{
    static char out[1000], in[1000];
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    for (int i = 0; i < messages; i++) {
        MPI_Request request;
        OK(MPI_Irecv(in, bytes, MPI_BYTE, left, 1, MPI_COMM_WORLD, &request));
        OK(MPI_Send(out, bytes, MPI_BYTE, right, 1, MPI_COMM_WORLD));
        OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    }
}

static void counters(void)
{
    MPI_T_pvar_session session, other;
    MPI_T_pvar_handle sent, bytes, received, collectives;
    unsigned long long value = 40;
    GOOD(MPI_T_pvar_session_create(&session));
    GOOD(MPI_T_pvar_session_create(&other));
    sent = handle_of(session, "messages_sent", MPI_T_PVAR_CLASS_COUNTER);
    bytes = handle_of(session, "bytes_sent", MPI_T_PVAR_CLASS_COUNTER);
    received = handle_of(session, "bytes_received", MPI_T_PVAR_CLASS_COUNTER);
    collectives = handle_of(other, "collectives", MPI_T_PVAR_CLASS_COUNTER);
    exchange(3, 10);
    CHECK_EQ(value_of(session, sent), 0);
    GOOD(MPI_T_pvar_start(session, MPI_T_PVAR_ALL_HANDLES));
    GOOD(MPI_T_pvar_start(other, collectives));
    exchange(5, 100);
    CHECK_EQ(value_of(session, sent), 5);
    CHECK_EQ(value_of(session, bytes), 500);
    CHECK_EQ(value_of(session, received), 500);
    GOOD(MPI_T_pvar_stop(session, bytes));
    exchange(2, 7);
    CHECK_EQ(value_of(session, bytes), 500);
    CHECK_EQ(value_of(session, sent), 7);
    GOOD(MPI_T_pvar_readreset(session, sent, &value));
    CHECK_EQ(value, 7);
    CHECK_EQ(value_of(session, sent), 0);
    exchange(1, 1000);
    CHECK_EQ(value_of(session, sent), 1);
    value = 40;
    GOOD(MPI_T_pvar_write(session, sent, &value));
    exchange(2, 1);
    CHECK_EQ(value_of(session, sent), 42);
    GOOD(MPI_T_pvar_reset(session, MPI_T_PVAR_ALL_HANDLES));
    CHECK_EQ(value_of(session, sent), 0);
    CHECK_EQ(value_of(session, bytes), 0);
    CHECK_EQ(value_of(other, collectives), 0);
    OK(MPI_Barrier(MPI_COMM_WORLD));
    CHECK_EQ(value_of(other, collectives), 1);
    CHECK_EQ(MPI_T_pvar_read(other, sent, &value), MPI_T_ERR_INVALID_HANDLE);
    CHECK_EQ(MPI_T_pvar_read(MPI_T_PVAR_SESSION_NULL, sent, &value), MPI_T_ERR_INVALID_SESSION);
    CHECK_EQ(MPI_T_pvar_read(session, MPI_T_PVAR_ALL_HANDLES, &value), MPI_T_ERR_INVALID_HANDLE);
    GOOD(MPI_T_pvar_handle_free(session, &sent));
    CHECK(sent == MPI_T_PVAR_HANDLE_NULL);
    CHECK_EQ(MPI_T_pvar_handle_free(session, &sent), MPI_T_ERR_INVALID_HANDLE);
    GOOD(MPI_T_pvar_session_free(&session));
    CHECK(session == MPI_T_PVAR_SESSION_NULL);
    GOOD(MPI_T_pvar_session_free(&other));
    CHECK_EQ(MPI_T_pvar_session_free(&other), MPI_T_ERR_INVALID_SESSION);
}

static void levels(void)
{
    MPI_T_pvar_session session;
    MPI_T_pvar_handle posted, unexpected;
    MPI_Request requests[3];
    unsigned long long value = 1;
    int in[3];
    GOOD(MPI_T_pvar_session_create(&session));
    posted = handle_of(session, "posted_receives", MPI_T_PVAR_CLASS_LEVEL);
    unexpected = handle_of(session, "unexpected_messages", MPI_T_PVAR_CLASS_LEVEL);
    OK(MPI_Barrier(MPI_COMM_WORLD));
    for (int i = 0; i < 3; i++) {
        OK(MPI_Irecv(&in[i], 1, MPI_INT, rank, 50 + i, MPI_COMM_WORLD, &requests[i]));
    }
    CHECK_EQ(value_of(session, posted), 3);
    for (int i = 0; i < 3; i++) {
        OK(MPI_Send(&rank, 1, MPI_INT, rank, 50 + i, MPI_COMM_WORLD));
    }
    OK(MPI_Waitall(3, requests, MPI_STATUSES_IGNORE));
    CHECK_EQ(value_of(session, posted), 0);
    OK(MPI_Send(&rank, 1, MPI_INT, rank, 60, MPI_COMM_WORLD));
    CHECK(value_of(session, unexpected) >= 1);
    OK(MPI_Recv(in, 1, MPI_INT, rank, 60, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    CHECK_EQ(MPI_T_pvar_start(session, posted), MPI_T_ERR_PVAR_NO_STARTSTOP);
    CHECK_EQ(MPI_T_pvar_stop(session, posted), MPI_T_ERR_PVAR_NO_STARTSTOP);
    CHECK_EQ(MPI_T_pvar_write(session, posted, &value), MPI_T_ERR_PVAR_NO_WRITE);
    CHECK_EQ(MPI_T_pvar_reset(session, posted), MPI_T_ERR_PVAR_NO_WRITE);
    CHECK_EQ(MPI_T_pvar_readreset(session, posted, &value), MPI_T_ERR_PVAR_NO_ATOMIC);
    GOOD(MPI_T_pvar_start(session, MPI_T_PVAR_ALL_HANDLES));
    GOOD(MPI_T_pvar_session_free(&session));
}

static void categories(void)
{
    int count = 0, all_controls = 0, all_performance = 0, controls, performance, below, stamp, events, index = -1;
    int expected_controls, expected_performance, indices[100];
    GOOD(MPI_T_cvar_get_num(&expected_controls));
    GOOD(MPI_T_pvar_get_num(&expected_performance));
    GOOD(MPI_T_category_get_num(&count));
    for (int i = 0; i < count; i++) {
        char name[100];
        int length = sizeof name, needed = 0;
        GOOD(MPI_T_category_get_info(i, name, &length, NULL, &needed, &controls, &performance, &below));
        GOOD(MPI_T_category_get_index(name, &index));
        CHECK_EQ(index, i);
        all_controls += controls;
        all_performance += performance;
        GOOD(MPI_T_category_get_cvars(i, 100, indices));
        CHECK(controls == 0 || indices[controls - 1] == controls - 1);
        GOOD(MPI_T_category_get_pvars(i, 100, indices));
        GOOD(MPI_T_category_get_categories(i, 1, indices));
        CHECK(below == 0 || (indices[0] > 0 && indices[0] < count));
        GOOD(MPI_T_category_get_num_events(i, &events));
        CHECK_EQ(events, 0);
        GOOD(MPI_T_category_get_events(i, 100, indices));
    }
    CHECK_EQ(all_controls, expected_controls);
    CHECK_EQ(all_performance, expected_performance);
    GOOD(MPI_T_category_changed(&stamp));
    CHECK_EQ(MPI_T_category_get_info(count, NULL, NULL, NULL, NULL, NULL, NULL, NULL), MPI_T_ERR_INVALID_INDEX);
    CHECK_EQ(MPI_T_category_get_cvars(-1, 1, indices), MPI_T_ERR_INVALID_INDEX);
    CHECK_EQ(MPI_T_category_get_index("nothing", &index), MPI_T_ERR_INVALID_NAME);
}

int main(int argc, char **argv)
{
    MPI_T_pvar_session session;
    not_initialized();
    begin_tool();
    begin_tool();
    GOOD(MPI_T_finalize());
    control_information();
    control_values(1);
    performance_information();
    GOOD(MPI_T_pvar_session_create(&session));
    CHECK_EQ(value_of(session, handle_of(session, "messages_sent", MPI_T_PVAR_CLASS_COUNTER)), 0);
    GOOD(MPI_T_pvar_session_free(&session));

    check_begin(&argc, &argv);
    control_information();
    control_values(0);
    counters();
    levels();
    categories();
    OK(MPI_Finalize());

    control_values(0);
    performance_information();
    GOOD(MPI_T_finalize());
    not_initialized();
    return check_failures != 0;
}
