/* codec_test.c: the value codec by itself, against hostile bytes and golden vectors.
 *
 *   codec_test GOLDEN           compares and attacks; ends with "N passed, N failed"
 *   codec_test --write GOLDEN   writes the golden vectors
 *
 * The golden file is a sequence of messages, each after its length (8 bytes).  The
 * Python tests hold the same values and compare with the same file.  Build with
 * -fsanitize=address,undefined: every message is copied to a block of exactly its
 * size, so that one byte read too far is caught.
 */
#include "../src/value_codec.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int passed, failed;

static void expect(int condition, const char *what)
{
    if (condition) {
        passed++;
    } else {
        failed++;
        fprintf(stderr, "codec_test: failed: %s\n", what);
    }
}

/* ---- the golden messages ---- */

static void put_dense(struct byte_buffer *b, int type, int flags, size_t dimensions,
                      const uint64_t *dims, const void *data, size_t bytes)
{
    value_put_head(b, type, flags, 0, dimensions, dims);
    buffer_put(b, data, bytes);
    buffer_pad(b);
}

static void put_double(struct byte_buffer *b, double number)
{
    put_dense(b, VALUE_DOUBLE, 0, 0, NULL, &number, sizeof number);
}

static void put_text(struct byte_buffer *b, const char *text)
{
    uint64_t dims[2] = {1, 0};
    dims[1] = strlen(text);
    put_dense(b, VALUE_CHAR8, 0, 2, dims, text, strlen(text));
}

static uint32_t put_scalars(struct byte_buffer *b)
{
    static const unsigned char yes = 1;
    static const int64_t seven = -7;
    static const double pair[2] = {1, -2};
    put_double(b, 1.5);
    put_dense(b, VALUE_LOGICAL, 0, 0, NULL, &yes, 1);
    put_dense(b, VALUE_INT64, 0, 0, NULL, &seven, 8);
    put_dense(b, VALUE_DOUBLE, VALUE_COMPLEX, 0, NULL, pair, 16);
    return 4;
}

static uint32_t put_arrays(struct byte_buffer *b)
{
    static const uint64_t matrix[2] = {2, 3}, row[1] = {3}, empty[2] = {0, 0};
    static const double numbers[6] = {0, 3, 1, 4, 2, 5};
    static const uint16_t units[3] = {1, 2, 65535};
    put_dense(b, VALUE_DOUBLE, 0, 2, matrix, numbers, sizeof numbers);
    put_dense(b, VALUE_UINT16, 0, 1, row, units, sizeof units);
    put_dense(b, VALUE_DOUBLE, 0, 2, empty, NULL, 0);
    return 3;
}

static uint32_t put_containers(struct byte_buffer *b)
{
    static const uint64_t two[1] = {2};
    put_text(b, "h\xc3\xa9llo");
    value_put_head(b, VALUE_CELL, 0, 0, 1, two);
    put_double(b, 1);
    put_text(b, "x");
    value_put_head(b, VALUE_STRUCT, 0, 2, 0, NULL);
    value_put_name(b, "a", 1);
    value_put_name(b, "list", 4);
    buffer_pad(b);
    put_double(b, 2);
    value_put_head(b, VALUE_CELL, 0, 0, 1, two);
    put_text(b, "in");
    put_double(b, 3);
    return 3;
}

static uint32_t put_sparse(struct byte_buffer *b)
{
    static const uint64_t dims[2] = {3, 2}, offsets[3] = {0, 1, 3}, rows[3] = {2, 0, 1};
    static const double elements[3] = {1, 2, 3};
    size_t i;
    value_put_head(b, VALUE_DOUBLE, VALUE_SPARSE, 0, 2, dims);
    value_put_u64(b, 3);
    for (i = 0; i < 3; i++)
        value_put_u64(b, offsets[i]);
    for (i = 0; i < 3; i++)
        value_put_u64(b, rows[i]);
    buffer_put(b, elements, sizeof elements);
    return 1;
}

static uint32_t put_nothing(struct byte_buffer *b)
{
    (void)b;
    return 0;
}

static uint32_t put_objects(struct byte_buffer *b)
{
    value_put_head(b, VALUE_OBJECT, 0, 0, 0, NULL);
    put_text(b, "function_handle");
    value_put_head(b, VALUE_STRUCT, 0, 1, 0, NULL);
    value_put_name(b, "text", 4);
    buffer_pad(b);
    put_text(b, "sin");
    return 1;
}

