//! Other hosts as `postrider doctor` meets them: the built executable, through a remote shell that runs commands here.
//!
//! `fake_shell` takes ssh's place. Each host is a folder that serves as its home, with what is peculiar about it in `.fake`: its
//! login shell, what its start-up files print, how often it refuses. What works for the doctor works for jobs, which reach hosts by
//! the same code.
#![deny(unsafe_code)]

mod beds;

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::Path;

use beds::{Bed, EXECUTABLE};

#[test]
fn hosts_are_examined_and_found_well() {
    let bed = Bed::new(&["h1", "h2"]);
    let report = bed.doctor(&["--hosts", "h1,h2:4,h1"]);
    assert_eq!(report.code, Some(0), "{report:?}");
    let json = bed.json(&["--hosts", "h[1-2]"]);
    assert_eq!(json["well"], true);
    let hosts = json["hosts"].as_array().expect("a list of hosts");
    assert_eq!(hosts.len(), 2);
    for host in hosts {
        assert_eq!(host["copied"], false);
        assert_eq!(host["facts"]["build"], json["build"]);
        assert!(host["facts"]["cores"].as_u64() > Some(0));
        assert!(host["pipe"]["round_trip_us"].as_f64() > Some(0.0));
        assert!(host["pipe"]["to_mib_per_s"].as_f64() > Some(0.0));
    }
}

#[test]
fn a_host_that_does_not_exist_is_named_and_the_others_are_examined() {
    let bed = Bed::new(&["h1"]);
    let report = bed.doctor(&["--hosts", "h1,h2"]);
    assert_eq!(report.code, Some(1), "{report:?}");
    report.says(&["wrong: host h2: no host is known by that name", "HostName", "1 of 2 hosts"]);
    assert!(!report.text.contains("wrong: host h1"), "{report:?}");
}

#[test]
fn this_machine_is_examined_without_hosts() {
    let bed = Bed::new(&[]);
    let report = bed.doctor(&[]);
    report.says(&["cores", "TMPDIR", "build", "Linux"]);
    assert_eq!(report.code, Some(0), "{report:?}");
}

#[test]
fn the_build_is_copied_once_and_nothing_else_is_left() {
    let bed = Bed::new(&["h1"]);
    bed.lacks_the_build("h1");
    assert_eq!(bed.json(&["--hosts", "h1"])["hosts"][0]["copied"], true);
    assert_eq!(bed.json(&["--hosts", "h1"])["hosts"][0]["copied"], false);
    let builds = bed.home("h1").join(".cache/postrider");
    assert_eq!(fs::metadata(&builds).expect("it is there").mode() & 0o777, 0o700);
    let entries = beds::names(&builds);
    assert_eq!(entries.len(), 1, "{entries:?}");
    let copy = builds.join(&entries[0]).join("bin/postrider");
    assert_eq!(fs::read(copy).expect("the copy"), fs::read(EXECUTABLE).expect("the executable"));
}

#[test]
fn jobs_that_copy_at_the_same_time_do_not_disturb_each_other() {
    let bed = Bed::new(&["h1"]);
    bed.lacks_the_build("h1");
    let report = bed.doctor(&["--hosts", "h1,a@h1,b@h1,c@h1"]);
    assert_eq!(report.code, Some(0), "{report:?}");
    let entries = beds::names(&bed.home("h1").join(".cache/postrider"));
    assert_eq!(entries.len(), 1, "{entries:?}");
}

#[test]
fn without_a_home_the_build_goes_to_a_private_temporary_directory() {
    let bed = Bed::new(&["h1"]);
    bed.lacks_the_build("h1");
    let temporary = bed.folder("h1-tmp");
    bed.environment("h1", &format!("HOME=/dev/null/home TMPDIR='{}'\nexport TMPDIR\n", temporary.display()));
    assert_eq!(bed.json(&["--hosts", "h1"])["hosts"][0]["copied"], true);
    assert_eq!(bed.json(&["--hosts", "h1"])["hosts"][0]["copied"], false);
    let ours = temporary.join(&beds::names(&temporary)[0]);
    assert_eq!(fs::metadata(ours).expect("it is there").mode() & 0o777, 0o700);
}

