package storetest

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"io"
	"time"

	"github.com/locket-dev/locket/cloud/relay"
)

func (s *suite) forget() {
	h, other := s.settle("forget"), s.settle("other")
	d, kept := h.Delta(h.Owner, "to be forgotten"), h.Delta(h.Owner, "kept")
	_, err := s.append(h, d, kept)
	s.ok(err)
	before := s.account(h)
	refs := []relay.Ref{{Member: h.Owner.ID, Position: d.Header.Position()}, {Member: h.Writer.ID, Position: d.Header.Position()}}
	if n, err := s.Forget(s.ctx, other.Space, refs); err != nil || n != 0 {
		s.Fatal("of another space: ", n, err)
	}
	if n, err := s.Forget(s.ctx, h.Space, refs); err != nil || n != 1 {
		s.Fatal(n, err)
	}
	if n, err := s.Forget(s.ctx, h.Space, refs); err != nil || n != 0 {
		s.Fatal("twice: ", n, err)
	}
	if got := s.account(h); got.Bytes != before.Bytes-int64(len(d.Body)) {
		s.Fatalf("%d bytes of %d", got.Bytes, before.Bytes)
	}
	s.reopen()
	page, err := s.After(s.ctx, h.Space, 0, 9, 1<<20)
	s.ok(err)
	if len(page) != 2 || !bytes.Equal(page[0].Delta, d.WithoutBody().Bytes()) || !bytes.Equal(page[1].Delta, kept.Bytes()) {
		s.Fatal("what is left differs")
	}
	if cursors, err := s.append(h, d); err != nil || cursors[0] != 1 {
		s.Fatal("sent again: ", cursors, err)
	}
	if page, _ = s.After(s.ctx, h.Space, 0, 1, 1<<20); !bytes.Equal(page[0].Delta, d.WithoutBody().Bytes()) {
		s.Fatal("what is sent again comes back to life")
	}
}

