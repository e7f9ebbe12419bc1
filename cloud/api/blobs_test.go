package api_test

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/locket-dev/locket/cloud/api"
	"github.com/locket-dev/locket/cloud/relay"
	"github.com/locket-dev/locket/sync/remote"
	"github.com/locket-dev/locket/sync/remote/page"
)

func TestBlobs(t *testing.T) {
	s := serve(t, relay.Config{}, nil)
	h := s.settle("blobs")
	ctx := t.Context()
	whole := make([]byte, 2*page.MaxChunk+12345)
	rand.Read(whole)
	// The first call fails after its first chunk.
	broken := &failing{Reader: bytes.NewReader(whole), after: int64(len(whole)) + page.MaxChunk}
	_, err := s.as(h, h.Writer).PutBlob(ctx, broken)
	s.is(err, errBroken)
	id, err := s.as(h, h.Writer).PutBlob(ctx, bytes.NewReader(whole))
	s.ok(err)
	again, err := s.as(h, h.Owner).PutBlob(ctx, bytes.NewReader(whole))
	s.ok(err)
	if again != id {
		t.Fatal("two ids for the same bytes")
	}
	// Three chunks were sent in total, none twice.
	if n := strings.Count(s.logs.String(), `"method":"PUT"`); n != 3 {
		t.Fatalf("%d chunks", n)
	}
	f := file(t)
	if _, err := f.Write(whole[:100]); err != nil { // left by an earlier call
		t.Fatal(err)
	}
	n, err := s.as(h, h.Reader).GetBlob(ctx, id, f, int64(len(whole)))
	s.ok(err)
	got, err := os.ReadFile(f.Name())
	s.ok(err)
	if n != int64(len(whole)) || !bytes.Equal(got, whole) {
		t.Fatal("other bytes")
	}
	_, err = s.as(h, h.Reader).GetBlob(ctx, id, file(t), int64(len(whole))-1)
	s.is(err, remote.ErrAnswer)
	wrong := file(t)
	if _, err := wrong.Write([]byte("wrong beginning")); err != nil {
		t.Fatal(err)
	}
	_, err = s.as(h, h.Reader).GetBlob(ctx, id, wrong, int64(len(whole)))
	s.is(err, remote.ErrBlob)
	s.ok(s.as(h, h.Owner).DeleteBlob(ctx, id, nil))
	_, err = s.as(h, h.Reader).GetBlob(ctx, id, file(t), int64(len(whole)))
	s.is(err, remote.ErrNotFound)
	if left, _ := filepath.Glob(filepath.Join(s.dir, "blobs", "*", "*")); len(left) != 0 {
		t.Fatal(left)
	}
}

var errBroken = errors.New("broken off")

// failing fails once the given number of bytes has been read.
type failing struct {
	*bytes.Reader
	after int64
}

func (f *failing) WriteTo(w interface{ Write([]byte) (int, error) }) (int64, error) {
	n, err := f.Reader.WriteTo(w)
	f.after -= n
	return n, err
}

func (f *failing) Read(b []byte) (int, error) {
	if f.after <= 0 {
		return 0, errBroken
	}
	n, err := f.Reader.Read(b)
	f.after -= int64(n)
	return n, err
}

