use super::*;

#[test]
fn pauses_grow_differ_and_end() {
    for attempt in 1..40 {
        let (shortest, longest) = (PAUSE.min(PAUSE_MAX) / 2, PAUSE_MAX * 3 / 2);
        assert!((shortest..=longest).contains(&pause(attempt)), "{attempt}");
    }
    assert!(pause(5) > pause(1));
    let some: std::collections::HashSet<Duration> = (0..20).map(|_| pause(3)).collect();
    assert!(some.len() > 1);
}

#[test]
fn this_host_is_known_by_its_names() {
    assert!(is_here("localhost") && is_here(&postrider_os::process::host_name()));
    assert!(!is_here("somebody@localhost") && !is_here("elsewhere"));
}

#[test]
fn the_users_options_come_first_and_the_host_after_all_options() {
    let shell = RemoteShell::new(Some("ssh -F 'my config' -o ConnectTimeout=3")).expect("a command");
    let command = shell.command("[::1]", "true".to_owned());
    let words: Vec<_> = command.get_args().map(|word| word.to_string_lossy()).collect();
    assert_eq!(words[..4], ["-F", "my config", "-o", "ConnectTimeout=3"]);
    assert_eq!(words[words.len() - 2..], ["::1", "true"]);
    assert!(!words.iter().any(|word| word.contains("StrictHostKeyChecking")));
}

#[test]
fn a_command_that_is_none_is_refused() {
    for wrong in ["", "  ", "ssh 'open"] {
        let error = RemoteShell::new(Some(wrong)).expect_err(wrong);
        assert!(error.contains("--ssh"), "{error}");
    }
}

#[test]
fn a_remote_shell_that_does_not_exist_is_named() {
    let shell = RemoteShell::new(Some("/nonexistent/ssh")).expect("a command");
    let error = shell.open("h1", &[]).expect_err("it cannot start");
    assert!(error.contains("h1") && error.contains("/nonexistent/ssh") && error.contains("--ssh"), "{error}");
}

#[test]
fn results_come_in_the_order_of_the_hosts() {
    let shell = RemoteShell::new(Some("false")).expect("a command");
    let hosts: Vec<String> = (0..20).map(|number| format!("h{number}.")).collect();
    let mut told = Vec::new();
    let results = shell.open_all(&hosts, &[], |count| told.push(count));
    assert_eq!(told, (1..=20).collect::<Vec<_>>());
    for (host, result) in hosts.iter().zip(results) {
        let error = result.expect_err("nobody is there");
        assert!(error.contains(&format!("host {host}:")) && error.contains("code 1"), "{error}");
    }
}
