/*
 * Fortran procedures that MPI calls. Where MPI hands back what the user gave with them, that is a small record here. Operations and error handlers
 * have nothing of the kind: each procedure gets a function of C of its own, from a pool, and keeps it.
 */
#include "mpifort.h"

#include <pthread.h>

typedef void Procedure(void);

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* ---- Operations and error handlers ---- */

#define POOL 64

/* The place of a procedure in a pool, or -1 if the pool is full. */
static int place_of(Procedure *pool[POOL], Procedure *procedure)
{
    int place = 0;
    pthread_mutex_lock(&lock);
    while (place < POOL && pool[place] && pool[place] != procedure) place++;
    if (place < POOL) pool[place] = procedure;
    pthread_mutex_unlock(&lock);
    return place < POOL ? place : -1;
}

/* Something for each place. */
#define EIGHT(make, n) make(n##0) make(n##1) make(n##2) make(n##3) make(n##4) make(n##5) make(n##6) make(n##7)
#define ALL(make)                                                                                          \
    EIGHT(make, 0) EIGHT(make, 01) EIGHT(make, 02) EIGHT(make, 03) EIGHT(make, 04) EIGHT(make, 05)           \
        EIGHT(make, 06) EIGHT(make, 07)

typedef void Operation(void *in, void *inout, int *count, int *datatype);
typedef void Operation_c(void *in, void *inout, MPI_Count *count, int *datatype);
static Procedure *operations[POOL], *large_operations[POOL];

#define OPERATION(n)                                                                        \
    static void operation_##n(void *in, void *inout, int *count, MPI_Datatype *datatype)    \
    {                                                                                       \
        int number = int_of_datatype(*datatype);                                            \
        ((Operation *)operations[n])(in, inout, count, &number);                            \
    }                                                                                       \
    static void large_operation_##n(void *in, void *inout, MPI_Count *count, MPI_Datatype *datatype) \
    {                                                                                       \
        int number = int_of_datatype(*datatype);                                            \
        ((Operation_c *)large_operations[n])(in, inout, count, &number);                    \
    }
ALL(OPERATION)

#define ITS_OPERATION(n) operation_##n,
#define ITS_LARGE_OPERATION(n) large_operation_##n,
static MPI_User_function *const c_operations[] = {ALL(ITS_OPERATION)};
static MPI_User_function_c *const large_c_operations[] = {ALL(ITS_LARGE_OPERATION)};

void mpi_op_create_(Procedure *user_fn, int *commute, int *op, int *ierror)
{
    MPI_Op new = MPI_OP_NULL;
    int place = place_of(operations, user_fn);
    int result = place < 0 ? MPI_Comm_call_errhandler(MPI_COMM_SELF, MPI_ERR_NO_MEM)
                           : MPI_Op_create(c_operations[place], *commute != 0, &new);
    if (place < 0) result = told(result, MPI_ERR_NO_MEM);
    if (result == MPI_SUCCESS) *op = int_of_op(new);
    RETURN(result);
}
NAMES(op_create)

void mpi_op_create_c_f08_(Procedure *user_fn, int *commute, int *op, int *ierror)
{
    MPI_Op new = MPI_OP_NULL;
    int place = place_of(large_operations, user_fn);
    int result = place < 0 ? MPI_Comm_call_errhandler(MPI_COMM_SELF, MPI_ERR_NO_MEM)
                           : MPI_Op_create_c(large_c_operations[place], *commute != 0, &new);
    if (place < 0) result = told(result, MPI_ERR_NO_MEM);
    if (result == MPI_SUCCESS) *op = int_of_op(new);
    RETURN(result);
}
ALIAS(pmpi_op_create_c_f08_, mpi_op_create_c_f08_)

typedef void Handler(int *object, int *code);

