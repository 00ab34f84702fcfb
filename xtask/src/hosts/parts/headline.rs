//! The headline: from h0, examples in C, Python and Octave finish over h1, h2 and h3 with the right answer, while only port
//! 22 can be reached on any host; and an array that is distributed over them comes together without a byte that crosses twice.

use crate::environment::Environment;
use crate::hosts::bed::Options;
use crate::hosts::runner::{Arguments, Case, Stage};
use crate::workspace;
use anyhow::Result;
use std::process::Command;

/// The bed and the cases.
pub fn plan(arguments: &Arguments) -> Result<(Options, Vec<Case>)> {
    let examples = workspace::root().join("examples");
    let ring = workspace::target()?.join("hosts-programs/ring");
    std::fs::create_dir_all(ring.parent().expect("it is in a folder"))?;
    let mut compiler = Command::new(arguments.prefix().join("bin/mpicc"));
    workspace::run(compiler.arg(examples.join("c/ring.c")).arg("-o").arg(&ring))?;
    let python = Environment::prepare()?.python().display().to_string();
    let example = |path: &str| examples.join(path).display().to_string();
    let programs: [(&str, Vec<String>); 3] = [
        ("c", vec![ring.display().to_string()]),
        ("python", vec![python, example("python/ring.py")]),
        ("octave", vec!["octave".to_owned(), example("octave/ring.m")]),
    ];
    let case = |(name, program): (&str, Vec<String>)| {
        let words: Vec<&str> = program.iter().map(String::as_str).collect();
        let command = arguments.launch(&["--hosts", "h1:2,h2:2,h3:2"], None, &words);
        Case::command(name, command, |ended| ended.said_only("The sum of the ranks 0 to 5 is 15"))
    };
    let mut cases = vec![Case::new("only port 22 is open", only_port_22)];
    cases.extend(programs.into_iter().map(case));
    let counted = workspace::root().join("tests/hosts/programs/agg_crosses_once.m").display().to_string();
    let command = arguments.launch(&["--hosts", "h1:2,h2:2,h3:2"], None, &["octave", &counted]);
    cases.push(Case::command("agg", command, |ended| ended.said_only("each byte crosses once")));
    Ok((Options::default(), cases))
}

/// A server on h1 is not reached at another port, while sshd is: the firewall is no decoration.
fn only_port_22(stage: &Stage<'_>) -> Result<Option<String>> {
    let probe = "import socket, subprocess, sys
server = subprocess.Popen(['ssh', 'h1', 'exec python3 -c \"import socket; s = socket.create_server((str(), 4000)); print(1, flush=True); input()\"'],
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE)
server.stdout.readline()
socket.create_connection(('h1', 22), timeout=30).close()
try:
    socket.create_connection(('h1', 4000), timeout=2)
    sys.exit('port 4000 of h1 can be reached')
except TimeoutError:
    pass
server.communicate(b'\\n', timeout=30)
";
    let command = ["python3", "-c", probe].map(str::to_owned);
    Ok(stage.run(0, &command)?.said_only(""))
}
