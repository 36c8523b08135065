//! Rows of tables, and how they are stored: one field after the other, as little-endian bytes. rustc reads a
//! byte string quickly, where struct literals for 60,000 arguments would take it minutes; and bytes have no
//! relocations.

use std::borrow::Cow;
use std::marker::PhantomData;
use std::ops::Range;

use climax_core::risk::Risk;
use climax_core::scalar::{self, ArgumentType, Number};

use crate::facts::PlacementKind;

/// A value of a fixed size, which a table can hold.
pub trait Row: Sized {
    /// How many bytes it takes.
    const SIZE: usize;
    /// Appends its bytes.
    fn encode(&self, bytes: &mut Vec<u8>);
    /// Takes it from the beginning of bytes.
    fn decode(bytes: &mut &[u8]) -> Self;
}

/// Declares a row with its fields.
#[macro_export]
macro_rules! row {
    ($(#[$meta:meta])* $name:ident { $($(#[$doc:meta])* $field:ident: $kind:ty,)* }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq)]
        pub struct $name {
            $($(#[$doc])* pub $field: $kind,)*
        }

        impl $crate::rows::Row for $name {
            const SIZE: usize = 0 $(+ <$kind as $crate::rows::Row>::SIZE)*;

            fn encode(&self, bytes: &mut Vec<u8>) {
                $($crate::rows::Row::encode(&self.$field, bytes);)*
            }

            fn decode(bytes: &mut &[u8]) -> Self {
                Self { $($field: $crate::rows::Row::decode(bytes),)* }
            }
        }
    };
}

/// Lets rows have a plain enum as a field. The variants are named in their order.
#[macro_export]
macro_rules! enum_row {
    ($name:ty { $($variant:ident),+ }) => {
        impl $crate::rows::Row for $name {
            const SIZE: usize = 1;

            fn encode(&self, bytes: &mut Vec<u8>) {
                bytes.push(*self as u8);
            }

            fn decode(bytes: &mut &[u8]) -> Self {
                const ALL: &[$name] = &[$(<$name>::$variant),+];
                let number = <u8 as $crate::rows::Row>::decode(bytes);
                *ALL.get(usize::from(number)).expect("an enum is stored as the number of a variant")
            }
        }
    };
}

macro_rules! number_row {
    ($($name:ty),+) => {
        $(impl Row for $name {
            const SIZE: usize = size_of::<$name>();

            fn encode(&self, bytes: &mut Vec<u8>) {
                bytes.extend(self.to_le_bytes());
            }

            fn decode(bytes: &mut &[u8]) -> Self {
                let (number, rest) = bytes.split_first_chunk().expect("a table has whole rows");
                *bytes = rest;
                Self::from_le_bytes(*number)
            }
        })+
    };
}

number_row!(u8, u32, u64, i64, f64);
enum_row!(ArgumentType {
    String,
    Integer,
    Number,
    Boolean
});
enum_row!(Risk {
    Read,
    Write,
    Destructive
});
enum_row!(PlacementKind {
    Positional,
    Flag,
    Directory,
    Stdin
});

impl Row for bool {
    const SIZE: usize = 1;

    fn encode(&self, bytes: &mut Vec<u8>) {
        bytes.push((*self).into());
    }

    fn decode(bytes: &mut &[u8]) -> Self {
        u8::decode(bytes) != 0
    }
}

impl<R: Row> Row for Option<R> {
    const SIZE: usize = 1 + R::SIZE;

    fn encode(&self, bytes: &mut Vec<u8>) {
        self.is_some().encode(bytes);
        match self {
            Some(value) => value.encode(bytes),
            None => bytes.resize(bytes.len() + R::SIZE, 0),
        }
    }

    fn decode(bytes: &mut &[u8]) -> Self {
        let is_some = bool::decode(bytes);
        // Zeros are a value of each kind of row.
        let value = R::decode(bytes);
        is_some.then_some(value)
    }
}

impl Row for Number {
    const SIZE: usize = 1 + size_of::<u64>();

    fn encode(&self, bytes: &mut Vec<u8>) {
        match self {
            Self::Integer(integer) => {
                bytes.push(0);
                integer.encode(bytes);
            }
            Self::Float(float) => {
                bytes.push(1);
                float.encode(bytes);
            }
        }
    }

    fn decode(bytes: &mut &[u8]) -> Self {
        match u8::decode(bytes) {
            0 => Self::Integer(i64::decode(bytes)),
            _ => Self::Float(f64::decode(bytes)),
        }
    }
}

/// A part of a text or of bytes: its first byte and its length.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Piece(pub u32, pub u32);

impl Row for Piece {
    const SIZE: usize = 2 * size_of::<u32>();

    fn encode(&self, bytes: &mut Vec<u8>) {
        self.0.encode(bytes);
        self.1.encode(bytes);
    }

    fn decode(bytes: &mut &[u8]) -> Self {
        Self(u32::decode(bytes), u32::decode(bytes))
    }
}

impl Piece {
    /// The part itself.
    ///
    /// # Panics
    /// It is a piece of another text.
    #[must_use]
    pub fn of(self, text: &str) -> &str {
        let start = self.0 as usize;
        let part = text.get(start..start + self.1 as usize);
        part.expect("a piece is used with the text that it was made with")
    }

    /// The part of bytes.
    ///
    /// # Panics
    /// It is a piece of other bytes.
    #[must_use]
    pub fn of_bytes(self, bytes: &[u8]) -> &[u8] {
        let start = self.0 as usize;
        let part = bytes.get(start..start + self.1 as usize);
        part.expect("a piece is used with the bytes that it was made with")
    }
}

row! {
    /// A range of rows of another table.
    #[derive(Default, Eq)]
    RowRange {
        /// The number of the first.
        first: u32,
        /// How many.
        count: u32,
    }
}

impl RowRange {
    /// The numbers of the rows.
    #[must_use]
    pub fn numbers(self) -> Range<u32> {
        self.first..self.first + self.count
    }
}

/// A value of an argument. Its text is a piece of the text that belongs to the table.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Scalar {
    /// Text
    Text(Piece),
    /// A whole number
    Integer(i64),
    /// A number
    Number(Number),
    /// `true` or `false`
    Boolean(bool),
}

impl Scalar {
    /// The value itself.
    #[must_use]
    pub fn of(self, text: &str) -> scalar::Scalar<'_> {
        match self {
            Self::Text(piece) => scalar::Scalar::Text(Cow::Borrowed(piece.of(text))),
            Self::Integer(integer) => scalar::Scalar::Integer(integer),
            Self::Number(number) => scalar::Scalar::Number(number),
            Self::Boolean(boolean) => scalar::Scalar::Boolean(boolean),
        }
    }

    /// The row of a value, whose text is stored by `push`.
    pub fn new(value: &scalar::Scalar<'_>, push: impl FnOnce(&str) -> Piece) -> Self {
        match value {
            scalar::Scalar::Text(text) => Self::Text(push(text)),
            scalar::Scalar::Integer(integer) => Self::Integer(*integer),
            scalar::Scalar::Number(number) => Self::Number(*number),
            scalar::Scalar::Boolean(boolean) => Self::Boolean(*boolean),
        }
    }
}

impl Row for Scalar {
    const SIZE: usize = 1 + size_of::<u64>();

    fn encode(&self, bytes: &mut Vec<u8>) {
        match self {
            Self::Text(piece) => {
                bytes.push(0);
                piece.encode(bytes);
            }
            Self::Integer(integer) => {
                bytes.push(1);
                integer.encode(bytes);
            }
            Self::Number(Number::Integer(integer)) => {
                bytes.push(2);
                integer.encode(bytes);
            }
            Self::Number(Number::Float(float)) => {
                bytes.push(3);
                float.encode(bytes);
            }
            Self::Boolean(boolean) => {
                bytes.push(4);
                u64::from(*boolean).encode(bytes);
            }
        }
    }

    fn decode(bytes: &mut &[u8]) -> Self {
        match u8::decode(bytes) {
            0 => Self::Text(Piece::decode(bytes)),
            1 => Self::Integer(i64::decode(bytes)),
            2 => Self::Number(Number::Integer(i64::decode(bytes))),
            3 => Self::Number(Number::Float(f64::decode(bytes))),
            _ => Self::Boolean(u64::decode(bytes) != 0),
        }
    }
}

/// Rows that are read where they are stored.
pub struct Rows<'t, R> {
    bytes: &'t [u8],
    row: PhantomData<fn() -> R>,
}

