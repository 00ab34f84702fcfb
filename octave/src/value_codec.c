/* value_codec.c: see value_codec.h and docs/VALUE_ENCODING.md. */
#include "value_codec.h"

#include <stdlib.h>
#include <string.h>

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "The value encoding is little-endian and is copied as it lies in memory."
#endif

static const unsigned char MAGIC[4] = {'P', 'R', 'V', 1};

size_t value_element_bytes(int type, int flags)
{
    static const unsigned char sizes[] = {0, 1, 1, 2, 8, 4, 1, 1, 2, 2, 4, 4, 8, 8};
    if (type < 0 || (size_t)type >= sizeof sizes)
        return 0;
    return (size_t)sizes[type] * ((flags & VALUE_COMPLEX) ? 2 : 1);
}

int value_count_elements(const uint64_t *dims, size_t dimensions, uint64_t *elements)
{
    uint64_t product = 1;
    size_t i;
    int empty = 0;
    for (i = 0; i < dimensions; i++) {
        if (dims[i] == 0)
            empty = 1;
        else if (dims[i] > VALUE_ELEMENTS_MAX / product)
            return 0;
        else
            product *= dims[i];
    }
    *elements = empty ? 0 : product;
    return 1;
}

int value_count_fieldless(uint64_t *so_far, uint64_t elements)
{
    if (elements > VALUE_FIELDLESS_ELEMENTS_MAX - *so_far)
        return 0;
    *so_far += elements;
    return 1;
}

/* ---- writing ---- */

static int buffer_reserve(struct byte_buffer *buffer, size_t count)
{
    size_t capacity = buffer->capacity ? buffer->capacity : 512;
    unsigned char *bytes;
    if (buffer->failed)
        return 0;
    if (count <= buffer->capacity - buffer->used)
        return 1;
    while (capacity - buffer->used < count) {
        if (capacity > SIZE_MAX / 2) {
            buffer->failed = 1;
            return 0;
        }
        capacity *= 2;
    }
    bytes = realloc(buffer->bytes, capacity);
    if (!bytes) {
        buffer->failed = 1;
        return 0;
    }
    buffer->bytes = bytes;
    buffer->capacity = capacity;
    return 1;
}

void buffer_put(struct byte_buffer *buffer, const void *bytes, size_t count)
{
    if (count && buffer_reserve(buffer, count)) {
        memcpy(buffer->bytes + buffer->used, bytes, count);
        buffer->used += count;
    }
}

void *buffer_room(struct byte_buffer *buffer, size_t count)
{
    return buffer_reserve(buffer, count) ? buffer->bytes + buffer->used : NULL;
}

void buffer_pad(struct byte_buffer *buffer)
{
    static const unsigned char zeros[8];
    buffer_put(buffer, zeros, -buffer->used & 7);
}

void buffer_free(struct byte_buffer *buffer)
{
    free(buffer->bytes);
    memset(buffer, 0, sizeof *buffer);
}

void message_begin(struct byte_buffer *buffer)
{
    static const unsigned char zeros[VALUE_HEADER_BYTES];
    buffer->used = 0;
    buffer->failed = 0;
    buffer_put(buffer, zeros, sizeof zeros);
}

void message_end(struct byte_buffer *buffer, uint32_t values, uint32_t payloads,
                 uint32_t payload_tag)
{
    uint64_t total = buffer->used;
    if (buffer->failed)
        return;
    memcpy(buffer->bytes, MAGIC, 4);
    memcpy(buffer->bytes + 4, &values, 4);
    memcpy(buffer->bytes + 8, &total, 8);
    memcpy(buffer->bytes + 16, &payloads, 4);
    memcpy(buffer->bytes + 20, &payload_tag, 4);
}

void value_put_u64(struct byte_buffer *buffer, uint64_t number)
{
    buffer_put(buffer, &number, sizeof number);
}

void value_put_head(struct byte_buffer *buffer, int type, int flags, uint32_t fields,
                    size_t dimensions, const uint64_t *dims)
{
    unsigned char head[8] = {0};
    head[0] = (unsigned char)type;
    head[1] = (unsigned char)flags;
    head[2] = (unsigned char)dimensions;
    memcpy(head + 4, &fields, 4);
    buffer_put(buffer, head, sizeof head);
    buffer_put(buffer, dims, dimensions * sizeof *dims);
}

