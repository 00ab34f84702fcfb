//! Words that must not be in the repository.

use super::Source;

/// The file that has to spell the words out.
const HERE: &str = "xtask/src/tidy/words.rs";

/// Marks of unfinished work and of tests that are not run.
const UNFINISHED: &[&str] = &[
    "todo!",
    "unimplemented!",
    "dbg!",
    "TODO",
    "FIXME",
    "XXX",
    "HACK",
    "#[ignore",
    "mark.skip",
    "unittest.skip",
    "xfail",
];

/// Words that only the users of one other library know.
pub const PRIVATE: &[&str] = &["btl", "pml", "vc", "lmt", "adio"];

/// Places that only one machine has, and hosts that a package manager knows better.
const PLACES: &[&str] = &[
    "/work/",
    "/root/",
    "/tmp/w/",
    "/home/",
    ".pyenv",
    "index.crates.io",
    "static.crates.io",
    "pypi.org",
    "pythonhosted.org",
];

/// Files that are copied from nowhere and read by nobody, and data whose point is that it is foreign.
fn is_exempt(path: &str) -> bool {
    path == HERE || path.ends_with(".lock") || path.starts_with("bench/runs/")
}

/// Tests of values need letters that English has not.
fn is_about_letters(path: &str) -> bool {
    path.contains("/tests/") || path.starts_with("tests/")
}

/// One line for each word.
pub fn violations(sources: &[Source]) -> Vec<String> {
    let mut violations = Vec::new();
    for source in sources.iter().filter(|source| !is_exempt(&source.path)) {
        for (number, line) in source.text.lines().enumerate() {
            let mut report = |what: &str| violations.push(format!("{}:{}: {what}", source.path, number + 1));
            for word in UNFINISHED.iter().chain(PRIVATE).filter(|word| has_word(line, word)) {
                report(&format!("the word {word:?}"));
            }
            for place in PLACES.iter().filter(|place| line.contains(**place)) {
                report(&format!("the place {place:?}"));
            }
            if let Some(letter) = line.chars().find(|letter| letter.is_control() && *letter != '\t') {
                report(&format!("the control character {letter:?}"));
            }
            if !is_about_letters(&source.path)
                && let Some(letter) =
                    line.chars().find(|letter| letter.is_alphabetic() && !is_technical(*letter))
            {
                report(&format!("the letter {letter:?}"));
            }
        }
    }
    violations
}

/// Letters of English with its French guests, and Greek ones of formulas and units.
fn is_technical(letter: char) -> bool {
    letter.is_ascii() || matches!(letter, 'ç' | 'é' | 'ï' | 'µ' | 'α'..='ω' | 'Α'..='Ω')
}

/// Whether a line has a word that is not part of a longer one.
fn has_word(line: &str, word: &str) -> bool {
    let joins = |letter: Option<char>| letter.is_some_and(|letter| letter.is_alphanumeric() || letter == '_');
    line.match_indices(word).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        let after = line[at + word.len()..].chars().next();
        !joins(before) && !joins(after)
    })
}
