//! Every option of the command line, in one table: its names, its environment variable and its help text.
//!
//! The names follow mpiexec as the MPI standard describes it (section 11.5) and as MPICH and Open MPI spell it. `arguments`
//! turns their long options with a single dash (`-np`, `-genv`) into this table's form first.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Parser, ValueEnum, ValueHint};

/// Ranks that one host can have; the job's rings grow with the square.
pub const HOST_RANKS_MAX: i64 = 4096;
/// Ranks that a job can have on all hosts together.
const RANKS_MAX: i64 = 1 << 20;

/// Message passing wherever there is a file system.
#[derive(Parser, Debug)]
#[command(name = "postrider", version, propagate_version = true, about, arg_required_else_help = true)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Subcommand,
}

/// What the executable can do.
#[derive(clap::Subcommand, Debug)]
pub enum Subcommand {
    /// Run a program as an MPI job
    #[command(after_long_help = RUN_HELP, override_usage = RUN_USAGE)]
    Run(Box<Run>),
    /// Compile and link a C program against Postrider's MPI
    #[command(disable_help_flag = true, disable_version_flag = true, after_help = COMPILE_HELP)]
    Cc {
        /// Arguments of the C compiler
        #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_hint = ValueHint::FilePath)]
        arguments: Vec<OsString>,
    },
    /// Compile and link a C++ program against Postrider's MPI
    #[command(name = "c++", disable_help_flag = true, disable_version_flag = true, after_help = COMPILE_HELP)]
    Cxx {
        /// Arguments of the C++ compiler
        #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_hint = ValueHint::FilePath)]
        arguments: Vec<OsString>,
    },
    /// Compile and link a Fortran program against Postrider's MPI
    #[command(disable_help_flag = true, disable_version_flag = true, after_help = FORTRAN_HELP)]
    Fortran {
        /// Arguments of the Fortran compiler
        #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_hint = ValueHint::FilePath)]
        arguments: Vec<OsString>,
    },
    /// Run programs with System V message queues, semaphores and shared memory of their own
    #[command(after_help = IPC_HELP, subcommand)]
    Ipc(Ipc),
    /// Find out what keeps jobs from running here or on other hosts
    #[command(after_help = DOCTOR_HELP)]
    Doctor(Doctor),
    /// Print what this installation has, and what this machine allows it
    Info(Info),
    /// Print what programs need that something else than `postrider run` starts, as `srun octave`, for a shell to evaluate
    #[command(after_help = ENV_HELP)]
    Env(Env),
    /// Examine this host for `doctor`; what follows is measured through standard input and output
    #[command(hide = true)]
    Examine,
    /// Print which build this is; remote shells ask for it
    #[command(hide = true)]
    Build,
    /// Start and watch the ranks of one host, for a `postrider run` on another
    #[command(hide = true)]
    Agent,
    /// End what is left of a job on this host
    #[command(hide = true)]
    End {
        /// The job's directory
        directory: PathBuf,
    },
    /// Remove what dead jobs of this user have left
    #[command(hide = true)]
    Sweep {
        /// Where the directories of jobs are made
        directory: PathBuf,
    },
    /// Stand in for the launcher of ranks that another launcher has started
    #[command(hide = true)]
    Stand(Stand),
    /// Run a job that a program has asked for (MPI_Comm_spawn), and that is described on standard input
    #[command(hide = true)]
    Spawned {
        /// The port at which that program waits
        port: String,
        /// How messages travel between the ranks
        #[arg(long)]
        transport: Transport,
    },
    /// Be the server of a host of a name space of System V IPC, as an MPI program
    #[command(hide = true)]
    IpcServe {
        /// The name of the name space, if it is to outlive programs
        #[arg(long)]
        name: Option<String>,
        /// How many times the command is started on each host
        #[arg(long, value_delimiter = ',')]
        numbers: Vec<u32>,
        /// The host where new objects live
        #[arg(long)]
        home: Option<u32>,
        /// What the hosts are called
        #[arg(long, value_delimiter = ',')]
        names: Vec<String>,
        #[command(flatten)]
        limits: IpcLimits,
        /// The command and its arguments
        #[arg(trailing_var_arg = true)]
        command: Vec<OsString>,
    },
    /// Get a tracer, and become a command whose calls of System V IPC that makes
    #[cfg(target_arch = "x86_64")]
    #[command(hide = true)]
    IpcTraced {
        /// The command and its arguments
        #[arg(required = true, trailing_var_arg = true)]
        command: Vec<OsString>,
    },
    /// Be the far end of a link between two hosts
    #[command(hide = true)]
    Link {
        /// The job's directory on this host
        directory: PathBuf,
        /// The number of the other host
        #[arg(long)]
        from: u32,
    },
    /// Print the completion script of a shell, for all names under which this program is installed
    #[command(after_help = COMPLETIONS_HELP)]
    Completions {
        /// Which shell
        shell: Shell,
        /// Only for these names
        #[arg(value_parser = clap::builder::PossibleValuesParser::new(crate::names::all()))]
        names: Vec<String>,
    },
    /// Write the manual pages
    #[command(hide = true)]
    Manual {
        /// Where they are written
        directory: PathBuf,
    },
}

