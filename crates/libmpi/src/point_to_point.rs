//! Point-to-point communication (MPI 5.0, chapter 3).

use core::ffi::c_int;

use postrider_abi::*;
use postrider_engine::State;
use postrider_engine::error::{Error, RaisedOn, Result};
use postrider_engine::external::Generalized;
use postrider_engine::objects::Key;
use postrider_engine::point_to_point::{
    BufferOwner, Exchanged, Found, Mode, NullMessage, Outcome, Status, Template, Want,
};

use crate::external;
use crate::parse::{self, Data, In, Memory, Out, StatusOut};
use crate::{instance, library};

/// Sends at once if nothing about the message or the moment is unusual; else nothing has happened.
#[inline]
fn sent_the_short_way(data: Data, (dest, tag, comm): (c_int, c_int, MPI_Comm), mode: Mode) -> bool {
    matches!(mode, Mode::Standard | Mode::Ready)
        && parse::short(data, dest, tag, comm).is_some_and(|short| instance().send_short(&short))
}

#[inline]
fn send(data: Data, dest: c_int, tag: c_int, comm: MPI_Comm, mode: Mode) -> Result<()> {
    if sent_the_short_way(data, (dest, tag, comm), mode) {
        return Ok(());
    }
    instance()
        .blocking(|state| {
            let message = parse::message(state, data, dest, tag, comm)?;
            state.start_send(&message, mode)
        })?
        .into_result()
        .map(drop)
}

/// The general way of a blocking receive.
fn receive(data: Data, (source, tag, comm): (c_int, c_int, MPI_Comm), status: StatusOut) -> Result<()> {
    let completion = instance().blocking(|state| {
        let message = parse::message(state, data, source, tag, comm)?;
        state.irecv(message).map(Some)
    })?;
    status.set(&completion.status);
    completion.into_result().map(drop)
}

fn isend(
    data: Data,
    (dest, tag, comm): (c_int, c_int, MPI_Comm),
    mode: Mode,
    request: Out<MPI_Request>,
) -> Result<()> {
    request.check()?;
    if sent_the_short_way(data, (dest, tag, comm), mode) {
        return request.set(parse::request_handle(State::SENT));
    }
    let key = instance().with(|state| {
        let message = parse::message(state, data, dest, tag, comm)?;
        state.isend(&message, mode)
    })?;
    library::leave_behind(request, key)
}

fn persistent_send(
    data: Data,
    (dest, tag, comm): (c_int, c_int, MPI_Comm),
    mode: Mode,
    request: Out<MPI_Request>,
) -> Result<()> {
    let key = instance().with(|state| {
        let message = parse::message(state, data, dest, tag, comm)?;
        state.persistent(Template::Send(message, mode))
    })?;
    library::leave_behind(request, key)
}

/// The three functions of a send mode: blocking, nonblocking, persistent.
macro_rules! send_mode {
    ($mode:expr; $send:ident $send_c:ident $isend:ident $isend_c:ident $init:ident $init_c:ident) => {
        mpi! {
            /// Sections 3.2.1 and 3.4.
            $send / $send_c (
                buf: Memory, count: Int, datatype: MPI_Datatype, dest: c_int, tag: c_int, comm: MPI_Comm
            ) on comm {
                send((buf, i64::from(count), datatype), dest, tag, comm, $mode)
            }
            /// Section 3.7.2.
            $isend / $isend_c (
                buf: Memory, count: Int, datatype: MPI_Datatype, dest: c_int, tag: c_int, comm: MPI_Comm,
                request: Out<MPI_Request>
            ) on comm {
                isend((buf, i64::from(count), datatype), (dest, tag, comm), $mode, request)
            }
            /// Section 3.9.
            $init / $init_c (
                buf: Memory, count: Int, datatype: MPI_Datatype, dest: c_int, tag: c_int, comm: MPI_Comm,
                request: Out<MPI_Request>
            ) on comm {
                persistent_send((buf, i64::from(count), datatype), (dest, tag, comm), $mode, request)
            }
        }
    };
}

