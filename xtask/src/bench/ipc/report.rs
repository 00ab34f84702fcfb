//! `docs/BENCHMARKS_IPC.md`, written from the results of one session.

use std::fmt::Write as _;
use std::path::Path;

use super::super::engines::{Engine, Place};
use super::super::record::Run;
use super::super::report::part;
use super::super::table::number;
use super::targets;
use super::ways::Means;

const METHOD: &str = "\
Written by `cargo xtask bench ipc --report DIR`; edit the program, not this page.

The paper is \"The influence of efficient message passing mechanisms on high performance distributed scientific computing\", about DIPC2006, which had System V
IPC over hosts in the kernel. Its tables 1 and 2 and its figure 1 are measured here on one machine, with a molecular dynamics program of the kind that it used
(`bench/ipc/molecules.c`). All forms of the program find the same energies; one that does not has failed.

| | what carries messages |
|---|---|
| *kernel-messages* | `msgsnd` and `msgrcv` of the kernel, in a name space of its own |
| *layer-messages* | the same program under `postrider ipc run` |
| *kernel-memory*, *layer-memory* | a System V segment, and semaphores that say what is full and what is empty |
| *postrider*, *mpich*, *openmpi* | `MPI_Send` and `MPI_Recv` |

- *ping-pong*: half the way there and back of a message between two processes, by two types of one queue; between hosts by two queues, each made by who receives
  from it. *latency* is the same of MPI. *semaphore*: one operation that nobody waits for. *alternate*: half a turn of two processes that wait for each other's
  semaphore. *start*: a program that makes one call, from its start to its end. Medians of nine rounds.
- *one core*: both processes share it. *two hosts* and *four hosts* are those of a bed (`tests/hosts`) on the same machine, with as many processes on each.
- *md-run* (figure 1), *md-send* (table 1), *md-receive* (table 2): milliseconds of 300 steps with 108 atoms on one host, of 100 between hosts, and of them in the
  calls that send and that receive, the mean of all processes. *size* is the number of atoms. Means take turns; medians of the repetitions.
";

/// The columns of a table in the paper: number of processes, DIPC2006, LAM/MPI, and the per cent that it states.
type Paper = [(u32, f64, f64, u32); 4];
const SENDS: Paper =
    [(2, 85.698, 117.504, 32), (4, 66.06, 100.224, 34), (8, 50.4, 89.12, 38), (16, 36.72, 77.296, 40)];
const RECEIVES: Paper =
    [(2, 99.981, 153.408, 53), (4, 77.07, 131.848, 54), (8, 54.8, 110.24, 55), (16, 31.84, 89.192, 57)];

// Writing to a String cannot fail, so the results of write! are dropped on this page.

/// The page; `directory` holds the pictures.
pub fn markdown(run: &Run, directory: &Path, root: &Path) -> String {
    let mut page = format!("# System V IPC\n\n{METHOD}");
    write_claims(&mut page);
    write_truth(&mut page, run);
    part(page, run, targets::targets(run), directory, root)
}

fn write_claims(page: &mut String) {
    page.push_str(
        "\n## What the paper claimed\n\n\
        That messages in the kernel make the program faster than MPI in a library, and the more so the more processes there are. The times of its tables, without a unit, and the per \
        cent that it states beside what follows from them:\n\n\
        | table | processes | DIPC2006 | LAM/MPI | stated | MPI takes longer by | DIPC2006 saves |\n\
        |---|---:|---:|---:|---:|---:|---:|\n",
    );
    for (table, rows) in [("1, send", SENDS), ("2, receive", RECEIVES)] {
        for (processes, dipc, mpi, stated) in rows {
            let (longer, saved) = (100.0 * (mpi / dipc - 1.0), 100.0 * (1.0 - dipc / mpi));
            let _ = writeln!(
                page,
                "| {table} | {processes} | {dipc} | {mpi} | {stated} % | {longer:.0} % | {saved:.0} % |"
            );
        }
    }
    page.push_str(
        "\nMost of what it states follows from neither column. The text says that times increase with the number of processes, and the tables that they decrease. And it was not the \
        kernel: DIPC's daemon in user space made each decision, and each remote call passed it on both hosts.\n",
    );
}

fn write_truth(page: &mut String, run: &Run) {
    page.push_str(
        "\n## What is true today\n\n\
        Where each process has a core, what counts is how soon who waits looks; where processes share cores, how it gives its core away. Neither needs the kernel, and a library that looks \
        without end loses most of its time in the second case. Time in messages, sends and receives, by that of the kernel's queues:\n\n",
    );
    let means = [Means::LayerMessages, Means::KernelMemory, Means::LayerMemory].map(Engine::Ipc);
    let all: Vec<Engine> =
        means.into_iter().chain([Engine::Postrider, Engine::Mpich, Engine::Openmpi]).collect();
    let names: Vec<&str> = all.iter().map(|engine| engine.name()).collect();
    let _ = writeln!(page, "| processes | {} |", names.join(" | "));
    let _ = writeln!(page, "|{}", "---:|".repeat(1 + all.len()));
    let kernels = run.cells.iter().filter(|cell| {
        (cell.figure.as_str(), cell.engine, cell.place)
            == ("md-send", Engine::Ipc(Means::KernelMessages), Place::OneHost)
    });
    for key in kernels.map(|cell| (cell.ranks, cell.bytes)) {
        let time = |engine| {
            let of = |figure| run.value(figure, engine, Place::OneHost, key);
            Some(of("md-send")? + of("md-receive")?)
        };
        let kernel = time(Engine::Ipc(Means::KernelMessages));
        let times = all.iter().map(|&engine| number(time(engine).zip(kernel).map(|(time, by)| time / by)));
        let _ = writeln!(page, "| {} | {} |", key.0, times.collect::<Vec<_>>().join(" | "));
    }
}
