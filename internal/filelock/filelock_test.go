package filelock

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/locket-dev/locket/memory"
)

// TestMain is the process that holds the lock, if there is a path in the environment.
func TestMain(m *testing.M) {
	path := os.Getenv("FILELOCK_HOLD")
	if path == "" {
		os.Exit(m.Run())
	}
	if _, err := Take(path); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println("held")
	_, _ = bufio.NewReader(os.Stdin).ReadString('\n') // until it is killed
}

// One process holds the lock; another is told which, and gets it once that one is killed.
func TestAnotherProcess(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	holder := exec.Command(os.Args[0])
	holder.Env = append(os.Environ(), "FILELOCK_HOLD="+path)
	in, err := holder.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := holder.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := holder.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); strings.TrimSpace(line) != "held" {
		t.Fatalf("the holder says %q, %v", line, err)
	}
	_, err = Take(path)
	if want := fmt.Sprintf("held by process %d", holder.Process.Pid); !errors.Is(err, memory.ErrInUse) || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %q", err, want)
	}
	if err := holder.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = holder.Wait() // killed
	l, err := Take(path)
	if err != nil {
		t.Fatalf("the holder was killed: %v", err)
	}
	if _, err := Take(path); !errors.Is(err, memory.ErrInUse) {
		t.Errorf("twice in one process: %v", err)
	}
	if err := l.Release(); err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(path); err != nil || len(b) != 0 {
		t.Errorf("released, the file holds %q, %v", b, err)
	}
	if l, err = Take(path); err != nil {
		t.Fatal(err)
	}
	if err := l.Release(); err != nil {
		t.Error(err)
	}
}