// Sections 3.4, 3.7.2 and 3.9.
send_mode! { Mode::Standard; MPI_Send MPI_Send_c MPI_Isend MPI_Isend_c MPI_Send_init MPI_Send_init_c }
send_mode! { Mode::Ready; MPI_Rsend MPI_Rsend_c MPI_Irsend MPI_Irsend_c MPI_Rsend_init MPI_Rsend_init_c }
send_mode! { Mode::Synchronous; MPI_Ssend MPI_Ssend_c MPI_Issend MPI_Issend_c MPI_Ssend_init MPI_Ssend_init_c }
send_mode! { Mode::Buffered; MPI_Bsend MPI_Bsend_c MPI_Ibsend MPI_Ibsend_c MPI_Bsend_init MPI_Bsend_init_c }

mpi! {
    /// Section 3.2.4.
    MPI_Recv / MPI_Recv_c (
        buf: Memory, count: Int, datatype: MPI_Datatype, source: c_int, tag: c_int, comm: MPI_Comm, status: StatusOut
    ) on comm {
        let data = (buf, i64::from(count), datatype);
        if let Some(short) = parse::short(data, source, tag, comm)
            && let Some(received) = instance().receive_short(&short)
        {
            status.set(&received);
            return Ok(());
        }
        receive(data, (source, tag, comm), status)
    }

    /// Section 3.7.2.
    MPI_Irecv / MPI_Irecv_c (
        buf: Memory, count: Int, datatype: MPI_Datatype, source: c_int, tag: c_int, comm: MPI_Comm,
        request: Out<MPI_Request>
    ) on comm {
        request.check()?;
        let key = instance().with(|state| {
            let message = parse::message(state, (buf, i64::from(count), datatype), source, tag, comm)?;
            state.irecv(message)
        })?;
        library::leave_behind(request, key)
    }

    /// Section 3.9.
    MPI_Recv_init / MPI_Recv_init_c (
        buf: Memory, count: Int, datatype: MPI_Datatype, source: c_int, tag: c_int, comm: MPI_Comm,
        request: Out<MPI_Request>
    ) on comm {
        let key = instance().with(|state| {
            let message = parse::message(state, (buf, i64::from(count), datatype), source, tag, comm)?;
            state.persistent(Template::Receive(message))
        })?;
        library::leave_behind(request, key)
    }
}

