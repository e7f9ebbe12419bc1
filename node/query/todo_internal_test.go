package query

import (
	"testing"
	"time"
)

func TestReadTodo(t *testing.T) {
	now := time.Date(2026, 11, 25, 17, 0, 0, 0, time.UTC) // a Wednesday
	for question, day := range map[string]int{
		"what do I have to do": 0, "what's on my list": 0, "What do I still need to buy?": 0, "我要买什么": 0, "今天要做什么": 25, "what did I promise": 0, "what do I need to do tomorrow": 26,
		"what do I have to do on Friday": 27, "do I have any plans tonight": 25, "周五我要干什么": 27, "我明天有什么安排": 26, "what is due": 0, "what is still left to do": 0, "anything I must not forget": 0, "购物清单上有什么": 0,
	} {
		w, ok := readTodo(question, now)
		if !ok || w.from.IsZero() != (day == 0) || day > 0 && w.from.Day() != day {
			t.Errorf("%q: %v, from %s", question, ok, w.from)
		}
	}
	for _, question := range []string{
		"what does Tom like to do", "what does Anna need to do", "what do I have to do to renew my passport", "what did I buy", "what does Tom want to buy", "what are my plans for the garden", "what is happening with the roof",
		"小王明天要做什么", "我买了什么", "小李要买什么", "what do I do", "where do I buy tea", "what did I promise Jonas", "what do I like to do",
	} {
		if _, ok := readTodo(question, now); ok {
			t.Errorf("%q asks for what is to be done", question)
		}
	}
}
