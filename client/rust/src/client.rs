use std::time::Duration;

use tonic::Code;
use tonic::service::interceptor::InterceptedService;
use tonic::transport::{Channel, Endpoint};

use crate::v1::dataset_service_client::DatasetServiceClient;
use crate::v1::scoring_service_client::ScoringServiceClient;
use crate::v1::tuning_service_client::TuningServiceClient;
use crate::v1::{
    CreateSessionRequest, Dataset, GetResultRequest, GetSessionRequest, RowScore, ScoreRequest,
    Session, SessionState, TuningResult, WatchSessionRequest,
};
use crate::{Access, Backoff, Error, Labeler, Options, Queries, Result, Table, matrix, retry};

/// A channel whose calls tell the service who calls.
pub type Connection = InterceptedService<Channel, Access>;

/// How long a call is tried while the service is away, unless the caller says otherwise.
const PATIENCE: Duration = Duration::from_secs(30);

/// Datasets, sessions and results of a service. Clones share the connection.
#[derive(Clone, Debug)]
pub struct Client {
    channel: Connection,
    patience: Duration,
}

impl Client {
    /// A client of the service at `address`, as `host:port` or as a URL. It connects with the first
    /// call. `https://` needs the feature `tls`.
    ///
    /// # Errors
    /// `INVALID_ADDRESS`
    pub fn new(address: &str) -> Result<Self> {
        Client::with(address, Access::default())
    }

    /// A client that encrypts the connection and tells the service who calls, as `access` says.
    ///
    /// # Errors
    /// `INVALID_ADDRESS`; `INVALID_CERTIFICATE`, a key is not that of its certificate or nothing in
    /// PEM format; `TOKEN_NOT_ENCRYPTED`, others could read the token.
    pub fn with(address: &str, access: Access) -> Result<Self> {
        let scheme = if access.encrypts() { "https" } else { "http" };
        let url =
            if address.contains("://") { address.into() } else { format!("{scheme}://{address}") };
        let invalid = |error| {
            let text = format!("{address:?} is no address such as 127.0.0.1:50051: {error}");
            Error::new(Code::InvalidArgument, "INVALID_ADDRESS", text)
        };
        let endpoint = Endpoint::from_shared(url.clone()).map_err(invalid)?;
        access.check(&url, endpoint.uri().host())?;
        let endpoint = endpoint
            .connect_timeout(Duration::from_secs(10))
            .http2_keep_alive_interval(Duration::from_secs(30))
            .keep_alive_while_idle(true);
        #[cfg(feature = "tls")]
        let endpoint = match &access.tls {
            None => endpoint,
            Some(tls) => endpoint.tls_config(tls.clone()).map_err(|error| {
                let why = std::error::Error::source(&error).map(ToString::to_string);
                let text = format!("the certificates do not serve: {}", why.unwrap_or_default());
                Error::new(Code::InvalidArgument, "INVALID_CERTIFICATE", text)
            })?,
        };
        let channel = Connection::new(endpoint.connect_lazy(), access);
        Ok(Client { channel, patience: PATIENCE })
    }

    /// A client on a channel that the caller has set up.
    pub fn on(channel: Channel) -> Self {
        Client { channel: Connection::new(channel, Access::default()), patience: PATIENCE }
    }

