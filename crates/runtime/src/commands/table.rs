//! Formats tables for the terminal.

use comfy_table::{ColumnConstraint, Width, presets};

/// The width of a table if standard output is not a terminal.
const DEFAULT_TABLE_WIDTH: u16 = 120;
const MIN_CELL_WIDTH: u16 = 12;
const COLUMN_GAP: u16 = 2;

/// The header and the width of a column.
pub(super) type Column = (&'static str, ColumnWidth);

#[derive(Clone, Copy)]
pub(super) enum ColumnWidth {
    /// As wide as its content, up to a third of the table.
    Content,
    /// This many shares of the space that the other columns leave.
    Share(u16),
}

/// Formats a table as wide as the terminal. Line breaks in cells become spaces.
pub(super) fn format_table<const N: usize>(columns: [Column; N], rows: &[[String; N]]) -> String {
    let width = rustix::termios::tcgetwinsize(std::io::stdout())
        .map_or(DEFAULT_TABLE_WIDTH, |size| size.ws_col);
    format_table_with_width(columns, rows, width)
}

fn format_table_with_width<const N: usize>(
    columns: [Column; N],
    rows: &[[String; N]],
    width: u16,
) -> String {
    let column_count = columns.iter().map(|_| 1).sum::<u16>();
    let width = width.max(column_count * (MIN_CELL_WIDTH + COLUMN_GAP));
    let mut table = comfy_table::Table::new();
    table
        .load_style(presets::NOTHING)
        .set_header(columns.map(|(header, _)| header));
    for row in rows {
        table.add_row(row.each_ref().map(|cell| {
            let words: Vec<&str> = cell.split_whitespace().collect();
            words.join(" ")
        }));
    }
    let content_widths = table.column_max_content_widths();
    let widths = columns.iter().zip(content_widths);
    let fixed_widths = widths.map(|((_, column_width), content_width)| match column_width {
        ColumnWidth::Content => content_width.min(width / 3),
        ColumnWidth::Share(_) => 0,
    });
    let fixed_widths: Vec<u16> = fixed_widths.collect();
    let rest = width
        .saturating_sub(fixed_widths.iter().sum())
        .saturating_sub(column_count * COLUMN_GAP);
    let shares = |(_, column_width): &Column| match column_width {
        ColumnWidth::Content => 0,
        ColumnWidth::Share(shares) => *shares,
    };
    let share = rest / columns.iter().map(shares).sum::<u16>().max(1);
    let table_columns = table.column_iter_mut().zip(&columns);
    for ((table_column, column), fixed_width) in table_columns.zip(fixed_widths) {
        let width = fixed_width + share * shares(column);
        table_column
            .set_padding((COLUMN_GAP, 0))
            .set_constraint(ColumnConstraint::Absolute(Width::Fixed(width + COLUMN_GAP)));
    }
    table.trim_fmt() + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_wrap_between_words_and_inside_long_words() {
        let columns = [
            ("TOOL", ColumnWidth::Content),
            ("RISK", ColumnWidth::Content),
            ("DESCRIPTION", ColumnWidth::Share(2)),
            ("COMMAND", ColumnWidth::Share(1)),
        ];
        let row = [
            "a_tool",
            "",
            "one two\n three four five six",
            "äöüßabcdefghij",
        ]
        .map(str::to_owned);
        let text = format_table_with_width(columns, &[row], 54);
        let expected = [
            "  TOOL    RISK  DESCRIPTION               COMMAND",
            "  a_tool        one two three four five   äöüßabcdefgh",
            "                six                       ij",
            "",
        ];
        assert_eq!(text, expected.join("\n"));
    }
}