void value_put_name(struct byte_buffer *buffer, const char *name, size_t count)
{
    uint32_t length = (uint32_t)count;
    buffer_put(buffer, &length, sizeof length);
    buffer_put(buffer, name, count);
}

/* ---- reading ---- */

static uint32_t load_u32(const unsigned char *bytes)
{
    uint32_t number;
    memcpy(&number, bytes, sizeof number);
    return number;
}

uint64_t value_load_u64(const unsigned char *bytes, size_t index)
{
    uint64_t number;
    memcpy(&number, bytes + index * sizeof number, sizeof number);
    return number;
}

static uint64_t bytes_left(const struct value_reader *reader)
{
    return (uint64_t)(reader->end - reader->at);
}

/* `count` bytes and the padding after them, or NULL when they are not there. */
static const unsigned char *take(struct value_reader *reader, uint64_t count)
{
    const unsigned char *at = reader->at;
    uint64_t left = bytes_left(reader);
    if (count > left || (-count & 7) > left - count)
        return NULL;
    reader->at += count + (-count & 7);
    return at;
}

const char *message_open(struct value_reader *reader, const void *bytes, size_t count,
                         struct message_header *header)
{
    const unsigned char *at = bytes;
    if (count < VALUE_HEADER_BYTES || memcmp(at, MAGIC, 3) != 0)
        return "it does not begin with the mark of the value encoding";
    if (at[3] != MAGIC[3])
        return "it has another version of the value encoding";
    if (value_load_u64(at + 8, 0) != count)
        return "its length is not the length that it states";
    header->values = load_u32(at + 4);
    header->payloads = load_u32(at + 16);
    header->payload_tag = load_u32(at + 20);
    reader->at = at + VALUE_HEADER_BYTES;
    reader->end = at + count;
    return NULL;
}

static const char *read_dimensions(struct value_reader *reader, struct value_item *item)
{
    const unsigned char *dims = take(reader, item->dimensions * 8);
    size_t i;
    if (!dims)
        return "it ends inside the dimensions of a value";
    for (i = 0; i < item->dimensions; i++)
        item->dims[i] = value_load_u64(dims, i);
    if (!value_count_elements(item->dims, item->dimensions, &item->elements))
        return "a value has too many elements";
    return NULL;
}

static const char *read_dense(struct value_reader *reader, struct value_item *item)
{
    item->data_bytes = item->elements * item->element_bytes;
    if (item->flags & VALUE_EXTERNAL)
        return item->data_bytes ? NULL : "an empty value claims a message of its own";
    item->data = take(reader, item->data_bytes);
    return item->data ? NULL : "it ends inside the elements of an array";
}

static const char *check_sparse_indices(const struct value_item *item)
{
    uint64_t rows = item->dims[0], columns = item->dims[1], column, k = 0;
    if (value_load_u64(item->column_offsets, 0) != 0 ||
        value_load_u64(item->column_offsets, columns) != item->nonzeros)
        return "the column offsets of a sparse matrix do not fit its elements";
    for (column = 0; column < columns; column++) {
        uint64_t end = value_load_u64(item->column_offsets, column + 1);
        uint64_t row_min = 0;
        if (end < k || end > item->nonzeros)
            return "the column offsets of a sparse matrix are not in order";
        for (; k < end; k++) {
            uint64_t row = value_load_u64(item->row_indices, k);
            if (row < row_min || row >= rows)
                return "the row numbers of a sparse matrix are not in order";
            row_min = row + 1;
        }
    }
    return NULL;
}

static const char *read_sparse(struct value_reader *reader, struct value_item *item)
{
    const unsigned char *count;
    if (item->dimensions != 2 || (item->flags & VALUE_EXTERNAL) ||
        (item->type != VALUE_DOUBLE && item->type != VALUE_LOGICAL))
        return "a sparse value is not a matrix of double or logical";
    count = take(reader, 8);
    if (!count)
        return "it ends inside a sparse matrix";
    item->nonzeros = value_load_u64(count, 0);
    if (item->nonzeros > bytes_left(reader) / 8 || item->dims[1] > bytes_left(reader) / 8)
        return "a sparse matrix is larger than the message";
    item->data_bytes = item->nonzeros * item->element_bytes;
    item->column_offsets = take(reader, (item->dims[1] + 1) * 8);
    item->row_indices = item->column_offsets ? take(reader, item->nonzeros * 8) : NULL;
    item->data = item->row_indices ? take(reader, item->data_bytes) : NULL;
    return item->data ? check_sparse_indices(item) : "it ends inside a sparse matrix";
}

