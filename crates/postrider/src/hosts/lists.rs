//! Host lists on command lines, host files, and the compressed lists of schedulers: one grammar for all of them.
//!
//! Entries are separated by commas, blanks or lines. An entry is a name, perhaps with `:SLOTS`, perhaps followed by
//! words `slots=SLOTS` as in Open MPI's host files. A name may have bracketed ranges of numbers, `n[1-3,07-09]-ib`, each of which
//! stands for as many names. An IPv6 address is written in brackets.
//!
//! A name ends up on a command line. So it may only have letters, digits, dots, dashes and underscores, and may not begin with a
//! dash, as an option would; the same holds for the user in front of `@`. Nothing here trusts its input: numbers are bounded,
//! and so is how many hosts a range may stand for.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use super::Host;

/// Hosts that one list can name.
const HOSTS_MAX: usize = 1 << 16;
/// Slots that one host can have.
const SLOTS_MAX: u32 = 1 << 16;
/// Bytes of a host file.
const FILE_BYTES_MAX: u64 = 16 << 20;
/// Bytes of a name, as in the domain name system.
const NAME_BYTES_MAX: usize = 255;
/// Words of other launchers' host files that say nothing about the number of ranks.
const IGNORED: [&str; 7] =
    ["max_slots", "max-slots", "maxslots", "slots_max", "slots-max", "ifname", "binding"];

/// The hosts of a list such as `a,b:2`, `a slots=2`, `n[1-3,07-09]:4`, `user@host` or `[::1]:2`.
///
/// # Errors
/// What is wrong in it, and how it should be written.
pub fn parse_list(text: &str) -> Result<Vec<Host>, String> {
    let mut hosts = Vec::new();
    for entry in split_outside_brackets(text, |letter| letter == ',' || letter == '\n') {
        add_entry(entry, &mut hosts)?;
    }
    match hosts.is_empty() {
        true => Err("the host list names no host".to_owned()),
        false => Ok(hosts),
    }
}

/// The hosts of a host file: the entries of lists, line by line, with comments that begin with `#`.
///
/// # Errors
/// When the file cannot be read, names no host, or which line is wrong and why.
pub fn read_file(path: &Path) -> Result<Vec<Host>, String> {
    let shown = path.display();
    let text = read(path).map_err(|error| format!("the host file {shown} cannot be read: {error}"))?;
    let mut hosts = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let line = line.split('#').next().unwrap_or_default();
        if line.trim().is_empty() {
            continue;
        }
        let more = parse_list(line).map_err(|what| format!("{shown}, line {}: {what}", number + 1))?;
        hosts.extend(more);
        bounded(&hosts)?;
    }
    match hosts.is_empty() {
        true => Err(format!("the host file {shown} names no host")),
        false => Ok(hosts),
    }
}

/// A text file of bounded size.
pub(super) fn read(path: &Path) -> std::io::Result<String> {
    let mut text = String::new();
    File::open(path)?.take(FILE_BYTES_MAX + 1).read_to_string(&mut text)?;
    match text.len() as u64 > FILE_BYTES_MAX {
        true => Err(std::io::Error::other(format!("it has more than {FILE_BYTES_MAX} bytes"))),
        false => Ok(text),
    }
}

/// Adds the hosts of one entry: names, each perhaps followed by words `key=value`.
fn add_entry(entry: &str, hosts: &mut Vec<Host>) -> Result<(), String> {
    let mut first = hosts.len();
    let entry = joined(entry);
    for word in split_outside_brackets(&entry, char::is_whitespace) {
        let Some((key, value)) = word.split_once('=') else {
            first = hosts.len();
            add_hosts(word, hosts)?;
            continue;
        };
        match key {
            _ if first == hosts.len() => return Err(format!("{word:?} has no host before it")),
            "slots" => {
                let slots = slots(value, word)?;
                hosts[first..].iter_mut().for_each(|host| host.slots = Some(slots));
            }
            _ if IGNORED.contains(&key) => {}
            _ => return Err(format!("{word:?} is not understood; a host may be followed by slots=NUMBER")),
        }
    }
    Ok(())
}

/// The entry without blanks around `=`, which Open MPI allows.
fn joined(entry: &str) -> String {
    let parts: Vec<&str> = entry.split('=').map(str::trim).collect();
    parts.join("=")
}