mpi! {
    /// Section 3.10.
    MPI_Sendrecv / MPI_Sendrecv_c (
        sendbuf: Memory, sendcount: Int, sendtype: MPI_Datatype, dest: c_int, sendtag: c_int,
        recvbuf: Memory, recvcount: Int, recvtype: MPI_Datatype, source: c_int, recvtag: c_int,
        comm: MPI_Comm, status: StatusOut
    ) on comm {
        let (out, into): (Data, Data) =
            ((sendbuf, i64::from(sendcount), sendtype), (recvbuf, i64::from(recvcount), recvtype));
        if let Some(send) = parse::short(out, dest, sendtag, comm)
            && let Some(short) = parse::short(into, source, recvtag, comm)
        {
            match instance().exchange_short(&send, &short) {
                Exchanged::Both(received) => {
                    status.set(&received);
                    return Ok(());
                }
                Exchanged::Sent => return receive(into, (source, recvtag, comm), status),
                Exchanged::Nothing => {}
            }
        }
        let completion = instance().sendrecv(|state| {
            let send = parse::message(state, out, dest, sendtag, comm)?;
            Ok((send, parse::message(state, into, source, recvtag, comm)?))
        })?;
        status.set(&completion.status);
        completion.into_result().map(drop)
    }

    /// Section 3.10.
    MPI_Sendrecv_replace / MPI_Sendrecv_replace_c (
        buf: Memory, count: Int, datatype: MPI_Datatype, dest: c_int, sendtag: c_int,
        source: c_int, recvtag: c_int, comm: MPI_Comm, status: StatusOut
    ) on comm {
        let data = (buf, i64::from(count), datatype);
        let completion = instance().sendrecv_replace(|state| {
            let send = parse::message(state, data, dest, sendtag, comm)?;
            Ok((send, parse::message(state, data, source, recvtag, comm)?))
        })?;
        status.set(&completion.status);
        completion.into_result().map(drop)
    }

    /// Section 3.10.
    MPI_Isendrecv / MPI_Isendrecv_c (
        sendbuf: Memory, sendcount: Int, sendtype: MPI_Datatype, dest: c_int, sendtag: c_int,
        recvbuf: Memory, recvcount: Int, recvtype: MPI_Datatype, source: c_int, recvtag: c_int,
        comm: MPI_Comm, request: Out<MPI_Request>
    ) on comm {
        let (out, into): (Data, Data) =
            ((sendbuf, i64::from(sendcount), sendtype), (recvbuf, i64::from(recvcount), recvtype));
        request.check()?;
        let key = instance().with(|state| {
            let send = parse::message(state, out, dest, sendtag, comm)?;
            let receive = parse::message(state, into, source, recvtag, comm)?;
            state.isendrecv(&send, receive)
        })?;
        library::leave_behind(request, key)
    }

    /// Section 3.10.
    MPI_Isendrecv_replace / MPI_Isendrecv_replace_c (
        buf: Memory, count: Int, datatype: MPI_Datatype, dest: c_int, sendtag: c_int,
        source: c_int, recvtag: c_int, comm: MPI_Comm, request: Out<MPI_Request>
    ) on comm {
        let data = (buf, i64::from(count), datatype);
        request.check()?;
        let key = instance().with(|state| {
            let send = parse::message(state, data, dest, sendtag, comm)?;
            let receive = parse::message(state, data, source, recvtag, comm)?;
            state.isendrecv_replace(&send, receive)
        })?;
        library::leave_behind(request, key)
    }

    /// Section 3.8.1.
    MPI_Probe (source: c_int, tag: c_int, comm: MPI_Comm, status: StatusOut) on comm {
        status.set(&instance().probe(parse::communicator(comm)?, source, tag)?);
        Ok(())
    }

    /// Section 3.8.1.
    MPI_Iprobe (source: c_int, tag: c_int, comm: MPI_Comm, flag: Out<c_int>, status: StatusOut) on comm {
        let key = parse::communicator(comm)?;
        let found = instance().look_twice(|state| state.look_for_message(key, source, tag))?;
        flag.set(c_int::from(found.is_some()))?;
        found.iter().for_each(|found| status.set(found));
        Ok(())
    }

    /// Section 3.8.2.
    MPI_Mprobe (
        source: c_int, tag: c_int, comm: MPI_Comm, message: Out<MPI_Message>, status: StatusOut
    ) on comm {
        message.check()?;
        let (taken, found) = instance().mprobe(parse::communicator(comm)?, source, tag)?;
        status.set(&found);
        message.set(message_handle(taken))
    }

    /// Section 3.8.2.
    MPI_Improbe (
        source: c_int, tag: c_int, comm: MPI_Comm, flag: Out<c_int>, message: Out<MPI_Message>, status: StatusOut
    ) on comm {
        let key = parse::communicator(comm)?;
        flag.check().and_then(|()| message.check())?;
        let found = instance().look_twice(|state| state.take_message(key, source, tag))?;
        flag.set(c_int::from(found.is_some()))?;
        let Some((taken, found)) = found else { return Ok(()) };
        status.set(&found);
        message.set(message_handle(taken))
    }

    /// Section 3.8.3.
    MPI_Mrecv / MPI_Mrecv_c (
        buf: Memory, count: Int, datatype: MPI_Datatype, message: Out<MPI_Message>, status: StatusOut
    ) {
        let taken = message_key(message.get()?)?;
        on_communicator_of(taken, || {
            let completion = instance().blocking(|state| {
                let buffer = parse::buffer(state, buf, i64::from(count), datatype)?;
                state.imrecv(taken, buffer).map(Some)
            })?;
            message.set(MPI_MESSAGE_NULL)?;
            status.set(&completion.status);
            completion.into_result().map(drop)
        })
    }

    /// Section 3.8.3.
    MPI_Imrecv / MPI_Imrecv_c (
        buf: Memory, count: Int, datatype: MPI_Datatype, message: Out<MPI_Message>, request: Out<MPI_Request>
    ) {
        request.check()?;
        let taken = message_key(message.get()?)?;
        on_communicator_of(taken, || {
            let key = instance().with(|state| {
                let buffer = parse::buffer(state, buf, i64::from(count), datatype)?;
                state.imrecv(taken, buffer)
            })?;
            message.set(MPI_MESSAGE_NULL)?;
            library::leave_behind(request, key)
        })
    }
}

