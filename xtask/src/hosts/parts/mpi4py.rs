//! A part of mpi4py's suite with three ranks on h1, h2 and h3, each way of transfer; with `--all`, the whole suite, but not by scp.

use super::programs;
use crate::hosts::bed::{Firewall, Options};
use crate::hosts::runner::{Arguments, Case, Stage, Way};
use crate::mpi4py::records::Records;
use crate::mpi4py::{Suite, last_lines};
use crate::rotation::Rotation;
use crate::workspace;
use anyhow::{Context, Result};
use std::sync::Arc;

/// The modules that run by default: messages, collectives, communicators.
const MODULES: &[&str] = &["test_p2p_buf", "test_cco_obj", "test_cco_buf", "test_comm"];

/// By scp each message takes a process.
const MODULES_BY_SCP: &[&str] = &["test_comm"];

/// With `--rotation` so many of these run, each one way.
const SHARE: usize = 3;

/// After how many seconds a single test hangs: one may be a hundred messages, and each of them a process.
const TEST_SECONDS: &str = "240";

/// How much longer all of them may take than a program that hangs: by scp on a busy machine that is minutes.
const PATIENCE: u32 = 10;

/// The bed and the cases.
pub fn plan(arguments: &Arguments) -> Result<(Options, Vec<Case>)> {
    let suite = Arc::new(Suite::prepare()?);
    let mut cases = Vec::new();
    for &way in &arguments.ways {
        for &ranks in &arguments.ranks {
            let modules = match way {
                Way::FileScp => MODULES_BY_SCP,
                _ if arguments.all => &[],
                _ => MODULES,
            };
            let whole = (arguments.all && modules.is_empty()).then(Vec::new);
            for module in modules.iter().map(|&module| vec![module.to_owned()]).chain(whole) {
                let (suite, arguments) = (Arc::clone(&suite), arguments.clone());
                let shown = module.first().map_or("all", String::as_str);
                let name = format!("{shown} ranks {ranks} {}", way.name());
                cases.push(Case::new(name, move |stage| run(stage, &arguments, &suite, ranks, way, &module)));
            }
        }
    }
    if let Some(word) = &arguments.rotation {
        cases = Rotation::of_word(word).share("mpi4py over hosts", cases, SHARE);
    }
    // The whole suite has a test that opens a connection of its own, which the library knows nothing of.
    let firewall = if arguments.all { Firewall::No } else { Firewall::Yes };
    Ok((Options { firewall, ..Options::default() }, cases))
}

fn run(
    stage: &Stage<'_>,
    arguments: &Arguments,
    suite: &Suite,
    ranks: usize,
    way: Way,
    modules: &[String],
) -> Result<Option<String>> {
    let folder = stage.bed.shared().join("records");
    std::fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;
    let script = workspace::root().join("tests/mpi4py/suite.py").display().to_string();
    let (python, tests) = (suite.python.display().to_string(), suite.tests.display().to_string());
    let mut program = vec![python.as_str(), &script, &tests, "/shared/records", TEST_SECONDS];
    let options = suite.options(modules)?;
    program.extend(options.iter().map(String::as_str));
    let hosts = programs::hosts(ranks);
    // All ranks see the same files there.
    let launching = ["--label", "--hosts", &hosts, "-x", "TMPDIR=/shared"];
    let command = arguments.launch(&launching, Some(way), &program);
    let ended = stage.run_within(0, &command, stage.limit * PATIENCE)?;
    let records = Records::read(&folder, ranks)?;
    std::fs::remove_dir_all(&folder)?;
    let mut problems: Vec<String> = records
        .failures()
        .map(|(test, explanation)| format!("FAILED {test}\n{}", last_lines(&explanation)))
        .collect();
    if !ended.exited(0) || records.passed() == 0 {
        problems.push(last_lines(&ended.problem("the suite has not come to its end")));
    }
    Ok((!problems.is_empty()).then(|| problems.join("\n")))
}
