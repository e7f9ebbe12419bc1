package engine

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/graph"
	"github.com/locket-dev/locket/memory/recall"
	"github.com/locket-dev/locket/memory/store"
)

// document returns the index entry of an utterance or memory, and the memory. The
// entry has no id if the index must not have it.
func document(tx *store.Tx, d store.Document) (doc recall.Doc, _ *memory.Memory, _ error) {
	if d.Gone {
		return doc, nil, nil
	}
	if d.Kind == store.UtteranceDocument {
		u, err := tx.Utterance(d.ID)
		if errors.Is(err, memory.ErrNotFound) {
			return doc, nil, nil
		}
		if err != nil {
			return doc, nil, err
		}
		return recall.Doc{ID: u.ID, Kind: recall.Utterance, Session: u.Session, At: u.At, Order: u.Event.Seq, Zone: u.Zone,
			Speaker: u.Speaker, Place: u.Place, Text: u.Text}, nil, nil
	}
	m, err := tx.Memory(d.ID)
	if errors.Is(err, memory.ErrNotFound) {
		return doc, nil, nil
	}
	if err != nil || !findable(m) {
		return doc, nil, err
	}
	return docOf(tx, m), m, nil
}

// Documents returns what an index holds of a memory that is not in a store here, because somebody
// else shared it.
func Documents(m *memory.Memory) []recall.Doc {
	docs, _ := split(docOf(nil, m), m)
	return docs
}

// docOf returns what the index holds of a memory. Without a tx it does not look for the line that
// the memory was taken from.
func docOf(tx *store.Tx, m *memory.Memory) (doc recall.Doc) {
	doc = recall.Doc{ID: m.ID, Kind: recall.Memory, Type: m.Type, At: m.When(), Text: m.Text, Pinned: m.Pinned, Past: m.State == memory.Superseded, Sensitivity: &m.Sensitivity,
		Plain: m.Owner == memory.Owner{User: memory.WearerUser}}
	if w := asked(m); w != "" && m.Type != memory.Vault {
		doc.Text += "\n" + w
	}
	for _, e := range m.Entities {
		doc.Entities = append(doc.Entities, e.Name)
	}
	if f := m.Fields.Semantic; f != nil && f.Subject != "" && f.Object != "" {
		doc.Relations = []graph.Relation{{Subject: f.Subject, Predicate: f.Predicate, Object: f.Object, From: m.TrueFrom, To: m.TrueTo}}
	}
	if f := m.Fields.Procedural; f != nil {
		doc.Text += "\n" + strings.Join(f.Steps, "\n")
	}
	if f := m.Fields.Resource; f != nil && f.Content != "" {
		doc.Text += "\n" + f.Content
	}
	if f := m.Fields.Episodic; f != nil {
		doc.Place = f.Place
	}
	if len(m.Evidence) > 0 {
		doc.Source, doc.Speaker = m.Evidence[0].Utterance, m.Evidence[0].Speaker
		if tx == nil {
			doc.Source = memory.ID{}
		} else if u, err := tx.Utterance(doc.Source); err == nil {
			doc.Session, doc.Zone = u.Session, u.Zone
		}
	}
	return doc
}

// Live returns a memory. The error is memory.ErrNotFound if there is none, or it was
// erased.
func Live(tx *store.Tx, id memory.ID) (memory.Memory, error) {
	m, err := tx.Memory(id)
	if err != nil {
		return memory.Memory{}, err
	}
	if m.State == memory.Erased {
		return memory.Memory{}, fmt.Errorf("memory %s was erased: %w", id, memory.ErrNotFound)
	}
	return *m, nil
}

// LiveAt is [Live], but also returns memory.ErrNotFound for a memory that has expired by now.
func LiveAt(tx *store.Tx, id memory.ID, now time.Time) (memory.Memory, error) {
	m, err := Live(tx, id)
	if err == nil {
		err = Unexpired(&m, now)
	}
	if err != nil {
		return memory.Memory{}, err
	}
	return m, nil
}

// Unexpired returns memory.ErrNotFound if a memory has expired by now.
func Unexpired(m *memory.Memory, now time.Time) error {
	if m.Expired(now) {
		return fmt.Errorf("memory %s has expired: %w", m.ID, memory.ErrNotFound)
	}
	return nil
}

// findable reports whether recall should know a memory. It should not know one that is erased or
// archived or merely repeats or denies another, a recording without words, or the rules of who may
// see what.
func findable(m *memory.Memory) bool {
	switch {
	case m.Negates, m.Repeats, slices.Contains(m.Tags, memory.WaitingTag), slices.Contains(m.Tags, memory.RulesTag):
		return false
	}
	return m.State == memory.Active || m.State == memory.Superseded
}
