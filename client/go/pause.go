package svddtune

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"time"
)

const (
	firstPause = 100 * time.Millisecond
	mostPause  = 5 * time.Second
	// Faults of a proxy or of the transport pass; a message that cannot be decoded comes again at once.
	mostFaults   = 8
	faultsWithin = time.Minute
)

// pause waits between attempts, longer each time and with jitter, so that many clients do not return at
// once.
type pause struct {
	// patience limits the time from the first failure on.
	patience time.Duration
	faults   []time.Time
	next     time.Duration
	since    time.Time
}

// reset makes the next failure the first one.
func (p *pause) reset() { p.next, p.since = 0, time.Time{} }

// after waits if another attempt may help after err; else it returns err.
func (p *pause) after(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if p.since.IsZero() {
		p.since = time.Now()
	}
	var failed *Error
	if errors.As(err, &failed) && failed.faulty() {
		p.faults = append(p.faults, time.Now())
	}
	p.faults = slices.DeleteFunc(p.faults, func(at time.Time) bool { return time.Since(at) > faultsWithin })
	if !passes(err) || len(p.faults) > mostFaults || time.Since(p.since) > p.patience {
		return err
	}
	p.next = min(max(2*p.next, firstPause), mostPause)
	delay := p.next/2 + rand.N(p.next/2)
	if failed != nil {
		delay = max(delay, failed.RetryAfter)
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(delay):
		return nil
	}
}