typedef uint32_t put_message(struct byte_buffer *);
static put_message *const MESSAGES[] = {put_scalars, put_arrays, put_containers, put_sparse,
                                        put_nothing, put_objects};
enum { MESSAGE_COUNT = sizeof MESSAGES / sizeof MESSAGES[0] };

static struct byte_buffer build(put_message *put)
{
    struct byte_buffer b = {0};
    message_begin(&b);
    message_end(&b, put(&b), 0, 0);
    return b;
}

/* ---- attacks ---- */

static unsigned touched;

/* Reads every byte that a decoder would. */
static void touch(const unsigned char *bytes, uint64_t count)
{
    uint64_t i;
    for (i = 0; bytes && i < count; i++)
        touched += bytes[i];
}

static void walk(const unsigned char *bytes, size_t count)
{
    struct value_reader reader;
    struct message_header header;
    if (message_open(&reader, bytes, count, &header))
        return;
    while (reader.at < reader.end) {
        struct value_item item;
        if (value_read(&reader, &item))
            return;
        touch(item.data, item.data_bytes);
        if (item.type == VALUE_STRUCT) {
            const unsigned char *cursor = item.names;
            uint32_t i;
            for (i = 0; i < item.fields; i++) {
                size_t length;
                const char *name = value_next_name(&cursor, &length);
                touch((const unsigned char *)name, length);
            }
        }
    }
}

static const char *check_copy(const unsigned char *bytes, size_t count)
{
    unsigned char *copy = malloc(count ? count : 1);
    const char *wrong;
    memcpy(copy, bytes, count);
    wrong = message_check(copy, count);
    if (!wrong)
        walk(copy, count);
    free(copy);
    return wrong;
}

static void attack_truncated(const struct byte_buffer *message)
{
    size_t count;
    int all = 1;
    unsigned char *bytes = malloc(message->used + 1);
    for (count = 0; count < message->used; count++) {
        uint64_t stated = count;
        memcpy(bytes, message->bytes, count);
        all &= check_copy(bytes, count) != NULL;
        /* Once more with a header that states the shorter length. */
        if (count >= VALUE_HEADER_BYTES) {
            memcpy(bytes + 8, &stated, 8);
            all &= check_copy(bytes, count) != NULL;
        }
    }
    free(bytes);
    expect(all, "every truncation is refused");
}

static void attack_flipped(const struct byte_buffer *message)
{
    size_t bit;
    unsigned char *bytes = malloc(message->used);
    memcpy(bytes, message->bytes, message->used);
    for (bit = 0; bit < 8 * message->used; bit++) {
        bytes[bit / 8] ^= (unsigned char)(1u << bit % 8);
        check_copy(bytes, message->used);
        bytes[bit / 8] ^= (unsigned char)(1u << bit % 8);
    }
    free(bytes);
    expect(1, "no flipped bit crashes");
}

/* Seeded, so that a failure can be repeated. */
static void attack_random(const struct byte_buffer *message)
{
    uint64_t seed = 88172645463325252u;
    int round;
    unsigned char *bytes = malloc(message->used);
    for (round = 0; round < 20000; round++) {
        int k;
        memcpy(bytes, message->bytes, message->used);
        for (k = 0; k < 1 + round % 4; k++) {
            seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
            bytes[16 + seed % (message->used - 16)] = (unsigned char)(seed >> 32);
        }
        check_copy(bytes, message->used);
    }
    free(bytes);
    expect(1, "no random bytes crash");
}

static void attack_nesting(void)
{
    static const uint64_t one[1] = {1};
    struct byte_buffer b = {0};
    int depth;
    message_begin(&b);
    for (depth = 0; depth < 100000; depth++)
        value_put_head(&b, VALUE_CELL, 0, 0, 1, one);
    put_double(&b, 1);
    message_end(&b, 1, 0, 0);
    expect(message_check(b.bytes, b.used) != NULL, "deep nesting is refused");
    buffer_free(&b);
}

static void attack_sizes(void)
{
    static const uint64_t huge[3] = {(uint64_t)1 << 40, (uint64_t)1 << 40, 0};
    static const uint64_t long_row[1] = {(uint64_t)1 << 50};
    static const int types[] = {VALUE_DOUBLE, VALUE_CELL, VALUE_STRUCT};
    size_t i;
    for (i = 0; i < 3; i++) {
        struct byte_buffer b = {0};
        message_begin(&b);
        value_put_head(&b, types[i], 0, 0, 3, huge);
        message_end(&b, 1, 0, 0);
        expect(message_check(b.bytes, b.used) != NULL, "overflowing dimensions are refused");
        message_begin(&b);
        value_put_head(&b, types[i], 0, 0, 1, long_row);
        message_end(&b, 1, 0, 0);
        expect(message_check(b.bytes, b.used) != NULL, "elements that are not there are refused");
        buffer_free(&b);
    }
}

