package io.github.svddtune;

import io.grpc.Status;
import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Supplier;

/** Exponential delays with jitter, from 0.1 s to 5 s, so that many clients do not return at once. */
final class Backoff {
  private int attempt;

  /** Returns the next delay, at least the one {@code asked} for by the service. */
  Duration next(Duration asked) {
    double ceiling = Math.min(5000, 100 * Math.pow(2, attempt));
    attempt = Math.min(attempt + 1, 16);
    var delay = Duration.ofMillis((long) ThreadLocalRandom.current().nextDouble(ceiling / 2, ceiling));
    return delay.compareTo(asked) > 0 ? delay : asked;
  }

  /** Makes a call that may be repeated until it succeeds, fails for good, or patience is over. */
  static <T> T retry(Duration patience, Supplier<T> call) {
    long end = System.nanoTime() + patience.toNanos();
    for (var backoff = new Backoff(); ; ) {
      try {
        return call.get();
      } catch (RuntimeException failed) {
        var error = SvddtuneException.of(failed);
        Duration delay = backoff.next(error.retryAfter());
        if (!error.isTransient() || System.nanoTime() + delay.toNanos() > end) {
          throw error;
        }
        sleep(delay);
      }
    }
  }

  static void sleep(Duration delay) {
    try {
      Thread.sleep(delay.toMillis());
    } catch (InterruptedException stop) {
      throw interrupted();
    }
  }

  static SvddtuneException interrupted() {
    Thread.currentThread().interrupt();
    return new SvddtuneException(Status.Code.CANCELLED, "INTERRUPTED", "the thread was interrupted");
  }
}
