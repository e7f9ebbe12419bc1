package store

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/locket-dev/locket/internal/testing/long"
	"github.com/locket-dev/locket/memory"
)

const crashDir = "LOCKET_STORE_CRASH_DIR"

// scratch is a folder that several tests share.
var scratch string

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	if dir := os.Getenv(crashDir); dir != "" {
		fmt.Fprintln(os.Stderr, writeUntilKilled(dir))
		return 1
	}
	if dir := os.Getenv(flipDir); dir != "" {
		if err := openFlipped(dir, os.Stdin); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		return 0
	}
	var err error
	if scratch, err = os.MkdirTemp("", "locket-store"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(scratch)
	return m.Run()
}

// writeUntilKilled commits one fact after another, and prints a line after each.
func writeUntilKilled(dir string) error {
	s, err := Open(testOptions(dir))
	if err != nil {
		return err
	}
	var seq uint64
	for n := 0; ; n++ {
		err := s.Update(context.Background(), func(tx *Tx) error {
			dot, err := tx.NextDot(me)
			if err != nil {
				return err
			}
			if seq, err = tx.Cursor("facts"); err != nil {
				return err
			}
			seq++
			_, err = tx.Assert(fact(int(seq), me, dot.Seq, "Fact number "+strconv.FormatUint(seq, 10)+"."))
			if n%8 == 5 {
				err = errors.Join(err, tx.PutSegment("one", seq, []byte("segment")))
			}
			return errors.Join(err, tx.SetCursor("facts", seq), tx.PutUtterance(&memory.Utterance{
				ID: testID(1<<20 + int(seq)), At: noon.Add(time.Duration(seq) * time.Second), Text: strings.Repeat("words ", 40),
			}), tx.PutRemoteUtterance(heard(1<<21+int(seq), "Line number "+strconv.FormatUint(seq, 10)+".")))
		})
		if err == nil && n%7 == 4 {
			err = s.Update(context.Background(), func(tx *Tx) error {
				_, _, err := tx.PackUtterances(time.Time{}, noon.AddDate(10, 0, 0), never)
				return err
			})
		}
		if err != nil {
			return err
		}
		fmt.Println(seq)
		if n%20 == 19 {
			if err := s.Compact(context.Background()); err != nil {
				return err
			}
		}
	}
}

// TestKill kills a writing process at any moment, and checks that everything that it had
// acknowledged is there, complete and in order. KILLS sets the number of rounds. Each round reads
// everything that was written before, so every hundred rounds use a new store.
func TestKill(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var acknowledged, all uint64
	for round := range long.Kills(t, 15) {
		kill := 1 + rand.IntN(40)
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), crashDir+"="+dir)
		var stderr strings.Builder
		cmd.Stderr = &stderr
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(out)
		for n := 0; lines.Scan(); n++ {
			if acknowledged, err = strconv.ParseUint(lines.Text(), 10, 64); err != nil {
				t.Fatal(err)
			}
			if n == kill {
				if err := cmd.Process.Kill(); err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := cmd.Wait(); err == nil || stderr.Len() > 0 {
			t.Fatalf("round %d: %v: %s", round, err, stderr.String())
		}
		s := open(t, dir)
		sound(t, s)
		view(t, s, func(tx *Tx) error {
			last, err := tx.Cursor("facts")
			if err != nil || last < acknowledged || last > acknowledged+1 {
				t.Fatalf("round %d: cursor at %d, %d was acknowledged: %v", round, last, acknowledged, err)
			}
			for seq := uint64(1); seq <= last; seq++ {
				if m, err := tx.Memory(testID(int(seq))); err != nil || m.Text != "Fact number "+strconv.FormatUint(seq, 10)+"." {
					t.Fatalf("round %d: fact %d of %d: %+v, %v", round, seq, last, m, err)
				}
			}
			if _, err := tx.Memory(testID(int(last) + 1)); !errors.Is(err, memory.ErrNotFound) {
				t.Errorf("round %d: half of a transaction: %v", round, err)
			}
			if n := len(collect(t, tx.Utterances(heard(1<<21, "").At, time.Time{}))); n != int(last) {
				t.Fatalf("round %d: %d lines of %d", round, n, last)
			}
			for seq := 1; seq <= int(last); seq++ { // each exactly once
				if u, err := tx.Utterance(testID(1<<21 + seq)); err != nil || u.Text != "Line number "+strconv.Itoa(seq)+"." {
					t.Fatalf("round %d: line %d of %d: %+v, %v", round, seq, last, u, err)
				}
			}
			if n := len(collect(t, tx.Outbox(0))); n != 2*int(last) { // an assertion and an utterance for each
				t.Errorf("round %d: %d in the outbox, %d facts", round, n, last)
			}
			return nil
		})
		files, err := os.ReadDir(filepath.Join(dir, blobsName))
		if err != nil && !errors.Is(err, fs.ErrNotExist) || len(files) != countBlobs(t, s) {
			t.Errorf("round %d: %d blob files: %v", round, len(files), err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if (round+1)%100 == 0 { // so that a run that is stopped has shown its progress
			all += acknowledged
			t.Logf("%d kills, %d commits acknowledged", round+1, all)
			dir, acknowledged = t.TempDir(), 0
		}
	}
	t.Logf("%d commits acknowledged", all+acknowledged)
}

func countBlobs(t *testing.T, s *Store) (n int) {
	view(t, s, func(tx *Tx) error {
		for _, err := range tx.scan(keyOf(kindBlob), nil, false) {
			if err != nil {
				return err
			}
			n++
		}
		return nil
	})
	return n
}
