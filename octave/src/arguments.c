/* arguments.c: see call.h. */
#include "call.h"
#include "problem.h"

#include <stdlib.h>
#include <string.h>

/* ---- memory of a call ---- */

void *call_memory(struct call *call, size_t bytes)
{
    void *memory;
    if (call->owned_count == (int)(sizeof call->owned / sizeof call->owned[0]))
        return NULL;
    memory = calloc(bytes ? bytes : 1, 1);
    if (memory)
        call->owned[call->owned_count++] = memory;
    return memory;
}

void call_keep(struct call *call, mxArray *array)
{
    mexMakeArrayPersistent(array);
    call->keeping.arrays[call->keeping.array_count++] = array;
}

void keeping_release(struct keeping *keeping)
{
    while (keeping->block_count)
        block_unuse(keeping->blocks[--keeping->block_count]);
    while (keeping->array_count)
        mxDestroyArray(keeping->arrays[--keeping->array_count]);
}

void call_release(struct call *call)
{
    if (call->has_info)
        MPI_Info_free(&call->own_info);
    call->has_info = 0;
    while (call->owned_count)
        free(call->owned[--call->owned_count]);
    keeping_release(&call->keeping);
}

/* ---- numbers, lists and texts ---- */

static int is_number(const mxArray *value)
{
    return mxGetNumberOfElements(value) == 1 && (mxIsNumeric(value) || mxIsLogical(value)) && !mxIsComplex(value);
}

const char *read_count(const mxArray *value, const char *what, MPI_Count *count)
{
    double number;
    if (mxGetNumberOfElements(value) == 1 && mxIsInt64(value)) {
        *count = *(const int64_t *)mxGetData(value);
        return NULL;
    }
    number = is_number(value) ? mxGetScalar(value) : 0.5;
    if (number != (double)(MPI_Count)number || number > 9007199254740992.0 || number < -9007199254740992.0)
        return argument_problem("%s must be an integer", what);
    *count = (MPI_Count)number;
    return NULL;
}

/* Wildcards of MatlabMPI are those of MPI, too. */
const char *read_number(const mxArray *value, const char *what, int *number)
{
    double real = is_number(value) ? mxGetScalar(value) : 0.5;
    if (!(real >= -2147483648.0 && real <= 2147483647.0) || real != (double)(int)real)
        return argument_problem("%s must be an integer that fits into 32 bits", what);
    *number = (int)real;
    return NULL;
}

static double element(const mxArray *value, mwSize i)
{
    const void *data = mxGetData(value);
    switch (mxGetClassID(value)) {
    case mxDOUBLE_CLASS: return ((const double *)data)[i];
    case mxSINGLE_CLASS: return ((const float *)data)[i];
    case mxLOGICAL_CLASS: return ((const mxLogical *)data)[i];
    case mxINT8_CLASS: return ((const int8_t *)data)[i];
    case mxUINT8_CLASS: return ((const uint8_t *)data)[i];
    case mxINT16_CLASS: return ((const int16_t *)data)[i];
    case mxUINT16_CLASS: return ((const uint16_t *)data)[i];
    case mxINT32_CLASS: return ((const int32_t *)data)[i];
    case mxUINT32_CLASS: return ((const uint32_t *)data)[i];
    case mxINT64_CLASS: return (double)((const int64_t *)data)[i];
    case mxUINT64_CLASS: return (double)((const uint64_t *)data)[i];
    default: return 0.5;
    }
}

static const char *read_types(struct call *call, const mxArray *value, struct list *list)
{
    const char *wrong = NULL;
    int i;
    if (!mxIsCell(value))
        return argument_problem("a list of datatypes is a cell, {type, ...}");
    list->length = (int)mxGetNumberOfElements(value);
    list->of.types = call_memory(call, (size_t)list->length * sizeof(MPI_Datatype));
    for (i = 0; i < list->length && !wrong; i++)
        wrong = mxGetCell(value, i) ? read_type(mxGetCell(value, i), &list->of.types[i])
                                    : argument_problem("a datatype is missing");
    return wrong;
}

