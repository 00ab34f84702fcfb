//! What two groups that meet tell each other, as words: who they are, and how their jobs are reached.
//!
//! All numbers are eight bytes, little-endian on the way; a text is its length and its bytes, filled up to whole words.

use postrider_abi::MPI_ERR_OTHER;

use super::{Access, Identity};
use crate::error::{Error, Result};

/// What stands first, so that another version is recognised.
const VERSION: u64 = u64::from_le_bytes(*b"meeting\x02");

/// How the processes of a job reach those of others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Means {
    /// Through memory.
    Memory = 0,
    /// Through files.
    Files = 1,
    /// Not at all: the job is a simulation.
    Nothing = 2,
}

/// One group, as the other learns of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Party {
    /// Who speaks for it.
    pub speaker: Identity,
    /// A context that it proposes.
    pub context: u64,
    /// How its processes can be reached.
    pub means: Means,
    /// Which system it runs on, and which process numbers it sees.
    pub namespace: String,
    /// The host's name.
    pub host: String,
    /// The jobs of its processes.
    pub jobs: Vec<Access>,
    /// Its processes, in rank order.
    pub members: Vec<Identity>,
}

/// Words that are written one after the other.
#[derive(Debug, Default)]
pub(super) struct Writer(pub Vec<u64>);

impl Writer {
    pub fn number(&mut self, number: u64) {
        self.0.push(number);
    }

    pub fn text(&mut self, text: &str) {
        self.number(text.len() as u64);
        for chunk in text.as_bytes().chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.number(u64::from_le_bytes(word));
        }
    }

    fn identity(&mut self, identity: Identity) {
        self.number(identity.job);
        self.number(identity.rank.into());
    }
}

/// Words that are read one after the other.
#[derive(Debug)]
pub(super) struct Reader<'a>(pub &'a [u64]);

impl Reader<'_> {
    pub fn number(&mut self) -> Option<u64> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
    }

    pub fn text(&mut self) -> Option<String> {
        let length = usize::try_from(self.number()?).ok()?;
        let (words, rest) = self.0.split_at_checked(length.div_ceil(8))?;
        self.0 = rest;
        let mut bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        bytes.truncate(length);
        String::from_utf8(bytes).ok()
    }

    fn identity(&mut self) -> Option<Identity> {
        Some(Identity { job: self.number()?, rank: u32::try_from(self.number()?).ok()? })
    }

    /// A list of what `read` reads, after its length.
    fn list<T>(&mut self, mut read: impl FnMut(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        let count = usize::try_from(self.number()?).ok().filter(|&count| count <= self.0.len())?;
        (0..count).map(|_| read(self)).collect()
    }
}

impl Party {
    pub fn write(&self, writer: &mut Writer) {
        writer.number(VERSION);
        writer.identity(self.speaker);
        writer.number(self.context);
        writer.number(self.means as u64);
        writer.text(&self.namespace);
        writer.text(&self.host);
        writer.number(self.jobs.len() as u64);
        for job in &self.jobs {
            writer.number(job.key);
            writer.number(job.posts.into());
            writer.text(&job.place);
            let directory = job.directory.as_deref().map(|path| path.to_string_lossy().into_owned());
            writer.text(&directory.unwrap_or_default());
        }
        writer.number(self.members.len() as u64);
        self.members.iter().for_each(|member| writer.identity(*member));
    }

    /// # Errors
    /// When the words are none that this version of the library writes.
    pub fn read(reader: &mut Reader) -> Result<Self> {
        Self::read_words(reader).ok_or_else(|| {
            Error::new(MPI_ERR_OTHER, "the processes to connect with have another version of this library")
        })
    }

    fn read_words(reader: &mut Reader) -> Option<Self> {
        reader.number().filter(|&version| version == VERSION)?;
        let (speaker, context) = (reader.identity()?, reader.number()?);
        let means = match reader.number()? {
            0 => Means::Memory,
            1 => Means::Files,
            _ => Means::Nothing,
        };
        let (namespace, host) = (reader.text()?, reader.text()?);
        let jobs = reader.list(|reader| {
            let (key, posts) = (reader.number()?, u32::try_from(reader.number()?).ok()?);
            let (place, directory) = (reader.text()?, reader.text()?);
            Some(Access { key, posts, place, directory: (!directory.is_empty()).then(|| directory.into()) })
        })?;
        let members = reader.list(Self::member)?;
        Some(Self { speaker, context, means, namespace, host, jobs, members })
    }

