package servetest

import (
	"cmp"
	"context"
	"regexp"
	"slices"
	"strings"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/edit"
	"github.com/locket-dev/locket/node/forget"
	"github.com/locket-dev/locket/node/serve"
)

var (
	fact   = regexp.MustCompile(`(?i)^my ([a-z ]+) is (.+?)[.!]?$`)
	secret = regexp.MustCompile(`(?i)password(?: of ([a-z]+))? is (\S+?)[.!]?$`)
)

// Add implements serve.Writer.
func (n *Node) Add(ctx context.Context, r serve.AddRequest) (serve.AddResult, error) {
	done, err := n.open(ctx)
	if err != nil {
		return serve.AddResult{}, err
	}
	defer done()
	var res serve.AddResult
	if r.Key != "" {
		if slices.Contains(n.s.Keys, r.Key) {
			return serve.AddResult{Repeated: true}, nil
		}
		n.s.Keys = append(n.s.Keys, r.Key)
	}
	at := r.At
	if at.IsZero() {
		at = n.Now()
	}
	speaker := r.Speaker
	if speaker == "" {
		speaker = n.Wearer
	}
	c := memory.Candidate{
		Type: r.Type, Text: r.Text, Lang: r.Lang, Owner: memory.Owner{User: cmp.Or(r.User, n.Wearer), Agent: r.Agent, Run: r.Run},
		Slot: r.Slot, Fields: r.Fields, Tags: r.Tags, Metadata: r.Metadata, Expires: r.Expires,
		Source: memory.Source{Plugin: "person"}, Confidence: 1, Sensitivity: memory.Personal, TrueFrom: at.UTC(),
	}
	if r.Sensitivity != nil {
		c.Sensitivity = *r.Sensitivity
	}
	hidden := ""
	if r.Infers() && n.blind() {
		return n.setAside(r, at), nil
	}
	if r.Infers() {
		c.Source = memory.Source{Plugin: "rules", Version: "1"}
		if strings.HasSuffix(r.Text, "?") {
			ref := memory.Refusal{At: at.UTC(), Plugin: "rules", Kind: "question", Reason: "a question states nothing"}
			n.s.Refused = append(n.s.Refused, ref)
			res.Refusals = append(res.Refusals, ref)
			n.said(r.Text, speaker, c, 0)
			return res, nil
		}
		hidden = infer(&c)
		if hidden != "" {
			r.Text = strings.ReplaceAll(r.Text, hidden, "[secret]")
			res.Redacted = 1
		}
		u := n.said(r.Text, speaker, c, res.Redacted)
		c.Evidence = []memory.Evidence{{Event: n.s.Utterances[len(n.s.Utterances)-1].Event, Utterance: u, Speaker: speaker, At: at.UTC(), Excerpt: r.Text}}
	} else if c.Type == "" {
		c.Type = memory.Semantic
	}
	if err := c.Validate(); err != nil {
		return res, err
	}
	res.Changes = n.reconcile(c, rankOf(r), hidden)
	return res, nil
}

func rankOf(r serve.AddRequest) memory.Rank {
	if r.Infers() {
		return memory.RankDevice
	}
	return memory.RankPerson
}

func (n *Node) said(text, speaker string, c memory.Candidate, redacted int) memory.ID {
	id := n.newID(text)
	n.s.Utterances = append(n.s.Utterances, memory.Utterance{
		ID: id, Event: memory.EventID{Device: "api", Boot: 1, Seq: uint64(len(n.s.Utterances) + 1)}, At: c.TrueFrom, Speaker: speaker, Text: text, Lang: c.Lang, Source: c.Source, Redacted: redacted,
	})
	return id
}

// infer fills the candidate, and gives the secret that was said, if any.
func infer(c *memory.Candidate) (hidden string) {
	c.Confidence = 0.8
	if m := secret.FindStringSubmatch(c.Text); m != nil {
		label := strings.TrimSpace("password of " + m[1])
		c.Type, c.Text, c.Sensitivity = memory.Vault, label, memory.Secret
		c.Fields.Vault = &memory.VaultFields{EntryType: "password", Label: label, Sealed: []byte("sealed")}
		return m[2]
	}
	if m := fact.FindStringSubmatch(c.Text); m != nil {
		c.Type = memory.Semantic
		c.Slot = &memory.Slot{Subject: "user", Attribute: m[1], Value: m[2]}
		return ""
	}
	c.Type = memory.Episodic
	c.Fields.Episodic = &memory.EpisodicFields{EventType: "conversation"}
	return ""
}

