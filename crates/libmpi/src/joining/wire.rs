//! The lines of the process management interface, as bytes: messages are fields of a name and a value, of which the first is `cmd`.
//!
//! | version | a message |
//! |---|---|
//! | 1 | `cmd=put key=k value=v`, and the end of the line |
//! | 2 | its length as six decimal digits, padded by spaces, then `cmd=kvs-put;key=k;value=v;`, where `;;` is a `;` in a value |
//!
//! The first message and its answer, `init`, is in the form of version 1 in both. What arrives is not trusted: it is complete,
//! incomplete, or nonsense.

use postrider_os::standing::LINE_BYTES_MAX;

/// The form of messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Version {
    /// Lines.
    One,
    /// Counted messages.
    Two,
}

/// The digits of a length.
const HEAD_BYTES: usize = 6;

/// A message that has come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message(Vec<(String, String)>);

impl Message {
    /// The value of a field.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(set, _)| set == name).map(|(_, value)| value.as_str())
    }
}

/// The bytes of a message; the first of its fields is the command. Names and values have neither spaces nor ends of lines.
pub fn encode(version: Version, command: &str, fields: &[(&str, &str)]) -> Vec<u8> {
    let first = ("cmd", command);
    let all = std::iter::once(&first).chain(fields);
    match version {
        Version::One => {
            let texts: Vec<String> = all.map(|(name, value)| format!("{name}={value}")).collect();
            format!("{}\n", texts.join(" ")).into_bytes()
        }
        Version::Two => {
            let body: String =
                all.map(|(name, value)| format!("{name}={};", value.replace(';', ";;"))).collect();
            format!("{:HEAD_BYTES$}{body}", body.len()).into_bytes()
        }
    }
}

/// The first message of `bytes`, which takes them away. None while it is incomplete.
///
/// # Errors
/// When this is no message, with what there is instead.
pub fn decode(version: Version, bytes: &mut Vec<u8>) -> Result<Option<Message>, String> {
    let nonsense = |bytes: &[u8]| {
        let some = &bytes[..bytes.len().min(80)];
        format!("it has answered {:?}", String::from_utf8_lossy(some))
    };
    let (start, end) = match version {
        Version::One => match bytes.iter().position(|&byte| byte == b'\n') {
            Some(end) => (0, end + 1),
            None if bytes.len() > LINE_BYTES_MAX => return Err(nonsense(bytes)),
            None => return Ok(None),
        },
        Version::Two => {
            let Some(head) = bytes.get(..HEAD_BYTES) else { return Ok(None) };
            let length = std::str::from_utf8(head).ok().and_then(|text| text.trim().parse::<usize>().ok());
            let length = length.filter(|&length| length <= LINE_BYTES_MAX);
            (HEAD_BYTES, HEAD_BYTES + length.ok_or_else(|| nonsense(bytes))?)
        }
    };
    let Some(body) = bytes.get(start..end) else { return Ok(None) };
    let text = String::from_utf8_lossy(body);
    let message = match version {
        Version::One => words(&text),
        Version::Two => counted(&text).ok_or_else(|| nonsense(body))?,
    };
    bytes.drain(..end);
    Ok(Some(message))
}

/// The fields of a line. Other words are explanations.
fn words(line: &str) -> Message {
    let field = |word: &str| word.split_once('=').map(|(name, value)| (name.to_owned(), value.to_owned()));
    Message(line.split_whitespace().filter_map(field).collect())
}

/// The fields of a counted message.
fn counted(body: &str) -> Option<Message> {
    let mut fields = Vec::new();
    let (mut field, mut letters) = (String::new(), body.chars().peekable());
    while let Some(letter) = letters.next() {
        if letter != ';' || letters.next_if_eq(&';').is_some() {
            field.push(letter);
            continue;
        }
        let (name, value) = field.split_once('=')?;
        fields.push((name.to_owned(), value.to_owned()));
        field.clear();
    }
    field.is_empty().then_some(Message(fields))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn messages_look_as_launchers_expect_them() {
        let fields = [("key", "k"), ("value", "6a")];
        assert_eq!(encode(Version::One, "put", &fields), b"cmd=put key=k value=6a\n");
        assert_eq!(encode(Version::Two, "kvs-put", &fields), b"    27cmd=kvs-put;key=k;value=6a;".to_vec());
        let mut bytes = b"    32cmd=kvs-get-response;rc=0;v=a;;;rest".to_vec();
        let message = decode(Version::Two, &mut bytes).expect("it is one").expect("it is complete");
        assert_eq!((message.get("rc"), message.get("v"), message.get("x")), (Some("0"), Some("a;"), None));
        assert_eq!(bytes, b"rest");
    }

    proptest! {
        #[test]
        fn messages_come_back_whole(value in "[a-z0-9;=]{0,40}", two: bool, cut: prop::sample::Index) {
            let version = if two { Version::Two } else { Version::One };
            let mut bytes = encode(version, "put", &[("value", &value)]);
            let mut part = bytes[..cut.index(bytes.len())].to_vec();
            prop_assert_eq!(decode(version, &mut part), Ok(None));
            let message = decode(version, &mut bytes).expect("it is one").expect("it is complete");
            prop_assert_eq!(message.get("value"), Some(value.as_str()));
            prop_assert!(bytes.is_empty());
        }
    }

    #[test]
    fn no_bytes_are_trusted() {
        let fields = [("key", "k;k"), ("value", "6a"), ("rc", "0")];
        for version in [Version::One, Version::Two] {
            let sample = encode(version, "put", &fields);
            let samples = [sample.clone(), [sample.clone(), sample].concat()];
            postrider_fuzz::survives(postrider_fuzz::bytes(samples), |mut bytes| {
                let mut before = bytes.len() + 1;
                // Each message takes away some bytes.
                while bytes.len() < before {
                    before = bytes.len();
                    if !decode(version, &mut bytes).is_ok_and(|message| message.is_some()) {
                        return Ok(());
                    }
                }
                Err("a message without bytes".to_owned())
            });
        }
    }
}
