//! What other launchers tell the processes that they start, by environment variables.
//!
//! | launcher | rank and size | host |
//! |---|---|---|
//! | MPICH's `mpiexec` (hydra), `srun --mpi=pmi2` | `PMI_RANK`, `PMI_SIZE` | asked over `PMI_FD` |
//! | Open MPI's `mpiexec` | `OMPI_COMM_WORLD_RANK`, `OMPI_COMM_WORLD_SIZE` | only jobs on one host, by `OMPI_COMM_WORLD_LOCAL_SIZE` |
//! | plain `srun` | `SLURM_PROCID`, `SLURM_STEP_NUM_TASKS` | `SLURM_NODEID`, `SLURM_STEP_NUM_NODES`, `SLURM_STEP_TASKS_PER_NODE` |
//!
//! They are asked in this order, because launchers start each other: hydra and Open MPI have their helpers started by `srun`.
//! A batch script of Slurm is no step, has no `SLURM_STEP_NUM_TASKS`, and stays rank 0 of 1, whatever `SLURM_NTASKS` says.

use postrider_os::packet::RANKS_MAX;

/// Steps with greater numbers are no parallel programs: batch scripts, interactive steps, external ones.
const STEPS_MAX: u32 = 0xffff_ff00;

/// A process of another launcher's job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Launched {
    /// The launcher's name for a person.
    pub launcher: &'static str,
    /// This process's rank.
    pub rank: u32,
    /// Number of ranks.
    pub size: u32,
    /// Where the other ranks are.
    pub place: Place,
}

/// How a process learns which ranks share its host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// From the environment.
    Known(Host),
    /// From the launcher, through this descriptor; with the job's name where PMI version 2 is spoken.
    Asked(i32, Option<String>),
}

/// This host in the job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Host {
    /// The launcher's name of the job.
    pub key: String,
    /// Number of this host.
    pub number: u32,
    /// Number of hosts.
    pub hosts: u32,
    /// Number of ranks on this host.
    pub count: u32,
}

/// The job that another launcher has started this process for. None when there is none, or it has one process.
///
/// # Errors
/// When the launcher's variables contradict each other, or the job cannot be joined.
pub fn find(look_up: impl Fn(&str) -> Option<String>) -> Result<Option<Launched>, String> {
    let look_up = Variables(look_up);
    let found = match look_up.number("PMI_SIZE")? {
        Some(size) => Some(pmi(&look_up, size)?),
        None => match look_up.number("OMPI_COMM_WORLD_SIZE")? {
            Some(size) => Some(open_mpi(&look_up, size)?),
            None => match slurm(&look_up)? {
                None => return stranger(&look_up),
                found => found,
            },
        },
    };
    let Some(found) = found.filter(|found| found.size > 1) else { return Ok(None) };
    let Launched { launcher, rank, size, .. } = found;
    if rank >= size || size > RANKS_MAX {
        return Err(format!(
            "{launcher} has started this process as rank {rank} of {size}; a job has at most {RANKS_MAX} ranks"
        ));
    }
    if let Place::Known(Host { number, hosts, count, .. }) = found.place
        && (number >= hosts || count == 0 || count > size || hosts > size)
    {
        let where_to = format!("on host {number} of {hosts}, with {count} ranks");
        return Err(format!("{launcher} has started this process as rank {rank} of {size} {where_to}"));
    }
    Ok(Some(found))
}

struct Variables<F>(F);

impl<F: Fn(&str) -> Option<String>> Variables<F> {
    fn text(&self, name: &str) -> Option<String> {
        (self.0)(name).filter(|text| !text.trim().is_empty())
    }

    fn number(&self, name: &str) -> Result<Option<u32>, String> {
        let parse =
            |text: String| text.trim().parse().map_err(|_| format!("{name}={text} is not a number of ranks"));
        self.text(name).map(parse).transpose()
    }

    fn needed(&self, launcher: &str, name: &str) -> Result<u32, String> {
        self.number(name)?
            .ok_or_else(|| format!("{launcher} has started this process, but {name} is not set"))
    }
}

fn pmi<F: Fn(&str) -> Option<String>>(variables: &Variables<F>, size: u32) -> Result<Launched, String> {
    let launcher = "a launcher with PMI";
    let rank = variables.needed(launcher, "PMI_RANK")?;
    if size == 1 {
        let place = Place::Asked(-1, None);
        return Ok(Launched { launcher, rank, size, place });
    }
    let text = variables.text("PMI_FD").unwrap_or_default();
    let descriptor = text.trim().parse().map_err(|_| {
        format!(
            "PMI_SIZE={size}, but PMI_FD={text} names no descriptor; use `postrider run -n {size}` instead"
        )
    })?;
    Ok(Launched { launcher, rank, size, place: Place::Asked(descriptor, variables.text("PMI_JOBID")) })
}

