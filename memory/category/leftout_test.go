package category

import (
	"testing"

	"github.com/locket-dev/locket/memory"
)

func TestInstructionsLeaveOut(t *testing.T) {
	s, err := New(Default())
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ instructions, text, said string }{
		{"Leave out everything about work.", "Maja has a meeting with her boss on Friday.", "work"},
		{"Leave out everything about work.", "Maja likes olives.", ""},
		{"Keep names as they are. Never remember anything about my health or Carla!", "Maja goes to the doctor.", "my health"},
		{"Never remember anything about my health", "I take aspirin for my migraine", "my health"},
		{"Never remember anything about my health", "She has been taking Xarol twice a day for her heart.", "my health"},
		{"Never remember anything about my health", "Two tablets are left", "my health"},
		{"Never remember anything about my health", "I take the bus for the lake", ""},
		{"不要记录健康方面的事。", "我头痛的时候吃阿司匹林", "健康"},
		{"不要記錄健康方面的事。", "我對海鮮過敏", "健康"},
		{"Please don't keep anything about my health, Carla and money", "Carla lives in Ghent.", "Carla"},
		{"Do not record what I say about the new flat", "The new flat costs 900.", "the new flat"},
		{"Do not record what I say about the new flat", "Maja lives in a flat.", ""},
		{"Be brief.", "Maja works at Siemens.", ""},
		{"不要记录健康方面的事。", "Maja明天去看医生。", "健康"},
		{"请不要保存和工作有关的内容；别记小李的事", "Maja周五有会议。", "工作"},
		{"请不要保存和工作有关的内容；别记小李的事", "小李住在成都。", "小李"},
		{"忽略关于钱的事", "Maja付了账单。", "钱"},
		{"忽略关于钱的事", "Maja喜欢喝茶。", ""},
	} {
		l := s.LeftOut(c.instructions)
		if said, ok := l.Matter(&memory.Candidate{Type: memory.Semantic, Text: c.text}); said != c.said || ok != (c.said != "") {
			t.Errorf("%q, %q: left out by %q, want %q", c.instructions, c.text, said, c.said)
		}
	}
	l := s.LeftOut("Leave out everything about work")
	if _, ok := l.Matter(&memory.Candidate{Type: memory.Vault, Text: "PIN of the office"}); ok {
		t.Error("a secret was left out of the vault")
	}
	if _, ok := (&LeftOut{}).Matter(&memory.Candidate{Text: "x"}); ok {
		t.Error("nothing is left out where there are no instructions")
	}
}
