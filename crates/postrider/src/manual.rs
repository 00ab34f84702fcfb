//! The manual pages, made from the table of options when an installation is made: one for each name and subcommand.

use std::fs;
use std::io;
use std::path::Path;

use clap::Command;
use clap_mangen::Man;

use crate::names;

/// Writes them to `directory`, and returns the exit code.
pub fn write(directory: &Path) -> i32 {
    match try_write(directory) {
        Ok(()) => 0,
        Err(error) => {
            eprintln!("postrider manual: {}: {error}", directory.display());
            1
        }
    }
}

fn try_write(directory: &Path) -> io::Result<()> {
    fs::create_dir_all(directory)?;
    let own = names::command(names::OWN);
    for subcommand in own.get_subcommands() {
        let name = |between: &str| format!("{}{between}{}", names::OWN, subcommand.get_name());
        page(directory, &name("-"), subcommand.clone().bin_name(name(" ")))?;
    }
    page(directory, names::OWN, own)?;
    for (first, others) in [&names::LAUNCHERS[..], &names::C_COMPILERS, &names::CXX_COMPILERS]
        .iter()
        .filter_map(|all| all.split_first())
    {
        page(directory, first, names::command(first))?;
        for other in others {
            fs::write(directory.join(format!("{other}.1")), format!(".so man1/{first}.1\n"))?;
        }
    }
    Ok(())
}

fn page(directory: &Path, name: &str, command: Command) -> io::Result<()> {
    let mut text = Vec::new();
    Man::new(command.display_name(name)).render(&mut text)?;
    fs::write(directory.join(format!("{name}.1")), text)
}
