package query

import "testing"

func TestIsHearsay(t *testing.T) {
	for _, c := range []struct {
		question, text string
		is             bool
	}{
		{"am I allergic to cats", `She said "I am allergic to cats".`, true},
		{"am I allergic to cats", `“I am allergic to cats,” said Grace.`, true},
		{"am I allergic to cats", `"I am allergic to cats", I said.`, false},
		{"am I allergic to cats", `I told her: "I am allergic to cats"`, false},
		{"am I allergic to cats", `I am allergic to cats. Ben said "who isn't?"`, false},
		{"am I allergic to cats", "The doctor said I am allergic to cats.", false},
		{"where do I live", "Tom thinks I live in Rome.", true},
		{"where do I live", "Yesterday my mum still believed that I live in Rome!", true},
		{"where do I live", "I live in Leeds, but Tom thinks I am in Rome.", false},
		{"where do I live", "I think I live in the best street of Leeds.", false},
		{"where do I live", "Tom and I thought we live in Leeds.", false},
		{"我住在哪里", "汤姆以为我住在罗马。", true},
		{"我住在哪里", "我以为我住在罗马。", false},
		{"我对什么过敏", "她说：“我对猫过敏。”", true},
		{"我对什么过敏", "我说“我对猫过敏”。", false},
	} {
		if got := isHearsay(c.question, c.text); got != c.is {
			t.Errorf("%q, %q: %t (%q)", c.question, c.text, got, withoutHearsay(c.text))
		}
	}
	for question, checks := range map[string]bool{"am I allergic to cats": true, "我住在哪里": true, "where does Tom live": false, "where does Tom think I live": false, "what did she say about me": false} {
		if (hearsay(question) != nil) != checks {
			t.Errorf("%q: %t", question, !checks)
		}
	}
}
