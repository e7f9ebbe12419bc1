package query

import (
	"testing"
	"time"
)

func TestReadWhereabouts(t *testing.T) {
	zone, err := time.LoadLocation("Europe/Lisbon")
	if err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 9, 14, 20, 30, 0, 0, zone) // a Monday
	early := time.Date(2026, 9, 14, 9, 0, 0, 0, zone)
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
		{"今天去了哪些地方", false, "14 00:00", "14 20:30"},
		{"昨天都去了哪儿？", false, "13 00:00", "14 00:00"},
		{"昨天见了谁", true, "13 00:00", "14 00:00"},
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
	for _, tt := range []struct {
		question string
		now      time.Time
		want     string
	}{
		{"我昨晚八点在哪里", now, "13 20:00"},
		{"昨晚十点半我在哪", now, "13 22:30"},
		{"今晚八点我在哪里", now, "14 20:00"},
		{"where was I last night at 2", now, "14 02:00"},
		{"where was I last night at 2 am", now, "14 02:00"},
		{"where was I last night at 11 pm", now, "13 23:00"},
		{"where was I last night at 9:30", now, "13 21:30"},
		{"夜里两点我在哪里", now, "14 02:00"},
		{"晚上一点我在哪里", now, "14 01:00"},
		{"晚上一点我在哪里", early, "14 01:00"},
		{"晚上十二点我在哪里", now, "14 00:00"},
		{"昨天晚上十二点我在哪里", now, "14 00:00"},
		{"where was I at 12 am", now, "14 00:00"},
		{"where was I at 12 pm", now, "14 12:00"},
		{"where was I yesterday at 12", now, "13 12:00"},
		{"十三点我在哪里", now, "14 13:00"},
		{"今天二十点我在哪里", now, "14 20:00"},
		{"昨天二十四点我在哪里", now, "14 00:00"},
		{"昨天二十二点半我在哪里", now, "13 22:30"},
		{"上午十点我在哪里", now, "14 10:00"},
		{"今天中午一点我在哪里", now, "14 13:00"},
		{"凌晨三点我在哪里", now, "14 03:00"},
		{"where was I at 2 in the morning", now, "14 02:00"},
		{"where was I at 3 in the afternoon", early, "13 15:00"},
		{"where was I at 6", early, "14 06:00"},
		{"where was I at 6", now, "14 18:00"},
		{"where was I today at 6", early, "14 06:00"},
		{"where was I at 4 pm", early, "13 16:00"},
		{"where was I at 09:30", now, "14 09:30"},
		{"where was I yesterday at 6", early, "13 18:00"},
		{"where was I at 9 yesterday", now, "13 09:00"},
		{"where was I at 16:00 on 2026-03-29", now, "29 16:00"}, // the clocks were changed
		{"where am I", now, "14 20:30"},
		{"我在哪儿呢", now, "14 20:30"},
	} {
		w, ok := readWhereabouts(tt.question, tt.now)
		if got := w.from.Format("2 15:04"); !ok || got != tt.want || !w.to.Equal(w.from) {
			t.Errorf("%s at %s: %v, %s, want %s", tt.question, tt.now.Format("15:04"), ok, got, tt.want)
		}
	}
	for _, q := range []string{"where was I today at 4 pm", "今天下午四点我在哪里", "今晚八点我在哪里"} {
		if w, ok := readWhereabouts(q, early); ok {
			t.Errorf("%q is yet to come, and is read as %s", q, w.from)
		}
	}
	for _, q := range []string{"where was I last week at 4 pm", "where was I in March at 9", "where was I the last two days at 3", "where was I at 25:00", "where was I at 9:75",
		"where was I at 15 am", "二十五点我在哪里", "两三点我在哪里", "十二三点我在哪里", "where did I go", "which places have I visited", "where was I", "我去过哪些地方", "我在哪吃的午饭", "我去了哪里", "where was I born?", "where did I park the car today", "where did I go with Bo yesterday", "who did I meet", "where was I when Anna called",
		"who did Anna meet yesterday", "where is the kayak", "where will I be tomorrow", "我在哪里出生", "我把护照放在哪里了", "安娜昨天见了谁", "昨天安娜见了谁", "今天会议在哪里", "去了哪里", "谁昨天来了", "明天我在哪里", ""} {
		if w, ok := readWhereabouts(q, now); ok {
			t.Errorf("%q is taken for a question about whereabouts: %+v", q, w)
		}
	}
}
