package exchange

import (
	"context"
	"errors"
	"fmt"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/node/serve"
	"github.com/locket-dev/locket/sync/envelope"
)

// localWhere is what this device itself knows about where a memory is.
type localWhere struct {
	self   memory.MemberID
	sayers map[memory.MemberID]bool // members that have said something about it
	blob   blobAt
}

func (sc Syncer) locateHere(ctx context.Context, id memory.ID, w *serve.Where) (h localWhere, err error) {
	sy, release, err := sc.of.Use()
	if err != nil {
		return h, err
	}
	defer release()
	h.self, h.sayers = sy.c.Ring.Member(), map[memory.MemberID]bool{}
	err = sy.c.Store.View(ctx, func(tx *store.Tx) error {
		w.Media, w.Cold, err = localState(tx, id)
		if err != nil || w.Cold { // a cold memory was sent, whoever said it
			return err
		}
		as, err := tx.Assertions(id)
		for i := range as {
			h.sayers[as[i].Dot.Member] = true
		}
		if err == nil && sy.Replica() != nil { // otherwise nothing is sent to anybody
			w.Waits, err = tx.Unsent(id)
		}
		return err
	})
	if err == nil {
		h.blob, err = sy.locateBlob(ctx, id, w)
	}
	return h, err
}

func (sc Syncer) Where(ctx context.Context, id memory.ID) (w serve.Where, err error) {
	here, err := sc.locateHere(ctx, id, &w)
	if err != nil {
		return w, err
	}
	w.Relays = []serve.RelayHas{}
	offered := serve.HoldsUnknown // what the members were offered of it
	if w.Waits > 0 || here.blob.unsent {
		offered = serve.HoldsPart
	}
	relays, err := sc.Relays(ctx)
	if err != nil {
		return w, err
	}
	peers := map[memory.MemberID]serve.Holds{}
	for _, r := range relays {
		holds := holdsOf(&r, w.Waits, &here.blob)
		if r.Kind == serve.RelayPeer {
			peers[r.Member] = holds
			continue
		}
		if holds == serve.HoldsAll {
			offered = serve.HoldsOffered
		}
		w.Relays = append(w.Relays, serve.RelayHas{URL: r.URL, Kind: r.Kind, Holds: holds})
	}
	members, err := sc.Members(ctx)
	if errors.Is(err, serve.ErrUnsupported) {
		members, err = []serve.Member{{ID: here.self, Here: true}}, nil
	}
	for _, m := range members {
		if !isDevice(&m) {
			continue
		}
		has := serve.MemberHas{ID: m.ID, Role: m.Role, Name: m.Name, Platform: m.Platform, Here: m.Here, LastHeard: m.LastHeard, Said: here.sayers[m.ID], Holds: offered}
		switch {
		case m.Here && w.Cold:
			has.Holds = serve.HoldsStub
		case m.Here, peers[m.ID] == serve.HoldsAll:
			has.Holds = serve.HoldsAll
		}
		if w.Members = append(w.Members, has); m.Here {
			last := len(w.Members) - 1
			w.Members[0], w.Members[last] = w.Members[last], w.Members[0]
		}
	}
	return w, err
}

// isDevice reports whether a member is a device of the wearer, and not a worker or reader.
// Without sync this device has no role.
func isDevice(m *serve.Member) bool {
	return m.Here || m.Role == envelope.Owner.String() || m.Role == envelope.Writer.String()
}

// localState returns how much of a memory this device has.
func localState(tx *store.Tx, id memory.ID) (media string, cold bool, err error) {
	if _, cold, err = tx.Stub(id); err != nil || cold {
		return "", cold, err
	}
	m, err := tx.Memory(id)
	if err == nil && m.State == memory.Erased {
		err = fmt.Errorf("memory %s: %w", id, memory.ErrNotFound)
	}
	if err != nil || m.Fields.Resource == nil || m.Fields.Resource.Blob == "" {
		return "", false, err
	}
	name, err := memory.ParseID(m.Fields.Resource.Blob)
	if err != nil {
		return "", false, fmt.Errorf("%w: %s: its recording or picture has no name: %v", memory.ErrDamaged, id, err)
	}
	here, err := tx.HasBlob(name)
	if here {
		return serve.MediaHere, false, err
	}
	return serve.MediaAway, false, err
}

// blobAt is what is known of where the bytes of a memory's photo or recording are.
type blobAt struct {
	exists     bool            // the memory has a photo or recording, and its content is on this device, too
	unsent     bool            // the bytes are here, and no remote was given them
	remotes    map[string]bool // the URLs of the remotes that have the bytes; nil: the only relay has them
	sealedHere bool            // the sealed bytes are here, for remotes that do not have them
}

// locateBlob returns where the bytes of a memory's photo or recording are besides this device,
// and records in w if they are held back.
func (sy *Syncing) locateBlob(ctx context.Context, id memory.ID, w *serve.Where) (b blobAt, err error) {
	if w.Media == "" || sy.Replica() == nil {
		return b, nil
	}
	b.exists = true
	var name memory.ID
	var held bool
	err = sy.c.Store.View(ctx, func(tx *store.Tx) error {
		m, err := tx.Memory(id)
		if err == nil {
			name, err = memory.ParseID(m.Fields.Resource.Blob)
		}
		if err == nil {
			held, err = heldBack(tx, id)
		}
		return err
	})
	if err != nil {
		return b, err
	}
	note, err := sy.journal.RemoteBlob(ctx, name)
	if errors.Is(err, memory.ErrNotFound) { // no delta names it, so nobody was given it
		b.unsent, b.remotes = w.Media == serve.MediaHere, map[string]bool{}
		if b.sealedHere = b.unsent; b.unsent && held {
			w.Media = serve.MediaHeld
		}
		return b, nil
	}
	if x := sy.exchange.Load(); err == nil && x != nil && x.remotes != nil {
		b.remotes, b.sealedHere = x.remotes.BlobRemotes(note.Sealed)
		b.unsent = b.sealedHere && len(b.remotes) == 0
	}
	return b, err
}

// holdsOf returns how much of a memory a remote has. waits is how many of the memory's
// assertions wait to be sent.
func holdsOf(r *serve.Relay, waits int, blob *blobAt) serve.Holds {
	given := !blob.exists || blob.remotes == nil || blob.remotes[r.URL]
	switch {
	case waits > 0, !given && blob.sealedHere && r.Kind != serve.RelayPeer: // a peer asks for the bytes when it wants them
		return serve.HoldsPart
	case r.Lacks > 0, !given, r.Fails():
		return serve.HoldsUnknown
	}
	return serve.HoldsAll
}