#[test]
fn links_and_open_directories_of_others_are_not_used() {
    let bed = Bed::new(&["h1"]);
    bed.lacks_the_build("h1");
    let (temporary, target) = (bed.folder("h1-tmp"), bed.folder("target"));
    bed.environment("h1", &format!("HOME=/dev/null/home TMPDIR='{}'\nexport TMPDIR\n", temporary.display()));
    let user = fs::metadata(&target).expect("it is there").uid();
    let names = [format!("postrider-{user}"), format!("postrider-builds-{user}-0")];
    names.iter().for_each(|name| symlink(&target, temporary.join(name)).expect("a link"));
    let open = temporary.join(format!("postrider-builds-{user}-1"));
    fs::create_dir(&open).expect("a directory");
    fs::set_permissions(&open, fs::Permissions::from_mode(0o777)).expect("open to all");
    assert_eq!(bed.json(&["--hosts", "h1"])["hosts"][0]["copied"], true);
    assert!(beds::names(&target).is_empty() && beds::names(&open).is_empty());
    assert_eq!(bed.json(&["--hosts", "h1"])["hosts"][0]["copied"], false);
}

#[test]
fn an_executable_that_others_could_exchange_is_not_run() {
    let bed = Bed::new(&["h1"]);
    let open = bed.folder("open");
    let executable = open.join("postrider");
    fs::hard_link(EXECUTABLE, &executable).expect("a second name of the executable");
    let is_copied = || {
        let report = bed.run(&executable, &["--hosts", "h1", "--json"]);
        let json: serde_json::Value = serde_json::from_str(&report.text).expect("JSON");
        (report.code, json["hosts"][0]["copied"].as_bool())
    };
    assert_eq!(is_copied(), (Some(0), Some(false)));
    fs::set_permissions(&open, Permissions::from_mode(0o777)).expect("it is ours");
    assert_eq!(is_copied(), (Some(0), Some(true)));
    // In a sticky directory only its owner can.
    fs::set_permissions(&open, Permissions::from_mode(0o1777)).expect("it is ours");
    assert_eq!(is_copied(), (Some(0), Some(false)));
}

#[test]
fn a_host_where_nothing_can_be_run_says_so() {
    let bed = Bed::new(&["h1"]);
    bed.lacks_the_build("h1");
    // As on a file system that is mounted noexec.
    bed.program("h1", "chmod", "exit 0");
    let report = bed.doctor(&["--hosts", "h1"]);
    assert_eq!(report.code, Some(1), "{report:?}");
    report.says(&["host h1", "can be stored and run neither", "noexec"]);
    assert!(beds::names(&bed.home("h1").join(".cache/postrider")).is_empty());
}

#[test]
fn what_a_login_shell_says_on_its_output_counts() {
    let bed = Bed::new(&["h1"]);
    bed.environment("h1", "echo 'This account is currently not available.'; exit 1\n");
    let report = bed.doctor(&["--hosts", "h1"]);
    assert_eq!(report.code, Some(1), "{report:?}");
    report.says(&["host h1: its login shell allows no commands"]);
}

#[test]
fn a_host_that_cannot_store_the_build_says_so_and_keeps_nothing() {
    let bed = Bed::new(&["h1"]);
    bed.lacks_the_build("h1");
    bed.program("h1", "head", "echo 'head: No space left on device' >&2\nexit 1");
    let report = bed.doctor(&["--hosts", "h1"]);
    assert_eq!(report.code, Some(1), "{report:?}");
    report.says(&["host h1", "cannot be stored", "No space left on device"]);
    assert!(beds::names(&bed.home("h1").join(".cache/postrider")).is_empty());
}

#[test]
fn a_host_of_another_kind_is_told_apart() {
    let bed = Bed::new(&["h1"]);
    bed.lacks_the_build("h1");
    bed.program("h1", "uname", "echo Plan9 mips");
    let report = bed.doctor(&["--hosts", "h1"]);
    assert_eq!(report.code, Some(1), "{report:?}");
    report.says(&["host h1", "it runs Plan9 mips", "this build is for Linux"]);
}

#[test]
fn what_start_up_files_print_is_dropped_and_noted() {
    let bed = Bed::new(&["h1", "h2"]);
    bed.peculiar("h1", "noise", "Welcome to h1\x1b[2J\n$ ");
    bed.peculiar("h2", "noise", &"endless\n".repeat(20_000));
    let report = bed.doctor(&["--hosts", "h1,h2"]);
    assert_eq!(report.code, Some(1), "{report:?}");
    report.says(&["note: host h1: its shell prints", "Welcome to h1", "wrong: host h2", "print without end"]);
    assert!(!report.text.contains('\x1b'), "{report:?}");
}

