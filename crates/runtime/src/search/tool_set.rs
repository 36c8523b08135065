//! A set of tools, as one bit per tool.

use std::ops::Range;

use fixedbitset::FixedBitSet;

/// A set of tool numbers. Numbers beyond the catalog are ignored.
#[derive(Clone)]
pub(crate) struct ToolSet {
    bits: FixedBitSet,
}

impl ToolSet {
    /// Creates an empty set for a catalog of `tool_count` tools.
    pub(super) fn empty(tool_count: usize) -> Self {
        Self {
            bits: FixedBitSet::with_capacity(tool_count),
        }
    }

    pub(super) fn insert(&mut self, tools: Range<u32>) {
        let (start, end) = (tools.start as usize, tools.end as usize);
        let end = end.min(self.bits.len());
        if start < end {
            self.bits.insert_range(start..end);
        }
    }

    pub(crate) fn contains(&self, tool: u32) -> bool {
        self.bits.contains(tool as usize)
    }

    /// Removes the tools that are not in the other set.
    pub(super) fn intersect_with(&mut self, other: &Self) {
        self.bits.intersect_with(&other.bits);
    }

    /// Removes the tools that are in the other set.
    pub(super) fn remove_all(&mut self, other: &Self) {
        self.bits.difference_with(&other.bits);
    }

    pub(super) fn len(&self) -> usize {
        self.bits.count_ones(..)
    }

    /// The numbers of the tools, in ascending order.
    pub(super) fn iter(&self) -> impl Iterator<Item = u32> {
        self.bits.ones().filter_map(|tool| u32::try_from(tool).ok())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_beyond_the_catalog_are_ignored() {
        let mut set = ToolSet::empty(130);
        set.insert(128..200);
        set.insert(5000..5001);
        assert_eq!(set.iter().collect::<Vec<_>>(), [128, 129]);
        assert!(!set.contains(5000));
        assert_eq!(set.len(), 2);
    }
}
