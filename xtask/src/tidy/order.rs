//! Files that are where nobody looks: sources that nothing compiles, and decision pages out of order.

use super::Source;
use std::collections::BTreeMap;

/// The folder of the decision pages.
const DESIGN: &str = "docs/design/";

/// One line for each file.
pub fn violations(sources: &[Source]) -> Vec<String> {
    let texts: BTreeMap<&str, &str> =
        sources.iter().map(|source| (source.path.as_str(), source.text.as_str())).collect();
    let dead = sources.iter().filter(|source| is_dead(&source.path, &texts));
    let mut violations: Vec<String> =
        dead.map(|source| format!("{}: no other file says `mod`", source.path)).collect();
    violations.extend(pages(sources));
    violations
}

/// Whether a Rust file below a `src` is neither the root of a crate nor a module of its parent, which may name its path.
fn is_dead(path: &str, texts: &BTreeMap<&str, &str>) -> bool {
    let Some((folder, file)) = path.rsplit_once('/') else { return false };
    let Some(stem) = file.strip_suffix(".rs") else { return false };
    if !(folder.ends_with("/src") || folder.contains("/src/")) || ["lib", "main"].contains(&stem) {
        return false;
    }
    let (folder, module) =
        if stem == "mod" { folder.rsplit_once('/').unwrap_or((folder, stem)) } else { (folder, stem) };
    let parents = [
        format!("{folder}.rs"),
        format!("{folder}/mod.rs"),
        format!("{folder}/lib.rs"),
        format!("{folder}/main.rs"),
    ];
    let attribute = format!("/{file}\"");
    let declares = |text: &&str| {
        let declaration = format!("mod {module};");
        if text.lines().any(|line| line.contains("path = ") && line.contains(&attribute)) {
            return true;
        }
        text.lines()
            .any(|line| line.trim_start().ends_with(&declaration) && !line.trim_start().starts_with("//"))
    };
    !parents.iter().filter_map(|parent| texts.get(parent.as_str())).any(declares)
}

/// Pages of decisions are `NNNN-title.md`, from 0001 without a gap, and begin with their number.
fn pages(sources: &[Source]) -> Vec<String> {
    let mut pages: Vec<&Source> = sources.iter().filter(|source| source.path.starts_with(DESIGN)).collect();
    pages.sort_by(|left, right| left.path.cmp(&right.path));
    let mut violations = Vec::new();
    for (page, number) in pages.iter().zip(1..) {
        let number = format!("{number:04}");
        if !page.path.starts_with(&format!("{DESIGN}{number}-")) || !page.path.ends_with(".md") {
            violations.push(format!("{}: should be {DESIGN}{number}-title.md", page.path));
        } else if !page.text.starts_with(&format!("# {number} ")) {
            violations.push(format!("{}: should begin with `# {number} `", page.path));
        }
    }
    violations
}