// reconcile adds, reinforces, or replaces.
func (n *Node) reconcile(c memory.Candidate, rank memory.Rank, hidden string) []memory.Change {
	now, group := n.Now().UTC(), c.Group()
	fresh := memory.Memory{ID: n.newID(group), Candidate: c, Rank: rank, State: memory.Active, Learnt: now, Heard: 1}
	var list []memory.Change
	reason := "new"
	for i := range n.s.Memories {
		m := &n.s.Memories[i]
		if m.State != memory.Active || m.Candidate.Group() != group {
			continue
		}
		same := c.Type != memory.Vault && (c.Slot == nil || memory.Normal(m.Slot.Value) == memory.Normal(c.Slot.Value))
		switch {
		case same:
			m.Heard++
			m.Evidence = append(m.Evidence, c.Evidence...)
			return append(list, n.change(memory.Change{Memory: m.ID, Verdict: memory.Noop, New: m.Text, By: c.Source, Rank: rank, Reason: "known already"}))
		case m.Pinned:
			reason = "kept beside a pinned memory"
		default:
			m.State, m.Unlearnt, m.TrueTo, m.Into = memory.Superseded, now, c.TrueFrom, fresh.ID
			list = append(list, n.change(memory.Change{Memory: m.ID, Verdict: memory.Update, Old: m.Text, New: c.Text, Other: fresh.ID, By: c.Source, Rank: rank, Reason: "a new value of " + c.Slot.Attribute}))
			reason = "replaces the value before"
		}
	}
	if hidden != "" {
		n.s.Secrets[fresh.ID.String()] = hidden
	}
	n.s.Memories = append(n.s.Memories, fresh)
	return append(list, n.change(memory.Change{Memory: fresh.ID, Verdict: memory.Add, New: c.Text, By: c.Source, Rank: rank, Reason: reason}))
}

// Update implements serve.Writer.
func (n *Node) Update(ctx context.Context, id memory.ID, p serve.UpdateRequest) (memory.Memory, error) {
	done, err := n.open(ctx)
	if err != nil {
		return memory.Memory{}, err
	}
	defer done()
	m, err := n.find(id)
	if err != nil {
		return memory.Memory{}, err
	}
	said, err := edit.Assertions(m, &p, edit.Known{
		Past: func(line string) (bool, error) {
			return slices.ContainsFunc(n.s.Memories, func(o memory.Memory) bool {
				return o.State == memory.Superseded && memory.Normal(o.Text) == memory.Normal(line)
			}), nil
		},
		ID: func(_ *memory.Memory, c *memory.Candidate) memory.ID { return n.newID(c.Fingerprint()) },
	})
	if err != nil {
		return memory.Memory{}, err
	}
	for _, a := range said {
		n.assert(&a)
	}
	m, err = n.find(id)
	if err != nil {
		return memory.Memory{}, err
	}
	return *m, nil
}

// assert does what an assertion of the wearer says.
func (n *Node) assert(a *memory.Assertion) {
	if a.Act == memory.ActPropose {
		n.reconcile(*a.Candidate, memory.RankPerson, "")
		return
	}
	m, err := n.find(a.Memory)
	if err != nil {
		return
	}
	was := m.Text
	switch a.Act {
	case memory.ActCorrect:
		correctFields(m, a.Patch)
	case memory.ActArchive:
		m.State = memory.Archived
	case memory.ActRestore:
		m.State = memory.Active
	case memory.ActTag:
		m.Tags = append(m.Tags, a.Tags...)
	case memory.ActUntag:
		m.Tags = slices.DeleteFunc(m.Tags, func(t string) bool { return slices.Contains(a.Tags, t) })
	}
	m.Rank = memory.RankPerson
	n.change(memory.Change{Memory: m.ID, Verdict: memory.Update, Old: was, New: m.Text, By: memory.Source{Plugin: "person"}, Rank: memory.RankPerson, Reason: cmpOr(a.Reason, "corrected")})
}

func correctFields(m *memory.Memory, p *memory.Patch) {
	if p.Text != nil {
		m.Text = *p.Text
	}
	if p.Value != nil {
		slot := *m.Slot
		slot.Value = *p.Value
		m.Slot = &slot
	}
	if p.Fields != nil {
		m.Fields = *p.Fields
	}
	if p.Metadata != nil {
		m.Metadata = *p.Metadata
	}
	if p.Sensitivity != nil {
		m.Sensitivity = *p.Sensitivity
	}
	if p.Validity != nil {
		m.TrueFrom, m.TrueTo = p.Validity.From, p.Validity.To
	}
}

