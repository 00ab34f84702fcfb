//! The conversation with a host until this build runs there.
//!
//! The remote shell is given one command, `exec sh -c '...' WORD...`, made of `bootstrap.sh` and of words that no login shell
//! changes. What it prints is read byte by byte up to the line that says that the program begins, so that not a byte of the program's
//! own output is taken. Nothing is written to it before it asks: a login shell's start-up files might read it.
//!
//! Every wait has a limit, and text from the other side is bounded and never trusted.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::time::{Duration, Instant};

use rustix::event::PollFlags;

use super::build::{Content, Part, build_id, parts};
use super::pipes::{ready, write};

/// The script, with its comments.
const SCRIPT: &str = include_str!("bootstrap.sh");
/// How long a host may take for its next answer: a connection, slow start-up files, a slow disk.
const ANSWER_LIMIT: Duration = Duration::from_secs(60);
/// What start-up files may print.
const NOISE_BYTES_MAX: usize = 64 << 10;

/// How the far side came to run.
#[derive(Debug, Default)]
pub struct Arrived {
    /// The build was not there and has been copied.
    pub copied: bool,
    /// What start-up files have printed to standard output.
    pub noise: Vec<u8>,
}

/// Why the far side does not run.
#[derive(Debug)]
pub enum Failed {
    /// It has said why.
    Said(String),
    /// Its output has ended after this; the remote shell's error output tells more.
    Ended(Vec<u8>),
    /// Something of this side.
    Here(String),
}

/// The command for the remote shell, which finds `mark` in what the far side says.
pub fn command(mark: &str, arguments: &[OsString]) -> Result<String, String> {
    let own = std::env::current_exe().and_then(|path| path.canonicalize());
    let own = own.map_err(|error| format!("this executable cannot be found: {error}"))?;
    let build = build_id();
    if build.is_empty() {
        return Err("the files of this installation cannot be read".to_owned());
    }
    let system = rustix::system::uname();
    let system = format!("{} {}", system.sysname().to_string_lossy(), system.machine().to_string_lossy());
    let mut command = format!("exec sh -c '{}' sh", one_line(SCRIPT));
    let first = [OsStr::new(mark), OsStr::new(&build), OsStr::new(&system), own.as_os_str()];
    for word in first.into_iter().chain(arguments.iter().map(OsString::as_os_str)) {
        command.push_str(&format!(" '{}'", escaped(word)));
    }
    Ok(command)
}

/// The script without comments and line ends.
fn one_line(script: &str) -> String {
    let lines = script.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines.collect::<Vec<_>>().join(" ")
}

/// A word in letters that mean nothing to any shell inside single quotes; `printf %b` undoes it.
fn escaped(word: &OsStr) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_./:=+,@".contains(&byte);
    let letter = |&byte: &u8| match plain(byte) {
        true => char::from(byte).to_string(),
        false => format!("\\0{byte:03o}"),
    };
    word.as_bytes().iter().map(letter).collect()
}

/// Brings the far side, whose input and output these are, to where the program begins.
pub fn converse(mark: &str, input: &mut File, output: &mut File) -> Result<Arrived, Failed> {
    let mut arrived = Arrived::default();
    let (mut parts, mut all_sent) = (None, false);
    loop {
        let line = next_line(mark, output, &mut arrived.noise)?;
        match line.split_once(' ').unwrap_or((&line, "")) {
            ("found", _) => return Ok(arrived),
            ("copied", _) => {
                arrived.copied = true;
                return Ok(arrived);
            }
            ("failed", why) => return Err(Failed::Said(why.to_owned())),
            ("send", _) if !all_sent => {
                let parts = match &mut parts {
                    Some(parts) => parts,
                    None => parts.insert(all_parts()?.into_iter()),
                };
                let part = parts.next();
                all_sent = part.is_none();
                // Whoever does not take it says why, or his error output does.
                let sent = send(input, part);
                sent.or_else(|error| if is_end(&error) { Ok(()) } else { Err(here(&error)) })?;
            }
            _ => return Err(Failed::Said("something that is not understood answers there".to_owned())),
        }
    }
}

