//! Turns the JSON arguments of a call into a plan: the command that the call runs.

use std::borrow::Cow;
use std::time::Duration;

use bumpalo::Bump;
use climax_catalog::facts::PlacementKind;
use climax_catalog::tables::ToolRow;
use climax_core::risk::refuses_unknown_arguments;
use climax_core::scalar::ValueShape;
use climax_policy::limit::truncate_for_message;
use climax_runner::PrivateFiles;
use serde_json::{Value, json};

use crate::call::CallRequest;
use crate::call::answer::{CallAnswer, ResultRules};
use crate::call::argument_names::{
    ArgumentName, ResolvedArguments, argument_names, meant_name, resolve_names, suggestion,
    unknown_argument, unknown_parameter,
};
use crate::call::guard::{CallContainer, ContainerTemplate, ExecutionGuard};
use crate::call::joined_list::{joined_values, several_values_line};
use crate::call::redact::Secrets;
use crate::catalog::selection::Selection;
use climax_arguments::argv::{Argv, CallFile};
use climax_arguments::expand::expand;
use climax_arguments::reader::CallRefusal;

/// How many unknown arguments are named in a refusal.
const MAX_UNKNOWN_LINES: usize = 20;

/// A call of a tool, with its argument names resolved. Its plan borrows from it.
pub(crate) struct CallInput<'a> {
    selection: &'a Selection,
    number: u32,
    tool: &'a ToolRow,
    request: &'a CallRequest,
    /// The base command with its variables expanded.
    base: Cow<'static, str>,
    working_dir: Option<Cow<'static, str>>,
    argument_names: Vec<ArgumentName<'static>>,
    arguments: ResolvedArguments<'a>,
}

/// What a call runs.
pub(crate) struct CallPlan<'a> {
    /// The program and its arguments.
    pub(crate) words: Vec<Cow<'a, str>>,
    /// `NAME=VALUE` for each variable that the config sets.
    pub(crate) env: Vec<&'a str>,
    /// Variables that the config needs, even if they look like secrets: names, or prefixes followed by `*`.
    pub(crate) needed_variables: Vec<&'a str>,
    /// The directory in which the command runs; `None` for the server's.
    pub(crate) directory: Option<&'a str>,
    /// The directory that the call's arguments set. Policies restrict it.
    pub(crate) requested_directory: Option<&'a str>,
    /// Text for standard input; `None` for an empty one.
    pub(crate) stdin: Option<&'a str>,
    /// Texts that the command reads from files.
    pub(crate) files: Vec<CallFile<'a>>,
    /// The directory of these files. It is created when the command starts.
    pub(crate) file_directory: &'a str,
    /// The container in which the command runs.
    pub(crate) container: Option<CallContainer<'a>>,
    pub(crate) timeout: Duration,
}

impl<'a> CallInput<'a> {
    /// Takes a tool with its number, and the request to call it.
    pub(crate) fn new(
        selection: &'a Selection,
        (number, tool): (u32, &'a ToolRow),
        request: &'a CallRequest,
    ) -> Self {
        let cli = selection.cli_of(tool);
        let arguments = selection.tables.arguments.rows().slice(tool.arguments);
        let argument_names = argument_names(selection, tool);
        let mut resolved = resolve_names(&request.arguments, &argument_names);
        for argument in arguments.iter() {
            resolved.parse_nested_json(selection.text(argument.name), argument.shape);
        }
        let working_dir = cli.working_dir.map(|piece| expand(selection.text(piece)));
        Self {
            selection,
            number,
            tool,
            request,
            base: expand(selection.text(cli.command)),
            working_dir: working_dir.filter(|directory| !directory.is_empty()),
            arguments: resolved,
            argument_names,
        }
    }

    /// How the result of the command is read.
    pub(crate) fn result_rules(&self) -> ResultRules {
        ResultRules {
            ok_exit_codes: self.selection.tables.ok_exit_codes_of(self.tool).collect(),
            has_json_output: self.tool.has_json_output,
        }
    }

    /// The tool's name.
    pub(crate) fn tool_name(&self) -> &'static str {
        self.selection.text(self.tool.name)
    }

    /// Whether the call has keys that are neither arguments of the tool nor parameters of `climax_call`.
    pub(crate) fn has_unknown_keys(&self) -> bool {
        !self.arguments.unknown.is_empty() || !self.request.unknown_parameters.is_empty()
    }

