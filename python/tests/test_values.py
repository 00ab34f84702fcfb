"""The value encoding: round trips, golden vectors shared with the C codec, hostile bytes."""

import pathlib
import random
import struct

import numpy as np
import pytest
import scipy.sparse

from postrider.values import HEADER, RECORD, Object, Writer, decode, encode

GOLDEN_FILE = pathlib.Path(__file__).parents[2] / "octave" / "tests" / "golden_values.bin"
# The values of octave/tests/codec_test.c, message by message.
GOLDEN_VALUES = [
    (1.5, True, -7, 1 - 2j),
    (np.arange(6.0).reshape(2, 3), np.array([1, 2, 65535], np.uint16), None),
    ("héllo", [1.0, "x"], {"a": 2.0, "list": ["in", 3.0]}),
    (scipy.sparse.csc_matrix(np.array([[0, 2.0], [0, 3.0], [1.0, 0]])),),
    (),
    (Object("function_handle", {"text": "sin"}),),
]


def golden_messages():
    data = GOLDEN_FILE.read_bytes()
    while data:
        (length,) = struct.unpack_from("<Q", data)
        yield data[8 : 8 + length]
        data = data[8 + length :]


def same(a, b):
    if scipy.sparse.issparse(a) or scipy.sparse.issparse(b):
        return a.shape == b.shape and a.dtype == b.dtype and (a != b).nnz == 0
    if isinstance(a, np.ndarray) and a.dtype == object:
        return a.shape == b.shape and all(map(same, a.ravel(), b.ravel()))
    if isinstance(a, np.ndarray):
        return a.dtype == b.dtype and a.shape == b.shape and np.array_equal(a, b)
    if isinstance(a, dict):
        return list(a) == list(b) and all(same(a[key], b[key]) for key in a)
    if isinstance(a, list):
        return len(a) == len(b) and all(map(same, a, b))
    return type(a) is type(b) and a == b


def test_golden_vectors_are_written():
    assert [encode(*values) for values in GOLDEN_VALUES] == list(golden_messages())


def test_golden_vectors_are_read():
    for values, message in zip(GOLDEN_VALUES, golden_messages()):
        read = decode(message)
        for value, got in zip(values, read):
            assert same(np.empty((0, 0)) if value is None else value, got)


NUMERIC = "? i1 u1 i2 u2 i4 u4 i8 u8 f4 f8 c8 c16".split()


@pytest.mark.parametrize("dtype", NUMERIC)
@pytest.mark.parametrize("shape", [(0,), (5,), (3, 4), (2, 3, 4), (0, 3), (1, 2)])
def test_arrays(dtype, shape):
    array = (np.arange(np.prod(shape)) % 2).reshape(shape).astype(dtype)
    assert same(decode(encode(array))[0], array)
    assert same(decode(encode(np.asfortranarray(array)))[0], array)
    assert same(decode(encode(array[::-1]))[0], array[::-1])


def test_big_endian_arrays():
    array = np.arange(5, dtype=">i4")
    assert np.array_equal(decode(encode(array))[0], array)


@pytest.mark.parametrize(
    "value",
    [1, -(2**63), 2.5, True, False, 1j, "", "text", "ü€😀", [], [1, [2, "x", {"a": []}]], {},
     {"a": 1, "bc": {"d": [None]} and {"d": 2.0}}, np.float32(1.5), np.uint8(3)],
)  # fmt: skip
def test_python_values(value):
    assert same(decode(encode(value))[0], value)


def test_text_with_bytes_that_are_no_utf8():
    text = bytes(range(128, 256)).decode("utf-8", "surrogateescape")
    assert decode(encode(text))[0] == text


def test_objects():
    value = Object("containers.Map", {"keys": ["a", "b"], "values": [1.0, Object("c", [])]})
    assert decode(encode([value, value])) == ([value, value],)
    with pytest.raises(TypeError, match="var1 is an object without the name"):
        encode(Object("", 1))
    nameless = encode(Object("name", 1)).replace(b"name", b"\0\0\0\0")
    assert decode(nameless)[0].class_name == "\0\0\0\0"
    with pytest.raises(ValueError, match="without the name of a class"):
        message = bytearray(encode(Object("n", 2.0)))
        # The name becomes a uint8.
        message[HEADER.size + RECORD.size] = 7
        decode(bytes(message))