func cmpOr(s, other string) string {
	if s != "" {
		return s
	}
	return other
}

// Delete implements serve.Writer.
func (n *Node) Delete(ctx context.Context, id memory.ID) error {
	done, err := n.open(ctx)
	if err != nil {
		return err
	}
	defer done()
	return n.erase(id)
}

func (n *Node) erase(id memory.ID) error {
	m, err := n.find(id)
	if err != nil {
		return err
	}
	*m = memory.Memory{ID: id, State: memory.Erased}
	delete(n.s.Secrets, id.String())
	for i := range n.s.Changes {
		if c := &n.s.Changes[i]; c.Memory == id || c.Other == id {
			c.Old, c.New = "", ""
		}
	}
	n.change(memory.Change{Memory: id, Verdict: memory.Delete, By: memory.Source{Plugin: "person"}, Rank: memory.RankPerson, Reason: "erased"})
	return nil
}

// Pin implements serve.Writer.
func (n *Node) Pin(ctx context.Context, id memory.ID, pinned bool) (memory.Memory, error) {
	done, err := n.open(ctx)
	if err != nil {
		return memory.Memory{}, err
	}
	defer done()
	m, err := n.find(id)
	if err != nil {
		return memory.Memory{}, err
	}
	m.Pinned = pinned
	return *m, nil
}

// PlanForget implements serve.Forgetter.
func (n *Node) PlanForget(ctx context.Context, s serve.ForgetSelection) (serve.ForgetPlan, error) {
	done, err := n.open(ctx)
	if err != nil {
		return serve.ForgetPlan{}, err
	}
	defer done()
	p := serve.ForgetPlan{From: s.Since, To: s.Until}
	if s.Last > 0 {
		p.To = n.Now().UTC()
		p.From = p.To.Add(-s.Last.Std())
	}
	if s.When != "" {
		t, err := forget.ParseWhen(s.When, n.Now())
		if err != nil {
			return serve.ForgetPlan{}, err
		}
		if p.From, p.To = t.From, t.To; t.Place != "" {
			s.Place = t.Place
		}
	}
	has := func(text, query string) bool {
		in := strings.Fields(memory.Normal(text))
		return !slices.ContainsFunc(strings.Fields(memory.Normal(query)), func(w string) bool { return !slices.Contains(in, w) })
	}
	takes := func(m serve.Related, speaker, place, device string, owner *memory.Owner) bool {
		switch {
		case len(s.IDs) > 0 && !slices.Contains(s.IDs, m.ID), !has(m.Text, s.Query), !has(m.Text, s.Person) && speaker != s.Person,
			s.Place != "" && place != s.Place, s.Device != "" && device != s.Device,
			m.At.Before(p.From), !p.To.IsZero() && m.At.After(p.To):
			return false
		case s.Scope == nil:
			return true
		}
		return owner != nil && owner.User == cmp.Or(s.Scope.User, n.Wearer) &&
			(s.Scope.Agent == "" || owner.Agent == s.Scope.Agent) && (s.Scope.Run == "" || owner.Run == s.Scope.Run)
	}
	for i := range n.s.Memories {
		if m := &n.s.Memories[i]; m.State != memory.Erased && takes(related(m), "", "", m.Source.Device, &m.Owner) {
			p.Memories = append(p.Memories, related(m))
		}
	}
	for _, u := range n.s.Utterances {
		if r := (serve.Related{ID: u.ID, Text: u.Text, At: u.At}); takes(r, u.Speaker, u.Place, u.Event.Device, nil) {
			p.Utterances = append(p.Utterances, r)
		}
	}
	return p, nil
}

// Forget implements serve.Forgetter.
func (n *Node) Forget(ctx context.Context, p serve.ForgetPlan) (serve.ForgetResult, error) {
	done, err := n.open(ctx)
	if err != nil {
		return serve.ForgetResult{}, err
	}
	defer done()
	var res serve.ForgetResult
	for _, m := range p.Memories {
		if n.erase(m.ID) == nil { // gone since: nothing to take
			res.Memories++
		}
	}
	before := len(n.s.Utterances)
	n.s.Utterances = slices.DeleteFunc(n.s.Utterances, func(u memory.Utterance) bool {
		return slices.ContainsFunc(p.Utterances, func(r serve.Related) bool { return r.ID == u.ID })
	})
	res.Utterances = before - len(n.s.Utterances)
	return res, nil
}
