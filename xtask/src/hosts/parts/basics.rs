//! Launching over hosts, with programs that need no MPI: which ranks are where, what they are given, and how they end.

use crate::hosts::bed::Options;
use crate::hosts::runner::{Arguments, Case, Stage};
use crate::hosts::watch::Ended;
use anyhow::Result;

/// The bed and the cases.
pub fn plan(arguments: &Arguments) -> (Options, Vec<Case>) {
    let mut cases = placements(arguments);
    cases.extend(endings(arguments));
    let launcher = arguments.launcher();
    let doctor = [&launcher, "doctor", "--hosts", "h1,h2,h3"].map(str::to_owned);
    cases.push(Case::command("doctor finds nothing wrong", doctor.into(), |ended| {
        let names_all = ["h1", "h2", "h3"].iter().all(|host| ended.output.contains(host));
        (!ended.exited(0) || !names_all).then(|| ended.problem("expected exit code 0 and all names"))
    }));
    cases.push(inheritance(arguments));
    cases.extend(super::attacks::cases(arguments));
    let copied = arguments.clone();
    cases.push(Case::new("a build that is only on h0", move |stage| only_on_h0(&copied, stage)));
    (Options::default(), cases)
}

/// Where the ranks are, and what they find there.
fn placements(arguments: &Arguments) -> Vec<Case> {
    let case = |name: &str, options: &[&str], program: &[&str], expected: &'static [&'static str]| {
        let command = arguments.launch(options, None, program);
        Case::command(name, command, move |ended| sorted(ended, expected))
    };
    let file = "printf 'h1 slots=2\\nh2:1 # the second\\n' >/tmp/hosts && ";
    let in_shell = |before: &str, options: &[&str], program: &[&str]| {
        let words = arguments.launch(options, None, program).join(" ");
        ["sh", "-c", &format!("{before}{words}; code=$?; rm -f /tmp/hosts; exit $code")]
            .map(str::to_owned)
            .into()
    };
    vec![
        case("counts behind names", &["--hosts", "h1:2,h2"], &["hostname"], &["h1", "h1", "h2"]),
        case("ranges of names", &["--hosts", "h[1-3]"], &["hostname"], &["h1", "h2", "h3"]),
        case("fewer ranks than places", &["-n", "2", "--hosts", "h1:2,h2"], &["hostname"], &["h1", "h1"]),
        case(
            "more ranks than places",
            &["-n", "4", "--hosts", "h1,h2"],
            &["hostname"],
            &["h1", "h1", "h2", "h2"],
        ),
        case("the host itself is one of them", &["--hosts", "h0,h1"], &["hostname"], &["h0", "h1"]),
        case("the working directory", &["--hosts", "h1,h2"], &["pwd"], &["/shared", "/shared"]),
        case(
            "a variable",
            &["--hosts", "h1,h2", "-x", "GREETING=hello"],
            &["sh", "-c", "echo $GREETING"],
            &["hello", "hello"],
        ),
        case("labels", &["--hosts", "h1,h2", "--label"], &["hostname"], &["[0] h1", "[1] h2"]),
        Case::command("a host file", in_shell(file, &["--hostfile", "/tmp/hosts"], &["hostname"]), |ended| {
            sorted(ended, &["h1", "h1", "h2"])
        }),
    ]
}