/// Does something with a message; errors go to its communicator.
fn on_communicator_of(message: NullMessage, action: impl FnOnce() -> Result<()>) -> Result<()> {
    let communicator = instance().with(|state| Ok(state.communicator_of_message(message)))?;
    action().map_err(|error| match communicator {
        Some(communicator) => error.on(RaisedOn::Communicator(communicator)),
        None => error,
    })
}

/// Does something with a request; errors go to its communicator.
pub fn on_request(key: Key, action: impl FnOnce() -> Result<()>) -> Result<()> {
    action().map_err(|error| match instance().with(|state| state.communicator_of(key)) {
        Ok(communicator) => error.on(RaisedOn::Communicator(communicator)),
        Err(_) => error,
    })
}

fn message_handle(message: NullMessage) -> MPI_Message {
    match message {
        NullMessage::NoProcess => MPI_MESSAGE_NO_PROC,
        NullMessage::Real(key) => MPI_Message(parse::handle_of(key)),
    }
}

fn message_key(message: MPI_Message) -> Result<NullMessage> {
    match message {
        MPI_MESSAGE_NO_PROC => Ok(NullMessage::NoProcess),
        MPI_Message(number) => match parse::key_of(number) {
            Some(key) => Ok(NullMessage::Real(key)),
            None => Err(Error::new(
                MPI_ERR_REQUEST,
                "the message is MPI_MESSAGE_NULL, or the handle is no message",
            )),
        },
    }
}

/// The requests of an array argument.
fn keys_of(handles: Out<MPI_Request>, count: c_int) -> Result<Vec<Option<Key>>> {
    let handles = handles.get_all(parse::count(count.into())? as usize)?;
    handles.into_iter().map(parse::request).collect()
}

/// Ends one request of an array: its handle, if it is gone, and its status.
fn settle(outcome: &Outcome, handles: Out<MPI_Request>, statuses: StatusOut, at: usize) -> Result<()> {
    if outcome.freed {
        handles.set_at(outcome.index, MPI_REQUEST_NULL)?;
    }
    statuses.set_at(at, &outcome.completion.status, None);
    Ok(())
}

/// The error of a call that completes one request goes to the request's communicator.
fn one(outcome: Outcome) -> Result<()> {
    outcome.completion.error.map_or(Ok(()), |error| Err(error.on(outcome.raised_on)))
}

/// Ends several requests: if any has failed, every status tells its error and the call returns `MPI_ERR_IN_STATUS`.
fn several(outcomes: &[Outcome], statuses: StatusOut, at: impl Fn(&Outcome) -> usize) -> Result<()> {
    let failed = outcomes.iter().find(|outcome| outcome.completion.error.is_some());
    let Some(failed) = failed else { return Ok(()) };
    for outcome in outcomes {
        let code = outcome.completion.error.as_ref().map_or(MPI_SUCCESS, |error| error.class);
        statuses.set_at(at(outcome), &outcome.completion.status, Some(code));
    }
    let detail = failed.completion.error.as_ref().map_or_else(String::new, |error| error.detail.clone());
    let detail = format!("request {} of the array failed: {detail}", failed.index);
    Err(Error::new(MPI_ERR_IN_STATUS, detail).on(failed.raised_on))
}

