"""Values to and from Postrider's binary encoding, docs/VALUE_ENCODING.md.

``encode(*values)`` and ``decode(bytes)`` are the encoding itself.  Nothing in it is
ever executed, and every length is checked against the bytes that are really there;
what is wrong raises ``ValueError``.

=====================  =============================  =========================
Python                 on the wire                    Octave and MATLAB
=====================  =============================  =========================
bool, int, float,      logical, int64, double,        the same, as a scalar
complex                complex double, no dimension
NumPy array, scalar    its own type and shape         one dimension is a row
array of S1 or U1      char8 or char16 of that shape  char matrix
other array of text    cell of that shape             cell of char rows
str                    char8, a row of UTF-8          char row
bytes, bytearray       uint8, one dimension           uint8 row
list, tuple            cell, one dimension            cell row, {} when empty
dict with str keys     struct, no dimension           scalar struct
object array           cell of that shape; a struct   cell, struct array
                       array if all are dicts with
                       the same keys
array with named       struct array                   struct array
fields
None                   double, 0 x 0                  []
scipy.sparse matrix    sparse double or logical       sparse
Object                 object, no dimension           function handle,
                                                      containers.Map, object
=====================  =============================  =========================

The way back is the same, with 1 x 1 arrays as Python scalars (NumPy scalars for
types that Python does not have), char rows as str and cell rows as list.  Other
cells, struct arrays and char matrices become NumPy arrays of objects, dicts and
characters; a struct array without elements becomes a NumPy array of its shape with named
fields.  Text and lists have no shape in Python: 1 x 0 comes back as 0 x 0.  NumPy is imported when the first array is met; programs that exchange
only scalars, text, lists and dicts do not need it.
"""

import dataclasses
import struct

MAGIC = b"PRV\x01"
HEADER = struct.Struct("<4sIQII")
RECORD = struct.Struct("<BBBBI")

LOGICAL, CHAR8, CHAR16, CELL, STRUCT, OBJECT = 1, 2, 3, 16, 17, 18
DOUBLE, INT64 = 4, 12
COMPLEX, SPARSE, EXTERNAL = 1, 2, 4
# Number on the wire: (NumPy type, bytes of a real element).
TYPES = {
    1: ("?", 1),
    2: ("u1", 1),
    3: ("<u2", 2),
    4: ("<f8", 8),
    5: ("<f4", 4),
    6: ("i1", 1),
    7: ("u1", 1),
    8: ("<i2", 2),
    9: ("<u2", 2),
    10: ("<i4", 4),
    11: ("<u4", 4),
    12: ("<i8", 8),
    13: ("<u8", 8),
}
TYPE_OF_ARRAY = {
    "b1": 1, "f8": 4, "f4": 5, "i1": 6, "u1": 7, "i2": 8, "u2": 9, "i4": 10, "u4": 11,
    "i8": 12, "u8": 13, "c16": 4, "c8": 5,
}  # fmt: skip

DIMENSIONS_MAX = 32
DEPTH_MAX = 200
ELEMENTS_MAX = (2**63 - 1) // 16
FIELDLESS_ELEMENTS_MAX = 2**20
# Arrays of this size travel as messages of their own.
PAYLOAD_BYTES_MIN = 65536


@dataclasses.dataclass(frozen=True)
class Object:
    """A value of a class that Octave and MATLAB have and Python has not: ``class_name`` says which, such
    as ``"function_handle"`` or ``"containers.Map"``, and ``contents`` what it is made of.  It is data here;
    sent back, it is what it was."""

    class_name: str
    contents: object


def encode(*values):
    """The values as one message of bytes, without separate payloads."""
    return Writer(None).message(values, 0)


def decode(message, payload=None):
    """The tuple of values in ``message``.

    ``payload(count)`` returns the next ``count`` bytes that travelled separately.  All are
    asked for before the first value is made, so that a value that cannot be made leaves none
    behind.
    """
    payloads = [_payload(payload, count) for count in _check(message)]
    reader = _Reader(message, payloads)
    return tuple(reader.value() for _ in range(reader.values))


def payload_tag(message):
    """The tag under which the payloads of a message travel."""
    return HEADER.unpack_from(message)[4]


def _payload(source, count):
    if source is None:
        raise ValueError("the elements of a value travelled in a message that is not here")
    data = source(count)
    if len(data) != count:
        raise ValueError(f"a payload has {len(data)} bytes where {count} were announced")
    return data


