package day

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/locket-dev/locket/memory"
)

// ideal is the result of a perfect memory for d.
func ideal(d *Day) Result {
	ids := map[int]memory.EventID{}
	for e := range d.Events() {
		if _, ok := ids[e.Line]; !ok {
			e.ID.Boot = 77 // a wearable counts boots itself
			ids[e.Line] = e.ID
		}
	}
	events := func(lines []int) (out []memory.EventID) {
		for _, n := range lines {
			out = append(out, ids[n])
		}
		return out
	}
	var forms []string
	for _, x := range d.Expect.Secrets {
		for _, f := range x.Forms {
			forms = append(forms, regexp.QuoteMeta(f))
		}
	}
	secrets := regexp.MustCompile("(?i)" + strings.Join(forms, "|"))
	redact := func(s string) string { return secrets.ReplaceAllString(s, "[secret]") }
	r := Result{Answers: map[string][]Hit{}}
	for _, l := range d.Lines {
		if l.Kind == memory.KindText {
			r.Utterances = append(r.Utterances, Said{ids[l.Number], redact(l.Text)})
		}
	}
	for i, q := range d.Expect.Questions {
		m := Found{Name: fmt.Sprint("q", i), Type: memory.Semantic, State: memory.Active, Text: redact(said(d, q.Lines)), Started: q.CurrentAt, Events: events(q.Lines)}
		r.Memories = append(r.Memories, m)
		r.Answers[q.Question] = []Hit{{"something else", nil}, {m.Text, m.Events}}
		if len(q.Former) > 0 {
			r.Memories = append(r.Memories, Found{Name: fmt.Sprint("f", i), Type: memory.Semantic, State: memory.Superseded, Text: said(d, q.FormerLines), Started: q.FormerAt, Events: events(q.FormerLines)})
		}
	}
	for _, f := range d.Expect.Refused {
		r.Refusals = append(r.Refusals, Said{ids[f.Line], "it is a " + f.Kinds[0]})
	}
	for _, s := range d.Expect.Secrets {
		r.Vault = append(r.Vault, Opened{s.Label[0], s.Value})
	}
	for i, p := range d.Expect.Procedures {
		r.Memories = append(r.Memories, Found{Name: fmt.Sprint("p", i), Type: memory.Procedural, State: memory.Active, Text: p.About[0], Steps: slices.Repeat([]string{"do"}, p.Steps), Events: events(p.Lines)})
	}
	for t, n := range d.Expect.Types {
		for range n {
			r.Memories = append(r.Memories, Found{Name: "more", Type: memory.Type(t), State: memory.Active, Text: "more", Events: events(d.Expect.Questions[0].Lines)})
		}
	}
	files := map[string]memory.EventID{}
	for _, l := range d.Lines {
		if l.Kind == memory.KindPhoto {
			files[l.File] = ids[l.Number]
		}
	}
	for _, p := range d.Expect.Photos.Alike {
		r.Alike = append(r.Alike, [2]memory.EventID{files[p[1]], files[p[0]]})
	}
	for _, g := range d.Expect.Gaps {
		r.Gaps = append(r.Gaps, ids[g.Line])
	}
	return r
}

func TestCheckAcceptsTheIdealResult(t *testing.T) {
	for i, d := range append([]*Day{mustFixed(t)}, mustMake(t)...) {
		if wrong := d.Check(ideal(d)); len(wrong) > 0 {
			t.Errorf("day %d: %s", i, strings.Join(wrong, "\n\t"))
		}
	}
}

