package forget

import (
	"errors"
	"testing"
	"time"

	"github.com/locket-dev/locket/memory"
)

func TestParseWhen(t *testing.T) {
	zone, err := time.LoadLocation("Europe/Lisbon")
	if err != nil {
		t.Fatal(err)
	}
	now := time.Date(2025, 4, 3, 16, 20, 0, 0, zone) // a Thursday
	for _, c := range []struct{ text, from, to, place string }{
		{"last 10 minutes", "04-03 16:10", "04-03 16:20", ""},
		{"the past two hours", "04-03 14:20", "04-03 16:20", ""},
		{"last hour", "04-03 15:20", "04-03 16:20", ""},
		{"the past hour", "04-03 15:20", "04-03 16:20", ""},
		{"last four hours", "04-03 12:20", "04-03 16:20", ""},
		{"last fifteen minutes", "04-03 16:05", "04-03 16:20", ""},
		{"past week", "03-27 15:20", "04-03 16:20", ""},
		{"过去四十五分钟", "04-03 15:35", "04-03 16:20", ""},
		{"last half an hour", "04-03 15:50", "04-03 16:20", ""},
		{"最近十分钟", "04-03 16:10", "04-03 16:20", ""},
		{"过去2个小时", "04-03 14:20", "04-03 16:20", ""},
		{"since 14:00", "04-03 14:00", "04-03 16:20", ""},
		{"yesterday", "04-02 00:00", "04-03 00:00", ""},
		{"Yesterday in the office", "04-02 00:00", "04-03 00:00", "office"},
		{"yesterday afternoon at home", "04-02 12:00", "04-02 18:00", "home"},
		{"yesterday in the morning in the office", "04-02 05:00", "04-02 12:00", "office"},
		{"today 14:00-15:30", "04-03 14:00", "04-03 15:30", ""},
		{"today from 14:00 to 15:30", "04-03 14:00", "04-03 15:30", ""},
		{"9:00-10:00", "04-03 09:00", "04-03 10:00", ""},
		{"this morning", "04-03 05:00", "04-03 12:00", ""},
		{"last night", "04-02 20:00", "04-03 05:00", ""},
		{"the day before yesterday", "04-01 00:00", "04-02 00:00", ""},
		{"3 days ago", "03-31 00:00", "04-01 00:00", ""},
		{"on Tuesday", "04-01 00:00", "04-02 00:00", ""},
		{"last Tuesday evening", "04-01 17:00", "04-02 00:00", ""},
		{"last week", "03-24 00:00", "03-31 00:00", ""},
		{"in March", "03-01 00:00", "04-01 00:00", ""},
		{"2025-03-30", "03-30 00:00", "03-31 00:00", ""}, // 23 hours long
		{"2025-03-03 14:00-15:30", "03-03 14:00", "03-03 15:30", ""},
		{"昨天", "04-02 00:00", "04-03 00:00", ""},
		{"昨天下午", "04-02 12:00", "04-02 18:00", ""},
		{"昨晚", "04-02 18:00", "04-03 04:00", ""},
		{"昨天下午在辦公室", "04-02 12:00", "04-02 18:00", "办公室"},
		{"最近一個半小時", "04-03 14:50", "04-03 16:20", ""},
		{"昨天下午在办公室", "04-02 12:00", "04-02 18:00", "办公室"},
		{"上周", "03-24 00:00", "03-31 00:00", ""},
	} {
		w, err := ParseWhen(c.text, now)
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		const form = "01-02 15:04"
		if w.From.Format(form) != c.from || w.To.Format(form) != c.to || w.Place != c.place {
			t.Errorf("%s: %s to %s at %q", c.text, w.From.Format(form), w.To.Format(form), w.Place)
		}
	}
	for _, bad := range []string{"", "soon", "tomorrow", "yesterday purple", "purple yesterday", "last 0 minutes", "today 15:30-14:00", "last week 14:00-15:00",
		"today 14:00-25:00", "since 23:00", "the office", "昨天紫色", "everything", "2025-13-40"} {
		if w, err := ParseWhen(bad, now); !errors.Is(err, memory.ErrInvalid) {
			t.Errorf("%q: %v, %v", bad, w, err)
		}
	}
}
