package api_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/locket-dev/locket/cloud/relay"
	"github.com/locket-dev/locket/sync/envelope"
	"github.com/locket-dev/locket/sync/remote"
)

// A full account accepts nothing, except what makes room or removes a member: otherwise a stolen
// device could fill it, and stay in.
func TestThreatFullAccountKeepsNobodyIn(t *testing.T) {
	const limit = 400_000
	var later atomic.Int64 // the server's goroutines read the clock
	s := serve(t, relay.Config{Quota: relay.Quota{Bytes: limit}, Now: func() time.Time { return time.Now().Add(time.Duration(later.Load())) }}, nil)
	h := s.settle("full")
	ctx := t.Context()
	used := func() int64 {
		a, err := s.root(h).Account(ctx)
		s.ok(err)
		return a.Bytes
	}
	sent := s.send(h, h.Writer, "one", "two")
	full := func(what string, err error) {
		t.Helper()
		var e *remote.Error
		if !errors.As(err, &e) || e.What != "bytes" {
			t.Errorf("%s: %v", what, err)
		}
	}
	// Blobs can't take the room reserved for deltas. The second chunk comes when they have filled
	// their own, and still has its room.
	owner := s.as(h, h.Owner)
	whole := make([]byte, limit-limit/64-used())
	_, err := owner.PutBlob(ctx, bytes.NewReader(make([]byte, len(whole)+1)))
	full("a blob of a byte more", err)
	half, id := len(whole)/2, sha256.Sum256(whole)
	for _, c := range []struct{ from, to, status int }{{0, half, 204}, {half, len(whole), 201}} {
		put := s.owner(h, "PUT", "/blobs/"+hex.EncodeToString(id[:]))
		chunk(whole[c.from:c.to], fmt.Sprintf("bytes %d-%d/%d", c.from, c.to-1, len(whole)))(put)
		if res, p, _ := put.do(t, s.addr); res.StatusCode != c.status {
			t.Fatal(res.Status, p.Detail)
		}
		later.Add(int64(time.Minute)) // the account's earlier usage is not cached any more
	}
	if n := used(); n != limit-limit/64 {
		t.Fatalf("%d bytes are used", n)
	}
	_, err = owner.PutBlob(ctx, bytes.NewReader([]byte("a small one")))
	full("a small blob", err)
	before := used()
	sent = append(sent, s.send(h, h.Writer, strings.Repeat("x", 300))...)
	beside := used() - before - 300 // what a delta takes apart from its body
	sent = append(sent, s.send(h, h.Writer, strings.Repeat("x", int(limit-used()-beside)))...)
	later.Add(int64(time.Minute))
	if n := used(); n != limit {
		t.Fatalf("%d bytes are used", n)
	}
	_, err = owner.Append(ctx, []*envelope.Delta{h.Delta(h.Owner, "more")})
	full("a delta", err)
	next := &envelope.Entry{Action: envelope.Rekey, Epoch: h.State.Epoch() + 1, Wraps: []envelope.Wrap{{Keys: []byte("for recovery")}}}
	for _, m := range h.State.Members() {
		next.Wraps = append(next.Wraps, envelope.Wrap{To: m.ID, Keys: []byte("sealed")})
	}
	slices.SortFunc(next.Wraps, func(a, b envelope.Wrap) int { return a.To.Compare(b.To) })
	full("a next epoch", owner.AppendLog(ctx, h.Sign(h.Owner, next), ""))

	removal := h.Remove(h.Owner, h.Writer, sent[3].Header.Position())
	s.ok(owner.AppendLog(ctx, removal, ""))
	if n := used(); n != limit+int64(len(removal.Bytes())) {
		t.Errorf("%d bytes are used after a removal", n)
	}
	refs := []remote.Ref{{Member: h.Writer.ID, Position: sent[0].Header.Position()}, {Member: h.Writer.ID, Position: sent[1].Header.Position()}}
	if n, err := owner.Forget(ctx, refs); err != nil || n != 2 {
		t.Errorf("forgotten: %d, %v", n, err)
	}
	_, err = owner.Compact(ctx, envelope.Hash{1})
	s.is(err, remote.ErrNotFound)
	s.ok(owner.DeleteBlob(ctx, id, nil))
	if n := used(); n >= limit {
		t.Errorf("%d bytes are used at the end", n)
	}
}