/* An object without its second part, and one with dimensions. */
static void attack_objects(void)
{
    static const uint64_t one[1] = {1};
    size_t dimensions;
    for (dimensions = 0; dimensions < 2; dimensions++) {
        struct byte_buffer b = {0};
        message_begin(&b);
        value_put_head(&b, VALUE_OBJECT, 0, 0, dimensions, one);
        put_text(&b, "name");
        if (dimensions)
            put_text(&b, "contents");
        message_end(&b, 1, 0, 0);
        expect(message_check(b.bytes, b.used) != NULL, "an object that is none is refused");
        buffer_free(&b);
    }
}

static void attack_logical(void)
{
    static const unsigned char two = 2;
    struct byte_buffer b = {0};
    message_begin(&b);
    put_dense(&b, VALUE_LOGICAL, 0, 0, NULL, &two, 1);
    message_end(&b, 1, 0, 0);
    expect(message_check(b.bytes, b.used) != NULL, "a logical 2 is refused");
    buffer_free(&b);
}

/* Many struct arrays, each of which alone would be accepted. */
static void attack_fieldless(void)
{
    static const uint64_t many[1] = {1 << 19};
    uint32_t count;
    for (count = 2; count <= 3; count++) {
        struct byte_buffer b = {0};
        uint32_t i;
        message_begin(&b);
        for (i = 0; i < count; i++)
            value_put_head(&b, VALUE_STRUCT, 0, 0, 1, many);
        message_end(&b, count, 0, 0);
        expect((message_check(b.bytes, b.used) == NULL) == (count == 2),
               "a million elements without fields are the most of a message");
        buffer_free(&b);
    }
}

static void check_characters(void)
{
    static const unsigned char text[] = "h\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80";
    uint16_t units[16];
    unsigned char back[64];
    size_t count = utf8_to_utf16(units, text, sizeof text - 1);
    size_t bytes = utf16_to_utf8(back, (const unsigned char *)units, count);
    expect(count == 7 && units[1] == 0xe9 && units[3] == 0x20ac && units[5] == 0xd83d,
           "UTF-8 becomes UTF-16");
    expect(bytes == sizeof text - 1 && memcmp(back, text, bytes) == 0, "UTF-16 becomes UTF-8");
}

static void attack(void)
{
    size_t i;
    for (i = 0; i < MESSAGE_COUNT; i++) {
        struct byte_buffer b = build(MESSAGES[i]);
        expect(check_copy(b.bytes, b.used) == NULL, "a good message is accepted");
        attack_truncated(&b);
        attack_flipped(&b);
        if (b.used > 16)
            attack_random(&b);
        buffer_free(&b);
    }
    attack_nesting();
    attack_sizes();
    attack_objects();
    attack_logical();
    attack_fieldless();
    check_characters();
}

/* Compares with the golden file, or writes it. */
static void golden(const char *path, int writes)
{
    FILE *file = fopen(path, writes ? "wb" : "rb");
    size_t i;
    expect(file != NULL, "the golden file can be opened");
    for (i = 0; file && i < MESSAGE_COUNT; i++) {
        struct byte_buffer b = build(MESSAGES[i]);
        uint64_t length = b.used;
        unsigned char *stored = malloc(b.used);
        if (writes) {
            expect(fwrite(&length, 8, 1, file) == 1 && fwrite(b.bytes, b.used, 1, file) == 1,
                   "the golden file can be written");
        } else {
            int same = fread(&length, 8, 1, file) == 1 && length == b.used &&
                       fread(stored, b.used, 1, file) == 1 &&
                       memcmp(stored, b.bytes, b.used) == 0;
            expect(same, "the encoding is the golden one");
        }
        free(stored);
        buffer_free(&b);
    }
    if (file)
        expect(fclose(file) == 0, "the golden file can be closed");
}

int main(int argc, char **argv)
{
    int writes = argc == 3 && strcmp(argv[1], "--write") == 0;
    if (argc != 2 && !writes) {
        fprintf(stderr, "usage: %s [--write] GOLDEN\n", argv[0]);
        return 2;
    }
    golden(argv[argc - 1], writes);
    if (!writes)
        attack();
    printf("%d passed, %d failed\n", passed, failed);
    return failed != 0;
}