def _padding(count):
    return -count & 7


class Writer:
    """Appends records to ``parts``; large arrays go to ``payloads`` instead when those
    from ``payload_bytes_min`` on are to travel separately."""

    def __init__(self, payload_bytes_min):
        self.payload_bytes_min = payload_bytes_min
        self.parts = []
        self.payloads = []
        self.fieldless = 0

    def message(self, values, payload_tag):
        for position, value in enumerate(values, 1):
            self.value(value, f"var{position}", 1)
        body = b"".join(self.parts)
        tag = payload_tag if self.payloads else 0
        total = HEADER.size + len(body)
        return HEADER.pack(MAGIC, len(values), total, len(self.payloads), tag) + body

    def head(self, type_number, flags, fields, dims):
        if len(dims) > DIMENSIONS_MAX:
            raise ValueError(f"{len(dims)} dimensions; at most {DIMENSIONS_MAX} can be sent")
        elements = _count_elements(dims)
        if type_number == STRUCT and fields == 0:
            self.fieldless += elements
            _check_fieldless(self.fieldless)
        self.parts.append(RECORD.pack(type_number, flags, len(dims), 0, fields))
        self.parts.append(struct.pack(f"<{len(dims)}Q", *dims))

    def padded(self, data):
        self.parts.append(data)
        self.parts.append(bytes(_padding(len(data))))

    def value(self, value, place, depth):
        if depth > DEPTH_MAX:
            raise ValueError(f"{place[:60]}... is nested more than {DEPTH_MAX} levels deep")
        if isinstance(value, bool):
            self.scalar(LOGICAL, 0, "<?", value)
        elif isinstance(value, int):
            self.integer(value, place)
        elif isinstance(value, float):
            self.scalar(DOUBLE, 0, "<d", value)
        elif isinstance(value, complex):
            self.scalar(DOUBLE, COMPLEX, "<dd", value.real, value.imag)
        elif isinstance(value, str):
            text = value.encode("utf-8", "surrogateescape")
            self.head(CHAR8, 0, 0, (1 if text else 0, len(text)))
            self.padded(text)
        elif isinstance(value, (bytes, bytearray, memoryview)):
            self.dense(7, 0, (len(bytes(value)),), bytes(value))
        elif value is None:
            self.head(DOUBLE, 0, 0, (0, 0))
        elif isinstance(value, (list, tuple)):
            self.head(CELL, 0, 0, (len(value),) if value else (0, 0))
            for index, item in enumerate(value):
                self.value(item, f"{place}[{index}]", depth + 1)
        elif isinstance(value, dict):
            self.structure([value], (), place, depth)
        elif isinstance(value, Object):
            if not isinstance(value.class_name, str) or not value.class_name:
                raise TypeError(f"{place} is an object without the name of a class")
            self.head(OBJECT, 0, 0, ())
            self.value(value.class_name, f"{place}.class_name", depth + 1)
            self.value(value.contents, f"{place}.contents", depth + 1)
        elif hasattr(value, "tocsc"):
            self.sparse(value, place)
        elif hasattr(value, "__array_interface__"):
            self.array(value, place, depth)
        else:
            kind = type(value).__name__
            raise TypeError(f"{place} is a {kind}, which cannot be sent; send the data it holds")

    def scalar(self, type_number, flags, layout, *numbers):
        self.head(type_number, flags, 0, ())
        self.padded(struct.pack(layout, *numbers))

    def integer(self, value, place):
        if -(2**63) <= value < 2**63:
            self.scalar(INT64, 0, "<q", value)
        elif value < 2**64 and value > 0:
            self.scalar(13, 0, "<Q", value)
        else:
            raise ValueError(f"{place} does not fit in 64 bits; send it as float or str")

    def structure(self, items, dims, place, depth, names=None):
        """Dictionaries of equal keys as a struct, or as a struct array."""
        names = list(items[0]) if names is None else names
        self.head(STRUCT, 0, len(names), dims)
        encoded = b""
        for name in names:
            if not isinstance(name, str) or not name or "\0" in name:
                raise TypeError(f"{place} has the key {name!r}; keys must be names")
            text = name.encode("utf-8", "surrogateescape")
            encoded += struct.pack("<I", len(text)) + text
        self.padded(encoded)
        for item in items:
            for name in names:
                self.value(item[name], f"{place}[{name!r}]", depth + 1)

    def dense(self, type_number, flags, dims, data):
        if self.payload_bytes_min is not None and len(data) >= self.payload_bytes_min:
            self.head(type_number, flags | EXTERNAL, 0, dims)
            self.payloads.append(data)
        else:
            self.head(type_number, flags, 0, dims)
            self.padded(data)

    def array(self, value, place, depth):
        import numpy as np

        if isinstance(value, np.ma.MaskedArray):
            raise TypeError(f"{place} is a masked array; send its data and its mask, or filled()")
        array = np.asarray(value)
        if array.dtype.str[1:] in ("S1", "U1") and array.ndim > 1:
            if array.dtype.kind == "S":
                self.dense(CHAR8, 0, array.shape, array.tobytes(order="F"))
            else:
                points = array.astype("<U1").ravel(order="F").view("<u4")
                if points.size and points.max() > 0xFFFF:
                    raise ValueError(f"{place} has characters beyond U+FFFF; send it row by row")
                self.dense(CHAR16, 0, array.shape, points.astype("<u2").tobytes())
            return
        if array.dtype.kind in "US":
            array = array.astype(object)
        if array.dtype.kind == "O":
            items = array.ravel(order="F")
            if items.size and all(isinstance(item, dict) for item in items):
                if all(item.keys() == items[0].keys() for item in items):
                    self.structure(items, array.shape, place, depth)
                    return
            self.head(CELL, 0, 0, array.shape)
            for index, item in enumerate(items):
                self.value(item, f"{place}[{index}]", depth + 1)
            return
        if array.dtype.names is not None:
            names = array.dtype.names
            items = [{name: item[name] for name in names} for item in array.ravel(order="F")]
            self.structure(items, array.shape, place, depth, names)
            return
        type_number = TYPE_OF_ARRAY.get(array.dtype.str[1:])
        if type_number is None:
            raise TypeError(f"{place} is an array of {array.dtype}, which cannot be sent")
        flags = COMPLEX if array.dtype.kind == "c" else 0
        little = array.astype(array.dtype.newbyteorder("<"), copy=False)
        # A copy, so that the program may change its array while this one travels.
        self.dense(type_number, flags, array.shape, little.tobytes(order="F"))

    def sparse(self, value, place):
        import numpy as np

        matrix = value.tocsc()
        if not matrix.has_canonical_format:
            # A copy, since this sorts in place.
            matrix = matrix.copy()
            matrix.sum_duplicates()
        kind, count = matrix.dtype.kind, matrix.nnz
        # There may be room for more elements than there are.
        data = matrix.data[:count]
        if kind == "b":
            type_number, flags, elements = LOGICAL, 0, data
        elif kind in "fiuc":
            flags = COMPLEX if kind == "c" else 0
            type_number, elements = DOUBLE, data.astype("<c16" if flags else "<f8")
            large = data[abs(elements) >= 2.0**53]
            if kind in "iu" and any(map(_is_inexact, large)):
                raise ValueError(f"{place} has integers that are not exact as double")
            if data.itemsize > elements.itemsize:
                raise TypeError(f"{place} is a sparse matrix of {matrix.dtype}; send it as double")
        else:
            raise TypeError(f"{place} is a sparse matrix of {matrix.dtype}, which cannot be sent")
        self.head(type_number, flags | SPARSE, 0, matrix.shape)
        self.parts.append(struct.pack("<Q", count))
        self.parts.append(np.asarray(matrix.indptr, "<u8").tobytes())
        self.parts.append(np.asarray(matrix.indices[:count], "<u8").tobytes())
        self.padded(elements.tobytes())


