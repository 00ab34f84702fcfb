//! What the threads of a hanging process are doing: a line for each, from the innermost function outwards.

/// How many functions of a thread are named: those of an interpreter around them say nothing.
const FUNCTIONS_MAX: usize = 12;

/// The command that prints the stacks of all threads of process `pid`, for [`brief`].
pub fn command(pid: u32) -> Vec<String> {
    let pid = pid.to_string();
    let words = ["timeout", "20", "gdb", "-p", &pid, "-batch", "-nx", "-ex", "thread apply all bt"];
    words.map(str::to_owned).to_vec()
}

/// The essence of what that command prints, with `indent` before each line.
pub fn brief(printed: &str, indent: &str) -> String {
    let mut threads: Vec<Vec<String>> = Vec::new();
    for line in printed.lines() {
        if line.starts_with("Thread") {
            threads.push(Vec::new());
        } else if let (Some(thread), Some(function)) = (threads.last_mut(), function(line)) {
            thread.push(function);
        }
    }
    let line =
        |thread: &Vec<String>| format!("{indent}{}\n", thread[..thread.len().min(FUNCTIONS_MAX)].join(" < "));
    threads.iter().map(line).collect()
}

/// The function of a frame, with its place if that is in this repository; none for those of the language around it.
fn function(line: &str) -> Option<String> {
    let (_, frame) = line.strip_prefix('#')?.split_once(' ')?;
    let frame = frame.trim_start();
    let frame = if frame.starts_with("0x") { frame.split_once(" in ")?.1 } else { frame };
    let name = frame.split(" (").next()?;
    let name = name.split_once('<').map_or(name, |(plain, _)| if plain.is_empty() { name } else { plain });
    match frame.rsplit_once(" at ").map(|(_, place)| place) {
        Some(place) if place.starts_with("/rustc/") || place.starts_with("library/") => None,
        Some(place) if !place.starts_with(['.', '/']) => {
            Some(format!("{name} {}", place.rsplit('/').next().unwrap_or(place)))
        }
        _ => Some(name.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_is_a_line_of_its_own_functions() {
        let printed = "\
noise
Thread 2 (Thread 0x7f23 (LWP 9) \"post\"):
#0  0x00007f23201d in __poll (fds=0x1, nfds=2) at ../sysdeps/unix/poll.c:29
#1  0x00005562c01d3f2b in sleep<postrider::post::Clerk> () at crates/postrider/src/post/clerk.rs:253
#2  0x00005562c00ef803 in call_once<fn(), ()> () at /rustc/598/library/core/src/ops/function.rs:250
#3  main () from /usr/bin/program

Thread 1 (LWP 8):
#0  0x00007f in read () from /lib/libc.so.6
";
        let expected = "  __poll < sleep clerk.rs:253 < main\n  read\n";
        assert_eq!(brief(printed, "  "), expected);
    }

    #[test]
    fn an_interpreters_functions_are_left_out() {
        let frames: String = (0..99).map(|frame| format!("#{frame}  in f{frame} ()\n")).collect();
        assert_eq!(brief(&format!("Thread 1\n{frames}"), "").matches(" < ").count(), FUNCTIONS_MAX - 1);
    }
}