fn open_mpi<F: Fn(&str) -> Option<String>>(variables: &Variables<F>, size: u32) -> Result<Launched, String> {
    let launcher = "Open MPI's mpiexec";
    let rank = variables.needed(launcher, "OMPI_COMM_WORLD_RANK")?;
    let count = variables.needed(launcher, "OMPI_COMM_WORLD_LOCAL_SIZE")?;
    if count != size {
        return Err(format!(
            "{launcher} has started {size} processes on several hosts, which Postrider cannot join; \
             use `postrider run -n {size} --hosts …` instead"
        ));
    }
    let names = ["PMIX_NAMESPACE", "OMPI_MCA_ess_base_jobid", "OMPI_MCA_orte_hnp_uri"];
    let key = names.iter().filter_map(|name| variables.text(name)).collect::<Vec<_>>().join("-");
    let host = Host { key: format!("ompi-{key}"), number: 0, hosts: 1, count };
    Ok(Launched { launcher, rank, size, place: Place::Known(host) })
}

fn slurm<F: Fn(&str) -> Option<String>>(variables: &Variables<F>) -> Result<Option<Launched>, String> {
    let launcher = "srun";
    let Some(size) = variables.number("SLURM_STEP_NUM_TASKS").ok().flatten() else { return Ok(None) };
    let Some(rank) = variables.number("SLURM_PROCID").ok().flatten() else { return Ok(None) };
    let step = variables.text("SLURM_STEP_ID").and_then(|text| text.trim().parse::<u32>().ok());
    let Some(step) = step.filter(|&step| step < STEPS_MAX) else { return Ok(None) };
    if size == 1 {
        return Ok(None);
    }
    let number = variables.needed(launcher, "SLURM_NODEID")?;
    let hosts = variables.needed(launcher, "SLURM_STEP_NUM_NODES")?;
    let job = variables.text("SLURM_JOB_ID").unwrap_or_default();
    let name = "SLURM_STEP_TASKS_PER_NODE";
    let list = variables.text(name).unwrap_or_default();
    let count = entry(&list, number).ok_or_else(|| {
        format!("{name}={list} does not say how many tasks are on host {number} of the step")
    })?;
    let key = format!("slurm-{}-{job}.{step}", variables.text("SLURM_CLUSTER_NAME").unwrap_or_default());
    let host = Host { key, number, hosts, count };
    Ok(Some(Launched { launcher, rank, size, place: Place::Known(host) }))
}

/// Variables of launchers whose jobs cannot be joined, because only they know how many ranks there are, and where.
const STRANGERS: [(&str, &str); 3] = [
    ("a launcher with PMIx", "PMIX_RANK"),
    ("a launcher of PALS", "PALS_RANKID"),
    ("mpirun_rsh", "MPIRUN_RANK"),
];

/// Each rank of such a job would be rank 0 of 1, and say nothing of it. Rank 0 may be all of the job.
fn stranger<F: Fn(&str) -> Option<String>>(variables: &Variables<F>) -> Result<Option<Launched>, String> {
    for (launcher, name) in STRANGERS {
        if let Some(rank @ 1..) = variables.number(name).ok().flatten() {
            return Err(format!(
                "{launcher} has started this process as rank {rank} ({name}), which Postrider cannot join; use `srun`, MPICH's \
                 mpiexec or `postrider run` instead, or unset {name} if the process is to be alone"
            ));
        }
    }
    Ok(None)
}

