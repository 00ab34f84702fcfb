/* Events of the tool interface (MPI 5.0, section 15.3.8): a library may have none. Then no index and no handle is one. */
#include "tool.h"

static void happened(MPI_T_event_instance event, MPI_T_event_registration registration, MPI_T_cb_safety safety, void *data)
{
    (void)event;
    (void)registration;
    (void)safety;
    (void)data;
}

static void gone(MPI_T_event_registration registration, MPI_T_cb_safety safety, void *data)
{
    (void)registration;
    (void)safety;
    (void)data;
}

static void lost(MPI_Count count, MPI_T_event_registration registration, int source, MPI_T_cb_safety safety, void *data)
{
    (void)count;
    (void)registration;
    (void)source;
    (void)safety;
    (void)data;
}

static void sources(void)
{
    int count = -1, length = 0;
    MPI_T_source_order order;
    MPI_Count number;
    GOOD(MPI_T_source_get_num(&count));
    CHECK(count >= 0);
    CHECK_EQ(MPI_T_source_get_info(count, NULL, &length, NULL, &length, &order, &number, &number, NULL),
             MPI_T_ERR_INVALID_INDEX);
    CHECK_EQ(MPI_T_source_get_timestamp(count, &number), MPI_T_ERR_INVALID_INDEX);
}

static void types(void)
{
    int count = -1, number = 0, index;
    MPI_T_event_registration registration;
    GOOD(MPI_T_event_get_num(&count));
    CHECK(count >= 0);
    CHECK_EQ(MPI_T_event_get_info(count, NULL, NULL, NULL, NULL, NULL, &number, NULL, NULL, NULL, NULL, NULL),
             MPI_T_ERR_INVALID_INDEX);
    CHECK_EQ(MPI_T_event_get_index("nothing", &index), MPI_T_ERR_INVALID_NAME);
    CHECK_EQ(MPI_T_event_handle_alloc(count, NULL, MPI_INFO_NULL, &registration), MPI_T_ERR_INVALID_INDEX);
}

static void handles(void)
{
    MPI_T_event_registration none = NULL;
    MPI_T_event_instance event = NULL;
    MPI_Info info;
    MPI_Count time;
    char buffer[8];
    int source;
    CHECK_EQ(MPI_T_event_handle_set_info(none, MPI_INFO_NULL), MPI_T_ERR_INVALID_HANDLE);
    CHECK_EQ(MPI_T_event_handle_get_info(none, &info), MPI_T_ERR_INVALID_HANDLE);
    CHECK_EQ(MPI_T_event_register_callback(none, MPI_T_CB_REQUIRE_NONE, MPI_INFO_NULL, NULL, happened),
             MPI_T_ERR_INVALID_HANDLE);
    CHECK_EQ(MPI_T_event_callback_set_info(none, MPI_T_CB_REQUIRE_NONE, MPI_INFO_NULL), MPI_T_ERR_INVALID_HANDLE);
    CHECK_EQ(MPI_T_event_callback_get_info(none, MPI_T_CB_REQUIRE_NONE, &info), MPI_T_ERR_INVALID_HANDLE);
    CHECK_EQ(MPI_T_event_set_dropped_handler(none, lost), MPI_T_ERR_INVALID_HANDLE);
    CHECK_EQ(MPI_T_event_handle_free(none, NULL, gone), MPI_T_ERR_INVALID_HANDLE);
    CHECK_EQ(MPI_T_event_read(event, 0, buffer), MPI_T_ERR_INVALID_HANDLE);
    CHECK_EQ(MPI_T_event_copy(event, buffer), MPI_T_ERR_INVALID_HANDLE);
    CHECK_EQ(MPI_T_event_get_timestamp(event, &time), MPI_T_ERR_INVALID_HANDLE);
    CHECK_EQ(MPI_T_event_get_source(event, &source), MPI_T_ERR_INVALID_HANDLE);
}

int main(int argc, char **argv)
{
    int count;
    CHECK_EQ(MPI_T_event_get_num(&count), MPI_T_ERR_NOT_INITIALIZED);
    CHECK_EQ(MPI_T_source_get_num(&count), MPI_T_ERR_NOT_INITIALIZED);
    check_begin(&argc, &argv);
    begin_tool();
    sources();
    types();
    handles();
    GOOD(MPI_T_finalize());
    return check_end();
}
