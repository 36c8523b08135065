//! Emits the fields of a tool's struct: their declaration, how they are read from a call, and how they are written
//! to the command line.

use climax_core::scalar::{Number, Scalar};
use proc_macro2::{Ident, Literal, TokenStream};
use quote::quote;

use super::identifier;
use crate::model::{
    ArgumentModel, ArgumentPlacement, ArgumentType, ArgvSection, ToolModel, ValueForm,
};
use crate::names::IdentifierScope;

/// A field of a tool's struct.
pub(super) struct StructField<'m> {
    argument: &'m ArgumentModel,
    name: Ident,
    /// The names of the generated enum and of its variants, if the argument is a single value with choices.
    choice: Option<(Ident, Vec<Ident>)>,
}

impl<'m> StructField<'m> {
    pub(super) fn new(
        tool: &ToolModel,
        argument: &'m ArgumentModel,
        field_scope: &mut IdentifierScope,
        type_scope: &mut IdentifierScope,
    ) -> Self {
        let choices = argument.choices.as_ref();
        let choices = choices.filter(|_| argument.form == ValueForm::Single);
        let choice = choices.map(|choices| {
            let mut variant_scope = IdentifierScope::default();
            (
                identifier(&type_scope.type_name(&format!("{} {}", tool.name, argument.name))),
                choices
                    .iter()
                    .map(|choice| identifier(&variant_scope.type_name(&choice.to_string())))
                    .collect(),
            )
        });
        Self {
            argument,
            name: identifier(&field_scope.value_name(&argument.name)),
            choice,
        }
    }

    /// Whether the field may be absent. A list or a map is empty then.
    fn is_optional(&self) -> bool {
        !self.argument.required
            && self.argument.default.is_empty()
            && self.argument.form == ValueForm::Single
    }

    /// Whether the field has free text.
    fn is_text(&self) -> bool {
        self.argument.choices.is_none() && self.argument.argument_type == ArgumentType::String
    }

    /// Whether the field borrows from the call.
    pub(super) fn borrows(&self) -> bool {
        self.argument.form != ValueForm::Single || self.is_text()
    }

