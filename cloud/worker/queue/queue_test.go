package queue

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/locket-dev/locket/memory"
)

type clock struct{ t time.Time }

func (c *clock) now() time.Time { return c.t }

func open(t *testing.T, file string, c *clock) *Queue {
	t.Helper()
	q, err := Open(t.Context(), file, c.now)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { q.Close() })
	return q
}

func take(t *testing.T, q *Queue) *Job {
	t.Helper()
	j, _, err := q.Take(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return j
}

var space = memory.SpaceID{1, 2, 3}

func TestOnceOnly(t *testing.T) {
	q := open(t, filepath.Join(t.TempDir(), "jobs"), &clock{time.Unix(1e9, 0)})
	for i, want := range []bool{true, false} {
		if added, err := q.Add(t.Context(), space, memory.ID{7}, Transcribe); err != nil || added != want {
			t.Fatalf("%d: %v, %v", i, added, err)
		}
	}
	j := take(t, q)
	if j.Memory != (memory.ID{7}) || j.Space != space || j.Kind != Transcribe || j.Attempts != 1 || j.State != Running {
		t.Errorf("%+v", j)
	}
	if _, next, err := q.Take(t.Context()); !errors.Is(err, ErrNone) || !next.IsZero() {
		t.Errorf("a job was given twice: %v, %v", next, err)
	}
	if err := q.Finish(t.Context(), j, "x"); err != nil {
		t.Fatal(err)
	}
	if added, _ := q.Add(t.Context(), space, memory.ID{7}, Transcribe); added {
		t.Error("what is done was added again")
	}
	if added, _ := q.Add(t.Context(), space, memory.ID{7}, Read); !added {
		t.Error("another kind is another job")
	}
}

func TestPutOffAndPark(t *testing.T) {
	c := &clock{time.Unix(1e9, 0)}
	q := open(t, filepath.Join(t.TempDir(), "jobs"), c)
	if _, err := q.Add(t.Context(), space, memory.ID{7}, Transcribe); err != nil {
		t.Fatal(err)
	}
	for i := 1; i <= MaxAttempts; i++ {
		j := take(t, q)
		wait := 10 * time.Second << (i - 1)
		if i == 2 { // the service asks for more
			wait = time.Hour
		}
		if err := q.PutOff(t.Context(), j, "x", "busy", wait); err != nil || j.Attempts != i {
			t.Fatal(j, err)
		}
		if i == MaxAttempts {
			break
		}
		if _, next, err := q.Take(t.Context()); !errors.Is(err, ErrNone) || !next.Equal(c.t.Add(wait)) {
			t.Fatalf("attempt %d: next %v, %v", i, next, err)
		}
		c.t = c.t.Add(wait)
	}
	list, err := q.List(t.Context(), Parked, 0)
	if err != nil || len(list) != 1 || list[0].Reason != "busy (tried 5 times)" || list[0].Engine != "x" {
		t.Fatalf("%+v, %v", list, err)
	}
	if n, err := q.Retry(t.Context(), Transcribe, "x"); n != 0 || err != nil {
		t.Errorf("the same engine is not another: %d, %v", n, err)
	}
	if n, err := q.Retry(t.Context(), Transcribe, "y"); n != 1 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	if j := take(t, q); j.Attempts != 1 {
		t.Errorf("%+v", j)
	}
}

func TestEndedInTheMidst(t *testing.T) {
	c := &clock{time.Unix(1e9, 0)}
	file := filepath.Join(t.TempDir(), "jobs")
	q := open(t, file, c)
	if _, err := q.Add(t.Context(), space, memory.ID{7}, Read); err != nil {
		t.Fatal(err)
	}
	for i := 1; i <= MaxAttempts; i++ {
		if j := take(t, q); j.Attempts != i {
			t.Fatalf("%+v", j)
		}
		q.Close()
		q = open(t, file, c)
	}
	list, err := q.List(t.Context(), "", 0)
	if err != nil || len(list) != 1 || list[0].State != Parked || !strings.Contains(list[0].Reason, "ended in the midst") {
		t.Fatalf("%+v, %v", list, err)
	}
}

func TestLookDisturbsNothing(t *testing.T) {
	file := filepath.Join(t.TempDir(), "jobs")
	q := open(t, file, &clock{time.Unix(1e9, 0)})
	q.Add(t.Context(), space, memory.ID{7}, Read)
	take(t, q)
	l, err := Look(file)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if list, err := l.List(t.Context(), Running, 0); err != nil || len(list) != 1 {
		t.Errorf("%+v, %v", list, err)
	}
	if _, err := l.Add(t.Context(), space, memory.ID{8}, Read); err == nil {
		t.Error("it was written to")
	}
	if _, err := Look(file + "x"); err == nil {
		t.Error("a queue that isn't there was opened")
	}
}

func TestReturn(t *testing.T) {
	q := open(t, filepath.Join(t.TempDir(), "jobs"), &clock{time.Unix(1e9, 0)})
	q.Add(t.Context(), space, memory.ID{7}, Read)
	if err := q.Return(t.Context(), take(t, q), 0); err != nil {
		t.Fatal(err)
	}
	if j := take(t, q); j.Attempts != 1 {
		t.Errorf("%+v", j)
	}
}

func TestDropLeavesNothing(t *testing.T) {
	file := filepath.Join(t.TempDir(), "jobs")
	q := open(t, file, &clock{time.Unix(1e9, 0)})
	id := memory.ID([]byte("a-very-own-id-16"))
	other := memory.SpaceID{9}
	q.Add(t.Context(), space, id, Read)
	q.Add(t.Context(), other, memory.ID{1}, Read)
	if err := q.Park(t.Context(), take(t, q), "x", "for this very reason"); err != nil {
		t.Fatal(err)
	}
	if err := q.Drop(t.Context(), space); err != nil {
		t.Fatal(err)
	}
	if list, err := q.List(t.Context(), "", 0); err != nil || len(list) != 1 || list[0].Space != other {
		t.Errorf("%+v, %v", list, err)
	}
	files, _ := filepath.Glob(file + "*")
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil || bytes.Contains(b, id[:]) || bytes.Contains(b, []byte("for this very reason")) {
			t.Errorf("%s still holds it, %v", f, err)
		}
	}
}