#define HANDLER(word, Type, n)                                                              \
    static void word##_handler_##n(Type *object, int *code, ...)                            \
    {                                                                                       \
        int number = int_of_##word(*object);                                                \
        ((Handler *)word##_handlers[n])(&number, code);                                     \
    }
#define CREATE_ERRHANDLER(word, Type)                                                       \
    void mpi_##word##_create_errhandler_(Procedure *procedure, int *errhandler, int *ierror) \
    {                                                                                       \
        MPI_Errhandler new = MPI_ERRHANDLER_NULL;                                           \
        int place = place_of(word##_handlers, procedure);                                   \
        int result = place < 0 ? MPI_Comm_call_errhandler(MPI_COMM_SELF, MPI_ERR_NO_MEM)   \
                               : P##Type##_create_errhandler(c_##word##_handlers[place], &new); \
        if (place < 0) result = told(result, MPI_ERR_NO_MEM);                               \
        if (result == MPI_SUCCESS) *errhandler = int_of_errhandler(new);                    \
        RETURN(result);                                                                     \
    }                                                                                       \
    NAMES(word##_create_errhandler)

static Procedure *comm_handlers[POOL], *file_handlers[POOL], *session_handlers[POOL], *win_handlers[POOL];
#define OF_COMM(n) HANDLER(comm, MPI_Comm, n)
#define OF_FILE(n) HANDLER(file, MPI_File, n)
#define OF_SESSION(n) HANDLER(session, MPI_Session, n)
#define OF_WIN(n) HANDLER(win, MPI_Win, n)
ALL(OF_COMM)
ALL(OF_FILE)
ALL(OF_SESSION)
ALL(OF_WIN)
#define ITS_COMM(n) comm_handler_##n,
#define ITS_FILE(n) file_handler_##n,
#define ITS_SESSION(n) session_handler_##n,
#define ITS_WIN(n) win_handler_##n,
static MPI_Comm_errhandler_function *const c_comm_handlers[] = {ALL(ITS_COMM)};
static MPI_File_errhandler_function *const c_file_handlers[] = {ALL(ITS_FILE)};
static MPI_Session_errhandler_function *const c_session_handlers[] = {ALL(ITS_SESSION)};
static MPI_Win_errhandler_function *const c_win_handlers[] = {ALL(ITS_WIN)};
CREATE_ERRHANDLER(comm, MPI_Comm)
CREATE_ERRHANDLER(file, MPI_File)
CREATE_ERRHANDLER(session, MPI_Session)
CREATE_ERRHANDLER(win, MPI_Win)

/* ---- Generalized requests ---- */

typedef struct {
    Procedure *query, *free, *cancel;
    MPI_Aint extra;
} Request;

static int request_query(void *state, MPI_Status *status)
{
    Request *request = state;
    int code = MPI_SUCCESS;
    ((void (*)(MPI_Aint *, MPI_Status *, int *))request->query)(&request->extra, status, &code);
    return code;
}

static int request_free(void *state)
{
    Request *request = state;
    int code = MPI_SUCCESS;
    ((void (*)(MPI_Aint *, int *))request->free)(&request->extra, &code);
    free(request);
    return code;
}

static int request_cancel(void *state, int complete)
{
    Request *request = state;
    int code = MPI_SUCCESS;
    ((void (*)(MPI_Aint *, int *, int *))request->cancel)(&request->extra, &complete, &code);
    return code;
}

void mpi_grequest_start_(Procedure *query_fn, Procedure *free_fn, Procedure *cancel_fn, MPI_Aint *extra_state,
                         int *request, int *ierror)
{
    MPI_Request new = MPI_REQUEST_NULL;
    Request *state = malloc(sizeof *state);
    *state = (Request){query_fn, free_fn, cancel_fn, *extra_state};
    int result = MPI_Grequest_start(request_query, request_free, request_cancel, state, &new);
    if (result == MPI_SUCCESS) *request = int_of_request(new);
    else free(state);
    RETURN(result);
}
NAMES(grequest_start)

/* ---- Data representations, which stay as long as the program ---- */

typedef struct {
    Procedure *read, *write, *extent;
    MPI_Aint extra;
} Representation;

void mpi_conversion_fn_null_(void)
{
}

void mpi_conversion_fn_null_c_(void)
{
}

#define CONVERSION(name, Count, member)                                                                     \
    static int name(void *user, MPI_Datatype datatype, Count count, void *file, MPI_Offset position, void *state) \
    {                                                                                                       \
        Representation *it = state;                                                                         \
        int code = MPI_SUCCESS, number = int_of_datatype(datatype);                                         \
        ((void (*)(void *, int *, Count *, void *, MPI_Offset *, MPI_Aint *, int *))it->member)(            \
            user, &number, &count, file, &position, &it->extra, &code);                                     \
        return code;                                                                                        \
    }
CONVERSION(read_some, int, read)
CONVERSION(write_some, int, write)
CONVERSION(read_many, MPI_Count, read)
CONVERSION(write_many, MPI_Count, write)

static int extent_in_file(MPI_Datatype datatype, MPI_Aint *extent, void *state)
{
    Representation *it = state;
    int code = MPI_SUCCESS, number = int_of_datatype(datatype);
    ((void (*)(int *, MPI_Aint *, MPI_Aint *, int *))it->extent)(&number, extent, &it->extra, &code);
    return code;
}

#define REGISTER(name, Name, read_function, write_function, null, null_of_c)                                \
    void name(char *datarep, Procedure *read_fn, Procedure *write_fn, Procedure *extent_fn,                 \
              MPI_Aint *extra_state, int *ierror, size_t datarep_length)                                    \
    {                                                                                                       \
        Representation *state = malloc(sizeof *state);                                                      \
        *state = (Representation){read_fn, write_fn, extent_fn, *extra_state};                              \
        char *text = text_of(datarep, datarep_length, 0);                                                   \
        int result = Name(text, read_fn == null ? null_of_c : read_function,                                \
                          write_fn == null ? null_of_c : write_function, extent_in_file, state);            \
        free(text);                                                                                         \
        if (result != MPI_SUCCESS) free(state);                                                             \
        RETURN(result);                                                                                     \
    }
REGISTER(mpi_register_datarep_, MPI_Register_datarep, read_some, write_some, mpi_conversion_fn_null_,
         MPI_CONVERSION_FN_NULL)
NAMES(register_datarep)
REGISTER(mpi_register_datarep_c_f08_, MPI_Register_datarep_c, read_many, write_many, mpi_conversion_fn_null_c_,
         MPI_CONVERSION_FN_NULL_C)
ALIAS(pmpi_register_datarep_c_f08_, mpi_register_datarep_c_f08_)
