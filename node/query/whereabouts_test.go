package query

import (
	"testing"
	"time"
)

func TestReadWhereabouts(t *testing.T) {
	zone := time.FixedZone("", 8*3600)
	now := time.Date(2026, 9, 14, 20, 30, 0, 0, zone) // a Monday
	for _, tt := range []struct {
		question string
		people   bool
		from, to string // of that week, as "14 12:00"
	}{
		{"where was I this afternoon?", false, "14 12:00", "14 18:00"},
		{"Which places did I visit today?", false, "14 00:00", "14 20:30"},
		{"what places did I go to yesterday", false, "13 00:00", "14 00:00"},
		{"where did I go this morning", false, "14 05:00", "14 12:00"},
		{"where did I have lunch yesterday?", false, "13 11:00", "13 14:00"},
		{"where was I at 4 pm", false, "14 16:00", "14 16:00"},
		{"where was I yesterday at 9:30", false, "13 09:30", "13 09:30"},
		{"and where am I now", false, "14 20:30", "14 20:30"},
		{"who did I meet yesterday", true, "13 00:00", "14 00:00"},
		{"who did I meet today?", true, "14 00:00", "14 20:30"},
		{"who did I talk to this evening", true, "14 17:00", "14 20:30"},
		{"with whom did I speak last Friday", true, "11 00:00", "12 00:00"},
		{"今天下午我在哪里", false, "14 12:00", "14 18:00"},
		{"我今天去了哪些地方？", false, "14 00:00", "14 20:30"},
		{"昨天我去了哪里", false, "13 00:00", "14 00:00"},
		{"今天早上我在哪儿", false, "14 05:00", "14 12:00"},
		{"中午我在哪里吃饭", false, "14 11:00", "14 14:00"},
		{"我下午三点在哪里", false, "14 15:00", "14 15:00"},
		{"我现在在哪儿", false, "14 20:30", "14 20:30"},
		{"昨天我见了谁", true, "13 00:00", "14 00:00"},
		{"我今天晚上和谁说话了", true, "14 18:00", "14 20:30"},
		{"昨天中午我跟谁聊天了？", true, "13 11:00", "13 14:00"},
		{"今天我遇到了谁", true, "14 00:00", "14 20:30"},
	} {
		w, ok := readWhereabouts(tt.question, now)
		if got := w.from.Format("2 15:04") + " " + w.to.Format("2 15:04"); !ok || w.people != tt.people || got != tt.from+" "+tt.to {
			t.Errorf("%s: %v, people %v, %s, want %s to %s", tt.question, ok, w.people, got, tt.from, tt.to)
		}
	}
	for _, q := range []string{"where was I born?", "where did I park the car today", "where did I go with Bo yesterday", "who did I meet", "where was I when Anna called",
		"who did Anna meet yesterday", "where is the kayak", "where will I be tomorrow", "我在哪里出生", "我把护照放在哪里了", "安娜昨天见了谁", "谁昨天来了", "明天我在哪里", ""} {
		if w, ok := readWhereabouts(q, now); ok {
			t.Errorf("%q is taken for a question about whereabouts: %+v", q, w)
		}
	}
}
