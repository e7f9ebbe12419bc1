package store

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"iter"
	"time"
	"unicode/utf8"

	"github.com/fxamacker/cbor/v2"

	"github.com/locket-dev/locket/memory"
)

// utteranceRecord is the stored form of an utterance.
type utteranceRecord struct {
	Document  uint64          `json:"d"` // its number in the document log
	Utterance cbor.RawMessage `json:"u"`
	Outbox    uint64          `json:"o,omitempty"` // its number in the outbox
}

func utteranceKey(id memory.ID) []byte { return keyOf(kindUtterance, id[:]) }

// utteranceIndex returns the keys under which an utterance is found.
func (t *Tx) utteranceIndex(u *memory.Utterance) [][]byte {
	return [][]byte{
		keyOf(kindUtteranceTime, timeKey(u.At), u.ID[:]),
		append(t.eventPrefix(kindUtteranceEvent, u.Event), u.ID[:]...),
	}
}

func (t *Tx) eventPrefix(k kind, e memory.EventID) []byte {
	return keyOf(k, t.store.secrets.mac16("event", []byte(e.Device), u64(e.Boot), u64(e.Seq)))
}

// PutUtterance stores an utterance, or replaces it, for example after a
// redaction. It puts the utterance into the outbox and into the document log.
// If the same text is stored already, or if the utterance was erased, nothing
// changes.
func (t *Tx) PutUtterance(u *memory.Utterance) error { return t.putUtterance(u, true) }

// PutRemoteUtterance stores an utterance of another member. It is like
// PutUtterance, but does not put it into the outbox. If an utterance with the
// id is stored already, one of a device wins against one of a worker; then the
// one from which more secrets were removed; then the one with the greater
// encoded content. So all replicas keep the same one.
func (t *Tx) PutRemoteUtterance(u *memory.Utterance) error { return t.putUtterance(u, false) }

// putUtterance stores an utterance that was made on this device (local) or that another member sent.
func (t *Tx) putUtterance(u *memory.Utterance, local bool) error {
	if t.state == nil {
		return errReadOnly
	}
	if err := checkUtterance(u); err != nil {
		return err
	}
	if _, erased, err := t.get(keyOf(kindErased, u.ID[:])); err != nil || erased {
		return err
	}
	key := utteranceKey(u.ID)
	old, packed, known, err := t.utteranceRecord(u.ID)
	if err != nil {
		return err
	}
	plain, err := encode(u)
	if err != nil {
		return err
	}
	if known && bytes.Equal(old.Utterance, plain) {
		return nil
	}
	index := t.utteranceIndex(u)
	if known {
		was, err := decode[memory.Utterance](key, old.Utterance)
		if err != nil {
			return err
		}
		if was.Text != u.Text {
			if err := t.dropSummary(); err != nil {
				return err
			}
		}
		if !local && outlasts(&was, u) {
			return nil
		}
		if err := t.unindexUtterance(&was, packed, index); err != nil {
			return err
		}
	}
	for _, k := range index {
		if _, ok, err := t.get(k); err != nil {
			return err
		} else if !ok {
			if err := t.put(k, nil); err != nil {
				return err
			}
		}
	}
	n, err := t.logDocument(old.Document, Document{Kind: UtteranceDocument, ID: u.ID})
	if err != nil {
		return err
	}
	if !local || u.Source.ByWorker() {
		t.fromOthers = append(t.fromOthers, Document{Kind: UtteranceDocument, ID: u.ID})
	}
	r := utteranceRecord{Document: n, Utterance: plain}
	if r.Outbox, err = t.postUtterance(u.ID, old.Outbox, local); err != nil {
		return err
	}
	return t.save(key, r)
}

// unindexUtterance makes room for a new version of an utterance. It takes the old one out of its page, if it is
// packed, and deletes its index records. Those whose keys are in index stay, as the new version has them, too.
func (t *Tx) unindexUtterance(was *memory.Utterance, packed bool, index [][]byte) error {
	if packed {
		if err := t.leavePage(was.ID); err != nil {
			return err
		}
	}
	for i, k := range t.utteranceIndex(was) {
		if !bytes.Equal(k, index[i]) {
			if err := t.del(k); err != nil {
				return err
			}
		}
	}
	return nil
}

// postUtterance returns the utterance's number in the outbox; 0: it is not in it. old is the number
// that it had. An utterance of this device (local) is posted anew. One of another member is not,
// but an entry that still waits stays, because it is removed with the utterance.
func (t *Tx) postUtterance(id memory.ID, old uint64, local bool) (uint64, error) {
	if !local {
		if waits, err := t.posted(old); err != nil || !waits {
			return 0, err
		}
		return old, nil
	}
	if err := t.unpost(old); err != nil {
		return 0, err
	}
	return t.post(outboxRecord{Utterance: id})
}

