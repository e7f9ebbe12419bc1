package journal

import (
	"bytes"
	"context"
	"flag"
	"os"
	"path/filepath"
	"testing"
	"time"
)

var update = flag.Bool("update", false, "write the golden files anew")

// Segments of version 1 from the past: they can still be opened, and sealing their frames again
// gives the same bytes.
func TestGolden(t *testing.T) {
	dir := filepath.Join("testdata", "v1")
	if *update {
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
		j := open(t, dir, Options{MaxSegment: 2100, Reserve: -1, Now: func() time.Time {
			return time.Date(2026, 11, 20, 8, 0, 0, 0, time.UTC)
		}})
		fill(t, j, 0, 12)
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
	}
	f := load(t, dir)
	if len(f) != 2 {
		t.Fatalf("%d segments", len(f))
	}
	j := open(t, f.store(t, t.TempDir()), small)
	entries, damage := drain(t, j, 0)
	if expect(t, entries, 12); len(damage) != 0 {
		t.Errorf("damage: %v", damage)
	}
	for number := uint32(1); number <= 2; number++ {
		b := f[fileName(number)]
		h, err := parseHeader(b, number)
		if err != nil || h.created.UTC().Format(time.RFC3339) != "2026-11-20T08:00:00Z" {
			t.Fatalf("header: %+v, %v", h, err)
		}
		box, err := h.open(testIdentity(t))
		if err != nil {
			t.Fatal(err)
		}
		again, last := bytes.Clone(h.raw), uint64(0)
		for _, e := range entries {
			if e.Seq>>indexBits == uint64(number) {
				again, last = box.seal(again, e.Seq, e.Data, false), e.Seq
			}
		}
		if again = box.seal(again, last, nil, true); !bytes.Equal(again, b) {
			t.Errorf("segment %d is sealed to other bytes", number)
		}
	}
}

func BenchmarkRead(b *testing.B) {
	j := open(b, b.TempDir(), Options{Reserve: -1})
	batch := make([][]byte, 2000)
	for i := range batch {
		batch[i] = make([]byte, 500)
	}
	if _, err := j.Append(context.Background(), batch...); err != nil {
		b.Fatal(err)
	}
	var r *Reader
	n := len(batch)
	for b.Loop() {
		if n == len(batch) {
			var err error
			if r, err = j.Reader(testIdentity(b), 0); err != nil {
				b.Fatal(err)
			}
			n = 0
		}
		if _, err := r.Next(context.Background()); err != nil {
			b.Fatal(err)
		}
		n++
	}
}

// Appends events of 500 bytes with 1, 16 and 64 appenders.
func BenchmarkAppend(b *testing.B) {
	for _, n := range []int{1, 16, 64} {
		b.Run(map[int]string{1: "appenders=1", 16: "appenders=16", 64: "appenders=64"}[n], func(b *testing.B) {
			j := open(b, b.TempDir(), Options{Reserve: -1})
			e := make([]byte, 500)
			todo := make(chan struct{}, 1024)
			done := make(chan error, n)
			for range n {
				go func() {
					for range todo {
						if _, err := j.Append(context.Background(), e); err != nil {
							done <- err
							return
						}
					}
					done <- nil
				}()
			}
			b.ResetTimer()
			for range b.N {
				todo <- struct{}{}
			}
			close(todo)
			for range n {
				if err := <-done; err != nil {
					b.Fatal(err)
				}
			}
			st := j.Stats()
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "events/s")
			b.ReportMetric(float64(st.Appended)/float64(st.Commits), "events/sync")
		})
	}
}
