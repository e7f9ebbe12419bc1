package worker

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/locket-dev/locket/cloud/worker/language"
	"github.com/locket-dev/locket/cloud/worker/queue"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/atlas"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/sync/delta"
)

// mindVersion is the version of the search for communities and repetitions.
const mindVersion = "1"

// byRules is the engine's name in a worker without a language model.
const byRules = "rules"

// mindKinds returns the trades that go over all memories, once a day. Without
// a model, rules do what they can.
func (w *Worker) mindKinds() []workKind {
	name := byRules
	if w.set.model != nil {
		name = w.set.model.Name()
	}
	daily := func(kind queue.Kind) func(context.Context, *space) ([]queue.Task, error) {
		return func(ctx context.Context, s *space) ([]queue.Task, error) {
			g, err := s.grant(ctx)
			if err != nil || !slices.Contains(g.Types, memory.Semantic) {
				return nil, err // the grant is for other types
			}
			today := w.now().UTC().Truncate(24 * time.Hour)
			s.dueAt(today.Add(24 * time.Hour))
			return []queue.Task{{Space: s.joined.Space, Kind: kind, Subject: today.Format(time.DateOnly), Version: mindVersion, Priority: queue.HousekeepingPriority}}, nil
		}
	}
	return []workKind{
		{kind: queue.Graph, engine: name, to: w.modelTo(), do: w.chart, readsAll: true, tasks: daily(queue.Graph)},
		{kind: queue.Dream, engine: name, to: w.modelTo(), do: w.dream, readsAll: true, tasks: daily(queue.Dream)},
	}
}

// Limits of a chart: how many communities are summarised, the largest first;
// how many memories a community needs; and how many facts of each a model is
// shown.
const (
	maxCommunities = 20
	leastMembers   = 3
	leastFacts     = 2
	maxFacts       = 20
)

// pluginGraph is the source of what a chart says.
const pluginGraph = "worker/graph"

// remembered returns all memories of a space that are active or superseded, and have not
// expired.
func (s *space) remembered(ctx context.Context) (ms []memory.Memory, err error) {
	err = s.engine.View(ctx, func(tx *store.Tx) error {
		for m, err := range s.memories(tx, store.Filter{States: []memory.State{memory.Active, memory.Superseded}}) {
			if err := errors.Join(err, ctx.Err()); err != nil {
				return err
			}
			ms = append(ms, *m)
		}
		return nil
	})
	return ms, err
}

// decided returns when the decisions about names among the memories were made.
func (s *space) decided(ctx context.Context, ms []memory.Memory) (said map[memory.ID]memory.Clock, err error) {
	err = s.engine.View(ctx, func(tx *store.Tx) error {
		said, err = atlas.ClocksOf(ms, tx.Assertions)
		return err
	})
	return said, err
}

// chart summarises the communities of a space.
func (w *Worker) chart(ctx context.Context, s *space, r *queue.Running) error {
	g, err := s.grant(ctx)
	if err != nil {
		return err
	}
	if !slices.Contains(g.Types, memory.Semantic) {
		return errNotGranted
	}
	ms, err := s.remembered(ctx)
	if err != nil {
		return err
	}
	said, err := s.decided(ctx, ms)
	if err != nil {
		return err
	}
	byID := map[memory.ID]*memory.Memory{}
	for i := range ms {
		byID[ms[i].ID] = &ms[i]
	}
	a, err := atlas.Draw(ctx, ms, atlas.Options{Wearer: w.c.Engines.Language.Wearer, Said: said})
	if err != nil {
		return err
	}
	if err := a.Group(ctx); err != nil {
		return err
	}
	done, seen := 0, w.newShown(ctx, s, r)
	for _, c := range a.Communities() {
		facts := a.Facts(&c)
		if len(c.Members) < leastMembers || len(facts) < leastFacts || done == maxCommunities {
			continue
		}
		facts = facts[:min(len(facts), maxFacts)]
		done++
		if w.set.model != nil {
			var ids []memory.ID
			for i := range facts {
				ids = append(ids, facts[i].Memory)
			}
			if err := seen.record(ids...); err != nil {
				return err
			}
		}
		sum, err := w.sumUp(ctx, r, a, &c, facts)
		if err != nil {
			return w.faulty(err)
		}
		if sum.Text == "" {
			continue
		}
		if err := s.sum(ctx, a, &c, sum, byID); err != nil {
			return err
		}
	}
	return nil
}

// sumUp writes the summary of a community, with the model, or from the facts
// alone.
func (w *Worker) sumUp(ctx context.Context, r *queue.Running, a *atlas.Atlas, c *atlas.Community, facts []atlas.Relation) (language.Sum, error) {
	if w.set.model == nil {
		return language.Sum{Title: a.Name(c.ID) + " and others", Text: memory.Cut(a.Sentence(c), language.MaxSummary), Facts: first(len(facts), memory.MaxEvidence), Source: memory.Source{Plugin: pluginGraph, Version: byRules}}, nil
	}
	var members, texts []string
	for _, m := range c.Members {
		members = append(members, a.Name(m))
	}
	for _, f := range facts {
		texts = append(texts, f.Text)
	}
	return w.pipeline(w.metered(r), nil, nil, nil).SumUp(ctx, pluginGraph, members, texts)
}

func first(n, most int) (out []int) {
	for i := range min(n, most) {
		out = append(out, i)
	}
	return out
}

