//go:build unix

package journal

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/locket-dev/locket/crypto/seal"
	"github.com/locket-dev/locket/internal/testing/long"
)

const crashEnv = "LOCKET_TEST_JOURNAL_CRASH"

// TestMain runs the child process of a test if the environment says so.
func TestMain(m *testing.M) {
	for env, child := range map[string]func(dir, recipient string) error{crashEnv: crashChild, limitEnv: limitChild} {
		v := os.Getenv(env)
		if v == "" {
			continue
		}
		dir, recipient, _ := strings.Cut(v, "|")
		if err := child(dir, recipient); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// crashChild appends until it is killed, and prints each seq once it is acknowledged. It is locked:
// it has no identity.
func crashChild(dir, recipient string) error {
	to, err := seal.ParseRecipient(recipient)
	if err != nil {
		return err
	}
	j, err := Open(dir, to, Options{MaxSegment: 16 << 10, Reserve: -1})
	if err != nil {
		return err
	}
	failed := make(chan error)
	for range 6 {
		go func() {
			for {
				n := rand.IntN(400)
				e := bytes.Repeat(fmt.Appendf(nil, "%d.", n), n)
				seq, err := j.Append(context.Background(), e)
				if err == nil { // one write of one line: os.Stdout has no buffer
					_, err = fmt.Fprintf(os.Stdout, "%d %d\n", seq, n)
				}
				if err != nil {
					failed <- err
					return
				}
			}
		}()
	}
	return <-failed
}

// A child is killed at random, 20 times (or KILLS times), over one folder; afterwards everything
// that it reported as acknowledged is there, each entry once and in order.
func TestKilled(t *testing.T) {
	dir := t.TempDir()
	id := testIdentity(t)
	acked := map[uint64]int{}
	for round := range long.Kills(t, 20) {
		cmd := exec.Command(os.Args[0], "-test.run=^$")
		cmd.Env = append(os.Environ(), crashEnv+"="+dir+"|"+id.Recipient().String())
		cmd.Stderr = os.Stderr
		out, err := cmd.StdoutPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		lines, kill := bufio.NewScanner(out), 1+rand.IntN(120)
		n := 0
		for lines.Scan() { // lines that were printed before the kill count too
			seq, size, _ := strings.Cut(lines.Text(), " ")
			s, err1 := strconv.ParseUint(seq, 10, 64)
			v, err2 := strconv.Atoi(size)
			if err1 != nil || err2 != nil {
				break // a line that was cut off by the kill
			}
			acked[s] = v
			if n++; n == kill {
				if err := cmd.Process.Kill(); err != nil {
					t.Fatal(err)
				}
			}
		}
		if n < kill {
			t.Fatalf("round %d: the child ended by itself", round)
		}
		_ = cmd.Wait() // "signal: killed"
	}
	entries, damage := drain(t, open(t, dir, small), 0)
	if len(damage) != 0 {
		t.Errorf("damage: %v", damage)
	}
	last, unsaid := uint64(0), 0
	for _, e := range entries {
		if e.Seq <= last {
			t.Fatalf("seq %x follows %x", e.Seq, last)
		}
		last = e.Seq
		n, ok := acked[e.Seq]
		if !ok {
			unsaid++
			continue
		}
		if want := bytes.Repeat(fmt.Appendf(nil, "%d.", n), n); !bytes.Equal(e.Data, want) {
			t.Fatalf("seq %x is not what was appended", e.Seq)
		}
		delete(acked, e.Seq)
	}
	if len(acked) != 0 {
		t.Errorf("%d acknowledged entries are lost", len(acked))
	}
	st := open(t, dir, small).Stats()
	t.Logf("%d entries, %d of them never said to be acknowledged, %d segments", len(entries), unsaid, st.Segments)
}
