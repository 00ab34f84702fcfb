//! What ssh and sshd of a bed need, in its state directory: `tests/hosts/host.sh` puts it in place on each host.
//!
//! There is one key of the user and one for each host. Names and addresses of all hosts are known, so that stock `ssh`
//! works without a question and checks host keys as it does anywhere. sshd keeps its own limits, such as how many
//! connections it takes at once.

use anyhow::{Context, Result, ensure};
use std::path::Path;
use std::process::Command;

/// What differs from sshd's own settings.
const SSHD: &str = "\
HostKey /etc/ssh/host_key
PidFile none
UsePAM no
UseDNS no
PermitRootLogin prohibit-password
PasswordAuthentication no
AcceptEnv LANG LC_*
Subsystem sftp internal-sftp
";

/// The address of a host.
pub fn address(host: usize) -> String {
    format!("10.77.0.{}", host + 1)
}

/// Makes the keys and files for h0 to h`last`.
pub fn make(folder: &Path, last: usize) -> Result<()> {
    std::fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
    let public = generate(folder, "id_ed25519")?;
    write(folder, "authorized_keys", &format!("{public}\n"))?;
    write(folder, "sshd_config", SSHD)?;
    let (mut known, mut names) = (String::new(), "127.0.0.1 localhost\n::1 localhost\n".to_owned());
    for host in 0..=last {
        let (key, address) = (generate(folder, &format!("h{host}"))?, address(host));
        known += &format!("h{host},{address} {key}\n");
        names += &format!("{address} h{host}\n");
    }
    write(folder, "known_hosts", &known)?;
    write(folder, "hosts", &names)
}

/// Makes a key; returns the type and the public part.
fn generate(folder: &Path, name: &str) -> Result<String> {
    let path = folder.join(name);
    let mut command = Command::new("ssh-keygen");
    command.args(["-q", "-t", "ed25519", "-N", "", "-C", "bed", "-f"]).arg(&path);
    let output = command.output().context("ssh-keygen does not start: scripts/setup installs it")?;
    ensure!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    let public = std::fs::read_to_string(path.with_extension("pub"))?;
    Ok(public.split(' ').take(2).collect::<Vec<_>>().join(" "))
}

fn write(folder: &Path, name: &str, text: &str) -> Result<()> {
    let path = folder.join(name);
    std::fs::write(&path, text).with_context(|| path.display().to_string())
}
