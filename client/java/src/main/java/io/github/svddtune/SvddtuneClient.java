package io.github.svddtune;

import io.github.svddtune.v1.CreateSessionRequest;
import io.github.svddtune.v1.Dataset;
import io.github.svddtune.v1.DatasetServiceGrpc;
import io.github.svddtune.v1.GetResultRequest;
import io.github.svddtune.v1.GetSessionRequest;
import io.github.svddtune.v1.RowScore;
import io.github.svddtune.v1.ScoreRequest;
import io.github.svddtune.v1.ScoringServiceGrpc;
import io.github.svddtune.v1.Session;
import io.github.svddtune.v1.TuningResult;
import io.github.svddtune.v1.TuningServiceGrpc;
import io.github.svddtune.v1.UploadDatasetRequest;
import io.github.svddtune.v1.UploadDatasetResponse;
import io.github.svddtune.v1.WatchSessionRequest;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ChannelCredentials;
import io.grpc.ClientCall;
import io.grpc.ClientInterceptor;
import io.grpc.ClientInterceptors;
import io.grpc.Grpc;
import io.grpc.InsecureChannelCredentials;
import io.grpc.ManagedChannel;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import io.grpc.stub.StreamObserver;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/** Datasets, sessions and results of a service. It may be used from several threads. */
public final class SvddtuneClient implements AutoCloseable {
  private static final int MAX_REPLY_BYTES = 64 << 20; // results have curves, so they may be large
  private static final Duration ATTEMPT = Duration.ofSeconds(30);

  private final ManagedChannel transport;
  private Channel channel; // the transport, with a token if there is one
  private Duration patience = Duration.ofSeconds(30);

  /** Uses a channel that the caller has set up; {@link #close} shuts it down. */
  public SvddtuneClient(ManagedChannel channel) {
    transport = channel;
    this.channel = channel;
  }

  /** Returns a client of the service at {@code host:port}, without encryption. */
  public static SvddtuneClient plaintext(String address) {
    return connect(address, InsecureChannelCredentials.create());
  }

  /** Returns a client of the service at {@code host:port}, e.g. with {@link Access#tls}. */
  public static SvddtuneClient connect(String address, ChannelCredentials credentials) {
    return new SvddtuneClient(
        Grpc.newChannelBuilder(address, credentials)
            .keepAliveTime(30, TimeUnit.SECONDS)
            .maxInboundMessageSize(MAX_REPLY_BYTES)
            .build());
  }

  /**
   * Sends a token with each call, which tells the service who calls. It is asked for before each
   * call; {@link Access#tokenFile} reads it from a file. Without TLS it is sent to a loopback address
   * only: calls to others end with TOKEN_NOT_ENCRYPTED.
   */
  public SvddtuneClient token(Supplier<String> token) {
    var bearer = new Access.Bearer(token);
    channel =
        ClientInterceptors.intercept(
            transport,
            new ClientInterceptor() {
              @Override
              public <Q, R> ClientCall<Q, R> interceptCall(
                  MethodDescriptor<Q, R> method, CallOptions options, Channel next) {
                return next.newCall(method, options.withCallCredentials(bearer));
              }
            });
    return this;
  }

  /** Changes how long a call is tried while the service is away; 30 s at first. */
  public SvddtuneClient patience(Duration patience) {
    this.patience = patience;
    return this;
  }

  /** The channel, for the generated stubs in {@code io.github.svddtune.v1}. */
  public Channel channel() {
    return channel;
  }

  /** Stores a table. The same table twice is one dataset. */
  public Dataset upload(Table table, String displayName) {
    List<UploadDatasetRequest> messages = table.messages(displayName);
    return Backoff.retry(patience, () -> uploadOnce(messages)).getDataset();
  }

  /** Starts a session. The request gets an id if it has none, so that it starts only one. */
  public Session createSession(CreateSessionRequest request) {
    CreateSessionRequest identified =
        request.getRequestId().isEmpty()
            ? request.toBuilder().setRequestId(UUID.randomUUID().toString()).build()
            : request;
    return Backoff.retry(patience, () -> tuning().createSession(identified)).getSession();
  }

