package plugins_test

import (
	"strings"
	"testing"
	"time"

	"github.com/locket-dev/locket/internal/testing/nodetest"
	"github.com/locket-dev/locket/node/config"
	"github.com/locket-dev/locket/node/serve"
)

// TestDaylightSavingTime: what is said in winter about a day in summer is stored at
// the hour that was said, by the clock of the wearer's zone.
func TestDaylightSavingTime(t *testing.T) {
	n := nodetest.New(t, func(c *config.Config) { c.Zone = "Europe/Berlin" })
	at := time.Date(2025, 11, 20, 9, 0, 0, 0, time.UTC)
	nodetest.Hear(t, n, at, "Ana", "The exam is on the 3rd of June at 9 am.")
	nodetest.Hear(t, n, at.Add(time.Hour), "Ana", "I have an interview on the 4th of December at 9 am.")
	page, err := n.List(t.Context(), serve.ListQuery{State: serve.AnyState, Limit: 10})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]time.Time{"exam": time.Date(2026, 6, 3, 7, 0, 0, 0, time.UTC), "interview": time.Date(2025, 12, 4, 8, 0, 0, 0, time.UTC)}
	for i := range page.Memories {
		m := &page.Memories[i]
		for word, start := range want {
			if e := m.Fields.Episodic; e != nil && strings.Contains(m.Text, word) {
				if !e.Started.Equal(start) {
					t.Errorf("%s: %s, want %s", m.Text, e.Started, start)
				}
				delete(want, word)
			}
		}
	}
	if len(want) > 0 {
		t.Errorf("missing: %v in %+v", want, page.Memories)
	}
}
