//! Why a host could not be reached: what the remote shell has written, turned into what is wrong and what to do about it.
//!
//! OpenSSH ends with 255 for all its own failures, so its messages are all there is to tell them apart. They are not
//! translated, and have hardly changed in twenty years. What is not recognised is passed on as it is.

/// Letters of foreign text in a message.
const QUOTE_LETTERS_MAX: usize = 600;

/// A failed attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// What is wrong, on which host, and what to do.
    pub message: String,
    /// Whether another attempt may succeed.
    pub again: bool,
}

impl Refusal {
    /// A failure that another attempt would only repeat.
    pub fn final_one(message: String) -> Self {
        Self { message, again: false }
    }
}

/// What somebody writes, and what that means: words, explanation, advice, and whether another attempt may succeed. `{}` is
/// the host.
type Known = (&'static [&'static str], &'static str, &'static str, bool);

const KNOWN: &[Known] = &[
    (
        &["REMOTE HOST IDENTIFICATION HAS CHANGED"],
        "it has another host key than the one that is known",
        "if that is right, remove the old one with `ssh-keygen -R {}` and accept the new one with `ssh {}`",
        false,
    ),
    (
        &["Host key verification failed", "host key is known for"],
        "its host key is not known yet",
        "compare and accept it with `ssh {}`, or add it with `ssh-keyscan {} >> ~/.ssh/known_hosts`",
        false,
    ),
    (
        &["Could not resolve hostname", "Name or service not known", "nodename nor servname"],
        "no host is known by that name",
        "check how it is written, or give it a HostName in ~/.ssh/config",
        false,
    ),
    (
        &["Too many authentication failures"],
        "it got too many keys that it does not accept",
        "name the right one in ~/.ssh/config with IdentityFile and IdentitiesOnly yes",
        false,
    ),
    (
        &["UNPROTECTED PRIVATE KEY FILE", "private key will be ignored"],
        "your private key is not used, because others could read it",
        "take their rights away with `chmod 600` and the name of the file below",
        false,
    ),
    (
        &[
            "Permission denied (",
            "Permission denied, please try again",
            "No supported authentication methods",
        ],
        "it accepts none of your keys, and passwords cannot be asked for",
        "install a key with `ssh-copy-id {}`; a key with a passphrase has to be in ssh-agent (`ssh-add`)",
        false,
    ),
    (
        &["during banner exchange"],
        "its sshd did not answer in time",
        "see whether the host is overloaded, and whether it is sshd that listens there",
        true,
    ),
    (
        &["Connection refused"],
        "nobody listens on its ssh port",
        "start sshd there, or give it another Port in ~/.ssh/config",
        false,
    ),
    (
        &["Connection timed out", "Operation timed out", "No route to host", "Network is unreachable"],
        "it does not answer",
        "see whether it is up and a firewall lets ssh through; `ssh {}` must work",
        false,
    ),
    (
        &["Not allowed at this time"],
        "its sshd does not take connections from here for a while, after too many failed ones (PerSourcePenalties)",
        "wait a minute, and see with `ssh {}` why connections fail",
        true,
    ),
    (
        &[
            "kex_exchange_identification",
            "ssh_exchange_identification",
            "Connection closed by",
            "Connection reset by",
            "closed by remote host",
        ],
        "its sshd dropped the connection",
        "it takes only so many at a time: raise MaxStartups in its sshd_config",
        true,
    ),
];

/// What login shells write that allow nothing.
const NO_SHELL: [&str; 2] = ["account is currently not available", "account is not available"];
/// How OpenSSH ends when it is not the far command that ends.
const SSH_FAILED: i32 = 255;

/// What it means that the remote shell of `host` ended with `code` after it wrote `complaints`.
pub fn explain(host: &str, code: Option<i32>, complaints: &str) -> Refusal {
    let quote = quoted(complaints);
    let known = if code == Some(SSH_FAILED) { KNOWN } else { &[] };
    for (words, what, advice, again) in known {
        if words.iter().any(|word| complaints.contains(word)) {
            let advice = advice.replace("{}", host);
            return Refusal { message: format!("host {host}: {what}; {advice}{quote}"), again: *again };
        }
    }
    if NO_SHELL.iter().any(|word| complaints.contains(word)) {
        let what = "its login shell allows no commands; give the account a shell there";
        return Refusal::final_one(format!("host {host}: {what}{quote}"));
    }
    let ended = match code {
        Some(SSH_FAILED) => "the remote shell failed".to_owned(),
        Some(code) => format!("the remote shell ended with code {code} before Postrider ran there"),
        None => "the remote shell was killed by a signal".to_owned(),
    };
    Refusal::final_one(format!("host {host}: {ended}; see whether `ssh {host} true` works{quote}"))
}

