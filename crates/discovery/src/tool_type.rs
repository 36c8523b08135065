//! Classifies a tool by the origin of its program, which follows from its command.

use climax_catalog::facts::Facts;
use climax_catalog::rows::Table;

/// The origin of a tool's program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToolType {
    /// A base command of the operating system.
    System,
    /// A program of the team's own: named by its path, or a script.
    Custom,
    /// Any other installed program.
    ThirdParty,
}

impl ToolType {
    /// All types.
    pub const ALL: [Self; 3] = [Self::System, Self::Custom, Self::ThirdParty];

    /// The name in requests and responses.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::Custom => "custom",
            Self::ThirdParty => "third_party",
        }
    }
}

climax_catalog::enum_row!(ToolType {
    System,
    Custom,
    ThirdParty
});

/// The programs that POSIX requires, and further ones of base systems of Linux and macOS, sorted.
const SYSTEM_PROGRAMS: &str = "\
    [ apropos apt apt-cache apt-get apt-mark ar at awk base64 basename bash batch bc blkid bzip2 cal cat chgrp chmod chown chroot \
    cksum cmp column comm cp crontab csplit cut dash date dd defaults df diff dig dirname diskutil dmesg dnf \
    dpkg dpkg-query du echo ed egrep env ex expand expr factor false fdisk fgrep file find findmnt fmt fold free fsck \
    fuser getconf getent getopts gpasswd grep groupadd groupdel groups gunzip gzip halt head hexdump host hostname \
    hostnamectl iconv id ifconfig install ionice ip ipcs iptables join journalctl kill killall launchctl ldd ln locale \
    localectl locate logger loginctl logname logrotate look losetup ls lsattr lsblk lscpu lsmod lsof lspci lsusb mail man md5sum \
    mesg mkdir mkfifo mkfs mknod mktemp modinfo modprobe more mount mountpoint mv nc netstat networksetup nice nl nohup nproc \
    nslookup od open passwd paste patch pathchk pax pgrep ping pkill plutil pmap poweroff pr printenv printf ps pwd \
    readlink realpath reboot renice rev rm rmdir route rpm rsync scp screencapture script sed seq service sh sha1sum sha256sum \
    sha512sum shasum shred shuf shutdown sleep sort split ss ssh stat strings stty su sudo sum sw_vers swapoff swapon \
    sync sysctl systemctl systemd-analyze tac tail tar tee test time timedatectl timeout top touch tput tr traceroute \
    true truncate tsort tty ulimit umask umount uname unexpand uniq unlink unxz unzip uptime useradd userdel usermod \
    users uudecode uuencode vi vmstat w wait wall watch wc whereis which who whoami write xargs xxd xz yes yum zcat zip zsh";

/// Programs whose argument can be a script.
const INTERPRETERS: [&str; 12] = [
    "bash", "bun", "dash", "deno", "node", "perl", "php", "python", "python3", "ruby", "sh", "zsh",
];

/// File name extensions of scripts.
const SCRIPT_EXTENSIONS: [&str; 12] = [
    ".bash", ".js", ".lua", ".mjs", ".php", ".pl", ".ps1", ".py", ".rb", ".sh", ".ts", ".zsh",
];

/// The directories of system programs.
const SYSTEM_DIRECTORIES: [&str; 4] = ["/bin/", "/sbin/", "/usr/bin/", "/usr/sbin/"];

/// Classifies a tool by the base command of its CLI and its own command. `env` and `sudo` are skipped: the
/// program that they start counts.
#[must_use]
pub fn tool_type(base: &str, command: &str) -> ToolType {
    let mut words = base.split_whitespace().chain(command.split_whitespace());
    let mut program = words.next().unwrap_or_default();
    while matches!(strip_system_directory(program), "env" | "sudo") {
        let is_setting = |word: &&str| word.starts_with('-') || word.contains('=');
        match words.by_ref().find(|word| !is_setting(word)) {
            Some(word) => program = word,
            None => break,
        }
    }
    let program = strip_system_directory(program);
    if is_path_or_script(program) {
        return ToolType::Custom;
    }
    if INTERPRETERS.contains(&program) {
        // `-c` is followed by the text of a script.
        let script = words.find(|word| !word.starts_with('-') || *word == "-c");
        if script.is_some_and(|word| word == "-c" || is_path_or_script(word)) {
            return ToolType::Custom;
        }
    }
    if SYSTEM_PROGRAMS
        .split_whitespace()
        .any(|name| name == program)
    {
        ToolType::System
    } else {
        ToolType::ThirdParty
    }
}

/// The numbers of the tools that start a base command of the operating system.
pub(crate) fn system_tools(facts: &Facts<'_>) -> Table<u32> {
    let mut numbers = Table::default();
    for (number, tool) in (0..).zip(&facts.tools) {
        if tool_type(facts.cli_of(tool).command, tool.command) == ToolType::System {
            numbers.push(&number);
        }
    }
    numbers
}

/// A program's name without its directory, if that is a system directory.
fn strip_system_directory(program: &str) -> &str {
    SYSTEM_DIRECTORIES
        .iter()
        .find_map(|directory| program.strip_prefix(directory))
        .unwrap_or(program)
}

fn is_path_or_script(word: &str) -> bool {
    word.contains(['/', '~', '$'])
        || SCRIPT_EXTENSIONS
            .iter()
            .any(|extension| word.ends_with(extension))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_started_program_determines_the_type() {
        for (base, command, expected) in [
            ("git", "log", ToolType::ThirdParty),
            ("ls", "-la", ToolType::System),
            ("/usr/bin/ls", "", ToolType::System),
            ("env", "LC_ALL=C ls -l", ToolType::System),
            ("/usr/bin/env -i", "A=b kubectl get", ToolType::ThirdParty),
            ("sudo env", "systemctl stop", ToolType::System),
            ("env", "", ToolType::System),
            ("~/bin/deploy", "", ToolType::Custom),
            ("./tool", "", ToolType::Custom),
            ("$TOOLS/tool", "", ToolType::Custom),
            ("deploy.sh", "now", ToolType::Custom),
            ("python3 -u", "tools/report.py", ToolType::Custom),
            ("python3 -m", "http.server", ToolType::ThirdParty),
            ("bash", "-c true", ToolType::Custom),
            ("bash", "--version", ToolType::System),
            ("/opt/vendor/bin/x", "", ToolType::Custom),
        ] {
            assert_eq!(tool_type(base, command), expected, "{base} {command}");
        }
    }

    #[test]
    fn system_programs_are_sorted_and_unique() {
        let programs: Vec<&str> = SYSTEM_PROGRAMS.split_whitespace().collect();
        let mut sorted = programs.clone();
        sorted.sort_unstable();
        sorted.dedup();
        assert_eq!(programs, sorted);
    }
}
