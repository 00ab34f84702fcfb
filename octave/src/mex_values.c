/* mex_values.c: see mex_values.h. */
#include "mex_values.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if !MX_HAS_INTERLEAVED_COMPLEX
#error "Build with interleaved complex arrays: mex -R2018a, or octave/build."
#endif

/* Where in the values we are, as the user would write it: var2{3}.field */
static char place[256];
static char problem_text[512];

static const char *problem(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(problem_text, sizeof problem_text, format, arguments);
    va_end(arguments);
    return problem_text;
}

static void place_append(size_t length, const char *format, ...)
{
    va_list arguments;
    if (length >= sizeof place)
        return;
    va_start(arguments, format);
    vsnprintf(place + length, sizeof place - length, format, arguments);
    va_end(arguments);
}

static const struct { mxClassID class_id; int type; } TYPES[] = {
    {mxDOUBLE_CLASS, VALUE_DOUBLE}, {mxLOGICAL_CLASS, VALUE_LOGICAL},
    {mxCHAR_CLASS, sizeof(mxChar) == 1 ? VALUE_CHAR8 : VALUE_CHAR16},
    {mxSINGLE_CLASS, VALUE_SINGLE}, {mxINT8_CLASS, VALUE_INT8},
    {mxUINT8_CLASS, VALUE_UINT8},   {mxINT16_CLASS, VALUE_INT16},
    {mxUINT16_CLASS, VALUE_UINT16}, {mxINT32_CLASS, VALUE_INT32},
    {mxUINT32_CLASS, VALUE_UINT32}, {mxINT64_CLASS, VALUE_INT64},
    {mxUINT64_CLASS, VALUE_UINT64}, {mxCELL_CLASS, VALUE_CELL},
    {mxSTRUCT_CLASS, VALUE_STRUCT},
};
enum { TYPE_COUNT = sizeof TYPES / sizeof TYPES[0] };

static int type_of(const mxArray *value)
{
    mxClassID class_id = mxGetClassID(value);
    size_t i;
    for (i = 0; i < TYPE_COUNT; i++)
        if (TYPES[i].class_id == class_id)
            return TYPES[i].type;
    return 0;
}

static mxClassID class_of(int type)
{
    size_t i;
    for (i = 0; i < TYPE_COUNT; i++)
        if (TYPES[i].type == type)
            return TYPES[i].class_id;
    return mxUNKNOWN_CLASS;
}

/* ---- encoding ---- */

static const char *encode_value(struct outgoing *message, const mxArray *value, int depth);

/* The same array in its full form: Octave holds ranges and diagonal matrices in
   another, and makes the elements only when asked.  Other arrays come back as
   they are, with their memory shared. */
static mxArray *full_form(const mxArray *value)
{
    mxArray *argument = (mxArray *)value, *full = NULL;
#ifndef POSTRIDER_OCTAVE
    /* MATLAB has no full() for char. */
    if (mxIsChar(value))
        return mxDuplicateArray(value);
#endif
    mexCallMATLAB(1, &full, 1, &argument, "full");
    return full;
}

