//! What C does not say: `crates/abi/fortran.txt`.

use anyhow::{Result, ensure};

/// The lines of the table.
pub struct Facts {
    lines: Vec<Vec<String>>,
}

impl Facts {
    /// Reads the table.
    pub fn read(text: &str) -> Result<Self> {
        let lines = text.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty());
        let words = |line: &str| line.splitn(4, ' ').map(str::to_owned).collect::<Vec<_>>();
        let lines: Vec<Vec<String>> = lines.map(words).collect();
        ensure!(
            lines.iter().all(|line| line.len() >= 2),
            "a line of crates/abi/fortran.txt has one word only"
        );
        Ok(Self { lines })
    }

    /// Whether the table says this word of a function.
    pub fn of_function(&self, function: &str, word: &str) -> bool {
        let is_it = |pattern: &str| fits(pattern, function) || fits(pattern, plain(function));
        self.lines.iter().any(|line| line.len() == 2 && is_it(&line[0]) && line[1] == word)
    }

    /// What it says of an argument with this word: the rest of the line. A line of one function counts more than one of all.
    pub fn of_argument(&self, function: &str, argument: &str, word: &str) -> Option<&str> {
        let function = plain(function);
        let says = |line: &&Vec<String>| line.len() > 2 && line[1] == argument && line[2] == word;
        let own = self.lines.iter().filter(says).find(|line| line[0] == function);
        let line = own.or_else(|| self.lines.iter().filter(says).find(|line| line[0] == "*"))?;
        Some(line.get(3).map_or("", String::as_str))
    }
}

/// The name of the twin without large counts.
pub fn plain(function: &str) -> &str {
    function.strip_suffix("_c").unwrap_or(function)
}

fn fits(pattern: &str, name: &str) -> bool {
    match pattern.split_once('*') {
        Some((before, after)) => name.starts_with(before) && name.ends_with(after),
        None => pattern == name,
    }
}
