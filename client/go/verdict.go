package svddtune

import (
	"context"

	"github.com/google/uuid"

	pb "github.com/svddtune/svddtune/client/go/svddtunepb"
)

// Query is an observation to label.
type Query = pb.Assign

// Verdict is what a labeler says about an observation.
type Verdict struct {
	Label pb.Verdict
	// Confidence is the probability that the label is right, above 0.5 and at most 1; 0 if unknown.
	Confidence float64
	// SourceReference names where the verdict comes from, e.g. a ticket key.
	SourceReference string
	// Skip declines the query if it is set.
	Skip pb.SkipMode

	release bool
}

// The usual verdicts.
var (
	Inlier     = Verdict{Label: pb.Verdict_VERDICT_INLIER}
	Outlier    = Verdict{Label: pb.Verdict_VERDICT_OUTLIER}
	Unsure     = Verdict{Label: pb.Verdict_VERDICT_UNSURE}
	SkipLater  = Verdict{Skip: pb.SkipMode_SKIP_MODE_LATER}
	SkipOthers = Verdict{Skip: pb.SkipMode_SKIP_MODE_OTHERS}
	SkipDrop   = Verdict{Skip: pb.SkipMode_SKIP_MODE_DROP}
	// Release gives the query back; it may come again.
	Release = Verdict{release: true}
)

// request returns the Answer, the Skip or the Release.
func (v Verdict) request(query *Query, lease, provenance string) *pb.ConverseRequest {
	request := &pb.ConverseRequest{RequestId: uuid.NewString()}
	if v.release {
		request.Message = &pb.ConverseRequest_Release{Release: &pb.Release{
			Session: query.GetSession(), LeaseIds: []string{lease},
		}}
		return request
	}
	if v.Skip != pb.SkipMode_SKIP_MODE_UNSPECIFIED {
		request.Message = &pb.ConverseRequest_Skip{Skip: &pb.Skip{
			Session: query.GetSession(), Query: query.GetQuery(), LeaseId: lease, Mode: v.Skip,
		}}
		return request
	}
	answer := &pb.Answer{
		AnswerId: request.RequestId, Session: query.GetSession(), Query: query.GetQuery(),
		LeaseId: lease, ObservationId: query.GetObservationId(), Verdict: v.Label,
		SourceReference: v.SourceReference, Provenance: provenance,
	}
	if v.Confidence != 0 {
		answer.Confidence = &v.Confidence
	}
	request.Message = &pb.ConverseRequest_Answer{Answer: answer}
	return request
}

// Decide returns the verdict on a query. Its context ends if the query goes to somebody else; then the
// verdict is not needed. An error ends [Client.Label].
type Decide func(ctx context.Context, query *Query) (Verdict, error)

// Labeler says who labels which sessions.
type Labeler struct {
	// Name is 1 to 64 letters, digits and characters of "._@-".
	Name string
	// Sessions are the names of the sessions to serve; none stands for all.
	Sessions []string
	// Kind is AUTOMATED if it is not set.
	Kind pb.LabelerKind
	// Credit is the number of queries to decide at once, each in a goroutine; default 1. With 1, equal
	// seeds give equal queries.
	Credit uint32
	// Provenance is the rule behind the verdicts; it is stored with each of them.
	Provenance string
	// OnAck is called after an answer or a skip is stored.
	OnAck func(*Query, *pb.Ack)
	// OnReject is called after a verdict was refused. An error of its own ends [Client.Label]. Without
	// OnReject a refusal ends it, unless the query is no longer this labeler's.
	OnReject func(*Query, *Error) error
	// OnFinished is called if a session asks no further queries.
	OnFinished func(*pb.Session, pb.FinishReason)
}
