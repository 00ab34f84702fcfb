//! What a shared library exports, compared with what the ABI says: all its names, their profiling names at the same
//! addresses, and nothing else, least of all a symbol of the Rust run-time library.

use crate::link::Names;
use anyhow::{Context, Result, ensure};
use object::{Object, ObjectSymbol, ObjectSymbolTable};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// A dynamic symbol that the library defines.
struct Export {
    address: u64,
    strong: bool,
}

/// Every dynamic symbol that the library defines, by name.
fn exports(library: &Path) -> Result<BTreeMap<String, Export>> {
    let data = std::fs::read(library).with_context(|| library.display().to_string())?;
    let file = object::File::parse(&*data).with_context(|| library.display().to_string())?;
    let table =
        file.dynamic_symbol_table().with_context(|| format!("{} has no symbols", library.display()))?;
    // Linkers for some machines list sections there as well, which are local.
    let defined = table.symbols().filter(|symbol| !symbol.is_undefined() && !symbol.is_local());
    let entry = |symbol: object::Symbol| {
        let export = Export { address: symbol.address(), strong: symbol.is_global() && !symbol.is_weak() };
        Ok((symbol.name()?.to_owned(), export))
    };
    defined.map(entry).collect()
}

/// Fails unless the library exports `names` and their profiling names as the ABI wants them, and nothing else.
pub fn check(library: &Path, names: &Names) -> Result<()> {
    let exports = exports(library)?;
    let profiling = names.functions.iter().map(|name| format!("P{name}"));
    let expected: BTreeSet<String> =
        names.functions.iter().chain(&names.only).cloned().chain(profiling).collect();
    let missing: Vec<&String> = expected.iter().filter(|name| !exports.contains_key(*name)).collect();
    let surplus: Vec<&String> = exports.keys().filter(|name| !expected.contains(*name)).collect();
    let library = library.display();
    ensure!(missing.is_empty(), "{library} does not export {missing:?}: implement them");
    ensure!(surplus.is_empty(), "{library} exports {surplus:?}, which are no names of the ABI");
    for name in &names.functions {
        let (function, profiling) = (&exports[name], &exports[&format!("P{name}")]);
        ensure!(
            function.address == profiling.address,
            "{library}: {name} and P{name} are different functions"
        );
        ensure!(function.strong && profiling.strong, "{library}: {name} or P{name} is a weak symbol");
    }
    for (name, other) in &names.aliases {
        let same = exports.get(other).is_none_or(|other| other.address == exports[name].address);
        ensure!(same, "{library}: {name} and {other} are different functions");
    }
    Ok(())
}
