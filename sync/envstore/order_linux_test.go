package envstore

import (
	"bytes"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/sync/envelope"
	"github.com/locket-dev/locket/sync/replica"
)

const limitEnv = "LOCKET_TEST_SHELF_LIMIT"

// limited runs the test alone in a child process, in which the size of files can be limited,
// because a limit would also affect the test's own log. It returns false in the parent.
func limited(t *testing.T) bool {
	t.Helper()
	if os.Getenv(limitEnv) != "" {
		return true
	}
	child := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
	child.Env = append(os.Environ(), limitEnv+"=1")
	if out, err := child.CombinedOutput(); err != nil || !bytes.Contains(out, []byte("--- PASS: "+t.Name())) {
		t.Fatalf("%v: %s", err, out)
	}
	return false
}

// under runs f while no file may grow over size bytes.
func under(t *testing.T, size int64, f func()) {
	t.Helper()
	signal.Ignore(syscall.SIGXFSZ)
	defer signal.Reset(syscall.SIGXFSZ)
	var was syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &was); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: uint64(size), Max: was.Max}); err != nil {
		t.Fatal(err)
	}
	f()
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &was); err != nil {
		t.Fatal(err)
	}
}

// If only a part of a line is written, for example because the disk is full, it
// is removed again.
func TestPartialLineIsRemoved(t *testing.T) {
	if !limited(t) {
		return
	}
	path := filepath.Join(t.TempDir(), "order")
	ref := chain{member: memory.MemberID{1}, incarnation: 2}.ref
	if err := appendRef(path, ref(1)); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	var full error
	under(t, info.Size()+7, func() { full = appendRef(path, ref(2)) })
	if full == nil {
		t.Fatal("no error at the limit")
	}
	if err := appendRef(path, ref(2)); err != nil {
		t.Fatal(err)
	}
	if got, err := readRefs(path); err != nil || len(got) != 2 || got[1] != ref(2) {
		t.Errorf("%v, %v", got, err)
	}
}

// If there is no room for a body that comes later, the order does not name it,
// however often it is tried, and the delta is not lost.
func TestFullDiskForALaterBody(t *testing.T) {
	if !limited(t) {
		return
	}
	log, state := world(t)
	dir := t.TempDir()
	s := newStore(t, dir, log)
	p := &author{actor: phone, state: state}
	one := p.say(t, strings.Repeat("a long story ", 1000))
	take(t, s, one.WithoutBody())
	for range 3 {
		var fresh bool
		var err error
		under(t, 4000, func() { fresh, err = s.TakeDelta(one) })
		if err == nil || fresh {
			t.Fatalf("without room: %v, %v", fresh, err)
		}
	}
	order, err := readRefs(filepath.Join(dir, spaceID.String(), "order"))
	if _, n := s.Position(); n != 1 || err != nil || len(order) != 1 {
		t.Errorf("%d in the order, %d lines, %v, want 1", n, len(order), err)
	}
	if fresh, err := s.TakeDelta(one); err != nil || !fresh {
		t.Errorf("with room: %v, %v", fresh, err)
	}
	s = newStore(t, dir, log)
	if _, n := s.Position(); n != 2 || !strings.Contains(bodies(t, s), "a long story") {
		t.Errorf("%d in the order, want 2: %s", n, bodies(t, s))
	}
}

// If there is no room to write a delta without its body, the file gone does not name it, however
// often it is tried. Otherwise the store could not be opened again. A store that an earlier version
// has left in this way is repaired.
func TestFullDiskForARemoval(t *testing.T) {
	if !limited(t) {
		return
	}
	for _, earlier := range []bool{false, true} {
		log, state := world(t)
		dir := t.TempDir()
		s := newStore(t, dir, log)
		p := &author{actor: phone, state: state}
		one, two := p.say(t, "a long story"), p.say(t, "another one")
		take(t, s, one, two)
		ref := func(d *envelope.Delta) replica.Ref { return chainOf(&d.Header).ref(d.Header.Seq) }
		gone := filepath.Join(dir, spaceID.String(), "gone")
		for range 3 {
			var err error
			under(t, 150, func() { err = s.Forget(t.Context(), []replica.Ref{ref(one), ref(two)}) })
			if lines, e := readRefs(gone); err == nil || e != nil || len(lines) != 0 {
				t.Fatalf("without room: %v; %d lines, %v", err, len(lines), e)
			}
			if earlier {
				if err := appendRef(gone, ref(one)); err != nil {
					t.Fatal(err)
				}
				if err := appendRef(gone, ref(one)); err != nil {
					t.Fatal(err)
				}
				break
			}
		}
		s = newStore(t, dir, log)
		if err := s.Forget(t.Context(), []replica.Ref{ref(one), ref(two)}); err != nil {
			t.Fatal(err)
		}
		s = newStore(t, dir, log)
		if left := bodies(t, s); strings.Contains(left, "story") || strings.Contains(left, "another") || len(s.gone) != 2 || s.gone[ref(two)] != 1 {
			t.Errorf("%q, %v", left, s.gone)
		}
	}
}
