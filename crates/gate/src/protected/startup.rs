//! The tables of files that other programs run or obey, at home and in a project.

/// Below a user's home directory: run or read without asking by shells, editors, Python, desktop sessions, package
/// managers, other agents and other programs.
pub(crate) const HOME: &[&str] = &[
    // Shells and terminals.
    ".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".bash_aliases", ".bash_completion", ".profile", ".zshrc",
    ".zprofile", ".zshenv", ".zlogin", ".zlogout", ".zsh", ".oh-my-zsh", ".kshrc", ".mkshrc", ".cshrc", ".tcshrc", ".login",
    ".logout", ".inputrc", ".config/fish", ".config/zsh", ".config/bash", ".config/nushell", ".config/starship.toml",
    ".screenrc", ".tmux.conf", ".config/tmux", ".config/kitty", ".config/alacritty", ".config/wezterm", ".wezterm.lua",
    ".config/ghostty", ".config/direnv", ".direnvrc", ".config/mise", ".asdfrc",
    // Desktop sessions and services.
    ".xprofile", ".xinitrc", ".xsession", ".xsessionrc", ".Xresources", ".Xdefaults", ".xbindkeysrc", ".pam_environment",
    ".config/autostart", ".config/systemd", ".config/environment.d", ".config/plasma-workspace", ".config/i3",
    ".config/sway", ".config/hypr", ".config/openbox", ".config/awesome", ".local/share/systemd",
    ".local/share/applications", ".local/share/dbus-1", "Library/LaunchAgents", "Library/Preferences", ".forward",
    ".procmailrc", ".crontab",
    // Git and other tools that run what their settings name.
    ".gitconfig", ".config/git", ".hgrc", ".config/hg", ".subversion", ".curlrc", ".wgetrc", ".gdbinit", ".config/gdb",
    ".lldbinit", ".psqlrc", ".sqliterc", ".irbrc", ".pryrc", ".rdebugrc", ".Rprofile", ".perldb", ".ghci", ".lesskey",
    ".lessfilter", ".mailcap", ".dir_colors", ".ansible.cfg", ".config/lazygit", ".local/share/nautilus",
    // Editors.
    ".vimrc", ".gvimrc", ".vim", ".exrc", ".ideavimrc", ".config/nvim", ".local/share/nvim", ".config/vim", ".emacs", ".emacs.d",
    ".config/emacs", ".spacemacs", ".doom.d", ".nanorc", ".config/nano", ".config/helix", ".config/kak", ".config/micro",
    ".config/Code", ".config/VSCodium", ".config/Cursor", ".vscode", ".vscode-server", ".config/zed", ".config/JetBrains",
    ".config/sublime-text", "Library/Application Support/Code",
    // Python and other languages.
    ".pythonrc", ".pythonrc.py", ".pythonstartup", ".pdbrc", ".ipython", ".jupyter", ".config/matplotlib",
    ".node_repl_startup.js", ".config/julia", ".julia/config",
    // Package managers.
    ".npmrc", ".yarnrc", ".yarnrc.yml", ".config/yarn", ".config/pnpm", ".bunfig.toml", ".pip", ".config/pip",
    ".config/uv", ".config/pypoetry", ".pydistutils.cfg", ".condarc", ".config/conda", ".mambarc", ".cargo/config",
    ".cargo/config.toml", ".cargo/env", ".rustup/settings.toml", ".gemrc", ".bundle", ".config/go/env", ".gradle/init.gradle",
    ".gradle/init.d", ".gradle/gradle.properties", ".m2/settings.xml", ".m2/extensions.xml", ".mavenrc", ".sbt", ".ivy2",
    ".config/composer", ".composer", ".config/nix", ".nixpkgs", ".config/nixpkgs", ".config/home-manager", ".config/homebrew",
    ".opam", ".cabal/config", ".stack/config.yaml", ".cpan", ".luarocks", ".nuget",
    // Other agents.
    ".claude", ".claude.json", ".codex", ".gemini", ".qwen", ".cursor", ".windsurf", ".codeium", ".continue", ".aider.conf.yml",
    ".aider", ".config/opencode", ".opencode", ".config/goose", ".config/crush", ".config/amp", ".copilot",
    ".config/github-copilot", ".cline", ".roo", ".kiro", ".trae", ".openclaw", ".config/mcp", ".mcp.json", ".agents",
    ".openhands", ".config/Claude", "Library/Application Support/Claude",
];

