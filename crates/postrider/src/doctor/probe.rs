//! The two ends of an examination: facts, and then what the connection is worth.
//!
//! The far end (`postrider examine`) writes its facts as a line, and then answers requests until its input ends. A request is two
//! numbers of 8 bytes: how many bytes follow, and how many are wanted in return. [`CLOCK`] in place of the first asks for the time
//! instead, and [`REACH`] asks it to reach the hosts that the bytes that follow name. So round trips and both directions are
//! measured through the very pipe that messages will take.

use std::fs::File;
use std::io::{self, Read, Write};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::facts::Facts;
use crate::remote_shell::{Remote, RemoteShell, pipes};

/// Asks for the time, in nanoseconds since 1970.
const CLOCK: u64 = u64::MAX;
/// Asks to reach other hosts. The second number is the length of an [`Errand`] as JSON; the answer is a line.
const REACH: u64 = u64::MAX - 1;
/// Bytes that can be asked for at once.
const BYTES_MAX: u64 = 64 << 20;
/// Bytes of a line of JSON.
const LINE_BYTES_MAX: usize = 4 << 20;
/// How long a host may take for its next answer.
const ANSWER_LIMIT: Duration = Duration::from_secs(60);
/// How long it may take to reach others, each of which may be slow.
const REACH_LIMIT: Duration = Duration::from_secs(600);
/// Round trips of which the median is taken.
const ROUND_TRIPS: usize = 41;
/// A transfer that took so long is long enough to tell the speed.
const ENOUGH: Duration = Duration::from_millis(100);

/// What a connection is worth.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Pipe {
    /// One byte there and back.
    pub round_trip_us: f64,
    /// Speed of a long transfer to the host.
    pub to_mib_per_s: f64,
    /// Speed of one from the host.
    pub from_mib_per_s: f64,
    /// How far the host's clock is ahead.
    pub clock_skew_ms: f64,
}

/// An attempt to reach another host.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Reached {
    /// That host.
    pub host: String,
    /// Why it cannot be reached.
    pub error: Option<String>,
}

/// Whom a host has to reach.
#[derive(Debug, Deserialize, Serialize)]
struct Errand {
    hosts: Vec<String>,
    shell: Option<String>,
}

/// The far end: `postrider examine`.
///
/// # Errors
/// When nobody listens.
pub fn serve() -> io::Result<()> {
    let (mut input, mut output) = (io::stdin().lock(), io::stdout().lock());
    say(&mut output, &Facts::of_here())?;
    let mut buffer = vec![0; 256 << 10];
    let mut request = [0; 16];
    // The end of the input is the end of the examination.
    while input.read_exact(&mut request).is_ok() {
        let (to, from) = numbers(request);
        if to == CLOCK {
            output.write_all(&nanoseconds().to_le_bytes())?;
        } else if to == REACH {
            let mut errand = vec![0; from.min(LINE_BYTES_MAX as u64) as usize];
            input.read_exact(&mut errand)?;
            say(&mut output, &reach(&serde_json::from_slice(&errand)?))?;
        } else {
            take(&mut input, to.min(BYTES_MAX), &mut buffer)?;
            give(&mut output, from.min(BYTES_MAX), &buffer)?;
        }
        output.flush()?;
    }
    Ok(())
}

fn numbers(request: [u8; 16]) -> (u64, u64) {
    let both = u128::from_le_bytes(request);
    (both as u64, (both >> 64) as u64)
}

fn take(input: &mut impl Read, mut bytes: u64, buffer: &mut [u8]) -> io::Result<()> {
    while bytes > 0 {
        let piece = bytes.min(buffer.len() as u64) as usize;
        input.read_exact(&mut buffer[..piece])?;
        bytes -= piece as u64;
    }
    Ok(())
}

fn give(output: &mut impl Write, mut bytes: u64, buffer: &[u8]) -> io::Result<()> {
    while bytes > 0 {
        let piece = bytes.min(buffer.len() as u64) as usize;
        output.write_all(&buffer[..piece])?;
        bytes -= piece as u64;
    }
    Ok(())
}

/// Writes a line of JSON.
fn say(output: &mut impl Write, what: &impl Serialize) -> io::Result<()> {
    let mut line = serde_json::to_vec(what)?;
    line.push(b'\n');
    output.write_all(&line)?;
    output.flush()
}

/// Tries to reach other hosts from here.
fn reach(errand: &Errand) -> Vec<Reached> {
    let shell = match RemoteShell::new(errand.shell.as_deref()) {
        Ok(shell) => shell,
        Err(error) => {
            let refused = |host: &String| Reached { host: host.clone(), error: Some(error.clone()) };
            return errand.hosts.iter().map(refused).collect();
        }
    };
    let results = shell.open_all(&errand.hosts, &["examine".into()], |_| {});
    let reached = |(host, result): (&String, Result<Remote, String>)| {
        let error = result.map(Remote::close).err();
        Reached { host: host.clone(), error }
    };
    errand.hosts.iter().zip(results).map(reached).collect()
}

fn nanoseconds() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(now.as_nanos()).unwrap_or(0)
}

/// Reads the facts of a host, which it tells without being asked.
///
/// # Errors
/// When they do not come, or are something else.
pub fn facts(remote: &mut Remote) -> Result<Facts, String> {
    line(remote, ANSWER_LIMIT)
}

