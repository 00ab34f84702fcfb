//! The Fortran sources: `mpi_f08.f90` with the modules `mpi_f08_types` and `mpi_f08`, `mpi.f90`, and `mpif.h`.
//!
//! They have no code, only types, constants, common blocks and interfaces, so that nothing has to be linked but the library.

use super::signature::{Intent, Kind, Parameter, Signature};
use std::fmt::Write as _;

/// Which of the interfaces is written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    F08,
    Old,
}

/// The types of handles, with the beginning of the names of their functions here.
const HANDLES: [&str; 11] =
    ["Comm", "Datatype", "Errhandler", "File", "Group", "Info", "Message", "Op", "Request", "Session", "Win"];

/// Integers that only Fortran has, and three that MPI 3.0 has removed and old programs name; each module says of itself whether sections of arrays
/// work.
const INTEGERS: [(&str, i64); 12] = [
    ("MPI_COMBINER_HVECTOR_INTEGER", -104),
    ("MPI_COMBINER_HINDEXED_INTEGER", -107),
    ("MPI_COMBINER_STRUCT_INTEGER", -110),
    ("MPI_STATUS_SIZE", 8),
    ("MPI_SOURCE", 1),
    ("MPI_TAG", 2),
    ("MPI_ERROR", 3),
    ("MPI_ADDRESS_KIND", 8),
    ("MPI_COUNT_KIND", 8),
    ("MPI_OFFSET_KIND", 8),
    ("MPI_INTEGER_KIND", 4),
    ("MPI_LOGICAL_KIND", 4),
];

/// Variables that stand for something else: name, common block, shape in `mpi`, type in `mpi_f08` where it is another one.
const CELLS: [(&str, &str, &str, &str); 10] = [
    ("MPI_BOTTOM", "bottom", "integer", ""),
    ("MPI_IN_PLACE", "in_place", "integer", ""),
    ("MPI_BUFFER_AUTOMATIC", "automatic", "integer", ""),
    ("MPI_UNWEIGHTED(1)", "unweighted", "integer", ""),
    ("MPI_WEIGHTS_EMPTY(1)", "weights_empty", "integer", ""),
    ("MPI_ERRCODES_IGNORE(1)", "errcodes_ignore", "integer", ""),
    ("MPI_STATUS_IGNORE(MPI_STATUS_SIZE)", "status_ignore", "integer", "MPI_STATUS_IGNORE"),
    ("MPI_STATUSES_IGNORE(MPI_STATUS_SIZE,1)", "statuses_ignore", "integer", "MPI_STATUSES_IGNORE(1)"),
    ("MPI_ARGV_NULL(1)", "argv_null", "character", ""),
    ("MPI_ARGVS_NULL(1,1)", "argvs_null", "character", ""),
];

/// Procedures that MPI defines, with their interfaces; those without one are only in the older forms.
const CALLBACKS: [(&str, &str); 14] = [
    ("MPI_COMM_NULL_COPY_FN", "MPI_Comm_copy_attr_function"),
    ("MPI_COMM_DUP_FN", "MPI_Comm_copy_attr_function"),
    ("MPI_COMM_NULL_DELETE_FN", "MPI_Comm_delete_attr_function"),
    ("MPI_TYPE_NULL_COPY_FN", "MPI_Type_copy_attr_function"),
    ("MPI_TYPE_DUP_FN", "MPI_Type_copy_attr_function"),
    ("MPI_TYPE_NULL_DELETE_FN", "MPI_Type_delete_attr_function"),
    ("MPI_WIN_NULL_COPY_FN", "MPI_Win_copy_attr_function"),
    ("MPI_WIN_DUP_FN", "MPI_Win_copy_attr_function"),
    ("MPI_WIN_NULL_DELETE_FN", "MPI_Win_delete_attr_function"),
    ("MPI_CONVERSION_FN_NULL", "MPI_Datarep_conversion_function"),
    ("MPI_CONVERSION_FN_NULL_C", "MPI_Datarep_conversion_function_c"),
    ("MPI_NULL_COPY_FN", ""),
    ("MPI_DUP_FN", ""),
    ("MPI_NULL_DELETE_FN", ""),
];

