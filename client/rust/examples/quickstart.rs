//! Uploads a CSV file, answers 20 queries by a rule, and scores three rows.
//!
//! Run it with: `cargo run --example quickstart -- HOST:PORT ROWS.csv SEED`

use std::error::Error;

use svddtune::v1::{CreateSessionRequest, SessionConfig, Verdict};
use svddtune::{Client, Options, StreamExt, Table};

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let [address, file, seed] = arguments.as_slice() else {
        return Err("usage: quickstart HOST:PORT ROWS.csv SEED".into());
    };
    let client = Client::new(address)?;
    let table = Table::read_csv(file, Some("id"))?;
    let dataset = client.upload(&table, "hosts").await?;
    let config = SessionConfig { budget: 20, seed: seed.parse()?, ..Default::default() };
    let request = CreateSessionRequest {
        dataset: dataset.name.clone(),
        config: Some(config),
        ..Default::default()
    };
    let session = client.create_session(request).await?;

    let column = |name| table.feature_names.iter().position(|column| column == name);
    let latency = column("latency_ms").ok_or("no column latency_ms")?;
    let errors = column("errors").ok_or("no column errors")?;
    let (labeler, mut queries) = client.labeler(Options::new("quickstart", &session.name));
    let mut answered = 0;
    while let Some(query) = queries.next().await {
        let query = query?;
        let outlier = query.features[latency] > 300.0 || query.features[errors] > 5.0;
        let verdict = if outlier { Verdict::Outlier } else { Verdict::Inlier };
        labeler.answer(&query, verdict).await?;
        answered += 1;
        eprintln!("answered {answered}");
    }
    labeler.close(queries).await;

    client.wait_until_completed(&session.name).await?;
    let result = client.result(&session.name).await?;
    let judged = client.score(&session.name, &table.feature_names, &table.rows[..3]).await?;
    let scores: Vec<_> = judged.iter().map(|row| row.distance).collect();
    let (gamma, c) = (result.gamma, result.c);
    println!(r#"{{"gamma": {gamma:e}, "c": {c:e}, "scores": {scores:?}}}"#);
    Ok(())
}
