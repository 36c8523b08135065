//! Encodes rows as bytes and decodes them: field after field, little-endian, without padding.
//!
//! rustc compiles a byte string quickly, while struct literals for 60,000 arguments would take minutes. Bytes
//! also need no relocations at startup.

use std::borrow::Cow;
use std::marker::PhantomData;
use std::ops::Range;

use climax_core::risk::Risk;
use climax_core::scalar::{ArgumentType, Number, Scalar, ValueShape};
use climax_policy::limit::LimitTarget;

use crate::facts::{CombinationKind, LimitOrigin, PlacementKind};

/// A value of fixed size that can be stored in a table.
pub trait Row: Sized {
    /// Its size in bytes.
    const SIZE: usize;
    /// Appends its bytes.
    fn encode(&self, bytes: &mut Vec<u8>);
    /// Reads it from the front of `bytes`, and advances `bytes` past it.
    fn decode(bytes: &mut &[u8]) -> Self;
}

/// Declares a row type.
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

/// Implements [`Row`](crate::rows::Row) for an enum without data. The variants must be in declaration order.
#[macro_export]
macro_rules! enum_row {
    ($name:ty { $($variant:ident),+ }) => {
        impl $crate::rows::Row for $name {
            const SIZE: usize = 1;

            fn encode(&self, bytes: &mut Vec<u8>) {
                bytes.push(*self as u8);
            }

            fn decode(bytes: &mut &[u8]) -> Self {
                const VARIANTS: &[$name] = &[$(<$name>::$variant),+];
                let variant = VARIANTS.get(usize::from(<u8 as $crate::rows::Row>::decode(bytes)));
                *variant.expect("an enum is stored as the number of a variant")
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
enum_row!(ValueShape { Single, List, Map });
enum_row!(CombinationKind {
    Exclusive,
    AtLeastOne,
    Requires
});
enum_row!(LimitOrigin { Config, Policy });
enum_row!(LimitTarget { Value, Key, Count });
enum_row!(Risk {
    Read,
    Write,
    Destructive
});
enum_row!(PlacementKind {
    Positional,
    Flag,
    Directory,
    Stdin,
    SeparatedWord
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
        // `None` is stored as zeros, which every row type can decode.
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

/// A byte range of a text or of a byte string: its start and its length.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ByteRange(pub u32, pub u32);

impl Row for ByteRange {
    const SIZE: usize = 2 * size_of::<u32>();

    fn encode(&self, bytes: &mut Vec<u8>) {
        self.0.encode(bytes);
        self.1.encode(bytes);
    }

    fn decode(bytes: &mut &[u8]) -> Self {
        Self(u32::decode(bytes), u32::decode(bytes))
    }
}

impl ByteRange {
    /// The text in this range.
    ///
    /// # Panics
    /// If the range is not within the text.
    #[must_use]
    pub fn of(self, text: &str) -> &str {
        let start = self.0 as usize;
        let part = text.get(start..start + self.1 as usize);
        part.expect("a piece is used with the text that it was made with")
    }
}

row! {
    /// A range of rows in another table.
    #[derive(Default, Eq)]
    RowRange {
        /// The number of the first row.
        first: u32,
        /// The number of rows.
        count: u32,
    }
}

impl RowRange {
    /// The row numbers.
    #[must_use]
    pub fn numbers(self) -> Range<u32> {
        self.first..self.first + self.count
    }
}

/// A stored [`Scalar`]. Text is stored elsewhere, and the row refers to it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ScalarRow {
    /// Text
    Text(ByteRange),
    /// An integer
    Integer(i64),
    /// An integer or a float
    Number(Number),
    /// `true` or `false`
    Boolean(bool),
}

impl ScalarRow {
    /// The value. `text` is the text that the row refers to.
    #[must_use]
    pub fn of(self, text: &str) -> Scalar<'_> {
        match self {
            Self::Text(piece) => Scalar::Text(Cow::Borrowed(piece.of(text))),
            Self::Integer(integer) => Scalar::Integer(integer),
            Self::Number(number) => Scalar::Number(number),
            Self::Boolean(boolean) => Scalar::Boolean(boolean),
        }
    }

    /// Makes the row for a value. `push` stores text.
    pub fn new(value: &Scalar<'_>, push: impl FnOnce(&str) -> ByteRange) -> Self {
        match value {
            Scalar::Text(text) => Self::Text(push(text)),
            Scalar::Integer(integer) => Self::Integer(*integer),
            Scalar::Number(number) => Self::Number(*number),
            Scalar::Boolean(boolean) => Self::Boolean(*boolean),
        }
    }
}

impl Row for ScalarRow {
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
            0 => Self::Text(ByteRange::decode(bytes)),
            1 => Self::Integer(i64::decode(bytes)),
            2 => Self::Number(Number::Integer(i64::decode(bytes))),
            3 => Self::Number(Number::Float(f64::decode(bytes))),
            _ => Self::Boolean(u64::decode(bytes) != 0),
        }
    }
}

/// A borrowed sequence of rows. Each row is decoded when it is read.
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
    /// The number of rows.
    #[must_use]
    pub fn len(self) -> usize {
        self.bytes.len() / R::SIZE
    }

    /// Whether there are no rows.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.bytes.is_empty()
    }

    /// The row with the given number.
    ///
    /// # Panics
    /// If there is no such row.
    #[must_use]
    pub fn get(self, number: u32) -> R {
        let row = self.bytes.get(number as usize * R::SIZE..);
        R::decode(&mut row.expect("a row's number is used with the table that it was made with"))
    }

    /// All rows in order.
    pub fn iter(self) -> impl Iterator<Item = R> + use<'t, R> {
        let rows = self.bytes.chunks_exact(R::SIZE);
        rows.map(|mut bytes| R::decode(&mut bytes))
    }

    /// The number of the first row for which `is_before` is false, like [`slice::partition_point`].
    ///
    /// # Panics
    /// If there are 2^32 rows or more.
    #[must_use]
    pub fn partition_point(self, is_before: impl Fn(&R) -> bool) -> u32 {
        let (mut start, mut end) = (0, to_u32(self.len()));
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

    /// The rows in a range.
    ///
    /// # Panics
    /// If the range is not within these rows.
    #[must_use]
    pub fn slice(self, range: RowRange) -> Self {
        let start = range.first as usize * R::SIZE;
        let bytes = self
            .bytes
            .get(start..start + range.count as usize * R::SIZE);
        Self::new(bytes.expect("a range of rows is used with the table that it was made with"))
    }
}