    /// Changes how long a call is tried while the service is away; 30 s at first.
    pub fn patience(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    /// The channel, for the generated stubs in [`crate::v1`].
    pub fn channel(&self) -> Connection {
        self.channel.clone()
    }

    /// Stores a table. The same table twice is one dataset.
    pub async fn upload(&self, table: &Table, display_name: &str) -> Result<Dataset> {
        let messages = table.messages(display_name);
        let reply = retry(self.patience, || {
            let (mut datasets, messages) = (self.datasets(), tokio_stream::iter(messages.clone()));
            async move { datasets.upload_dataset(messages).await }
        });
        present(reply.await?.dataset)
    }

    /// Starts a session. The request gets an id if it has none, so that it starts only one.
    pub async fn create_session(&self, mut request: CreateSessionRequest) -> Result<Session> {
        if request.request_id.is_empty() {
            request.request_id = uuid();
        }
        let reply = retry(self.patience, || {
            let (mut tuning, request) = (self.tuning(), request.clone());
            async move { tuning.create_session(request).await }
        });
        present(reply.await?.session)
    }

    /// Reads a session.
    pub async fn session(&self, name: &str) -> Result<Session> {
        let reply = retry(self.patience, || {
            let (mut tuning, name) = (self.tuning(), name.to_owned());
            async move { tuning.get_session(GetSessionRequest { name, ..Default::default() }).await }
        });
        present(reply.await?.session)
    }

    /// Waits until a session has its result.
    ///
    /// # Errors
    /// The session's own failure, or `SESSION_CANCELLED`.
    pub async fn wait_until_completed(&self, name: &str) -> Result<Session> {
        let (mut backoff, mut resume_token) = (Backoff::default(), String::new());
        loop {
            let request = WatchSessionRequest {
                name: name.into(),
                resume_token: resume_token.clone(),
                ..Default::default()
            };
            let mut served = false;
            let error = match self.tuning().watch_session(request).await {
                Err(status) => status.into(),
                Ok(response) => {
                    let mut changes = response.into_inner();
                    loop {
                        match changes.message().await {
                            Ok(Some(change)) => {
                                served = true;
                                (backoff, resume_token) = (Backoff::default(), change.resume_token);
                                if let Some(end) = change.session.and_then(ended) {
                                    return end;
                                }
                            }
                            Ok(None) => break Error::new(Code::Unavailable, "", "the watch ended"),
                            Err(status) => break status.into(),
                        }
                    }
                }
            };
            if !error.is_transient() && !(served && error.is_expiry()) {
                return Err(error);
            }
            tokio::time::sleep(backoff.next(error.retry_after)).await;
        }
    }

    /// Reads the latest result of a session.
    pub async fn result(&self, session: &str) -> Result<TuningResult> {
        let reply = retry(self.patience, || {
            let (mut tuning, name) = (self.tuning(), format!("{session}/results/-"));
            async move { tuning.get_result(GetResultRequest { name, ..Default::default() }).await }
        });
        present(reply.await?.result)
    }

    /// Judges up to 10,000 rows by the latest result of a session. `feature_names` has the columns of
    /// `rows` in their order; none stands for the order of the dataset.
    pub async fn score(
        &self,
        session: &str,
        feature_names: &[String],
        rows: &[Vec<f64>],
    ) -> Result<Vec<RowScore>> {
        let request = ScoreRequest {
            model: format!("{session}/results/-"),
            feature_names: feature_names.to_vec(),
            matrix: Some(matrix(rows)),
            ..Default::default()
        };
        let reply = retry(self.patience, || {
            let (mut scoring, request) = (self.scoring(), request.clone());
            async move { scoring.score(request).await }
        });
        Ok(reply.await?.scores)
    }

    /// Opens a dialogue: see [`Labeler::open`].
    pub fn labeler(&self, options: Options) -> (Labeler, Queries) {
        Labeler::open(self.channel(), options)
    }

    fn datasets(&self) -> DatasetServiceClient<Connection> {
        DatasetServiceClient::new(self.channel())
    }

    fn scoring(&self) -> ScoringServiceClient<Connection> {
        ScoringServiceClient::new(self.channel())
    }

    fn tuning(&self) -> TuningServiceClient<Connection> {
        // Results have curves, so they may be large.
        TuningServiceClient::new(self.channel()).max_decoding_message_size(64 << 20)
    }
}

/// Returns what the end of a session means, None while it goes on.
fn ended(session: Session) -> Option<Result<Session>> {
    let (reason, message) = match (session.state(), &session.failure) {
        (SessionState::Completed, _) => return Some(Ok(session)),
        (SessionState::Failed, Some(failure)) => (failure.reason.clone(), failure.message.clone()),
        (SessionState::Failed, None) => ("SESSION_FAILED".into(), "the session failed".into()),
        (SessionState::Cancelled, _) => {
            ("SESSION_CANCELLED".into(), "the session was cancelled".into())
        }
        _ => return None,
    };
    let text = format!("{} ended without a result: {message}", session.name);
    Some(Err(Error::new(Code::FailedPrecondition, &reason, text)))
}

fn present<T>(part: Option<T>) -> Result<T> {
    part.ok_or_else(|| Error::new(Code::Internal, "EMPTY_REPLY", "the reply lacks its content"))
}

/// A random UUID of version 4.
fn uuid() -> String {
    let bits = fastrand::u128(..) & !(0xf << 76) & !(0x3 << 62) | (0x4 << 76) | (0x2 << 62);
    let hex = format!("{bits:032x}");
    format!("{}-{}-{}-{}-{}", &hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..])
}
