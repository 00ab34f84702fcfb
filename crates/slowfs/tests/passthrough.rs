//! A mounted slow file system, used as a directory for messages is: what is done at the mount point is done in the source.
//!
//! Each test mounts its own. It takes /dev/fuse and the right to mount, and fails where they are missing.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{BufRead, BufReader, ErrorKind, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant, SystemTime};

/// A mounted file system, and the folder with both of its sides.
struct Mounted {
    folder: PathBuf,
    program: Child,
    input: Option<ChildStdin>,
}

impl Mounted {
    fn new(options: &[&str]) -> Self {
        static FOLDERS: AtomicUsize = AtomicUsize::new(0);
        let number = FOLDERS.fetch_add(1, Ordering::Relaxed);
        let folder = std::env::temp_dir().join(format!("slowfs-{}-{number}", std::process::id()));
        fs::create_dir_all(folder.join("source")).expect("the source can be made");
        fs::create_dir_all(folder.join("mounted")).expect("the mount point can be made");
        let mut command = Command::new(env!("CARGO_BIN_EXE_postrider-slowfs"));
        command
            .arg(folder.join("source"))
            .arg(folder.join("mounted"))
            .arg("--until-input-ends")
            .args(options);
        let mut program =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("the program starts");
        let input = program.stdin.take();
        let mut line = String::new();
        let output = program.stdout.take().expect("it has an output");
        BufReader::new(output).read_line(&mut line).expect("its output is text");
        assert!(
            line.contains("is seen at"),
            "it does not mount; is there a /dev/fuse, and the right to mount?"
        );
        Self { folder, program, input }
    }

    fn at(&self, path: &str) -> PathBuf {
        self.folder.join("mounted").join(path)
    }

    fn source(&self, path: &str) -> PathBuf {
        self.folder.join("source").join(path)
    }

    fn is_mounted(&self) -> bool {
        let device = |path: &Path| fs::metadata(path).map(|status| status.dev());
        // A mount whose server has died has no status.
        !matches!((device(&self.at("")), device(&self.folder)), (Ok(one), Ok(other)) if one == other)
    }

    /// Waits for the end of the program, and checks that it has unmounted.
    fn ends(&mut self) {
        let start = Instant::now();
        while self.program.try_wait().expect("it is our child").is_none() {
            assert!(start.elapsed() < Duration::from_secs(60), "it does not end");
            std::thread::sleep(Duration::from_millis(5));
        }
        assert!(!self.is_mounted(), "it has not unmounted");
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        drop(self.input.take());
        // A test that has failed already says why.
        let _ = self.program.wait();
        let _ = fs::remove_dir_all(&self.folder);
    }
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("it is a folder");
    let name = |entry: std::io::Result<fs::DirEntry>| {
        entry.expect("an entry").file_name().into_string().expect("a name in UTF-8")
    };
    let mut names: Vec<String> = entries.map(name).collect();
    names.sort();
    names
}

#[test]
fn files_and_folders_are_passed_through() {
    let mounted = Mounted::new(&[]);
    fs::create_dir(mounted.at("folder")).expect("mkdir");
    fs::write(mounted.at("folder/message"), b"content").expect("write");
    assert_eq!(fs::read(mounted.source("folder/message")).expect("read"), b"content");
    fs::write(mounted.source("folder/other"), b"from below").expect("write");
    assert_eq!(fs::read(mounted.at("folder/other")).expect("read"), b"from below");
    assert_eq!(names(&mounted.at("folder")), ["message", "other"]);

    fs::rename(mounted.at("folder/message"), mounted.at("renamed")).expect("rename");
    fs::rename(mounted.at("folder/other"), mounted.at("renamed")).expect("rename over a file");
    assert_eq!(fs::read(mounted.at("renamed")).expect("read"), b"from below");
    fs::hard_link(mounted.at("renamed"), mounted.at("folder/linked")).expect("link");
    assert_eq!(fs::metadata(mounted.at("renamed")).expect("status").nlink(), 2);
    symlink("renamed", mounted.at("symbolic")).expect("symlink");
    assert_eq!(fs::read_link(mounted.at("symbolic")).expect("readlink"), Path::new("renamed"));
    assert_eq!(fs::read(mounted.at("symbolic")).expect("read"), b"from below");

    let refused = fs::remove_dir(mounted.at("folder")).expect_err("it is not empty");
    assert_eq!(refused.kind(), ErrorKind::DirectoryNotEmpty);
    for name in ["folder/linked", "renamed", "symbolic"] {
        fs::remove_file(mounted.at(name)).expect("unlink");
    }
    fs::remove_dir(mounted.at("folder")).expect("rmdir");
    assert!(names(&mounted.source("")).is_empty());
    assert_eq!(fs::read(mounted.at("renamed")).expect_err("it is gone").kind(), ErrorKind::NotFound);
}

