//! What the doctor says: a table of hosts with the findings below, a list for this machine alone, or JSON.
//!
//! Everything that comes from other hosts is stripped of what could steer a terminal; colours are added afterwards, and only
//! where a person is looking.

use serde::Serialize;

use super::facts::{Facts, size};
use super::findings::Level;
use super::{Patient, Pipe};
use crate::colours::{BOLD, GREEN, RED, YELLOW, painted};
use crate::remote_shell::{build_id, harmless};

const HEAD: [&str; 10] =
    ["HOST", "CONNECT", "SHELL", "BUILD", "CORES", "SYSTEM", "TMPDIR", "ROUND TRIP", "THERE", "BACK"];

/// The examination as JSON.
///
/// # Errors
/// Never for what is known of hosts.
pub fn json(patients: &[Patient]) -> Result<String, String> {
    #[derive(Serialize)]
    struct Report<'a> {
        well: bool,
        build: String,
        hosts: &'a [Patient],
    }
    let well = patients.iter().all(Patient::is_well);
    let report = Report { well, build: build_id(), hosts: patients };
    let text = serde_json::to_string_pretty(&report).map_err(|error| error.to_string())?;
    Ok(text + "\n")
}

/// This machine's facts, and what they mean.
pub fn of_here(patient: &Patient) -> String {
    let Some(facts) = &patient.facts else { return String::new() };
    let mut rows = vec![
        ("host", facts.name.clone()),
        ("build", facts.build.clone()),
        ("system", format!("{} {}", facts.kernel, facts.machine)),
        ("cores", facts.cores.to_string()),
        ("memory", size(facts.memory_bytes)),
        ("TMPDIR", format!("{}, {}", facts.temporary.path.display(), facts.temporary.room())),
    ];
    for (name, path) in &facts.programs {
        rows.push((name, path.as_ref().map_or("not found".to_owned(), |path| path.display().to_string())));
    }
    let line = |(name, value): &(&str, String)| format!("{name:<10}{}\n", harmless(value.as_bytes()));
    rows.iter().map(line).collect::<String>() + &findings(std::slice::from_ref(patient))
}

/// One line for each host, and what was found.
pub fn table(patients: &[Patient], mesh: bool) -> String {
    let mut rows = vec![HEAD.map(str::to_owned)];
    rows.extend(patients.iter().map(row));
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..HEAD.len()).map(width).collect();
    let mut text = String::new();
    for (number, row) in rows.iter().enumerate() {
        let cells = row.iter().zip(&widths).map(|(cell, &width)| format!("{cell:<width$}"));
        let line = cells.collect::<Vec<_>>().join("  ");
        let colour = match number.checked_sub(1) {
            None => BOLD,
            Some(host) if patients[host].is_well() => GREEN,
            Some(_) => RED,
        };
        text += &format!("{}\n", painted(colour, line.trim_end()));
    }
    if mesh {
        let pairs = |patient: &Patient| (patient.reached.len(), reaches(patient));
        let (tried, well) =
            patients.iter().map(pairs).fold((0, 0), |sum, pair| (sum.0 + pair.0, sum.1 + pair.1));
        text += &format!("{well} of {tried} ways from host to host are open\n");
    }
    text + &findings(patients)
}

fn reaches(patient: &Patient) -> usize {
    patient.reached.iter().filter(|reached| reached.error.is_none()).count()
}

fn row(patient: &Patient) -> [String; HEAD.len()] {
    let dash = || "-".to_owned();
    let facts = patient.facts.as_ref();
    let of_facts = |cell: fn(&Facts) -> String| facts.map_or_else(dash, cell);
    let of_pipe = |cell: fn(&Pipe) -> String| patient.pipe.as_ref().map_or_else(dash, cell);
    let start_up = facts.and_then(|facts| facts.start_up_ms).filter(|_| !patient.copied);
    let cells = [
        patient.host.clone(),
        patient.connect_ms.map_or_else(dash, |ms| format!("{ms} ms")),
        start_up.map_or_else(dash, |ms| format!("{ms} ms")),
        of_facts(|_| String::new())
            + if facts.is_none() {
                ""
            } else if patient.copied {
                "copied"
            } else {
                "same"
            },
        of_facts(|facts| facts.cores.to_string()),
        of_facts(|facts| format!("{} {}", facts.kernel, facts.machine)),
        of_facts(|facts| facts.temporary.room()),
        of_pipe(|pipe| format!("{:.0} us", pipe.round_trip_us)),
        of_pipe(|pipe| format!("{:.0} MiB/s", pipe.to_mib_per_s)),
        of_pipe(|pipe| format!("{:.0} MiB/s", pipe.from_mib_per_s)),
    ];
    cells.map(|cell| harmless(cell.as_bytes()).replace('\n', " "))
}

/// What was found, the worst first, and a last line that says how it is altogether.
fn findings(patients: &[Patient]) -> String {
    let mut text = String::new();
    for level in [Level::Wrong, Level::Note] {
        for patient in patients {
            for finding in patient.findings.iter().filter(|finding| finding.level == level) {
                let (word, colour) = match level {
                    Level::Wrong => ("wrong", RED),
                    Level::Note => ("note", YELLOW),
                };
                // A host that cannot be reached is named by the message itself.
                let what = match finding.what.starts_with("host ") {
                    true => finding.what.clone(),
                    false => format!("host {}: {}", patient.host, finding.what),
                };
                text += &format!("{} {}\n", painted(colour, &format!("{word}:")), harmless(what.as_bytes()));
                if !finding.remedy.is_empty() {
                    text += &format!("  {}\n", harmless(finding.remedy.as_bytes()));
                }
            }
        }
    }
    let ill = patients.iter().filter(|patient| !patient.is_well()).count();
    match (ill, patients.len()) {
        (0, _) => text + &format!("{}\n", painted(GREEN, "all well")),
        (_, 1) => text + &format!("{}\n", painted(RED, "not well")),
        (ill, all) => text + &format!("{}\n", painted(RED, &format!("{ill} of {all} hosts are not well"))),
    }
}
