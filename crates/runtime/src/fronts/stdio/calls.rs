//! Calls that are carried out here. rmcp would take another task and several messages between tasks for
//! each, which is most of what the server does for a short command.

use std::collections::HashMap;
use std::sync::Arc;

use rmcp::ErrorData;
use rmcp::model::{CallToolRequestParams, ProgressToken, RequestId};
use serde::Serialize;
use tokio::sync::mpsc::Sender;
use tokio::task::{AbortHandle, JoinSet};

use super::flow::{Flow, Number};
use super::writer::Line;
use super::written;
use crate::call::answer::Answer;
use crate::service::Offer;
use crate::service::progress::Told;

/// The calls that are under way.
#[derive(Default)]
pub(super) struct Calls {
    tasks: JoinSet<Number>,
    running: HashMap<Number, AbortHandle>,
}

impl Calls {
    /// Begins a call, which has a token if its progress is to be told. Its answer goes to the queue.
    pub(super) fn begin(
        &mut self,
        number: Number,
        (params, token): (CallToolRequestParams, Option<ProgressToken>),
        offer: Arc<Offer>,
        flow: Arc<Flow>,
        queue: Sender<Line>,
    ) {
        self.forget_finished();
        let task = self.tasks.spawn(async move {
            let tell = |message| -> Told<'_> {
                Box::pin(async {
                    let message = message;
                    let _ = queue.send(written::told(&message).into()).await;
                })
            };
            let answer = offer.answer_told(params, token, &tell).await;
            // Nothing if the client does not want it any more.
            if let Some(id) = flow.answer(number) {
                let line = Line {
                    bytes: message(&id, &answer),
                    tools: None,
                    answers: Some(number),
                };
                // Without a writer there is no client.
                let _ = queue.send(line).await;
            }
            number
        });
        self.running.insert(number, task);
    }

    /// Ends a call, and its command with it. Returns whether it was here.
    pub(super) fn cancel(&mut self, number: Number) -> bool {
        let task = self.running.remove(&number);
        task.inspect(AbortHandle::abort).is_some()
    }

    /// Ends all.
    pub(super) async fn end(&mut self) {
        self.tasks.shutdown().await;
    }

    fn forget_finished(&mut self) {
        while let Some(finished) = self.tasks.try_join_next() {
            if let Ok(number) = finished {
                self.running.remove(&number);
            }
        }
    }
}

/// An answer as a message, as rmcp would write it.
fn message(id: &RequestId, answer: &Result<Answer, ErrorData>) -> Vec<u8> {
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct Outcome<'a> {
        content: [Content<'a>; 1],
        is_error: bool,
    }
    #[derive(Serialize)]
    struct Content<'a> {
        r#type: &'static str,
        text: &'a str,
    }
    match answer {
        Ok(Answer { text, is_error }) => {
            let content = [Content {
                r#type: "text",
                text,
            }];
            let is_error = *is_error;
            written::answer(id, &Outcome { content, is_error })
        }
        Err(error) => written::refusal(id, error),
    }
}
