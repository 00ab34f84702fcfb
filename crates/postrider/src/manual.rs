//! The manual pages, made from the table of options when an installation is made: one for each name and subcommand.

use std::fs;
use std::io;
use std::path::Path;

use clap::Command;
use clap_mangen::Man;
use clap_mangen::roff::{Roff, roman};

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
    for (first, others) in
        [&names::LAUNCHERS[..], &names::C_COMPILERS, &names::CXX_COMPILERS, &names::FORTRAN_COMPILERS]
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
    let notes = command.get_after_long_help().or(command.get_after_help()).map(ToString::to_string);
    let has_subcommands = command.has_subcommands();
    let man = Man::new(command.display_name(name))
        .source(concat!("Postrider ", env!("CARGO_PKG_VERSION")))
        .manual("Postrider");
    let mut text = Vec::new();
    man.render_title(&mut text)?;
    man.render_name_section(&mut text)?;
    man.render_synopsis_section(&mut text)?;
    man.render_description_section(&mut text)?;
    man.render_options_section(&mut text)?;
    if has_subcommands {
        man.render_subcommands_section(&mut text)?;
    }
    if let Some(notes) = notes {
        self::notes(&notes).to_writer(&mut text)?;
    }
    fs::write(directory.join(format!("{name}.1")), text)
}

/// What stands below the options: paragraphs, and lines that begin with a space and stay as they are.
fn notes(text: &str) -> Roff {
    let mut page = Roff::new();
    page.control("SH", ["NOTES"]);
    let mut is_filled = true;
    for line in text.lines() {
        let fills = !line.starts_with(' ');
        if fills != is_filled {
            page.control(if fills { "fi" } else { "nf" }, []);
            is_filled = fills;
        }
        if line.is_empty() {
            page.control("PP", []);
        } else {
            page.text([roman(line)]);
        }
    }
    if !is_filled {
        page.control("fi", []);
    }
    page
}
