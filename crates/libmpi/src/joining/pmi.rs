//! The process management interface: what MPICH's hydra offers to the processes that it starts (version 1), and Slurm's `--mpi=pmi2`
//! (version 2, which is asked for where `PMI_JOBID` is set).
//!
//! A socket whose number is in `PMI_FD`; requests and answers are messages of fields ([`wire`](super::wire)). A process begins with
//! `init`, may put and get texts under names, waits for all others at a fence, and ends with `finalize`. The text
//! `PMI_process_mapping` says which ranks share a host: `(vector,(first,hosts,ranks),…)`, blocks of hosts from number `first`
//! on with `ranks` ranks each, which are repeated until all ranks have a host.

use std::io::{ErrorKind, Read, Write};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use postrider_os::standing::{hex, inherited, unhex};

use super::launchers::Host;
use super::wire::{Message, Version, decode, encode};

/// The name under which launchers say which ranks share a host.
const MAPPING: &str = "PMI_process_mapping";
/// What a text may have where the launcher does not say.
const VALUE_BYTES: usize = 1024;

/// A request of version 1 and its answer, and those of version 2.
type Request = [(&'static str, &'static str); 2];
const NAME: Request = [("get_my_kvsname", "my_kvsname"), ("job-getid", "job-getid-response")];
const PUT: Request = [("put", "put_result"), ("kvs-put", "kvs-put-response")];
const GET: Request = [("get", "get_result"), ("kvs-get", "kvs-get-response")];
const ATTRIBUTE: Request = [("get", "get_result"), ("info-getjobattr", "info-getjobattr-response")];
/// It is answered when all ranks have made it.
const FENCE: Request = [("barrier_in", "barrier_out"), ("kvs-fence", "kvs-fence-response")];
const END: Request = [("finalize", "finalize_ack"), ("finalize", "finalize-response")];

/// A conversation with the launcher.
#[derive(Debug)]
pub struct Pmi {
    stream: UnixStream,
    input: Vec<u8>,
    version: Version,
    space: String,
    value_bytes_max: usize,
}

impl Pmi {
    /// Begins the conversation on descriptor `descriptor`, in version 2 if the launcher has given the job a name. No answer
    /// takes longer than `limit`.
    ///
    /// # Errors
    /// When that is no socket of a launcher.
    pub fn begin(descriptor: i32, job: Option<&str>, rank: u32, limit: Duration) -> Result<Self, String> {
        let stream = inherited(descriptor).map_err(|error| {
            format!("PMI_FD={descriptor}: {error}; the launcher's descriptors must reach the program, or unset PMI_SIZE")
        })?;
        stream.set_read_timeout(Some(limit)).map_err(|error| error.to_string())?;
        let (version, space) = (Version::One, String::new());
        let mut pmi = Self { stream, input: Vec::new(), version, space, value_bytes_max: VALUE_BYTES };
        let (first, second) = if job.is_some() { ("2", "0") } else { ("1", "1") };
        let fields = [("pmi_version", first), ("pmi_subversion", second)];
        let answer = pmi.exchange("init", "response_to_init", &fields)?;
        match job.filter(|_| answer.get("pmi_version") == Some("2")) {
            Some(job) => {
                pmi.version = Version::Two;
                let rank = rank.to_string();
                let fields = [("pmijobid", job), ("pmirank", &rank), ("threaded", "FALSE")];
                pmi.exchange("fullinit", "fullinit-response", &fields)?;
            }
            None => {
                let maxes = pmi.exchange("get_maxes", "maxes", &[])?;
                let bytes = maxes.get("vallen_max").and_then(|text| text.parse().ok());
                pmi.value_bytes_max = bytes.unwrap_or(VALUE_BYTES);
            }
        }
        let answer = pmi.ask(NAME, &[])?;
        let name = answer.get("kvsname").or(answer.get("jobid"));
        pmi.space = name.ok_or("PMI: the launcher has no key-value space")?.to_owned();
        Ok(pmi)
    }

    /// Where rank `rank` of `size` is, and whether it is the lowest rank there, which speaks for its host.
    ///
    /// # Errors
    /// When the launcher does not say it.
    pub fn host(&mut self, rank: u32, size: u32) -> Result<(Host, bool), String> {
        let mapping = self.get(ATTRIBUTE, MAPPING)?;
        let hosts = hosts(&mapping, size)
            .ok_or_else(|| format!("PMI: {MAPPING}={mapping} does not place {size} ranks"))?;
        let number = hosts[rank as usize];
        let here = || hosts.iter().enumerate().filter(|(_, host)| **host == number);
        let leads = here().next().map(|(first, _)| first) == Some(rank as usize);
        let count = here().count() as u32;
        let last = hosts.iter().max().copied().unwrap_or_default();
        Ok((Host { key: format!("pmi-{}", self.space), number, hosts: last + 1, count }, leads))
    }

