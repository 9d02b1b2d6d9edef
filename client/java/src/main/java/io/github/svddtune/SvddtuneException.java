package io.github.svddtune;

import com.google.protobuf.Any;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.rpc.BadRequest;
import com.google.rpc.ErrorInfo;
import com.google.rpc.RetryInfo;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.protobuf.StatusProto;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Why a call, or one item of a dialogue, failed. */
public final class SvddtuneException extends RuntimeException {
  private final Status.Code code;
  private String reason;
  private Map<String, String> metadata = Map.of();
  private final List<BadRequest.FieldViolation> violations = new ArrayList<>();
  private Duration retryAfter = Duration.ZERO;

  SvddtuneException(Status.Code code, String reason, String message) {
    super(message);
    this.code = code;
    this.reason = reason;
  }

  private SvddtuneException(com.google.rpc.Status status, Throwable cause) {
    super(status.getMessage(), cause);
    code = Status.fromCodeValue(status.getCode()).getCode();
    reason = "";
    try {
      for (Any detail : status.getDetailsList()) {
        if (detail.is(ErrorInfo.class)) {
          ErrorInfo info = detail.unpack(ErrorInfo.class);
          reason = info.getReason();
          metadata = Map.copyOf(info.getMetadataMap());
        } else if (detail.is(RetryInfo.class)) {
          var delay = detail.unpack(RetryInfo.class).getRetryDelay();
          retryAfter = Duration.ofSeconds(delay.getSeconds(), delay.getNanos());
        } else if (detail.is(BadRequest.class)) {
          violations.addAll(detail.unpack(BadRequest.class).getFieldViolationsList());
        }
      }
    } catch (InvalidProtocolBufferException damaged) {
      addSuppressed(damaged); // the code and the message still say what happened
    }
  }

  /** Returns the exception for a failed call. */
  public static SvddtuneException of(Throwable error) {
    if (error instanceof SvddtuneException known) {
      return known;
    }
    com.google.rpc.Status status = StatusProto.fromThrowable(error);
    Throwable cause = error.getCause(); // of a refusal by this client's own credentials
    if (status != null && status.getDetailsCount() == 0 && cause instanceof StatusRuntimeException) {
      status = StatusProto.fromThrowable(cause);
    }
    if (status == null) {
      status = StatusProto.fromStatusAndTrailers(Status.fromThrowable(error), null);
    }
    return new SvddtuneException(status, error);
  }

  /** Returns the exception for the status of one item. */
  public static SvddtuneException of(com.google.rpc.Status status) {
    return new SvddtuneException(status, null);
  }

  /** The status code of gRPC. */
  public Status.Code code() {
    return code;
  }

  /** Stable, UPPER_SNAKE_CASE, e.g. {@code SESSION_NOT_FOUND}; empty if the transport failed. */
  public String reason() {
    return reason;
  }

  /** The values that the message mentions. */
  public Map<String, String> metadata() {
    return metadata;
  }

  /** Each invalid field and what is wrong with it. */
  public List<BadRequest.FieldViolation> violations() {
    return List.copyOf(violations);
  }

  /** How long to wait before another attempt; zero unless the service says so. */
  public Duration retryAfter() {
    return retryAfter;
  }

  /** Whether the same call may succeed later: the service or the connection was away. */
  public boolean isTransient() {
    return switch (code) {
      case UNAVAILABLE -> true;
      // With a reason they come from the service, without one from the transport or a proxy.
      case CANCELLED, DEADLINE_EXCEEDED, INTERNAL, UNKNOWN -> reason.isEmpty();
      default -> false;
    };
  }

  /** Whether a stream that was served may go on with another token. */
  boolean isExpiry() {
    return code == Status.Code.UNAUTHENTICATED;
  }

  @Override
  public String toString() {
    return reason.isEmpty() ? code + ": " + getMessage() : getMessage() + " [" + reason + "]";
  }
}
