package delta_test

import (
	"testing"

	"github.com/locket-dev/locket/internal/day"
	"github.com/locket-dev/locket/sync/delta"
)

func BenchmarkDelta(b *testing.B) {
	d, err := day.Fixed()
	if err != nil {
		b.Fatal(err)
	}
	as := assertionsOf(b, d)
	h := testHeader()
	for name, n := range map[string]int{"one": 1, "forty": 40} {
		ops := make([]delta.Op, n)
		for i := range ops {
			ops[i].Assertion = &as[i]
		}
		plain, err := delta.Encode(h, ops)
		if err != nil {
			b.Fatal(err)
		}
		b.Run("encode/"+name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := delta.Encode(h, ops); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run("decode/"+name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := delta.Decode(&h, plain); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
