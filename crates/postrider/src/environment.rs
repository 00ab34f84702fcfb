//! `postrider env`: what programs find under `postrider run`, for shells and job scripts, so that `srun octave` and `srun python` find it as well.
//!
//! Shells get assignments of whole values, made from the environment of this process: what is there already is not added again, so that evaluating
//! twice does no harm. The modulefile of an installation says the same (`xtask/src/toolbox`).

use std::ffi::{OsStr, OsString};
use std::io::{self, Write};
use std::path::PathBuf;

use crate::flags::Env;
use crate::installation;
use crate::launch::{ENV_LIBRARY_PATH, ENV_MPI4PY_LIBRARY};

/// For whom it is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Sh,
    Csh,
    Fish,
}

/// A variable that programs need.
#[derive(Debug, PartialEq, Eq)]
enum Need {
    /// This directory, in front of a list of directories.
    InFront(&'static str, PathBuf),
    /// This value, unless the user has chosen another.
    Default(&'static str, PathBuf),
}

/// Prints it, and returns the exit code.
pub fn print(options: &Env) -> i32 {
    let form = match options {
        Env { csh: true, .. } => Form::Csh,
        Env { fish: true, .. } => Form::Fish,
        _ => Form::Sh,
    };
    let Some(prefix) = installation::prefix() else {
        eprintln!("postrider env: cannot tell where this installation is: /proc is not mounted");
        return 1;
    };
    let text = text(form, &needs(prefix), |name| std::env::var_os(name));
    match io::stdout().write_all(&text) {
        Ok(()) => 0,
        Err(error) => {
            eprintln!("postrider env: cannot write: {error}");
            1
        }
    }
}

/// What this installation has of all that programs may need.
fn needs(prefix: PathBuf) -> Vec<Need> {
    let mut needs = vec![Need::InFront("PATH", prefix.join("bin"))];
    if let Some(libraries) = installation::libraries() {
        let wheels = libraries.join(installation::OTHER_LIBRARY);
        needs.push(Need::InFront(ENV_LIBRARY_PATH, libraries));
        needs.extend(wheels.exists().then_some(Need::Default(ENV_MPI4PY_LIBRARY, wheels)));
    }
    needs.extend(installation::octave_functions().map(|functions| Need::InFront("OCTAVE_PATH", functions)));
    needs
}

/// The whole output; `find` knows the values that variables have.
fn text(form: Form, needs: &[Need], find: impl Fn(&str) -> Option<OsString>) -> Vec<u8> {
    let mut text = Vec::new();
    for need in needs {
        let (name, value) = match need {
            Need::InFront(name, directory) => {
                let before = find(name).unwrap_or_default();
                let (words, own) = (before.as_encoded_bytes(), directory.as_os_str());
                if words.split(|byte| *byte == b':').any(|word| word == own.as_encoded_bytes()) {
                    continue;
                }
                let separator = if before.is_empty() { "" } else { ":" };
                (name, [own, OsStr::new(separator), &before].into_iter().collect())
            }
            Need::Default(name, value) if find(name).is_none() => (name, value.clone().into_os_string()),
            Need::Default(..) => continue,
        };
        let value = quoted(form, &value);
        let (before, after) = match form {
            Form::Csh => (format!("setenv {name} "), ";\n".to_owned()),
            Form::Fish => (format!("set -gx {name} "), ";\n".to_owned()),
            Form::Sh => (format!("{name}="), format!("; export {name};\n")),
        };
        text.extend([before.as_bytes(), &value, after.as_bytes()].concat());
    }
    text
}

/// One word, whatever is in it.
fn quoted(form: Form, value: &OsStr) -> Vec<u8> {
    let bytes = value.as_encoded_bytes();
    let escaped = |special: &[u8], before: &[u8]| -> Vec<u8> {
        let letter =
            |byte: &u8| if special.contains(byte) { [before, &[*byte]].concat() } else { vec![*byte] };
        bytes.iter().flat_map(letter).collect()
    };
    match form {
        Form::Sh => {
            [b"'", &*bytes.split(|byte| *byte == b'\'').collect::<Vec<_>>().join(&b"'\\''"[..]), b"'"]
                .concat()
        }
        // Outside of quotes: within them csh still looks for its history.
        Form::Csh => {
            let plain =
                |byte: &u8| byte.is_ascii_alphanumeric() || b"/._-:+,@%=".contains(byte) || !byte.is_ascii();
            let letter = |byte: &u8| if plain(byte) { vec![*byte] } else { vec![b'\\', *byte] };
            bytes.iter().flat_map(letter).collect()
        }
        Form::Fish => [b"'", &*escaped(b"\\'", b"\\"), b"'"].concat(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    const STRANGE: &str = "/opt/a b'c\"d$e`f\\g!h;i[j]";

    fn some_needs() -> Vec<Need> {
        let (bin, library) = (format!("{STRANGE}/bin").into(), format!("{STRANGE}/libmpi.so.12").into());
        vec![Need::InFront("POSTRIDER_TEST_LIST", bin), Need::Default("POSTRIDER_TEST_VALUE", library)]
    }

    /// What a shell says of both variables after it has evaluated `text`, starting with `list`.
    fn evaluated(list: &str, text: &[u8]) -> String {
        let script = [text, b"printf '%s\\n' \"$POSTRIDER_TEST_LIST\" \"$POSTRIDER_TEST_VALUE\""].concat();
        let script = String::from_utf8(script).expect("it is text");
        let mut shell = Command::new("sh");
        let output =
            shell.args(["-c", &script]).env("POSTRIDER_TEST_LIST", list).output().expect("sh starts");
        String::from_utf8(output.stdout).expect("it is text")
    }

    #[test]
    fn a_shell_gets_values_whatever_is_in_them() {
        let list = |name: &str| (name == "POSTRIDER_TEST_LIST").then(|| OsString::from("/x:/y"));
        let text = text(Form::Sh, &some_needs(), list);
        assert_eq!(evaluated("", &text), format!("{STRANGE}/bin:/x:/y\n{STRANGE}/libmpi.so.12\n"));
    }

    #[test]
    fn what_is_there_is_not_added_again_and_what_the_user_chose_stays() {
        let there = |name: &str| {
            Some(if name.ends_with("LIST") { format!("/x:{STRANGE}/bin") } else { "y".into() }.into())
        };
        for form in [Form::Sh, Form::Csh, Form::Fish] {
            assert!(text(form, &some_needs(), there).is_empty(), "{form:?}");
        }
    }

    #[test]
    fn an_empty_list_gets_no_empty_entry() {
        let text = text(Form::Sh, &some_needs()[..1], |_| Some(OsString::new()));
        assert_eq!(evaluated("", &text), format!("{STRANGE}/bin\n\n"));
    }

    #[test]
    fn each_form_has_its_own_words() {
        let needs = [Need::InFront("PATH", "/opt/it's/bin".into()), Need::Default("A", "/b".into())];
        let of = |form| String::from_utf8(text(form, &needs, |_| None)).expect("it is text");
        assert_eq!(of(Form::Sh), "PATH='/opt/it'\\''s/bin'; export PATH;\nA='/b'; export A;\n");
        assert_eq!(of(Form::Csh), "setenv PATH /opt/it\\'s/bin;\nsetenv A /b;\n");
        assert_eq!(of(Form::Fish), "set -gx PATH '/opt/it\\'s/bin';\nset -gx A '/b';\n");
    }
}
