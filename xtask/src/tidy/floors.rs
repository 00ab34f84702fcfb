//! The floors of the house: who may use whom, and where unsafe code may be. ARCHITECTURE.md says why.

use super::Source;
use std::collections::BTreeSet;

/// The crates of the project, each with those of them that it may depend on.
const CRATES: &[(&str, &[&str])] = &[
    ("abi", &[]),
    // For tests only.
    ("fuzz", &[]),
    ("os", &["fuzz"]),
    ("engine", &["os", "abi", "fuzz"]),
    ("client", &["abi"]),
    ("io", &["client", "os", "abi"]),
    ("preload", &["io", "abi"]),
    ("overlap", &["client", "os", "abi"]),
    ("overlap-preload", &["overlap", "os", "abi"]),
    ("ipc", &["client", "os", "abi"]),
    ("ipc-preload", &["ipc", "os"]),
    ("libmpi", &["engine", "os", "abi", "io", "fuzz"]),
    ("postrider", &["ipc", "client", "os", "fuzz"]),
    ("slowfs", &[]),
];

/// Rooms of the engine that may only use certain others. All other rooms are chapters, and may use each other.
const ROOMS: &[(&str, &[&str])] = &[
    // An error names the communicator whose handler it goes to.
    ("error", &["objects"]),
    ("objects", &["error"]),
    ("info", &["error"]),
    ("datatypes", &["error"]),
    ("operations", &["datatypes", "error"]),
    ("transports", &["error"]),
    ("progress", &["deadlock", "transports", "error"]),
];

/// Where unsafe code may be.
const UNSAFE: &[&str] = &[
    "crates/os/",
    "crates/fuzz/src/allocator.rs",
    "crates/libmpi/src/parse.rs",
    "crates/libmpi/src/parse/",
    "crates/libmpi/src/callbacks.rs",
    "crates/libmpi/src/mpi_macro.rs",
    "crates/client/src/call.rs",
    "crates/client/src/call/",
    "crates/io/src/arguments.rs",
    // A system call that the standard library does not have, and callbacks of the program.
    "crates/io/src/disk.rs",
    "crates/io/src/representation.rs",
    "crates/preload/src/handlers.rs",
    "crates/preload/src/other_abi.rs",
    "crates/overlap/src/memory/statics.rs",
    "crates/overlap/src/memory/system.rs",
    "crates/overlap-preload/src/",
    "crates/overlap/src/files/system.rs",
    "crates/ipc/src/space/memory.rs",
    "crates/ipc/src/space/lock.rs",
    "crates/ipc/src/space/system.rs",
    "crates/ipc/src/calls/user.rs",
    "crates/ipc-preload/src/",
    // Types of C functions, which are unsafe to call.
    "crates/abi/src/types.rs",
];

/// What the root of a crate has to say about unsafe code.
const ATTRIBUTES: &[(&str, &str)] = &[
    ("crates/abi/src/lib.rs", "#![forbid(unsafe_code)]"),
    ("crates/engine/src/lib.rs", "#![forbid(unsafe_code)]"),
    ("crates/client/src/lib.rs", "#![deny(unsafe_code)]"),
    ("crates/io/src/lib.rs", "#![deny(unsafe_code)]"),
    ("crates/preload/src/lib.rs", "#![deny(unsafe_code)]"),
    ("crates/overlap/src/lib.rs", "#![deny(unsafe_code)]"),
    ("crates/overlap-preload/src/lib.rs", "#![deny(unsafe_code)]"),
    ("crates/ipc/src/lib.rs", "#![deny(unsafe_code)]"),
    ("crates/libmpi/src/lib.rs", "#![deny(unsafe_code)]"),
    ("crates/postrider/src/main.rs", "#![deny(unsafe_code)]"),
    ("crates/slowfs/src/main.rs", "#![forbid(unsafe_code)]"),
];