    /// Validates the arguments, and builds the command. The arena owns the strings that coercion creates.
    ///
    /// # Errors
    /// An answer that says why the call is refused.
    pub(crate) fn plan(
        &'a self,
        guard: &'a ExecutionGuard,
        private_files: &PrivateFiles,
        arena: &'a Bump,
    ) -> Result<CallPlan<'a>, CallAnswer> {
        if self.base.trim().is_empty() {
            let reason = "The base command is empty: check the environment variables that it uses";
            return Err(CallAnswer::not_started(reason.to_owned()));
        }
        let selection = self.selection;
        let mut argv = Argv::new(&self.base, selection.text(self.tool.command), arena);
        let file_directory = private_files.next_directory();
        argv.file_directory = arena.alloc_str(&file_directory.to_string_lossy());
        let tool = (self.number, self.tool);
        let arguments = &self.arguments.arguments;
        let argv = selection.command_line(tool, arguments, argv, self.name_errors());
        let mut argv = argv.map_err(|refusal| self.refused(&refusal))?;
        let cli = selection.cli_of(self.tool);
        let env: Vec<&str> = selection.tables.list(cli.env).collect();
        let mut directory = argv.directory.or(self.working_dir.as_deref());
        let container = guard
            .container
            .as_ref()
            .map(ContainerTemplate::next_container);
        if let Some(container) = &container {
            let files = (!argv.files.is_empty()).then_some(argv.file_directory);
            let prefix =
                container.command_prefix(argv.stdin.is_some(), &env, argv.directory, files);
            argv.words.splice(0..0, prefix);
            directory = None;
        }
        Ok(CallPlan {
            words: argv.words,
            env,
            needed_variables: selection.tables.list(cli.pass_env).collect(),
            directory,
            requested_directory: argv.directory,
            stdin: argv.stdin,
            files: argv.files,
            file_directory: argv.file_directory,
            container,
            timeout: Duration::from_millis(self.tool.timeout_ms),
        })
    }

    /// The answer for a refused call, which is logged.
    pub(crate) fn refused(&self, refusal: &CallRefusal) -> CallAnswer {
        let answer = CallAnswer::refusal(refusal);
        let reason = self.secrets().redact(&answer.text).replace('\n', " ");
        tracing::warn!(tool = self.tool_name(), "refused: {reason}");
        answer
    }

    /// The secrets among the arguments, which are not logged.
    pub(crate) fn secrets(&self) -> Secrets {
        Secrets::of(&self.arguments.arguments)
    }

    /// The tool.
    pub(crate) fn tool(&self) -> &ToolRow {
        self.tool
    }

    /// The names of the tool's arguments.
    pub(crate) fn argument_names(&self) -> &[ArgumentName<'static>] {
        &self.argument_names
    }

    /// The value of an argument, as the call has it.
    pub(crate) fn argument(&self, name: &str) -> Option<&Value> {
        self.arguments.arguments.get(name)
    }

    /// The arguments of the call under the names that the tool defines.
    pub(crate) fn arguments(&self) -> impl Iterator<Item = (&str, &Value)> {
        let arguments = self.arguments.arguments.iter();
        arguments.map(|(name, value)| (name.as_str(), value))
    }

    /// The keys of the call that are no arguments of the tool, with their values.
    pub(crate) fn unknown_arguments_given(&self) -> Vec<(&str, &Value)> {
        let parameters = self.request.unknown_parameters.iter();
        let parameters = parameters.map(|(key, value)| (key.as_str(), value));
        let arguments = self.arguments.unknown.iter().copied();
        arguments.chain(parameters).collect()
    }

    /// The error lines for the keys of a call: two keys for one argument and broken JSON, then empty and unknown
    /// arguments if the tool refuses them.
    fn name_errors(&self) -> Vec<String> {
        let mut errors = self.arguments.errors.clone();
        if refuses_unknown_arguments(self.tool.risk) {
            errors.extend(self.empty_arguments());
            errors.extend(self.joined_lists());
            errors.extend(self.paths_like_options());
            errors.extend(self.unknown_arguments());
        }
        errors
    }

    /// A line for each empty list, map, item or directory. An empty list would mean the same as leaving it out, which
    /// can be everything: an agent that found no paths to delete means none.
    fn empty_arguments(&self) -> Vec<String> {
        let rows = self.selection.tables.arguments.rows();
        let rows = rows.slice(self.tool.arguments).iter();
        let lines = rows.filter_map(|row| {
            let name = self.selection.text(row.name);
            let (is_empty, has_empty_item) = match (row.shape, self.arguments.arguments.get(name)?)
            {
                (ValueShape::List, Value::Array(items)) => {
                    (items.is_empty(), items.contains(&json!("")))
                }
                (ValueShape::Map, Value::Object(entries)) => (entries.is_empty(), false),
                (ValueShape::Single, Value::String(text)) => {
                    let is_directory = row.placement == PlacementKind::Directory;
                    (text.is_empty() && is_directory, false)
                }
                _ => (false, false),
            };
            if has_empty_item {
                return Some(format!("Argument '{name}' has an empty value"));
            }
            // A missing required argument is reported as such.
            (is_empty && !row.required)
                .then(|| format!("Argument '{name}' is empty: it needs a value"))
        });
        lines.collect()
    }

    /// A line for each text for a list that holds several values. As one value, it would be another path to delete, or
    /// exclude nothing.
    pub(crate) fn joined_lists(&self) -> Vec<String> {
        let rows = self.selection.tables.arguments.rows();
        let rows = rows.slice(self.tool.arguments).iter();
        let lists = rows.filter(|row| row.shape == ValueShape::List);
        let lines = lists.filter_map(|row| {
            let name = self.selection.text(row.name);
            let text = self.arguments.arguments.get(name)?.as_str()?;
            Some(several_values_line(name, text, &joined_values(text)?))
        });
        lines.collect()
    }

    /// A line for each path after `--` that looks like an option. The program would take it for a file, so the option
    /// that the agent means would be missing.
    fn paths_like_options(&self) -> Vec<String> {
        let arguments = self.arguments.arguments.iter();
        let options = arguments.flat_map(|(name, value)| {
            let texts = match value {
                Value::Array(items) => items.as_slice(),
                value => std::slice::from_ref(value),
            };
            let texts = texts.iter().filter_map(Value::as_str);
            let options = texts.filter(|text| text.len() > 1 && text.starts_with('-'));
            options.map(|text| (name.as_str(), text))
        });
        let rows = self.selection.tables.arguments.rows();
        let rows = rows.slice(self.tool.arguments);
        let is_separated_path = |name: &str| {
            let row = rows
                .iter()
                .find(|row| self.selection.text(row.name) == name);
            row.is_some_and(|row| row.is_path && row.placement == PlacementKind::SeparatedWord)
        };
        let paths = options.filter(|(name, _)| is_separated_path(name));
        let lines = paths.map(|(name, text)| {
            let text = truncate_for_message(text);
            format!("Argument '{name}': '{text}' looks like an option; write './{text}' for a file")
        });
        lines.collect()
    }

    /// Whether the arguments are valid.
    pub(crate) fn is_valid(&self) -> bool {
        let arena = Bump::new();
        let argv = Argv::new(&self.base, self.selection.text(self.tool.command), &arena);
        let tool = (self.number, self.tool);
        let arguments = &self.arguments.arguments;
        let argv = self
            .selection
            .command_line(tool, arguments, argv, self.name_errors());
        argv.is_ok()
    }

    /// The directory in which the command runs if the call does not choose one; `None` for the server's.
    pub(crate) fn default_directory(&self) -> Option<&str> {
        self.working_dir.as_deref()
    }

    /// The request.
    pub(crate) fn request(&self) -> &CallRequest {
        self.request
    }

    /// The tool with its number.
    pub(crate) fn numbered_tool(&self) -> (u32, &ToolRow) {
        (self.number, self.tool)
    }

    /// A line for each key that is not an argument.
    pub(crate) fn unknown_arguments(&self) -> Vec<String> {
        let names = &self.argument_names;
        // What is given already is not meant by another key.
        let is_free =
            |argument: &&ArgumentName| !self.arguments.arguments.contains_key(argument.name);
        let mut free: Vec<ArgumentName> = names.iter().filter(is_free).copied().collect();
        let mut lines = Vec::new();
        for (key, value) in self.arguments.unknown.iter().take(MAX_UNKNOWN_LINES) {
            lines.push(unknown_argument(key, value, names, &free));
            let suggested = suggestion(key, value, &free);
            free.retain(|argument| Some(argument.name) != suggested);
        }
        let parameters = self.request.unknown_parameters.iter();
        for (key, value) in parameters.take(MAX_UNKNOWN_LINES - lines.len()) {
            lines.push(unknown_parameter(key, value, names, &free));
            let meant = meant_name(key, value, &free);
            free.retain(|argument| Some(argument.name) != meant);
        }
        let count = self.arguments.unknown.len() + self.request.unknown_parameters.len();
        let more = count.saturating_sub(MAX_UNKNOWN_LINES);
        lines.extend((more > 0).then(|| format!("{more} more unknown arguments")));
        lines
    }
}