// sum proposes a summary, or corrects the worker's earlier one.
func (s *space) sum(ctx context.Context, a *atlas.Atlas, c *atlas.Community, sum language.Sum, byID map[memory.ID]*memory.Memory) error {
	facts := a.Facts(c)
	facts = facts[:min(len(facts), maxFacts)]
	cand := memory.Candidate{Type: memory.Semantic, Text: sum.Text, Owner: memory.Owner{User: ownerOf}, Tags: []string{atlas.TagCommunity}, Source: sum.Source,
		Fields: memory.Fields{Semantic: &memory.SemanticFields{Name: memory.Cut(sum.Title, memory.MaxName)}}, Confidence: .5, Sensitivity: memory.Personal}
	for _, m := range c.Members[:min(len(c.Members), 32)] {
		cand.Entities = append(cand.Entities, memory.Entity{Name: a.Name(m)})
	}
	var of []*memory.Memory
	for _, n := range sum.Facts {
		of = append(of, byID[facts[n].Memory])
	}
	for i := range facts { // every fact that was shown, because its words may be in the summary
		m := byID[facts[i].Memory]
		cand.Sensitivity = max(cand.Sensitivity, m.Sensitivity)
		cand.Links = append(cand.Links, memory.Link{Relation: "derived_from", To: m.ID.String()})
	}
	if cand.Sensitivity >= memory.Secret {
		return nil
	}
	secret, done, err := s.idKey()
	if err != nil {
		return err
	}
	defer done()
	named := func(what string) memory.ID {
		return memory.DeriveID(secret, memory.EventID{Device: pluginGraph}, pluginGraph, what)
	}
	said := false
	err = s.engine.Commit(ctx, func(tx *store.Tx) error {
		said = false
		id, m, tries, err := summaryNow(tx, named("community "+c.ID))
		if err != nil {
			return err
		}
		changed, err := s.changed(tx, id)
		if err != nil {
			return err
		}
		as := memory.Assertion{Memory: id, Act: memory.ActPropose, Candidate: &cand, Reason: fmt.Sprintf("sums up %d names that hang together", len(c.Members))}
		switch {
		case m != nil && (m.State != memory.Active || m.Rank != memory.RankCloud || m.Pinned || m.Text == cand.Text):
			return nil // it was archived, belongs to somebody else now, or did not change
		case m != nil && (m.Sensitivity < cand.Sensitivity || !restsOn(m, cand.Links) || changed >= delta.MaxChanges-1):
			// A correction is not possible here. The summary would contain
			// facts of a source that it does not name, and so would not be
			// forgotten with that source; or it was changed as often as a
			// worker may. Therefore a new summary replaces it.
			if tries == maxSummaries {
				return nil
			}
			if cand.Evidence, err = s.evidence(tx, of); err != nil || len(cand.Evidence) == 0 {
				return err
			}
			as.Memory = named("community " + c.ID + " after " + id.String())
			if said, err = s.assertOnce(tx, as, ""); err != nil || !said {
				return err
			}
			_, err = s.assertOnce(tx, memory.Assertion{Memory: id, Act: memory.ActArchive, Into: as.Memory, Source: sum.Source, Reason: "another summary took its place"}, "")
			return err
		case m != nil:
			as = memory.Assertion{Memory: id, Act: memory.ActCorrect, Patch: &memory.Patch{Text: &cand.Text, Fields: &cand.Fields}, Source: sum.Source, Reason: as.Reason}
		default:
			if cand.Evidence, err = s.evidence(tx, of); err != nil || len(cand.Evidence) == 0 {
				return err
			}
		}
		said, err = s.assertOnce(tx, as, "")
		return err
	})
	if err == nil && said {
		s.notify()
	}
	return err
}

// maxSummaries is how often a community's summary is replaced. Each new one
// cites the same lines, and a worker may cite a line only
// [delta.MaxPerEvidence] times.
const maxSummaries = 6

// summaryNow follows a summary to the one that replaced it, and so on, and
// counts them. m is nil if there is none.
func summaryNow(tx *store.Tx, id memory.ID) (now memory.ID, m *memory.Memory, tries int, err error) {
	for now = id; ; now = m.Into {
		m, err = tx.Memory(now)
		if errors.Is(err, memory.ErrNotFound) {
			return now, nil, tries, nil
		}
		if tries++; err != nil || m.State != memory.Archived || m.Into.IsZero() || tries == maxSummaries {
			return now, m, tries, err
		}
	}
}

// changed returns how often this worker has changed a memory: see
// [delta.MaxChanges].
func (s *space) changed(tx *store.Tx, id memory.ID) (n int, err error) {
	as, err := tx.Assertions(id)
	for i := range as {
		if a := &as[i]; a.Dot.Member == s.joined.Member && (a.Act == memory.ActCorrect || a.Act == memory.ActClose || a.Act == memory.ActArchive) {
			n++
		}
	}
	return n, err
}

// restsOn reports whether a memory names all of the given sources.
func restsOn(m *memory.Memory, links []memory.Link) bool {
	return !slices.ContainsFunc(links, func(l memory.Link) bool { return !slices.Contains(m.Links, l) })
}

// evidence returns those pieces of the memories' evidence that a worker may
// cite: quotes of existing utterances, and known sources. It takes one piece of
// each memory first.
func (s *space) evidence(tx *store.Tx, of []*memory.Memory) (out []memory.Evidence, err error) {
	seen := map[memory.ID]bool{}
	for round := range memory.MaxEvidence {
		for _, m := range of {
			if round >= len(m.Evidence) || len(out) == memory.MaxEvidence {
				continue
			}
			e := m.Evidence[round]
			if e.Utterance.IsZero() || e.Excerpt == "" || seen[e.Utterance] {
				continue
			}
			u, err := tx.Utterance(e.Utterance)
			if errors.Is(err, memory.ErrNotFound) {
				continue
			}
			if err != nil {
				return nil, err
			}
			if strings.Contains(u.Text, e.Excerpt) && (e.Event.IsZero() || e.Event == u.Event) {
				seen[e.Utterance] = true
				out = append(out, e)
			}
		}
	}
	return out, nil
}
