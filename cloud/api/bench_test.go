package api_test

import (
	"strings"
	"testing"

	"github.com/locket-dev/locket/cloud/relay"
	"github.com/locket-dev/locket/cloud/relay/embedded"
	"github.com/locket-dev/locket/cloud/relay/storetest"
	"github.com/locket-dev/locket/sync/envelope"
)

// The relay's work for one delta without HTTP: signature, chain, a synced commit.
func BenchmarkAppend(b *testing.B) {
	for name, batch := range map[string]int{"one": 1, "hundred": 100} {
		b.Run(name, func(b *testing.B) {
			store, err := embedded.Open(b.Context(), b.TempDir())
			if err != nil {
				b.Fatal(err)
			}
			defer store.Close()
			r := relay.New(store, relay.Config{})
			h := storetest.NewHousehold(b, "bench")
			c := relay.Caller{Space: h.Space, Member: h.Owner.ID, Role: envelope.Owner}
			for _, e := range h.Entries {
				if err := r.AppendLog(b.Context(), c, e, ""); err != nil {
					b.Fatal(err)
				}
			}
			all := make([]*envelope.Delta, b.N*batch)
			for i := range all {
				all[i] = h.Delta(h.Owner, strings.Repeat("x", 500))
			}
			b.ResetTimer()
			for i := range b.N {
				if _, err := r.Append(b.Context(), c, h.Space, all[i*batch:(i+1)*batch]); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(len(all))/b.Elapsed().Seconds(), "deltas/s")
		})
	}
}
