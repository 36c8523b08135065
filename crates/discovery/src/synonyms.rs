//! Finds synonyms of argument names, and of words in names of tools.

use std::sync::OnceLock;

/// Argument names that mean the same, one group per line.
const SYNONYM_GROUPS: &str = "\
    path db db_path db_file\n\
    database db\n\
    path paths file files filename filepath file_path file_name pathname\n\
    directory dir folder cwd working_dir working_directory workdir\n\
    directory root root_dir project project_dir project_path workspace\n\
    destination dest dst output output_path output_file out o\n\
    overwrite clobber\n\
    source src from input input_file\n\
    destination to\n\
    stash index stash_index\n\
    unit service\n\
    pattern query search find\n\
    query sql statement\n\
    filter expression expr query jq\n\
    query search search_query keyword keywords q\n\
    pattern regex regexp\n\
    text content contents data body stdin\n\
    message msg m comment\n\
    url uri link address repository repo_url\n\
    limit max_results max_count count max n num\n\
    lines limit count n num\n\
    line_range lines range l\n\
    first_line start_line from_line line_start start from\n\
    last_line end_line to_line line_end end to\n\
    user username user_name login\n\
    password passwd\n\
    repo repository\n\
    directory repo repository repo_path repo_dir\n\
    onto upstream base revision commit\n\
    ref revision commit commits commit_hash commitish sha rev start_point upstream\n\
    old_text old old_string search find\n\
    new_text new new_string replace replacement\n\
    separator delimiter\n\
    include_untracked untracked\n\
    filter test_name test_filter\n\
    cached staged\n\
    save_dev dev\n\
    dry_run preview simulate what_if no_op noop no_act check_only\n\
    format output_format\n\
    recursive recurse\n\
    id identifier\n\
    container container_id container_name\n\
    namespace ns\n\
    host hostname";

/// Words in names of tools that mean the same, one group per line.
const VERB_GROUPS: &str = "\
    ls list\n\
    rm remove delete\n\
    mv move rename\n\
    cp copy";

/// The synonyms of an argument name, starting with the name itself. All are normalised with
/// [`normalise_name`].
#[must_use]
pub fn synonyms_of(name: &str) -> Vec<String> {
    static GROUPS: OnceLock<Groups> = OnceLock::new();
    let groups = GROUPS.get_or_init(|| parsed(SYNONYM_GROUPS));
    in_groups(groups, normalise_name(name))
}

/// The synonyms of a word in the name of a tool, starting with the word itself.
#[must_use]
pub fn synonyms_of_verb(word: &str) -> Vec<String> {
    static GROUPS: OnceLock<Groups> = OnceLock::new();
    let groups = GROUPS.get_or_init(|| parsed(VERB_GROUPS));
    in_groups(groups, word.to_owned())
}

type Groups = Vec<Vec<String>>;

fn parsed(groups: &str) -> Groups {
    let lines = groups.lines();
    let groups = lines.map(|line| line.split_ascii_whitespace().map(normalise_name).collect());
    groups.collect()
}

fn in_groups(groups: &Groups, name: String) -> Vec<String> {
    let groups = groups.iter().filter(|group| group.contains(&name));
    let synonyms: Vec<String> = groups.flatten().cloned().collect();
    let mut all = vec![name];
    all.extend(synonyms);
    all
}

/// Whether other names mean the same as this one.
#[must_use]
pub fn has_synonyms(name: &str) -> bool {
    synonyms_of(name).len() > 1
}

/// Converts a name to lower case and removes separators: `file_path` and `filePath` become `filepath`.
#[must_use]
pub fn normalise_name(name: &str) -> String {
    let alphanumeric = name.chars().filter(|character| character.is_alphanumeric());
    alphanumeric.flat_map(char::to_lowercase).collect()
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
            assert!(synonyms.contains(&normalise_name(other)), "{one} {other}");
        }
        for (one, other) in [("path", "dir"), ("message", "msgs"), ("", "x")] {
            let synonyms = synonyms_of(one);
            assert!(!synonyms.contains(&normalise_name(other)), "{one} {other}");
        }
        assert_eq!(synonyms_of("Max-Count")[0], "maxcount");
    }
}