/// What was written, indented below a message; without what is said about every connection.
pub fn quoted(complaints: &str) -> String {
    let matters = |line: &&str| {
        let line = line.trim();
        !(line.is_empty() || line.starts_with("debug") || line.starts_with("** ") || line.starts_with('@'))
    };
    let lines: Vec<&str> = complaints.lines().filter(matters).collect();
    let text = lines[lines.len().saturating_sub(6)..].join("\n  | ");
    let shown: String = text.chars().take(QUOTE_LETTERS_MAX).collect();
    match (text.is_empty(), shown == text) {
        (true, _) => text,
        (false, true) => format!("\n  | {text}"),
        (false, false) => format!("\n  | {shown} ..."),
    }
}

/// Whether a letter changes the direction in which others are shown, so that a text looks like another.
fn turns_text(letter: char) -> bool {
    matches!(letter, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Text from another host that may be shown on a terminal: without control characters, which could do anything there.
pub fn harmless(text: &[u8]) -> String {
    let text = String::from_utf8_lossy(text).replace("\r\n", "\n");
    let letter = |letter: char| match letter {
        '\n' | '\t' => letter,
        letter if letter.is_control() || turns_text(letter) => '?',
        letter => letter,
    };
    text.chars().map(letter).collect::<String>().trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_ssh_writes_is_understood() {
        let told = [
            ("ssh: Could not resolve hostname h2: Name or service not known", "HostName", false),
            ("ssh: connect to host h2 port 22: Connection refused", "sshd", false),
            ("ssh: connect to host h2 port 22: Connection timed out", "firewall", false),
            (
                "Connection timed out during banner exchange\r\nConnection to h2 port 22 timed out",
                "overloaded",
                true,
            ),
            (
                "No ED25519 host key is known for h2 and you have requested strict checking.\r\nHost key verification failed.",
                "ssh-keyscan h2",
                false,
            ),
            (
                "@    WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED!     @\r\nHost key verification failed.",
                "ssh-keygen -R h2",
                false,
            ),
            ("me@h2: Permission denied (publickey,password).", "ssh-copy-id h2", false),
            (
                "Received disconnect from h2 port 22:2: Too many authentication failures",
                "IdentitiesOnly",
                false,
            ),
            (
                "kex_exchange_identification: Connection closed by remote host\r\nConnection closed by h2 port 22",
                "MaxStartups",
                true,
            ),
            ("kex_exchange_identification: read: Connection reset by peer", "MaxStartups", true),
            ("Not allowed at this time\r\nConnection closed by h2 port 22", "PerSourcePenalties", true),
            ("This account is currently not available.", "shell", false),
            (
                "This private key will be ignored.\r\nLoad key \"/k\": bad permissions\r\nme@h2: Permission denied (publickey).",
                "chmod 600",
                false,
            ),
            ("something new", "something new", false),
        ];
        for (complaints, word, again) in told {
            let refusal = explain("h2", Some(255), complaints);
            assert!(
                refusal.message.starts_with("host h2: ") && refusal.message.contains(word),
                "{refusal:?}"
            );
            assert_eq!(refusal.again, again, "{refusal:?}");
        }
    }

    #[test]
    fn only_the_remote_shells_own_failure_is_explained_by_its_words() {
        let refusal = explain("h2", Some(1), "some program: Connection refused");
        assert!(refusal.message.contains("code 1") && !refusal.message.contains("sshd"), "{refusal:?}");
    }

    #[test]
    fn foreign_text_cannot_steer_a_terminal() {
        assert_eq!(harmless(b"a\x1b[2Jb\x07\r\nc\xff\n"), "a?[2Jb?\nc\u{fffd}");
        assert!(quoted(&"x\n".repeat(10_000)).len() < 1000);
    }
}
