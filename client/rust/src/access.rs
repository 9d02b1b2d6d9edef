use std::fmt;
use std::net::IpAddr;
use std::path::PathBuf;
use std::sync::Arc;

use tonic::service::Interceptor;
use tonic::{Code, Request, Status};
use tonic_types::{ErrorDetails, StatusExt};

use crate::{Error, Result};

type Source = dyn Fn() -> std::io::Result<String> + Send + Sync;

/// How a client connects: whom it trusts, and what tells the service who calls.
#[derive(Clone, Default)]
pub struct Access {
    token: Option<Arc<Source>>,
    #[cfg(feature = "tls")]
    pub(crate) tls: Option<tonic::transport::ClientTlsConfig>,
}

impl Access {
    /// Sends this token with each call.
    pub fn token(self, token: impl Into<String>) -> Self {
        let token = token.into();
        self.token_from(move || Ok(token.clone()))
    }

    /// Sends what the file holds at each call, so that a token that expires can be replaced in it.
    pub fn token_file(self, path: impl Into<PathBuf>) -> Self {
        let path = path.into();
        self.token_from(move || std::fs::read_to_string(&path))
    }

    /// Sends what the function returns at each call. If it fails, so does the call, with
    /// `TOKEN_UNAVAILABLE`, which is transient.
    pub fn token_from(
        mut self,
        token: impl Fn() -> std::io::Result<String> + Send + Sync + 'static,
    ) -> Self {
        self.token = Some(Arc::new(token));
        self
    }

    /// Trusts these certificates, in PEM format, and encrypts the connection.
    #[cfg(feature = "tls")]
    pub fn trust(mut self, ca_pem: impl AsRef<[u8]>) -> Self {
        let ca = tonic::transport::Certificate::from_pem(ca_pem);
        self.tls = Some(self.tls.unwrap_or_default().ca_certificate(ca));
        self
    }

    /// Shows a certificate, in PEM format with its key, and encrypts the connection.
    #[cfg(feature = "tls")]
    pub fn certificate(mut self, cert_pem: impl AsRef<[u8]>, key_pem: impl AsRef<[u8]>) -> Self {
        let identity = tonic::transport::Identity::from_pem(cert_pem, key_pem);
        self.tls = Some(self.tls.unwrap_or_default().identity(identity));
        self
    }

    #[cfg(feature = "tls")]
    pub(crate) fn encrypts(&self) -> bool {
        self.tls.is_some()
    }

    #[cfg(not(feature = "tls"))]
    pub(crate) fn encrypts(&self) -> bool {
        false
    }

    /// Fails if others could read the token on its way to `url`.
    pub(crate) fn check(&self, url: &str, host: Option<&str>) -> Result<()> {
        if self.token.is_none() || url.starts_with("https://") || host.is_some_and(is_local) {
            return Ok(());
        }
        let text = format!("a token is not sent to {url} without TLS");
        Err(Error::new(Code::InvalidArgument, "TOKEN_NOT_ENCRYPTED", text))
    }
}

impl Interceptor for Access {
    fn call(&mut self, mut request: Request<()>) -> std::result::Result<Request<()>, Status> {
        if let Some(token) = &self.token {
            let text = token().map_err(|error| absent(&error))?;
            let header =
                format!("Bearer {}", text.trim()).parse().map_err(|error| absent(&error))?;
            request.metadata_mut().insert("authorization", header);
        }
        Ok(request)
    }
}

impl fmt::Debug for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Access").finish_non_exhaustive() // a token is a secret
    }
}

fn absent(error: &dyn std::error::Error) -> Status {
    let details = ErrorDetails::with_error_info("TOKEN_UNAVAILABLE", "svddtune.github.io", []);
    Status::with_error_details(Code::Unavailable, format!("there is no token: {error}"), details)
}

/// Whether what is sent to a host stays on this machine.
fn is_local(host: &str) -> bool {
    let host = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost" || host.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Client;

    #[tokio::test]
    async fn token_is_sent_in_the_clear_on_this_machine_only() {
        let access = Access::default().token("abc");
        for address in ["127.0.0.1:1", "localhost:1", "[::1]:1"] {
            Client::with(address, access.clone()).unwrap();
        }
        for address in ["10.0.0.1:1", "tune.example.org:1", "localhost.example.org:1"] {
            let error = Client::with(address, access.clone()).unwrap_err();
            assert_eq!(error.reason, "TOKEN_NOT_ENCRYPTED");
        }
        Client::new("tune.example.org:1").unwrap();
    }

    #[test]
    fn token_that_cannot_be_had_is_a_transient_error() {
        let mut access = Access::default().token_file("/absent");
        let error: Error = access.call(Request::new(())).unwrap_err().into();
        assert_eq!(error.reason, "TOKEN_UNAVAILABLE");
        assert!(error.is_transient());
        let request = Access::default().token("abc\n").call(Request::new(())).unwrap();
        assert_eq!(request.metadata().get("authorization").unwrap(), "Bearer abc");
    }
}
