package api_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/locket-dev/locket/cloud/relay"
	"github.com/locket-dev/locket/cloud/relay/storetest"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/sync/envelope"
	"github.com/locket-dev/locket/sync/httpsig"
	"github.com/locket-dev/locket/sync/remote"
	"github.com/locket-dev/locket/sync/remote/page"
)

// A member of one space gets nothing of another.
func TestThreatAnotherTenant(t *testing.T) {
	t.Run("embedded", func(t *testing.T) { tenants(t, serve(t, relay.Config{}, nil)) })
	t.Run("postgres", func(t *testing.T) { tenants(t, instance(t, database(t, &cluster), t.TempDir(), nil)) })
}

func tenants(t *testing.T, s *service) {
	a, b := s.settle("a"), s.settle("b")
	ctx := t.Context()
	ds := s.send(a, a.Owner, "a's own")
	id, err := s.as(a, a.Owner).PutBlob(ctx, bytes.NewReader([]byte("a's blob")))
	s.ok(err)
	tries := map[string]*remote.Space{
		"a member's id":      s.client().Space(a.Space, a.Owner.ID, httpsig.KeySigner(b.Owner.Key)),
		"its own id":         s.client().Space(a.Space, b.Owner.ID, httpsig.KeySigner(b.Owner.Key)),
		"its own root":       s.root(b).Space(a.Space),
		"a root's id":        s.client().Root(a.Root.Public(), httpsig.KeySigner(b.Root.Key)).Space(a.Space),
		"a space not there":  s.client().Space(memory.SpaceID{9}, b.Owner.ID, httpsig.KeySigner(b.Owner.Key)),
		"a root that is not": s.client().Root(a.Owner.Public(), httpsig.KeySigner(a.Owner.Key)).Space(a.Space),
	}
	for name, as := range tries {
		refused := func(what string, err error) {
			t.Helper()
			if !errors.Is(err, remote.ErrForbidden) && !errors.Is(err, remote.ErrRefused) {
				t.Errorf("%s: %s: %v", name, what, err)
			}
		}
		_, err := as.Append(ctx, []*envelope.Delta{b.Delta(b.Owner, "x")})
		refused("append", err)
		_, err = as.Append(ctx, ds)
		refused("append theirs", err)
		_, _, err = as.Pull(ctx, 0, 10, 0)
		refused("pull", err)
		_, err = as.Log(ctx, 0)
		refused("log", err)
		refused("append log", as.AppendLog(ctx, a.Entries[1], ""))
		_, err = as.Forget(ctx, []remote.Ref{{Member: a.Owner.ID, Position: ds[0].Header.Position()}})
		refused("forget", err)
		refused("delete", as.Delete(ctx))
		refused("listen", as.Wake(ctx, func(page.Head) error { return errors.New("heard something") }))
		_, err = as.PutBlob(ctx, strings.NewReader("x"))
		refused("put blob", err)
		_, _, err = as.HasBlob(ctx, id)
		refused("head blob", err)
		_, err = as.GetBlob(ctx, id, file(t), 100)
		refused("get blob", err)
		refused("delete blob", as.DeleteBlob(ctx, id, nil))
	}
	// In its own space, another space's blob does not exist either.
	_, _, err = s.as(b, b.Owner).HasBlob(ctx, id)
	s.is(err, remote.ErrNotFound)
	got, _, err := s.as(a, a.Reader).Pull(ctx, 0, 10, 0)
	s.ok(err)
	if len(got) != 1 || got[0].Body == nil {
		t.Fatal("something was done to a's")
	}
}