/// What ranks have from the shell in which the launcher was started is the same on all hosts. Descriptors are nobody's.
fn inheritance(arguments: &Arguments) -> Case {
    let rank = "'echo $(umask) $(ulimit -S -s) $(nice) $LANG $LC_TIME \
                $(grep -E \"Sig(Blk|Ign)\" /proc/self/status) $(test -e /proc/self/fd/7 && echo open)'";
    let job = arguments.launch(&["--hosts", "h0,h1,h2"], None, &["sh", "-c", rank]).join(" ");
    let script = format!(
        "umask 027; ulimit -S -s 4096; trap '' USR1; exec 7</dev/null; export LANG=C.UTF-8 LC_TIME=C;
         exec env --block-signal=URG nice -n $((5 - $(nice))) {job}"
    );
    Case::command("what ranks inherit", ["sh", "-c", &script].map(str::to_owned).into(), |ended| {
        let lines: Vec<&str> = ended.output.lines().collect();
        let alike = lines.len() == 3 && lines.iter().all(|line| line == &lines[0]);
        let signals = |name: &str| {
            let mut words = ended.output.split_whitespace().skip_while(|word| *word != name);
            words.nth(1).and_then(|word| u64::from_str_radix(word, 16).ok()).unwrap_or(0)
        };
        let blocked_and_ignored = signals("SigBlk:") == 1 << 22 && signals("SigIgn:") & 1 << 9 != 0;
        let begins = ended.output.starts_with("0027 4096 5 C.UTF-8 C Sig");
        let right =
            ended.exited(0) && alike && begins && blocked_and_ignored && !ended.output.contains("open");
        (!right).then(|| {
            ended
                .problem("expected the same from all ranks: umask 0027, 4096, 5, C.UTF-8, C, SIGURG, SIGUSR1")
        })
    })
}

/// How jobs end, and what is said then.
fn endings(arguments: &Arguments) -> Vec<Case> {
    let case = |name: &str, options: &[&str], program: &[&str], code: i32, words: &'static [&'static str]| {
        let command = arguments.launch(options, None, program);
        Case::command(name, command, move |ended| failed(ended, code, words))
    };
    let only_rank_1 =
        |action: &str| format!("if [ \"$(hostname)\" = h2 ]; then {action}; fi; exec sleep 1000");
    let (exits, killed) = (only_rank_1("exit 7"), only_rank_1("kill -SEGV $$"));
    let hosts = ["--hosts", "h1,h2"];
    vec![
        case("an exit code", &hosts, &["sh", "-c", &exits], 7, &["rank 1", "h2"]),
        case("a signal", &hosts, &["sh", "-c", &killed], 128 + 11, &["rank 1", "h2"]),
        case("no such program", &hosts, &["/nowhere/program"], 127, &["/nowhere/program"]),
        case("a time-out", &["--hosts", "h1,h2", "--timeout", "3"], &["sleep", "1000"], 124, &[]),
        case("an unknown host", &["--hosts", "h1,nowhere"], &["true"], 1, &["nowhere"]),
        case("nonsense for a list", &["--hosts", "h1:x"], &["true"], 2, &["h1:x"]),
    ]
}

/// The program is copied to hosts that do not have it, once, and leaves nothing but that copy.
fn only_on_h0(arguments: &Arguments, stage: &Stage<'_>) -> Result<Option<String>> {
    let prefix = arguments.prefix();
    let script = format!(
        "mkdir /tmp/copy && cp -r {0}/bin {0}/lib /tmp/copy/ && for turn in 1 2; do
         /tmp/copy/bin/postrider run --hosts h1,h2 hostname; done; code=$?; rm -r /tmp/copy; exit $code",
        prefix.display()
    );
    let ended = stage.run(0, &["sh".to_owned(), "-c".to_owned(), script])?;
    Ok(sorted(&ended, &["h1", "h1", "h2", "h2"]))
}

/// What is wrong unless it ended well and said these lines, in any order.
fn sorted(ended: &Ended, expected: &[&str]) -> Option<String> {
    let mut lines: Vec<&str> = ended.output.lines().collect();
    lines.sort_unstable();
    let right = ended.exited(0) && lines == expected && ended.error.is_empty();
    (!right).then(|| ended.problem(&format!("expected exit code 0 and {expected:?}")))
}

/// What is wrong unless it ended with this code and these words on standard error.
fn failed(ended: &Ended, code: i32, words: &[&str]) -> Option<String> {
    let missing = words.iter().find(|word| !ended.error.contains(**word));
    if let Some(word) = missing {
        return Some(ended.problem(&format!("nothing says {word:?}")));
    }
    (!ended.exited(code)).then(|| ended.problem(&format!("expected exit code {code}")))
}
