package io.github.svddtune;

import io.github.svddtune.v1.Ack;
import io.github.svddtune.v1.Answer;
import io.github.svddtune.v1.Assign;
import io.github.svddtune.v1.ConverseRequest;
import io.github.svddtune.v1.ConverseResponse;
import io.github.svddtune.v1.FinishReason;
import io.github.svddtune.v1.LabelerKind;
import io.github.svddtune.v1.OracleServiceGrpc;
import io.github.svddtune.v1.Release;
import io.github.svddtune.v1.Skip;
import io.github.svddtune.v1.SkipMode;
import io.github.svddtune.v1.Verdict;
import io.grpc.Channel;
import io.grpc.Status;
import io.grpc.stub.ClientCallStreamObserver;
import io.grpc.stub.ClientResponseObserver;
import java.time.Duration;
import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * A dialogue that asks for verdicts and reconnects by itself. It may be used from several threads.
 *
 * <p>Iterate over it for the queries; the loop ends when the sessions ask no further ones. What has
 * no Ack when the connection breaks is sent again on the next stream, with the same id, so that it
 * has one effect.
 */
public final class Labeler implements Iterable<Assign>, AutoCloseable {
  /** Longest wait for a Welcome, the first one with all attempts. */
  private static final Duration WELCOME = Duration.ofSeconds(20);

  /** Longest wait for the end of a stream after Drain or Bye. */
  private static final Duration LAST_WORDS = Duration.ofSeconds(5);

  private static final Duration DRAINED_AT_ONCE = Duration.ofMillis(500);

  private final OracleServiceGrpc.OracleServiceStub oracle;
  private final Book book; // also the lock of all that follows
  private final ScheduledExecutorService timer;
  private Backoff backoff = new Backoff();
  private SvddtuneException error;
  private Stream stream; // null between two streams
  private boolean resting; // nothing is asked and nothing waits: the next item opens a stream
  private Duration patience = WELCOME;
  private long lostAt = System.nanoTime();

  /**
   * How a labeler takes part.
   *
   * @param labeler the name: 1 to 64 letters, digits and characters of "._@-"
   * @param kind whether the labeler is a person or a program
   * @param sessions sessions to serve; none means any session, including those created later
   * @param credit number of queries to hold at once
   * @param resumeToken of an earlier dialogue of this labeler, whose queries are assigned again
   * @param patience how long to try for another stream after one was lost
   */
  public record Options(
      String labeler,
      LabelerKind kind,
      List<String> sessions,
      int credit,
      String resumeToken,
      Duration patience) {
    /** A program that serves one session, one query at a time. */
    public static Options of(String labeler, String session) {
      return new Options(
          labeler,
          LabelerKind.LABELER_KIND_AUTOMATED,
          List.of(session),
          1,
          "",
          Duration.ofMinutes(10));
    }
  }

  /** Opens a dialogue. */
  public Labeler(Channel channel, Options options) {
    oracle = OracleServiceGrpc.newStub(channel);
    book = new Book(options);
    var executor =
        new ScheduledThreadPoolExecutor(
            1,
            work -> {
              var thread = new Thread(work, "svddtune-labeler");
              thread.setDaemon(true);
              return thread;
            });
    executor.setRemoveOnCancelPolicy(true);
    timer = executor;
    open();
  }

  /**
   * Answers a query and waits until the answer is stored.
   *
   * @throws SvddtuneException why the answer was refused, or why the dialogue has ended
   */
  public Ack answer(Assign query, Verdict verdict) {
    var answer =
        Answer.newBuilder()
            .setSession(query.getSession())
            .setQuery(query.getQuery())
            .setLeaseId(query.getLeaseId())
            .setVerdict(verdict);
    return await(send(ConverseRequest.newBuilder().setAnswer(answer)));
  }

  /** Declines a query. */
  public Ack skip(Assign query, SkipMode mode) {
    var skip =
        Skip.newBuilder()
            .setSession(query.getSession())
            .setQuery(query.getQuery())
            .setLeaseId(query.getLeaseId())
            .setMode(mode);
    return await(send(ConverseRequest.newBuilder().setSkip(skip)));
  }

  /** Gives a query back to the front of the queue. */
  public Ack release(Assign query) {
    var release =
        Release.newBuilder().setSession(query.getSession()).addLeaseIds(query.getLeaseId());
    return await(send(ConverseRequest.newBuilder().setRelease(release)));
  }

  /**
   * Sends anything else: an answer with a confidence or to no query, a correction, a retraction,
   * another credit. An answer without an id gets one.
   */
  public CompletableFuture<Ack> send(ConverseRequest.Builder item) {
    synchronized (book) {
      CompletableFuture<Ack> done = book.submit(item);
      if (resting) {
        open();
      }
      return done;
    }
  }

  /** Whether a query is still this labeler's. The answer to a lost one may not count. */
  public boolean isHeld(Assign query) {
    synchronized (book) {
      return book.isHeld(query);
    }
  }

  /** Why a session asks no further queries; empty while it may ask some. */
  public Optional<FinishReason> finishReason(String session) {
    synchronized (book) {
      return Optional.ofNullable(book.finishReason(session));
    }
  }

