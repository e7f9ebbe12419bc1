package query

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/locket-dev/locket/internal/sorting"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/consolidate"
	"github.com/locket-dev/locket/memory/filter"
	"github.com/locket-dev/locket/memory/recall"
	"github.com/locket-dev/locket/memory/retrieve"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/node/answer"
	"github.com/locket-dev/locket/node/extract"
	"github.com/locket-dev/locket/node/serve"
)

// lastTurns is how many turns of the live session the topic is taken from.
const lastTurns = 6

// Context implements serve.Recaller.
func (rd Reader) Context(ctx context.Context, r serve.ContextRequest) (res serve.ContextResult, err error) {
	err = rd.of.During(ctx, func(ctx context.Context, qr *Query) error {
		f, err := qr.surround(ctx, r)
		res = f.ContextResult
		return err
	})
	return res, err
}

// surround gathers memories about the topic, and makes a block of them.
func (qr *Query) surround(ctx context.Context, r serve.ContextRequest) (res followed, err error) {
	r.Topic = memory.Cut(r.Topic, recall.MaxQuestion)
	r.Messages = slices.Clone(r.Messages)
	for i := range r.Messages {
		r.Messages[i].Text = memory.Cut(r.Messages[i].Text, recall.MaxQuestion)
	}
	frugal := r.Budget == 0 // the request has no budget: give no more than is useful
	if frugal {
		r.Budget = serve.DefaultBudget
	}
	res.Items = []serve.ContextItem{}
	none := strings.TrimSpace(r.Topic) == "" && len(r.Messages) == 0
	if res.Topic = strings.TrimSpace(r.Topic); res.Topic == "" && !(none && r.Due) {
		if res.Topic, r.Own, err = qr.topic(ctx, &r); err != nil {
			return res, err
		}
	}
	items, err := qr.coreBlocks(ctx, &r)
	if err != nil {
		return res, err
	}
	found := map[memory.ID]*serve.Hit{}
	add := func(h *serve.Hit) *retrieve.Item {
		it := itemOf(h, qr.c.Zone)
		if it.Quote = cmp.Or(moreSaid(&r, res.Topic, h), it.Quote); r.NoQuotes {
			it.Quote = ""
		}
		items = append(items, it)
		found[h.ID] = h
		return &items[len(items)-1]
	}
	if none || res.Topic == "" || r.Due {
		list, err := qr.coming(ctx, &r)
		if err != nil {
			return res, err
		}
		for _, m := range list {
			it := add(&serve.Hit{ID: m.ID, Text: m.Text, Memory: m, Evidence: m.Quotes()})
			it.At, _ = m.Begins(qr.c.Zone)
			it.First = true
		}
	}
	if res.Topic != "" {
		hits, err := qr.about(ctx, &r, &res, frugal)
		if err != nil {
			return res, err
		}
		core := linesOf(items)
		for _, h := range hits {
			if h.Memory != nil && h.Memory.Type == memory.Semantic && h.SharedBy == nil && core[memory.Normal(h.Memory.Text)] {
				continue // a core block has the line, and is in the result in any case
			}
			if found[h.ID] == nil { // otherwise it is already there, because it is soon
				add(&h)
			}
		}
	}
	users := map[memory.ID]string{}
	mixed := mayBeWearers(r.Filters)
	for i := range items {
		if it := &items[i]; it.User != "" {
			if users[it.ID] = it.User; !mixed { // a request for one user need not be told whose the memory is
				it.User = ""
			}
		}
	}
	b := retrieve.Build(res.Topic, items, r.Budget, qr.c.Zone)
	res.Text, res.Tokens, res.Left = b.Text, b.Tokens, b.Left
	texts := make([]string, len(b.Lines))
	for i, l := range b.Lines {
		texts[i] = l.Text
		item := serve.ContextItem{ID: l.ID, Cite: l.Cite, Section: string(l.Section), Text: l.Text, At: l.At, Until: l.Until, Tokens: l.Tokens, User: users[l.ID]}
		if h := found[l.ID]; h != nil { // not a core block
			item.Evidence, item.SharedBy, item.Minor = h.Evidence, h.SharedBy, h.Minor
			item.Said = moreSaid(&r, res.Topic, h)
		}
		res.Items = append(res.Items, item)
	}
	qr.c.OnServed(qr.c.Now(), texts...)
	res.lines = b.Lines
	return res, nil
}

