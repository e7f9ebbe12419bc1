package judge

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/reconcile"
)

// Rule decides about every operation of an answer, in order. It is a pure
// function. It compares what the model says with what the model was shown, and
// with the words that it quotes.
func Rule(b *Batch, ops []Operation, src memory.Source, owner string) []Ruling {
	j := judge{b: b, src: src, owner: owner, taken: map[int]int{}, changed: map[int]bool{}, touched: map[memory.ID]bool{}, said: map[string]bool{}}
	out := make([]Ruling, len(ops))
	for i := range ops {
		r, err := j.rule(&ops[i])
		if err != nil {
			r = Ruling{Verdict: memory.Refuse, Message: r.Message, Reason: err.Error()}
		}
		out[i] = r
	}
	return out
}

type judge struct {
	b       *Batch
	src     memory.Source
	owner   string
	taken   map[int]int        // operations by message
	changed map[int]bool       // messages that changed or ended something
	touched map[memory.ID]bool // known memories for which an operation was accepted
	said    map[string]bool    // statements that were added
}

func (j *judge) rule(o *Operation) (r Ruling, err error) {
	if o.Message < 1 || o.Message > len(j.b.Messages) {
		return r, fmt.Errorf("message %d is not one of %d", o.Message, len(j.b.Messages))
	}
	m := &j.b.Messages[o.Message-1]
	r = Ruling{Verdict: o.Op, Message: m, Source: j.src}
	at := strings.Index(m.Text, o.Quote)
	switch {
	case strings.TrimSpace(o.Quote) == "":
		return r, fmt.Errorf("it quotes nothing")
	case at < 0:
		return r, fmt.Errorf("it quotes what was not said")
	case math.IsNaN(o.Confidence) || o.Confidence < 0 || o.Confidence > 1:
		return r, fmt.Errorf("confidence %v is not between 0 and 1", o.Confidence)
	case o.Confidence < unsure:
		return r, fmt.Errorf("the model is not sure of it")
	case j.taken[o.Message] >= perMessage:
		return r, fmt.Errorf("more than %d operations for one line", perMessage)
	}
	states, why := statements(m.Text, at, at+len(o.Quote))
	if states == "" {
		return r, fmt.Errorf("%s", why)
	}
	r.Evidence = memory.Evidence{Event: m.Event, Utterance: m.Utterance, At: m.At, Speaker: m.Speaker, Start: at, End: at + len(o.Quote), Excerpt: memory.Cut(o.Quote, memory.MaxExcerpt)}
	held := *o // from here on, only what is stated counts
	held.Quote, o = states, &held
	if o.Op != memory.Add && !(o.Op == memory.Noop && o.ID == nil) {
		if r.Known, err = j.known(o); err != nil {
			return r, err
		}
	}
	switch o.Op {
	case memory.Add:
		err = j.add(o, &r)
	case memory.Update:
		err = j.update(o, &r)
	case memory.Delete:
		err = j.delete(o, &r)
	case memory.Noop:
		err = j.reinforce(o, &r)
	}
	if err != nil {
		return r, err
	}
	j.taken[o.Message]++
	return r, nil
}

// known returns the memory that an operation names, which must be one that the model was shown.
func (j *judge) known(o *Operation) (*memory.Memory, error) {
	if o.ID == nil {
		return nil, fmt.Errorf("%s names no memory", o.Op)
	}
	if *o.ID < 1 || *o.ID > len(j.b.Known) {
		return nil, fmt.Errorf("memory %d is not one of the %d that it was shown", *o.ID, len(j.b.Known))
	}
	m := &j.b.Known[*o.ID-1]
	if j.touched[m.ID] {
		return nil, fmt.Errorf("memory %d has an operation already", *o.ID)
	}
	return m, nil
}

func (j *judge) add(o *Operation, r *Ruling) error {
	c, err := j.candidate(o, r)
	if err != nil {
		return err
	}
	n := memory.Normal(c.Text)
	if j.said[n] {
		return fmt.Errorf("it says the same twice")
	}
	for i := range j.b.Known {
		k := &j.b.Known[i]
		if memory.Normal(k.Text) == n && k.Type != memory.Episodic || reconcile.Same(c, k) { // it is known already, so it was heard again
			if j.touched[k.ID] {
				return fmt.Errorf("it says the same twice")
			}
			j.touched[k.ID] = true
			r.Verdict, r.Known, r.Reason = memory.Noop, k, "says what is known"
			return nil
		}
	}
	j.said[n] = true
	r.Candidate, r.Reason = c, "new"
	return nil
}

