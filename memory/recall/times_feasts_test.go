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
		"the week before last": "2026-11-09 2026-11-15", "on Good Friday": "2026-04-03 2026-04-03", "over Easter": "2026-04-03 2026-04-06", "Easter 2024": "2024-03-29 2024-04-01", "who did I meet on the first Monday of October": "2026-10-05 2026-10-05",
		"what do I have on the last Friday of January": "2027-01-29 2027-01-29", "in late May": "2026-05-21 2026-05-31", "the end of October": "2026-10-25 2026-10-31", "in the first week of October": "2026-10-01 2026-10-07", "in the summer of 2021": "2021-06-01 2021-08-31",
		"what did I do in spring": "2026-03-01 2026-05-31", "where will I be in the spring": "2027-03-01 2027-05-31", "a week ago Tuesday": "2026-11-17 2026-11-17", "two Fridays ago": "2026-11-13 2026-11-13", "in Q3": "2026-07-01 2026-09-30", "what did I do at the weekend": "2026-11-21 2026-11-22",
		"the night before last": "2026-11-23 2026-11-23", "the morning of the 9th": "2026-11-09 2026-11-09", "the day after Christmas": "2025-12-26 2025-12-26",
		"上个月底": "2026-10-25 2026-10-31", "五月中旬": "2026-05-11 2026-05-20", "去年夏天": "2025-06-01 2025-08-31", "2021年夏天": "2021-06-01 2021-08-31", "去年年底": "2025-12-01 2025-12-31", "大年初三去了谁家": "2026-02-19 2026-02-19", "过年的时候": "2026-02-17 2026-02-23",
		"十月的第一个周一": "2026-10-05 2026-10-05", "十月第一周": "2026-10-01 2026-10-07", "今年上半年": "2026-01-01 2026-06-30", "第三季度": "2026-07-01 2026-09-30", "上上个周末": "2026-11-14 2026-11-15",
		"上个月25号": "2026-10-25 2026-10-25", "20号那天": "2026-11-20 2026-11-20", "28号那天": "2026-10-28 2026-10-28", "what happened on the 20th": "2026-11-20 2026-11-20", "is there anything on the 20th": "2026-12-20 2026-12-20",
		"the week after Easter": "2026-04-06 2026-04-12", "two weeks before Christmas": "2025-12-10 2025-12-12", "three days after Easter": "2026-04-08 2026-04-08", "Easter two years ago": "2024-03-29 2024-04-01", "last New Year": "2025-12-31 2026-01-01", "over New Year's": "2025-12-31 2026-01-01", "between Christmas and New Year": "2025-12-27 2025-12-31",
		"the last day of September": "2026-09-30 2026-09-30", "the last weekend of June": "2026-06-27 2026-06-28", "the first Monday of last month": "2026-10-05 2026-10-05", "the second half of May": "2026-05-16 2026-05-31", "mid-month": "2026-11-11 2026-11-20", "early next month": "2026-12-01 2026-12-10", "early in May": "2026-05-01 2026-05-10", "at the end of the month": "2026-11-24 2026-11-30", "on the 3rd of last month": "2026-10-03 2026-10-03",
		"in May two years ago": "2024-05-01 2024-05-31", "on 3 May last year": "2025-05-03 2025-05-03", "in the spring two years ago": "2024-03-01 2024-05-31", "two years ago in the spring": "2024-03-01 2024-05-31", "last year at Christmas": "2025-12-24 2025-12-26", "two summers ago": "2025-06-01 2025-08-31", "the summer before last": "2025-06-01 2025-08-31", "next winter": "2026-12-01 2027-02-28", "last winter": "2025-12-01 2026-02-28",
		"at the end of last year": "2025-12-01 2025-12-31", "in the first half of the year": "2026-01-01 2026-06-30", "in the third quarter of 2025": "2025-07-01 2025-09-30", "earlier this month": "2026-11-01 2026-11-25", "later this month": "2026-11-26 2026-11-30", "a fortnight ago": "2026-11-08 2026-11-14",
		"last quarter": "2026-07-01 2026-09-30", "in 2019 at Christmas": "2019-12-24 2019-12-26", "上个季度": "2026-07-01 2026-09-30", "半年前": "2026-05-10 2026-06-09", "一年半以前": "2025-05-10 2025-06-09", "月底": "2026-11-24 2026-11-30", "月底要交什么": "2026-11-24 2026-11-30", "月初": "2026-11-01 2026-11-10", "月中": "2026-11-11 2026-11-20", "五月的最后一个星期五": "2026-05-29 2026-05-29", "五月最后一天": "2026-05-31 2026-05-31", "五月的第一个周末": "2026-05-02 2026-05-03", "上个月第一个星期一": "2026-10-05 2026-10-05",
		"春节前一周": "2026-02-10 2026-02-16", "国庆后三天": "2026-10-08 2026-10-10", "正月初三": "2026-02-19 2026-02-19", "前年春天": "2024-03-01 2024-05-31", "两年前的春节": "2024-02-10 2024-02-16", "三年前春天": "2023-03-01 2023-05-31", "去年的三月": "2025-03-01 2025-03-31",
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
	for _, phrase := range []string{"20号楼", "on the 20th floor", "三十五一共", "岁月中", "happy new year", "the end of the road", "she falls down"} {
		if days, _ := Days(phrase, now); len(days) > 0 {
			t.Errorf("%s: %v", phrase, days)
		}
	}
}
