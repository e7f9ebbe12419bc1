package worker

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/locket-dev/locket/cloud/worker/language"
	"github.com/locket-dev/locket/cloud/worker/queue"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/consolidate"
	"github.com/locket-dev/locket/memory/reconcile"
	"github.com/locket-dev/locket/memory/store"
)

// pluginDream is the source of what a worker says in a dream.
const pluginDream = "worker/dream"

// Limits of a dream: how many memories a model is shown at once, how often it
// is asked in a night, and from which similarity two memories may say the same.
const (
	maxShown  = 30
	maxAsked  = 3
	alikeFrom = .25
)

// dream looks through all memories. By rules, it archives what workers have
// said twice. With a model, it finds one wording for several memories and
// proposes it as a memory that names them. The owner's node then decides in its
// own dream, which shows the proposal first and can be undone. Memories that
// are pinned, secret, in the vault, or a person's word are left out.
func (w *Worker) dream(ctx context.Context, s *space, r *queue.Running) error {
	g, err := s.grant(ctx)
	if err != nil {
		return err
	}
	ms, err := s.remembered(ctx)
	if err != nil {
		return err
	}
	if err := s.tidy(ctx, w, ms, r.Subject, g.Types); err != nil {
		return err
	}
	if w.set.model == nil {
		return nil
	}
	p := w.pipeline(w.metered(r), nil, nil, nil)
	asked, seen := 0, w.newShown(ctx, s, r)
	for _, group := range alikeGroups(ctx, ms, g.Types) {
		if asked++; asked > maxAsked {
			break
		}
		var ids []memory.ID
		for i := range group {
			ids = append(ids, group[i].ID)
		}
		if err := seen.record(ids...); err != nil {
			return err
		}
		merges, err := p.Merges(ctx, pluginDream, group)
		if err != nil {
			return w.faulty(err)
		}
		for _, m := range merges {
			if err := s.merge(ctx, &m); err != nil {
				return err
			}
		}
	}
	return nil
}

// tidy archives memories that repeat another memory, if both are words of
// workers only.
func (s *space) tidy(ctx context.Context, w *Worker, ms []memory.Memory, name string, types []memory.Type) error {
	secret, done, err := s.idKey()
	if err != nil {
		return err
	}
	defer done()
	own := slices.DeleteFunc(slices.Clone(ms), func(m memory.Memory) bool {
		return m.Rank != memory.RankCloud || m.Pinned || !slices.Contains(types, m.Type)
	})
	plan, err := consolidate.Make(ctx, consolidate.Input{Memories: own, Now: w.now().UTC(), ID: func(what string) memory.ID {
		return memory.DeriveID(secret, memory.EventID{Device: pluginDream}, pluginDream, what)
	}})
	if err != nil {
		return err
	}
	said := false
	err = s.engine.Commit(ctx, func(tx *store.Tx) error {
		said = false
		for _, step := range plan.Steps {
			if step.Kind != consolidate.Merge {
				continue // the node decides when memories expire
			}
			m, err := tx.Memory(step.Memory)
			if err != nil {
				return err
			}
			into, err := tx.Memory(step.Into)
			if err != nil {
				return err
			}
			if m.State != memory.Active || into.State != memory.Active || m.Rank != memory.RankCloud || into.Rank != memory.RankCloud || m.Pinned || into.Pinned {
				continue
			}
			fresh, err := s.assertOnce(tx, memory.Assertion{Memory: step.Memory, Act: memory.ActArchive, Into: step.Into, Source: memory.Source{Plugin: pluginDream, Version: name},
				Reason: step.Reason}, "")
			if err != nil {
				return err
			}
			said = said || fresh
		}
		return nil
	})
	if err == nil && said {
		s.notify()
	}
	return err
}

