//! Adding findings.

use super::Walker;
use crate::assessment::{Effect, EffectKind, Finding, Grant, Verdict};
use crate::field::shown;
use crate::keys;
use crate::limits::{MAX_FINDINGS, Unreadable};
use std::borrow::Cow;

impl Walker<'_> {
    pub(crate) fn ask(
        &mut self,
        kind: EffectKind,
        target: Option<&str>,
        rule: impl Into<Cow<'static, str>>,
        reason: impl Into<String>,
    ) {
        self.add(Verdict::Ask, kind, target, rule.into(), reason.into(), Vec::new());
    }

    pub(crate) fn ask_with(
        &mut self,
        kind: EffectKind,
        target: Option<&str>,
        rule: impl Into<Cow<'static, str>>,
        reason: impl Into<String>,
        grant: Grant,
    ) {
        self.add(Verdict::Ask, kind, target, rule.into(), reason.into(), vec![grant]);
    }

    pub(crate) fn deny(
        &mut self,
        kind: EffectKind,
        target: Option<&str>,
        rule: &'static str,
        reason: impl Into<String>,
    ) {
        self.add(Verdict::Deny, kind, target, rule.into(), reason.into(), Vec::new());
    }

    pub(crate) fn unreadable(&mut self, cause: Unreadable) {
        self.ask(EffectKind::Unclear, None, keys::UNREADABLE, cause.reason());
    }

    pub(crate) fn found_invisible(&mut self) {
        let reason = "has invisible or control characters outside of quotes";
        self.ask(EffectKind::Unclear, None, keys::INVISIBLE, reason);
    }

    fn add(
        &mut self,
        verdict: Verdict,
        kind: EffectKind,
        target: Option<&str>,
        rule: Cow<'static, str>,
        reason: String,
        grants: Vec<Grant>,
    ) {
        let effect = Effect { kind, target: target.map(shown) };
        let reason = shown(&reason);
        let finding = Finding { effect, verdict, rule, reason, grants };
        if self.findings.contains(&finding) {
            return;
        }
        if self.findings.len() < MAX_FINDINGS {
            self.findings.push(finding);
        } else if verdict == Verdict::Deny
            && let Some(last) = self.findings.last_mut()
        {
            *last = finding;
        }
    }
}
