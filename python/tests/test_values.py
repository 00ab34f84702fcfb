"""The value encoding: round trips, golden vectors shared with the C codec, hostile bytes."""

import pathlib
import random
import struct

import numpy as np
import pytest
import scipy.sparse

from postrider.values import decode, encode

GOLDEN_FILE = pathlib.Path(__file__).parents[2] / "octave" / "tests" / "golden_values.bin"
# The values of octave/tests/codec_test.c, message by message.
GOLDEN_VALUES = [
    (1.5, True, -7, 1 - 2j),
    (np.arange(6.0).reshape(2, 3), np.array([1, 2, 65535], np.uint16), None),
    ("héllo", [1.0, "x"], {"a": 2.0, "list": ["in", 3.0]}),
    (scipy.sparse.csc_matrix(np.array([[0, 2.0], [0, 3.0], [1.0, 0]])),),
    (),
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


@pytest.mark.parametrize("index", range(len(GOLDEN_VALUES)))
def test_damaged_messages_are_refused_or_read(index):
    message = bytearray(encode(*GOLDEN_VALUES[index]))
    chance = random.Random(index)
    for _ in range(3000):
        damaged = bytearray(message)
        for _ in range(chance.randint(1, 4)):
            damaged[chance.randrange(len(damaged))] = chance.randrange(256)
        try:
            decode(bytes(damaged))
        except ValueError:
            pass