// linesOf returns the lines of core blocks, normalised for comparison.
func linesOf(blocks []retrieve.Item) map[string]bool {
	lines := map[string]bool{}
	for i := range blocks {
		for line := range strings.Lines(blocks[i].Text) {
			lines[memory.Normal(line)] = true
		}
	}
	return lines
}

// topic returns what the messages, or the turns of the live session, are about. own is the latest
// turn's part of it: the topic begins with it, and words of earlier turns may follow; a topic from
// a model has no own.
func (qr *Query) topic(ctx context.Context, r *serve.ContextRequest) (topic, own string, err error) {
	var turns []retrieve.Turn
	for _, m := range r.Messages {
		turns = append(turns, retrieve.Turn{Speaker: m.Speaker, Text: m.Text})
	}
	if len(turns) == 0 {
		err := qr.c.Engine.View(ctx, func(tx *store.Tx) error {
			said, err := extract.Recent(tx, lastTurns)
			if n := len(said); n > 0 && qr.c.Now().Sub(said[n-1].Received) > memory.SessionGap {
				return err // the request was cancelled
			}
			for i := range said {
				if u := &said[i]; r.Sees.Match(&filter.Item{Utterance: u}) {
					turns = append(turns, retrieve.Turn{Speaker: u.Speaker, Text: u.Text})
				}
			}
			return err
		})
		if err != nil {
			return "", "", err
		}
	}
	if model, _ := qr.c.Model(); qr.c.Topic && model != nil && len(turns) > 1 {
		last := answer.TopicRequest(turns[max(0, len(turns)-lastTurns):])
		if r.AskModel == nil || r.AskModel(retrieve.Tokens(last.System)+retrieve.Tokens(last.Messages[0].Text)) {
			if t, err := topicByModel(ctx, model, last); err != nil || t != "" {
				return t, "", err
			}
		}
	}
	topic, own = retrieve.Topic(turns)
	return topic, own, nil
}

// coreBlocks returns all core memories that are valid now, in the order in which they were learnt.
func (qr *Query) coreBlocks(ctx context.Context, r *serve.ContextRequest) (items []retrieve.Item, err error) {
	ids := qr.c.Engine.IDsOfType(memory.Core)
	err = qr.c.Engine.View(ctx, func(tx *store.Tx) error {
		now := qr.c.Now()
		list, err := store.Collect(tx.MemoriesOf(ids))
		if err != nil {
			return err
		}
		sorting.Sort(list, func(a, b *memory.Memory) int {
			return cmp.Or(a.Learnt.Compare(b.Learnt), bytes.Compare(a.ID[:], b.ID[:]))
		})
		for _, m := range list {
			if m.State != memory.Active || m.Negates || m.Expired(now) || !qr.chosen(r, m) {
				continue
			}
			if of, copied := consolidate.Copied(m); copied && !m.Pinned {
				source, err := tx.Memory(of)
				if err != nil && !errors.Is(err, memory.ErrNotFound) {
					return err
				}
				if err != nil || source.State != memory.Active { // no longer true; the next dream removes the line
					continue
				}
			}
			items = append(items, retrieve.Item{ID: m.ID, Section: memory.Core, Text: m.Text, Label: m.Fields.Core.Block, User: memory.OtherUser(m.Owner.User)})
		}
		return nil
	})
	return items, err
}

// Where a list stops being useful: after usefulLeast hits, at a hit with less than this share of
// the first one's score (docs/recall.md says what that costs).
const (
	usefulShare = .55
	usefulLeast = 3
)

// useful returns how many of the hits, which are best first, are worth showing.
func useful(hits []serve.Hit) int {
	for i := usefulLeast; i < len(hits); i++ {
		if hits[i].Score < usefulShare*hits[0].Score {
			return i
		}
	}
	return len(hits)
}

