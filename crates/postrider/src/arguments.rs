//! mpiexec's way of writing command lines, turned into the usual one.
//!
//! Two things differ: long options may have a single dash (`-np 4`, `-genv A B`), and colons separate the programs of a job.
//! Both are undone here, for `postrider run` only, and only left of each program's name: what follows it is the program's.
//! Which options exist and how many values they take is read from the table in `flags`, so that it is said once.

use std::ffi::OsString;

use clap::{Arg, CommandFactory};

use crate::flags::{Cli, LaterSection};

/// The command line for clap up to the first lone colon, and the sections after it, each ready for clap as well.
pub fn normalize(mut line: Vec<OsString>) -> (Vec<OsString>, Vec<Vec<OsString>>) {
    if line.get(1).is_none_or(|subcommand| subcommand != "run") {
        return (line, Vec::new());
    }
    let rest = line.split_off(2);
    let mut sections = rest.split(|argument| argument == ":").map(<[OsString]>::to_vec);
    let cli = Cli::command();
    let table: Vec<&Arg> =
        cli.find_subcommand("run").into_iter().flat_map(|run| run.get_arguments()).collect();
    line.extend(double_dashes(sections.next().unwrap_or_default(), &table));
    let cli = LaterSection::command();
    let table: Vec<&Arg> = cli.get_arguments().collect();
    let named = |section| {
        let mut named = vec![OsString::from(cli.get_name())];
        named.extend(double_dashes(section, &table));
        named
    };
    (line, sections.map(named).collect())
}

/// Gives long options with a single dash their second one, and marks where the program begins (`--`).
fn double_dashes(mut section: Vec<OsString>, table: &[&Arg]) -> Vec<OsString> {
    let mut at = 0;
    while let Some(argument) = section.get(at) {
        let Some(name) = argument.to_str().and_then(|text| text.strip_prefix('-')) else { break };
        if name == "-" {
            return section;
        }
        let (bare, value_inside) = match name.trim_start_matches('-').split_once('=') {
            Some((bare, _)) => (bare.to_owned(), true),
            None => (name.trim_start_matches('-').to_owned(), false),
        };
        let long = table.iter().find(|option| is_long(option, &bare));
        let values = match long {
            _ if value_inside => 0,
            Some(option) => values_of(option),
            None if name.starts_with('-') => 0,
            None => values_after(&bare, table),
        };
        if long.is_some() && !name.starts_with('-') && bare.len() > 1 {
            section[at] = OsString::from(format!("--{name}"));
        }
        at += 1 + values;
    }
    if at < section.len() {
        section.insert(at, "--".into());
    }
    section
}

/// How many of the next arguments are values of the short options `letters`. A value that is attached (`-n4`) is not one.
fn values_after(letters: &str, table: &[&Arg]) -> usize {
    let option = |letter| table.iter().find(|option| option.get_short() == Some(letter));
    let values = |letter| option(letter).map_or(0, |option| values_of(option));
    match letters.char_indices().find(|&(_, letter)| values(letter) > 0) {
        Some((at, letter)) if at + letter.len_utf8() == letters.len() => values(letter),
        _ => 0,
    }
}

fn is_long(option: &Arg, name: &str) -> bool {
    option.get_long() == Some(name) || option.get_all_aliases().is_some_and(|all| all.contains(&name))
}

fn values_of(option: &Arg) -> usize {
    match option.get_num_args() {
        Some(range) => range.min_values(),
        None => usize::from(option.get_action().takes_values()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn normalized(line: &str) -> (String, Vec<String>) {
        let join = |words: Vec<OsString>| {
            words.iter().map(|word| word.to_string_lossy().into_owned()).collect::<Vec<_>>().join(" ")
        };
        let (first, later) = normalize(line.split(' ').map(OsString::from).collect());
        (join(first), later.into_iter().map(join).collect())
    }

    #[test]
    fn single_dashes_become_double_before_the_program_only() {
        let (first, later) =
            normalized("postrider run -np 4 -genv A -np -l -n 2 -wdir /x prog -np 3 -wdir y");
        assert_eq!(first, "postrider run --np 4 --genv A -np -l -n 2 --wdir /x -- prog -np 3 -wdir y");
        assert!(later.is_empty());
    }

    #[test]
    fn short_options_with_their_value_attached_stay() {
        assert_eq!(normalized("postrider run -n4 -xA=b prog").0, "postrider run -n4 -xA=b -- prog");
        assert_eq!(normalized("postrider run -lvn 4 prog").0, "postrider run -lvn 4 -- prog");
        assert_eq!(normalized("postrider run -l -- prog").0, "postrider run -l -- prog");
        assert_eq!(normalized("postrider run -timeout=3 prog").0, "postrider run --timeout=3 -- prog");
    }

    #[test]
    fn colons_separate_programs() {
        let (first, later) = normalized("postrider run -n 1 a x : -np 2 b : c");
        assert_eq!(first, "postrider run -n 1 -- a x");
        assert_eq!(later, ["postrider run ... : --np 2 -- b", "postrider run ... : -- c"]);
    }

    #[test]
    fn other_subcommands_are_left_alone() {
        assert_eq!(normalized("postrider cc -np : x").0, "postrider cc -np : x");
    }
}
