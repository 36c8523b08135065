//! Finds the names that a filter without matches was probably meant to be.

use climax_catalog::rows::ByteRange;
use climax_catalog::tables::CliRow;
use climax_core::words::fold;
use climax_input::fields::closest;

use super::SearchQuery;
use crate::catalog::selection::Selection;

/// A longer filter is not a misspelt name, and comparing it would take long.
const MAX_FILTER_BYTES: usize = 200;

/// For each filter that no offered CLI passes, the closest name that one has.
pub(super) fn names_close_to_filters(
    selection: &Selection,
    query: &SearchQuery,
) -> Vec<&'static str> {
    let cli = query.cli.as_deref();
    let cli = cli
        .and_then(|filter| closest_name(selection, filter, |cli| Some((cli.name_key, cli.name))));
    let category = query.category.as_deref();
    let category = category.and_then(|filter| {
        closest_name(selection, filter, |cli| {
            Some((cli.category_key, cli.category?))
        })
    });
    cli.into_iter().chain(category).collect()
}

/// The name whose key is closest to a filter, unless a key is equal to it.
fn closest_name(
    selection: &Selection,
    filter: &str,
    key_and_name: impl Fn(&CliRow) -> Option<(ByteRange, ByteRange)>,
) -> Option<&'static str> {
    if filter.is_empty() || filter.len() > MAX_FILTER_BYTES {
        return None;
    }
    let filter = fold(filter);
    let clis: Vec<CliRow> = selection.clis().collect();
    let names = clis.iter().filter_map(key_and_name);
    let names: Vec<(&str, &str)> = names
        .map(|(key, name)| (selection.text(key), selection.text(name)))
        .collect();
    let keys: Vec<&str> = names.iter().map(|(key, _)| *key).collect();
    if keys.contains(&filter.as_str()) {
        return None;
    }
    let closest = closest(&filter, &keys)?;
    let name = names.iter().find(|(key, _)| *key == closest);
    name.map(|(_, name)| *name)
}