const char *read_list(struct call *call, const mxArray *value, char letter, struct list *list)
{
    mwSize count = mxGetNumberOfElements(value), i;
    if (letter == 'T')
        return read_types(call, value, list);
    if (!(mxIsNumeric(value) || mxIsLogical(value)) || mxIsComplex(value) || mxIsSparse(value))
        return argument_problem("a list of integers must be a numeric array");
    list->length = (int)count;
    list->of.ints = call_memory(call, count * (letter == 'I' ? sizeof(int) : sizeof(MPI_Count)));
    if (!list->of.ints)
        return argument_problem("out of memory for %lu integers", (unsigned long)count);
    for (i = 0; i < count; i++) {
        double number = element(value, i);
        double bound = letter == 'I' ? 2147483647.0 : 9007199254740992.0;
        if (!(number >= -bound - 1 && number <= bound) || number != (double)(MPI_Count)number)
            return argument_problem("element %lu of a list of integers is none", (unsigned long)i + 1);
        if (letter == 'I')
            list->of.ints[i] = (int)number;
        else
            list->of.counts[i] = (MPI_Count)number;
    }
    return NULL;
}

const char *read_text(struct call *call, const mxArray *value, char **text)
{
    size_t room = 4 * mxGetNumberOfElements(value) + 1;
    if (!mxIsChar(value))
        return argument_problem("a text is wanted, a char array");
    *text = call_memory(call, room);
    if (!*text)
        return argument_problem("out of memory for a text");
    mxGetString(value, *text, room);
    return NULL;
}

/* ---- objects ---- */

int is_object_of(const mxArray *value, const char *class_name)
{
    return !mxIsNumeric(value) && strcmp(mxGetClassName(value), class_name) == 0;
}

const char *read_handle(const mxArray *value, const char *what, void **handle)
{
    mxArray *property;
    double number;
    *handle = NULL;
    if (is_number(value) && mxGetScalar(value) >= 0 && mxGetScalar(value) == (double)(uintptr_t)mxGetScalar(value)) {
        *handle = (void *)(uintptr_t)mxGetScalar(value);
        return NULL;
    }
    if (strncmp(mxGetClassName(value), "mpi.", 4) != 0 || strcmp(mxGetClassName(value) + 4, what) != 0)
        return argument_problem("an object of class mpi.%s is wanted, not one of class %s", what, mxGetClassName(value));
    property = mxGetProperty(value, 0, "handle");
    number = property && mxGetNumberOfElements(property) == 1 ? mxGetScalar(property) : 0;
    if (property)
        mxDestroyArray(property);
    if (number == 0)
        return argument_problem("this mpi.%s has been freed", what);
    *handle = (void *)(uintptr_t)number;
    return NULL;
}

const char *read_communicator(const mxArray *value, MPI_Comm *comm)
{
    void *handle;
    const char *wrong = read_handle(value, "Comm", &handle);
    *comm = (MPI_Comm)handle;
    return wrong;
}

const char *read_type(const mxArray *value, MPI_Datatype *type)
{
    void *handle;
    const char *wrong;
    char name[32];
    if (mxIsChar(value)) {
        mxGetString(value, name, sizeof name);
        *type = type_of_class(name);
        return *type == MPI_DATATYPE_NULL ? argument_problem("'%s' is no class of numbers, such as 'double'", name) : NULL;
    }
    wrong = read_handle(value, "Datatype", &handle);
    *type = (MPI_Datatype)handle;
    return wrong;
}

static const struct { const char *name; MPI_Op op; } OPERATIONS[] = {
    {"+", MPI_SUM},       {"sum", MPI_SUM},   {"plus", MPI_SUM}, {"*", MPI_PROD},      {"prod", MPI_PROD},
    {"times", MPI_PROD},  {"max", MPI_MAX},   {"min", MPI_MIN},  {"&", MPI_LAND},      {"and", MPI_LAND},
    {"all", MPI_LAND},    {"|", MPI_LOR},     {"or", MPI_LOR},   {"any", MPI_LOR},     {"xor", MPI_LXOR},
    {"bitand", MPI_BAND}, {"bitor", MPI_BOR}, {"bitxor", MPI_BXOR}, {"maxloc", MPI_MAXLOC}, {"minloc", MPI_MINLOC},
    {"replace", MPI_REPLACE}, {"no_op", MPI_NO_OP},
};

