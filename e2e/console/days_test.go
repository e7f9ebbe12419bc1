package console

import (
	"errors"
	"strings"
	"testing"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/serve"
)

// A day lasts from midnight to midnight in the node's time zone.
func TestDay(t *testing.T) {
	c := api(t)
	d, err := c.Day(t.Context(), theDay)
	if err != nil || len(d.Lines) != 156 || d.Zone != "Asia/Shanghai" || !d.From.Equal(at(t, theDay+"T00:00:00+08:00")) || d.More {
		t.Fatalf("%d lines, %s, %v, %v", len(d.Lines), d.Zone, d.From, err)
	}
	byID := map[memory.ID]memory.Memory{}
	for _, m := range d.Memories {
		byID[m.ID] = m
		if v := m.Fields.Vault; v != nil && v.Sealed != nil {
			t.Error("a sealed value leaves the node")
		}
	}
	remembered, refused := 0, 0
	for i, l := range d.Lines {
		if i > 0 && l.At.Before(d.Lines[i-1].At) {
			t.Errorf("line %d is out of order", i)
		}
		for _, id := range l.Memories {
			remembered++
			if m, ok := byID[id]; !ok || !strings.Contains(l.Text, m.Evidence[0].Excerpt) && len(m.Evidence) == 1 {
				t.Errorf("%q is no evidence of %+v", l.Text, m)
			}
		}
		refused += len(l.Refusals)
	}
	if remembered < 40 || refused < 100 || len(d.Refusals) == 0 {
		t.Errorf("%d remembered, %d refused, %d refused without a line", remembered, refused, len(d.Refusals))
	}
	next, err := c.Day(t.Context(), "2026-09-15")
	if err != nil || len(next.Lines) != 0 || next.Before != theDay {
		t.Errorf("%+v, %v", next, err)
	}
	days, err := c.Days(t.Context(), "2026-09-01", "2026-09-15")
	if err != nil || len(days.Days) != 1 || days.Days[0] != (serve.DayCount{Date: theDay, Lines: 156}) || days.Last == "" {
		t.Errorf("%+v, %v", days, err)
	}
	for _, bad := range []serve.Date{"2026-02-30", "today", "2026-9-1"} {
		if _, err := c.Day(t.Context(), bad); !errors.Is(err, memory.ErrInvalid) {
			t.Errorf("%s: %v", bad, err)
		}
	}
	for _, span := range [][2]serve.Date{{"", ""}, {theDay, "2026-09-01"}, {"2020-01-01", theDay}, {"x", theDay}} {
		if _, err := c.Days(t.Context(), span[0], span[1]); !errors.Is(err, memory.ErrInvalid) {
			t.Errorf("%v: %v", span, err)
		}
	}
}
