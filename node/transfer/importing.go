package transfer

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"time"

	"github.com/locket-dev/locket/internal/sorting"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/node/archive"
	"github.com/locket-dev/locket/node/serve"
)

// importPage is about how many records one transaction takes.
const importPage = 50

// maxOfOne is how many assertions about one memory are sorted at a time.
const maxOfOne = 10_000

// maxAtOnce is the maximum number of records in one transaction. A transaction of the store
// can contain about 200 assertions.
const maxAtOnce = 100

// importing is an archive that is being imported.
type importing struct {
	*Transfer
	space  memory.SpaceID           // where the archive was made
	living map[memory.MemberID]bool // members that send their own assertions; nil: unknown
	res    serve.ImportResult
	blob   *blobIn
}

// orphan reports whether this device has an assertion of this space whose author will never
// send it: the author was removed before it was sent, or was restored from a backup and
// admitted again.
func (in *importing) orphan(tx *store.Tx, about memory.ID, dot memory.Dot) (bool, error) {
	if in.living == nil || in.living[dot.Member] {
		return false, nil
	}
	known, err := tx.Knows(about, dot)
	return err == nil && !known, err
}

func (in *importing) all(ctx context.Context, dec *json.Decoder) error {
	defer in.dropBlob()
	var page []archive.Record
	var last memory.ID // memory of the page's last assertion
	flush := func() error {
		if len(page) == 0 {
			return nil
		}
		in.dropBlob() // the writer would wait for this import, which may wait for the writer
		if len(page) > maxAtOnce {
			byClock(page)
		}
		for part := range slices.Chunk(page, maxAtOnce) {
			if err := in.commitPage(ctx, part); err != nil {
				return err
			}
		}
		page = page[:0]
		return nil
	}
	for {
		var r archive.Record
		if err := dec.Decode(&r); errors.Is(err, io.EOF) {
			return flush()
		} else if err != nil {
			return err
		}
		switch r.Kind {
		case archive.KindHeader, archive.KindEnd, archive.KindSignature:
			continue
		case archive.KindBlob:
			if err := flush(); err != nil {
				return err
			}
			if err := in.part(ctx, r); err != nil {
				return err
			}
			continue
		}
		var id struct {
			Memory memory.ID `json:"memory"`
		}
		_ = json.Unmarshal(r.Data, &id) // one that can't be parsed is refused later
		same := r.Kind == archive.KindAssertion && !last.IsZero() && id.Memory == last
		if len(page) >= importPage && (!same || len(page) >= maxOfOne) {
			if err := flush(); err != nil {
				return err
			}
		}
		last = id.Memory
		page = append(page, r)
	}
}

// byClock sorts the assertions of each memory in the order in which they were made. In an
// archive they are sorted by member, so what one member has seen of another may come later. In
// this order it never does. So if a page takes several transactions, notes about the overruled
// assertions exist already.
func byClock(page []archive.Record) {
	type said struct {
		Memory memory.ID    `json:"memory"`
		Clock  memory.Clock `json:"clock"`
		record archive.Record
	}
	all := make([]said, len(page))
	for i, r := range page {
		if r.Kind == archive.KindAssertion {
			_ = json.Unmarshal(r.Data, &all[i]) // one that can't be parsed is refused later
		}
		all[i].record = r
	}
	for from := 0; from < len(all); {
		to := from + 1
		for to < len(all) && !all[from].Memory.IsZero() && all[to].Memory == all[from].Memory {
			to++
		}
		sorting.Stable(all[from:to], func(a, b said) int { return a.Clock.Compare(b.Clock) })
		from = to
	}
	for i := range all {
		page[i] = all[i].record
	}
}

