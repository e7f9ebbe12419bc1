package archive

import (
	"bytes"
	"errors"
	"testing"

	"github.com/locket-dev/locket/cloud/relay"
	"github.com/locket-dev/locket/cloud/relay/embedded"
	"github.com/locket-dev/locket/cloud/relay/storetest"
	"github.com/locket-dev/locket/sync/envelope"
)

// An archive with correct checksums is still checked: its content must be signed, in order, and
// must belong to the space and account under which it is stored.
func TestForgedRecords(t *testing.T) {
	h, other := storetest.NewHousehold(t, "real"), storetest.NewHousehold(t, "other")
	one, two := h.Delta(h.Owner, "one"), h.Delta(h.Owner, "two")
	root := relay.AccountID(h.Root.Public())
	forged := *one
	forged.Signature = make([]byte, 64)
	swapped := *one
	swapped.Body = []byte("another body")
	reader := h.Seal(h.Reader, envelope.Header{Space: h.Space, Member: h.Reader.ID, Incarnation: 1, Seq: 1, Head: h.State.Head(), Epoch: h.State.Epoch()}, "x")
	type rec struct {
		kind byte
		v    any
	}
	log := func(h *storetest.Household, n int) (out []rec) {
		for _, e := range h.Entries[:n] {
			out = append(out, rec{kindEntry, e.Bytes()})
		}
		return out
	}
	begin := func(entries, cursor uint64) []rec {
		return []rec{{kindAccount, account{ID: root, Spaces: 1}}, {kindSpace, space{ID: h.Space, Account: root, Entries: entries, Cursor: cursor}}}
	}
	join := func(parts ...[]rec) (out []rec) {
		for _, p := range parts {
			out = append(out, p...)
		}
		return out
	}
	delta := func(ds ...*envelope.Delta) (out []rec) {
		for _, d := range ds {
			out = append(out, rec{kindDelta, d.Bytes()})
		}
		return out
	}
	b := []rec{{kindBlob, blob{ID: relay.BlobID{1}, Author: h.Owner.ID, Size: 4}}}
	cp := &envelope.Checkpoint{Space: h.Space, Author: h.Owner.ID, Head: h.State.Head(), Epoch: 1, Cursor: 1, Manifest: envelope.Hash{1}, Size: 1,
		Places: []envelope.Place{{Member: h.Owner.ID, Incarnation: 1, Seq: 1, Hash: one.Header.Hash()}}}
	if err := cp.Sign(envelope.KeySigner(h.Owner.Key)); err != nil {
		t.Fatal(err)
	}
	vote := &envelope.Vote{Space: h.Space, Member: h.Owner.ID, Checkpoint: cp.Hash(), Verdict: envelope.Agree, Head: h.State.Head()}
	if err := vote.Sign(envelope.KeySigner(h.Owner.Key)); err != nil {
		t.Fatal(err)
	}
	elsewhere := *vote
	elsewhere.Space = other.Space
	kept := func(id, about envelope.Hash, b []byte) []rec {
		return []rec{{kindRecord, record{ID: id, About: about, Bytes: b}}}
	}
	votes := join(begin(3, 0), log(h, 3), kept(cp.Hash(), cp.Hash(), cp.Bytes()))
	for range relay.MaxRecords { // the relay stores as many of them as come at the same time
		votes = append(votes, kept(vote.Hash(), cp.Hash(), vote.Bytes())...)
	}
	for name, c := range map[string]struct {
		records []rec
		fine    bool
	}{
		"as it is":              {records: join(begin(3, 2), log(h, 3), delta(one, two)), fine: true},
		"void blob":             {records: join(begin(3, 0), log(h, 3), b, []rec{{kindVoid, relay.BlobID{1}}}), fine: true},
		"checkpoint, vote":      {records: join(begin(3, 0), log(h, 3), kept(cp.Hash(), cp.Hash(), cp.Bytes()), kept(vote.Hash(), cp.Hash(), vote.Bytes())), fine: true},
		"many votes":            {records: votes, fine: true},
		"vote left behind":      {records: join(begin(3, 0), log(h, 3), kept(vote.Hash(), cp.Hash(), vote.Bytes())), fine: true},
		"no checkpoint":         {records: join(begin(3, 0), log(h, 3), kept(cp.Hash(), cp.Hash(), []byte("x")))},
		"no vote":               {records: join(begin(3, 0), log(h, 3), kept(vote.Hash(), cp.Hash(), cp.Bytes()))},
		"another checkpoint":    {records: join(begin(3, 0), log(h, 3), kept(one.Header.Hash(), one.Header.Hash(), cp.Bytes()))},
		"vote on another":       {records: join(begin(3, 0), log(h, 3), kept(vote.Hash(), envelope.Hash{9}, vote.Bytes()))},
		"vote of another space": {records: join(begin(3, 0), log(h, 3), kept(elsewhere.Hash(), cp.Hash(), elsewhere.Bytes()))},
		"signature":             {records: join(begin(3, 1), log(h, 3), delta(&forged))},
		"body":                  {records: join(begin(3, 1), log(h, 3), delta(&swapped))},
		"gap":                   {records: join(begin(3, 1), log(h, 3), delta(two))},
		"twice":                 {records: join(begin(3, 2), log(h, 3), delta(one, one))},
		"by a reader":           {records: join(begin(3, 1), log(h, 3), delta(reader))},
		"of another space":      {records: join(begin(3, 1), log(h, 3), delta(other.Delta(other.Owner, "x")))},
		"log of another":        {records: join(begin(3, 0), log(other, 3))},
		"log cut":               {records: join(begin(3, 0), log(h, 2))},
		"log longer":            {records: join(begin(2, 0), log(h, 3))},
		"deltas cut":            {records: join(begin(3, 2), log(h, 3), delta(one))},
		"deltas before the log": {records: join(begin(3, 1), delta(one), log(h, 3))},
		"blob of other bytes":   {records: join(begin(3, 0), log(h, 3), b, []rec{{kindChunk, []byte("lies")}})},
		"blob too long":         {records: join(begin(3, 0), log(h, 3), b, []rec{{kindChunk, []byte("longer")}})},
		"blob cut":              {records: join(begin(3, 0), log(h, 3), b)},
		"blob, then a delta":    {records: join(begin(3, 0), log(h, 3), b, delta(one))},
		"empty pieces":          {records: join(begin(3, 0), log(h, 3), b, []rec{{kindChunk, []byte{}}})},
		"blob of a size":        {records: join(begin(3, 0), log(h, 3), []rec{{kindBlob, blob{ID: relay.BlobID{1}, Size: 1 << 60}}})},
		"account cut":           {records: []rec{{kindAccount, account{ID: root, Spaces: 2}}, begin(0, 0)[1]}},
		"space without account": {records: begin(0, 0)[1:]},
		"space of another":      {records: []rec{{kindAccount, account{ID: relay.AccountID{9}, Spaces: 1}}, begin(0, 0)[1]}},
		"late invitation":       {records: join(begin(0, 0), []rec{{kindInvite, invite{}}})},
		"unknown kind":          {records: join(begin(3, 0), log(h, 3), []rec{{'?', 1}})},
	} {
		var out bytes.Buffer
		w, err := newWriter(&out)
		for _, r := range c.records {
			err = errors.Join(err, w.put(r.kind, r.v))
		}
		if err := errors.Join(err, w.end()); err != nil {
			t.Fatal(err)
		}
		whole := out.Bytes()
		if _, err := Verify(t.Context(), &out); (err == nil) != c.fine {
			t.Errorf("%s: %v", name, err)
		}
		if !c.fine {
			continue
		}
		s, err := embedded.Open(t.Context(), t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Restore(t.Context(), bytes.NewReader(whole), s); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}
