package svddtune

import (
	"errors"
	"fmt"
	"io"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	spb "google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// Error is a failed call, or one refused item of a dialogue. All calls of a [Client] return it, those
// of the generated stubs too; get it by [errors.As].
type Error struct {
	// Code is the gRPC code.
	Code codes.Code
	// Reason is stable and in UPPER_SNAKE_CASE, e.g. SESSION_NOT_FOUND. It is empty if the error does
	// not come from the service, e.g. if nobody answers at the address.
	Reason string
	// Message is a sentence for people.
	Message string
	// Metadata holds the values that the message names.
	Metadata map[string]string
	// Violations names the faulty fields of the request.
	Violations []*errdetails.BadRequest_FieldViolation
	// RetryAfter is the delay that the service asks for; 0 if it asks for none.
	RetryAfter time.Duration

	status *status.Status
}

func (e *Error) Error() string {
	if e.Reason == "" {
		return fmt.Sprintf("%s [%s]", e.Message, e.Code)
	}
	return fmt.Sprintf("%s [%s]", e.Message, e.Reason)
}

// GRPCStatus returns the status, so that [status.FromError] and [status.Code] work.
func (e *Error) GRPCStatus() *status.Status {
	if e.status == nil {
		return status.New(e.Code, e.Message)
	}
	return e.status
}

// Temporary reports whether the same call may succeed later.
func (e *Error) Temporary() bool {
	switch e.Code {
	case codes.Unavailable, codes.DeadlineExceeded, codes.Canceled:
		return true
	}
	return e.faulty()
}

// faulty reports a fault that is not the service's own: a proxy's, the transport's, or of a message that
// cannot be decoded.
func (e *Error) faulty() bool {
	return e.Reason == "" && (e.Code == codes.Internal || e.Code == codes.Unknown)
}

// fromStatus returns the error of a status, nil for OK.
func fromStatus(s *status.Status) *Error {
	if s.Code() == codes.OK {
		return nil
	}
	e := &Error{Code: s.Code(), Message: s.Message(), status: s}
	for _, detail := range s.Details() {
		switch d := detail.(type) {
		case *errdetails.ErrorInfo:
			e.Reason, e.Metadata = d.GetReason(), d.GetMetadata()
		case *errdetails.BadRequest:
			e.Violations = d.GetFieldViolations()
		case *errdetails.RetryInfo:
			e.RetryAfter = d.GetRetryDelay().AsDuration()
		}
	}
	return e
}

// FromStatus returns the error of a status inside a message, e.g. in Reject; nil for OK.
func FromStatus(s *spb.Status) *Error { return fromStatus(status.FromProto(s)) }

// asError returns the error as an *Error; io.EOF and other errors that are no status stay as they are.
func asError(err error) error {
	var known *Error
	if err == nil || errors.As(err, &known) {
		return err
	}
	if s, ok := status.FromError(err); ok {
		return fromStatus(s)
	}
	return err
}

func invalid(format string, values ...any) *Error {
	return &Error{
		Code: codes.InvalidArgument, Reason: "INVALID_FIELD", Message: fmt.Sprintf(format, values...),
	}
}

// passes reports whether another attempt may succeed: also after the regular end of a stream.
func passes(err error) bool {
	var e *Error
	return errors.Is(err, io.EOF) || errors.As(err, &e) && e.Temporary()
}

// hasReason reports whether the service gave this reason.
func hasReason(err error, reason string) bool {
	var e *Error
	return errors.As(err, &e) && e.Reason == reason
}
