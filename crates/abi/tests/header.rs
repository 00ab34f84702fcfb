//! The header, the list of names and this crate state the same facts.
//!
//! `include/mpi.h` is read as text for the names it declares, and compiled for the values they have: a generated C program
//! prints every constant, every type's size and alignment, and the sizes of the C types behind the predefined datatypes.
//! The Rust constants are read from their source files, which are lists of literals: that way a constant that only one
//! side has is found, too.

use postrider_abi::{predefined, types::*};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Path of a file of the repository.
fn repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)
}

/// Text of a file of the repository.
fn read(path: &str) -> String {
    std::fs::read_to_string(repository(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The header without comments.
fn header() -> String {
    let text = read("include/mpi.h");
    let mut code = String::new();
    let mut rest = text.as_str();
    while let Some((before, after)) = rest.split_once("/*") {
        code.push_str(before);
        rest = after.split_once("*/").expect("a comment ends").1;
    }
    code + rest
}

/// The list of function names.
fn names() -> Vec<String> {
    read("crates/abi/names.txt").lines().map(str::to_owned).collect()
}

/// Prototypes of the header whose names begin with `prefix`: name without the prefix, and declaration without the name.
fn prototypes(prefix: &str) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let code = header();
    let declarations: Vec<&str> = code.lines().filter(|line| !line.starts_with('#')).collect();
    for declaration in declarations.join(" ").split(';') {
        let declaration = declaration.split_whitespace().collect::<Vec<_>>().join(" ");
        let Some((head, arguments)) = declaration.split_once('(') else { continue };
        let Some((result, name)) = head.rsplit_once(' ') else { continue };
        let Some(name) = name.strip_prefix(prefix) else { continue };
        let result = result.rsplit(' ').next().expect("a word");
        let earlier = found.insert(name.to_owned(), format!("{result} ({arguments}"));
        assert!(earlier.is_none(), "{prefix}{name} is declared twice");
    }
    found
}

/// Compiles a C program against the header and returns the lines it prints, as name and value.
fn run(name: &str, body: &str) -> BTreeMap<String, i64> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let (source, program) = (folder.join(format!("{name}.c")), folder.join(name));
    let text = format!(
        "#include <mpi.h>\n#include <stdio.h>\n#include <stddef.h>\n#include <wchar.h>\n#include <stdbool.h>\n\
         #include <complex.h>\nint main(void) {{\n{body}return 0;\n}}\n"
    );
    std::fs::write(&source, text).expect("the test's folder can be written");
    let status = Command::new("cc")
        .args(["-std=c11", "-w", "-I"])
        .arg(repository("include"))
        .args([&source, Path::new("-o"), &program])
        .status()
        .expect("the C compiler `cc` is installed");
    assert!(status.success(), "cc rejects {}", source.display());
    let output = Command::new(&program).output().expect("the program starts");
    let lines = String::from_utf8(output.stdout).expect("names and numbers");
    let parse = |line: &str| {
        let (name, value) = line.rsplit_once(' ').expect("name and value");
        (name.to_owned(), value.parse().expect("a number"))
    };
    lines.lines().map(parse).collect()
}

/// Names of the constants of the header.
fn header_constants() -> BTreeSet<String> {
    let code = header();
    let defined = code.lines().filter_map(|line| line.strip_prefix("#define MPI_")?.split_once(' '));
    let enumerated = code.lines().filter_map(|line| line.strip_prefix("    MPI_")?.split_once(" = "));
    let constants = defined.chain(enumerated);
    constants.map(|(name, _)| format!("MPI_{name}")).collect()
}

/// Constants of this crate, by name, from its source files.
fn rust_constants() -> BTreeMap<String, i64> {
    let mut values = BTreeMap::new();
    let mut aliases = Vec::new();
    for entry in std::fs::read_dir(repository("crates/abi/src/constants")).expect("the folder exists") {
        let text = std::fs::read_to_string(entry.expect("a file").path()).expect("source text");
        for line in text.lines().filter_map(|line| line.strip_prefix("pub const ")) {
            let (name, rest) = line.split_once(": ").expect("a type");
            let value = rest.split_once(" = ").expect("a value").1.trim_end_matches(';');
            let literal = value.rsplit('(').next().expect("a literal").trim_end_matches(')');
            let number = match literal.strip_prefix("0x") {
                Some(digits) => i64::from_str_radix(digits, 16).ok(),
                None => literal.parse().ok(),
            };
            match number {
                Some(number) => assert!(values.insert(name.to_owned(), number).is_none(), "{name} twice"),
                None => aliases.push((name.to_owned(), value.to_owned())),
            }
        }
    }
    for (name, other) in aliases {
        let value = *values.get(&other).unwrap_or_else(|| panic!("{name} is {other}, which is no constant"));
        values.insert(name, value);
    }
    values
}

#[test]
fn list_of_names_is_sorted_and_complete() {
    let names = names();
    assert!(names.is_sorted() && names.iter().collect::<BTreeSet<_>>().len() == names.len());
    assert_eq!(names.len(), 664);
    let large = |name: &&String| name.ends_with("_c");
    assert_eq!(names.iter().filter(large).count(), 161);
    for name in names.iter().filter(large) {
        let partner = name.trim_end_matches("_c").to_owned();
        assert!(names.contains(&partner), "{name} has no partner");
    }
}

#[test]
fn header_declares_every_name_twice_and_nothing_else() {
    let (functions, profiling) = (prototypes("MPI_"), prototypes("PMPI_"));
    let declared: BTreeSet<String> = functions.keys().map(|name| format!("MPI_{name}")).collect();
    let listed: BTreeSet<String> = names().into_iter().collect();
    let difference: Vec<&String> = declared.symmetric_difference(&listed).collect();
    assert!(difference.is_empty(), "in only one of mpi.h and names.txt: {difference:?}");
    for (name, declaration) in &functions {
        assert_eq!(profiling.get(name), Some(declaration), "PMPI_{name}");
    }
    assert_eq!(functions.len(), profiling.len());
}

#[test]
fn constants_have_the_same_values_in_c_and_in_rust() {
    let mut body = String::new();
    for name in header_constants() {
        writeln!(body, "printf(\"{name} %lld\\n\", (long long)(intptr_t)({name}));").expect("memory");
    }
    assert_eq!(run("constants", &body), rust_constants());
}

#[test]
fn types_have_the_same_layout_in_c_and_in_rust() {
    let mut body = String::new();
    let mut expected = BTreeMap::new();
    macro_rules! layout {
        ($($name:ident)*) => {
            $(
                let name = stringify!($name);
                writeln!(body, "printf(\"{name} %zu\\n\", sizeof({name}) * 100 + _Alignof({name}));").expect("memory");
                expected.insert(name.to_owned(), (size_of::<$name>() * 100 + align_of::<$name>()) as i64);
            )*
        };
    }
    layout!(MPI_Aint MPI_Offset MPI_Count MPI_Status MPI_Comm MPI_Datatype MPI_Errhandler MPI_File MPI_Group MPI_Info);
    layout!(MPI_Message MPI_Op MPI_Request MPI_Session MPI_Win MPI_T_enum MPI_T_cvar_handle MPI_T_pvar_handle);
    layout!(MPI_T_pvar_session MPI_T_event_registration MPI_T_event_instance MPI_T_cb_safety MPI_T_source_order);
    for (field, offset) in [("MPI_SOURCE", 0), ("MPI_TAG", 4), ("MPI_ERROR", 8), ("MPI_internal", 12)] {
        writeln!(body, "printf(\"{field} %zu\\n\", offsetof(MPI_Status, {field}));").expect("memory");
        expected.insert(field.to_owned(), offset);
    }
    assert_eq!(run("types", &body), expected);
}

/// The C type behind a predefined datatype, where there is one.
const C_TYPES: &[(&str, &str)] = &[
    ("MPI_AINT", "MPI_Aint"),
    ("MPI_COUNT", "MPI_Count"),
    ("MPI_OFFSET", "MPI_Offset"),
    ("MPI_SHORT", "short"),
    ("MPI_INT", "int"),
    ("MPI_LONG", "long"),
    ("MPI_LONG_LONG_INT", "long long"),
    ("MPI_UNSIGNED_SHORT", "unsigned short"),
    ("MPI_UNSIGNED", "unsigned"),
    ("MPI_UNSIGNED_LONG", "unsigned long"),
    ("MPI_UNSIGNED_LONG_LONG", "unsigned long long"),
    ("MPI_FLOAT", "float"),
    ("MPI_C_COMPLEX", "float complex"),
    ("MPI_DOUBLE", "double"),
    ("MPI_C_DOUBLE_COMPLEX", "double complex"),
    ("MPI_LONG_DOUBLE", "long double"),
    ("MPI_C_LONG_DOUBLE_COMPLEX", "long double complex"),
    ("MPI_FLOAT_INT", "struct { float value; int index; }"),
    ("MPI_DOUBLE_INT", "struct { double value; int index; }"),
    ("MPI_LONG_INT", "struct { long value; int index; }"),
    ("MPI_2INT", "struct { int value; int index; }"),
    ("MPI_SHORT_INT", "struct { short value; int index; }"),
    ("MPI_LONG_DOUBLE_INT", "struct { long double value; int index; }"),
    ("MPI_C_BOOL", "_Bool"),
    ("MPI_WCHAR", "wchar_t"),
    ("MPI_INT8_T", "int8_t"),
    ("MPI_UINT8_T", "uint8_t"),
    ("MPI_CHAR", "char"),
    ("MPI_SIGNED_CHAR", "signed char"),
    ("MPI_UNSIGNED_CHAR", "unsigned char"),
    ("MPI_INT16_T", "int16_t"),
    ("MPI_UINT16_T", "uint16_t"),
    ("MPI_INT32_T", "int32_t"),
    ("MPI_UINT32_T", "uint32_t"),
    ("MPI_INT64_T", "int64_t"),
    ("MPI_UINT64_T", "uint64_t"),
];

#[test]
fn predefined_datatypes_are_laid_out_as_the_c_compiler_does() {
    let mut body = String::new();
    let mut expected = BTreeMap::new();
    for (name, c_type) in C_TYPES {
        let is_row = |row: &&predefined::PredefinedDatatype| row.name == *name;
        let row = predefined::DATATYPES.iter().find(is_row).expect("every C type has a row");
        let is_pair = c_type.starts_with("struct");
        // A pair's size has no padding, so it is computed from its members; any other size is the compiler's.
        writeln!(body, "{{ typedef {c_type} type;").expect("memory");
        writeln!(body, "printf(\"{name} extent %zu\\n\", sizeof(type));").expect("memory");
        writeln!(body, "printf(\"{name} alignment %zu\\n\", _Alignof(type));").expect("memory");
        let size =
            if is_pair { "sizeof ((type *)0)->value + sizeof ((type *)0)->index" } else { "sizeof(type)" };
        writeln!(body, "printf(\"{name} size %zu\\n\", {size}); }}").expect("memory");
        expected.insert(format!("{name} extent"), row.extent as i64);
        expected.insert(format!("{name} alignment"), row.alignment as i64);
        expected.insert(format!("{name} size"), row.size as i64);
        if let predefined::BasicKind::Pair { index_offset, .. } = row.kind {
            writeln!(body, "{{ typedef {c_type} type;").expect("memory");
            writeln!(body, "printf(\"{name} index %zu\\n\", offsetof(type, index)); }}").expect("memory");
            expected.insert(format!("{name} index"), index_offset as i64);
        }
    }
    assert_eq!(run("datatypes", &body), expected);
}

#[test]
fn tables_hold_every_predefined_handle_under_its_name() {
    let constants = rust_constants();
    let source = |file: &str| read(&format!("crates/abi/src/constants/{file}.rs"));
    let handles = |file: &str, kind: &str, except: &[&str]| -> BTreeMap<i64, String> {
        let text = source(file);
        let literal = format!(": {kind} = {kind}(");
        let names = text.lines().filter(|line| line.contains(&literal));
        let names = names.filter_map(|line| line.strip_prefix("pub const ")?.split_once(':'));
        let names = names.map(|(name, _)| name).filter(|name| !except.contains(name));
        names.map(|name| (constants[name], name.to_owned())).collect()
    };
    let datatypes = predefined::DATATYPES.iter().map(|row| (row.handle.0 as i64, row.name.to_owned()));
    assert_eq!(
        datatypes.collect::<BTreeMap<_, _>>(),
        handles("datatypes", "MPI_Datatype", &["MPI_DATATYPE_NULL"])
    );
    let operations = predefined::OPERATIONS.iter().map(|row| (row.handle.0 as i64, row.name.to_owned()));
    assert_eq!(operations.collect::<BTreeMap<_, _>>(), handles("collectives", "MPI_Op", &["MPI_OP_NULL"]));
    assert!(predefined::DATATYPES.iter().is_sorted_by_key(|row| row.handle));
    assert!(predefined::OPERATIONS.iter().is_sorted_by_key(|row| row.handle));
    for row in predefined::DATATYPES {
        assert_eq!(predefined::datatype(row.handle), Some(row));
    }
    assert_eq!(predefined::datatype(postrider_abi::MPI_DATATYPE_NULL), None);
}

#[test]
fn header_is_clean_in_every_dialect() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let dialects = [
        ("cc", "c89"),
        ("cc", "c99"),
        ("cc", "c11"),
        ("cc", "c17"),
        ("c++", "c++98"),
        ("c++", "c++11"),
        ("c++", "c++17"),
        ("c++", "c++20"),
    ];
    for (compiler, dialect) in dialects {
        let source = folder.join(if compiler == "cc" { "clean.c" } else { "clean.cc" });
        let text = "#include <mpi.h>\n#if MPI_VERSION != 5 || MPI_ANY_TAG != -2\n#error preprocessor\n#endif\n\
                    int main(void) { MPI_Comm comm = MPI_COMM_WORLD; MPI_Offset offset = MPI_DISPLACEMENT_CURRENT;\n\
                    return comm == MPI_COMM_NULL ? MPI_ANY_TAG : (offset == 0 ? MPI_ERR_COMM : MPI_SUCCESS); }\n";
        std::fs::write(&source, text).expect("the test's folder can be written");
        let output = Command::new(compiler)
            .arg(format!("-std={dialect}"))
            .args(["-pedantic", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-I"])
            .args([&repository("include"), &source])
            .output()
            .unwrap_or_else(|error| panic!("the compiler `{compiler}` does not start: {error}"));
        let complaint = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{compiler} -std={dialect}:\n{complaint}");
    }
}
