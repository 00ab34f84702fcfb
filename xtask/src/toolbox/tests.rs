//! The files of the installation in `build/`, used by those for whom they are: pkg-config, modules, shells, and who formats manual pages.
//! The tools are what `scripts/setup` installs.

use super::*;
use std::path::PathBuf;

/// The installation, under another path. pkg-config knows no run paths with spaces, so those have none.
struct Place(PathBuf);

impl Place {
    fn new(name: &str) -> Self {
        let installation = workspace::installation();
        assert!(installation.join("share/man").exists(), "run `cargo xtask build` first");
        let folder = std::env::temp_dir().join(format!("xtask-toolbox-{name}-{}", std::process::id()));
        std::fs::create_dir(&folder).expect("a folder of our own");
        symlink(installation, folder.join("postrider")).expect("a link");
        Self(folder)
    }

    fn prefix(&self) -> PathBuf {
        self.0.join("postrider")
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// What a shell script prints, with `P` the prefix and `W` the folder to work in.
fn said(place: &Place, shell: &str, script: &str) -> String {
    let mut command = Command::new(shell);
    command.args(["-c", script]).current_dir(&place.0).env("P", place.prefix()).env("W", &place.0);
    for name in ["LD_LIBRARY_PATH", "MPI4PY_LIBMPI", "OCTAVE_PATH", "PKG_CONFIG_PATH", "MANPATH"] {
        command.env_remove(name);
    }
    let output = command.output().expect("the shell starts");
    let (text, error) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success() && error.is_empty(), "{script}\n{text}{error}");
    text.into_owned()
}

#[test]
fn pkg_config_leads_a_compiler_to_header_and_library() {
    for package in ["mpi", "postrider"] {
        let place = Place::new(package);
        let script = format!(
            "export PKG_CONFIG_PATH=\"$P/lib/pkgconfig\"
             eval \"cc '$P/share/postrider/examples/c/ring.c' -o ring $(pkg-config --cflags --libs {package})\"
             \"$P/bin/postrider\" run -n 3 ./ring"
        );
        assert_eq!(said(&place, "sh", &script), "The sum of the ranks 0 to 2 is 3\n");
    }
}

#[test]
fn pkg_config_says_what_the_compiler_wrapper_says() {
    let place = Place::new("same");
    let words = |script: &str| {
        let text = said(&place, "sh", &format!("for word in {script}; do echo \"$word\"; done"));
        // One of the two has gone through a link.
        text.replace(&format!("{}/lib/pkgconfig/../..", workspace::installation().display()), "PREFIX")
            .replace(&workspace::installation().display().to_string(), "PREFIX")
    };
    let wrapper = words("$(\"$P/bin/mpicc\" -compile_info) $(\"$P/bin/mpicc\" -link_info)");
    let folder = workspace::installation().join("lib/pkgconfig");
    let package = words(&format!("$(PKG_CONFIG_PATH={} pkg-config --cflags --libs mpi)", folder.display()));
    assert_eq!(package, wrapper);
}

/// Where Debian has the program behind the command `module`.
const MODULES: &str = "modulecmd=$(ls /usr/lib/*/modulecmd.tcl /usr/share/modules/libexec/modulecmd.tcl 2>/dev/null | head -n 1)
    [ -n \"$modulecmd\" ] || { echo 'there are no environment modules: run scripts/setup' >&2; exit 1; }
    module() { eval \"$(tclsh \"$modulecmd\" sh \"$@\")\"; }
    unset MODULEPATH LOADEDMODULES _LMFILES_\n";

#[test]
fn a_module_sets_what_env_prints_and_takes_it_back() {
    let place = Place::new("with a module");
    let names = "PATH LD_LIBRARY_PATH MPI4PY_LIBMPI OCTAVE_PATH";
    let show = format!("for name in {names}; do eval \"printf '%s=%s\\n' $name \\\"\\$$name\\\"\"; done");
    let printed = said(&place, "sh", &format!("eval \"$(\"$P/bin/postrider\" env)\"\n{show}"));
    // A folder of the installation, and one that has only a link into it, as clusters have.
    for (folder, name) in [("$P/share/modulefiles", "postrider"), ("$W", "linked")] {
        let script = format!(
            "{MODULES}ln -sf \"$P/share/modulefiles/postrider\" \"$W/linked\"
             module use \"{folder}\"\nmodule load {name}\n{show}"
        );
        let text = said(&place, "sh", &script)
            .replace(&place.prefix().display().to_string(), &workspace::installation().display().to_string());
        assert_eq!(text, printed, "{folder}");
    }
    let script = format!(
        "{MODULES}module use \"$P/share/modulefiles\"\nbefore=$PATH\nmodule load postrider\nman -w ls >/dev/null
         pkg-config --exists mpi && mpicc -show >/dev/null && module unload postrider
         [ \"$PATH\" = \"$before\" ] && echo \"$MANPATH$PKG_CONFIG_PATH$LD_LIBRARY_PATH$MPI4PY_LIBMPI$OCTAVE_PATH\""
    );
    assert_eq!(said(&place, "sh", &script), "\n");
}

#[test]
fn bash_completes_every_name() {
    let place = Place::new("with bash");
    let complete = "try() {
        source \"$P/share/bash-completion/completions/$1\"
        spec=$(complete -p \"$1\"); function=${spec##*-F }; function=${function%% *}
        COMP_WORDS=(\"$@\") COMP_CWORD=$(($# - 1)) COMPREPLY=()
        \"$function\" \"$1\" \"${COMP_WORDS[COMP_CWORD]}\" \"${COMP_WORDS[COMP_CWORD - 1]}\" 2>/dev/null
        echo \"${COMPREPLY[*]}\"
    }\n";
    for (line, expected) in [
        ("postrider inf", "info"),
        ("postrider run --tra", "--transport --transfer"),
        ("mpiexec --tra", "--transport --transfer"),
        ("mpirun --transport f", "file"),
        ("mpiexec -n 2 ./ri", ""),
    ] {
        assert_eq!(said(&place, "bash", &format!("{complete}try {line}")), format!("{expected}\n"), "{line}");
    }
    for name in ["mpicc", "mpicxx", "mpic++"] {
        let script = format!(
            "source \"$P/share/bash-completion/completions/{name}\"
             spec=$(complete -p {name}); spec=${{spec#complete}}; eval \"compgen ${{spec% *}} -- -sh\""
        );
        assert_eq!(said(&place, "bash", &script), "-show\n", "{name}");
    }
}

#[test]
fn manual_pages_are_formatted_without_a_warning() {
    let place = Place::new("with pages");
    let text = said(
        &place,
        "sh",
        "cd \"$P/share/man\"; for page in man1/*.1; do groff -ww -man -z \"$page\"; ls \"$page\"; done",
    );
    let pages: Vec<&str> = text.lines().collect();
    for name in ["postrider", "postrider-run", "postrider-info", "mpiexec", "mpirun", "mpicc", "mpic++"] {
        assert!(pages.contains(&&*format!("man1/{name}.1")), "{name} is not among {pages:?}");
    }
}