func (j *judge) update(o *Operation, r *Ruling) error {
	c, err := j.candidate(o, r)
	if err != nil {
		return err
	}
	k := r.Known
	if k.Pinned {
		r.Verdict, r.Known = memory.Add, nil
		err := j.add(o, r)
		if r.Candidate != nil {
			r.Reason = "new: what it would change is pinned"
		}
		return err
	}
	if err := j.mayChange(o, r); err != nil {
		return err
	}
	if c.Type != k.Type {
		return fmt.Errorf("a memory's type can't be changed")
	}
	old, now, quote := termsOf(k.Text), termsOf(c.Text), termsOf(o.Quote)
	switch s := k.Slot; {
	case s != nil && !s.Many:
		if o.Value == nil || memory.Normal(*o.Value) == "" || len(*o.Value) > memory.MaxName {
			return fmt.Errorf("it gives no new value")
		}
		if !speaksOf(s.Subject, r.Message, o.Quote, j.b.Wearer) {
			return fmt.Errorf("the speaker does not speak for whom it is about")
		}
		if !carries(o.Quote, *o.Value) {
			return fmt.Errorf("the new value is not in what it quotes")
		}
		slot := *s
		slot.Value = *o.Value
		c.Slot = &slot
	case 3*old.both(now) < len(old):
		return fmt.Errorf("it is about something else than what it would change")
	case old.without(termsOf(r.Message.Speaker+" "+j.b.Wearer)).without(aboutMemory).both(quote) == 0:
		return fmt.Errorf("what it quotes is not about what it would change")
	case 2*now.without(old).both(quote) < len(now.without(old)) || len(now.without(old)) == 0:
		return fmt.Errorf("what is new in it is not in what it quotes")
	}
	j.touched[k.ID], j.changed[o.Message] = true, true
	c.Links = []memory.Link{{Relation: "replaces", To: k.ID.String()}}
	r.Candidate, r.Reason = c, "replaces what was so before"
	return nil
}

func (j *judge) delete(o *Operation, r *Ruling) error {
	k := r.Known
	if k.Pinned {
		return fmt.Errorf("what it would end is pinned")
	}
	if err := j.mayChange(o, r); err != nil {
		return err
	}
	if k.Slot != nil && !speaksOf(k.Slot.Subject, r.Message, o.Quote, j.b.Wearer) {
		return fmt.Errorf("the speaker does not speak for whom it is about")
	}
	if err := deniesIt(o.Quote, k, termsOf(r.Message.Speaker+" "+j.b.Wearer)); err != nil {
		return err
	}
	j.touched[k.ID], j.changed[o.Message] = true, true
	r.Reason = "no longer so"
	return nil
}

// mayChange returns an error if a change may not end a memory. Each line may end only one memory,
// and none that was learnt from something said later.
func (j *judge) mayChange(o *Operation, r *Ruling) error {
	if j.changed[o.Message] {
		return fmt.Errorf("one line changes one memory at most")
	}
	k := r.Known
	if n := len(k.Evidence); n > 0 && k.Evidence[n-1].At.After(r.Message.At) {
		return fmt.Errorf("what it would change was said later")
	}
	if k.Slot == nil && !knows(k, r.Message, j.b.Wearer) {
		return fmt.Errorf("the speaker can't know what it would change")
	}
	return nil
}

// reinforce counts a line as more evidence.
func (j *judge) reinforce(o *Operation, r *Ruling) error {
	if r.Known == nil {
		return nil
	}
	if termsOf(r.Known.Text).without(aboutMemory).both(termsOf(o.Quote)) == 0 {
		return fmt.Errorf("what it quotes is not about memory %d", *o.ID)
	}
	j.touched[r.Known.ID] = true
	r.Reason = "said again"
	return nil
}

