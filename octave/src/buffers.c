/* buffers.c: see call.h.
 *
 * An mpi.Buffer is memory of MPI (MPI_Alloc_mem), with the class and the size of the array that it was made of.  It stays where it
 * is, so that MPI may read and write it between calls: for persistent and partitioned communication, and for windows.
 */
#include "call.h"
#include "mex_shared.h"
#include "problem.h"

#include <stdlib.h>
#include <string.h>

struct block {
    void *address;
    MPI_Count elements;
    MPI_Datatype type;
    mxClassID class_id;
    int complex;
    mwSize dimensions;
    mwSize dims[VALUE_DIMENSIONS_MAX];
    /* Operations and windows that read or write it. */
    int uses;
    /* The program has deleted it, and the memory goes when nothing uses it any more. */
    int deleted;
    /* Memory of a window is freed with the window. */
    MPI_Win win;
    struct block *next;
};

/* Blocks around memory of windows. */
static struct block *borrowed_first;

static const struct { mxClassID class_id; const char *name; MPI_Datatype real, complex; } CLASSES[] = {
    {mxDOUBLE_CLASS, "double", MPI_DOUBLE, MPI_C_DOUBLE_COMPLEX},
    {mxSINGLE_CLASS, "single", MPI_FLOAT, MPI_C_FLOAT_COMPLEX},
    {mxLOGICAL_CLASS, "logical", MPI_C_BOOL, MPI_DATATYPE_NULL},
    {mxCHAR_CLASS, "char", sizeof(mxChar) == 1 ? MPI_CHAR : MPI_UINT16_T, MPI_DATATYPE_NULL},
    {mxINT8_CLASS, "int8", MPI_INT8_T, MPI_DATATYPE_NULL},
    {mxUINT8_CLASS, "uint8", MPI_UINT8_T, MPI_DATATYPE_NULL},
    {mxINT16_CLASS, "int16", MPI_INT16_T, MPI_DATATYPE_NULL},
    {mxUINT16_CLASS, "uint16", MPI_UINT16_T, MPI_DATATYPE_NULL},
    {mxINT32_CLASS, "int32", MPI_INT32_T, MPI_DATATYPE_NULL},
    {mxUINT32_CLASS, "uint32", MPI_UINT32_T, MPI_DATATYPE_NULL},
    {mxINT64_CLASS, "int64", MPI_INT64_T, MPI_DATATYPE_NULL},
    {mxUINT64_CLASS, "uint64", MPI_UINT64_T, MPI_DATATYPE_NULL},
};
enum { CLASS_COUNT = sizeof CLASSES / sizeof CLASSES[0] };

static MPI_Datatype type_for(mxClassID class_id, int complex)
{
    size_t i;
    for (i = 0; i < CLASS_COUNT; i++)
        if (CLASSES[i].class_id == class_id)
            return complex ? CLASSES[i].complex : CLASSES[i].real;
    return MPI_DATATYPE_NULL;
}

MPI_Datatype type_of_elements(const mxArray *array)
{
    return mxIsSparse(array) ? MPI_DATATYPE_NULL : type_for(mxGetClassID(array), mxIsComplex(array));
}

MPI_Datatype type_of_class(const char *name)
{
    size_t i;
    if (strncmp(name, "complex ", 8) == 0)
        for (i = 0; i < CLASS_COUNT; i++)
            if (strcmp(CLASSES[i].name, name + 8) == 0)
                return CLASSES[i].complex;
    for (i = 0; i < CLASS_COUNT; i++)
        if (strcmp(CLASSES[i].name, name) == 0)
            return CLASSES[i].real;
    return strcmp(name, "byte") == 0 ? MPI_BYTE : MPI_DATATYPE_NULL;
}

static size_t element_bytes(MPI_Datatype type)
{
    int bytes = 0;
    MPI_Type_size(type, &bytes);
    return (size_t)bytes;
}

MPI_Count buffer_bytes(const struct buffer *buffer)
{
    MPI_Count bytes = 0;
    MPI_Type_size_c(buffer->type, &bytes);
    return bytes * buffer->count;
}

/* ---- what surrounds an array: {array, ...} ---- */

