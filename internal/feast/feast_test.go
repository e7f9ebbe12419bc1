package feast

import (
	"testing"
	"time"
)

// Days that stand in calendars.
func TestDays(t *testing.T) {
	by := map[string]*Feast{}
	for i := range All {
		by[All[i].Words] = &All[i]
	}
	for _, c := range []struct{ feast, day string }{
		{"easter sunday", "2024-03-31"}, {"easter sunday", "2025-04-20"}, {"easter sunday", "2026-04-05"}, {"easter sunday", "2027-03-28"}, {"easter sunday", "2038-04-25"}, {"easter sunday", "1954-04-18"},
		{"good friday", "2026-04-03"}, {"easter monday", "2027-03-29"}, {"whit monday", "2026-05-25"}, {"easter", "2027-03-26"},
		{"thanksgiving", "2024-11-28"}, {"thanksgiving", "2025-11-27"}, {"thanksgiving", "2026-11-26"}, {"thanksgiving", "2027-11-25"}, {"thanksgiving", "2028-11-23"}, {"thanksgiving", "2029-11-22"},
		{"春节", "2026-02-17"}, {"除夕", "2022-01-31"}, {"元宵", "2026-03-03"}, {"中秋", "2026-09-25"}, {"国庆", "2026-10-01"}, {"清明", "2024-04-04"}, {"清明", "2025-04-04"}, {"清明", "2026-04-05"}, {"清明", "2027-04-05"}, {"清明", "2028-04-04"}, {"christmas", "2026-12-24"},
	} {
		want, err := time.Parse(time.DateOnly, c.day)
		if err != nil {
			t.Fatal(err)
		}
		day, _, ok := by[c.feast].In(want.Year())
		if got := time.Unix(int64(day)*86400, 0).UTC(); !ok || !got.Equal(want) {
			t.Errorf("%s: %s, want %s", c.feast, got.Format(time.DateOnly), c.day)
		}
	}
	if _, _, ok := by["春节"].In(1990); ok {
		t.Error("the moon of 1990 is known")
	}
}