/// What `postrider ipc` can do.
#[derive(clap::Subcommand, Debug)]
pub enum Ipc {
    /// Run a command in a new name space, which goes when it ends
    Run {
        /// How many times the command is started
        #[arg(short, long, value_name = "NUMBER", default_value_t = 1, conflicts_with = "hosts", value_parser = clap::value_parser!(u32).range(1..=HOST_RANKS_MAX))]
        number: u32,
        #[command(flatten)]
        hosts: IpcHosts,
        #[command(flatten)]
        limits: IpcLimits,
        #[command(flatten)]
        calls: IpcCalls,
        /// The command and its arguments
        #[arg(required = true, trailing_var_arg = true, value_hint = ValueHint::CommandWithArguments)]
        command: Vec<OsString>,
    },
    /// Make a name space that outlives programs
    Start {
        /// Its name
        #[arg(long)]
        name: String,
        #[command(flatten)]
        hosts: IpcHosts,
        #[command(flatten)]
        limits: IpcLimits,
    },
    /// Run a command in a name space that was started
    Join {
        /// Its name
        name: String,
        #[command(flatten)]
        calls: IpcCalls,
        /// The command and its arguments
        #[arg(required = true, trailing_var_arg = true, value_hint = ValueHint::CommandWithArguments)]
        command: Vec<OsString>,
    },
    /// Remove a name space that was started; who waits in it is told
    Stop {
        /// Its name
        name: String,
    },
    /// List its objects, as the files of /proc/sysvipc do
    List {
        #[command(flatten)]
        place: IpcPlace,
    },
    /// Remove objects
    #[command(group(clap::ArgGroup::new("what").required(true).multiple(true).args(["all", "queues", "sets", "segments"])))]
    Remove {
        #[command(flatten)]
        place: IpcPlace,
        /// All of them
        #[arg(short, long, conflicts_with_all = ["queues", "sets", "segments"])]
        all: bool,
        /// Message queues, by their identifiers
        #[arg(short, long = "queue-id", value_name = "ID")]
        queues: Vec<i32>,
        /// Semaphore sets
        #[arg(short, long = "semaphore-id", value_name = "ID")]
        sets: Vec<i32>,
        /// Shared memory
        #[arg(short = 'm', long = "shmem-id", value_name = "ID")]
        segments: Vec<i32>,
    },
    /// Print its limits
    Stat {
        #[command(flatten)]
        place: IpcPlace,
    },
}

/// The hosts of a new name space.
#[derive(Args, Debug)]
pub struct IpcHosts {
    /// A name space of these hosts, as in `a,b:2`; `run` starts the command as many times on each as the number says
    #[arg(long, value_name = "LIST")]
    pub hosts: Option<String>,
    /// Let all new objects live on this host, and not where they are made
    #[arg(long, value_name = "HOST", requires = "hosts")]
    pub home: Option<String>,
    /// The MPI library that carries what hosts say to each other, as for `postrider run`
    #[arg(long, default_value = "postrider", requires = "hosts")]
    pub engine: String,
    /// The remote shell that reaches other hosts; without this option, POSTRIDER_SSH names it
    #[arg(long, value_name = "COMMAND", requires = "hosts")]
    pub ssh: Option<String>,
}

/// The limits of a new name space.
#[derive(Args, Debug)]
pub struct IpcLimits {
    /// A limit by its name in /proc/sys/kernel: msgmax, msgmnb, msgmni, semmni or shmmni
    #[arg(long = "limit", value_name = "NAME=VALUE", value_parser = limit)]
    pub limits: Vec<(String, u64)>,
}

