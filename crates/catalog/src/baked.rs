//! Turns tables into values for which the code generator writes literals. [`tables!`](crate::tables!)
//! declares a struct and lists its fields here, so the generator does not have to know them.

use std::borrow::Cow;

use crate::rows::Table;

/// A value for which the code generator writes a literal.
pub enum BakedValue<'v> {
    /// Text
    Text(&'v str),
    /// Bytes
    Bytes(&'v [u8]),
    /// The bytes of a [`Table`]
    Table(&'v [u8]),
    /// A number
    Number(u32),
    /// `true` or `false`
    Flag(bool),
    /// A struct: its name, and the names and values of its fields
    Struct(&'static str, Vec<(&'static str, BakedValue<'v>)>),
}

/// A type whose values can be baked into a binary.
pub trait Baked {
    /// The value to write as a literal.
    fn baked_value(&self) -> BakedValue<'_>;
}

impl Baked for Cow<'static, str> {
    fn baked_value(&self) -> BakedValue<'_> {
        BakedValue::Text(self)
    }
}

impl Baked for Cow<'static, [u8]> {
    fn baked_value(&self) -> BakedValue<'_> {
        BakedValue::Bytes(self)
    }
}

impl<R> Baked for Table<R> {
    fn baked_value(&self) -> BakedValue<'_> {
        BakedValue::Table(self.bytes())
    }
}

impl Baked for u32 {
    fn baked_value(&self) -> BakedValue<'_> {
        BakedValue::Number(*self)
    }
}

impl Baked for bool {
    fn baked_value(&self) -> BakedValue<'_> {
        BakedValue::Flag(*self)
    }
}

/// Declares a struct of tables, texts, byte strings and the like that can be baked into a binary.
#[macro_export]
macro_rules! tables {
    ($(#[$meta:meta])* $name:ident { $($(#[$doc:meta])* $field:ident: $kind:ty,)* }) => {
        $(#[$meta])*
        #[derive(Default)]
        pub struct $name {
            $($(#[$doc])* pub $field: $kind,)*
        }

        impl $crate::baked::Baked for $name {
            fn baked_value(&self) -> $crate::baked::BakedValue<'_> {
                let fields = vec![
                    $((stringify!($field), $crate::baked::Baked::baked_value(&self.$field)),)*
                ];
                $crate::baked::BakedValue::Struct(stringify!($name), fields)
            }
        }
    };
}
