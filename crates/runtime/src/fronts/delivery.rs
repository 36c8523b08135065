//! Wraps any rmcp transport so that the permit of a long answer is held until its response has been sent.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use rmcp::RoleServer;
use rmcp::model::{
    ClientJsonRpcMessage, ClientNotification, JsonRpcMessage, RequestId, ServerJsonRpcMessage,
};
use rmcp::transport::Transport;

use super::mcp::Deliveries;
use crate::lock::lock;
use crate::service::AnswerPermit;

/// A transport that releases the permit of a request when its response has been sent.
pub(crate) struct TrackedTransport<T> {
    transport: T,
    pending: Arc<PendingRequests>,
}

/// The requests without a response. Those with a long answer have a permit.
#[derive(Default)]
struct PendingRequests(Mutex<HashMap<RequestId, Option<AnswerPermit>>>);

impl<T> TrackedTransport<T> {
    pub(crate) fn new(transport: T) -> Self {
        Self {
            transport,
            pending: Arc::default(),
        }
    }

    /// Holds permits until responses have been sent.
    pub(crate) fn deliveries(&self) -> Arc<dyn Deliveries> {
        self.pending.clone()
    }
}

impl PendingRequests {
    fn finish(&self, request: &RequestId) {
        lock(&self.0).remove(request);
    }
}

impl Deliveries for PendingRequests {
    fn hold(&self, request: &RequestId, permit: AnswerPermit) {
        // If the request was cancelled meanwhile, the permit is released here.
        if let Some(pending) = lock(&self.0).get_mut(request) {
            *pending = Some(permit);
        }
    }
}

impl<T: Transport<RoleServer>> Transport<RoleServer> for TrackedTransport<T> {
    type Error = T::Error;

    fn send(
        &mut self,
        message: ServerJsonRpcMessage,
    ) -> impl Future<Output = Result<(), T::Error>> + Send + 'static {
        let request = match &message {
            JsonRpcMessage::Response(response) => Some(response.id.clone()),
            JsonRpcMessage::Error(error) => error.id.clone(),
            _ => None,
        };
        let pending = self.pending.clone();
        let send = self.transport.send(message);
        async move {
            let result = send.await;
            if let Some(request) = request {
                pending.finish(&request);
            }
            result
        }
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        let message = self.transport.receive().await?;
        match &message {
            JsonRpcMessage::Request(request) => {
                lock(&self.pending.0).insert(request.id.clone(), None);
            }
            JsonRpcMessage::Notification(notification) => {
                if let ClientNotification::CancelledNotification(cancelled) =
                    &notification.notification
                    && let Some(request) = &cancelled.params.request_id
                {
                    self.pending.finish(request);
                }
            }
            _ => {}
        }
        Some(message)
    }

    async fn close(&mut self) -> Result<(), T::Error> {
        self.transport.close().await
    }
}