/// Asks a host to reach others; [`reached`] has its answer.
///
/// # Errors
/// When the connection breaks or stalls.
pub fn send_to(remote: &mut Remote, hosts: Vec<String>, shell: Option<&str>) -> io::Result<()> {
    let errand = serde_json::to_vec(&Errand { hosts, shell: shell.map(str::to_owned) })?;
    let request = [&REACH.to_le_bytes()[..], &(errand.len() as u64).to_le_bytes(), &errand].concat();
    let mut input = File::from(remote.input.try_clone()?);
    pipes::write(&mut input, &request, ANSWER_LIMIT)
}

/// Whom a host has reached.
///
/// # Errors
/// When the answer does not come, or is something else.
pub fn reached(remote: &mut Remote) -> Result<Vec<Reached>, String> {
    line(remote, REACH_LIMIT)
}

/// The next line that the far end says. Nothing follows it before something else is asked for.
fn line<T: DeserializeOwned>(remote: &mut Remote, limit: Duration) -> Result<T, String> {
    let mut line = Vec::new();
    let mut output = File::from(remote.output.try_clone().map_err(|error| error.to_string())?);
    while !line.ends_with(b"\n") {
        let mut piece = [0; 4096];
        match pipes::read(&mut output, &mut piece, limit) {
            Ok(bytes @ 1..) if line.len() <= LINE_BYTES_MAX => line.extend_from_slice(&piece[..bytes]),
            Ok(0) => return Err("the connection has ended".to_owned()),
            Ok(_) => return Err("it tells too much".to_owned()),
            Err(error) => return Err(error.to_string()),
        }
    }
    serde_json::from_slice(&line).map_err(|error| format!("it tells nonsense: {error}"))
}

/// Measures the connection.
///
/// # Errors
/// When it breaks or stalls.
pub fn measure(remote: &mut Remote) -> io::Result<Pipe> {
    let mut line = Line {
        input: remote.input.try_clone()?.into(),
        output: remote.output.try_clone()?.into(),
        buffer: vec![0; 256 << 10],
    };
    let mut trips = Vec::with_capacity(ROUND_TRIPS);
    for _ in 0..ROUND_TRIPS {
        trips.push(line.exchange(1, 1)?);
    }
    trips.sort();
    let clock_skew_ms = line.clock_skew_ms()?;
    Ok(Pipe {
        round_trip_us: trips[ROUND_TRIPS / 2].as_secs_f64() * 1e6,
        to_mib_per_s: line.speed(|bytes| (bytes, 1))?,
        from_mib_per_s: line.speed(|bytes| (0, bytes))?,
        clock_skew_ms,
    })
}

/// The near end of a connection.
struct Line {
    input: File,
    output: File,
    buffer: Vec<u8>,
}

impl Line {
    /// The time that it takes to send `to` bytes and get `from` bytes.
    fn exchange(&mut self, to: u64, from: u64) -> io::Result<Duration> {
        let begun = Instant::now();
        let mut request = [to.to_le_bytes(), from.to_le_bytes()].concat();
        if to <= 16 {
            request.resize(16 + to as usize, 0);
        }
        pipes::write(&mut self.input, &request, ANSWER_LIMIT)?;
        let mut left = if to <= 16 { 0 } else { to };
        while left > 0 {
            let piece = left.min(self.buffer.len() as u64) as usize;
            pipes::write(&mut self.input, &self.buffer[..piece], ANSWER_LIMIT)?;
            left -= piece as u64;
        }
        self.receive(from)?;
        Ok(begun.elapsed())
    }

    fn receive(&mut self, mut bytes: u64) -> io::Result<()> {
        while bytes > 0 {
            let piece = bytes.min(self.buffer.len() as u64) as usize;
            match pipes::read(&mut self.output, &mut self.buffer[..piece], ANSWER_LIMIT)? {
                0 => return Err(io::ErrorKind::UnexpectedEof.into()),
                read => bytes -= read as u64,
            }
        }
        Ok(())
    }

    /// Speed in MiB/s: the best of transfers that become longer until they take long enough. The first is short and fills
    /// buffers and windows.
    fn speed(&mut self, request: impl Fn(u64) -> (u64, u64)) -> io::Result<f64> {
        let mut best = 0.0_f64;
        for bytes in [1_u64, 4, 16, 64].map(|mib| mib << 20) {
            let (to, from) = request(bytes);
            let time = self.exchange(to, from)?;
            best = best.max((bytes >> 20) as f64 / time.as_secs_f64().max(1e-9));
            if time >= ENOUGH && bytes > 1 << 20 {
                break;
            }
        }
        Ok(best)
    }

    /// The far clock against the near one, taken in the middle of the question.
    fn clock_skew_ms(&mut self) -> io::Result<f64> {
        let before = nanoseconds();
        pipes::write(&mut self.input, &[CLOCK.to_le_bytes(), [0; 8]].concat(), ANSWER_LIMIT)?;
        self.receive(8)?;
        let after = nanoseconds();
        let bytes = self.buffer[..8].try_into().unwrap_or_default();
        let middle = (before as f64 + after as f64) / 2.0;
        Ok((u64::from_le_bytes(bytes) as f64 - middle) / 1e6)
    }
}
