use super::*;
use std::fs;

fn repository(root: &Path) {
    for name in ["objects", "refs"] {
        fs::create_dir_all(root.join(name)).unwrap();
    }
    fs::write(root.join("HEAD"), "ref: refs/heads/main\n").unwrap();
    fs::write(root.join("config"), "").unwrap();
}

#[test]
fn ordinary_repository_is_protected_in_place() {
    let dir = tempfile::tempdir().unwrap();
    let project = dir.path().canonicalize().unwrap();
    let git = project.join(".git");
    repository(&git);
    Repository::complete(&project);
    let found = Repository::of(&project, true).unwrap();
    let names = ["config", "hooks", "modules", "worktrees", "info/attributes"];
    assert_eq!(found.read_only, names.map(|name| git.join(name)));
    assert_eq!((found.fixed, found.writable), (vec![git.clone(), git.join("info")], vec![]));
    assert_eq!(found.unwanted, [git.join("commondir")]);
}

#[test]
fn worktree_writes_its_repository_but_not_its_settings() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().canonicalize().unwrap();
    let (common, project) = (root.join("main/.git"), root.join("tree"));
    let own = common.join("worktrees/tree");
    repository(&common);
    fs::create_dir_all(&own).unwrap();
    fs::create_dir(&project).unwrap();
    fs::write(own.join("commondir"), "../..\n").unwrap();
    fs::write(own.join("gitdir"), format!("{}\n", project.join(".git").display())).unwrap();
    fs::write(project.join(".git"), format!("gitdir: {}\n", own.display())).unwrap();
    let found = Repository::of(&project, true).unwrap();
    assert_eq!(found.writable, [common.clone(), own.clone()]);
    for path in [project.join(".git"), common.join("config"), common.join("worktrees"), own.join("commondir")]
    {
        assert!(found.read_only.contains(&path), "{}", path.display());
    }
    let found = Repository::of(&project, false).unwrap();
    let parts = ["objects", "refs", "logs"].map(|name| common.join(name));
    assert_eq!(found.writable, [&parts[..], &[own]].concat());
    assert_eq!((found.read_only, found.fixed), (vec![], vec![]));
}

#[test]
fn forged_link_makes_no_other_repository_writable() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().canonicalize().unwrap();
    let (victim, project) = (root.join("victim/.git"), root.join("project"));
    repository(&victim);
    fs::create_dir_all(victim.join("worktrees/x")).unwrap();
    fs::write(victim.join("worktrees/x/commondir"), "../..\n").unwrap();
    fs::write(victim.join("worktrees/x/gitdir"), "/elsewhere/.git\n").unwrap();
    fs::create_dir(&project).unwrap();
    for link in [victim.clone(), victim.join("worktrees/x"), root.clone()] {
        fs::write(project.join(".git"), format!("gitdir: {}\n", link.display())).unwrap();
        let found = Repository::of(&project, true).unwrap();
        assert_eq!((found.writable, found.fixed), (vec![], vec![]), "{}", link.display());
    }
}
