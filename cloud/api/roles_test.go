package api_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"testing"
	"time"

	"github.com/locket-dev/locket/cloud/relay"
	"github.com/locket-dev/locket/cloud/relay/storetest"
	"github.com/locket-dev/locket/sync/envelope"
	"github.com/locket-dev/locket/sync/remote"
	"github.com/locket-dev/locket/sync/remote/page"
)

// A root founds and deletes spaces and removes members. It can't append deltas: only members can.
func TestRootCannotAppendDeltas(t *testing.T) {
	s := serve(t, relay.Config{}, nil)
	h := s.settle("root")
	r := s.member(h, h.Root, "POST", "/deltas")
	r.p.KeyID, r.body = "root/"+hex.EncodeToString(h.Root.Public()), page.EncodeItems([][]byte{h.Delta(h.Owner, "the owner's").Bytes()})
	if res, _, kind := r.do(t, s.addr); kind != page.Forbidden {
		t.Fatal(res.Status, kind)
	}
	if ds, _, err := s.as(h, h.Reader).Pull(t.Context(), 0, 1, 0); err != nil || len(ds) != 0 {
		t.Fatal(len(ds), err)
	}
}

// Only an account's root sees its usage, and deletes the account.
func TestAccountBelongsToItsRoot(t *testing.T) {
	s := serve(t, relay.Config{}, nil)
	h := s.settle("account")
	for _, method := range []string{"GET", "DELETE"} {
		r := s.owner(h, method, "")
		r.path = "/v1/account"
		if res, _, kind := r.do(t, s.addr); kind != page.Forbidden {
			t.Errorf("%s by an owner: %s %s", method, res.Status, kind)
		}
	}
	s.served(t, h, 1)
}

// Only owners append to the log: another member can't deliver an entry that an owner has signed.
func TestOnlyOwnersAppendToTheLog(t *testing.T) {
	s := serve(t, relay.Config{}, nil)
	h := s.settle("owners")
	e := h.Add(h.Owner, storetest.NewHousehold(t, "guest").Owner, envelope.Reader)
	s.is(s.as(h, h.Writer).AppendLog(t.Context(), e, ""), remote.ErrForbidden)
	s.ok(s.as(h, h.Owner).AppendLog(t.Context(), e, ""))
}

// A removed member's requests count only against that member. If the account's members have used up
// its requests, the root can still remove one.
func TestRemovedMemberHasItsOwnRequestLimit(t *testing.T) {
	now := time.Now() // no time passes, in which the allowance would refill
	s := serve(t, relay.Config{Quota: relay.Quota{PerMinute: 40}, Now: func() time.Time { return now }}, nil)
	h := s.settle("requests")
	s.ok(s.as(h, h.Owner).AppendLog(t.Context(), h.Remove(h.Owner, h.Writer), ""))
	asks := func(p *storetest.Person) (answered int) {
		for range 40 {
			if _, _, kind := s.member(h, p, "GET", "/log").do(t, s.addr); kind != page.Quota {
				answered++
			}
		}
		return answered
	}
	asks(h.Writer)
	if owner, reader := asks(h.Owner), asks(h.Reader); owner < 20 || reader != 10 {
		t.Errorf("%d and %d requests of those who belong are answered", owner, reader)
	}
	s.ok(s.as(h, h.Root).AppendLog(t.Context(), h.Remove(h.Root, h.Reader), ""))
}

// A removal that leaves out what is stored here is refused once. Until it is signed again, the
// member in question can't append, so it can't delay the removal any further.
func TestRefusedRemovalSuspendsTheMember(t *testing.T) {
	s := serve(t, relay.Config{}, nil)
	h := s.settle("held off")
	s.send(h, h.Writer, "one")
	removal := h.Remove(h.Owner, h.Writer)
	s.is(s.as(h, h.Owner).AppendLog(t.Context(), removal, ""), remote.ErrConflict)
	r := s.member(h, h.Writer, "POST", "/deltas")
	r.body = page.EncodeItems([][]byte{h.Delta(h.Writer, "two").Bytes()})
	if res, _, kind := r.do(t, s.addr); kind != page.Busy {
		t.Errorf("sent meanwhile: %s %s", res.Status, kind)
	}
	s.ok(s.as(h, h.Owner).AppendLog(t.Context(), removal, ""))
}

// An unfinished blob may be deleted by its author and by an owner.
func TestUnfinishedBlobIsDeletedByAuthorOrOwner(t *testing.T) {
	s := serve(t, relay.Config{}, nil)
	h := s.settle("begun")
	whole := []byte("what is about to be sent")
	id := sha256.Sum256(whole)
	begin := s.owner(h, "PUT", fmt.Sprintf("/blobs/%x", id))
	chunk(whole[:5], fmt.Sprintf("bytes 0-4/%d", len(whole)))(begin)
	if res, p, _ := begin.do(t, s.addr); res.StatusCode != 204 {
		t.Fatal(res.Status, p.Detail)
	}
	s.is(s.as(h, h.Writer).DeleteBlob(t.Context(), id, nil), remote.ErrForbidden)
	s.ok(s.as(h, h.Owner).DeleteBlob(t.Context(), id, nil))
}

// A space has a limited number of checkpoints, and an existing one may be sent again.
func TestCheckpointsAreBounded(t *testing.T) {
	s := serve(t, relay.Config{}, nil)
	h := s.settle("checkpoints")
	owner, ctx := s.as(h, h.Owner), t.Context()
	ds := s.send(h, h.Owner, "one")
	var first *envelope.Checkpoint
	for n := range relay.MaxCheckpoints + 1 {
		manifest := []byte{byte(n)}
		_, err := owner.PutBlob(ctx, bytes.NewReader(manifest))
		s.ok(err)
		c := checkpoint(t, h, h.Owner, manifest, ds...)
		if first == nil {
			first = c
		}
		if n < relay.MaxCheckpoints {
			s.ok(owner.PutCheckpoint(ctx, c))
		} else {
			s.is(owner.PutCheckpoint(ctx, c), remote.ErrConflict)
		}
	}
	s.ok(owner.PutCheckpoint(ctx, first))
}
