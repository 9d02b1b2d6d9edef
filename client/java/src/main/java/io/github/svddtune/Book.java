package io.github.svddtune;

import io.github.svddtune.v1.Ack;
import io.github.svddtune.v1.Assign;
import io.github.svddtune.v1.Bye;
import io.github.svddtune.v1.ConverseRequest;
import io.github.svddtune.v1.ConverseResponse;
import io.github.svddtune.v1.Extend;
import io.github.svddtune.v1.FinishReason;
import io.github.svddtune.v1.Hello;
import io.grpc.Status;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.Predicate;

/**
 * The labelling dialogue from the client's side, without I/O. Whoever uses it holds its lock.
 *
 * <p>It outlives its streams: what has no Ack is sent again on the next one, with the same ids, so
 * that it has one effect.
 */
final class Book {
  /** After these reasons the query is no longer this labeler's; after others it can answer again. */
  private static final Set<String> QUERY_IS_GONE =
      Set.of(
          "LEASE_LOST",
          "UNKNOWN_QUERY",
          "ALREADY_ANSWERED",
          "SESSION_NOT_ACTIVE",
          "SESSION_NOT_FOUND",
          "LABELER_WITHDRAWN");

  private record Key(String session, int query) {}

  /** Something that was sent, or will be, and has no Ack yet. */
  private record Item(
      ConverseRequest request, Key query, String leaseId, CompletableFuture<Ack> done) {}

  final Labeler.Options options;
  String resumeToken;
  Duration heartbeat = Duration.ofSeconds(20);
  boolean welcomed;
  boolean draining;
  boolean closed;

  /** Where the messages of the present stream go; null without one. */
  Consumer<ConverseRequest> outbox;

  private final Map<Key, Assign> held = new HashMap<>();
  private final ArrayDeque<Key> unseen = new ArrayDeque<>();
  private final Map<String, Item> pending = new LinkedHashMap<>();
  private final Map<String, FinishReason> finished = new HashMap<>();

  Book(Labeler.Options options) {
    this.options = options;
    resumeToken = options.resumeToken();
  }

  /** Opens a stream, whose messages go to {@code outbox}. */
  void hello(Consumer<ConverseRequest> outbox) {
    this.outbox = outbox;
    welcomed = draining = false;
    String version = Book.class.getPackage().getImplementationVersion();
    var hello =
        Hello.newBuilder()
            .setMinProtocolVersion(1)
            .setMaxProtocolVersion(1)
            .setLabeler(options.labeler())
            .setKind(options.kind())
            .addAllSessions(options.sessions())
            .setResumeToken(resumeToken)
            .setCredit(options.credit())
            .setClientName("svddtune-java")
            .setClientVersion(Objects.requireNonNullElse(version, ""));
    send(ConverseRequest.newBuilder().setHello(hello).build());
  }

  /** Gives all leases back; returns whether there is a stream to say it on. */
  boolean bye() {
    closed = true;
    if (welcomed) {
      send(ConverseRequest.newBuilder().setBye(Bye.getDefaultInstance()).build());
    }
    return welcomed;
  }

  /** Sends an item, now and on further streams, until it has an Ack. */
  CompletableFuture<Ack> submit(ConverseRequest.Builder request) {
    if (closed) {
      return CompletableFuture.failedFuture(closed());
    }
    String id = UUID.randomUUID().toString();
    Key query = null;
    String leaseId = "";
    switch (request.getMessageCase()) {
      case ANSWER -> {
        var answer = request.getAnswerBuilder();
        if (answer.getAnswerId().isEmpty()) {
          answer.setAnswerId(id);
        }
        id = answer.getAnswerId();
        if (answer.getQuery() > 0) {
          query = new Key(answer.getSession(), answer.getQuery());
          leaseId = answer.getLeaseId();
        }
      }
      case RETRACT -> {
        var retract = request.getRetractBuilder();
        if (retract.getAnswerId().isEmpty()) {
          retract.setAnswerId(id);
        }
        id = retract.getAnswerId();
      }
      case SKIP -> {
        query = new Key(request.getSkip().getSession(), request.getSkip().getQuery());
        leaseId = request.getSkip().getLeaseId();
      }
      case RELEASE -> {
        if (request.getRelease().getLeaseIdsCount() == 1) {
          leaseId = request.getRelease().getLeaseIds(0);
          for (var each : held.entrySet()) {
            query = each.getValue().getLeaseId().equals(leaseId) ? each.getKey() : query;
          }
        }
      }
      default -> {}
    }
    var item = new Item(request.setRequestId(id).build(), query, leaseId, new CompletableFuture<>());
    if (pending.putIfAbsent(id, item) != null) {
      var text = id + " is the id of another item that has no Ack yet";
      return CompletableFuture.failedFuture(
          new SvddtuneException(Status.Code.ABORTED, "ANSWER_ID_REUSED", text));
    }
    unseen.remove(query);
    if (welcomed) {
      send(item.request);
    }
    return item.done;
  }

