//! The types that a setting can have.

use crate::keys::Kind;
use crate::value::Parsed;
use hermes_conversation::Money;
use secrecy::SecretString;
use std::borrow::Cow;

/// A text.
pub type Text = Cow<'static, str>;
/// A list of texts.
pub type List = Vec<String>;
/// A number from 0 to 1.
pub type Share = f64;
/// US dollars.
pub type Dollars = Money;
/// A text that is never shown.
pub type Secret = SecretString;

/// A type of settings.
pub(crate) trait SettingType: Sized {
    /// The kind that a key of this type has in the table of keys.
    const KIND: Kind;

    /// Takes a value that was read as [`SettingType::KIND`]; `None` if it is of another kind.
    fn of_parsed(parsed: Parsed) -> Option<Self>;
}

/// An owned list.
pub(crate) fn list(items: &[&str]) -> List {
    items.iter().map(|item| (*item).to_owned()).collect()
}

impl SettingType for u64 {
    const KIND: Kind = Kind::Integer;

    fn of_parsed(parsed: Parsed) -> Option<Self> {
        match parsed {
            Parsed::Integer(number) => u64::try_from(number).ok(),
            _ => None,
        }
    }
}

impl SettingType for bool {
    const KIND: Kind = Kind::Boolean;

    fn of_parsed(parsed: Parsed) -> Option<Self> {
        match parsed {
            Parsed::Boolean(on) => Some(on),
            _ => None,
        }
    }
}

impl SettingType for Text {
    const KIND: Kind = Kind::Text;

    fn of_parsed(parsed: Parsed) -> Option<Self> {
        match parsed {
            Parsed::Text(text) => Some(Cow::Owned(text)),
            _ => None,
        }
    }
}

impl SettingType for Secret {
    const KIND: Kind = Kind::Text;

    fn of_parsed(parsed: Parsed) -> Option<Self> {
        match parsed {
            Parsed::Text(text) => Some(SecretString::from(text)),
            _ => None,
        }
    }
}

impl SettingType for List {
    const KIND: Kind = Kind::List;

    fn of_parsed(parsed: Parsed) -> Option<Self> {
        match parsed {
            Parsed::List(items) => Some(items),
            _ => None,
        }
    }
}

impl SettingType for Share {
    const KIND: Kind = Kind::Share;

    fn of_parsed(parsed: Parsed) -> Option<Self> {
        match parsed {
            Parsed::Share(digits) => digits.parse().ok(),
            _ => None,
        }
    }
}

impl SettingType for Dollars {
    const KIND: Kind = Kind::Dollars;

    fn of_parsed(parsed: Parsed) -> Option<Self> {
        match parsed {
            Parsed::Dollars(digits) => Money::parse(&digits),
            _ => None,
        }
    }
}

impl<T: SettingType> SettingType for Option<T> {
    const KIND: Kind = T::KIND;

    fn of_parsed(parsed: Parsed) -> Option<Self> {
        T::of_parsed(parsed).map(Some)
    }
}
