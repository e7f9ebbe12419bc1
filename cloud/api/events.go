package api

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/cloudwego/hertz/pkg/protocol/sse"

	"github.com/locket-dev/locket/cloud/relay"
	"github.com/locket-dev/locket/sync/remote/page"
)

// listen registers a listener for changes of the request's space.
func (s *Server) listen(r *request) (woken <-chan struct{}, leave func(), err error) {
	of := holder{account: r.holder.account, member: r.holder.member} // without the address, because an address's connections are counted already
	if !s.waiting.reserve(of, 1) {
		return nil, nil, relay.ErrBusy
	}
	woken, left, err := s.Relay.Hub().Listen(r.space, r.holder.member)
	if err != nil {
		s.waiting.release(of, 1)
		return nil, nil, err
	}
	return woken, func() { left(); s.waiting.release(of, 1) }, nil
}

// events sends the head of the space, at the start and after each change.
// Several quick changes may give one event. The stream ends when its caller is
// no longer a member.
func (s *Server) events(ctx context.Context, r *request) error {
	woken, leave, err := s.listen(r)
	if err != nil {
		return err
	}
	defer leave()
	head, err := s.Relay.Head(ctx, r.who, r.space)
	if err != nil {
		return err
	}
	records, err := s.Relay.CountRecords(ctx, r.who, r.space)
	if err != nil {
		return err
	}
	w := sse.NewWriter(r.RequestContext)
	beat := time.NewTicker(s.Heartbeat)
	defer beat.Stop()
	lastSent := page.Head{}
	for first := true; ; first = false {
		if now := (page.Head{Cursor: head.Cursor, Log: head.LogN, Records: records}); first || now != lastSent {
			lastSent = now
			b, err := json.Marshal(now)
			if err != nil || w.WriteEvent("", "head", b) != nil {
				return nil // the client left
			}
		}
		select {
		case <-woken:
		case <-beat.C:
			if w.WriteKeepAlive() != nil {
				return nil
			}
		case <-s.draining:
			return nil
		}
		head, err = s.Relay.Head(ctx, r.who, r.space)
		if err == nil {
			records, err = s.Relay.CountRecords(ctx, r.who, r.space)
		}
		if errors.Is(err, relay.ErrForbidden) {
			_ = w.WriteEvent("", "gone", nil) // the client may not be reading any more
			return nil
		}
		if err != nil {
			s.Log.Error("event stream ended", "error", err)
			return nil
		}
	}
}