/// The constants of the header that Fortran has: name, type of handle if it is one, value. Lengths of strings count no zero at the end.
fn constants(header: &[(String, String)]) -> Vec<(&str, &str, i64)> {
    let mut found: Vec<(&str, &str, i64)> = Vec::new();
    for (name, value) in header {
        let bare = value.trim_start_matches('(').trim_end_matches(')');
        if name.starts_with("MPI_T_") || name.starts_with("MPI_F_") || value.contains('*') {
            continue;
        }
        if let Some(same) = found.iter().find(|one| one.0 == bare) {
            found.push((name, same.1, same.2));
            continue;
        }
        let (kind, number) = bare.rsplit_once(')').unwrap_or(("", bare));
        let number = match number.strip_prefix("0x") {
            Some(digits) => i64::from_str_radix(digits, 16),
            None => number.parse(),
        };
        let length = i64::from(name.starts_with("MPI_MAX_"));
        found.extend(number.ok().map(|number| (name.as_str(), kind, number - length)));
    }
    found
}

/// `mpif.h`, in lines that are right in both source forms.
pub fn include_file(header: &[(String, String)], signatures: &[Signature]) -> String {
    let mut text = String::from(
        "! The interface of MPI 5.0 without interfaces: constants and names. In fixed and free form.\n",
    );
    let mut line = |content: String| {
        let _ = writeln!(text, "       {content}");
    };
    for (name, value) in INTEGERS.into_iter().chain(constants(header).into_iter().map(|one| (one.0, one.2))) {
        let kind = if name == "MPI_DISPLACEMENT_CURRENT" { "integer*8" } else { "integer" };
        line(format!("{kind} {name}"));
        line(format!("parameter ({name}={value})"));
    }
    for (name, value) in [("MPI_SUBARRAYS_SUPPORTED", false), ("MPI_ASYNC_PROTECTS_NONBLOCKING", false)] {
        line(format!("logical {name}"));
        line(format!("parameter ({name}=.{value}.)"));
    }
    for (name, block, kind, _) in CELLS {
        let bare = name.split('(').next().unwrap_or(name);
        line(format!("{kind} {name}"));
        line(format!("common /mpi_cell_{block}/ {bare}"));
    }
    for (name, _) in CALLBACKS {
        line(format!("external {name}"));
    }
    for function in signatures.iter().filter(|one| one.result != "int") {
        let kind = if function.result == "double" { "double precision" } else { "integer*8" };
        for prefix in ["", "P"] {
            line(format!("{kind} {prefix}MPI_{}", function.name));
            line(format!("external {prefix}MPI_{}", function.name));
        }
    }
    text
}

/// Parameters and common blocks of a module.
fn specification(header: &[(String, String)], form: Form) -> String {
    let mut text = String::new();
    for (name, value) in INTEGERS {
        let _ = writeln!(text, "  integer, parameter :: {name} = {value}");
    }
    for (name, kind, value) in constants(header) {
        let _ = match kind {
            "" => writeln!(text, "  integer, parameter :: {name} = {value}"),
            "MPI_Offset" => writeln!(text, "  integer(kind=8), parameter :: {name} = {value}"),
            _ if form == Form::Old => writeln!(text, "  integer, parameter :: {name} = {value}"),
            kind => {
                writeln!(text, "  type({}), parameter :: {name} = {0}({value})", kind.trim_start_matches('('))
            }
        };
    }
    let supported = form == Form::F08;
    let _ = writeln!(
        text,
        "  logical, parameter :: MPI_SUBARRAYS_SUPPORTED = .{supported}.\n  \
         logical, parameter :: MPI_ASYNC_PROTECTS_NONBLOCKING = .{supported}."
    );
    for (name, block, kind, other) in CELLS {
        let (kind, name) =
            if form == Form::F08 && !other.is_empty() { ("type(MPI_Status)", other) } else { (kind, name) };
        let bare = name.split('(').next().unwrap_or(name);
        let _ = writeln!(text, "  {kind} :: {name}\n  common /mpi_cell_{block}/ {bare}");
    }
    text
}