    /// Puts a text of host `host` where the leaders of all hosts find it after the next fence.
    ///
    /// # Errors
    /// When the launcher refuses.
    pub fn put(&mut self, round: u32, host: u32, text: &str) -> Result<(), String> {
        let value = hex(text);
        if value.len() >= self.value_bytes_max {
            let max = self.value_bytes_max;
            return Err(format!("PMI: {} bytes do not fit into a value of {max}", value.len()));
        }
        let (space, key) = (self.space.clone(), format!("postrider-{round}-{host}"));
        let fields = [("kvsname", space.as_str()), ("key", &key), ("value", &value)];
        let fields = if self.version == Version::One { &fields } else { &fields[1..] };
        self.ask(PUT, fields).map(drop)
    }

    /// The texts that the leaders of all `hosts` hosts have put before the fence.
    ///
    /// # Errors
    /// When one is missing.
    pub fn collect(&mut self, round: u32, hosts: u32) -> Result<Vec<String>, String> {
        let mut texts = Vec::new();
        for other in 0..hosts {
            let value = self.get(GET, &format!("postrider-{round}-{other}"))?;
            texts.push(unhex(&value).ok_or_else(|| format!("PMI: host {other} has shared nonsense"))?);
        }
        Ok(texts)
    }

    /// Says that this rank has come to a fence. [`fence_passed`](Self::fence_passed) has to follow.
    ///
    /// # Errors
    /// When the launcher is gone.
    pub fn fence(&mut self) -> Result<(), String> {
        self.say(self.of(FENCE).0, &[])
    }

    /// Waits for the answer to [`fence`](Self::fence), that all ranks have come to it.
    ///
    /// # Errors
    /// When they do not come in time.
    pub fn fence_passed(&mut self) -> Result<(), String> {
        let (request, expected) = self.of(FENCE);
        self.hear(request, expected).map(drop)
    }

    /// What the launcher speaks through. Between a fence and its answer nothing of it has been read in advance.
    pub fn stream(&self) -> &UnixStream {
        &self.stream
    }

    /// Ends the conversation.
    ///
    /// # Errors
    /// When the launcher is gone.
    pub fn end(mut self) -> Result<(), String> {
        self.ask(END, &[]).map(drop)
    }

    fn get(&mut self, request: Request, key: &str) -> Result<String, String> {
        let space = self.space.clone();
        let answer = match self.version {
            Version::One => self.ask(request, &[("kvsname", &space), ("key", key)])?,
            Version::Two if request == GET => {
                self.ask(request, &[("jobid", &space), ("srcid", "-1"), ("key", key)])?
            }
            Version::Two => self.ask(request, &[("key", key)])?,
        };
        let value = answer.get("value").map(str::to_owned);
        value.ok_or_else(|| format!("PMI: the launcher does not know {key}"))
    }

    /// The names of a request and its answer in the version that is spoken.
    fn of(&self, request: Request) -> (&'static str, &'static str) {
        request[usize::from(self.version == Version::Two)]
    }

    fn ask(&mut self, request: Request, fields: &[(&str, &str)]) -> Result<Message, String> {
        let (request, expected) = self.of(request);
        self.exchange(request, expected, fields)
    }

    fn exchange(
        &mut self,
        request: &str,
        expected: &str,
        fields: &[(&str, &str)],
    ) -> Result<Message, String> {
        self.say(request, fields)?;
        self.hear(request, expected)
    }

    fn say(&mut self, request: &str, fields: &[(&str, &str)]) -> Result<(), String> {
        let message = encode(self.version, request, fields);
        self.stream.write_all(&message).map_err(|error| failed(request, &error.to_string()))
    }