def _is_inexact(integer):
    return int(float(integer)) != int(integer)


class _Record:
    """One checked record head, with the place of its body."""


class _Cursor:
    """Reads records and checks each length against the bytes that are there."""

    def __init__(self, message):
        self.data = memoryview(message).cast("B")
        if len(self.data) < HEADER.size or bytes(self.data[:3]) != MAGIC[:3]:
            raise ValueError("the message does not begin with the mark of the value encoding")
        magic, self.values, total, self.payloads, self.payload_tag = HEADER.unpack_from(self.data)
        if magic != MAGIC:
            raise ValueError("the message has another version of the value encoding")
        if total != len(self.data):
            raise ValueError("the length of the message is not the length that it states")
        self.at = HEADER.size

    def left(self):
        return len(self.data) - self.at

    def take(self, count):
        if count + _padding(count) > self.left():
            raise ValueError("the message ends inside a value")
        taken = self.data[self.at : self.at + count]
        self.at += count + _padding(count)
        return taken

    def record(self):
        record = _Record()
        record.type, record.flags, count, zero, record.fields = RECORD.unpack(self.take(8))
        if count > DIMENSIONS_MAX or zero:
            raise ValueError("a value has too many dimensions")
        record.dims = struct.unpack(f"<{count}Q", self.take(8 * count))
        record.elements = _count_elements(record.dims)
        container = record.type in (CELL, STRUCT, OBJECT) and record.flags == 0
        if record.fields and not (container and record.type == STRUCT):
            raise ValueError("a value that is no struct has fields")
        if container:
            self.container(record)
        elif record.type not in TYPES or record.flags & ~(COMPLEX | SPARSE | EXTERNAL):
            raise ValueError("a value has an unknown type")
        elif record.flags & COMPLEX and record.type <= CHAR16:
            raise ValueError("a value that is no number is complex")
        else:
            record.size = TYPES[record.type][1] * (2 if record.flags & COMPLEX else 1)
            self.sparse(record) if record.flags & SPARSE else self.dense(record)
        return record

    def container(self, record):
        record.names = []
        if record.type == OBJECT:
            if record.dims:
                raise ValueError("an object has dimensions")
            return
        if record.type == CELL:
            if record.elements > self.left() // 8:
                raise ValueError("a cell array is larger than the message")
            return
        start = self.at
        for _ in range(record.fields):
            if self.left() < 4:
                raise ValueError("the message ends inside the field names of a struct")
            (length,) = struct.unpack_from("<I", self.data, self.at)
            name = bytes(self.data[self.at + 4 : self.at + 4 + length])
            if length == 0 or len(name) != length or b"\0" in name:
                raise ValueError("a struct has a field name that is no name")
            record.names.append(name.decode("utf-8", "surrogateescape"))
            self.at += 4 + length
        count = self.at - start
        self.at = start
        self.take(count)
        if record.fields and record.elements > self.left() // 8 // record.fields:
            raise ValueError("a struct array is larger than the message")

    def dense(self, record):
        record.bytes = record.elements * record.size
        if not record.flags & EXTERNAL:
            record.data = self.take(record.bytes)
        elif record.bytes == 0:
            raise ValueError("an empty value claims a message of its own")

    def sparse(self, record):
        if len(record.dims) != 2 or record.flags & EXTERNAL or record.type not in (DOUBLE, LOGICAL):
            raise ValueError("a sparse value is not a matrix of double or logical")
        (nonzeros,) = struct.unpack("<Q", self.take(8))
        columns = record.dims[1]
        if max(nonzeros, columns) > self.left() // 8:
            raise ValueError("a sparse matrix is larger than the message")
        record.offsets = struct.unpack(f"<{columns + 1}Q", self.take(8 * (columns + 1)))
        record.rows = struct.unpack(f"<{nonzeros}Q", self.take(8 * nonzeros))
        record.data = self.take(nonzeros * record.size)
        _check_sparse(record, nonzeros)


