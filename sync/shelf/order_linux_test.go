package shelf

import (
	"bytes"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/locket-dev/locket/memory"
)

const limitEnv = "LOCKET_TEST_SHELF_LIMIT"

// A line that is written in part, as on a full disk, is cut off again. A child
// has the limit, since it would hit the test's own log too.
func TestLineInPart(t *testing.T) {
	if os.Getenv(limitEnv) == "" {
		child := exec.Command(os.Args[0], "-test.run=^TestLineInPart$", "-test.v")
		child.Env = append(os.Environ(), limitEnv+"=1")
		if out, err := child.CombinedOutput(); err != nil || !bytes.Contains(out, []byte("--- PASS: TestLineInPart")) {
			t.Fatalf("%v: %s", err, out)
		}
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
	signal.Ignore(syscall.SIGXFSZ)
	defer signal.Reset(syscall.SIGXFSZ)
	var was syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &was); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: uint64(info.Size()) + 7, Max: was.Max}); err != nil {
		t.Fatal(err)
	}
	full := appendRef(path, ref(2))
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &was); err != nil {
		t.Fatal(err)
	}
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