    fn hear(&mut self, request: &str, expected: &str) -> Result<Message, String> {
        let failed = |what: &str| failed(request, what);
        loop {
            if let Some(message) = decode(self.version, &mut self.input).map_err(|what| failed(&what))? {
                let refused = message.get("rc").is_some_and(|code| code != "0");
                return match message.get("cmd") == Some(expected) && !refused {
                    true => Ok(message),
                    false => Err(failed(&format!("it has answered {message:?}"))),
                };
            }
            let mut bytes = [0; 4096];
            match self.stream.read(&mut bytes) {
                Ok(0) => return Err(failed("it has hung up")),
                Ok(n) => self.input.extend_from_slice(&bytes[..n]),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                    return Err(failed("no answer has come in time; have all ranks called MPI_Init?"));
                }
                Err(error) => return Err(failed(&error.to_string())),
            }
        }
    }
}

fn failed(request: &str, what: &str) -> String {
    format!("PMI: the launcher was asked for {request}: {what}")
}

/// The host of each rank by a process mapping, hosts numbered from 0 without gaps. None when it does not say that.
fn hosts(mapping: &str, size: u32) -> Option<Vec<u32>> {
    let blocks = mapping.trim().strip_prefix("(vector,")?.strip_suffix(')')?;
    let mut parsed = Vec::new();
    for block in blocks.split_inclusive(')') {
        let block = block.trim_start_matches(',').strip_prefix('(')?.strip_suffix(')')?;
        let numbers: Vec<u32> =
            block.split(',').map(|text| text.trim().parse().ok()).collect::<Option<_>>()?;
        let [first, hosts, ranks] = numbers[..] else { return None };
        first.checked_add(hosts)?;
        parsed.push((first, hosts, ranks));
    }
    if !parsed.iter().any(|&(_, hosts, ranks)| hosts > 0 && ranks > 0) {
        return None;
    }
    let one_round = || {
        let with_ranks = parsed.iter().filter(|(_, _, ranks)| *ranks > 0);
        with_ranks.flat_map(|&(first, hosts, ranks)| {
            (first..first + hosts).flat_map(move |host| std::iter::repeat_n(host, ranks as usize))
        })
    };
    let mut host_of: Vec<u32> = Vec::new();
    while host_of.len() < size as usize {
        host_of.extend(one_round().take(size as usize - host_of.len()));
    }
    let mut used = host_of.clone();
    used.sort_unstable();
    used.dedup();
    host_of.iter().map(|host| used.binary_search(host).ok().map(|number| number as u32)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{BufRead, BufReader};
    use std::os::fd::AsRawFd;
    use std::thread;

    #[test]
    fn no_mapping_is_trusted() {
        let samples = ["(vector,(0,1,4))", "(vector,(0,3,1))", "(vector,(7,1,1),(3,1,1))"].map(str::to_owned);
        postrider_fuzz::survives(postrider_fuzz::text(samples), |mapping| {
            let whole = |hosts: Vec<u32>| hosts.len() == 5 && hosts.iter().all(|host| *host < 5);
            if hosts(&mapping, 5).is_none_or(whole) { Ok(()) } else { Err("not all have a host".to_owned()) }
        });
    }

    #[test]
    fn mappings_place_ranks() {
        assert_eq!(hosts("(vector,(0,1,4))", 4), Some(vec![0, 0, 0, 0]));
        assert_eq!(hosts("(vector,(0,2,2))", 4), Some(vec![0, 0, 1, 1]));
        assert_eq!(hosts("(vector,(0,3,1))", 5), Some(vec![0, 1, 2, 0, 1]));
        assert_eq!(hosts("(vector,(0,1,2),(1,1,1))", 3), Some(vec![0, 0, 1]));
        assert_eq!(hosts("(vector,(7,1,1),(3,1,1))", 2), Some(vec![1, 0]));
    }

    #[test]
    fn mappings_are_not_trusted() {
        for text in [
            "",
            "(vector,",
            "(vector,)",
            "(vector,())",
            "(vector,(0,1))",
            "(vector,(0,0,0))",
            "(vector,(0,0,4))",
            "(vector,(0,4294967295,0))",
            "(vector,(1,4294967295,1))",
            "(flat,(0,1,1))",
            "(vector,(0,1,1)",
            "(vector,(a,b,c))",
        ] {
            assert_eq!(hosts(text, 4), None, "{text}");
        }
        assert_eq!(hosts("(vector,(0,4294967295,1))", 2), Some(vec![0, 1]));
        assert_eq!(hosts("(vector,(0,1,4294967295))", 2), Some(vec![0, 0]));
    }

    /// A launcher that answers each request with the next of `answers`.
    fn launcher(answers: Vec<&'static str>) -> (UnixStream, thread::JoinHandle<Vec<String>>) {
        let (ours, theirs) = UnixStream::pair().expect("a pair of sockets");
        let answering = thread::spawn(move || {
            let mut stream = BufReader::new(theirs);
            let mut requests = Vec::new();
            for answer in answers {
                let mut line = String::new();
                if stream.read_line(&mut line).unwrap_or(0) == 0 {
                    break;
                }
                requests.push(line.trim().to_owned());
                let _hung_up = stream.get_mut().write_all(answer.as_bytes());
            }
            requests
        });
        (ours, answering)
    }

    const BEGINNING: [&str; 3] = [
        "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0\n",
        "cmd=maxes kvsname_max=256 keylen_max=64 vallen_max=1024\n",
        "cmd=my_kvsname kvsname=kvs_1\n",
    ];

    #[test]
    fn a_conversation_shares_texts() {
        let mut answers = BEGINNING.to_vec();
        answers.push("cmd=get_result rc=0 msg=success value=(vector,(0,2,1))\n");
        answers.push("cmd=put_result rc=0 msg=success\n");
        answers.push("cmd=barrier_out\n");
        answers.push("cmd=get_result rc=0 msg=success value=6168\n");
        answers.push("cmd=get_result rc=0 msg=success value=.\n");
        answers.push("cmd=finalize_ack\n");
        let (socket, answering) = launcher(answers);
        let mut pmi = Pmi::begin(socket.as_raw_fd(), None, 1, Duration::from_secs(60)).expect("it begins");
        let host = pmi.host(1, 2).expect("it says where");
        assert_eq!(host, (Host { key: "pmi-kvs_1".to_owned(), number: 1, hosts: 2, count: 1 }, true));
        pmi.put(0, 1, "").expect("it is put");
        pmi.fence().expect("it is asked for");
        pmi.fence_passed().expect("all have come");
        assert_eq!(pmi.collect(0, 2).expect("they share"), ["ah", ""]);
        pmi.end().expect("it ends");
        let requests = answering.join().expect("it has answered");
        assert_eq!(requests[4], "cmd=put kvsname=kvs_1 key=postrider-0-1 value=.");
    }

    #[test]
    fn version_2_shares_texts_too() {
        let (ours, mut theirs) = UnixStream::pair().expect("a pair of sockets");
        let counted = |body: &str| format!("{:6}{body}", body.len());
        let answers = [
            "cmd=response_to_init pmi_version=2 pmi_subversion=0 rc=0\n".to_owned(),
            counted("cmd=fullinit-response;rc=0;pmi-version=2;rank=0;size=2;"),
            counted("cmd=job-getid-response;rc=0;jobid=4.0;"),
            counted("cmd=info-getjobattr-response;rc=0;found=TRUE;value=(vector,(0,1,2));"),
            counted("cmd=kvs-put-response;rc=0;"),
            counted("cmd=kvs-fence-response;rc=0;"),
            counted("cmd=kvs-get-response;rc=0;found=TRUE;value=6168;"),
            counted("cmd=kvs-get-response;rc=0;found=FALSE;"),
            counted("cmd=finalize-response;rc=0;"),
        ];
        theirs.write_all(answers.concat().as_bytes()).expect("it has all answers at once");
        let mut pmi =
            Pmi::begin(ours.as_raw_fd(), Some("4.0"), 0, Duration::from_secs(60)).expect("it begins");
        let host = Host { key: "pmi-4.0".to_owned(), number: 0, hosts: 1, count: 2 };
        assert_eq!(pmi.host(0, 2), Ok((host, true)));
        pmi.put(0, 0, "ah").expect("it is put");
        pmi.fence().expect("it is asked for");
        pmi.fence_passed().expect("all have come");
        assert_eq!(pmi.collect(0, 1).expect("it is there"), ["ah"]);
        assert!(pmi.collect(0, 1).is_err());
        pmi.end().expect("it ends");
    }

    #[test]
    fn nonsense_is_an_error() {
        for answers in [
            vec!["nonsense\n"],
            vec!["cmd=response_to_init rc=-1\n"],
            vec!["\u{fffd}\n"],
            vec!["cmd=response_to_init rc=0"],
            vec![],
            vec![BEGINNING[0], BEGINNING[1], "cmd=my_kvsname\n"],
        ] {
            let (socket, answering) = launcher(answers);
            assert!(Pmi::begin(socket.as_raw_fd(), None, 0, Duration::from_secs(60)).is_err());
            drop(socket);
            answering.join().expect("it ends");
        }
    }
}
