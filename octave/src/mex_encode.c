/* mex_encode.c: values of the interpreter to the encoding; see mex_values.h. */
#include "mex_shared.h"
#include "mex_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Where in the values we are.  It is written out, as the user would write it, only
   when something is wrong there: var2{3}.field */
struct place {
    const struct place *outer;
    /* From 1; 0 for the fields of a struct that is alone. */
    unsigned long index;
    /* NULL for an element of a cell and for an argument of the call. */
    const char *field;
    int depth;
};

static size_t write_place(const struct place *place, char *text, size_t room)
{
    size_t used = place->outer ? write_place(place->outer, text, room) : 0;
    int written;
    if (used >= room)
        return used;
    if (!place->outer)
        written = snprintf(text + used, room - used, "var%lu", place->index);
    else if (!place->field)
        written = snprintf(text + used, room - used, "{%lu}", place->index);
    else if (place->index == 0)
        written = snprintf(text + used, room - used, ".%s", place->field);
    else
        written = snprintf(text + used, room - used, "(%lu).%s", place->index, place->field);
    return used + (size_t)(written > 0 ? written : 0);
}

/* The place in words, until the next call. */
static const char *at(const struct place *place)
{
    static char text[256];
    write_place(place, text, sizeof text);
    return text;
}

static const char *encode_value(struct outgoing *message, const mxArray *value,
                                const struct place *place);

#ifdef POSTRIDER_OCTAVE
static int is_diagonal(const mxArray *value)
{
    mxArray *argument = (mxArray *)value, *name = call_builtin("typeinfo", 1, &argument);
    char text[64];
    mxGetString(name, text, sizeof text);
    mxDestroyArray(name);
    return strstr(text, "diagonal") != NULL;
}

/* Octave holds ranges, diagonal and permutation matrices in another form, and makes the elements
   only when asked.  Only diagonal ones are complex, and full() may make them real; what it
   would do to any complex array whose imaginary parts are all 0 is why others do not come here. */
mxArray *full_form(const mxArray *value)
{
    mxArray *arguments[2], *full, *made;
    if (mxIsComplex(value) && !is_diagonal(value))
        return same_value(value);
    arguments[0] = (mxArray *)value;
    full = call_builtin("full", 1, arguments);
    if (!mxIsComplex(value) || mxIsComplex(full))
        return full;
    arguments[0] = full;
    arguments[1] = mxCreateNumericMatrix(1, 1, mxGetClassID(full), mxREAL);
    made = call_builtin("complex", 2, arguments);
    mxDestroyArray(arguments[0]);
    mxDestroyArray(arguments[1]);
    return made;
}
#else
/* MATLAB has no full() for char. */
mxArray *full_form(const mxArray *value)
{
    mxArray *argument = (mxArray *)value, *full = NULL;
    if (mxIsChar(value))
        return mxDuplicateArray(value);
    mexCallMATLAB(1, &full, 1, &argument, "full");
    return full;
}
#endif

static const char *keep_payload(struct outgoing *message, const mxArray *value, uint64_t bytes)
{
    struct payload *payload;
    mxArray *kept = full_form(value);
    const void *data = mxGetData(kept);
    if (message->payload_count == message->payload_capacity) {
        size_t capacity = message->payload_capacity ? 2 * message->payload_capacity : 4;
        struct payload *grown = realloc(message->payloads, capacity * sizeof *grown);
        if (!grown)
            return value_problem("out of memory for %lu arrays", (unsigned long)capacity);
        message->payloads = grown;
        message->payload_capacity = capacity;
    }
    /* Nothing from here on can leave through an error of the interpreter, so that the
       list never holds an array that is not ours. */
    mexMakeArrayPersistent(kept);
    payload = &message->payloads[message->payload_count++];
    payload->kept = kept;
    payload->data = data;
    payload->bytes = bytes;
    return NULL;
}

void outgoing_release_payloads(struct outgoing *message)
{
    size_t i;
    for (i = 0; i < message->payload_count; i++)
        mxDestroyArray(message->payloads[i].kept);
    free(message->payloads);
    message->payloads = NULL;
    message->payload_count = message->payload_capacity = 0;
}

