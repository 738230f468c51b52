//! The table of keys: those of Python Hermes first, then those of this gate.

use super::Rule;

pub(crate) const DELETE_ROOT: &str = "recursive delete of root filesystem";
pub(crate) const DELETE_SYSTEM: &str = "recursive delete of system directory";
pub(crate) const DELETE_HOME: &str = "recursive delete of home directory";
pub(crate) const MKFS: &str = "format filesystem (mkfs)";
pub(crate) const DD_DEVICE: &str = "dd to raw block device";
pub(crate) const REDIRECT_DEVICE: &str = "redirect to raw block device";
pub(crate) const FORK_BOMB: &str = "fork bomb";
pub(crate) const KILL_ALL: &str = "kill all processes";
pub(crate) const SHUTDOWN: &str = "system shutdown/reboot";
pub(crate) const INIT: &str = "init 0/6 (shutdown/reboot)";
pub(crate) const SYSTEMCTL_POWER: &str = "systemctl poweroff/reboot";
pub(crate) const TELINIT: &str = "telinit 0/6 (shutdown/reboot)";
pub(crate) const DELETE_IN_ROOT: &str = "delete in root path";
pub(crate) const RECURSIVE_DELETE: &str = "recursive delete";
pub(crate) const RECURSIVE_DELETE_LONG: &str = "recursive delete (long flag)";
pub(crate) const WINDOWS_DELETE: &str = "Windows cmd destructive delete";
pub(crate) const POWERSHELL_DELETE: &str = "Windows PowerShell destructive delete";
pub(crate) const POWERSHELL_ENCODED: &str = "PowerShell encoded command execution";
pub(crate) const WORLD_WRITABLE: &str = "world/other-writable permissions";
pub(crate) const WORLD_WRITABLE_LONG: &str = "recursive world/other-writable (long flag)";
pub(crate) const CHOWN_ROOT: &str = "recursive chown to root";
pub(crate) const CHOWN_ROOT_LONG: &str = "recursive chown to root (long flag)";
pub(crate) const FORMAT: &str = "format filesystem";
pub(crate) const DISK_COPY: &str = "disk copy";
pub(crate) const WRITE_DEVICE: &str = "write to block device";
pub(crate) const SQL_DROP: &str = "SQL DROP";
pub(crate) const SQL_DELETE: &str = "SQL DELETE without WHERE";
pub(crate) const SQL_TRUNCATE: &str = "SQL TRUNCATE";
pub(crate) const SYSTEM_CONFIG: &str = "overwrite system config";
pub(crate) const SERVICE: &str = "stop/restart system service";
pub(crate) const FORCE_KILL: &str = "force kill processes";
pub(crate) const KILLALL_KILL: &str = "force kill processes (killall -KILL)";
pub(crate) const KILLALL_S_KILL: &str = "force kill processes (killall -s KILL)";
pub(crate) const KILLALL_REGEX: &str = "kill processes by regex (killall -r)";
pub(crate) const REMOTE_TO_SHELL: &str = "pipe remote content to shell";
pub(crate) const REMOTE_PROCESS: &str = "execute remote script via process substitution";
pub(crate) const REMOTE_SUBSTITUTION: &str = "execute remote content via command substitution";
pub(crate) const DECODED_TO_SHELL: &str = "pipe decoded content to shell (possible command obfuscation)";
pub(crate) const XXD_TO_SHELL: &str = "pipe xxd-decoded content to shell (possible command obfuscation)";
pub(crate) const TR_TO_SHELL: &str = "pipe tr-transformed output to shell (possible command obfuscation)";
pub(crate) const OPENSSL_TO_SHELL: &str =
    "pipe openssl-decoded content to shell (possible command obfuscation)";
