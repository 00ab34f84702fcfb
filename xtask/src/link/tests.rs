//! The link step on a library of two functions in C: what programs, tools and linkers see of it.

use super::*;
use crate::exports;

/// A folder for one test, removed at its end.
struct Folder(PathBuf);

impl Folder {
    fn new(test: &str) -> Self {
        let path = std::env::temp_dir().join(format!("postrider-link-{test}-{}", std::process::id()));
        std::fs::create_dir_all(&path).expect("the temporary directory can be written");
        Self(path)
    }

    /// Writes a source file and returns its path.
    fn source(&self, name: &str, text: &str) -> PathBuf {
        let path = self.0.join(name);
        std::fs::write(&path, text).expect("the test's folder can be written");
        path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // A folder that is left over is no reason to hide the test's own failure.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Runs a command that must succeed, and returns what it prints.
fn output(command: &mut Command) -> String {
    let output = command.output().expect("the command starts");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{command:?}: {text}{}", String::from_utf8_lossy(&output.stderr));
    text
}

/// The C compiler, in a folder.
fn cc(folder: &Path) -> Command {
    let mut command = Command::new("cc");
    command.current_dir(folder);
    command
}

/// The functions of the small library.
fn names() -> Names {
    functions(&["MPI_Recv", "MPI_Send"])
}

fn functions(names: &[&str]) -> Names {
    Names { functions: names.iter().map(|name| (*name).to_owned()).collect(), ..Names::default() }
}

/// Links a library of two functions, next to a helper that must stay inside.
fn small_library(folder: &Folder) -> PathBuf {
    let text = "int helper(void) { return 40; }\n\
                int MPI_Send(void) { return helper() + 1; }\n\
                int MPI_Recv(void) { return helper() + 2; }\n";
    let source = folder.source("library.c", text);
    output(cc(&folder.0).args(["-fPIC", "-ffunction-sections", "-c", "-o", "library.o"]).arg(source));
    output(Command::new("ar").current_dir(&folder.0).args(["rcs", "library.a", "library.o"]));
    let archive = folder.0.join("library.a");
    link(COMPILER, &archive, &names(), &folder.0.join("scratch"), &folder.0.join("lib"))
        .expect("the library links")
}

/// A program that prints what the functions return, by both names and through dlsym.
const PROGRAM: &str = "#define _GNU_SOURCE\n#include <dlfcn.h>\n#include <stdio.h>\n\
    int MPI_Send(void); int PMPI_Send(void); int PMPI_Recv(void);\n\
    int main(void) { int (*found)(void) = (int (*)(void))dlsym(RTLD_DEFAULT, \"PMPI_Send\");\n\
    printf(\"%d %d %d %d\\n\", MPI_Send(), PMPI_Send(), PMPI_Recv(), found ? found() : 0); return 0; }\n";

#[test]
fn library_exports_both_names_of_each_function_and_nothing_else() {
    let folder = Folder::new("exports");
    let library = small_library(&folder);
    exports::check(&library, &names()).expect("the exports are right");
    let fewer =
        exports::check(&library, &functions(&["MPI_Recv"])).expect_err("MPI_Send is not in the shorter list");
    assert!(fewer.to_string().contains("\"MPI_Send\", \"PMPI_Send\""), "{fewer}");
    let more = exports::check(&library, &functions(&["MPI_Recv", "MPI_Send", "MPI_Wait"]))
        .expect_err("nobody defines MPI_Wait");
    assert!(more.to_string().contains("MPI_Wait"), "{more}");
}

#[test]
fn profiling_names_of_missing_functions_are_link_errors() {
    let folder = Folder::new("missing");
    small_library(&folder);
    let names = functions(&["MPI_Wait"]);
    let result = link(
        COMPILER,
        &folder.0.join("library.a"),
        &names,
        &folder.0.join("scratch"),
        &folder.0.join("other"),
    );
    assert!(result.is_err());
    assert_eq!(std::fs::read_dir(folder.0.join("other")).expect("the folder exists").count(), 0);
}

#[test]
fn programs_find_the_library_by_option_and_by_path() {
    let folder = Folder::new("find");
    let library = small_library(&folder);
    let source = folder.source("program.c", PROGRAM);
    // A file of the same name in the current directory is not the library.
    folder.source(SONAME, "not a library");
    let by_path = folder.0.join("lib").join(LINKER_NAME);
    let by_option = ["-Llib", "-lmpi_abi"].map(PathBuf::from);
    for arguments in [by_option.to_vec(), vec![by_path]] {
        output(cc(&folder.0).arg("-o").arg("program").arg(&source).args(&arguments).arg("-ldl"));
        let needed = output(Command::new("readelf").current_dir(&folder.0).args(["-d", "program"]));
        assert!(needed.contains(SONAME), "{arguments:?}: {needed}");
        let mut program = Command::new(folder.0.join("program"));
        program.env("LD_LIBRARY_PATH", library.parent().expect("a folder"));
        assert_eq!(output(&mut program), "41 41 42 41\n");
    }
}

#[test]
fn preloaded_tool_gets_between_program_and_library() {
    let folder = Folder::new("preload");
    let library = small_library(&folder);
    let source = folder.source("program.c", PROGRAM);
    output(cc(&folder.0).arg("-o").arg("program").arg(&source).args(["-Llib", "-lmpi_abi", "-ldl"]));
    let tool = "int PMPI_Send(void); int MPI_Send(void) { return 1000 + PMPI_Send(); }\n";
    let tool = folder.source("tool.c", tool);
    output(cc(&folder.0).args(["-shared", "-fPIC", "-o", "tool.so"]).arg(&tool));
    let mut program = Command::new(folder.0.join("program"));
    program.env("LD_LIBRARY_PATH", library.parent().expect("a folder"));
    program.env("LD_PRELOAD", folder.0.join("tool.so"));
    assert_eq!(output(&mut program), "1041 41 42 41\n");
}

#[test]
fn other_names_are_the_same_function_and_some_have_no_profiling_name() {
    let folder = Folder::new("aliases");
    small_library(&folder);
    let alias = ("MPI_Old_send".to_owned(), "MPI_Send".to_owned());
    let mut names = functions(&["MPI_Recv", "MPI_Old_send"]);
    names.aliases.push(alias);
    names.only.push("helper".to_owned());
    let archive = folder.0.join("library.a");
    let library = link_mpich(COMPILER, &archive, &names, &folder.0.join("scratch"), &folder.0.join("lib"));
    exports::check(&library.expect("it links"), &names).expect("the exports are right");
    let other = folder.0.join("lib").join(MPICH_OTHER_NAME);
    exports::check(&other, &names).expect("it has a second name in the file system");
}