fn limit(text: &str) -> Result<(String, u64), String> {
    let (name, value) = text.split_once('=').ok_or("it has the form NAME=VALUE")?;
    Ok((name.to_owned(), value.parse().map_err(|_| format!("{value} is no number"))?))
}

/// Which system calls are those of the name space.
#[derive(Args, Debug)]
pub struct IpcCalls {
    /// Trace all processes, so that static programs which the command starts, and raw system calls, use the name space, too; a static command is always traced
    #[arg(long)]
    pub raw_calls: bool,
}

/// Which name space.
#[derive(Args, Debug)]
pub struct IpcPlace {
    /// Its name [default: that of the environment, POSTRIDER_IPC]
    #[arg(long)]
    pub name: Option<String>,
}

/// How a job is asked for.
pub const RUN_USAGE: &str =
    "postrider run [OPTIONS] PROGRAM [ARGUMENT]... [: [-n RANKS] PROGRAM [ARGUMENT]...]...";

const RUN_HELP: &str = "\
Several programs in one job are separated by a colon; -n, --wdir, -x and --env then hold for their own program only:
  postrider run -n 1 ./server : -n 3 ./worker

Another engine runs the same program, compiled for the standard ABI, on another library, with that library's launcher:
  postrider run --engine mpich -n 4 ./ring
Python programs run on what mpi4py finds there; Open MPI 5 does not have the standard ABI, and runs only those.
With --io postrider, files are read and written by Postrider's functions there, too.

Exit code: 0 when every rank exits with 0; otherwise the code of the rank that failed first, or 128 plus the number of its
signal; 124 after --timeout; 2 for wrong arguments; 127 when a program is not found and 126 when it cannot be executed.

mpiexec's long options may also be written with a single dash: -np 4, -wdir DIR, -genv NAME VALUE.";

const COMPILE_HELP: &str = "\
All arguments go to the compiler; Postrider's header and library are added where the step needs them.
  -show           print the command instead of running it (also -showme)
  -compile_info   print what is added for compiling (also -showme:compile)
  -link_info      print what is added for linking (also -showme:link)
POSTRIDER_CC and POSTRIDER_CXX name the compilers; the defaults are cc and c++.";

const FORTRAN_HELP: &str = "\
All arguments go to the compiler; Postrider's modules and library are added where the step needs them.
  --make-modules  make the modules for this compiler beside the installation, and nothing else
  -show           print the command instead of running it (also -showme)
  -compile_info   print what is added for compiling (also -showme:compile)
  -link_info      print what is added for linking (also -showme:link)
POSTRIDER_FC names the compiler; the default is gfortran.";

const DOCTOR_HELP: &str = "\
Without hosts this machine is examined. Exit code: 0 when all is well, 1 when something is wrong, 2 for wrong arguments.";

const IPC_HELP: &str = "\
For example:
  postrider ipc run -n 4 ./worker                        msgget, semget and shmget of these four meet, and of nobody else
  postrider ipc run --hosts h1:4,h2:4 ./worker           the same over hosts
  postrider ipc start --name lab                         a name space for several shells:
  postrider ipc join lab ./program
  postrider ipc join lab ipcs                            what is in it, as `ipc list --name lab` says
  postrider ipc stop lab

Exit code of run and join: 0 when all commands exit with 0; otherwise that of the first that has failed, or 128 plus the number of its signal.
All others have 1 for what could not be done, and 2 for wrong arguments.";

const ENV_HELP: &str = "\
In a job script, or in the start-up file of a shell:
  eval \"$(/opt/postrider/bin/postrider env)\"            sh, bash, zsh
  eval `/opt/postrider/bin/postrider env --csh`          csh, tcsh
  /opt/postrider/bin/postrider env --fish | source       fish
The modulefile share/modulefiles/postrider of the installation says the same to Environment Modules and Lmod.";

const COMPLETIONS_HELP: &str = "\
An installation has these scripts where shells look for them below /usr and /usr/local. Elsewhere:
  source <(postrider completions bash)                   bash
  source <(postrider completions zsh)                    zsh, after compinit
  postrider completions fish | source                    fish";

/// Shells that complete command lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Shell {
    /// GNU Bash, 4.4 or newer
    Bash,
    /// The Z shell
    Zsh,
    /// Fish
    Fish,
}

/// Whose functions for files a program calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Io {
    /// Those of the library that it runs on
    Engine,
    /// Postrider's, which need no locks of the file system
    Postrider,
}