int items_fit(MPI_Datatype type, MPI_Count count, MPI_Count offset, MPI_Count room)
{
    MPI_Count lower = 0, extent = 0, first = 0, length = 0, span;
    MPI_Type_get_extent_c(type, &lower, &extent);
    MPI_Type_get_true_extent_c(type, &first, &length);
    if (count == 0 || length == 0)
        return count >= 0;
    if (count < 0 || __builtin_mul_overflow(count - 1, extent, &span))
        return 0;
    return offset + first + (span < 0 ? span : 0) >= 0 && offset <= room && first + length + (span > 0 ? span : 0) <= room - offset;
}

static const char *check_fits(const struct buffer *buffer, MPI_Count room)
{
    if (items_fit(buffer->type, buffer->count, 0, room))
        return NULL;
    return argument_problem("%lld items of the datatype do not fit into an array of %lld bytes", (long long)buffer->count,
                            (long long)room);
}

/* The part of each process, at displacements in units of bytes. */
static const char *check_parts(const struct call *call, const struct buffer *buffer, MPI_Count unit, MPI_Count room)
{
    int i;
    for (i = 0; i < call->size; i++) {
        MPI_Count offset;
        if (!__builtin_mul_overflow((MPI_Count)buffer->displacements[i], unit, &offset) &&
            items_fit(buffer->types ? buffer->types[i] : buffer->type, buffer->counts[i], offset, room))
            continue;
        return argument_problem("the part of process %d, %lld items at %lld, is not inside the array of %lld bytes", i,
                                (long long)buffer->counts[i], (long long)buffer->displacements[i], (long long)room);
    }
    return NULL;
}

/* The first of a cell, or the value itself. */
static const mxArray *memory_of(const mxArray *value)
{
    return mxIsCell(value) && mxGetNumberOfElements(value) > 0 ? mxGetCell(value, 0) : value;
}

static int is_type(const mxArray *value)
{
    return mxIsChar(value) || is_object_of(value, "mpi.Datatype");
}

static const char *read_counts(struct call *call, const mxArray *value, MPI_Count **counts)
{
    struct list list;
    const char *wrong = read_list(call, value, 'L', &list);
    if (!wrong && list.length != call->size)
        return argument_problem("there are %d counts or displacements for %d processes", list.length, call->size);
    *counts = list.of.counts;
    return wrong;
}

static const char *read_each(struct call *call, const mxArray *value, struct buffer *buffer)
{
    struct list list;
    MPI_Count *displacements = NULL;
    const char *wrong;
    if (!mxIsCell(value) || mxGetNumberOfElements(value) != 4)
        return argument_problem("{array, counts, displacements in bytes, {types}} is wanted");
    wrong = read_counts(call, mxGetCell(value, 1), &buffer->counts);
    if (!wrong)
        wrong = read_counts(call, mxGetCell(value, 2), &displacements);
    if (!wrong)
        wrong = read_list(call, mxGetCell(value, 3), 'T', &list);
    if (wrong)
        return wrong;
    if (list.length != call->size)
        return argument_problem("there are %d datatypes for %d processes", list.length, call->size);
    buffer->displacements = (MPI_Aint *)displacements;
    buffer->types = list.of.types;
    return check_parts(call, buffer, 1, buffer_bytes(buffer));
}

static const char *read_vector(struct call *call, const mxArray *value, struct buffer *buffer)
{
    mwSize given = mxIsCell(value) ? mxGetNumberOfElements(value) : 0;
    MPI_Count *displacements = NULL, room = buffer_bytes(buffer), lower, extent = 1;
    const char *wrong;
    int i;
    if (given < 2)
        return argument_problem("{array, counts} or {array, counts, displacements} is wanted");
    wrong = read_counts(call, mxGetCell(value, 1), &buffer->counts);
    if (!wrong && given > 2)
        wrong = read_counts(call, mxGetCell(value, 2), &displacements);
    if (!wrong && given > 3)
        wrong = read_type(mxGetCell(value, 3), &buffer->type);
    if (wrong)
        return wrong;
    if (!displacements) {
        displacements = call_memory(call, (size_t)call->size * sizeof *displacements);
        for (i = 1; i < call->size; i++)
            displacements[i] = displacements[i - 1] + buffer->counts[i - 1];
    }
    buffer->displacements = (MPI_Aint *)displacements;
    MPI_Type_get_extent_c(buffer->type, &lower, &extent);
    return check_parts(call, buffer, extent, room);
}


