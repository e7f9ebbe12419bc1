package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/cloudwego/hertz/pkg/app"

	"github.com/locket-dev/locket/cloud/relay"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/sync/envelope"
	"github.com/locket-dev/locket/sync/remote/page"
)

func (s *Server) health(_ context.Context, c *app.RequestContext) {
	c.SetContentType("application/json")
	c.Response.SetBodyString(`{"status":"ok"}`)
}

func (s *Server) account(ctx context.Context, r *request) error {
	a, err := s.Relay.Account(ctx, r.who)
	if err != nil {
		return err
	}
	v := page.Account{Bytes: a.Bytes, Blobs: a.Blobs, Spaces: append([]memory.SpaceID{}, a.Spaces...)} // so that JSON has [], and not null
	if a.Day == relay.Day(s.Now()) {
		v.Deltas = a.Deltas
	}
	return r.json(v)
}

func (s *Server) deleteAccount(ctx context.Context, r *request) error {
	return r.empty(s.Relay.DeleteAccount(ctx, r.who))
}

func (s *Server) deleteSpace(ctx context.Context, r *request) error {
	return r.empty(s.Relay.DeleteSpace(ctx, r.who, r.space))
}

func (s *Server) appendLog(ctx context.Context, r *request) error {
	e := r.entry
	if e == nil {
		var err error
		if e, err = envelope.ParseEntry(r.body); err != nil {
			return err
		}
	}
	if e.Space != r.space {
		return fmt.Errorf("log entry of another space: %w", relay.ErrForbidden)
	}
	invite := r.GetHeader(page.FieldInvite)
	if len(invite) > page.MaxInvite {
		return relay.ErrInvite
	}
	return r.empty(s.Relay.AppendLog(ctx, r.who, e, string(invite)))
}

func (s *Server) log(ctx context.Context, r *request) error {
	after, limit, _, err := r.paging()
	if err != nil {
		return err
	}
	entries, err := s.Relay.Log(ctx, r.who, r.space, after, min(limit, page.MaxEntries))
	if err != nil {
		return err
	}
	return r.cbor(page.EncodeItems(entries))
}

func (s *Server) append(ctx context.Context, r *request) error {
	items, err := page.DecodeItems(r.body, page.MaxDeltas)
	if err != nil {
		return err
	}
	deltas := make([]*envelope.Delta, len(items))
	for i, item := range items {
		if deltas[i], err = envelope.ParseDelta(item); err != nil {
			return fmt.Errorf("delta %d of the request: %w", i, err)
		}
	}
	cursors, err := s.Relay.Append(ctx, r.who, r.space, deltas)
	if err != nil {
		return err
	}
	return r.cbor(page.EncodeCursors(cursors))
}

func (s *Server) deltas(ctx context.Context, r *request) error {
	after, limit, wait, err := r.paging()
	if err != nil {
		return err
	}
	woken, leave, err := s.listen(r)
	if err != nil {
		return err
	}
	defer leave()
	timer := time.NewTimer(wait)
	defer timer.Stop()
	for {
		ds, err := s.Relay.Deltas(ctx, r.who, r.space, after, limit)
		if err != nil {
			return err
		}
		if len(ds) == 0 && wait > 0 {
			select {
			case <-woken:
				continue
			case <-timer.C:
			case <-s.draining:
			}
		}
		out := make([]page.Placed, len(ds))
		for i, d := range ds {
			out[i] = page.Placed{Cursor: d.Cursor, Delta: d.Delta}
		}
		return r.cbor(page.EncodePlaced(out))
	}
}

func (s *Server) forget(ctx context.Context, r *request) error {
	asked, err := page.DecodeRefs(r.body)
	if err != nil {
		return err
	}
	refs := make([]relay.Ref, len(asked))
	for i, a := range asked {
		refs[i] = relay.Ref{Member: a.Member, Position: envelope.Position{Incarnation: a.Incarnation, Seq: a.Seq}}
	}
	n, err := s.Relay.Forget(ctx, r.who, r.space, refs)
	if err != nil {
		return err
	}
	return r.json(map[string]int{"forgotten": n})
}

// paging parses after, limit and wait in the query.
func (r *request) paging() (after uint64, limit int, wait time.Duration, err error) {
	number := func(name string, most, absent uint64) uint64 {
		text, ok := r.GetQuery(name)
		if !ok {
			return absent
		}
		n, e := strconv.ParseUint(text, 10, 64)
		if e != nil || n > most {
			err = errors.Join(err, fmt.Errorf("%s: %w: want a number up to %d", name, page.ErrForm, most))
		}
		return n
	}
	after = number("after", 1<<63-1, 0)
	limit = int(number("limit", 1<<31-1, page.MaxDeltas))
	wait = time.Duration(number("wait", page.MaxWait, 0)) * time.Second
	return after, limit, wait, err
}

func (r *request) json(v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	r.SetContentType("application/json")
	r.Response.SetBody(b)
	return nil
}

func (r *request) cbor(b []byte) error {
	r.SetContentType(page.CBOR)
	r.Response.SetBody(b)
	return nil
}

// empty answers without a body that the request is done.
func (r *request) empty(err error) error {
	if err == nil {
		r.SetStatusCode(204)
	}
	return err
}
