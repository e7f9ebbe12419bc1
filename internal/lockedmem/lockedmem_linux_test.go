package lockedmem

import (
	"bufio"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// flags returns the system's flags for the memory at an address (proc(5), VmFlags).
func flags(t *testing.T, at *[Size]byte) []string {
	t.Helper()
	f, err := os.Open("/proc/self/smaps")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	within := false
	s := bufio.NewScanner(f)
	for s.Scan() {
		var from, to uintptr
		if n, _ := fmt.Sscanf(s.Text(), "%x-%x ", &from, &to); n == 2 {
			within = from <= uintptr(unsafe.Pointer(at)) && uintptr(unsafe.Pointer(at)) < to
		}
		if rest, ok := strings.CutPrefix(s.Text(), "VmFlags:"); ok && within {
			return strings.Fields(rest)
		}
	}
	t.Fatalf("no memory at %p: %v", at, s.Err())
	return nil
}

// A secret is in memory that the system neither swaps nor dumps, each in a slot of its own, and the
// slot is zeroed for the next one.
func TestSecretIsInLockedMemory(t *testing.T) {
	var mine []*[Size]byte
	for i := range 3 * pageSlots {
		s := Get()
		if *s != ([Size]byte{}) {
			t.Fatalf("slot %d is not empty", i)
		}
		s[0], s[Size-1] = byte(i), byte(i>>8)
		mine = append(mine, s)
	}
	for i, s := range mine {
		if s[0] != byte(i) || s[Size-1] != byte(i>>8) {
			t.Fatalf("slot %d was written to by another", i)
		}
	}
	n, err := State()
	if n != len(mine) {
		t.Errorf("%d secrets are in locked memory, want %d", n, len(mine))
	}
	for _, s := range []*[Size]byte{mine[0], mine[pageSlots], mine[len(mine)-1]} {
		has := flags(t, s)
		if !slices.Contains(has, "dd") {
			t.Errorf("it may be in a dump: %v", has)
		}
		if err == nil && !slices.Contains(has, "lo") {
			t.Errorf("it may be written to swap, and nothing says so: %v", has)
		}
	}
	for _, s := range mine {
		Put(s)
	}
	if n, _ := State(); n != 0 {
		t.Errorf("%d secrets are still in locked memory, want 0", n)
	}
	if s := Get(); *s != ([Size]byte{}) {
		t.Error("a slot that was given back is not empty")
	}
}

// If the system locks no more memory, a secret is still held, and the reason is reported.
func TestRefused(t *testing.T) {
	var was unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_MEMLOCK, &was); err != nil {
		t.Fatal(err)
	}
	none := was
	none.Cur = 0
	if err := unix.Setrlimit(unix.RLIMIT_MEMLOCK, &none); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := unix.Setrlimit(unix.RLIMIT_MEMLOCK, &was); err != nil {
			t.Error(err)
		}
	}()
	b, err := newPage(pageSlots * Size)
	if len(b) != pageSlots*Size {
		t.Fatalf("%d bytes", len(b))
	}
	b[len(b)-1] = 1
	locked := slices.Contains(flags(t, (*[Size]byte)(b)), "lo") // root may, whatever the limit
	if (err == nil) != locked || err != nil && !strings.Contains(err.Error(), "swap") {
		t.Errorf("%v, in locked memory: %v", err, locked)
	}
}
