package replica

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/locket-dev/locket/internal/sorting"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/sync/envelope"
)

// ErrForked reports that two members of the space were shown different
// histories.
var ErrForked = errors.New("there are two histories")

// ErrHidden reports that the relay shows another member more than it shows
// here.
var ErrHidden = errors.New("the relay shows another member what it does not show here")

// HeadsVerdict is how a chain, or the log, compares with another member's
// heads.
type HeadsVerdict string

// The verdicts. An equal chain has none.
const (
	Forked   HeadsVerdict = "forked" // two histories: the relay or the author lies
	Hidden   HeadsVerdict = "hidden" // the relay showed the other member more than it shows this one
	Behind   HeadsVerdict = "behind" // this member knows more: compare there, too
	Unproven HeadsVerdict = "untold" // the proof could not be had: the relay does not show it any more, or could not be asked
)

// Difference says where two members' heads differ.
type Difference struct {
	Verdict     HeadsVerdict
	Member      memory.MemberID // the chain's author; zero: the log
	Incarnation uint64
	Seq         uint64 // of the other member's head; the fork is at or before it
	Here        uint64 // length of the chain as this member knows it
	Ours        envelope.Hash
	Theirs      envelope.Hash
	LeftOut     bool // untold, because a removal leaves out what the other member had
}

// String describes the difference in words.
func (d Difference) String() string {
	what := "the log"
	if d.Member != (memory.MemberID{}) {
		what = "what " + d.Member.String() + " sent"
	}
	switch d.Verdict {
	case Forked:
		return fmt.Sprintf("two histories of %s, at %d or before: %s here, %s there", what, d.Seq, d.Ours, d.Theirs)
	case Hidden:
		return fmt.Sprintf("%s: the other device was shown %d, but here it ends at %d", what, d.Seq, d.Here)
	case Behind:
		return fmt.Sprintf("%s: the other device had %d, and here it goes to %d", what, d.Seq, d.Here)
	}
	if d.LeftOut {
		return fmt.Sprintf("%s: the other device had %d, but a removal leaves out what is after %d", what, d.Seq, d.Here)
	}
	if d.Here < d.Seq {
		return fmt.Sprintf("%s: the other device had %d, and here it ends at %d; whether there is more could not be asked", what, d.Seq, d.Here)
	}
	return fmt.Sprintf("%s: the other device had %d; the relay does not show here whether it is the same", what, d.Seq)
}

// Heads returns a signed statement of how far this member has read each chain.
// It is meant for another member, and travels by any path but the relay.
func (r *Replica) Heads(ctx context.Context) (*envelope.Heads, error) {
	_, done, err := r.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	h := &envelope.Heads{Space: r.c.Space, Member: r.c.Member, Log: r.log.N(), Head: r.log.Head(), At: r.c.Now().Unix()}
	for k, l := range r.heads() {
		if m, incarnation, ok := parseChain(k); ok && l.Seq > 0 && r.countedUpTo(k, l.Seq) == l.Seq {
			h.Places = append(h.Places, envelope.Place{Member: m, Incarnation: incarnation, Seq: l.Seq, Hash: l.Hash})
		}
	}
	sorting.Sort(h.Places, envelope.Place.Compare)
	h.Places = h.Places[:min(len(h.Places), envelope.MaxPlaces)]
	return h, h.Sign(r.c.Keys.Sign)
}

// heads returns the known end of each chain: the last delta taken for other
// members' chains, the last delta sent for this member's chain.
func (r *Replica) heads() map[string]envelope.Link {
	out := maps.Collect(r.st.Chains.All())
	if own := chainKey(r.c.Member, r.st.Incarnation); r.st.Own.Seq > out[own].Seq {
		out[own] = r.st.Own
	}
	return out
}

// Compare compares another member's heads with this member's. It first syncs,
// so that this member has everything that the relay shows. If the sync fails,
// Compare does not return its error. Where the other member has more, the
// verdict is then Unproven, because the relay may not be at fault. The verdict is
// also Unproven if asked is false, which means that the caller could not ask the
// other remotes. Compare also keeps each Forked and Hidden as a [Problem] that
// names the space.
func (r *Replica) Compare(ctx context.Context, h *envelope.Heads, asked bool) ([]Difference, error) {
	ctx, done, err := r.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	if h.Space != r.c.Space {
		return nil, fmt.Errorf("heads of %s: %w: of space %s", h.Member, ErrForeign, h.Space)
	}
	if err := r.doRound(ctx); ctx.Err() != nil {
		return nil, err
	} else if served := (*servedError)(nil); err != nil && !errors.As(err, &served) && !errors.Is(err, ErrHeld) && !errors.Is(err, ErrRolledBack) {
		asked = false
	}
	out, err := r.compareHeads(ctx, h)
	for i := range out {
		if out[i].Verdict == Hidden && !asked {
			out[i].Verdict = Unproven
		}
		if err == nil {
			err = r.nameDifference(ctx, h, out[i])
		}
	}
	if err != nil {
		return nil, err
	}
	return out, r.noteComparedHeads(ctx, h, slices.ContainsFunc(out, func(d Difference) bool { return d.Verdict == Forked }))
}