#[test]
fn an_open_file_outlives_its_name() {
    let mounted = Mounted::new(&[]);
    let mut file = OpenOptions::new();
    let mut file = file.read(true).write(true).create_new(true).open(mounted.at("file")).expect("create");
    fs::rename(mounted.at("file"), mounted.at("moved")).expect("rename");
    file.write_all(b"after its renaming").expect("write");
    fs::remove_file(mounted.at("moved")).expect("unlink");
    fs::write(mounted.at("moved"), b"another file").expect("write");
    file.seek(SeekFrom::Start(6)).expect("seek");
    let mut text = String::new();
    file.read_to_string(&mut text).expect("read");
    assert_eq!(text, "its renaming");
}

#[test]
fn attributes_can_be_changed() {
    let mounted = Mounted::new(&[]);
    fs::write(mounted.at("file"), [7; 100_000]).expect("write");
    fs::set_permissions(mounted.at("file"), Permissions::from_mode(0o640)).expect("chmod");
    let file = OpenOptions::new().write(true).open(mounted.at("file")).expect("open");
    file.set_len(70_000).expect("truncate");
    let time = SystemTime::UNIX_EPOCH + Duration::new(1_000_000_000, 5_000);
    file.set_modified(time).expect("utimens");
    file.sync_all().expect("fsync");
    for path in [mounted.at("file"), mounted.source("file")] {
        let status = fs::metadata(path).expect("status");
        assert_eq!((status.mode() & 0o7777, status.len()), (0o640, 70_000));
        assert_eq!(status.modified().expect("a time"), time);
    }
    let mut appending = OpenOptions::new().append(true).open(mounted.at("file")).expect("open");
    appending.write_all(b"end").expect("append");
    assert_eq!(fs::metadata(mounted.source("file")).expect("status").len(), 70_003);
}

#[test]
fn writes_fail_after_so_many_bytes() {
    let mounted = Mounted::new(&["--fail-after", "10000"]);
    fs::write(mounted.at("good"), [1; 8000]).expect("write");
    let errors = [3000, 1].map(|bytes| fs::write(mounted.at("bad"), vec![2; bytes]).expect_err("no room"));
    assert_eq!(errors.map(|error| error.raw_os_error()), [Some(5), Some(5)]);
    assert_eq!(fs::read(mounted.at("good")).expect("read"), [1; 8000]);
}

/// Of many that make a file of the same name, exactly one succeeds; and nothing that they write is lost.
#[test]
fn many_clients_at_once() {
    let mounted = Mounted::new(&["--delay-us", "100", "--requests-per-second", "20000"]);
    const CLIENTS: usize = 16;
    const FILES: usize = 20;
    let won = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for client in 0..CLIENTS {
            let (mounted, won) = (&mounted, &won);
            scope.spawn(move || {
                for number in 0..FILES {
                    if File::create_new(mounted.at(&format!("lock-{number}"))).is_ok() {
                        won.fetch_add(1, Ordering::Relaxed);
                    }
                    let (part, whole) = (format!("{client}-{number}.part"), format!("{client}-{number}"));
                    fs::write(mounted.at(&part), vec![client as u8; 5000]).expect("write");
                    fs::rename(mounted.at(&part), mounted.at(&whole)).expect("rename");
                    assert_eq!(fs::read(mounted.at(&whole)).expect("read"), vec![client as u8; 5000]);
                }
            });
        }
    });
    assert_eq!(won.load(Ordering::Relaxed), FILES);
    assert_eq!(names(&mounted.at("")).len(), FILES + CLIENTS * FILES);
}

#[test]
fn locks_are_granted_or_refused() {
    let granting = Mounted::new(&[]);
    let file = File::create(granting.at("file")).expect("create");
    file.lock().expect("a lock");
    assert!(File::open(granting.at("file")).expect("open").try_lock().is_err(), "it is locked already");
    let refusing = Mounted::new(&["--no-locks"]);
    let file = File::create(refusing.at("file")).expect("create");
    let refused = file.lock().expect_err("locks are refused");
    assert!(refused.to_string().contains("No locks available"), "{refused}");
    let program = "import fcntl, sys; fcntl.lockf(open(sys.argv[1], 'w'), fcntl.LOCK_EX)";
    let output = Command::new("python3").args(["-c", program]).arg(refusing.at("file")).output();
    let output = output.expect("python3 starts");
    assert!(String::from_utf8_lossy(&output.stderr).contains("No locks available"), "{output:?}");
}

#[test]
fn it_ends_with_its_parent_and_with_a_signal() {
    let mut mounted = Mounted::new(&[]);
    let open = File::create(mounted.at("open")).expect("create");
    drop(mounted.input.take());
    mounted.ends();
    drop(open);
    for signal in ["-TERM", "-INT"] {
        let mut mounted = Mounted::new(&[]);
        let killed = Command::new("kill").args([signal, &mounted.program.id().to_string()]).status();
        assert!(killed.expect("kill starts").success());
        mounted.ends();
    }
    let mut mounted = Mounted::new(&[]);
    let unmounted = Command::new("umount").arg(mounted.at("")).status();
    assert!(unmounted.expect("umount starts").success());
    mounted.ends();
}