mpi! {
    /// Section 3.7.3.
    MPI_Wait (request: Out<MPI_Request>, status: StatusOut) {
        let Some(key) = parse::request(request.get()?)? else {
            status.set_empty();
            return Ok(());
        };
        let outcome = external::ended(instance().wait(key)?);
        settle(&outcome, request, status, 0)?;
        one(outcome)
    }

    /// Section 3.7.3.
    MPI_Test (request: Out<MPI_Request>, flag: Out<c_int>, status: StatusOut) {
        flag.check()?;
        let key = parse::request(request.get()?)?;
        match instance().test(&[key], Want::All)? {
            Found::NotYet => flag.set(0),
            Found::NoneActive => {
                status.set_empty();
                flag.set(1)
            }
            Found::Complete(outcomes) => {
                flag.set(1)?;
                let Some(outcome) = outcomes.into_iter().next().map(external::ended) else { return Ok(()) };
                settle(&outcome, request, status, 0)?;
                one(outcome)
            }
        }
    }

    /// Section 3.7.5.
    MPI_Waitany (count: c_int, array_of_requests: Out<MPI_Request>, index: Out<c_int>, status: StatusOut) {
        let keys = keys_of(array_of_requests, count)?;
        index.check()?;
        let Some(outcomes) = instance().wait_for(&keys, Want::Any)? else {
            status.set_empty();
            return index.set(MPI_UNDEFINED);
        };
        let Some(outcome) = outcomes.into_iter().next().map(external::ended) else { return Ok(()) };
        index.set(outcome.index as c_int)?;
        settle(&outcome, array_of_requests, status, 0)?;
        one(outcome)
    }

    /// Section 3.7.5.
    MPI_Testany (count: c_int, array_of_requests: Out<MPI_Request>, index: Out<c_int>, flag: Out<c_int>, status: StatusOut) {
        let keys = keys_of(array_of_requests, count)?;
        index.check().and_then(|()| flag.check())?;
        match instance().test(&keys, Want::Any)? {
            Found::NotYet => {
                index.set(MPI_UNDEFINED)?;
                flag.set(0)
            }
            Found::NoneActive => {
                status.set_empty();
                index.set(MPI_UNDEFINED)?;
                flag.set(1)
            }
            Found::Complete(outcomes) => {
                flag.set(1)?;
                let Some(outcome) = outcomes.into_iter().next().map(external::ended) else { return Ok(()) };
                index.set(outcome.index as c_int)?;
                settle(&outcome, array_of_requests, status, 0)?;
                one(outcome)
            }
        }
    }

    /// Section 3.7.5.
    MPI_Waitall (count: c_int, array_of_requests: Out<MPI_Request>, statuses: StatusOut) {
        let keys = keys_of(array_of_requests, count)?;
        let outcomes = instance().wait_for(&keys, Want::All)?.unwrap_or_default();
        finish_all(&keys, outcomes, array_of_requests, statuses)
    }

    /// Section 3.7.5.
    MPI_Testall (count: c_int, array_of_requests: Out<MPI_Request>, flag: Out<c_int>, statuses: StatusOut) {
        let keys = keys_of(array_of_requests, count)?;
        flag.check()?;
        let outcomes = match instance().test(&keys, Want::All)? {
            Found::NotYet => return flag.set(0),
            Found::NoneActive => Vec::new(),
            Found::Complete(outcomes) => outcomes,
        };
        flag.set(1)?;
        finish_all(&keys, outcomes, array_of_requests, statuses)
    }

    /// Section 3.7.5.
    MPI_Waitsome (
        incount: c_int, array_of_requests: Out<MPI_Request>, outcount: Out<c_int>, indices: Out<c_int>, statuses: StatusOut
    ) {
        let keys = keys_of(array_of_requests, incount)?;
        outcount.check()?;
        match instance().wait_for(&keys, Want::Some)? {
            None => outcount.set(MPI_UNDEFINED),
            Some(outcomes) => finish_some(outcomes, array_of_requests, (outcount, indices), statuses),
        }
    }

    /// Section 3.7.5.
    MPI_Testsome (
        incount: c_int, array_of_requests: Out<MPI_Request>, outcount: Out<c_int>, indices: Out<c_int>, statuses: StatusOut
    ) {
        let keys = keys_of(array_of_requests, incount)?;
        outcount.check()?;
        match instance().test(&keys, Want::Some)? {
            Found::NoneActive => outcount.set(MPI_UNDEFINED),
            Found::NotYet => outcount.set(0),
            Found::Complete(outcomes) => {
                finish_some(outcomes, array_of_requests, (outcount, indices), statuses)
            }
        }
    }

    /// Section 3.7.6.
    MPI_Request_get_status (request: MPI_Request, flag: Out<c_int>, status: StatusOut) {
        let Some(key) = parse::request(request)? else {
            status.set_empty();
            return flag.set(1);
        };
        let found = instance().look_twice(|state| peek(state, key))?;
        flag.set(c_int::from(found.is_some()))?;
        if let Some(found) = found {
            status.set(&found.status()?);
        }
        Ok(())
    }

    /// Section 3.7.6.
    MPI_Request_get_status_any (
        count: c_int, array_of_requests: In<MPI_Request>, index: Out<c_int>, flag: Out<c_int>, status: StatusOut
    ) {
        let (active, complete) = peek_all(array_of_requests, count)?;
        if let Some((at, found)) = complete.into_iter().next() {
            status.set(&found.status()?);
            index.set(at as c_int)?;
            return flag.set(1);
        }
        status.set_empty();
        index.set(MPI_UNDEFINED)?;
        flag.set(c_int::from(active == 0))
    }

    /// Section 3.7.6.
    MPI_Request_get_status_all (count: c_int, array_of_requests: In<MPI_Request>, flag: Out<c_int>, statuses: StatusOut) {
        let (active, complete) = peek_all(array_of_requests, count)?;
        if active != complete.len() {
            return flag.set(0);
        }
        for at in 0..count as usize {
            statuses.set_at(at, &Status::EMPTY, Some(MPI_SUCCESS));
        }
        for (at, found) in complete {
            statuses.set_at(at, &found.status()?, None);
        }
        flag.set(1)
    }

    /// Section 3.7.6.
    MPI_Request_get_status_some (
        incount: c_int, array_of_requests: In<MPI_Request>, outcount: Out<c_int>, indices: Out<c_int>, statuses: StatusOut
    ) {
        let (active, complete) = peek_all(array_of_requests, incount)?;
        if active == 0 {
            return outcount.set(MPI_UNDEFINED);
        }
        outcount.set(complete.len() as c_int)?;
        for (place, (at, found)) in complete.into_iter().enumerate() {
            indices.set_at(place, at as c_int)?;
            statuses.set_at(place, &found.status()?, None);
        }
        Ok(())
    }

    /// Section 3.7.3.
    MPI_Request_free (request: Out<MPI_Request>) {
        let Some(key) = parse::request(request.get()?)? else {
            return Err(Error::new(MPI_ERR_REQUEST, "the request is MPI_REQUEST_NULL"));
        };
        let callbacks = instance().with(|state| {
            let callbacks = state.generalized(key)?;
            state.free_request(key).map(|()| callbacks)
        })?;
        request.set(MPI_REQUEST_NULL)?;
        match callbacks {
            Some((callbacks, true)) => external::free(&callbacks),
            _ => Ok(()),
        }
    }

    /// Section 3.8.4.
    MPI_Cancel (request: Out<MPI_Request>) {
        let Some(key) = parse::request(request.get()?)? else {
            return Err(Error::new(MPI_ERR_REQUEST, "the request is MPI_REQUEST_NULL"));
        };
        match instance().with(|state| state.generalized(key))? {
            Some((callbacks, complete)) => external::cancel(&callbacks, complete),
            None => on_request(key, || instance().with(|state| state.cancel(key))),
        }
    }

    /// Section 3.9.
    MPI_Start (request: Out<MPI_Request>) {
        start([request.get()?])
    }

    /// Section 3.9.
    MPI_Startall (count: c_int, array_of_requests: Out<MPI_Request>) {
        let handles = array_of_requests.get_all(parse::count(count.into())? as usize)?;
        start(handles)
    }
}

