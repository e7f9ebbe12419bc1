package replica

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/locket-dev/locket/internal/sorting"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/sync/delta"
	"github.com/locket-dev/locket/sync/envelope"
)

// A relay removes bodies when a member asks for it. A lying relay could remove
// any body and pretend that a member asked. Therefore a member that wants
// bodies removed first announces them in a delta (field RemovedBodies of [delta.Op]). A
// body that is missing without such an announcement, and that no snapshot
// covers, is withheld. It is shown as a problem and looked for until the
// announcement or the body comes.

// ErrWithheld reports a delta without its body, whose removal nobody announced.
var ErrWithheld = errors.New("the body is withheld")

// maxPlaces bounds the memory for each of the two kinds of places, in bytes.
// Without it, any member could fill the memory by announcing places and chains
// that do not exist.
const maxPlaces = 48 << 10

// noteMissing records that the delta with header h came without its body, unless
// its removal was announced. full reports that
// maxPlaces was reached, so that it was not recorded.
func (s *State) noteMissing(h *envelope.Header) (full bool) {
	chain := chainKey(h.Member, h.Incarnation)
	if removePlace(s.RemovedBodies, chain, h.Seq) || s.covers(chain, h) {
		return false
	}
	if countPlaces(s.MissingBodies) >= maxPlaces {
		return true
	}
	addPlace(s.MissingBodies, chain, h.Seq)
	return false
}

// takeAnnouncement takes a member's announcement that bodies were removed. An owner or
// writer may announce it for any member, every other member only for itself.
func (s *State) takeAnnouncement(by *envelope.Member, places []delta.Place) {
	for _, p := range places {
		if p.Member != by.ID && by.Role != envelope.Owner && by.Role != envelope.Writer {
			continue
		}
		chain := chainKey(p.Member, p.Incarnation)
		if !removePlace(s.MissingBodies, chain, p.Seq) && p.Seq > s.Chains.Link(chain).Seq && countPlaces(s.RemovedBodies) < maxPlaces {
			addPlace(s.RemovedBodies, chain, p.Seq) // the delta comes later
		}
	}
}

// dropCovered forgets the places of a chain up to upto, because a snapshot has
// their content.
func (s *State) dropCovered(chain string, upto uint64) {
	for _, of := range []map[string][]uint64{s.MissingBodies, s.RemovedBodies} {
		of[chain] = slices.DeleteFunc(slices.Clone(of[chain]), func(seq uint64) bool { return seq <= upto })
		if len(of[chain]) == 0 {
			delete(of, chain)
		}
	}
}

func addPlace(to map[string][]uint64, chain string, seq uint64) {
	if i, there := slices.BinarySearch(to[chain], seq); !there {
		to[chain] = slices.Insert(slices.Clone(to[chain]), i, seq)
	}
}

func removePlace(from map[string][]uint64, chain string, seq uint64) bool {
	i, there := slices.BinarySearch(from[chain], seq)
	if there {
		from[chain] = slices.Delete(slices.Clone(from[chain]), i, i+1)
	}
	if len(from[chain]) == 0 {
		delete(from, chain)
	}
	return there
}

// countPlaces returns an upper bound of the bytes that the places take when they are
// stored.
func countPlaces(of map[string][]uint64) (n int) {
	for chain, seqs := range of {
		n += len(chain) + 5 + 9*len(seqs)
	}
	return n
}

func countChainPlaces(of map[string][]uint64) (n int) {
	for _, seqs := range of {
		n += len(seqs)
	}
	return n
}

// withheld returns a problem for each chain with withheld bodies, as known when
// everything at the relay was last read.
func (r *Replica) withheld() (out []Problem) {
	if !r.readAll {
		return nil // a delta that was not read yet may hold the announcement
	}
	for _, chain := range slices.Sorted(maps.Keys(r.st.MissingBodies)) {
		m, incarnation, ok := parseChain(chain)
		seqs := r.st.MissingBodies[chain]
		if !ok || len(seqs) == 0 {
			continue
		}
		out = append(out, Problem{At: r.c.Now(), Member: m, Place: &envelope.Position{Incarnation: incarnation, Seq: seqs[0]}, Waits: true,
			Reason: fmt.Sprintf("%v: %d deltas that %s sent are missing without a record of their removal, the first at %d", ErrWithheld, len(seqs), m, seqs[0])})
	}
	return out
}

// roleOf returns the role with which a member was added, even if it was removed
// since.
func (r *Replica) roleOf(id memory.MemberID) envelope.Role {
	m, ok := r.log.Member(id)
	if !ok {
		m, _, _ = r.log.Past(id)
	}
	return m.Role
}