fn all_parts() -> Result<Vec<Part>, Failed> {
    parts().map_err(|error| here(&error))
}

fn here(error: &io::Error) -> Failed {
    Failed::Here(format!("this installation cannot be sent: {error}"))
}

fn is_end(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::BrokenPipe | io::ErrorKind::TimedOut)
}

/// The rest of the next line that has the mark. What comes before it goes to `noise`.
fn next_line(mark: &str, output: &mut File, noise: &mut Vec<u8>) -> Result<String, Failed> {
    let mark = format!("postrider-{mark}: ");
    let until = Instant::now() + ANSWER_LIMIT;
    let mut line = Vec::new();
    loop {
        if !ready(&*output, PollFlags::IN, until) {
            let seconds = ANSWER_LIMIT.as_secs();
            let why = "its shell's start-up files may hang or ask something";
            return Err(Failed::Said(format!("it has not answered for {seconds} seconds; {why}")));
        }
        let mut byte = [0];
        match output.read(&mut byte) {
            Ok(0) => {
                noise.append(&mut line);
                return Err(Failed::Ended(std::mem::take(noise)));
            }
            Ok(_) => line.push(byte[0]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(Failed::Here(format!("reading from the remote shell: {error}"))),
        }
        if line.ends_with(b"\n") {
            if let Some(at) = memchr::memmem::find(&line, mark.as_bytes()) {
                noise.extend_from_slice(&line[..at]);
                return Ok(String::from_utf8_lossy(&line[at + mark.len()..]).trim_end().to_owned());
            }
            noise.append(&mut line);
        }
        if noise.len() + line.len() > NOISE_BYTES_MAX {
            return Err(Failed::Said("the start-up files of its shell print without end".to_owned()));
        }
    }
}

/// Sends one part of the build, or that there is no other.
fn send(input: &mut File, part: Option<Part>) -> io::Result<()> {
    let Some(Part { path, content }) = part else { return write(input, b"end\n", ANSWER_LIMIT) };
    match content {
        Content::Link(target) => write(input, format!("link {target} {path}\n").as_bytes(), ANSWER_LIMIT),
        Content::File(source) => {
            let content = std::fs::read(source)?;
            write(input, format!("file {} {path}\n", content.len()).as_bytes(), ANSWER_LIMIT)?;
            write(input, &content, ANSWER_LIMIT)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::io::Write;
    use std::os::unix::ffi::OsStringExt;
    use std::process::Command;

    #[test]
    fn the_script_is_one_word_for_every_shell() {
        let line = one_line(SCRIPT);
        assert!(!line.contains(['\'', '!', '\\', '\n']) && !line.contains(" #"), "{line}");
        let checked = Command::new("sh").args(["-n", "-c", &line]).status().expect("sh starts");
        assert!(checked.success());
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]
        #[test]
        fn words_come_out_of_a_shell_as_they_were(bytes in proptest::collection::vec(1_u8..=255, 0..40)) {
            let word = escaped(&OsString::from_vec(bytes.clone()));
            prop_assert!(!word.contains(['\'', '!', '\n', ' ', '$', '`', '"']));
            let script = format!("printf %b '{word}'");
            let output = Command::new("sh").args(["-c", &script]).output().expect("sh starts");
            prop_assert_eq!(output.stdout, bytes);
        }
    }

    /// What a host says that finds a build at `own`, in a folder that is no home of anybody's build.
    fn answer_of_a_host_with(own: &std::path::Path, home: &std::path::Path) -> String {
        let words = ["-c", SCRIPT, "sh", "77", "build-7", "no such system"];
        let mut host = Command::new("sh");
        host.args(words).arg(own).env("HOME", home).env("TMPDIR", home).stdin(std::process::Stdio::null());
        String::from_utf8(host.output().expect("sh starts").stdout).expect("it is text")
    }

    #[test]
    fn a_build_that_others_could_exchange_is_not_run() {
        use std::fs::{Permissions, create_dir, hard_link, set_permissions, write};
        use std::os::unix::fs::{PermissionsExt, symlink};
        let folder = tempfile::tempdir().expect("a folder");
        let (above, home) = (folder.path().join("above"), folder.path().join("home"));
        let (bin, own) = (above.join("bin"), above.join("bin/postrider"));
        [&above, &bin, &home].iter().for_each(|folder| create_dir(folder).expect("it can be made"));
        write(&own, "#!/bin/sh\n[ $# -eq 0 ] || echo build-7\n").expect("it can be written");
        let allow = |path: &std::path::Path, mode| {
            set_permissions(path, Permissions::from_mode(mode)).expect("it is ours")
        };
        let is_run = |own: &std::path::Path| answer_of_a_host_with(own, &home).contains("found");
        let safe = || [&above, &bin, &own].iter().for_each(|path| allow(path, 0o755));
        safe();
        assert!(is_run(&own), "{}", answer_of_a_host_with(&own, &home));
        for (path, mode) in [(&own, 0o775), (&own, 0o757), (&bin, 0o775), (&bin, 0o1777), (&above, 0o777)] {
            safe();
            allow(path, mode);
            assert!(!is_run(&own), "{} with mode {mode:o}", path.display());
        }
        safe();
        allow(&above, 0o1777);
        assert!(is_run(&own), "a sticky directory above");
        symlink(&own, bin.join("link")).expect("it can be linked");
        assert!(!is_run(&bin.join("link")), "a link");
        hard_link(&own, above.join("postrider")).expect("it can be linked");
        assert!(!is_run(&above.join("postrider")), "a file that anybody could have linked there");
    }

    /// A file that holds what a far side has said.
    fn said(text: &[u8]) -> File {
        let mut file = tempfile::tempfile().expect("a file");
        file.write_all(text).expect("it can be written");
        std::io::Seek::rewind(&mut file).expect("it can be read again");
        file
    }

    #[test]
    fn not_a_byte_too_much_is_read() {
        let mut input = tempfile::tempfile().expect("a file");
        let mut output = said(b"Welcome!\nprompt> postrider-77: found\n\x00\x01program");
        let arrived = converse("77", &mut input, &mut output).expect("it is found");
        assert_eq!((arrived.copied, &arrived.noise[..]), (false, &b"Welcome!\nprompt> "[..]));
        let mut rest = Vec::new();
        output.read_to_end(&mut rest).expect("it can be read");
        assert_eq!(rest, b"\x00\x01program");
    }

    #[test]
    fn other_endings_are_told_apart() {
        let ends = |text: &[u8]| {
            let mut input = tempfile::tempfile().expect("a file");
            converse("77", &mut input, &mut said(text)).expect_err("it does not run")
        };
        assert!(matches!(ends(b"postrider-78: found\n"), Failed::Ended(said) if said.ends_with(b"found\n")));
        assert!(matches!(ends(b"postrider-77: failed no room\n"), Failed::Said(why) if why == "no room"));
        assert!(matches!(ends(b"postrider-77: hello\n"), Failed::Said(_)));
        assert!(
            matches!(ends(&b"noise\n".repeat(100_000)), Failed::Said(why) if why.contains("without end"))
        );
    }

    #[test]
    fn whatever_is_said_does_no_harm() {
        let samples =
            ["noise\npostrider-77: found\n\x01", "postrider-77: copied\n", "postrider-77: failed no room\n"];
        postrider_fuzz::survives(
            postrider_fuzz::bytes(samples.map(|said| said.as_bytes().to_vec())),
            |text| {
                let mut input = tempfile::tempfile().map_err(|error| error.to_string())?;
                match converse("77", &mut input, &mut said(&text)) {
                    Err(Failed::Said(why)) if why.len() > NOISE_BYTES_MAX => Err("it is long".to_owned()),
                    _ => Ok(()),
                }
            },
        );
    }

    #[test]
    fn nobody_is_served_without_end() {
        let mut input = tempfile::tempfile().expect("a file");
        let asked = b"postrider-77: send\n".repeat(10_000);
        let refused = converse("77", &mut input, &mut said(&asked)).expect_err("it asks for ever");
        assert!(matches!(refused, Failed::Said(_)), "{refused:?}");
    }
}