/// One line for each arrow that points up, and for each piece of unsafe code in the wrong place.
pub fn violations(sources: &[Source]) -> Vec<String> {
    let mut violations = Vec::new();
    for source in sources {
        let parts: Vec<&str> = source.path.split('/').collect();
        match parts.as_slice() {
            ["crates", name, "Cargo.toml"] => violations.extend(dependencies(source, name)),
            ["crates", "engine", "src", room, ..] => violations.extend(rooms(source, room)),
            _ => {}
        }
        if source.path.ends_with(".rs") && !UNSAFE.iter().any(|place| source.path.starts_with(place)) {
            violations.extend(unsafe_code(source));
        }
        let attribute = ATTRIBUTES.iter().find(|(path, _)| *path == source.path);
        if let Some((path, attribute)) = attribute
            && !source.text.contains(attribute)
        {
            violations.push(format!("{path}: {attribute} is missing"));
        }
    }
    violations
}

/// Dependencies of a crate on others of the project that it may not have.
fn dependencies(source: &Source, name: &str) -> Vec<String> {
    let Some((_, allowed)) = CRATES.iter().find(|(known, _)| *known == name) else {
        return vec![format!("{}: say in {} which crates it may use", source.path, file!())];
    };
    let named = |line: &str| {
        let line = line.strip_prefix("postrider-")?;
        Some(line.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '-').collect::<String>())
    };
    let used = source.text.lines().filter_map(named);
    let used = used.filter(|used| !allowed.contains(&used.as_str()));
    used.map(|used| format!("{}: may not use postrider-{used}", source.path)).collect()
}

/// Uses of one room of the engine by another that may not use it.
fn rooms(source: &Source, room: &str) -> Vec<String> {
    let room = room.trim_end_matches(".rs");
    let Some((_, allowed)) = ROOMS.iter().find(|(known, _)| *known == room) else { return Vec::new() };
    if source.path.contains("/tests") {
        return Vec::new();
    }
    // Tests stand at the end, and prose may point anywhere.
    let code = source.text.split("\n#[cfg(test)]").next().unwrap_or_default();
    let code: String = code
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"))
        .flat_map(|line| [line, "\n"])
        .collect();
    let used = code.match_indices("crate::").flat_map(|(at, path)| modules(&code[at + path.len()..]));
    let used: BTreeSet<String> =
        used.filter(|used| used != room && !allowed.contains(&used.as_str())).collect();
    used.iter().map(|used| format!("{}: {room} may not use {used}", source.path)).collect()
}

/// The modules that a path begins with, or all those in its braces.
fn modules(path: &str) -> Vec<String> {
    let module = |path: &str| -> Option<String> {
        let name: String =
            path.chars().take_while(|letter| letter.is_ascii_lowercase() || *letter == '_').collect();
        let ends = !path[name.len()..].starts_with(|letter: char| letter.is_ascii_alphanumeric());
        (ends && !name.is_empty()).then_some(name)
    };
    let Some(group) = path.strip_prefix('{') else { return module(path).into_iter().collect() };
    let (mut depth, mut begins, mut found) = (1, true, Vec::new());
    for (at, letter) in group.char_indices() {
        match letter {
            '{' => depth += 1,
            '}' if depth == 1 => break,
            '}' => depth -= 1,
            ',' => begins = depth == 1,
            _ if begins && !letter.is_whitespace() => {
                found.extend(module(&group[at..]));
                begins = false;
            }
            _ => {}
        }
    }
    found
}

/// Lines with unsafe code; attributes such as `unsafe(no_mangle)` are not code.
fn unsafe_code(source: &Source) -> Vec<String> {
    let forms = ["unsafe {", "unsafe fn ", "unsafe impl ", "unsafe extern ", "unsafe trait "];
    let has =
        |line: &str| !line.trim_start().starts_with("//") && forms.iter().any(|form| line.contains(form));
    let lines = source.text.lines().enumerate().filter(|(_, line)| has(line) && !line.contains('"'));
    lines
        .map(|(number, _)| format!("{}:{}: unsafe code is not for this file", source.path, number + 1))
        .collect()
}
