package wasm

import (
	"os"
	"strconv"
	"testing"

	"golang.org/x/sys/unix"
)

// lowered counts the threads of a process that have this rank.
func lowered(t *testing.T, p *process, to rank) (n int) {
	t.Helper()
	threads, err := os.ReadDir(p.tasks())
	if err != nil {
		t.Fatal(err)
	}
	for _, th := range threads {
		tid, err := strconv.Atoi(th.Name())
		if err != nil {
			t.Fatal(err)
		}
		if a, err := unix.SchedGetAttr(tid, 0); err == nil && a.Policy == ranks[to].Policy && a.Nice == ranks[to].Nice {
			n++
		}
	}
	return n
}