/// `mpi_f08.f90`. `callbacks` has the interfaces of the user's procedures.
pub fn of_f08(header: &[(String, String)], signatures: &[Signature], callbacks: &str) -> String {
    let mut text = String::from(
        "module mpi_f08_types\n  use, intrinsic :: iso_c_binding, only: c_ptr\n  implicit none\n",
    );
    for handle in HANDLES {
        let _ = writeln!(text, "  type, bind(C) :: MPI_{handle}\n    integer :: MPI_VAL\n  end type");
    }
    text += "  type, bind(C) :: MPI_Status\n    integer :: MPI_SOURCE, MPI_TAG, MPI_ERROR\n    \
             integer, private :: MPI_internal(5)\n  end type\n";
    text += &specification(header, Form::F08);
    text += callbacks;
    for (name, interface) in CALLBACKS.into_iter().filter(|(_, interface)| !interface.is_empty()) {
        let _ = writeln!(text, "  procedure({interface}) :: {name}");
    }
    for (operator, ending) in [("==", "equal"), ("/=", "differ")] {
        let _ = writeln!(text, "  interface operator({operator})");
        for handle in HANDLES {
            let _ = writeln!(
                text,
                "    pure logical function mpi_{handle}_{ending}(left, right)\n      import\n      \
                 type(MPI_{handle}), intent(in) :: left, right\n    end function"
            );
        }
        text += "  end interface\n";
    }
    text += "end module\n\nmodule mpi_f08\n  use mpi_f08_types\n  implicit none\n";
    for prefix in ["MPI_", "PMPI_"] {
        for signature in signatures.iter().filter(|one| !one.old && !one.large) {
            let twin = signatures.iter().find(|one| one.large && one.name == format!("{}_c", signature.name));
            let generic = format!("{prefix}{}", signature.name);
            let mut bodies = vec![body(signature, prefix, Form::F08)];
            // Where a call fits both, the twin has a name of its own.
            match twin.filter(|twin| differs(signature, twin)) {
                Some(twin) => bodies.push(body(twin, prefix, Form::F08)),
                None => text.extend(twin.map(|twin| {
                    interface(&format!("{prefix}{}", twin.name), &[body(twin, prefix, Form::F08)])
                })),
            }
            text += &interface(&generic, &bodies);
        }
    }
    text + "end module\n"
}

/// `mpi.f90`.
pub fn of_old(header: &[(String, String)], signatures: &[Signature]) -> String {
    let mut text = String::from("module mpi\n  use mpi_f08_types, only: MPI_Status");
    for handle in HANDLES {
        let _ = write!(text, ", &\n    MPI_{handle}");
    }
    text += "\n  implicit none\n";
    text += &specification(header, Form::Old);
    for (name, _) in CALLBACKS {
        let _ = writeln!(text, "  external :: {name}");
    }
    for prefix in ["MPI_", "PMPI_"] {
        for signature in signatures.iter().filter(|one| !one.large) {
            let mut bodies = vec![body(&with_integers(signature), prefix, Form::Old)];
            if signature.parameters.iter().any(|one| one.name == "baseptr") {
                let other = Signature { name: format!("{}_cptr", signature.name), ..signature.clone() };
                bodies.push(body(&other, prefix, Form::Old));
            }
            let generic =
                if bodies.len() > 1 { format!("{prefix}{}", signature.name) } else { String::new() };
            text += &interface(&generic, &bodies);
        }
    }
    text + "end module\n"
}

/// The function with an integer for the address of memory.
fn with_integers(signature: &Signature) -> Signature {
    let mut other = signature.clone();
    for parameter in other.parameters.iter_mut().filter(|one| one.name == "baseptr") {
        parameter.kind = Kind::Word;
    }
    other
}

fn interface(name: &str, bodies: &[String]) -> String {
    format!("  interface {name}\n{}  end interface\n", bodies.concat())
}

/// Whether a call tells the two apart, by the kind of an integer.
pub fn differs(one: &Signature, twin: &Signature) -> bool {
    let kinds = |signature: &Signature| -> Vec<(String, bool)> {
        let integers = signature.parameters.iter();
        integers.map(|one| (integer(&one.c.kind).to_owned(), one.array.is_some())).collect()
    };
    one.parameters.iter().all(|one| one.kind != Kind::Callback) && kinds(one) != kinds(twin)
}

