//! How the index of words says where a word is: a number for each tool that has it, the tool's own
//! times eight, plus these marks.

/// The word is in the tool's name.
pub const IN_NAME: u32 = 1;
/// The word is the tool's name.
pub const IS_NAME: u32 = 2;
/// It is so for several tools in a row; the number of the first that is not one of them follows.
pub const RANGE: u32 = 4;
/// How far the tool's number is shifted to make room for the marks.
pub const SHIFT: u32 = 3;
