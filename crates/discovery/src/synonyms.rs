//! Names that arguments have for the same thing.

/// Each line has words that mean the same as names of arguments.
const SAME: &str = "\
    path file filename filepath file_path file_name pathname\n\
    directory dir folder cwd working_dir working_directory workdir\n\
    destination dest output_path\n\
    source src\n\
    query search search_query keyword keywords\n\
    pattern regex regexp\n\
    text content contents body stdin\n\
    message msg comment\n\
    url uri link\n\
    limit max_results max_count count\n\
    user username user_name login\n\
    password passwd\n\
    repo repository\n\
    ref revision commit rev\n\
    format output_format\n\
    recursive recurse\n\
    id identifier\n\
    container container_id container_name\n\
    namespace ns\n\
    host hostname";

/// The names that an argument may have for what one name says, the name itself first. All without
/// separators, in small letters.
#[must_use]
pub fn names_for(name: &str) -> Vec<String> {
    let own = plain(name);
    let mut names = vec![own.clone()];
    for line in SAME.lines() {
        let words: Vec<String> = line.split_ascii_whitespace().map(plain).collect();
        if words.contains(&own) {
            names.extend(words);
        }
    }
    names
}

/// A name without separators, in small letters.
#[must_use]
pub fn plain(name: &str) -> String {
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
            assert!(names_for(one).contains(&plain(other)), "{one} {other}");
        }
        for (one, other) in [("path", "dir"), ("message", "msgs"), ("", "x")] {
            assert!(!names_for(one).contains(&plain(other)), "{one} {other}");
        }
        assert_eq!(names_for("Max-Count")[0], "maxcount");
    }
}
