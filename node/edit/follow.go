package edit

import (
	"cmp"
	"context"
	"regexp"
	"strings"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/engine"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/node/extract"
	"github.com/locket-dev/locket/node/serve"
)

// Reread is what the extractor of a memory finds in its text before and after a correction.
type Reread struct {
	Old, New     string // the texts
	InOld, InNew []found
}

// found is a candidate of an extractor, as far as a correction follows it.
type found struct {
	typ            memory.Type
	slot           memory.Slot // zero: none, or the candidate negates it
	started, ended time.Time
	place          string
}

// reread gives the old and the new text of a memory to the extractor that made it. It returns nil
// if nothing in the memory could follow the text, or if that extractor does not run.
func (es *Edits) reread(ctx context.Context, id memory.ID, p *serve.UpdateRequest) (*Reread, error) {
	if p.Text == nil && p.Replace == nil {
		return nil, nil
	}
	var m memory.Memory
	err := es.c.Engine.View(ctx, func(tx *store.Tx) (err error) {
		m, err = engine.LiveAt(tx, id, es.c.Now())
		return err
	})
	if err != nil {
		return nil, err
	}
	text, err := newText(&m, p)
	if err != nil || *text == m.Text || !singleValued(&m) && m.Fields.Episodic == nil {
		return nil, err
	}
	lock := es.c.Engine.AcquireWriter()
	defer lock.Release()
	r := &Reread{Old: m.Text, New: *text}
	if r.InOld, err = es.read(ctx, m.Source.Plugin, r.Old); err == nil {
		r.InNew, err = es.read(ctx, m.Source.Plugin, r.New)
	}
	if err != nil {
		return nil, ctx.Err() // the memory was typed, or a worker made it, or its extractor is off or fails
	}
	return r, nil
}

// read returns what an extractor finds in a text. The caller holds the engine's write lock.
func (es *Edits) read(ctx context.Context, plugin, text string) (in []found, err error) {
	tried, err := es.c.Chain.Try(ctx, plugin, text)
	for i := range tried.Out.Candidates {
		c := &tried.Out.Candidates[i]
		f := found{typ: memory.Type(c.Type), started: extract.FromMillis(c.Started), ended: extract.FromMillis(c.Ended), place: c.Place}
		if c.Slot != nil && !c.Negates {
			f.slot = memory.Slot(*c.Slot)
		}
		in = append(in, f)
	}
	return in, err
}

// singleValued reports whether a memory has a value, and no other beside it.
func singleValued(m *memory.Memory) bool {
	return m.Slot != nil && m.Slot.Value != "" && !m.Slot.Many
}

// follow makes the value of a memory's slot, the object of its relation and the time of its event
// follow a new text. They change if other words stand in the value's place, if another time stands
// in brackets, or if the extractor finds in the old text what the memory has, and something else in
// the new text. The time also follows a new value that is a time.
func follow(m *memory.Memory, p *memory.Patch, known *Known) {
	single := singleValued(m)
	if single && p.Text != nil && p.Value == nil {
		p.Value = inPlace(m, *p.Text)
	}
	if single && p.Text == nil && p.Value != nil && strings.Count(m.Text, m.Slot.Value) == 1 {
		text := strings.Replace(m.Text, m.Slot.Value, *p.Value, 1)
		p.Text = &text
	}
	var before, after event
	if r := known.Reread; r != nil && p.Text != nil && r.Old == m.Text && r.New == *p.Text {
		if single && p.Value == nil {
			is, was := valueIn(r.InNew, m), valueIn(r.InOld, m)
			if is != "" && was == m.Slot.Value && is != was {
				p.Value = &is
			}
		}
		before, after = eventIn(r.InOld), eventIn(r.InNew)
	}
	if e := m.Fields.Episodic; e != nil && p.Text != nil {
		was, is := bracketed(m.Text, known.Zone), bracketed(*p.Text, known.Zone)
		if was.Equal(e.Started) && !is.IsZero() && !is.Equal(was) {
			before, after = event{started: was}, event{started: is}
		}
	}
	if p.Fields != nil {
		return
	}
	if f := m.Fields.Semantic; f != nil && single && p.Value != nil && memory.Normal(f.Object) == memory.Normal(m.Slot.Value) {
		g := *f
		if memory.Normal(g.Name) == memory.Normal(g.Object) {
			g.Name = *p.Value
		}
		g.Object = *p.Value
		p.Fields = &memory.Fields{Semantic: &g}
	}
	if f := m.Fields.Episodic; f != nil {
		followEvent(m, p, before, after, known.Zone)
	}
}