static const char *keep_payload(struct outgoing *message, const mxArray *value, uint64_t bytes)
{
    struct payload *payload;
    if (message->payload_count == message->payload_capacity) {
        size_t capacity = message->payload_capacity ? 2 * message->payload_capacity : 4;
        struct payload *grown = realloc(message->payloads, capacity * sizeof *grown);
        if (!grown)
            return problem("out of memory for %lu arrays", (unsigned long)capacity);
        message->payloads = grown;
        message->payload_capacity = capacity;
    }
    payload = &message->payloads[message->payload_count++];
    payload->kept = full_form(value);
    mexMakeArrayPersistent(payload->kept);
    payload->data = mxGetData(payload->kept);
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

static const char *encode_cell(struct outgoing *message, const mxArray *value, int depth)
{
    size_t i, count = mxGetNumberOfElements(value), length = strlen(place);
    const char *wrong = NULL;
    for (i = 0; i < count && !wrong; i++) {
        const mxArray *child = mxGetCell(value, i);
        place_append(length, "{%lu}", (unsigned long)i + 1);
        if (child) {
            wrong = encode_value(message, child, depth + 1);
        } else {
            /* MATLAB leaves cells that were never assigned without an array. */
            static const uint64_t empty[2] = {0, 0};
            value_put_head(&message->buffer, VALUE_DOUBLE, 0, 0, 2, empty);
        }
    }
    place[length < sizeof place ? length : sizeof place - 1] = 0;
    return wrong;
}

static const char *encode_struct(struct outgoing *message, const mxArray *value, int depth)
{
    size_t i, count = mxGetNumberOfElements(value), length = strlen(place);
    int field, fields = mxGetNumberOfFields(value);
    const char *wrong = NULL;
    for (field = 0; field < fields; field++) {
        const char *name = mxGetFieldNameByNumber(value, field);
        value_put_name(&message->buffer, name, strlen(name));
    }
    buffer_pad(&message->buffer);
    for (i = 0; i < count && !wrong; i++) {
        for (field = 0; field < fields && !wrong; field++) {
            const mxArray *child = mxGetFieldByNumber(value, i, field);
            const char *name = mxGetFieldNameByNumber(value, field);
            if (count == 1)
                place_append(length, ".%s", name);
            else
                place_append(length, "(%lu).%s", (unsigned long)i + 1, name);
            if (child) {
                wrong = encode_value(message, child, depth + 1);
            } else {
                static const uint64_t empty[2] = {0, 0};
                value_put_head(&message->buffer, VALUE_DOUBLE, 0, 0, 2, empty);
            }
        }
    }
    place[length < sizeof place ? length : sizeof place - 1] = 0;
    return wrong;
}

static const char *encode_head(struct outgoing *message, const mxArray *value, int type, int flags)
{
    uint64_t dims[VALUE_DIMENSIONS_MAX];
    size_t i, dimensions = (size_t)mxGetNumberOfDimensions(value);
    const mwSize *extents = mxGetDimensions(value);
    uint32_t fields = type == VALUE_STRUCT ? (uint32_t)mxGetNumberOfFields(value) : 0;
    if (dimensions > VALUE_DIMENSIONS_MAX)
        return problem("%s has %lu dimensions; at most %d can be sent", place,
                       (unsigned long)dimensions, VALUE_DIMENSIONS_MAX);
    for (i = 0; i < dimensions; i++)
        dims[i] = (uint64_t)extents[i];
    value_put_head(&message->buffer, type, flags, fields, dimensions, dims);
    return NULL;
}

static const char *encode_value(struct outgoing *message, const mxArray *value, int depth)
{
    int type = type_of(value), flags = 0;
    uint64_t bytes;
    size_t element_bytes;
    const char *wrong;
    if (type == 0)
        return problem("%s is a %s, which cannot be sent to another process; "
                       "send the data it holds instead", place, mxGetClassName(value));
    if (depth > VALUE_DEPTH_MAX)
        return problem("%.60s... is nested more than %d levels deep", place, VALUE_DEPTH_MAX);
    if (type == VALUE_CELL || type == VALUE_STRUCT) {
        wrong = encode_head(message, value, type, 0);
        if (wrong)
            return wrong;
        return type == VALUE_CELL ? encode_cell(message, value, depth)
                                  : encode_struct(message, value, depth);
    }
    flags |= mxIsComplex(value) ? VALUE_COMPLEX : 0;
    flags |= mxIsSparse(value) ? VALUE_SPARSE : 0;
    element_bytes = value_element_bytes(type, flags);
    bytes = (flags & VALUE_SPARSE) ? 0 : (uint64_t)mxGetNumberOfElements(value) * element_bytes;
    flags |= bytes >= PAYLOAD_BYTES_MIN ? VALUE_EXTERNAL : 0;
    wrong = encode_head(message, value, type, flags);
    if (wrong)
        return wrong;
    if (flags & VALUE_EXTERNAL)
        return keep_payload(message, value, bytes);
    if (flags & VALUE_SPARSE) {
        encode_sparse(message, value, element_bytes);
    } else if (flags & VALUE_COMPLEX) {
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

const char *values_encode(struct outgoing *message, int count, const mxArray *const values[])
{
    const char *wrong = NULL;
    int i;
    /* The interpreter leaves through an error of its own when memory runs out, and
       then arrays may still be kept from that message. */
    outgoing_release_payloads(message);
    message_begin(&message->buffer);
    for (i = 0; i < count && !wrong; i++) {
        snprintf(place, sizeof place, "var%d", i + 1);
        wrong = encode_value(message, values[i], 1);
    }
    if (!wrong && message->buffer.failed)
        wrong = problem("out of memory for the encoding of %d values", count);
    if (wrong)
        outgoing_release_payloads(message);
    return wrong;
}

/* ---- decoding ---- */

struct decoder {
    struct value_reader reader;
    payload_source *source;
    void *context;
};

static const char *decode_value(struct decoder *decoder, mxArray **value);

/* Arrays of the interpreter have two dimensions or more: no dimension is a scalar
   and one is a row. */
static mwSize interpreter_dims(const struct value_item *item, mwSize *dims)
{
    size_t i;
    if (item->dimensions < 2) {
        dims[0] = 1;
        dims[1] = item->dimensions ? (mwSize)item->dims[0] : 1;
        return 2;
    }
    for (i = 0; i < item->dimensions; i++)
        dims[i] = (mwSize)item->dims[i];
    return (mwSize)item->dimensions;
}

#ifdef POSTRIDER_OCTAVE
/* Octave copies an array made by mxCreateNumericArray when the MEX function
   returns it, and in Octave 7 such an array has room for the real parts only when
   it is complex.  What one of its own functions made is returned as it is.  So
   large and complex arrays are made by resize(zero, dims) of Octave, where zero is
   a scalar of the right class; the complex one is 1i, since Octave makes an array
   real when it holds real numbers only. */
static mxArray *create_by_resize(mwSize dimensions, const mwSize *dims,
                                 const struct value_item *item)
{
    mxArray *arguments[2], *made = NULL;
    double *extents;
    mwSize i;
    if (item->flags & VALUE_COMPLEX) {
        mexCallMATLAB(1, &arguments[0], 0, NULL, "I");
        if (item->type == VALUE_SINGLE) {
            mxArray *as_double = arguments[0];
            mexCallMATLAB(1, &arguments[0], 1, &as_double, "single");
            mxDestroyArray(as_double);
        }
    } else {
        arguments[0] = mxCreateNumericMatrix(1, 1, class_of(item->type), mxREAL);
    }
    arguments[1] = mxCreateDoubleMatrix(1, dimensions, mxREAL);
    extents = mxGetDoubles(arguments[1]);
    for (i = 0; i < dimensions; i++)
        extents[i] = (double)dims[i];
    mexCallMATLAB(1, &made, 2, arguments, "resize");
    mxDestroyArray(arguments[0]);
    mxDestroyArray(arguments[1]);
    return made;
}
#endif

static mxArray *create_dense(const struct value_item *item)
{
    mwSize dims[VALUE_DIMENSIONS_MAX + 2];
    mwSize dimensions = interpreter_dims(item, dims);
    if (item->type == VALUE_LOGICAL)
        return mxCreateLogicalArray(dimensions, dims);
    if (item->type == VALUE_CHAR8 || item->type == VALUE_CHAR16)
        return mxCreateCharArray(dimensions, dims);
#ifdef POSTRIDER_OCTAVE
    if (item->elements && (item->flags & (VALUE_EXTERNAL | VALUE_COMPLEX)))
        return create_by_resize(dimensions, dims, item);
#endif
    return mxCreateUninitNumericArray(dimensions, dims, class_of(item->type),
                                      (item->flags & VALUE_COMPLEX) ? mxCOMPLEX : mxREAL);
}

/* Characters of the other width: a row is converted between UTF-8 and UTF-16. */
static const char *decode_other_chars(struct decoder *decoder, const struct value_item *item,
                                      mxArray **value)
{
    size_t count = (size_t)item->elements, units;
    const unsigned char *from = item->data;
    unsigned char *payload = NULL;
    const char *wrong = NULL;
    mwSize dims[VALUE_DIMENSIONS_MAX + 2];
    interpreter_dims(item, dims);
    if (!from) {
        payload = mxMalloc((size_t)item->data_bytes);
        wrong = decoder->source(decoder->context, payload, item->data_bytes);
        from = payload;
    }
    if (!wrong && count && (item->dimensions > 2 || dims[0] != 1))
        wrong = problem("a char matrix from an interpreter with another width of char "
                        "cannot be converted; send its rows one by one");
    if (!wrong) {
        void *text = mxMalloc(4 * count + 1);
        units = sizeof(mxChar) == 1 ? utf16_to_utf8(text, from, count)
                                    : utf8_to_utf16(text, from, count);
        dims[1] = (mwSize)units;
        *value = mxCreateCharArray(2, dims);
        if (units)
            memcpy(mxGetData(*value), text, units * sizeof(mxChar));
        mxFree(text);
    }
    if (payload)
        mxFree(payload);
    return wrong;
}

static const char *decode_dense(struct decoder *decoder, const struct value_item *item,
                                mxArray **value)
{
    int is_char = item->type == VALUE_CHAR8 || item->type == VALUE_CHAR16;
    if (is_char && item->element_bytes != sizeof(mxChar))
        return decode_other_chars(decoder, item, value);
#ifdef POSTRIDER_OCTAVE
    if ((item->flags & VALUE_COMPLEX) && item->type > VALUE_SINGLE)
        return problem("the message holds complex integers, which Octave does not have");
#endif
    *value = create_dense(item);
    if (item->flags & VALUE_EXTERNAL)
        return decoder->source(decoder->context, mxGetData(*value), item->data_bytes);
    if (item->data_bytes)
        memcpy(mxGetData(*value), item->data, (size_t)item->data_bytes);
    return NULL;
}

#ifdef POSTRIDER_OCTAVE
/* mxCreateSparse of Octave 7 has the same fault as mxCreateNumericArray; its own
   sparse(rows, columns, elements, m, n) makes the matrix instead. */
static mxArray *create_complex_sparse(const struct value_item *item)
{
    mwSize dims[2];
    mxArray *arguments[5], *made = NULL;
    double *rows, *columns;
    uint64_t column, k = 0;
    int i;
    dims[0] = (mwSize)item->nonzeros;
    dims[1] = 1;
    arguments[0] = mxCreateDoubleMatrix(dims[0], 1, mxREAL);
    arguments[1] = mxCreateDoubleMatrix(dims[0], 1, mxREAL);
    arguments[2] = create_by_resize(2, dims, item);
    arguments[3] = mxCreateDoubleScalar((double)item->dims[0]);
    arguments[4] = mxCreateDoubleScalar((double)item->dims[1]);
    rows = mxGetDoubles(arguments[0]);
    columns = mxGetDoubles(arguments[1]);
    for (column = 0; column < item->dims[1]; column++) {
        for (; k < value_load_u64(item->column_offsets, column + 1); k++) {
            rows[k] = (double)value_load_u64(item->row_indices, k) + 1;
            columns[k] = (double)column + 1;
        }
    }
    memcpy(mxGetData(arguments[2]), item->data, (size_t)item->data_bytes);
    mexCallMATLAB(1, &made, 5, arguments, "sparse");
    for (i = 0; i < 5; i++)
        mxDestroyArray(arguments[i]);
    return made;
}
#endif

static mxArray *decode_sparse(const struct value_item *item)
{
    mwSize rows = (mwSize)item->dims[0], columns = (mwSize)item->dims[1];
    mwSize room = (mwSize)(item->nonzeros ? item->nonzeros : 1);
    mxComplexity complexity =
        (item->flags & VALUE_COMPLEX) && item->nonzeros ? mxCOMPLEX : mxREAL;
    mxArray *value;
    mwIndex *offsets, *row_indices;
    uint64_t i;
#ifdef POSTRIDER_OCTAVE
    if (complexity == mxCOMPLEX)
        return create_complex_sparse(item);
#endif
    value = item->type == VALUE_LOGICAL ? mxCreateSparseLogicalMatrix(rows, columns, room)
                                        : mxCreateSparse(rows, columns, room, complexity);
    offsets = mxGetJc(value);
    row_indices = mxGetIr(value);
    for (i = 0; i <= (uint64_t)columns; i++)
        offsets[i] = (mwIndex)value_load_u64(item->column_offsets, i);
    for (i = 0; i < item->nonzeros; i++)
        row_indices[i] = (mwIndex)value_load_u64(item->row_indices, i);
    if (item->data_bytes)
        memcpy(mxGetData(value), item->data, (size_t)item->data_bytes);
    return value;
}

static const char *decode_cell(struct decoder *decoder, const struct value_item *item,
                               mxArray **value)
{
    mwSize dims[VALUE_DIMENSIONS_MAX + 2];
    const char *wrong = NULL;
    uint64_t i;
    *value = mxCreateCellArray(interpreter_dims(item, dims), dims);
    for (i = 0; i < item->elements && !wrong; i++) {
        mxArray *child = NULL;
        wrong = decode_value(decoder, &child);
        if (!wrong)
            mxSetCell(*value, (mwIndex)i, child);
    }
    return wrong;
}

static mxArray *create_struct(const struct value_item *item)
{
    mwSize dims[VALUE_DIMENSIONS_MAX + 2];
    mwSize dimensions = interpreter_dims(item, dims);
    char **names = mxMalloc((item->fields + (size_t)1) * sizeof *names);
    const unsigned char *cursor = item->names;
    mxArray *made;
    uint32_t i;
    for (i = 0; i < item->fields; i++) {
        size_t length;
        const char *name = value_next_name(&cursor, &length);
        names[i] = mxMalloc(length + 1);
        memcpy(names[i], name, length);
        names[i][length] = 0;
    }
    made = mxCreateStructArray(dimensions, dims, (int)item->fields, (const char **)names);
    for (i = 0; i < item->fields; i++)
        mxFree(names[i]);
    mxFree(names);
    return made;
}

static const char *decode_struct(struct decoder *decoder, const struct value_item *item,
                                 mxArray **value)
{
    const char *wrong = NULL;
    uint64_t i;
    uint32_t field;
    *value = create_struct(item);
    for (i = 0; i < item->elements && !wrong; i++) {
        for (field = 0; field < item->fields && !wrong; field++) {
            mxArray *child = NULL;
            wrong = decode_value(decoder, &child);
            if (!wrong)
                mxSetFieldByNumber(*value, (mwIndex)i, (int)field, child);
        }
    }
    return wrong;
}

static const char *decode_value(struct decoder *decoder, mxArray **value)
{
    struct value_item item;
    const char *wrong = value_read(&decoder->reader, &item);
    if (wrong)
        return wrong;
    if (item.type == VALUE_CELL)
        return decode_cell(decoder, &item, value);
    if (item.type == VALUE_STRUCT)
        return decode_struct(decoder, &item, value);
    if (item.flags & VALUE_SPARSE) {
        *value = decode_sparse(&item);
        return NULL;
    }
    return decode_dense(decoder, &item, value);
}

/* Values that nobody asked for: their payloads are taken out of the way. */
static const char *discard_payloads(struct decoder *decoder)
{
    struct value_item item;
    const char *wrong = NULL;
    while (decoder->reader.at < decoder->reader.end && !wrong) {
        wrong = value_read(&decoder->reader, &item);
        if (!wrong && (item.flags & VALUE_EXTERNAL))
            wrong = decoder->source(decoder->context, NULL, item.data_bytes);
    }
    return wrong;
}

const char *values_decode(const struct byte_buffer *message, int outputs, mxArray *values[],
                          payload_source *source, void *context)
{
    struct decoder decoder;
    struct message_header header;
    const char *wrong = message_open(&decoder.reader, message->bytes, message->used, &header);
    uint32_t i;
    decoder.source = source;
    decoder.context = context;
    for (i = 0; i < header.values && i < (uint32_t)outputs && !wrong; i++)
        wrong = decode_value(&decoder, &values[i]);
    if (!wrong)
        wrong = discard_payloads(&decoder);
    return wrong;
}