func (s *suite) blobs() {
	h, other := s.settle("blobs"), s.settle("other")
	whole := bytes.Repeat([]byte("sealed bytes "), 1000)
	id := relay.BlobID(sha256.Sum256(whole))
	write := func(offset, end int) (relay.Blob, error) {
		return s.WriteBlob(s.ctx, h.Space, id, h.Writer.ID, int64(len(whole)), int64(offset), whole[offset:end], relay.Quota{}, now)
	}
	_, err := s.Blob(s.ctx, h.Space, id)
	s.is(err, relay.ErrNotFound)
	b, err := write(0, 5000)
	s.ok(err)
	if b != (relay.Blob{Author: h.Writer.ID, Size: int64(len(whole)), Offset: 5000}) {
		s.Fatalf("%+v", b)
	}
	if b, err = write(6000, 7000); !errors.Is(err, relay.ErrOffset) || b.Offset != 5000 {
		s.Fatal(b, err)
	}
	if b, err = write(4000, 6000); !errors.Is(err, relay.ErrOffset) || b.Offset != 5000 {
		s.Fatal(b, err)
	}
	_, err = s.WriteBlob(s.ctx, h.Space, id, h.Writer.ID, int64(len(whole))+1, 5000, whole[5000:], relay.Quota{}, now)
	s.is(err, relay.ErrOffset)
	_, _, err = s.OpenBlob(s.ctx, h.Space, id)
	s.is(err, relay.ErrNotFound)
	s.reopen()
	if b, err = write(0, 5000); err != nil || b.Offset != 5000 {
		s.Fatal("repeated: ", b, err)
	}
	b, err = write(5000, len(whole))
	s.ok(err)
	if !b.Done {
		s.Fatalf("%+v", b)
	}
	if b, err = write(5000, len(whole)); err != nil || !b.Done {
		s.Fatal("repeated: ", b, err)
	}
	s.reopen()
	s.ok(s.Sweep(s.ctx, now.Add(1000*time.Hour))) // a finished blob stays
	r, n, err := s.OpenBlob(s.ctx, h.Space, id)
	s.ok(err)
	got, err := io.ReadAll(r)
	s.ok(errors.Join(err, r.Close()))
	if n != int64(len(whole)) || !bytes.Equal(got, whole) {
		s.Fatal("other bytes")
	}
	_, _, err = s.OpenBlob(s.ctx, other.Space, id)
	s.is(err, relay.ErrNotFound)
	s.is(s.DeleteBlob(s.ctx, other.Space, id, nil), relay.ErrNotFound)
	_, err = s.append(h, h.Delta(h.Owner, "names it"))
	s.ok(err)
	before := s.account(h)
	for _, at := range []uint64{0, 2} {
		s.is(s.DeleteBlob(s.ctx, h.Space, id, &at), relay.ErrConflict)
	}
	if b, err = s.Blob(s.ctx, h.Space, id); err != nil || !b.Done {
		s.Fatal("it went under another cursor: ", b, err)
	}
	at := uint64(1)
	s.ok(s.DeleteBlob(s.ctx, h.Space, id, &at))
	s.is(s.DeleteBlob(s.ctx, h.Space, id, &at), relay.ErrNotFound)
	s.is(s.DeleteBlob(s.ctx, h.Space, id, nil), relay.ErrNotFound)
	if a := s.account(h); a.Bytes != before.Bytes-int64(len(whole)) || a.Blobs != before.Blobs-1 {
		s.Fatal(a)
	}
	// Bytes with another hash than the id are not kept.
	_, err = s.WriteBlob(s.ctx, h.Space, id, h.Writer.ID, 4, 0, []byte("lies"), relay.Quota{}, now)
	s.is(err, relay.ErrBlob)
	_, err = s.Blob(s.ctx, h.Space, id)
	s.is(err, relay.ErrNotFound)
	// A blob that nobody finishes is removed.
	_, err = write(0, 100)
	s.ok(err)
	s.ok(s.Sweep(s.ctx, now.Add(relay.UnfinishedBy-time.Second)))
	_, err = s.Blob(s.ctx, h.Space, id)
	s.ok(err)
	s.ok(s.Sweep(s.ctx, now.Add(relay.UnfinishedBy)))
	_, err = s.Blob(s.ctx, h.Space, id)
	s.is(err, relay.ErrNotFound)
	if a := s.account(h); a.Bytes != before.Bytes-int64(len(whole)) || a.Blobs != 0 {
		s.Fatal(a)
	}
}

func (s *suite) deletion() {
	h, other := s.settle("deletion"), s.settle("other")
	chunk := []byte("blob")
	id := relay.BlobID(sha256.Sum256(chunk))
	for _, x := range []*Household{h, other} {
		_, err := s.append(x, x.Delta(x.Owner, "text"))
		s.ok(err)
		_, err = s.WriteBlob(s.ctx, x.Space, id, x.Owner.ID, 4, 0, chunk, relay.Quota{}, now)
		s.ok(err)
	}
	s.ok(s.DeleteSpace(s.ctx, h.Space))
	s.is(s.DeleteSpace(s.ctx, h.Space), relay.ErrNotFound)
	if a := s.account(h); a.Bytes != 0 || a.Blobs != 0 || len(a.Spaces) != 0 {
		s.Fatalf("%+v is left", a)
	}
	page, err := s.After(s.ctx, h.Space, 0, 9, 1<<20)
	if err != nil || len(page) != 0 {
		s.Fatal(page, err)
	}
	_, _, err = s.OpenBlob(s.ctx, h.Space, id)
	s.is(err, relay.ErrNotFound)
	r, _, err := s.OpenBlob(s.ctx, other.Space, id)
	s.ok(err)
	s.ok(r.Close())
	if a := s.account(other); len(a.Spaces) != 1 || a.Blobs != 1 {
		s.Fatalf("%+v", a)
	}
	s.ok(s.DeleteAccount(s.ctx, relay.AccountID(other.Root.Public())))
	_, err = s.Account(s.ctx, relay.AccountID(other.Root.Public()))
	s.is(err, relay.ErrNotFound)
	_, err = s.Space(s.ctx, other.Space)
	s.is(err, relay.ErrNotFound)
	s.settle("deletion") // a deleted space can be founded again
}
