package svddtune

import (
	"context"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"
	"google.golang.org/grpc/codes"

	pb "github.com/svddtune/svddtune/client/go/svddtunepb"
)

const (
	protocolVersion = 1
	welcomeWithin   = 10 * time.Second
	// How long to read what the server still sends after the last message to it.
	farewell = 5 * time.Second
	// A stream that the server drains sooner is not replaced at once.
	drainedSoon = 500 * time.Millisecond
)

// gone are the reasons of a Reject after which the query is no longer this labeler's.
var gone = []string{
	"LEASE_LOST", "UNKNOWN_QUERY", "ALREADY_ANSWERED", "SESSION_NOT_ACTIVE", "SESSION_NOT_FOUND",
	"LABELER_WITHDRAWN",
}

// Label answers queries until all named sessions have finished, the context ends, or an error cannot be
// mended by another attempt. It holds one stream at a time and opens another if it breaks or the
// service restarts. A verdict is sent again with the same answer id until it is acknowledged, so that it
// counts once. If the token expires on a stream, the next one takes the token that there is then.
func (c *Client) Label(ctx context.Context, labeler Labeler, decide Decide) error {
	ctx, cancel := context.WithCancel(ctx)
	d := &dialogue{
		Labeler: labeler, oracle: c.Oracle, decide: decide,
		open: slices.Clone(labeler.Sessions), decided: make(chan decision),
	}
	defer d.deciding.Wait()
	defer cancel()
	if d.Credit == 0 {
		d.Credit = 1
	}
	if d.Kind == pb.LabelerKind_LABELER_KIND_UNSPECIFIED {
		d.Kind = pb.LabelerKind_LABELER_KIND_AUTOMATED
	}
	wait := pause{patience: welcomeWithin} // for the first stream; later ones get more
	for {
		began := time.Now()
		err := d.converse(ctx)
		if d.over() || d.failure != nil {
			return d.failure
		}
		if d.welcomed {
			wait.patience = patience
			wait.reset()
		}
		err = renewable(err, d.welcomed)
		if d.draining && d.welcomed && time.Since(began) > drainedSoon {
			continue
		}
		if err = wait.after(ctx, err); err != nil {
			return err
		}
	}
}

// held is a query that is leased to this labeler.
type held struct {
	query *Query
	// lease is the newest one; a query may be leased anew while it is decided.
	lease string
	// request is the Answer, Skip or Release that has no Ack yet; nil while the query is decided.
	request *pb.ConverseRequest
	// sentLease is the lease that the request names.
	sentLease string
	cancel    context.CancelFunc
}

type decision struct {
	held    *held
	verdict Verdict
	err     error
}

// dialogue is what a labeler knows; it outlives its streams.
type dialogue struct {
	Labeler
	oracle   pb.OracleServiceClient
	decide   Decide
	deciding sync.WaitGroup
	decided  chan decision
	// held has the queries that were sent in the order of sending.
	held     []*held
	open     []string // named sessions that have not finished
	token    string
	welcomed bool
	draining bool
	closing  bool  // nothing more is sent on this stream
	failure  error // of the caller's functions
	stream   pb.OracleService_ConverseClient
	beat     *time.Ticker
}

func (d *dialogue) over() bool {
	return len(d.Sessions) > 0 && len(d.open) == 0 && len(d.held) == 0
}

// converse holds one stream until it ends, and returns the error that it ended with.
func (d *dialogue) converse(ctx context.Context) error {
	streamCtx, cancel := context.WithCancel(ctx)
	defer cancel()
	d.welcomed, d.draining, d.closing = false, false, false
	stream, err := d.oracle.Converse(streamCtx)
	if err != nil {
		return err
	}
	d.stream = stream
	d.beat = time.NewTicker(welcomeWithin) // from the Welcome on, the interval of heartbeats
	defer d.beat.Stop()
	sessions := d.open
	if len(sessions) == 0 {
		sessions = d.Sessions // only Acks are missing
	}
	d.send(&pb.ConverseRequest{Message: &pb.ConverseRequest_Hello{Hello: &pb.Hello{
		MinProtocolVersion: protocolVersion, MaxProtocolVersion: protocolVersion,
		ClientName: "svddtune-go", ClientVersion: Version,
		Labeler: d.Name, Kind: d.Kind, Sessions: sessions, ResumeToken: d.token, Credit: d.Credit,
	}}})
	heard, ended := listen(streamCtx, stream)
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case message := <-heard:
			d.hear(ctx, message)
		case decision := <-d.decided:
			d.settle(decision)
		case err := <-ended:
			return err
		case <-d.beat.C:
			if d.closing {
				return io.EOF
			}
			if !d.welcomed {
				return &Error{Code: codes.Unavailable, Message: "the server sent no Welcome"}
			}
			d.extend()
		}
		if leave := d.over() || d.failure != nil; !d.closing && (leave || d.draining) {
			if leave {
				d.send(&pb.ConverseRequest{Message: &pb.ConverseRequest_Bye{Bye: &pb.Bye{}}})
			}
			d.closing = true
			stream.CloseSend()
			d.beat.Reset(farewell)
		}
	}
}

// send sends a message now if the stream takes it; the end of a broken stream arrives at the reader.
func (d *dialogue) send(message *pb.ConverseRequest) {
	if !d.closing {
		d.stream.Send(message)
	}
}