/* {array, type} and {array, count, type}.  Without a count, as many as fit, which for a subarray is one. */
static const char *read_plain(const mxArray *value, struct buffer *buffer)
{
    mwSize given = mxIsCell(value) ? mxGetNumberOfElements(value) : 0;
    const mxArray *last = given > 1 ? mxGetCell(value, given - 1) : NULL;
    MPI_Count lower, extent = 0, room = buffer_bytes(buffer);
    const char *wrong = NULL;
    if (!last)
        return NULL;
    if (is_type(last)) {
        wrong = read_type(last, &buffer->type);
        given--;
    }
    if (!wrong && given > 1)
        wrong = read_count(mxGetCell(value, 1), "the count of a buffer", &buffer->count);
    if (wrong)
        return wrong;
    if (given == 1) {
        MPI_Type_get_extent_c(buffer->type, &lower, &extent);
        buffer->count = room == 0 ? 0 : extent > 0 && extent <= room ? room / extent : 1;
    }
    return check_fits(buffer, room);
}

static const char *read_surroundings(struct call *call, const mxArray *value, char letter, struct buffer *buffer)
{
    if (buffer->address == MPI_IN_PLACE)
        return NULL;
    if (letter == 'V')
        return read_vector(call, value, buffer);
    if (letter == 'W')
        return read_each(call, value, buffer);
    return read_plain(value, buffer);
}

/* ---- memory ---- */

static const char *read_block(const mxArray *value, struct block **block)
{
    void *handle;
    const char *wrong = read_handle(value, "Buffer", &handle);
    *block = handle;
    return wrong;
}

static const char *no_memory_of_its_own(const struct block *block)
{
    if ((void *)block == MPI_IN_PLACE)
        return argument_problem("mpi.IN_PLACE has no elements");
    return block->address ? NULL : argument_problem("the window of this mpi.Buffer has been freed");
}

static const char *use_block(struct call *call, const mxArray *value, struct buffer *buffer)
{
    struct block *block;
    const char *wrong = read_block(value, &block);
    if (wrong)
        return wrong;
    buffer->object = (mxArray *)value;
    if (call->lasting)
        call_keep(call, buffer->object = mxDuplicateArray(value));
    if ((void *)block != MPI_IN_PLACE && !block->address)
        return argument_problem("the window of this mpi.Buffer has been freed");
    if (call->lasting && (void *)block != MPI_IN_PLACE) {
        block->uses++;
        call->keeping.blocks[call->keeping.block_count++] = block;
    }
    if ((void *)block == MPI_IN_PLACE) {
        buffer->address = MPI_IN_PLACE;
        buffer->type = MPI_DOUBLE;
        return NULL;
    }
    buffer->address = block->address;
    buffer->count = block->elements;
    buffer->type = block->type;
    return NULL;
}

static const char *not_an_array(const mxArray *value)
{
    return argument_problem("a full array of numbers, logical values or characters is wanted, or an mpi.Buffer, not a %s%s; the "
                            "functions in lower case take values of any kind",
                            mxIsSparse(value) ? "sparse " : "", mxGetClassName(value));
}

const char *read_sent(struct call *call, const mxArray *value, char letter, struct buffer *buffer)
{
    const mxArray *memory = memory_of(value);
    const char *wrong = NULL;
    if (memory && is_object_of(memory, "mpi.Buffer")) {
        wrong = use_block(call, memory, buffer);
    } else if (!memory || type_of_elements(memory) == MPI_DATATYPE_NULL) {
        wrong = not_an_array(memory ? memory : value);
    } else {
        if (call->lasting) {
            mxArray *kept = full_form(memory);
            call_keep(call, kept);
            memory = kept;
        }
        buffer->address = mxGetData(memory);
        buffer->count = (MPI_Count)mxGetNumberOfElements(memory);
        buffer->type = type_of_elements(memory);
    }
    return wrong ? wrong : read_surroundings(call, value, letter, buffer);
}

mxArray *array_of(mxClassID class_id, int complex, mwSize dimensions, const mwSize *dims, int zero)
{
    size_t bytes = element_bytes(type_for(class_id, complex));
    mxArray *array;
    mwSize i;
    for (i = 0; i < dimensions; i++)
        bytes *= dims[i];
    array = dense_array(class_id, complex, dimensions, dims, bytes >= PAYLOAD_BYTES_MIN);
    if (zero && bytes)
        memset(mxGetData(array), 0, bytes);
    return array;
}

mxArray *array_like(const mxArray *like, mwSize dimensions, const mwSize *dims)
{
    return array_of(mxGetClassID(like), mxIsComplex(like), dimensions, dims, 0);
}