#[test]
fn dropped_connections_are_tried_again_and_refused_ones_are_not() {
    let bed = Bed::new(&["h1", "h2"]);
    bed.peculiar("h1", "refuse", "kex_exchange_identification: Connection closed by remote host\n");
    bed.peculiar("h1", "times", "2");
    bed.peculiar("h2", "refuse", "me@h2: Permission denied (publickey).\n");
    bed.peculiar("h2", "times", "5");
    let report = bed.doctor(&["--hosts", "h1,h2"]);
    assert_eq!(report.code, Some(1), "{report:?}");
    report.says(&["wrong: host h2: it accepts none of your keys", "ssh-copy-id h2", "1 of 2 hosts"]);
    let left = |host| fs::read_to_string(bed.home(host).join(".fake/times")).expect("the count");
    assert_eq!((left("h1").trim(), left("h2").trim()), ("0", "4"));
}

#[test]
fn every_login_shell_passes_the_command_on() {
    let known = ["sh", "bash", "bash --posix", "dash", "zsh", "tcsh", "fish", "mksh", "busybox sh"];
    let is_there = |shell: &&&str| {
        let program = shell.split(' ').next().unwrap_or_default();
        std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default())
            .any(|folder| folder.join(program).exists())
    };
    let bed = Bed::new(&[]);
    // A path that every shell would take apart, if it could.
    let folder = bed.folder("it's \"a\" !path \\0 $HOME `date` é");
    let executable = folder.join("postrider");
    fs::hard_link(EXECUTABLE, &executable).expect("a second name of the executable");
    let mut hosts = Vec::new();
    for (number, shell) in known.iter().filter(is_there).enumerate() {
        let host = format!("h{number}");
        bed.add(&host);
        bed.peculiar(&host, "shell", shell);
        hosts.push(host);
    }
    assert!(hosts.len() >= 2, "there is hardly a shell here");
    let report = bed.run(&executable, &["--hosts", &hosts.join(","), "--json"]);
    assert_eq!(report.code, Some(0), "{report:?}");
    let json: serde_json::Value = serde_json::from_str(&report.text).expect("JSON");
    for (host, shell) in json["hosts"].as_array().expect("hosts").iter().zip(known.iter().filter(is_there)) {
        assert_eq!(host["copied"], false, "{shell} changes the words");
    }
}

#[test]
fn hosts_reach_each_other_or_are_told_why_not() {
    let bed = Bed::new(&["h1", "h2", "h3"]);
    let report = bed.doctor(&["--hosts", "h1,h2,h3", "--mesh"]);
    report.says(&["6 of 6 ways from host to host are open"]);
    assert_eq!(report.code, Some(0), "{report:?}");
    // From here h3 is reached once, and then it refuses the others.
    bed.environment("h3", "echo 'h3: Permission denied (publickey).' >.fake/refuse\n");
    let report = bed.doctor(&["--hosts", "h1,h2,h3", "--mesh"]);
    report.says(&["4 of 6 ways", "note: host h1: it does not reach h3", "ssh-copy-id h3"]);
    assert_eq!(report.code, Some(0), "{report:?}");
}

#[test]
fn wrong_arguments_are_refused_before_anybody_is_asked() {
    let bed = Bed::new(&[]);
    let file = bed.folder("files").join("hosts");
    fs::write(&file, "h1\n-oProxyCommand=date slots=1\n").expect("it can be written");
    let file = file.display().to_string();
    let wrong: [(&[&str], &str); 5] = [
        (&["--hosts=-oProxyCommand=date"], "no host before"),
        (&["--hosts", "$(date)"], "not the name"),
        (&["--hosts", ""], "no host"),
        (&["--hostfile", &file], "line 2"),
        (&["--hostfile", "/nonexistent/hosts"], "/nonexistent/hosts"),
    ];
    for (arguments, word) in wrong {
        let report = bed.doctor(arguments);
        assert_eq!(report.code, Some(2), "{report:?}");
        assert!(report.errors.contains(word), "no {word:?} in {report:?}");
    }
}

#[test]
fn the_remote_shell_may_be_named_by_the_environment_or_be_missing() {
    let bed = Bed::new(&["h1"]);
    let report = bed.run(Path::new(EXECUTABLE), &["--hosts", "h1", "--ssh", "/nonexistent/ssh -v"]);
    assert_eq!(report.code, Some(1), "{report:?}");
    report.says(&["/nonexistent/ssh cannot be started", "--ssh names"]);
}
