package svddtune

import (
	"context"
	"errors"
	"net"
	"slices"
	"testing"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	pb "github.com/svddtune/svddtune/client/go/svddtunepb"
)

const session = "sessions/p00-one"

// script plays the server's side of one dialogue after another; each function is one stream.
type script struct {
	pb.UnimplementedOracleServiceServer
	t       *testing.T
	streams []func(*side) error
}

func (s *script) Converse(stream pb.OracleService_ConverseServer) error {
	if len(s.streams) == 0 {
		return status.Error(codes.FailedPrecondition, "the script has no further stream")
	}
	play := s.streams[0]
	s.streams = s.streams[1:]
	return play(&side{s.t, stream})
}

type side struct {
	t      *testing.T
	stream pb.OracleService_ConverseServer
}

func (s *side) hear() *pb.ConverseRequest {
	s.t.Helper()
	message, err := s.stream.Recv()
	if err != nil {
		s.t.Errorf("the client ended the stream: %v", err)
		return &pb.ConverseRequest{}
	}
	return message
}

func (s *side) say(message *pb.ConverseResponse) {
	if err := s.stream.Send(message); err != nil {
		s.t.Errorf("the client took no message: %v", err)
	}
}

// welcome hears the Hello and returns it.
func (s *side) welcome(token string) *pb.Hello {
	hello := s.hear().GetHello()
	s.say(&pb.ConverseResponse{Message: &pb.ConverseResponse_Welcome{Welcome: &pb.Welcome{
		ResumeToken: token, HeartbeatSeconds: 20, ProtocolVersion: 1,
	}}})
	return hello
}

func (s *side) assign(query uint32, lease string) {
	s.say(&pb.ConverseResponse{Message: &pb.ConverseResponse_Assign{Assign: &pb.Assign{
		Session: session, Query: query, LeaseId: lease, Features: []float64{float64(query)},
	}}})
}

func (s *side) ack(request *pb.ConverseRequest) {
	s.say(&pb.ConverseResponse{Message: &pb.ConverseResponse_Ack{Ack: &pb.Ack{
		Session: session, RequestId: request.GetRequestId(), AnswerId: request.GetAnswer().GetAnswerId(),
	}}})
}

func (s *side) reject(request *pb.ConverseRequest, reason string) {
	refused, _ := status.New(codes.FailedPrecondition, "refused").WithDetails(
		&errdetails.ErrorInfo{Reason: reason, Domain: "svddtune.github.io"},
	)
	s.say(&pb.ConverseResponse{Message: &pb.ConverseResponse_Reject{Reject: &pb.Reject{
		Session: session, RequestId: request.GetRequestId(), Status: refused.Proto(),
	}}})
}

func (s *side) finish() {
	s.say(&pb.ConverseResponse{Message: &pb.ConverseResponse_Finished{Finished: &pb.Finished{
		Session: &pb.Session{Name: session}, Reason: pb.FinishReason_FINISH_REASON_BUDGET_SPENT,
	}}})
}

// bye hears the end of the dialogue.
func (s *side) bye() error {
	if message := s.hear(); message.GetBye() == nil {
		s.t.Errorf("expected Bye, got %v", message)
	}
	return nil
}

