//! Tables -> what the code generator writes for them. A struct of tables is declared once, by
//! [`tables!`](crate::tables!); the generator asks it for its fields and knows none by name.

use std::borrow::Cow;

use crate::rows::Table;

/// A value for which the code generator writes a literal.
pub enum Value<'v> {
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
    /// A struct: its name, and its fields with theirs.
    Struct(&'static str, Vec<(&'static str, Value<'v>)>),
}

/// A type whose values a binary can hold.
pub trait Baked {
    /// The literal that is written for it.
    fn value(&self) -> Value<'_>;
}

impl Baked for Cow<'static, str> {
    fn value(&self) -> Value<'_> {
        Value::Text(self)
    }
}

impl Baked for Cow<'static, [u8]> {
    fn value(&self) -> Value<'_> {
        Value::Bytes(self)
    }
}

impl<R> Baked for Table<R> {
    fn value(&self) -> Value<'_> {
        Value::Table(self.bytes())
    }
}

impl Baked for u32 {
    fn value(&self) -> Value<'_> {
        Value::Number(*self)
    }
}

impl Baked for bool {
    fn value(&self) -> Value<'_> {
        Value::Flag(*self)
    }
}

/// Declares a struct of tables, texts and the like that a binary can hold.
#[macro_export]
macro_rules! tables {
    ($(#[$meta:meta])* $name:ident { $($(#[$doc:meta])* $field:ident: $kind:ty,)* }) => {
        $(#[$meta])*
        #[derive(Default)]
        pub struct $name {
            $($(#[$doc])* pub $field: $kind,)*
        }

        impl $crate::baked::Baked for $name {
            fn value(&self) -> $crate::baked::Value<'_> {
                let fields = vec![
                    $((stringify!($field), $crate::baked::Baked::value(&self.$field)),)*
                ];
                $crate::baked::Value::Struct(stringify!($name), fields)
            }
        }
    };
}
