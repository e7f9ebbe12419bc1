package exchange

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"time"

	"github.com/locket-dev/locket/crypto/keyring"
	"github.com/locket-dev/locket/crypto/seal"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/sync/envelope"
	"github.com/locket-dev/locket/sync/membership"
	"github.com/locket-dev/locket/sync/pairing"
	"github.com/locket-dev/locket/sync/remote"
)

// Door is the relay, or the device, through which a new device joins a space.
type Door struct {
	URL  string
	HTTP *http.Client // nil: the usual
}

// Make makes the home of a new device from what it learnt. The keys are stored
// nowhere else.
type Make func(*keyring.Joining) error

// Joined is what a new device learns of the space.
type Joined struct {
	Space  memory.SpaceID
	Relay  string
	Wearer string // empty after Recover, because no other device sends it
}

// Join makes the home of a new device of a wearer who already has another device,
// with the code that the other device shows. same is asked whether both devices
// show the same words; if it says no, the pairing ends. Join does not store the
// relay's address, which belongs to the configuration.
func Join(ctx context.Context, at Door, make Make, code pairing.Code, same func(words []string, other string) bool) (j Joined, err error) {
	relay, ok, err := openPeer(at.URL, nil, nil)
	if !ok {
		relay, err = remote.New(at.URL, remote.Option{HTTP: at.HTTP})
	}
	if err != nil {
		return j, err
	}
	d := keyring.NewDevice()
	defer func() {
		if err != nil {
			d.Zero()
		}
	}()
	ctx, stop := context.WithTimeout(ctx, pairLife)
	defer stop()
	m, err := pairing.Join(ctx, mailbox{relay}, code, pairing.PartyOf(owner(d), DeviceName()))
	if err != nil {
		return j, err
	}
	other, _ := nameAndPlatform(m.Other.Name)
	if !same(m.Words(), other) {
		return j, refuse(ctx, m)
	}
	if err := m.Agree(ctx); err != nil {
		return j, err
	}
	g, err := m.ReceiveGrant(ctx, d.Open)
	if err != nil {
		return j, err
	}
	entries, err := relay.Space(g.Space, d.ID, d.SignRequest).Log(ctx, 0)
	if err != nil {
		return j, err
	}
	log, err := envelope.VerifyLog(entries)
	if err != nil {
		return j, err
	}
	if len(entries) == 0 || entries[0].Hash() != g.Genesis {
		return j, fmt.Errorf("join: %w: the relay's log is not the space's", envelope.ErrRule)
	}
	epochs, err := epochsFor(entries, log, d.ID, d.OpenEpochs)
	if err != nil {
		return j, err
	}
	defer epochs.Zero()
	joining, err := membership.Joining(d, entries[0].Bytes(), epochs)
	if err != nil {
		return j, err
	}
	return Joined{Space: g.Space, Relay: g.Relay, Wearer: g.Wearer}, make(joining)
}

// epochsFor collects the epoch keys that a log has for a member. A missing key is
// an error.
func epochsFor(entries []*envelope.Entry, log *envelope.State, to memory.MemberID, open func(memory.SpaceID, []byte) (seal.Epochs, error)) (seal.Epochs, error) {
	out := seal.Epochs{}
	for _, e := range entries {
		for _, w := range e.Wraps {
			if w.To != to {
				continue
			}
			keys, err := open(e.Space, w.Keys)
			if err != nil {
				return nil, fmt.Errorf("keys of epoch %d: %w", e.Epoch, err)
			}
			maps.Copy(out, keys)
		}
	}
	for n := uint32(1); n <= log.Epoch(); n++ {
		if out[n] == nil {
			return nil, fmt.Errorf("keys of epoch %d: %w", n, memory.ErrNotFound)
		}
	}
	return out, nil
}

// recoverTries is how often the log may change while the root appends to it.
const recoverTries = 5

// Recover makes a home from the phrase alone, as a new device of the space. Its
// memories arrive with the first sync. Lost devices stay members until they are
// removed.
func Recover(ctx context.Context, at Door, make Make, phrase string) (j Joined, err error) {
	rec, err := keyring.Recover(phrase)
	if err != nil {
		return j, err
	}
	defer rec.Zero()
	relay, err := remote.New(at.URL, remote.Option{HTTP: at.HTTP})
	if err != nil {
		return j, err
	}
	d := keyring.NewDevice()
	defer func() {
		if err != nil {
			d.Zero()
		}
	}()
	var first *envelope.Entry
	var epochs seal.Epochs
	err = asRoot(ctx, relay, rec, func(entries []*envelope.Entry, log *envelope.State, e *envelope.Entry) error {
		epochs, err = epochsFor(entries, log, memory.MemberID{}, func(space memory.SpaceID, sealed []byte) (seal.Epochs, error) {
			return seal.OpenEpochs(rec.Identity(), space, sealed)
		})
		if err != nil {
			return err
		}
		m := membership.NamedOwner(d, DeviceName(), e.Space, log.Epoch(), epochs[log.Epoch()])
		to, err := seal.ParseRecipient(m.Recipient)
		if err != nil {
			return err
		}
		keys, err := seal.SealEpochs(to, e.Space, epochs)
		first, e.Action, e.Epoch, e.Member, e.Wraps = entries[0], envelope.Add, log.Epoch(), &m, []envelope.Wrap{{To: m.ID, Keys: keys}}
		return err
	})
	if err != nil {
		return j, fmt.Errorf("recover: %w", err)
	}
	defer epochs.Zero()
	joining, err := membership.Joining(d, first.Bytes(), epochs)
	if err != nil {
		return j, err
	}
	return Joined{Space: rec.Space(), Relay: at.URL}, make(joining)
}

// asRoot appends an entry to the log of the phrase's own space.
func asRoot(ctx context.Context, relay *remote.Relay, rec *keyring.Recovery, change func([]*envelope.Entry, *envelope.State, *envelope.Entry) error) error {
	at := relay.Root(rec.Root(), rec.SignRequest).Space(rec.Space())
	for try := 1; ; try++ {
		entries, err := at.Log(ctx, 0)
		if err != nil {
			return err
		}
		log, err := envelope.VerifyLog(entries)
		if err != nil {
			return err
		}
		if len(entries) == 0 || !rec.Root().Equal(log.Root()) || log.Space() != rec.Space() {
			return fmt.Errorf("%w: the relay's log does not belong to this phrase", envelope.ErrRule)
		}
		e := &envelope.Entry{Version: envelope.Version, Space: log.Space(), N: log.N() + 1, Prev: log.Head(), At: time.Now().Unix()}
		if err := change(entries, log, e); err != nil {
			return err
		}
		if err := e.Sign(func(domain string, msg []byte) ([]byte, error) { return rec.Sign(domain, msg), nil }); err != nil {
			return err
		}
		err = at.AppendLog(ctx, e, "")
		if !errors.Is(err, remote.ErrConflict) || try == recoverTries {
			return err
		}
	}
}

// owner returns a device of the wearer in the form in which the log names it.
func owner(d *keyring.Device) envelope.Member { return membership.MemberOf(d, envelope.Owner) }
