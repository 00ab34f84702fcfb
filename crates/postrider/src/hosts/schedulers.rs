//! The hosts that a scheduler has given to this job, from what it says in the environment.
//!
//! | scheduler | hosts | slots |
//! |---|---|---|
//! | Slurm | `SLURM_JOB_NODELIST` | `SLURM_TASKS_PER_NODE`, else `SLURM_NTASKS`, else `SLURM_JOB_CPUS_PER_NODE` |
//! | PBS, Torque | `PBS_NODEFILE`: a file with a name for each slot | |
//! | LSF | `LSB_DJOB_HOSTFILE`: the same; or `LSB_MCPU_HOSTS`: `a 2 b 4` | |
//! | Grid Engine | `PE_HOSTFILE`: a file of lines `host slots queue processors` | |
//!
//! The first of them that is there counts. An allocation of this host alone is as good as none: a job on it needs no remote shell.

use std::path::Path;

use super::{Host, lists, merged, parse_list};

/// The hosts of the allocation that the environment `look_up` describes. None without one, or when it is this host alone.
///
/// # Errors
/// When there is an allocation that cannot be read, and which variable or file is wrong.
pub fn allocated(look_up: impl Fn(&str) -> Option<String>) -> Result<Option<Vec<Host>>, String> {
    let get = |name: &str| look_up(name).filter(|value| !value.is_empty());
    let Some((scheduler, hosts)) = first_found(&get) else { return Ok(None) };
    let hosts = hosts.map_err(|what| format!("the allocation of {scheduler} cannot be read: {what}"))?;
    let hosts = merged(hosts);
    let alone = matches!(&hosts[..], [host] if is_here(&host.name, &get));
    Ok((!alone).then_some(hosts))
}

