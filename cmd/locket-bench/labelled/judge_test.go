package labelled

import (
	"slices"
	"testing"
	"time"

	"github.com/locket-dev/locket/memory"
)

func semantic(text string) memory.Memory {
	return memory.Memory{Candidate: memory.Candidate{Type: memory.Semantic, Text: text}, State: memory.Active}
}

func episode(text string, at time.Time) memory.Memory {
	m := memory.Memory{Candidate: memory.Candidate{Type: memory.Episodic, Text: text}, State: memory.Active}
	m.Fields.Episodic = &memory.EpisodicFields{Started: at}
	return m
}

func TestJudge(t *testing.T) {
	zone, err := time.LoadLocation("Asia/Shanghai")
	if err != nil {
		t.Fatal(err)
	}
	day := func(d int) time.Time { return time.Date(2026, 3, d, 9, 0, 0, 0, zone) }
	dentist := Label{Kinds: []Kind{"plan"}, About: []string{"User"}, Terms: [][]string{{"dentist", "牙"}}, Date: "2026-03-05"}
	nuts := Label{Kinds: []Kind{"preference", "biography"}, About: []string{"Dev"}, Terms: [][]string{{"nut"}, {"allerg"}}}
	pin := Label{Kinds: []Kind{"secret"}, Terms: [][]string{{"alarm"}}, Never: []string{"4471"}}
	vault := func(label, excerpt string) memory.Memory {
		m := memory.Memory{Candidate: memory.Candidate{Type: memory.Vault, Text: label}}
		m.Fields.Vault = &memory.VaultFields{EntryType: "pin", Label: label}
		m.Evidence = []memory.Evidence{{Excerpt: excerpt}}
		return m
	}
	for _, c := range []struct {
		m    memory.Memory
		e    Label
		want Fault
	}{
		{episode("User has the dentist", day(5)), dentist, Fits},
		{episode("User has the dentist", day(6)), dentist, BadDate},
		{episode("User has the dentist", time.Date(2026, 3, 4, 17, 0, 0, 0, time.UTC)), dentist, Fits}, // the 5th in Shanghai
		{episode("I have the dentist on 5 March", time.Time{}), dentist, Fits},
		{episode("I have the dentist on 15 March", time.Time{}), dentist, BadDate},
		{episode("I have the dentist on March 5th", time.Time{}), dentist, Fits},
		{episode("用户3月5日看牙", time.Time{}), dentist, Fits},
		{episode("用户13月5日看牙", time.Time{}), dentist, BadDate},
		{episode("Priya has the dentist", day(5)), dentist, BadAbout},
		{episode("User has the doctor", day(5)), dentist, BadTerms},
		{semantic("User has the dentist on 2026-03-05"), dentist, BadType},
		{semantic("Dev is allergic to nuts"), nuts, Fits},
		{semantic("DEV: ＡＬＬＥＲＧＩＣ to all nuts"), nuts, Fits},
		{semantic("Devon is allergic to nuts"), nuts, BadAbout},
		{semantic("Dev is allergic to doughnuts"), nuts, BadTerms},
		{vault("alarm code", "alarm code is ••••"), pin, Fits},
		{vault("alarm code", "alarm code is 4471"), pin, Leaks},
		{semantic("alarm code is 4471"), pin, Leaks},
	} {
		if got := Judge(&c.m, &c.e, zone); got != c.want {
			t.Errorf("%q: %q, want %q", c.m.Text, got, c.want)
		}
	}
}

func TestDates(t *testing.T) {
	for _, c := range []struct {
		text, date string
		want       bool
	}{
		{"in April 2026", "2026-04", true}, {"2026年4月", "2026-04", true}, {"in May 2026", "2026-04", false}, {"on 3 April", "2026-04", true},
		{"since 2014", "2014", true}, {"since 20145", "2014", false},
		{"at 24 May", "2026-05-23/2026-05-24", true}, {"at 25 May", "2026-05-23/2026-05-24", false}, {"the 2nd of June", "2026-06-02", true},
	} {
		if got := dated(&memory.Memory{}, fold(c.text), c.date, time.UTC); got != c.want {
			t.Errorf("%q in %s: %v", c.text, c.date, got)
		}
	}
	ended := memory.Memory{Candidate: memory.Candidate{TrueTo: time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC)}}
	if !dated(&ended, "", "2026-04", time.UTC) || dated(&ended, "", "2026-05", time.UTC) {
		t.Error("an end at midnight is of the day before")
	}
	for _, bad := range []string{"", "soon", "2026-13", "2026-05-01/"} {
		if _, _, err := span(bad, time.UTC); err == nil {
			t.Errorf("%q is a date", bad)
		}
	}
	lines, err := Extract()
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range lines {
		for _, e := range l.Expect {
			if _, _, err := span(e.Date, time.UTC); err != nil && e.Date != "" {
				t.Errorf("%s: %v", l.ID, err)
			}
		}
	}
}

func TestRate(t *testing.T) {
	l := &Line{Zone: "UTC", Expect: []Label{
		{Kinds: []Kind{"biography"}, Terms: [][]string{{"Leeds"}}},
		{Kinds: []Kind{"biography"}, Terms: [][]string{{"physics"}}},
		{Kinds: []Kind{"preference"}, Terms: [][]string{{"tea"}}, Optional: true},
		{Kinds: []Kind{"event"}, Terms: [][]string{{"moved"}}},
		{Kinds: []Kind{"event"}, Terms: [][]string{{"born"}}},
	}}
	made := []memory.Memory{semantic("Ann lives in Leeds and teaches physics"), semantic("Ann lives in Leeds"), semantic("in Leeds"), semantic("likes tea"), semantic("is tall"), episode("Ann married", time.Time{})}
	s, err := Rate(l, made, nil)
	if err != nil {
		t.Fatal(err)
	}
	if want := []Verdict{Right, Right, Duplicate, Uncounted, False, False}; !slices.Equal(s.Verdicts, want) {
		t.Errorf("verdicts %v, want %v", s.Verdicts, want)
	}
	if s.Found[0] < 0 || s.Found[1] != 0 || s.Found[2] != 3 || s.Found[3] != -1 || s.Found[4] != -1 {
		t.Errorf("found %v", s.Found)
	}
	if s.Near[0] != Fits || s.Near[3] != BadTerms {
		t.Errorf("near %v", s.Near)
	}
	if s, err = Rate(l, nil, nil); err != nil || s.Near[0] != NothingMade {
		t.Errorf("near %v of nothing, %v", s.Near, err)
	}
	either := &Line{Zone: "UTC", None: "command", Either: true}
	if s, err = Rate(either, made[:1], nil); err != nil || s.Verdicts[0] != Uncounted {
		t.Errorf("verdicts %v, %v", s.Verdicts, err)
	}
	if _, err = Rate(&Line{Zone: "Nowhere"}, nil, nil); err == nil {
		t.Error("there is no such zone")
	}
}

// What an earlier line of the scene said can be ended.
func TestRateEnded(t *testing.T) {
	l := &Line{Zone: "UTC", Expect: []Label{{Kinds: []Kind{"ended"}, Terms: [][]string{{"Netflix"}}}}}
	was := semantic("User has Netflix")
	if s, err := Rate(l, nil, []memory.Memory{was}); err != nil || s.Found[0] != -1 {
		t.Errorf("found %v, %v: it still holds", s.Found, err)
	}
	was.State = memory.Superseded
	if s, err := Rate(l, nil, []memory.Memory{was}); err != nil || s.Found[0] != Ended {
		t.Errorf("found %v, %v", s.Found, err)
	}
}