func checkUtterance(u *memory.Utterance) error {
	switch {
	case u.ID.IsZero():
		return fmt.Errorf("%w: utterance: id: empty", memory.ErrInvalid)
	case len(u.Text) > memory.MaxText:
		return fmt.Errorf("%w: utterance: text: %d bytes, at most %d", memory.ErrInvalid, len(u.Text), memory.MaxText)
	case !utf8.ValidString(u.Text):
		return fmt.Errorf("%w: utterance: text: not UTF-8", memory.ErrInvalid)
	}
	return nil
}

// WouldReplace reports whether [Tx.PutRemoteUtterance] would replace the stored
// utterance.
func (t *Tx) WouldReplace(by *memory.Utterance) (bool, error) {
	here, err := t.Utterance(by.ID)
	if errors.Is(err, memory.ErrNotFound) {
		return false, nil
	}
	return err == nil && !outlasts(here, by), err
}

// outlasts reports whether the stored utterance wins against the one that came.
// It compares only what is synced, because only the device that heard a line
// has the rest, and all replicas must keep the same one.
func outlasts(here, came *memory.Utterance) bool {
	if worker := here.Source.ByWorker(); worker != came.Source.ByWorker() {
		return !worker
	}
	if here.Redacted != came.Redacted {
		return here.Redacted > came.Redacted
	}
	h, c := &here.Source, &came.Source
	return cmp.Or(
		cmp.Compare(here.Text, came.Text), cmp.Compare(here.Event.Device, came.Event.Device), cmp.Compare(here.Event.Boot, came.Event.Boot),
		cmp.Compare(here.Event.Seq, came.Event.Seq), cmp.Compare(here.Session, came.Session),
		here.At.Compare(came.At), cmp.Compare(here.Zone, came.Zone), cmp.Compare(here.Speaker, came.Speaker), cmp.Compare(here.Lang, came.Lang),
		cmp.Compare(here.Place, came.Place), cmp.Compare(h.Device, c.Device), cmp.Compare(h.Plugin, c.Plugin), cmp.Compare(h.Version, c.Version),
		cmp.Compare(h.Model, c.Model), here.Received.Compare(came.Received),
	) >= 0
}

// Utterance returns an utterance, or [memory.ErrNotFound].
func (t *Tx) Utterance(id memory.ID) (*memory.Utterance, error) {
	r, ok, err := load[utteranceRecord](t, utteranceKey(id))
	if err != nil {
		return nil, err
	}
	if ok {
		u, err := decode[memory.Utterance](utteranceKey(id), r.Utterance)
		return &u, err
	}
	g, i, err := t.packedAt(id)
	if err == nil && i < 0 {
		err = fmt.Errorf("store: utterance %s: %w", id, memory.ErrNotFound)
	}
	if err != nil {
		return nil, err
	}
	p, err := g.record(i)
	return &p.Utterance, err
}

// Utterances returns the utterances from since (zero: the first) until before
// until (zero: no end), oldest first.
func (t *Tx) Utterances(since, until time.Time) iter.Seq2[*memory.Utterance, error] {
	var start []byte
	if !since.IsZero() {
		start = keyOf(kindUtteranceTime, timeKey(since))
	}
	loose := t.looseUtterances(keyOf(kindUtteranceTime), start, func(key []byte) bool {
		return until.IsZero() || millisOf(key) < until.UnixMilli()
	})
	if !t.store.lines.any() {
		return t.foundUtterances(loose)
	}
	return t.foundUtterances(eitherOf(loose, t.packedBetween(since, until), func(a, b found) int { return bytes.Compare(a.place, b.place) }))
}

// UtterancesOf returns the utterances of one event, in the order of their ids.
func (t *Tx) UtterancesOf(e memory.EventID) iter.Seq2[*memory.Utterance, error] {
	loose := t.looseUtterances(t.eventPrefix(kindUtteranceEvent, e), nil, func([]byte) bool { return true })
	if !t.store.lines.any() {
		return t.foundUtterances(loose)
	}
	return t.foundUtterances(eitherOf(loose, t.packedOfEvent(e), func(a, b found) int { return bytes.Compare(a.id[:], b.id[:]) }))
}

// dropUtterance removes an utterance with all its index records, and returns
// its number in the document log.
func (t *Tx) dropUtterance(id memory.ID) (document uint64, err error) {
	key := utteranceKey(id)
	r, packed, ok, err := t.utteranceRecord(id)
	if err != nil || !ok {
		return 0, err
	}
	if packed {
		if err := t.leavePage(id); err != nil {
			return 0, err
		}
	}
	u, err := decode[memory.Utterance](key, r.Utterance)
	if err != nil {
		return 0, err
	}
	gone := append(t.utteranceIndex(&u), key, taskKey(u.At, u.ID))
	if r.Outbox != 0 {
		gone = append(gone, keyOf(kindOutbox, u64(r.Outbox)))
	}
	for _, k := range gone {
		if err := t.del(k); err != nil {
			return 0, err
		}
	}
	return r.Document, nil
}