/* Without dimensions of 1 at the end: a column of n and 4 processes make n x 4, a scalar 1 x 4. */
static mwSize stacked(const mxArray *like, mwSize *dims)
{
    mwSize count = mxGetNumberOfDimensions(like), i;
    const mwSize *given = mxGetDimensions(like);
    for (i = 0; i < count; i++)
        dims[i] = given[i];
    while (count > 1 && dims[count - 1] == 1)
        count--;
    return count;
}

static const char *shape_of_result(const struct call *call, const mxArray *like, char variant, mwSize *dimensions, mwSize *dims)
{
    mwSize processes = (mwSize)(variant == 'p' ? call->own_size : call->size);
    *dimensions = stacked(like, dims);
    if (variant == 'n' || variant == 'g') {
        if (*dimensions == VALUE_DIMENSIONS_MAX)
            return argument_problem("the array has too many dimensions");
        dims[(*dimensions)++] = processes;
    } else if (variant == 'p') {
        mwSize *last = &dims[*dimensions - 1];
        if (processes == 0 || *last % processes != 0)
            return argument_problem("the last dimension, %lu, is not a multiple of the %d processes", (unsigned long)*last,
                                    call->own_size);
        *last /= processes;
    }
    if (*dimensions == 1)
        dims[(*dimensions)++] = 1;
    return NULL;
}

static const char *new_array(struct call *call, const mxArray *like, char variant, struct buffer *buffer)
{
    mwSize dims[VALUE_DIMENSIONS_MAX + 1], dimensions;
    const char *wrong;
    if (type_of_elements(like) == MPI_DATATYPE_NULL)
        return not_an_array(like);
    if (mxGetNumberOfDimensions(like) > VALUE_DIMENSIONS_MAX)
        return argument_problem("the array has too many dimensions");
    wrong = shape_of_result(call, like, variant, &dimensions, dims);
    if (wrong)
        return wrong;
    buffer->array = array_of(mxGetClassID(like), mxIsComplex(like), dimensions, dims, variant == 'z');
    buffer->address = mxGetData(buffer->array);
    buffer->count = (MPI_Count)mxGetNumberOfElements(buffer->array);
    buffer->type = type_of_elements(like);
    if (call->lasting)
        mexMakeArrayPersistent(buffer->array);
    return NULL;
}

const char *read_replaced(struct call *call, const mxArray *value, struct buffer *buffer)
{
    const mxArray *memory = memory_of(value);
    const char *wrong;
    if (memory && is_object_of(memory, "mpi.Buffer")) {
        wrong = use_block(call, memory, buffer);
    } else {
        wrong = memory ? new_array(call, memory, '1', buffer) : not_an_array(value);
        if (!wrong && buffer->count)
            memcpy(buffer->address, mxGetData(memory), (size_t)buffer_bytes(buffer));
    }
    return wrong ? wrong : read_surroundings(call, value, 'B', buffer);
}

/* An array, where an mpi.Buffer is sent and nothing is said of what is received. */
static const char *like_block(struct call *call, const mxArray *object, char variant, struct buffer *buffer)
{
    struct block *block;
    mxArray *like;
    const char *wrong = read_block(object, &block);
    if (!wrong)
        wrong = no_memory_of_its_own(block);
    if (wrong)
        return wrong;
    like = array_of(block->class_id, block->complex, block->dimensions, block->dims, 0);
    wrong = new_array(call, like, variant, buffer);
    mxDestroyArray(like);
    return wrong;
}

const char *read_received(struct call *call, const mxArray *value, char variant, const struct buffer *sent, int here,
                          struct buffer *buffer)
{
    const mxArray *memory = value ? memory_of(value) : NULL;
    char letter = variant == 'V' || variant == 'W' ? variant : 'B';
    const char *wrong;
    if (!here) {
        buffer->absent = 1;
        buffer->array = mxCreateDoubleMatrix(0, 0, mxREAL);
        buffer->type = MPI_BYTE;
        if (call->lasting)
            mexMakeArrayPersistent(buffer->array);
        return NULL;
    }
    if (!value)
        return argument_problem("what is received needs an array like it, or an mpi.Buffer (sent was %s)",
                                sent ? "no array" : "nothing");
    if (memory && is_object_of(memory, "mpi.Buffer")) {
        if (sent)
            return like_block(call, memory, variant, buffer);
        wrong = use_block(call, memory, buffer);
        return wrong ? wrong : read_surroundings(call, value, letter, buffer);
    }
    if (!memory)
        return not_an_array(value);
    /* Parts of an array are received into a copy: what lies between them stays as it is. */
    if (mxIsCell(value) || variant == 'c' || variant == 'd')
        wrong = read_replaced(call, memory, buffer);
    else
        wrong = new_array(call, memory, sent || variant == 'z' ? variant : '1', buffer);
    if (wrong)
        return wrong;
    if (!mxIsCell(value) && (variant == ' ')) {
        mxArray *before = (mxArray *)memory;
        if (call->lasting)
            call_keep(call, before = same_value(memory));
        buffer->before = before;
    }
    return read_surroundings(call, value, letter, buffer);
}

