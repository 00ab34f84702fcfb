//! The messages of this host's ranks to other hosts: the post, and the links that it needs.

use std::collections::BTreeSet;
use std::os::fd::OwnedFd;
use std::sync::Arc;

use postrider_os::job::Job;
use rustix::event::{PollFd, PollFlags};

use super::prepare::Prepared;
use crate::control::{Messages, ToHead};
use crate::launch::Refusal;
use crate::links::{Links, News};
use crate::post::{Company, Notice, Post};
use crate::remote_shell::{RemoteShell, quoted};

/// A post with its links. When dropped, the post says goodbye before its links are closed.
pub struct Mail {
    post: Post,
    links: Links,
    /// Files are copied by children of the post's threads.
    copies: bool,
}

impl Mail {
    /// Starts the post, if there is work for one.
    pub fn start(
        prepared: &Prepared,
        job: &Arc<Job>,
        letterbox: Option<OwnedFd>,
        directories: Vec<String>,
    ) -> Result<Option<Self>, Refusal> {
        let Some(listener) = letterbox else { return Ok(None) };
        let post = prepared.start_post(job, &directories)?;
        let assignment = prepared.assignment();
        let shell =
            RemoteShell::new(assignment.remote_shell.as_deref()).map_err(|error| Refusal::new(2, error))?;
        let names = assignment.hosts.clone();
        let links = Links::new(listener, assignment.host, names, directories, shell)
            .map_err(|error| Refusal::new(1, format!("cannot take care of links: {error}")))?;
        let copies = matches!(assignment.messages, Messages::CopiedFiles(_));
        Ok(Some(Self { post, links, copies }))
    }

    /// The guests of the post.
    pub fn company(&self) -> Company {
        self.post.company()
    }

    /// Adds what has to be waited for.
    pub fn wait_for<'b>(&'b self, entries: &mut Vec<PollFd<'b>>) {
        entries.push(PollFd::from_borrowed_fd(self.post.descriptor(), PollFlags::IN));
        self.links.wait_for(entries);
    }

    /// The ranks are being stopped by a shell, or continued.
    pub fn pause(&self, stopped: bool) {
        self.post.pause(stopped);
    }

    /// Brings the link to `host` up; what the head has to know of that.
    pub fn want(&mut self, host: u32) -> Option<ToHead> {
        self.links.want(host).map(report)
    }

    /// Does what the post wants, and says what the head has to know.
    pub fn look(&mut self) -> Vec<ToHead> {
        let mut reports: Vec<ToHead> = self.links.look(&self.post).into_iter().map(report).collect();
        while let Some(notice) = self.post.next() {
            match notice {
                Notice::Wants(host) => reports.extend(self.want(host)),
                Notice::Lost { host, why } => {
                    let why = format!("{why}{}", quoted(&self.links.complaints(host)));
                    reports.push(ToHead::LinkLost(host, why));
                }
                Notice::Failed(why) => reports.push(ToHead::Broken(why)),
            }
        }
        reports
    }

    /// Children that belong to links.
    pub fn children(&self) -> BTreeSet<u32> {
        self.links.children().collect()
    }

    /// Whether threads of this process wait for children that nobody else knows.
    pub fn awaits_children(&self) -> bool {
        self.copies || self.links.are_opening()
    }
}

fn report(news: News) -> ToHead {
    match news {
        News::Wants(host) => ToHead::Wants(host),
        News::Failed(host, why) => ToHead::LinkFailed(host, why),
    }
}
