/* mex_decode.c: values of the interpreter from the encoding; see mex_values.h. */
#include "mex_shared.h"
#include "mex_text.h"

#include <string.h>

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

static mxArray *create_dense(const struct value_item *item)
{
    mwSize dims[VALUE_DIMENSIONS_MAX + 2];
    mwSize dimensions = interpreter_dims(item, dims);
    return dense_array(value_class_of(item->type), (item->flags & VALUE_COMPLEX) != 0, dimensions, dims,
                       (item->flags & VALUE_EXTERNAL) != 0);
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
    mwSize dimensions = interpreter_dims(item, dims);
    if (count == 0) {
        *value = mxCreateCharArray(dimensions, dims);
        return NULL;
    }
    if (!from) {
        payload = mxMalloc((size_t)item->data_bytes);
        wrong = decoder->source(decoder->context, payload, item->data_bytes);
        from = payload;
    }
    if (!wrong && (dimensions > 2 || dims[0] != 1))
        wrong = value_problem("a char matrix from an interpreter with another width of char "
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
        return value_problem("the message holds complex integers, which Octave does not have");
#endif
    *value = create_dense(item);
    if (item->flags & VALUE_EXTERNAL) {
        void *data = mxGetData(*value);
        const char *wrong = decoder->source(decoder->context, data, item->data_bytes);
        return wrong || item->type != VALUE_LOGICAL ? wrong
                                                    : logical_check(data, item->data_bytes);
    }
    if (item->data_bytes)
        memcpy(mxGetData(*value), item->data, (size_t)item->data_bytes);
    return NULL;
}

/* ---- sparse matrices ---- */

/* A matrix with its indices in place, and room for its elements. */
static mxArray *create_sparse(const struct value_item *item, mxComplexity complexity)
{
    mwSize rows = (mwSize)item->dims[0], columns = (mwSize)item->dims[1];
    mwSize room = (mwSize)(item->nonzeros ? item->nonzeros : 1);
    mxArray *made = item->type == VALUE_LOGICAL
                        ? mxCreateSparseLogicalMatrix(rows, columns, room)
                        : mxCreateSparse(rows, columns, room, complexity);
    mwIndex *offsets = mxGetJc(made), *row_indices = mxGetIr(made);
    uint64_t i;
    for (i = 0; i <= (uint64_t)columns; i++)
        offsets[i] = (mwIndex)value_load_u64(item->column_offsets, i);
    for (i = 0; i < item->nonzeros; i++)
        row_indices[i] = (mwIndex)value_load_u64(item->row_indices, i);
    return made;
}

#ifdef POSTRIDER_OCTAVE
/* mxCreateSparse of Octave 7 has the same fault as mxCreateNumericArray; its own
   complex(ones, ones) makes the matrix instead, and keeps it complex. */
static mxArray *create_complex_sparse(const struct value_item *item)
{
    mxArray *ones = create_sparse(item, mxREAL);
    double *elements = mxGetDoubles(ones);
    uint64_t i;
    for (i = 0; i < item->nonzeros; i++)
        elements[i] = 1;
    return complex_of(ones);
}
#else
static mxArray *create_complex_sparse(const struct value_item *item)
{
    return create_sparse(item, mxCOMPLEX);
}
#endif

static mxArray *decode_sparse(const struct value_item *item)
{
    mxArray *value = (item->flags & VALUE_COMPLEX) ? create_complex_sparse(item)
                                                   : create_sparse(item, mxREAL);
    if (item->data_bytes)
        memcpy(mxGetData(value), item->data, (size_t)item->data_bytes);
    return value;
}

/* ---- cells and structs ---- */

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

static const char *decode_cell(struct decoder *decoder, const struct value_item *item,
                               mxArray **value)
{
    mwSize dims[VALUE_DIMENSIONS_MAX + 2];
    mwSize dimensions = interpreter_dims(item, dims);
    const char *wrong = NULL;
    uint64_t i;
    *value = text_cell_decode(&decoder->reader, item->elements, dimensions, dims);
    if (*value)
        return NULL;
    *value = mxCreateCellArray(dimensions, dims);
    for (i = 0; i < item->elements && !wrong; i++) {
        mxArray *child = NULL;
        wrong = decode_value(decoder, &child);
        if (!wrong)
            mxSetCell(*value, (mwIndex)i, child);
    }
    return wrong;
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

/* The language puts objects together, and says where it does not: of anonymous functions, unless the program allows them. */
static const char *decode_object(struct decoder *decoder, mxArray **value)
{
    mxArray *parts[2] = {NULL, NULL}, *made[2] = {NULL, NULL};
    char text[400] = "";
    const char *wrong = decode_value(decoder, &parts[0]);
    if (!wrong)
        wrong = decode_value(decoder, &parts[1]);
    if (wrong)
        return wrong;
    mexCallMATLAB(2, made, 2, parts, "postrider.put_together");
    mxGetString(made[1], text, sizeof text);
    mxDestroyArray(parts[0]);
    mxDestroyArray(parts[1]);
    mxDestroyArray(made[1]);
    *value = made[0];
    return text[0] ? value_problem("%s", text) : NULL;
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
    if (item.type == VALUE_OBJECT)
        return decode_object(decoder, value);
    if (item.flags & VALUE_SPARSE) {
        *value = decode_sparse(&item);
        return NULL;
    }
    return decode_dense(decoder, &item, value);
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
    return wrong;
}
