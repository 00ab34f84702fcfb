//! A page as what a reader does with it: files that he writes, and commands that he types.
//!
//! Of the fenced blocks, by the words after the fence,
//!
//! - `sh` are commands, `sh exits 139` such that end with this exit code, `sh not run: REASON` such that only readers type;
//! - `text` is what the commands before it print, at least: these lines, in this order, perhaps with others between them;
//!   `text in any order` leaves the order open;
//! - a block after a line such as *`ring.c`:* is this file;
//! - all others are shown only.
//!
//! A page runs on this machine, unless it has the line `<!-- runs on: hosts -->` or `<!-- runs on: slurm -->`: then it does on h0 of a
//! bed with h1 and h2, in the home directory there or, with Slurm, in a directory that all see.

use super::output::Expected;
use anyhow::{Context, Result, bail, ensure};

/// Where a page runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Place {
    /// In a folder on this machine.
    Here,
    /// On a bed of hosts.
    Hosts,
    /// On a bed of hosts with Slurm.
    Slurm,
}

/// A page, in its order.
pub struct Page {
    pub path: String,
    pub place: Place,
    pub steps: Vec<Step>,
}

/// What a block makes a reader do.
pub enum Step {
    File { name: String, text: String },
    Commands(Commands),
    LeftOut { line: usize, why: String },
}

/// A block of commands.
pub struct Commands {
    /// The line of the fence, from 1.
    pub line: usize,
    pub text: String,
    pub exit_code: i32,
    /// What they print, by blocks.
    pub expected: Vec<Expected>,
}

impl Page {
    /// Reads a page.
    pub fn parse(path: &str, text: &str) -> Result<Self> {
        let mut page = Self { path: path.to_owned(), place: Place::Here, steps: Vec::new() };
        let mut lines = text.lines().zip(1..);
        let mut before = "";
        while let Some((line, number)) = lines.next() {
            if let Some(place) = line.strip_prefix("<!-- runs on: ") {
                page.place = match place {
                    "hosts -->" => Place::Hosts,
                    "slurm -->" => Place::Slurm,
                    _ => bail!("{path}:{number}: a page runs on: hosts, or slurm"),
                };
            }
            if let Some(words) = line.strip_prefix("```") {
                let mut block = String::new();
                loop {
                    let (line, _) = lines.next().with_context(|| format!("{path}:{number}: no end"))?;
                    if line == "```" {
                        break;
                    }
                    block += &format!("{line}\n");
                }
                page.add(words, block, file_name(before), number)
                    .with_context(|| format!("{path}:{number}"))?;
            }
            if !line.trim().is_empty() {
                before = line;
            }
        }
        Ok(page)
    }

    /// Its blocks of commands.
    pub fn commands(&self) -> impl Iterator<Item = &Commands> {
        self.steps.iter().filter_map(|step| match step {
            Step::Commands(commands) => Some(commands),
            _ => None,
        })
    }

    /// What is not run, and why.
    pub fn left_out(&self) -> impl Iterator<Item = String> {
        self.steps.iter().filter_map(|step| match step {
            Step::LeftOut { line, why } => Some(format!("{}:{line}: {why}", self.path)),
            _ => None,
        })
    }

    fn add(&mut self, words: &str, text: String, file: Option<&str>, line: usize) -> Result<()> {
        let (language, rest) = words.split_once(' ').unwrap_or((words, ""));
        match (language, file) {
            ("sh", None) => {
                if let Some(why) = rest.strip_prefix("not run: ") {
                    self.steps.push(Step::LeftOut { line, why: why.to_owned() });
                    return Ok(());
                }
                let exit_code = match rest.strip_prefix("exits ") {
                    Some(code) => code.parse().context("an exit code")?,
                    None => 0,
                };
                ensure!(rest.is_empty() || exit_code != 0, "{rest:?} says nothing about commands");
                self.steps.push(Step::Commands(Commands { line, text, exit_code, expected: Vec::new() }));
            }
            ("text", None) => {
                let Some(Step::Commands(commands)) = self.steps.last_mut() else {
                    bail!("no commands are before this output")
                };
                commands.expected.push(Expected::new(&text, rest == "in any order"));
            }
            (_, Some(name)) => self.steps.push(Step::File { name: name.to_owned(), text }),
            _ => {}
        }
        Ok(())
    }
}

/// The file that a line such as *`ring.c`:* announces.
fn file_name(line: &str) -> Option<&str> {
    line.strip_prefix("*`")?.strip_suffix("`:*")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_what_their_first_line_says() {
        let text = "<!-- runs on: slurm -->\n*`a.py`:*\n\n```python\n1\n```\n\n```sh exits 2\nfalse\n```\n\n```text\nx\n```\n\
                    ```console\n$ y\n```\n```sh not run: takes a day\nsleep\n```\n";
        let page = Page::parse("p.md", text).expect("a page");
        assert_eq!(page.place, Place::Slurm);
        assert!(matches!(&page.steps[0], Step::File { name, text } if name == "a.py" && text == "1\n"));
        let commands: Vec<&Commands> = page.commands().collect();
        assert_eq!((commands.len(), commands[0].exit_code, commands[0].expected.len()), (1, 2, 1));
        assert_eq!(page.left_out().collect::<Vec<_>>(), ["p.md:18: takes a day"]);
    }

    #[test]
    fn what_is_not_understood_is_no_page() {
        for text in
            ["```sh\nls\n", "```text\nx\n```\n", "```sh quickly\nls\n```\n", "<!-- runs on: mars -->\n"]
        {
            assert!(Page::parse("p.md", text).is_err(), "{text}");
        }
    }
}