pub(crate) const SYSTEM_TEE: &str = "overwrite system file via tee";
pub(crate) const SYSTEM_REDIRECT: &str = "overwrite system file via redirection";
pub(crate) const ENV_TEE: &str = "overwrite project env/config via tee";
pub(crate) const ENV_REDIRECT: &str = "overwrite project env/config via redirection";
pub(crate) const XARGS_RM: &str = "xargs with rm";
pub(crate) const FIND_RM: &str = "find -exec/-execdir rm";
pub(crate) const FIND_DELETE: &str = "find -delete";
pub(crate) const HERMES_GATEWAY: &str = "stop/restart hermes gateway (kills running agents)";
pub(crate) const HERMES_UPDATE: &str = "hermes update (restarts gateway, kills running agents)";
pub(crate) const COMPOSE_STOP: &str = "docker compose restart/stop/kill/down (container lifecycle)";
pub(crate) const DOCKER_STOP: &str = "docker restart/stop/kill (container lifecycle)";
pub(crate) const GATEWAY_OUTSIDE: &str =
    "start gateway outside systemd (use 'systemctl --user restart hermes-gateway')";
pub(crate) const KILL_HERMES: &str = "kill hermes/gateway process (self-termination)";
pub(crate) const KILL_PGREP: &str = "kill process via pgrep/pidof expansion (self-termination)";
pub(crate) const KILL_PGREP_BACKTICK: &str =
    "kill process via backtick pgrep/pidof expansion (self-termination)";
pub(crate) const LAUNCHD: &str = "stop/restart hermes launchd service (kills running agents)";
pub(crate) const SYSTEM_COPY: &str = "copy/move file into system config path";
pub(crate) const ENV_COPY: &str = "overwrite project env/config file";
pub(crate) const SENSITIVE_COPY: &str = "copy/move file into sensitive credential/SSH/shell-rc path";
pub(crate) const SENSITIVE_EDIT: &str = "in-place edit of sensitive credential/SSH/shell-rc path";
pub(crate) const SENSITIVE_EDIT_LONG: &str =
    "in-place edit of sensitive credential/SSH/shell-rc path (long flag)";
pub(crate) const SENSITIVE_EDIT_PERL: &str =
    "in-place edit of sensitive credential/SSH/shell-rc path (perl/ruby)";
pub(crate) const SYSTEM_EDIT: &str = "in-place edit of system config";
pub(crate) const SYSTEM_EDIT_LONG: &str = "in-place edit of system config (long flag)";
pub(crate) const HERMES_EDIT: &str = "in-place edit of Hermes config/env";
pub(crate) const HERMES_EDIT_LONG: &str = "in-place edit of Hermes config/env (long flag)";
pub(crate) const HERMES_EDIT_PERL: &str = "in-place edit of Hermes config/env (perl/ruby)";
pub(crate) const SHELL_HEREDOC: &str = "shell execution via heredoc";
pub(crate) const GIT_RESET: &str = "git reset --hard (destroys uncommitted changes)";
pub(crate) const GIT_FORCE_PUSH: &str = "git force push (rewrites remote history)";
pub(crate) const GIT_FORCE_PUSH_SHORT: &str = "git force push short flag (rewrites remote history)";
pub(crate) const GIT_CLEAN: &str = "git clean with force (deletes untracked files)";
pub(crate) const GIT_BRANCH_DELETE: &str = "git branch force delete";
pub(crate) const GIT_BRANCH_DELETE_LONG: &str = "git branch force delete (long flags)";
pub(crate) const GIT_BRANCH_DELETE_FORCE_FIRST: &str = "git branch force delete (long flags, force-first)";
pub(crate) const CHMOD_AND_RUN: &str = "chmod +x followed by immediate execution";
pub(crate) const SUDO_FLAG: &str = "sudo with privilege flag (stdin/askpass/shell/list)";
pub(crate) const SUDO_COMBINED: &str = "sudo with combined-flag privilege escalation";
pub(crate) const SCRIPT_CODE: &str = "script execution via -e/-c flag";
pub(crate) const SCRIPT_HEREDOC: &str = "script execution via heredoc";
pub(crate) const SHELL_TEXT: &str = "shell command via -c/-lc flag";
pub(crate) const UNREADABLE: &str = "command cannot be analysed";
pub(crate) const INVISIBLE: &str = "invisible or control characters";
pub(crate) const PROCESS_INPUT: &str = "input to a running process";
pub(crate) const UNKNOWN_PROGRAM: &str = "program known only at run time";
pub(crate) const UNKNOWN_PAYLOAD: &str = "script known only at run time";
pub(crate) const UNNAMED_PROGRAM: &str = "program without a rule and without a sandbox";
pub(crate) const UNKNOWN_PATH: &str = "write to a path known only at run time";
pub(crate) const WRITE_OUTSIDE: &str = "write outside the project";
pub(crate) const DELETE_OUTSIDE: &str = "delete outside the project";
pub(crate) const DELETE_MANY: &str = "delete by bare wildcard";
pub(crate) const RUN_BY_OTHERS: &str = "write a project file that other programs run";
pub(crate) const STARTUP_FILE: &str = "write a start-up or settings file";
pub(crate) const HERMES_FILE: &str = "write a file of Hermes";
pub(crate) const GIT_SETTINGS: &str = "change git settings or hooks";
pub(crate) const GIT_DISCARD: &str = "git discards uncommitted work or history";
pub(crate) const GIT_PUSH: &str = "git push";
pub(crate) const NETWORK_SEND: &str = "send data to another machine";
pub(crate) const REMOTE_SHELL: &str = "run commands on another machine";
pub(crate) const PUBLISH: &str = "publish or change a remote service";
pub(crate) const READ_SECRET: &str = "read keys or credentials";
pub(crate) const LOADS_CODE: &str = "environment or option that loads code";
pub(crate) const PRIVILEGE: &str = "run as another user";
pub(crate) const CONTAINER: &str = "start or change containers";
pub(crate) const SERVICE_CHANGE: &str = "start or configure system services";
pub(crate) const SYSTEM_CHANGE: &str = "change the system configuration";
pub(crate) const PACKAGES: &str = "install or remove system-wide packages";
pub(crate) const SCHEDULE: &str = "schedule commands for later";
pub(crate) const SIGNAL: &str = "signal processes by name or unknown id";
pub(crate) const PERMISSIONS: &str = "change owners or permissions";
pub(crate) const OTHER_POLICY: &str = "change settings of tools";
pub(crate) const SQL_OTHER: &str = "SQL that changes many rows or runs programs";
pub(crate) const DATABASE: &str = "delete data of a database";
pub(crate) const POWER_STATE: &str = "change the power state";
pub(crate) const DEVICE: &str = "access a raw device";
/// The key of a script as a whole.
pub(crate) const EXECUTE_CODE: &str = "execute_code";
pub(crate) const SELF_APPROVAL: &str = "change Hermes' own settings or approvals";

