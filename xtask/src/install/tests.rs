//! Installations that are only a few files, in prefixes that have files of others.

use super::*;
use std::fs;

/// A folder for one test, removed at its end.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("xtask-install-{name}-{}", std::process::id()));
        fs::create_dir(&folder).expect("a folder of our own");
        Self(folder)
    }

    /// A folder with these files, each of which contains its path and `text`.
    fn with(&self, name: &str, files: &[&str], text: &str) -> PathBuf {
        let folder = self.0.join(name);
        for file in files {
            let path = folder.join(file);
            fs::create_dir_all(path.parent().expect("a folder")).expect("it is made");
            fs::write(path, format!("{file} {text}")).expect("it is written");
        }
        folder
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Everything below a folder, folders with a slash at the end.
fn content(folder: &Path) -> BTreeSet<String> {
    let mut all = BTreeSet::new();
    let mut left = vec![folder.to_owned()];
    while let Some(at) = left.pop() {
        for entry in fs::read_dir(&at).expect("a folder") {
            let path = entry.expect("an entry").path();
            let name = path.strip_prefix(folder).expect("it is below").display().to_string();
            if path.is_dir() {
                all.insert(name + "/");
                left.push(path);
            } else {
                all.insert(name);
            }
        }
    }
    all
}

const FILES: [&str; 4] =
    ["bin/postrider", "lib/libmpi_abi.so.1", "share/man/man1/mpicc.1", "share/postrider/a/b"];

fn uninstalled(prefix: &Path) {
    uninstall::all(prefix).expect("it is removed");
}

#[test]
fn what_others_have_in_the_prefix_stays() {
    let scratch = Scratch::new("others");
    let installation = scratch.with("build", &FILES, "new");
    let prefix = scratch.with("prefix", &["bin/other", "share/man/man1/other.1", "share/doc/x"], "other");
    fs::create_dir_all(prefix.join("lib/empty")).expect("a folder");
    let before = content(&prefix);
    install(&installation, &prefix).expect("it is installed");
    assert!(FILES.iter().all(|file| prefix.join(file).exists()));
    fs::write(prefix.join("share/postrider/a/note"), "mine").expect("it is written");
    uninstalled(&prefix);
    let mut expected = before;
    for kept in ["share/postrider/", "share/postrider/a/", "share/postrider/a/note"] {
        expected.insert(kept.to_owned());
    }
    assert_eq!(content(&prefix), expected);
}

#[test]
fn a_prefix_of_its_own_goes_with_the_installation_also_after_a_move() {
    let scratch = Scratch::new("own");
    let installation = scratch.with("build", &FILES, "new");
    std::os::unix::fs::symlink("postrider", installation.join("bin/mpicc")).expect("a link");
    let (prefix, moved) = (scratch.0.join("made/prefix"), scratch.0.join("moved place"));
    install(&installation, &prefix).expect("it is installed");
    assert_eq!(fs::read_link(prefix.join("bin/mpicc")).expect("a link"), Path::new("postrider"));
    fs::rename(&prefix, &moved).expect("it moves");
    uninstalled(&moved);
    assert!(!moved.exists());
}

#[test]
fn modules_that_were_made_in_a_prefix_go_with_the_installation() {
    let scratch = Scratch::new("modules");
    let source = "share/postrider/fortran/mpi_f08.f90";
    let installation = scratch.with("build", &[source], "new");
    let prefix = scratch.with("prefix", &["share/other"], "other");
    let before = content(&prefix);
    install(&installation, &prefix).expect("it is installed");
    scratch.with("prefix", &["share/postrider/fortran/modules/0123/mpi_f08.mod"], "made");
    uninstall::all(&prefix).expect("it is removed");
    assert_eq!(content(&prefix), before);
}

#[test]
fn a_newer_version_leaves_no_file_of_the_older() {
    let scratch = Scratch::new("newer");
    let prefix = scratch.with("prefix", &["share/other"], "other");
    let before = content(&prefix);
    install(&scratch.with("old", &FILES, "old"), &prefix).expect("it is installed");
    install(&scratch.with("new", &["bin/postrider", "share/new/c"], "new"), &prefix)
        .expect("it is installed");
    let expected = [
        "bin/",
        "bin/postrider",
        "share/",
        "share/new/",
        "share/new/c",
        "share/other",
        "share/postrider/",
        "share/postrider/installed.txt",
    ];
    assert_eq!(content(&prefix), BTreeSet::from(expected.map(str::to_owned)));
    assert_eq!(fs::read_to_string(prefix.join("bin/postrider")).expect("a file"), "bin/postrider new");
    uninstalled(&prefix);
    assert_eq!(content(&prefix), before);
}

#[test]
fn a_list_that_leads_out_of_the_prefix_is_refused() {
    let scratch = Scratch::new("out");
    for line in ["../x", "/etc/passwd", "share/../../x", ""] {
        let prefix = scratch.0.join("prefix");
        fs::create_dir_all(prefix.join("share/postrider")).expect("a folder");
        fs::write(prefix.join(LIST), format!("{line}\nbin/postrider\n")).expect("it is written");
        assert!(read(&prefix).is_err(), "{line}");
    }
}
