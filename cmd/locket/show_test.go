package main

import (
	"strings"
	"testing"
	"time"

	"github.com/locket-dev/locket/cmd/locket/cli"
	"github.com/locket-dev/locket/cmd/locket/copycmd"
	"github.com/locket-dev/locket/cmd/locket/devicecmd"
	"github.com/locket-dev/locket/cmd/locket/recallcmd"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/atlas"
	"github.com/locket-dev/locket/node/config"
	"github.com/locket-dev/locket/node/serve"
)

// A line of locket list has when a thing happened, and when it was learnt where
// that was on another day.
func TestRowSaysWhenItHappened(t *testing.T) {
	at := time.Date(2026, 9, 14, 13, 31, 0, 0, time.UTC)
	heard := func(m memory.Memory, learnt time.Duration) *memory.Memory {
		m.State, m.Text, m.Learnt = memory.Active, "x", at.Add(learnt)
		m.Evidence = []memory.Evidence{{At: at}}
		return &m
	}
	visit := memory.Memory{}
	visit.Fields.Episodic = &memory.EpisodicFields{Started: at.AddDate(0, 0, 3)}
	since := memory.Memory{}
	since.TrueFrom = at.AddDate(-6, 0, 0)
	for _, c := range []struct {
		m    *memory.Memory
		want string
	}{
		{heard(memory.Memory{}, time.Minute), "Mon 14 Sep 2026 13:31  x"},
		{heard(memory.Memory{}, 24*time.Hour), "Mon 14 Sep 2026 13:31  x  learnt Tue 15 Sep 2026 13:31"},
		{heard(visit, 0), "Thu 17 Sep 2026 13:31  x  learnt Mon 14 Sep 2026 13:31"},
		{heard(since, 0), "Mon 14 Sep 2020 13:31  x  learnt Mon 14 Sep 2026 13:31"},
		{&memory.Memory{State: memory.Active, Learnt: at, Candidate: memory.Candidate{Text: "x"}}, "Mon 14 Sep 2026 13:31  x"},
	} {
		var out strings.Builder
		a := &cli.App{Settings: &config.Loaded{Config: config.Config{Zone: "UTC"}}}
		a.Row(&out, c.m)
		if got := strings.TrimSpace(out.String()); !strings.HasSuffix(got, "  "+c.want) {
			t.Errorf("%q, want …%q", got, c.want)
		}
	}
}

// The welcome can be redirected into a file: nothing else is on standard output.
func TestWelcomeAlone(t *testing.T) {
	for _, feed := range []bool{true, false} {
		var out, told strings.Builder
		a := &cli.App{Stdout: &out, Stderr: &told}
		if err := devicecmd.ShowGranted(a, &serve.Grant{Name: "studio", Relay: "https://relay.example", Welcome: "locket-space-1.abc", Feed: feed}); err != nil {
			t.Fatal(err)
		}
		if out.String() != "locket-space-1.abc\n" {
			t.Errorf("standard output has %q", out.String())
		}
		for _, want := range []string{"studio is in", "--relay https://relay.example"} {
			if !strings.Contains(told.String(), want) {
				t.Errorf("no %q in %q", want, told.String())
			}
		}
		if warned := strings.Contains(told.String(), "all of your memories"); warned == feed {
			t.Errorf("feed %t: %q", feed, told.String())
		}
	}
}

// A check tells the wearer's time, and not that of the machine.
func TestShowChecked(t *testing.T) {
	var out strings.Builder
	a := &cli.App{Settings: &config.Loaded{Config: config.Config{Zone: "Asia/Tokyo"}}}
	copycmd.ShowChecked(a, &out, &copycmd.BackupCheck{At: time.Date(2026, 3, 1, 20, 30, 0, 0, time.UTC), Records: 7})
	if got := out.String(); got != "The backup of 2 Mar 2026, 05:30 has 7 records; restored, 0 are missing.\n" {
		t.Error(got)
	}
}

func TestPadded(t *testing.T) {
	for text, spaces := range map[string]int{
		"Anna": 6, "王芳": 6, "Zoë": 7, "Zoe\u0308": 7, "한국": 6, "カナ": 6, "ｶﾅ": 8, "Ann 🎂": 4, "，": 8, "Elizabeth Montgomery": 0, "": 10,
	} {
		if got := cli.Padded(text, 10); got != text+strings.Repeat(" ", spaces) {
			t.Errorf("%q: %q, want %d spaces", text, got, spaces)
		}
	}
}

func TestGraphInWords(t *testing.T) {
	var id memory.ID
	var b strings.Builder
	a := &cli.App{Settings: &config.Loaded{Config: config.Config{Zone: "Asia/Shanghai"}}}
	recallcmd.ShowGraph(a, &b, &atlas.View{Entities: []atlas.Entry{{ID: "a", Name: "王芳", Memories: 1}, {ID: "b", Name: "Ghent", Memories: 2}},
		Relations: []atlas.Relation{{Subject: "a", Predicate: "home", Object: "b", Memory: id, TrueFrom: time.Date(2026, 9, 13, 16, 0, 0, 0, time.UTC)}}})
	want := "王芳" + strings.Repeat(" ", 38) + "1 memory\nGhent" + strings.Repeat(" ", 37) + "2 memories\n\n" + cli.ShortID(id) + "  王芳 -- home -- Ghent, from 2026-09-14\n"
	if b.String() != want {
		t.Errorf("%s\nwant\n%s", b.String(), want)
	}
}
