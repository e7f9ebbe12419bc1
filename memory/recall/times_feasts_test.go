package recall

import (
	"testing"
	"time"
)

// The days that a phrase names on Wednesday, 25 November 2026.
func TestDaysOfFeastsAndTense(t *testing.T) {
	now := time.Date(2026, 11, 25, 17, 0, 0, 0, time.UTC)
	for phrase, want := range map[string]string{
		"去年国庆": "2025-10-01 2025-10-07", "今年国庆我在干嘛": "2026-10-01 2026-10-07", "国庆节去了哪里": "2026-10-01 2026-10-07", "中秋节": "2026-09-25 2026-09-25",
		"除夕那天": "2026-02-16 2026-02-16", "春节要去三亚": "2027-02-06 2027-02-12", "五一去了崇明": "2026-05-01 2026-05-05", "元旦打算回老家": "2027-01-01 2027-01-01",
		"2025年中秋": "2025-10-06 2025-10-06", "last Christmas": "2025-12-24 2025-12-26", "Christmas 2024": "2024-12-24 2024-12-26", "what will we do at Christmas": "2026-12-24 2026-12-26",
		"on New Year's Eve last year": "2025-12-31 2025-12-31", "what did I do on New Year's Day": "2026-01-01 2026-01-01",
		"what do I have on Friday": "2026-11-27 2026-11-27", "what did I do on Friday": "2026-11-20 2026-11-20", "I'll see the vet on Friday": "2026-11-27 2026-11-27", "Friday": "2026-11-20 2026-11-20",
		"I booked a table for Friday": "2026-11-27 2026-11-27", "I have been ill since Friday": "2026-11-20 2026-11-20", "last Friday": "2026-11-20 2026-11-20",
		"周五有什么安排": "2026-11-27 2026-11-27", "周五发生了什么": "2026-11-20 2026-11-20", "周五要交报告了": "2026-11-27 2026-11-27", "周五我要了一杯咖啡": "2026-11-20 2026-11-20", "周五开会说了什么": "2026-11-20 2026-11-20",
		"上个月25号": "2026-10-25 2026-10-25", "20号那天": "2026-11-20 2026-11-20", "28号那天": "2026-10-28 2026-10-28", "what happened on the 20th": "2026-11-20 2026-11-20", "is there anything on the 20th": "2026-12-20 2026-12-20",
	} {
		days, _ := Days(phrase, now)
		if len(days) != 1 {
			t.Errorf("%s: %v, want %s", phrase, days, want)
			continue
		}
		if got := days[0][0].Format(time.DateOnly) + " " + days[0][1].AddDate(0, 0, -1).Format(time.DateOnly); got != want {
			t.Errorf("%s: %s, want %s", phrase, got, want)
		}
	}
	for _, phrase := range []string{"20号楼", "on the 20th floor", "三十五一共"} {
		if days, _ := Days(phrase, now); len(days) > 0 {
			t.Errorf("%s: %v", phrase, days)
		}
	}
}
