//! Answers to queries that were asked before.

use std::num::NonZeroUsize;
use std::sync::Mutex;

use lru::LruCache;

use crate::lock::lock;

/// How many answers are kept, and how many bytes they may have together.
const MOST: NonZeroUsize = NonZeroUsize::new(64).expect("it is not 0");
const MOST_BYTES: usize = 1024 * 1024;

/// What is the same each time a query is asked.
#[derive(Clone)]
pub(super) struct Prepared {
    /// The answer without its end: a JSON object.
    pub(super) json: String,
    /// What it is about, for the log.
    pub(super) about: String,
    /// How many results it has, for the log.
    pub(super) results: usize,
}

/// The answers that were last asked for.
pub(crate) struct Cache {
    answers: Mutex<LruCache<String, Prepared>>,
}

impl Default for Cache {
    fn default() -> Self {
        Self {
            answers: Mutex::new(LruCache::new(MOST)),
        }
    }
}

impl Cache {
    /// The answer to a request, if it was asked before.
    pub(super) fn get(&self, request: &str) -> Option<Prepared> {
        lock(&self.answers).get(request).cloned()
    }

    /// Keeps an answer, in place of those that were not asked for longest.
    pub(super) fn put(&self, request: String, prepared: &Prepared) {
        let size = |(request, prepared): (&String, &Prepared)| request.len() + prepared.json.len();
        if size((&request, prepared)) > MOST_BYTES {
            return;
        }
        let mut answers = lock(&self.answers);
        answers.put(request, prepared.clone());
        while answers.iter().map(size).sum::<usize>() > MOST_BYTES {
            answers.pop_lru();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prepared(bytes: usize) -> Prepared {
        Prepared {
            json: "x".repeat(bytes),
            about: String::new(),
            results: bytes,
        }
    }

    #[test]
    fn the_last_answers_are_kept_and_no_more() {
        let cache = Cache::default();
        for number in 0..100 {
            cache.put(number.to_string(), &prepared(number));
            // Asked again and again, so it stays.
            assert_eq!(cache.get("0").map(|it| it.results), Some(0));
        }
        assert_eq!(cache.get("99").map(|it| it.results), Some(99));
        assert!(cache.get("36").is_none() && cache.get("37").is_some());
    }

    #[test]
    fn large_answers_do_not_fill_the_memory() {
        let cache = Cache::default();
        cache.put("too large".to_owned(), &prepared(MOST_BYTES + 1));
        assert!(cache.get("too large").is_none());
        for number in 0..10 {
            cache.put(number.to_string(), &prepared(MOST_BYTES / 3));
        }
        let kept = (0..10).filter(|number| cache.get(&number.to_string()).is_some());
        assert_eq!(kept.count(), 2);
    }
}
