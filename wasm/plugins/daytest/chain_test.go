package daytest

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/locket-dev/locket/internal/day"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/reconcile"
	"github.com/locket-dev/locket/wasm/abi"
	"github.com/locket-dev/locket/wasm/plugins/facts"
	"github.com/locket-dev/locket/wasm/plugins/howto"
	"github.com/locket-dev/locket/wasm/plugins/plans"
	"github.com/locket-dev/locket/wasm/plugins/secrets"
)

// contextTurns is how many earlier turns the node shows a plugin.
const contextTurns = 8

// turn is something that was said, with the redactions so far.
type turn struct {
	event   memory.EventID
	at      time.Time
	speaker string
	text    string
}

// chain does what the node does with text: first secrets, whose redactions are applied, then facts,
// plans and howto; candidates become assertions, and assertions memories.
type chain struct {
	t       testing.TB
	wearer  string
	zone    *time.Location
	state   map[string][]byte // by plugin
	turns   []turn            // turns of the session
	said    []turn            // all turns
	last    time.Time
	groups  map[string][]memory.Assertion
	dots    uint64
	refused []day.Said
	vault   []day.Opened
}

// play plays the texts of a day, and returns the result.
func play(t testing.TB, d *day.Day) day.Result {
	t.Helper()
	zone, err := time.LoadLocation(d.Zone)
	if err != nil {
		t.Fatal(err)
	}
	c := &chain{t: t, wearer: d.Wearer, zone: zone, state: map[string][]byte{}, groups: map[string][]memory.Assertion{}}
	for e := range d.Events() {
		if e.Kind == memory.KindText {
			c.hear(&e.Event)
		}
	}
	return c.result()
}

func (c *chain) hear(ev *memory.Event) {
	if ev.At.Sub(c.last) > memory.SessionGap {
		c.turns = nil
	}
	c.last = ev.At
	own := turn{ev.ID, ev.At, ev.Speaker, ev.Text}
	_, offset := ev.At.In(c.zone).Zone()
	in := abi.Event{ID: ev.ID.String(), Kind: "text", At: ev.At.UnixMilli(), Zone: c.zone.String(), Offset: offset,
		Lang: ev.Lang, Speaker: ev.Speaker, Wearer: c.wearer}

	out := c.call("secrets", secrets.New().Extract, in, own)
	own.text = redact(own.text, out.Redactions, 0)
	for i := range c.turns {
		c.turns[i].text = redact(c.turns[i].text, out.Redactions, i-len(c.turns))
		for k := range c.said {
			if c.said[k].event == c.turns[i].event {
				c.said[k].text = c.turns[i].text
			}
		}
	}
	c.propose("secrets", &in, out, own)
	out = c.call("facts", facts.Extract, in, own)
	c.propose("facts", &in, out, own)
	out = c.call("plans", plans.Extract, in, own)
	c.propose("plans", &in, out, own)
	out = c.call("howto", howto.Extract, in, own)
	c.propose("howto", &in, out, own)
	c.said = append(c.said, own)
	c.turns = append(c.turns, own)
	c.turns = c.turns[max(0, len(c.turns)-contextTurns):]
}

func (c *chain) call(plugin string, extract func(*abi.Event, *abi.Output) error, in abi.Event, own turn) *abi.Output {
	in.Text, in.State = own.text, c.state[plugin]
	for _, b := range c.turns {
		in.Before = append(in.Before, abi.Turn{ID: b.event.String(), At: b.at.UnixMilli(), Speaker: b.speaker, Text: b.text})
	}
	out := &abi.Output{}
	if err := extract(&in, out); err != nil {
		c.t.Fatalf("%s: %v", plugin, err)
	}
	c.state[plugin] = out.State
	return out
}

func redact(text string, all []abi.Redaction, n int) string {
	spans := slices.DeleteFunc(slices.Clone(all), func(r abi.Redaction) bool { return r.Span.Turn != n })
	slices.SortFunc(spans, func(a, b abi.Redaction) int { return b.Span.Start - a.Span.Start })
	for _, r := range spans {
		text = text[:r.Span.Start] + "[" + r.Kind + "]" + text[r.Span.End:]
	}
	return text
}

// propose turns candidates into assertions.
func (c *chain) propose(plugin string, in *abi.Event, out *abi.Output, own turn) {
	for _, r := range out.Refusals {
		if r.Span.Start < 0 || r.Span.End > len(own.text) || r.Span.Start > r.Span.End {
			c.t.Errorf("%q: %s: refusal of %+v, which the node takes for a fault of the plugin", own.text, plugin, r.Span)
		}
		c.refused = append(c.refused, day.Said{Event: own.event, Text: r.Reason})
	}
	for _, a := range out.Candidates {
		m := c.candidate(&a, own)
		if a.Type == "vault" {
			v := day.Opened{Label: a.Text + " " + a.Label, Value: a.Secret}
			c.vault = append(c.vault, v)
		}
		if err := m.Validate(); err != nil && a.Type != "vault" {
			c.t.Errorf("%q: %s: %v", own.text, plugin, err)
		}
		c.dots++
		id := memory.DeriveID([]byte("daytest"), own.event, plugin, m.Fingerprint())
		c.groups[m.Group()] = append(c.groups[m.Group()], memory.Assertion{Dot: memory.Dot{Seq: c.dots}, Clock: memory.Clock{Wall: in.At + int64(c.dots)},
			Rank: memory.RankDevice, Memory: id, Act: memory.ActPropose, Candidate: m, Source: m.Source})
	}
}