    fn member(reader: &mut Reader) -> Option<Identity> {
        reader.identity()
    }

    /// Whether some process of the one group is of another job than some process of the other.
    pub fn is_foreign_to(&self, other: &Self) -> bool {
        self.members.iter().any(|one| other.members.iter().any(|two| one.job != two.job))
    }

    /// The job whose posts carry the messages between the two groups, if one has posts: that on most hosts. Both groups find the same.
    pub fn carrier_with(&self, other: &Self) -> Option<u64> {
        let jobs = self.jobs.iter().chain(&other.jobs).filter(|job| job.posts > 0);
        jobs.max_by_key(|job| (job.posts, job.key)).map(|job| job.key)
    }

    /// # Errors
    /// Why the processes of the two groups cannot reach each other, as far as their speakers know.
    pub fn check_reach(&self, other: &Self) -> Result<()> {
        let refused = |detail: String| Err(Error::new(MPI_ERR_OTHER, detail));
        if self.means == Means::Nothing || other.means == Means::Nothing {
            return refused("a simulated process cannot be connected with other jobs".to_owned());
        }
        if self.namespace != other.namespace && self.carrier_with(other).is_none() {
            let detail = format!(
                "the processes are on different hosts or in different containers ({} and {}), and no job runs on both; \
                 start one of the jobs over both hosts (--hosts)",
                self.host, other.host
            );
            return refused(detail);
        }
        if self.means != other.means {
            let detail = "one job sends messages through shared memory and the other as files; start both with the same --transport";
            return refused(detail.to_owned());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn example() -> Party {
        let access = |key: u64, directory: Option<&str>| Access {
            key,
            posts: 0,
            place: format!("{key}:7"),
            directory: directory.map(Into::into),
        };
        Party {
            speaker: Identity { job: 5, rank: 1 },
            context: 99,
            means: Means::Files,
            namespace: "here".to_owned(),
            host: "a rather long name".to_owned(),
            jobs: vec![access(5, Some("/tmp/é")), access(6, None)],
            members: vec![Identity { job: 5, rank: 1 }, Identity { job: 6, rank: 0 }],
        }
    }

    #[test]
    fn a_party_survives_the_way() {
        let mut writer = Writer::default();
        example().write(&mut writer);
        assert_eq!(Party::read(&mut Reader(&writer.0)), Ok(example()));
        for length in 0..writer.0.len() {
            assert!(Party::read(&mut Reader(&writer.0[..length])).is_err());
        }
    }

    #[test]
    fn who_cannot_be_reached_is_told_why() {
        let (one, mut other) = (example(), example());
        assert_eq!(one.check_reach(&other), Ok(()));
        other.means = Means::Memory;
        assert!(one.check_reach(&other).unwrap_err().detail.contains("--transport"));
        other.namespace = "there".to_owned();
        assert!(one.check_reach(&other).unwrap_err().detail.contains("different hosts"));
        (other.means, other.jobs[1].posts) = (Means::Files, 2);
        assert_eq!(one.check_reach(&other), Ok(()));
    }

    #[test]
    fn both_sides_find_the_same_carrier() {
        let (mut one, mut other) = (example(), example());
        assert_eq!(one.carrier_with(&other), None);
        one.jobs[0].posts = 2;
        (other.jobs[0].key, other.jobs[0].posts) = (9, 2);
        assert_eq!((one.carrier_with(&other), other.carrier_with(&one)), (Some(9), Some(9)));
        one.jobs[1].posts = 3;
        assert_eq!((one.carrier_with(&other), other.carrier_with(&one)), (Some(6), Some(6)));
    }

    #[test]
    fn no_words_are_trusted() {
        let mut writer = Writer::default();
        example().write(&mut writer);
        let sample = writer.0.iter().flat_map(|word| word.to_le_bytes()).collect();
        postrider_fuzz::survives(postrider_fuzz::bytes([sample]), |bytes| {
            let words: Vec<u64> = bytes.as_chunks().0.iter().map(|word| u64::from_le_bytes(*word)).collect();
            match Party::read(&mut Reader(&words)) {
                Err(error) if !error.detail.contains("another version") => Err(error.detail),
                _ => Ok(()),
            }
        });
    }
}
