package io.github.svddtune;

import com.google.protobuf.Any;
import com.google.rpc.Code;
import com.google.rpc.ErrorInfo;
import io.grpc.CallCredentials;
import io.grpc.ChannelCredentials;
import io.grpc.Metadata;
import io.grpc.SecurityLevel;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.TlsChannelCredentials;
import io.grpc.protobuf.StatusProto;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.PublicKey;
import java.security.Signature;
import java.security.cert.CertificateFactory;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.Base64;
import java.util.concurrent.Executor;
import java.util.function.Supplier;
import java.util.regex.Pattern;

/** Whom a client trusts, and what tells the service who calls. */
public final class Access {
  private static final Pattern PKCS8 =
      Pattern.compile("-----BEGIN PRIVATE KEY-----(.*?)-----END PRIVATE KEY-----", Pattern.DOTALL);

  private Access() {}

  /** Trusts the certificates of a PEM file. */
  public static ChannelCredentials tls(Path ca) {
    return build(TlsChannelCredentials.newBuilder(), ca, null, null);
  }

  /** Trusts the certificates of a PEM file, and shows one of its own, whose key is in PKCS #8. */
  public static ChannelCredentials tls(Path ca, Path certificate, Path key) {
    return build(TlsChannelCredentials.newBuilder(), ca, certificate, key);
  }

  /** Returns what a file holds now, as a token that may be replaced in it. */
  public static Supplier<String> tokenFile(Path file) {
    return () -> {
      try {
        return Files.readString(file);
      } catch (IOException failed) {
        throw new UncheckedIOException(failed);
      }
    };
  }

  private static ChannelCredentials build(
      TlsChannelCredentials.Builder tls, Path ca, Path certificate, Path key) {
    try {
      publicKey(ca);
      tls.trustManager(ca.toFile());
      if (certificate != null) {
        if (!belongs(key, publicKey(certificate))) {
          throw invalid(key + " is not the key of the certificate " + certificate);
        }
        tls.keyManager(certificate.toFile(), key.toFile());
      }
      return tls.build();
    } catch (IOException | GeneralSecurityException | IllegalArgumentException failed) {
      throw invalid("a certificate or key cannot be read: " + failed);
    }
  }

  /** Returns the key of the first certificate of a PEM file. */
  private static PublicKey publicKey(Path file) throws IOException, GeneralSecurityException {
    try (var pem = Files.newInputStream(file)) {
      return CertificateFactory.getInstance("X.509").generateCertificate(pem).getPublicKey();
    }
  }

  /** Whether a private key belongs to a public one: the transport does not look. */
  private static boolean belongs(Path file, PublicKey shown)
      throws IOException, GeneralSecurityException {
    var pem = PKCS8.matcher(Files.readString(file));
    if (!pem.find()) {
      throw invalid(file + " holds no key in PKCS #8: see openssl pkcs8 -topk8 -nocrypt");
    }
    var key = new PKCS8EncodedKeySpec(Base64.getMimeDecoder().decode(pem.group(1)));
    String kind = shown.getAlgorithm();
    var signature = Signature.getInstance("SHA256with" + (kind.equals("EC") ? "ECDSA" : kind));
    signature.initSign(KeyFactory.getInstance(kind).generatePrivate(key));
    byte[] signed = signature.sign();
    signature.initVerify(shown);
    return signature.verify(signed);
  }

  private static SvddtuneException invalid(String text) {
    return new SvddtuneException(Status.Code.INVALID_ARGUMENT, "INVALID_CERTIFICATE", text);
  }

  /** Sends a token with each call. */
  static final class Bearer extends CallCredentials {
    private static final Metadata.Key<String> HEADER =
        Metadata.Key.of("authorization", Metadata.ASCII_STRING_MARSHALLER);
    private final Supplier<String> token;

    Bearer(Supplier<String> token) {
      this.token = token;
    }

    @Override
    public void applyRequestMetadata(RequestInfo call, Executor executor, MetadataApplier applier) {
      String host = call.getAuthority();
      if (call.getSecurityLevel() == SecurityLevel.NONE && !isLocal(host)) {
        String text = "a token is not sent to " + host + " without TLS";
        applier.fail(refusal(Code.UNAUTHENTICATED, "TOKEN_NOT_ENCRYPTED", text));
        return;
      }
      executor.execute(
          () -> {
            var headers = new Metadata();
            try {
              headers.put(HEADER, "Bearer " + token.get().strip());
            } catch (RuntimeException failed) {
              String text = "there is no token: " + failed.getMessage();
              applier.fail(refusal(Code.UNAVAILABLE, "TOKEN_UNAVAILABLE", text));
              return;
            }
            applier.apply(headers);
          });
    }

    private static Status refusal(Code code, String reason, String text) {
      var info = Any.pack(ErrorInfo.newBuilder().setReason(reason).build());
      var told = com.google.rpc.Status.newBuilder().setCode(code.getNumber()).setMessage(text);
      StatusRuntimeException failed = StatusProto.toStatusRuntimeException(told.addDetails(info).build());
      // A status of the transport has no trailers: the exception is its cause.
      return failed.getStatus().withCause(failed);
    }
  }

  /** Whether what is sent there stays on this machine. */
  static boolean isLocal(String authority) {
    String host = authority.replaceFirst(":\\d*$", "");
    return host.equals("localhost") || host.equals("[::1]") || host.matches("127(\\.\\d{1,3}){3}");
  }
}
