//! `cargo xtask plant`: faults that are made on purpose, to see that the suites find them.
//!
//! A fault is a line of a file that becomes a wrong one. What depends on it is built again, each stage of `cargo xtask verify` that has to see it
//! runs and has to fail, and the line is as it was before. A stage that stays green with its fault looks at nothing. What a stage said stays in
//! `target/plant/<stage>.log`, since it can be red for another reason. This takes hours; `--stage` chooses some. A unit test keeps the list in step
//! with the sources and with the stages.

use std::fs::File;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use clap::builder::PossibleValuesParser;

use crate::verify;
use crate::workspace::{self, xtask};

/// Plant faults, and see that the stages of `cargo xtask verify` turn red.
#[derive(clap::Args)]
pub struct Arguments {
    /// Only these stages.
    #[arg(long, value_delimiter = ',', value_parser = PossibleValuesParser::new(verify::stages()))]
    stage: Vec<String>,
    /// The word that chooses the combinations of these stages. With another one a stage may have a share that its fault is not in.
    #[arg(long, value_name = "WORD", default_value = "plant")]
    rotation: String,
}

/// A fault: in this file the one place that says what is right says what is wrong.
struct Fault {
    what: &'static str,
    file: &'static str,
    right: &'static str,
    wrong: &'static str,
    /// Whether the installation has to be made again for it to count.
    installed: bool,
    /// The stages that see it.
    stages: &'static [&'static str],
}

const FAULTS: &[Fault] = &[
    Fault {
        what: "a name of the ABI that no function has",
        file: "crates/abi/names.txt",
        right: "MPI_Abort\n",
        wrong: "MPI_Abort\nMPI_Abandon\n",
        installed: false,
        stages: &["build"],
    },
    Fault {
        what: "a line that is not formatted",
        file: "xtask/src/main.rs",
        right: "fn main() -> anyhow::Result<()> {",
        wrong: "fn main()  -> anyhow::Result<()> {",
        installed: false,
        stages: &["check"],
    },
    Fault {
        what: "an operation that a dead process does not take back",
        file: "crates/ipc/src/semantics/semaphores.rs",
        right: "(value + back).clamp(0, VALUE_MAX)",
        wrong: "(value + 0 * back).clamp(0, VALUE_MAX)",
        installed: true,
        stages: &["ipc"],
    },
    Fault {
        what: "an environment that leads to no functions for Octave",
        file: "crates/postrider/src/environment.rs",
        right: "Need::InFront(\"OCTAVE_PATH\", functions)",
        wrong: "Need::InFront(\"OCTAVE\", functions)",
        installed: true,
        stages: &["installation"],
    },
    Fault {
        what: "a packet that is seen before its bytes",
        file: "crates/os/src/ring.rs",
        right: "self.cells.word(self.tail).store(word, Release);",
        wrong: "self.cells.word(self.tail).store(word, std::sync::atomic::Ordering::Relaxed);",
        installed: false,
        stages: &["models"],
    },
    Fault {
        what: "a file whose length nobody asks the layer for",
        file: "crates/overlap/src/files/process.rs",
        right: "        if is_current(file) { file.flush() } else { file.finish() }",
        wrong: "        if !is_current(file) { file.finish() }",
        installed: true,
        stages: &["overlap"],
    },
    Fault {
        what: "data that is sent before it has come",
        file: "crates/overlap/src/messages/mod.rs",
        right: "        if x.0 < y.1 && y.0 < x.1 {",
        wrong: "        if x.0 < y.0 && y.0 < x.0 {",
        installed: true,
        stages: &["overlap"],
    },
    Fault {
        what: "memory that is shorter than it says",
        file: "crates/os/src/memory.rs",
        right: "match Layout::from_size_align(bytes.max(1), 64) {",
        wrong: "match Layout::from_size_align(bytes.max(2) - 1, 64) {",
        installed: false,
        stages: &["sanitizer"],
    },
    Fault {
        what: "sums of integers that are wrong now and then",
        file: "crates/engine/src/operations/arithmetic.rs",
        right: "self.wrapping_add(other)",
        wrong: "self.wrapping_add(other) | 1",
        installed: true,
        stages: &["programs", "mpich-abi", "mpi4py", "binaries", "hosts", "rust"],
    },
    Fault {
        what: "a block that every program loses",
        file: "tests/check.h",
        right: "const char *level = getenv(\"TEST_THREAD_LEVEL\");",
        wrong: "const char *volatile lost = malloc(4000);\n    const char *level = getenv(\"TEST_THREAD_LEVEL\");\n    (void)lost;\n    lost = NULL;",
        installed: false,
        stages: &["valgrind"],
    },
    Fault {
        what: "a function that is called by the name of another",
        file: "crates/client/src/call.rs",
        right: "\"PMPI_Send_c\"",
        wrong: "\"PMPI_Sending_c\"",
        installed: false,
        stages: &["client"],
    },
    Fault {
        what: "pieces of files that are written where they do not belong",
        file: "crates/io/src/access.rs",
        right: "disk.write(now, range.offset)?;",
        wrong: "disk.write(now, range.offset + 1)?;",
        installed: true,
        stages: &["mpich-io"],
    },
    Fault {
        what: "a value that two operations share",
        file: "include/mpi.h",
        right: "#define MPI_SUM     ((MPI_Op)0x021)",
        wrong: "#define MPI_SUM     ((MPI_Op)0x024)",
        installed: true,
        stages: &["engine"],
    },
    Fault {
        what: "a constant that is missing",
        file: "include/mpi.h",
        right: "#define MPI_TYPECLASS_REAL ",
        wrong: "#define MPI_TYPECLASS_FLOATING ",
        installed: true,
        stages: &["environment"],
    },
    Fault {
        what: "indices that Fortran counts from zero",
        file: "fortran/mpifort.h",
        right: "if (indices[i] != MPI_UNDEFINED) indices[i]++;",
        wrong: "if (indices[i] == MPI_UNDEFINED) indices[i]++;",
        installed: true,
        stages: &["fortran"],
    },
    Fault {
        what: "values that are not padded",
        file: "python/postrider/values.py",
        right: "return -count & 7",
        wrong: "return 0",
        installed: false,
        stages: &["python"],
    },
    Fault {
        what: "a sparse matrix that is refused for its first row",
        file: "octave/src/value_codec.c",
        right: "if (row < row_min || row >= rows)",
        wrong: "if (row <= row_min || row >= rows)",
        installed: true,
        stages: &["octave", "octave-files"],
    },
    Fault {
        what: "a library that is not packed",
        file: "python/build_backend/postrider_wheel.py",
        right: "\"lib/libmpi.so.12\", ",
        wrong: "",
        installed: false,
        stages: &["wheel"],
    },
    Fault {
        what: "a page that shows what no command prints",
        file: "docs/tutorials/c.md",
        right: "Hello from rank 3 of 4",
        wrong: "Hello from rank 3 of 5",
        installed: false,
        stages: &["docs"],
    },
];

