//! A function as Fortran sees it: what the header and the table say together.

use super::facts::{Facts, plain};
use super::header::{Argument, Function};

/// What an argument is in Fortran.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A buffer of any type; with its count and datatype behind it, or whole.
    Buffer {
        counted: bool,
    },
    /// A buffer of which only the address counts.
    Address,
    /// An address that MPI gives.
    Pointer,
    /// An integer of the C type that the argument has.
    Integer,
    /// An integer with the bits of a `void *`.
    Word,
    Logical,
    /// Integers, or a name for none of them.
    Weights,
    Handle,
    Status,
    Text,
    Texts,
    Callback,
}

/// Whether an argument is read, written, or both; `Either` leaves it open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Intent {
    In,
    Out,
    InOut,
    Either,
}

/// An argument.
#[derive(Clone, Debug)]
pub struct Parameter {
    /// Its name in Fortran.
    pub name: String,
    pub kind: Kind,
    pub intent: Intent,
    pub c: Argument,
    /// What stands in the parentheses behind an array: `*`, `3, *`.
    pub array: Option<&'static str>,
    /// How many there are, as an expression of C: the length of an array of handles or of LOGICALs, or of a string.
    pub length: Option<String>,
    /// How many numbers there are that count from one.
    pub from_one: Option<String>,
}

/// A function.
#[derive(Clone, Debug)]
pub struct Signature {
    /// Its name without `MPI_`.
    pub name: String,
    /// The C type of its value, which is the error code if it is an int.
    pub result: String,
    pub parameters: Vec<Parameter>,
    /// Whether it has large counts.
    pub large: bool,
    /// Whether its C code is written by hand.
    pub by_hand: bool,
    /// Whether `mpi_f08` does without it.
    pub old: bool,
    /// Whether a copy cannot stand for a section.
    pub itself: bool,
    /// Whether the datatype of a section has to last as long as the request.
    pub lasting: bool,
    /// Whether copies of sections that a request uses are made anew before the call.
    pub fills: bool,
    /// Whether what has arrived in copies goes into the sections after the call.
    pub empties: bool,
}

impl Signature {
    /// What Fortran has of a function, if it has it.
    pub fn new(function: &Function, facts: &Facts) -> Option<Self> {
        let name = &function.name;
        if facts.of_function(name, "none") {
            return None;
        }
        let kept = function.arguments.iter().enumerate();
        let kept = kept.filter(|(_, c)| facts.of_argument(name, &c.name, "dropped").is_none());
        let parameters = kept.map(|(at, _)| parameter(function, at, facts)).collect();
        Some(Self {
            name: name.clone(),
            result: function.result.clone(),
            parameters,
            large: name.ends_with("_c"),
            by_hand: facts.of_function(name, "hand"),
            old: facts.of_function(name, "old"),
            itself: facts.of_function(name, "itself"),
            lasting: facts.of_function(name, "lasting"),
            fills: facts.of_function(name, "fills"),
            empties: facts.of_function(name, "empties"),
        })
    }

    /// The request that it makes.
    pub fn new_request(&self) -> Option<&Parameter> {
        let is_new = |one: &&Parameter| one.c.kind == "MPI_Request" && one.intent == Intent::Out;
        self.parameters.iter().find(is_new)
    }

    /// Whether that request is started again and again.
    pub fn is_persistent(&self) -> bool {
        plain(&self.name).ends_with("_init")
    }

    /// Whether it has a buffer of any type.
    pub fn has_buffer(&self) -> bool {
        self.parameters.iter().any(|one| matches!(one.kind, Kind::Buffer { .. } | Kind::Address))
    }
}

fn parameter(function: &Function, at: usize, facts: &Facts) -> Parameter {
    let (name, c) = (&function.name, &function.arguments[at]);
    let says = |word: &str| facts.of_argument(name, &c.name, word);
    let whole = facts.of_function(name, "whole");
    let kind = kind(c, &says, !whole && is_counted(&function.arguments[at + 1..]));
    let array = match (kind, c.brackets.as_str()) {
        (_, "[][3]") => Some("3, *"),
        (Kind::Weights | Kind::Texts, _) => Some("*"),
        (_, "") => says("statuses").map(|_| "*"),
        _ => Some("*"),
    };
    let intent = intent(function, c, kind, &says);
    // MPI-1 has default integers where there are addresses since then.
    let is_old = kind == Kind::Word && facts.of_function(name, "old");
    let (kind, mut c) = (if is_old { Kind::Integer } else { kind }, c.clone());
    if is_old {
        c.kind = "int".to_owned();
    }
    Parameter {
        name: says("named").unwrap_or(&c.name).to_owned(),
        kind,
        intent,
        array,
        length: says("length").map(str::to_owned),
        from_one: says("index").map(|count| if count.is_empty() { "1".to_owned() } else { count.to_owned() }),
        c,
    }
}

fn kind<'a>(c: &Argument, says: &impl Fn(&str) -> Option<&'a str>, counted: bool) -> Kind {
    let is = |word: &str| says(word).is_some();
    match c.kind.as_str() {
        _ if is("logical") => Kind::Logical,
        "void" if is("pointer") => Kind::Pointer,
        "void" if is("address") => Kind::Address,
        "void" if is("integer") => Kind::Word,
        "void" => Kind::Buffer { counted },
        "char" if c.stars + c.brackets.matches('[').count() > 1 => Kind::Texts,
        "char" => Kind::Text,
        "MPI_Status" => Kind::Status,
        "int" if is("weights") => Kind::Weights,
        "int" | "MPI_Aint" | "MPI_Count" | "MPI_Offset" => Kind::Integer,
        other if other.contains("_function") => Kind::Callback,
        _ => Kind::Handle,
    }
}

/// Whether a count and a datatype follow, each of them one.
fn is_counted(rest: &[Argument]) -> bool {
    let [count, datatype, ..] = rest else { return false };
    ["int", "MPI_Count"].contains(&count.kind.as_str())
        && datatype.kind == "MPI_Datatype"
        && !count.points()
        && !datatype.points()
}

fn intent<'a>(
    function: &Function,
    c: &Argument,
    kind: Kind,
    says: &impl Fn(&str) -> Option<&'a str>,
) -> Intent {
    let writes = function.name.contains("_get_") || function.name.starts_with("Attr_get");
    match kind {
        Kind::Callback => Intent::Either,
        Kind::Word | Kind::Logical if c.kind == "void" => {
            if writes {
                Intent::Out
            } else {
                Intent::In
            }
        }
        Kind::Texts => Intent::In,
        _ if !c.points() || c.is_const || c.brackets == "[][3]" => Intent::In,
        _ if says("in").is_some() => Intent::In,
        _ if says("out").is_some() => Intent::Out,
        _ if says("inout").is_some() => Intent::InOut,
        Kind::Buffer { .. } | Kind::Address | Kind::Status | Kind::Weights => Intent::Either,
        _ if says("whatever").is_some() => Intent::Either,
        _ => Intent::Out,
    }
}