func TestRolesLimitRequests(t *testing.T) {
	s := serve(t, relay.Config{}, nil)
	h := s.settle("roles")
	ctx := t.Context()
	_, err := s.as(h, h.Reader).Append(ctx, []*envelope.Delta{h.Delta(h.Reader, "a reader writes")})
	s.is(err, remote.ErrForbidden)
	_, err = s.as(h, h.Reader).PutBlob(ctx, strings.NewReader("a reader's"))
	s.is(err, remote.ErrForbidden)
	mine := h.Delta(h.Owner, "the owner's")
	_, err = s.as(h, h.Writer).Append(ctx, []*envelope.Delta{mine})
	s.is(err, remote.ErrForbidden)
	_, err = s.as(h, h.Owner).Append(ctx, []*envelope.Delta{mine})
	s.ok(err)
	_, err = s.as(h, h.Writer).Forget(ctx, []remote.Ref{{Member: h.Owner.ID, Position: mine.Header.Position()}})
	s.is(err, remote.ErrForbidden)
	id, err := s.as(h, h.Owner).PutBlob(ctx, strings.NewReader("the owner's"))
	s.ok(err)
	s.is(s.as(h, h.Writer).DeleteBlob(ctx, id, nil), remote.ErrForbidden)
	// A writer may not delete a finished blob of its own either, because others may rely on it.
	id, err = s.as(h, h.Writer).PutBlob(ctx, strings.NewReader("the writer's"))
	s.ok(err)
	s.is(s.as(h, h.Writer).DeleteBlob(ctx, id, nil), remote.ErrForbidden)
	// A member who has not read everything deletes none.
	before, now := uint64(0), uint64(1)
	s.is(s.as(h, h.Owner).DeleteBlob(ctx, id, &before), remote.ErrConflict)
	s.ok(s.as(h, h.Owner).DeleteBlob(ctx, id, &now))

	// A forged body, a forged header, a gap, a fork, an unknown head.
	forged := *h.Delta(h.Owner, "said")
	good := forged
	for _, body := range []string{"said otherwise", "sang"} {
		forged.Body = []byte(body)
		_, err = s.as(h, h.Owner).Append(ctx, []*envelope.Delta{&forged})
		s.is(err, remote.ErrRefused)
	}
	forged = good
	forged.Signature = make([]byte, 64)
	_, err = s.as(h, h.Owner).Append(ctx, []*envelope.Delta{&forged})
	var e *remote.Error
	if !errors.As(err, &e) || e.Kind != page.Signature {
		t.Fatal(err)
	}
	late := h.Delta(h.Owner, "after that")
	_, err = s.as(h, h.Owner).Append(ctx, []*envelope.Delta{late})
	s.is(err, remote.ErrGap)
	_, err = s.as(h, h.Owner).Append(ctx, []*envelope.Delta{&good, late})
	s.ok(err)
	head := good.Header
	_, err = s.as(h, h.Owner).Append(ctx, []*envelope.Delta{h.Seal(h.Owner, head, "another in its place")})
	s.is(err, remote.ErrFork)
	head.Incarnation, head.Seq, head.Prev, head.Head = 7, 1, envelope.Hash{}, envelope.Hash{1}
	_, err = s.as(h, h.Owner).Append(ctx, []*envelope.Delta{h.Seal(h.Owner, head, "of a log to come")})
	s.is(err, remote.ErrUnknownHead)

	// The log: two simultaneous appends, and one by a member who may not.
	s.is(s.as(h, h.Writer).AppendLog(ctx, h.Sign(h.Writer, &envelope.Entry{Action: envelope.Rekey, Epoch: 2, Wraps: h.Entries[0].Wraps}), ""), remote.ErrForbidden)
	second := storetest.NewHousehold(t, "roles") // the same keys, elsewhere
	second.Add(second.Root, storetest.NewHousehold(t, "guest").Owner, envelope.Reader)
	last := h.Delta(h.Writer, "the last that counts")
	over := h.Delta(h.Writer, "too late")
	removal := h.Remove(h.Owner, h.Writer, last.Header.Position())
	s.ok(s.as(h, h.Owner).AppendLog(ctx, removal, ""))
	s.is(s.as(h, h.Owner).AppendLog(ctx, second.Entries[3], ""), remote.ErrConflict)

	// A removed member may deliver what was accepted of it, and nothing else.
	_, err = s.as(h, h.Writer).Append(ctx, []*envelope.Delta{last, over})
	s.is(err, remote.ErrForbidden)
	_, err = s.as(h, h.Writer).Append(ctx, []*envelope.Delta{last})
	s.ok(err)
	_, _, err = s.as(h, h.Writer).Pull(ctx, 0, 1, 0)
	s.is(err, remote.ErrForbidden)
	_, err = s.as(h, h.Writer).Log(ctx, 0)
	s.is(err, remote.ErrForbidden)
	_, err = s.as(h, h.Writer).PutBlob(ctx, strings.NewReader("x"))
	s.is(err, remote.ErrForbidden)
}

// A removed owner may deliver what was accepted of it, like any other, but nothing for current
// members.
func TestRemovedOwnerCannotSpeakForMembers(t *testing.T) {
	s := serve(t, relay.Config{}, nil)
	h := s.settle("removed owner")
	own, other := h.Delta(h.Owner, "its own"), h.Delta(h.Writer, "another's")
	s.ok(s.root(h).Space(h.Space).AppendLog(t.Context(), h.Remove(h.Root, h.Owner, own.Header.Position()), ""))
	_, err := s.as(h, h.Owner).Append(t.Context(), []*envelope.Delta{other})
	s.is(err, remote.ErrForbidden)
	_, err = s.as(h, h.Owner).Append(t.Context(), []*envelope.Delta{own})
	s.ok(err)
}