static void encode_sparse(struct outgoing *message, const mxArray *value, size_t element_bytes)
{
    struct byte_buffer *buffer = &message->buffer;
    size_t columns = mxGetN(value), i;
    const mwIndex *offsets = mxGetJc(value), *rows = mxGetIr(value);
    size_t nonzeros = (size_t)offsets[columns];
    value_put_u64(buffer, nonzeros);
    for (i = 0; i <= columns; i++)
        value_put_u64(buffer, (uint64_t)offsets[i]);
    for (i = 0; i < nonzeros; i++)
        value_put_u64(buffer, (uint64_t)rows[i]);
    buffer_put(buffer, mxGetData(value), nonzeros * element_bytes);
    buffer_pad(buffer);
}

/* ---- cells and structs ---- */

static void encode_names(struct byte_buffer *buffer, const mxArray *value)
{
    int field, fields = mxGetNumberOfFields(value);
    for (field = 0; field < fields; field++) {
        const char *name = mxGetFieldNameByNumber(value, field);
        value_put_name(buffer, name, strlen(name));
    }
    buffer_pad(buffer);
}

static const char *encode_child(struct outgoing *message, const mxArray *child,
                                const struct place *place)
{
    /* MATLAB leaves elements that were never assigned without an array. */
    static const uint64_t empty[2] = {0, 0};
    if (child)
        return encode_value(message, child, place);
    value_put_head(&message->buffer, VALUE_DOUBLE, 0, 0, 2, empty);
    return NULL;
}

static const char *encode_cell(struct outgoing *message, const mxArray *value,
                               const struct place *outer)
{
    struct place place = {outer, 0, NULL, outer->depth + 1};
    size_t i, count = mxGetNumberOfElements(value);
    const char *wrong = NULL;
    if (place.depth <= VALUE_DEPTH_MAX && text_cell_encode(&message->buffer, value))
        return NULL;
    for (i = 0; i < count && !wrong; i++) {
        place.index = (unsigned long)i + 1;
        wrong = encode_child(message, mxGetCell(value, i), &place);
    }
    return wrong;
}

static const char *encode_struct(struct outgoing *message, const mxArray *value,
                                 const struct place *outer)
{
    struct place place = {outer, 0, NULL, outer->depth + 1};
    size_t i, count = mxGetNumberOfElements(value);
    int field, fields = mxGetNumberOfFields(value);
    const char *wrong = NULL;
    encode_names(&message->buffer, value);
    for (i = 0; i < count && !wrong; i++) {
        place.index = count == 1 ? 0 : (unsigned long)i + 1;
        for (field = 0; field < fields && !wrong; field++) {
            place.field = mxGetFieldNameByNumber(value, field);
            wrong = encode_child(message, mxGetFieldByNumber(value, i, field), &place);
        }
    }
    return wrong;
}

/* ---- objects ---- */

/* Function handles and the like, which the language takes apart: the name of the class, and what the object is made of. */
static const char *encode_object(struct outgoing *message, const mxArray *value,
                                 const struct place *outer)
{
    struct place place = *outer;
    mxArray *argument = (mxArray *)value, *parts[2] = {NULL, NULL};
    const char *wrong;
    mexCallMATLAB(2, parts, 1, &argument, "postrider.take_apart");
    place.depth++;
    if (mxIsEmpty(parts[0])) {
        wrong = value_problem("%s is a %s, which cannot be sent to another process; "
                              "send the data it holds instead", at(outer), mxGetClassName(value));
    } else {
        value_put_head(&message->buffer, VALUE_OBJECT, 0, 0, 0, NULL);
        wrong = encode_value(message, parts[0], &place);
        if (!wrong)
            wrong = encode_value(message, parts[1], &place);
    }
    mxDestroyArray(parts[0]);
    mxDestroyArray(parts[1]);
    return wrong;
}

/* ---- one value ---- */