/// The interface body of a function.
fn body(signature: &Signature, prefix: &str, form: Form) -> String {
    let is_function = signature.result != "int";
    let described = form == Form::F08 && signature.has_buffer() || signature.name == "Sizeof";
    let silent = is_function || ["Pcontrol", "F_sync_reg"].contains(&signature.name.as_str());
    let ending = match form {
        _ if described => "_f08ts",
        Form::F08 => "_f08",
        Form::Old => "",
    };
    let name = if form == Form::F08 {
        format!("{prefix}{}{ending}", signature.name)
    } else {
        format!("{prefix}{}", signature.name)
    };
    let mut names: Vec<&str> = signature.parameters.iter().map(|one| one.name.as_str()).collect();
    names.extend((!silent).then_some("ierror"));
    let binding =
        format!(" bind(C, name=\"{}{}{ending}_\")", prefix.to_lowercase(), signature.name.to_lowercase());
    let kind = match signature.result.as_str() {
        "double" => "double precision function",
        "int" => "subroutine",
        _ => "integer(kind=8) function",
    };
    let binding = if described { binding } else { String::new() };
    let mut text = format!("    {kind} {name}( &\n      {}){binding}\n", names.join(", &\n      "));
    text += if form == Form::F08 {
        "      import\n"
    } else {
        "      use, intrinsic :: iso_c_binding, only: c_ptr\n      import\n"
    };
    for parameter in &signature.parameters {
        text += &declaration(parameter, form, described);
    }
    if !silent {
        text += if form == Form::F08 {
            "      integer, optional, intent(out) :: ierror\n"
        } else {
            "      integer :: ierror\n"
        };
    }
    let (end, _) = kind.rsplit_once(' ').map_or((kind, ""), |(_, end)| (end, ""));
    text + &format!("    end {end}\n")
}

fn integer(kind: &str) -> &'static str {
    if kind == "int" { "integer" } else { "integer(kind=8)" }
}

fn declaration(parameter: &Parameter, form: Form, described: bool) -> String {
    let Parameter { name, kind, c, .. } = parameter;
    let array = parameter.array.map_or(String::new(), |shape| format!("({shape})"));
    let status = if c.kind == "MPI_Status" { Some("MPI_Status") } else { None };
    let intent = match parameter.intent {
        _ if form == Form::Old => "",
        Intent::In => ", intent(in)",
        Intent::Out => ", intent(out)",
        Intent::InOut => ", intent(inout)",
        Intent::Either => "",
    };
    let text = match kind {
        Kind::Buffer { .. } | Kind::Address if described => {
            format!("type(*), dimension(..), asynchronous{intent} :: {name}")
        }
        Kind::Buffer { .. } | Kind::Address => return any_type(name),
        Kind::Pointer if form == Form::Old && name == "buffer_addr" => return any_type(name),
        Kind::Pointer => format!("type(c_ptr){intent} :: {name}"),
        Kind::Word => format!("integer(kind=8){intent} :: {name}"),
        Kind::Logical => format!("logical{intent} :: {name}{array}"),
        Kind::Text => format!("character(len=*){intent} :: {name}"),
        Kind::Texts if c.name == "array_of_argv" => format!("character(len=*){intent} :: {name}(count, *)"),
        Kind::Texts => format!("character(len=*){intent} :: {name}(*)"),
        Kind::Callback if form == Form::F08 => format!("procedure({}) :: {name}", c.kind),
        Kind::Callback => format!("external :: {name}"),
        Kind::Handle | Kind::Status if form == Form::F08 => {
            format!("type({}){intent} :: {name}{array}", status.unwrap_or(&c.kind))
        }
        Kind::Status if array.is_empty() => format!("integer :: {name}(8)"),
        Kind::Status => format!("integer :: {name}(8, *)"),
        Kind::Handle => format!("integer :: {name}{array}"),
        Kind::Integer | Kind::Weights => format!("{}{intent} :: {name}{array}", integer(&c.kind)),
    };
    format!("      {text}\n")
}

/// An argument of whatever type and rank, by its address.
fn any_type(name: &str) -> String {
    format!(
        "      !GCC$ ATTRIBUTES NO_ARG_CHECK :: {name}\n      !DIR$ IGNORE_TKR {name}\n      integer :: {name}(*)\n"
    )
}