    pub(super) fn declaration(&self) -> TokenStream {
        let name = &self.name;
        let value = match (&self.choice, self.argument.argument_type) {
            (Some((choice, _)), _) => quote!(#choice),
            (None, ArgumentType::String) => quote!(&'a str),
            (None, ArgumentType::Integer) => quote!(i64),
            (None, ArgumentType::Number) => quote!(Number),
            (None, ArgumentType::Boolean) => quote!(bool),
        };
        match self.argument.form {
            ValueForm::Single if self.is_optional() => quote!(#name: Option<#value>),
            ValueForm::Single => quote!(#name: #value),
            ValueForm::List { .. } => quote!(#name: &'a [#value]),
            ValueForm::Map { .. } => quote!(#name: &'a [&'a str]),
        }
    }

    /// The field with its value in the struct expression of the generated `read`.
    pub(super) fn initializer(&self) -> TokenStream {
        let name = &self.name;
        let argument_name = &self.argument.name;
        let required = self.argument.required;
        match &self.argument.form {
            ValueForm::Single => {}
            ValueForm::List { .. } => return self.list_initializer(),
            ValueForm::Map { key_value } if required => {
                return quote!(#name: reader.required_map(#argument_name, #key_value));
            }
            ValueForm::Map { key_value } => {
                return quote!(#name: reader.map(#argument_name, #key_value));
            }
        }
        let choice_type = self.choice_type();
        match (&self.choice, self.argument.default.first()) {
            (None, _) if required => quote!(#name: reader.required(#argument_name)),
            (None, None) => quote!(#name: reader.optional(#argument_name)),
            (None, Some(default)) => {
                let default = scalar_expression(default);
                quote!(#name: reader.or(#argument_name, #default))
            }
            (Some((choice, _)), _) if required => {
                quote!(#name: #choice::at(reader.required_choice(#argument_name, #choice_type, #choice::VALUES)))
            }
            (Some((choice, _)), None) => quote! {
                #name: match reader.optional_choice(#argument_name, #choice_type, #choice::VALUES) {
                    Some(index) => Some(#choice::at(index)),
                    None => None,
                }
            },
            (Some((choice, variants)), Some(default)) => {
                let choices = self.argument.choices.iter().flatten();
                let default = choices
                    .zip(variants)
                    .find(|(value, _)| value.is_same(default))
                    .map(|(_, variant)| variant)
                    .expect("the check stage refuses defaults that are not in the enum");
                quote! {
                    #name: #choice::at(reader.choice_or(
                        #argument_name, #choice_type, #choice::VALUES, #choice::#default as usize,
                    ))
                }
            }
        }
    }

    fn list_initializer(&self) -> TokenStream {
        let name = &self.name;
        let argument_name = &self.argument.name;
        let choices = match &self.argument.choices {
            None => quote!(None),
            Some(choices) => {
                let choices: Vec<String> = choices.iter().map(Scalar::to_string).collect();
                let choices = choices.join("\n");
                quote!(Some(#choices))
            }
        };
        let defaults: Vec<TokenStream> = self
            .argument
            .default
            .iter()
            .map(scalar_expression)
            .collect();
        if self.argument.required {
            quote!(#name: reader.required_list(#argument_name, #choices))
        } else if defaults.is_empty() {
            quote!(#name: reader.list(#argument_name, #choices))
        } else {
            quote!(#name: reader.list_or(#argument_name, #choices, &[#(#defaults),*]))
        }
    }

    /// The statement of the generated `write` that adds the value to the command.
    pub(super) fn write_statement(&self) -> TokenStream {
        let argument_name = &self.argument.name;
        let value = self.value();
        // Values that are made of others need a variable, because making them borrows `argv`.
        let made = match (&self.argument.form, &self.argument.file_suffix) {
            (
                ValueForm::List {
                    separator: Some(separator),
                },
                _,
            ) => Some(quote!(argv.joined(#argument_name, #separator, #value))),
            (_, Some(suffix)) => Some(quote!(argv.file(#argument_name, #suffix, #value))),
            _ => None,
        };
        match made {
            None => self.placement_statement(&value),
            Some(made) => {
                let statement = self.placement_statement(&quote!(value));
                quote!({ let value = #made; #statement })
            }
        }
    }

    fn placement_statement(&self, value: &TokenStream) -> TokenStream {
        let argument_name = &self.argument.name;
        // The path of a file never looks like an option.
        let is_free = self.is_text() && self.argument.file_suffix.is_none();
        match &self.argument.placement {
            ArgumentPlacement::Positional
                if self.argument.section == ArgvSection::AfterSeparator =>
            {
                quote!(argv.separated_word(#value);)
            }
            // `positional` refuses values that look like options. Only free text needs it.
            ArgumentPlacement::Positional if is_free => {
                quote!(argv.positional(#argument_name, #value);)
            }
            ArgumentPlacement::Positional => quote!(argv.word(#value);),
            ArgumentPlacement::Flag(flag) => quote!(argv.flag(#flag, #value);),
            ArgumentPlacement::JoinedFlag(flag) => quote!(argv.inline(#flag, #value);),
            ArgumentPlacement::Switch(flag) => quote!(argv.switch(#flag, #value);),
            ArgumentPlacement::SwitchPair { if_true, if_false } => {
                quote!(argv.switch_pair(#if_true, #if_false, #value);)
            }
            ArgumentPlacement::Directory => quote!(argv.directory(#value);),
            ArgumentPlacement::Stdin => quote!(argv.stdin(#value);),
        }
    }

    /// The value of the field as the methods of `Argv` take it.
    fn value(&self) -> TokenStream {
        let name = &self.name;
        let is_argv_word = !matches!(
            self.argument.placement,
            ArgumentPlacement::Directory | ArgumentPlacement::Stdin
        );
        let choice_type = self.choice_type();
        let choice_value = |choice, value| {
            if is_argv_word {
                quote!(choice(#choice_type, #choice::VALUES, #value as usize))
            } else {
                quote!(choice_text(#choice::VALUES, #value as usize))
            }
        };
        match (&self.choice, self.is_optional()) {
            (None, _) => quote!(self.#name),
            (Some((choice, _)), false) => choice_value(choice, quote!(self.#name)),
            (Some((choice, _)), true) => {
                let value = choice_value(choice, quote!(value));
                quote! {
                    match self.#name {
                        Some(value) => Some(#value),
                        None => None,
                    }
                }
            }
        }
    }

    pub(super) fn enum_definition(&self) -> Option<TokenStream> {
        let (name, variants) = self.choice.as_ref()?;
        let values: Vec<String> = self
            .argument
            .choices
            .iter()
            .flatten()
            .map(Scalar::to_string)
            .collect();
        let values = values.join("\n");
        let numbers = (0..variants.len()).map(Literal::usize_unsuffixed);
        // Only valid indices reach `at`, so its last arm serves as the wildcard.
        let last = variants.last();
        let numbered = numbers.zip(variants).take(variants.len() - 1);
        let arms = numbered.map(|(number, variant)| quote!(#number => Self::#variant));
        Some(quote! {
            enum #name { #(#variants,)* }

            impl #name {
                const VALUES: &'static str = #values;

                fn at(index: usize) -> Self {
                    match index {
                        #(#arms,)*
                        _ => Self::#last,
                    }
                }
            }
        })
    }

    /// The type of the values of the enum.
    fn choice_type(&self) -> TokenStream {
        match self.argument.argument_type {
            ArgumentType::String | ArgumentType::Boolean => quote!(ChoiceType::Text),
            ArgumentType::Integer => quote!(ChoiceType::Integer),
            ArgumentType::Number => quote!(ChoiceType::Number),
        }
    }
}

fn scalar_expression(value: &Scalar<'_>) -> TokenStream {
    match value {
        Scalar::Text(text) => quote!(#text),
        Scalar::Integer(integer) => {
            let integer = Literal::i64_unsuffixed(*integer);
            quote!(#integer)
        }
        Scalar::Number(Number::Integer(integer)) => {
            let integer = Literal::i64_unsuffixed(*integer);
            quote!(Number::Integer(#integer))
        }
        Scalar::Number(Number::Float(float)) => {
            let float = Literal::f64_unsuffixed(*float);
            quote!(Number::Float(#float))
        }
        Scalar::Boolean(boolean) => quote!(#boolean),
    }
}