func TestEachJobToOne(t *testing.T) {
	q := open(t, filepath.Join(t.TempDir(), "jobs"), &clock{time.Unix(1e9, 0)})
	const jobs = 20
	for i := range jobs {
		if _, err := q.Add(t.Context(), space, memory.ID{byte(i)}, Read); err != nil {
			t.Fatal(err)
		}
	}
	var mu sync.Mutex
	var wg sync.WaitGroup
	seen := map[memory.ID]int{}
	for range 4 {
		wg.Go(func() {
			for {
				j, _, err := q.Take(t.Context())
				if err != nil {
					if !errors.Is(err, ErrNone) {
						t.Error(err)
					}
					return
				}
				mu.Lock()
				seen[j.Memory]++
				mu.Unlock()
				if err := q.Finish(t.Context(), j, "x"); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	for id, n := range seen {
		if n != 1 {
			t.Errorf("%s was done %d times", id, n)
		}
	}
	if len(seen) != jobs {
		t.Errorf("%d jobs done", len(seen))
	}
}

func TestNewerAndDamaged(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "jobs")
	q := open(t, file, &clock{time.Unix(1e9, 0)})
	q.db.Exec(`PRAGMA user_version = 2`)
	q.Close()
	if _, err := Open(t.Context(), file, nil); err == nil || !strings.Contains(err.Error(), "later version") {
		t.Error(err)
	}
	os.WriteFile(filepath.Join(dir, "other"), []byte(strings.Repeat("not a database ", 100)), 0o600)
	if _, err := Open(t.Context(), filepath.Join(dir, "other"), nil); err == nil {
		t.Error("something else was opened")
	}
}