mxArray *take_received(struct buffer *buffer, const MPI_Status *status)
{
    mxArray *result = buffer->array;
    MPI_Count received = -1;
    if (buffer->object)
        return mxDuplicateArray(buffer->object);
    if (status && buffer->before)
        MPI_Get_elements_c(status, MPI_BYTE, &received);
    if (received >= 0 && received < buffer_bytes(buffer))
        memcpy((char *)buffer->address + (size_t)received, (const char *)mxGetData(buffer->before) + (size_t)received,
               (size_t)(buffer_bytes(buffer) - received));
    buffer->array = NULL;
    return result;
}

/* ---- mpi.Buffer itself ---- */

static const char *new_block(const mxArray *like, struct block **made)
{
    struct block *block = calloc(1, sizeof *block);
    MPI_Datatype type = type_of_elements(like);
    const char *wrong = NULL;
    if (!block)
        return argument_problem("out of memory for a buffer");
    block->type = type;
    block->win = MPI_WIN_NULL;
    block->elements = (MPI_Count)mxGetNumberOfElements(like);
    block->class_id = mxGetClassID(like);
    block->complex = mxIsComplex(like);
    block->dimensions = mxGetNumberOfDimensions(like);
    if (type == MPI_DATATYPE_NULL)
        wrong = not_an_array(like);
    else if (block->dimensions > VALUE_DIMENSIONS_MAX)
        wrong = argument_problem("the array has too many dimensions");
    if (wrong) {
        free(block);
        return wrong;
    }
    memcpy(block->dims, mxGetDimensions(like), block->dimensions * sizeof *block->dims);
    *made = block;
    return NULL;
}

static size_t block_bytes(const struct block *block)
{
    return (size_t)block->elements * element_bytes(block->type);
}

/* Buffer.make(array): memory that holds the array's elements. */
static const char *buffer_make(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[])
{
    struct block *block;
    const char *wrong = nrhs == 1 ? new_block(prhs[0], &block) : argument_problem("mpi.Buffer(array) is wanted");
    (void)nlhs;
    if (wrong)
        return wrong;
    wrong = mpi_problem(MPI_Alloc_mem((MPI_Aint)block_bytes(block) + 1, MPI_INFO_NULL, &block->address), "MPI_Alloc_mem");
    if (wrong) {
        free(block);
        return wrong;
    }
    memcpy(block->address, mxGetData(prhs[0]), block_bytes(block));
    plhs[0] = mxCreateDoubleScalar((double)(uintptr_t)block);
    return NULL;
}

double block_around(void *address, const mxArray *like, MPI_Win win)
{
    struct block *block;
    if (new_block(like, &block))
        return 0;
    block->address = address;
    block->win = win;
    block->next = borrowed_first;
    borrowed_first = block;
    return (double)(uintptr_t)block;
}

void blocks_forget(MPI_Win win)
{
    struct block *block;
    for (block = borrowed_first; block; block = block->next)
        if (block->win == win)
            block->address = NULL;
}

static void free_block(struct block *block)
{
    struct block **link = &borrowed_first;
    int finalized = 0;
    while (*link && *link != block)
        link = &(*link)->next;
    if (*link)
        *link = block->next;
    MPI_Finalized(&finalized);
    if (block->win == MPI_WIN_NULL && !finalized)
        MPI_Free_mem(block->address);
    free(block);
}

void block_unuse(struct block *block)
{
    if (--block->uses == 0 && block->deleted)
        free_block(block);
}

static const char *buffer_free_block(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[])
{
    struct block *block = NULL;
    const char *wrong = nrhs == 1 ? read_block(prhs[0], &block) : argument_problem("a buffer is wanted");
    (void)nlhs, (void)plhs;
    if (wrong || (void *)block == MPI_IN_PLACE)
        return wrong;
    block->deleted = 1;
    if (block->uses == 0)
        free_block(block);
    return NULL;
}

