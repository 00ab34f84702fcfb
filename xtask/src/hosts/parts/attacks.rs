//! What another user of a host may have put in the way of a job, under names that can be guessed: nothing of it is followed, used or run.

use crate::hosts::runner::{Arguments, Case, Stage};
use crate::hosts::watch::Ended;
use anyhow::{Result, ensure};

/// Somebody who has no rights here but those that everybody has.
const ATTACKER: &str = "setpriv --reuid=65534 --regid=65534 --clear-groups";
/// Names that the directories of jobs of root might have.
const PLACES: [&str; 2] = ["/tmp/postrider-0", "/tmp/postrider-0-1-0"];

/// The cases; they need hosts on which root is root.
pub fn cases(arguments: &Arguments) -> Vec<Case> {
    let undisturbed = |name: &str, attack: &dyn Fn(&str) -> String| {
        let command = arguments.launch(&["--transport", "file", "--hosts", "h1"], None, &["true"]);
        let attack = format!("{ATTACKER} mkdir -m 777 /tmp/theirs && {}", PLACES.map(attack).join(" && "));
        attacked(name, attack, command, |stage, ended| {
            let untouched = stage.run(1, &shell("test -z \"$(ls -A /tmp/theirs)\""))?.exited(0);
            let there = PLACES.map(|place| format!("test -e {place}")).join(" && ");
            let right = untouched && ended.exited(0) && stage.run(1, &shell(&there))?.exited(0);
            Ok((!right).then(|| ended.problem("expected that the job runs, and touches nothing of theirs")))
        })
    };
    vec![
        undisturbed("a link of another user", &|place| format!("{ATTACKER} ln -s /tmp/theirs {place}")),
        undisturbed("a directory of another user", &|place| format!("{ATTACKER} mkdir -m 700 {place}")),
        undisturbed("a directory that others may enter", &|place| format!("mkdir -m 770 {place}")),
        executable(arguments, "an executable of another user", "root"),
        executable(arguments, "an executable of a user who has the number of its owner here", "65534"),
        folder_of_programs(arguments),
    ]
}

/// An executable of another user at the path that the launcher has on its own host, where it belongs to `owner`.
fn executable(arguments: &Arguments, name: &str, owner: &str) -> Case {
    let attack = format!(
        "{ATTACKER} sh -c 'umask 0; mkdir -p /tmp/copy/bin; printf \"#!/bin/sh\\ntouch /tmp/taken\\n\" >/tmp/copy/bin/postrider;
         chmod 777 /tmp/copy/bin/postrider'"
    );
    let prefix = arguments.prefix();
    let command = format!(
        "mkdir /tmp/copy && cp -r {0}/bin {0}/lib /tmp/copy/ && chown -R {owner} /tmp/copy &&
         /tmp/copy/bin/postrider run --hosts h1 hostname; code=$?; rm -r /tmp/copy; exit $code",
        prefix.display()
    );
    attacked(name, attack, shell(&command), nothing_taken)
}

/// A folder of another user at a path that is in the launcher's `PATH`.
fn folder_of_programs(arguments: &Arguments) -> Case {
    let attack = format!(
        "{ATTACKER} sh -c 'umask 0; mkdir -p /tmp/copy/bin; printf \"#!/bin/sh\\ntouch /tmp/taken\\n\" >/tmp/copy/bin/hostname;
         chmod 777 /tmp/copy/bin/hostname'"
    );
    let command = format!("PATH=/tmp/copy/bin:$PATH {} run --hosts h1 hostname", arguments.launcher());
    attacked("a folder of another user in PATH", attack, shell(&command), nothing_taken)
}

/// Whether the job ran, and nothing of the attacker's.
fn nothing_taken(stage: &Stage<'_>, ended: &Ended) -> Result<Option<String>> {
    let taken = stage.run(1, &shell("test -e /tmp/taken"))?.exited(0);
    let right = !taken && ended.exited(0) && ended.output.trim() == "h1";
    Ok((!right).then(|| ended.problem("expected that it is not run, and the job is")))
}

/// An attack on h1, and then a command on h0.
fn attacked(
    name: &str,
    attack: String,
    command: Vec<String>,
    judge: impl Fn(&Stage<'_>, &Ended) -> Result<Option<String>> + Send + Sync + 'static,
) -> Case {
    Case::new(name, move |stage| {
        let prepared = stage.run(1, &shell(&attack))?;
        ensure!(prepared.exited(0), "{}", prepared.problem("the attack cannot be prepared"));
        let judged = stage.run(0, &command).and_then(|ended| judge(stage, &ended));
        let _nothing_there =
            stage.run(1, &shell(&format!("rm -rf {} /tmp/theirs /tmp/copy /tmp/taken", PLACES.join(" "))))?;
        judged
    })
}

fn shell(script: &str) -> Vec<String> {
    ["sh", "-c", script].map(str::to_owned).into()
}