def test_bytes_become_an_array():
    assert same(decode(encode(b"\x00\xff"))[0], np.array([0, 255], np.uint8))


@pytest.mark.parametrize("dtype", [bool, float, complex])
def test_sparse(dtype):
    matrix = scipy.sparse.random(20, 30, 0.1, "csc", random_state=1).astype(dtype)
    assert same(decode(encode(matrix))[0], matrix)


def test_object_arrays_are_cells():
    cells = np.empty((2, 2), object)
    cells[:] = [[1.0, "a"], [[2.0], {"b": 3.0}]]
    assert same(decode(encode(cells))[0], cells)


@pytest.mark.parametrize("kind", ["S1", "U1"])
def test_character_matrices(kind):
    matrix = np.array([["a", "b", "c"], ["d", "e", "f"]], kind)
    assert same(decode(encode(matrix))[0], matrix)


def test_arrays_of_text_are_cells():
    assert decode(encode(np.array(["one", "three"])))[0] == ["one", "three"]


@pytest.mark.parametrize("value", [print, object(), {1, 2}, {1: 2}, np.array(["2020"], "M8[D]")])
def test_refused_with_the_name_of_the_value(value):
    with pytest.raises(TypeError, match=r"var2\[0\]"):
        encode(1, [value])


def bits(value):
    return np.asarray(value).tobytes()


@pytest.mark.parametrize("dtype", ["f4", "f8", "c8", "c16"])
def test_every_bit_of_a_float_arrives(dtype):
    numbers = np.frombuffer(random.Random(dtype).randbytes(1600), dtype)
    special = np.array([-0.0, 0.0, np.inf, -np.inf, np.nan], dtype)
    for array in (numbers, special, numbers.reshape(2, -1), numbers[:1]):
        assert bits(decode(encode(array))[0]) == bits(array)
    for number in list(numbers) + list(special):
        assert bits(decode(encode(number))[0]) == bits(number)
        assert bits(decode(encode(number.item()))[0]) == bits(number.item())


def test_complex_stays_complex_without_imaginary_parts():
    for value in (complex(5, 0), complex(-0.0, -0.0)):
        assert type(decode(encode(value))[0]) is complex
    for shape in [(0, 0), (0, 3), (3, 0, 2), (1, 0)]:
        assert same(decode(encode(np.zeros(shape, "c8")))[0], np.zeros(shape, "c8"))
    matrix = scipy.sparse.csc_matrix(np.eye(3)).astype(complex)
    assert same(decode(encode(matrix))[0], matrix)


def test_struct_arrays_without_elements_keep_their_fields():
    empty = np.empty((0, 3), [("a", object), ("bc", object)])
    assert same(decode(encode(empty))[0], empty)
    assert same(decode(encode(np.empty((2, 0), [])))[0], np.empty((2, 0), []))


def test_arrays_with_named_fields_are_struct_arrays():
    table = np.array([(1, 2.5), (3, 4.5)], [("k", "i8"), ("x", "f8")])
    assert list(decode(encode(table))[0]) == [{"k": 1, "x": 2.5}, {"k": 3, "x": 4.5}]


def test_sparse_matrices_are_sent_as_they_are():
    roomy = scipy.sparse.csc_matrix(
        (np.array([1.0, 2, 9]), np.array([0, 1, 7]), np.array([0, 1, 2])), shape=(2, 2)
    )
    assert same(decode(encode(roomy))[0], scipy.sparse.csc_matrix(np.diag([1.0, 2])))
    unsorted = scipy.sparse.csc_matrix(
        (np.array([1.0, 2]), np.array([1, 0]), np.array([0, 2])), shape=(2, 1)
    )
    assert same(decode(encode(unsorted))[0], scipy.sparse.csc_matrix([[2.0], [1.0]]))
    assert list(unsorted.indices) == [1, 0]


def sparse_integer(number):
    return scipy.sparse.csc_matrix(np.array([[number]], np.int64))