// aboutTypes are the types that are searched for the topic.
var aboutTypes = [...]memory.Type{memory.Episodic, memory.Semantic, memory.Procedural, memory.Resource}

// about returns memories about the topic, best first: the hits of one search over all types, and
// then, for each type, further good hits.
func (qr *Query) about(ctx context.Context, r *serve.ContextRequest, res *followed, frugal bool) ([]serve.Hit, error) {
	q := serve.SearchRequest{Query: res.Topic, Own: r.Own, K: retrieve.MaxUtterances, At: r.At, Agent: r.Agent, Run: r.Run, Filters: r.Filters, Sees: r.Sees}
	choice, err := qr.chooserOf(&q)
	if err != nil {
		return nil, err
	}
	choice.bare = true
	all, err := qr.find(ctx, q, choice)
	if err != nil {
		return nil, err
	}
	if choice.records != nil { // a thanks, too, says whom the wearer met
		res.records = *choice.records
	} else {
		all.Hits = withoutSounds(all.Hits)
	}
	res.Known, res.Confidence = all.Known, all.Confidence
	if frugal {
		all.Hits = all.Hits[:useful(all.Hits)]
	}
	seen, count := map[memory.ID]bool{}, map[memory.Type]int{}
	hits := slices.DeleteFunc(all.Hits, func(h serve.Hit) bool { return h.Memory != nil && !slices.Contains(aboutTypes[:], h.Memory.Type) })
	for _, h := range hits {
		seen[h.ID] = true
		if h.Memory != nil {
			count[h.Memory.Type]++
		}
	}
	for _, t := range aboutTypes {
		if count[t] >= retrieve.PerType {
			continue
		}
		q.K, q.Types, q.Only = retrieve.PerType, []memory.Type{t}, serve.OnlyMemories
		more, err := qr.find(ctx, q, choice)
		if err != nil {
			return nil, err
		}
		if more.Confidence < recall.Unsure {
			continue
		}
		for _, h := range more.Hits {
			if !seen[h.ID] && count[t] < retrieve.PerType {
				h.Minor = true // the search over all types did not find it
				hits, count[t] = append(hits, h), count[t]+1
			}
		}
	}
	return hits, nil
}

// moreSaid returns the line that a memory comes from, if that line has more words of the question
// than the memory, and is no longer than a piece of evidence. For example, "Tom fixes the bike, he
// has a shop" became a memory about the shop alone. An app gets no line, because it may tell more
// than the app may know.
func moreSaid(r *serve.ContextRequest, question string, h *serve.Hit) string {
	if h.Memory == nil || r.NoQuotes || !r.Sees.IsZero() || len(h.Said) > memory.MaxExcerpt || recall.Shared(question, h.Said) <= recall.Shared(question, h.Text) {
		return ""
	}
	return h.Said
}

// itemOf makes the content of a block line from a hit.
func itemOf(h *serve.Hit, zone *time.Location) retrieve.Item {
	it := retrieve.Item{ID: h.ID, Section: retrieve.Utterances, Text: h.Text, At: h.At}
	if u := h.Utterance; u != nil {
		it.Speaker, it.Until, it.User = u.Speaker, h.Until, memory.OtherUser(u.User)
		return it
	}
	m := h.Memory
	it.Section, it.Until = m.Type, m.TrueTo
	if h.SharedBy == nil {
		it.User = memory.OtherUser(m.Owner.User)
	}
	if by := h.SharedBy; by != nil {
		it.SharedBy, it.Lapses = by.By, by.Until
	}
	if len(h.Evidence) > 0 {
		it.Speaker, it.Quote = h.Evidence[0].Speaker, h.Evidence[0].Excerpt
	}
	if f := m.Fields.Procedural; f != nil && !memory.ContainsSteps(m.Text, f.Steps) {
		it.Steps = f.Steps
	}
	if f := m.Fields.Episodic; f != nil && !f.Started.IsZero() {
		it.At, _ = m.Begins(zone)
		it.Until = time.Time{}
	}
	if f := m.Fields.Resource; f != nil && f.Content != "" && f.Content != m.Text {
		it.Text = m.Text + ": " + f.Content
	}
	return it
}