  /** Extends what is held, by name: the Ack tells which leases are lost. */
  void extend() {
    var extend = Extend.newBuilder();
    held.forEach(
        (key, query) -> {
          if (!isPending(key)) {
            extend.addLeaseIds(query.getLeaseId());
          }
        });
    if (extend.getLeaseIdsCount() > 0) {
      send(ConverseRequest.newBuilder().setExtend(extend).setRequestId("heartbeat").build());
    }
  }

  /** Takes in a message of the service. */
  void receive(ConverseResponse response) {
    switch (response.getMessageCase()) {
      case WELCOME -> {
        welcomed = true;
        resumeToken = response.getWelcome().getResumeToken();
        double seconds = Math.max(0.1, response.getWelcome().getHeartbeatSeconds());
        heartbeat = Duration.ofMillis((long) (1000 * seconds));
        pending.values().forEach(item -> send(item.request));
        extend();
      }
      case ASSIGN -> assign(response.getAssign());
      case ACK -> {
        var ack = response.getAck();
        lose(query -> ack.getLostLeaseIdsList().contains(query.getLeaseId()));
        settle(ack.getRequestId(), true, done -> done.complete(ack));
      }
      case REJECT -> {
        var error = SvddtuneException.of(response.getReject().getStatus());
        settle(
            response.getReject().getRequestId(),
            QUERY_IS_GONE.contains(error.reason()),
            done -> done.completeExceptionally(error));
      }
      case REVOKE -> {
        var revoke = response.getRevoke();
        lose(query -> query.getLeaseId().equals(revoke.getLeaseId()));
      }
      case DRAIN -> draining = true;
      case FINISHED -> {
        String session = response.getFinished().getSession().getName();
        lose(query -> query.getSession().equals(session));
        finished.put(session, response.getFinished().getReason());
      }
      default -> {} // Progress, or an item of a later version
    }
  }

  /** Returns the next query that the caller has not seen, null without one. */
  Assign take() {
    return unseen.isEmpty() ? null : held.get(unseen.remove());
  }

  /** Whether a query is still this labeler's. */
  boolean isHeld(Assign query) {
    Assign known = held.get(new Key(query.getSession(), query.getQuery()));
    return known != null && known.getLeaseId().equals(query.getLeaseId());
  }

  /** Why a session asks no further queries; null while it may ask some. */
  FinishReason finishReason(String session) {
    return finished.get(session);
  }

  /** Whether nothing more is asked in any of the named sessions. */
  boolean isFinished() {
    return !options.sessions().isEmpty() && finished.keySet().containsAll(options.sessions());
  }

  /** Whether a stream is of no use now. */
  boolean isIdle() {
    return isFinished() && pending.isEmpty();
  }

  /** Ends the dialogue and all that has no Ack yet. */
  void fail(SvddtuneException error) {
    closed = true;
    List<Item> left = new ArrayList<>(pending.values());
    pending.clear();
    CompletableFuture.runAsync(() -> left.forEach(item -> item.done.completeExceptionally(error)));
  }

  static SvddtuneException closed() {
    var text = "the dialogue is closed";
    return new SvddtuneException(Status.Code.FAILED_PRECONDITION, "CLIENT_CLOSED", text);
  }

  private void send(ConverseRequest request) {
    if (outbox != null) {
      outbox.accept(request);
    }
  }

  private void assign(Assign query) {
    var key = new Key(query.getSession(), query.getQuery());
    finished.remove(query.getSession());
    Assign before = held.put(key, query);
    boolean known = before != null && before.getLeaseId().equals(query.getLeaseId());
    if (!known && !isPending(key) && !unseen.contains(key)) {
      unseen.add(key);
    }
  }

  /** Takes an item out of the book; its query is gone, unless it was leased anew meanwhile. */
  private void settle(String id, boolean gone, Consumer<CompletableFuture<Ack>> settled) {
    Item item = pending.remove(id);
    if (item == null) {
      return;
    }
    Assign query = item.query == null ? null : held.get(item.query);
    if (query != null && !query.getLeaseId().equals(item.leaseId)) {
      unseen.add(item.query);
    } else if (query != null && gone) {
      held.remove(item.query);
    }
    CompletableFuture.runAsync(() -> settled.accept(item.done)); // the caller's code needs no lock
  }

  private void lose(Predicate<Assign> lost) {
    held.values().removeIf(lost);
    unseen.retainAll(held.keySet());
  }

  private boolean isPending(Key query) {
    return pending.values().stream().anyMatch(item -> query.equals(item.query));
  }
}