// withheldMayNameBlob reports whether a withheld body may name a blob. Bodies of
// workers do not matter here, because a blob that a worker names does not
// count. Otherwise a worker could keep forgotten blobs at the relay by removing
// one of its own bodies without announcing it.
func (r *Replica) withheldMayNameBlob() bool {
	for chain := range r.st.MissingBodies {
		if m, _, ok := parseChain(chain); !ok || r.roleOf(m) != envelope.Extractor {
			return true
		}
	}
	return false
}

// announceLostBodies announces that withheld bodies of removed workers are lost, if this
// member is the only one left that could have read them. No snapshot contains
// these bodies, and none can be made while members wait for them.
func (r *Replica) announceLostBodies(ctx context.Context) error {
	me, ok := r.log.Member(r.c.Member)
	if !ok || me.Role != envelope.Owner || r.c.Local || !r.readAll {
		return nil
	}
	for _, m := range r.log.Members() {
		if m.ID != me.ID && (m.Role == envelope.Owner || m.Role == envelope.Writer) {
			return nil
		}
	}
	var refs []Ref
	for chain, seqs := range r.st.MissingBodies {
		m, incarnation, ok := parseChain(chain)
		if _, lives := r.log.Member(m); !ok || lives || r.roleOf(m) != envelope.Extractor {
			continue
		}
		for _, seq := range seqs {
			refs = append(refs, Ref{Member: m, Position: envelope.Position{Incarnation: incarnation, Seq: seq}})
		}
	}
	if len(refs) == 0 {
		return nil
	}
	if err := r.announceRemoved(ctx, refs); err != nil {
		return err
	}
	next := r.st.clone()
	for _, ref := range refs {
		removePlace(next.MissingBodies, chainKey(ref.Member, ref.Incarnation), ref.Seq)
	}
	return r.save(ctx, next)
}

// maxFailedSearches bounds how many rounds pass before missing bodies are looked for
// again: at most 2^maxFailedSearches - 1.
const maxFailedSearches = 6

// searchMissing looks for withheld bodies: in the deltas, and then in snapshots, also in
// those from before the cursor, because the relay may have hidden them when this
// member came there. It is no error if the bodies are still missing.
func (r *Replica) searchMissing(ctx context.Context) error {
	if r.searchPause > 0 {
		r.searchPause--
		return nil
	}
	r.listDue = true
	err := r.reread(ctx)
	var bad *servedError
	if err != nil && !errors.As(err, &bad) {
		return err
	}
	var from []*listed
	var to Archive
	if r.c.Snapshots != nil {
		from, to = r.checkpoints, r.c.Snapshots.Archive
	}
	return r.mergeMissing(ctx, from, to)
}

// announceRemoved announces the bodies that are about to be removed: this member's
// bodies, and those of removed members, which can't announce it themselves.
func (r *Replica) announceRemoved(ctx context.Context, bodies []Ref) error {
	var places []delta.Place
	for _, b := range bodies {
		if r.announced[b] {
			continue // announced before; the relay has not removed it yet
		}
		if _, lives := r.log.Member(b.Member); b.Member == r.c.Member || !lives {
			places = append(places, delta.Place(b))
		}
	}
	sorting.Sort(places, delta.Place.Compare)
	for part := range slices.Chunk(slices.Compact(places), delta.MaxRemovedBodies) {
		for said := false; !said; {
			life := r.st.Incarnation
			if err := r.sendOp(ctx, delta.Op{RemovedBodies: part}); err != nil {
				return fmt.Errorf("say what is forgotten: %w", err)
			}
			said = life == r.st.Incarnation // if false, the restored backup made this delta's place taken, and it was not sent
		}
		for _, p := range part {
			r.announced[Ref(p)] = true
		}
	}
	return nil
}

// sendOp sends one op that is not in the outbox, in a delta of its own.
func (r *Replica) sendOp(ctx context.Context, op delta.Op) error {
	if err := r.checkListed(); err != nil {
		return err
	}
	key, ok := r.c.Keys.Epoch(r.log.Epoch())
	if !ok {
		return fmt.Errorf("the key of epoch %d is not here", r.log.Epoch())
	}
	if r.st.Pending != nil { // a delta that was sealed earlier is sent first
		if err := r.push(ctx); err != nil {
			return err
		}
	}
	wire, err := r.seal(key, []delta.Op{op})
	if err != nil {
		return err
	}
	st := r.st
	st.Pending = &Pending{Delta: wire}
	if err := r.save(ctx, st); err != nil {
		return err
	}
	return r.push(ctx)
}
