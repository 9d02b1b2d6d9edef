import com.google.gson.Gson;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import io.github.svddtune.Access;
import io.github.svddtune.Labeler;
import io.github.svddtune.SvddtuneClient;
import io.github.svddtune.SvddtuneException;
import io.github.svddtune.Table;
import io.github.svddtune.v1.Ack;
import io.github.svddtune.v1.Assign;
import io.github.svddtune.v1.FinishReason;
import io.github.svddtune.v1.LabelerKind;
import io.github.svddtune.v1.SkipMode;
import io.github.svddtune.v1.Verdict;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

/**
 * The client's program for the conformance suite, whose README says what it does: label ADDRESS
 * SESSION LABELER CREDIT, or vectors FILE.
 */
public class Conformance {
  private static final Gson GSON = new Gson();

  public static void main(String[] arguments) throws Exception {
    if (arguments.length == 5 && arguments[0].equals("label")) {
      label(arguments[1], arguments[2], arguments[3], Integer.parseInt(arguments[4]));
    } else if (arguments.length == 2 && arguments[0].equals("vectors")) {
      vectors(Path.of(arguments[1]));
    } else {
      System.err.println("usage: label ADDRESS SESSION LABELER CREDIT | vectors FILE");
      System.exit(2);
    }
  }

  private static void label(String address, String session, String name, int credit)
      throws InterruptedException {
    var kind = LabelerKind.LABELER_KIND_AUTOMATED;
    var options =
        new Labeler.Options(name, kind, List.of(session), credit, "", Duration.ofMinutes(1));
    var deciding = Executors.newCachedThreadPool();
    try (var client = connect(address);
        var labeler = client.labeler(options)) {
      for (Assign query : labeler) {
        deciding.execute(() -> decide(labeler, query));
      }
      deciding.shutdown();
      deciding.awaitTermination(1, TimeUnit.MINUTES);
      FinishReason reason = labeler.finishReason(session).orElseThrow();
      tell(Map.of("event", "finished", "reason", reason.name()));
    } catch (SvddtuneException failed) {
      deciding.shutdownNow();
      tell(Map.of("event", "error", "code", failed.code().name(), "reason", failed.reason()));
    }
  }

  /** Connects with what the environment has. */
  private static SvddtuneClient connect(String address) {
    var environment = System.getenv();
    String ca = environment.get("SVDDTUNE_TLS_CA");
    String certificate = environment.get("SVDDTUNE_CLIENT_CERT");
    String token = environment.get("SVDDTUNE_TOKEN_FILE");
    SvddtuneClient client;
    if (ca == null) {
      client = SvddtuneClient.plaintext(address);
    } else if (certificate == null) {
      client = SvddtuneClient.connect(address, Access.tls(Path.of(ca)));
    } else {
      Path key = Path.of(environment.get("SVDDTUNE_CLIENT_KEY"));
      client = SvddtuneClient.connect(address, Access.tls(Path.of(ca), Path.of(certificate), key));
    }
    return token == null ? client : client.token(Access.tokenFile(Path.of(token)));
  }

  /** The rule of the suite. */
  private static void decide(Labeler labeler, Assign query) {
    double score = query.getFeatures(0);
    try {
      if (query.getFeaturesCount() > 1) {
        Thread.sleep((long) (1000 * query.getFeatures(1)));
      }
      if (!labeler.isHeld(query)) {
        return;
      }
      if (score < -1) {
        labeler.release(query);
        return;
      }
      Ack ack;
      if (score < 0) {
        ack = labeler.skip(query, SkipMode.SKIP_MODE_OTHERS);
      } else {
        boolean outlier = score > 0.5;
        ack = labeler.answer(query, outlier ? Verdict.VERDICT_OUTLIER : Verdict.VERDICT_INLIER);
      }
      boolean applied = ack.getDisposition() == Ack.Disposition.DISPOSITION_APPLIED;
      tell(Map.of("event", "acked", "query", query.getQuery(), "applied", applied));
    } catch (SvddtuneException refused) {
      tell(Map.of("event", "rejected", "query", query.getQuery(), "reason", refused.reason()));
    } catch (InterruptedException stop) {
      Thread.currentThread().interrupt(); // the dialogue has ended
    }
  }

  private static void vectors(Path file) throws IOException {
    var vectors = JsonParser.parseString(Files.readString(file)).getAsJsonObject();
    for (var each : vectors.getAsJsonArray("vectors")) {
      JsonObject vector = each.getAsJsonObject();
      String name = vector.get("name").getAsString();
      switch (vector.get("kind").getAsString()) {
        case "matrix" -> {
          var rows = new ArrayList<double[]>();
          vector.getAsJsonArray("rows").forEach(row -> rows.add(GSON.fromJson(row, double[].class)));
          byte[] values = Table.matrix(rows).getValues().toByteArray();
          tell(Map.of("name", name, "matrix", Base64.getEncoder().encodeToString(values)));
        }
        case "status" -> {
          byte[] details = Base64.getDecoder().decode(vector.get("details_bin").getAsString());
          tell(shown(name, SvddtuneException.of(com.google.rpc.Status.parseFrom(details))));
        }
        default -> {} // a kind that this client does not know
      }
    }
  }

  /** Returns what an error holds. */
  private static Map<String, Object> shown(String name, SvddtuneException error) {
    var shown = new LinkedHashMap<String, Object>();
    shown.put("name", name);
    shown.put("code", error.code().name());
    shown.put("reason", error.reason());
    shown.put("message", error.getMessage());
    if (!error.metadata().isEmpty()) {
      shown.put("metadata", error.metadata());
    }
    if (!error.violations().isEmpty()) {
      shown.put("violations", error.violations().stream().map(one -> one.getField()).toList());
    }
    if (!error.retryAfter().isZero()) {
      shown.put("retry_after_seconds", error.retryAfter().toMillis() / 1000.0);
    }
    return shown;
  }

  private static synchronized void tell(Map<String, ?> values) {
    System.out.println(GSON.toJson(values));
  }
}