def _count_elements(dims):
    product = 1
    for extent in dims:
        product *= extent or 1
        if product > ELEMENTS_MAX:
            raise ValueError("a value has too many elements")
    return 0 if 0 in dims else product


def _check_sparse(record, nonzeros):
    offsets, rows = record.offsets, record.rows
    if offsets[0] != 0 or offsets[-1] != nonzeros:
        raise ValueError("the column offsets of a sparse matrix do not fit its elements")
    for begin, end in zip(offsets, offsets[1:]):
        if end < begin or end > nonzeros:
            raise ValueError("the column offsets of a sparse matrix are not in order")
        row_min = 0
        for row in rows[begin:end]:
            if row < row_min or row >= record.dims[0]:
                raise ValueError("the row numbers of a sparse matrix are not in order")
            row_min = row + 1


def _check_fieldless(elements):
    if elements > FIELDLESS_ELEMENTS_MAX:
        raise ValueError("struct arrays without fields have too many elements")


def _check_logical(data):
    if bytes(data).translate(None, b"\0\1"):
        raise ValueError("a logical value is neither true nor false")


def _check(message):
    """Walks the whole message before anything is built from it; returns the length of each
    payload."""
    cursor = _Cursor(message)
    payloads = []
    fieldless = 0
    # How many values are still to come at each level.
    levels = [cursor.values]
    while levels:
        if levels[-1] == 0:
            levels.pop()
            continue
        levels[-1] -= 1
        if len(levels) > DEPTH_MAX:
            raise ValueError("the values of a message are nested too deeply")
        record = cursor.record()
        if record.flags & EXTERNAL:
            payloads.append(record.bytes)
        elif record.type == LOGICAL:
            _check_logical(record.data)
        if record.type == CELL:
            levels.append(record.elements)
        elif record.type == OBJECT:
            levels.append(2)
        elif record.type == STRUCT:
            levels.append(record.elements * record.fields)
            fieldless += 0 if record.fields else record.elements
            _check_fieldless(fieldless)
    if cursor.left():
        raise ValueError("the message goes on after its last value")
    if len(payloads) != cursor.payloads:
        raise ValueError("the message states another number of payload messages")
    return payloads