func (c *chain) candidate(a *abi.Candidate, own turn) *memory.Candidate {
	m := &memory.Candidate{Type: memory.Type(a.Type), Text: a.Text, Lang: a.Lang, Owner: memory.Owner{User: "user"}, Negates: a.Negates, Tags: a.Tags, Confidence: a.Confidence,
		Sensitivity: memory.Personal, TrueFrom: from(a.TrueFrom), TrueTo: from(a.TrueTo), Expires: from(a.Expires)}
	if a.Slot != nil {
		m.Slot = &memory.Slot{Subject: a.Slot.Subject, Attribute: a.Slot.Attribute, Value: a.Slot.Value, Many: a.Slot.Many}
	}
	for _, s := range a.Spans {
		t := own
		if s.Turn < 0 {
			t = c.turns[len(c.turns)+s.Turn]
		}
		e := memory.Evidence{Event: t.event, At: t.at, Speaker: t.speaker, Start: s.Start, End: min(s.End, len(t.text))}
		if a.Type != "vault" {
			e.Excerpt = t.text[s.Start:s.End]
		}
		m.Evidence = append(m.Evidence, e)
	}
	switch m.Type {
	case memory.Core:
		m.Fields.Core = &memory.CoreFields{Block: a.Block, Limit: 2000}
	case memory.Episodic:
		m.Fields.Episodic = &memory.EpisodicFields{EventType: a.EventType, Details: a.Details, Actor: a.Actor, Place: a.Place, Started: from(a.Started), Ended: from(a.Ended)}
	case memory.Semantic:
		m.Fields.Semantic = &memory.SemanticFields{Details: a.Details, Subject: a.Subject, Predicate: a.Predicate, Object: a.Object}
	case memory.Procedural:
		m.Fields.Procedural = &memory.ProceduralFields{EntryType: a.EntryType, Description: a.Details, Steps: a.Steps}
	case memory.Vault:
		m.Fields.Vault = &memory.VaultFields{EntryType: a.EntryType, Label: a.Label}
	}
	return m
}

func from(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}

func (c *chain) result() day.Result {
	r := day.Result{Answers: map[string][]day.Hit{}, Refusals: c.refused, Vault: c.vault}
	for _, s := range c.said {
		r.Utterances = append(r.Utterances, day.Said{Event: s.event, Text: s.text})
	}
	for _, g := range c.groups {
		for _, m := range reconcile.Derive(g) {
			f := day.Found{Name: m.ID.String()[:8], Type: m.Type, State: m.State, Text: m.Text, More: slices.Clone(m.Tags)}
			if m.Slot != nil {
				f.More = append(f.More, m.Slot.Subject, m.Slot.Attribute, m.Slot.Value)
			}
			if p := m.Fields.Procedural; p != nil {
				f.Steps = p.Steps
			}
			if e := m.Fields.Episodic; e != nil {
				f.Started = e.Started
				f.More = append(f.More, e.Details, e.Actor, e.Place)
			}
			if s := m.Fields.Semantic; s != nil {
				f.More = append(f.More, s.Name, s.Details, s.Subject, s.Predicate, s.Object)
			}
			for _, e := range m.Evidence {
				f.Events = append(f.Events, e.Event)
				f.More = append(f.More, e.Excerpt)
			}
			r.Memories = append(r.Memories, f)
		}
	}
	return r
}

// wrong returns the judge's complaints, without those that need a complete node: answers to
// questions, photos, gaps, resources.
func wrong(d *day.Day, r day.Result) []string {
	return slices.DeleteFunc(d.Check(r), func(s string) bool {
		return strings.HasPrefix(s, "photos:") || strings.HasPrefix(s, "gaps:") || strings.Contains(s, "of type resource") || strings.HasSuffix(s, ": was not asked")
	})
}

func seeded(t testing.TB, seed uint64) *day.Day {
	t.Helper()
	d, err := day.Fixed()
	if seed != 0 {
		d, err = day.Generate(seed)
	}
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// said returns the lines that a complaint is about.
func said(d *day.Day, complaint string) string {
	var b strings.Builder
	for _, q := range d.Expect.Questions {
		if strings.Contains(complaint, fmt.Sprintf("%q", q.Question)) && len(q.Current) > 0 {
			for _, n := range append(slices.Clone(q.FormerLines), q.Lines...) {
				l, _ := d.Line(n)
				fmt.Fprintf(&b, "\n\t%d %s: %s", n, l.Speaker, l.Text)
			}
		}
	}
	return b.String()
}
