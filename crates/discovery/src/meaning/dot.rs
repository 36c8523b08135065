//! Multiplies vectors of bytes, eight components at a time.

use wide::{i16x8, i32x4};

/// The number of components of a [`Group`].
const GROUP: usize = 16;

/// A vector that is multiplied with many vectors of bytes.
pub(super) struct Multiplicand<const GROUPS: usize> {
    groups: [Group; GROUPS],
}

/// 16 components, by the parity of their positions.
#[derive(Clone, Copy)]
struct Group {
    even: i16x8,
    odd: i16x8,
}

impl<const GROUPS: usize> Multiplicand<GROUPS> {
    /// Takes the components of a vector in order.
    pub(super) fn new(component: impl Fn(usize) -> i16) -> Self {
        let lanes = |first: usize| {
            let lanes = std::array::from_fn(|lane| component(first + 2 * lane));
            i16x8::new(lanes)
        };
        Self {
            groups: std::array::from_fn(|group| Group {
                even: lanes(group * GROUP),
                odd: lanes(group * GROUP + 1),
            }),
        }
    }

    /// The sum of the products with the components of another vector, which are signed bytes.
    #[inline]
    pub(super) fn dot(&self, other: &[u8]) -> i32 {
        let mut sums = i32x4::ZERO;
        for (group, bytes) in self.groups.iter().zip(other.as_chunks::<GROUP>().0) {
            let pairs = std::array::from_fn(|lane| {
                i16::from_le_bytes([bytes[2 * lane], bytes[2 * lane + 1]])
            });
            let pairs = i16x8::new(pairs);
            // Shifting to the right keeps the sign.
            let even: i16x8 = (pairs << 8_i32) >> 8_i32;
            let odd: i16x8 = pairs >> 8_i32;
            sums += group.even.dot(even) + group.odd.dot(odd);
        }
        sums.reduce_add()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_of_all_components_are_added() {
        let one =
            |position: usize| i16::try_from(position).map_or(0, |position| 7 * position - 100);
        let other: [i8; 2 * GROUP] =
            std::array::from_fn(|position| i8::try_from(position * 8).unwrap_or(i8::MAX) - 120);
        let expected: i32 = (0..)
            .zip(other)
            .map(|(position, component)| i32::from(one(position)) * i32::from(component))
            .sum();
        let multiplicand: Multiplicand<2> = Multiplicand::new(one);
        assert_eq!(multiplicand.dot(&other.map(i8::cast_unsigned)), expected);
    }
}