const char *read_operation(const mxArray *value, MPI_Op *op)
{
    char name[32] = "";
    size_t i;
    if (is_object_of(value, "mpi.Op")) {
        mxArray *property = mxGetProperty(value, 0, "name");
        mxGetString(property, name, sizeof name);
        mxDestroyArray(property);
    } else if (mxIsChar(value)) {
        mxGetString(value, name, sizeof name);
    } else {
        return argument_problem("an operation is a name such as '+', or an mpi.Op; function handles are for the functions in lower "
                                "case, as c.allreduce(value, @f)");
    }
    for (i = 0; i < sizeof OPERATIONS / sizeof OPERATIONS[0]; i++)
        if (strcmp(OPERATIONS[i].name, name) == 0) {
            *op = OPERATIONS[i].op;
            return NULL;
        }
    return argument_problem("'%s' is no operation; there are '+', '*', 'max', 'min', '&', '|', 'xor', 'bitand', 'bitor', "
                            "'bitxor', 'maxloc', 'minloc', 'replace', 'no_op' and function handles", name);
}

static const char *info_of_struct(const mxArray *value, MPI_Info info)
{
    int fields = mxGetNumberOfFields(value), i;
    const char *wrong = NULL;
    for (i = 0; i < fields && !wrong; i++) {
        const mxArray *field = mxGetFieldByNumber(value, 0, i);
        char text[1024];
        if (!field || !mxIsChar(field) || mxGetString(field, text, sizeof text) != 0)
            return argument_problem("field %s of an info must be a text of at most %lu characters",
                                    mxGetFieldNameByNumber(value, i), (unsigned long)sizeof text - 1);
        wrong = mpi_problem(MPI_Info_set(info, mxGetFieldNameByNumber(value, i), text), "MPI_Info_set");
    }
    return wrong;
}

const char *read_info(struct call *call, const mxArray *value, MPI_Info *info)
{
    void *handle;
    const char *wrong;
    if (mxIsStruct(value) && call->has_info) {
        *info = call->own_info;
        return NULL;
    }
    if (mxIsStruct(value) && mxGetNumberOfElements(value) == 1) {
        wrong = mpi_problem(MPI_Info_create(info), "MPI_Info_create");
        if (wrong)
            return wrong;
        call->own_info = *info;
        call->has_info = 1;
        return info_of_struct(value, *info);
    }
    wrong = read_handle(value, "Info", &handle);
    *info = (MPI_Info)handle;
    return wrong;
}

/* ---- results ---- */

mxArray *object_of(const char *class_name, int count, const double numbers[])
{
    mxArray *arguments[8], *object = NULL;
    int i;
    for (i = 0; i < count; i++)
        arguments[i] = mxCreateDoubleScalar(numbers[i]);
    mexCallMATLAB(1, &object, count, arguments, class_name);
    for (i = 0; i < count; i++)
        mxDestroyArray(arguments[i]);
    return object;
}

mxArray *handle_object(const char *class_name, const void *handle, const void *null)
{
    double number = (double)(uintptr_t)handle;
    return handle == null ? mxCreateDoubleMatrix(0, 0, mxREAL) : object_of(class_name, 1, &number);
}

/* Rank and size do not change, so that the object has them at hand. Errors come back, whatever the parent's way was. */
mxArray *communicator_object(MPI_Comm comm)
{
    double numbers[3];
    int rank = 0, size = 0, found = 0;
    int *tag_max;
    if (comm == MPI_COMM_NULL)
        return mxCreateDoubleMatrix(0, 0, mxREAL);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    /* A program of sessions alone has not begun by MPI_COMM_WORLD. */
    if (!exchange.tag_max && MPI_Comm_get_attr(comm, MPI_TAG_UB, &tag_max, &found) == MPI_SUCCESS && found)
        exchange_divide_tags(*tag_max);
    numbers[0] = (double)(uintptr_t)comm;
    numbers[1] = rank;
    numbers[2] = size;
    return object_of("mpi.Comm", 3, numbers);
}

mxArray *status_object(const MPI_Status *status)
{
    double numbers[5];
    MPI_Count bytes = 0;
    int cancelled = 0;
    MPI_Get_elements_c(status, MPI_BYTE, &bytes);
    MPI_Test_cancelled(status, &cancelled);
    numbers[0] = status->MPI_SOURCE;
    numbers[1] = status->MPI_TAG;
    numbers[2] = status->MPI_ERROR;
    numbers[3] = (double)bytes;
    numbers[4] = cancelled;
    return object_of("mpi.Status", 5, numbers);
}