/* Elements that a numeric list, from 1, chooses; all in order without one. */
static const char *chosen(const struct block *block, const mxArray *list, mwSize *count, const double **indices)
{
    mwSize i;
    *indices = NULL;
    *count = (mwSize)block->elements;
    if (!list)
        return NULL;
    if (!mxIsDouble(list) || mxIsComplex(list) || mxIsSparse(list))
        return argument_problem("elements of an mpi.Buffer are named by a list of numbers, from 1");
    *count = mxGetNumberOfElements(list);
    *indices = mxGetDoubles(list);
    for (i = 0; i < *count; i++)
        if (!((*indices)[i] >= 1 && (*indices)[i] <= (double)block->elements) || (*indices)[i] != (double)(int64_t)(*indices)[i])
            return argument_problem("the buffer has elements 1 to %lld, and no %g", (long long)block->elements, (*indices)[i]);
    return NULL;
}

/* value = b.get(), elements = b.get(indices). */
static const char *buffer_get(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[])
{
    struct block *block;
    const double *indices;
    mwSize count, i;
    size_t bytes;
    char *to;
    const char *wrong = read_block(prhs[0], &block);
    (void)nlhs;
    if (!wrong)
        wrong = no_memory_of_its_own(block);
    if (!wrong)
        wrong = chosen(block, nrhs > 1 ? prhs[1] : NULL, &count, &indices);
    if (wrong)
        return wrong;
    plhs[0] = indices ? array_of(block->class_id, block->complex, mxGetNumberOfDimensions(prhs[1]), mxGetDimensions(prhs[1]), 0)
                      : array_of(block->class_id, block->complex, block->dimensions, block->dims, 0);
    to = mxGetData(plhs[0]);
    bytes = element_bytes(block->type);
    if (!indices)
        memcpy(to, block->address, block_bytes(block));
    for (i = 0; indices && i < count; i++)
        memcpy(to + i * bytes, (char *)block->address + (size_t)(indices[i] - 1) * bytes, bytes);
    return NULL;
}

/* b.set(value), b.set(elements, indices). */
static const char *buffer_set(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[])
{
    struct block *block = NULL;
    const double *indices;
    mwSize count, i, given;
    size_t bytes;
    const char *from, *wrong = nrhs < 2 ? argument_problem("a value is wanted") : read_block(prhs[0], &block);
    (void)nlhs, (void)plhs;
    if (!wrong)
        wrong = no_memory_of_its_own(block);
    if (!wrong)
        wrong = chosen(block, nrhs > 2 ? prhs[2] : NULL, &count, &indices);
    if (wrong)
        return wrong;
    given = mxGetNumberOfElements(prhs[1]);
    if (type_of_elements(prhs[1]) != block->type || (given != count && given != 1))
        return argument_problem("%lu elements of the buffer's own class are wanted, or one for all", (unsigned long)count);
    bytes = element_bytes(block->type);
    from = mxGetData(prhs[1]);
    for (i = 0; i < count; i++)
        memcpy((char *)block->address + (indices ? (size_t)(indices[i] - 1) : (size_t)i) * bytes, from + (given == 1 ? 0 : i * bytes), bytes);
    return NULL;
}

/* address = b.address(): a uint64, by which others reach the memory in a dynamic window that it is attached to. */
static const char *buffer_address(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[])
{
    struct block *block = NULL;
    MPI_Aint address = 0;
    const char *wrong = nrhs == 1 ? read_block(prhs[0], &block) : argument_problem("a buffer is wanted");
    (void)nlhs;
    if (!wrong)
        wrong = no_memory_of_its_own(block);
    if (!wrong)
        wrong = mpi_problem(MPI_Get_address(block->address, &address), "Buffer.address");
    if (wrong)
        return wrong;
    plhs[0] = mxCreateNumericMatrix(1, 1, mxUINT64_CLASS, mxREAL);
    *(uint64_t *)mxGetData(plhs[0]) = (uint64_t)address;
    return NULL;
}

const struct operation buffer_operations[] = {
    {"Buffer.address", buffer_address, 1},
    {"Buffer.make", buffer_make, 1},
    {"Buffer.release", buffer_free_block, 0},
    {"Buffer.get", buffer_get, 1},
    {"Buffer.set", buffer_set, 0},
    {NULL, NULL, 0},
};