/// Plants one after the other; ends with an error if one was not found.
pub fn run(arguments: &Arguments) -> Result<()> {
    let wanted = |stage: &str| arguments.stage.is_empty() || arguments.stage.iter().any(|name| name == stage);
    let logs = workspace::target()?.join("plant");
    std::fs::create_dir_all(&logs).with_context(|| logs.display().to_string())?;
    let (mut found, mut missed) = (0, 0);
    for fault in FAULTS {
        let stages: Vec<&str> = fault.stages.iter().copied().filter(|stage| wanted(stage)).collect();
        if stages.is_empty() {
            continue;
        }
        let planted = Planted::new(fault)?;
        let run = |stage: &str, command: &mut Command| -> Result<bool> {
            let log = File::create(logs.join(format!("{stage}.log")))?;
            Ok(command.stdout(log.try_clone()?).stderr(log).status()?.success())
        };
        let is_there = !fault.installed || run("the-fault-is-built", &mut xtask(&["build"]))?;
        for stage in stages {
            let mut verify = xtask(&["verify", "--only", stage, "--rotation", &arguments.rotation]);
            let is_red = is_there && !run(stage, &mut verify)?;
            *if is_red { &mut found } else { &mut missed } += 1;
            let seen = match (is_there, is_red) {
                (false, _) => "NOT BUILT",
                (true, false) => "GREEN",
                (true, true) => "red",
            };
            println!("{stage:<14} {seen} with {}", fault.what);
        }
        drop(planted);
        if fault.installed {
            workspace::run(&mut xtask(&["build"]))?;
        }
    }
    println!("{found} passed, {missed} failed");
    ensure!(missed == 0, "{missed} faults were not found");
    Ok(())
}

/// A fault that is in its file, until this is dropped.
struct Planted {
    path: PathBuf,
    before: String,
}

impl Planted {
    fn new(fault: &Fault) -> Result<Self> {
        let path = workspace::root().join(fault.file);
        let mut git = Command::new("git");
        git.current_dir(workspace::root()).args(["diff", "--quiet", "HEAD", "--", fault.file]);
        ensure!(git.status()?.success(), "{} has changes: commit them first", fault.file);
        let before = std::fs::read_to_string(&path).with_context(|| path.display().to_string())?;
        ensure!(before.contains(fault.right), "{} does not say {:?}", fault.file, fault.right);
        std::fs::write(&path, before.replacen(fault.right, fault.wrong, 1))?;
        Ok(Self { path, before })
    }
}

impl Drop for Planted {
    fn drop(&mut self) {
        if let Err(error) = std::fs::write(&self.path, &self.before) {
            eprintln!("{} keeps the fault, {error}: git checkout brings it back", self.path.display());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_fault_can_be_planted() {
        for fault in FAULTS {
            let text = std::fs::read_to_string(workspace::root().join(fault.file)).expect(fault.file);
            assert!(text.contains(fault.right), "{} does not say {:?}", fault.file, fault.right);
        }
    }

    #[test]
    fn every_stage_has_a_fault() {
        let stages = verify::stages();
        for stage in &stages {
            assert!(FAULTS.iter().any(|fault| fault.stages.contains(stage)), "no fault is for {stage}");
        }
        let known = |stage: &&str| stages.contains(stage);
        assert!(FAULTS.iter().flat_map(|fault| fault.stages).all(known));
    }
}
