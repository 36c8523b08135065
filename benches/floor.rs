//! Baselines that no server can beat. Compiled by `server.py`.
//!
//! `floor replay`: reads a line, and writes it as the response to each further line.
//! `floor spawn COUNT PROGRAM`: runs a program COUNT times, and prints each duration in microseconds.

use std::env;
use std::io::{self, BufRead, Write};
use std::process::Command;
use std::time::Instant;

fn main() -> io::Result<()> {
    let words: Vec<String> = env::args().skip(1).collect();
    match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["replay"] => replay(),
        ["spawn", count, program] => spawn(count.parse().map_err(io::Error::other)?, program),
        _ => Err(io::Error::other(
            "usage: floor replay | floor spawn COUNT PROGRAM",
        )),
    }
}

fn replay() -> io::Result<()> {
    let mut input = io::stdin().lock();
    let mut output = io::stdout().lock();
    let mut response = Vec::new();
    input.read_until(b'\n', &mut response)?;
    let mut line = Vec::new();
    while input.read_until(b'\n', &mut line)? > 0 {
        line.clear();
        output.write_all(&response)?;
    }
    Ok(())
}

fn spawn(count: usize, program: &str) -> io::Result<()> {
    let mut output = io::stdout().lock();
    for _ in 0..count {
        let start = Instant::now();
        Command::new(program).status()?;
        writeln!(output, "{}", start.elapsed().as_secs_f64() * 1e6)?;
    }
    Ok(())
}
