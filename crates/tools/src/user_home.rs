//! The user's home directory when the environment does not name it.

use std::path::PathBuf;

/// The home directory that the system's user database has for the user of this process.
pub(crate) fn from_system() -> Option<PathBuf> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    in_list(&std::fs::read_to_string("/etc/passwd").ok()?, user_in(&status)?)
}

/// The home that the system's list of users has for a name.
pub(crate) fn of(name: &str) -> Option<PathBuf> {
    let is_name =
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte));
    if !is_name {
        return None;
    }
    let list = std::fs::read_to_string("/etc/passwd").ok()?;
    let fields =
        list.lines().map(|line| line.split(':').collect::<Vec<_>>()).find(|fields| fields[0] == name)?;
    fields.get(5).map(PathBuf::from).filter(|home| home.is_absolute())
}

/// The real user id. Not the owner of `/proc/self`: a process that forbids core dumps belongs
/// to root there.
fn user_in(status: &str) -> Option<u32> {
    let ids = status.lines().find_map(|line| line.strip_prefix("Uid:"))?;
    ids.split_whitespace().next()?.parse().ok()
}

fn in_list(list: &str, user: u32) -> Option<PathBuf> {
    list.lines().find_map(|line| {
        let mut fields = line.split(':').skip(2);
        let id: u32 = fields.next()?.parse().ok()?;
        let home = PathBuf::from(fields.nth(2)?);
        (id == user && home.is_absolute()).then_some(home)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_user_is_read_off_the_process() {
        assert_eq!(user_in("Name:\tx\nUid:\t1000\t0\t0\t0\nGid:\t5\n"), Some(1000));
        assert_eq!(user_in("Name:\tx\n"), None);
    }

    #[test]
    fn the_home_is_found_by_user_id() {
        let list = "root:x:0:0:root:/root:/bin/bash\n# note\nme:x:1000:1000::/srv/me:/bin/sh\nodd:x:7:7:::\n";
        for (user, want) in [(0, Some("/root")), (1000, Some("/srv/me")), (7, None), (8, None)] {
            assert_eq!(in_list(list, user), want.map(PathBuf::from), "{user}");
        }
    }
}
