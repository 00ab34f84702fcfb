//! The C source of the library: a function for each of MPI's, which turns Fortran's arguments into C's, calls it, and turns the results back.
//!
//! A function without buffers has all its names at one address. One with buffers exists twice: with addresses, for `mpif.h` and the module
//! `mpi`, and with descriptors, for `mpi_f08`.

use super::signature::{Intent, Kind, Parameter, Signature};
use std::fmt::Write as _;

/// How buffers and, beside them, strings are passed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Passing {
    Addresses,
    Descriptors,
}

/// The parts of a function that an argument of it makes.
#[derive(Default)]
struct Parts {
    declared: String,
    /// Before the call.
    before: String,
    passed: String,
    /// After it, if it has succeeded.
    after: String,
    /// After it in any case.
    finally: String,
}

/// All that is not written by hand.
pub fn source(signatures: &[Signature]) -> String {
    let mut text = String::from("#include \"mpifort.h\"\n");
    for signature in signatures.iter().filter(|one| !one.by_hand) {
        if !(signature.large && signature.has_buffer()) {
            text += &function(signature, Passing::Addresses);
        }
        if signature.has_buffer() {
            text += &function(signature, Passing::Descriptors);
        }
    }
    text
}

/// The names of a function without and with a P before them, the first one that of its definition.
fn names(signature: &Signature, passing: Passing) -> Vec<String> {
    let name = signature.name.to_lowercase();
    let mut endings = Vec::new();
    match passing {
        Passing::Descriptors => endings.push("_f08ts_"),
        Passing::Addresses => {
            endings.extend((!signature.large).then_some("_"));
            endings.extend((!signature.has_buffer() && !signature.old).then_some("_f08_"));
            endings.extend(signature.parameters.iter().any(|one| one.name == "baseptr").then_some("_cptr_"));
        }
    }
    endings.iter().flat_map(|end| [format!("mpi_{name}{end}"), format!("pmpi_{name}{end}")]).collect()
}

fn function(signature: &Signature, passing: Passing) -> String {
    let parts: Vec<Parts> = signature.parameters.iter().map(|one| parts(signature, one, passing)).collect();
    let lengths =
        signature.parameters.iter().filter(|one| one.kind == Kind::Text && passing == Passing::Addresses);
    let lengths = lengths.map(|one| format!("size_t {}_length", one.c.name));
    let mut declared: Vec<String> = parts.iter().map(|part| part.declared.clone()).collect();
    declared.push("int *ierror".to_owned());
    declared.extend(lengths);
    let names = names(signature, passing);
    let of = |part: fn(&Parts) -> &String| parts.iter().map(part).map(String::as_str).collect::<String>();
    let mut text =
        format!("\nvoid {}({})\n{{\n    int outcome = MPI_SUCCESS;\n", names[0], declared.join(", "));
    text += &of(|part| &part.before);
    let passed = passed(signature, &parts, passing).join(", ");
    let _ = writeln!(text, "    if (outcome == MPI_SUCCESS) outcome = MPI_{}({passed});", signature.name);
    if passing == Passing::Descriptors {
        let _ = writeln!(text, "    else outcome = {};", told(signature));
    }
    let after = of(|part| &part.after);
    if !after.is_empty() {
        let _ = writeln!(text, "    if (outcome == MPI_SUCCESS) {{\n{after}    }}");
    }
    text += &of(|part| &part.finally);
    text += "    if (ierror) *ierror = outcome;\n}\n";
    for other in &names[1..] {
        let _ = writeln!(text, "ALIAS({other}, {})", names[0]);
    }
    text
}

/// What is passed to C: a section brings its own count and datatype.
fn passed(signature: &Signature, parts: &[Parts], passing: Passing) -> Vec<String> {
    let mut passed: Vec<String> = parts.iter().map(|part| part.passed.clone()).collect();
    for (at, parameter) in signature.parameters.iter().enumerate() {
        if passing == Passing::Descriptors && parameter.kind == (Kind::Buffer { counted: true }) {
            let name = &parameter.c.name;
            passed[at + 1] = format!("({})s_{name}.count", signature.parameters[at + 1].c.kind);
            passed[at + 2] = format!("s_{name}.datatype");
        }
    }
    passed
}

/// The call of the error handler for what is found here: that of the object that the function is about.
fn told(signature: &Signature) -> String {
    let object = signature.parameters.iter().find(|one| {
        !one.c.points() && ["MPI_Comm", "MPI_Win", "MPI_File", "MPI_Session"].contains(&one.c.kind.as_str())
    });
    match object {
        Some(one) => {
            let (kind, word) = (&one.c.kind, handle(&one.c.kind));
            format!("told(P{kind}_call_errhandler({word}_of(*{}), outcome), outcome)", one.c.name)
        }
        None => "told(MPI_Comm_call_errhandler(MPI_COMM_SELF, outcome), outcome)".to_owned(),
    }
}