/// Which blocking calls are made asynchronous.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Overlap {
    /// Sends and receives
    Messages,
    /// Reading and writing files
    Files,
    /// Both
    All,
}

/// How messages travel between ranks of one host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Transport {
    /// Through memory that the ranks share
    SharedMemory,
    /// Through files in a private directory under TMPDIR, one for each message
    File,
}

/// How messages travel between hosts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Transfer {
    /// Through one connection of the remote shell for each pair of hosts
    Ssh,
    /// As files, each copied by a program of its own
    Scp,
}

/// Options of `postrider run` that hold for the whole job, and its first program.
#[derive(Args, Debug)]
pub struct Run {
    /// The MPI library to run on: postrider; mpich or openmpi, wherever they are installed; or the PATH of an installation
    #[arg(long, value_name = "ENGINE", default_value = crate::other_engine::OWN, value_hint = ValueHint::DirPath)]
    pub engine: String,
    /// Whose MPI-IO programs have on another engine
    #[arg(long, value_name = "WHOSE", env = "POSTRIDER_IO", default_value = "engine")]
    pub io: Io,
    /// Let blocking calls of the program go on while it computes, where that is faster
    #[arg(long, value_name = "WHICH", num_args = 0..=1, require_equals = true, default_missing_value = "all")]
    pub overlap: Option<Overlap>,
    /// The same, and say at the end of each rank what was gained and what stayed as it is: here, or in files FILE.RANK
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true, default_missing_value = "-")]
    #[arg(value_hint = ValueHint::FilePath)]
    pub overlap_report: Option<OsString>,
    /// How messages travel between the ranks
    #[arg(long, value_name = "HOW", env = "POSTRIDER_TRANSPORT", default_value = "shared-memory")]
    pub transport: Transport,
    /// Run on these hosts, as in `a,b:2`, with as many ranks on each as the number says; `n[1-3]` are n1, n2 and n3
    #[arg(long, visible_alias = "host", value_name = "LIST", conflicts_with = "hostfile")]
    #[arg(value_hint = ValueHint::Hostname)]
    pub hosts: Option<String>,
    /// Run on the hosts that this file lists, one on a line
    #[arg(long, alias = "machinefile", value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub hostfile: Option<PathBuf>,
    /// The remote shell that reaches other hosts
    #[arg(long, value_name = "COMMAND", env = "POSTRIDER_SSH")]
    pub ssh: Option<String>,
    /// How messages travel between hosts
    #[arg(long, value_name = "HOW", env = "POSTRIDER_TRANSFER", default_value = "ssh")]
    pub transfer: Transfer,
    /// The program that copies files to other hosts, for --transfer scp
    #[arg(long, value_name = "COMMAND", env = "POSTRIDER_SCP", default_value = "scp")]
    pub scp: String,
    /// All messages travel as files in this directory, which all hosts see
    #[arg(long, value_name = "DIRECTORY", env = "POSTRIDER_CENTRAL", value_hint = ValueHint::DirPath)]
    pub central: Option<PathBuf>,
    /// Time after which a host that does not answer is given up
    #[arg(long, value_name = "SECONDS", env = "POSTRIDER_HOST_TIMEOUT", default_value = "60")]
    #[arg(value_parser = seconds)]
    pub host_timeout: std::time::Duration,
    /// Begin each line of output with the rank that wrote it
    #[arg(short, long)]
    pub label: bool,
    /// End the job after this time, with exit code 124
    #[arg(long, value_name = "SECONDS", env = "POSTRIDER_TIMEOUT", value_parser = seconds)]
    pub timeout: Option<std::time::Duration>,
    /// Time that ranks have to end on request before they are killed
    #[arg(long, value_name = "SECONDS", env = "POSTRIDER_GRACE", default_value = "2", value_parser = seconds)]
    pub grace: std::time::Duration,
    /// Time after which it is said that all ranks wait for each other, on one host; 0 for never
    #[arg(long, value_name = "SECONDS", env = "POSTRIDER_STALL_WARNING", default_value = "10", value_parser = seconds)]
    pub stall_warning: std::time::Duration,
    /// Say nothing about ranks that fail
    #[arg(short, long, conflicts_with = "verbose")]
    pub quiet: bool,
    /// Say nothing about ranks that end with a code of their own after `MPI_Finalize`
    #[arg(long, hide = true)]
    pub codes_are_results: bool,
    /// Say where each rank runs
    #[arg(short, long)]
    pub verbose: bool,
    /// Set a variable in the environment of all ranks
    #[arg(long, num_args = 2, value_names = ["NAME", "VALUE"], allow_hyphen_values = true)]
    pub genv: Vec<OsString>,
    /// Accepted for compatibility: there may always be more ranks than cores
    #[arg(long, hide = true)]
    pub oversubscribe: bool,
    /// Accepted for compatibility: root may always run jobs
    #[arg(long, hide = true)]
    pub allow_run_as_root: bool,
    /// The first program.
    #[command(flatten)]
    pub section: Section,
}

