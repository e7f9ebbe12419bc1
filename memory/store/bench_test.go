package store

import (
	"context"
	"fmt"
	"testing"
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
