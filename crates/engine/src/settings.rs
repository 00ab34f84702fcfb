//! Settings: what a user may change about this library, as one table.
//!
//! A setting is an environment variable, read once at start-up. The table says its name, what it means, what holds without
//! it and which values it takes; messages, help and documentation come from the same rows. The processes of a job must
//! agree on all of them, which they do as the launcher hands its environment on.

use postrider_abi::MPI_ERR_ARG;

use crate::collectives::{
    allgather, allreduce, alltoall, barrier, broadcast, gather, reduce, reduce_scatter, report, scan,
    scatter, spreading,
};
use crate::error::{Error, Result};
use crate::transports::shared_memory;

/// One setting.
#[derive(Debug)]
pub struct Setting {
    /// The environment variable.
    pub name: &'static str,
    /// What it changes.
    pub meaning: &'static str,
    /// What holds without it.
    pub default: &'static str,
    /// The values it takes.
    pub values: fn() -> Vec<&'static str>,
    /// Takes over a value; false if it is none of them.
    set: fn(&mut Settings, &str) -> bool,
}

/// Defines [`Settings`] and [`ALL`]: which algorithm of each family is forced.
macro_rules! forced_algorithms {
    ($($field:ident : $family:ident = $name:literal, $meaning:literal;)+) => {
        /// The values of all settings.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub struct Settings {
            $(#[doc = $meaning] pub $field: Option<$family::Algorithm>,)+
        }

        /// All settings.
        pub const ALL: &[Setting] = &[
            $(Setting {
                name: $name,
                meaning: $meaning,
                default: "chosen by the size of the communicator, its hosts, the size of the data and the cores of the host",
                values: || $family::Algorithm::ALL.iter().map(|algorithm| algorithm.name()).collect(),
                set: |settings, value| {
                    settings.$field = $family::Algorithm::named(value);
                    settings.$field.is_some()
                },
            },)+
        ];
    };
}

forced_algorithms! {
    barrier: barrier = "POSTRIDER_BARRIER", "Algorithm of MPI_Barrier.";
    broadcast: broadcast = "POSTRIDER_BCAST", "Algorithm of MPI_Bcast.";
    gather: gather = "POSTRIDER_GATHER", "Algorithm of MPI_Gather.";
    scatter: scatter = "POSTRIDER_SCATTER", "Algorithm of MPI_Scatter.";
    allgather: allgather = "POSTRIDER_ALLGATHER", "Algorithm of MPI_Allgather and MPI_Allgatherv.";
    alltoall: alltoall = "POSTRIDER_ALLTOALL", "Algorithm of MPI_Alltoall, MPI_Alltoallv and MPI_Alltoallw.";
    reduce: reduce = "POSTRIDER_REDUCE", "Algorithm of MPI_Reduce.";
    allreduce: allreduce = "POSTRIDER_ALLREDUCE", "Algorithm of MPI_Allreduce.";
    reduce_scatter: reduce_scatter = "POSTRIDER_REDUCE_SCATTER",
        "Algorithm of MPI_Reduce_scatter and MPI_Reduce_scatter_block.";
    scan: scan = "POSTRIDER_SCAN", "Algorithm of MPI_Scan and MPI_Exscan.";
    spreading: spreading = "POSTRIDER_SPREADING", "The tree by which a process of a host tells the others what it has.";
    report: report = "POSTRIDER_REPORT",
        "What process 0 reports on standard error when it finalizes: which algorithms collectives have used.";
    long_messages: shared_memory = "POSTRIDER_LONG_MESSAGES", "How long messages travel through shared memory.";
}

impl Settings {
    /// The settings for which `look_up` knows a value, by the name of the environment variable. An empty value is none.
    ///
    /// # Errors
    /// When a value is none of the allowed ones, which the error lists.
    pub fn read(look_up: impl Fn(&str) -> Option<String>) -> Result<Self> {
        let mut settings = Self::default();
        for setting in ALL {
            let Some(value) = look_up(setting.name).filter(|value| !value.is_empty()) else { continue };
            if !(setting.set)(&mut settings, &value) {
                let values = (setting.values)().join(", ");
                let detail = format!("{}={value} is not possible; it may be one of: {values}", setting.name);
                return Err(Error::new(MPI_ERR_ARG, detail));
            }
        }
        Ok(settings)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_of_every_setting_is_taken() {
        for setting in ALL {
            for value in (setting.values)() {
                let look_up = |name: &str| (name == setting.name).then(|| value.to_owned());
                let settings = Settings::read(look_up).expect("it is in the list");
                assert_ne!(settings, Settings::default(), "{} {value}", setting.name);
            }
        }
    }

    #[test]
    fn another_value_is_refused_with_the_list() {
        let look_up = |name: &str| (name == "POSTRIDER_ALLREDUCE").then(|| "best".to_owned());
        let error = Settings::read(look_up).expect_err("there is no such algorithm");
        assert!(
            error.detail.contains("POSTRIDER_ALLREDUCE=best") && error.detail.contains("ring"),
            "{error}"
        );
    }

    /// What `docs/SETTINGS.md` has to say.
    fn document() -> String {
        let mut text = String::from(
            "# Settings\n\nEnvironment variables of the library, read by `MPI_Init`. Without them, what is best is chosen by the size of \
             the\ncommunicator, its hosts, the size of the data and the cores of the host. A value that is none of the allowed ones ends \
             the program\nwith the list of them. Tools can set them before that, as control variables of the same names (`MPI_T_cvar_write`). Those of the launcher are in\n[RUN.md](RUN.md).\n\n| variable | meaning | values |\n|---|---|---|\n",
        );
        for setting in ALL {
            let values = (setting.values)().join("`, `");
            text.push_str(&format!("| `{}` | {} | `{values}` |\n", setting.name, setting.meaning));
        }
        text.push_str(
            "\nA number, for which a hint of the call goes first: `POSTRIDER_CONNECT_TIMEOUT` says for how many seconds `MPI_Comm_connect` waits at a\n\
             port where nobody calls `MPI_Comm_accept`, without its hint `timeout` (180).\n\n\
             Those of files are in [IO.md](IO.md).\n",
        );
        text
    }

    #[test]
    fn the_documentation_is_the_table() {
        assert_eq!(include_str!("../../../docs/SETTINGS.md"), document(), "write this to docs/SETTINGS.md");
    }

    #[test]
    fn nothing_is_set_by_an_empty_value() {
        assert_eq!(Settings::read(|_| Some(String::new())), Ok(Settings::default()));
    }
}
