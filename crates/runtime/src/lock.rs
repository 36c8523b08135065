//! Locks for what is whole between any two steps, so that a panic elsewhere does no harm to it.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Waits for a lock.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
