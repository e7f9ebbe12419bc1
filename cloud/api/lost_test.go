package api_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/locket-dev/locket/cloud/relay/pgtest"
	"github.com/locket-dev/locket/cloud/relay/storetest"
	"github.com/locket-dev/locket/sync/envelope"
	"github.com/locket-dev/locket/sync/remote"
	"github.com/locket-dev/locket/sync/remote/page"
)

// The database crashes and restarts while members append. Everything acknowledged is there once, in
// its place, and the rest is sent again. Meanwhile the relay answers that it is unavailable, and is
// not ready.
func TestDatabaseCrashes(t *testing.T) {
	durable := pgtest.Cluster{Durable: true}
	t.Cleanup(func() {
		if err := durable.Stop(); err != nil {
			t.Error(err)
		}
	})
	s := instance(t, database(t, &durable), t.TempDir(), nil)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	const crashes = 3
	houses := []*storetest.Household{s.settle("one"), s.settle("two"), s.settle("three")}
	taken := make([]map[uint64]envelope.Hash, len(houses)) // by cursor
	kept := map[remote.BlobID][]byte{}                     // the first household's acknowledged blobs
	var acknowledged atomic.Int64
	var over atomic.Bool
	var members sync.WaitGroup
	for i, h := range houses {
		taken[i] = map[uint64]envelope.Hash{}
		at := s.as(h, h.Owner)
		members.Go(func() {
			for n := 0; !over.Load(); n++ {
				d := h.Delta(h.Owner, fmt.Sprintf("%d of house %d", n, i))
				for {
					cursors, err := at.Append(ctx, []*envelope.Delta{d})
					if err == nil {
						taken[i][cursors[0]] = d.Header.Hash()
						acknowledged.Add(1)
						break
					}
					if ctx.Err() != nil || !errors.Is(err, remote.ErrBusy) {
						t.Error(err)
						return
					}
				}
			}
		})
	}
	members.Go(func() { // in two chunks each
		at := s.as(houses[0], houses[0].Writer)
		for n := 0; !over.Load(); n++ {
			whole := bytes.Repeat([]byte{byte(n), byte(n >> 8), 3}, page.MaxChunk/2)
			for {
				id, err := at.PutBlob(ctx, bytes.NewReader(whole))
				if err == nil {
					kept[id] = whole
					break
				}
				if ctx.Err() != nil || !errors.Is(err, remote.ErrBusy) {
					t.Error("blob: ", err, s.logs)
					return
				}
			}
		}
	})
	ready := func() int {
		res, err := http.Get("http://" + s.addr + "/readyz")
		s.ok(err)
		_, err = io.Copy(io.Discard, res.Body) // so that the connection is reused, since an address may open only so many
		s.ok(errors.Join(err, res.Body.Close()))
		return res.StatusCode
	}
	await := func(what string, is func() bool) {
		t.Helper()
		for !is() {
			select {
			case <-ctx.Done():
				t.Fatalf("not %s: %s", what, s.logs)
			case <-time.After(10 * time.Millisecond):
			}
		}
	}
	for range crashes {
		before := acknowledged.Load()
		await("appending", func() bool { return acknowledged.Load() >= before+20 || t.Failed() })
		s.ok(durable.Kill())
		await("said to be gone", func() bool { return ready() == 503 })
		s.ok(durable.Restart(ctx))
		await("ready again", func() bool { return ready() == 200 })
	}
	over.Store(true)
	members.Wait()
	for id, whole := range kept {
		f := file(t)
		n, err := s.as(houses[0], houses[0].Reader).GetBlob(ctx, id, f, int64(len(whole)))
		if err != nil || n != int64(len(whole)) {
			t.Errorf("a blob that was acknowledged is not there: %d bytes, %v", n, err)
		}
	}
	if len(kept) == 0 {
		t.Error("no blob was acknowledged")
	}
	for i, h := range houses {
		got, next := map[uint64]envelope.Hash{}, uint64(0)
		for {
			ds, cursor, err := s.as(h, h.Owner).Pull(ctx, next, 200, 0)
			s.ok(err)
			if len(ds) == 0 {
				break
			}
			for _, d := range ds {
				next++
				if d.Header.Seq != next {
					t.Fatalf("house %d: after %d of its chain comes %d", i, next-1, d.Header.Seq)
				}
				got[next] = d.Header.Hash()
			}
			next = cursor
		}
		if len(got) != len(taken[i]) {
			t.Errorf("house %d: %d deltas, %d acknowledged", i, len(got), len(taken[i]))
		}
		for cursor, hash := range taken[i] {
			if got[cursor] != hash {
				t.Errorf("house %d: what was acknowledged at %d is not there", i, cursor)
			}
		}
	}
}
