//! Finds synonyms of argument names.

/// Argument names that mean the same, one group per line.
const SYNONYM_GROUPS: &str = "\
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

/// The synonyms of an argument name, starting with the name itself. All are in the form of
/// [`without_separators`].
#[must_use]
pub fn synonyms_of(name: &str) -> Vec<String> {
    let name = without_separators(name);
    let mut synonyms = vec![name.clone()];
    for line in SYNONYM_GROUPS.lines() {
        let group: Vec<String> = line
            .split_ascii_whitespace()
            .map(without_separators)
            .collect();
        if group.contains(&name) {
            synonyms.extend(group);
        }
    }
    synonyms
}

/// A name in lower case and without separators: `file_path` and `filePath` become `filepath`.
#[must_use]
pub fn without_separators(name: &str) -> String {
    let letters = name.chars().filter(|character| character.is_alphanumeric());
    letters.flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn synonyms_come_from_the_same_group_and_ignore_case_and_separators() {
        for (one, other) in [
            ("file_path", "filePath"),
            ("FILE-PATH", "path"),
            ("dir", "folder"),
            ("odd one", "oddOne"),
        ] {
            let synonyms = synonyms_of(one);
            assert!(
                synonyms.contains(&without_separators(other)),
                "{one} {other}"
            );
        }
        for (one, other) in [("path", "dir"), ("message", "msgs"), ("", "x")] {
            let synonyms = synonyms_of(one);
            assert!(
                !synonyms.contains(&without_separators(other)),
                "{one} {other}"
            );
        }
        assert_eq!(synonyms_of("Max-Count")[0], "maxcount");
    }
}
