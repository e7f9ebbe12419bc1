package store

import (
	"iter"

	"github.com/locket-dev/locket/memory"
)

// DocumentKind says what a document of the recall index is.
type DocumentKind uint8

const (
	MemoryDocument    DocumentKind = 1
	UtteranceDocument DocumentKind = 2
)

// Document is an entry of the document log: the last change of one memory or
// utterance. Each document has one entry; a change moves it to the end.
type Document struct {
	Seq  uint64       `json:"-"`
	Kind DocumentKind `json:"k"`
	ID   memory.ID    `json:"i"`
	Gone bool         `json:"g,omitempty"` // it is no more: to be taken out of the index

	// Same: a memory came back as it was when it turned cold. An index that has
	// it, has it so.
	Same bool `json:"-"`
}

// logDocument moves a document to the end of the log; was is its place so far,
// 0 for none. It returns the new place.
func (t *Tx) logDocument(was uint64, d Document) (uint64, error) {
	if was != 0 {
		if err := t.del(keyOf(kindDocument, u64(was))); err != nil {
			return 0, err
		}
	}
	t.state.head.Seq.Document++
	d.Seq = t.state.head.Seq.Document
	t.documents = append(t.documents, d)
	return d.Seq, t.save(keyOf(kindDocument, u64(d.Seq)), d)
}

// Touched gives the documents that this transaction changed so far, in order;
// a document that changed twice is there twice.
func (t *Tx) Touched() []Document { return t.documents }

// Heard gives the memories and utterances of which this transaction took what
// another member or a worker says; one of which they said two things may be
// there twice.
func (t *Tx) Heard() []Document { return t.heard }

// IndexPending gives the documents that changed after the log's number seq, in
// order: what an index that covers up to seq has yet to take in.
func (t *Tx) IndexPending(seq uint64) iter.Seq2[Document, error] {
	return func(yield func(Document, error) bool) {
		packed, err := t.pendingPacked(seq)
		if err != nil {
			yield(Document{}, err)
			return
		}
		for e, err := range t.scan(keyOf(kindDocument), keyOf(kindDocument, u64(seq+1)), false) {
			var d Document
			if err == nil {
				d, err = decode[Document](e.key, e.plain)
				d.Seq = seqOf(e.key)
			}
			for ; err == nil && len(packed) > 0 && packed[0].Seq < d.Seq; packed = packed[1:] {
				if !yield(packed[0], nil) {
					return
				}
			}
			if !yield(d, err) || err != nil {
				return
			}
		}
		for _, d := range packed {
			if !yield(d, nil) {
				return
			}
		}
	}
}

// Edition names a state of the memories that are here: while it is the same, so
// are they, and what follows from them.
type Edition struct {
	document, pack uint64
	cold           int
}

// Edition is that of the state that the transaction sees, without its own changes.
func (t *Tx) Edition() (Edition, error) {
	h, _, err := t.store.secrets.readHead(t.txn)
	return Edition{h.Seq.Document, h.Seq.Pack, h.Seq.Cold}, err
}

// coveredPage is how many entries one call of IndexCovered looks at.
const coveredPage = 500

// IndexCovered says that the index has taken in the log up to the number seq,
// in segments that are kept. Entries of documents that are gone leave the log.
// One call does a bounded piece of work; the next goes on.
func (t *Tx) IndexCovered(seq uint64) error {
	if t.state == nil {
		return errReadOnly
	}
	n, covered := 0, &t.state.head.Seq.Covered
	seq = min(seq, t.state.head.Seq.Document)
	for d, err := range t.IndexPending(*covered) {
		if err != nil {
			return err
		}
		if d.Seq > seq {
			break
		}
		if n++; n > coveredPage {
			return nil
		}
		if d.Gone {
			if err := t.del(keyOf(kindDocument, u64(d.Seq))); err != nil {
				return err
			}
		}
		*covered = d.Seq
	}
	*covered = max(*covered, seq)
	return nil
}