class _Reader(_Cursor):
    """Builds Python values from a message that was found good."""

    def __init__(self, message, payloads):
        super().__init__(message)
        self.next_payload = iter(payloads)

    def value(self):
        record = self.record()
        if record.type == CELL:
            return self.cell(record)
        if record.type == STRUCT:
            return self.structure(record)
        if record.type == OBJECT:
            return self.object()
        if record.flags & SPARSE:
            return _sparse_matrix(record)
        data = next(self.next_payload) if record.flags & EXTERNAL else record.data
        if record.type == LOGICAL:
            _check_logical(data)
        if record.type in (CHAR8, CHAR16) and _is_row(record):
            encoding = "utf-8" if record.type == CHAR8 else "utf-16-le"
            errors = "surrogateescape" if record.type == CHAR8 else "surrogatepass"
            return bytes(data).decode(encoding, errors)
        if all(extent == 1 for extent in record.dims) and record.type not in (CHAR8, CHAR16):
            return _scalar(record, data)
        return _array(record, data)

    def cell(self, record):
        items = [self.value() for _ in range(record.elements)]
        return items if _is_row(record) else _object_array(items, record.dims)

    def object(self):
        class_name, contents = self.value(), self.value()
        if not isinstance(class_name, str) or not class_name:
            raise ValueError("the message holds an object without the name of a class")
        return Object(class_name, contents)

    def structure(self, record):
        items = [{name: self.value() for name in record.names} for _ in range(record.elements)]
        if all(extent == 1 for extent in record.dims):
            return items[0]
        return _object_array(items, record.dims) if items else _empty_structs(record)


def _is_row(record):
    dims = record.dims
    return len(dims) < 2 or (len(dims) == 2 and (dims[0] == 1 or dims == (0, 0)))


def _object_array(items, dims):
    import numpy as np

    flat = np.empty(len(items), object)
    for index, item in enumerate(items):
        flat[index] = item
    return flat.reshape(dims, order="F")


def _empty_structs(record):
    import numpy as np

    return np.empty(record.dims, [(name, object) for name in record.names])


def _scalar(record, data):
    if record.flags & COMPLEX and record.type == DOUBLE:
        return complex(*struct.unpack("<dd", data))
    if not record.flags & COMPLEX and record.type in (LOGICAL, DOUBLE, INT64):
        (number,) = struct.unpack({LOGICAL: "<?", DOUBLE: "<d", INT64: "<q"}[record.type], data)
        return number
    return _array(record, data).reshape(())[()]


def _array(record, data):
    import numpy as np

    kind = TYPES[record.type][0]
    if record.flags & COMPLEX:
        if record.type not in (4, 5):
            raise ValueError("the message holds complex integers, which NumPy does not have")
        kind = "<c16" if record.type == DOUBLE else "<c8"
    if record.type == CHAR8:
        kind = "S1"
    elif record.type == CHAR16:
        units = np.frombuffer(data, "<u2").reshape(record.dims, order="F")
        return units.astype("<u4").view("<U1")
    array = np.frombuffer(data, kind)
    if not isinstance(data, bytearray):
        array = array.copy()
    return array.reshape(record.dims, order="F")


def _sparse_matrix(record):
    import numpy as np

    try:
        from scipy.sparse import csc_matrix
    except ImportError as missing:
        raise ImportError("the message holds a sparse matrix; install scipy") from missing
    kind = "?" if record.type == LOGICAL else "<c16" if record.flags & COMPLEX else "<f8"
    data = np.frombuffer(record.data, kind).copy()
    rows, offsets = np.array(record.rows, np.int64), np.array(record.offsets, np.int64)
    return csc_matrix((data, rows, offsets), shape=record.dims)
