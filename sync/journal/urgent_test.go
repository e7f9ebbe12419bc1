package journal_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"testing"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/sync/envelope"
	"github.com/locket-dev/locket/sync/replica"
)

// told forwards calls to a relay and records in which order deltas and blobs go there.
type told struct {
	replica.Remote
	went  []string
	while func() // called once, before the first blob is uploaded
}

func (r *told) Append(ctx context.Context, d *envelope.Delta) error {
	r.went = append(r.went, "delta")
	return r.Remote.Append(ctx, d)
}

func (r *told) Upload(ctx context.Context, from io.ReadSeeker) (envelope.Hash, error) {
	if r.while != nil {
		r.while()
		r.while = nil
	}
	c := &counted{ReadSeeker: from}
	id, err := r.Remote.Upload(ctx, c)
	r.went = append(r.went, map[bool]string{true: "large", false: "small"}[c.n > 400_000])
	return id, err
}

// counted counts the bytes that were read since the last Seek.
type counted struct {
	io.ReadSeeker
	n int
}

func (c *counted) Read(b []byte) (int, error) {
	n, err := c.ReadSeeker.Read(b)
	c.n += n
	return n, err
}

func (c *counted) Seek(to int64, whence int) (int64, error) {
	c.n = 0
	return c.ReadSeeker.Seek(to, whence)
}

// Assertions go before photos, even if the photos were there first, and also if
// the assertions are made while a photo goes. Photos of pinned memories go
// before other photos, and small ones before large ones. The other device has
// all of them at the end.
func TestSendOrder(t *testing.T) {
	a, b := pair(t)
	at := &told{}
	a.remote = func(r replica.Remote) replica.Remote { at.Remote = r; return at }
	a.close()
	a.open()
	photos := map[byte][]byte{10: bytes.Repeat([]byte("large"), 100_000), 11: bytes.Repeat([]byte("pin"), 250_000), 12: bytes.Repeat([]byte("small"), 5_000)}
	for _, n := range []byte{10, 11, 12} {
		kept, err := a.store.WriteBlob(t.Context(), bytes.NewReader(photos[n]))
		if err != nil {
			t.Fatal(err)
		}
		a.say(memory.Assertion{Memory: memory.ID{n}, Act: memory.ActPropose, Candidate: &memory.Candidate{Type: memory.Resource, Sensitivity: memory.Personal,
			Text: fmt.Sprint("Photo number ", n), Owner: memory.Owner{User: "wearer"}, Confidence: 1, Fields: memory.Fields{Resource: &memory.ResourceFields{Title: fmt.Sprint("Photo number ", n), MediaType: "image/jpeg", Blob: kept.ID.String()}}}})
		a.update(func(tx *store.Tx) error { return tx.KeepBlob(kept, memory.ID{n}) })
	}
	a.say(memory.Assertion{Memory: memory.ID{11}, Act: memory.ActPin})
	a.say(fact(1, "The plums are ripe."))
	at.while = func() { a.say(fact(2, "The tram is late.")) }
	a.sync()
	if want := []string{"delta", "large", "delta", "delta", "small", "delta", "large", "delta"}; !slices.Equal(at.went, want) {
		t.Errorf("went as %v, want %v", at.went, want)
	}
	b.sync()
	for _, n := range []byte{1, 2, 10, 11, 12} {
		if m := b.memory(memory.ID{n}); m == nil || m.State != memory.Active || m.Pinned != (n == 11) {
			t.Errorf("%d: %+v", n, m)
		}
	}
	for n, want := range photos {
		r := b.memory(memory.ID{n}).Fields.Resource
		name, err := memory.ParseID(r.Blob)
		if err != nil {
			t.Fatal(err)
		}
		if err := b.FetchBlob(t.Context(), name); err != nil {
			t.Fatal(err)
		}
		if got := b.blob(name); !bytes.Equal(got, want) {
			t.Errorf("photo %d: %d bytes", n, len(got))
		}
	}
	all, err := a.journal().Blobs(t.Context())
	if err != nil || len(all) != 3 {
		t.Fatal(all, err)
	}
	first, err := a.journal().PinnedBlobs(t.Context(), slices.Collect(maps.Keys(all)))
	if err != nil || len(first) != 1 {
		t.Errorf("of pinned memories: %v, %v", first, err)
	}
	err = a.store.View(t.Context(), func(tx *store.Tx) error {
		for o, err := range tx.Outbox(0) {
			t.Errorf("%+v waits still, %v", o, err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
