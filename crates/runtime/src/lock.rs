//! Locks a mutex whose data is never left half-updated, so poisoning can be ignored.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks the mutex, even if it is poisoned.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