const fn rule(key: &'static str, legacy: Option<&'static str>) -> Rule {
    Rule { key, legacy, is_hardline: false }
}

const fn hardline(key: &'static str) -> Rule {
    Rule { key, legacy: None, is_hardline: true }
}

/// Every rule that has a fixed key. One family has keys with the names of program and option in them:
/// `arbitrary program execution via <tool> <option>`.
pub const RULES: &[Rule] = &[
    hardline(DELETE_ROOT),
    hardline(DELETE_SYSTEM),
    hardline(DELETE_HOME),
    hardline(MKFS),
    hardline(DD_DEVICE),
    hardline(REDIRECT_DEVICE),
    hardline(FORK_BOMB),
    hardline(KILL_ALL),
    hardline(SHUTDOWN),
    hardline(INIT),
    hardline(SYSTEMCTL_POWER),
    hardline(TELINIT),
    rule(DELETE_IN_ROOT, Some(r#"rm\s+(-[^\s]*\s+)*/"#)),
    rule(RECURSIVE_DELETE, Some(r#"rm\s+-[^\s]*r"#)),
    rule(RECURSIVE_DELETE_LONG, Some(r#"rm\s+--recursive"#)),
    rule(WINDOWS_DELETE, Some(r#"cmd(?:\.exe)?\s+/(?:c|k)\s+.*"#)),
    rule(POWERSHELL_DELETE, Some(r#"(?:powershell|pwsh)(?:\.exe)?"#)),
    rule(POWERSHELL_ENCODED, Some(r#"(?:powershell|pwsh)(?:\.exe)?"#)),
    rule(WORLD_WRITABLE, Some(r#"chmod\s+(-[^\s]*\s+)*(777|666|o\+[rwx]*w|a\+[rwx]*w)"#)),
    rule(WORLD_WRITABLE_LONG, Some(r#"chmod\s+--recursive"#)),
    rule(CHOWN_ROOT, Some(r#"chown\s+(-[^\s]*)?R\s+root"#)),
    rule(CHOWN_ROOT_LONG, Some(r#"chown\s+--recur[a-z]*"#)),
    rule(FORMAT, Some(r#"mkfs"#)),
    rule(DISK_COPY, Some(r#"dd\s+.*if="#)),
    rule(WRITE_DEVICE, Some(r#">\s*/dev/sd"#)),
    rule(SQL_DROP, Some(r#"DROP\s+(TABLE|DATABASE)"#)),
    rule(SQL_DELETE, Some(r#"DELETE\s+FROM"#)),
    rule(SQL_TRUNCATE, Some(r#"TRUNCATE\s+(TABLE)?\s*\w"#)),
    rule(SYSTEM_CONFIG, Some(r#">\s*(?:/etc/|/privat"#)),
    rule(SERVICE, Some(r#"systemctl\s+(-[^\s]+\s+)*(stop|restart|disable|mask)"#)),
    rule(KILL_ALL, Some(r#"kill\s+-9\s+-1"#)),
    rule(FORCE_KILL, Some(r#"pkill\s+-9"#)),
    rule(KILLALL_KILL, Some(r#"killall\s+(-[^\s]*\s+)*-(9|KILL|SIGKILL)"#)),
    rule(KILLALL_S_KILL, Some(r#"killall\s+(-[^\s]*\s+)*-s\s+(KILL|SIGKILL|9)"#)),
    rule(KILLALL_REGEX, Some(r#"killall\s+(-[^\s]*\s+)*-r"#)),
    rule(FORK_BOMB, Some(r#":\(\)\s*\{\s*:\s*\|\"#)),
    rule(REMOTE_TO_SHELL, Some(r#"(curl|wget)"#)),
    rule(REMOTE_PROCESS, Some(r#"(bash|sh|zsh|ksh)\s+<\s*<?\s*\(\s*(curl|wget)"#)),
    rule(REMOTE_SUBSTITUTION, Some(r#"eval"#)),
    rule(DECODED_TO_SHELL, Some(r#"(base64|base32|base16)\s+(?:-[dD]|--decode)"#)),
    rule(XXD_TO_SHELL, Some(r#"xxd\s+-r"#)),
    rule(TR_TO_SHELL, Some(r#"echo"#)),
    rule(OPENSSL_TO_SHELL, Some(r#"openssl"#)),
    rule(SYSTEM_TEE, Some(r#"tee"#)),
    rule(
        SYSTEM_REDIRECT,
        Some(
            r#"|(?:~\/\.hermes/|(?:\$home|\$\{home\})/\.hermes/|(?:\$hermes_home|\$\{hermes_home\})/)config\.yaml"#,
        ),
    ),
    rule(ENV_TEE, Some(r#"tee"#)),
    rule(ENV_REDIRECT, Some(r#">>?\s*["\']?(?:(?:(?"#)),
    rule(XARGS_RM, Some(r#"xargs\s+.*"#)),
    rule(FIND_RM, Some(r#"find"#)),
    rule(FIND_DELETE, Some(r#"find"#)),
    rule(HERMES_GATEWAY, Some(r#"hermes\s+(?:-{1,2}\S+(?:\s+\S+)?\s+)*gateway\s+(stop|restart)"#)),
    rule(HERMES_UPDATE, Some(r#"hermes\s+update"#)),
    rule(COMPOSE_STOP, Some(r#"docker\s+compose\s+(restart|stop|kill|down)"#)),
    rule(DOCKER_STOP, Some(r#"docker\s+(restart|stop|kill)"#)),
    rule(GATEWAY_OUTSIDE, Some(r#"nohup"#)),
    rule(KILL_HERMES, Some(r#"(pkill|killall)"#)),
    rule(KILL_PGREP, Some(r#"kill"#)),
    rule(KILL_PGREP_BACKTICK, Some(r#"kill"#)),
    rule(LAUNCHD, Some(r#"launchctl\s+(stop|kickstart|bootout|unload|kill|disable|remove)"#)),
    rule(SYSTEM_COPY, Some(r#"(cp|mv|install)"#)),
    rule(ENV_COPY, Some(r#"(cp|mv|install)"#)),
    rule(SENSITIVE_COPY, Some(r#"(cp|mv|install)"#)),
    rule(
        SENSITIVE_EDIT,
        Some(
            r#"sed\s+-[^\s]*i.*(?:(?:(?:~|\$home|\$\{home\})/\.ssh(?:/|$)|(?:~|\$home|\$\{home\})/\.(?:bashrc|zshrc|profile|bash_profile|zprofile)"#,
        ),
    ),
    rule(SENSITIVE_EDIT_LONG, Some(r#"sed\s+--in-place"#)),
    rule(SENSITIVE_EDIT_PERL, Some(r#"(?:perl|ruby)"#)),
    rule(SYSTEM_EDIT, Some(r#"sed\s+-[^\s]*i.*\s(?:/etc/|/private/(?:etc|var|tmp|home)/)"#)),
    rule(SYSTEM_EDIT_LONG, Some(r#"sed\s+--in-place"#)),
    rule(
        HERMES_EDIT,
        Some(
            r#"sed\s+-[^\s]*i.*(?:(?:~\/\.hermes/|(?:\$home|\$\{home\})/\.hermes/|(?:\$hermes_home|\$\{hermes_home\})/)config\.yaml"#,
        ),
    ),
    rule(HERMES_EDIT_LONG, Some(r#"sed\s+--in-place"#)),
    rule(HERMES_EDIT_PERL, Some(r#"(?:perl|ruby)"#)),
    rule(SHELL_HEREDOC, Some(r#"(bash|sh|zsh|ksh)\s+<<"#)),
    rule(GIT_RESET, Some(r#"git\s+reset\s+--h(?:a(?:r(?:d)?)?)?"#)),
    rule(GIT_FORCE_PUSH, Some(r#"git\s+push"#)),
    rule(GIT_FORCE_PUSH_SHORT, Some(r#"git\s+push"#)),
    rule(GIT_CLEAN, Some(r#"git\s+clean\s+-[^\s]*f"#)),
    rule(GIT_BRANCH_DELETE, Some(r#"git\s+branch\s+-D"#)),
    rule(GIT_BRANCH_DELETE_LONG, Some(r#"git\s+branch"#)),
    rule(GIT_BRANCH_DELETE_FORCE_FIRST, Some(r#"git\s+branch"#)),
    rule(CHMOD_AND_RUN, Some(r#"chmod\s+\+x"#)),
    rule(SUDO_FLAG, Some(r#"sudo"#)),
    rule(SUDO_COMBINED, Some(r#"sudo"#)),
    rule(SCRIPT_CODE, Some(r#"(python[23]?|perl|ruby|node)\s+-[ec]\s+"#)),
    rule(SCRIPT_HEREDOC, Some(r#"(python[23]?|perl|ruby|node)\s+<<"#)),
    rule(SHELL_TEXT, None),
    rule(UNREADABLE, None),
    rule(INVISIBLE, None),
    rule(PROCESS_INPUT, None),
    rule(UNKNOWN_PROGRAM, None),
    rule(UNKNOWN_PAYLOAD, None),
    rule(UNNAMED_PROGRAM, None),
    rule(UNKNOWN_PATH, None),
    rule(WRITE_OUTSIDE, None),
    rule(DELETE_OUTSIDE, None),
    rule(DELETE_MANY, None),
    rule(RUN_BY_OTHERS, None),
    rule(STARTUP_FILE, None),
    rule(HERMES_FILE, None),
    rule(GIT_SETTINGS, None),
    rule(GIT_DISCARD, None),
    rule(GIT_PUSH, None),
    rule(NETWORK_SEND, None),
    rule(REMOTE_SHELL, None),
    rule(PUBLISH, None),
    rule(READ_SECRET, None),
    rule(LOADS_CODE, None),
    rule(PRIVILEGE, None),
    rule(CONTAINER, None),
    rule(SERVICE_CHANGE, None),
    rule(SYSTEM_CHANGE, None),
    rule(PACKAGES, None),
    rule(SCHEDULE, None),
    rule(SIGNAL, None),
    rule(PERMISSIONS, None),
    rule(OTHER_POLICY, None),
    rule(SQL_OTHER, None),
    rule(DATABASE, None),
    rule(POWER_STATE, None),
    rule(DEVICE, None),
    rule(EXECUTE_CODE, None),
    rule(SELF_APPROVAL, None),
];
