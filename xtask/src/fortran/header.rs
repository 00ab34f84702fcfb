//! What `include/mpi.h` declares: constants, and functions with their arguments as C has them.

use anyhow::{Context, Result};

/// A function.
#[derive(Clone, Debug)]
pub struct Function {
    /// Its name without `MPI_`.
    pub name: String,
    /// The type of its value.
    pub result: String,
    pub arguments: Vec<Argument>,
}

/// An argument of a function.
#[derive(Clone, Debug)]
pub struct Argument {
    pub name: String,
    /// The type that it points to or is: `int`, `MPI_Comm`, `void`.
    pub kind: String,
    pub is_const: bool,
    /// How many stars stand before the name.
    pub stars: usize,
    /// What stands behind the name, as `[]` and `[][3]`.
    pub brackets: String,
}

impl Argument {
    /// Whether it is a pointer, of whichever spelling.
    pub fn points(&self) -> bool {
        self.stars > 0 || !self.brackets.is_empty()
    }
}

/// Constants in their order, each with what it is.
pub fn constants(text: &str) -> Vec<(String, String)> {
    let lines = without_comments(text);
    let definition = |line: &str| {
        let (name, value) = line.strip_prefix("#define ")?.trim().split_once(char::is_whitespace)?;
        name.starts_with("MPI_").then(|| (name.to_owned(), value.trim().to_owned()))
    };
    lines.lines().filter_map(definition).collect()
}

/// The functions with `MPI_` names, in their order.
pub fn functions(text: &str) -> Result<Vec<Function>> {
    let text = without_comments(text);
    let code: Vec<&str> = text.lines().filter(|line| !line.starts_with('#')).collect();
    let mut functions = Vec::new();
    for statement in code.join(" ").split(';').map(str::trim) {
        let Some((head, rest)) = statement.split_once('(') else { continue };
        let Some((result, name)) = head.trim().rsplit_once(' ') else { continue };
        let Some(name) = name.strip_prefix("MPI_").filter(|_| !result.contains("typedef")) else { continue };
        let inner = rest.trim_end().trim_end_matches(')');
        let list = inner.split(',').map(str::trim).filter(|one| !["void", "...", ""].contains(one));
        let arguments = list.map(argument).collect::<Result<_>>().with_context(|| format!("MPI_{name}"))?;
        let result = result.rsplit(' ').next().unwrap_or(result);
        functions.push(Function { name: name.to_owned(), result: result.to_owned(), arguments });
    }
    Ok(functions)
}

/// One declaration, as `const MPI_Request array_of_requests[]`.
pub fn argument(text: &str) -> Result<Argument> {
    let (before, brackets) = text.split_at(text.find('[').unwrap_or(text.len()));
    let at = before.rfind([' ', '*']).with_context(|| format!("{text:?} is no argument"))?;
    let (kind, name) = (&before[..=at], &before[at + 1..]);
    Ok(Argument {
        name: name.to_owned(),
        kind: kind.replace("const ", "").replace('*', "").trim().to_owned(),
        is_const: kind.contains("const "),
        stars: kind.matches('*').count(),
        brackets: brackets.trim().to_owned(),
    })
}

fn without_comments(text: &str) -> String {
    let mut rest = text;
    let mut code = String::new();
    while let Some((before, after)) = rest.split_once("/*") {
        code += before;
        rest = after.split_once("*/").map_or("", |(_, after)| after);
    }
    code + rest
}