fn start(handles: impl IntoIterator<Item = MPI_Request>) -> Result<()> {
    let null = || Error::new(MPI_ERR_REQUEST, "the request is MPI_REQUEST_NULL");
    let key = |handle| parse::request(handle)?.ok_or_else(null);
    let keys: Result<Vec<Key>> = handles.into_iter().map(key).collect();
    instance().start(keys?)
}

/// A complete request that stays as it is: its status, or who tells it.
enum Peeked {
    Status(Status),
    Generalized(Generalized),
}

impl Peeked {
    fn status(self) -> Result<Status> {
        match self {
            Self::Status(status) => Ok(status),
            Self::Generalized(callbacks) => external::status(&callbacks),
        }
    }
}

fn peek(state: &mut State, key: Key) -> Result<Option<Peeked>> {
    let Some(status) = state.peek_status(key)? else { return Ok(None) };
    let generalized = state.generalized(key)?;
    Ok(Some(generalized.map_or(Peeked::Status(status), |(callbacks, _)| Peeked::Generalized(callbacks))))
}

/// How many requests of an array are active, and those that are complete.
fn peek_all(handles: In<MPI_Request>, count: c_int) -> Result<(usize, Vec<(usize, Peeked)>)> {
    let handles = handles.all(parse::count(count.into())? as usize)?;
    instance().make_progress()?;
    instance().with(|state| {
        let (mut active, mut complete) = (0, Vec::new());
        for (at, handle) in handles.into_iter().enumerate() {
            let Some(key) = parse::request(handle)? else { continue };
            if state.is_active(key)? {
                active += 1;
                complete.extend(peek(state, key)?.map(|found| (at, found)));
            }
        }
        Ok((active, complete))
    })
}

