//! The macros that declare settings.
//!
//! One declaration of a field gives the field of the struct, its typed reading and its row in
//! [`KEYS`](crate::KEYS):
//!
//! ```text
//! /// maximum model calls per turn
//! max_turns: u64 = 90, env: &[Value("HERMES_MAX_ITERATIONS")];
//! ```
//!
//! The doc line is the description of the key. The type is `u64`, `bool`, `Text`, `List`, `Share`, `Dollars`,
//! `Secret` or a [`choice!`]. A field without a default holds an `Option`. Whatever follows the comma is a field
//! of [`Key`](crate::Key).

/// Declares the settings of one section of `config.yaml`, such as `[model.pricing]`. Sections inside of it come
/// after its own fields, or before them in the block `first`.
macro_rules! section {
    (
        $(#[$meta:meta])*
        $name:ident in $section:tt
        $( first { $( $above:ident: $Above:ty, )* } )?
        {
            $(
                #[doc = $doc:literal]
                $field:ident: $type:ident $(= $default:tt)? $(, $option:ident: $value:expr)*;
            )*
        }
        $( sections { $( $sub:ident: $Sub:ty, )* } )?
        $( free_form { $( #[doc = $about:literal] $own:ident: $Own:ty, )* } )?
    ) => {
        $(#[$meta])*
        pub struct $name {
            $(
                #[doc = $doc]
                pub $field: $crate::settings::declare::field_type!($type $(= $default)?),
            )*
            $( $( #[doc = concat!("The section `", stringify!($sub), "`.")] pub $sub: $Sub, )* )?
            $( $( #[doc = concat!("The section `", stringify!($above), "`.")] pub $above: $Above, )* )?
            $( $( #[doc = $about] pub $own: $Own, )* )?
        }

        #[allow(non_upper_case_globals, reason = "a key is called like its field")]
        impl $name {
            $(
                #[doc = $doc]
                pub const $field: $crate::Key = $crate::Key {
                    $( $option: $value, )*
                    ..$crate::Key::new(
                        $crate::settings::declare::key_name!($section $field),
                        <$type as $crate::settings::types::SettingType>::KIND,
                        $crate::settings::declare::fallback!($type $($default)?),
                        $doc,
                    )
                };
            )*
        }

        impl $name {
            /// The number of keys in this section.
            pub(crate) const COUNT: usize = <[&str]>::len(&[$( Self::$field.name, )*])
                $( $( + <$Above>::COUNT )* )? $( $( + <$Sub>::COUNT )* )?;
            /// The keys of this section in the order of their declaration.
            pub(crate) const KEYS: [$crate::Key; Self::COUNT] =
                $crate::keys::join(&[
                    $( $( &<$Above>::KEYS, )* )? &[$( Self::$field, )*], $( $( &<$Sub>::KEYS, )* )?
                ]);

            /// Reads the section; `fields` are its values in `config.yaml`.
            pub(crate) fn read(
                reader: &mut $crate::settings::reader::Reader<'_>,
                fields: $crate::settings::reader::Fields<'_>,
            ) -> Self {
                Self {
                    $( $( $above: <$Above>::read(
                        reader,
                        fields.and_then(|fields| fields.get(stringify!($above))?.as_object()),
                    ), )* )?
                    $(
                        $field: reader.read(
                            &Self::$field,
                            fields.and_then(|fields| fields.get(stringify!($field))),
                            $crate::settings::declare::default_value!($type $($default)?),
                        ),
                    )*
                    $( $( $sub: <$Sub>::read(
                        reader,
                        fields.and_then(|fields| fields.get(stringify!($sub))?.as_object()),
                    ), )* )?
                    $( $( $own: <$Own as $crate::settings::free_form::FreeForm>::read(reader.layers), )* )?
                }
            }
        }
    };
}

/// Declares a type of a few texts. The first text of a variant is its name; the last text of the type is what any
/// other text in `config.yaml` means.
macro_rules! choice {
    (
        $(#[$meta:meta])*
        $name:ident { $( $(#[$variant_meta:meta])* $variant:ident = $first:literal $(| $more:literal)*, )* }
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum $name {
            $( $(#[$variant_meta])* $variant, )*
        }

        impl $name {
            /// The text of this choice in `config.yaml`.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $( Self::$variant => $first, )*
                }
            }
        }

        impl $crate::settings::types::SettingType for $name {
            const KIND: $crate::Kind = $crate::Kind::Choice(&[$( $first, $($more,)* )*]);

            fn of_parsed(parsed: $crate::value::Parsed) -> Option<Self> {
                match parsed {
                    $crate::value::Parsed::Text(text) => match text.as_str() {
                        $( $first $(| $more)* => Some(Self::$variant), )*
                        _ => None,
                    },
                    _ => None,
                }
            }
        }
    };
}

/// The type of a field, by its declared type and default.
macro_rules! field_type {
    ($type:ident = $default:tt) => { $crate::settings::setting::Setting<$type> };
    ($type:ident) => { $crate::settings::setting::Setting<Option<$type>> };
}

/// The dotted name of a key; a key of `[]` has no section.
macro_rules! key_name {
    ([] $field:ident) => { stringify!($field) };
    ([$($section:ident).+] $field:ident) => { concat!($( stringify!($section), ".", )+ stringify!($field)) };
}

/// The default in the row of a key.
macro_rules! fallback {
    ($type:ident) => {
        $crate::Fallback::None
    };
    (u64 $default:tt) => {
        $crate::Fallback::Integer($default)
    };
    (bool $default:tt) => {
        $crate::Fallback::Boolean($default)
    };
    (List $default:tt) => {
        $crate::Fallback::List(&$default)
    };
    (Text $default:tt) => {
        $crate::Fallback::Text($default)
    };
    ($choice:ident $default:ident) => {
        $crate::Fallback::Text($choice::$default.as_str())
    };
}

/// The default as a value of its type.
macro_rules! default_value {
    ($type:ident) => {
        None
    };
    (u64 $default:tt) => {
        $default
    };
    (bool $default:tt) => {
        $default
    };
    (List $default:tt) => {
        $crate::settings::types::list(&$default)
    };
    (Text $default:tt) => {
        Text::Borrowed($default)
    };
    ($choice:ident $default:ident) => {
        $choice::$default
    };
}

pub(crate) use {choice, default_value, fallback, field_type, key_name, section};