def test_what_would_lose_something_is_refused():
    assert same(decode(encode(sparse_integer(2**53)))[0], sparse_integer(2**53).astype(float))
    wide = scipy.sparse.csc_matrix(np.eye(2, dtype=np.longdouble))
    masked = np.ma.array([1.0, 2], mask=[True, False])
    smileys = np.array([["a", "😀"], ["b", "c"]])
    for value in (sparse_integer(2**53 + 1), wide, masked, smileys):
        with pytest.raises((TypeError, ValueError), match="var1"):
            encode(value)


def test_character_matrices_of_the_other_byte_order():
    matrix = np.array([["a", "b"], ["ü", "d"]])
    assert same(decode(encode(matrix.astype(">U1")))[0], matrix.astype("<U1"))


def test_logical_values_are_true_or_false():
    inline = bytearray(encode(True))
    inline[HEADER.size + RECORD.size] = 2
    with pytest.raises(ValueError, match="neither true nor false"):
        decode(inline)
    writer = Writer(1)
    message = writer.message([np.array([True, False])], 7)
    with pytest.raises(ValueError, match="neither true nor false"):
        decode(message, lambda count: b"\2" * count)


def test_payloads_are_taken_before_any_value_is_made():
    writer = Writer(16)
    message = writer.message([np.arange(4.0), np.arange(2.0), np.arange(8.0)], 7)
    taken = []
    payloads = iter(writer.payloads)
    first, second, third = decode(message, lambda count: taken.append(count) or next(payloads))
    assert taken == [32, 16, 64] and same(third, np.arange(8.0))
    with pytest.raises(ValueError, match="announced"):
        decode(message, lambda count: b"")


def test_what_no_reader_would_take_is_not_sent():
    for value in (np.zeros((0, 2**61), np.int8), [np.empty((2**19,), [])] * 3):
        with pytest.raises(ValueError, match="too many"):
            encode(value)


def test_a_million_elements_without_fields_are_the_most():
    head = RECORD.pack(17, 0, 1, 0, 0) + struct.pack("<Q", 2**19)
    for count in (2, 3):
        message = HEADER.pack(b"PRV\1", count, HEADER.size + count * len(head), 0, 0)
        if count == 2:
            assert len(decode(message + count * head)[0]) == 2**19
        else:
            with pytest.raises(ValueError, match="too many"):
                decode(message + count * head)


def test_too_deep_is_refused():
    value = 1
    for _ in range(300):
        value = [value]
    with pytest.raises(ValueError, match="nested"):
        encode(value)


@pytest.mark.parametrize("index", range(len(GOLDEN_VALUES)))
def test_truncated_messages_are_refused(index):
    message = encode(*GOLDEN_VALUES[index])
    for count in range(len(message)):
        for cut in (message[:count], message[:8] + struct.pack("<Q", count) + message[16:count]):
            with pytest.raises(ValueError):
                decode(cut)


# Of every kind of record, beside the golden ones.
DAMAGED_VALUES = GOLDEN_VALUES + [
    (np.empty((0, 2), [("a", object)]), np.array([{"k": 1}, {"k": "x"}]), {"n": {}}),
    (np.array([["a", "b"], ["c", "d"]]), np.array([[True], [False]]), np.float32(2), b"12"),
    (scipy.sparse.csc_matrix(np.eye(2) * 1j), scipy.sparse.csc_matrix(np.eye(2, dtype=bool))),
    ([Object("containers.Map", {"keys": ["a"], "values": [1.0]})], Object("x", Object("y", None))),
    (np.zeros((2, 3), "c8"), np.arange(5, dtype=np.int8), np.zeros((0, 3, 2), np.uint64)),
]


@pytest.mark.parametrize("index", range(len(DAMAGED_VALUES)))
def test_damaged_messages_are_refused_or_read(index):
    writer = Writer(16)
    messages = [encode(*DAMAGED_VALUES[index]), writer.message(DAMAGED_VALUES[index], 7)]
    chance = random.Random(index)
    for round in range(4000):
        damaged = bytearray(messages[round % 2])
        for _ in range(chance.randint(1, 4)):
            place = chance.randrange(len(damaged))
            damaged[place] = chance.choice([0, 1, 2, 255, chance.randrange(256)])
        payloads = iter(writer.payloads)
        try:
            decode(bytes(damaged), lambda count: next(payloads, b""))
        except ValueError:
            pass