/// A table: rows that are baked into the binary, or that were built at run time.
pub struct Table<R> {
    bytes: Cow<'static, [u8]>,
    row: PhantomData<fn() -> R>,
}

impl<R> Table<R> {
    /// A table from baked bytes.
    #[must_use]
    pub const fn baked(bytes: &'static [u8]) -> Self {
        Self {
            bytes: Cow::Borrowed(bytes),
            row: PhantomData,
        }
    }

    /// The encoded rows.
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

    /// Adds rows at the end and returns their range.
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

    /// The number of rows.
    ///
    /// # Panics
    /// If there are 2^32 rows or more.
    #[must_use]
    pub fn len(&self) -> u32 {
        to_u32(self.rows().len())
    }

    /// Whether there are no rows.
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

/// Converts a number of rows or bytes.
///
/// # Panics
/// If it is 2^32 or more.
#[must_use]
pub fn to_u32(count: usize) -> u32 {
    u32::try_from(count).expect("a catalog has less than 4 GiB")
}

#[cfg(test)]
mod tests {
    use super::*;

    row! {
        /// A row with a field of each type.
        #[expect(unreachable_pub, reason = "the macro declares public structs")]
        Sample {
            /// A number
            number: u32,
            /// A large number
            large: u64,
            /// A boolean
            flag: bool,
            /// A part of a text
            piece: Option<ByteRange>,
            /// An enum
            risk: Option<Risk>,
            /// An enum
            kind: ArgumentType,
            /// A number that may be missing
            bound: Option<Number>,
            /// A value
            value: ScalarRow,
            /// Rows of another table
            range: RowRange,
        }
    }

    fn sample(number: u32) -> Sample {
        Sample {
            number,
            large: u64::MAX - u64::from(number),
            flag: number == 1,
            piece: (number != 2).then_some(ByteRange(7, number)),
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
                ScalarRow::Text(ByteRange(1, 2)),
                ScalarRow::Integer(-1),
                ScalarRow::Number(Number::Integer(3)),
                ScalarRow::Number(Number::Float(1e300)),
                ScalarRow::Boolean(true),
            ][number as usize % 5],
            range: RowRange {
                first: number,
                count: 2,
            },
        }
    }

    #[test]
    fn decoded_rows_equal_the_encoded_ones() {
        let samples: Vec<Sample> = (0..10).map(sample).collect();
        let mut table = Table::default();
        let range = table.extend(samples.iter().copied());
        assert_eq!((range.first, range.count, table.len()), (0, 10, 10));
        assert_eq!(table.bytes().len(), 10 * Sample::SIZE);
        assert_eq!(table.rows().iter().collect::<Vec<_>>(), samples);
        assert_eq!(table.rows().get(3), samples[3]);
        let slice = table.rows().slice(RowRange { first: 4, count: 3 });
        assert_eq!(slice.iter().collect::<Vec<_>>(), &samples[4..7]);
        assert!(table.rows().slice(RowRange::default()).is_empty());
        for first in 0..=10 {
            let point = table.rows().partition_point(|sample| sample.number < first);
            assert_eq!(point, first);
        }
    }
}
