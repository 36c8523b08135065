//! Keeps the bodies of recent responses for repeated requests.

use std::num::NonZeroUsize;
use std::sync::Mutex;

use lru::LruCache;

use crate::lock::lock;

/// The maximum number of cached bodies.
const MAX_ENTRIES: NonZeroUsize = NonZeroUsize::new(64).expect("it is not 0");
/// The maximum size of all requests and bodies together.
const MAX_TOTAL_BYTES: usize = 1024 * 1024;

/// A response body as JSON.
#[derive(Clone)]
pub(super) struct SerialisedBody {
    /// A JSON object.
    pub(super) json: String,
    /// See [`LookupResponse`](super::LookupResponse).
    pub(super) subject: String,
    pub(super) result_count: usize,
}

/// An LRU cache of response bodies, by request.
pub(crate) struct ResponseCache {
    bodies: Mutex<LruCache<String, SerialisedBody>>,
}

impl Default for ResponseCache {
    fn default() -> Self {
        Self {
            bodies: Mutex::new(LruCache::new(MAX_ENTRIES)),
        }
    }
}

impl ResponseCache {
    pub(super) fn get(&self, request: &str) -> Option<SerialisedBody> {
        lock(&self.bodies).get(request).cloned()
    }

    /// Inserts a body and evicts the least recently used ones.
    pub(super) fn put(&self, request: String, body: &SerialisedBody) {
        let size = |(request, body): (&String, &SerialisedBody)| request.len() + body.json.len();
        if size((&request, body)) > MAX_TOTAL_BYTES {
            return;
        }
        let mut bodies = lock(&self.bodies);
        bodies.put(request, body.clone());
        while bodies.iter().map(size).sum::<usize>() > MAX_TOTAL_BYTES {
            bodies.pop_lru();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn body_of_size(bytes: usize) -> SerialisedBody {
        SerialisedBody {
            json: "x".repeat(bytes),
            subject: String::new(),
            result_count: bytes,
        }
    }

    #[test]
    fn the_most_recently_used_bodies_are_kept() {
        let cache = ResponseCache::default();
        for number in 0..100 {
            cache.put(number.to_string(), &body_of_size(number));
            // Used each time, so it is never evicted.
            assert_eq!(cache.get("0").map(|body| body.result_count), Some(0));
        }
        assert_eq!(cache.get("99").map(|body| body.result_count), Some(99));
        assert!(cache.get("36").is_none() && cache.get("37").is_some());
    }

    #[test]
    fn the_total_size_is_limited() {
        let cache = ResponseCache::default();
        cache.put("too large".to_owned(), &body_of_size(MAX_TOTAL_BYTES + 1));
        assert!(cache.get("too large").is_none());
        for number in 0..10 {
            cache.put(number.to_string(), &body_of_size(MAX_TOTAL_BYTES / 3));
        }
        let kept = (0..10).filter(|number| cache.get(&number.to_string()).is_some());
        assert_eq!(kept.count(), 2);
    }
}