  /** Reads a session. */
  public Session session(String name) {
    var request = GetSessionRequest.newBuilder().setName(name).build();
    return Backoff.retry(patience, () -> tuning().getSession(request)).getSession();
  }

  /**
   * Waits until a session has its result.
   *
   * @throws SvddtuneException the session's own failure, or SESSION_CANCELLED
   */
  public Session waitUntilCompleted(String name) {
    var request = WatchSessionRequest.newBuilder().setName(name);
    for (var backoff = new Backoff(); ; ) {
      Duration asked = Duration.ZERO;
      boolean served = false;
      try {
        var changes = TuningServiceGrpc.newBlockingStub(channel).watchSession(request.build());
        while (changes.hasNext()) {
          var change = changes.next();
          backoff = new Backoff();
          served = true;
          request.setResumeToken(change.getResumeToken());
          if (change.hasSession() && hasEnded(change.getSession())) {
            return change.getSession();
          }
        }
      } catch (io.grpc.StatusRuntimeException failed) {
        var error = SvddtuneException.of(failed);
        if (!error.isTransient() && !(served && error.isExpiry())) {
          throw error;
        }
        asked = error.retryAfter();
      }
      Backoff.sleep(backoff.next(asked));
    }
  }

  /** Reads the latest result of a session. */
  public TuningResult result(String session) {
    var request = GetResultRequest.newBuilder().setName(session + "/results/-").build();
    return Backoff.retry(patience, () -> tuning().getResult(request)).getResult();
  }

  /**
   * Judges up to 10,000 rows by the latest result of a session.
   *
   * @param featureNames the columns of the rows in their order; none for the dataset's order
   */
  public List<RowScore> score(String session, List<String> featureNames, List<double[]> rows) {
    var request =
        ScoreRequest.newBuilder()
            .setModel(session + "/results/-")
            .addAllFeatureNames(featureNames)
            .setMatrix(Table.matrix(rows))
            .build();
    return Backoff.retry(
            patience,
            () ->
                ScoringServiceGrpc.newBlockingStub(channel)
                    .withDeadlineAfter(ATTEMPT)
                    .score(request))
        .getScoresList();
  }

  /** Opens a dialogue. Close it before the client. */
  public Labeler labeler(Labeler.Options options) {
    return new Labeler(channel, options);
  }

  @Override
  public void close() {
    transport.shutdownNow();
  }

  private TuningServiceGrpc.TuningServiceBlockingStub tuning() {
    return TuningServiceGrpc.newBlockingStub(channel).withDeadlineAfter(ATTEMPT);
  }

  private UploadDatasetResponse uploadOnce(List<UploadDatasetRequest> messages) {
    var reply = new CompletableFuture<UploadDatasetResponse>();
    StreamObserver<UploadDatasetRequest> requests =
        DatasetServiceGrpc.newStub(channel)
            .uploadDataset(
                new StreamObserver<>() {
                  @Override
                  public void onNext(UploadDatasetResponse response) {
                    reply.complete(response);
                  }

                  @Override
                  public void onError(Throwable error) {
                    reply.completeExceptionally(error);
                  }

                  @Override
                  public void onCompleted() {
                    reply.completeExceptionally(Status.INTERNAL.asRuntimeException());
                  }
                });
    messages.forEach(requests::onNext);
    requests.onCompleted();
    try {
      return reply.join();
    } catch (CompletionException failed) {
      throw SvddtuneException.of(failed.getCause());
    }
  }

  /** Whether a session has its result; an exception if it ended without one. */
  private static boolean hasEnded(Session session) {
    switch (session.getState()) {
      case SESSION_STATE_COMPLETED:
        return true;
      case SESSION_STATE_FAILED:
        throw ended(session, session.getFailure().getReason(), session.getFailure().getMessage());
      case SESSION_STATE_CANCELLED:
        throw ended(session, "SESSION_CANCELLED", "it was cancelled");
      default:
        return false;
    }
  }

  private static SvddtuneException ended(Session session, String reason, String why) {
    String text = session.getName() + " ended without a result: " + why;
    return new SvddtuneException(Status.Code.FAILED_PRECONDITION, reason, text);
  }
}
