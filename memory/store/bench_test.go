package store

import (
	"context"
	"fmt"
	"testing"
	"time"
)

// BenchmarkAssert commits facts to a store on disk, synced, in transactions of
// one and of a hundred.
func BenchmarkAssert(b *testing.B) {
	for _, batch := range []int{1, 100} {
		b.Run(fmt.Sprint("batch=", batch), func(b *testing.B) {
			s := open(b, b.TempDir())
			seq := uint64(0)
			for b.Loop() {
				err := s.Update(context.Background(), func(tx *Tx) error {
					for range batch {
						seq++
						if _, err := tx.Assert(fact(int(seq), me, seq, fmt.Sprint("Fact number ", seq, " is as long as facts are."))); err != nil {
							return err
						}
					}
					return nil
				})
				if err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(seq)/b.Elapsed().Seconds(), "facts/s")
		})
	}
}

// BenchmarkRead reads one memory of ten thousand, and lists twenty.
func BenchmarkRead(b *testing.B) {
	s := filled(b, 10_000)
	b.Run("memory", func(b *testing.B) {
		n := 0
		for b.Loop() {
			n++
			view(b, s, func(tx *Tx) error { _, err := tx.Memory(testID(1 + n%10_000)); return err })
		}
	})
	b.Run("list", func(b *testing.B) {
		for b.Loop() {
			view(b, s, func(tx *Tx) error {
				for _, err := range tx.Memories(Filter{Limit: 20}) {
					if err != nil {
						return err
					}
				}
				return nil
			})
		}
	})
	b.Run("verify", func(b *testing.B) {
		for b.Loop() {
			sound(b, s)
		}
	})
	b.Run("compact", func(b *testing.B) {
		for b.Loop() {
			if err := s.Compact(context.Background()); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func filled(b *testing.B, n int) *Store {
	s := open(b, b.TempDir())
	for i := 1; i <= n; i += 100 {
		update(b, s, func(tx *Tx) error {
			for j := i; j < i+100; j++ {
				if _, err := tx.Assert(fact(j, me, uint64(j), fmt.Sprint("Fact number ", j, " is as long as facts are."))); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return s
}

// BenchmarkUtterances reads one of twenty thousand utterances, loose and packed, and scans all of
// them.
func BenchmarkUtterances(b *testing.B) {
	const n = 20_000
	s, err := Open(func() Options { o := testOptions(b.TempDir()); o.Small = true; return o }())
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	for i := 0; i < n; i += 200 {
		update(b, s, func(tx *Tx) error {
			for j := i; j < i+200; j++ {
				if err := tx.PutRemoteUtterance(heard(j, fmt.Sprint("What was said as number ", j, " is as long as what people say."))); err != nil {
					return err
				}
			}
			return nil
		})
	}
	read := func(b *testing.B) {
		b.Run("one", func(b *testing.B) {
			i := 0
			for b.Loop() {
				i += 7919
				view(b, s, func(tx *Tx) error { _, err := tx.Utterance(testID(i % n)); return err })
			}
		})
		b.Run("all", func(b *testing.B) {
			for b.Loop() {
				view(b, s, func(tx *Tx) error {
					if got := len(collect(b, tx.Utterances(time.Time{}, time.Time{}))); got != n {
						return fmt.Errorf("%d of %d", got, n)
					}
					return nil
				})
			}
		})
	}
	b.Run("loose", read)
	packAll(b, s, noon.Add(n*time.Hour), never)
	if err := s.Compact(context.Background()); err != nil {
		b.Fatal(err)
	}
	b.Run("packed", read)
}
