package node

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/node/extract"
	"github.com/locket-dev/locket/node/serve"
)

// exportHeader is the first record of an export.
type exportHeader struct {
	Version int            `json:"version"`
	Space   memory.SpaceID `json:"space"`
	At      time.Time      `json:"at"`
}

// exportEnd is the last one.
type exportEnd struct {
	Records int `json:"records"` // between header and end
}

// ExportVersion is the version of the export's records.
const ExportVersion = 1

// Export implements serve.Exchange. What is exported is what was said, not
// what follows from it: an import derives the same memories.
func (n *Node) Export(ctx context.Context) iter.Seq2[serve.ExportRecord, error] {
	return func(yield func(serve.ExportRecord, error) bool) {
		more := true
		emit := func(kind string, v any) error {
			b, err := json.Marshal(v)
			if err == nil && more {
				more = yield(serve.ExportRecord{Kind: kind, Data: b}, nil)
			}
			return err
		}
		count := 0
		err := n.view(ctx, func(o *opened, tx *store.Tx) error {
			if err := emit(serve.RecordHeader, exportHeader{ExportVersion, o.ring.Space(), time.Now().UTC()}); err != nil {
				return err
			}
			for u, err := range tx.Utterances(time.Time{}, time.Time{}) {
				if err != nil || !more {
					return err
				}
				count++
				if err := emit(serve.RecordUtterance, u); err != nil {
					return err
				}
			}
			for m, err := range tx.Memories(store.Filter{Oldest: true}) {
				if err != nil {
					return err
				}
				as, err := tx.Assertions(m.ID)
				if err != nil {
					return err
				}
				for i := range as {
					if !more {
						return nil
					}
					count++
					if err := emit(serve.RecordAssertion, &as[i]); err != nil {
						return err
					}
				}
			}
			return emit(serve.RecordEnd, exportEnd{count})
		})
		if err != nil && more {
			yield(serve.ExportRecord{}, err)
		}
	}
}

// importPage is how many records one transaction takes.
const importPage = 50

// Import implements serve.Exchange. Records of another space are taken into
// this one.
func (n *Node) Import(ctx context.Context, records iter.Seq2[serve.ExportRecord, error]) (res serve.ImportResult, err error) {
	o, release, err := n.use()
	if err != nil {
		return res, err
	}
	defer release()
	var page []serve.ExportRecord
	began, ended, line, count := false, false, 0, 0
	flush := func() error {
		got, err := o.take(ctx, page)
		res.Taken, res.Skipped, res.Refused = res.Taken+got.Taken, res.Skipped+got.Skipped, res.Refused+got.Refused
		page = page[:0]
		return err
	}
	for r, err := range records {
		if err != nil {
			return res, err
		}
		line++
		switch r.Kind {
		case serve.RecordHeader:
			var h exportHeader
			if err := json.Unmarshal(r.Data, &h); err != nil || h.Version != ExportVersion {
				return res, fmt.Errorf("%w: record %d: export of version %d, this node reads %d", memory.ErrInvalid, line, h.Version, ExportVersion)
			}
			began = true
			continue
		case serve.RecordEnd:
			var e exportEnd
			if err := json.Unmarshal(r.Data, &e); err != nil || e.Records != count {
				return res, fmt.Errorf("%w: record %d: the export names %d records, %d came", memory.ErrInvalid, line, e.Records, count)
			}
			ended = true
			continue
		}
		if !began {
			return res, fmt.Errorf("%w: record %d: %q before the header", memory.ErrInvalid, line, r.Kind)
		}
		count++
		if page = append(page, r); len(page) == importPage {
			if err := flush(); err != nil {
				return res, err
			}
		}
	}
	if err := flush(); err != nil {
		return res, err
	}
	if !ended {
		return res, fmt.Errorf("%w: the export is cut off: its end is missing; %d records were taken", memory.ErrInvalid, res.Taken)
	}
	return res, nil
}

// take commits one page of records. One that breaks a rule is refused alone.
func (o *opened) take(ctx context.Context, page []serve.ExportRecord) (res serve.ImportResult, err error) {
	o.writing.Lock()
	defer o.writing.Unlock()
	var touched []store.Document
	err = o.store.Update(ctx, func(tx *store.Tx) error {
		res = serve.ImportResult{}
		for _, r := range page {
			before := len(tx.Touched())
			if why := o.takeOne(tx, r); why != nil {
				if ctx.Err() != nil {
					return ctx.Err()
				}
				res.Refused++
				if err := tx.Quarantine(store.Malformed{At: time.Now(), Topic: "import", Reason: "invalid: " + why.Error(), Data: r.Data}); err != nil {
					return err
				}
			} else if len(tx.Touched()) > before {
				res.Taken++
			} else {
				res.Skipped++
			}
		}
		touched = slices.Clone(tx.Touched())
		return nil
	})
	if err != nil {
		return serve.ImportResult{}, err
	}
	return res, extract.Index(ctx, o.store, o.index, touched)
}

func (o *opened) takeOne(tx *store.Tx, r serve.ExportRecord) error {
	switch r.Kind {
	case serve.RecordUtterance:
		var u memory.Utterance
		if err := json.Unmarshal(r.Data, &u); err != nil {
			return fmt.Errorf("utterance: %w", err)
		}
		u.Space = o.ring.Space()
		return tx.PutUtterance(&u)
	case serve.RecordAssertion:
		var a memory.Assertion
		if err := json.Unmarshal(r.Data, &a); err != nil {
			return fmt.Errorf("assertion: %w", err)
		}
		a.Space = o.ring.Space()
		_, err := tx.Assert(a)
		return err
	}
	return fmt.Errorf("kind %q is not known", r.Kind)
}

var _ serve.Service = (*Node)(nil)
