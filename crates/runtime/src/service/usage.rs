//! Keeps count of searches, for a log that is asked for.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use tracing::Level;

use crate::lock::lock;

/// How often each tool was asked, and how long that took.
#[derive(Default)]
pub(crate) struct Usage {
    tools: Mutex<BTreeMap<&'static str, Count>>,
}

#[derive(Clone, Copy, Default)]
struct Count {
    requests: u32,
    sum: Duration,
    longest: Duration,
}

impl Usage {
    /// Logs a request that has been answered: to which tool, what about, with how many results.
    pub(crate) fn log(&self, tool: &'static str, about: &str, results: usize, start: Instant) {
        if !tracing::event_enabled!(Level::INFO) {
            return;
        }
        let time = start.elapsed();
        let microseconds = time.as_micros();
        tracing::info!(tool, query = about, results, microseconds, "answered");
        let mut tools = lock(&self.tools);
        let count = tools.entry(tool).or_default();
        count.requests += 1;
        count.sum += time;
        count.longest = count.longest.max(time);
    }

    /// Logs the sums.
    pub(crate) fn finish(&self) {
        for (tool, count) in lock(&self.tools).iter() {
            let mean = (count.sum / count.requests.max(1)).as_micros();
            let longest = count.longest.as_micros();
            let requests = count.requests;
            tracing::info!(
                tool,
                requests,
                mean_microseconds = mean,
                longest_microseconds = longest,
                "in all"
            );
        }
    }
}