fn finish_all(
    keys: &[Option<Key>],
    outcomes: Vec<Outcome>,
    handles: Out<MPI_Request>,
    statuses: StatusOut,
) -> Result<()> {
    let outcomes: Vec<Outcome> = outcomes.into_iter().map(external::ended).collect();
    let failed = outcomes.iter().any(|outcome| outcome.completion.error.is_some());
    if outcomes.len() < keys.len() {
        for at in 0..keys.len() {
            statuses.set_at(at, &Status::EMPTY, failed.then_some(MPI_SUCCESS));
        }
    }
    outcomes.iter().try_for_each(|outcome| settle(outcome, handles, statuses, outcome.index))?;
    several(&outcomes, statuses, |outcome| outcome.index)
}

fn finish_some(
    outcomes: Vec<Outcome>,
    handles: Out<MPI_Request>,
    (outcount, indices): (Out<c_int>, Out<c_int>),
    statuses: StatusOut,
) -> Result<()> {
    let outcomes: Vec<Outcome> = outcomes.into_iter().map(external::ended).collect();
    outcount.set(outcomes.len() as c_int)?;
    for (place, outcome) in outcomes.iter().enumerate() {
        indices.set_at(place, outcome.index as c_int)?;
        settle(outcome, handles, statuses, place)?;
    }
    let place =
        |outcome: &Outcome| outcomes.iter().position(|other| other.index == outcome.index).unwrap_or(0);
    several(&outcomes, statuses, place)
}