impl<R> Clone for Rows<'_, R> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<R> Copy for Rows<'_, R> {}

impl<R> Default for Rows<'_, R> {
    fn default() -> Self {
        Self::new(&[])
    }
}

impl<'t, R> Rows<'t, R> {
    const fn new(bytes: &'t [u8]) -> Self {
        Self {
            bytes,
            row: PhantomData,
        }
    }
}

impl<'t, R: Row> Rows<'t, R> {
    /// How many there are.
    #[must_use]
    pub fn len(self) -> usize {
        self.bytes.len() / R::SIZE
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.bytes.is_empty()
    }

    /// The row that has a number.
    ///
    /// # Panics
    /// There is none: the number is one of another table.
    #[must_use]
    pub fn get(self, number: u32) -> R {
        let row = self.bytes.get(number as usize * R::SIZE..);
        R::decode(&mut row.expect("a row's number is used with the table that it was made with"))
    }

    /// All of them, in order.
    pub fn iter(self) -> impl Iterator<Item = R> + use<'t, R> {
        let rows = self.bytes.chunks_exact(R::SIZE);
        rows.map(|mut bytes| R::decode(&mut bytes))
    }

    /// The number of the first that is not before something, if those that are come first.
    ///
    /// # Panics
    /// There are 2^32.
    #[must_use]
    pub fn partition_point(self, is_before: impl Fn(&R) -> bool) -> u32 {
        let (mut start, mut end) = (0, count(self.len()));
        while start < end {
            let middle = start + (end - start) / 2;
            if is_before(&self.get(middle)) {
                start = middle + 1;
            } else {
                end = middle;
            }
        }
        start
    }

    /// Some of them.
    ///
    /// # Panics
    /// They are not there: the range is one of another table.
    #[must_use]
    pub fn slice(self, range: RowRange) -> Self {
        let start = range.first as usize * R::SIZE;
        let bytes = self
            .bytes
            .get(start..start + range.count as usize * R::SIZE);
        Self::new(bytes.expect("a range of rows is used with the table that it was made with"))
    }
}