// inPlace returns the words of a text that stand where the value stood in the memory's text, or nil.
func inPlace(m *memory.Memory, text string) *string {
	before, after, ok := strings.Cut(m.Text, m.Slot.Value)
	rest, begins := strings.CutPrefix(text, before)
	words, ends := strings.CutSuffix(rest, after)
	n := len(strings.Fields(words))
	if !ok || !begins || !ends || n == 0 || n > len(strings.Fields(m.Slot.Value))+1 || words == m.Slot.Value {
		return nil
	}
	return &words
}

// valueIn returns the value that was found for the slot of a memory, or "".
func valueIn(in []found, m *memory.Memory) string {
	for i := range in {
		s := &in[i].slot
		if in[i].typ == m.Type && !s.Many && memory.Normal(s.Subject) == memory.Normal(m.Slot.Subject) && memory.Normal(s.Attribute) == memory.Normal(m.Slot.Attribute) {
			return s.Value
		}
	}
	return ""
}

// event is when and where something takes place.
type event struct {
	started, ended time.Time
	place          string
}

// eventIn returns the one event that was found, or none if there are several times.
func eventIn(in []found) (e event) {
	for i := range in {
		f := &in[i]
		switch {
		case f.started.IsZero():
		case e.started.IsZero():
			e = event{f.started, f.ended, f.place}
		case !e.started.Equal(f.started):
			return event{}
		}
	}
	return e
}

// inBrackets is a time as the extractors write it behind the words that name it: "tomorrow at three
// (Tuesday 15 September 2026, 15:00)", 明天下午三点（2026年9月15日星期二 15:00）.
var inBrackets = regexp.MustCompile(`[(（](?:\pL+ )?(?:(\d{1,2} \pL+ \d{4})|(\d{4}年\d{1,2}月\d{1,2}日)(?:星期\pL)?)(?:,? (\d{2}:\d{2}))?[)）]`)

// bracketed returns the only time that stands in brackets in a text, or zero.
func bracketed(text string, zone *time.Location) time.Time {
	all := inBrackets.FindAllStringSubmatch(text, 2)
	if len(all) != 1 {
		return time.Time{}
	}
	english, chinese, clock := all[0][1], all[0][2], cmp.Or(all[0][3], "00:00")
	layout := "2 January 2006"
	if chinese != "" {
		layout = "2006年1月2日"
	}
	t, err := time.ParseInLocation(layout+" 15:04", english+chinese+" "+clock, zone)
	if err != nil {
		return time.Time{}
	}
	return t
}

// open is the value of a plan without a time.
const open = "open"

// followEvent changes the event and the value to the time and place that the new text or the new
// value has. An event that the extractor does not find in the old text stays.
func followEvent(m *memory.Memory, p *memory.Patch, before, after event, zone *time.Location) {
	g := *m.Fields.Episodic
	value := ""
	if m.Slot != nil && !m.Slot.Many {
		value = m.Slot.Value
	}
	old, _, dated := memory.SlotTime(value, zone)
	switch {
	case !after.started.IsZero() && before.started.Equal(g.Started):
		if before.place == g.Place {
			g.Place = after.place
		}
		switch {
		case before.ended.Equal(g.Ended):
			g.Ended = after.ended
		case !g.Ended.IsZero():
			g.Ended = g.Ended.Add(after.started.Sub(g.Started))
		}
		g.Started = after.started
		if p.Value == nil && (dated || value == open) {
			v := after.started.In(zone).Format(memory.SlotMinute)
			if day, midnight := strings.CutSuffix(v, " 00:00"); midnight {
				v = day
			}
			if v != value {
				p.Value = &v
			}
		}
	case p.Value != nil && dated && !g.Started.IsZero():
		at, _, ok := memory.SlotTime(*p.Value, zone)
		if !ok {
			return
		}
		by := at.Sub(old)
		g.Started = g.Started.Add(by)
		if !g.Ended.IsZero() {
			g.Ended = g.Ended.Add(by)
		}
	}
	if g != *m.Fields.Episodic {
		p.Fields = &memory.Fields{Episodic: &g}
	}
}