/// Adds the hosts of one word: a name with ranges, and perhaps `:SLOTS`.
fn add_hosts(word: &str, hosts: &mut Vec<Host>) -> Result<(), String> {
    let (pattern, slots) = match split_slots(word)? {
        (pattern, Some(number)) => (pattern, Some(slots(number, word)?)),
        (pattern, None) => (pattern, None),
    };
    for name in expand(pattern)? {
        check_name(&name)?;
        hosts.push(Host { name, slots });
        bounded(hosts)?;
    }
    Ok(())
}

fn bounded(hosts: &[Host]) -> Result<(), String> {
    match hosts.len() > HOSTS_MAX {
        true => Err(format!("the host list names more than {HOSTS_MAX} hosts")),
        false => Ok(()),
    }
}

/// Parts between separators; those in brackets do not count, and empty parts are left out.
fn split_outside_brackets(text: &str, separates: impl Fn(char) -> bool) -> impl Iterator<Item = &str> {
    let mut depth = 0_u32;
    let parts = text.split(move |letter| {
        match letter {
            '[' => depth += 1,
            ']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0 && separates(letter)
    });
    parts.filter(|part| !part.trim().is_empty())
}

/// What stands before and after the colon that is not in brackets.
fn split_slots(word: &str) -> Result<(&str, Option<&str>), String> {
    let mut parts = split_outside_brackets(word, |letter| letter == ':');
    match (parts.next(), parts.next(), parts.next()) {
        (Some(name), None, _) if !word.contains(':') || name == word => Ok((name, None)),
        (Some(name), Some(slots), None) if word.len() == name.len() + 1 + slots.len() => {
            Ok((name, Some(slots)))
        }
        _ => Err(format!(
            "{word:?} is not understood: write HOST:SLOTS, an IPv6 address in brackets, a port in ~/.ssh/config"
        )),
    }
}

fn slots(number: &str, word: &str) -> Result<u32, String> {
    match number.parse() {
        Ok(slots @ 1..=SLOTS_MAX) if number.bytes().all(|byte| byte.is_ascii_digit()) => Ok(slots),
        _ => Err(format!("{number:?} in {word:?} is not a number of slots from 1 to {SLOTS_MAX}")),
    }
}

/// The names that a pattern stands for.
fn expand(pattern: &str) -> Result<Vec<String>, String> {
    let mut names = vec![String::new()];
    let mut rest = pattern;
    while let Some((before, after)) = rest.split_once('[') {
        let closed = after.split_once(']');
        let (inside, after) =
            closed.ok_or_else(|| format!("{pattern:?} has a bracket that is not closed"))?;
        let parts = match inside.contains(':') {
            true => vec![format!("[{inside}]")],
            false => numbers(inside, pattern)?,
        };
        if names.len().saturating_mul(parts.len()) > HOSTS_MAX {
            return Err(format!("{pattern:?} stands for more than {HOSTS_MAX} hosts"));
        }
        let extended =
            names.iter().flat_map(|name| parts.iter().map(move |part| format!("{name}{before}{part}")));
        names = extended.collect();
        if names.first().is_some_and(|name| name.len() > NAME_BYTES_MAX) {
            return Err(format!("{pattern:?} stands for names that are too long"));
        }
        rest = after;
    }
    names.iter_mut().for_each(|name| name.push_str(rest));
    Ok(names)
}

/// The numbers of a bracketed list, as they are written: `1-3,07-09` has leading zeros in its second part only.
fn numbers(list: &str, pattern: &str) -> Result<Vec<String>, String> {
    let wrong = || format!("{list:?} in {pattern:?} is not a list of numbers such as 1-3,7 or 01-12");
    let number = |digits: &str| {
        let all_digits = digits.bytes().all(|byte| byte.is_ascii_digit());
        let number = digits.parse().ok().filter(|_| all_digits && digits.len() <= 18);
        number.ok_or_else(wrong)
    };
    let mut numbers = Vec::new();
    for part in list.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let range: (u64, u64) = (number(first)?, number(last)?);
        let count = range.1.checked_sub(range.0).ok_or_else(wrong)?;
        if count >= HOSTS_MAX as u64 || numbers.len() as u64 + count >= HOSTS_MAX as u64 {
            return Err(format!("{pattern:?} stands for more than {HOSTS_MAX} hosts"));
        }
        let width = first.len();
        numbers.extend((range.0..=range.1).map(|number| format!("{number:0width$}")));
    }
    Ok(numbers)
}

