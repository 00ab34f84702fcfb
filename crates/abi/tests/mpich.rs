//! The constants of MPICH's ABI are those of an installed MPICH's header, as far as that one has them: its ABI has grown, and never
//! changed. `POSTRIDER_TEST_MPICC` names its compiler; otherwise it is `mpicc.mpich`, as in Debian.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use core::ffi::c_int;
use postrider_abi::predefined::DATATYPES;
use postrider_abi::{
    Bits, MPI_Aint, MPI_COMM_WORLD, MPI_Comm, MPI_Count, MPI_FILE_NULL, MPI_File, MPI_Offset, MPI_Status,
    MPI_T_enum,
};

/// The constants of this crate with a value that is a number, by name, from its source files.
fn constants() -> BTreeMap<String, i64> {
    let mut values = BTreeMap::new();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/mpich/constants");
    for entry in std::fs::read_dir(folder).expect("the folder exists") {
        let text = std::fs::read_to_string(entry.expect("a file").path()).expect("source text");
        for line in text.lines().filter_map(|line| line.strip_prefix("pub const ")) {
            let (name, rest) = line.split_once(": ").expect("a type");
            let value = rest.split_once(" = ").expect("a value").1.trim_end_matches(';');
            let literal = value.split_once('(').map_or(value, |(_, inside)| inside.trim_end_matches(')'));
            let digits = literal.trim_end_matches("_u32 as c_int").replace('_', "");
            let number = match digits.strip_prefix("0x") {
                Some(digits) => u32::from_str_radix(digits, 16).ok().map(|bits| i64::from(bits as i32)),
                None => digits.parse().ok(),
            };
            if let Some(number) = number {
                values.insert(name.to_owned(), number);
            }
        }
    }
    values
}

/// Those that are no facts of the ABI: the version of the standard, and addresses that a library chooses.
const OWN: &[&str] = &[
    "MPI_VERSION",
    "MPI_SUBVERSION",
    "MPI_ABI_VERSION",
    "MPI_ABI_SUBVERSION",
    "MPI_UNWEIGHTED",
    "MPI_WEIGHTS_EMPTY",
    "MPI_T_PVAR_ALL_HANDLES",
];

fn compile(source: &str, program: &Path) -> (bool, String) {
    let path = program.with_extension("c");
    std::fs::write(&path, source).expect("the test's folder can be written");
    let name = std::env::var_os("POSTRIDER_TEST_MPICC").unwrap_or_else(|| "mpicc.mpich".into());
    let mut compiler = Command::new(name);
    compiler.args(["-std=c11", "-w", "-fmax-errors=0", "-o"]).args([program, &path]);
    let output =
        compiler.output().expect("POSTRIDER_TEST_MPICC names a compiler, or mpicc.mpich is installed");
    let complaint = String::from_utf8_lossy(&output.stderr);
    (output.status.success(), format!("{}\n{complaint}", output.status))
}

/// A program that prints these names with their values, and sizes.
fn program<'a>(names: impl Iterator<Item = &'a String>) -> String {
    let mut text = "#include <mpi.h>\n#include <stdio.h>\nint main(void) {\n".to_owned();
    for name in names {
        writeln!(text, "printf(\"{name} %lld\\n\", (long long){name});").expect("memory");
    }
    for name in ["MPI_Status", "MPI_Comm", "MPI_File", "MPI_Aint", "MPI_Offset", "MPI_Count", "MPI_T_enum"] {
        writeln!(text, "printf(\"sizeof({name}) %d\\n\", (int)sizeof({name}));").expect("memory");
    }
    text + "return 0;\n}\n"
}

#[test]
fn constants_and_sizes_are_those_of_the_header() {
    let mut ours = constants();
    ours.retain(|name, _| !OWN.contains(&name.as_str()));
    let at = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("mpich_constants");
    // An older header does not have all of them.
    let (_, complaint) = compile(&program(ours.keys()), &at);
    let unknown = |name: &str| {
        complaint.contains(&format!("{name}' undeclared"))
            || complaint.contains(&format!("{name}\u{2019} undeclared"))
    };
    ours.retain(|name, _| !unknown(name));
    let (compiled, complaint) = compile(&program(ours.keys()), &at);
    assert!(compiled && ours.len() > 300, "{} names\n{complaint}", ours.len());
    let sizes = [
        ("MPI_Status", size_of::<MPI_Status>()),
        ("MPI_Comm", size_of::<MPI_Comm>()),
        ("MPI_File", size_of::<MPI_File>()),
        ("MPI_Aint", size_of::<MPI_Aint>()),
        ("MPI_Offset", size_of::<MPI_Offset>()),
        ("MPI_Count", size_of::<MPI_Count>()),
        ("MPI_T_enum", size_of::<MPI_T_enum>()),
    ];
    ours.extend(sizes.map(|(name, size)| (format!("sizeof({name})"), size as i64)));
    let output = Command::new(&at).output().expect("the program starts");
    let text = String::from_utf8(output.stdout).expect("names and numbers");
    let theirs: BTreeMap<String, i64> = text
        .lines()
        .map(|line| {
            let (name, value) = line.rsplit_once(' ').expect("name and value");
            (name.to_owned(), value.parse().expect("a number"))
        })
        .collect();
    // A datatype that an older MPICH does not have is its null handle.
    let null = theirs["MPI_DATATYPE_NULL"];
    ours.retain(|name, _| theirs.get(name) != Some(&null) || name == "MPI_DATATYPE_NULL");
    for (name, value) in &ours {
        assert_eq!(theirs.get(name), Some(value), "{name}");
    }
}

#[test]
fn a_status_keeps_bytes_and_cancellation_apart() {
    let mut status = MPI_Status::default();
    for bytes in [0, 1, 1 << 31, (1 << 40) + 5] {
        for cancelled in [true, false] {
            status.set_cancelled(cancelled);
            status.set_bytes(bytes);
            assert_eq!((status.bytes(), status.is_cancelled()), (bytes, cancelled));
            status.set_cancelled(!cancelled);
            assert_eq!((status.bytes(), status.is_cancelled()), (bytes, !cancelled));
        }
    }
}

#[test]
fn handles_of_keys_are_no_predefined_handles() {
    for key in [0, 1, 0x0c00_0000, (1 << 30) - 1] {
        let (handle, pointer) = (c_int::of_key(key), usize::of_key(key));
        assert_eq!((handle.key(), pointer.key()), (Some(key), Some(key)));
        assert_eq!(usize::from_int(pointer.to_int()), pointer);
    }
    for row in DATATYPES {
        assert_eq!(row.handle.0.key(), None, "{}", row.name);
    }
    assert_eq!((MPI_COMM_WORLD.0.key(), MPI_FILE_NULL.0.key()), (None, None));
}
