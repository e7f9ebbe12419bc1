package node

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/locket-dev/locket/internal/testing/llmtest"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/filter"
	"github.com/locket-dev/locket/node/config"
	"github.com/locket-dev/locket/node/serve"
)

// Where the wearer was, and with whom, follows from visits and speakers, although
// no words say it.
func TestWhereabouts(t *testing.T) {
	off, err := builtIn()
	if err != nil {
		t.Fatal(err)
	}
	n := newNode(t, func(c *config.Config) { c.Plugins.Disabled = off })
	at := func(h, m int) time.Time { return time.Date(2026, 3, 2, h, m, 0, 0, time.UTC) } // Lisbon is at UTC then
	o, release, err := n.use()
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range []struct {
		at   time.Time
		name string
	}{{at(8, 41), "the office"}, {at(12, 18), "Wang's Noodles"}, {at(15, 32), "Café Lua"}} {
		if _, err := o.process(t.Context(), memory.Event{ID: memory.EventID{Device: "glasses", Boot: 1, Seq: uint64(i) + 1}, Kind: memory.KindLocation, At: v.at,
			Received: v.at, Clock: memory.ClockWall, Place: &memory.Place{Lat: 1, Lon: float64(i), Name: v.name}}); err != nil {
			t.Fatal(err)
		}
	}
	release()
	hear(t, n, at(9, 2), "Priya", "Did the invoice go out?")
	hear(t, n, at(9, 3), "Ana", "It did.")
	hear(t, n, at(12, 20), "小雨", "面来了!")
	hear(t, n, at(12, 21), "Priya", "Thanks.")
	ask := func(question string, only filter.Filter) serve.AskResult {
		t.Helper()
		res, err := n.Ask(t.Context(), serve.AskRequest{Question: question, At: at(20, 0), Filters: only})
		if err != nil {
			t.Fatal(err)
		}
		return res
	}
	for question, want := range map[string]string{
		"Where was I this afternoon?":            "08:41 the office; 12:18 Wang's Noodles; 15:32 Café Lua",
		"where was I at 4 pm":                    "15:32 Café Lua",
		"今天我去了哪些地方":                              "08:41 the office; 12:18 Wang's Noodles; 15:32 Café Lua",
		"who did I meet today":                   "09:02 Priya; 12:20 小雨",
		"今天中午我和谁聊天了":                             "12:20 小雨; 12:21 Priya",
		"which places did I visit on 2026-03-02": "08:41 the office; 12:18 Wang's Noodles; 15:32 Café Lua",
	} {
		if res := ask(question, filter.Filter{}); res.Answer != want || !res.Known || !res.Cited || len(res.Citations) == 0 {
			t.Errorf("%s: %q, known %v, %d citations, want %q", question, res.Answer, res.Known, len(res.Citations), want)
		}
	}
	if res := ask("Where was I yesterday?", filter.Filter{}); res.Cited {
		t.Errorf("yesterday: %+v", res)
	}
	// An app that may not see visits is not told of them.
	if res := ask("Where was I this afternoon?", filter.Only(func(it *filter.Item) bool { return it.Utterance != nil })); res.Cited {
		t.Errorf("with no right to see visits: %q", res.Answer)
	}
	// Without a time, only "where am I" is answered by the wearer's current place.
	for question, want := range map[string]string{"where am I": "15:32 Café Lua", "where did I go": "", "我去过哪些地方": "", "which places have I visited": ""} {
		if res := ask(question, filter.Filter{}); res.Answer != want && res.Known {
			t.Errorf("%s: %q, want %q", question, res.Answer, want)
		}
	}
	res, err := n.Ask(t.Context(), serve.AskRequest{Question: "and who did I meet today?", At: at(20, 0), Before: []serve.ContextMessage{{Text: "Where was I today?"}, {Text: "At the office"}}})
	if err != nil || res.Answer != "09:02 Priya; 12:20 小雨" {
		t.Errorf("it goes on: %q, %v", res.Answer, err)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if _, err := n.Ask(ended, serve.AskRequest{Question: "who did I meet today", At: at(20, 0)}); !errors.Is(err, context.Canceled) {
		t.Errorf("ended: %v", err)
	}
	if hits := search(t, n, serve.SearchRequest{Query: "which places did I visit today", At: at(20, 0), K: 2}); len(hits) != 2 || hits[0].Memory == nil || hits[0].Memory.Fields.Episodic.Place != "the office" {
		t.Errorf("search: %+v", hits)
	}
}

// An answer lists what its evidence has room for, and how many more there are, even
// if the language model fails.
func TestWhereaboutsAreBounded(t *testing.T) {
	off, err := builtIn()
	if err != nil {
		t.Fatal(err)
	}
	s := llmtest.New(t, llmtest.Options{Key: modelKey})
	n := newNode(t, func(c *config.Config) {
		c.Plugins.Disabled = off
		c.LLM = config.LLM{URL: s.URL, Model: s.Model(), Key: modelKey}
	})
	at := func(h, m int) time.Time { return time.Date(2026, 3, 2, h, m, 0, 0, time.UTC) }
	for i := range 120 {
		hear(t, n, at(9, 0).Add(time.Duration(i)*time.Minute), fmt.Sprintf("Guest %d", i), "Good day.")
	}
	s.Script(llmtest.Fails(401, "", "bad key"), llmtest.Fails(401, "", "bad key"))
	for question, want := range map[string]string{"who did I meet today": "; and %d more", "今天我见了谁": "等120人"} {
		res, err := n.Ask(t.Context(), serve.AskRequest{Question: question, At: at(20, 0)})
		shown := len(res.Citations)
		if strings.Contains(want, "%d") {
			want = fmt.Sprintf(want, 120-shown)
		}
		if err != nil || res.Trouble == "" || !res.Cited || shown == 0 || shown > len(res.Evidence) || !strings.HasPrefix(res.Answer, "09:00 Guest 0; 09:01 Guest 1; ") ||
			!strings.HasSuffix(res.Answer, want) || strings.Count(res.Answer, "Guest") != shown {
			t.Errorf("%s: %q, %d citations, %s, %v", question, res.Answer, shown, res.Trouble, err)
		}
	}
}