// TestEveryFaultIsFound breaks the ideal result in one place at a time.
func TestEveryFaultIsFound(t *testing.T) {
	for _, d := range []*Day{mustFixed(t), mustMake(t)[0]} {
		secret := d.Expect.Secrets[0]
		change := slices.IndexFunc(d.Expect.Questions, func(q Question) bool { return len(q.Current) > 0 })
		q := d.Expect.Questions[change]
		edit := func(r *Result, name string, f func(*Found)) {
			for i := range r.Memories {
				if r.Memories[i].Name == name {
					f(&r.Memories[i])
				}
			}
		}
		line := func(n int) memory.EventID {
			for e := range d.Events() {
				if e.Line == n {
					return e.ID
				}
			}
			return memory.EventID{}
		}
		for name, c := range map[string]struct {
			fault func(*Result)
			want  string
		}{
			"secret in a memory":   {func(r *Result) { edit(r, "q1", func(m *Found) { m.Text += " " + secret.Value }) }, "stands in semantic memory q1"},
			"secret in a field":    {func(r *Result) { edit(r, "q1", func(m *Found) { m.More = []string{secret.Forms[1]} }) }, "stands in semantic memory q1"},
			"secret in a step":     {func(r *Result) { edit(r, "p0", func(m *Found) { m.Steps[0] = secret.Value }) }, "stands in procedural memory p0"},
			"secret in other case": {func(r *Result) { r.Utterances[0].Text = strings.ToUpper(secret.Value) }, "stands in utterance"},
			"secret in a log":      {func(r *Result) { r.Elsewhere = []Named{{"the log", "x=" + secret.Value + ","}} }, "stands in the log"},
			"secret in a refusal":  {func(r *Result) { r.Refusals[0].Text = secret.Value }, "stands in refusal"},
			"secret in an answer":  {func(r *Result) { r.Answers[q.Question][1].Text += secret.Value }, "stands in answer"},
			"secret as a label":    {func(r *Result) { r.Vault[0].Label += " " + secret.Value }, "stands in vault label"},
			"half of a split one":  {func(r *Result) { r.Utterances[0].Text = split(d).Forms[4] }, "stands in utterance"},
			"not in the vault":     {func(r *Result) { r.Vault = r.Vault[1:] }, "no vault entry is labelled"},
			"another value":        {func(r *Result) { r.Vault[0].Value = "x" }, "has another value"},
			"question not asked":   {func(r *Result) { delete(r.Answers, q.Question) }, "was not asked"},
			"found too late":       {func(r *Result) { r.Answers[q.Question] = append(make([]Hit, Depth), r.Answers[q.Question]...) }, "none of 10 hits"},
			"found without words":  {func(r *Result) { r.Answers[q.Question][1].Text = "" }, "no hit holds"},
			"former still active":  {func(r *Result) { edit(r, fmt.Sprint("f", change), func(m *Found) { m.State = memory.Active }) }, "has the former value"},
			"former by its time": {func(r *Result) {
				edit(r, fmt.Sprint("f", change), func(m *Found) { m.State, m.Text = memory.Active, "" })
			}, "has the former value"},
			"current not active": {func(r *Result) { unlearn(r, fmt.Sprint("q", change)) }, "has the current value"},
			"memory of a filler": {func(r *Result) {
				edit(r, "q1", func(m *Found) { m.Events = []memory.EventID{line(d.Expect.Refused[0].Line)} })
			}, "rests on line"},
			"no reasons": {func(r *Result) { r.Refusals = r.Refusals[:2] }, "have a refusal with a reason"},
			"too few of a type": {func(r *Result) {
				r.Memories = slices.DeleteFunc(r.Memories, func(m Found) bool { return m.Type == memory.Resource })
			}, "of type resource"},
			"no how-to":             {func(r *Result) { edit(r, "p0", func(m *Found) { m.Text = "x" }) }, "procedures: none"},
			"how-to without steps":  {func(r *Result) { edit(r, "p0", func(m *Found) { m.Steps = m.Steps[:2] }) }, "has 2 steps"},
			"twins not seen":        {func(r *Result) { r.Alike = nil }, "not found to be alike"},
			"strangers taken alike": {func(r *Result) { r.Alike = append(r.Alike, [2]memory.EventID{photo(d, 0), photo(d, 1)}) }, "taken to be alike"},
			"gap not known":         {func(r *Result) { r.Gaps = nil }, "is not known of"},
		} {
			r := ideal(d)
			c.fault(&r)
			wrong := d.Check(r)
			if name == "former by its time" && q.FormerAt.IsZero() {
				continue
			}
			if !slices.ContainsFunc(wrong, func(s string) bool { return strings.Contains(s, c.want) }) {
				t.Errorf("%s: %q, want %q among them", name, wrong, c.want)
			}
			for _, s := range wrong {
				if holdsAny(s, secret.Forms) {
					t.Errorf("%s: the complaint repeats the secret: %s", name, s)
				}
			}
		}
	}
}

func split(d *Day) Secret {
	return d.Expect.Secrets[slices.IndexFunc(d.Expect.Secrets, func(s Secret) bool { return len(s.Lines) > 1 })]
}

// unlearn makes a memory, and those that repeat it, inactive.
func unlearn(r *Result, name string) {
	at := slices.IndexFunc(r.Memories, func(m Found) bool { return m.Name == name })
	text := r.Memories[at].Text
	for i := range r.Memories {
		if r.Memories[i].Text == text {
			r.Memories[i].State = memory.Superseded
			r.Memories[i].Started = time.Time{}
		}
	}
}

func photo(d *Day, i int) memory.EventID {
	for e := range d.Events() {
		if l, _ := d.Line(e.Line); l.File != "" && l.File == d.Expect.Photos.Apart[i] {
			return e.ID
		}
	}
	return memory.EventID{}
}

func TestContainsMatchesWholeNumbersAndWords(t *testing.T) {
	for _, c := range []struct {
		text, form string
		want       bool
	}{
		{"the code is 4719.", "4719", true}, {"it took 14719 ns", "4719", false}, {"id k4719z", "4719", false}, {"PIN是4719。", "4719", true}, {"id k471902z", "471902", true}, {"Four-seven, one", "four seven one", true},
		{"forty four seven ones", "four seven one", true}, {"HARBORKITE4471!", "HarborKite4471", true}, {"门是六八二零五七吧", "六八二零五七", true},
		{"nothing", "", false},
	} {
		if got := holds(c.text, c.form); got != c.want {
			t.Errorf("holds(%q, %q) = %v", c.text, c.form, got)
		}
	}
}
