//! What the hints of a spawn say (MPI 5.0, section 11.8.4): where and what to start, and how many processes.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use postrider_abi::{MPI_ERR_INFO_VALUE, MPI_ERR_SPAWN};
use postrider_engine::error::{Error, Result};
use postrider_engine::info::Info;
use postrider_os::process;

/// The keys that the standard reserves, `file` apart.
const KEYS: [&str; 5] = ["host", "arch", "wdir", "path", "soft"];

fn wrong(key: &str, value: &str, why: &str) -> Error {
    Error::new(MPI_ERR_INFO_VALUE, format!("the hint {key} is \"{value}\": {why}"))
}

/// The hints with those of the file that `file` names: a line `key=value` for each that is not given otherwise.
///
/// # Errors
/// When the file cannot be read, or a line is none.
pub fn with_file(mut hints: Info) -> Result<Info> {
    let Some(file) = hints.value("file").map(OsStr::from_bytes).map(OsStr::to_os_string) else {
        return Ok(hints);
    };
    let refused = |why: String| wrong("file", &file.to_string_lossy(), &why);
    let bytes = std::fs::read(&file).map_err(|error| refused(error.to_string()))?;
    let lines = bytes.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii);
    for line in lines.filter(|line| !line.is_empty() && !line.starts_with(b"#")) {
        let middle = line.iter().position(|&byte| byte == b'=').map(|place| line.split_at(place));
        let key =
            middle.and_then(|(key, _)| KEYS.into_iter().find(|known| known.as_bytes() == key.trim_ascii()));
        let (Some(key), Some((_, value))) = (key, middle) else {
            let (line, keys) = (String::from_utf8_lossy(line), KEYS.join(", "));
            return Err(refused(format!("its line \"{line}\" is not KEY=VALUE with one of the keys {keys}")));
        };
        if hints.value(key).is_none() {
            hints.set(key, value[1..].trim_ascii())?;
        }
    }
    Ok(hints)
}

/// Makes sure that processes can be started where the hints want them: on this host.
///
/// # Errors
/// When another host or another kind of machine is wanted.
pub fn check_place(hints: &Info) -> Result<()> {
    let own = process::host_name();
    let is_here = |host: &str| host == "localhost" || host == own || own.split('.').next() == Some(host);
    let shown = |key: &str| hints.value(key).map(String::from_utf8_lossy);
    if let Some(host) = shown("host").filter(|host| !is_here(host)) {
        let detail =
            format!("cannot start processes on host {host}: they are started on this host, {own}, only");
        return Err(Error::new(MPI_ERR_SPAWN, detail));
    }
    let machine = std::env::consts::ARCH;
    if let Some(arch) = shown("arch").filter(|arch| *arch != machine) {
        return Err(Error::new(
            MPI_ERR_SPAWN,
            format!("there is no machine of type {arch} here, but {machine}"),
        ));
    }
    Ok(())
}

/// The program: a name without a slash is looked for in the directories that `path` lists, separated by colons, if there is
/// such a hint; what is not there is looked for as always.
pub fn program(command: Vec<u8>, hints: &Info) -> Vec<u8> {
    let directories = hints.value("path").filter(|_| !command.contains(&b'/')).unwrap_or_default();
    let found = directories.split(|&byte| byte == b':').filter(|directory| !directory.is_empty());
    let name = OsStr::from_bytes(&command);
    let found =
        found.map(|directory| Path::new(OsStr::from_bytes(directory)).join(name)).find(|path| path.is_file());
    found.map_or(command, |path| path.into_os_string().into_encoded_bytes())
}

