package journal

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync"
	"syscall"
	"testing"

	"github.com/locket-dev/locket/memory"
)

// faulty is a file that fails as told, after it has written some of the bytes.
type faulty struct {
	file
	f *faults
}

type faults struct {
	create, write, sync, truncate error
	keep                          int // bytes that a failing write writes
	syncs                         int
	gate                          chan struct{} // not nil: a sync waits for it
}

func (f *faults) make(path string) (file, error) {
	if f.create != nil {
		return nil, f.create
	}
	real, err := createFile(path)
	return &faulty{real, f}, err
}

func (f *faulty) Write(b []byte) (int, error) {
	if f.f.write == nil {
		return f.file.Write(b)
	}
	n, err := f.file.Write(b[:min(f.f.keep, len(b))])
	if err == nil {
		err = f.f.write
	}
	return n, err
}

func (f *faulty) Sync() error {
	f.f.syncs++
	if f.f.gate != nil {
		f.f.gate <- struct{}{}
		<-f.f.gate
	}
	if f.f.sync != nil {
		return f.f.sync
	}
	return f.file.Sync()
}

func (f *faulty) Truncate(n int64) error {
	if f.f.truncate != nil {
		return f.f.truncate
	}
	return f.file.Truncate(n)
}

// Each kind of error, in a new segment and in one with entries: nothing is acknowledged, and
// afterwards the journal continues, here and after a restart.
func TestErrorsOfTheDisk(t *testing.T) {
	boom := errors.New("boom")
	for name, set := range map[string]faults{
		"create":              {create: boom},
		"create, full":        {create: &os.PathError{Op: "open", Err: syscall.ENOSPC}},
		"write":               {write: boom},
		"write, full":         {write: syscall.ENOSPC, keep: 7},
		"write, most of it":   {write: syscall.ENOSPC, keep: 1850},
		"write, not cut back": {write: syscall.ENOSPC, keep: 30, truncate: boom},
		"sync":                {sync: boom},
		"sync, full":          {sync: syscall.ENOSPC},
		"sync, not cut back":  {sync: boom, truncate: boom},
	} {
		for _, before := range []int{0, 5} {
			t.Run(fmt.Sprintf("%s after %d", name, before), func(t *testing.T) {
				dir := t.TempDir()
				f := &faults{}
				j := open(t, dir, small)
				j.make = f.make
				fill(t, j, 0, before)
				if set.create != nil && before > 0 {
					j.opt.MaxSegment = 1 // so that a segment is due
				}
				*f = set
				for range 3 {
					_, err := j.Append(context.Background(), []byte("not acknowledged"))
					full := errors.Is(set.write, syscall.ENOSPC) || errors.Is(set.sync, syscall.ENOSPC) || errors.Is(set.create, syscall.ENOSPC)
					if err == nil || errors.Is(err, memory.ErrNoSpace) != full || !full && !errors.Is(err, boom) {
						t.Fatalf("append: %v", err)
					}
				}
				*f = faults{}
				fill(t, j, before, before+3)
				st := j.Stats()
				if st.Refused != 3 || st.Appended != int64(before+3) || st.Entries != int64(before+3) {
					t.Errorf("stats: %+v", st)
				}
				for _, what := range []string{"at once", "after a restart"} {
					entries, damage := drain(t, j, 0)
					var acked []Entry
					for _, e := range entries {
						if !bytes.Equal(e.Data, []byte("not acknowledged")) {
							acked = append(acked, e)
						}
					}
					if expect(t, acked, before+3); len(damage) != 0 {
						t.Fatalf("%s: %v", what, damage)
					}
					j = open(t, dir, small)
				}
			})
		}
	}
}

// After a failed sync the same file is never written or synced again.
func TestFailedSyncEndsTheSegment(t *testing.T) {
	j := open(t, t.TempDir(), small)
	f := &faults{}
	j.make = f.make
	first := fill(t, j, 0, 1)[0]
	f.sync = errors.New("boom")
	if _, err := j.Append(context.Background(), entry(1)); err == nil {
		t.Fatal("acknowledged")
	}
	f.sync = nil
	next := fill(t, j, 1, 2)[0]
	if first>>indexBits == next>>indexBits {
		t.Errorf("seq %x follows %x in the same segment", next, first)
	}
}

