/* value_codec.h: the binary encoding of values, independent of any interpreter.
 *
 * docs/VALUE_ENCODING.md is the specification.  A message is a 24-byte header
 * and a sequence of values; a value is a record head (type, flags, dimensions)
 * and a body.  Everything is little-endian and padded to 8 bytes.
 *
 * Writing appends to a growing buffer and cannot fail half-way: a buffer that
 * ran out of memory remembers it.  Reading never copies: value_read() checks one
 * record against the bytes that are really there and returns pointers into them.
 * message_check() walks a whole message this way before anything is built from
 * it, so that hostile bytes give an error and never a crash or an allocation
 * larger than the message itself.
 */
#ifndef POSTRIDER_VALUE_CODEC_H
#define POSTRIDER_VALUE_CODEC_H

#include <stddef.h>
#include <stdint.h>

enum value_type {
    VALUE_LOGICAL = 1,
    VALUE_CHAR8 = 2,
    VALUE_CHAR16 = 3,
    VALUE_DOUBLE = 4,
    VALUE_SINGLE = 5,
    VALUE_INT8 = 6,
    VALUE_UINT8 = 7,
    VALUE_INT16 = 8,
    VALUE_UINT16 = 9,
    VALUE_INT32 = 10,
    VALUE_UINT32 = 11,
    VALUE_INT64 = 12,
    VALUE_UINT64 = 13,
    VALUE_CELL = 16,
    VALUE_STRUCT = 17,
    /* Two values follow: the name of a class, and what makes an object of it. */
    VALUE_OBJECT = 18
};

enum value_flag {
    VALUE_COMPLEX = 1,
    VALUE_SPARSE = 2,
    /* The elements travel in a message of their own. */
    VALUE_EXTERNAL = 4
};

enum {
    VALUE_HEADER_BYTES = 24,
    VALUE_DIMENSIONS_MAX = 32,
    VALUE_DEPTH_MAX = 200
};

/* No array may have more elements than this, even one that is empty because of
   another dimension: so that no product of dimensions overflows anywhere. */
#define VALUE_ELEMENTS_MAX ((uint64_t)INT64_MAX / 16)
/* Struct arrays without fields carry no bytes per element, so that their size
   cannot be checked against the message; all of a message together have at most
   this many elements. */
#define VALUE_FIELDLESS_ELEMENTS_MAX ((uint64_t)1 << 20)

/* Each returns 0 when there are too many elements. */
int value_count_elements(const uint64_t *dims, size_t dimensions, uint64_t *elements);
int value_count_fieldless(uint64_t *so_far, uint64_t elements);

/* Bytes of one element of a dense type, or 0 for a container. */
size_t value_element_bytes(int type, int flags);

/* A growing buffer.  `failed` is set when memory ran out; later calls do nothing. */
struct byte_buffer {
    unsigned char *bytes;
    size_t used;
    size_t capacity;
    int failed;
};

void buffer_put(struct byte_buffer *buffer, const void *bytes, size_t count);
/* Room for `count` bytes at the end, to be filled before `used` is raised, or NULL. */
void *buffer_room(struct byte_buffer *buffer, size_t count);
/* Zero bytes up to the next multiple of 8. */
void buffer_pad(struct byte_buffer *buffer);
void buffer_free(struct byte_buffer *buffer);

/* Leaves room for the header at the start of an emptied buffer. */
void message_begin(struct byte_buffer *buffer);
/* Fills the header in, once everything else is written. */
void message_end(struct byte_buffer *buffer, uint32_t values, uint32_t payloads,
                 uint32_t payload_tag);

/* The record head.  `fields` is the number of fields of a struct and 0 otherwise. */
void value_put_head(struct byte_buffer *buffer, int type, int flags, uint32_t fields,
                    size_t dimensions, const uint64_t *dims);
void value_put_u64(struct byte_buffer *buffer, uint64_t number);
/* One field name; buffer_pad() follows the last. */
void value_put_name(struct byte_buffer *buffer, const char *name, size_t count);

struct message_header {
    uint32_t values;
    uint32_t payloads;
    uint32_t payload_tag;
};

struct value_reader {
    const unsigned char *at;
    const unsigned char *end;
};

/* One checked record.  Pointers lead into the message. */
struct value_item {
    int type;
    int flags;
    size_t dimensions;
    uint64_t dims[VALUE_DIMENSIONS_MAX];
    uint64_t elements;
    size_t element_bytes;
    /* Dense: the elements, or NULL when they travel in a message of their own.
       Sparse: the non-zero elements. */
    const unsigned char *data;
    uint64_t data_bytes;
    /* Sparse: columns + 1 offsets and one row number per non-zero element. */
    uint64_t nonzeros;
    const unsigned char *column_offsets;
    const unsigned char *row_indices;
    /* Struct: the names, to be read with value_next_name(). */
    uint32_t fields;
    const unsigned char *names;
};

uint64_t value_load_u64(const unsigned char *bytes, size_t index);

/* Each returns NULL, or a sentence that says what is wrong. */
const char *message_open(struct value_reader *reader, const void *bytes, size_t count,
                         struct message_header *header);
const char *value_read(struct value_reader *reader, struct value_item *item);
const char *message_check(const void *bytes, size_t count);
/* Logical elements are 0 or 1.  message_check() looks at those inside the message. */
const char *logical_check(const unsigned char *bytes, uint64_t count);

/* The name at *cursor, which starts as item->names; not terminated by a zero. */
const char *value_next_name(const unsigned char **cursor, size_t *count);

/* Conversions for interpreters whose char has the other width.  `to` has room for
   3 bytes per unit, or one unit per byte; the count written is returned. */
size_t utf16_to_utf8(unsigned char *to, const unsigned char *units, size_t count);
size_t utf8_to_utf16(uint16_t *to, const unsigned char *bytes, size_t count);

#endif
