//! The client's program for the conformance suite, whose README says what it does:
//! `conformance label ADDRESS SESSION LABELER CREDIT` or `conformance vectors FILE`.

use std::env;
use std::error::Error as AnyError;
use std::fs;
use std::time::Duration;

use base64::prelude::{BASE64_STANDARD, Engine};
use prost::Message;
use serde_json::{Value, json};
use svddtune::v1::ack::Disposition;
use svddtune::v1::{Assign, SkipMode, Verdict};
use svddtune::{Access, Client, Error, Labeler, Options, StreamExt, matrix};
use tokio::task::JoinSet;
use tonic::Code;

#[tokio::main]
async fn main() -> Result<(), Box<dyn AnyError>> {
    let arguments: Vec<_> = env::args().skip(1).collect();
    let arguments: Vec<_> = arguments.iter().map(String::as_str).collect();
    match arguments.as_slice() {
        ["label", address, session, labeler, credit] => {
            let mut options = Options::new(*labeler, *session);
            options.credit = credit.parse()?;
            Ok(label(Client::with(address, access()?)?, options).await)
        }
        ["vectors", file] => vectors(&fs::read_to_string(file)?),
        _ => Err("usage: conformance label ADDRESS SESSION LABELER CREDIT | vectors FILE".into()),
    }
}

/// What the environment has to connect with.
fn access() -> std::io::Result<Access> {
    let mut access = Access::default();
    if let Ok(file) = env::var("SVDDTUNE_TOKEN_FILE") {
        access = access.token_file(file);
    }
    #[cfg(feature = "tls")]
    if let Ok(file) = env::var("SVDDTUNE_TLS_CA") {
        access = access.trust(fs::read(file)?);
    }
    #[cfg(feature = "tls")]
    if let (Ok(cert), Ok(key)) = (env::var("SVDDTUNE_CLIENT_CERT"), env::var("SVDDTUNE_CLIENT_KEY"))
    {
        access = access.certificate(fs::read(cert)?, fs::read(key)?);
    }
    Ok(access)
}

async fn label(client: Client, options: Options) {
    let session = options.sessions[0].clone();
    let (labeler, mut queries) = client.labeler(options);
    let mut deciding = JoinSet::new();
    while let Some(query) = queries.next().await {
        match query {
            Ok(query) => _ = deciding.spawn(decide(labeler.clone(), query)),
            Err(error) => {
                let code = name_of(error.code);
                return tell(json!({"event": "error", "code": code, "reason": error.reason}));
            }
        }
    }
    deciding.join_all().await;
    let reason = labeler.finish_reason(&session).unwrap_or_default();
    tell(json!({"event": "finished", "reason": reason.as_str_name()}));
    labeler.close(queries).await;
}

/// The rule of the suite.
async fn decide(labeler: Labeler, query: Assign) {
    let score = query.features[0];
    let thinking = query.features.get(1).copied().unwrap_or(0.0);
    tokio::time::sleep(Duration::from_secs_f64(thinking)).await;
    if !labeler.is_held(&query) {
        return;
    }
    let settled = if score < -1.0 {
        if let Err(error) = labeler.release(&query).await {
            eprintln!("{error}");
        }
        return;
    } else if score < 0.0 {
        labeler.skip(&query, SkipMode::Others).await
    } else {
        let verdict = if score > 0.5 { Verdict::Outlier } else { Verdict::Inlier };
        labeler.answer(&query, verdict).await
    };
    let number = query.query;
    match settled {
        Ok(ack) => {
            let applied = ack.disposition() == Disposition::Applied;
            tell(json!({"event": "acked", "query": number, "applied": applied}));
        }
        Err(error) => {
            tell(json!({"event": "rejected", "query": number, "reason": error.reason}));
        }
    }
}

fn vectors(text: &str) -> Result<(), Box<dyn AnyError>> {
    let file: Value = serde_json::from_str(text)?;
    for vector in file["vectors"].as_array().ok_or("no vectors")? {
        let name = &vector["name"];
        match vector["kind"].as_str() {
            Some("matrix") => {
                let rows: Vec<Vec<f64>> = serde_json::from_value(vector["rows"].clone())?;
                let values = BASE64_STANDARD.encode(matrix(&rows).values);
                tell(json!({"name": name, "matrix": values}));
            }
            Some("status") => {
                let details = vector["details_bin"].as_str().ok_or("no details_bin")?;
                let status = tonic_types::Status::decode(&*BASE64_STANDARD.decode(details)?)?;
                tell(shown(name, &Error::from(&status)));
            }
            _ => {}
        }
    }
    Ok(())
}

/// What an error holds.
fn shown(name: &Value, error: &Error) -> Value {
    let mut shown = json!({
        "name": name,
        "code": name_of(error.code),
        "reason": error.reason,
        "message": error.message,
    });
    if !error.metadata.is_empty() {
        shown["metadata"] = json!(error.metadata);
    }
    if !error.violations.is_empty() {
        let fields = error.violations.iter().map(|(field, _)| field.as_str());
        shown["violations"] = fields.collect();
    }
    if let Some(delay) = error.retry_after {
        shown["retry_after_seconds"] = json!(delay.as_secs_f64());
    }
    shown
}

fn tell(values: Value) {
    println!("{values}");
}

/// The code's name in gRPC, e.g. `NOT_FOUND`.
fn name_of(code: Code) -> String {
    let mut name = String::new();
    for letter in format!("{code:?}").chars() {
        if letter.is_uppercase() && !name.is_empty() {
            name.push('_');
        }
        name.push(letter.to_ascii_uppercase());
    }
    name
}
