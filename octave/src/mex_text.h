/* mex_text.h: cells of many rows of text, all at once.
 *
 * Octave keeps in ordered sets whatever a MEX function asks of an array or makes,
 * several entries for each element of a cell: that is most of the time that a cell of
 * many short strings takes.  So cellfun() says what all elements are, and only their
 * characters are fetched one by one, which leaves nothing behind; and mat2cell() cuts
 * one long row of text into a cell.  The encoding is the same.
 */
#ifndef POSTRIDER_MEX_TEXT_H
#define POSTRIDER_MEX_TEXT_H

#include "value_codec.h"
#include <mex.h>

/* Appends the elements of a cell, if it has many and all are rows of text or 0 x 0;
   otherwise returns 0 and has written nothing. */
int text_cell_encode(struct byte_buffer *buffer, const mxArray *cell);

/* Reads the elements of a cell, if there are many and all are rows of text or 0 x 0;
   otherwise returns NULL and has read nothing. */
mxArray *text_cell_decode(struct value_reader *reader, uint64_t elements, mwSize dimensions,
                          const mwSize *dims);

#endif