// candidate makes the candidate that an ADD or UPDATE proposes.
func (j *judge) candidate(o *Operation, r *Ruling) (*memory.Candidate, error) {
	text := strings.Join(strings.Fields(o.Text), " ")
	m := r.Message
	switch {
	case text == "":
		return nil, fmt.Errorf("it says nothing")
	case len(text) > maxText || !utf8.ValidString(text):
		return nil, fmt.Errorf("a statement of %d bytes, at most %d", len(text), maxText)
	case han(text) == han(o.Quote) && termsOf(text).both(termsOf(o.Quote)) == 0:
		return nil, fmt.Errorf("the statement is not in what it quotes")
	}
	c := &memory.Candidate{Type: o.Type, Text: text, Lang: m.Lang, Owner: memory.Owner{User: j.owner}, Evidence: []memory.Evidence{r.Evidence},
		Source: j.src, Confidence: min(o.Confidence, surest), Sensitivity: memory.Personal}
	c.Source.Device = m.Event.Device
	switch o.Sensitivity {
	case "", memory.Public.String(), memory.Personal.String():
	default: // also for a word that was not among the choices: it may mean just as much
		c.Sensitivity = memory.Private
	}
	types := j.b.Types
	if types == nil {
		types = []memory.Type{memory.Semantic, memory.Episodic, memory.Procedural}
	}
	if !slices.Contains(types, o.Type) {
		return nil, fmt.Errorf("a model makes no %q memories", memory.Cut(string(o.Type), 20))
	}
	switch o.Type {
	case memory.Semantic:
		c.Fields.Semantic = &memory.SemanticFields{}
		j.relate(o, m, c)
	case memory.Core:
		if o.Block != "human" && o.Block != "persona" {
			return nil, fmt.Errorf("a model writes no block %q", memory.Cut(o.Block, 20))
		}
		if !speaksOf("user", m, o.Quote, j.b.Wearer) {
			return nil, fmt.Errorf("only the wearer says who the wearer is")
		}
		c.Fields.Core = &memory.CoreFields{Block: o.Block, Limit: memory.CoreLimit}
	case memory.Resource:
		title := strings.Join(strings.Fields(o.Title), " ")
		if title == "" || len(title) > memory.MaxName {
			return nil, fmt.Errorf("a title of %d bytes, want 1 to %d", len(title), memory.MaxName)
		}
		c.Fields.Resource = &memory.ResourceFields{Title: title, MediaType: "text/plain", Content: m.Text[r.Evidence.Start:r.Evidence.End]}
	case memory.Episodic:
		f := &memory.EpisodicFields{EventType: "event", Actor: m.Speaker}
		f.Started = when(o.When, m)
		c.Fields.Episodic = f
	case memory.Procedural:
		if len(o.Steps) == 0 || len(o.Steps) > maxSteps {
			return nil, fmt.Errorf("%d steps, want 1 to %d", len(o.Steps), maxSteps)
		}
		for _, s := range o.Steps {
			if strings.TrimSpace(s) == "" || len(s) > maxText {
				return nil, fmt.Errorf("a step of %d bytes, want 1 to %d", len(s), maxText)
			}
		}
		if n := j.firstUnsupportedStep(o.Steps, m); n > 0 {
			return nil, fmt.Errorf("step %d is not in what was said", n)
		}
		c.Fields.Procedural = &memory.ProceduralFields{EntryType: "guide", Steps: o.Steps}
	default:
		return nil, fmt.Errorf("a model makes no %q memories", memory.Cut(string(o.Type), 20))
	}
	return c, c.Validate()
}

// firstUnsupportedStep returns the number of the first step about which no line that the model was shown says
// anything; 0: there is none. It can't be checked between two languages.
func (j *judge) firstUnsupportedStep(steps []string, m *Message) int {
	all := termsOf(j.b.Summary)
	for _, list := range [][]Message{j.b.Earlier, j.b.Messages} {
		for i := range list {
			for w := range termsOf(list[i].Text) {
				all[w] = true
			}
		}
	}
	for i, s := range steps {
		if words := termsOf(s); len(words) > 0 && han(s) == han(m.Text) && words.both(all) == 0 {
			return i + 1
		}
	}
	return 0
}

// when parses a time in the speaker's zone; a time that makes no sense is left out.
func when(s *string, m *Message) time.Time {
	if s == nil {
		return time.Time{}
	}
	for _, layout := range []string{time.DateOnly, "2006-01-02T15:04", "2006-01-02 15:04", time.RFC3339, "2006-01-02T15:04:05"} {
		t, err := time.ParseInLocation(layout, *s, cmp.Or(m.Zone, time.UTC))
		if err == nil && t.Sub(m.At).Abs() < 100*365*24*time.Hour {
			return t.UTC()
		}
	}
	return time.Time{}
}

// carries reports whether a quote has a value's words. Between two languages this can't be checked;
// then the slot makes sure that it is about the same matter.
func carries(quote, value string) bool {
	return han(quote) != han(value) || termsOf(value).both(termsOf(quote)) > 0 || strings.Contains(memory.Normal(quote), memory.Normal(value))
}