// alikeGroups returns groups of at least two similar memories, in batches that
// a model is shown at once. It returns fewer after ctx is done.
func alikeGroups(ctx context.Context, ms []memory.Memory, types []memory.Type) (out [][]memory.Memory) {
	var list []memory.Memory
	var words []map[string]bool
	byWord := map[string][]int{}
	taken := map[string]bool{} // sources of merges that were proposed before
	for i := range ms {
		for _, l := range ms[i].Links {
			if l.Relation == consolidate.TakesIn {
				taken[l.To], taken[ms[i].ID.String()] = true, true
			}
		}
	}
	for _, m := range ms {
		if m.State != memory.Active || m.Pinned || m.Negates || m.Rank >= memory.RankPerson || m.Sensitivity >= memory.Secret || m.Slot != nil ||
			m.Type != memory.Semantic && m.Type != memory.Episodic || !slices.Contains(types, m.Type) || len(m.Tags) > 0 && slices.Contains(m.Tags, "summary") || taken[m.ID.String()] {
			continue
		}
		w := reconcile.Shingles(m.Text)
		for x := range w {
			byWord[x] = append(byWord[x], len(list))
		}
		list, words = append(list, m), append(words, w)
	}
	seen := make([]bool, len(list))
	var page []memory.Memory
	for i := range list {
		if ctx.Err() != nil {
			return nil
		}
		if seen[i] {
			continue
		}
		both := map[int]int{}
		for x := range words[i] {
			if len(byWord[x]) <= 200 { // a word in very many memories says nothing about similarity
				for _, j := range byWord[x] {
					both[j]++
				}
			}
		}
		group := []memory.Memory{}
		for _, j := range slices.Sorted(maps.Keys(both)) {
			n := both[j]
			if !seen[j] && list[j].Type == list[i].Type && list[j].Owner == list[i].Owner && float64(n) >= alikeFrom*float64(len(words[i])+len(words[j])-n) && len(group) < 6 {
				group = append(group, list[j])
				seen[j] = len(group) > 1 || j == i
			}
		}
		seen[i] = true
		if len(group) < 2 {
			continue
		}
		if len(page)+len(group) > maxShown {
			out, page = append(out, page), nil
		}
		page = append(page, group...)
	}
	if len(page) > 0 {
		out = append(out, page)
	}
	return out
}

// merge proposes one memory in place of several.
func (s *space) merge(ctx context.Context, m *language.Merge) error {
	one := m.Of[0]
	c := memory.Candidate{Type: one.Type, Text: m.Text, Lang: one.Lang, Owner: one.Owner, Source: m.Source, Confidence: one.Confidence, Sensitivity: memory.Personal}
	if one.Type == memory.Episodic {
		f := memory.EpisodicFields{EventType: "event"}
		if one.Fields.Episodic != nil {
			f = *one.Fields.Episodic
		}
		c.Fields.Episodic = &f
	}
	var of []*memory.Memory
	names := ""
	for i := range m.Of {
		x := &m.Of[i]
		of = append(of, x)
		names += x.ID.String() + " "
		c.Confidence = min(c.Confidence, x.Confidence)
		c.Sensitivity = max(c.Sensitivity, x.Sensitivity)
		c.Links = append(c.Links, memory.Link{Relation: consolidate.TakesIn, To: x.ID.String()})
		for _, e := range x.Entities {
			if !slices.ContainsFunc(c.Entities, func(o memory.Entity) bool { return o.Name == e.Name }) && len(c.Entities) < 32 {
				c.Entities = append(c.Entities, e)
			}
		}
	}
	secret, done, err := s.idKey()
	if err != nil {
		return err
	}
	defer done()
	id := memory.DeriveID(secret, memory.EventID{Device: pluginDream}, pluginDream, names)
	said := false
	err = s.engine.Commit(ctx, func(tx *store.Tx) (err error) {
		said = false
		for _, x := range of {
			now, err := tx.Memory(x.ID)
			if errors.Is(err, memory.ErrNotFound) || err == nil && (now.State != memory.Active || now.Text != x.Text || now.Pinned || now.Rank >= memory.RankPerson) {
				return nil // a memory changed while the model worked
			}
			if err != nil {
				return err
			}
		}
		if c.Evidence, err = s.evidence(tx, of); err != nil || len(c.Evidence) == 0 {
			return err
		}
		said, err = s.assertOnce(tx, memory.Assertion{Memory: id, Act: memory.ActPropose, Candidate: &c, Reason: fmt.Sprintf("says %d memories in one: %s", len(of), memory.Cut(m.Reason, 200))}, "")
		return err
	})
	if err == nil && said {
		s.notify()
	}
	return err
}