type Found = (&'static str, Result<Vec<Host>, String>);

fn first_found(get: &impl Fn(&str) -> Option<String>) -> Option<Found> {
    let list =
        |list: String| named("SLURM_JOB_NODELIST", parse_list(&list)).and_then(|hosts| slurm(hosts, get));
    let slurm = || get("SLURM_JOB_NODELIST").or_else(|| get("SLURM_NODELIST")).map(list);
    let file = |path: String| lists::read_file(Path::new(&path));
    let pbs = || get("PBS_NODEFILE").map(file);
    let lsf =
        || get("LSB_DJOB_HOSTFILE").map(file).or_else(|| get("LSB_MCPU_HOSTS").map(|list| pairs(&list)));
    let engine = || get("PE_HOSTFILE").map(|path| grid_engine(Path::new(&path)));
    let found = slurm().map(|hosts| ("Slurm", hosts));
    let found = found.or_else(|| pbs().map(|hosts| ("PBS", hosts)));
    let found = found.or_else(|| lsf().map(|hosts| ("LSF", hosts)));
    found.or_else(|| engine().map(|hosts| ("Grid Engine", hosts)))
}

fn named<T>(name: &str, result: Result<T, String>) -> Result<T, String> {
    result.map_err(|what| format!("{name}: {what}"))
}

/// Whether `name` is this host, by its own word or by Slurm's.
fn is_here(name: &str, get: &impl Fn(&str) -> Option<String>) -> bool {
    let short = |name: &str| name.split('.').next().unwrap_or_default().to_owned();
    get("SLURMD_NODENAME").is_some_and(|here| here == name)
        || short(&postrider_os::process::host_name()) == short(name)
}

/// Slots of Slurm's hosts.
fn slurm(mut hosts: Vec<Host>, get: &impl Fn(&str) -> Option<String>) -> Result<Vec<Host>, String> {
    let count = hosts.len();
    let number = |text: String| text.parse::<u32>().map_err(|_| format!("{text:?} is not a number"));
    let slots = match (get("SLURM_TASKS_PER_NODE"), get("SLURM_NTASKS"), get("SLURM_JOB_CPUS_PER_NODE")) {
        (Some(list), _, _) => named("SLURM_TASKS_PER_NODE", repeated(&list, count))?,
        (None, Some(tasks), _) => spread(named("SLURM_NTASKS", number(tasks))?, count as u32),
        (None, None, Some(list)) => named("SLURM_JOB_CPUS_PER_NODE", repeated(&list, count))?,
        (None, None, None) => return Ok(hosts),
    };
    hosts.iter_mut().zip(slots).for_each(|(host, slots)| host.slots = Some(slots.max(1)));
    Ok(hosts)
}

/// As many tasks on each host as on the others, and one more on the first ones where they do not divide.
fn spread(tasks: u32, hosts: u32) -> Vec<u32> {
    (0..hosts).map(|host| tasks / hosts + u32::from(host < tasks % hosts)).collect()
}

/// The numbers of a list such as `2(x3),1`, one for each of `count` hosts.
fn repeated(list: &str, count: usize) -> Result<Vec<u32>, String> {
    let mut numbers = Vec::new();
    for part in list.split(',') {
        let (number, times) = match part.split_once("(x") {
            Some((number, times)) => (number, times.strip_suffix(')').unwrap_or_default()),
            None => (part, "1"),
        };
        match (number.trim().parse::<u32>(), times.parse::<usize>()) {
            (Ok(number), Ok(times)) if times <= count => numbers.extend(std::iter::repeat_n(number, times)),
            _ => return Err(format!("{part:?} is not a number of tasks such as 2 or 2(x3)")),
        }
    }
    match numbers.len() == count {
        true => Ok(numbers),
        false => Err(format!("{list:?} is for {} hosts and not for {count}", numbers.len())),
    }
}

/// The hosts of `a 2 b 4`.
fn pairs(list: &str) -> Result<Vec<Host>, String> {
    let words: Vec<&str> = list.split_whitespace().collect();
    let (pairs, rest) = words.as_chunks();
    let lines: Vec<String> = pairs.iter().map(|[name, slots]| format!("{name} slots={slots}")).collect();
    match rest {
        [] => named("LSB_MCPU_HOSTS", parse_list(&lines.join("\n"))),
        _ => Err(format!("LSB_MCPU_HOSTS: {list:?} is not a list of hosts with their slots")),
    }
}

/// The hosts of a file with lines `host slots queue processors`.
fn grid_engine(path: &Path) -> Result<Vec<Host>, String> {
    let shown = path.display();
    let text = lists::read(path).map_err(|error| format!("the host file {shown} cannot be read: {error}"))?;
    let mut hosts = Vec::new();
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        let mut words = line.split_whitespace();
        let (name, slots) = (words.next().unwrap_or_default(), words.next().unwrap_or("1"));
        let host = parse_list(&format!("{name} slots={slots}"));
        hosts.extend(host.map_err(|what| format!("{shown}, line {line:?}: {what}"))?);
    }
    match hosts.is_empty() {
        true => Err(format!("the host file {shown} names no host")),
        false => Ok(hosts),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn allocation(variables: &[(&str, &str)]) -> Result<Option<Vec<(String, u32)>>, String> {
        let find = |name: &str| variables.iter().find(|(known, _)| *known == name);
        let hosts = allocated(|name| find(name).map(|(_, value)| (*value).to_owned()))?;
        let pair = |host: Host| (host.name, host.slots.unwrap_or(0));
        Ok(hosts.map(|hosts| hosts.into_iter().map(pair).collect()))
    }

    fn pair(name: &str, slots: u32) -> (String, u32) {
        (name.to_owned(), slots)
    }

    fn file(text: &str) -> tempfile::NamedTempFile {
        let mut file = tempfile::NamedTempFile::new().expect("a file");
        file.write_all(text.as_bytes()).expect("it can be written");
        file
    }

    #[test]
    fn slurm_says_how_many_tasks_each_host_has() {
        let list = ("SLURM_JOB_NODELIST", "n[1-3],m07");
        let all = |counts: [u32; 4]| {
            let names = ["n1", "n2", "n3", "m07"];
            Ok(Some(names.iter().zip(counts).map(|(name, count)| pair(name, count)).collect()))
        };
        assert_eq!(allocation(&[list, ("SLURM_TASKS_PER_NODE", "2(x3),1")]), all([2, 2, 2, 1]));
        assert_eq!(allocation(&[list, ("SLURM_NTASKS", "6")]), all([2, 2, 1, 1]));
        assert_eq!(allocation(&[list, ("SLURM_JOB_CPUS_PER_NODE", "16(x4)")]), all([16; 4]));
        assert_eq!(allocation(&[list]), all([0; 4]));
    }

    #[test]
    fn slurms_lists_may_have_several_brackets() {
        let list = ("SLURM_JOB_NODELIST", "r[1-2]n[01-02],gpu[8-10]-ib,login");
        let names = ["r1n01", "r1n02", "r2n01", "r2n02", "gpu8-ib", "gpu9-ib", "gpu10-ib", "login"];
        let counts = [4, 4, 4, 4, 2, 2, 1, 1];
        let expected = names.iter().zip(counts).map(|(name, count)| pair(name, count)).collect();
        assert_eq!(allocation(&[list, ("SLURM_TASKS_PER_NODE", "4(x4),2(x2),1(x2)")]), Ok(Some(expected)));
        // The older name of the variable.
        let two = Ok(Some(vec![pair("n1", 1), pair("n2", 1)]));
        assert_eq!(allocation(&[("SLURM_NODELIST", "n[1-2]"), ("SLURM_NTASKS", "2")]), two);
    }

    #[test]
    fn what_slurm_says_is_not_trusted() {
        let list = ("SLURM_JOB_NODELIST", "n[1-3]");
        for tasks in ["2(x4)", "2(x99999999999)", "2(x", "x", "1", "-1(x3)", "2(x3),", "(x3)"] {
            let error = allocation(&[list, ("SLURM_TASKS_PER_NODE", tasks)]).expect_err(tasks);
            assert!(error.contains("Slurm") && error.contains("SLURM_TASKS_PER_NODE"), "{error}");
        }
        assert!(allocation(&[("SLURM_JOB_NODELIST", "-oProxyCommand=x")]).is_err());
    }

    #[test]
    fn other_schedulers_write_files() {
        let nodes = file("a\na\nb\na\n");
        let path = nodes.path().to_str().expect("a plain path");
        let expected = Ok(Some(vec![pair("a", 3), pair("b", 0)]));
        assert_eq!(allocation(&[("PBS_NODEFILE", path)]), expected);
        assert_eq!(allocation(&[("LSB_DJOB_HOSTFILE", path)]), expected);
        let pairs = Ok(Some(vec![pair("a", 2), pair("b", 4)]));
        assert_eq!(allocation(&[("LSB_MCPU_HOSTS", "a 2 b 4")]), pairs);
        // A host may be there with several queues, and its name on several lines of a file.
        let pieces = file("a 1 all.q@a UNDEFINED\na 1 fast.q@a UNDEFINED\nb 4 all.q@b 0,1:0,2\n");
        let path_of_pieces = pieces.path().to_str().expect("a plain path");
        assert_eq!(allocation(&[("PE_HOSTFILE", path_of_pieces)]), pairs);
        let engine = file("a 2 all.q@a UNDEFINED\nb 4 all.q@b <NULL>\n");
        let path = engine.path().to_str().expect("a plain path");
        assert_eq!(allocation(&[("PE_HOSTFILE", path)]), pairs);
    }

    #[test]
    fn an_allocation_that_cannot_be_read_is_an_error() {
        for name in ["PBS_NODEFILE", "LSB_DJOB_HOSTFILE", "PE_HOSTFILE"] {
            let error = allocation(&[(name, "/nonexistent/nodes")]).expect_err(name);
            assert!(error.contains("/nonexistent/nodes"), "{error}");
        }
        assert!(allocation(&[("LSB_MCPU_HOSTS", "a 2 b")]).is_err());
    }

    #[test]
    fn nothing_and_this_host_alone_are_no_allocation() {
        assert_eq!(allocation(&[]), Ok(None));
        assert_eq!(allocation(&[("SLURM_JOB_NODELIST", "")]), Ok(None));
        let here = postrider_os::process::host_name();
        assert_eq!(allocation(&[("LSB_MCPU_HOSTS", &format!("{here} 4"))]), Ok(None));
        assert_eq!(allocation(&[("SLURM_JOB_NODELIST", "n1"), ("SLURMD_NODENAME", "n1")]), Ok(None));
        let elsewhere = [("SLURM_JOB_NODELIST", "elsewhere"), ("SLURM_NTASKS", "2")];
        assert_eq!(allocation(&elsewhere), Ok(Some(vec![pair("elsewhere", 2)])));
    }
}