// label plays the script to a labeler and returns the error that it ends with.
func label(t *testing.T, labeler Labeler, decide Decide, streams ...func(*side) error) error {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer()
	played := &script{t: t, streams: streams}
	pb.RegisterOracleServiceServer(server, played)
	go server.Serve(listener)
	defer server.Stop()
	client, err := Dial(listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	labeler.Name, labeler.Sessions = "rule", []string{session}
	err = client.Label(ctx, labeler, decide)
	if len(played.streams) > 0 {
		t.Errorf("%d streams were not opened", len(played.streams))
	}
	return err
}

func outlier(context.Context, *Query) (Verdict, error) { return Outlier, nil }

func TestAnswerWithoutAckIsSentAgainWithTheSameID(t *testing.T) {
	var first *pb.ConverseRequest
	err := label(t, Labeler{}, outlier,
		func(s *side) error {
			s.welcome("token")
			s.assign(1, "lease")
			first = s.hear()
			return status.Error(codes.Unavailable, "gone")
		},
		func(s *side) error {
			if token := s.welcome("token").GetResumeToken(); token != "token" {
				t.Errorf("resume token %q", token)
			}
			again := s.hear()
			if id := again.GetAnswer().GetAnswerId(); id == "" || id != first.GetAnswer().GetAnswerId() {
				t.Errorf("sent %v, then %v", first, again)
			}
			s.ack(again)
			s.finish()
			return s.bye()
		},
	)
	if err != nil {
		t.Fatal(err)
	}
}

func TestDrainedStreamIsReplacedAndLeasesAreKept(t *testing.T) {
	decided := make(chan struct{})
	slow := func(ctx context.Context, _ *Query) (Verdict, error) {
		select {
		case <-decided:
			return Inlier, nil
		case <-ctx.Done():
			return Verdict{}, ctx.Err()
		}
	}
	err := label(t, Labeler{}, slow,
		func(s *side) error {
			s.welcome("token")
			s.assign(1, "lease")
			s.say(&pb.ConverseResponse{Message: &pb.ConverseResponse_Drain{Drain: &pb.Drain{}}})
			if _, err := s.stream.Recv(); err == nil {
				t.Error("the client sent something after Drain")
			}
			return nil
		},
		func(s *side) error {
			s.welcome("token")
			if leases := s.hear().GetExtend().GetLeaseIds(); !slices.Equal(leases, []string{"lease"}) {
				t.Errorf("asked about the leases %q", leases)
			}
			close(decided)
			s.ack(s.hear())
			s.finish()
			return s.bye()
		},
	)
	if err != nil {
		t.Fatal(err)
	}
}

func TestRejectLeavesTheStreamOpen(t *testing.T) {
	var refused []string
	labeler := Labeler{OnReject: func(_ *Query, refusal *Error) error {
		refused = append(refused, refusal.Reason)
		return nil
	}}
	err := label(t, labeler, outlier, func(s *side) error {
		s.welcome("token")
		for number := range uint32(2) {
			s.assign(number+1, "lease")
			s.reject(s.hear(), []string{"LEASE_LOST", "OBSERVATION_MISMATCH"}[number])
		}
		s.finish()
		return s.bye()
	})
	if err != nil || !slices.Equal(refused, []string{"LEASE_LOST", "OBSERVATION_MISMATCH"}) {
		t.Fatal(err, refused)
	}
}

func TestRevokedQueryEndsItsContext(t *testing.T) {
	revoked := func(ctx context.Context, query *Query) (Verdict, error) {
		if query.GetQuery() == 1 {
			<-ctx.Done()
		}
		return Unsure, nil
	}
	err := label(t, Labeler{}, revoked, func(s *side) error {
		s.welcome("token")
		s.assign(1, "one")
		s.say(&pb.ConverseResponse{Message: &pb.ConverseResponse_Revoke{Revoke: &pb.Revoke{
			Session: session, Query: 1, LeaseId: "one",
		}}})
		s.assign(2, "two")
		answer := s.hear()
		if answer.GetAnswer().GetQuery() != 2 {
			t.Errorf("expected an answer to query 2, got %v", answer)
		}
		s.ack(answer)
		s.finish()
		return s.bye()
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestErrorOfDecideSaysByeAndIsReturned(t *testing.T) {
	broken := errors.New("the sensor is broken")
	err := label(t, Labeler{},
		func(context.Context, *Query) (Verdict, error) { return Verdict{}, broken },
		func(s *side) error {
			s.welcome("token")
			s.assign(1, "lease")
			return s.bye()
		})
	if !errors.Is(err, broken) {
		t.Fatal(err)
	}
}

func TestErrorThatAnotherAttemptCannotMendHasItsReason(t *testing.T) {
	err := label(t, Labeler{}, outlier, func(s *side) error {
		s.hear()
		missing, _ := status.New(codes.NotFound, "no such session").WithDetails(
			&errdetails.ErrorInfo{Reason: "SESSION_NOT_FOUND", Metadata: map[string]string{"session": session}},
		)
		return missing.Err()
	})
	var typed *Error
	if !errors.As(err, &typed) || typed.Reason != "SESSION_NOT_FOUND" || typed.Metadata["session"] != session {
		t.Fatal(err)
	}
	if status.Code(err) != codes.NotFound {
		t.Errorf("code %v", status.Code(err))
	}
}
