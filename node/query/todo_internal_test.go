package query

import (
	"testing"
	"time"

	"github.com/locket-dev/locket/memory"
)

func TestReadTodo(t *testing.T) {
	now := time.Date(2026, 11, 25, 17, 0, 0, 0, time.UTC) // a Wednesday
	for question, day := range map[string]int{
		"what do I have to do": 0, "what's on my list": 0, "What do I still need to buy?": 0, "我要买什么": 0, "今天要做什么": 25, "what did I promise": 0, "what do I need to do tomorrow": 26,
		"what do I have to do on Friday": 27, "do I have any plans tonight": 25, "周五我要干什么": 27, "我明天有什么安排": 26, "what is due": 0, "what is still left to do": 0, "anything I must not forget": 0, "购物清单上有什么": 0,
		"my to do list": 0, "what's on my to-do list": 0, "what is on the to do list": 0, "what's still on our todo list for tomorrow": 26, "show me my to-do list": 0, "what are my to dos on Friday": 27, "read me the to-do list": 0, "what is on this week": 23, "what's planned for tomorrow": 26, "do I have anything on today": 25, "what do I have on on Friday": 27, "where are we going in December": 1, "What are we doing at Christmas?": 24, "where am I travelling next week": 30, "what's happening in March": 1, "what is on in January": 1,
		"我们十二月去哪儿": 1, "我下周要去哪里": 30, "圣诞节我们去哪": 25, "where are we going over Easter": 26, "我有什么要做的": 0, "我的待办清单": 0, "待办事项有哪些": 0,
	} {
		w, ok := readTodo(question, now)
		if !ok || w.from.IsZero() != (day == 0) || day > 0 && w.from.Day() != day {
			t.Errorf("%q: %v, from %s", question, ok, w.from)
		}
	}
	for _, question := range []string{
		"what does Tom like to do", "what does Anna need to do", "what do I have to do to renew my passport", "what did I buy", "what does Tom want to buy", "what are my plans for the garden", "what is happening with the roof",
		"where are we going", "what are we doing wrong", "where are we going with this", "where did we go in December", "where was I going yesterday", "what am I doing in this photo", "我们去哪儿了", "昨天我们去哪了", "上周日干什么了", "我们今天去了哪",
		"小王明天要做什么", "我买了什么", "小李要买什么", "what do I do", "where do I buy tea", "what did I promise Jonas", "what do I like to do",
		"what's on Tom's to-do list", "which app do I use for the to-do list", "where is my to do list", "what is on the menu", "what do I have in the fridge", "what is on the shelf",
	} {
		if _, ok := readTodo(question, now); ok {
			t.Errorf("%q asks for what is to be done", question)
		}
	}
}

func TestDue(t *testing.T) {
	now := time.Date(2026, 11, 25, 17, 0, 0, 0, time.UTC)
	day := func(n int) time.Time { return time.Date(2026, 11, n, 0, 0, 0, 0, time.UTC) }
	for _, c := range []struct {
		started, ended, from, to time.Time
		due                      bool
	}{
		{day(24), day(28), time.Time{}, time.Time{}, true}, // it continues
		{day(24), day(28), day(27), day(28), true},
		{day(24), day(26), day(27), day(28), false},
		{day(23), day(25), time.Time{}, time.Time{}, false},
		{now.Add(time.Hour), time.Time{}, day(25), day(26), true},
		{now.Add(-time.Hour), time.Time{}, time.Time{}, time.Time{}, false},
		{now.Add(31 * time.Hour), time.Time{}, day(25), day(26), false},
		{time.Time{}, time.Time{}, time.Time{}, time.Time{}, true},
	} {
		m := memory.Memory{}
		m.Fields.Episodic = &memory.EpisodicFields{EventType: "plan", Started: c.started, Ended: c.ended}
		if got := (&todo{from: c.from, to: c.to}).due(&m, now); got != c.due {
			t.Errorf("from %s to %s, asked for %s to %s: due %v", c.started, c.ended, c.from, c.to, got)
		}
	}
}
