//! Works on many things at once, as many as there are processors.

use std::panic::resume_unwind;
use std::thread;

/// Fewer are not worth a thread.
const SHARE: usize = 8;

/// What becomes of each item, in their order. The function also gets the item's number.
pub(crate) fn map<I: Sync, O: Send>(items: &[I], work: impl Fn(usize, &I) -> O + Sync) -> Vec<O> {
    let processors = thread::available_parallelism().map_or(1, usize::from);
    let share = items.len().div_ceil(processors).max(SHARE);
    let work = &work;
    let part = |first: usize, items: &[I]| -> Vec<O> {
        let numbered = (first..).zip(items);
        numbered.map(|(number, item)| work(number, item)).collect()
    };
    if items.len() <= share {
        return part(0, items);
    }
    thread::scope(|scope| {
        let parts = (0..).step_by(share).zip(items.chunks(share));
        let threads: Vec<_> = parts
            .map(|(first, items)| scope.spawn(move || part(first, items)))
            .collect();
        let results = threads.into_iter().map(thread::ScopedJoinHandle::join);
        results
            .flat_map(|result| result.unwrap_or_else(|panic| resume_unwind(panic)))
            .collect()
    })
}

/// Does two things at once, and returns what came of each.
pub(crate) fn both<O: Send, P>(
    first: impl FnOnce() -> O + Send,
    second: impl FnOnce() -> P,
) -> (O, P) {
    thread::scope(|scope| {
        let first = scope.spawn(first);
        let second = second();
        let first = first.join().unwrap_or_else(|panic| resume_unwind(panic));
        (first, second)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_in_order_with_their_numbers() {
        for length in [0, 1, 7, 8, 9, 1000] {
            let items: Vec<usize> = (0..length).map(|number| number * 10).collect();
            let results = map(&items, |number, item| (number, item + 1));
            let expected: Vec<_> = (0..length)
                .map(|number| (number, number * 10 + 1))
                .collect();
            assert_eq!(results, expected);
        }
    }
}
