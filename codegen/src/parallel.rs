//! Distributes work over one thread per processor.

use std::panic::resume_unwind;
use std::thread;

/// For fewer items, starting a thread costs more than it saves.
const MIN_ITEMS_PER_THREAD: usize = 8;

/// Applies a function to the index and value of each item. The results are in the order of the items.
pub(crate) fn map<I: Sync, O: Send>(items: &[I], work: impl Fn(usize, &I) -> O + Sync) -> Vec<O> {
    let processors = thread::available_parallelism().map_or(1, usize::from);
    let chunk_size = items.len().div_ceil(processors).max(MIN_ITEMS_PER_THREAD);
    let work = &work;
    let map_chunk = |first: usize, chunk: &[I]| -> Vec<O> {
        let indexed = (first..).zip(chunk);
        indexed.map(|(index, item)| work(index, item)).collect()
    };
    if items.len() <= chunk_size {
        return map_chunk(0, items);
    }
    thread::scope(|scope| {
        let chunks = (0..).step_by(chunk_size).zip(items.chunks(chunk_size));
        let threads: Vec<_> = chunks
            .map(|(first, chunk)| scope.spawn(move || map_chunk(first, chunk)))
            .collect();
        let results = threads.into_iter().map(thread::ScopedJoinHandle::join);
        results
            .flat_map(|result| result.unwrap_or_else(|panic| resume_unwind(panic)))
            .collect()
    })
}

/// Runs two functions at the same time and returns both results.
pub(crate) fn join<O: Send, P>(
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
    fn results_are_in_the_order_of_the_items() {
        for length in [0, 1, 7, 8, 9, 1000] {
            let items: Vec<usize> = (0..length).map(|index| index * 10).collect();
            let results = map(&items, |index, item| (index, item + 1));
            let expected: Vec<_> = (0..length).map(|index| (index, index * 10 + 1)).collect();
            assert_eq!(results, expected);
        }
    }
}
