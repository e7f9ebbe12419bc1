//go:build unix

package journal

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/locket-dev/locket/crypto/seal"
	"github.com/locket-dev/locket/memory"
)

const limitEnv = "LOCKET_TEST_JOURNAL_LIMIT"

// TestFileSizeLimit replaces a full disk where none can be mounted, and runs everywhere so that it
// works there. A child process has the limit, because it would also affect the test's own log.
func TestFileSizeLimit(t *testing.T) { fullBySize(t) }

func fullBySize(t *testing.T) {
	dir := t.TempDir()
	cmd := exec.Command(os.Args[0], "-test.run=^$")
	cmd.Env = append(os.Environ(), limitEnv+"="+dir+"|"+testIdentity(t).Recipient().String())
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("child: %v: %s", err, out)
	}
	entries, damage := drain(t, open(t, dir, small), 0)
	if expect(t, entries, 70); len(damage) != 0 {
		t.Errorf("damage: %v", damage)
	}
}

// limitChild appends 20 entries. It is refused 10 times while no file may grow over 1 KiB, which is
// less than a header takes, and then appends 50 more.
func limitChild(dir, recipient string) error {
	to, err := seal.ParseRecipient(recipient)
	if err != nil {
		return err
	}
	j, err := Open(dir, to, Options{Reserve: -1})
	if err != nil {
		return err
	}
	for i := range 20 {
		if _, err := j.Append(context.Background(), entry(i)); err != nil {
			return err
		}
	}
	var old unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_FSIZE, &old); err != nil {
		return err
	}
	if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: 1 << 10, Max: old.Max}); err != nil {
		return err
	}
	for range 10 {
		if _, err := j.Append(context.Background(), entry(20)); !errors.Is(err, memory.ErrNoSpace) {
			return fmt.Errorf("over the limit: %v", err)
		}
	}
	if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &old); err != nil {
		return err
	}
	for i := 20; i < 70; i++ {
		if _, err := j.Append(context.Background(), entry(i)); err != nil {
			return err
		}
	}
	return j.Close()
}
