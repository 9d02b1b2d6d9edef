// Package svddtune is the client of svddtune, a service that tunes Support Vector Data Description by
// asking labelers about the observations that tell most.
//
// [Dial] connects. [Client.UploadCSV] stores data, and [Client.Tuning] creates sessions on it.
// [Client.Label] answers queries and survives restarts of the service. [Client.Result] waits for the
// result. All other calls are those of the generated package svddtunepb.
package svddtune

import (
	"context"
	_ "embed"
	"fmt"
	"time"

	"github.com/google/uuid"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/keepalive"

	pb "github.com/svddtune/svddtune/client/go/svddtunepb"
)

// Version is the version of this client.
const Version = "0.2.0"

// How long to try again after an error that passes.
const patience = 10 * time.Minute

// serviceConfig names the calls that gRPC repeats by itself if the service is not available: those
// that only read, and those with a request id.
//
//go:embed service_config.json
var serviceConfig string

// Client is a connection to a service. It is safe for concurrent use.
type Client struct {
	// The generated stubs. Their errors are of type *Error.
	Datasets pb.DatasetServiceClient
	Tuning   pb.TuningServiceClient
	Oracle   pb.OracleServiceClient
	Server   pb.ServerServiceClient
	Scoring  pb.ScoringServiceClient

	conn *grpc.ClientConn
}

// Dial returns a client of the service at an address, e.g. "127.0.0.1:50051". The connection is made
// with the first call. Without TLS unless an option says otherwise: see
// [WithTLS], [WithClientCertificate] and [WithToken].
func Dial(address string, options ...grpc.DialOption) (*Client, error) {
	defaults := []grpc.DialOption{
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultServiceConfig(serviceConfig),
		grpc.WithKeepaliveParams(keepalive.ClientParameters{Time: time.Minute, Timeout: 20 * time.Second}),
		grpc.WithConnectParams(grpc.ConnectParams{
			Backoff: backoff.Config{
				BaseDelay: 100 * time.Millisecond, Multiplier: 1.6, Jitter: 0.2, MaxDelay: 5 * time.Second,
			},
			MinConnectTimeout: 5 * time.Second,
		}),
		grpc.WithChainUnaryInterceptor(typedUnary),
		grpc.WithChainStreamInterceptor(typedStream),
		grpc.WithUserAgent("svddtune-go/" + Version),
	}
	conn, err := grpc.NewClient(address, append(defaults, options...)...)
	if err != nil {
		return nil, invalid("%q is not an address: use HOST:PORT (%v)", address, err)
	}
	return &Client{
		Datasets: pb.NewDatasetServiceClient(conn),
		Tuning:   pb.NewTuningServiceClient(conn),
		Oracle:   pb.NewOracleServiceClient(conn),
		Server:   pb.NewServerServiceClient(conn),
		Scoring:  pb.NewScoringServiceClient(conn),
		conn:     conn,
	}, nil
}

// Close closes the connection.
func (c *Client) Close() error { return c.conn.Close() }

// CreateSession starts a session on a dataset. The call is repeated if the service is not available;
// that creates one session.
func (c *Client) CreateSession(ctx context.Context, dataset string, config *pb.SessionConfig) (*pb.Session, error) {
	reply, err := c.Tuning.CreateSession(ctx, &pb.CreateSessionRequest{
		Dataset: dataset, Config: config, RequestId: uuid.NewString(),
	})
	return reply.GetSession(), err
}

// Result waits until a session is completed and returns its latest result. It continues after a
// restart of the service. A session that fails or is cancelled ends it with the session's reason, or
// SESSION_CANCELLED.
func (c *Client) Result(ctx context.Context, session string) (*pb.TuningResult, error) {
	done, err := c.completed(ctx, session)
	if err != nil {
		return nil, err
	}
	reply, err := c.Tuning.GetResult(ctx, &pb.GetResultRequest{Name: done.GetLatestResult()})
	return reply.GetResult(), err
}

// Score judges rows by a model: the name of a result, or of an uploaded model. It takes up to 10,000 rows;
// for more, and for reasons, use Scoring.
func (c *Client) Score(ctx context.Context, model string, rows [][]float64) ([]*pb.RowScore, error) {
	if len(rows) == 0 {
		return nil, nil
	}
	reply, err := c.Scoring.Score(ctx, &pb.ScoreRequest{Model: model, Matrix: NewMatrix(rows)})
	return reply.GetScores(), err
}

func (c *Client) completed(ctx context.Context, name string) (*pb.Session, error) {
	token := ""
	for wait := (pause{patience: patience}); ; {
		stream, err := c.Tuning.WatchSession(ctx, &pb.WatchSessionRequest{Name: name, ResumeToken: token})
		served := false
		for err == nil {
			var seen *pb.WatchSessionResponse
			if seen, err = stream.Recv(); err != nil {
				err = renewable(err, served)
				break
			}
			token, served = seen.GetResumeToken(), true
			wait.reset()
			switch session := seen.GetSession(); session.GetState() {
			case pb.SessionState_SESSION_STATE_COMPLETED:
				return session, nil
			case pb.SessionState_SESSION_STATE_FAILED:
				failure := session.GetFailure()
				return nil, noResult(failure.GetReason(), failure.GetMessage())
			case pb.SessionState_SESSION_STATE_CANCELLED:
				return nil, noResult("SESSION_CANCELLED", fmt.Sprintf("%s was cancelled", name))
			}
		}
		if err = wait.after(ctx, err); err != nil {
			return nil, err
		}
	}
}

func noResult(reason, message string) *Error {
	return &Error{Code: codes.FailedPrecondition, Reason: reason, Message: message}
}
