//! `cargo xtask docs`: types what a reader of the documentation types, and looks whether he sees what the page says.
//!
//! The pages are README.md, the tutorials and the how-to pages. Each is one run of bash, in a folder of its own in `target/docs`
//! or, for a page that says so, on a bed of hosts ([`crate::hosts`]), with `build/bin` first in PATH. What the parts of a
//! page mean is said in [`page`], and how output is compared in [`output`]. That the index of errors is one of ours is a test of its own ([`errors`]). With `--site`, the same files become a site
//! ([`site`]).

mod errors;
mod output;
mod page;
mod site;

use crate::environment;
use crate::hosts::bed::{Bed, Firewall, Life, Options};
use crate::workspace;
use anyhow::{Context, Result, ensure};
use page::{Commands, Page, Place, Step};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

/// Run the commands of README, tutorials and how-to pages, and compare what they print; or make the site.
#[derive(clap::Args)]
pub struct Arguments {
    /// Only pages whose paths contain this.
    #[arg(long)]
    only: Option<String>,
    /// Make the site in target/site instead.
    #[arg(long)]
    site: bool,
}

/// The page that everybody reads first.
const README: &str = "README.md";

/// The folders with the other pages whose commands are run.
const FOLDERS: [&str; 2] = ["docs/tutorials", "docs/how-to"];

/// What README.md finds in its folder, because its readers are in a clone. Other pages find `postrider`, the clone.
const OF_CLONE: [&str; 3] = ["build", "examples", ".venv"];

/// After how many seconds a page is ended.
const PAGE_SECONDS: &str = "600";

/// The line that the script of a page prints before each block.
const MARK: &str = "@@ block ";

/// Runs all pages; the last line is the sum of their blocks.
pub fn run(arguments: &Arguments) -> Result<()> {
    if arguments.site {
        return site::make();
    }
    workspace::run(Command::new(workspace::root().join("scripts/setup")).arg("slurm"))?;
    let pages = pages()?;
    let wanted = |page: &&Page| arguments.only.as_ref().is_none_or(|part| page.path.contains(part.as_str()));
    let unknown = errors::unknown()?;
    unknown.iter().for_each(|complaint| println!("{complaint}"));
    let (mut passed, mut failed) = (usize::from(unknown.is_empty()), usize::from(!unknown.is_empty()));
    let mut left_out = Vec::new();
    for page in pages.iter().filter(wanted) {
        let start = Instant::now();
        let blocks: Vec<&Commands> = page.commands().collect();
        let complaints = run_page(page)?;
        let (wrong, seconds) = (complaints.len(), start.elapsed().as_secs_f64());
        println!("{:<34} {:>4} passed {wrong:>4} failed {seconds:>8.1} s", page.path, blocks.len() - wrong);
        complaints.iter().for_each(|complaint| println!("{complaint}\n"));
        passed += blocks.len() - wrong;
        failed += wrong;
        left_out.extend(page.left_out());
    }
    println!("{} blocks are not run{}", left_out.len(), if left_out.is_empty() { "" } else { ":" });
    left_out.iter().for_each(|block| println!("  {block}"));
    println!("{passed} passed, {failed} failed");
    std::process::exit(i32::from(failed > 0))
}

/// README.md, and what is in the folders, in the order of names.
fn pages() -> Result<Vec<Page>> {
    let mut paths = Vec::new();
    for folder in FOLDERS {
        for entry in std::fs::read_dir(workspace::root().join(folder)).context(folder)? {
            paths.push(format!("{folder}/{}", entry?.file_name().to_string_lossy()));
        }
    }
    paths.retain(|path| path.ends_with(".md"));
    paths.push(README.to_owned());
    paths.sort();
    let read = |path: String| {
        let text = std::fs::read_to_string(workspace::root().join(&path)).with_context(|| path.clone())?;
        Page::parse(&path, &text)
    };
    paths.into_iter().map(read).collect()
}

/// Runs a page: a complaint for each block that fails, prints something else, or is not reached.
fn run_page(page: &Page) -> Result<Vec<String>> {
    if page.commands().next().is_none() {
        return Ok(Vec::new());
    }
    let folder = folder(page)?;
    let file = folder.with_extension("sh");
    std::fs::write(&file, script(page)).with_context(|| file.display().to_string())?;
    let words = ["timeout", "--kill-after=10", PAGE_SECONDS, "bash", "-eu", "-o", "pipefail"];
    let mut words: Vec<String> = words.map(str::to_owned).into();
    words.push(file.display().to_string());
    let bed;
    let mut command = match page.place {
        Place::Here => here(&words, &folder)?,
        Place::Hosts | Place::Slurm => {
            let slurm = page.place == Place::Slurm;
            let firewall = if slurm { Firewall::Slurm } else { Firewall::Yes };
            let options = Options { hosts: 2, firewall, slurm, ..Options::default() };
            bed = Bed::start("docs", options, Life::Scoped)?;
            bed.command(0, Path::new(if slurm { "/shared" } else { "/" }), &words)?
        }
    };
    let result = command.stdin(Stdio::null()).output().with_context(|| format!("{command:?}"))?;
    let printed = String::from_utf8_lossy(&result.stdout).into_owned();
    std::fs::write(folder.with_extension("log"), &printed)?;
    Ok(judge(page, &printed, result.status.success()))
}

