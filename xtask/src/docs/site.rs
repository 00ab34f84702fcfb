//! `cargo xtask docs --site`: README.md and the files of `docs/` as a site in `target/site`.
//!
//! Nothing is copied by hand: `mkdocs.yml` says what is in it, and `site.py`, beside this file, takes in the pages that are outside of
//! `docs/`, README.md as the first, and turns links between files of the repository into links between pages.

use super::site_environment;
use crate::workspace;
use anyhow::Result;
use std::process::Command;

/// What makes it, with what its pages look like.
pub const PACKAGES: &[&str] = &["mkdocs==1.6.1", "mkdocs-material==9.8.2"];

/// Makes it; anything that MkDocs warns of is an error.
pub fn make() -> Result<()> {
    let environment = site_environment()?;
    let site = workspace::target()?.join("site");
    let mut mkdocs = Command::new(environment.join("bin/python"));
    mkdocs.args(["-m", "mkdocs", "build", "--strict", "--clean", "--site-dir"]).arg(&site);
    // Of no use to who reads the site: news of its maker.
    mkdocs.env("NO_MKDOCS_2_WARNING", "1");
    workspace::run(mkdocs.current_dir(workspace::root()))?;
    println!("{}", site.join("index.html").display());
    Ok(())
}