/// Refuses whatever could be anything but a name to `ssh` or to a shell.
fn check_name(name: &str) -> Result<(), String> {
    let (user, host) = match name.split_once('@') {
        Some((user, host)) => (Some(user), host),
        None => (None, name),
    };
    let address = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
    let good = name.len() <= NAME_BYTES_MAX
        && user.is_none_or(is_plain)
        && address.map_or_else(|| is_plain(host), is_address);
    match good {
        true => Ok(()),
        false => Err(format!(
            "{name:?} is not the name of a host: letters, digits, dots, dashes and underscores make one, \
             perhaps with user@ in front, and it does not begin with a dash; slots follow a colon, as in host:2"
        )),
    }
}

fn is_plain(word: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    !word.is_empty() && !word.starts_with(['-', '.']) && word.bytes().all(plain)
}

/// An IPv6 address, perhaps with its zone: `fe80::1%eth0`.
fn is_address(text: &str) -> bool {
    let (address, zone) = text.split_once('%').map_or((text, None), |(address, zone)| (address, Some(zone)));
    address.parse::<std::net::Ipv6Addr>().is_ok() && zone.is_none_or(is_plain)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::io::Write;

    fn shown(hosts: &[Host]) -> String {
        let one = |host: &Host| match host.slots {
            Some(slots) => format!("{}={slots}", host.name),
            None => host.name.clone(),
        };
        hosts.iter().map(one).collect::<Vec<_>>().join(" ")
    }

    fn parsed(text: &str) -> String {
        shown(&parse_list(text).unwrap_or_else(|what| panic!("{text:?}: {what}")))
    }

    #[test]
    fn every_spelling_is_understood() {
        assert_eq!(parsed("a,b:2"), "a b=2");
        assert_eq!(parsed("a slots=2 max_slots=4"), "a=2");
        assert_eq!(parsed("a slots=2, b ,c:3\nd"), "a=2 b c=3 d");
        assert_eq!(parsed("a b  c:2"), "a b c=2");
        assert_eq!(parsed("n[1-3,07-09]:4"), "n1=4 n2=4 n3=4 n07=4 n08=4 n09=4");
        assert_eq!(
            parsed("n[08-11]-ib.cluster"),
            "n08-ib.cluster n09-ib.cluster n10-ib.cluster n11-ib.cluster"
        );
        assert_eq!(parsed("r[1-2]n[1,3] slots=2"), "r1n1=2 r1n3=2 r2n1=2 r2n3=2");
        assert_eq!(parsed("me@host:2,10.0.0.1"), "me@host=2 10.0.0.1");
        assert_eq!(
            parsed("[::1]:2,[fe80::1%eth0],me@[2001:db8::7]"),
            "[::1]=2 [fe80::1%eth0] me@[2001:db8::7]"
        );
    }

    #[test]
    fn host_files_of_other_launchers_are_read_as_they_are() {
        let files = [
            (
                "Open MPI",
                "# nodes\nn1 slots=4 max_slots=8\nn2 slots = 2 slots_max=4\nme@n3\n",
                "n1=4 n2=2 me@n3",
            ),
            ("MPICH", "n1:4\nn2:2 ifname=eth1 # fast\nn3 binding=rr\n", "n1=4 n2=2 n3"),
            ("Intel MPI", "n1:4\n\nn2\nn2\n", "n1=4 n2 n2"),
            ("PBS", "n1.cluster\nn1.cluster\nn2.cluster\n", "n1.cluster n1.cluster n2.cluster"),
            ("Windows", "n1 slots=2\r\n\r\n[::1]:2\r\n", "n1=2 [::1]=2"),
            ("no last line end", "n[01-03,10]:2", "n01=2 n02=2 n03=2 n10=2"),
        ];
        for (whose, text, expected) in files {
            let mut file = tempfile::NamedTempFile::new().expect("a file");
            file.write_all(text.as_bytes()).expect("it can be written");
            let hosts = read_file(file.path()).unwrap_or_else(|what| panic!("{whose}: {what}"));
            assert_eq!(shown(&hosts), expected, "{whose}");
        }
    }

    #[test]
    fn what_is_wrong_is_said() {
        let wrong = [
            ("", "no host"),
            (" , ,", "no host"),
            ("a:", "a:"),
            ("a:0", "slots"),
            ("a:+2", "slots"),
            ("a:x", "slots"),
            ("a:2:3", "brackets"),
            ("::1", "brackets"),
            (":2", ":2"),
            ("a slots=0", "slots"),
            ("slots=2", "no host before"),
            ("a colour=red", "colour"),
            ("n[1-3", "not closed"),
            ("n1-3]", "not the name"),
            ("n[3-1]", "list of numbers"),
            ("n[]", "list of numbers"),
            ("n[1-99999999]", "more than"),
            ("n[0-999]m[0-999]", "more than"),
            ("[nonsense:x]", "not the name"),
            ("-oProxyCommand=date", "no host before"),
            ("-F", "dash"),
            ("a*2", "host:2"),
            ("+n0", "not the name"),
            ("^a", "not the name"),
            ("n[1-3:2]", "not the name"),
            ("a slots =", "slots"),
            ("= 2", "no host before"),
            ("me@you@host", "not the name"),
            ("a@", "not the name"),
            ("\u{feff}a", "not the name"),
            ("me@-host", "dash"),
            ("-me@host", "dash"),
            ("a;date", "not the name"),
            ("$(date)", "not the name"),
            ("a`date`", "not the name"),
            ("a'b", "not the name"),
            ("a\\b", "not the name"),
            ("..", "not the name"),
        ];
        for (text, word) in wrong {
            let error = parse_list(text).expect_err(text);
            assert!(error.contains(word), "{text:?}: {error}");
        }
    }

    #[test]
    fn host_files_have_comments_and_their_errors_have_lines() {
        let mut file = tempfile::NamedTempFile::new().expect("a file");
        file.write_all(b"# ours\nn1 slots=2 # the fast one\n\nn2:4\r\nn1\n").expect("it can be written");
        assert_eq!(shown(&read_file(file.path()).expect("it is understood")), "n1=2 n2=4 n1");
        file.write_all(b"-n3\n").expect("it can be written");
        let error = read_file(file.path()).expect_err("it is refused");
        assert!(error.contains("line 6") && error.contains("-n3"), "{error}");
        let error = read_file(Path::new("/nonexistent/hosts")).expect_err("it is refused");
        assert!(error.contains("/nonexistent/hosts"), "{error}");
    }

    /// Whether a shell or `ssh` could take a word for anything but a plain word.
    fn is_dangerous(name: &str) -> bool {
        let plain = |letter: char| letter.is_ascii_alphanumeric() || "-_.@[]:%".contains(letter);
        name.split('@').any(|part| part.starts_with('-') || part.is_empty()) || !name.chars().all(plain)
    }

    proptest! {
        #[test]
        fn nothing_crashes_and_nothing_dangerous_is_accepted(text in "\\PC{0,40}") {
            if let Ok(hosts) = parse_list(&text) {
                prop_assert!(hosts.iter().all(|host| !is_dangerous(&host.name)), "{:?}", hosts);
            }
        }

        #[test]
        fn neither_with_the_letters_of_the_grammar(text in "[ab0-9,:@=\\[\\]\\- \n.%$;'`slots]{0,40}") {
            if let Ok(hosts) = parse_list(&text) {
                prop_assert!(hosts.iter().all(|host| !is_dangerous(&host.name)), "{:?}", hosts);
                prop_assert!(hosts.iter().all(|host| host.slots != Some(0)));
            }
        }

        #[test]
        fn a_range_is_what_it_stands_for(first in 0_u32..200, count in 1_u32..50, width in 1_usize..5, slots in 1_u32..9) {
            let last = first + count - 1;
            let range = format!("n[{first:0width$}-{last:0width$}]:{slots}");
            let each = |number| format!("n{number:0width$}={slots}");
            prop_assert_eq!(parsed(&range), (first..=last).map(each).collect::<Vec<_>>().join(" "));
        }

        #[test]
        fn plain_names_come_back(names in proptest::collection::vec("[a-z][a-z0-9.-]{0,12}", 1..9)) {
            prop_assert_eq!(parsed(&names.join(",")), names.join(" "));
            prop_assert_eq!(parsed(&names.join("\n")), names.join(" "));
        }
    }
}