/// The word for a type of handles in the names of what converts them.
fn handle(kind: &str) -> String {
    kind.trim_start_matches("MPI_").to_lowercase()
}

fn parts(signature: &Signature, parameter: &Parameter, passing: Passing) -> Parts {
    let Parameter { c, kind, intent, .. } = parameter;
    let name = &c.name;
    let mut parts = Parts { declared: format!("{} *{name}", c.kind), ..Parts::default() };
    match kind {
        Kind::Buffer { .. } | Kind::Address => buffer(&mut parts, signature, parameter, passing),
        Kind::Pointer => parts.passed = name.clone(),
        Kind::Handle => handles(&mut parts, signature, parameter, passing),
        Kind::Status if c.is_const => parts.passed = name.clone(),
        Kind::Status => parts.passed = format!("status_of({name})"),
        Kind::Weights => parts.passed = format!("weights_of({name})"),
        Kind::Text => text(&mut parts, signature, parameter, passing),
        Kind::Logical if !c.points() => parts.passed = format!("*{name} != 0"),
        Kind::Integer if !c.points() => parts.passed = format!("*{name}"),
        _ => parts.passed = name.clone(),
    }
    if c.brackets == "[][3]" {
        parts.declared = format!("int (*{name})[3]");
    }
    if *kind == Kind::Logical && *intent == Intent::Out {
        let count = parameter.length.as_deref().unwrap_or("1");
        parts.after = format!("        logicals({name}, {count});\n");
    }
    if let Some(count) = &parameter.from_one {
        parts.finally += &format!("    from_one({name}, {count});\n");
    }
    parts
}

fn buffer(parts: &mut Parts, signature: &Signature, parameter: &Parameter, passing: Passing) {
    let name = &parameter.c.name;
    if passing == Passing::Addresses {
        parts.before = format!("    void *a_{name} = address_of({name});\n");
        parts.passed = format!("a_{name}");
        return;
    }
    parts.declared = format!("CFI_cdesc_t *{name}");
    let Kind::Buffer { counted } = parameter.kind else {
        parts.passed = format!("address_of({name}->base_addr)");
        return;
    };
    parts.passed = format!("s_{name}.address");
    parts.before = format!("    Section s_{name} = {{.address = address_of({name}->base_addr)}};\n");
    if counted {
        let at = signature.parameters.iter().position(|one| one.c.name == *name).unwrap_or(0);
        let (count, datatype) = (&signature.parameters[at + 1].c.name, &signature.parameters[at + 2].c.name);
        let _ = writeln!(
            parts.before,
            "    s_{name}.count = *{count};\n    s_{name}.datatype = datatype_of(*{datatype});"
        );
        let free = match signature.new_request().filter(|_| signature.lasting) {
            Some(request) => kept(signature, &format!("kept_datatype(s_{name}.datatype)"), &request.c.name),
            None => format!("    MPI_Type_free(&s_{name}.datatype);\n"),
        };
        let _ = write!(parts.finally, "    if (s_{name}.made) {{\n    {free}    }}\n");
    }
    let name_in_small_letters = signature.name.to_lowercase();
    let blocks =
        i32::from(["gather", "scatter", "alltoall"].iter().any(|word| name_in_small_letters.contains(word)));
    let way = match (counted, signature.itself) {
        (true, true) => format!("described(&s_{name}, {name}, {blocks})"),
        (true, false) => format!("section_of(&s_{name}, {name}, {blocks})"),
        (false, true) => "MPI_ERR_BUFFER".to_owned(),
        (false, false) => format!("copied(&s_{name}, {name})"),
    };
    let _ =
        writeln!(parts.before, "    if (outcome == MPI_SUCCESS && !is_contiguous({name})) outcome = {way};");
    if !signature.itself {
        parts.finally += &match signature.new_request() {
            Some(request) => kept(signature, &format!("s_{name}.copy"), &request.c.name),
            None => format!("    end_copy(s_{name}.copy);\n"),
        };
    }
}

/// The new request uses something until it is complete.
fn kept(signature: &Signature, what: &str, request: &str) -> String {
    let persistent = i32::from(signature.is_persistent());
    format!("    keep({what}, outcome, h_{request}, {persistent});\n")
}