/// What each program of a job has for itself.
#[derive(Args, Clone, Debug)]
pub struct Section {
    /// Number of ranks [default: the number of cores]
    #[arg(short = 'n', long = "np", visible_alias = "n", value_name = "RANKS")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=RANKS_MAX))]
    pub ranks: Option<u32>,
    /// Directory in which the ranks start
    #[arg(long, alias = "wd", value_name = "DIRECTORY", value_hint = ValueHint::DirPath)]
    pub wdir: Option<PathBuf>,
    /// Set a variable in the environment of the ranks; without a value, pass it on as it is
    #[arg(short = 'x', value_name = "NAME[=VALUE]")]
    pub export: Vec<OsString>,
    /// Set a variable in the environment of the ranks
    #[arg(long, num_args = 2, value_names = ["NAME", "VALUE"], allow_hyphen_values = true)]
    pub env: Vec<OsString>,
    /// The program and its arguments
    #[arg(value_name = "PROGRAM", required = true, trailing_var_arg = true)]
    #[arg(value_hint = ValueHint::CommandWithArguments)]
    pub command: Vec<OsString>,
}

/// Options of `postrider doctor`.
#[derive(Args, Debug)]
pub struct Doctor {
    /// Hosts to examine, such as a,b or n[1-8]
    #[arg(long, value_name = "HOSTS")]
    pub hosts: Option<String>,
    /// File that names the hosts
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, conflicts_with = "hosts")]
    pub hostfile: Option<PathBuf>,
    /// The remote shell, with options of its own if it needs any
    #[arg(long, value_name = "COMMAND", env = "POSTRIDER_SSH")]
    pub ssh: Option<String>,
    /// Also try whether each host reaches each other
    #[arg(long)]
    pub mesh: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// Options of `postrider env`.
#[derive(Args, Debug)]
#[group(multiple = false)]
pub struct Env {
    /// For sh, bash and zsh; the default
    #[arg(long)]
    pub sh: bool,
    /// For csh and tcsh
    #[arg(long)]
    pub csh: bool,
    /// For fish
    #[arg(long)]
    pub fish: bool,
}

/// Options of `postrider info`.
#[derive(Args, Debug)]
pub struct Info {
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// What the first rank of a host knows of its job.
#[derive(Args, Clone, Debug)]
pub struct Stand {
    /// The launcher's name of the job
    pub key: String,
    /// Number of this host
    #[arg(long)]
    pub host: u32,
    /// Number of hosts
    #[arg(long)]
    pub hosts: u32,
    /// Number of ranks
    #[arg(long)]
    pub ranks: u32,
    /// Number of ranks on this host
    #[arg(long)]
    pub count: u32,
    /// The launcher has a key-value space, which the lowest rank of this host can use
    #[arg(long)]
    pub relay: bool,
    /// Time after which a host that does not answer is given up
    #[arg(long, value_name = "SECONDS", env = "POSTRIDER_HOST_TIMEOUT", default_value = "60")]
    #[arg(value_parser = seconds)]
    pub host_timeout: std::time::Duration,
    /// This process is the agent proper, and nobody's child
    #[arg(long)]
    pub detached: bool,
}

/// The part of a command line after a colon.
#[derive(Parser, Debug)]
#[command(name = "postrider run ... :", override_usage = RUN_USAGE, disable_help_flag = true)]
pub struct LaterSection {
    /// Its program.
    #[command(flatten)]
    pub section: Section,
}

fn seconds(text: &str) -> Result<std::time::Duration, String> {
    let number = text.parse().map_err(|_| "this is not a number of seconds".to_owned())?;
    std::time::Duration::try_from_secs_f64(number).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_table_is_consistent() {
        Cli::command().debug_assert();
        LaterSection::command().debug_assert();
    }
}
