//! Programs that change the system: users, kernel, network, mounts, clock.

use crate::assessment::{EffectKind, Grant};
use crate::keys;
use crate::limits::Unreadable;
use crate::output::Output;
use crate::walk::{Call, Walker};

/// Programs that only change the system.
const CHANGE: &[&str] = &[
    "useradd",
    "userdel",
    "usermod",
    "adduser",
    "deluser",
    "groupadd",
    "groupdel",
    "groupmod",
    "addgroup",
    "delgroup",
    "passwd",
    "chpasswd",
    "gpasswd",
    "vipw",
    "vigr",
    "visudo",
    "chsh",
    "chfn",
    "newusers",
    "chage",
    "mount",
    "umount",
    "fusermount",
    "insmod",
    "modprobe",
    "rmmod",
    "depmod",
    "swapoff",
    "pivot_root",
    "switch_root",
    "iptables",
    "ip6tables",
    "nft",
    "ufw",
    "firewall-cmd",
    "ebtables",
    "ipset",
    "setenforce",
    "semanage",
    "setsebool",
    "aa-disable",
    "aa-complain",
    "apparmor_parser",
    "update-grub",
    "grub-install",
    "grub-mkconfig",
    "efibootmgr",
    "dracut",
    "mkinitcpio",
    "update-initramfs",
    "ldconfig",
    "update-alternatives",
    "hwclock",
    "ntpdate",
    "chronyd",
    "netplan",
    "ifup",
    "ifdown",
    "dhclient",
    "brctl",
    "tc",
    "wg",
    "wg-quick",
    "openvpn",
    "tailscale",
    "authselect",
    "pam-auth-update",
    "dpkg-reconfigure",
    "locale-gen",
    "setxkbmap",
    "loadkeys",
    "csrutil",
    "spctl",
    "nvram",
    "scutil",
    "dscl",
    "networksetup",
    "systemsetup",
    "bpftool",
    "auditctl",
    "lvextend",
    "faillock",
    "newgrp",
    "login",
    "unshadow",
    "sulogin",
    "mokutil",
    "fwupdmgr",
    "flashrom",
    "eject",
    "sysrq",
];

pub(super) fn judge(walker: &mut Walker<'_>, call: &Call<'_>) -> Result<Option<Output>, Unreadable> {
    let words: Vec<&str> = call.arguments.iter().map(|field| field.text.as_str()).collect();
    let first = words.iter().copied().find(|word| !word.starts_with('-')).unwrap_or_default();
    let changes = match call.name {
        "mount" => !words.is_empty() && words != ["-l"],
        "ufw" | "firewall-cmd" | "tailscale" => {
            !matches!(first, "status" | "" | "version")
                || words.iter().any(|word| word.starts_with("--add") || word.starts_with("--remove"))
        }
        "iptables" | "ip6tables" | "nft" => {
            !words.iter().any(|word| matches!(*word, "-L" | "-S" | "list" | "--list" | "--list-rules"))
        }
        name if CHANGE.contains(&name) => !matches!(words.as_slice(), ["--help" | "--version"]),
        "sysctl" => words
            .iter()
            .any(|word| word.contains('=') || matches!(*word, "-w" | "-p" | "--system" | "--load")),
        "ip" => words.iter().any(|word| {
            matches!(*word, "add" | "del" | "delete" | "set" | "flush" | "change" | "replace" | "exec")
        }),
        "ifconfig" => {
            words.iter().any(|word| matches!(*word, "up" | "down" | "add" | "del")) || words.len() > 1
        }
        "route" => words.iter().any(|word| matches!(*word, "add" | "del" | "flush")),
        "nmcli" => words.iter().any(|word| {
            matches!(
                *word,
                "up" | "down" | "add" | "delete" | "modify" | "off" | "on" | "connect" | "disconnect"
            )
        }),
        "hostnamectl" | "timedatectl" | "localectl" | "resolvectl" => {
            first.starts_with("set") || matches!(first, "revert" | "flush-caches")
        }
        "xdg-settings" | "gsettings" | "dconf" | "defaults" | "kwriteconfig5" | "xfconf-query" => {
            matches!(first, "set" | "write" | "reset" | "delete" | "load")
        }
        "osascript" => true,
        "xdg-mime" => first == "default",
        _ => return Ok(None),
    };
    if changes {
        walker.system_change(call.name);
        if call.name == "ip" && words.contains(&"exec") {
            crate::wrappers::any_suffix(walker, call.arguments, call.stdin)?;
        }
    }
    Ok(Some(Output::Unknown))
}

impl Walker<'_> {
    pub(crate) fn system_change(&mut self, name: &str) {
        let reason = format!("{name} changes the system or the desktop session");
        self.ask_with(EffectKind::Policy, Some(name), keys::SYSTEM_CHANGE, reason, Grant::Unconfined);
    }
}
