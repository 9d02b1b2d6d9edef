package io.github.svddtune;

import com.google.protobuf.ByteString;
import io.github.svddtune.v1.DatasetChunk;
import io.github.svddtune.v1.DatasetHeader;
import io.github.svddtune.v1.Matrix;
import io.github.svddtune.v1.UploadDatasetRequest;
import io.grpc.Status;
import java.io.IOException;
import java.io.Reader;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.apache.commons.csv.CSVFormat;
import org.apache.commons.csv.CSVRecord;

/**
 * Rows of numbers with names of their columns, and perhaps ids.
 *
 * @param featureNames name of each column
 * @param ids id of each row; empty if the rows have none
 * @param rows one array per row, with a value for each column
 */
public record Table(List<String> featureNames, List<String> ids, List<double[]> rows) {
  private static final int CHUNK_BYTES = 512 * 1024;
  private static final CSVFormat CSV =
      CSVFormat.RFC4180.builder().setHeader().setSkipHeaderRecord(true).setTrim(true).get();

  /**
   * Reads a CSV file with a header.
   *
   * @param idColumn the column with the ids of the rows; null if there is none
   * @throws SvddtuneException INVALID_CSV: a value is no finite number, a line has too few or too
   *     many values, or there is no such column
   */
  public static Table readCsv(Path file, String idColumn) throws IOException {
    try (Reader reader = Files.newBufferedReader(file)) {
      return parseCsv(reader, idColumn);
    }
  }

  /** Reads CSV with a header, as {@link #readCsv} does. */
  public static Table parseCsv(Reader reader, String idColumn) throws IOException {
    var table = new Table(new ArrayList<>(), new ArrayList<>(), new ArrayList<>());
    try (var parser = CSV.parse(reader)) {
      List<String> columns = parser.getHeaderNames();
      if (idColumn != null && !columns.contains(idColumn)) {
        throw invalid("there is no column \"" + idColumn + "\", only " + columns);
      }
      columns.stream().filter(name -> !name.equals(idColumn)).forEach(table.featureNames::add);
      for (CSVRecord line : parser) {
        if (!line.isConsistent()) {
          throw invalid(
              "line %d has %d values instead of %d"
                  .formatted(parser.getCurrentLineNumber(), line.size(), columns.size()));
        }
        if (idColumn != null) {
          table.ids.add(line.get(idColumn));
        }
        var row = new double[table.featureNames.size()];
        for (int i = 0; i < row.length; i++) {
          String name = table.featureNames.get(i);
          row[i] = number(line.get(name), parser.getCurrentLineNumber(), name);
        }
        table.rows.add(row);
      }
    } catch (UncheckedIOException | IllegalArgumentException damaged) {
      throw invalid(damaged.getMessage());
    }
    return table;
  }

  /** Returns the messages that upload the table, each below 1 MiB. */
  List<UploadDatasetRequest> messages(String displayName) {
    int columns = featureNames.size();
    var header =
        DatasetHeader.newBuilder()
            .setDisplayName(displayName)
            .setObservationCount(rows.size())
            .setFeatureCount(columns)
            .addAllFeatureNames(featureNames);
    var messages = new ArrayList<UploadDatasetRequest>();
    messages.add(UploadDatasetRequest.newBuilder().setHeader(header).build());
    int longestId = 4 * ids.stream().mapToInt(String::length).max().orElse(0); // bytes of UTF-8
    int step = Math.max(1, CHUNK_BYTES / (8 * columns + longestId + 4));
    for (int start = 0; start < rows.size(); start += step) {
      List<double[]> part = rows.subList(start, Math.min(start + step, rows.size()));
      var chunk =
          DatasetChunk.newBuilder()
              .setRows(matrix(part))
              .addAllObservationIds(ids.isEmpty() ? ids : ids.subList(start, start + part.size()));
      messages.add(UploadDatasetRequest.newBuilder().setChunk(chunk).build());
    }
    return messages;
  }

  /** Returns rows as a message of the service. */
  public static Matrix matrix(List<double[]> rows) {
    int columns = rows.isEmpty() ? 0 : rows.get(0).length;
    var bytes = ByteBuffer.allocate(8 * columns * rows.size()).order(ByteOrder.LITTLE_ENDIAN);
    var values = bytes.asDoubleBuffer();
    rows.forEach(values::put);
    return Matrix.newBuilder()
        .setRows(rows.size())
        .setColumns(columns)
        .setValues(ByteString.copyFrom(bytes))
        .build();
  }

  private static double number(String text, long line, String column) {
    try {
      double value = Double.parseDouble(text);
      if (Double.isFinite(value)) {
        return value;
      }
    } catch (NumberFormatException wrong) {
      // said below
    }
    throw invalid("line %d, column \"%s\": \"%s\" is no finite number".formatted(line, column, text));
  }

  private static SvddtuneException invalid(String message) {
    return new SvddtuneException(Status.Code.INVALID_ARGUMENT, "INVALID_CSV", message);
  }
}
