package svddtune

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"strings"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/status"
)

// Token returns the token that is valid now. It is asked before each call.
type Token func(context.Context) (string, error)

// FixedToken always returns the same token.
func FixedToken(text string) Token {
	return func(context.Context) (string, error) { return text, nil }
}

// TokenFile returns what a file holds now, so that a token that expires can be replaced in it.
func TokenFile(path string) Token {
	return func(context.Context) (string, error) {
		text, err := os.ReadFile(path)
		return string(text), err
	}
}

// WithToken tells the service who calls. Without TLS the token is sent to a loopback address or a Unix
// socket only; calls to others end with TOKEN_NOT_ENCRYPTED. If the function fails, the call ends with
// TOKEN_UNAVAILABLE, which is temporary.
func WithToken(token Token) grpc.DialOption { return grpc.WithPerRPCCredentials(bearer{token}) }

// WithTLS trusts the certificates of a PEM file; those of the system if its name is empty.
func WithTLS(caFile string) (grpc.DialOption, error) {
	config, err := trusting(caFile)
	if err != nil {
		return nil, err
	}
	return grpc.WithTransportCredentials(credentials.NewTLS(config)), nil
}

// WithClientCertificate is [WithTLS] with a certificate that tells the service who calls, and its key.
func WithClientCertificate(caFile, certFile, keyFile string) (grpc.DialOption, error) {
	config, err := trusting(caFile)
	if err != nil {
		return nil, err
	}
	pair, err := tls.LoadX509KeyPair(certFile, keyFile)
	if err != nil {
		return nil, invalidCertificate("%s and %s are no certificate and its key: %v", certFile, keyFile, err)
	}
	config.Certificates = []tls.Certificate{pair}
	return grpc.WithTransportCredentials(credentials.NewTLS(config)), nil
}

func trusting(caFile string) (*tls.Config, error) {
	if caFile == "" {
		return &tls.Config{}, nil
	}
	pem, err := os.ReadFile(caFile)
	if err != nil {
		return nil, invalidCertificate("%v", err)
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(pem) {
		return nil, invalidCertificate("%s holds no certificate in PEM format", caFile)
	}
	return &tls.Config{RootCAs: roots}, nil
}

func invalidCertificate(format string, values ...any) *Error {
	return &Error{
		Code: codes.InvalidArgument, Reason: "INVALID_CERTIFICATE", Message: fmt.Sprintf(format, values...),
	}
}

// bearer sends a token with each call.
type bearer struct{ token Token }

// RequireTransportSecurity is false, because GetRequestMetadata knows the address, which may be local.
func (bearer) RequireTransportSecurity() bool { return false }

func (b bearer) GetRequestMetadata(ctx context.Context, uri ...string) (map[string]string, error) {
	info, _ := credentials.RequestInfoFromContext(ctx)
	secure := credentials.CheckSecurityLevel(info.AuthInfo, credentials.PrivacyAndIntegrity) == nil
	if host := hostOf(uri); !secure && !local(host) {
		return nil, refusal(codes.Unauthenticated, "TOKEN_NOT_ENCRYPTED",
			fmt.Sprintf("a token is not sent to %s without TLS: see WithTLS", host))
	}
	text, err := b.token(ctx)
	if err != nil {
		return nil, refusal(codes.Unavailable, "TOKEN_UNAVAILABLE", fmt.Sprintf("there is no token: %v", err))
	}
	return map[string]string{"authorization": "Bearer " + strings.TrimSpace(text)}, nil
}

// renewable returns the error of a stream, but io.EOF if the token has expired since the service took it: the
// next stream asks for another.
func renewable(err error, served bool) error {
	if served && status.Code(err) == codes.Unauthenticated {
		return io.EOF
	}
	return err
}

func hostOf(uri []string) string {
	if len(uri) == 0 {
		return ""
	}
	parsed, err := url.Parse(uri[0])
	if err != nil {
		return uri[0]
	}
	return parsed.Hostname()
}

// local reports whether what is sent to a host stays on this machine.
func local(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

func refusal(code codes.Code, reason, message string) error {
	told := status.New(code, message)
	if detailed, err := told.WithDetails(&errdetails.ErrorInfo{Reason: reason}); err == nil {
		told = detailed
	}
	return told.Err()
}
