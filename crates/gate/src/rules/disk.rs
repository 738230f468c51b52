//! Disks: formatting, partitioning and raw copies.

use super::files::Via;
use crate::assessment::{EffectKind, Grant};
use crate::field::Field;
use crate::keys;
use crate::limits::Unreadable;
use crate::output::Output;
use crate::walk::{Call, Walker};

pub(super) fn judge(walker: &mut Walker<'_>, call: &Call<'_>) -> Result<Option<Output>, Unreadable> {
    let name = call.name;
    let is_format = name == "mkfs"
        || name.starts_with("mkfs.")
        || matches!(name, "mke2fs" | "mkntfs" | "mkdosfs" | "mkreiserfs" | "newfs" | "mkexfatfs");
    if is_format {
        let is_help = call
            .arguments
            .iter()
            .all(|field| matches!(field.text.as_str(), "--help" | "-V" | "--version" | "-h"));
        if !is_help || call.arguments.is_empty() {
            walker.deny(EffectKind::Write, None, keys::MKFS, "formats a filesystem");
        }
        return Ok(Some(Output::Nothing));
    }
    match name {
        "dd" | "dcfldd" | "ddrescue" | "gdd" => copy(walker, call),
        "blkdiscard" | "wipefs" | "badblocks" | "sgdisk" | "nvme" | "hdparm" => erase(walker, call),
        "fdisk" | "sfdisk" | "cfdisk" | "gdisk" | "parted" | "partprobe" | "cryptsetup" | "mkswap"
        | "swapon" | "swapoff" | "losetup" | "mdadm" | "lvremove" | "vgremove" | "pvremove" | "lvcreate"
        | "vgcreate" | "pvcreate" | "zpool" | "zfs" | "btrfs" | "diskutil" | "fsck" | "e2fsck"
        | "tune2fs" | "resize2fs" | "xfs_repair" | "dmsetup" | "smartctl" | "debugfs" | "format"
        | "hdiutil" => {
            let is_listing = call.arguments.iter().any(|field| {
                matches!(
                    field.text.as_str(),
                    "-l" | "list" | "--list" | "status" | "--help" | "print" | "show" | "info"
                )
            });
            if !is_listing {
                let reason = format!("{name} changes disks or filesystems");
                walker.ask_with(EffectKind::Write, None, keys::FORMAT, reason, Grant::Unconfined);
            }
        }
        _ => return Ok(None),
    }
    Ok(Some(Output::Nothing))
}

fn copy(walker: &mut Walker<'_>, call: &Call<'_>) {
    for field in call.arguments {
        if let Some(file) = field.text.strip_prefix("of=") {
            walker.write(&Field { text: file.into(), is_pattern: field.is_pattern }, Via::Disk);
        }
        if let Some(file) = field.text.strip_prefix("if=") {
            let source = Field::literal(file);
            walker.read(&source);
            let is_device = file.starts_with("/dev/")
                && !matches!(file, "/dev/zero" | "/dev/urandom" | "/dev/random" | "/dev/null" | "/dev/stdin");
            if is_device {
                walker.ask(
                    EffectKind::ReadSecret,
                    Some(file),
                    keys::DISK_COPY,
                    format!("copies the disk {file}"),
                );
            }
        }
    }
    if call.name == "ddrescue" && call.arguments.len() > 1 {
        call.arguments
            .iter()
            .filter(|field| !field.text.starts_with('-'))
            .skip(1)
            .for_each(|field| walker.write(field, Via::Disk));
    }
}

fn erase(walker: &mut Walker<'_>, call: &Call<'_>) {
    let erases = match call.name {
        "blkdiscard" => true,
        "wipefs" => call.arguments.iter().any(|field| {
            field.text.starts_with("-a") || field.text == "--all" || field.text.starts_with("-af")
        }),
        "badblocks" => {
            call.arguments.iter().any(|field| field.text.starts_with('-') && field.text.contains('w'))
        }
        _ => false,
    };
    if erases {
        call.arguments
            .iter()
            .filter(|field| field.text.starts_with("/dev/"))
            .for_each(|field| walker.write(field, Via::Disk));
    }
    walker.ask_with(
        EffectKind::Write,
        None,
        keys::FORMAT,
        format!("{} changes disks", call.name),
        Grant::Unconfined,
    );
}