func TestConcurrentAppendsShareASync(t *testing.T) {
	const n = 40
	j := open(t, t.TempDir(), Options{Reserve: -1})
	f := &faults{gate: make(chan struct{})}
	j.make = f.make
	var wg sync.WaitGroup
	add := func(i int) {
		wg.Go(func() {
			if _, err := j.Append(context.Background(), entry(i)); err != nil {
				t.Error(err)
			}
		})
	}
	add(0)
	<-f.gate // the first one is syncing
	for i := 1; i < n; i++ {
		add(i)
	}
	waitPending(j, n-1)
	if st := j.Stats(); st.Appended != 0 {
		t.Errorf("%d acknowledged before the sync", st.Appended)
	}
	f.gate <- struct{}{}
	<-f.gate // the rest
	f.gate <- struct{}{}
	wg.Wait()
	if st := j.Stats(); f.syncs != 2 || st.Commits != 2 || st.Appended != n {
		t.Errorf("%d syncs, %+v", f.syncs, st)
	}
	f.gate = nil
	if entries, _ := drain(t, j, 0); len(entries) != n {
		t.Errorf("%d entries", len(entries))
	}
}

// waitPending returns when n appends are waiting for their commit.
func waitPending(j *Journal, n int) {
	for {
		j.mu.Lock()
		have := len(j.pending)
		j.mu.Unlock()
		if have == n {
			return
		}
		runtime.Gosched()
	}
}

func TestAppendObeysItsContext(t *testing.T) {
	j := open(t, t.TempDir(), Options{Reserve: -1})
	f := &faults{gate: make(chan struct{})}
	j.make = f.make
	inSync := make(chan error, 1)
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		_, err := j.Append(ctx, entry(0))
		inSync <- err
	}()
	<-f.gate
	waiting := make(chan error, 1)
	go func() {
		_, err := j.Append(ctx, []byte("withdrawn"))
		waiting <- err
	}()
	waitPending(j, 1)
	cancel()
	if err := <-waiting; !errors.Is(err, context.Canceled) {
		t.Errorf("not begun: %v", err)
	}
	f.gate <- struct{}{}
	if err := <-inSync; err != nil {
		t.Errorf("begun: %v, though it is on disk", err)
	}
	f.gate = nil
	if _, err := j.Append(ctx, entry(1)); !errors.Is(err, context.Canceled) {
		t.Errorf("context over: %v", err)
	}
	entries, _ := drain(t, j, 0)
	expect(t, entries, 1)
}

func TestCloseEndsWaitingAppends(t *testing.T) {
	j := open(t, t.TempDir(), Options{Reserve: -1})
	f := &faults{gate: make(chan struct{})}
	j.make = f.make
	errs := make(chan error, 3)
	add := func() { _, err := j.Append(context.Background(), entry(0)); errs <- err }
	go add()
	<-f.gate
	go add()
	go add()
	waitPending(j, 2)
	closed := make(chan error, 1)
	go func() { closed <- j.Close() }()
	go func() { // answers every sync, in any order
		f.gate <- struct{}{}
		for range f.gate {
			f.gate <- struct{}{}
		}
	}()
	acked := 0
	for range 3 {
		switch err := <-errs; {
		case err == nil:
			acked++
		case !errors.Is(err, ErrClosed):
			t.Error(err)
		}
	}
	if err := <-closed; err != nil {
		t.Error(err)
	}
	close(f.gate)
	if entries, _ := drain(t, j, 0); len(entries) != acked || acked == 0 {
		t.Errorf("%d entries, %d acknowledged", len(entries), acked)
	}
}

// Writers, readers and a releaser run at the same time; run it with -race.
func TestManyAtOnce(t *testing.T) {
	const writers, each = 8, 150
	j := open(t, t.TempDir(), small)
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for i := range each {
				if _, err := j.Append(context.Background(), fmt.Appendf(nil, "%d %d", w, i)); err != nil {
					t.Error(err)
					return
				}
				j.Stats()
			}
		})
	}
	for range 2 {
		wg.Go(func() {
			r, err := j.Reader(testIdentity(t), 0)
			if err != nil {
				t.Error(err)
				return
			}
			defer r.Close()
			next, last := [writers]int{}, uint64(0)
			for range writers * each {
				e, err := r.Next(context.Background())
				if err != nil {
					t.Error(err)
					return
				}
				var w, i int
				if _, err := fmt.Sscanf(string(e.Data), "%d %d", &w, &i); err != nil || i != next[w] || e.Seq <= last {
					t.Errorf("seq %x: %q, want %d of writer %d (%v)", e.Seq, e.Data, next[w], w, err)
					return
				}
				next[w], last = i+1, e.Seq
			}
		})
	}
	wg.Wait()
	before := j.Stats()
	if err := j.Release(before.Last); err != nil {
		t.Fatal(err)
	}
	if st := j.Stats(); st.Segments != 1 || before.Entries != writers*each {
		t.Errorf("%+v, then %+v", before, st)
	}
}
