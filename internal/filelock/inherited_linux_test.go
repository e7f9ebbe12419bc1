package filelock

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/locket-dev/locket/memory"
)

// If a child of a killed process still has a copy of the lock for a moment, Take waits for it.
func TestInherited(t *testing.T) {
	for pause, free := range map[string]bool{"0.3": true, "30": false} {
		path := filepath.Join(t.TempDir(), "lock")
		l, err := Take(path)
		if err != nil {
			t.Fatal(err)
		}
		child := exec.Command("sleep", pause)
		child.ExtraFiles = []*os.File{l.f}
		if err := child.Start(); err != nil {
			t.Fatal(err)
		}
		dead := exec.Command("true")
		if err := dead.Run(); err != nil {
			t.Fatal(err)
		}
		if _, err := l.f.WriteAt([]byte(strconv.Itoa(dead.Process.Pid)+"          "), 0); err != nil {
			t.Fatal(err)
		}
		if err := l.f.Close(); err != nil { // like the kernel at the end of a process
			t.Fatal(err)
		}
		again, err := Take(path)
		if free != (err == nil) || err != nil && !errors.Is(err, memory.ErrInUse) {
			t.Errorf("a child has it for %s s: %v", pause, err)
		}
		if err == nil {
			if err := again.Release(); err != nil {
				t.Error(err)
			}
		}
		_ = child.Process.Kill()
		_ = child.Wait()
	}
}
