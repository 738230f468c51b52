//! Attempts to change what git runs or obeys.

use super::attempt::{Attempt, held};

const INSIDE: &str = "Landlock cannot exclude a part of a writable tree";

const fn git(name: &'static str, script: &'static str) -> Attempt {
    held(name, script).by_namespaces(INSIDE)
}

pub(crate) const ALL: &[Attempt] = &[
    git("append to git's config", "echo '[x]' >> .git/config && echo ESCAPED"),
    git("set a value in git's config", "git config core.fsmonitor x && echo ESCAPED"),
    git("replace git's config", "echo '[core]' > c && mv c .git/config && echo ESCAPED"),
    git(
        "replace git's config with its lock",
        "#py\nopen('.git/config.lock', 'w').write('[core]')\nos.replace('.git/config.lock', '.git/config'); escaped()",
    ),
    git("delete git's config", "rm -f .git/config; [ ! -e .git/config ] && echo ESCAPED"),
    git("truncate git's config", "#py\nos.truncate('.git/config', 0); escaped()"),
    git("write git's config through a hard link", "ln .git/config c && echo x >> c && echo ESCAPED"),
    git("write git's config through a link", "ln -s .git/config c && echo x >> c && echo ESCAPED"),
    git("move git's config away", "mv .git/config c && echo ESCAPED"),
    git(
        "exchange git's config",
        "#py\nopen('c', 'w').write('[core]')\nif libc.syscall(316, -100, b'c', -100, b'.git/config', 2) == 0: escaped()",
    ),
    git("add a hook", "echo x > .git/hooks/pre-commit && echo ESCAPED"),
    git("activate a sample hook", "mv .git/hooks/pre-commit.sample .git/hooks/pre-commit && echo ESCAPED"),
    git("make a sample hook a program", "chmod 777 .git/hooks/pre-commit.sample && echo ESCAPED"),
    git("replace the hooks", "mv .git/hooks h && mkdir .git/hooks && echo ESCAPED"),
    git(
        "replace the hooks with a link",
        "rm -rf .git/hooks; ln -sn . .git/hooks && [ -L .git/hooks ] && echo ESCAPED",
    ),
    git("replace the repository", "mv .git g && cp -r g .git && echo ESCAPED"),
    git("delete the repository", "rm -rf .git; [ ! -e .git/config ] && echo ESCAPED"),
    git("add a submodule's hook", "mkdir -p .git/modules/x/hooks && echo ESCAPED"),
    git("redirect a worktree", "echo /x > .git/worktrees/tree/commondir && echo ESCAPED"),
    git("add a worktree", "mkdir .git/worktrees/y && echo ESCAPED"),
    git("set attributes", "echo '* filter=x' > .git/info/attributes && echo ESCAPED"),
    git(
        "replace the attributes",
        "mv .git/info i && mkdir .git/info && echo '* filter=x' > .git/info/attributes && echo ESCAPED",
    ),
    held(
        "write settings of the main repository from a worktree",
        "cd $TREE 2>/dev/null && echo x >> $TREEMAIN/config && echo ESCAPED",
    ),
    held(
        "add a hook to the main repository from a worktree",
        "cd $TREE && echo x > $TREEMAIN/hooks/pre-commit && echo ESCAPED",
    ),
    git("redirect a worktree from inside", "cd $TREE && echo 'gitdir: /x' > .git && echo ESCAPED"),
    git(
        "redirect a worktree's common directory from inside",
        "cd $TREE && echo /x > $TREEMAIN/worktrees/tree/commondir && echo ESCAPED",
    ),
];

/// Attempts in the worktree instead of the project.
pub(crate) fn is_in_worktree(attempt: &Attempt) -> bool {
    attempt.script.contains("$TREE")
}
