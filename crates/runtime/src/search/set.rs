//! A set of tools.

use std::ops::Range;

/// Some of a catalog's tools, by their numbers: a bit for each.
#[derive(Clone)]
pub(crate) struct Set {
    bits: Vec<u64>,
}

impl Set {
    /// None of so many tools.
    pub(super) fn empty(tools: usize) -> Self {
        Self {
            bits: vec![0; tools.div_ceil(64)],
        }
    }

    /// Puts in tools that are neighbours.
    pub(super) fn insert(&mut self, tools: Range<u32>) {
        let mut first = tools.start;
        while first < tools.end {
            // As many at once as one number has bits.
            let end = (first / 64 + 1) * 64;
            let mut mask = u64::MAX << (first % 64);
            if tools.end < end {
                mask &= !(u64::MAX << (tools.end % 64));
            }
            if let Some(bits) = self.bits.get_mut(first as usize / 64) {
                *bits |= mask;
            }
            first = end;
        }
    }

    /// Returns whether it was there.
    pub(super) fn remove(&mut self, tool: u32) -> bool {
        let was_there = self.contains(tool);
        if let Some(bits) = self.bits.get_mut(tool as usize / 64) {
            *bits &= !(1 << (tool % 64));
        }
        was_there
    }

    pub(crate) fn contains(&self, tool: u32) -> bool {
        let bits = self.bits.get(tool as usize / 64);
        bits.is_some_and(|bits| bits >> (tool % 64) & 1 == 1)
    }

    /// Leaves what the other set has too.
    pub(super) fn keep(&mut self, other: &Self) {
        for (bits, others) in self.bits.iter_mut().zip(&other.bits) {
            *bits &= others;
        }
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.bits
            .iter()
            .map(|bits| bits.count_ones() as usize)
            .sum()
    }

    /// Their numbers, in order.
    pub(super) fn iter(&self) -> impl Iterator<Item = u32> {
        (0..).zip(&self.bits).flat_map(|(number, &bits)| {
            let mut rest = bits;
            std::iter::from_fn(move || {
                let bit = (rest != 0).then(|| rest.trailing_zeros())?;
                rest &= rest - 1;
                Some(number * 64 + bit)
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_is_put_in_whole_and_alone() {
        for range in [0..0, 0..1, 3..64, 63..65, 64..128, 5..129, 0..130] {
            let mut set = Set::empty(130);
            set.insert(range.clone());
            assert_eq!(set.iter().collect::<Vec<_>>(), range.collect::<Vec<_>>());
        }
    }

    #[test]
    fn what_is_put_in_is_there_in_order_and_once() {
        let mut set = Set::empty(130);
        for tool in [129, 0, 64, 63, 0, 5000] {
            set.insert(tool..tool + 1);
        }
        assert_eq!(set.iter().collect::<Vec<_>>(), [0, 63, 64, 129]);
        assert_eq!(set.len(), 4);
        let mut others = Set::empty(130);
        others.insert(63..64);
        others.insert(1..2);
        set.keep(&others);
        assert_eq!(set.iter().collect::<Vec<_>>(), [63]);
        assert!(set.remove(63) && !set.remove(63) && !set.remove(5000));
        set.insert(63..64);
        assert!(set.contains(63) && !set.contains(64) && !set.contains(5000));
    }
}
