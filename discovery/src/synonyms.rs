//! Names that arguments have for the same thing.

/// Each line has words that mean the same as names of arguments.
const SAME: &str = "\
    path file filename filepath file_path file_name pathname\n\
    directory dir folder cwd working_dir working_directory workdir\n\
    destination dest target output output_path out\n\
    source src from input_path\n\
    query q search search_query keyword keywords term\n\
    pattern regex regexp expression\n\
    text content contents body input data stdin\n\
    message msg comment\n\
    url uri link address endpoint\n\
    limit max_results count max num max_count n top\n\
    timeout wait wait_time deadline\n\
    user username login user_name account\n\
    password passwd secret\n\
    repo repository project\n\
    branch ref revision commit rev\n\
    format output_format type\n\
    recursive recurse\n\
    verbose debug\n\
    force overwrite\n\
    name title label\n\
    id identifier number\n\
    container container_id container_name\n\
    namespace ns\n\
    port ports\n\
    host hostname server";

/// Whether two names of arguments may mean the same. Case and separators make no difference.
#[must_use]
pub fn are_same(one: &str, other: &str) -> bool {
    let (one, other) = (plain(one), plain(other));
    one == other
        || SAME.lines().any(|line| {
            let has = |name: &str| {
                line.split_ascii_whitespace()
                    .any(|word| plain(word) == name)
            };
            has(&one) && has(&other)
        })
}

/// A name without separators, in small letters.
fn plain(name: &str) -> String {
    let letters = name.chars().filter(|character| character.is_alphanumeric());
    letters.flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_the_same_whatever_their_case_and_separators_and_by_the_table() {
        for (one, other) in [
            ("file_path", "filePath"),
            ("FILE-PATH", "path"),
            ("dir", "folder"),
            ("odd one", "oddOne"),
        ] {
            assert!(are_same(one, other), "{one} {other}");
        }
        for (one, other) in [("path", "dir"), ("message", "msgs"), ("", "x")] {
            assert!(!are_same(one, other), "{one} {other}");
        }
    }
}
