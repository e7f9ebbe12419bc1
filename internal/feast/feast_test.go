package feast

import (
	"strings"
	"testing"
	"time"
)

// Days as printed in calendars.
func TestDays(t *testing.T) {
	by := map[string]*Feast{}
	for i := range All {
		by[All[i].Words] = &All[i]
	}
	for _, c := range []struct{ feast, day string }{
		{"easter sunday", "2024-03-31"}, {"easter sunday", "2025-04-20"}, {"easter sunday", "2026-04-05"}, {"easter sunday", "2027-03-28"}, {"easter sunday", "2038-04-25"}, {"easter sunday", "1954-04-18"},
		{"good friday", "2026-04-03"}, {"easter monday", "2027-03-29"}, {"whit monday", "2026-05-25"}, {"easter", "2027-03-26"},
		{"thanksgiving", "2024-11-28"}, {"thanksgiving", "2025-11-27"}, {"thanksgiving", "2026-11-26"}, {"thanksgiving", "2027-11-25"}, {"thanksgiving", "2028-11-23"}, {"thanksgiving", "2029-11-22"}, {"mother day", "2026-05-10"}, {"父亲节", "2027-06-20"}, {"mothering sunday", "2026-03-15"}, {"暑假", "2026-07-01"}, {"寒假", "2027-01-17"},
		{"春节", "2026-02-17"}, {"除夕", "2022-01-31"}, {"腊八", "2024-01-18"}, {"腊八", "2026-01-26"}, {"腊八", "2027-01-15"}, {"小年", "2024-02-02"}, {"小年", "2026-02-10"}, {"元宵", "2026-03-03"}, {"中秋", "2026-09-25"}, {"国庆", "2026-10-01"}, {"清明", "2024-04-04"}, {"清明", "2025-04-04"}, {"清明", "2026-04-05"}, {"清明", "2027-04-05"}, {"清明", "2028-04-04"}, {"冬至", "2021-12-21"}, {"冬至", "2023-12-22"}, {"冬至", "2024-12-21"}, {"冬至", "2026-12-22"}, {"冬至", "2028-12-21"}, {"christmas", "2026-12-24"},
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

// The weekend beside a feast has none of its days; a weekday may be one of them.
func TestDaysNextToAFeast(t *testing.T) {
	for _, c := range []struct {
		said  string
		year  int
		first string
	}{
		{"weekend after easter", 2027, "2027-04-03"}, {"weekend before easter", 2027, "2027-03-20"}, {"weekend before christmas", 2026, "2026-12-19"}, {"weekend after christmas", 2026, "2027-01-02"},
		{"weekend after thanksgiving", 2026, "2026-11-28"}, {"weekend before halloween", 2026, "2026-10-24"}, {"weekend after halloween", 2026, "2026-11-07"},
		{"two weekends before christmas", 2026, "2026-12-12"}, {"monday after easter", 2027, "2027-03-29"}, {"friday before christmas", 2026, "2026-12-18"}, {"last friday before christmas", 2026, "2026-12-18"},
		{"first monday after new year's", 2027, "2027-01-04"}, {"second monday after new year", 2027, "2027-01-11"}, {"thursday after easter", 2027, "2027-04-01"}, {"sunday after christmas", 2026, "2026-12-27"},
		{"saturday before halloween", 2026, "2026-10-24"}, {"saturday after halloween", 2026, "2026-11-07"}, {"friday after black friday", 2026, "2026-12-04"}, {"day before ash wednesday", 2027, "2027-02-09"},
	} {
		words := strings.Fields(c.said)
		days, next, _ := Beside(func(i int) string {
			if i >= len(words) {
				return ""
			}
			return words[i]
		}, 0)
		if days == nil || next != len(words) {
			t.Errorf("%s is not read", c.said)
			continue
		}
		first, last, ok := days(c.year)
		if got := time.Unix(int64(first)*86400, 0).UTC().Format(time.DateOnly); !ok || got != c.first || last != first+strings.Count(c.said, "weekend") {
			t.Errorf("%s: %s and %d days, want %s", c.said, got, last-first+1, c.first)
		}
	}
}
