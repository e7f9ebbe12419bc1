package query

import (
	"testing"

	"github.com/locket-dev/locket/memory/recall"
)

func TestNames(t *testing.T) {
	for _, c := range []struct {
		question, label string
		words           int
	}{
		{"where did I park", "Wi-Fi password at home", 0},
		{"where did I park", "Bike lock code", 0},
		{"what is the wifi password", "Wi-Fi password at home", 2},
		{"what is the code of my bike's lock?", "Bike lock code", 3},
		{"where do I live", "password", 0},
		{"大门的密码是什么", "大门的密码", 2},
		{"我的车停在哪里", "大门的密码", 0},
	} {
		if got := recall.Shared(c.question, c.label); got < min(c.words, 1) || c.words == 0 && got > 0 || c.words > 1 && got < c.words {
			t.Errorf("%q has %d words of %q", c.question, got, c.label)
		}
	}
}

// TestChineseQuestionTopic: what a question is about ends before 是什么时候.
func TestChineseQuestionTopic(t *testing.T) {
	for question, want := range map[string]string{"婚礼是什么时候办的": "婚礼", "小美什么时候来": "小美", "小王现在住在哪里": "小王"} {
		if m := askedAfterZh.FindStringSubmatch(question); m == nil || m[1] != want {
			t.Errorf("%s: %q", question, m)
		}
	}
}

// TestPronounsAreNotNames: somebody who asks for anybody, or for a relative, is not told that no memory
// has that name.
func TestPronounsAreNotNames(t *testing.T) {
	for question, want := range map[string]int{"does anybody play chess": 0, "does Tom play chess": 1, "爸爸喜欢什么": 0, "大家喜欢什么": 0, "小王喜欢什么": 1} {
		if got := asked(question); len(got) != want {
			t.Errorf("%s: %q", question, got)
		}
	}
}