// commitPage commits one page of records. If a record breaks a rule, only that record is refused.
func (in *importing) commitPage(ctx context.Context, page []archive.Record) error {
	var res serve.ImportResult
	err := in.c.Engine.Commit(ctx, func(tx *store.Tx) error {
		res = in.res
		dots, err := in.newDots(tx, page)
		if err != nil {
			return err
		}
		for i, r := range page {
			before := len(tx.ChangedDocuments())
			gone, why := forgotten(tx, r)
			if why == nil {
				why = in.takeOne(tx, r, dots[i], dots)
			}
			switch {
			case why != nil && ctx.Err() != nil:
				return ctx.Err()
			case why != nil:
				res.Refused++
				if err := tx.Quarantine(store.Quarantined{At: time.Now(), Topic: "import", Reason: "invalid: " + why.Error(), Data: r.Data}); err != nil {
					return err
				}
			case len(tx.ChangedDocuments()) > before:
				res.Taken++
				if label := sealedElsewhere(r); label != "" && dots[i] != nil && !slices.Contains(res.Sealed, label) {
					res.Sealed = append(slices.Clip(res.Sealed), label)
				}
			case gone:
				res.Forgotten++
			default:
				res.Skipped++
			}
		}
		return nil
	})
	if err == nil {
		in.res = res
	}
	return err
}

// sealedElsewhere returns the label of the secret that a record of another device proposes
// without its value in clear; empty: there is none.
func sealedElsewhere(r archive.Record) string {
	var a archive.Assertion
	if r.Kind != archive.KindAssertion || !bytes.Contains(r.Data, []byte(`"sealed"`)) || json.Unmarshal(r.Data, &a) != nil ||
		a.Secret != "" || a.Candidate == nil || a.Candidate.Fields.Vault == nil {
		return ""
	}
	return a.Candidate.Fields.Vault.Label
}

// forgotten reports whether what a record is about was erased here.
func forgotten(tx *store.Tx, r archive.Record) (bool, error) {
	var of struct{ ID, Memory memory.ID }
	if json.Unmarshal(r.Data, &of) != nil {
		return false, nil // takeOne reports what is wrong
	}
	return tx.Erased(cmp.Or(of.Memory, of.ID))
}

// redot is the new dot of an assertion of another space, or of a member that left. A member
// numbers everything that it says, and this device now says the assertion. A note stores the
// pair, so that nothing is said twice.
type redot struct{ was, now memory.Dot }

func importNote(d memory.Dot) string { return fmt.Sprintf("imported/%s/%d", d.Member, d.Seq) }

// newDots returns the new dot for each assertion of a page that this device has to say itself.
func (in *importing) newDots(tx *store.Tx, page []archive.Record) ([]*redot, error) {
	out := make([]*redot, len(page))
	for i, r := range page {
		var a struct {
			Memory memory.ID  `json:"memory"`
			Dot    memory.Dot `json:"dot"`
		}
		if r.Kind != archive.KindAssertion || json.Unmarshal(r.Data, &a) != nil {
			continue
		}
		if in.space == in.c.Ring.Space() {
			if is, err := in.orphan(tx, a.Memory, a.Dot); err != nil {
				return nil, err
			} else if !is {
				continue
			}
		}
		d := &redot{was: a.Dot}
		known, err := tx.Meta(importNote(a.Dot), &d.now)
		if err != nil {
			return nil, err
		}
		if !known {
			if d.now, err = tx.NextDot(in.c.Ring.Member()); err != nil {
				return nil, err
			}
		}
		out[i] = d
	}
	return out, nil
}

func (in *importing) takeOne(tx *store.Tx, r archive.Record, dot *redot, page []*redot) error {
	switch r.Kind {
	case archive.KindUtterance:
		var u memory.Utterance
		if err := json.Unmarshal(r.Data, &u); err != nil {
			return fmt.Errorf("utterance: %w", err)
		}
		u.Space = in.c.Ring.Space()
		return tx.PutUtterance(&u)
	case archive.KindAssertion:
		var a archive.Assertion
		if err := json.Unmarshal(r.Data, &a); err != nil {
			return fmt.Errorf("assertion: %w", err)
		}
		return in.takeAssertion(tx, &a, dot, page)
	}
	return fmt.Errorf("kind %q is not known", r.Kind)
}