static const char *encode_head(struct outgoing *message, const mxArray *value, int type, int flags,
                               const struct place *place)
{
    uint64_t dims[VALUE_DIMENSIONS_MAX], elements;
    size_t i, dimensions = (size_t)mxGetNumberOfDimensions(value);
    const mwSize *extents = mxGetDimensions(value);
    uint32_t fields = type == VALUE_STRUCT ? (uint32_t)mxGetNumberOfFields(value) : 0;
    if (dimensions > VALUE_DIMENSIONS_MAX)
        return value_problem("%s has %lu dimensions; at most %d can be sent", at(place),
                             (unsigned long)dimensions, VALUE_DIMENSIONS_MAX);
    for (i = 0; i < dimensions; i++)
        dims[i] = (uint64_t)extents[i];
    if (!value_count_elements(dims, dimensions, &elements))
        return value_problem("the dimensions of %s are too large to be sent; send a smaller array",
                             at(place));
    if (type == VALUE_STRUCT && fields == 0 &&
        !value_count_fieldless(&message->fieldless_elements, elements))
        return value_problem("%s is a struct array without fields, of which a message can hold %lu "
                             "elements; send its size instead", at(place),
                             (unsigned long)VALUE_FIELDLESS_ELEMENTS_MAX);
    value_put_head(&message->buffer, type, flags, fields, dimensions, dims);
    return NULL;
}

static const char *encode_value(struct outgoing *message, const mxArray *value,
                                const struct place *place)
{
    int type = value_type_of(value), flags = 0;
    uint64_t bytes;
    size_t element_bytes;
    const char *wrong;
    if (place->depth > VALUE_DEPTH_MAX)
        return value_problem("%.60s... is nested more than %d levels deep", at(place),
                             VALUE_DEPTH_MAX);
    if (type == 0)
        return encode_object(message, value, place);
    if (type == VALUE_CELL || type == VALUE_STRUCT) {
        wrong = encode_head(message, value, type, 0, place);
        if (wrong)
            return wrong;
        return type == VALUE_CELL ? encode_cell(message, value, place)
                                  : encode_struct(message, value, place);
    }
    flags |= mxIsComplex(value) ? VALUE_COMPLEX : 0;
    flags |= mxIsSparse(value) ? VALUE_SPARSE : 0;
    element_bytes = value_element_bytes(type, flags);
    bytes = (flags & VALUE_SPARSE) ? 0 : (uint64_t)mxGetNumberOfElements(value) * element_bytes;
    flags |= bytes >= PAYLOAD_BYTES_MIN && !message->in_one_piece ? VALUE_EXTERNAL : 0;
    wrong = encode_head(message, value, type, flags, place);
    if (wrong)
        return wrong;
    if (flags & VALUE_EXTERNAL)
        return keep_payload(message, value, bytes);
    if (flags & VALUE_SPARSE) {
        encode_sparse(message, value, element_bytes);
    } else if (bytes && (flags & VALUE_COMPLEX)) {
        mxArray *full = full_form(value);
        buffer_put(&message->buffer, mxGetData(full), (size_t)bytes);
        buffer_pad(&message->buffer);
        mxDestroyArray(full);
    } else if (bytes) {
        buffer_put(&message->buffer, mxGetData(value), (size_t)bytes);
        buffer_pad(&message->buffer);
    }
    return NULL;
}

static void put_tag(struct outgoing *message)
{
    const uint64_t dims[2] = {1, message->tag_length};
    if (!message->tag_text)
        return;
    value_put_head(&message->buffer, VALUE_CHAR8, 0, 0, 2, dims);
    buffer_put(&message->buffer, message->tag_text, message->tag_length);
    buffer_pad(&message->buffer);
}

const char *values_encode(struct outgoing *message, int count, const mxArray *const values[])
{
    const char *wrong = NULL;
    int i;
    /* The interpreter leaves through an error of its own when memory runs out, and
       then arrays may still be kept from that message. */
    outgoing_release_payloads(message);
    message->fieldless_elements = 0;
    message_begin(&message->buffer);
    put_tag(message);
    for (i = 0; i < count && !wrong; i++) {
        struct place place = {NULL, (unsigned long)i + 1, NULL, 1};
        wrong = encode_value(message, values[i], &place);
    }
    if (!wrong && message->buffer.failed)
        wrong = value_problem("out of memory for the encoding of %d values", count);
    if (wrong)
        outgoing_release_payloads(message);
    return wrong;
}
