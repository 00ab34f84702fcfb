"""Messages of values over an mpi4py communicator, as MPI_Send and MPI_Recv of the Octave
package speak them.

    from mpi4py import MPI
    from postrider import exchange

    exchange.send(MPI.COMM_WORLD, 1, 7, {"name": "x"}, numpy.eye(3))
    name, matrix = exchange.recv(MPI.COMM_WORLD, 0, 7)

A message is its encoding under the user's tag, followed by its large arrays, each as a
message of its own under one tag that the encoding names.  Those tags come from the third
quarter of the tags; users have the lower half.  A tag may also be a text: the message then goes
under the number of its hash, in the last quarter, and the text is its first value.  A send never blocks; what it sends is copied,
and kept until MPI is done with it.  A program that ends waits for that, unless an exception
ended it.
"""

import atexit
import sys

from mpi4py import MPI

from . import values

# Requests that are not complete, each with the memory that it reads from.
_sending = []
# Messages under a text that a receive met on its way to another text: communicator, source, text, values.
_waiting = []
_payload_tag = 0


def _tag_max():
    return MPI.COMM_WORLD.Get_attr(MPI.TAG_UB)


def _payload_tag_max():
    return _tag_max() // 2 + _tag_max() // 4


def _next_payload_tag():
    global _payload_tag
    low = _tag_max() // 2 + 1
    _payload_tag = _payload_tag + 1 if low <= _payload_tag < _payload_tag_max() else low
    return _payload_tag


def _number(tag):
    """The number of a tag, and its text where it is one.  A text that is a number of the user's
    range, as Octave would write it, is that number."""
    text = str(tag)
    if text.isascii() and text.isdigit() and text == str(int(text)) and int(text) <= _tag_max() // 2:
        return int(text), None
    if not isinstance(tag, str):
        raise ValueError(f"tag {tag} is not in 0 ... {_tag_max() // 2}; other tags are texts")
    low = _payload_tag_max() + 1
    hashed = 2166136261
    for byte in text.encode():
        hashed = (hashed ^ byte) * 16777619 & 0xFFFFFFFF
    return low + hashed % (_tag_max() - low), text


def _advance():
    _sending[:] = [(request, data) for request, data in _sending if not request.Test()]


def _send_to(comm, destinations, tag, objects):
    tag, text = _number(tag)
    if text is not None:
        objects = (text, *objects)
    _advance()
    writer = values.Writer(values.PAYLOAD_BYTES_MIN)
    payload_tag = _next_payload_tag()
    message = writer.message(objects, payload_tag)
    for destination in destinations:
        _sending.append((comm.Isend([message, MPI.BYTE], destination, tag), message))
        for data in writer.payloads:
            _sending.append((comm.Isend([data, MPI.BYTE], destination, payload_tag), data))
    _advance()


def send(comm, dest, tag, *objects):
    """Sends the objects to rank ``dest`` as one message; returns at once."""
    _send_to(comm, [dest], tag, objects)


def _receive(comm, source, tag):
    """The bytes of the next matching message, its source and its tag."""
    status = MPI.Status()
    while True:
        message = comm.Mprobe(source, tag, status)
        data = bytearray(status.Get_count(MPI.BYTE))
        message.Recv([data, MPI.BYTE])
        # A receive for any tag meets a payload only if the message was damaged that it belonged to.
        if tag != MPI.ANY_TAG or not _tag_max() // 2 < status.Get_tag() <= _payload_tag_max():
            return data, status.Get_source(), status.Get_tag()


def _decode(comm, message, source, tag):
    def payload(_count):
        payload_tag = values.payload_tag(message)
        if not _tag_max() // 2 < payload_tag <= _payload_tag_max():
            raise ValueError(f"the message names tag {payload_tag}, which is none for payloads")
        return _receive(comm, source, payload_tag)[0]

    decoded = values.decode(message, payload)
    return (decoded[0], decoded[1:]) if tag > _payload_tag_max() else (None, decoded)


def recv(comm, source=MPI.ANY_SOURCE, tag=MPI.ANY_TAG):
    """Waits for the next matching message and returns the tuple of its values."""
    number, text = (tag, None) if tag == MPI.ANY_TAG else _number(tag)
    _advance()
    for place, (found, origin, name, objects) in enumerate(_waiting):
        if found == comm and source in (MPI.ANY_SOURCE, origin) and (number == MPI.ANY_TAG or name == text):
            del _waiting[place]
            return objects
    while True:
        message, origin, its = _receive(comm, source, number)
        name, objects = _decode(comm, message, origin, its)
        if number == MPI.ANY_TAG or name == text:
            return objects
        # Another text with the same hash: its receive comes later.
        _waiting.append((comm, origin, name, objects))


def bcast(comm, source, tag, *objects):
    """Rank ``source`` sends the objects to all others; returns the tuple of them."""
    if comm.Get_rank() != source:
        return recv(comm, source, tag)
    _send_to(comm, [rank for rank in range(comm.Get_size()) if rank != source], tag, objects)
    return objects


def flush():
    """Waits until everything sent has left; called before MPI_Finalize by itself."""
    for request, _ in _sending:
        request.Wait()
    _sending.clear()


def _flush_at_finalize(comm, keyval, value):
    flush()


def _flush_at_exit():
    """mpi4py finalizes MPI when the interpreter is gone, and then no Python is called any more."""
    # After an uncaught exception nobody may be there to receive, and waiting could hang the job.
    if not MPI.Is_finalized() and not hasattr(sys, "last_type"):
        flush()


# MPI deletes the attributes of MPI_COMM_SELF first of all when it is finalized.
MPI.COMM_SELF.Set_attr(MPI.Comm.Create_keyval(delete_fn=_flush_at_finalize), None)
atexit.register(_flush_at_exit)