static const char *read_struct(struct value_reader *reader, struct value_item *item)
{
    const unsigned char *at = reader->at;
    uint32_t i;
    item->names = at;
    for (i = 0; i < item->fields; i++) {
        uint32_t length;
        if (reader->end - at < 4)
            return "it ends inside the field names of a struct";
        length = load_u32(at);
        at += 4;
        if (length > (uint64_t)(reader->end - at))
            return "it ends inside the field names of a struct";
        if (length == 0 || memchr(at, 0, length))
            return "a struct has a field name that is no name";
        at += length;
    }
    if (!take(reader, (uint64_t)(at - item->names)))
        return "it ends inside the field names of a struct";
    if (item->fields && item->elements > bytes_left(reader) / 8 / item->fields)
        return "a struct array is larger than the message";
    return NULL;
}

const char *value_read(struct value_reader *reader, struct value_item *item)
{
    const unsigned char *head = take(reader, 8);
    const char *problem;
    if (!head)
        return "it ends where a value should begin";
    memset(item, 0, offsetof(struct value_item, dims));
    memset(&item->elements, 0, sizeof *item - offsetof(struct value_item, elements));
    item->type = head[0];
    item->flags = head[1];
    item->dimensions = head[2];
    item->fields = load_u32(head + 4);
    item->element_bytes = value_element_bytes(item->type, item->flags);
    if (item->dimensions > VALUE_DIMENSIONS_MAX || head[3] != 0)
        return "a value has too many dimensions";
    problem = read_dimensions(reader, item);
    if (problem)
        return problem;
    if (item->type == VALUE_STRUCT && item->flags == 0)
        return read_struct(reader, item);
    if (item->fields != 0)
        return "a value that is no struct has fields";
    if (item->type == VALUE_CELL && item->flags == 0)
        return item->elements > bytes_left(reader) / 8 ? "a cell array is larger than the message"
                                                       : NULL;
    if (item->type == VALUE_OBJECT && item->flags == 0)
        return item->dimensions ? "an object has dimensions" : NULL;
    if (item->element_bytes == 0 || (item->flags & ~(VALUE_COMPLEX | VALUE_SPARSE | VALUE_EXTERNAL)))
        return "a value has an unknown type";
    if ((item->flags & VALUE_COMPLEX) && item->type <= VALUE_CHAR16)
        return "a value that is no number is complex";
    return (item->flags & VALUE_SPARSE) ? read_sparse(reader, item) : read_dense(reader, item);
}

/* What is counted over a whole message. */
struct totals {
    uint64_t payloads;
    uint64_t fieldless_elements;
};

const char *logical_check(const unsigned char *bytes, uint64_t count)
{
    uint64_t i;
    unsigned char all = 0;
    for (i = 0; i < count; i++)
        all |= bytes[i];
    return all > 1 ? "a logical value is neither true nor false" : NULL;
}

static const char *check_value(struct value_reader *reader, int depth, struct totals *totals)
{
    struct value_item item;
    uint64_t i, children;
    const char *problem;
    if (depth > VALUE_DEPTH_MAX)
        return "its values are nested too deeply";
    problem = value_read(reader, &item);
    if (!problem && item.type == VALUE_LOGICAL && item.data)
        problem = logical_check(item.data, item.data_bytes);
    if (problem)
        return problem;
    if (item.type == VALUE_STRUCT && item.fields == 0 &&
        !value_count_fieldless(&totals->fieldless_elements, item.elements))
        return "its struct arrays without fields have too many elements";
    totals->payloads += (item.flags & VALUE_EXTERNAL) != 0;
    children = item.type == VALUE_CELL     ? item.elements
               : item.type == VALUE_STRUCT ? item.elements * item.fields
               : item.type == VALUE_OBJECT ? 2
                                           : 0;
    for (i = 0; i < children && !problem; i++)
        problem = check_value(reader, depth + 1, totals);
    return problem;
}

