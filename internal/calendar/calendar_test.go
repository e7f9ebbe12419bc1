package calendar

import (
	"strconv"
	"strings"
	"testing"
	"time"
)

// Each day of some centuries is the same as in package time.
func TestDays(t *testing.T) {
	for day := -40000; day < 60000; day++ {
		at := time.Unix(int64(day)*86400, 0).UTC()
		y, m, d := Date(day)
		if y != at.Year() || m != int(at.Month()) || d != at.Day() || Day(y, m, d) != day || Weekday(day)%7 != int(at.Weekday()) {
			t.Fatalf("%s: %d-%d-%d, %d, weekday %d", at, y, m, d, Day(y, m, d), Weekday(day))
		}
	}
	for n := -40; n < 40; n++ {
		want := time.Date(2026, time.Month(9+n), 1, 0, 0, 0, 0, time.UTC).Unix() / 86400
		if got := AddMonths(Day(2026, 9, 1), n); got != int(want) || Day(2026, 9+n, 1) != int(want) {
			t.Errorf("%d months: %d, want %d", n, got, want)
		}
	}
	if got := AddMonths(Day(2026, 3, 31), -1); got != Day(2026, 2, 28) {
		t.Error(Date(got))
	}
}

// The days that a phrase means on Wednesday, 25 November 2026, in the past if no year is named.
func TestDaysOfAPhrase(t *testing.T) {
	today := Day(2026, 11, 25)
	for phrase, want := range map[string]string{
		"late may": "2026-05-21 2026-05-31", "early in june 2024": "2024-06-01 2024-06-10", "mid-march": "2026-03-11 2026-03-20", "mid march last year": "2025-03-11 2025-03-20", "end of may": "2026-05-25 2026-05-31",
		"end of the month": "2026-11-24 2026-11-30", "early next month": "2026-12-01 2026-12-10", "mid-month": "2026-11-11 2026-11-20", "beginning of last month": "2026-10-01 2026-10-10",
		"end of last year": "2025-12-01 2025-12-31", "late 2024": "2024-10-01 2024-12-31", "early this year": "2026-01-01 2026-03-31", "start of the year": "2026-01-01 2026-01-31",
		"first monday of october": "2026-10-05 2026-10-05", "last friday in may two years ago": "2024-05-31 2024-05-31", "fifth friday of may": "2026-05-29 2026-05-29", "last weekend of june": "2026-06-27 2026-06-28",
		"last day of september": "2026-09-30 2026-09-30", "last day of the year": "2026-12-31 2026-12-31", "second week of may": "2026-05-08 2026-05-14", "last week of may": "2026-05-25 2026-05-31",
		"second half of may": "2026-05-16 2026-05-31", "first half of the year": "2026-01-01 2026-06-30", "third quarter of 2025": "2025-07-01 2025-09-30", "last quarter": "2026-07-01 2026-09-30", "next quarter": "2027-01-01 2027-03-31", "second quarter last year": "2025-04-01 2025-06-30",
		"early bird": "", "last friday": "", "end of the world": "", "first week of school": "", "third quarter": "", "fifth monday of february": "", "second of may": "",
	} {
		words := strings.Fields(phrase)
		r, ok := English(func(i int) string {
			if i >= 0 && i < len(words) {
				return words[i]
			}
			return ""
		}, 0, today)
		got := ""
		if ok {
			first, last, is := 0, 0, false
			if r.Year > 0 {
				first, last, is = r.Days(r.Year)
			} else {
				first, last, is = r.Days.Last(today, false)
			}
			if got = written(first) + " " + written(last); !is {
				got = ""
			}
			if r.Next != len(words) {
				t.Errorf("%s: ends at %d", phrase, r.Next)
			}
		}
		if got != want {
			t.Errorf("%s: %s, want %s", phrase, got, want)
		}
	}
	for part, want := range map[string]string{
		"底": "25 31 1", "初": "1 10 1", "上旬": "1 10 2", "中": "11 20 1", "中旬": "11 20 2", "下旬": "21 31 2", "的第一个周一": "4 4 6", "最后一个星期五": "29 29 7", "第一周": "1 7 3", "最后一周去": "25 31 4", "最后一天": "31 31 4", "第三个周末": "16 17 5",
		"第二个礼拜天": "10 10 6", "初三": "", "初恋": "", "中秋": "", "第一次": "", "末班车": "", "第七周": "", "的": "",
	} {
		got := ""
		if p, size := HanPart(part); size > 0 {
			first, last, _ := p(2026, 5)
			_, _, a := Date(first)
			_, _, b := Date(last)
			got = strings.TrimSpace(strconv.Itoa(a) + " " + strconv.Itoa(b) + " " + strconv.Itoa(size))
		}
		if got != want {
			t.Errorf("%s: %s, want %s", part, got, want)
		}
	}
}

func written(day int) string {
	return time.Unix(int64(day)*86400, 0).UTC().Format(time.DateOnly)
}

func TestChineseNumbers(t *testing.T) {
	for text, want := range map[string][2]int{
		"三十五": {35, 3}, "三十五一共": {35, 3}, "十": {10, 1}, "十二月": {12, 2}, "二十": {20, 2}, "一百零二": {102, 4}, "两千零五十": {2050, 5}, "二〇二六年": {2026, 4}, "三零五": {305, 3}, "零五分": {5, 2}, "两点": {2, 1}, "三五天": {3, 1},
		"一三八零零一": {0, 0}, "天": {0, 0}, "": {0, 0}, "零": {0, 1}, "二零": {20, 2}, "一三五": {135, 3},
	} {
		if n, size := Han(text); n != want[0] || size != want[1] {
			t.Errorf("%s: %d of %d characters, want %v", text, n, size, want)
		}
	}
}

// A winter extends into the next year.
func TestNearestDate(t *testing.T) {
	winter := Yearly(Named("winter").Days)
	for _, c := range []struct {
		today            int
		next, last, over string
	}{
		{Day(2027, 1, 5), "2026-12-01", "2026-12-01", "2025-12-01"},
		{Day(2026, 12, 1), "2026-12-01", "2026-12-01", "2025-12-01"},
		{Day(2026, 11, 25), "2026-12-01", "2025-12-01", "2025-12-01"},
	} {
		next, _, _ := winter.Next(c.today)
		last, _, _ := winter.Last(c.today, false)
		over, _, _ := winter.Last(c.today, true)
		if written(next) != c.next || written(last) != c.last || written(over) != c.over {
			t.Errorf("%s: next %s, last %s, over %s", written(c.today), written(next), written(last), written(over))
		}
	}
	for _, c := range [][2]int{{Day(2026, 10, 31), Day(2026, 8, 31)}, {Day(2026, 9, 30), Day(2026, 8, 30)}, {Day(2026, 9, 14), Day(2026, 9, 14)}} {
		_, _, n := Date(c[0])
		if next, last := DayOfMonth(Day(2026, 9, 14), n, true), DayOfMonth(Day(2026, 9, 14), n, false); next != c[0] || last != c[1] {
			t.Errorf("the %d: %s and %s", n, written(next), written(last))
		}
	}
}
