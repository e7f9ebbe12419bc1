package share

import (
	"context"
	"errors"
	"slices"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/node/extract"
	"github.com/locket-dev/locket/node/policy"
	"github.com/locket-dev/locket/node/policy/consent"
)

// feedContent is what should be in a feed.
type feedContent struct {
	memories   []memory.Memory
	utterances []memory.Utterance
	blobs      map[memory.ID]memory.ID // owner, by name of the blob
}

// choose returns what belongs in a feed. Memories that quote the wearer, and
// that a worker may cite, come with their utterances.
func (s *Sharing) choose(ctx context.Context, rec *Record) (f feedContent, err error) {
	f.blobs = map[memory.ID]memory.ID{}
	rules, err := s.c.Allow(ctx)
	if err != nil {
		return f, err
	}
	var asked []consent.Held
	worker := Party{Name: rec.Title}
	live := rec.activeParties() // before the worker was admitted there is none, and the wearer is not asked about anything
	if len(live) > 0 {
		worker.Key = live[0].Key
	}
	q := policy.Request{Action: policy.Feed, Kind: policy.Worker, Now: s.c.Now()}
	err = s.c.Inbox.View(ctx, func(tx *store.Tx) error {
		said := map[memory.ID]bool{}
		var questions []memory.Memory
		for m, err := range tx.Memories(store.Filter{States: []memory.State{memory.Active}, Since: rec.Criteria.Since, Until: rec.Criteria.Until}) {
			if err != nil {
				return err
			}
			if m.Expired(q.Now) {
				continue
			}
			blob, err := recordingOf(m)
			if err != nil {
				return err
			}
			why, waits := checkPolicy(&rules, q, []Party{worker}, m)
			switch {
			case why != "":
				if len(waits) > 0 && len(live) > 0 && (rec.Criteria.Fits(m) && len(rec.Criteria.Types) > 0 || !blob.IsZero() && rec.Audio) {
					asked = append(asked, waits...)
				}
			case m.Type == memory.Vault || m.Fields.Vault != nil:
			case !blob.IsZero():
				ok, err := s.mayFeedRecording(tx, m, rec)
				if err != nil {
					return err
				}
				if ok {
					f.memories = append(f.memories, *m)
					f.blobs[blob] = m.ID
				}
			case slices.Contains(m.Tags, tagQuestion) && m.Rank == memory.RankPerson && rec.Audio:
				questions = append(questions, *m) // a question is handled like its photo
			case rec.Criteria.Fits(m) && len(rec.Criteria.Types) > 0:
				f.memories = append(f.memories, *m)
				for _, e := range m.Evidence {
					said[e.Utterance] = true
				}
			}
		}
		for _, q := range questions {
			if slices.ContainsFunc(q.Links, func(l memory.Link) bool {
				return slices.ContainsFunc(f.memories, func(m memory.Memory) bool { return l.Relation == asksAbout && l.To == m.ID.String() })
			}) {
				f.memories = append(f.memories, q)
			}
		}
		for id := range said {
			u, err := tx.Utterance(id)
			if errors.Is(err, memory.ErrNotFound) {
				continue
			}
			if err != nil {
				return err
			}
			f.utterances = append(f.utterances, *u)
		}
		return nil
	})
	return f, errors.Join(err, s.askWearer(ctx, asked, false))
}

// recordingOf returns the name of the blob of a recording or photo, or zero.
func recordingOf(m *memory.Memory) (id memory.ID, err error) {
	if r := m.Fields.Resource; r != nil && r.Blob != "" {
		return memory.ParseID(r.Blob)
	}
	return id, nil
}

// The tag of a wearer's question about a photo, and its link to the photo.
const (
	tagQuestion = "question"
	asksAbout   = "asks_about"
)

// mayFeedRecording reports whether a recording or photo belongs into a feed. Its
// sensitivity does not decide that, because the node gives all of them the same
// one. What decides is whether a secret was said near it.
func (s *Sharing) mayFeedRecording(tx *store.Tx, m *memory.Memory, rec *Record) (bool, error) {
	if !rec.Audio || m.State != memory.Active {
		return false, nil
	}
	held, err := extract.IsHeldBack(tx, m)
	return !held, err
}
