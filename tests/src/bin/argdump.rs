//! Prints its arguments, stdin and environment as one line of JSON, or behaves as its arguments say.

use std::collections::HashMap;
use std::io::{Read, Write};
use std::process::{Command, ExitCode};
use std::time::Duration;
use std::{env, io, thread};

fn main() -> io::Result<ExitCode> {
    let words: Vec<String> = env::args().skip(1).collect();
    match words.first().map(String::as_str) {
        Some("@behave") => behave(&words[1..]),
        _ => dump(&words),
    }
}

fn dump(words: &[String]) -> io::Result<ExitCode> {
    let mut stdin = String::new();
    io::stdin().read_to_string(&mut stdin)?;
    let dumped = serde_json::json!({
        "argv": words,
        "cwd": env::current_dir()?,
        "stdin": stdin,
        "from_config": env::var("FROM_CONFIG").ok(),
        "inherited": env::var("INHERITED").ok(),
        "own": env::vars().map(|(name, _)| name).filter(|name| name.starts_with("CLIMAX_")).collect::<Vec<_>>(),
    });
    writeln!(io::stdout(), "{dumped}")?;
    Ok(ExitCode::SUCCESS)
}

/// Writes about that many bytes in lines of 64 bytes, and a last line.
fn flood(stream: &mut impl Write, bytes: usize) -> io::Result<()> {
    let line = [[b'x'; 63].as_slice(), b"\n"].concat();
    let block = line.repeat(1024);
    for _ in 0..bytes / block.len() {
        stream.write_all(&block)?;
    }
    stream.write_all(b"the end\n")
}

/// `out=` and `err=` write a line, `flood=BYTES` and `flooderr=BYTES` write much, `child=SECONDS` starts a
/// `sleep` and leaves it behind, `sleep=SECONDS` sleeps, `signal=` and `code=` end the program.
fn behave(words: &[String]) -> io::Result<ExitCode> {
    let options: HashMap<&str, &str> = words
        .iter()
        .filter_map(|word| word.split_once('='))
        .collect();
    if let Some(text) = options.get("out") {
        writeln!(io::stdout(), "{text}")?;
    }
    if let Some(text) = options.get("err") {
        writeln!(io::stderr(), "{text}")?;
    }
    if let Some(bytes) = options.get("flood") {
        flood(&mut io::stdout(), bytes.parse().unwrap_or(0))?;
    }
    if let Some(bytes) = options.get("flooderr") {
        flood(&mut io::stderr(), bytes.parse().unwrap_or(0))?;
    }
    if let Some(seconds) = options.get("child") {
        Command::new("sleep").arg(seconds).spawn()?;
    }
    if let Some(seconds) = options.get("sleep") {
        thread::sleep(Duration::from_secs_f64(seconds.parse().unwrap_or(0.0)));
    }
    if let Some(signal) = options.get("signal") {
        let own = std::process::id().to_string();
        Command::new("kill")
            .args([format!("-{signal}"), own])
            .status()?;
        thread::sleep(Duration::from_mins(10));
    }
    let code = options.get("code").and_then(|code| code.parse().ok());
    Ok(ExitCode::from(code.unwrap_or(0)))
}
