package store

import (
	"iter"

	"github.com/locket-dev/locket/memory"
)

// DocumentKind is the kind of a document of the recall index.
type DocumentKind uint8

const (
	MemoryDocument    DocumentKind = 1
	UtteranceDocument DocumentKind = 2
)

// Document is an entry of the document log: the last change of one memory or
// utterance. Each document has one entry. A change moves the entry to the end.
type Document struct {
	Seq  uint64       `json:"-"`
	Kind DocumentKind `json:"k"`
	ID   memory.ID    `json:"i"`
	Gone bool         `json:"g,omitempty"` // it was removed and has to be taken out of the index

	// Same says that a memory came back unchanged after it was cold. If an
	// index has the memory, it needs no update.
	Same bool `json:"-"`
}

// logDocument moves a document to the end of the log and returns its new
// number. was is its old number, or 0.
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

// ChangedDocuments returns the documents that this transaction has changed so far, in
// order. A document that changed twice is in it twice.
func (t *Tx) ChangedDocuments() []Document { return t.documents }

// FromOthers returns the memories and utterances about which this transaction took
// something from another member or a worker. One may be in it several times.
func (t *Tx) FromOthers() []Document { return t.fromOthers }

// IndexPending returns the documents that changed after number seq of the log,
// in order. An index that covers the log up to seq still has to take them in.
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

// Edition identifies a state of the memories on this device. If two editions
// are equal, the memories are, and also what follows from them.
type Edition struct {
	document, pack uint64
	cold           int
}

// Edition returns the edition of the state that the transaction sees, without
// its own changes.
func (t *Tx) Edition() (Edition, error) {
	h, _, err := t.store.secrets.readHead(t.txn)
	return Edition{h.Seq.Document, h.Seq.Pack, h.Seq.Cold}, err
}

// ChangedSince returns the memories that changed or went after an earlier edition, in the
// order of their last change. all is false if others may have gone, or turned cold
// or hot: then [Tx.Hot] says which memories there are.
func (t *Tx) ChangedSince(e Edition) (changed []Document, all bool, err error) {
	h, _, err := t.store.secrets.readHead(t.txn)
	if err != nil {
		return nil, false, err
	}
	for d, err := range t.IndexPending(e.document) {
		if err != nil {
			return nil, false, err
		}
		if d.Kind == MemoryDocument {
			changed = append(changed, d)
		}
	}
	return changed, h.Seq.Covered <= e.document && h.Seq.Pack == e.pack && h.Seq.Cold == e.cold, nil
}