/// The number at place `number` of a list such as `2(x3),1`.
fn entry(list: &str, number: u32) -> Option<u32> {
    let mut before = 0_u64;
    for part in list.split(',') {
        let (value, times) = match part.trim().split_once("(x") {
            Some((value, times)) => (value, times.strip_suffix(')')?),
            None => (part.trim(), "1"),
        };
        let (value, times) = (value.parse().ok()?, times.parse::<u32>().ok()?);
        before += u64::from(times);
        if u64::from(number) < before {
            return Some(value);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn among(variables: &'static [(&str, &str)]) -> Result<Option<Launched>, String> {
        find(|name| variables.iter().find(|(set, _)| *set == name).map(|(_, value)| (*value).to_owned()))
    }

    const STEP: &[(&str, &str)] = &[
        ("SLURM_STEP_NUM_TASKS", "5"),
        ("SLURM_PROCID", "4"),
        ("SLURM_STEP_ID", "2"),
        ("SLURM_JOB_ID", "77"),
        ("SLURM_NODEID", "1"),
        ("SLURM_STEP_NUM_NODES", "3"),
        ("SLURM_STEP_TASKS_PER_NODE", "2(x2),1"),
    ];

    #[test]
    fn a_task_of_srun_knows_its_place() {
        let found = among(STEP).expect("it can be read").expect("it is one of five");
        assert_eq!((found.rank, found.size), (4, 5));
        let host = Host { key: "slurm--77.2".to_owned(), number: 1, hosts: 3, count: 2 };
        assert_eq!(found.place, Place::Known(host));
    }

    #[test]
    fn a_batch_script_is_alone() {
        const BATCH: &[(&str, &str)] =
            &[("SLURM_NTASKS", "8"), ("SLURM_PROCID", "0"), ("SLURM_JOB_ID", "3"), ("SLURM_NODEID", "0")];
        assert_eq!(among(BATCH), Ok(None));
        const INTERACTIVE: &[(&str, &str)] =
            &[("SLURM_STEP_NUM_TASKS", "8"), ("SLURM_PROCID", "0"), ("SLURM_STEP_ID", "4294967290")];
        assert_eq!(among(INTERACTIVE), Ok(None));
        assert_eq!(among(&[]), Ok(None));
    }

    #[test]
    fn one_process_is_alone_whoever_has_started_it() {
        assert_eq!(among(&[("PMI_SIZE", "1"), ("PMI_RANK", "0"), ("SLURM_STEP_NUM_TASKS", "9")]), Ok(None));
        const ONE: &[(&str, &str)] = &[
            ("OMPI_COMM_WORLD_SIZE", "1"),
            ("OMPI_COMM_WORLD_RANK", "0"),
            ("OMPI_COMM_WORLD_LOCAL_SIZE", "1"),
        ];
        assert_eq!(among(ONE), Ok(None));
    }

    #[test]
    fn hydra_is_asked_over_its_descriptor() {
        let found = among(&[("PMI_SIZE", "4"), ("PMI_RANK", "3"), ("PMI_FD", "9")]);
        assert_eq!(found.expect("fine").expect("one of four").place, Place::Asked(9, None));
        let slurm = among(&[("PMI_SIZE", "4"), ("PMI_RANK", "3"), ("PMI_FD", "9"), ("PMI_JOBID", "4.0")]);
        let place = slurm.expect("fine").expect("one of four").place;
        assert_eq!(place, Place::Asked(9, Some("4.0".to_owned())));
        let error = among(&[("PMI_SIZE", "4"), ("PMI_RANK", "3")]).expect_err("no descriptor");
        assert!(error.contains("PMI_FD") && error.contains("postrider run -n 4"), "{error}");
    }

    #[test]
    fn open_mpi_over_several_hosts_is_refused() {
        const TWO: &[(&str, &str)] = &[
            ("OMPI_COMM_WORLD_SIZE", "4"),
            ("OMPI_COMM_WORLD_RANK", "3"),
            ("OMPI_COMM_WORLD_LOCAL_SIZE", "2"),
        ];
        let error = among(TWO).expect_err("two hosts");
        assert!(error.contains("postrider run -n 4"), "{error}");
    }

    #[test]
    fn a_launcher_that_cannot_be_joined_is_named() {
        for name in ["PMIX_RANK", "PALS_RANKID", "MPIRUN_RANK"] {
            let rank = |rank: &str| find(|asked| (asked == name).then(|| rank.to_owned()));
            assert_eq!(rank("0"), Ok(None));
            let error = rank("2").expect_err("it is one of several");
            assert!(error.contains(name) && error.contains("postrider run"), "{error}");
        }
    }

    #[test]
    fn contradictions_are_refused() {
        assert!(among(&[("PMI_SIZE", "4"), ("PMI_RANK", "4"), ("PMI_FD", "9")]).is_err());
        assert!(among(&[("PMI_SIZE", "many")]).is_err());
        let without = |name: &'static str| {
            find(|asked| {
                STEP.iter().find(|(set, _)| *set == asked && asked != name).map(|(_, v)| v.to_string())
            })
        };
        assert!(without("SLURM_STEP_TASKS_PER_NODE").is_err());
        assert!(without("SLURM_NODEID").is_err());
    }

    #[test]
    fn lists_of_tasks_are_not_trusted() {
        assert_eq!(
            (0..4).map(|n| entry("2(x2),1", n)).collect::<Vec<_>>(),
            [Some(2), Some(2), Some(1), None]
        );
        for list in ["", ",", "(x", "2(x", "2(x)", "2(x3", "x(x2)", "2(x99999999999)", "-1", "2(x0)"] {
            assert_eq!(entry(list, 0), None, "{list}");
        }
        assert_eq!(entry("1(x4294967295),2(x4294967295)", 7), Some(1));
    }

    #[test]
    fn no_variable_is_trusted() {
        let names: Vec<&str> = STEP.iter().map(|(name, _)| *name).chain(["PMI_RANK", "PMI_FD"]).collect();
        let values = postrider_fuzz::text(["2(x2),1", "5", "77", "4294967295"].map(str::to_owned));
        let cases = (proptest::collection::vec(values, names.len()), proptest::bool::ANY);
        postrider_fuzz::survives(cases, |(values, pmi)| {
            let found = find(|asked| match asked {
                "PMI_SIZE" => pmi.then(|| values[0].clone()),
                _ => names.iter().position(|name| *name == asked).map(|at| values[at].clone()),
            });
            match found {
                Ok(Some(found)) if found.rank >= found.size || found.size > RANKS_MAX => {
                    Err(format!("{found:?}"))
                }
                Err(what) if what.is_empty() => Err("an error says nothing".to_owned()),
                _ => Ok(()),
            }
        });
    }
}
