//! The two macros that declare settings.

/// Declares a table of settings: a struct, and everything that is known about its keys.
///
/// The documentation of a field is the meaning of its setting. After the type come `= default`, and
/// then in this order, each where it is needed:
/// - `as CODEC`: how the value is written, such as [`within`](crate::within)`(0..=9)`; without it the
///   codec of the type;
/// - `key "NAME"`: the key, where it is not the name of the field;
/// - `was "NAME"`: the key that it had before, which is refused with the present one;
/// - `source "WHERE"`: where the default comes from.
///
/// Fields end with a semicolon. A setting without default must be written, unless its type is an
/// `Option`. A struct whose settings all have defaults implements [`Default`]. Every struct is
/// `Clone`, `Debug` and `PartialEq`; more can be derived.
#[macro_export]
macro_rules! settings {
    (
        $(#[doc = $about:literal])*
        $(#[derive($($derive:path),* $(,)?)])?
        $vis:vis struct $name:ident {
            $(
                $(#[doc = $doc:literal])*
                $field_vis:vis $field:ident : $type:ty = $default:expr
                    $(, as $codec:expr)? $(, key $key:literal)? $(, was $was:literal)? $(, source $source:expr)?;
            )*
        }
    ) => {
        $crate::settings! { @settings
            $(#[doc = $about])*
            $(#[derive($($derive),*)])?
            $vis struct $name {
                $(
                    $(#[doc = $doc])*
                    $field_vis $field: $type = $default
                        $(, as $codec)? $(, key $key)? $(, was $was)? $(, source $source)?;
                )*
            }
        }

        impl ::core::default::Default for $name {
            fn default() -> Self {
                Self { $($field: $default,)* }
            }
        }
    };

    (
        $(#[doc = $about:literal])*
        $(#[derive($($derive:path),* $(,)?)])?
        $vis:vis struct $name:ident { $($fields:tt)* }
    ) => {
        $crate::settings! { @settings
            $(#[doc = $about])*
            $(#[derive($($derive),*)])?
            $vis struct $name { $($fields)* }
        }
    };

    (@settings
        $(#[doc = $about:literal])*
        $(#[derive($($derive:path),*)])?
        $vis:vis struct $name:ident {
            $(
                $(#[doc = $doc:literal])*
                $field_vis:vis $field:ident : $type:ty $(= $default:expr)?
                    $(, as $codec:expr)? $(, key $key:literal)? $(, was $was:literal)? $(, source $source:expr)?;
            )*
        }
    ) => {
        $(#[doc = $about])*
        #[derive(Clone, Debug, PartialEq)]
        $(#[derive($($derive),*)])?
        $vis struct $name {
            $(
                $(#[doc = $doc])*
                $field_vis $field: $type,
            )*
        }

        impl $crate::Settings for $name {
            fn declaration() -> $crate::Table {
                let mut fields = ::std::vec::Vec::new();
                $(
                    let codec = $crate::settings!(@codec $type $(, $codec)?);
                    let default: ::core::option::Option<$type> =
                        $crate::settings!(@option $($default)?);
                    fields.extend($crate::declaration::fields_of::<$type>(
                        $crate::settings!(@key $field $($key)?),
                        $crate::settings!(@text $($was)?),
                        concat!($($doc),*),
                        $crate::settings!(@text $($source)?),
                        &codec,
                        default,
                    ));
                )*
                $crate::Table {
                    meaning: concat!($($about),*).trim(),
                    fields,
                }
            }

            fn read(
                node: &$crate::Node,
                base: ::core::option::Option<&Self>,
                reader: &mut $crate::Reader<'_>,
            ) -> ::core::option::Option<Self> {
                let mut keys = $crate::Keys::new(node, reader);
                $(
                    let codec = $crate::settings!(@codec $type $(, $codec)?);
                    let $field = keys.field::<$type>(
                        $crate::settings!(@key $field $($key)?),
                        concat!($($doc),*),
                        &codec,
                        base.map(|base| &base.$field),
                        $crate::settings!(@option $($default)?),
                    );
                )*
                keys.finish();
                ::core::option::Option::Some(Self { $($field: $field?,)* })
            }

            fn to_value(&self) -> $crate::Value {
                let mut entries = ::std::vec::Vec::new();
                $(
                    let codec = $crate::settings!(@codec $type $(, $codec)?);
                    $crate::declaration::write_field::<$type>(
                        $crate::settings!(@key $field $($key)?),
                        &codec,
                        &self.$field,
                        &mut entries,
                    );
                )*
                $crate::Value::Table(entries)
            }
        }

        impl $crate::HasCodec for $name {
            fn codec() -> impl $crate::Codec<Self> {
                $crate::codec::Nested
            }
        }
    };

    (@codec $type:ty) => { <$type as $crate::HasCodec>::codec() };
    (@codec $type:ty, $codec:expr) => { $codec };
    (@option) => { ::core::option::Option::None };
    (@option $value:expr) => { ::core::option::Option::Some($value) };
    (@text) => { "" };
    (@text $text:expr) => { $text };
    (@key $field:ident) => { stringify!($field) };
    (@key $field:ident $key:literal) => { $key };
}

/// Declares an enum whose values have names in TOML.
///
/// The documentation of a variant is the meaning of its name. `default VARIANT` behind the name of
/// the enum implements [`Default`]. Every enum is `Clone`, `Copy`, `Debug`, `PartialEq` and `Eq`; more
/// can be derived.
#[macro_export]
macro_rules! choice {
    (
        $(#[doc = $about:literal])*
        $(#[derive($($derive:path),* $(,)?)])?
        $vis:vis enum $name:ident $(default $default:ident)? {
            $($(#[doc = $doc:literal])* $variant:ident = $word:literal),* $(,)?
        }
    ) => {
        $(#[doc = $about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        $(#[derive($($derive),*)])?
        $vis enum $name {
            $($(#[doc = $doc])* $variant,)*
        }

        impl $crate::Choice for $name {
            const NAMES: &'static [(&'static str, Self, &'static str)] =
                &[$(($word, Self::$variant, concat!($($doc),*))),*];
        }

        impl $crate::HasCodec for $name {
            fn codec() -> impl $crate::Codec<Self> {
                $crate::codec::Choices
            }
        }

        $(
            impl ::core::default::Default for $name {
                fn default() -> Self {
                    Self::$default
                }
            }
        )?
    };
}
