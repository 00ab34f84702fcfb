/* mex_text.c: see mex_text.h. */
#include "mex_text.h"

#include "mex_shared.h"

#include <string.h>

#ifdef POSTRIDER_OCTAVE

/* Fewer are as fast one by one. */
enum { TEXTS_MIN = 16 };

/* ---- encoding ---- */

static int is_cell_of_text(const mxArray *cell)
{
    mxArray *argument = (mxArray *)cell, *answer = call_builtin("iscellstr", 1, &argument);
    int is = mxIsLogicalScalarTrue(answer);
    mxDestroyArray(answer);
    return is;
}

/* For each element what `function` says of it: "size" along `dimension`, or "ndims". */
static mxArray *measured(const mxArray *cell, const char *function, int dimension)
{
    mxArray *arguments[3], *made;
    arguments[0] = mxCreateString(function);
    arguments[1] = (mxArray *)cell;
    arguments[2] = mxCreateDoubleScalar(dimension);
    made = call_builtin("cellfun", dimension ? 3 : 2, arguments);
    mxDestroyArray(arguments[0]);
    mxDestroyArray(arguments[2]);
    return made;
}

static void put_texts(struct byte_buffer *buffer, const mxArray *cell, const double *rows,
                      const double *columns)
{
    size_t i, count = mxGetNumberOfElements(cell);
    for (i = 0; i < count; i++) {
        size_t length = (size_t)columns[i];
        uint64_t dims[2];
        char *to;
        dims[0] = (uint64_t)rows[i];
        dims[1] = (uint64_t)length;
        value_put_head(buffer, VALUE_CHAR8, 0, 0, 2, dims);
        to = length ? buffer_room(buffer, length + 1) : NULL;
        if (!to)
            continue;
        mxGetString(mxGetCell(cell, i), to, length + 1);
        buffer->used += length;
        buffer_pad(buffer);
    }
}

int text_cell_encode(struct byte_buffer *buffer, const mxArray *cell)
{
    size_t i, count = mxGetNumberOfElements(cell), fitting = 0;
    mxArray *rows, *columns, *dimensions;
    const double *row, *column, *dimension;
    if (count < TEXTS_MIN || !is_cell_of_text(cell))
        return 0;
    rows = measured(cell, "size", 1);
    columns = measured(cell, "size", 2);
    dimensions = measured(cell, "ndims", 0);
    row = mxGetDoubles(rows);
    column = mxGetDoubles(columns);
    dimension = mxGetDoubles(dimensions);
    for (i = 0; i < count; i++)
        fitting += dimension[i] == 2 && column[i] < PAYLOAD_BYTES_MIN &&
                   (row[i] == 1 || (row[i] == 0 && column[i] == 0));
    if (fitting == count)
        put_texts(buffer, cell, row, column);
    mxDestroyArray(rows);
    mxDestroyArray(columns);
    mxDestroyArray(dimensions);
    return fitting == count;
}

/* ---- decoding ---- */

/* What lies before us in the message. */
struct texts {
    uint64_t rows;
    uint64_t characters;
};

static int is_row(const struct value_item *item)
{
    return item->dimensions < 2 || (item->dimensions == 2 && item->dims[0] == 1);
}

/* Counts the elements, on a copy of the reader. */
static int survey(struct value_reader reader, uint64_t elements, struct texts *texts)
{
    uint64_t i;
    for (i = 0; i < elements; i++) {
        struct value_item item;
        if (value_read(&reader, &item) || item.type != VALUE_CHAR8 ||
            (item.flags & VALUE_EXTERNAL))
            return 0;
        if (is_row(&item))
            texts->rows++;
        else if (item.dimensions != 2 || item.dims[0] != 0 || item.dims[1] != 0)
            return 0;
        texts->characters += item.elements;
    }
    return 1;
}

/* Cuts the text into rows.  The 0 x 0 ones are the place after the last of them. */
static mxArray *cut(mxArray *text, mxArray *lengths, mxArray *places, mwSize dimensions,
                    const mwSize *dims)
{
    /* Made at the first call, and kept. */
    static mxArray *function;
    mxArray *made = NULL, *arguments[5];
    int i;
    if (!function) {
        arguments[0] = mxCreateString("@(text, lengths, places, dims) "
                                      "builtin (\"reshape\", [builtin(\"mat2cell\", text, 1, lengths), "
                                      "{''}](places), dims)");
        made = call_builtin("str2func", 1, arguments);
        mexMakeArrayPersistent(made);
        mxDestroyArray(arguments[0]);
        function = made;
    }
    arguments[0] = function;
    arguments[1] = text;
    arguments[2] = lengths;
    arguments[3] = places;
    arguments[4] = row_of_extents(dimensions, dims);
    mexCallMATLAB(1, &made, 5, arguments, "feval");
    for (i = 1; i < 5; i++)
        mxDestroyArray(arguments[i]);
    return made;
}

mxArray *text_cell_decode(struct value_reader *reader, uint64_t elements, mwSize dimensions,
                          const mwSize *dims)
{
    struct texts texts = {0, 0};
    mxArray *text, *lengths, *places;
    double *length, *place;
    char *to;
    mwSize extents[2] = {1, 0};
    uint64_t i, row = 0;
    if (elements < TEXTS_MIN || !survey(*reader, elements, &texts) || texts.rows == 0)
        return NULL;
    extents[1] = (mwSize)texts.characters;
    text = mxCreateCharArray(2, extents);
    lengths = mxCreateDoubleMatrix(1, (mwSize)texts.rows, mxREAL);
    places = mxCreateDoubleMatrix(1, (mwSize)elements, mxREAL);
    to = mxGetData(text);
    length = mxGetDoubles(lengths);
    place = mxGetDoubles(places);
    for (i = 0; i < elements; i++) {
        struct value_item item;
        value_read(reader, &item);
        if (!is_row(&item)) {
            place[i] = (double)texts.rows + 1;
            continue;
        }
        memcpy(to, item.data, (size_t)item.elements);
        to += item.elements;
        length[row++] = (double)item.elements;
        place[i] = (double)row;
    }
    return cut(text, lengths, places, dimensions, dims);
}

#else

int text_cell_encode(struct byte_buffer *buffer, const mxArray *cell)
{
    (void)buffer, (void)cell;
    return 0;
}

mxArray *text_cell_decode(struct value_reader *reader, uint64_t elements, mwSize dimensions,
                          const mwSize *dims)
{
    (void)reader, (void)elements, (void)dimensions, (void)dims;
    return NULL;
}

#endif
