package io.github.svddtune;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.Any;
import com.google.rpc.BadRequest;
import com.google.rpc.ErrorInfo;
import com.google.rpc.RetryInfo;
import io.grpc.Status;
import io.grpc.protobuf.StatusProto;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;

class SvddtuneExceptionTest {
  @Test
  void detailsOfAFailedCallAreRead() {
    var info = ErrorInfo.newBuilder().setReason("INVALID_FIELD").putMetadata("field", "config.k");
    var retry = RetryInfo.newBuilder();
    retry.getRetryDelayBuilder().setSeconds(2);
    var fields = BadRequest.newBuilder();
    fields.addFieldViolationsBuilder().setField("config.k").setDescription("must be positive");
    var status =
        com.google.rpc.Status.newBuilder()
            .setCode(Status.Code.INVALID_ARGUMENT.value())
            .setMessage("k is 0")
            .addDetails(Any.pack(info.build()))
            .addDetails(Any.pack(retry.build()))
            .addDetails(Any.pack(fields.build()));
    var error = SvddtuneException.of(StatusProto.toStatusRuntimeException(status.build()));
    assertEquals("k is 0 [INVALID_FIELD]", error.toString());
    assertEquals(Status.Code.INVALID_ARGUMENT, error.code());
    assertEquals(Map.of("field", "config.k"), error.metadata());
    assertEquals(fields.getFieldViolationsList(), error.violations());
    assertEquals(Duration.ofSeconds(2), error.retryAfter());
    assertFalse(error.isTransient());
  }

  @Test
  void failureOfTheTransportIsTransientAndABugOfTheServiceIsNot() {
    var reset = Status.UNKNOWN.withDescription("connection reset").asRuntimeException();
    assertTrue(SvddtuneException.of(reset).isTransient());
    var info = ErrorInfo.newBuilder().setReason("INTERNAL").build();
    var bug = com.google.rpc.Status.newBuilder().setCode(13).addDetails(Any.pack(info)).build();
    assertFalse(SvddtuneException.of(bug).isTransient());
  }

  @Test
  void delaysGrowToALimitAndAreNeverShorterThanAsked() {
    var backoff = new Backoff();
    for (long ceiling : new long[] {100, 200, 400, 800, 1600, 3200, 5000, 5000}) {
      long delay = backoff.next(Duration.ZERO).toMillis();
      assertTrue(ceiling / 2 <= delay && delay <= ceiling, delay + " of " + ceiling);
    }
    assertEquals(Duration.ofSeconds(9), backoff.next(Duration.ofSeconds(9)));
  }
}