/// A table: rows that are part of a binary, or that were made.
pub struct Table<R> {
    bytes: Cow<'static, [u8]>,
    row: PhantomData<fn() -> R>,
}

impl<R> Table<R> {
    /// The rows that a binary holds as bytes.
    #[must_use]
    pub const fn baked(bytes: &'static [u8]) -> Self {
        Self {
            bytes: Cow::Borrowed(bytes),
            row: PhantomData,
        }
    }

    /// The rows as bytes.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The rows.
    #[must_use]
    pub fn rows(&self) -> Rows<'_, R> {
        Rows::new(&self.bytes)
    }
}

impl<R: Row> Table<R> {
    /// Adds a row at the end.
    pub fn push(&mut self, row: &R) {
        row.encode(self.bytes.to_mut());
    }

    /// Adds rows at the end, and returns where they are.
    pub fn extend(&mut self, rows: impl IntoIterator<Item = R>) -> RowRange {
        let first = self.len();
        for row in rows {
            self.push(&row);
        }
        RowRange {
            first,
            count: self.len() - first,
        }
    }

    /// How many rows there are.
    ///
    /// # Panics
    /// There are 2^32.
    #[must_use]
    pub fn len(&self) -> u32 {
        count(self.rows().len())
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }
}

impl<R> Default for Table<R> {
    fn default() -> Self {
        Self::baked(&[])
    }
}

/// A number of rows or bytes.
///
/// # Panics
/// There are 2^32.
#[must_use]
pub fn count(length: usize) -> u32 {
    u32::try_from(length).expect("a catalog has less than 4 GiB")
}

#[cfg(test)]
mod tests {
    use super::*;

    row! {
        /// A row with a field of each type.
        #[expect(unreachable_pub, reason = "the macro makes public rows")]
        Sample {
            /// A number
            number: u32,
            /// A large number
            large: u64,
            /// A fact
            flag: bool,
            /// A part of a text
            piece: Option<Piece>,
            /// An enum
            risk: Option<Risk>,
            /// An enum
            kind: ArgumentType,
            /// A number that may be missing
            bound: Option<Number>,
            /// A value
            value: Scalar,
            /// Rows of another table
            range: RowRange,
        }
    }

    fn sample(number: u32) -> Sample {
        Sample {
            number,
            large: u64::MAX - u64::from(number),
            flag: number == 1,
            piece: (number != 2).then_some(Piece(7, number)),
            risk: [None, Some(Risk::Read), Some(Risk::Destructive)][number as usize % 3],
            kind: [
                ArgumentType::Boolean,
                ArgumentType::String,
                ArgumentType::Number,
            ][number as usize % 3],
            bound: [
                None,
                Some(Number::Float(-0.5)),
                Some(Number::Integer(i64::MIN)),
            ][number as usize % 3],
            value: [
                Scalar::Text(Piece(1, 2)),
                Scalar::Integer(-1),
                Scalar::Number(Number::Integer(3)),
                Scalar::Number(Number::Float(1e300)),
                Scalar::Boolean(true),
            ][number as usize % 5],
            range: RowRange {
                first: number,
                count: 2,
            },
        }
    }

    #[test]
    fn rows_are_read_as_they_were_stored() {
        let samples: Vec<Sample> = (0..10).map(sample).collect();
        let mut table = Table::default();
        let range = table.extend(samples.iter().copied());
        assert_eq!((range.first, range.count, table.len()), (0, 10, 10));
        assert_eq!(table.bytes().len(), 10 * Sample::SIZE);
        assert_eq!(table.rows().iter().collect::<Vec<_>>(), samples);
        assert_eq!(table.rows().get(3), samples[3]);
        let some = table.rows().slice(RowRange { first: 4, count: 3 });
        assert_eq!(some.iter().collect::<Vec<_>>(), &samples[4..7]);
        assert!(table.rows().slice(RowRange::default()).is_empty());
        for first in 0..=10 {
            let found = table.rows().partition_point(|sample| sample.number < first);
            assert_eq!(found, first);
        }
    }
}