/// Attaches a buffer.
///
/// # Errors
/// When there is no such owner, one is attached already, or the size is negative.
pub fn attach(owner: BufferOwner, buffer: Memory, size: i64) -> Result<()> {
    let automatic = buffer.0 == MPI_BUFFER_AUTOMATIC;
    instance().with(|state| state.attach_buffer(owner, buffer.0, size, automatic))
}

/// Detaches a buffer; `size` takes its length.
///
/// # Errors
/// When there is no such owner, or an argument is a null pointer.
pub fn detach<I: Copy + TryFrom<i64>>(
    owner: BufferOwner,
    buffer_addr: Out<usize>,
    size: Out<I>,
) -> Result<()> {
    buffer_addr.check().and_then(|()| size.check())?;
    let (address, bytes, automatic) = instance().detach_buffer(owner)?.unwrap_or((0, 0, false));
    buffer_addr.set(address)?;
    size.set_number(Some(if automatic { 0 } else { bytes }))
}

fn owner(comm: MPI_Comm) -> Result<BufferOwner> {
    parse::communicator(comm).map(BufferOwner::Communicator)
}

mpi! {
    /// Section 3.6.
    MPI_Buffer_attach / MPI_Buffer_attach_c (buffer: Memory, size: Int) {
        attach(BufferOwner::Process, buffer, i64::from(size))
    }

    /// Section 3.6.
    MPI_Buffer_detach / MPI_Buffer_detach_c (buffer_addr: Out<usize>, size: Out<Int>) {
        detach(BufferOwner::Process, buffer_addr, size)
    }

    /// Section 3.6.
    MPI_Buffer_flush () {
        instance().flush_buffer(BufferOwner::Process)
    }

    /// Section 3.6.
    MPI_Buffer_iflush (request: Out<MPI_Request>) {
        let key = instance().with(|state| state.iflush_buffer(BufferOwner::Process))?;
        library::leave_behind(request, key)
    }

    /// Section 3.6.
    MPI_Comm_attach_buffer / MPI_Comm_attach_buffer_c (comm: MPI_Comm, buffer: Memory, size: Int) on comm {
        attach(owner(comm)?, buffer, i64::from(size))
    }

    /// Section 3.6.
    MPI_Comm_detach_buffer / MPI_Comm_detach_buffer_c (
        comm: MPI_Comm, buffer_addr: Out<usize>, size: Out<Int>
    ) on comm {
        detach(owner(comm)?, buffer_addr, size)
    }

    /// Section 3.6.
    MPI_Comm_flush_buffer (comm: MPI_Comm) on comm {
        instance().flush_buffer(owner(comm)?)
    }

    /// Section 3.6.
    MPI_Comm_iflush_buffer (comm: MPI_Comm, request: Out<MPI_Request>) on comm {
        let owner = owner(comm)?;
        let key = instance().with(|state| state.iflush_buffer(owner))?;
        library::leave_behind(request, key)
    }

    /// Section 3.2.5.
    MPI_Get_count / MPI_Get_count_c (status: In<MPI_Status>, datatype: MPI_Datatype, count: Out<Int>) {
        let bytes = status.all(1)?[0].bytes() as i64;
        let elements = instance().with(|state| Ok(parse::datatype(state, datatype)?.count_in(bytes)))?;
        let elements = elements.and_then(|elements| Int::try_from(elements).ok());
        count.set(elements.unwrap_or(Int::from(MPI_UNDEFINED)))
    }

    /// Section 3.8.4.
    MPI_Test_cancelled (status: In<MPI_Status>, flag: Out<c_int>) {
        flag.set(c_int::from(status.all(1)?[0].is_cancelled()))
    }
}
