//! `postrider completions`: what a shell needs in order to complete the command lines of the executable's names.
//!
//! An installation has a file for each name and shell, because shells look for completions by the name of the command. Those of
//! compilers leave it to the shell what it knows of compilers, and add what `postrider cc` answers itself.

use std::io::{self, Write};

use clap_complete::generate;
use clap_complete::shells::{Bash, Fish, Zsh};

use crate::flags::Shell;
use crate::names;

/// What compilers are asked, and `postrider cc` answers itself.
const QUESTIONS: &str = "-show -compile_info -link_info";

/// Prints the script for these names, or for all, and returns the exit code.
pub fn print(shell: Shell, wanted: &[String]) -> i32 {
    let mut text = Vec::new();
    for name in names::all().filter(|name| wanted.is_empty() || wanted.iter().any(|one| one == name)) {
        if names::C_COMPILERS.contains(&name) {
            text.extend(compiler(shell, name, "gcc").into_bytes());
        } else if names::CXX_COMPILERS.contains(&name) {
            text.extend(compiler(shell, name, "g++").into_bytes());
        } else if names::FORTRAN_COMPILERS.contains(&name) {
            text.extend(compiler(shell, name, "gfortran").into_bytes());
        } else {
            launcher(shell, name, &mut text);
        }
    }
    match io::stdout().write_all(&text) {
        Ok(()) => 0,
        Err(error) => {
            eprintln!("postrider completions: cannot write: {error}");
            1
        }
    }
}

fn launcher(shell: Shell, name: &'static str, text: &mut Vec<u8>) {
    let mut command = names::command(name);
    match shell {
        Shell::Bash => generate(Bash, &mut command, name, text),
        Shell::Zsh => generate(Zsh, &mut command, name, text),
        Shell::Fish => generate(Fish, &mut command, name, text),
    }
}

fn compiler(shell: Shell, name: &str, like: &str) -> String {
    match shell {
        Shell::Bash => format!("complete -o bashdefault -o default -W '{QUESTIONS}' {name}\n"),
        Shell::Zsh => format!(
            "#compdef {name}\n\
             _{name}() {{\n    [[ $PREFIX != -* ]] || compadd -- {QUESTIONS}\n    _gcc \"$@\"\n}}\n\
             if [ \"$funcstack[1]\" = \"_{name}\" ]; then\n    _{name} \"$@\"\nelse\n    compdef _{name} {name}\nfi\n"
        ),
        Shell::Fish => {
            let question = |word: &str| format!(" -o {}", word.trim_start_matches('-'));
            let questions: String = QUESTIONS.split(' ').map(question).collect();
            format!("complete -c {name} --wraps {like}{questions} -d 'Ask what is added'\n")
        }
    }
}