const char *message_check(const void *bytes, size_t count)
{
    struct value_reader reader;
    struct message_header header;
    struct totals totals = {0, 0};
    uint32_t i;
    const char *problem = message_open(&reader, bytes, count, &header);
    if (problem)
        return problem;
    for (i = 0; i < header.values && !problem; i++)
        problem = check_value(&reader, 1, &totals);
    if (problem)
        return problem;
    if (reader.at != reader.end)
        return "it goes on after its last value";
    return totals.payloads == header.payloads ? NULL
                                              : "it states another number of payload messages";
}

const char *value_next_name(const unsigned char **cursor, size_t *count)
{
    const char *name = (const char *)*cursor + 4;
    *count = load_u32(*cursor);
    *cursor += 4 + *count;
    return name;
}

/* ---- characters ---- */

static uint32_t utf16_unit(const unsigned char *units, size_t index)
{
    return units[2 * index] | (uint32_t)units[2 * index + 1] << 8;
}

static size_t put_utf8(unsigned char *to, uint32_t point)
{
    if (point < 0x80) {
        to[0] = (unsigned char)point;
        return 1;
    }
    if (point < 0x800) {
        to[0] = (unsigned char)(0xc0 | point >> 6);
        to[1] = (unsigned char)(0x80 | (point & 63));
        return 2;
    }
    if (point < 0x10000) {
        to[0] = (unsigned char)(0xe0 | point >> 12);
        to[1] = (unsigned char)(0x80 | (point >> 6 & 63));
        to[2] = (unsigned char)(0x80 | (point & 63));
        return 3;
    }
    to[0] = (unsigned char)(0xf0 | point >> 18);
    to[1] = (unsigned char)(0x80 | (point >> 12 & 63));
    to[2] = (unsigned char)(0x80 | (point >> 6 & 63));
    to[3] = (unsigned char)(0x80 | (point & 63));
    return 4;
}

size_t utf16_to_utf8(unsigned char *to, const unsigned char *units, size_t count)
{
    size_t i, written = 0;
    for (i = 0; i < count; i++) {
        uint32_t point = utf16_unit(units, i);
        if (point >= 0xd800 && point < 0xdc00 && i + 1 < count &&
            (utf16_unit(units, i + 1) & 0xfc00) == 0xdc00) {
            point = 0x10000 + ((point & 0x3ff) << 10) + (utf16_unit(units, i + 1) & 0x3ff);
            i++;
        }
        written += put_utf8(to + written, point);
    }
    return written;
}

/* The length of a well-formed sequence at `bytes`, or 0. */
static size_t utf8_sequence(const unsigned char *bytes, size_t left, uint32_t *point)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    size_t i, length = bytes[0] < 0x80             ? 1
                       : (bytes[0] & 0xe0) == 0xc0 ? 2
                       : (bytes[0] & 0xf0) == 0xe0 ? 3
                       : (bytes[0] & 0xf8) == 0xf0 ? 4
                                                   : 0;
    if (length == 0 || length > left)
        return 0;
    *point = length == 1 ? bytes[0] : bytes[0] & (0x7fu >> length);
    for (i = 1; i < length; i++) {
        if ((bytes[i] & 0xc0) != 0x80)
            return 0;
        *point = *point << 6 | (bytes[i] & 63);
    }
    return *point < least[length] || *point > 0x10ffff ? 0 : length;
}

size_t utf8_to_utf16(uint16_t *to, const unsigned char *bytes, size_t count)
{
    size_t i = 0, written = 0;
    while (i < count) {
        uint32_t point = 0;
        size_t length = utf8_sequence(bytes + i, count - i, &point);
        if (length == 0) {
            /* Bytes that are no UTF-8 keep their number, as in char(0:255). */
            to[written++] = bytes[i++];
            continue;
        }
        if (point >= 0x10000) {
            to[written++] = (uint16_t)(0xd800 + ((point - 0x10000) >> 10));
            to[written++] = (uint16_t)(0xdc00 + ((point - 0x10000) & 0x3ff));
        } else {
            to[written++] = (uint16_t)point;
        }
        i += length;
    }
    return written;
}