/// How many processes are started: as many as were asked for, or the greatest number that `soft` allows. Numbers are separated
/// by commas; `a:b` is a, a+1, … b, and `a:b:c` is a, a+c, … as far as b.
///
/// # Errors
/// When the text is no such list, or allows no number that is possible.
pub fn processes(most: u32, hints: &Info) -> Result<u32> {
    let Some(soft) = hints.value("soft").map(String::from_utf8_lossy) else { return Ok(most) };
    let mut best = None;
    for part in soft.split(',') {
        let numbers: Option<Vec<i64>> = part.split(':').map(|number| number.trim().parse().ok()).collect();
        let (first, last, step) = match numbers.as_deref() {
            Some([only]) => (*only, *only, 1),
            Some([first, last]) => (*first, *last, 1),
            Some([first, last, step]) if *step != 0 => (*first, *last, *step),
            _ => return Err(wrong("soft", &soft, "it is not a list of numbers, a:b or a:b:c")),
        };
        best = best.max(greatest(first, last, step, i64::from(most)));
    }
    best.and_then(|best| u32::try_from(best).ok()).ok_or_else(|| {
        let detail = format!("the hint soft, \"{soft}\", allows no number from 1 to {most}");
        Error::new(MPI_ERR_SPAWN, detail)
    })
}

/// The greatest number from 1 to `most` of those from `first` to `last` by `step`.
fn greatest(first: i64, last: i64, step: i64, most: i64) -> Option<i64> {
    let way = last.checked_sub(first)?;
    let steps = way.checked_div(step).filter(|_| way == 0 || (way > 0) == (step > 0))?;
    let end = first + steps * step;
    let (low, high, step) = if step > 0 { (first, end, step) } else { (end, first, step.checked_neg()?) };
    let high = if high > most { high - high.saturating_sub(most).div_euclid(step) * step } else { high };
    let high = if high > most { high - step } else { high };
    (high >= low.max(1)).then_some(high)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn soft(most: u32, text: &str) -> Result<u32> {
        let mut hints = Info::default();
        hints.set("soft", text).unwrap();
        processes(most, &hints)
    }

    #[test]
    fn soft_allows_the_greatest_number_that_is_possible() {
        assert_eq!(processes(5, &Info::default()), Ok(5));
        for (most, text, expected) in [
            (5, "3", 3),
            (5, "0:5", 5),
            (5, "1:10:2", 5),
            (6, "1:10:2", 5),
            (5, "2:9:4", 2),
            (5, "9:1:-3", 3),
            (5, "1, 4,9", 4),
            (100, "1:1000000000000:7", 99),
        ] {
            assert_eq!(soft(most, text), Ok(expected), "{text} up to {most}");
        }
    }

    #[test]
    fn what_soft_does_not_allow_is_refused() {
        for text in ["", "a", "1:2:3:4", "1:5:0", "1;2"] {
            assert_eq!(soft(5, text).unwrap_err().class, MPI_ERR_INFO_VALUE, "{text}");
        }
        for text in ["6", "0", "-3:0", "9:20", "5:1"] {
            assert_eq!(soft(5, text).unwrap_err().class, MPI_ERR_SPAWN, "{text}");
        }
    }

    #[test]
    fn every_soft_list_is_what_counting_gives() {
        for (first, last, step, most) in
            (-3..8).flat_map(|a| (-3..8).flat_map(move |b| (-4..5).map(move |c| (a, b, c, 5_i64))))
        {
            let mut counted = Vec::new();
            let mut number = first;
            while step != 0 && (if step > 0 { number <= last } else { number >= last }) {
                counted.push(number);
                number += step;
            }
            let expected = counted.into_iter().filter(|number| (1..=most).contains(number)).max();
            let found = if step == 0 { None } else { greatest(first, last, step, most) };
            assert_eq!(found, expected, "{first}:{last}:{step}");
        }
    }

    #[test]
    fn another_place_is_refused() {
        let mut hints = Info::default();
        hints.set("host", "localhost").unwrap();
        assert!(check_place(&hints).is_ok());
        hints.set("host", "no-such-host").unwrap();
        assert_eq!(check_place(&hints).unwrap_err().class, MPI_ERR_SPAWN);
    }
}
