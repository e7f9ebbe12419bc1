package query_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/locket-dev/locket/internal/testing/nodetest"
	"github.com/locket-dev/locket/internal/testing/perturb"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/atlas"
	"github.com/locket-dev/locket/node"
	"github.com/locket-dev/locket/node/config"
	"github.com/locket-dev/locket/node/serve"
)

// scripted are lines, each with a question, and what the answer contains.
var scripted = [][3]string{
	{"我对海鲜过敏。", "我对什么过敏？", "海鲜过敏"},
	{"我搬到台北了。", "我住在哪里？", "台北"},
	{"我老婆叫陈怡君。", "陈怡君是谁？", "陈怡君"},
	{"我下周三下午三点开会。", "下周三有什么安排？", "开会"},
	{"提醒我买牛奶。", "要买什么？", "买牛奶"},
	{"钥匙放在抽屉里。", "钥匙在哪里？", "抽屉里"},
	{"小刘欠我两百块钱。", "谁欠我钱？", "两百块"},
	{"门禁密码是4471。", "门禁密码是多少？", "门禁密码"},
}

// TestBothScripts: what is said in traditional characters is found by a question in simplified ones, and
// the other way round, and is shown as it was said.
func TestBothScripts(t *testing.T) {
	at := time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC) // a Tuesday
	as := func(s string) string { return s }
	for _, way := range []struct {
		name      string
		said, ask func(string) string
	}{{"simplified", as, as}, {"said in traditional characters", perturb.Traditional, as}, {"asked in traditional characters", as, perturb.Traditional}, {"traditional", perturb.Traditional, perturb.Traditional}} {
		t.Run(way.name, func(t *testing.T) {
			n := nodetest.New(t, func(c *config.Config) { c.Wearer = way.said("罗静") })
			for i, line := range scripted {
				nodetest.Hear(t, n, at.Add(time.Duration(i)*time.Second), way.said("罗静"), way.said(line[0]))
			}
			for _, line := range scripted {
				res, err := n.Ask(t.Context(), serve.AskRequest{Question: way.ask(line[1]), At: at.Add(time.Minute)})
				if err != nil {
					t.Fatal(err)
				}
				first := ""
				if len(res.Vault) > 0 {
					first = res.Vault[0].Label
				} else if len(res.Evidence) > 0 {
					first = res.Evidence[0].Text
				}
				if want := way.said(line[2]); !strings.Contains(first, want) || !res.Known && len(res.Vault) == 0 {
					t.Errorf("%s: known %v, %q, want %s", way.ask(line[1]), res.Known, first, want)
				}
			}
		})
	}
}

// TestOneOfBothScripts: what was said in both scripts is one fact about one person.
func TestOneOfBothScripts(t *testing.T) {
	at := time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC)
	n := nodetest.New(t, func(c *config.Config) { c.Wearer = "Mei" })
	for i, line := range []string{"我對海鮮過敏。", "我对海鲜过敏。", "我住在臺北。", "我搬到台北了。", "我老婆叫陳怡君。", "陈怡君住在台中。"} {
		nodetest.Hear(t, n, at.Add(time.Duration(i)*time.Hour), "Mei", line)
	}
	if got := valuesOf(t, n, "allergies"); len(got) != 1 {
		t.Errorf("allergies: %q", got)
	}
	if got := valuesOf(t, n, "home"); len(got) != 2 { // hers and that of her wife
		t.Errorf("homes: %q", got)
	}
	v, err := n.Graph(t.Context(), atlas.Query{})
	if err != nil {
		t.Fatal(err)
	}
	var people []string
	for _, e := range v.Entities {
		if strings.Contains(e.Name, "怡君") {
			people = append(people, e.Name)
		}
	}
	if len(people) != 1 {
		t.Errorf("people: %q", people)
	}
	nodetest.Hear(t, n, at.Add(9*time.Hour), "Mei", "我不对海鲜过敏了。")
	if got := valuesOf(t, n, "allergies"); len(got) != 0 {
		t.Errorf("allergies that have ended: %q", got)
	}
}

// valuesOf returns the values of an attribute that are true now.
func valuesOf(t *testing.T, n *node.Node, attribute string) (values []string) {
	t.Helper()
	page, err := n.List(t.Context(), serve.ListQuery{Type: memory.Semantic, State: memory.Active, Limit: 50})
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range page.Memories {
		if m.Slot != nil && m.Slot.Attribute == attribute && !m.Negates {
			values = append(values, m.Slot.Value)
		}
	}
	slices.Sort(values)
	return values
}

// TestSecretOfOnesOwn: a question for one's own password names the vault, whatever the words around it.
func TestSecretOfOnesOwn(t *testing.T) {
	at := time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC)
	n := nodetest.New(t, func(c *config.Config) { c.Wearer = "Mei" })
	for i, line := range []string{"The wifi password is hunter2-blue", "The spare key is with Grace", "My dentist appointment is on 14 December 2026 at 9:30 with Dr. Weber"} {
		nodetest.Hear(t, n, at.Add(time.Duration(i)*time.Second), "Mei", line)
	}
	for question, label := range map[string]string{"what is the wifi password": "Wi-Fi password", "what is my wifi password": "Wi-Fi password", "what's my wifi password?": "Wi-Fi password", "what is my password": "Wi-Fi password",
		"what is my PIN": "", "what is my locker number": ""} {
		res, err := n.Ask(t.Context(), serve.AskRequest{Question: question, At: at.Add(time.Minute)})
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if len(res.Vault) > 0 {
			got = res.Vault[0].Label
		}
		if label != "" && got != label || label == "" && got != "" {
			t.Errorf("%s: the vault's %q, want %q", question, got, label)
		}
		if shown := slices.ContainsFunc(res.Evidence, func(it serve.ContextItem) bool { return !it.Minor }); res.Known && !shown && got == "" {
			t.Errorf("%s: known, and nothing to show: %+v", question, res)
		}
	}
}
