//! What a page says that commands print, and whether they do.
//!
//! Lines are compared word by word. `…` stands for any words, and on a line of its own for any lines. Numbers of processes, names of
//! hosts beside them, decimal fractions and durations differ from run to run, and may.

/// Units of durations.
const UNITS: [&str; 4] = ["s", "ms", "us", "seconds"];

/// Lines that should be printed.
pub struct Expected {
    lines: Vec<String>,
    in_any_order: bool,
}

impl Expected {
    /// The lines of a block.
    pub fn new(text: &str, in_any_order: bool) -> Self {
        let lines = text.lines().filter(|line| !line.trim().is_empty() && line.trim() != "…");
        Self { lines: lines.map(str::to_owned).collect(), in_any_order }
    }

    /// The first line that is not there.
    pub fn missing(&self, found: &str) -> Option<&str> {
        let mut left: Vec<&str> = found.lines().collect();
        for line in &self.lines {
            let Some(at) = left.iter().position(|other| is_like(line, other)) else { return Some(line) };
            match self.in_any_order {
                true => drop(left.remove(at)),
                false => drop(left.drain(..=at)),
            }
        }
        None
    }
}

/// Whether a line that was found is the one that was expected.
fn is_like(expected: &str, found: &str) -> bool {
    let words = |line| str::split_whitespace(line).collect::<Vec<_>>();
    are_like(&words(expected), &words(found), "")
}

fn are_like(expected: &[&str], found: &[&str], before: &str) -> bool {
    match (expected, found) {
        ([], []) => true,
        (["…", rest @ ..], _) => (0..=found.len()).any(|skipped| are_like(rest, &found[skipped..], "…")),
        ([first, rest @ ..], [other, others @ ..]) => {
            let free = before.trim_start_matches('(') == "process" && is_number(first) && is_number(other)
                || before == "host"
                || first.contains('.') && is_number(first) && is_number(other)
                || is_number(first)
                    && is_number(other)
                    && rest.first().is_some_and(|unit| UNITS.contains(unit));
            (free || first == other) && are_like(rest, others, first)
        }
        _ => false,
    }
}

fn is_number(word: &str) -> bool {
    word.trim_matches([',', ';', '(', ')']).parse::<f64>().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_differs_from_run_to_run_may_differ() {
        assert!(is_like("process 42 on host node7", "process  977 on host h1"));
        assert!(is_like("sum 6, took 0.25 s", "sum 6, took 1.5 s"));
        assert!(is_like("at … in main", "at 0x7f ?? in main"));
        assert!(!is_like("the sum is 6", "the sum is 7"));
        assert!(!is_like("a b", "a b c"));
    }

    #[test]
    fn lines_may_have_others_between_them() {
        let (ordered, free) = (Expected::new("a\n…\nc\n", false), Expected::new("c\na\na\n", true));
        assert_eq!(ordered.missing("a\nb\nc"), None);
        assert_eq!(ordered.missing("c\na"), Some("c"));
        assert_eq!(free.missing("a\nb\nc\na"), None);
        assert_eq!(free.missing("a\nc"), Some("a"));
    }
}
