import io.github.svddtune.Labeler;
import io.github.svddtune.SvddtuneClient;
import io.github.svddtune.SvddtuneException;
import io.github.svddtune.Table;
import io.github.svddtune.v1.Assign;
import io.github.svddtune.v1.CreateSessionRequest;
import io.github.svddtune.v1.RowScore;
import io.github.svddtune.v1.SessionConfig;
import io.github.svddtune.v1.Verdict;
import java.io.IOException;
import java.nio.file.Path;

/**
 * Uploads a CSV file, answers 20 queries by a rule, and scores three rows.
 *
 * <p>Run it with: java -cp 'target/classes:target/lib/*' examples/Quickstart.java HOST:PORT ROWS.csv
 * SEED
 */
public class Quickstart {
  public static void main(String[] arguments) throws IOException {
    try (var client = SvddtuneClient.plaintext(arguments[0])) {
      Table table = Table.readCsv(Path.of(arguments[1]), "id");
      var dataset = client.upload(table, "hosts");
      var config =
          SessionConfig.newBuilder().setBudget(20).setSeed(Long.parseUnsignedLong(arguments[2]));
      var request =
          CreateSessionRequest.newBuilder().setDataset(dataset.getName()).setConfig(config);
      String session = client.createSession(request.build()).getName();

      int latency = table.featureNames().indexOf("latency_ms");
      int errors = table.featureNames().indexOf("errors");
      try (var labeler = client.labeler(Labeler.Options.of("quickstart", session))) {
        int answered = 0;
        for (Assign query : labeler) {
          boolean outlier = query.getFeatures(latency) > 300 || query.getFeatures(errors) > 5;
          labeler.answer(query, outlier ? Verdict.VERDICT_OUTLIER : Verdict.VERDICT_INLIER);
          System.err.println("answered " + ++answered);
        }
      }

      client.waitUntilCompleted(session);
      var result = client.result(session);
      var scores =
          client.score(session, table.featureNames(), table.rows().subList(0, 3)).stream()
              .map(RowScore::getDistance)
              .toList();
      System.out.printf(
          "{\"gamma\": %s, \"c\": %s, \"scores\": %s}%n",
          result.getGamma(), result.getC(), scores);
    } catch (SvddtuneException failed) {
      System.err.println(failed);
      System.exit(1);
    }
  }
}