func (d *dialogue) hear(ctx context.Context, response *pb.ConverseResponse) {
	switch m := response.GetMessage().(type) {
	case *pb.ConverseResponse_Welcome:
		d.welcome(m.Welcome)
	case *pb.ConverseResponse_Assign:
		d.assign(ctx, m.Assign)
	case *pb.ConverseResponse_Ack:
		for _, lease := range m.Ack.GetLostLeaseIds() {
			d.lose(lease)
		}
		if h := d.sent(m.Ack.GetRequestId()); h != nil {
			d.acked(ctx, h, m.Ack)
		}
	case *pb.ConverseResponse_Reject:
		if h := d.sent(m.Reject.GetRequestId()); h != nil {
			d.rejected(ctx, h, FromStatus(m.Reject.GetStatus()))
		}
	case *pb.ConverseResponse_Revoke:
		d.lose(m.Revoke.GetLeaseId())
	case *pb.ConverseResponse_Drain:
		d.draining = true
	case *pb.ConverseResponse_Finished:
		d.finished(m.Finished)
	}
}

// welcome sends again what has no Ack, and asks which of the other leases are still held.
func (d *dialogue) welcome(welcome *pb.Welcome) {
	d.welcomed, d.token = true, welcome.GetResumeToken()
	if beat := welcome.GetHeartbeatSeconds(); beat > 0 {
		d.beat.Reset(time.Duration(beat * float64(time.Second)))
	}
	for _, h := range d.held {
		if h.request != nil {
			d.send(h.request)
		}
	}
	d.extend()
}

// extend keeps the leases of the queries that are being decided.
func (d *dialogue) extend() {
	leases := map[string][]string{}
	for _, h := range d.held {
		if h.request == nil {
			session := h.query.GetSession()
			leases[session] = append(leases[session], h.lease)
		}
	}
	for session, ids := range leases {
		d.send(&pb.ConverseRequest{RequestId: uuid.NewString(), Message: &pb.ConverseRequest_Extend{
			Extend: &pb.Extend{Session: session, LeaseIds: ids},
		}})
	}
}

func (d *dialogue) assign(ctx context.Context, query *Query) {
	i := slices.IndexFunc(d.held, func(h *held) bool {
		return h.query.GetSession() == query.GetSession() && h.query.GetQuery() == query.GetQuery()
	})
	if i >= 0 {
		d.held[i].lease = query.GetLeaseId()
		return
	}
	h := &held{query: query, lease: query.GetLeaseId()}
	d.held = append(d.held, h)
	d.start(ctx, h)
}

// start decides a query in a goroutine.
func (d *dialogue) start(ctx context.Context, h *held) {
	ctx, h.cancel = context.WithCancel(ctx)
	h.request = nil
	d.deciding.Go(func() {
		verdict, err := d.decide(ctx, h.query)
		select {
		case d.decided <- decision{h, verdict, err}:
		case <-ctx.Done():
		}
	})
}

// settle sends a verdict, unless the query has gone to somebody else meanwhile.
func (d *dialogue) settle(decision decision) {
	h, verdict := decision.held, decision.verdict
	if !slices.Contains(d.held, h) {
		return
	}
	if decision.err != nil {
		d.failure = decision.err
		return
	}
	h.cancel()
	h.request, h.sentLease = verdict.request(h.query, h.lease, d.Provenance), h.lease
	d.forget(h)
	d.held = append(d.held, h)
	if d.welcomed {
		d.send(h.request)
	}
}

// sent returns the query whose request has this id, nil if there is none.
func (d *dialogue) sent(id string) *held {
	for _, h := range d.held {
		if h.request != nil && h.request.GetRequestId() == id {
			return h
		}
	}
	return nil
}

func (d *dialogue) acked(ctx context.Context, h *held, ack *pb.Ack) {
	if h.request.GetAnswer() == nil && h.sentLease != h.lease {
		d.start(ctx, h) // declined earlier, and leased anew since
		return
	}
	d.forget(h)
	if d.OnAck != nil && h.request.GetRelease() == nil {
		d.OnAck(h.query, ack)
	}
}

func (d *dialogue) rejected(ctx context.Context, h *held, refusal *Error) {
	if h.sentLease != h.lease {
		d.start(ctx, h) // leased anew since
		return
	}
	d.forget(h)
	if d.OnReject != nil {
		d.failure = d.OnReject(h.query, refusal)
	} else if !slices.Contains(gone, refusal.Reason) {
		d.failure = refusal
	}
}

// lose forgets a query that is being decided. A verdict that was sent gets its Ack or Reject.
func (d *dialogue) lose(lease string) {
	for _, h := range slices.Clone(d.held) {
		if h.lease == lease && h.request == nil {
			h.cancel()
			d.forget(h)
		}
	}
}

func (d *dialogue) forget(h *held) {
	d.held = slices.DeleteFunc(d.held, func(other *held) bool { return other == h })
}

func (d *dialogue) finished(finished *pb.Finished) {
	session := finished.GetSession().GetName()
	deleted := finished.GetReason() == pb.FinishReason_FINISH_REASON_DELETED
	d.open = slices.DeleteFunc(d.open, func(name string) bool { return name == session })
	for _, h := range slices.Clone(d.held) {
		if h.query.GetSession() == session && (h.request == nil || deleted) {
			h.cancel()
			d.forget(h)
		}
	}
	if d.OnFinished != nil {
		d.OnFinished(finished.GetSession(), finished.GetReason())
	}
}
