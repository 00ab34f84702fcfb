/* mex_values.h: values of the interpreter to and from the binary encoding.
 *
 * Only the MEX functions documented for both MATLAB (R2018a and later,
 * interleaved complex) and GNU Octave are used.  The format itself lives in
 * value_codec; mex_encode.c and mex_decode.c know what an mxArray is, and nothing of
 * MPI.
 *
 * Dense arrays of at least PAYLOAD_BYTES_MIN bytes are not copied into the
 * encoding.  They travel straight from the array's own memory as payloads,
 * messages of their own.  A second reference to the array shares this memory; it is
 * kept until the payload is sent, and copy-on-write protects it from later
 * assignments in the program.
 */
#ifndef POSTRIDER_MEX_VALUES_H
#define POSTRIDER_MEX_VALUES_H

#include "value_codec.h"
#include <mex.h>

/* Below this one message with a copy is faster than two without. */
enum { PAYLOAD_BYTES_MIN = 65536 };

struct payload {
    mxArray *kept;
    const void *data;
    uint64_t bytes;
};

/* An encoded message and the arrays that travel beside it. */
struct outgoing {
    struct byte_buffer buffer;
    struct payload *payloads;
    size_t payload_count;
    size_t payload_capacity;
    /* Of struct arrays without fields, which the encoding limits. */
    uint64_t fieldless_elements;
    /* Large arrays are copied into the buffer, too. */
    int in_one_piece;
    /* The tag, where it is a text: values_encode() writes it in front of the values. */
    const unsigned char *tag_text;
    size_t tag_length;
};

/* Each returns NULL, or the text of an error (valid until the next call). */
const char *values_encode(struct outgoing *message, int count, const mxArray *const values[]);

/* Fills `bytes` bytes at `to` with the next payload. */
typedef const char *payload_source(void *context, void *to, uint64_t bytes);

/* Decodes the first `outputs` values of a message that message_check() found good,
   and takes their payloads from `source`. */
const char *values_decode(const struct byte_buffer *message, int outputs, mxArray *values[],
                          payload_source *source, void *context);

/* Gives the kept arrays and the payload list back, but not the buffer. */
void outgoing_release_payloads(struct outgoing *message);

#endif
