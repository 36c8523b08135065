//! What no server can beat: programs that do one thing only. Compiled by `server.py`.
//!
//! `floor answer`: reads a line that is to be the answer to all others, and then answers them.
//! `floor spawn COUNT PROGRAM`: runs a program so often, and prints each time in microseconds.

use std::env;
use std::io::{self, BufRead, Write};
use std::process::Command;
use std::time::Instant;

fn main() -> io::Result<()> {
    let words: Vec<String> = env::args().skip(1).collect();
    match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["answer"] => answer(),
        ["spawn", count, program] => spawn(count.parse().map_err(io::Error::other)?, program),
        _ => Err(io::Error::other(
            "usage: floor answer | floor spawn COUNT PROGRAM",
        )),
    }
}

fn answer() -> io::Result<()> {
    let mut input = io::stdin().lock();
    let mut output = io::stdout().lock();
    let mut answer = Vec::new();
    input.read_until(b'\n', &mut answer)?;
    let mut line = Vec::new();
    while input.read_until(b'\n', &mut line)? > 0 {
        line.clear();
        output.write_all(&answer)?;
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