// A recording grows, shrinks or changes while it is sent. What came of it never appears under an id
// that is not its hash, and later it can be sent in full.
func TestBlobChangesDuringUpload(t *testing.T) {
	s := serve(t, relay.Config{}, nil)
	h := s.settle("changing")
	before := make([]byte, page.MaxChunk+1000)
	rand.Read(before)
	changed := bytes.Clone(before)
	changed[len(changed)-1] ^= 1
	for name, after := range map[string][]byte{"grown": append(bytes.Clone(before), "more"...), "shrunk": before[:len(before)-1], "changed": changed} {
		id, err := s.as(h, h.Owner).PutBlob(t.Context(), &changing{Reader: bytes.NewReader(before), after: after})
		if want := sha256.Sum256(before); id != remote.BlobID(want) {
			t.Fatalf("%s: id of something else", name)
		}
		if name == "grown" { // the part that was there at first was sent
			s.ok(err)
			s.ok(s.as(h, h.Owner).DeleteBlob(t.Context(), id, nil))
		} else if err == nil {
			t.Errorf("%s: taken", name)
		}
		if _, err := s.as(h, h.Reader).GetBlob(t.Context(), id, file(t), 4<<20); !errors.Is(err, remote.ErrNotFound) && !errors.Is(err, remote.ErrAnswer) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, b := range [][]byte{before, changed} {
		id, err := s.as(h, h.Owner).PutBlob(t.Context(), bytes.NewReader(b))
		s.ok(err)
		if n, err := s.as(h, h.Reader).GetBlob(t.Context(), id, file(t), 4<<20); err != nil || n != int64(len(b)) {
			t.Error(n, err)
		}
	}
}

// changing has other bytes once it has been read to its end.
type changing struct {
	*bytes.Reader
	after []byte
}

func (c *changing) WriteTo(w io.Writer) (int64, error) {
	n, err := c.Reader.WriteTo(w)
	c.Reader = bytes.NewReader(c.after)
	return n, err
}

func file(t *testing.T) *os.File {
	t.Helper()
	f, err := os.CreateTemp(t.TempDir(), "blob")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

func TestMailbox(t *testing.T) {
	s := serve(t, relay.Config{}, func(c *api.Config) { c.StrangersPerMinute = 12 })
	ctx := t.Context()
	id := remote.MailboxID{1, 2, 3}
	got := make(chan string, 1)
	go func() {
		b, err := s.client().Message(ctx, id, 0, 55*time.Second)
		got <- fmt.Sprint(string(b), err)
	}()
	for s.relay.Mail().Listening() == 0 && ctx.Err() == nil {
		runtime.Gosched()
	}
	if n, err := s.client().Post(ctx, id, []byte("hello")); err != nil || n != 1 {
		t.Fatal(n, err)
	}
	if m := <-got; m != "hello<nil>" {
		t.Fatal(m)
	}
	if b, err := s.client().Message(ctx, id, 1, 0); err != nil || b != nil {
		t.Fatal(b, err)
	}
	if b, err := s.client().Message(ctx, remote.MailboxID{}, 0, 0); err != nil || b != nil {
		t.Fatal(b, err)
	}
	_, err := s.client().Message(ctx, id, relay.MaxMessages, 0) // there can't be a message with that number
	s.is(err, remote.ErrNotFound)
	if res, b := get(t, "http://"+s.addr+"/v1/mailboxes/"+strings.Repeat("AB", 16)); res.StatusCode != 400 {
		t.Error("a second name of a mailbox: ", res.Status, b)
	}
	_, err = s.client().Post(ctx, id, make([]byte, page.MaxMessage+1))
	var e *remote.Error
	if !errors.As(err, &e) || e.Kind != page.TooLarge {
		t.Fatal(err)
	}
	for range 12 {
		if _, err = s.client().Message(ctx, id, 0, 0); err != nil {
			break
		}
	}
	s.is(err, remote.ErrQuota)
}

// Somebody who knows what an owner is about to send can begin it with another length. That does not
// block the owner for long.
func TestBlobBegunWithAnotherLength(t *testing.T) {
	s := serve(t, relay.Config{}, nil)
	h := s.settle("squatted")
	whole := []byte("what is about to be sent")
	id := sha256.Sum256(whole)
	_, err := s.store.WriteBlob(t.Context(), h.Space, id, h.Writer.ID, 1000, 0, []byte("in the way"), relay.Quota{}, time.Now())
	s.ok(err)
	got, err := s.as(h, h.Owner).PutBlob(t.Context(), bytes.NewReader(whole))
	s.ok(err)
	if offset, size, err := s.as(h, h.Owner).HasBlob(t.Context(), got); err != nil || offset != size || size != int64(len(whole)) {
		t.Error(offset, size, err)
	}
}
