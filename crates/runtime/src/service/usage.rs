//! Logs each search, and totals per tool when the server closes.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use tracing::Level;

use crate::lock::lock;

/// The number and duration of requests per tool.
#[derive(Default)]
pub(crate) struct Usage {
    tools: Mutex<BTreeMap<&'static str, ToolUsage>>,
}

#[derive(Clone, Copy, Default)]
struct ToolUsage {
    requests: u32,
    total: Duration,
    longest: Duration,
}

impl Usage {
    /// Logs an answered request at level info. Nothing is counted if that level is disabled.
    pub(crate) fn log(&self, tool: &'static str, query: &str, result_count: usize, start: Instant) {
        if !tracing::event_enabled!(Level::INFO) {
            return;
        }
        let duration = start.elapsed();
        tracing::info!(
            tool,
            query,
            results = result_count,
            microseconds = duration.as_micros(),
            "answered"
        );
        let mut tools = lock(&self.tools);
        let usage = tools.entry(tool).or_default();
        usage.requests += 1;
        usage.total += duration;
        usage.longest = usage.longest.max(duration);
    }

    /// Logs the totals of each tool.
    pub(crate) fn log_totals(&self) {
        for (tool, usage) in lock(&self.tools).iter() {
            let mean = usage.total / usage.requests.max(1);
            tracing::info!(
                tool,
                requests = usage.requests,
                mean_microseconds = mean.as_micros(),
                longest_microseconds = usage.longest.as_micros(),
                "totals"
            );
        }
    }
}
