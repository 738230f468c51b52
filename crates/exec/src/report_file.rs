//! The file to which the shell of a command reports its state at its exit.

use crate::backend::ShellReport;
use crate::exports::{Exports, LONGEST_LIST};
use crate::far_report::FarReport;
use hermes_sandbox::{Policy, support};
use std::ffi::OsString;
use std::fs::{File, OpenOptions};
use std::io::{Read, Seek};
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;

/// The longest path that the kernel takes, with a line end.
const LONGEST_PATH: usize = 4097;
/// Bytes that are read: the directory, a NUL and the list of variables.
const LONGEST: usize = LONGEST_PATH + 1 + LONGEST_LIST;

/// The state of a shell at its exit.
#[derive(Debug, Default)]
pub(crate) struct Reported {
    pub(crate) cwd: Option<PathBuf>,
    pub(crate) exports: Option<Exports>,
}

/// A report that is expected, before its file exists.
pub(crate) struct ExpectedReport {
    pub(crate) report: ShellReport,
    pub(crate) sandbox: Option<Policy>,
    /// The environment that the command starts with.
    pub(crate) env: Vec<(String, String)>,
    /// The mark of a report from elsewhere.
    pub(crate) mark: Option<String>,
}

impl ExpectedReport {
    /// Creates the file with private permissions; the shell would create a readable one.
    ///
    /// The command can replace the file by a link or a pipe, so it is kept open and read that way.
    pub(crate) fn create(self) -> ReportFile {
        let path = &self.report.file;
        let _ = std::fs::remove_file(path);
        let created = OpenOptions::new().read(true).write(true).create_new(true).mode(0o600).open(path);
        let file = created
            .inspect_err(|error| {
                tracing::warn!(%error, path = %path.display(), "directory and exports of a command will not be known");
            })
            .ok();
        ReportFile { expected: self, file }
    }
}

/// The file of one run; removed on drop.
pub(crate) struct ReportFile {
    expected: ExpectedReport,
    file: Option<File>,
}

impl ReportFile {
    /// The state that the shell wrote, as far as it did.
    pub(crate) fn read(mut self) -> Reported {
        let Some(bytes) = self.bytes() else { return Reported::default() };
        if let Some(mark) = &self.expected.mark {
            return FarReport::parse(&bytes, mark)
                .map(|far| far.reported(&self.expected.report))
                .unwrap_or_default();
        }
        let mut parts = bytes.splitn(2, |byte| *byte == 0);
        let cwd = parts.next().filter(|_| self.expected.report.cwd).and_then(|cwd| self.directory(cwd));
        let is_cut = bytes.len() == LONGEST;
        let exports = parts.next().filter(|list| !list.is_empty()).and_then(|list| {
            let withheld = self.expected.report.exports.as_ref()?;
            Some(Exports::compare(list, is_cut, &self.expected.env, withheld))
        });
        Reported { cwd, exports }
    }

    fn bytes(&mut self) -> Option<Vec<u8>> {
        let file = self.file.as_mut()?;
        let mut bytes = Vec::new();
        file.rewind().ok()?;
        // A report from elsewhere has the list of variables twice.
        let most = if self.expected.mark.is_some() { 2 * LONGEST } else { LONGEST };
        file.take(most as u64).read_to_end(&mut bytes).ok()?;
        Some(bytes)
    }

    fn directory(&self, bytes: &[u8]) -> Option<PathBuf> {
        let bytes = bytes.strip_suffix(b"\n").unwrap_or(bytes);
        let path = PathBuf::from(OsString::from_vec(bytes.to_vec()));
        let found = match &self.expected.sandbox {
            Some(policy) => policy.host_path(&path, support()),
            None => path.clone(),
        };
        (bytes.len() < LONGEST_PATH && path.is_absolute() && found.is_dir()).then_some(path)
    }
}

impl Drop for ReportFile {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.expected.report.file);
    }
}