  /** Where a later dialogue of this labeler can continue: see {@link Options#resumeToken}. */
  public String resumeToken() {
    synchronized (book) {
      return book.resumeToken;
    }
  }

  /** Returns the queries as they come; its methods wait, and throw what has ended the dialogue. */
  @Override
  public Iterator<Assign> iterator() {
    return new Iterator<>() {
      private Assign next;

      @Override
      public boolean hasNext() {
        synchronized (book) {
          while (next == null && (next = book.take()) == null) {
            if (error != null) {
              throw error;
            }
            if (book.closed || book.isFinished()) {
              return false;
            }
            waitFor(Duration.ZERO);
          }
          return true;
        }
      }

      @Override
      public Assign next() {
        if (!hasNext()) {
          throw new NoSuchElementException();
        }
        Assign query = next;
        next = null;
        return query;
      }
    };
  }

  /** Gives all leases back and ends the dialogue. */
  @Override
  public void close() {
    synchronized (book) {
      boolean said = book.bye();
      if (stream != null) {
        stream.halfClose();
        long end = System.nanoTime() + LAST_WORDS.toNanos();
        for (long left = end; said && stream != null && left > 0; left = end - System.nanoTime()) {
          waitFor(LAST_WORDS);
        }
      }
      if (stream != null) {
        stream.requests.cancel("closed", null);
        stream = null;
      }
      end(Book.closed());
    }
  }

  private void open() {
    synchronized (book) {
      resting = book.isIdle();
      if (!resting && !book.closed) {
        stream = new Stream();
        oracle.converse(stream);
        book.hello(stream.requests::onNext);
        stream.tickAfter(WELCOME);
      }
    }
  }

  private void end(SvddtuneException last) {
    book.fail(last);
    timer.shutdownNow();
    book.notifyAll();
  }

  /** Waits for a change; zero stands for any time. */
  private void waitFor(Duration longest) {
    try {
      book.wait(longest.toMillis());
    } catch (InterruptedException stop) {
      throw Backoff.interrupted();
    }
  }

  private static Ack await(CompletableFuture<Ack> done) {
    try {
      return done.get();
    } catch (ExecutionException refused) {
      throw SvddtuneException.of(refused.getCause());
    } catch (InterruptedException stop) {
      throw Backoff.interrupted();
    }
  }

  /** One stream; what an ended one still says is ignored. */
  private final class Stream implements ClientResponseObserver<ConverseRequest, ConverseResponse> {
    private final long openedAt = System.nanoTime();
    private ClientCallStreamObserver<ConverseRequest> requests;
    private ScheduledFuture<?> tick;

    @Override
    public void beforeStart(ClientCallStreamObserver<ConverseRequest> requests) {
      this.requests = requests;
    }

    @Override
    public void onNext(ConverseResponse response) {
      synchronized (book) {
        if (stream != this) {
          return;
        }
        boolean welcomed = book.welcomed;
        boolean draining = book.draining;
        book.receive(response);
        if (book.draining && !draining) {
          halfClose(); // what is under way may still get its Ack
          tickAfter(LAST_WORDS);
        } else if (book.welcomed && !welcomed) {
          tickAfter(book.heartbeat);
        }
        book.notifyAll();
      }
    }

    @Override
    public void onError(Throwable failed) {
      ended(SvddtuneException.of(failed));
    }

    @Override
    public void onCompleted() {
      ended(null);
    }

    private void halfClose() {
      if (book.outbox != null) {
        book.outbox = null;
        requests.onCompleted();
      }
    }

    private void tickAfter(Duration delay) {
      if (tick != null) {
        tick.cancel(false);
      }
      tick = timer.schedule(this::tick, delay.toMillis(), TimeUnit.MILLISECONDS);
    }

    private void tick() {
      synchronized (book) {
        if (stream != this) {
          return;
        }
        if (book.welcomed && !book.draining) {
          book.extend();
          tickAfter(book.heartbeat);
          return;
        }
        String text = "the service sent no Welcome";
        var late = new SvddtuneException(Status.Code.UNAVAILABLE, "", text);
        ended(book.draining ? null : late);
        requests.cancel("late", null);
      }
    }

    private void ended(SvddtuneException last) {
      synchronized (book) {
        if (stream != this) {
          return;
        }
        stream = null;
        boolean served = book.welcomed;
        if (served) {
          backoff = new Backoff();
          lostAt = System.nanoTime();
          patience = book.options.patience();
        }
        book.outbox = null;
        book.welcomed = false;
        book.notifyAll();
        if (book.closed) {
          return;
        }
        boolean late = System.nanoTime() - lostAt > patience.toNanos();
        // The token has expired since the stream began; the next one asks for another.
        boolean again = last != null && (last.isTransient() || served && last.isExpiry());
        if (last != null && (!again || late)) {
          error = last;
          end(last);
          return;
        }
        // A server that drains at once is treated like one that is away.
        boolean young = System.nanoTime() - openedAt < DRAINED_AT_ONCE.toNanos();
        Duration asked = last == null ? Duration.ZERO : last.retryAfter();
        Duration delay = book.draining && !young ? Duration.ZERO : backoff.next(asked);
        timer.schedule(Labeler.this::open, delay.toMillis(), TimeUnit.MILLISECONDS);
      }
    }
  }
}