fn handles(parts: &mut Parts, signature: &Signature, parameter: &Parameter, passing: Passing) {
    let (c, name) = (&parameter.c, &parameter.c.name);
    let (kind, word) = (&c.kind, handle(&c.kind));
    parts.declared = format!("int *{name}");
    if !c.points() {
        parts.passed = format!("{word}_of(*{name})");
    } else if let Some(length) = &parameter.length {
        array_of_handles(parts, signature, parameter, passing, length);
    } else {
        parts.passed = format!("&h_{name}");
        let written = format!("*{name} = int_of_{word}(h_{name});\n");
        if parameter.intent != Intent::Out {
            parts.before = format!("    {kind} h_{name} = {word}_of(*{name});\n");
            parts.finally =
                if parameter.intent == Intent::In { String::new() } else { format!("    {written}") };
        } else {
            parts.before = format!("    {kind} h_{name} = 0;\n");
            parts.after = format!("        {written}");
        }
    }
    if c.kind == "MPI_Request" {
        used_by_requests(parts, signature, parameter);
    }
}

fn array_of_handles(
    parts: &mut Parts,
    signature: &Signature,
    parameter: &Parameter,
    passing: Passing,
    length: &str,
) {
    let (name, kind, word) = (&parameter.c.name, &parameter.c.kind, handle(&parameter.c.kind));
    let length = match (name.as_str(), passing) {
        ("sendtypes", Passing::Addresses) => format!("a_sendbuf == MPI_IN_PLACE ? 0 : {length}"),
        ("sendtypes", Passing::Descriptors) => format!("s_sendbuf.address == MPI_IN_PLACE ? 0 : {length}"),
        _ => length.to_owned(),
    };
    let read = if parameter.intent == Intent::Out { "0".to_owned() } else { format!("{word}_of({name}[i])") };
    // A request may read them until it is complete.
    let request = signature.new_request();
    let enough = if request.is_some() { "0".to_owned() } else { format!("sizeof few_{name}") };
    parts.passed = format!("h_{name}");
    let _ = writeln!(
        parts.before,
        "    MPI_Count n_{name} = {length};\n    \
         {kind} few_{name}[FEW], *h_{name} = room(few_{name}, {enough}, n_{name} * (MPI_Count)sizeof *h_{name});\n    \
         for (MPI_Count i = 0; i < n_{name}; i++) h_{name}[i] = {read};"
    );
    if parameter.intent != Intent::In {
        let _ = writeln!(
            parts.finally,
            "    for (MPI_Count i = 0; i < n_{name}; i++) if (h_{name}[i]) {name}[i] = int_of_{word}(h_{name}[i]);"
        );
    }
    let free = format!("if (h_{name} != few_{name}) free(h_{name});");
    parts.finally += &match request {
        Some(request) => {
            let kept = kept(signature, &format!("kept_memory(h_{name})"), &request.c.name);
            format!("    if (n_{name}) {{\n    {kept}    }}\n")
        }
        None => format!("    {free}\n"),
    };
}

/// What requests use, where they are started, looked at or completed; copies.c has more.
fn used_by_requests(parts: &mut Parts, signature: &Signature, parameter: &Parameter) {
    let name = &parameter.c.name;
    let count = if parameter.length.is_some() { format!("n_{name}") } else { "1".to_owned() };
    if signature.fills {
        let _ = writeln!(parts.before, "    filled({name}, {count});");
    } else if signature.empties {
        let _ = writeln!(parts.after, "        emptied({name}, {count});");
    } else if parameter.intent == Intent::InOut {
        let handles = if parameter.length.is_some() { format!("h_{name}") } else { format!("&h_{name}") };
        let _ = writeln!(parts.before, "    Kept *k_{name} = taken({name}, {count});");
        parts.finally = format!("    if (k_{name}) put_back(k_{name}, {handles});\n{}", parts.finally);
    }
}

fn text(parts: &mut Parts, signature: &Signature, parameter: &Parameter, passing: Passing) {
    let name = &parameter.c.name;
    let place = match passing {
        Passing::Addresses => format!("{name}, {name}_length"),
        Passing::Descriptors => {
            parts.declared = format!("CFI_cdesc_t *{name}");
            format!("{name}->base_addr, {name}->elem_len")
        }
    };
    parts.passed = format!("t_{name}");
    parts.finally = format!("    free(t_{name});\n");
    if parameter.intent == Intent::In {
        // Keys and values of info objects lose the blanks before them, too.
        let leading = i32::from(signature.name.starts_with("Info_"));
        parts.before = format!("    char *t_{name} = text_of({place}, {leading});\n");
        return;
    }
    let length = parameter.length.as_deref().unwrap_or("MPI_MAX_ERROR_STRING");
    let found = signature.parameters.iter().any(|one| one.c.name == "flag");
    parts.before = format!("    char *t_{name} = calloc(1, (size_t)({length}) + 1);\n");
    parts.after =
        format!("        {}blanks_after({place}, t_{name});\n", if found { "if (*flag) " } else { "" });
}
