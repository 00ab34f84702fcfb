//! What became of each file.

use std::fmt::Write as _;

/// Calls of the program and of the layer on one open file.
#[derive(Clone, Debug, Default)]
pub struct FileReport {
    /// Its path when it was noticed.
    pub path: String,
    /// Calls of the program that read or write.
    pub calls: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Of these calls, those that returned before their data was in the file.
    pub deferred: u64,
    /// System calls that the layer made in their place.
    pub system_calls: u64,
    /// Bytes that were read ahead.
    pub ahead_bytes: u64,
    /// Why it is plain, if it is.
    pub plain: Option<&'static str>,
}

impl FileReport {
    /// How many calls of the program became one system call.
    #[must_use]
    pub fn merge_factor(&self) -> f64 {
        if self.system_calls == 0 { 1.0 } else { self.deferred as f64 / self.system_calls as f64 }
    }
}

/// Lines for people.
#[must_use]
pub fn text(files: &[FileReport]) -> String {
    let mut text = String::new();
    for file in files {
        let _ = write!(text, "postrider: {}: {} calls, {} bytes", file.path, file.calls, file.bytes);
        if file.system_calls > 0 {
            let (deferred, calls, factor) = (file.deferred, file.system_calls, file.merge_factor());
            let _ = write!(text, "; {deferred} deferred, in {calls} system calls ({factor:.1} each)");
        }
        if file.ahead_bytes > 0 {
            let _ = write!(text, "; {} bytes read ahead", file.ahead_bytes);
        }
        if let Some(reason) = file.plain {
            let _ = write!(text, "; plain: {reason}");
        }
        text.push('\n');
    }
    text
}

/// The same as JSON, an array of objects.
#[must_use]
pub fn json(files: &[FileReport]) -> String {
    let object = |file: &FileReport| {
        let plain = file.plain.map_or("null".to_owned(), quoted);
        format!(
            "{{\"path\": {}, \"calls\": {}, \"bytes\": {}, \"deferred\": {}, \"system_calls\": {}, \
             \"merge_factor\": {:.3}, \"ahead_bytes\": {}, \"plain\": {plain}}}",
            quoted(&file.path),
            file.calls,
            file.bytes,
            file.deferred,
            file.system_calls,
            file.merge_factor(),
            file.ahead_bytes,
        )
    };
    let objects: Vec<String> = files.iter().map(object).collect();
    format!("[{}]\n", objects.join(",\n "))
}

fn quoted(text: &str) -> String {
    let mut quoted = String::from('"');
    for letter in text.chars() {
        match letter {
            '"' | '\\' => quoted.extend(['\\', letter]),
            letter if letter.is_control() => {
                let _ = write!(quoted, "\\u{:04x}", letter as u32);
            }
            letter => quoted.push(letter),
        }
    }
    quoted + "\""
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_with_any_letters_is_quoted() {
        let file = FileReport { path: "a\"b\\c\nd".into(), calls: 2, ..FileReport::default() };
        let json = json(&[file]);
        assert!(json.contains(r#""path": "a\"b\\c\u000ad", "calls": 2"#), "{json}");
    }
}
