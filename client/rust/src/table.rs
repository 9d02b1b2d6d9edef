use std::fs::File;
use std::io::Read;
use std::path::Path;

use tonic::Code;

use crate::v1::{
    DatasetChunk, DatasetHeader, Matrix, UploadDatasetRequest, upload_dataset_request,
};
use crate::{Error, Result};

/// Most bytes of values and ids in one message of an upload.
const CHUNK_BYTES: usize = 512 * 1024;

/// Rows of numbers with names of their columns, and perhaps ids.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// Name of each column.
    pub feature_names: Vec<String>,
    /// Id of each row; empty if the rows have none.
    pub ids: Vec<String>,
    /// One vector per row, with a value for each column.
    pub rows: Vec<Vec<f64>>,
}

impl Table {
    /// Reads a CSV file with a header. `id_column` names the column with the ids of the rows, if any.
    pub fn read_csv(path: impl AsRef<Path>, id_column: Option<&str>) -> Result<Self> {
        let path = path.as_ref();
        let file =
            File::open(path).map_err(|error| invalid(format!("{}: {error}", path.display())))?;
        Table::parse_csv(file, id_column)
    }

    /// Reads CSV with a header.
    ///
    /// # Errors
    /// `INVALID_CSV`: a value is no number, a line has too few or too many values, or there is no
    /// column `id_column`.
    pub fn parse_csv(input: impl Read, id_column: Option<&str>) -> Result<Self> {
        let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::All).from_reader(input);
        let header = reader.headers().map_err(|error| invalid(error.to_string()))?.clone();
        let id_at = match id_column {
            Some(name) => {
                Some(header.iter().position(|column| column == name).ok_or_else(|| {
                    invalid(format!(
                        "there is no column {name:?}, only {:?}",
                        header.iter().collect::<Vec<_>>()
                    ))
                })?)
            }
            None => None,
        };
        let mut table = Table::default();
        let features = |at: &usize| Some(*at) != id_at;
        table.feature_names =
            (0..header.len()).filter(features).map(|at| header[at].to_owned()).collect();
        for record in reader.records() {
            let record = record.map_err(|error| invalid(error.to_string()))?;
            let line = record.position().map_or(0, csv::Position::line);
            let value = |at: usize| {
                record[at].parse::<f64>().ok().filter(|number| number.is_finite()).ok_or_else(
                    || {
                        let (column, text) = (&header[at], &record[at]);
                        invalid(format!(
                            "line {line}, column {column:?}: {text:?} is no finite number"
                        ))
                    },
                )
            };
            let row = (0..header.len()).filter(features).map(value).collect::<Result<_>>()?;
            table.rows.push(row);
            table.ids.extend(id_at.map(|at| record[at].to_owned()));
        }
        Ok(table)
    }

    /// Returns the messages that upload the table, each below 1 MiB.
    pub(crate) fn messages(&self, display_name: &str) -> Vec<UploadDatasetRequest> {
        let columns = self.feature_names.len();
        let header = DatasetHeader {
            display_name: display_name.into(),
            observation_count: self.rows.len() as u32,
            feature_count: columns as u32,
            feature_names: self.feature_names.clone(),
            ..Default::default()
        };
        let longest_id = self.ids.iter().map(String::len).max().unwrap_or(0);
        let step = (CHUNK_BYTES / (8 * columns + longest_id + 4)).max(1);
        let chunks = (0..self.rows.len()).step_by(step).map(|start| {
            let end = (start + step).min(self.rows.len());
            upload_dataset_request::Part::Chunk(DatasetChunk {
                rows: Some(matrix(&self.rows[start..end])),
                observation_ids: self.ids.get(start..end).unwrap_or_default().to_vec(),
                ..Default::default()
            })
        });
        std::iter::once(upload_dataset_request::Part::Header(header))
            .chain(chunks)
            .map(|part| UploadDatasetRequest { part: Some(part), ..Default::default() })
            .collect()
    }
}

/// Returns rows as a message of the service.
pub fn matrix(rows: &[Vec<f64>]) -> Matrix {
    Matrix {
        rows: rows.len() as u32,
        columns: rows.first().map_or(0, Vec::len) as u32,
        values: rows.iter().flatten().flat_map(|value| value.to_le_bytes()).collect(),
        ..Default::default()
    }
}

fn invalid(message: String) -> Error {
    Error::new(Code::InvalidArgument, "INVALID_CSV", message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn csv_with_ids_is_read() {
        let text = "id,a,b\nx,1,2.5\n\"y, z\",-3e2,0\n";
        let table = Table::parse_csv(text.as_bytes(), Some("id")).unwrap();
        assert_eq!(table.feature_names, ["a", "b"]);
        assert_eq!(table.ids, ["x", "y, z"]);
        assert_eq!(table.rows, [[1.0, 2.5], [-300.0, 0.0]]);
    }

    #[test]
    fn value_that_is_no_number_is_named_with_its_place() {
        for text in ["a,b\n1,2\n3,four\n", "a,b\n1,2\n3,NaN\n"] {
            let error = Table::parse_csv(text.as_bytes(), None).unwrap_err();
            assert_eq!(error.reason, "INVALID_CSV");
            assert!(error.message.contains("line 3, column \"b\""), "{error}");
        }
    }

    #[test]
    fn large_table_is_sent_in_messages_below_the_limit() {
        let rows = vec![vec![1.0, 2.0]; 200_000];
        let table = Table { feature_names: vec!["a".into(), "b".into()], ids: vec![], rows };
        let messages = table.messages("large");
        let size = |message: &UploadDatasetRequest| prost::Message::encoded_len(message);
        assert!(messages.len() > 2 && messages.iter().all(|message| size(message) < 1 << 20));
        let sent = messages.iter().filter_map(|message| match &message.part {
            Some(upload_dataset_request::Part::Chunk(chunk)) => chunk.rows.as_ref(),
            _ => None,
        });
        assert_eq!(sent.map(|matrix| matrix.rows).sum::<u32>(), 200_000);
    }
}