func (in *importing) takeAssertion(tx *store.Tx, a *archive.Assertion, dot *redot, page []*redot) error {
	var archiveSeal []byte // the seal of the node where the archive was made
	if f := a.Vault(); a.Secret != "" && f != nil {
		archiveSeal = f.Sealed
		here, err := tx.Assertions(a.Memory)
		if err != nil || slices.ContainsFunc(here, func(h memory.Assertion) bool { return h.Dot == a.Dot }) {
			return err // the same secret is here, sealed differently
		}
		sealed, err := in.c.Ring.SealToVault([]byte(a.Secret))
		if err != nil {
			return err
		}
		f.Sealed = sealed // for the key of this vault
	}
	a.Space = in.c.Ring.Space()
	assert := tx.Assert
	switch {
	case dot != nil:
		known, err := tx.Meta(importNote(dot.was), new(memory.Dot))
		if err == nil && known && archiveSeal != nil {
			err = in.sealAnew(tx, a, archiveSeal)
		}
		if err != nil || known {
			return err
		}
		a.Dot = dot.now
		if a.Seen, err = in.mapOverruled(tx, a.Seen, page); err != nil {
			return err
		}
	case a.Dot.Member != in.c.Ring.Member():
		assert = tx.AssertRemote // its own member sends it
	}
	if _, err := assert(a.Assertion); err != nil {
		return err
	}
	if dot == nil {
		return nil
	}
	return tx.PutMeta(importNote(dot.was), dot.now)
}

// sealAnew reseals for this vault a secret that an earlier import stored with its original
// seal. a has the secret in clear, and its seal for this vault.
func (in *importing) sealAnew(tx *store.Tx, a *archive.Assertion, there []byte) error {
	m, err := tx.Memory(a.Memory)
	if errors.Is(err, memory.ErrNotFound) {
		return nil
	}
	if err != nil || m.State == memory.Erased || m.Fields.Vault == nil || !bytes.Equal(m.Fields.Vault.Sealed, there) {
		return err
	}
	f := *m.Fields.Vault
	f.Sealed = a.Vault().Sealed
	_, err = in.c.Engine.AssertTx(tx, memory.RankPerson, memory.Assertion{Memory: m.ID, Act: memory.ActCorrect, Patch: &memory.Patch{Fields: &memory.Fields{Vault: &f}},
		Source: memory.Source{Plugin: memory.PersonPlugin}, Reason: "sealed for another device"})
	return err
}

// mapOverruled maps the dots that an assertion overrules to the new ones. Dots of another space that
// are not in the archive are left out, because there is nothing to overrule.
func (in *importing) mapOverruled(tx *store.Tx, was []memory.Dot, page []*redot) (out []memory.Dot, err error) {
	for _, d := range was {
		if i := slices.IndexFunc(page, func(r *redot) bool { return r != nil && r.was == d }); i >= 0 {
			out = append(out, page[i].now)
			continue
		}
		var now memory.Dot
		known, err := tx.Meta(importNote(d), &now)
		if err != nil {
			return nil, err
		}
		switch {
		case known:
			out = append(out, now)
		case in.space == in.c.Ring.Space():
			out = append(out, d)
		}
	}
	return out, nil
}

// Import implements serve.Exchange. It stores the archive, sealed, until it is known to be
// complete and signed. Then it processes it page by page.
func (a Archives) Import(ctx context.Context, records iter.Seq2[serve.ExportRecord, error], opt serve.ImportOptions) (res serve.ImportResult, err error) {
	err = a.of.During(ctx, func(ctx context.Context, t *Transfer) error {
		res, err = t.importRecords(ctx, records, opt)
		return err
	})
	return res, err
}
