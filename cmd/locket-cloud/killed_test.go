package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/locket-dev/locket/cloud/relay/storetest"
	"github.com/locket-dev/locket/internal/testing/long"
	"github.com/locket-dev/locket/sync/envelope"
	"github.com/locket-dev/locket/sync/httpsig"
	"github.com/locket-dev/locket/sync/remote"
)

// A relay that is killed at any moment still has everything that it acknowledged: deltas by their
// cursors, blobs by their bytes. KILLS sets how many times it is killed.
func TestKilledWhileServing(t *testing.T) {
	t.Run("sqlite", func(t *testing.T) { killedWhileServing(t, "--data", t.TempDir()) })
	t.Run("postgres", func(t *testing.T) {
		db := cluster.Database(t)
		var out, said bytes.Buffer
		if code := run(t.Context(), []string{"migrate", "up", "--db", db}, strings.NewReader(""), &out, &said); code != exitDone {
			t.Fatal(code, said.String())
		}
		killedWhileServing(t, "--db", db, "--blobs", "file://"+t.TempDir())
	})
}

// survivor is a relay that is killed repeatedly, and what it acknowledged.
type survivor struct {
	house  *storetest.Household
	relay  *remote.Relay
	deltas [][]byte // by cursor, from 1
	blobs  []remote.BlobID
	left   []*envelope.Delta // sent, without an answer
}

func (s *survivor) as(who *storetest.Person) *remote.Space {
	return s.relay.Space(s.house.Space, who.ID, httpsig.KeySigner(who.Key))
}

func killedWhileServing(t *testing.T, where ...string) {
	s := survivor{house: storetest.NewHousehold(t, "killed")}
	kills := long.Kills(t, 8)
	for round := range kills + 1 {
		p := start(t, append(where, "--open", "--quota-requests", "0", "--quota-deltas", "0", "--quota-bytes", "0", "--quota-blobs", "0")...)
		var err error
		if s.relay, err = remote.New(p.url, remote.Option{}); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
		if round == 0 {
			for _, e := range s.house.Entries {
				if err := s.as(s.house.Owner).AppendLog(ctx, e, ""); err != nil {
					t.Fatal(err)
				}
			}
		}
		err = s.again(ctx)
		if all := round <= 8 || round == kills || round%100 == 0; err == nil {
			err = s.check(ctx, t, all)
		}
		if err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
		if round == kills {
			p.cmd.Process.Kill()
		} else {
			err = s.untilKilled(ctx, p)
		}
		if err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
		cancel()
		s.relay.Close()
		var exit *exec.ExitError
		if err := p.cmd.Wait(); !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
			t.Fatalf("round %d: it ended by itself: %v", round, err)
		}
	}
	t.Logf("%d kills, %d deltas, %d blobs", kills, len(s.deltas), len(s.blobs))
}

// again resends what an earlier round sent without getting an answer.
func (s *survivor) again(ctx context.Context) error {
	for _, d := range s.left {
		cursors, err := s.as(s.house.Owner).Append(ctx, []*envelope.Delta{d})
		if err != nil {
			return err
		}
		if err := s.took(d, cursors[0]); err != nil {
			return err
		}
	}
	s.left = nil
	return nil
}

// took records a delta that the relay acknowledged.
func (s *survivor) took(d *envelope.Delta, cursor uint64) error {
	if want := uint64(len(s.deltas)) + 1; cursor != want {
		return fmt.Errorf("a delta got cursor %d, want %d", cursor, want)
	}
	s.deltas = append(s.deltas, d.Bytes())
	return nil
}

// check verifies that what was acknowledged is there: all of it, or only the newest.
func (s *survivor) check(ctx context.Context, t *testing.T, all bool) error {
	cursor, blobs := uint64(0), s.blobs
	if !all {
		cursor, blobs = uint64(max(0, len(s.deltas)-100)), s.blobs[max(0, len(s.blobs)-20):]
	}
	for {
		ds, next, err := s.as(s.house.Reader).Pull(ctx, cursor, 256, 0)
		if err != nil {
			return err
		}
		if len(ds) == 0 {
			break
		}
		for i, d := range ds {
			if at := int(cursor) + i; at >= len(s.deltas) || !slices.Equal(s.deltas[at], d.Bytes()) {
				return fmt.Errorf("delta %d of %d is not what was acknowledged", at+1, len(s.deltas))
			}
		}
		cursor = next
	}
	if int(cursor) != len(s.deltas) {
		return fmt.Errorf("%d deltas of %d are there", cursor, len(s.deltas))
	}
	scratch := t.TempDir()
	for _, id := range blobs {
		f, err := os.Create(filepath.Join(scratch, "blob"))
		if err != nil {
			return err
		}
		_, err = s.as(s.house.Reader).GetBlob(ctx, id, f, 1<<20)
		if err := errors.Join(err, f.Close(), os.Remove(f.Name())); err != nil {
			return fmt.Errorf("blob: %w", err)
		}
	}
	return nil
}

// untilKilled appends deltas and puts blobs, and kills the relay meanwhile.
func (s *survivor) untilKilled(ctx context.Context, p *process) (wrong error) {
	var wg sync.WaitGroup
	wg.Go(func() {
		for range 50 {
			body := make([]byte, 9000)
			for i := range body {
				body[i] = byte(rand.Uint32())
			}
			id, err := s.as(s.house.Writer).PutBlob(ctx, bytes.NewReader(body))
			if err != nil {
				return
			}
			s.blobs = append(s.blobs, id)
		}
	})
	killAfter := 1 + rand.IntN(40)
	for i := 0; ; i++ {
		d := s.house.Delta(s.house.Owner, strings.Repeat("sealed ", 1+i%50))
		if i == killAfter {
			go p.cmd.Process.Kill()
		}
		cursors, err := s.as(s.house.Owner).Append(ctx, []*envelope.Delta{d})
		if err != nil { // it was killed
			s.left = append(s.left, d)
			break
		}
		if wrong = s.took(d, cursors[0]); wrong != nil {
			p.cmd.Process.Kill()
			break
		}
	}
	wg.Wait()
	return wrong
}