/// A new folder for a page, with the links that it wants.
fn folder(page: &Page) -> Result<PathBuf> {
    let folder = workspace::target()?.join("docs").join(page.path.trim_end_matches(".md").replace('/', "-"));
    if folder.exists() {
        std::fs::remove_dir_all(&folder).with_context(|| folder.display().to_string())?;
    }
    std::fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;
    let root = workspace::root();
    if page.path == README {
        for name in OF_CLONE {
            std::os::unix::fs::symlink(root.join(name), folder.join(name))?;
        }
    } else {
        std::os::unix::fs::symlink(root, folder.join("postrider"))?;
    }
    Ok(folder)
}

/// A page's command on this machine, where a stand-in for ssh has every host on it.
fn here(words: &[String], folder: &Path) -> Result<Command> {
    let users = std::env::var_os("PATH").unwrap_or_default();
    let ours = std::iter::once(workspace::installation().join("bin"));
    let path = std::env::join_paths(ours.chain(std::env::split_paths(&users)))?;
    let mut command = Command::new(&words[0]);
    command.args(&words[1..]).current_dir(folder).env("PATH", path);
    command.env("POSTRIDER_SSH", workspace::root().join("bench/src/remote_shell"));
    command.env("PIP_DISABLE_PIP_VERSION_CHECK", "1").env_remove("VIRTUAL_ENV");
    Ok(command)
}

/// What bash is given: files and commands in the order of the page, and a line before each block.
fn script(page: &Page) -> String {
    let mut text = "exec 2>&1\n".to_owned();
    if page.place == Place::Hosts {
        text += "cd\n";
    }
    let mut number = 0;
    for step in &page.steps {
        match step {
            Step::File { name, text: content } => {
                text += &format!("cat >'{name}' <<'END OF {name}'\n{content}END OF {name}\n");
            }
            Step::Commands(commands) => {
                text += &format!("printf '\\n%s\\n' '{MARK}{number}'\n");
                number += 1;
                let (lines, code) = (&commands.text, commands.exit_code);
                text += &match code {
                    0 => lines.clone(),
                    _ => format!(
                        "set +e\n{{\n{lines}}}\ncode=$?\nset -e\n\
                         [ $code = {code} ] || {{ echo \"the exit code is $code and not {code}\"; exit 1; }}\n"
                    ),
                };
            }
            Step::LeftOut { .. } => {}
        }
    }
    text + &format!("printf '\\n%s\\n' '{MARK}{number}'\n")
}

/// Compares what was printed with what the page says.
fn judge(page: &Page, printed: &str, well: bool) -> Vec<String> {
    let parts: Vec<&str> = printed.split(&format!("\n{MARK}")).skip(1).collect();
    let mut complaints = Vec::new();
    for (number, commands) in page.commands().enumerate() {
        let place = format!("{}:{}", page.path, commands.line);
        let Some(part) = parts.get(number) else {
            complaints.push(format!("{place}: is not reached"));
            continue;
        };
        let found = part.split_once('\n').map_or("", |(_, rest)| rest);
        // The block after this one, or the end, was reached: so this one has ended as it should.
        let ended = parts.len() > number + 1;
        let missing = commands.expected.iter().find_map(|expected| expected.missing(found));
        match (ended, missing) {
            (true, None) => {}
            (true, Some(line)) => {
                complaints.push(format!("{place}: there is no line {line:?} where it should be in\n{found}"))
            }
            (false, _) => complaints.push(format!("{place}: fails\n{}\n{found}", commands.text)),
        }
    }
    if complaints.is_empty() && !well {
        complaints.push(format!("{}: its shell fails at the end", page.path));
    }
    complaints
}

/// The environment that makes the site, beside those of other tools.
fn site_environment() -> Result<PathBuf> {
    let folder = workspace::target()?.join("engines");
    let environment = environment::of_packages(&folder, "site", site::PACKAGES)?;
    ensure!(environment.join("bin/mkdocs").exists(), "there is no mkdocs in {}", environment.display());
    Ok(environment)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
*`a.c`:*

```c
int a;
```

```sh
cat a.c
```

```text
int a;
```

```sh exits 3
exit_with() { return $1; }; exit_with 3
```
";

    fn output_of(name: &str, page: &Page) -> (String, bool) {
        let folder = std::env::temp_dir().join(format!("postrider-docs-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        let mut bash = Command::new("bash");
        bash.args(["-eu", "-o", "pipefail", "-c", &script(page)]).current_dir(&folder);
        let result = bash.output().expect("bash runs");
        std::fs::remove_dir_all(&folder).expect("the folder is ours");
        (String::from_utf8_lossy(&result.stdout).into_owned(), result.status.success())
    }

    #[test]
    fn blocks_that_do_what_the_page_says_are_right() {
        let page = Page::parse("a.md", TEXT).expect("a page");
        let (printed, well) = output_of("right", &page);
        assert_eq!(judge(&page, &printed, well), Vec::<String>::new());
    }

    #[test]
    fn other_output_and_other_exit_codes_are_told() {
        let other = TEXT.replace("```text\nint a;", "```text\nint b;").replace("exits 3", "exits 4");
        let page = Page::parse("a.md", &other).expect("a page");
        let (printed, well) = output_of("wrong", &page);
        let complaints = judge(&page, &printed, well);
        assert_eq!(complaints.len(), 2);
        assert!(complaints[0].starts_with("a.md:7: there is no line \"int b;\""), "{}", complaints[0]);
        assert!(complaints[1].contains("the exit code is 3 and not 4"), "{}", complaints[1]);
    }
}