/// Directories below a user's home whose programs are found through `PATH`.
pub(crate) const HOME_PROGRAMS: [&str; 12] = [
    ".local/bin", "bin", ".cargo/bin", "go/bin", ".npm-global", ".yarn/bin", ".bun/bin", ".deno/bin", ".pyenv", ".rbenv",
    ".nvm", ".asdf/shims",
];

/// Directories of the system whose programs are found through `PATH`.
pub(crate) const PROGRAMS: [&str; 9] = [
    "/bin", "/sbin", "/usr/bin", "/usr/sbin", "/usr/local/bin", "/usr/local/sbin", "/usr/games", "/snap/bin",
    "/opt/homebrew/bin",
];

/// Names in a project that are run or obeyed by editors, hooks, CI, package managers or agents: a file, or a folder with
/// all that is in it.
pub(crate) const PROJECT: &[&str] = &[
    // Hooks and environments.
    ".envrc", ".husky", ".pre-commit-config.yaml", ".pre-commit-hooks.yaml", "lefthook.yml", ".lefthook.yml",
    "lefthook-local.yml", ".overcommit.yml", ".githooks", ".gitmodules", ".lfsconfig", ".gitconfig", ".mise.toml",
    "mise.toml", ".config/mise", ".direnv", ".simple-git-hooks.json", "captainhook.json",
    // Editors and debuggers.
    ".vscode/tasks.json", ".vscode/settings.json", ".vscode/launch.json", ".vscode/extensions.json", ".vscode/mcp.json",
    ".idea/runConfigurations", ".idea/workspace.xml", ".idea/tools", ".run", ".zed", ".fleet", ".vimrc", ".exrc", ".nvimrc",
    ".nvim.lua", ".lvimrc", ".dir-locals.el", ".sublime-project", ".gdbinit", ".lldbinit", ".devcontainer",
    ".devcontainer.json", ".gitpod.yml", ".theia",
    // Continuous integration.
    ".github/workflows", ".github/actions", ".gitlab-ci.yml", ".gitlab/ci", ".circleci", ".travis.yml", "Jenkinsfile",
    "azure-pipelines.yml", "bitbucket-pipelines.yml", ".drone.yml", ".woodpecker", ".woodpecker.yml", ".buildkite",
    "appveyor.yml", ".appveyor.yml", ".forgejo/workflows", ".gitea/workflows", ".cirrus.yml", ".semaphore", ".teamcity",
    ".builds", ".build.yml", "cloudbuild.yaml", ".azure-pipelines", ".tekton",
    // Package managers and interpreters.
    ".npmrc", ".yarnrc", ".yarnrc.yml", ".yarn/plugins", ".pnpmfile.cjs", ".bunfig.toml", "bunfig.toml", ".cargo/config",
    ".cargo/config.toml", ".pypirc", "pip.conf", ".pip", ".gemrc", ".bundle", ".mvn", ".sbtopts", ".jvmopts",
    "sitecustomize.py", "usercustomize.py", ".pythonrc", ".pythonrc.py", ".pdbrc", ".irbrc", ".pryrc", ".Rprofile", ".psqlrc", ".sqliterc",
    ".curlrc", ".wgetrc", ".bazelrc", ".condarc", ".netrc",
    // Other agents and Hermes.
    ".claude", ".claude.json", ".cursor", ".codex", ".gemini", ".qwen", ".windsurf", ".continue", ".cline", ".roo", ".kiro",
    ".trae", ".opencode", "opencode.json", ".aider.conf.yml", ".mcp.json", "mcp.json", ".agents", ".goose", ".amp", ".crush.json",
    ".openhands", ".hermes", ".cursorrules", ".windsurfrules", ".clinerules", ".goosehints", ".github/copilot-instructions.md",
    ".junie",
    // Shells, if the project is a home directory of a container or a service.
    ".bashrc", ".bash_profile", ".profile", ".zshrc", ".zshenv", ".bash_aliases", ".inputrc",
];

/// The names of git hooks, which run wherever `core.hooksPath` points.
pub(crate) const GIT_HOOKS: [&str; 16] = [
    "applypatch-msg", "pre-applypatch", "post-applypatch", "pre-commit", "pre-merge-commit", "prepare-commit-msg",
    "commit-msg", "post-commit", "pre-rebase", "post-checkout", "post-merge", "pre-push", "pre-receive", "update",
    "post-receive", "fsmonitor-watchman",
];