// compareHeads compares heads with this member's own.
func (r *Replica) compareHeads(ctx context.Context, h *envelope.Heads) (out []Difference, err error) {
	var fork *envelope.ForkError
	err = r.log.AcceptsHeads(h)
	switch {
	case errors.As(err, &fork):
		d := Difference{Verdict: Forked, Seq: h.Log, Here: r.log.N(), Ours: fork.Ours, Theirs: fork.Theirs}
		return []Difference{d}, nil
	case errors.Is(err, envelope.ErrUnknownHead):
		d := Difference{Verdict: Hidden, Seq: h.Log, Here: r.log.N(), Ours: r.log.Head(), Theirs: h.Head}
		return []Difference{d}, nil
	case err != nil:
		return nil, err
	}
	if h.Log != r.log.N() {
		d := Difference{Verdict: Behind, Seq: h.Log, Here: r.log.N(), Ours: r.log.Head(), Theirs: h.Head}
		if h.Log > r.log.N() {
			d.Verdict = Hidden
		}
		out = append(out, d)
	}
	chains, err := r.compareChains(ctx, h)
	return append(out, chains...), err
}

func (r *Replica) compareChains(ctx context.Context, h *envelope.Heads) (out []Difference, err error) {
	heads, seen := r.heads(), map[string]bool{}
	shorter := map[string]uint64{} // chains that are shorter at the other member
	for _, p := range h.Places {
		k := chainKey(p.Member, p.Incarnation)
		seen[k] = true
		ours := heads[k]
		d := Difference{Member: p.Member, Incarnation: p.Incarnation, Seq: p.Seq, Here: ours.Seq, Ours: ours.Hash, Theirs: p.Hash}
		switch {
		case ours.Seq == p.Seq && ours.Hash == p.Hash:
		case ours.Seq == p.Seq:
			d.Verdict = Forked
			out = append(out, d)
		case ours.Seq < p.Seq && r.countedUpTo(k, p.Seq) <= ours.Seq:
			d.Verdict, d.LeftOut = Unproven, true
			out = append(out, d)
		case ours.Seq < p.Seq:
			d.Verdict = Hidden
			out = append(out, d)
		default:
			shorter[k] = p.Seq
		}
	}
	shorterHashes, err := r.hashes(ctx, heads, shorter)
	if err != nil {
		return nil, err
	}
	for _, p := range h.Places {
		k := chainKey(p.Member, p.Incarnation)
		if shorter[k] == 0 {
			continue
		}
		d := Difference{Verdict: Behind, Member: p.Member, Incarnation: p.Incarnation, Seq: p.Seq, Here: heads[k].Seq, Ours: shorterHashes[k], Theirs: p.Hash}
		if at, known := shorterHashes[k]; !known {
			d.Verdict = Unproven
		} else if at != p.Hash {
			d.Verdict = Forked
		}
		out = append(out, d)
	}
	for _, k := range slices.Sorted(maps.Keys(heads)) {
		if m, incarnation, ok := parseChain(k); ok && !seen[k] && heads[k].Seq > 0 && len(h.Places) < envelope.MaxPlaces {
			out = append(out, Difference{Verdict: Behind, Member: m, Incarnation: incarnation, Here: heads[k].Seq, Ours: heads[k].Hash})
		}
	}
	return out, nil
}

// hashes returns the header hashes at places before our heads. It reads the
// headers from the relay again. Each header names the one before it, so hashes
// uses only headers that lead to our heads. It leaves out places that it can't
// prove in this way.
func (r *Replica) hashes(ctx context.Context, heads map[string]envelope.Link, at map[string]uint64) (map[string]envelope.Hash, error) {
	out, walked := map[string]envelope.Hash{}, map[string]envelope.Link{}
	proven, useless := map[string]envelope.Hash{}, 0
	for after := uint64(0); len(proven) < len(at) && useless < maxUseless; {
		page, err := r.c.Remote.Deltas(ctx, after)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil || len(page) == 0 {
			return proven, nil // the relay shows no more headers: places without a proof are Unproven
		}
		for _, p := range page {
			if p.Cursor != after+1 {
				return proven, nil
			}
			after = p.Cursor
			d, err := envelope.ParseDelta(p.Delta)
			if err != nil {
				useless++
				continue
			}
			// Nothing is verified here, so only the chains that are known bound what a
			// relay can make up.
			k := chainKey(d.Header.Member, d.Header.Incarnation)
			if walked[k].Seq >= heads[k].Seq || walked[k].Check(&d.Header) != nil {
				useless++
				continue
			}
			walked[k] = d.Header.Next()
			if d.Header.Seq == at[k] {
				out[k] = walked[k].Hash
			}
			if walked[k] == heads[k] {
				proven[k] = out[k]
			}
		}
	}
	return proven, nil
}

// maxUseless is how many deltas that prove nothing are read before a comparison
// gives up. A relay can make them up without end.
const maxUseless = 10_000

// nameDifference keeps a problem if the relay or an author is at fault.
func (r *Replica) nameDifference(ctx context.Context, h *envelope.Heads, d Difference) error {
	named := map[HeadsVerdict]error{Forked: ErrForked, Hidden: ErrHidden}[d.Verdict]
	if named == nil {
		return nil
	}
	p := Problem{At: r.c.Now(), Member: d.Member,
		Reason: strings.Join([]string{"space " + r.c.Space.String(), "beside the heads of " + h.Member.String(), named.Error(), d.String()}, ": ")}
	if d.Member != (memory.MemberID{}) {
		p.Place = &envelope.Position{Incarnation: d.Incarnation, Seq: d.Seq}
	}
	r.c.Log.Warn("sync: heads differ", "space", r.c.Space, "member", d.Member, "seq", d.Seq, "verdict", d.Verdict)
	return r.c.Journal.Quarantine(ctx, p)
}
