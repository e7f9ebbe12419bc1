package storetest

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"time"

	"github.com/locket-dev/locket/cloud/relay"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/sync/envelope"
)

func (s *suite) quota() {
	h := s.settle("quota")
	used := s.account(h)
	d := h.Delta(h.Owner, "some text that takes room")
	var q *relay.QuotaError
	for _, c := range []struct {
		quota relay.Quota
		what  string
	}{{relay.Quota{Bytes: used.Bytes + 10}, "bytes"}, {relay.Quota{DeltasPerDay: 1}, "deltas a day"}} {
		ds := []*envelope.Delta{d}
		if c.quota.DeltasPerDay > 0 {
			ds = append(ds, h.Delta(h.Owner, "another"))
		}
		_, err := s.Append(s.ctx, h.Space, h.State.N(), ds, c.quota, now)
		if !errors.As(err, &q) || !errors.Is(err, relay.ErrQuota) || q.What != c.what || q.Wait <= 0 {
			s.Fatalf("%s: %v", c.what, err)
		}
	}
	if got := s.account(h); got.Bytes != used.Bytes || got.Deltas != 0 {
		s.Fatal("what was refused counts: ", got)
	}
	one := relay.Quota{DeltasPerDay: 1}
	_, err := s.Append(s.ctx, h.Space, h.State.N(), []*envelope.Delta{d}, one, now)
	s.ok(err)
	_, err = s.Append(s.ctx, h.Space, h.State.N(), []*envelope.Delta{d}, one, now) // repeating it costs nothing
	s.ok(err)
	want := used.Bytes + relay.DeltaSize(len(d.Header.Bytes())+len(d.Signature)+len(d.Body))
	if got := s.account(h); got.Bytes != want || got.Deltas != 1 || got.Day != relay.Day(now) {
		s.Fatalf("%+v, want %d bytes", got, want)
	}
	h.Owner.last = &d.Header
	_, err = s.Append(s.ctx, h.Space, h.State.N(), []*envelope.Delta{h.Delta(h.Owner, "today")}, one, now)
	s.is(err, relay.ErrQuota)
	h.Owner.last = &d.Header
	_, err = s.Append(s.ctx, h.Space, h.State.N(), []*envelope.Delta{h.Delta(h.Owner, "tomorrow")}, one, now.Add(24*time.Hour))
	s.ok(err)
	chunk := []byte("blob")
	_, err = s.WriteBlob(s.ctx, h.Space, sha256.Sum256(chunk), h.Owner.ID, 4, 0, chunk, relay.Quota{Bytes: 1}, now)
	s.is(err, relay.ErrQuota)
	_, err = s.WriteBlob(s.ctx, h.Space, sha256.Sum256(chunk), h.Owner.ID, 4, 0, chunk, relay.Quota{Blobs: 1}, now)
	s.ok(err)
	_, err = s.WriteBlob(s.ctx, h.Space, relay.BlobID{1}, h.Owner.ID, 4, 0, chunk, relay.Quota{Blobs: 1}, now)
	s.is(err, relay.ErrQuota)
	e := h.Sign(h.Owner, &envelope.Entry{Action: envelope.Rekey, Epoch: 2, Wraps: wraps(memory.MemberID{}, h.Owner.ID, h.Writer.ID, h.Reader.ID)})
	s.is(s.AppendLog(s.ctx, e, nil, relay.Quota{Bytes: 1}), relay.ErrQuota)
	second := NewHousehold(s.T, "second")
	second.Root = h.Root
	s.is(s.AppendLog(s.ctx, second.Entries[0], &relay.Founding{Account: relay.AccountID(h.Root.Public())}, relay.Quota{Spaces: 1}), relay.ErrQuota)
}

func (s *suite) invites() {
	h, other := NewHousehold(s.T, "invited"), NewHousehold(s.T, "uninvited")
	code := [32]byte{1, 2, 3}
	s.ok(s.AddInvite(s.ctx, code))
	found := func(h *Household, invite *[32]byte) error {
		return s.AppendLog(s.ctx, h.Entries[0], &relay.Founding{Account: relay.AccountID(h.Root.Public()), Needed: true, Invite: invite}, relay.Quota{})
	}
	s.is(found(h, nil), relay.ErrInvite)
	s.is(found(h, &[32]byte{9}), relay.ErrInvite)
	s.ok(found(h, &code))
	s.ok(s.AddInvite(s.ctx, code)) // as happens at each start
	s.is(found(other, &code), relay.ErrInvite)
	_, err := s.Account(s.ctx, relay.AccountID(other.Root.Public()))
	s.is(err, relay.ErrNotFound)
}

func (s *suite) mailboxes() {
	a, b := relay.MailboxID{1}, relay.MailboxID{2}
	until := now.Add(time.Minute)
	for i := range relay.MaxMessages {
		n, err := s.Post(s.ctx, a, []byte{byte(i)}, now, until.Add(time.Duration(i)*time.Hour))
		s.ok(err)
		if n != i+1 {
			s.Fatal(n)
		}
	}
	_, err := s.Post(s.ctx, a, []byte("more"), now, until)
	s.is(err, relay.ErrTooLarge)
	got, err := s.Message(s.ctx, a, 2, now)
	s.ok(err)
	if !bytes.Equal(got, []byte{1}) {
		s.Fatal(got)
	}
	_, err = s.Message(s.ctx, b, 1, now)
	s.is(err, relay.ErrNotFound)
	_, err = s.Message(s.ctx, a, 2, until) // all of them expire with the first
	s.is(err, relay.ErrNotFound)
	s.ok(s.Sweep(s.ctx, until))
	n, err := s.Post(s.ctx, a, []byte("anew"), now, until.Add(time.Hour))
	s.ok(err)
	if n != 1 {
		s.Fatal(n)
	}
	// An expired message is removed when the next one is posted.
	n, err = s.Post(s.ctx, a, []byte("later"), until.Add(time.Hour), until.Add(2*time.Hour))
	s.ok(err)
	if n != 1 {
		s.Fatal("behind one that has had its time: ", n)
	}
}
